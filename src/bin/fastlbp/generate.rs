//! `fastlbp generate`: random graphs with the structure of those of program analyses and of models, and with extremes.

use crate::activity::Activity;
use crate::conflicts::Conflicts;
use crate::failure::{Failure, Outcome};
use crate::messages::inform;
use crate::output_format::OutputFormat;
use crate::shape::{ShapeName, ShapeOptions};
use crate::standard_streams::output_path;
use fastlbp::format::{Dictionary, write_observations};
use std::path::PathBuf;

/// Generate a factor graph shaped like those of program analyses, or like a pairwise model
///
/// To find out what engines find hard, layers has as many levels as asked for, and every shape of binary
/// variables can have some factors of high arity and some variables of high degree.
///
/// The same shape, size and seed give the same graph on every machine, for this version of the
/// program.
#[derive(clap::Args)]
pub struct Arguments {
    /// What the graph looks like
    #[arg(value_enum)]
    shape: ShapeName,
    /// Number of variables
    #[arg(long, allow_negative_numbers = true, value_name = "N")]
    variables: usize,
    #[command(flatten)]
    options: ShapeOptions,
    /// Also write observations that fit the graph
    #[arg(long, value_name = "FILE", value_parser = output_path())]
    observations: Option<PathBuf>,
    /// File to write: .causal_fg, .fg, .uai or .dot, also with .gz; - is the standard output, and needs --format
    #[arg(value_name = "OUT", value_parser = output_path())]
    output: PathBuf,
    /// Format of OUT, where its name does not say it
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<OutputFormat>,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Outcome {
    let format = OutputFormat::of(&arguments.output, arguments.format, "--format")?;
    let mut files = Conflicts::of_output(&arguments.output)?;
    files.output("--observations", arguments.observations.as_deref())?;
    arguments.options.check(&[arguments.shape])?;
    let generated = Activity::during("generating", || {
        arguments.options.plan(arguments.shape, arguments.variables).generate()
    })?;
    let graph = &generated.graph;
    {
        let _activity = Activity::start("writing");
        format.write(graph, &Dictionary::default(), &arguments.output)?;
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
