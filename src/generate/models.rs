//! Pairwise models with random tables: grids (Ising, Potts) and restricted Boltzmann machines.

use super::choices::Choices;
use super::generated::{Draft, Generated, check_edges, check_range};
use crate::error::{Error, Result};
use crate::memory::Grow;
use crate::model::Label;

/// One in so many variables of a grid is observed.
const OBSERVED: usize = 64;
/// Most states of a variable of [`potts`].
pub const MAX_STATES: usize = 256;

/// An Ising model: a grid of binary variables with priors, and tables over neighbours that favour equal or different
/// states by a factor below 2.
///
/// It has exactly `variables` variables, row by row; a row has as many as the integral square root of their number, and the
/// last row may have fewer. One in 64 variables is observed.
///
/// An error if `variables` is below [`super::MIN_VARIABLES`] or above [`super::MAX_VARIABLES`].
pub fn ising(variables: usize, seed: u64) -> Result<Generated> {
    ising_draft(variables, seed)?.build()
}

/// The graph of [`ising`], before it is built.
pub(super) fn ising_draft(variables: usize, seed: u64) -> Result<Draft> {
    let (mut draft, mut choices) = Draft::begin(variables, seed, 4)?;
    for variable in 0..variables {
        draft.builder.add_prior(variable as Label, choices.probability())?;
    }
    each_neighbours(variables, |pair| {
        let equal = choices.ratio(1024);
        draft.builder.add_table(&pair, &[equal, 1.0, 1.0, equal])
    })?;
    observe_some(&mut draft, 0..variables, OBSERVED, 2, &mut choices)?;
    Ok(draft)
}

/// A grid as of [`ising`], of variables with `states` states: a random weight for each state and for each pair of states of
/// neighbours, between 1/2 and 2.
///
/// An error if `variables` is below [`super::MIN_VARIABLES`] or above [`super::MAX_VARIABLES`], or `states` is below 2 or
/// above [`MAX_STATES`].
pub fn potts(variables: usize, states: usize, seed: u64) -> Result<Generated> {
    potts_draft(variables, states, seed)?.build()
}

/// The graph of [`potts`], before it is built.
pub(super) fn potts_draft(variables: usize, states: usize, seed: u64) -> Result<Draft> {
    let (mut draft, mut choices) = Draft::begin(variables, seed, 5)?;
    check_range(states, 2..=MAX_STATES, "states", "a Potts model")?;
    let mut values = Vec::new();
    for variable in 0..variables {
        draft.builder.add_variable(variable as Label, states)?;
        values.clear();
        values.try_extend((0..states).map(|_| choices.ratio(1024)))?;
        draft.builder.add_table(&[variable as Label], &values)?;
    }
    each_neighbours(variables, |pair| {
        values.clear();
        values.try_extend((0..states * states).map(|_| choices.ratio(1024)))?;
        draft.builder.add_table(&pair, &values)
    })?;
    observe_some(&mut draft, 0..variables, OBSERVED, states, &mut choices)?;
    Ok(draft)
}

/// A restricted Boltzmann machine: visible binary variables, `hidden` hidden ones after them, all with priors, and a table
/// over each pair of a visible and a hidden one, with a weight near 1 where both are 1.
///
/// It has exactly `variables` variables. Every second visible one is observed, as by a picture of which half is known.
///
/// An error if `variables` is below [`super::MIN_VARIABLES`] or above [`super::MAX_VARIABLES`], if there are no hidden or no
/// visible variables, or more than 2^32 - 2 edges.
pub fn rbm(variables: usize, hidden: usize, seed: u64) -> Result<Generated> {
    rbm_draft(variables, hidden, seed)?.build()
}

/// The graph of [`rbm`], before it is built.
pub(super) fn rbm_draft(variables: usize, hidden: usize, seed: u64) -> Result<Draft> {
    let (mut draft, mut choices) = Draft::begin(variables, seed, 6)?;
    if !(1..variables).contains(&hidden) {
        return Err(Error::InvalidArgument(format!(
            "{hidden} hidden variables: of {variables} variables, 1 to {} can be hidden",
            variables - 1
        )));
    }
    let visible = variables - hidden;
    check_edges(2 * visible as u64 * hidden as u64 + variables as u64)?;
    for variable in 0..variables {
        draft.builder.add_prior(variable as Label, choices.probability())?;
    }
    for v in 0..visible {
        for h in visible..variables {
            let weight = choices.ratio(128);
            draft.builder.add_table(&[v as Label, h as Label], &[1.0, 1.0, 1.0, weight])?;
        }
    }
    observe_some(&mut draft, 0..visible, 2, 2, &mut choices)?;
    Ok(draft)
}

/// Calls `add` for each pair of neighbours of a grid, by the first of them; right before below.
fn each_neighbours(variables: usize, mut add: impl FnMut([Label; 2]) -> Result<()>) -> Result<()> {
    let columns = variables.isqrt();
    for first in 0..variables {
        let right = (first + 1) % columns != 0;
        for second in [right.then_some(first + 1), Some(first + columns)].into_iter().flatten() {
            if second < variables {
                add([first as Label, second as Label])?;
            }
        }
    }
    Ok(())
}

/// Observes random states of about one in `every` of these variables, ascending.
fn observe_some(
    draft: &mut Draft, variables: std::ops::Range<usize>, every: usize, states: usize,
    choices: &mut Choices,
) -> Result<()> {
    for variable in variables {
        if choices.one_in(every) {
            draft.observe(variable, choices.below(states))?;
        }
    }
    Ok(())
}
