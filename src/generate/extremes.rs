//! What few graphs have and engines must stand: factors over many variables, variables in many factors.

use super::choices::Choices;
use super::generated::{Draft, check_edges};
use crate::error::{Error, Result};
use crate::model::Label;

/// So many factors or variables, of this size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extremes {
    /// Number of factors or variables.
    pub count: usize,
    /// Number of variables of each factor, or of additional factors of each variable.
    pub size: usize,
}

impl Extremes {
    fn edges(self) -> u64 {
        (self.count as u64).saturating_mul(self.size as u64)
    }
}

/// Checks extremes of a graph of so many variables.
pub(super) fn check(
    variables: usize, high_arity: Option<Extremes>, high_degree: Option<Extremes>,
) -> Result<()> {
    if let Some(Extremes { size, .. }) = high_arity
        && !(2..=variables).contains(&size)
    {
        return Err(Error::InvalidArgument(format!(
            "factors of {size} variables: of {variables} variables, a factor has 2 to {variables}"
        )));
    }
    if let Some(Extremes { count, .. }) = high_degree
        && count > variables
    {
        return Err(Error::InvalidArgument(format!(
            "{count} variables of high degree: the graph has {variables} variables"
        )));
    }
    let edges = |extremes: Option<Extremes>| extremes.map_or(0, Extremes::edges);
    check_edges(edges(high_arity).saturating_add(edges(high_degree).saturating_mul(2)))
}

/// Adds factors over random variables, noisy conjunctions and disjunctions by turns.
pub(super) fn add_high_arity(
    draft: &mut Draft, variables: usize, extremes: Extremes, seed: u64,
) -> Result<()> {
    let mut choices = Choices::new(seed, 7);
    let mut order = choices.permutation(variables)?;
    for number in 0..extremes.count {
        choices.shuffle_first(&mut order, extremes.size);
        let (head, body) = (order[0], &order[1..extremes.size]);
        if number % 2 == 0 {
            draft.builder.add_and(head, body, 0.9, 0.1)?;
        } else {
            draft.builder.add_or(head, body, 0.9, 0.1)?;
        }
    }
    Ok(())
}

/// Gives random variables more factors: weak implications, each of another variable, as long as there are others.
pub(super) fn add_high_degree(
    draft: &mut Draft, variables: usize, extremes: Extremes, seed: u64,
) -> Result<()> {
    let mut choices = Choices::new(seed, 8);
    let order = choices.permutation(variables)?;
    for (number, &variable) in order[..extremes.count].iter().enumerate() {
        let others = order[number + 1..].iter().chain(&order[..number]).cycle();
        for &head in others.take(extremes.size) {
            draft.builder.add_and(head, &[variable as Label], 0.55, 0.45)?;
        }
    }
    Ok(())
}
