// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief Neighbours of nodes of a graph.
#ifndef FASTLBP_DAI_GRAPH_H
#define FASTLBP_DAI_GRAPH_H

#include <dai/smallset.h>

namespace dai {

/// A neighbour of a node.
struct Neighbor {
    size_t iter; ///< Its place among the node's neighbours.
    size_t node; ///< Its number.
    size_t dual; ///< The node's place among its own neighbours.

    Neighbor() : iter(0), node(0), dual(0) {}
    Neighbor(size_t iter_, size_t node_, size_t dual_) : iter(iter_), node(node_), dual(dual_) {}
    /// Its number.
    operator size_t() const { return node; }
};

/// The neighbours of a node.
typedef std::vector<Neighbor> Neighbors;

/// An edge, as a pair of numbers of nodes.
typedef std::pair<size_t, size_t> Edge;

} // namespace dai

#endif
