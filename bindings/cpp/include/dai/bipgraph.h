// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief Bipartite graphs.
#ifndef FASTLBP_DAI_BIPGRAPH_H
#define FASTLBP_DAI_BIPGRAPH_H

#include <dai/graph.h>

namespace dai {

/// A bipartite graph: nodes of two types, and edges between nodes of different ones.
class BipartiteGraph {
public:
    /// Without nodes.
    BipartiteGraph() {}
    /// Nodes of both types, and edges as pairs of numbers; those that are there twice count once.
    template <typename Iterator>
    BipartiteGraph(size_t nrNodes1, size_t nrNodes2, Iterator begin, Iterator end, bool check = true) {
        construct(nrNodes1, nrNodes2, begin, end, check);
    }
    /// As the constructor. Without `check`, no edge may be there twice.
    template <typename Iterator>
    void construct(size_t nrNodes1, size_t nrNodes2, Iterator begin, Iterator end, bool check = true) {
        nb1_.assign(nrNodes1, Neighbors());
        nb2_.assign(nrNodes2, Neighbors());
        for (; begin != end; ++begin)
            addEdge(begin->first, begin->second, check);
    }

    /// Neighbours of a node of type 1.
    const Neighbors& nb1(size_t i) const { return nb1_.at(i); }
    /// Neighbours of a node of type 2.
    const Neighbors& nb2(size_t i) const { return nb2_.at(i); }
    /// One neighbour of a node of type 1.
    const Neighbor& nb1(size_t i, size_t place) const { return nb1_.at(i).at(place); }
    /// One neighbour of a node of type 2.
    const Neighbor& nb2(size_t i, size_t place) const { return nb2_.at(i).at(place); }
    /// Number of nodes of type 1.
    size_t nrNodes1() const { return nb1_.size(); }
    /// Number of nodes of type 2.
    size_t nrNodes2() const { return nb2_.size(); }
    /// Number of edges.
    size_t nrEdges() const {
        size_t sum = 0;
        for (const Neighbors& neighbors : nb1_)
            sum += neighbors.size();
        return sum;
    }
    /// Whether two nodes are joined.
    bool hasEdge(size_t node1, size_t node2) const {
        for (const Neighbor& neighbor : nb1(node1))
            if (neighbor.node == node2)
                return true;
        return false;
    }
    /// Joins two nodes.
    BipartiteGraph& addEdge(size_t node1, size_t node2, bool check = true) {
        DAI_ASSERT(node1 < nrNodes1() && node2 < nrNodes2());
        if (check && hasEdge(node1, node2))
            return *this;
        const size_t place1 = nb1_[node1].size(), place2 = nb2_[node2].size();
        nb1_[node1].push_back(Neighbor(place1, node2, place2));
        nb2_[node2].push_back(Neighbor(place2, node1, place1));
        return *this;
    }
    /// Whether every node can be reached from every other one.
    bool isConnected() const { return nrComponents() <= 1; }
    /// Whether it is connected and has no cycle.
    bool isTree() const { return isConnected() && nrEdges() + 1 == nrNodes1() + nrNodes2(); }

private:
    size_t nrComponents() const {
        const size_t first2 = nrNodes1(), all = first2 + nrNodes2();
        std::vector<bool> seen(all, false);
        std::vector<size_t> waiting;
        size_t components = 0;
        for (size_t start = 0; start < all; ++start) {
            if (seen[start])
                continue;
            ++components;
            seen[start] = true;
            waiting.push_back(start);
            while (!waiting.empty()) {
                const size_t node = waiting.back();
                waiting.pop_back();
                const bool is1 = node < first2;
                for (const Neighbor& neighbor : is1 ? nb1_[node] : nb2_[node - first2]) {
                    const size_t other = is1 ? neighbor.node + first2 : neighbor.node;
                    if (!seen[other]) {
                        seen[other] = true;
                        waiting.push_back(other);
                    }
                }
            }
        }
        return components;
    }

    std::vector<Neighbors> nb1_, nb2_;
};

} // namespace dai

#endif
