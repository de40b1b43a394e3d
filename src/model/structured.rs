//! How a graph stores factors with local structure: signed and noisy conjunctions, and terms.

use super::factor::{Factor, Noisy, NoisyLiteral, Signed, TermLiteral, Terms};
use crate::error::{Error, Result};
use crate::memory::{self, Grow, copied, filled, room};
use std::collections::HashMap;

/// Terms up to which every pair is looked at to see whether they exclude each other.
const PAIRWISE_LIMIT: usize = 256;
/// Joint states up to which the values of a factor with negative weights are all computed.
const ENUMERATION_LIMIT: usize = 1 << 16;
/// A value this far below zero, relative to the weights, is taken for a negative one, not for the
/// rounding of a zero.
const ROUNDING: f64 = 1e-12;

/// Parameters shared by all signed conjunctions with the same ones; see [`Signed`].
#[derive(Clone, Debug, PartialEq)]
pub struct SignedParameters {
    /// See [`Signed::values`].
    pub values: [f64; 4],
    /// See [`Signed::negated`]; without trailing zero words.
    pub negated: Vec<u64>,
}

/// The parameters of all structured factors of a graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Structured {
    pub(super) signed: Vec<SignedParameters>,
    noisy_values: Vec<[f64; 4]>,
    /// Where each noisy factor's literals start, and where the last one's end; empty without any.
    noisy_offsets: Vec<usize>,
    noisy_literals: Vec<NoisyLiteral>,
    /// Where each factor's terms start, and where the last one's end; empty without any.
    term_starts: Vec<usize>,
    exclusive: Vec<bool>,
    weights: Vec<f64>,
    /// Where each term's conditions start, and where the last one's end; empty without any.
    literal_offsets: Vec<usize>,
    literals: Vec<TermLiteral>,
}

/// Makes room for so many more entries of a list of offsets, and puts the first offset, 0, there.
fn extend_offsets(offsets: &mut Vec<usize>, more: usize) -> Result<()> {
    offsets.try_room(more + 1)?;
    if offsets.is_empty() {
        offsets.push(0);
    }
    Ok(())
}

impl Structured {
    pub(super) fn signed(&self, index: usize, head: usize) -> Signed<'_> {
        let SignedParameters { values, negated } = &self.signed[index];
        Signed { head, values: *values, negated }
    }

    pub(super) fn noisy(&self, index: usize, head: usize) -> Noisy<'_> {
        let literals = self.noisy_offsets[index]..self.noisy_offsets[index + 1];
        Noisy { head, values: self.noisy_values[index], literals: &self.noisy_literals[literals] }
    }

    pub(super) fn terms(&self, index: usize) -> Terms<'_> {
        let terms = self.term_starts[index]..self.term_starts[index + 1];
        let offsets = &self.literal_offsets[terms.start..=terms.end];
        Terms {
            weights: &self.weights[terms],
            offsets,
            literals: &self.literals[offsets[0]..offsets[offsets.len() - 1]],
            exclusive: self.exclusive[index],
        }
    }

    /// Adds a signed conjunction, literal i of the body negated where bit i is set; returns its number.
    pub(super) fn push_signed(&mut self, values: [f64; 4], negated: &[bool]) -> Result<u32> {
        let mut bits = Vec::new();
        for (index, _) in negated.iter().enumerate().filter(|&(_, &negated)| negated) {
            set_bit(&mut bits, index)?;
        }
        self.signed.try_push(SignedParameters { values, negated: bits })?;
        Ok((self.signed.len() - 1) as u32)
    }

    /// Adds a noisy conjunction, one literal per variable; returns its number.
    pub(super) fn push_noisy(
        &mut self,
        values: [f64; 4],
        literals: &[NoisyLiteral],
    ) -> Result<u32> {
        self.noisy_values.try_room(1)?;
        extend_offsets(&mut self.noisy_offsets, 1)?;
        self.noisy_literals.try_append(literals)?;
        self.noisy_values.push(values);
        self.noisy_offsets.push(self.noisy_literals.len());
        Ok((self.noisy_values.len() - 1) as u32)
    }

    /// Adds a factor of terms; returns its number. `exclusive` says that its terms are known to
    /// exclude each other.
    pub(super) fn push_terms<'a>(
        &mut self,
        weights: &[f64],
        terms: impl Iterator<Item = &'a [TermLiteral]> + Clone,
        exclusive: bool,
    ) -> Result<u32> {
        extend_offsets(&mut self.term_starts, 1)?;
        extend_offsets(&mut self.literal_offsets, weights.len())?;
        self.exclusive.try_room(1)?;
        self.literals.try_room(terms.clone().map(<[_]>::len).sum())?;
        self.weights.try_append(weights)?;
        self.term_starts.push(self.weights.len());
        for term in terms {
            self.literals.extend_from_slice(term);
            self.literal_offsets.push(self.literals.len());
        }
        self.exclusive.push(exclusive);
        let index = self.exclusive.len() - 1;
        if !exclusive {
            self.exclusive[index] = are_exclusive(&self.terms(index));
        }
        Ok(index as u32)
    }

    /// A copy.
    pub(super) fn try_clone(&self) -> Result<Self> {
        let mut signed = room(self.signed.len())?;
        for parameters in &self.signed {
            let negated = copied(&parameters.negated)?;
            signed.push(SignedParameters { values: parameters.values, negated });
        }
        Ok(Self {
            signed,
            noisy_values: copied(&self.noisy_values)?,
            noisy_offsets: copied(&self.noisy_offsets)?,
            noisy_literals: copied(&self.noisy_literals)?,
            term_starts: copied(&self.term_starts)?,
            exclusive: copied(&self.exclusive)?,
            weights: copied(&self.weights)?,
            literal_offsets: copied(&self.literal_offsets)?,
            literals: copied(&self.literals)?,
        })
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let signed = |p: &SignedParameters| size_of_val(p) + 8 * p.negated.capacity();
        self.signed.iter().map(signed).sum::<usize>()
            + 32 * (self.noisy_values.capacity() + self.noisy_literals.capacity())
            + 8 * (self.noisy_offsets.capacity()
                + self.term_starts.capacity()
                + self.weights.capacity()
                + self.literal_offsets.capacity()
                + self.literals.capacity())
            + self.exclusive.capacity()
    }
}

/// Distinct parameters of signed conjunctions, found again by their bits.
#[derive(Debug, Default)]
pub(super) struct SignedTable {
    index: HashMap<([u64; 4], Vec<u64>), u32>,
}

impl SignedTable {
    /// The parameters that a graph has already.
    pub(super) fn of(structured: &Structured) -> Result<Self> {
        let mut table = Self::default();
        for (index, p) in structured.signed.iter().enumerate() {
            let key = (p.values.map(f64::to_bits), copied(&p.negated)?);
            memory::insert(&mut table.index, key, index as u32)?;
        }
        Ok(table)
    }

    /// The number of these parameters in the graph's table, where new ones are added.
    pub(super) fn intern(
        &mut self,
        structured: &mut Structured,
        values: [f64; 4],
        mut negated: Vec<u64>,
    ) -> Result<u32> {
        negated.truncate(negated.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1));
        let table = &mut structured.signed;
        let key = (values.map(f64::to_bits), negated);
        if let Some(&number) = self.index.get(&key) {
            return Ok(number);
        }
        let number = table.len() as u32;
        table.try_push(SignedParameters { values, negated: copied(&key.1)? })?;
        memory::insert(&mut self.index, key, number)?;
        Ok(number)
    }
}

/// Sets a bit, with words added as needed.
pub(super) fn set_bit(words: &mut Vec<u64>, index: usize) -> Result<()> {
    if words.len() <= index / 64 {
        words.try_resize(index / 64 + 1, 0)?;
    }
    words[index / 64] |= 1 << (index % 64);
    Ok(())
}

/// Whether every two terms want different states of some variable; `false` where there are too many
/// to look. O(terms^2 * conditions).
fn are_exclusive(terms: &Terms<'_>) -> bool {
    let count = terms.weights.len();
    count <= PAIRWISE_LIMIT
        && (0..count).all(|a| (0..a).all(|b| exclude_each_other(terms.term(a), terms.term(b))))
}

/// Whether two terms, each by ascending position, want different states of some variable.
fn exclude_each_other(a: &[TermLiteral], b: &[TermLiteral]) -> bool {
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        match x.position.cmp(&y.position) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal if x.state != y.state => return true,
            std::cmp::Ordering::Equal => {
                i += 1;
                j += 1;
            }
        }
    }
    false
}

/// Rejects terms whose sum is negative somewhere, or zero everywhere, as far as that can be decided
/// cheaply: where no weight is negative, where the terms exclude each other, and where there are at
/// most 2^16 joint states.
pub(super) fn check_sum(factor: usize, terms: &Terms<'_>, cardinalities: &[usize]) -> Result<()> {
    let zero = || {
        Err(Error::InvalidArgument(format!(
            "factor {factor}: the sum of its {} terms is zero everywhere: it must be positive for \
             some joint state",
            terms.weights.len()
        )))
    };
    if terms.weights.iter().all(|&weight| weight == 0.0) {
        return zero();
    }
    let Some(term) = terms.weights.iter().position(|&weight| weight < 0.0) else { return Ok(()) };
    if terms.exclusive {
        return Err(Error::InvalidArgument(format!(
            "factor {factor}: the weight {} of term {term} is negative and no other term makes up \
             for it: a factor must not be negative",
            terms.weights[term]
        )));
    }
    let size = cardinalities.iter().try_fold(1_usize, |size, &r| size.checked_mul(r));
    if size.is_none_or(|size| size > ENUMERATION_LIMIT) {
        return Ok(());
    }
    let scale: f64 = terms.weights.iter().map(|weight| weight.abs()).sum();
    let mut states = filled(cardinalities.len(), 0)?;
    let mut positive = false;
    loop {
        let value = Factor::Terms(*terms).value(&states, cardinalities.iter().copied());
        if value < -ROUNDING * scale {
            return Err(Error::InvalidArgument(format!(
                "factor {factor}: its terms add up to {value:?} at the joint state {states:?}: a \
                 factor must not be negative"
            )));
        }
        positive |= value > ROUNDING * scale;
        if !next_joint_state(&mut states, cardinalities) {
            break;
        }
    }
    if positive { Ok(()) } else { zero() }
}

/// Whether a factor excludes every joint state, as a conjunction with its head in its own body or with
/// both signs of a variable can. Tables and terms like that are not built. O(arity).
pub(crate) fn is_zero_everywhere(factor: &Factor<'_>, arity: usize) -> bool {
    let zero = |can_hold: bool, can_fail: bool, [h1, h0, f1, f0]: [f64; 4]| {
        !(can_hold && (h1 > 0.0 || h0 > 0.0) || can_fail && (f1 > 0.0 || f0 > 0.0))
    };
    match factor {
        Factor::Table(_) | Factor::Terms(_) => false,
        Factor::Signed(signed) => zero(true, arity > 1, signed.values),
        Factor::Noisy(noisy) => {
            let can = |outcome: usize| {
                move |literal: &NoisyLiteral| literal.iter().any(|state| state[outcome] > 0.0)
            };
            let literals = noisy.literals.iter();
            zero(literals.clone().all(can(0)), literals.clone().any(can(1)), noisy.values)
        }
        Factor::Singleton { .. } | Factor::And(_) | Factor::Or(_) => {
            let value = |state: usize| factor.value(&[state], std::iter::once(2));
            arity == 1 && value(0) == 0.0 && value(1) == 0.0
        }
    }
}

/// Steps to the next joint state, the first variable fastest; `false`, at all zeros, after the last.
pub(crate) fn next_joint_state(states: &mut [usize], cardinalities: &[usize]) -> bool {
    for (state, &cardinality) in states.iter_mut().zip(cardinalities) {
        *state += 1;
        if *state < cardinality {
            return true;
        }
        *state = 0;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FactorGraphBuilder;
    use proptest::prelude::*;

    proptest! {
        /// Terms are known to exclude each other exactly where no joint state satisfies two of them.
        #[test]
        fn exclusive_terms_are_recognised(
            rows in prop::collection::vec(prop::array::uniform3(-1..3_i32), 1..4)
        ) {
            let mut builder = FactorGraphBuilder::new();
            builder.add_variables(&[4, 5, 6], &[3, 3, 3]).unwrap();
            builder.add_terms(&[5, 6, 4], &vec![1.0; rows.len()], rows.as_flattened()).unwrap();
            let graph = builder.build().unwrap();
            let Factor::Terms(terms) = graph.factor(0) else { panic!("no terms") };
            // With weights of one the values count the terms.
            let values = graph.factor_table(0, 27).unwrap();
            prop_assert_eq!(terms.exclusive, values.iter().all(|&value| value <= 1.0));
        }

        /// A sum is rejected where, by its definition, it is negative somewhere or zero everywhere.
        #[test]
        fn sums_are_rejected_where_they_are_negative(
            terms in prop::collection::vec((-4..5_i32, prop::array::uniform2(-1..2_i32)), 1..5)
        ) {
            let weights: Vec<f64> = terms.iter().map(|&(weight, _)| f64::from(weight)).collect();
            let indicators: Vec<i32> = terms.iter().flat_map(|&(_, row)| row).collect();
            let mut builder = FactorGraphBuilder::new();
            builder.add_terms(&[0, 1], &weights, &indicators).unwrap();
            let value = |x: i32, y: i32| -> i32 {
                let holds = |row: &[i32; 2]| [-1, x].contains(&row[0]) && [-1, y].contains(&row[1]);
                terms.iter().filter(|(_, row)| holds(row)).map(|(weight, _)| weight).sum()
            };
            let values = [value(0, 0), value(1, 0), value(0, 1), value(1, 1)];
            match builder.build() {
                Ok(graph) => {
                    prop_assert_eq!(graph.factor_table(0, 4).unwrap(), values.map(f64::from));
                    prop_assert!(values.iter().all(|&v| v >= 0) && values.iter().any(|&v| v > 0));
                }
                Err(error) => {
                    let message = error.to_string();
                    prop_assert!(
                        values.iter().any(|&v| v < 0) && message.contains("negative")
                            || values == [0; 4] && message.contains("zero everywhere"),
                        "{values:?}: {message}"
                    );
                }
            }
        }

        #[test]
        fn factors_that_are_zero_everywhere_are_recognised(
            values in prop::array::uniform4(0..2_u8),
            signs in prop::collection::vec((0..3_u64, any::<bool>()), 0..4),
            literals in prop::collection::vec(prop::array::uniform2(0..3_u8), 0..3),
        ) {
            prop_assume!(values != [0; 4]);
            let values = values.map(f64::from);
            let (body, negated): (Vec<u64>, Vec<bool>) = signs.into_iter().unzip();
            let outcome = |k: u8| [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]][usize::from(k)];
            let literals: Vec<NoisyLiteral> = literals.iter().map(|l| l.map(outcome)).collect();
            let mut builder = FactorGraphBuilder::new();
            builder.add_signed(0, &body, &negated, values).unwrap();
            builder.add_noisy(0, &[1, 2][..literals.len()], &literals, values).unwrap();
            let graph = builder.build().unwrap();
            for factor in 0..2 {
                let table = graph.factor_table(factor, 1 << 10).unwrap();
                let zero = is_zero_everywhere(&graph.factor(factor), graph.arity(factor));
                prop_assert_eq!(zero, table.iter().all(|&value| value == 0.0));
            }
        }
    }
}
