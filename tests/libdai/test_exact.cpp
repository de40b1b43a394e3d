// SPDX-License-Identifier: MIT OR Apache-2.0
// ExactInf, JTree and DecMAP, and what algorithms are asked by clamping, against sums over all joint states.
#include "check.hpp"

using namespace dai;

/// A cycle of variables of 2, 3, 1, 2 and 2 states, with gaps in their labels and a chord.
static FactorGraph loopy() {
    rnd_seed(9);
    const std::vector<Var> v = {Var(3, 2), Var(5, 3), Var(6, 1), Var(9, 2), Var(12, 2)};
    std::vector<Factor> factors;
    for (size_t k = 0; k < v.size(); ++k)
        factors.push_back(Factor(VarSet(v[k], v[(k + 1) % v.size()])).randomize() += 0.2);
    factors.push_back(Factor(VarSet(v[0], v[3])).randomize() += 0.2);
    factors.push_back(Factor(v[1]).randomize() += 0.1);
    return FactorGraph(factors);
}

static Factor joint(const FactorGraph& graph) {
    Factor product;
    for (const Factor& factor : graph.factors())
        product *= factor;
    return product;
}

static void check_beliefs(const InfAlg& algorithm, const FactorGraph& graph) {
    for (size_t i = 0; i < graph.nrVars(); ++i) {
        NEAR(algorithm.beliefV(i), exact(graph, VarSet(graph.var(i))));
        NEAR(algorithm.belief(graph.var(i)), algorithm.beliefV(i));
    }
    for (size_t I = 0; I < graph.nrFactors(); ++I)
        NEAR(algorithm.beliefF(I), exact(graph, graph.factor(I).vars()));
    NEAR(algorithm.logZ(), exact_log_sum(graph));
    SAME(algorithm.beliefs().size(), graph.nrVars() + graph.nrFactors());
    NEAR(algorithm.belief(VarSet()), Factor());
}

static void sums() {
    const FactorGraph graph = loopy();
    ExactInf all(graph, PropertySet()("verbose", size_t(0)));
    NEAR(all.beliefV(0), Factor(graph.var(0))); // before the run
    all.init();
    SAME(all.run(), 0.0);
    check_beliefs(all, graph);
    SAME(all.identify(), "EXACT[verbose=0]");
    const VarSet far = VarSet(graph.var(1), graph.var(4)) | graph.var(3);
    NEAR(all.calcMarginal(far), exact(graph, far));
    NEAR(calcMarginal(all, far, false), exact(graph, far));
    NEAR(calcMarginal(all, far, true), exact(graph, far));
    THROWS(all.belief(Var(77, 2)), OBJECT_NOT_FOUND, "x77");
    THROWS(all.maxDiff(), NOT_IMPLEMENTED, "");
    const std::unique_ptr<ExactInf> copy(all.clone());
    copy->clamp(0, 1);
    copy->run();
    check_beliefs(*copy, *copy);
    NEAR(copy->beliefV(0)[1], 1);
    check_beliefs(all, graph);

    const std::unique_ptr<InfAlg> tree(newInfAlgFromString("JTREE[updates=HUGIN]", graph));
    tree->run();
    check_beliefs(*tree, graph);
    CHECK(tree->maxDiff() == 0 && tree->Iterations() == 1);
    SAME(tree->identify(), "JTREE[verbose=0,updates=HUGIN,heuristic=MINFILL,inference=SUMPROD,maxmem=0]");
    SAME(tree->getProperties().getAs<std::string>("updates"), "HUGIN");
}

static void maxima() {
    const FactorGraph graph = loopy();
    const Factor all = joint(graph);
    const State best(all.vars(), all.p().argmax().first);
    std::vector<size_t> states;
    for (const Var& v : graph.vars())
        states.push_back(best(v));
    JTree tree(graph, PropertySet("[updates=SHSH,inference=MAXPROD]"));
    tree.run();
    CHECK(tree.findMaximum() == states);
    NEAR(tree.beliefV(1), all.maxMarginal(VarSet(graph.var(1))));
    NEAR(tree.logZ(), std::log(all.max()));
    CHECK(ExactInf(graph, PropertySet()).findMaximum() == states);
    CHECK(JTree(graph, PropertySet("[updates=HUGIN]")).findMaximum() == states);
    CHECK(findMaximum(tree) == states);
    const std::string other = "[ianame=JTREE,iaopts=[updates=HUGIN,inference=MAXPROD]]";
    DecMAP decimation(graph, PropertySet(other));
    decimation.init();
    SAME(decimation.run(), 0.0);
    CHECK(decimation.findMaximum() == states && decimation.beliefV(3)[states[3]] == 1);
    CHECK(decimation.Iterations() > 0 && decimation.beliefs().size() == graph.nrVars() + graph.nrFactors());
    NEAR(decimation.logZ(), std::log(all.max()));
    SAME(decimation.identify(),
         "DECMAP[verbose=0,reinit=1,ianame=JTREE,iaopts=[inference=MAXPROD,updates=HUGIN]]");
    const std::unique_ptr<InfAlg> bp(newInfAlgFromString(
        "DECMAP[reinit=0,ianame=BP,iaopts=[tol=1e-9,logdomain=0,updates=SEQFIX,inference=MAXPROD]]", graph));
    bp->init();
    bp->run();
    SAME(bp->findMaximum().size(), graph.nrVars());
}

static void pairs() {
    const FactorGraph graph = loopy();
    ExactInf all(graph, PropertySet());
    all.run();
    const VarSet vars = VarSet(graph.var(0), graph.var(1)) | graph.var(4);
    for (bool accurate : {false, true})
        for (bool fresh : {false, true}) {
            const std::vector<Factor> beliefs = calcPairBeliefs(all, vars, fresh, accurate);
            SAME(beliefs.size(), 3u);
            NEAR(beliefs[0], exact(graph, VarSet(graph.var(0), graph.var(1))));
            NEAR(beliefs[1], exact(graph, VarSet(graph.var(0), graph.var(4))));
            NEAR(beliefs[2], exact(graph, VarSet(graph.var(1), graph.var(4))));
        }
}

static void what_fails() {
    const Var a(0, 2), b(1, 2);
    const FactorGraph impossible(std::vector<Factor>{createFactorDelta(a, 0), createFactorPotts(a, b, -INFINITY),
                                                     createFactorDelta(b, 0)});
    ExactInf none(impossible, PropertySet());
    THROWS(none.run(), NOT_NORMALIZABLE, "exclude all joint states");
    THROWS(JTree(impossible, PropertySet()), ASSERTION_FAILED, "updates");
    THROWS(JTree(impossible, PropertySet("[updates=FAST]")), UNKNOWN_ENUM_VALUE, "'FAST'");
    THROWS(JTree(loopy(), PropertySet("[updates=HUGIN,maxmem=500]")), OUT_OF_MEMORY, "joint states are needed");
    SAME(boundTreewidth(loopy(), &eliminationCost_MinFill).first, 3u);
    for (auto cost : {&eliminationCost_MinNeighbors, &eliminationCost_MinWeight, &eliminationCost_WeightedMinFill})
        CHECK(boundTreewidth(loopy(), cost, 100).second <= 12);
    THROWS(boundTreewidth(loopy(), &eliminationCost_MinFill, 5), OUT_OF_MEMORY, "more than 5");
    std::vector<Factor> factors;
    for (size_t i = 0; i < 40; ++i)
        for (size_t k = 0; k < i; ++k)
            factors.push_back(Factor(VarSet(Var(i, 2), Var(k, 2)), 1.0));
    ExactInf large((FactorGraph(factors)), PropertySet());
    THROWS(large.run(), OUT_OF_MEMORY, "treewidth");
    const ClusterGraph graph(loopy(), true);
    CHECK(graph.adj(0, 3) && !graph.adj(1, 3) && graph.nrVars() == 5);
    SAME(toString(graph.Delta(1)), "{x3, x5, x6}");
    ExactInf cavity(loopy(), PropertySet());
    cavity.makeRegionCavity(std::vector<size_t>{0, 6}, true);
    CHECK(cavity.factor(0).max() == 1 && cavity.factor(6).min() == 1);
    cavity.restoreFactors();
    cavity.run();
    check_beliefs(cavity, loopy());
}

void test_exact() {
    sums();
    maxima();
    pairs();
    what_fails();
}
