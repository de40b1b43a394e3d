//! Evidence as the subcommands read it from files.

use crate::failure::Outcome;
use fastlbp::{Evidence, FactorGraph};
use std::path::Path;

/// Evidence of observations: pairs of a variable, by index, and its state.
pub fn of_observations(
    graph: &FactorGraph, observations: impl IntoIterator<Item = (usize, usize)>,
) -> Outcome<Evidence> {
    let mut evidence = Evidence::new();
    for (variable, state) in observations {
        evidence.observe(graph, variable, state)?;
    }
    Ok(evidence)
}

/// The warning of variables in a file that the graph does not have, each with its line; `None` if it has them all.
/// `what` says in which way the file has them.
pub fn warning_of_unknown(path: &Path, what: &str, unknown: &[(String, u64)]) -> Option<String> {
    let (name, line) = unknown.first()?;
    Some(format!(
        "{}: {} {what} are not in the graph and were left out, the first is {name} in line {line}",
        path.display(),
        unknown.len()
    ))
}
