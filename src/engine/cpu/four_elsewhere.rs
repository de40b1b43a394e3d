//! Where there are no vector registers of AVX2, nodes are computed one by one.

use super::batches::FactorPart;
use super::stale::Stale;
use super::state::State;
use super::targets::Targets;
use super::workspace::{Beliefs, Workspace};
use crate::kernel::Product;
use std::convert::Infallible;
use std::marker::PhantomData;

/// Most edges of nodes that are computed four at a time on other processors.
pub(super) const MOST_EDGES: usize = 8;

/// What other processors compute messages of four nodes at once with.
pub(super) struct FourAtOnce<'a>(Infallible, PhantomData<&'a State>);

impl<'a> FourAtOnce<'a> {
    pub(super) fn may_serve(_: &State) -> bool {
        false
    }

    pub(super) fn new(_: &'a State, _: &'a Targets, _: &'a Stale, _: &'a Stale) -> Option<Self> {
        None
    }

    pub(super) fn update_factors(
        &self, _: usize, _: usize, _: &[u32], _: &mut dyn FnMut(usize),
    ) -> usize {
        match self.0 {}
    }

    pub(super) fn update_parts(
        &self, _: (usize, usize), _: &[FactorPart], _: &[u32], _: &mut dyn FnMut(usize),
    ) {
        match self.0 {}
    }

    pub(super) fn update_variables(&self, _: usize, _: &[u32], _: &mut dyn FnMut(usize)) {
        match self.0 {}
    }

    pub(super) fn update_and_measure(
        &self, _: usize, _: &[u32], beliefs: &mut Beliefs<'_>, _: &mut dyn FnMut(usize, bool),
    ) {
        // (Nobody else reads them.)
        let _ = (beliefs.last, beliefs.tolerance);
        match self.0 {}
    }

    pub(super) fn update_variable(&self, _: usize, _: &mut Workspace) -> Option<Product> {
        match self.0 {}
    }

    pub(super) fn probabilities(
        &self, _: usize, _: &[u32], _: bool, _: &mut impl FnMut(usize, f64),
        _: &mut dyn FnMut(usize),
    ) {
        match self.0 {}
    }
}
