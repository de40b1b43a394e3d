//! Layers: as many levels of SEQFIX as asked for.

use super::generated::{Draft, Generated, check_range};
use crate::error::Result;
use crate::model::Label;

/// One in so many variables is observed.
const OBSERVED: usize = 64;

/// Noisy conjunctions and disjunctions in layers, of which SEQFIX has exactly `levels` levels.
///
/// It has exactly `variables` variables in `levels` layers of the same width, or one more. Those of the first layer have
/// priors; each other one heads a factor over a variable of the layer before it and one of the layer before that. No two
/// factors of a layer share a variable, so that all its messages can be sent at once. One in 64 variables is observed.
///
/// An error if `variables` is below [`super::MIN_VARIABLES`] or above [`super::MAX_VARIABLES`], or if `levels` is not
/// between 1 and `variables`.
pub fn layers(variables: usize, levels: usize, seed: u64) -> Result<Generated> {
    draft(variables, levels, seed)?.build()
}

/// The graph of [`layers`], before it is built.
pub(super) fn draft(variables: usize, levels: usize, seed: u64) -> Result<Draft> {
    let (mut draft, mut choices) = Draft::begin(variables, seed, 3)?;
    check_range(levels, 1..=variables, "levels", "a graph of so many variables")?;
    // The first layers are the wider ones: what is below is there.
    let width = |layer: usize| variables / levels + usize::from(layer < variables % levels);
    let (mut start, mut before, mut before_that) = (0, 0, None);
    for layer in 0..levels {
        let rotation = choices.below(variables);
        for column in 0..width(layer) {
            let variable = start + column;
            let head = variable as Label;
            if layer == 0 {
                draft.builder.add_prior(head, choices.probability())?;
            } else {
                let mut body = [(before + column) as Label, 0];
                let mut count = 1;
                if let Some(first) = before_that {
                    body[1] = (first + (column + rotation) % width(layer - 2)) as Label;
                    count = 2;
                }
                let body = &body[..count];
                if choices.one_in(2) {
                    draft.builder.add_and(head, body, 0.95, 0.05)?;
                } else {
                    draft.builder.add_or(head, body, 0.95, 0.05)?;
                }
            }
            if choices.one_in(OBSERVED) {
                draft.observe(variable, choices.below(2))?;
            }
        }
        before_that = (layer > 0).then_some(before);
        before = start;
        start += width(layer);
    }
    Ok(draft)
}
