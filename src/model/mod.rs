//! The model: variables, factors and the immutable factor graph built from them.

mod assemble;
mod builder;
mod evidence;
mod factor;
mod from_graph;
mod graph;
mod labels;
mod parameters;
mod replace;
mod structured;
mod structured_builder;
mod structured_scope;

pub use builder::{FactorGraphBuilder, HornArrays};
pub(crate) use builder::{check_cardinality, check_offsets};
pub use evidence::{Evidence, VariableEvidence};
pub(crate) use evidence::{check_factor, check_variable, check_weights, check_weights_by};
pub(crate) use factor::bit;
pub use factor::{
    Factor, FactorKind, Horn, HornParameters, Noisy, NoisyLiteral, Signed, TermLiteral, Terms,
};
pub use graph::{FactorGraph, Label};
pub(crate) use replace::TableStructure;
pub use structured::SignedParameters;
pub(crate) use structured::{is_zero_everywhere, next_joint_state};
pub use structured_builder::{SignedArrays, TermArrays, WILDCARD};
