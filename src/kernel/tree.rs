//! The one shape of every reduction: a balanced binary tree over a node's edges in index order.

use super::number::Arithmetic;
use crate::memory::{NoMemory, fit};

/// An associative operation with a neutral element. The operation need not be commutative in its
/// bits; the tree fixes which operand is which.
pub(crate) trait Monoid: Copy {
    const NEUTRAL: Self;
    fn combine(self, other: Self) -> Self;
}

/// Sizes of the levels of the tree over `leaves` leaves, from the leaves (not included) to the root:
/// halves, rounded up. A node without a sibling passes its value on, which is what a padding with
/// the neutral element would give.
pub(crate) fn tree_levels(leaves: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(leaves), |&size| (size > 1).then(|| size.div_ceil(2))).skip(1)
}

/// Memory for [`leave_one_out`], kept between calls.
pub(crate) struct TreeScratch<T> {
    nodes: Vec<T>,
}

impl<T> Default for TreeScratch<T> {
    fn default() -> Self {
        Self { nodes: Vec::new() }
    }
}

/// For every leaf, the combination of all others: `leaves[i]` is replaced by it. Returns the
/// combination of all leaves. Three combinations per leaf. Errors: no memory for the scratch space, with the
/// leaves unchanged.
///
/// On the way down, `down(child) = combine(down(parent), up(sibling))`.
pub(crate) fn leave_one_out<T: Monoid>(
    leaves: &mut [T], scratch: &mut TreeScratch<T>,
) -> Result<T, NoMemory> {
    let count = leaves.len();
    match count {
        0 => return Ok(T::NEUTRAL),
        1 => return Ok(std::mem::replace(&mut leaves[0], T::NEUTRAL)),
        2 => {
            let total = leaves[0].combine(leaves[1]);
            leaves.swap(0, 1);
            return Ok(total);
        }
        _ => {}
    }
    // Upward: the levels above the leaves, one after the other; the root is not stored.
    let nodes = &mut scratch.nodes;
    nodes.clear();
    // At most as many as leaves, and one more where a level has an odd number.
    fit(nodes, count + usize::BITS as usize)?;
    nodes.extend(leaves.chunks(2).map(combine_pair));
    let mut start = 0;
    while nodes.len() - start > 2 {
        let end = nodes.len();
        for i in (start..end).step_by(2) {
            let value = if i + 1 < end { nodes[i].combine(nodes[i + 1]) } else { nodes[i] };
            nodes.push(value);
        }
        start = end;
    }
    let total = nodes[start].combine(nodes[start + 1]);
    // Downward: below the root, each child's value is its sibling's.
    nodes.swap(start, start + 1);
    let mut size = 2;
    while start > 0 {
        let parents = start;
        size = level_size_below(count, size);
        start -= size;
        let (lower, upper) = nodes.split_at_mut(parents);
        push_down(&mut lower[start..], upper);
    }
    push_down(leaves, &nodes[..count.div_ceil(2)]);
    Ok(total)
}

/// As [`leave_one_out`] for up to eight leaves, the missing ones neutral, with nothing in memory.
#[inline(always)]
pub(crate) fn leave_one_out_of_eight<T: Monoid>(leaves: &[T; 8]) -> ([T; 8], T) {
    let [a, b, c, d, e, f, g, h] = *leaves;
    let (p, q, r, s) = (a.combine(b), c.combine(d), e.combine(f), g.combine(h));
    let (left, right) = (p.combine(q), r.combine(s));
    let below = [right.combine(q), right.combine(p), left.combine(s), left.combine(r)];
    let mut down = [T::NEUTRAL; 8];
    for (leaf, down) in down.iter_mut().enumerate() {
        *down = below[leaf / 2].combine(leaves[leaf ^ 1]);
    }
    (down, left.combine(right))
}

fn combine_pair<T: Monoid>(pair: &[T]) -> T {
    if let [a, b] = pair { a.combine(*b) } else { pair[0] }
}

/// Turns the upward values of a level into downward ones, given those of the level above.
fn push_down<T: Monoid>(level: &mut [T], parents: &[T]) {
    for (pair, &parent) in level.chunks_mut(2).zip(parents) {
        if let [a, b] = pair {
            let (left, right) = (parent.combine(*b), parent.combine(*a));
            (*a, *b) = (left, right);
        } else {
            pair[0] = parent;
        }
    }
}

/// Size of the level below one of `size` nodes, in the tree over `leaves` leaves.
fn level_size_below(leaves: usize, size: usize) -> usize {
    let mut below = leaves;
    for level in tree_levels(leaves) {
        if level == size {
            break;
        }
        below = level;
    }
    below
}

/// The sum of values in the shape of the tree.
pub(crate) fn pairwise_sum<T: Arithmetic>(values: &[T]) -> T {
    match *values {
        [] => T::ZERO,
        [a] => a,
        [a, b] => a.add(b),
        [a, b, c, d] => a.add(b).add(c.add(d)),
        [a, b, c, d, e, f, g, h] => a.add(b).add(c.add(d)).add(e.add(f).add(g.add(h))),
        _ => {
            let half = values.len().next_power_of_two() / 2;
            pairwise_sum(&values[..half]).add(pairwise_sum(&values[half..]))
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Writes down the shape as a number: position-dependent and not associative.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Shape(u64);

    impl Monoid for Shape {
        const NEUTRAL: Self = Self(0);
        fn combine(self, other: Self) -> Self {
            match (self.0, other.0) {
                (0, x) | (x, 0) => Self(x),
                (a, b) => {
                    Self((a.rotate_left(7) ^ 0x9e37_79b9).wrapping_mul(b | 1).wrapping_add(a))
                }
            }
        }
    }

    /// The definition: pad to a power of two, walk from the root to the leaf.
    pub(crate) fn by_definition<M: Monoid>(leaves: &[M], leaf: usize) -> M {
        fn up<M: Monoid>(leaves: &[M], start: usize, size: usize) -> M {
            if size == 1 {
                return leaves.get(start).copied().unwrap_or(M::NEUTRAL);
            }
            up(leaves, start, size / 2).combine(up(leaves, start + size / 2, size / 2))
        }
        let mut size = leaves.len().next_power_of_two();
        let mut start = 0;
        let mut down = M::NEUTRAL;
        while size > 1 {
            size /= 2;
            let (own, sibling) =
                if leaf < start + size { (start, start + size) } else { (start + size, start) };
            down = down.combine(up(leaves, sibling, size));
            start = own;
        }
        down
    }

    #[test]
    fn leave_one_out_has_the_defined_shape() {
        let mut scratch = TreeScratch::default();
        for count in 0..70 {
            let leaves: Vec<Shape> = (0..count).map(|i| Shape(i as u64 * 77 + 5)).collect();
            let mut out = leaves.clone();
            leave_one_out(&mut out, &mut scratch).unwrap();
            for (i, &rest) in out.iter().enumerate() {
                assert_eq!(rest, by_definition(&leaves, i), "leaf {i} of {count}");
            }
        }
    }

    #[test]
    fn eight_leaves_have_the_defined_shape() {
        for count in 1..=8 {
            let leaves: [Shape; 8] =
                std::array::from_fn(
                    |i| if i < count { Shape(i as u64 * 31 + 7) } else { Shape(0) },
                );
            let (down, total) = leave_one_out_of_eight(&leaves);
            let mut all = leaves[..count].to_vec();
            assert_eq!(total, leave_one_out(&mut all, &mut TreeScratch::default()).unwrap());
            for (leaf, &rest) in down.iter().enumerate().take(count) {
                assert_eq!(rest, by_definition(&leaves[..count], leaf));
            }
        }
    }

    #[test]
    fn levels_halve() {
        assert_eq!(tree_levels(1).count(), 0);
        assert_eq!(tree_levels(5).collect::<Vec<_>>(), [3, 2, 1]);
    }

    #[test]
    fn pairwise_sum_has_the_shape_of_the_tree() {
        let values = [1e16_f64, 1.0, -1e16, 1.0, 3.0];
        assert_eq!(pairwise_sum(&values), ((1e16 + 1.0) + (-1e16 + 1.0)) + 3.0);
    }
}
