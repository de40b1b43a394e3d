//! Kinds of factors: one file per kind, or per group of kinds that share their parameters, says all that these
//! are, and a line of the table below names each kind. The rest of the library asks a [`Factor`], or a
//! [`FactorKind`], and matches over no kinds.
//!
//! A file has the parameters as graphs and builders keep them (`Store`), as a builder is given them
//! ([`NewFactor`]), and as a view of one factor, which implements `Kind`: value, messages, total, cost, what
//! devices run it as, how `.causal_fg` writes it. `kind.rs` has these traits; CONTRIBUTING.md, "A factor kind",
//! says how one is added. This folder depends on the arithmetic of messages, `kernel`, alone: it knows neither
//! graphs nor engines.

#[macro_use]
mod registry;

mod check;
mod conjunction;
mod horn;
mod kind;
pub(crate) mod noisy;
mod prior;
mod scope;
mod signed;
mod table;
pub(crate) mod terms;
mod values;

pub(crate) use check::{check_probabilities, check_weights};
pub use horn::{Horn, HornParameters};
pub use kind::NewFactor;
pub(crate) use kind::{CausalBlock, Conjunction, DeviceForm, Update};
pub(crate) use noisy::NoisyCoefficients;
pub use noisy::{Noisy, NoisyLiteral};
pub use prior::Prior;
pub(crate) use scope::Scope;
pub(crate) use signed::{NewConjunction, words};
pub use signed::{Signed, SignedParameters};
pub(crate) use table::NewTable;
pub(crate) use terms::NewTerms;
pub use terms::{TermLiteral, Terms, WILDCARD};
pub(crate) use values::next_joint_state;

use crate::error::Result;
use crate::kernel::{EncodedMessage, ExtendedFloat, Inference};
use crate::memory::{Grow, NoMemory};
use kind::{Kind, Store};

kinds! { ($)
    tables: table::Tables {
        /// Dense table over any cardinalities: values over all joint states of the factor's variables, which
        /// ascend by label; the first variable (lowest label) varies fastest.
        Table = 0, "table", &'a [f64];
    }
    horn: horn::Horns {
        /// Prior of one binary variable: f(1) = p, f(0) = 1 - p.
        Prior = 1, "prior", Prior;
        /// Noisy conjunction: P(head = 1) = p if the whole body is true, q otherwise.
        And = 2, "and", Horn;
        /// Noisy disjunction: P(head = 0) = p if the whole body is false, q otherwise.
        Or = 3, "or", Horn;
    }
    signed: signed::SignedStore {
        /// Values that depend on the head and on whether all of some signed literals hold: signed Horn
        /// clauses, CNF clauses with weights; see [`Signed`].
        Signed = 4, "signed", Signed<'a>;
    }
    noisy: noisy::NoisyStore {
        /// As `Signed`, with literals that hold with a probability: noisy-OR, noisy-AND; see [`Noisy`].
        Noisy = 5, "noisy", Noisy<'a>;
    }
    terms: terms::TermStore {
        /// A sum of weighted terms over variables of any cardinalities (local structure); see [`Terms`].
        Terms = 6, "terms", Terms<'a>;
    }
}

impl<'a> Factor<'a> {
    /// Value of the factor at a joint state, one state per variable in the graph's order.
    /// `cardinalities` are those of the factor's variables. A value of a noisy factor or of terms that is
    /// beyond the range of `f64` is infinite, or rounded to a subnormal number or zero. O(arity), for terms
    /// O(their size).
    pub fn value(&self, states: &[usize], cardinalities: impl Iterator<Item = usize>) -> f64 {
        for_view!(self, view => view.value(states, cardinalities))
    }

    /// The values of a dense table.
    pub fn as_table(&self) -> Option<&'a [f64]> {
        match self {
            Factor::Table(values) => Some(values),
            _ => None,
        }
    }

    /// The value at a joint state as a number of any exponent. Where [`Self::value`] neither over- nor
    /// underflows nor cancels, it is the same. O(arity), for terms O(their size).
    pub(crate) fn extended_value(
        &self, states: &[usize], cardinalities: impl Iterator<Item = usize>,
    ) -> ExtendedFloat {
        for_view!(self, view => view.extended_value(states, cardinalities))
    }

    /// See [`Kind::underflows`].
    pub(crate) fn underflows(&self, states: &[usize], value: f64) -> bool {
        for_view!(self, view => view.underflows(states, value))
    }

    /// Whether the factor excludes every joint state, as a conjunction with its head in its own body or with
    /// both signs of a variable can. O(arity).
    pub(crate) fn is_zero_everywhere(&self, arity: usize) -> bool {
        for_view!(self, view => view.is_zero_everywhere(arity))
    }

    /// See [`Kind::needs_table`].
    #[inline]
    pub(crate) fn needs_table(&self, inference: Inference) -> bool {
        for_view!(self, view => view.needs_table(inference))
    }

    /// See [`Kind::total`].
    pub(crate) fn total(
        &self, radices: &[u32], messages: &[EncodedMessage],
    ) -> Result<ExtendedFloat> {
        for_view!(self, view => view.total(radices, messages))
    }

    /// See [`Kind::table_entries`].
    pub(crate) fn table_entries(&self, joint_states: Option<usize>) -> f64 {
        for_view!(self, view => view.table_entries(joint_states))
    }

    /// See [`Kind::device_form`].
    pub(crate) fn device_form(&self) -> DeviceForm<'a> {
        for_view!(self, view => view.device_form())
    }

    /// See [`Kind::causal_block`].
    pub(crate) fn causal_block(&self) -> Option<CausalBlock> {
        for_view!(self, view => view.causal_block())
    }
}

/// Makes room for so many more entries of a list of offsets, and puts the first offset, 0, there.
fn extend_offsets(offsets: &mut Vec<usize>, more: usize) -> Result<()> {
    offsets.try_room(more + 1)?;
    if offsets.is_empty() {
        offsets.push(0);
    }
    Ok(())
}
