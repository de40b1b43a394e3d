//! Files: factor graphs, evidence and ranks as text, plain or compressed (`.gz`).
//!
//! | suffix | content |
//! |---|---|
//! | `.causal_fg` | singletons, AND and OR factors: the format of the CausalBP extension of libDAI |
//! | `.fg` | tables over variables with labels: libDAI's format |
//! | `.uai` | tables over variables 0 to n-1: the format of the UAI competitions |
//! | `.obs` | evidence by label |
//! | `.evid` | evidence by variable index: the format of the UAI competitions |
//!
//! Every `f64` is written as the shortest text that reads back to the same bits. An error in a
//! file names the file, the line, the value and what would be right. The memory that reading takes
//! is bounded by a small multiple of the text's size (and of the graph's, where the file refers to
//! one): no number in a file makes it allocate more; see [`GraphFormat::Fg`] for the one format
//! in which a short text may legally stand for a long table.

mod causal_fg;
mod evidence;
mod fg;
mod file;
mod marginals;
mod number;
mod ranks;
mod table;
mod text;
mod uai;

pub use evidence::{
    PartialEvidence, read_evidence, read_observations, read_partial_evidence, read_uai_evidence,
    write_evidence, write_observations, write_uai_evidence,
};
pub use marginals::{write_marginals, write_marginals_to};
pub use number::push_f64;
pub use ranks::read_ranks;

use crate::error::{Error, Result};
use crate::model::{FactorGraph, FactorGraphBuilder};
use file::Output;
use std::path::Path;

/// The text formats of factor graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GraphFormat {
    /// Singletons, AND and OR factors over binary variables.
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
    /// that limit would be passed. AND, OR and singleton factors are written as tables, up to 2^26
    /// entries each. A variable without factors is written with a table of ones.
    Fg,
    /// Tables over the variables 0 to n-1, from a Markov network or a Bayesian one.
    ///
    /// The format has no labels: writing numbers the variables by their rank, and reading takes
    /// the numbers for labels. Factors are written as in [`GraphFormat::Fg`].
    Uai,
}

impl GraphFormat {
    /// The format that a file name stands for: by its suffix, a final `.gz` set aside.
    pub fn from_path(path: &Path) -> Result<Self> {
        let plain = if file::is_gzip(path) { path.with_extension("") } else { path.to_path_buf() };
        match plain.extension().and_then(|extension| extension.to_str()) {
            Some("causal_fg") => Ok(GraphFormat::CausalFg),
            Some("fg") => Ok(GraphFormat::Fg),
            Some("uai") => Ok(GraphFormat::Uai),
            _ => Err(Error::InvalidArgument(format!(
                "{}: the suffix is not that of a factor graph: .causal_fg, .fg or .uai, \
                 each also with .gz, is needed",
                path.display()
            ))),
        }
    }
}

/// Reads a factor graph; the file name's suffix tells the format (see [`GraphFormat::from_path`])
/// and whether the content is compressed.
pub fn read_graph(path: &Path) -> Result<FactorGraph> {
    let format = GraphFormat::from_path(path)?;
    let bytes = file::load(path)?;
    let builder = parse_graph(&bytes, path, format)?;
    // The text need not stay while the graph is built.
    drop(bytes);
    builder.build()
}

/// Reads a factor graph from its uncompressed text; `name` is what errors call it.
pub fn read_graph_from_bytes(
    bytes: &[u8],
    name: &Path,
    format: GraphFormat,
) -> Result<FactorGraph> {
    parse_graph(bytes, name, format)?.build()
}

fn parse_graph(bytes: &[u8], name: &Path, format: GraphFormat) -> Result<FactorGraphBuilder> {
    match format {
        GraphFormat::CausalFg => causal_fg::parse(bytes, name),
        GraphFormat::Fg => fg::parse(bytes, name),
        GraphFormat::Uai => uai::parse(bytes, name),
    }
}

/// Writes a factor graph in the format and with the compression that the file name's suffix tells.
///
/// The file appears when it is complete: whatever fails, one that was there before stays as it was.
/// Errors: [`Error::Unsupported`] where the format cannot hold the graph, naming the factor.
pub fn write_graph(graph: &FactorGraph, path: &Path) -> Result<()> {
    let format = GraphFormat::from_path(path)?;
    file::save(path, |output| write_text(graph, format, output))
}

/// The uncompressed text of a factor graph; errors as for [`write_graph`].
pub fn write_graph_to_bytes(graph: &FactorGraph, format: GraphFormat) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut output = Output::new(Path::new("memory"), &mut bytes);
    write_text(graph, format, &mut output)?;
    output.flush()?;
    Ok(bytes)
}

fn write_text(graph: &FactorGraph, format: GraphFormat, output: &mut Output<'_>) -> Result<()> {
    match format {
        GraphFormat::CausalFg => causal_fg::write(graph, output),
        GraphFormat::Fg => fg::write(graph, output),
        GraphFormat::Uai => uai::write(graph, output),
    }
}
