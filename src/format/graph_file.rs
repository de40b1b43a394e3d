//! Files of factor graphs, whatever their format.

use super::network::{Network, ParsedNetwork};
use super::output::{MemorySink, Output};
use super::save::{save, write_content};
use super::{bif, causal_fg, fg, file, uai};
use crate::error::{Error, Result};
use crate::model::FactorGraph;
use std::path::Path;

/// The text formats of factor graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GraphFormat {
    /// Priors, AND and OR factors over binary variables.
    ///
    /// A label that occurs but heads no factor has the implicit prior 0.5; these priors follow the
    /// file's factors in ascending order of their labels. Writing leaves out those that reading
    /// adds again, so that a graph that was read and written reads back equal. Tables and variables
    /// with more than two states cannot be written. A variable that heads no factor, as a graph
    /// from elsewhere may have it, gets the prior 0.5, which changes no belief.
    CausalFg,
    /// Dense or sparse tables over labelled variables of any cardinalities.
    ///
    /// As zeros may be left out, a short text can stand for a long table: all tables of a file
    /// together may have 2^20 + 4 x (size of the text in bytes) entries. Writing lists zeros where
    /// that limit would be passed. Priors, AND and OR factors are written as tables, up to 2^26
    /// entries each. A variable without factors is written with a table of ones.
    Fg,
    /// Tables over the variables 0 to n-1, from a Markov network or a Bayesian one.
    ///
    /// The format has no labels: writing numbers the variables by their rank, and reading takes
    /// the numbers for labels. Factors are written as in [`GraphFormat::Fg`].
    Uai,
    /// Conditional probability tables with names of variables and states; reading only.
    ///
    /// Labels are 0 to n-1 in the order in which the file declares the variables, and factors are in
    /// the order of its probability blocks, one for each variable; [`read_network`] also gives the
    /// names. Values are taken as they are: a row that is rounded, and sums to 1 within 0.01 only,
    /// stays so. Errors, besides those of syntax and unknown names: rows that sum to something
    /// else, missing ones, a variable with no block or two, and one that is its own ancestor. As
    /// `default` can stand for many rows, tables are limited as in [`GraphFormat::Fg`].
    Bif,
}

impl GraphFormat {
    /// The format that a file name stands for: by its suffix, a final `.gz` set aside.
    pub fn from_path(path: &Path) -> Result<Self> {
        match file::suffix(path).and_then(|suffix| suffix.to_str()) {
            Some("causal_fg") => Ok(GraphFormat::CausalFg),
            Some("fg") => Ok(GraphFormat::Fg),
            Some("uai") => Ok(GraphFormat::Uai),
            Some("bif") => Ok(GraphFormat::Bif),
            _ => Err(Error::InvalidArgument(format!(
                "{}: the suffix is not that of a factor graph: .causal_fg, .fg, .uai or .bif, \
                 each also with .gz, is needed",
                path.display()
            ))),
        }
    }
}

/// Reads a factor graph; the file name's suffix tells the format (see [`GraphFormat::from_path`])
/// and whether the content is compressed. Names are set aside: [`read_network`] keeps them.
pub fn read_graph(path: &Path) -> Result<FactorGraph> {
    Ok(read_network(path)?.graph)
}

/// Reads a factor graph from its uncompressed text; `name` is what errors call it.
pub fn read_graph_from_bytes(
    bytes: &[u8], name: &Path, format: GraphFormat,
) -> Result<FactorGraph> {
    Ok(read_network_from_bytes(bytes, name, format)?.graph)
}

/// Reads a factor graph as [`read_graph`] does, from memory; of `name` only the suffix counts.
pub fn read_graph_from_memory(bytes: &[u8], name: &Path) -> Result<FactorGraph> {
    let format = GraphFormat::from_path(name)?;
    let content = file::content(name, bytes)?;
    let parsed = parse_graph(&content, name, format)?;
    drop(content);
    Ok(parsed.build()?.graph)
}

/// Reads a factor graph as [`read_graph`] does, and the names of its variables.
pub fn read_network(path: &Path) -> Result<Network> {
    read_network_as(path, GraphFormat::from_path(path)?)
}

/// As [`read_network`], for a path whose suffix does not tell the format, such as that of a pipe.
pub fn read_network_as(path: &Path, format: GraphFormat) -> Result<Network> {
    let bytes = file::load(path)?;
    let parsed = parse_graph(&bytes, path, format)?;
    // The text is dropped before the graph is built, to save memory.
    drop(bytes);
    parsed.build()
}

/// Reads a network from its uncompressed text; `name` is what errors call it.
pub fn read_network_from_bytes(bytes: &[u8], name: &Path, format: GraphFormat) -> Result<Network> {
    parse_graph(bytes, name, format)?.build()
}

fn parse_graph(bytes: &[u8], name: &Path, format: GraphFormat) -> Result<ParsedNetwork> {
    Ok(match format {
        GraphFormat::CausalFg => causal_fg::parse(bytes, name)?,
        GraphFormat::Fg => fg::parse(bytes, name)?.into(),
        GraphFormat::Uai => uai::parse(bytes, name)?.into(),
        GraphFormat::Bif => bif::parse(bytes, name)?,
    })
}

/// Writes a factor graph in the format and with the compression that the file name's suffix tells.
///
/// The file appears when it is complete: whatever fails, one that was there before stays as it was.
/// Errors: [`Error::Unsupported`] where the format cannot hold the graph, naming the factor.
pub fn write_graph(graph: &FactorGraph, path: &Path) -> Result<()> {
    write_graph_as(graph, path, GraphFormat::from_path(path)?)
}

/// As [`write_graph`], to a path whose suffix does not tell the format, such as that of a pipe.
pub fn write_graph_as(graph: &FactorGraph, path: &Path, format: GraphFormat) -> Result<()> {
    save(path, &mut |output| write_text(graph, format, output))
}

/// Writes a factor graph as [`write_graph`] does, to memory; of `name` only the suffix counts.
pub fn write_graph_to_memory(graph: &FactorGraph, name: &Path) -> Result<Vec<u8>> {
    let format = GraphFormat::from_path(name)?;
    let mut sink = MemorySink(Vec::new());
    write_content(name, &mut sink, &mut |output| write_text(graph, format, output))?;
    Ok(sink.0)
}

/// The uncompressed text of a factor graph; errors as for [`write_graph`].
pub fn write_graph_to_bytes(graph: &FactorGraph, format: GraphFormat) -> Result<Vec<u8>> {
    let mut sink = MemorySink(Vec::new());
    let mut output = Output::new(Path::new("memory"), &mut sink)?;
    write_text(graph, format, &mut output)?;
    output.flush()?;
    Ok(sink.0)
}

fn write_text(graph: &FactorGraph, format: GraphFormat, output: &mut Output<'_>) -> Result<()> {
    match format {
        GraphFormat::CausalFg => causal_fg::write(graph, output),
        GraphFormat::Fg => fg::write(graph, output),
        GraphFormat::Uai => uai::write(graph, output),
        GraphFormat::Bif => Err(Error::Unsupported(
            "a factor graph is not written as .bif, which is for Bayesian networks: use .fg or .uai"
                .into(),
        )),
    }
}
