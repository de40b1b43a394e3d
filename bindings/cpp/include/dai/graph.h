// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief Graphs, as lists of neighbours.
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

namespace detail {
/// The place of a node in a list of neighbours, the length of the list if it is not there.
inline size_t place_of(const Neighbors& neighbors, size_t node) {
    size_t place = 0;
    while (place < neighbors.size() && neighbors[place].node != node)
        ++place;
    return place;
}
/// As place_of; OBJECT_NOT_FOUND if it is not there.
inline size_t found_place(const Neighbors& neighbors, size_t node) {
    const size_t place = place_of(neighbors, node);
    if (place == neighbors.size())
        DAI_THROWE(OBJECT_NOT_FOUND, "node " + toString(node) + " is no neighbour");
    return place;
}

// Functions of two sides of a graph, for each of which there is a list of neighbours per node. In a graph that is not
// bipartite both are the same. An edge is an entry in the list of each of its ends, and each tells the place of the other.

/// Joins a node of one side with one of the other side.
inline void join(std::vector<Neighbors>& side1, size_t node1, std::vector<Neighbors>& side2, size_t node2) {
    const size_t place1 = side1[node1].size(), place2 = side2[node2].size();
    side1[node1].push_back(Neighbor(place1, node2, place2));
    side2[node2].push_back(Neighbor(place2, node1, place1));
}
/// Takes an entry out of the list of a node; `others` is the other side.
inline void erase_entry(Neighbors& neighbors, size_t place, std::vector<Neighbors>& others) {
    neighbors.erase(neighbors.begin() + static_cast<std::ptrdiff_t>(place));
    for (; place < neighbors.size(); ++place) {
        neighbors[place].iter = place;
        others[neighbors[place].node][neighbors[place].dual].dual = place;
    }
}
/// Takes an edge away, if it is there.
inline void erase_edge(std::vector<Neighbors>& side1, size_t node1, std::vector<Neighbors>& side2, size_t node2) {
    DAI_ASSERT(node1 < side1.size() && node2 < side2.size());
    const size_t place = place_of(side1[node1], node2);
    if (place == side1[node1].size())
        return;
    const size_t dual = side1[node1][place].dual;
    erase_entry(side1[node1], place, side2);
    erase_entry(side2[node2], dual, side1);
}
/// Takes a node and its edges away; the nodes behind it move up.
inline void erase_node(std::vector<Neighbors>& side1, size_t node, std::vector<Neighbors>& side2) {
    DAI_ASSERT(node < side1.size());
    while (!side1[node].empty())
        erase_edge(side1, node, side2, side1[node].back().node);
    side1.erase(side1.begin() + static_cast<std::ptrdiff_t>(node));
    for (Neighbors& neighbors : side2)
        for (Neighbor& neighbor : neighbors)
            neighbor.node -= neighbor.node > node;
}
/// ASSERTION_FAILED where the lists of a side contradict those of the other.
inline void check_side(const std::vector<Neighbors>& side, const std::vector<Neighbors>& others) {
    for (size_t node = 0; node < side.size(); ++node)
        for (size_t place = 0; place < side[node].size(); ++place) {
            const Neighbor& neighbor = side[node][place];
            DAI_ASSERT(neighbor.iter == place);
            DAI_ASSERT(neighbor.node < others.size());
            DAI_ASSERT(neighbor.dual < others[neighbor.node].size());
            DAI_ASSERT(others[neighbor.node][neighbor.dual].node == node);
        }
}
/// The nodes of a list.
inline SmallSet<size_t> nodes_of(const Neighbors& neighbors) {
    return SmallSet<size_t>(neighbors.begin(), neighbors.end(), neighbors.size());
}
/// Whether all nodes have the same neighbours, in any order.
inline bool same_edges(const std::vector<Neighbors>& a, const std::vector<Neighbors>& b) {
    if (a.size() != b.size())
        return false;
    for (size_t node = 0; node < a.size(); ++node)
        if (a[node].size() != b[node].size() || nodes_of(a[node]) != nodes_of(b[node]))
            return false;
    return true;
}
/// Number of entries in all lists.
inline size_t entries(const std::vector<Neighbors>& side) {
    size_t sum = 0;
    for (const Neighbors& neighbors : side)
        sum += neighbors.size();
    return sum;
}
} // namespace detail

/// A graph whose edges have no direction.
class GraphAL {
public:
    /// Without nodes.
    GraphAL() {}
    /// Nodes without edges.
    GraphAL(size_t nr) : nb_(nr) {}
    /// Nodes, and edges as pairs of numbers; those that are there twice count once.
    template <typename Iterator>
    GraphAL(size_t nr, Iterator begin, Iterator end, bool check = true) {
        construct(nr, begin, end, check);
    }
    /// As the constructor. Without `check`, no edge may be there twice.
    template <typename Iterator>
    void construct(size_t nr, Iterator begin, Iterator end, bool check = true) {
        nb_.assign(nr, Neighbors());
        for (; begin != end; ++begin)
            addEdge(begin->first, begin->second, check);
    }

    /// One neighbour of a node.
    const Neighbor& nb(size_t node, size_t place) const { return nb_.at(node).at(place); }
    /// One neighbour of a node, to be changed.
    Neighbor& nb(size_t node, size_t place) { return nb_.at(node).at(place); }
    /// Neighbours of a node.
    const Neighbors& nb(size_t node) const { return nb_.at(node); }
    /// Neighbours of a node, to be changed.
    Neighbors& nb(size_t node) { return nb_.at(node); }
    /// Neighbours of a node as a set.
    SmallSet<size_t> nbSet(size_t node) const { return detail::nodes_of(nb(node)); }

    /// Adds a node, and returns its number.
    size_t addNode() {
        nb_.push_back(Neighbors());
        return nrNodes() - 1;
    }
    /// Adds a node with neighbours, and returns its number. The hint is not needed.
    template <typename Iterator>
    size_t addNode(Iterator begin, Iterator end, size_t /*sizeHint*/ = 0) {
        const size_t node = addNode();
        for (; begin != end; ++begin)
            addEdge(node, *begin, false);
        return node;
    }
    /// Joins two nodes. Without `check`, they must not be joined already.
    GraphAL& addEdge(size_t node1, size_t node2, bool check = true) {
        DAI_ASSERT(node1 < nrNodes() && node2 < nrNodes() && node1 != node2);
        if (!check || !hasEdge(node1, node2))
            detail::join(nb_, node1, nb_, node2);
        return *this;
    }
    /// Takes a node away; those behind it move up.
    void eraseNode(size_t node) { detail::erase_node(nb_, node, nb_); }
    /// Takes an edge away, if it is there.
    void eraseEdge(size_t node1, size_t node2) { detail::erase_edge(nb_, node1, nb_, node2); }

    /// Number of nodes.
    size_t nrNodes() const { return nb_.size(); }
    /// Number of edges.
    size_t nrEdges() const { return detail::entries(nb_) / 2; }
    /// Whether two nodes are joined.
    bool hasEdge(size_t node1, size_t node2) const {
        return detail::place_of(nb(node1), node2) < nb(node1).size();
    }
    /// The place of node 2 among the neighbours of node 1; OBJECT_NOT_FOUND.
    size_t findNb(size_t node1, size_t node2) const { return detail::found_place(nb(node1), node2); }
    /// Whether every node can be reached from every other one.
    bool isConnected() const {
        std::vector<bool> seen(nrNodes(), false);
        std::vector<size_t> waiting;
        size_t reached = 0;
        const auto visit = [&](size_t node) {
            if (!seen[node])
                waiting.push_back(node);
            reached += !seen[node];
            seen[node] = true;
        };
        if (nrNodes() != 0)
            visit(0);
        while (!waiting.empty()) {
            const size_t node = waiting.back();
            waiting.pop_back();
            for (const Neighbor& neighbor : nb(node))
                visit(neighbor.node);
        }
        return reached == nrNodes();
    }
    /// Whether it is connected and has no cycle.
    bool isTree() const { return nrNodes() == 0 || (isConnected() && nrEdges() + 1 == nrNodes()); }
    /// ASSERTION_FAILED where nb() was used to change it into no graph.
    void checkConsistency() const { detail::check_side(nb_, nb_); }
    /// Whether both have the same edges between equally many nodes.
    bool operator==(const GraphAL& x) const { return detail::same_edges(nb_, x.nb_); }

    /// Writes it as a graph for GraphViz.
    void printDot(std::ostream& stream) const {
        stream << "graph GraphAL {\nnode[shape=circle,width=0.4,fixedsize=true];\n";
        for (size_t node = 0; node < nrNodes(); ++node)
            stream << "\tx" << node << ";\n";
        for (size_t node = 0; node < nrNodes(); ++node)
            for (const Neighbor& neighbor : nb(node))
                if (node < neighbor.node)
                    stream << "\tx" << node << " -- x" << neighbor.node << ";\n";
        stream << "}\n";
    }
    /// The text that printDot writes.
    std::string toString() const { return dai::toString(*this); }
    friend std::ostream& operator<<(std::ostream& stream, const GraphAL& graph) {
        graph.printDot(stream);
        return stream;
    }

private:
    std::vector<Neighbors> nb_;
};

} // namespace dai

#endif
