//! Marginals as text: a head line, then a line per variable, ascending by label.
//!
//! Where all variables are binary, the head line is `# label P(x=1)` and the others are `label
//! value`. Otherwise a variable with more than two states has the probabilities of all its states,
//! and the head line says so.
//!
//! Where variables have names, the head line is `# name state=probability ...`, and every variable
//! has the probabilities of all its states in their order, also one with two states: so readers need
//! not know which of `yes` and `no` is state 1. A name with blanks is in double quotes; numbers have
//! no `=`, so that the last one of an item ends the name of its state.

use super::named_graph::NamedGraph;
use super::names::Quoted;
use super::output::{Output, send_to};
use super::save::save;
use crate::error::{Error, Result};
use crate::memory;
use crate::model::check_variable;
use std::io::{self, Write};
use std::path::Path;

const HEAD_BINARY: &str = "# label P(x=1)\n";
const HEAD_MIXED: &str =
    "# label P(x=1); with more than two states: label P(x=0) P(x=1) P(x=2) ...\n";
const HEAD_NAMES: &str = "# name state=probability ...\n";

/// Writes marginals, laid out as by [`crate::BeliefPropagation::marginals`], to a file, compressed
/// if its name ends in `.gz`. The file appears when it is complete. Every value is the shortest text
/// that reads back to the same `f64`.
pub fn write_marginals<'a>(
    graph: impl Into<NamedGraph<'a>>, marginals: &[f64], path: &Path,
) -> Result<()> {
    write_file(graph.into(), marginals, None, path)
}

/// As [`write_marginals`], but only those of some variables (by index), in the order given.
pub fn write_marginals_of<'a>(
    graph: impl Into<NamedGraph<'a>>, marginals: &[f64], variables: &[usize], path: &Path,
) -> Result<()> {
    write_file(graph.into(), marginals, Some(variables), path)
}

/// As [`write_marginals`], to any writer.
pub fn write_marginals_to<'a>(
    graph: impl Into<NamedGraph<'a>>, marginals: &[f64], sink: &mut dyn Write,
) -> io::Result<()> {
    send(graph.into(), marginals, None, sink)
}

/// As [`write_marginals_of`], to any writer.
pub fn write_marginals_of_to<'a>(
    graph: impl Into<NamedGraph<'a>>, marginals: &[f64], variables: &[usize], sink: &mut dyn Write,
) -> io::Result<()> {
    send(graph.into(), marginals, Some(variables), sink)
}

fn write_file(
    graph: NamedGraph<'_>, marginals: &[f64], variables: Option<&[usize]>, path: &Path,
) -> Result<()> {
    check(graph, marginals, variables)?;
    save(path, &mut |output| fill(graph, marginals, variables, output))
}

fn send(
    graph: NamedGraph<'_>, marginals: &[f64], variables: Option<&[usize]>, sink: &mut dyn Write,
) -> io::Result<()> {
    send_to(sink, |output| {
        check(graph, marginals, variables)?;
        fill(graph, marginals, variables, output)
    })
}

fn check(graph: NamedGraph<'_>, marginals: &[f64], variables: Option<&[usize]>) -> Result<()> {
    let states = graph.graph().state_count();
    if marginals.len() != states {
        return Err(Error::InvalidArgument(format!(
            "{} marginal values: this graph has {states}",
            marginals.len()
        )));
    }
    variables.unwrap_or_default().iter().try_for_each(|&v| check_variable(graph.graph(), v))
}

fn fill(
    named: NamedGraph<'_>, marginals: &[f64], variables: Option<&[usize]>, output: &mut Output<'_>,
) -> Result<()> {
    let graph = named.graph();
    output.text(match named.names() {
        Some(_) => HEAD_NAMES,
        None if graph.all_binary() => HEAD_BINARY,
        None => HEAD_MIXED,
    });
    let Some(variables) = variables else {
        let mut rest = marginals;
        for (variable, &cardinality) in graph.cardinalities().iter().enumerate() {
            let (probabilities, others) = rest.split_at(cardinality as usize);
            rest = others;
            write_line(named, variable, probabilities, output)?;
        }
        return Ok(());
    };
    let mut next = 0;
    let ends = memory::collected(graph.cardinalities().iter().map(|&cardinality| {
        next += cardinality as usize;
        next
    }))?;
    variables.iter().try_for_each(|&variable| {
        let start = ends[variable] - graph.cardinality(variable);
        write_line(named, variable, &marginals[start..ends[variable]], output)
    })
}

fn write_line(
    named: NamedGraph<'_>, variable: usize, probabilities: &[f64], output: &mut Output<'_>,
) -> Result<()> {
    if let Some(names) = named.names() {
        output.quoted(Quoted(names.variable(variable)));
        for (name, &probability) in names.states(variable).zip(probabilities) {
            output.text(" ");
            output.quoted(Quoted(name));
            output.text("=");
            output.float(probability);
        }
    } else {
        output.integer(named.graph().label(variable));
        let shown = if probabilities.len() == 2 { &probabilities[1..] } else { probabilities };
        for &probability in shown {
            output.text(" ");
            output.float(probability);
        }
    }
    output.end_line()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::file;
    use crate::format::{GraphFormat, Network, read_network_from_bytes};
    use crate::model::{FactorGraph, FactorGraphBuilder};

    fn text(graph: &FactorGraph, marginals: &[f64]) -> String {
        let mut out = Vec::new();
        write_marginals_to(graph, marginals, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn binary_and_other_variables() {
        let mut builder = FactorGraphBuilder::new();
        builder.add_prior(7, 0.5).unwrap();
        builder.add_prior(3, 0.5).unwrap();
        let graph = builder.build().unwrap();
        assert_eq!(text(&graph, &[0.75, 0.25, 0.0, 1.0]), "# label P(x=1)\n3 0.25\n7 1\n");
        builder.add_variable(5, 3).unwrap();
        let graph = builder.build().unwrap();
        let wanted = format!("{HEAD_MIXED}3 0.25\n5 0.5 0.125 0.375\n7 1e-20\n");
        assert_eq!(text(&graph, &[0.75, 0.25, 0.5, 0.125, 0.375, 1.0, 1e-20]), wanted);
    }

    #[test]
    fn names_and_chosen_variables() {
        let bif = "network n {} variable wet grass { type discrete [2] { yes, very so }; }
            variable a { type discrete [3] { <5, =, 12+ }; }
            probability (a) { default 1 0 0; } probability (wet grass) { default 1 0; }";
        let network = read_network_from_bytes(bif.as_bytes(), Path::new("n"), GraphFormat::Bif);
        let Network { graph, names } = network.unwrap();
        let named = NamedGraph::new(&graph, names.as_ref()).unwrap();
        let marginals = [0.75, 0.25, 0.5, 0.125, 0.375];
        let chosen = |graph: NamedGraph<'_>, variables: &[usize]| {
            let mut out = Vec::new();
            write_marginals_of_to(graph, &marginals, variables, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let wet = "\"wet grass\" yes=0.75 \"very so\"=0.25\n";
        let a = "a <5=0.5 ==0.125 12+=0.375\n";
        let mut all = Vec::new();
        write_marginals_to(named, &marginals, &mut all).unwrap();
        assert_eq!(String::from_utf8(all).unwrap(), format!("{HEAD_NAMES}{wet}{a}"));
        assert_eq!(chosen(named, &[1, 0, 1]), format!("{HEAD_NAMES}{a}{wet}{a}"));
        assert_eq!(chosen(named, &[]), HEAD_NAMES);
        let unnamed = chosen((&graph).into(), &[1, 0]);
        assert_eq!(unnamed, format!("{HEAD_MIXED}1 0.5 0.125 0.375\n0 0.25\n"));
        assert!(write_marginals_of_to(named, &marginals, &[2], &mut Vec::new()).is_err());
    }

    #[test]
    fn a_wrong_number_of_values_is_an_error() {
        let graph = FactorGraphBuilder::new().build().unwrap();
        assert_eq!(text(&graph, &[]), HEAD_BINARY);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("marginals.txt");
        assert!(matches!(write_marginals(&graph, &[0.5], &path), Err(Error::InvalidArgument(_))));
        assert!(write_marginals_to(&graph, &[0.5], &mut Vec::new()).is_err());
        assert!(!path.exists());
    }

    #[test]
    fn files_may_be_compressed() {
        let mut builder = FactorGraphBuilder::new();
        (0..20_000).for_each(|label| builder.add_prior(label, 0.5).unwrap());
        let graph = builder.build().unwrap();
        let marginals: Vec<f64> =
            (0..20_000).flat_map(|i| [1.0 - f64::from(i) / 2e4, f64::from(i) / 2e4]).collect();
        let directory = tempfile::tempdir().unwrap();
        for name in ["marginals.txt", "marginals.txt.gz"] {
            let path = directory.path().join(name);
            write_marginals(&graph, &marginals, &path).unwrap();
            assert_eq!(file::load(&path).unwrap(), text(&graph, &marginals).as_bytes());
        }
    }
}
