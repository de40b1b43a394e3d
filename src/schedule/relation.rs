//! Preorders given as a relation on the edges (a Hasse diagram).

use super::digraph::Digraph;
use super::preorder::Preorder;
use crate::error::{Error, Result};
use crate::memory::{Grow, copied, filled};
use crate::model::FactorGraph;

/// Sources whose comparable classes are found in one sweep.
const BLOCK: usize = 256;
type Bits = [u64; BLOCK / 64];

impl Preorder {
    /// The preorder meant by pairs (e1, e2) of edge indices: e1 <= e2, e1 is not updated after e2.
    ///
    /// The reflexive and transitive closure of the pairs is the relation. Edges that it puts on
    /// both sides of each other form a class; an edge in no pair is a class of its own. The
    /// relation may be partial, but must compare every two edges of which one message reads the
    /// other: then every total preorder that extends it means the same. The one returned puts the
    /// classes one after the other, of those that may come next always the one with the lowest
    /// edge.
    ///
    /// O((edges + pairs) log edges) if the pairs order all classes one after the other directly;
    /// otherwise O(classes * (edges + pairs) / 256) steps on 256 bits for the exact check.
    ///
    /// Errors: an edge index out of range; two edges that must be compared and are not, which are
    /// named.
    pub fn from_relation(graph: &FactorGraph, pairs: &[(u32, u32)]) -> Result<Self> {
        let edges = graph.edge_count();
        if pairs.len() >= u32::MAX as usize {
            return Err(Error::LimitExceeded(format!(
                "{} pairs of edges: fewer than {} are possible",
                pairs.len(),
                u32::MAX
            )));
        }
        for (index, &(before, after)) in pairs.iter().enumerate() {
            if let Some(edge) = [before, after].into_iter().find(|&edge| edge as usize >= edges) {
                return Err(Error::OutOfRange(format!(
                    "pair {index} ({before}, {after}): there is no edge {edge}: \
                     the graph has {edges} edges, counted from 0"
                )));
            }
        }
        let (ranks, class_count) =
            Digraph::from_arcs(edges, pairs.iter().copied())?.component_ranks()?;
        let preorder = Self::from_dense(ranks, class_count);
        let ranks = preorder.ranks();
        let arcs = pairs.iter().map(|&(a, b)| (ranks[a as usize], ranks[b as usize]));
        let mut chained = filled(class_count, false)?;
        for (before, after) in arcs.clone() {
            chained[before as usize] |= before + 1 == after;
        }
        let chain = class_count.saturating_sub(1);
        if !chained[..chain].iter().all(|&linked| linked) {
            let classes = Digraph::from_arcs(class_count, arcs.filter(|(a, b)| a < b))?;
            if let Some((reader, read)) = find_incomparable(graph, &preorder, &classes)? {
                let name = |edge: usize| {
                    let variable = graph.edge_variables()[edge] as usize;
                    format!(
                        "edge {edge} (factor {}, variable {})",
                        graph.edge_factors()[edge],
                        graph.label(variable)
                    )
                };
                return Err(Error::InvalidArgument(format!(
                    "the relation does not compare {} with {}, the message of which it reads: \
                     it must say which of the two comes first, or that both come at once",
                    name(reader),
                    name(read)
                )));
            }
        }
        Ok(preorder)
    }
}

/// Two edges the first of which reads the second, though `classes`, in topological order, does not
/// compare theirs.
///
/// For a block of source classes at a time, the bits of a class say from which sources it can be
/// reached and which it reaches. An edge (f, v) must be comparable to all edges (g, w) with w in f,
/// w != v and g != f. Per variable w it is noted which sources miss one edge of w and which miss
/// two, so that the one of f can be left out without looking at all pairs.
fn find_incomparable(
    graph: &FactorGraph, preorder: &Preorder, classes: &Digraph,
) -> Result<Option<(usize, usize)>> {
    let (order, offsets) = preorder.classes()?;
    let count = preorder.class_count();
    let ranks = preorder.ranks();
    let mut from: Vec<Bits> = filled(count, [0; BLOCK / 64])?;
    let mut to = copied(&from)?;
    let mut missing_one: Vec<Bits> = filled(graph.variable_count(), [0; BLOCK / 64])?;
    let mut missing_two = copied(&missing_one)?;
    let mut sources = Vec::new();
    for start in (0..count).step_by(BLOCK) {
        let end = count.min(start + BLOCK);
        find_reachable(classes, start..end, &mut from, &mut to);
        for v in 0..graph.variable_count() {
            let (mut one, mut two) = ([0; BLOCK / 64], [0; BLOCK / 64]);
            for &edge in graph.variable_edges(v) {
                let class = ranks[edge as usize] as usize;
                let missing = not(or(from[class], to[class]));
                two = or(two, and(one, missing));
                one = or(one, missing);
            }
            (missing_one[v], missing_two[v]) = (one, two);
        }
        sources.clear();
        sources.try_append(&order[offsets[start] as usize..offsets[end] as usize])?;
        sources.sort_unstable();
        let factor_of = |edge: u32| graph.edge_factors()[edge as usize];
        for group in sources.chunk_by(|&a, &b| factor_of(a) == factor_of(b)) {
            // Sources that are not comparable to an edge (g, w), g != f.
            let bad = |edge: usize| {
                let w = graph.edge_variables()[edge] as usize;
                let class = ranks[edge] as usize;
                or(missing_two[w], and(missing_one[w], or(from[class], to[class])))
            };
            let factor_edges = graph.factor_edges(factor_of(group[0]) as usize);
            let (mut one, mut two) = ([0; BLOCK / 64], [0; BLOCK / 64]);
            for edge in factor_edges.clone() {
                let bits = bad(edge);
                two = or(two, and(one, bits));
                one = or(one, bits);
            }
            for &source in group {
                let bit = ranks[source as usize] as usize - start;
                let own = has(bad(source as usize), bit);
                if !has(two, bit) && (own || !has(one, bit)) {
                    continue;
                }
                // Some (g, w) is missing: look for it.
                for w in factor_edges.clone().filter(|&edge| edge != source as usize) {
                    let read = graph.variable_edges(graph.edge_variables()[w] as usize).iter();
                    for &edge in read.filter(|&&edge| edge as usize != w) {
                        let class = ranks[edge as usize] as usize;
                        if !has(or(from[class], to[class]), bit) {
                            return Ok(Some((source as usize, edge as usize)));
                        }
                    }
                }
            }
        }
    }
    Ok(None)
}

/// Finds from which classes of a block each class can be reached, and which of them it reaches.
fn find_reachable(
    classes: &Digraph, block: std::ops::Range<usize>, from: &mut [Bits], to: &mut [Bits],
) {
    from.fill([0; BLOCK / 64]);
    to.fill([0; BLOCK / 64]);
    for (bit, class) in block.clone().enumerate() {
        from[class][bit / 64] |= 1 << (bit % 64);
        to[class][bit / 64] |= 1 << (bit % 64);
    }
    for class in block.start..from.len() {
        for &next in classes.successors(class) {
            from[next as usize] = or(from[next as usize], from[class]);
        }
    }
    for class in (0..block.end).rev() {
        for &next in classes.successors(class) {
            to[class] = or(to[class], to[next as usize]);
        }
    }
}

fn or(a: Bits, b: Bits) -> Bits {
    std::array::from_fn(|i| a[i] | b[i])
}

fn and(a: Bits, b: Bits) -> Bits {
    std::array::from_fn(|i| a[i] & b[i])
}

fn not(a: Bits) -> Bits {
    a.map(|word| !word)
}

fn has(bits: Bits, bit: usize) -> bool {
    bits[bit / 64] >> (bit % 64) & 1 == 1
}
