//! A graph by its shape and its numbers.

use super::extremes::{self, Extremes};
use super::generated::{Draft, Generated};
use super::{bingo, layers, models, smartfl};
use crate::error::{Error, Result};

/// What a generated graph looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// [`super::smartfl()`].
    Smartfl,
    /// [`super::bingo()`].
    Bingo,
    /// [`super::layers()`].
    Layers {
        /// Number of levels of SEQFIX.
        levels: usize,
    },
    /// [`super::ising()`].
    Ising,
    /// [`super::potts()`].
    Potts {
        /// States of each variable.
        states: usize,
    },
    /// [`super::rbm()`].
    Rbm {
        /// Number of hidden variables.
        hidden: usize,
    },
}

/// A graph to be generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What it looks like.
    pub shape: Shape,
    /// Number of variables.
    pub variables: usize,
    /// Seed of the random choices.
    pub seed: u64,
    /// Factors over so many variables each, which are added to the shape.
    pub high_arity: Option<Extremes>,
    /// Variables of the shape, each of which is in so many more factors.
    pub high_degree: Option<Extremes>,
}

impl Plan {
    /// Makes the graph. Its levels are those of the shape alone only without high arities and degrees.
    ///
    /// Errors: those of the shape's function; high arities or degrees where variables are not binary, of more variables than
    /// there are, or with more than 2^32 - 2 edges.
    pub fn generate(&self) -> Result<Generated> {
        self.draft()?.build()
    }

    fn draft(&self) -> Result<Draft> {
        let &Self { shape, variables, seed, high_arity, high_degree } = self;
        let has_extremes = high_arity.is_some() || high_degree.is_some();
        if has_extremes && matches!(shape, Shape::Potts { states } if states != 2) {
            return Err(Error::InvalidArgument(
                "high arities and high degrees of variables that are not binary: they are of conjunctions and \
                 disjunctions"
                    .into(),
            ));
        }
        extremes::check(variables, high_arity, high_degree)?;
        let mut draft = match shape {
            Shape::Smartfl => smartfl::draft(variables, seed),
            Shape::Bingo => bingo::draft(variables, seed),
            Shape::Layers { levels } => layers::draft(variables, levels, seed),
            Shape::Ising => models::ising_draft(variables, seed),
            Shape::Potts { states } => models::potts_draft(variables, states, seed),
            Shape::Rbm { hidden } => models::rbm_draft(variables, hidden, seed),
        }?;
        if let Some(high_arity) = high_arity {
            extremes::add_high_arity(&mut draft, variables, high_arity, seed)?;
        }
        if let Some(high_degree) = high_degree {
            extremes::add_high_degree(&mut draft, variables, high_degree, seed)?;
        }
        Ok(draft)
    }
}
