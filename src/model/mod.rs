//! The model: variables, factors and the immutable factor graph built from them.

mod builder;
mod evidence;
mod factor;
mod graph;

pub use builder::{FactorGraphBuilder, HornArrays};
pub(crate) use builder::{check_cardinality, check_offsets};
pub use evidence::{Evidence, VariableEvidence};
pub(crate) use evidence::{check_factor, check_variable, check_weights};
pub use factor::{Factor, FactorKind, Horn, HornParameters};
pub use graph::{FactorGraph, Label};
