//! Marginals as text: a head line, then a line per variable, ascending by label.
//!
//! Where all variables are binary, the head line is `# label P(x=1)` and the others are `label
//! value`. Otherwise a variable with more than two states has the probabilities of all its states,
//! and the head line says so.

use super::file;
use super::number::{push_f64, push_u64};
use crate::error::{Error, Result};
use crate::model::FactorGraph;
use std::io::{self, Write};
use std::path::Path;

const HEAD_BINARY: &str = "# label P(x=1)\n";
const HEAD_MIXED: &str =
    "# label P(x=1); with more than two states: label P(x=0) P(x=1) P(x=2) ...\n";

/// Writes marginals, laid out as by [`crate::BeliefPropagation::marginals`], to a file, compressed
/// if its name ends in `.gz`. The file appears when it is complete. Every value is the shortest text
/// that reads back to the same `f64`.
pub fn write_marginals(graph: &FactorGraph, marginals: &[f64], path: &Path) -> Result<()> {
    if marginals.len() != graph.state_count() {
        return Err(Error::InvalidArgument(format!(
            "{} marginal values: this graph has {}",
            marginals.len(),
            graph.state_count()
        )));
    }
    file::save(path, |output| {
        fill(graph, marginals, |text| {
            output.buffer.append(text);
            output.flush()
        })
    })
}

/// As [`write_marginals`], but anywhere.
pub fn write_marginals_to(
    graph: &FactorGraph,
    marginals: &[f64],
    sink: &mut dyn Write,
) -> io::Result<()> {
    if marginals.len() != graph.state_count() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    fill(graph, marginals, |text| {
        sink.write_all(text)?;
        text.clear();
        Ok(())
    })
}

/// Makes the text and hands it over piece by piece; `flush` empties the buffer that it is given.
fn fill<E>(
    graph: &FactorGraph,
    marginals: &[f64],
    mut flush: impl FnMut(&mut Vec<u8>) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let mut text = Vec::new();
    let head = if graph.all_binary() { HEAD_BINARY } else { HEAD_MIXED };
    text.extend_from_slice(head.as_bytes());
    let mut rest = marginals;
    for (&label, &cardinality) in graph.labels().iter().zip(graph.cardinalities()) {
        let (states, others) = rest.split_at(cardinality as usize);
        rest = others;
        push_u64(&mut text, label);
        let shown = if states.len() == 2 { &states[1..] } else { states };
        for &probability in shown {
            text.push(b' ');
            push_f64(&mut text, probability);
        }
        text.push(b'\n');
        if text.len() >= 1 << 16 {
            flush(&mut text)?;
        }
    }
    flush(&mut text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FactorGraphBuilder;

    fn text(graph: &FactorGraph, marginals: &[f64]) -> String {
        let mut out = Vec::new();
        write_marginals_to(graph, marginals, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn binary_and_other_variables() {
        let mut builder = FactorGraphBuilder::new();
        builder.add_singleton(7, 0.5).unwrap();
        builder.add_singleton(3, 0.5).unwrap();
        let graph = builder.build().unwrap();
        assert_eq!(text(&graph, &[0.75, 0.25, 0.0, 1.0]), "# label P(x=1)\n3 0.25\n7 1\n");
        builder.add_variable(5, 3).unwrap();
        let graph = builder.build().unwrap();
        let wanted = format!("{HEAD_MIXED}3 0.25\n5 0.5 0.125 0.375\n7 1e-20\n");
        assert_eq!(text(&graph, &[0.75, 0.25, 0.5, 0.125, 0.375, 1.0, 1e-20]), wanted);
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
        (0..20_000).for_each(|label| builder.add_singleton(label, 0.5).unwrap());
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
