//! Disjoint terms: the leaves of a decision tree, for tables with context-specific independence.

use crate::error::Result;
use crate::memory::Grow;
use crate::model::TableStructure as Structure;

/// Nodes of up to this many entries choose their variable by all entries, larger ones by samples.
const EXACT_ENTRIES: usize = 4096;
/// Entries of which each neighbour is looked at.
const SAMPLES: u64 = 256;

/// Estimated operations of all messages of a dense table: four per entry, most of them in vectors.
pub(super) fn dense_cost(entries: usize) -> usize {
    4 * entries
}

/// Estimated operations of all messages of terms: per literal its input, the two products that leave
/// it out, and its part of a message (12 with the addressing); per term and variable the sums that a
/// term without a literal there adds to; and to read and write the messages.
pub(super) fn terms_cost(terms: usize, literals: usize, arity: usize, states: usize) -> usize {
    12 * literals + 2 * terms * arity + 4 * states
}

/// The table as terms, if that is estimated to be cheaper than the table.
///
/// It is split by the variable that matters most, as long as it is not constant. Each level of
/// the tree costs O(entries), and O(arity) for each entry of small nodes.
pub(super) fn recognise(values: &[f64], cardinalities: &[u32]) -> Result<Option<Structure>> {
    let mut tree = Tree {
        budget: dense_cost(values.len()),
        arity: cardinalities.len(),
        states: cardinalities.iter().map(|&cardinality| cardinality as usize).sum(),
        ..Tree::default()
    };
    // One term of one literal is the least there is; and each value that is not 0 has a term with a literal of its own.
    if tree.affords(1, 1) && !tree.has_too_many_values(values) {
        tree.free.try_extend((0..).zip(cardinalities.iter().copied()))?;
        tree.offsets.try_push(0)?;
        if tree.split(values)? {
            let Tree { weights, offsets, literals, .. } = tree;
            return Ok(Some(Structure::Terms { weights, offsets, literals }));
        }
    }
    Ok(None)
}

#[derive(Default)]
struct Tree {
    budget: usize,
    arity: usize,
    states: usize,
    /// The variables of the current node, with their cardinalities.
    free: Vec<(u32, u32)>,
    /// The literals from the root to the current node.
    path: Vec<(u32, u32)>,
    /// Memory for nodes.
    buffers: Vec<Vec<f64>>,
    weights: Vec<f64>,
    offsets: Vec<usize>,
    literals: Vec<(u32, u32)>,
}

impl Tree {
    /// Whether the terms so far, and so many more terms and literals, are cheaper than the table.
    fn affords(&self, terms: usize, literals: usize) -> bool {
        let (terms, literals) = (self.weights.len() + terms, self.literals.len() + literals);
        terms_cost(terms, literals, self.arity, self.states) < self.budget
    }

    /// Whether entries have so many values that terms cannot be cheaper than the table; not found out where that would take a
    /// list of more than 16 values. O(entries).
    fn has_too_many_values(&self, values: &[f64]) -> bool {
        let mut seen = [0.0; 16];
        let mut count = 0;
        for &value in values {
            if value > 0.0 && !seen[..count].contains(&value) {
                if !self.affords(count + 1, count + 1) {
                    return true;
                }
                let Some(place) = seen.get_mut(count) else { return false };
                *place = value;
                count += 1;
            }
        }
        false
    }

    /// Adds the terms of the current node, which has these values; false if they cost too much.
    fn split(&mut self, values: &[f64]) -> Result<bool> {
        let first = values[0];
        let Some(other) = (1..values.len()).find(|&at| values[at] != first) else {
            if first > 0.0 {
                self.weights.try_push(first)?;
                self.literals.try_append(&self.path)?;
                self.offsets.try_push(self.literals.len())?;
            }
            return Ok(self.affords(0, 0));
        };
        // At least one term lies below.
        if !self.affords(1, self.path.len() + 1) {
            return Ok(false);
        }
        let (index, stride) = self.choose(values, other);
        let (position, cardinality) = self.free.remove(index);
        let mut slice = self.buffers.pop().unwrap_or_default();
        for state in 0..cardinality {
            slice.clear();
            let start = state as usize * stride;
            for block in values.chunks_exact(stride * cardinality as usize) {
                slice.try_append(&block[start..start + stride])?;
            }
            self.path.try_push((position, state))?;
            if !self.split(&slice)? {
                return Ok(false);
            }
            self.path.pop();
        }
        self.buffers.try_push(slice)?;
        // There is room: it was removed above.
        self.free.insert(index, (position, cardinality));
        Ok(true)
    }

    /// The variable to split by, as its index in `free` and its stride: the one whose change of
    /// state changes the value most often. `other` has another value than the first entry.
    fn choose(&self, values: &[f64], other: usize) -> (usize, usize) {
        let mut best = (0, 0);
        let (mut best_share, mut best_cardinality) = (0.0, u32::MAX);
        let mut stride = 1;
        for (index, &(_, cardinality)) in self.free.iter().enumerate() {
            if cardinality > 1 {
                let share = if values.len() <= EXACT_ENTRIES {
                    changes(values, stride, cardinality as usize)
                } else {
                    sampled_changes(values, stride, cardinality as usize)
                };
                if share > best_share || (share == best_share && cardinality < best_cardinality) {
                    (best, best_share, best_cardinality) = ((index, stride), share, cardinality);
                }
            }
            stride *= cardinality as usize;
        }
        if best_share > 0.0 { best } else { self.on_the_way(values, other) }
    }

    /// A variable that matters: on the way from the first entry to `other`, one variable at a time,
    /// the first one that changes the value.
    fn on_the_way(&self, values: &[f64], other: usize) -> (usize, usize) {
        let (mut at, mut stride) = (0, 1);
        for (index, &(_, cardinality)) in self.free.iter().enumerate() {
            at += (other / stride % cardinality as usize) * stride;
            if values[at] != values[0] {
                return (index, stride);
            }
            stride *= cardinality as usize;
        }
        unreachable!("the way ends at an entry with another value")
    }
}

/// The share of entries whose value changes with the variable's next state.
fn changes(values: &[f64], stride: usize, cardinality: usize) -> f64 {
    let block = stride * cardinality;
    let count: usize = if block == 2 {
        values.chunks_exact(2).map(|pair| usize::from(pair[0] != pair[1])).sum()
    } else {
        let in_block = |entries: &[f64]| -> usize {
            let next = &entries[stride..];
            entries.iter().zip(next).map(|(value, next)| usize::from(value != next)).sum()
        };
        values.chunks_exact(block).map(in_block).sum()
    };
    count as f64 / (values.len() - values.len() / cardinality) as f64
}

/// An estimate of [`changes`], from entries that are always the same.
fn sampled_changes(values: &[f64], stride: usize, cardinality: usize) -> f64 {
    let mut random = 0_u64;
    let mut count = 0;
    for _ in 0..SAMPLES {
        // Knuth's generator; its high bits are good.
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let at = ((u128::from(random) * values.len() as u128) >> 64) as usize;
        let last = at / stride % cardinality == cardinality - 1;
        let next = if last { at - stride } else { at + stride };
        count += usize::from(values[at] != values[next]);
    }
    count as f64 / SAMPLES as f64
}
