//! `fastlbp convert`: from one file format to another.

use crate::activity::Activity;
use crate::conflicts::Conflicts;
use crate::failure::{Failure, Outcome, inform};
use fastlbp::format::{read_graph, write_graph};
use std::path::PathBuf;

/// Convert a factor graph from one format to another
///
/// The suffixes tell the formats: .causal_fg, .fg, .uai or .bif, each also with .gz. All numbers are
/// written so that they read back exactly. OUT appears when it is complete. A .uai file has no
/// labels: variables are numbered by the rank of their label. A .bif file can only be read, and its
/// names are lost: variables have the labels 0, 1, ... in their order in the file.
#[derive(clap::Args)]
pub struct Arguments {
    /// File to read
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// File to write; one that exists is replaced
    #[arg(value_name = "OUT")]
    output: PathBuf,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Outcome {
    Conflicts::of_graph(&arguments.output)?.input("IN", Some(&arguments.input))?;
    let graph = Activity::during("reading", || read_graph(&arguments.input))?;
    Activity::during("writing", || write_graph(&graph, &arguments.output))
        .map_err(Failure::output)?;
    inform(format!(
        "{} -> {}: {} variables, {} factors, {} edges",
        arguments.input.display(),
        arguments.output.display(),
        graph.variable_count(),
        graph.factor_count(),
        graph.edge_count()
    ));
    Ok(())
}
