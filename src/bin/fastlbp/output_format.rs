//! The formats in which commands write a graph.

use crate::failure::{Failure, Outcome};
use crate::standard_streams::is_standard_output;
use clap::ValueEnum;
use fastlbp::FactorGraph;
use fastlbp::format::{Dictionary, GraphFormat, write_dot, write_graph_as};
use std::path::Path;

/// Their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum OutputFormat {
    /// Priors, AND and OR factors: that of CausalBP
    CausalFg,
    /// Tables over variables with labels: that of libDAI
    Fg,
    /// Tables over variables 0 to n-1: that of the UAI competitions
    Uai,
    /// A picture for Graphviz
    Dot,
}

impl OutputFormat {
    /// The format that is asked for, or the one that the name of the file tells; `option` asks for one.
    pub fn of(path: &Path, asked: Option<Self>, option: &str) -> Outcome<Self> {
        if let Some(format) = asked {
            return Ok(format);
        }
        if is_standard_output(path) {
            return Err(Failure::input(format!(
                "a graph on the standard output has no suffix that tells its format: {option} causal_fg, fg, uai or dot \
                 is needed"
            )));
        }
        let name = path.to_string_lossy();
        if name.strip_suffix(".gz").unwrap_or(&name).ends_with(".dot") {
            return Ok(Self::Dot);
        }
        match GraphFormat::from_path(path)? {
            GraphFormat::CausalFg => Ok(Self::CausalFg),
            GraphFormat::Fg => Ok(Self::Fg),
            GraphFormat::Uai => Ok(Self::Uai),
            GraphFormat::Bif => Err(Failure::other(
                "a factor graph is not written as .bif, which is for Bayesian networks: use .fg or .uai",
            )),
        }
    }

    /// Writes a graph; a picture has the names.
    pub fn write(self, graph: &FactorGraph, names: &Dictionary, path: &Path) -> Outcome {
        let written = match self {
            Self::CausalFg => write_graph_as(graph, path, GraphFormat::CausalFg),
            Self::Fg => write_graph_as(graph, path, GraphFormat::Fg),
            Self::Uai => write_graph_as(graph, path, GraphFormat::Uai),
            Self::Dot => write_dot(graph, names, path),
        };
        written.map_err(Failure::output)
    }
}
