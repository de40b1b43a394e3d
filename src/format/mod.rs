//! Files: factor graphs, evidence and ranks as text, plain or compressed (`.gz`).
//!
//! | suffix | content |
//! |---|---|
//! | `.causal_fg` | singletons, AND and OR factors: the format of the CausalBP extension of libDAI |
//! | `.fg` | tables over variables with labels: libDAI's format |
//! | `.uai` | tables over variables 0 to n-1: the format of the UAI competitions |
//! | `.bif` | Bayesian networks with names of variables and states: the Bayesian Interchange Format |
//! | `.obs` | evidence by label or name |
//! | `.evid` | evidence by variable index: the format of the UAI competitions |
//!
//! Every `f64` is written as the shortest text that reads back to the same bits. An error in a
//! file names the file, the line, the value and what would be right. The memory that reading takes
//! is bounded by a small multiple of the text's size (and of the graph's, where the file refers to
//! one): no number in a file makes it allocate more; see [`GraphFormat::Fg`] for the one format
//! in which a short text may legally stand for a long table.

mod bif;
mod causal_fg;
mod evidence;
mod fg;
mod file;
mod file_system;
mod marginals;
mod names;
mod number;
mod output;
mod queries;
mod ranks;
mod save;
mod soft_evidence;
mod states;
mod table;
mod text;
mod uai;

pub use evidence::{
    PartialEvidence, read_evidence, read_observations, read_partial_evidence, read_uai_evidence,
    read_uai_evidence_samples, write_evidence, write_observations, write_uai_evidence,
};
pub use file_system::abort_writes;
pub use marginals::{
    write_marginals, write_marginals_of, write_marginals_of_to, write_marginals_to,
};
pub use names::{NamedGraph, Names, Network, read_network, read_network_from_bytes};
pub use number::push_f64;
pub use queries::read_queries;
pub use ranks::read_ranks;
pub use save::save_text;
pub use soft_evidence::{Likelihood, SoftEvidence, read_soft_evidence};
pub use states::write_states_to;

use crate::error::{Error, Result};
use crate::model::FactorGraph;
use names::ParsedNetwork;
use output::{MemorySink, Output};
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
    bytes: &[u8],
    name: &Path,
    format: GraphFormat,
) -> Result<FactorGraph> {
    Ok(read_network_from_bytes(bytes, name, format)?.graph)
}

fn parse_graph(bytes: &[u8], name: &Path, format: GraphFormat) -> Result<ParsedNetwork> {
    Ok(match format {
        GraphFormat::CausalFg => causal_fg::parse(bytes, name)?.into(),
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
    let format = GraphFormat::from_path(path)?;
    file::save(path, |output| write_text(graph, format, output))
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
