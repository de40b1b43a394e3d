//! What local structure a dense table has.
//!
//! A table's messages cost a few operations per entry; those of a conjunction, of a noisy OR or of a
//! few disjoint terms cost a few per variable or per term. Sessions find the structure of their tables
//! and run them as what they are; [`summarise`] says what was found, by the field's names. What a table
//! is depends on the table alone.

mod compile;
mod conjunction;
mod noisy;
mod terms;
#[cfg(test)]
mod tests;

pub(crate) use compile::compile;
pub use compile::{TableSummary, summarise};

use crate::error::Result;
use crate::memory::filled;
use crate::model::TableStructure as Structure;

/// The field's name for what a table is, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// All entries are equal.
    Constant,
    /// A table of one variable.
    Prior,
    /// A conjunction of variables, with or without noise on the head.
    And,
    /// A conjunction of negated variables: a disjunction.
    Or,
    /// One joint state of all variables has a value of its own.
    Clause,
    /// A conjunction of literals of both signs.
    Conjunction,
    /// Causes that may fail to make the head true, with or without a leak.
    NoisyOr,
    /// Conditions whose failure may still leave the head true, with or without a leak.
    NoisyAnd,
    /// A noisy conjunction of another kind.
    Noisy,
    /// One variable is a function of the others.
    Deterministic,
    /// Few disjoint terms.
    ContextSpecific,
    /// None of these.
    Dense,
}

impl Class {
    /// All classes, in the order of their numbers.
    const ALL: [Self; 12] = [
        Class::Constant,
        Class::Prior,
        Class::And,
        Class::Or,
        Class::Clause,
        Class::Conjunction,
        Class::NoisyOr,
        Class::NoisyAnd,
        Class::Noisy,
        Class::Deterministic,
        Class::ContextSpecific,
        Class::Dense,
    ];

    /// The name, in lower case.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Class::Constant => "constant",
            Class::Prior => "prior",
            Class::And => "and",
            Class::Or => "or",
            Class::Clause => "clause",
            Class::Conjunction => "conjunction",
            Class::NoisyOr => "noisy or",
            Class::NoisyAnd => "noisy and",
            Class::Noisy => "noisy",
            Class::Deterministic => "deterministic",
            Class::ContextSpecific => "context specific",
            Class::Dense => "dense",
        }
    }
}

/// A table's structure and its name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Recognised {
    pub(crate) structure: Structure,
    pub(crate) class: Class,
}

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
        let structure = if arity > 1 && values[0] > 0.0 {
            let (weights, offsets) = (filled(1, values[0])?, filled(2, 0)?);
            Structure::Terms { weights, offsets, literals: Vec::new() }
        } else {
            Structure::Dense
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
