//! The graph that a command reads: a file, or the standard input.

use crate::conflicts::Conflicts;
use crate::failure::{Failure, Outcome};
use crate::standard_streams::{input_path, is_standard_input};
use clap::ValueEnum;
use fastlbp::format::{GraphFormat, Network, read_network, read_network_as};
use std::path::{Path, PathBuf};

/// The graph.
#[derive(clap::Args)]
pub struct GraphFile {
    /// Factor graph: .causal_fg, .fg, .uai or .bif, also with .gz; - is the standard input, and needs --format
    #[arg(value_name = "GRAPH", value_parser = input_path())]
    graph: PathBuf,

    /// Format of the graph, where the name of its file does not say it
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<FormatName>,
}

/// Names of the formats of graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum FormatName {
    /// Priors, AND and OR factors: that of CausalBP
    CausalFg,
    /// Tables over variables with labels: that of libDAI
    Fg,
    /// Tables over variables 0 to n-1: that of the UAI competitions
    Uai,
    /// Bayesian networks with names
    Bif,
}

impl FormatName {
    pub fn format(self) -> GraphFormat {
        match self {
            Self::CausalFg => GraphFormat::CausalFg,
            Self::Fg => GraphFormat::Fg,
            Self::Uai => GraphFormat::Uai,
            Self::Bif => GraphFormat::Bif,
        }
    }
}

impl GraphFile {
    /// The file.
    pub fn path(&self) -> &Path {
        &self.graph
    }

    /// How messages and results call it.
    pub fn name(&self) -> String {
        self.graph.display().to_string()
    }

    /// Adds it to what must not be written.
    pub fn add_to(&self, conflicts: &mut Conflicts) -> Outcome {
        conflicts.input("GRAPH", Some(&self.graph))
    }

    /// Reads it.
    pub fn read(&self) -> Outcome<Network> {
        read_as(&self.graph, self.format, "--format")
    }
}

/// Reads a graph in a format, or in the one that its name tells; `option` names a format.
pub fn read_as(path: &Path, format: Option<FormatName>, option: &str) -> Outcome<Network> {
    Ok(match format {
        Some(format) => read_network_as(path, format.format())?,
        None if is_standard_input(path) => {
            return Err(Failure::input(format!(
                "a graph on the standard input has no suffix that tells its format: {option} causal_fg, fg, uai or bif \
                 is needed"
            )));
        }
        None => read_network(path)?,
    })
}
