//! Graphs for which there are kernels of their own on devices: the router expects other costs of all others.

use crate::model::FactorGraph;

/// Most variables of a conjunction that a warp takes at once: larger ones are in pieces, and by levels trees.
pub(super) const MOST_VARIABLES: usize = 32;
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

/// How many of a graph's edges are of conjunctions of more than [`MOST_VARIABLES`]. O(factors).
pub(super) fn edges_of_large_factors(graph: &FactorGraph) -> usize {
    large_arities(graph).sum()
}

/// The numbers of variables of such conjunctions.
pub(super) fn large_arities(graph: &FactorGraph) -> impl Iterator<Item = usize> {
    let arities = (0..graph.factor_count()).map(|f| graph.arity(f));
    arities.filter(|&arity| arity > MOST_VARIABLES)
}

/// Whether these are so few that these kernels serve the graph where all messages are sent at once.
pub(super) fn serves_large_factors(of_large: usize, graph: &FactorGraph) -> bool {
    2 * of_large <= graph.edge_count()
}
