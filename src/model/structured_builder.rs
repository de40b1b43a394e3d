//! Adding factors with local structure to a builder.

use super::builder::FactorGraphBuilder;
use super::graph::Label;
use super::lists::Lists;
use crate::error::{Error, Result};
use crate::factor::{NewConjunction, NewFactor, NewTerms, NoisyLiteral, check_probabilities};
use crate::memory::{collected, room};

/// Signed conjunctions as arrays, for [`FactorGraphBuilder::add_signed_factors`].
///
/// Factor i has the head `heads[i]`, the body that is list i of `bodies`, with the signs at the same places of
/// `negated`, and `values[i]`.
#[derive(Clone, Copy, Debug)]
pub struct SignedArrays<'a> {
    /// Label of each head.
    pub heads: &'a [Label],
    /// Labels of each body.
    pub bodies: Lists<'a, Label>,
    /// Whether each literal is x = 0 instead of x = 1.
    pub negated: &'a [bool],
    /// See [`super::Signed::values`].
    pub values: &'a [[f64; 4]],
}

/// Factors made of terms as arrays, for [`FactorGraphBuilder::add_term_factors`].
///
/// Factor i has the variables that are list i of `scopes`, and the terms whose weights are list i of `weights`.
/// `indicators` holds one entry per term and variable of its factor, term by term.
#[derive(Clone, Copy, Debug)]
pub struct TermArrays<'a> {
    /// Labels of each scope.
    pub scopes: Lists<'a, Label>,
    /// Weights of each factor's terms.
    pub weights: Lists<'a, f64>,
    /// A state, or [`WILDCARD`](super::WILDCARD), per term and variable.
    pub indicators: &'a [i32],
}

impl FactorGraphBuilder {
    /// Adds a factor decided by a conjunction of signed literals: `values` are
    /// `[f(h=1 | holds), f(h=0 | holds), f(h=1 | fails), f(h=0 | fails)]`, finite, not negative, not
    /// all zero. Literal i is `body[i]` = 0 where `negated[i]`, else `body[i]` = 1. Equal literals
    /// merge; a body with both signs of a variable never holds. All variables are binary.
    pub fn add_signed(
        &mut self, head: Label, body: &[Label], negated: &[bool], values: [f64; 4],
    ) -> Result<()> {
        self.add_factor(Some(head), body, &NewConjunction { literals: negated, values })
    }

    /// Adds an AND with signs: P(head = 1) = p if all literals hold, q otherwise; p and q in [0, 1].
    /// See [`Self::add_signed`].
    pub fn add_signed_and(
        &mut self, head: Label, body: &[Label], negated: &[bool], p: f64, q: f64,
    ) -> Result<()> {
        self.check_next(&[("p", p), ("q", q)])?;
        self.add_signed(head, body, negated, [p, 1.0 - p, q, 1.0 - q])
    }

    /// Adds an OR with signs: P(head = 0) = p if no literal holds, q otherwise; p and q in [0, 1].
    /// See [`Self::add_signed`].
    pub fn add_signed_or(
        &mut self, head: Label, body: &[Label], negated: &[bool], p: f64, q: f64,
    ) -> Result<()> {
        self.check_next(&[("p", p), ("q", q)])?;
        // No literal holds where all their negations hold.
        let flipped: Vec<bool> = collected(negated.iter().map(|&negated| !negated))?;
        self.add_signed(head, body, &flipped, [1.0 - p, p, 1.0 - q, q])
    }

    /// Adds a clause of conjunctive normal form: the factor is `satisfied` where one of the literals
    /// holds and `violated` where none does (1 and 0 for a hard clause). Finite, not negative, not
    /// both zero; at least one literal.
    pub fn add_clause(
        &mut self, variables: &[Label], negated: &[bool], satisfied: f64, violated: f64,
    ) -> Result<()> {
        let factor = self.kinds.len();
        let (Some((&head, body)), Some((&head_negated, signs))) =
            (variables.split_first(), negated.split_first())
        else {
            return Err(Error::InvalidArgument(format!(
                "factor {factor}: a clause of {} variables and {} signs: one literal is needed at \
                 least",
                variables.len(),
                negated.len()
            )));
        };
        // The first literal is the head; the body says that all others are violated.
        let flipped: Vec<bool> = collected(signs.iter().map(|&negated| !negated))?;
        let [head_true, head_false] =
            if head_negated { [violated, satisfied] } else { [satisfied, violated] };
        self.add_signed(head, body, &flipped, [head_true, head_false, satisfied, satisfied])
    }

    /// Adds many signed conjunctions in one call; see [`Self::add_signed`]. O(size of the arrays).
    pub fn add_signed_factors(&mut self, arrays: SignedArrays<'_>) -> Result<()> {
        let SignedArrays { heads, bodies, negated, values } = arrays;
        let count = heads.len();
        check_length("values", values.len(), count, "factors")?;
        check_length("negated", negated.len(), bodies.entries.len(), "body literals")?;
        check_length("body_offsets", bodies.offsets.len(), count + 1, "factors and one")?;
        bodies.check("body_offsets")?;
        let negated = Lists { offsets: bodies.offsets, entries: negated };
        for (i, &values) in values.iter().enumerate() {
            let new = NewConjunction { literals: negated.list(i), values };
            new.check(self.kinds.len() + i, bodies.list(i).len())?;
        }
        self.all_or_none(|builder| {
            values.iter().enumerate().try_for_each(|(i, &values)| {
                builder.add_signed(heads[i], bodies.list(i), negated.list(i), values)
            })
        })
    }

    /// Adds a factor decided by a conjunction of noisy literals: `literals[i]` says with which
    /// probability the literal of `body[i]` holds and fails, by the variable's state (each pair adds
    /// up to 1); `values` are as for [`Self::add_signed`]. All variables are binary and different.
    pub fn add_noisy(
        &mut self, head: Label, body: &[Label], literals: &[NoisyLiteral], values: [f64; 4],
    ) -> Result<()> {
        self.add_factor(Some(head), body, &NewConjunction { literals, values })
    }

    /// Adds a noisy-OR: P(head = 0 | x) = (1 - leak) * the product of 1 - `links[i]` over all i with
    /// `body[i]` = 1. Probabilities in [0, 1].
    pub fn add_noisy_or(
        &mut self, head: Label, body: &[Label], links: &[f64], leak: f64,
    ) -> Result<()> {
        self.check_links(links, ("leak", leak))?;
        let literals: Vec<NoisyLiteral> =
            collected(links.iter().map(|&link| [[1.0, 0.0], [1.0 - link, link]]))?;
        self.add_noisy(head, body, &literals, [leak, 1.0 - leak, 1.0, 0.0])
    }

    /// Adds a noisy-AND: P(head = 1 | x) = p * the product of `links[i]` over all i with `body[i]` = 0.
    /// Probabilities in [0, 1].
    pub fn add_noisy_and(
        &mut self, head: Label, body: &[Label], links: &[f64], p: f64,
    ) -> Result<()> {
        self.check_links(links, ("p", p))?;
        let literals: Vec<NoisyLiteral> =
            collected(links.iter().map(|&link| [[link, 1.0 - link], [1.0, 0.0]]))?;
        self.add_noisy(head, body, &literals, [p, 1.0 - p, 0.0, 1.0])
    }

    /// Adds a factor with local structure: the sum over terms t of `weights[t]`
    /// where every variable i of `scope` is in the state `indicators[t * scope.len() + i]`, or that is
    /// [`WILDCARD`](super::WILDCARD). Any cardinalities, any number of terms; the variables are different.
    /// All messages of the factor together cost O(terms * arity).
    ///
    /// Weights are finite. Negative ones are allowed as long as no value of the factor is negative;
    /// [`Self::build`] checks this where it is cheap (exclusive terms; at most 2^16 joint states) and
    /// otherwise trusts the caller. With them, the promise that no answer is wrong from rounding does
    /// not hold: positive and negative terms are added up apart and subtracted once, so that what is
    /// nearly zero in exact arithmetic keeps only an absolute accuracy.
    pub fn add_terms(
        &mut self, scope: &[Label], weights: &[f64], indicators: &[i32],
    ) -> Result<()> {
        self.add_factor(None, scope, &NewTerms { weights, indicators })
    }

    /// Adds many factors made of terms in one call; see [`Self::add_terms`]. O(size of the arrays).
    pub fn add_term_factors(&mut self, arrays: TermArrays<'_>) -> Result<()> {
        let TermArrays { scopes, weights, indicators } = arrays;
        let count = scopes.count();
        check_length("term_offsets", weights.offsets.len(), count + 1, "factors and one")?;
        scopes.check("scope_offsets")?;
        weights.check("term_offsets")?;
        let mut rows = room(count)?;
        let mut at = 0_usize;
        for i in 0..count {
            let (arity, weights) = (scopes.list(i).len(), weights.list(i));
            let terms = weights.len();
            let end = at.saturating_add(arity.saturating_mul(terms));
            let row = indicators.get(at..end).ok_or_else(|| {
                Error::InvalidArgument(format!(
                    "indicators has {} entries: the {terms} terms over {arity} variables of factor \
                     {i} need them up to {end}",
                    indicators.len()
                ))
            })?;
            NewTerms { weights, indicators: row }.check(self.kinds.len() + i, arity)?;
            rows.push(row);
            at = end;
        }
        check_length("indicators", indicators.len(), at, "terms and variables")?;
        self.all_or_none(|builder| {
            rows.into_iter()
                .enumerate()
                .try_for_each(|(i, row)| builder.add_terms(scopes.list(i), weights.list(i), row))
        })
    }

    fn check_links(&self, links: &[f64], other: (&str, f64)) -> Result<()> {
        self.check_next(&[other])?;
        for (index, &link) in links.iter().enumerate() {
            self.check_next(&[(&format!("links[{index}]"), link)])?;
        }
        Ok(())
    }

    /// Checks probabilities of the factor that is to be added.
    fn check_next(&self, probabilities: &[(&str, f64)]) -> Result<()> {
        check_probabilities(|| format!("factor {}", self.kinds.len()), probabilities)
    }
}

fn check_length(name: &str, length: usize, wanted: usize, of: &str) -> Result<()> {
    if length == wanted {
        return Ok(());
    }
    Err(Error::InvalidArgument(format!(
        "{name} has {length} entries: one per {of}, {wanted}, are needed"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::factor::WILDCARD;

    fn error(result: Result<()>) -> String {
        result.unwrap_err().to_string()
    }

    /// Checks that a factor is rejected with a text that contains `words`, by `add` or when the graph is built, and
    /// that an `add` that fails adds nothing.
    fn rejected(words: &[&str], add: impl Fn(&mut FactorGraphBuilder) -> Result<()>) {
        let mut builder = FactorGraphBuilder::new();
        builder.add_variable(9, 3).unwrap();
        builder.add_prior(1, 0.5).unwrap();
        let message = match add(&mut builder) {
            Err(error) => {
                assert_eq!(builder.factor_count(), 1);
                assert_eq!(builder.build().unwrap().factor_count(), 1);
                error.to_string()
            }
            Ok(()) => builder.build().unwrap_err().to_string(),
        };
        assert!(message.contains("factor 1"), "{message}");
        for word in words {
            assert!(message.contains(word), "{message:?} does not say {word:?}");
        }
    }

    #[test]
    fn signed_factors_that_are_none() {
        rejected(&["body of 2", "1 literals"], |b| b.add_signed(1, &[2, 3], &[true], [1.0; 4]));
        let values = |value| [1.0, value, 1.0, 1.0];
        for value in [-0.5, f64::NAN, f64::INFINITY] {
            let wanted = [&*format!("{value}"), "value 1", "finite"];
            rejected(&wanted, |b| b.add_signed(1, &[2], &[true], values(value)));
        }
        rejected(&["all 4 values are zero"], |b| b.add_signed(1, &[2], &[true], [0.0; 4]));
        rejected(&["p = 1.5", "[0, 1]"], |b| b.add_signed_and(1, &[2], &[true], 1.5, 0.0));
        rejected(&["q = -1", "[0, 1]"], |b| b.add_signed_or(1, &[2], &[true], 0.5, -1.0));
        rejected(&["q = NaN", "[0, 1]"], |b| b.add_signed_or(1, &[2], &[true], 0.5, f64::NAN));
        rejected(&["0 variables", "one literal"], |b| b.add_clause(&[], &[], 1.0, 0.0));
        rejected(&["1 variables", "0 signs"], |b| b.add_clause(&[1], &[], 1.0, 0.0));
        rejected(&["body of 1", "0 literals"], |b| b.add_clause(&[1, 2], &[true], 1.0, 0.0));
        rejected(&["all 4 values"], |b| b.add_clause(&[1, 2], &[true, true], 0.0, 0.0));
        rejected(&["(signed)", "variable 9", "3 states"], |b| {
            b.add_signed(1, &[9], &[true], [1.0; 4])
        });
        rejected(&["(signed)", "variable 9", "3 states"], |b| {
            b.add_clause(&[9], &[true], 1.0, 0.0)
        });
    }

    #[test]
    fn noisy_factors_that_are_none() {
        let fine = [[0.5, 0.5], [1.0, 0.0]];
        rejected(&["body of 1", "2 literals"], |b| b.add_noisy(1, &[2], &[fine; 2], [1.0; 4]));
        for wrong in [[0.5, 0.6], [-0.5, 1.5], [f64::NAN, 0.5], [2.0, -1.0]] {
            let words = [&*format!("{}", wrong[0]), "literal 1", "state 0", "add up to 1"];
            let literals = [fine, [wrong, [1.0, 0.0]]];
            rejected(&words, |b| b.add_noisy(1, &[2, 3], &literals, [1.0; 4]));
        }
        rejected(&["leak = 2", "[0, 1]"], |b| b.add_noisy_or(1, &[2], &[0.5], 2.0));
        rejected(&["links[1] = -0.5", "[0, 1]"], |b| b.add_noisy_or(1, &[2, 3], &[0.5, -0.5], 0.0));
        rejected(&["links[0] = NaN", "[0, 1]"], |b| b.add_noisy_and(1, &[2], &[f64::NAN], 1.0));
        rejected(&["p = -1", "[0, 1]"], |b| b.add_noisy_and(1, &[2], &[0.5], -1.0));
        rejected(&["body of 2", "1 literals"], |b| b.add_noisy_or(1, &[2, 3], &[0.5], 0.0));
        rejected(&["(noisy)", "variable 2 occurs twice"], |b| {
            b.add_noisy_or(1, &[2, 2], &[0.5; 2], 0.0)
        });
        rejected(&["(noisy)", "variable 1 occurs twice"], |b| b.add_noisy_or(1, &[1], &[0.5], 0.0));
        rejected(&["(noisy)", "variable 9", "3 states"], |b| b.add_noisy_and(9, &[1], &[0.5], 1.0));
    }

    #[test]
    fn terms_that_are_none() {
        rejected(&["no terms"], |b| b.add_terms(&[1], &[], &[]));
        rejected(&["3 indicators", "2 terms over 2 variables"], |b| {
            b.add_terms(&[1, 9], &[1.0, 2.0], &[0, 1, 1])
        });
        rejected(&["weight inf of term 1", "finite"], |b| {
            b.add_terms(&[1], &[1.0, f64::INFINITY], &[0, 1])
        });
        rejected(&["weight NaN of term 0", "finite"], |b| b.add_terms(&[1], &[f64::NAN], &[0]));
        rejected(&["term 1", "indicator -2", "variable 0", "-1 for any"], |b| {
            b.add_terms(&[1, 9], &[1.0, 1.0], &[0, 2, -2, 0])
        });
        rejected(&["term 0", "variable 9 in state 3", "3 states"], |b| {
            b.add_terms(&[1, 9], &[1.0], &[0, 3])
        });
        rejected(&["(terms)", "variable 9 occurs twice"], |b| {
            b.add_terms(&[9, 9], &[1.0], &[0, 1])
        });
        rejected(&["weight -1 of term 1", "negative"], |b| {
            b.add_terms(&[1], &[1.0, -1.0], &[0, 1])
        });
        rejected(&["add up to -1", "joint state [1, 2]"], |b| {
            b.add_terms(&[1, 9], &[1.0, -2.0], &[-1, -1, 1, 2])
        });
        rejected(&["sum of its 2 terms is zero"], |b| b.add_terms(&[1], &[0.0, 0.0], &[0, -1]));
        rejected(&["sum of its 2 terms is zero"], |b| b.add_terms(&[1], &[0.3, -0.3], &[1, 1]));
    }

    /// The same entries, cut elsewhere.
    fn cut<'a, T>(lists: Lists<'a, T>, offsets: &'a [usize]) -> Lists<'a, T> {
        Lists { offsets, ..lists }
    }

    #[test]
    fn arrays_that_do_not_fit_add_nothing() {
        let mut builder = FactorGraphBuilder::new();
        let signed = SignedArrays {
            heads: &[1, 2],
            bodies: Lists { offsets: &[0, 1, 3], entries: &[2, 3, 4] },
            negated: &[true, false, true],
            values: &[[1.0, 0.0, 0.5, 0.5]; 2],
        };
        for (arrays, words) in [
            (SignedArrays { values: &[[1.0; 4]], ..signed }, "values has 1 entries"),
            (SignedArrays { negated: &[true], ..signed }, "negated has 1 entries"),
            (
                SignedArrays { bodies: cut(signed.bodies, &[0, 3]), ..signed },
                "body_offsets has 2 entries",
            ),
            (SignedArrays { bodies: cut(signed.bodies, &[0, 4, 3]), ..signed }, "body_offsets"),
            (SignedArrays { values: &[[1.0; 4], [-1.0; 4]], ..signed }, "factor 1"),
        ] {
            let message = error(builder.add_signed_factors(arrays));
            assert!(message.contains(words), "{message}");
        }
        let terms = TermArrays {
            scopes: Lists { offsets: &[0, 1, 3], entries: &[1, 1, 2] },
            weights: Lists { offsets: &[0, 2, 3], entries: &[1.0, 2.0, 3.0] },
            indicators: &[0, 1, WILDCARD, 1],
        };
        for (arrays, words) in [
            (
                TermArrays { weights: cut(terms.weights, &[0, 3]), ..terms },
                "term_offsets has 2 entries",
            ),
            (TermArrays { scopes: cut(terms.scopes, &[0, 1, 2]), ..terms }, "scope_offsets"),
            (TermArrays { weights: cut(terms.weights, &[0, 2, 4]), ..terms }, "term_offsets"),
            (TermArrays { indicators: &[0, 1, 1], ..terms }, "indicators has 3 entries"),
            (TermArrays { indicators: &[0, 1, 1, 1, 1], ..terms }, "indicators has 5 entries"),
            (
                TermArrays {
                    weights: Lists { entries: &[1.0, 2.0, f64::NAN], ..terms.weights },
                    ..terms
                },
                "factor 1",
            ),
        ] {
            let message = error(builder.add_term_factors(arrays));
            assert!(message.contains(words), "{message}");
        }
        assert_eq!(builder.factor_count(), 0);
        // In bulk or one at a time, the graphs are equal.
        builder.add_signed_factors(signed).unwrap();
        builder.add_term_factors(terms).unwrap();
        let mut other = FactorGraphBuilder::new();
        other.add_signed(1, &[2], &[true], signed.values[0]).unwrap();
        other.add_signed(2, &[3, 4], &[false, true], signed.values[1]).unwrap();
        other.add_terms(&[1], &[1.0, 2.0], &[0, 1]).unwrap();
        other.add_terms(&[1, 2], &[3.0], &[WILDCARD, 1]).unwrap();
        assert_eq!(builder.build().unwrap(), other.build().unwrap());
    }
}
