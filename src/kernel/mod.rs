//! The message algebra: one definition of every operation on messages, used by all engines.
//!
//! Here are numbers, products, and the messages of the two forms that engines run by paths of their own:
//! conjunctions of literals (`horn.rs`) and dense tables. Those of other kinds are in `factor`, next to the rest
//! of what a kind is.
//!
//! Three rules give the same bits everywhere and no wrong answers from rounding:
//!
//! * Only `+ - * /` and square roots of binary64 values, scaled exactly by powers of two; no subtraction of nearly
//!   equal numbers, no division to take a message out of a product.
//! * Numbers have a binary64 significand and an exponent without practical bounds ([`ExtendedFloat`]). Where
//!   nothing can over- or underflow, `f64` arithmetic gives the same significands and is used
//!   instead; which of the two ran can never be seen in a result.
//! * Every product over the edges of a node has one shape: the balanced binary tree over the node's
//!   edges in index order, padded with the neutral element to a power of two. The product of all
//!   edges but one multiplies the siblings met on the way from the root down to that edge.

pub(crate) mod body;
mod damping;
#[cfg(test)]
mod differential;
#[cfg(target_arch = "x86_64")]
pub(crate) mod eight;
#[cfg(target_arch = "x86_64")]
mod extended_four;
#[cfg(target_arch = "x86_64")]
pub(crate) mod four;
pub(crate) mod horn;
mod joint;
mod number;
mod packed;
mod power;
mod product;
mod states;
pub(crate) mod table;
mod threshold;
pub(crate) mod tree;

pub(crate) use body::Body;
pub(crate) use damping::{damp, damped_odds};
pub(crate) use horn::{
    DeviceHorn, HornCoefficients, HornScratch, bit, head_first_messages, head_first_position,
    horn_message, horn_messages, horn_total, small_horn_messages,
};
pub(crate) use joint::{table_belief, table_total};
pub(crate) use number::{Arithmetic, ExtendedFloat, Max, Real, scratch_by_number};
pub(crate) use packed::EncodedMessage;
pub(crate) use power::{geometric_mean, mean_numerator};
pub(crate) use product::{
    BLOCK, BLOCK_LEVELS, Product, RunningProduct, SMALL_DEGREE, Scratch as ProductScratch,
    binary_leave_one_out, binary_leave_one_out_all, deterministic_probability,
    leave_one_out_of_few, probability_of_few, resolve_message, resolve_states, stored_message,
    weights_to_probabilities,
};
pub(crate) use states::NearStates;
pub(crate) use table::{
    OwnedTable, TableInputs, TableScratch, TableValues, stored_values, table_message,
    table_messages,
};
pub(crate) use threshold::Threshold;
pub(crate) use tree::{Monoid, pairwise_sum, tree_levels};

/// What messages and beliefs are over the states of the other variables (libDAI's `inference`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Inference {
    /// Sums: marginals (SUMPROD).
    #[default]
    SumProduct,
    /// Maxima: max-marginals, from which [`crate::BeliefPropagation::find_maximum`] decodes the most
    /// probable joint state (MAXPROD).
    MaxProduct,
}
