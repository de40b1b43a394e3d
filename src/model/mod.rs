//! The model: variables, factors and the immutable factor graph built from them.

mod builder;
mod edges;
mod evidence;
mod from_graph;
mod graph;
mod horn_batch;
mod labels;
mod lists;
mod replace;
mod scopes;
mod structured_builder;
#[cfg(test)]
mod tests;

pub(crate) use builder::check_cardinality;
pub use builder::{FactorGraphBuilder, HornArrays};
pub use evidence::{Evidence, VariableEvidence};
pub(crate) use evidence::{check_factor, check_variable};
pub use graph::{FactorGraph, Label};
pub(crate) use horn_batch::HornBatch;
pub use lists::Lists;
#[cfg(feature = "c-interface")]
pub(crate) use lists::check_offsets;
pub(crate) use replace::TableStructure;
pub use structured_builder::{SignedArrays, TermArrays};

pub use crate::factor::{
    Factor, FactorKind, Horn, HornParameters, Noisy, NoisyLiteral, Prior, Signed, SignedParameters,
    TermLiteral, Terms, WILDCARD,
};
pub(crate) use crate::factor::{check_weights, next_joint_state};
