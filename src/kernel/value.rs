//! Values of factors that no `f64` need hold: by the definitions of `model/factor.rs`, in wide numbers.

use super::number::{Real, Wide};
use crate::error::Result;
use crate::memory::{collected, filled, room};
use crate::model::{Factor, FactorGraph, next_joint_state};

/// The value of a factor at a joint state, one state per variable in the graph's order. Where
/// [`Factor::value`] neither over- nor underflows nor cancels, it is the same. O(arity), for terms
/// O(their size).
pub(crate) fn factor_value(
    factor: &Factor<'_>,
    states: &[usize],
    cardinalities: impl Iterator<Item = usize>,
) -> Wide {
    let wide = Wide::from_f64;
    match factor {
        Factor::Noisy(noisy) => {
            // As [holds, fails], so that nothing is subtracted.
            let mut body = [Wide::ONE, Wide::ZERO];
            for (literal, &state) in noisy.literals.iter().zip(states) {
                let [holds, fails] = literal[state].map(wide);
                let failed = body[1].multiply(holds.add(fails)).add(body[0].multiply(fails));
                body = [body[0].multiply(holds), failed];
            }
            let row = usize::from(states[noisy.head] == 0);
            let [if_holds, if_fails] = [noisy.values[row], noisy.values[2 + row]].map(wide);
            body[0].multiply(if_holds).add(body[1].multiply(if_fails))
        }
        Factor::Terms(terms) => {
            let mut sums = [Wide::ZERO; 2];
            for (term, &weight) in terms.weights.iter().enumerate() {
                let mut conditions = terms.term(term).iter();
                if conditions.all(|c| states[c.position as usize] == c.state as usize) {
                    let sum = &mut sums[usize::from(weight < 0.0)];
                    *sum = sum.add(wide(weight.abs()));
                }
            }
            sums[0].minus(sums[1])
        }
        _ => wide(factor.value(states, cardinalities)),
    }
}

/// The values of a factor at all joint states, the first variable fastest; `None` where they are more
/// than `limit`. O(entries * arity). Errors: no memory.
pub(crate) fn factor_values(
    graph: &FactorGraph,
    factor: usize,
    limit: usize,
) -> Result<Option<Vec<Wide>>> {
    let Some(size) = graph.joint_states(factor).filter(|&size| size <= limit) else {
        return Ok(None);
    };
    let view = graph.factor(factor);
    let cardinalities: Vec<usize> = collected(graph.factor_cardinalities(factor))?;
    let mut states = filled(cardinalities.len(), 0)?;
    let mut values = room(size)?;
    for _ in 0..size {
        values.push(factor_value(&view, &states, cardinalities.iter().copied()));
        next_joint_state(&mut states, &cardinalities);
    }
    Ok(Some(values))
}
