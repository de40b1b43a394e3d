//! Factors of more than 32 variables where all messages are sent at once, in pieces: see
//! cuda/engine/binary_large_factors.cuh.

use super::layout::Layout;
use super::limits::{WARP, is_large_factor};
use super::shared_units::Unit;
use crate::engine::cuda::interface::binary::{FLOOD_LARGE_FACTORS, Source};
use crate::error::Result;
use crate::memory::Grow;
use crate::model::FactorGraph;
use crate::parallel::all_parts;
use crate::threads::Gang;

/// Most pieces of a factor whose warps take only one round of literals after the other if there are more: each piece reads the
/// bodies of all others.
const FEW_PIECES: usize = 128;
/// Most rounds of a piece: a thread has the body of each.
const MOST_ROUNDS: usize = WARP;

/// The pieces of all large factors.
pub(super) struct LargeFactors {
    pieces: Vec<Piece>,
}

/// A piece of a factor: of the variables but the head, which come in rounds of 32.
#[derive(Clone, Copy)]
struct Piece {
    factor: u32,
    /// The numbers of the factor's first piece and of the one behind its last, among those of all factors.
    first: u32,
    end: u32,
    /// Rounds of each piece but the last, which may have fewer; a power of two.
    rounds: usize,
}

impl LargeFactors {
    /// O(factors + pieces).
    pub(super) fn new(graph: &FactorGraph) -> Result<Self> {
        let mut pieces = Vec::new();
        for f in (0..graph.factor_count()).filter(|&f| is_large_factor(graph.arity(f))) {
            let body = graph.arity(f) - 1;
            let rounds = body.div_ceil(WARP * FEW_PIECES).next_power_of_two().min(MOST_ROUNDS);
            let first = pieces.len();
            let end = first + body.div_ceil(WARP * rounds);
            let piece = Piece { factor: f as u32, first: first as u32, end: end as u32, rounds };
            pieces.try_resize(end, piece)?;
        }
        Ok(Self { pieces })
    }

    /// Number of pieces.
    pub(super) fn count(&self) -> usize {
        self.pieces.len()
    }

    /// A unit of each.
    pub(super) fn units(
        &self, graph: &FactorGraph, layout: &Layout, gang: &Gang,
    ) -> Result<Vec<Unit>> {
        if self.pieces.is_empty() {
            return Ok(Vec::new());
        }
        let coefficients = graph.coefficients()?;
        all_parts(self.pieces.len(), gang, |number| {
            let Piece { factor, first, end, rounds } = self.pieces[number];
            let f = factor as usize;
            let edges = graph.factor_edges(f);
            let head = graph.head_position(f).unwrap_or_default();
            let skipped = (number - first as usize) * rounds * WARP;
            let own = (edges.len() - 1 - skipped).min(rounds * WARP);
            let own_rounds = own.div_ceil(WARP);
            let mut unit = Unit::of_rows(FLOOD_LARGE_FACTORS, 1 + own_rounds)?;
            let numbers = [number as u32, first, end, layout.coefficients_of[f], own_rounds as u32];
            for (thread, number) in numbers.into_iter().enumerate() {
                unit.words[2 * thread + 1] = number;
            }
            let add = |unit: &mut Unit, place: usize, position: usize| {
                let edge = edges.start + position;
                unit.words[place] = Source::Prepared.word(layout.slot_of_edge[edge]);
                unit.inputs.push((place as u32, edge as u32));
            };
            add(&mut unit, 0, head);
            // Positions of the body are those of the factor without the head's.
            let body = (skipped..skipped + own).map(|at| at + usize::from(at >= head));
            let signs = graph.conjunction_parameter(f).map(|parameter| &coefficients[parameter]);
            for (place, position) in (2 * WARP..).step_by(2).zip(body) {
                add(&mut unit, place, position);
                let is_negated = signs.is_some_and(|signs| signs.is_negated(position));
                unit.words[place + 1] = u32::from(is_negated);
            }
            Ok(unit)
        })
    }
}
