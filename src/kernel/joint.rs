//! The joint distribution of a dense table and its inputs: its belief, and its total.

use super::number::{Arithmetic, ExtendedFloat, Real};
use super::packed::EncodedMessage;
use super::table::{
    Buffers, TableInputs, TableScratch, exponent_range, near_pair, of_length, unpack_inputs,
};
use super::tree::pairwise_sum;
use crate::error::Result;
use crate::memory::NoMemory;

/// The belief of a table: its entries times the inputs, divided by their sum in the shape of the tree. `false`, with `out`
/// unchanged, if all products are zero. O(entries * arity).
pub(crate) fn table_belief(
    table: TableInputs<'_>, out: &mut [f64], scratch: &mut TableScratch,
) -> Result<bool, NoMemory> {
    if let Some(weights) = pair_weights(table) {
        return Ok(normalise(&weights, |probability| probability, out));
    }
    // Probabilities, the quotients of entries and their sum, must be normal, too.
    let fits_f64 = exponent_range(table)
        .is_some_and(|(low, high)| low > -1000 && high < 1000 && high.saturating_sub(low) < 1000);
    if fits_f64 {
        let weights = joint_weights(table, EncodedMessage::stored_f64, &mut scratch.in_f64)?;
        Ok(normalise(weights, |probability| probability, out))
    } else {
        let weights = joint_weights(table, EncodedMessage::unpack, &mut scratch.extended)?;
        Ok(normalise(weights, ExtendedFloat::to_f64, out))
    }
}

/// The entries of a table of two binary variables times the inputs, where all are well inside the range of `f64`.
#[inline]
fn pair_weights(table: TableInputs<'_>) -> Option<[f64; 4]> {
    let ([v0, v1, v2, v3], [a, b]) = near_pair(table)?;
    Some([v0, v1 * a, v2 * b, (v3 * a) * b])
}

/// Divides weights by their sum; `false`, with `out` unchanged, if all are zero.
fn normalise<T: Real>(weights: &[T], nearest: impl Fn(T) -> f64, out: &mut [f64]) -> bool {
    let total = pairwise_sum(weights);
    if total.is_zero() {
        return false;
    }
    for (value, &weight) in out.iter_mut().zip(weights) {
        *value = if weight.is_zero() { 0.0 } else { nearest(weight.divide(total)) };
    }
    true
}

/// A table summed against its inputs. O(entries * arity). Errors: no memory.
pub(crate) fn table_total(table: TableInputs<'_>) -> Result<ExtendedFloat> {
    let mut buffers = Buffers::default();
    let weights = joint_weights(table, EncodedMessage::unpack, &mut buffers)?;
    Ok(weights.iter().fold(ExtendedFloat::ZERO, |sum, &weight| sum.add(weight)))
}

/// Each entry times its inputs, those of the first variable first.
fn joint_weights<'a, T: Real>(
    table: TableInputs<'_>, number: impl Fn(EncodedMessage) -> T, buffers: &'a mut Buffers<T>,
) -> Result<&'a [T], NoMemory> {
    let Buffers { weights, starts, tables } = buffers;
    unpack_inputs(table.radices, table.inputs, number, weights, starts)?;
    let tables = of_length(tables, table.values.len())?;
    table.values.write_to(tables);
    let mut stride = 1;
    for states in starts.windows(2) {
        let own = &weights[states[0]..states[1]];
        for block in tables.chunks_exact_mut(stride * own.len()) {
            for (slice, &weight) in block.chunks_exact_mut(stride).zip(own) {
                for entry in slice {
                    *entry = entry.multiply(weight);
                }
            }
        }
        stride *= own.len();
    }
    Ok(tables)
}

#[cfg(test)]
mod tests {
    use super::super::table::TableValues;
    use super::*;
    use proptest::prelude::*;

    /// What [`table_belief`] gives for a table, in the numbers that it chooses and with exponents that `f64` arithmetic
    /// could not handle.
    fn in_both_ranges<const N: usize>(table: TableInputs<'_>) -> [(bool, [f64; N]); 2] {
        let far = TableInputs { exponents: (-100_000, 100_000), ..table };
        [table, far].map(|table| {
            let mut belief = [0.0; N];
            let settled = table_belief(table, &mut belief, &mut TableScratch::default()).unwrap();
            (settled, belief)
        })
    }

    proptest! {
        /// Two binary variables have a path of their own.
        #[test]
        fn pairs_agree(
            values in prop::array::uniform4(prop_oneof![1 => Just(0.0), 4 => 1e-9_f64..10.0]),
            odds in prop::array::uniform2(prop_oneof![3 => 1e-3_f64..1e3, 1 => 1e-200_f64..1e-50]),
        ) {
            let inputs = odds.map(EncodedMessage::from_f64);
            let entries = TableValues::F64(&values);
            let (exponents, radices) = (entries.exponents(), &[2, 2]);
            let table = TableInputs { values: entries, exponents, radices, inputs: &inputs };
            let [near, far] = in_both_ranges::<4>(table);
            prop_assert_eq!(near, far);
        }

        /// `f64` and `ExtendedFloat` give the same bits wherever `f64` is used, and those of the definition: each
        /// entry times the weights of its states in turn, divided by the sum of all in the shape of the tree.
        #[test]
        fn both_ranges_agree(
            values in prop::collection::vec(prop_oneof![1 => Just(0.0), 4 => 1e-9_f64..10.0], 24),
            odds in prop_oneof![(1e-60_f64..1e3), Just(0.0), Just(f64::INFINITY)],
            weights in prop::collection::vec(prop_oneof![1 => Just(0.0), 4 => 1e-60_f64..1.0], 2 + 4),
        ) {
            let mut inputs = vec![EncodedMessage::from_f64(odds), EncodedMessage::ONE];
            inputs.extend(weights[..2].iter().map(|&weight| EncodedMessage::from_f64(weight)));
            inputs.push(EncodedMessage::ONE);
            inputs.extend(weights[2..5].iter().map(|&weight| EncodedMessage::from_f64(weight)));
            let entries = TableValues::F64(&values);
            let radices = &[2, 3, 4];
            let table = TableInputs { values: entries, exponents: entries.exponents(), radices, inputs: &inputs };
            let [near, far] = in_both_ranges::<24>(table);
            prop_assert_eq!(near, far);
            let (settled, belief) = near;
            let weight = |index: usize| {
                let (a, b, c) = (index % 2, index / 2 % 3, index / 6);
                let first = match (odds, a) {
                    (f64::INFINITY, _) => a as f64,
                    (_, 0) => 1.0,
                    _ => odds,
                };
                ((values[index] * first) * inputs[1 + b].stored_f64()) * inputs[4 + c].stored_f64()
            };
            let eight = |first: usize| {
                let pair = |index: usize| weight(first + index) + weight(first + index + 1);
                (pair(0) + pair(2)) + (pair(4) + pair(6))
            };
            let total = (eight(0) + eight(8)) + eight(16);
            prop_assert_eq!(settled, total > 0.0);
            for (index, &probability) in belief.iter().enumerate().filter(|_| settled) {
                prop_assert_eq!(probability, weight(index) / total);
            }
        }
    }
}
