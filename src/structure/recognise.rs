//! The recognisers in their order, from the cheapest form to run to the dearest.

use super::class::{Class, Recognised};
use super::{conjunction, noisy, terms};
use crate::error::Result;
use crate::memory::filled;
use crate::model::TableStructure as Structure;

/// The structure of a table, first variable fastest, with one entry per joint state.
///
/// Conjunctions go before noisy ones, these before terms, and terms only where they are estimated
/// to be cheaper than the table. Where several heads are possible, the first one is taken.
///
/// O(entries * arity) at worst for all but terms; most tables are told from a few entries. Terms
/// are given up as soon as they cost more than the table.
pub(crate) fn recognise(values: &[f64], cardinalities: &[u32]) -> Result<Recognised> {
    let arity = cardinalities.len();
    let binary = cardinalities.iter().all(|&cardinality| cardinality == 2);
    if arity == 1 {
        let structure = if binary { conjunction::single(values)? } else { Structure::Dense };
        return Ok(Recognised { structure, class: Class::Prior });
    }
    if values.iter().all(|&value| value == values[0]) {
        let structure = if arity == 0 || values[0] <= 0.0 {
            Structure::Dense
        } else if binary {
            // As a conjunction, so that it stays with others of its graph in the kernels for these.
            let negated = filled(arity, false)?;
            Structure::Conjunction { head: 0, negated, values: [values[0]; 4] }
        } else {
            let (weights, offsets) = (filled(1, values[0])?, filled(2, 0)?);
            Structure::Terms { weights, offsets, literals: Vec::new() }
        };
        return Ok(Recognised { structure, class: Class::Constant });
    }
    if binary {
        let found = conjunction::recognise(values, arity);
        if let Some(found) = found.or_else(|| noisy::recognise(values, arity)) {
            return found;
        }
    }
    let structure = terms::recognise(values, cardinalities)?.unwrap_or(Structure::Dense);
    let class = if is_function(values, cardinalities) {
        Class::Deterministic
    } else if structure == Structure::Dense {
        Class::Dense
    } else {
        Class::ContextSpecific
    };
    Ok(Recognised { structure, class })
}

/// Whether one variable is a function of the others: one positive entry for each of their states.
fn is_function(values: &[f64], cardinalities: &[u32]) -> bool {
    let positive = values.iter().filter(|&&value| value > 0.0).count();
    let mut stride = 1;
    cardinalities.iter().any(|&cardinality| {
        let step = stride;
        stride *= cardinality as usize;
        // With as many positive entries as states of the others, none must have two.
        cardinality > 1
            && positive * cardinality as usize == values.len()
            && values.chunks_exact(stride).all(|block| {
                (0..step).all(|at| {
                    block[at..].iter().step_by(step).filter(|&&value| value > 0.0).count() == 1
                })
            })
    })
}
