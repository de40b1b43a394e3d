//! `fastlbp generate`: random graphs with the structure of those of program analyses.

use crate::activity::Activity;
use crate::conflicts::Conflicts;
use crate::failure::{Failure, Outcome, inform};
use clap::ValueEnum;
use fastlbp::format::{GraphFormat, write_graph, write_observations};
use fastlbp::generate;
use std::path::PathBuf;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shape {
    /// Executions of a program with loops: statements are high-degree variables, values form chains
    Smartfl,
    /// A derivation graph: conjunctive clauses, tuples as disjunctions of clauses, cycles
    Bingo,
}

/// Generate a factor graph shaped like those of program analyses
///
/// The same shape, size and seed give the same graph on every machine, for this version of the
/// program.
#[derive(clap::Args)]
pub struct Arguments {
    /// What the graph looks like
    #[arg(value_enum)]
    shape: Shape,
    /// Number of variables
    #[arg(long, allow_negative_numbers = true, value_name = "N")]
    variables: usize,
    /// Seed of the random choices
    #[arg(long, allow_negative_numbers = true, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Also write observations that fit the graph
    #[arg(long, value_name = "FILE")]
    observations: Option<PathBuf>,
    /// File to write: .causal_fg, .fg or .uai, also with .gz
    #[arg(value_name = "OUT")]
    output: PathBuf,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Outcome {
    GraphFormat::from_path(&arguments.output)?;
    let mut files = Conflicts::default();
    files.output("OUT", Some(&arguments.output))?;
    files.output("--observations", arguments.observations.as_deref())?;
    let generated = {
        let _activity = Activity::start("generating");
        match arguments.shape {
            Shape::Smartfl => generate::smartfl(arguments.variables, arguments.seed),
            Shape::Bingo => generate::bingo(arguments.variables, arguments.seed),
        }?
    };
    let graph = &generated.graph;
    {
        let _activity = Activity::start("writing");
        write_graph(graph, &arguments.output).map_err(Failure::output)?;
        if let Some(path) = &arguments.observations {
            write_observations(&generated.observations, graph, path).map_err(Failure::output)?;
        }
    }
    inform(format!(
        "{}: {} variables, {} factors, {} edges",
        arguments.output.display(),
        graph.variable_count(),
        graph.factor_count(),
        graph.edge_count()
    ));
    if let Some(path) = &arguments.observations {
        inform(format!("{}: {} observations", path.display(), generated.observations.len()));
    }
    Ok(())
}
