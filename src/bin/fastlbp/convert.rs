//! `fastlbp convert`: from one file format to another.

use crate::activity::Activity;
use crate::conflicts::Conflicts;
use crate::failure::Outcome;
use crate::graph_file::{FormatName, read_as};
use crate::messages::inform;
use crate::output_format::OutputFormat;
use crate::standard_streams::{input_path, output_path};
use fastlbp::format::{Dictionary, Network, read_names};
use std::path::PathBuf;

/// Convert a factor graph from one format to another, or into a picture
///
/// The suffixes tell the formats: .causal_fg, .fg, .uai or .bif, each also with .gz. All numbers are
/// written so that they read back exactly. OUT appears when it is complete. A .uai file has no
/// labels: variables are numbered by the rank of their label. A .bif file can only be read, and its
/// names are lost: variables have the labels 0, 1, ... in their order in the file.
///
/// A .dot file is a picture of a small graph, of at most 5000 edges and as many variables, for Graphviz, with the names of
/// its variables: `dot -Tsvg` draws it.
#[derive(clap::Args)]
pub struct Arguments {
    /// File to read; - is the standard input, and needs --from
    #[arg(value_name = "IN", value_parser = input_path())]
    input: PathBuf,

    /// File to write; one that exists is replaced; - is the standard output, and needs --to
    #[arg(value_name = "OUT", value_parser = output_path())]
    output: PathBuf,

    /// Format of IN, where its name does not say it
    #[arg(long, value_enum, value_name = "FORMAT")]
    from: Option<FormatName>,

    /// Format of OUT, where its name does not say it
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<OutputFormat>,

    /// Names of variables for a picture: lines `label: name` or `label name`, or a list of alarms (.alarms) or candidates
    /// (.candidates); also with .gz [default: those of a .bif graph]
    #[arg(long, value_name = "FILE", value_parser = input_path())]
    names: Option<PathBuf>,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Outcome {
    let Arguments { input, output, from, to, names } = arguments;
    let to = OutputFormat::of(output, *to, "--to")?;
    let mut conflicts = Conflicts::of_output(output)?;
    conflicts.input("IN", Some(input))?;
    conflicts.input("--names", names.as_deref())?;
    let Network { graph, names: own } =
        Activity::during("reading", || read_as(input, *from, "--from"))?;
    let names = match (names, own) {
        (Some(path), _) => read_names(path, &graph)?,
        (None, Some(own)) => Dictionary::from_names(&own)?,
        (None, None) => Dictionary::default(),
    };
    Activity::during("writing", || to.write(&graph, &names, output))?;
    inform(format_args!(
        "{} -> {}: {} variables, {} factors, {} edges",
        input.display(),
        output.display(),
        graph.variable_count(),
        graph.factor_count(),
        graph.edge_count()
    ));
    Ok(())
}
