//! What `fastlbp infer` reads: a graph, what is known, and what is asked.

use crate::failure::{Failure, Outcome};
use fastlbp::format::{
    NamedGraph, Names, Network, read_network, read_partial_evidence, read_queries,
    read_soft_evidence, read_uai_evidence_samples,
};
use fastlbp::{Error, Evidence, FactorGraph};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files.
#[derive(clap::Args)]
pub struct InputArguments {
    /// Factor graph: .causal_fg, .fg, .uai or .bif, also with .gz
    #[arg(value_name = "GRAPH")]
    pub graph: PathBuf,

    /// Observed variables: lines `label value` (.obs), or UAI evidence (.evid); also with .gz. With a
    /// .bif graph, lines may be `name state`
    #[arg(long, value_name = "FILE")]
    evidence: Option<PathBuf>,

    /// Which sample of an .evid file that has several, counted from 1
    #[arg(long, value_name = "N", requires = "evidence", value_parser = clap::value_parser!(u64).range(1..))]
    evidence_sample: Option<u64>,

    /// Weights of states: lines `label w0 w1 ...` with a number >= 0 per state, which multiply the
    /// variable's probabilities; also with .gz. With a .bif graph, labels may be names
    #[arg(long, value_name = "FILE")]
    soft_evidence: Option<PathBuf>,

    /// Print only the variables in this file, in its order: one label per line; also with .gz. With
    /// a .bif graph, labels may be names
    #[arg(long, value_name = "FILE")]
    queries: Option<PathBuf>,
}

/// Their content.
pub struct Inputs {
    pub graph: Arc<FactorGraph>,
    pub names: Option<Names>,
    pub evidence: Evidence,
    /// Variables to print, if not all of them.
    pub queries: Option<Vec<usize>>,
    /// To be shown when nothing else is on the screen.
    pub warnings: Vec<String>,
}

/// Reads all files.
pub fn read_inputs(arguments: &InputArguments) -> Outcome<Inputs> {
    let Network { graph, names } = read_network(&arguments.graph)?;
    let named = NamedGraph::new(&graph, names.as_ref())?;
    let mut evidence = Evidence::new();
    let mut warnings = Vec::new();
    let mut warn_of = |path: &Path, what: &str, unknown: &[(String, u64)]| {
        if let Some((name, line)) = unknown.first() {
            warnings.push(format!(
                "{}: {} {what} are not in the graph and were left out, the first is {name} in \
                 line {line}",
                path.display(),
                unknown.len()
            ));
        }
    };
    if let Some(path) = &arguments.evidence {
        let observed = match arguments.evidence_sample {
            Some(number) => read_sample(path, &graph, number)?,
            None => {
                let read = read_partial_evidence(path, named)?;
                warn_of(path, "observed variables", &read.unknown);
                read.observed
            }
        };
        for (variable, state) in observed {
            evidence.observe(&graph, variable, state)?;
        }
    }
    if let Some(path) = &arguments.soft_evidence {
        let soft = read_soft_evidence(path, named)?;
        warn_of(path, "variables with weights", &soft.unknown);
        soft.add_to(named, &mut evidence)?;
    }
    let queries = match &arguments.queries {
        Some(path) => Some(read_queries(path, named)?),
        None => None,
    };
    Ok(Inputs { graph: Arc::new(graph), names, evidence, queries, warnings })
}

fn read_sample(path: &Path, graph: &FactorGraph, number: u64) -> Outcome<Vec<(usize, usize)>> {
    let mut samples = read_uai_evidence_samples(path, graph)?;
    let index = usize::try_from(number - 1).ok().filter(|&index| index < samples.len());
    match index {
        Some(index) => Ok(samples.swap_remove(index)),
        None => Err(Failure::input(format!(
            "{}: there is no sample {number}: the file has {}",
            path.display(),
            samples.len()
        ))),
    }
}

/// An error of a run; that of a contradiction also says the variable's name.
pub fn run_failure(error: Error, graph: NamedGraph<'_>) -> Failure {
    let variable = match &error {
        Error::Contradiction { variable, .. } if graph.names().is_some() => *variable,
        _ => return error.into(),
    };
    let name = graph.describe(variable);
    Failure::from(error).with_note(&format!("; variable {variable} is {name}"))
}
