//! Messages of dense tables.
//!
//! The messages come from a recursion over halves of the variables: for the messages to one half,
//! the other half is summed out first, which leaves a table of the first half alone. All messages
//! together cost about four operations per table entry, whatever the arity, and each message has
//! one fixed order of operations.

use super::Inference;
use super::number::{ExtendedFloat, Max, Real, scratch_by_number};
use super::packed::EncodedMessage;
use crate::error::Result;
use crate::memory::{NoMemory, collected, fit};

/// The entries of a table: those that a user gave, or those that stand in for another factor, which no
/// `f64` need hold.
#[derive(Clone, Copy)]
pub(crate) enum TableValues<'a> {
    F64(&'a [f64]),
    ExtendedFloat(&'a [ExtendedFloat]),
}

impl TableValues<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::ExtendedFloat(values) => values.len(),
        }
    }

    /// Writes the entries into a list of as many.
    pub(super) fn write_to<T: Real>(&self, list: &mut [T]) {
        match self {
            Self::F64(values) => {
                for (entry, &value) in list.iter_mut().zip(*values) {
                    *entry = T::from_f64(value);
                }
            }
            Self::ExtendedFloat(values) => {
                for (entry, &value) in list.iter_mut().zip(*values) {
                    *entry = T::from_extended(value);
                }
            }
        }
    }

    /// Exponents of the smallest and the largest positive entry.
    pub(crate) fn exponents(&self) -> (i64, i64) {
        match self {
            Self::F64(values) => {
                exponents(values.iter().map(|&value| ExtendedFloat::from_f64(value)))
            }
            Self::ExtendedFloat(values) => exponents(values.iter().copied()),
        }
    }
}

fn exponents(values: impl Iterator<Item = ExtendedFloat>) -> (i64, i64) {
    values
        .filter(|value| !value.is_zero())
        .map(|value| value.exponent())
        .fold((i64::MAX, i64::MIN), |(low, high), e| (low.min(e), high.max(e)))
}

/// Whether positive values with exponents from `low` to `high`, if there are any, are normal `f64`s times 2^`shift`.
fn fits_shifted((low, high): (i64, i64), shift: i64) -> bool {
    const NORMAL: std::ops::RangeInclusive<i64> = -1022..=1023;
    [low, high].iter().all(|e| NORMAL.contains(&e.saturating_add(shift))) || low > high
}

/// A table that stands in for another factor.
pub(crate) enum OwnedTable {
    F64(Vec<f64>),
    ExtendedFloat(Vec<ExtendedFloat>),
}

impl OwnedTable {
    /// As `f64` if these hold all values exactly.
    pub(crate) fn exact(values: Vec<ExtendedFloat>) -> Result<Self> {
        let exponents = exponents(values.iter().copied());
        Self::shifted(values, exponents, 0)
    }

    /// Values up to a common factor, as `f64` if these hold all of them exactly.
    pub(crate) fn up_to_a_factor(values: Vec<ExtendedFloat>) -> Result<Self> {
        let exponents = exponents(values.iter().copied());
        let shift = if fits_shifted(exponents, 0) { 0 } else { exponents.1.saturating_neg() };
        Self::shifted(values, exponents, shift)
    }

    /// Values with such exponents times 2^`shift`, if `f64` holds all of these exactly; else the values.
    fn shifted(values: Vec<ExtendedFloat>, exponents: (i64, i64), shift: i64) -> Result<Self> {
        Ok(if fits_shifted(exponents, shift) {
            Self::F64(collected(values.iter().map(|value| value.scaled(shift).to_f64()))?)
        } else {
            Self::ExtendedFloat(values)
        })
    }

    pub(crate) fn as_values(&self) -> TableValues<'_> {
        match self {
            Self::F64(values) => TableValues::F64(values),
            Self::ExtendedFloat(values) => TableValues::ExtendedFloat(values),
        }
    }
}

scratch_by_number! {
    /// Memory for tables, kept between calls.
    TableScratch of pub(super) Buffers
}

pub(super) struct Buffers<T> {
    /// Weights of the states of all inputs, one variable after the other.
    pub(super) weights: Vec<T>,
    /// Where each variable's weights start, and where the last one's end.
    pub(super) starts: Vec<usize>,
    /// A table, and what is summed out of it, as a stack.
    pub(super) tables: Vec<T>,
}

impl<T> Default for Buffers<T> {
    fn default() -> Self {
        Self { weights: Vec::new(), starts: Vec::new(), tables: Vec::new() }
    }
}

/// A dense table and the inputs to it.
#[derive(Clone, Copy)]
pub(crate) struct TableInputs<'a> {
    /// Values, first variable fastest.
    pub(crate) values: TableValues<'a>,
    /// [`TableValues::exponents`].
    pub(crate) exponents: (i64, i64),
    /// States of each variable.
    pub(crate) radices: &'a [u32],
    /// Stored messages from the variables: one value (odds) from a binary one, else one per state.
    pub(crate) inputs: &'a [EncodedMessage],
}

/// Number of stored values of a message of a variable with `radix` states. That of a variable with one
/// state is always 1: as odds, too, these are those of state 0.
#[inline(always)]
pub(crate) fn stored_values(radix: u32) -> usize {
    if radix == 2 { 1 } else { radix as usize }
}

/// All messages of a table, or all but the one to the variable at `except`, in place of which some value stands: `out` has
/// the layout of the inputs. A message that would be 0/0 is [`EncodedMessage::CONTRADICTION`] in its first value.
/// O(entries). Errors: no memory for the scratch space.
pub(crate) fn table_messages(
    table: TableInputs<'_>, inference: Inference, except: Option<usize>,
    out: &mut [EncodedMessage], scratch: &mut TableScratch,
) -> Result<(), NoMemory> {
    run(table, inference, except.map_or(Wanted::All, Wanted::AllBut), out, scratch)
}

/// The variables of a table to which messages are computed.
#[derive(Clone, Copy)]
enum Wanted {
    All,
    AllBut(usize),
    /// `out` has room for no other one.
    Only(usize),
}

impl Wanted {
    /// Whether any of the variables `low..high` gets a message.
    fn any_of(self, low: usize, high: usize) -> bool {
        match self {
            Self::All => true,
            Self::AllBut(target) => (low, high) != (target, target + 1),
            Self::Only(target) => (low..high).contains(&target),
        }
    }
}

/// One message of a table, to the variable at `target`; its own input is not used. O(entries).
pub(crate) fn table_message(
    table: TableInputs<'_>, inference: Inference, target: usize, out: &mut [EncodedMessage],
    scratch: &mut TableScratch,
) -> Result<(), NoMemory> {
    run(table, inference, Wanted::Only(target), out, scratch)
}

/// Stores the weights of the states of one message; 0/0 is [`EncodedMessage::CONTRADICTION`] in its first
/// value.
pub(crate) fn store<T: Real>(weights: &[T], out: &mut [EncodedMessage]) {
    if let [state0, state1] = weights {
        out[0] = match (state1.as_f64(), state0.as_f64()) {
            (Some(state1), Some(state0)) => EncodedMessage::ratio_of_f64(state1, state0),
            _ => EncodedMessage::ratio(state1.widen(), state0.widen()),
        };
        return;
    }
    if store_in_f64(weights, out) {
        return;
    }
    let positive = weights.iter().filter(|weight| !weight.is_zero());
    match positive.map(|weight| weight.widen().exponent()).max() {
        None => out[0] = EncodedMessage::CONTRADICTION,
        Some(_) if weights.len() == 1 => out[0] = EncodedMessage::ONE, // of the only state
        Some(top) => {
            for (value, weight) in out.iter_mut().zip(weights) {
                *value = if weight.is_zero() {
                    EncodedMessage::ZERO
                } else {
                    EncodedMessage::pack(weight.widen().scaled(-top))
                };
            }
        }
    }
}

/// [`store`] where the weights are `f64`s, and neither so small nor so far apart that a shift of exponents does not do;
/// `false`, with `out` of no meaning, elsewhere.
#[inline(always)]
fn store_in_f64<T: Real>(weights: &[T], out: &mut [EncodedMessage]) -> bool {
    // The bits of positive numbers ascend with them.
    let (mut largest, mut smallest) = (0, u64::MAX);
    for &weight in weights {
        let Some(weight) = weight.as_f64() else { return false };
        let bits = weight.to_bits();
        largest = largest.max(bits);
        smallest = smallest.min(if bits == 0 { u64::MAX } else { bits });
    }
    let top = largest >> 52;
    if smallest >> 52 == 0 || top == 0 || top > 2046 || top - (smallest >> 52).min(top) > 1000 {
        return false;
    }
    for (value, &weight) in out.iter_mut().zip(weights) {
        let bits = weight.as_f64().map_or(0, f64::to_bits);
        // Exact: only the exponent changes.
        *value = EncodedMessage(if bits == 0 { 0 } else { bits + (1023 << 52) - (top << 52) });
    }
    weights.len() > 1
}

/// Exponents of the smallest and the largest positive weight of a stored message.
fn input_exponents(stored: &[EncodedMessage]) -> (i64, i64) {
    if let [odds] = stored {
        if odds.is_deterministic() {
            return (0, 0);
        }
        let exponent = odds.unpack().exponent();
        return (exponent.min(0), exponent.max(0));
    }
    stored
        .iter()
        .filter(|&&weight| weight != EncodedMessage::ZERO)
        .map(|weight| weight.unpack().exponent())
        .fold((0, 0), |(low, high), e| (low.min(e), high.max(e)))
}

/// Whether all inputs, every product of a table entry and the inputs, and every sum of them, are
/// normal `f64`s.
fn fits_f64(table: TableInputs<'_>) -> bool {
    fits_f64_by_far(table)
        || exponent_range(table).is_some_and(|(low, high)| low > -1000 && high < 1000)
}

/// Whether [`exponent_range`] of a table of a few variables is far from the limits, as nearly always: inputs with exponents
/// within 100 add at most 104 for each of them, with up to 16 states.
#[inline]
pub(super) fn fits_f64_by_far(table: TableInputs<'_>) -> bool {
    let TableInputs { exponents: (low, high), radices, inputs, .. } = table;
    low >= -200
        && high <= 200
        && radices.len() <= 7
        && radices.iter().all(|&radix| radix <= 16)
        && inputs.iter().all(|input| input.is_within::<100>())
}

/// Bounds of the exponents of every positive product of a table entry and the inputs, and of every sum of them;
/// `None` if some input is not in f64 range.
pub(super) fn exponent_range(table: TableInputs<'_>) -> Option<(i64, i64)> {
    let (mut low, mut high) = table.exponents;
    // Each sum of n terms adds less than log2(n) + 1 to the exponent; each product less than 1.
    let mut growth = 0_i64;
    let in_range = are_in_f64_range(table.radices, table.inputs, |radix, input_low, input_high| {
        low = low.saturating_add(input_low);
        high = high.saturating_add(input_high);
        growth += 3 + i64::from(radix.ilog2());
    });
    in_range.then_some((low, high.saturating_add(growth)))
}

/// Whether all inputs are in f64 range; calls `see` with the number of states and the exponents of each.
pub(crate) fn are_in_f64_range(
    radices: &[u32], inputs: &[EncodedMessage], mut see: impl FnMut(u32, i64, i64),
) -> bool {
    let mut at = 0;
    radices.iter().all(|&radix| {
        let stored = &inputs[at..at + stored_values(radix)];
        at += stored.len();
        let in_range = stored.iter().all(|value| value.is_in_f64_range());
        if in_range {
            let (low, high) = input_exponents(stored);
            see(radix, low, high);
        }
        in_range
    })
}

fn run(
    table: TableInputs<'_>, inference: Inference, wanted: Wanted, out: &mut [EncodedMessage],
    scratch: &mut TableScratch,
) -> Result<(), NoMemory> {
    if table.radices.is_empty() {
        return Ok(());
    }
    if inference == Inference::SumProduct
        && let Some(messages) = pair_messages(table)
    {
        match wanted {
            Wanted::Only(target) => out[0] = messages[target],
            _ => out.copy_from_slice(&messages),
        }
        return Ok(());
    }
    let TableScratch { in_f64, extended, in_f64_max, extended_max } = scratch;
    match (inference, fits_f64(table)) {
        (Inference::SumProduct, true) => {
            run_with(table, wanted, in_f64, EncodedMessage::stored_f64, out)
        }
        (Inference::SumProduct, false) => {
            run_with(table, wanted, extended, EncodedMessage::unpack, out)
        }
        (Inference::MaxProduct, true) => {
            run_with(table, wanted, in_f64_max, |value| Max(value.stored_f64()), out)
        }
        (Inference::MaxProduct, false) => {
            run_with(table, wanted, extended_max, |value| Max(value.unpack()), out)
        }
    }
}

/// The entries and the inputs of a table of two binary variables, where all are well inside the range of `f64`.
#[inline]
pub(super) fn near_pair(table: TableInputs<'_>) -> Option<([f64; 4], [f64; 2])> {
    let (&[2, 2], &[a, b], TableValues::F64(&[v0, v1, v2, v3])) =
        (table.radices, table.inputs, table.values)
    else {
        return None;
    };
    let (low, high) = table.exponents;
    let near = EncodedMessage::all_near::<256>(&[a, b]) && low >= -200 && high <= 200;
    near.then_some(([v0, v1, v2, v3], [a.stored_f64(), b.stored_f64()]))
}

/// The messages of a table of two binary variables, where all is well inside the range of `f64`. They have the order of
/// operations of [`Recursion`].
#[inline]
fn pair_messages(table: TableInputs<'_>) -> Option<[EncodedMessage; 2]> {
    let ([v0, v1, v2, v3], [a, b]) = near_pair(table)?;
    Some([
        EncodedMessage::ratio_of_f64(v1 + v3 * b, v0 + v2 * b),
        EncodedMessage::ratio_of_f64(v2 + v3 * a, v0 + v1 * a),
    ])
}

/// The weights of the states of all inputs, one variable after the other, and where each variable's
/// start.
pub(crate) fn unpack_inputs<T: Real>(
    radices: &[u32], inputs: &[EncodedMessage], number: impl Fn(EncodedMessage) -> T,
    weights: &mut Vec<T>, starts: &mut Vec<usize>,
) -> Result<(), NoMemory> {
    weights.clear();
    starts.clear();
    fit(weights, radices.iter().map(|&radix| radix as usize).sum())?;
    fit(starts, radices.len() + 1)?;
    let mut at = 0;
    for &radix in radices {
        starts.push(weights.len());
        let stored = &inputs[at..at + stored_values(radix)];
        at += stored.len();
        match stored {
            [_] if radix == 1 => weights.push(T::ONE),
            [odds] if *odds == EncodedMessage::INFINITY => weights.extend([T::ZERO, T::ONE]),
            [odds] => weights.extend([T::ONE, number(*odds)]),
            _ => weights.extend(stored.iter().map(|&value| number(value))),
        }
    }
    starts.push(weights.len());
    Ok(())
}

fn run_with<T: Real>(
    table: TableInputs<'_>, wanted: Wanted, buffers: &mut Buffers<T>,
    number: impl Fn(EncodedMessage) -> T, out: &mut [EncodedMessage],
) -> Result<(), NoMemory> {
    let Buffers { weights, starts, tables } = buffers;
    unpack_inputs(table.radices, table.inputs, number, weights, starts)?;
    let stack = of_length(tables, highest_stack(table.radices))?;
    let (copy, stack) = stack.split_at_mut(table.values.len());
    let values: &[T] = match table.values {
        TableValues::F64(values) if let Some(values) = T::list_of_f64(values) => values,
        _ => {
            table.values.write_to(copy);
            copy
        }
    };
    let mut recursion = Recursion { radices: table.radices, weights, starts, wanted, out };
    recursion.messages(0, table.radices.len(), values, stack, 0);
    Ok(())
}

/// The first `length` numbers of a buffer, whatever they are, which grows where it is shorter.
pub(super) fn of_length<T: Real>(buffer: &mut Vec<T>, length: usize) -> Result<&mut [T], NoMemory> {
    if buffer.len() < length {
        fit(buffer, length)?;
        buffer.resize(length, T::ZERO);
    }
    Ok(&mut buffer[..length])
}

/// Most entries on the stack of [`Recursion`] while it finds the messages of a table: the table itself, and
/// what is summed out of it.
fn highest_stack(radices: &[u32]) -> usize {
    let size: usize = radices.iter().map(|&radix| radix as usize).product();
    let (Some(&first), Some(&last)) = (radices.first(), radices.last()) else { return size };
    if radices.len() == 1 {
        return size;
    }
    let (low, high) = radices.split_at(radices.len().div_ceil(2));
    // A step sums one variable out of the whole table first, and the others in place.
    let step = size / first.min(last) as usize;
    size + step.max(highest_stack(low)).max(highest_stack(high))
}

struct Recursion<'a, T> {
    radices: &'a [u32],
    weights: &'a [T],
    starts: &'a [usize],
    wanted: Wanted,
    out: &'a mut [EncodedMessage],
}

impl<T: Real> Recursion<'_, T> {
    /// The messages to the variables `low..high`, from the table over just these; the message to the variable `low` is
    /// stored from `at` on. `stack` is room for what is summed out of the table.
    fn messages(&mut self, low: usize, high: usize, table: &[T], stack: &mut [T], at: usize) {
        if high - low == 1 {
            let length = stored_values(self.radices[low]);
            store(table, &mut self.out[at..at + length]);
            return;
        }
        let middle = low + (high - low).div_ceil(2);
        if self.wanted.any_of(low, middle) {
            let size = self.sum_out_last(middle, high, table, stack);
            let (rest, stack) = stack.split_at_mut(size);
            self.messages(low, middle, rest, stack, at);
        }
        if self.wanted.any_of(middle, high) {
            let size = self.sum_out_first(low, middle, table, stack);
            let (rest, stack) = stack.split_at_mut(size);
            let before: usize =
                self.radices[low..middle].iter().map(|&radix| stored_values(radix)).sum();
            // A single message is all that is stored.
            let at = if matches!(self.wanted, Wanted::Only(_)) { at } else { at + before };
            self.messages(middle, high, rest, stack, at);
        }
    }

    fn weights(&self, variable: usize) -> &[T] {
        &self.weights[self.starts[variable]..self.starts[variable + 1]]
    }

    /// Sums the variables `middle..high`, the slowest, out of a table. What is left is at the front of `stack`; returns
    /// its size.
    fn sum_out_last(&self, middle: usize, high: usize, table: &[T], stack: &mut [T]) -> usize {
        let mut size = table.len();
        for variable in (middle..high).rev() {
            let weights = self.weights(variable);
            if variable + 1 == high {
                size /= weights.len();
                add_slices(table, weights, &mut stack[..size]);
            } else {
                let old = size;
                size /= weights.len();
                shrink_slices(&mut stack[..old], weights, size);
            }
        }
        size
    }

    /// Sums the variables `low..middle`, the fastest, out of a table. What is left is at the front of `stack`; returns
    /// its size.
    fn sum_out_first(&self, low: usize, middle: usize, table: &[T], stack: &mut [T]) -> usize {
        let mut size = table.len();
        for variable in low..middle {
            let weights = self.weights(variable);
            let old = size;
            size /= weights.len();
            if variable == low {
                for (sum, values) in stack[..size].iter_mut().zip(table.chunks_exact(weights.len()))
                {
                    *sum = weighted_sum(values, weights);
                }
            } else {
                // In place: entry i is written after it is read.
                let stack = &mut stack[..old];
                for i in 0..size {
                    let start = i * weights.len();
                    stack[i] = weighted_sum(&stack[start..start + weights.len()], weights);
                }
            }
        }
        size
    }
}

/// `new[i]` = sum over x of `old[i + x * new.len()] * weights[x]`, from the first x on.
fn add_slices<T: Real>(old: &[T], weights: &[T], new: &mut [T]) {
    let (first, mut others) = old.split_at(new.len());
    if let [w0, w1] = *weights {
        for ((value, &a), &b) in new.iter_mut().zip(first).zip(others) {
            *value = a.multiply(w0).add(b.multiply(w1));
        }
        return;
    }
    for (value, &other) in new.iter_mut().zip(first) {
        *value = other.multiply(weights[0]);
    }
    for &weight in &weights[1..] {
        let (slice, rest) = others.split_at(new.len());
        for (value, &other) in new.iter_mut().zip(slice) {
            *value = value.add(other.multiply(weight));
        }
        others = rest;
    }
}

/// As [`add_slices`] into the first `size` entries of the table itself: entry i is read before it is written.
fn shrink_slices<T: Real>(table: &mut [T], weights: &[T], size: usize) {
    let (first, mut others) = table.split_at_mut(size);
    for value in first.iter_mut() {
        *value = value.multiply(weights[0]);
    }
    for &weight in &weights[1..] {
        let (slice, rest) = others.split_at_mut(size);
        for (value, &mut other) in first.iter_mut().zip(slice) {
            *value = value.add(other.multiply(weight));
        }
        others = rest;
    }
}

/// The sum of the products, from the first one on.
#[inline(always)]
fn weighted_sum<T: Real>(values: &[T], weights: &[T]) -> T {
    if let ([a, b], [w0, w1]) = (values, weights) {
        return a.multiply(*w0).add(b.multiply(*w1));
    }
    let mut sum = values[0].multiply(weights[0]);
    for (&value, &weight) in values[1..].iter().zip(&weights[1..]) {
        sum = sum.add(value.multiply(weight));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Arithmetic;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    struct Case {
        values: Vec<f64>,
        radices: Vec<u32>,
        inputs: Vec<EncodedMessage>,
    }

    impl Case {
        fn table(&self) -> TableInputs<'_> {
            TableInputs {
                values: TableValues::F64(&self.values),
                exponents: TableValues::F64(&self.values).exponents(),
                radices: &self.radices,
                inputs: &self.inputs,
            }
        }
    }

    fn case() -> impl Strategy<Value = Case> {
        let weight = || {
            prop_oneof![
                6 => (1e-3_f64..1e3).prop_map(EncodedMessage::from_f64),
                1 => (-700_i32..700).prop_map(|e| EncodedMessage::from_f64(1.3 * 2_f64.powi(e))),
                1 => (-5000_i64..5000).prop_map(|e| EncodedMessage::pack(ExtendedFloat::from_parts(1.7, e))),
                1 => Just(EncodedMessage::ZERO),
            ]
        };
        prop::collection::vec(2_u32..5, 1..6).prop_flat_map(move |radices| {
            let size = radices.iter().map(|&r| r as usize).product::<usize>();
            let stored = radices.iter().map(|&r| stored_values(r)).sum::<usize>();
            let value = prop_oneof![1 => Just(0.0), 4 => 0.001_f64..10.0, 1 => Just(1e-300)];
            (
                prop::collection::vec(value, size),
                Just(radices),
                prop::collection::vec(weight(), stored),
            )
                .prop_map(|(values, radices, mut inputs)| {
                    // A stored message of several states has a state of weight one.
                    let mut at = 0;
                    for &radix in &radices {
                        if radix > 2 {
                            inputs[at] = EncodedMessage::ONE;
                        }
                        at += stored_values(radix);
                    }
                    Case { values, radices, inputs }
                })
        })
    }

    /// The definition: the sum over all joint states, for each state of the target.
    fn brute_force(case: &Case, target: usize) -> Vec<ExtendedFloat> {
        let mut sums = vec![ExtendedFloat::ZERO; case.radices[target] as usize];
        for (index, &value) in case.values.iter().enumerate() {
            let (mut rest, mut at) = (index, 0);
            let mut weight = ExtendedFloat::from_f64(value);
            let mut own = 0;
            for (position, &radix) in case.radices.iter().enumerate() {
                let state = rest % radix as usize;
                rest /= radix as usize;
                let factor = match (radix, state) {
                    (2, 0) => ExtendedFloat::ONE,
                    (2, _) => case.inputs[at].unpack(),
                    _ => case.inputs[at + state].unpack(),
                };
                at += stored_values(radix);
                if position == target {
                    own = state;
                } else {
                    weight = weight.multiply(factor);
                }
            }
            sums[own] = sums[own].add(weight);
        }
        sums
    }

    /// An input that no `f64` holds beside a table whose entries make up for it.
    #[test]
    fn tagged_inputs_are_never_taken_as_plain() {
        let tagged = EncodedMessage::pack(ExtendedFloat::from_parts(1.25, -1003));
        let case = Case {
            values: vec![512.0, 1024.0, 2048.0, 4096.0],
            radices: vec![2, 2],
            inputs: vec![EncodedMessage::ONE, tagged],
        };
        let mut all = case.inputs.clone();
        let scratch = &mut TableScratch::default();
        table_messages(case.table(), Inference::SumProduct, None, &mut all, scratch).unwrap();
        assert_eq!(all[0], EncodedMessage::from_f64(2.0));
        assert_eq!(all[1], EncodedMessage::from_f64(4.0));
    }

    proptest! {
        /// The messages of a factor, together and one by one, have the same bits, and the values are those of the
        /// definition.
        #[test]
        fn messages_are_the_sums_of_the_definition(case in case()) {
            let mut scratch = TableScratch::default();
            let mut all = vec![EncodedMessage::ONE; case.inputs.len()];
            table_messages(case.table(), Inference::SumProduct, None, &mut all, &mut scratch).unwrap();
            let mut at = 0;
            for (target, &radix) in case.radices.iter().enumerate() {
                let stored = stored_values(radix);
                let mut one = vec![EncodedMessage::ONE; stored];
                table_message(case.table(), Inference::SumProduct, target, &mut one, &mut scratch)
                    .unwrap();
                prop_assert_eq!(&all[at..at + stored], &one[..]);
                let mut others = all.clone();
                others[at..at + stored].fill(EncodedMessage::ZERO);
                let expected = others.clone();
                let inference = Inference::SumProduct;
                table_messages(case.table(), inference, Some(target), &mut others, &mut scratch).unwrap();
                others[at..at + stored].fill(EncodedMessage::ZERO);
                prop_assert_eq!(others, expected);
                at += stored;
                let sums = brute_force(&case, target);
                let total = sums.iter().fold(ExtendedFloat::ZERO, |sum, &s| sum.add(s));
                if total.is_zero() {
                    prop_assert_eq!(one[0], EncodedMessage::CONTRADICTION);
                    continue;
                }
                let mut probabilities = vec![0.0; radix as usize];
                if radix == 2 {
                    probabilities.copy_from_slice(&one[0].probabilities());
                } else {
                    crate::kernel::weights_to_probabilities(&one, &mut probabilities);
                }
                for (p, sum) in probabilities.iter().zip(sums) {
                    prop_assert_eq!(*p == 0.0, sum.is_zero() || sum.divide(total).to_f64() == 0.0);
                    if *p > 0.0 {
                        prop_assert!((p / sum.divide(total).to_f64() - 1.0).abs() < 1e-11);
                    }
                }
            }
        }

        /// The stack never outgrows what was reserved for it.
        #[test]
        fn the_stack_fits(case in case()) {
            let mut scratch = TableScratch::default();
            let mut out = case.inputs.clone();
            let targets = 0..case.radices.len();
            let all_but = targets.clone().map(Wanted::AllBut);
            for wanted in std::iter::once(Wanted::All).chain(targets.map(Wanted::Only)).chain(all_but) {
                run(case.table(), Inference::SumProduct, wanted, &mut out, &mut scratch).unwrap();
            }
            // Pairs of binary variables need none.
            prop_assume!(pair_messages(case.table()).is_none());
            let exact = highest_stack(&case.radices);
            let used = scratch.in_f64.tables.capacity().max(scratch.extended.tables.capacity());
            prop_assert_eq!(used, exact.max(4));
        }

        /// `f64` and `ExtendedFloat` give the same bits wherever `f64` is used.
        #[test]
        fn both_ranges_agree(case in case()) {
            let mut in_f64 = vec![EncodedMessage::ONE; case.inputs.len()];
            let scratch = &mut TableScratch::default();
            table_messages(case.table(), Inference::SumProduct, None, &mut in_f64, scratch).unwrap();
            let mut table = case.table();
            // Exponents that `f64` arithmetic could not handle.
            table.exponents = (-100_000, 100_000);
            let mut extended = in_f64.clone();
            table_messages(table, Inference::SumProduct, None, &mut extended, scratch).unwrap();
            prop_assert_eq!(in_f64, extended);
        }
    }
}
