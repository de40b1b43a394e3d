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
    /// Nodes of both types without edges.
    BipartiteGraph(size_t nrNodes1, size_t nrNodes2) : nb1_(nrNodes1), nb2_(nrNodes2) {}
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
    // The same, to be changed.
    Neighbors& nb1(size_t i) { return nb1_.at(i); }
    Neighbors& nb2(size_t i) { return nb2_.at(i); }
    Neighbor& nb1(size_t i, size_t place) { return nb1_.at(i).at(place); }
    Neighbor& nb2(size_t i, size_t place) { return nb2_.at(i).at(place); }
    /// Neighbours of a node of type 1 as a set.
    SmallSet<size_t> nb1Set(size_t i) const { return detail::nodes_of(nb1(i)); }
    /// Neighbours of a node of type 2 as a set.
    SmallSet<size_t> nb2Set(size_t i) const { return detail::nodes_of(nb2(i)); }
    /// Neighbours of the neighbours of a node of type 1, with itself where it has any neighbour, if `include`.
    SmallSet<size_t> delta1(size_t i, bool include = false) const { return delta(nb1(i), nb2_, i, include); }
    /// Neighbours of the neighbours of a node of type 2, with itself where it has any neighbour, if `include`.
    SmallSet<size_t> delta2(size_t i, bool include = false) const { return delta(nb2(i), nb1_, i, include); }

    /// Adds a node of type 1, and returns its number.
    size_t addNode1() {
        nb1_.push_back(Neighbors());
        return nrNodes1() - 1;
    }
    /// Adds a node of type 2, and returns its number.
    size_t addNode2() {
        nb2_.push_back(Neighbors());
        return nrNodes2() - 1;
    }
    /// Adds a node of type 1 with neighbours, and returns its number. The hint is not needed.
    template <typename Iterator>
    size_t addNode1(Iterator begin, Iterator end, size_t /*sizeHint*/ = 0) {
        const size_t node = addNode1();
        for (; begin != end; ++begin)
            addEdge(node, *begin, false);
        return node;
    }
    /// Adds a node of type 2 with neighbours, and returns its number. The hint is not needed.
    template <typename Iterator>
    size_t addNode2(Iterator begin, Iterator end, size_t /*sizeHint*/ = 0) {
        const size_t node = addNode2();
        for (; begin != end; ++begin)
            addEdge(*begin, node, false);
        return node;
    }
    /// Joins two nodes. Without `check`, they must not be joined already.
    BipartiteGraph& addEdge(size_t node1, size_t node2, bool check = true) {
        DAI_ASSERT(node1 < nrNodes1() && node2 < nrNodes2());
        if (!check || !hasEdge(node1, node2))
            detail::join(nb1_, node1, nb2_, node2);
        return *this;
    }
    /// Takes a node of type 1 away; those behind it move up.
    void eraseNode1(size_t node) { detail::erase_node(nb1_, node, nb2_); }
    /// Takes a node of type 2 away; those behind it move up.
    void eraseNode2(size_t node) { detail::erase_node(nb2_, node, nb1_); }
    /// Takes an edge away, if it is there.
    void eraseEdge(size_t node1, size_t node2) { detail::erase_edge(nb1_, node1, nb2_, node2); }

    /// Number of nodes of type 1.
    size_t nrNodes1() const { return nb1_.size(); }
    /// Number of nodes of type 2.
    size_t nrNodes2() const { return nb2_.size(); }
    /// Number of edges.
    size_t nrEdges() const { return detail::entries(nb1_); }
    /// Whether two nodes are joined.
    bool hasEdge(size_t node1, size_t node2) const {
        return detail::place_of(nb1(node1), node2) < nb1(node1).size();
    }
    /// The place of a node of type 2 among the neighbours of one of type 1; OBJECT_NOT_FOUND.
    size_t findNb1(size_t node1, size_t node2) const { return detail::found_place(nb1(node1), node2); }
    /// The place of a node of type 1 among the neighbours of one of type 2; OBJECT_NOT_FOUND.
    size_t findNb2(size_t node1, size_t node2) const { return detail::found_place(nb2(node2), node1); }
    /// Whether every node can be reached from every other one, or there are none of type 1.
    bool isConnected() const { return nrNodes1() == 0 || nrComponents() <= 1; }
    /// Whether it is connected and has no cycle, or no nodes.
    bool isTree() const {
        const size_t nodes = nrNodes1() + nrNodes2();
        return nodes == 0 || (nrComponents() == 1 && nrEdges() + 1 == nodes);
    }
    /// ASSERTION_FAILED where nb1() or nb2() was used to change it into no graph.
    void checkConsistency() const {
        detail::check_side(nb1_, nb2_);
        detail::check_side(nb2_, nb1_);
    }
    /// Whether both have the same edges between equally many nodes.
    bool operator==(const BipartiteGraph& x) const {
        return nrNodes2() == x.nrNodes2() && detail::same_edges(nb1_, x.nb1_);
    }

    /// Writes it as a graph for GraphViz.
    void printDot(std::ostream& stream) const {
        stream << "graph BipartiteGraph {\nnode[shape=circle,width=0.4,fixedsize=true];\n";
        for (size_t node = 0; node < nrNodes1(); ++node)
            stream << "\tx" << node << ";\n";
        stream << "node[shape=box,width=0.3,height=0.3,fixedsize=true];\n";
        for (size_t node = 0; node < nrNodes2(); ++node)
            stream << "\ty" << node << ";\n";
        for (size_t node = 0; node < nrNodes1(); ++node)
            for (const Neighbor& neighbor : nb1(node))
                stream << "\tx" << node << " -- y" << neighbor.node << ";\n";
        stream << "}\n";
    }
    /// As printDot.
    friend std::ostream& operator<<(std::ostream& stream, const BipartiteGraph& graph) {
        graph.printDot(stream);
        return stream;
    }
    /// The text that printDot writes.
    std::string toString() const { return dai::toString(*this); }

private:
    static SmallSet<size_t> delta(const Neighbors& neighbors, const std::vector<Neighbors>& others, size_t node,
                                  bool include) {
        SmallSet<size_t> result;
        for (const Neighbor& neighbor : neighbors)
            result |= detail::nodes_of(others[neighbor.node]);
        return include ? result : result.erase(node);
    }
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
