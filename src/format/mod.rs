//! Files: factor graphs, evidence and ranks as text, plain or compressed (`.gz`).
//!
//! | suffix | content |
//! |---|---|
//! | `.causal_fg` | priors, AND and OR factors: the format of the CausalBP extension of libDAI |
//! | `.fg` | tables over variables with labels: libDAI's format |
//! | `.uai` | tables over variables 0 to n-1: the format of the UAI competitions |
//! | `.bif` | Bayesian networks with names of variables and states: the Bayesian Interchange Format |
//! | `.obs` | evidence by label or name |
//! | `.evid` | evidence by variable index: the format of the UAI competitions |
//! | `.dict` | names of variables: BINGO's format |
//! | `.alarms`, `.candidates` | variables with a name and a mark each |
//! | `.dot` | a picture of a small graph, for Graphviz |
//!
//! Every `f64` is written as the shortest text that reads back to the same bits. An error in a
//! file names the file, the line, the value and what would be right. The memory that reading takes
//! is bounded by a small multiple of the text's size (and of the graph's, where the file refers to
//! one): no number in a file makes it allocate more; see [`GraphFormat::Fg`] for the one format
//! in which a short text may legally stand for a long table.

mod bif;
mod causal_fg;
mod dictionary;
mod dot;
mod error;
mod evidence;
mod fg;
mod file;
mod file_system;
mod graph_file;
mod marginals;
mod marks;
mod name_list;
mod named_graph;
mod names;
mod network;
mod number;
mod output;
mod queries;
mod ranks;
mod save;
mod six_digits;
mod soft_evidence;
mod states;
mod table;
#[cfg(test)]
mod testing;
mod text;
mod uai;

pub use dictionary::{Dictionary, Named, read_dictionary};
pub use dot::{DOT_LIMIT, write_dot};
pub use evidence::{
    PartialEvidence, read_evidence, read_observations, read_partial_evidence, read_uai_evidence,
    read_uai_evidence_samples, write_evidence, write_observations, write_uai_evidence,
};
pub use file_system::abort_writes;
pub use graph_file::{
    GraphFormat, read_graph, read_graph_from_bytes, read_graph_from_memory, read_network,
    read_network_as, read_network_from_bytes, write_graph, write_graph_as, write_graph_to_bytes,
    write_graph_to_memory,
};
pub use marginals::{
    write_marginals, write_marginals_of, write_marginals_of_to, write_marginals_to,
};
pub use marks::{Marked, describe_variable, find_variable, read_marked};
pub use name_list::{Asked, read_asked, read_names};
pub use named_graph::NamedGraph;
pub use names::Names;
pub use network::Network;
pub use number::push_f64;
pub use queries::read_queries;
pub use ranks::read_ranks;
pub use save::save_text;
pub(crate) use save::sync_name;
pub use six_digits::six_digits;
pub use soft_evidence::{Likelihood, SoftEvidence, read_soft_evidence};
pub use states::write_states_to;
