// SPDX-License-Identifier: MIT OR Apache-2.0
// Graphs and bipartite graphs: their changes against the same changes of sets of edges.
#include "check.hpp"

using namespace dai;

static void bipartite() {
    const std::vector<Edge> edges = {Edge(0, 0), Edge(1, 0), Edge(2, 0), Edge(1, 1), Edge(2, 1), Edge(1, 1)};
    BipartiteGraph graph(3, 2, edges.begin(), edges.end());
    SAME(graph.nrEdges(), 5u);
    SAME(toString(graph.nb1Set(1)) + toString(graph.nb2Set(1)), "{0, 1}{1, 2}");
    SAME(toString(graph.delta1(0)) + toString(graph.delta1(0, true)) + toString(graph.delta2(0)), "{1, 2}{0, 1, 2}{1}");
    SAME(graph.findNb1(2, 1), 1u);
    SAME(graph.findNb2(2, 1), 1u);
    THROWS(graph.findNb1(0, 1), OBJECT_NOT_FOUND, "1");
    CHECK(graph.isConnected() && !graph.isTree());
    SAME(graph.toString(), "graph BipartiteGraph {\nnode[shape=circle,width=0.4,fixedsize=true];\n\tx0;\n\tx1;\n\tx2;\n"
                           "node[shape=box,width=0.3,height=0.3,fixedsize=true];\n\ty0;\n\ty1;\n\tx0 -- y0;\n"
                           "\tx1 -- y0;\n\tx1 -- y1;\n\tx2 -- y0;\n\tx2 -- y1;\n}\n");
    const BipartiteGraph before = graph;
    graph.eraseEdge(2, 1);
    graph.eraseEdge(2, 1); // is not there any more
    CHECK(graph.isTree() && !(graph == before));
    graph.addEdge(2, 1);
    CHECK(graph == before); // in another order
    const std::vector<size_t> both = {0, 1};
    SAME(graph.addNode1(both.begin(), both.end()), 3u);
    SAME(graph.addNode2(both.begin(), both.end(), 2), 2u);
    SAME(graph.addNode1() + graph.addNode2(), 4u + 3u);
    CHECK(!graph.isConnected() && graph.hasEdge(3, 1) && graph.hasEdge(1, 2));
    graph.checkConsistency();
    graph.nb1(0, 0).dual = 7;
    THROWS(graph.checkConsistency(), ASSERTION_FAILED, "dual");
    THROWS(graph.eraseNode1(9), ASSERTION_FAILED, "size()");
    // As libDAI: no nodes are a tree, one node is, and nodes of type 2 alone are connected.
    CHECK(BipartiteGraph().isTree() && BipartiteGraph(1, 0).isTree() && !BipartiteGraph(0, 2).isTree());
    CHECK(BipartiteGraph(0, 2).isConnected() && !BipartiteGraph(2, 0).isConnected());
}

static void undirected() {
    const std::vector<Edge> edges = {Edge(0, 1), Edge(1, 2), Edge(2, 1)};
    GraphAL graph(3, edges.begin(), edges.end());
    SAME(graph.nrEdges(), 2u);
    CHECK(graph.isTree() && graph.hasEdge(2, 1) && graph.findNb(1, 2) == 1);
    SAME(toString(graph.nbSet(1)), "{0, 2}");
    const std::vector<size_t> both = {0, 2};
    SAME(graph.addNode(both.begin(), both.end()), 3u);
    SAME(graph.addNode(), 4u);
    CHECK(!graph.isConnected() && !graph.isTree() && graph.nb(3).size() == 2);
    graph.eraseNode(4);
    graph.eraseNode(1);
    SAME(graph.toString(), "graph GraphAL {\nnode[shape=circle,width=0.4,fixedsize=true];\n\tx0;\n\tx1;\n\tx2;\n"
                           "\tx0 -- x2;\n\tx1 -- x2;\n}\n");
    THROWS(graph.addEdge(1, 1), ASSERTION_FAILED, "node1 != node2");
    CHECK(GraphAL().isTree() && GraphAL().isConnected() && GraphAL() == GraphAL(0) && !GraphAL(2).isConnected());
}

static void random_changes() {
    rnd_seed(5);
    BipartiteGraph graph;
    std::set<Edge> edges;
    for (int step = 0; step < 3000; ++step) {
        const size_t all1 = graph.nrNodes1(), all2 = graph.nrNodes2();
        const size_t node1 = all1 == 0 ? 0 : static_cast<size_t>(rnd(static_cast<int>(all1)));
        const size_t node2 = all2 == 0 ? 0 : static_cast<size_t>(rnd(static_cast<int>(all2)));
        const int what = rnd(10);
        std::set<Edge> rest;
        if (all1 == 0 || what == 0) {
            graph.addNode1();
        } else if (all2 == 0 || what == 1) {
            graph.addNode2();
        } else if (what == 2 && all1 > 4) {
            graph.eraseNode1(node1);
            for (const Edge& edge : edges)
                if (edge.first != node1)
                    rest.insert(Edge(edge.first - (edge.first > node1), edge.second));
            edges = rest;
        } else if (what == 3 && all2 > 4) {
            graph.eraseNode2(node2);
            for (const Edge& edge : edges)
                if (edge.second != node2)
                    rest.insert(Edge(edge.first, edge.second - (edge.second > node2)));
            edges = rest;
        } else if (what < 6) {
            graph.eraseEdge(node1, node2);
            edges.erase(Edge(node1, node2));
        } else {
            graph.addEdge(node1, node2);
            edges.insert(Edge(node1, node2));
        }
        graph.checkConsistency();
        CHECK(graph == BipartiteGraph(graph.nrNodes1(), graph.nrNodes2(), edges.begin(), edges.end()));
    }
    CHECK(graph.nrEdges() > 10);
}

void test_neighbors() {
    bipartite();
    undirected();
    random_changes();
}
