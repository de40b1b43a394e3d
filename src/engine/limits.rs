//! Graphs for which there are kernels of their own on devices: the router expects other costs of all others.

use crate::kernel::Inference;
use crate::model::FactorGraph;

/// Most variables of a factor that a warp takes at once: larger conjunctions are in pieces, and by levels trees.
pub(super) const MOST_VARIABLES: usize = 32;
/// The same of a table of binary variables; and most variables of one that shares a warp with others.
const MOST_TABLE_VARIABLES: usize = 12;
pub(super) const SMALL_TABLE: usize = 4;
/// Messages of a variable of many factors whose product is computed once for all messages that need it; and how many such products
/// have a product in turn, and so on.
pub(super) const PIECE: usize = 256;
pub(super) const PARTS: usize = 32;
/// By levels, most words of what is to be read: 2 GiB.
pub(super) const MOST_LEVEL_WORDS: usize = 1 << 29;

/// How many times the messages of a variable are taken together until at most [`PARTS`] products are left.
pub(super) fn heights_of_pieces(messages: usize) -> usize {
    let mut pieces = messages.div_ceil(PIECE);
    let mut heights = 1;
    while pieces > PARTS {
        pieces = pieces.div_ceil(PARTS);
        heights += 1;
    }
    heights
}

/// Whether warps of their own see to a factor: to one of many variables, or of another kind than conjunctions of literals.
pub(super) fn has_own_warps(graph: &FactorGraph, factor: usize) -> bool {
    let arity = graph.arity(factor);
    arity > MOST_VARIABLES || (arity > 1 && !graph.is_conjunction(factor))
}

/// The numbers of variables of such factors. O(factors), or O(1) where all are small conjunctions.
pub(super) fn arities_with_own_warps(graph: &FactorGraph) -> impl Iterator<Item = usize> {
    let has_some = graph.largest_arity() > MOST_VARIABLES || graph.other_factors().next().is_some();
    let factors = 0..if has_some { graph.factor_count() } else { 0 };
    factors.filter(|&f| has_own_warps(graph, f)).map(|f| graph.arity(f))
}

/// Whether a factor of several binary variables is a table that shares a warp with others.
pub(super) fn is_small_table(graph: &FactorGraph, factor: usize) -> bool {
    (2..=SMALL_TABLE).contains(&graph.arity(factor)) && graph.factor(factor).as_table().is_some()
}

/// Whether devices have kernels for binary variables that serve a graph, for sums. Where all messages are sent at once, factors with
/// warps of their own may have half of the edges, but for small tables; with more, other kernels are faster. O(factors).
pub(super) fn has_kernels_of_binary_variables(graph: &FactorGraph, by_levels: bool) -> bool {
    let edges_of_these = || {
        let tables = graph.other_factors().filter(|&f| is_small_table(graph, f));
        let of_tables = tables.map(|f| graph.arity(f)).sum::<usize>();
        arities_with_own_warps(graph).sum::<usize>() - of_tables
    };
    graph.all_binary()
        && takes_other_factors(graph, Inference::SumProduct)
        && (by_levels || 2 * edges_of_these() <= graph.edge_count())
}

/// Whether these kernels take all factors that are no conjunctions of literals, each by a warp. O(factors).
pub(super) fn takes_other_factors(graph: &FactorGraph, inference: Inference) -> bool {
    graph.other_factors().all(|factor| {
        let view = graph.factor(factor);
        let is_table = view.as_table().is_some() || view.needs_table(inference);
        graph.arity(factor) <= if is_table { MOST_TABLE_VARIABLES } else { MOST_VARIABLES }
    })
}
