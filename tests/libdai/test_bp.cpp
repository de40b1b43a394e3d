// SPDX-License-Identifier: MIT OR Apache-2.0
// Belief propagation: against sums over all joint states, and by libDAI's rules.
#include "check.hpp"

using namespace dai;

static PropertySet options(const std::string& updates, bool logdomain = false) {
    return PropertySet()("tol", Real(1e-12))("updates", updates)("logdomain", logdomain);
}

static Factor random_factor(const VarSet& vars) {
    Factor factor(vars);
    return factor.randomize() += 0.1;
}

/// A tree of variables with gaps in their labels, one of them with a single state.
static FactorGraph tree() {
    const Var a(2, 2), b(3, 3), c(5, 2), d(8, 4), single(6, 1);
    rnd_seed(1);
    return FactorGraph(std::vector<Factor>{random_factor(VarSet(a, b)), random_factor(VarSet(b, c) | VarSet(d)),
                                           random_factor(VarSet(c, single)), random_factor(VarSet(d)), Factor(0.25),
                                           random_factor(VarSet(single))});
}

static FactorGraph grid(size_t size) {
    rnd_seed(2);
    std::vector<Factor> factors;
    const auto var = [&](size_t x, size_t y) { return Var(x + size * y, 2); };
    for (size_t y = 0; y < size; ++y)
        for (size_t x = 0; x < size; ++x) {
            factors.push_back(createFactorIsing(var(x, y), 0.3 * rnd_stdnormal()));
            if (x + 1 < size)
                factors.push_back(createFactorIsing(var(x, y), var(x + 1, y), 0.3 * rnd_stdnormal()));
            if (y + 1 < size)
                factors.push_back(createFactorIsing(var(x, y), var(x, y + 1), 0.3 * rnd_stdnormal()));
        }
    return FactorGraph(factors);
}

static void trees() {
    const FactorGraph graph = tree();
    for (const char* updates :
         {"SEQFIX", "SEQRND", "SEQMAX", "PARALL", "TREE", "TOPO", "FWDBWD", "BLOCKS", "SEQRNDPAR"})
        for (bool logdomain : {false, true}) {
            BP bp(graph, options(updates, logdomain));
            bp.init();
            CHECK(bp.run() <= 1e-12);
            for (size_t i = 0; i < graph.nrVars(); ++i) {
                NEAR(bp.beliefV(i), exact(graph, VarSet(graph.var(i))));
                NEAR(bp.belief(graph.var(i)), bp.beliefV(i));
            }
            for (size_t I = 0; I < graph.nrFactors(); ++I)
                NEAR(bp.beliefF(I), exact(graph, graph.factor(I).vars()));
            NEAR(bp.belief(VarSet(Var(8, 4), Var(3, 3))), exact(graph, VarSet(Var(8, 4), Var(3, 3))));
            NEAR(bp.belief(VarSet(Var(5, 2), Var(6, 1))), exact(graph, VarSet(Var(5, 2), Var(6, 1))));
            NEAR(bp.belief(VarSet()), Factor());
            NEAR(bp.logZ(), exact_log_sum(graph));
            SAME(bp.beliefs().size(), graph.nrVars() + graph.nrFactors());
            THROWS(bp.belief(VarSet(Var(2, 2), Var(8, 4))), BELIEF_NOT_AVAILABLE, "2, 8");
            THROWS(bp.belief(Var(77, 2)), OBJECT_NOT_FOUND, "x77");
        }
    // Variables in another order than by label.
    const std::vector<Var> order = {Var(8, 4), Var(6, 1), Var(2, 2), Var(5, 2), Var(3, 3)};
    const FactorGraph other(graph.factors().begin(), graph.factors().end(), order.begin(), order.end());
    BP bp(other, options("SEQFIX")("inference", "MAXPROD"));
    bp.init();
    bp.run();
    for (size_t i = 0; i < order.size(); ++i)
        NEAR(bp.beliefV(i).maxMarginal(order[i]), bp.belief(order[i]));
    const std::vector<size_t> best = bp.findMaximum();
    SAME(best.size(), order.size());
    Factor joint;
    for (const Factor& factor : other.factors())
        joint *= factor;
    NEAR(other.logScore(best), std::log(joint.max()));
}

static void rules() {
    const FactorGraph graph = grid(3);
    BP bp(graph, options("SEQFIX"));
    bp.init();
    for (size_t i = 0; i < graph.nrVars(); ++i) // before a run, everything is uniform
        NEAR(bp.beliefV(i), Factor(graph.var(i)));
    const Real first = bp.run();
    const size_t iterations = bp.Iterations();
    CHECK(first <= 1e-12 && first == bp.maxDiff() && iterations > 3);
    WITHIN(bp.beliefV(4), exact(graph, VarSet(graph.var(4))), 0.05);

    // A second run without init goes on, and makes an iteration at least.
    bp.run();
    SAME(bp.Iterations(), iterations + 1);
    bp.init();
    SAME(bp.Iterations(), 0u);
    bp.setMaxIter(2);
    CHECK(bp.run() > 1e-12 && bp.Iterations() == 2);
    CHECK(std::isinf(bp.run())); // no iterations are left
    bp.setMaxIter(10000);
    bp.run();
    SAME(bp.Iterations(), iterations);
    CHECK(std::isinf(bp.maxDiff()));
    bp.props.maxtime = 0;
    bp.init();
    bp.run();
    SAME(bp.Iterations(), 0u);

    // Exactly as many iterations in any domain, and beliefs that do not depend on it.
    BP log(graph, options("SEQFIX", true));
    log.init();
    log.run();
    SAME(log.Iterations(), iterations);
    BP damped(graph, options("SEQFIX")("damping", "0.3"));
    damped.init();
    damped.run();
    CHECK(damped.Iterations() > iterations);
    for (size_t i = 0; i < graph.nrVars(); ++i)
        WITHIN(damped.beliefV(i), log.beliefV(i), 1e-10);
    BP same(graph, options("SEQRND")("seed", size_t(5))), other(graph, options("SEQRND")("seed", "5"));
    same.init();
    other.init();
    CHECK(same.run() == other.run() && same.beliefV(0) == other.beliefV(0));
}

static void properties() {
    const FactorGraph graph = grid(2);
    const PropertySet all = options("SEQFIX");
    for (const char* key : {"tol", "updates", "logdomain"}) {
        PropertySet missing = all;
        missing.erase(key);
        THROWS(BP(graph, missing), ASSERTION_FAILED, key);
    }
    THROWS(BP(graph, all("updates", "SOON")), UNKNOWN_ENUM_VALUE, "'SOON'");
    THROWS(BP(graph, all("inference", "MINPROD")), UNKNOWN_ENUM_VALUE, "'MINPROD'");
    THROWS(BP(graph, all("maxiter", "many")), IMPOSSIBLE_TYPECAST, "'many'");
    typedef BP::Properties::UpdateType UpdateType;
    BP unknown(graph, all("verb", size_t(1))("updates", UpdateType(UpdateType::PARALL)));
    CHECK(unknown.props.updates == UpdateType::PARALL && unknown.props.maxiter == 10000);
    BP full(graph, all("maxiter", size_t(5))("threads", "1")("backend", "cpu")("contradiction", "vote"));
    full.init();
    full.run();
    SAME(full.Iterations(), 5u);
    const BP again(graph, full.getProperties());
    SAME(again.printProperties(), full.printProperties());
    SAME(again.props.backend, "cpu");
    BP wrong(graph, all("damping", "2"));
    wrong.init();
    THROWS(wrong.run(), RUNTIME_ERROR, "damping");
    BP nowhere(graph, all("backend", "moon"));
    nowhere.init();
    THROWS(nowhere.run(), RUNTIME_ERROR, "moon");
}

static void bingo(const std::string& data) {
    FactorGraph graph = grid(3);
    BP bp;
    bp = BP(graph, options("SEQFIX"));
    bp.clamp(4, 1);
    bp.init();
    THROWS(bp.newBelief(0), RUNTIME_ERROR, "newBelief() before");
    const double active_fraction = bp.run(1e-9, 500, 1000, 100);
    NEAR(active_fraction, 0);
    CHECK(bp.Iterations() > 3 && bp.Iterations() < 500);
    for (size_t i = 0; i < graph.nrVars(); ++i)
        NEAR(bp.newBelief(i), bp.beliefV(i)[1]);
    NEAR(bp.newBelief(4), 1);
    THROWS(bp.newBelief(9), OBJECT_NOT_FOUND, "fewer variables");
    // Without convergence, means of the last beliefs are not the beliefs.
    bp.init();
    CHECK(bp.run(1e-300, 2, 4, 3) > 0.5);
    SAME(bp.Iterations(), 4u);
    CHECK(std::abs(bp.newBelief(0) - bp.beliefV(0)[1]) > 1e-9);
    const BP copy(bp);
    CHECK(copy.newBelief(0) == bp.newBelief(0) && copy.beliefV(0) == bp.beliefV(0));
    THROWS(bp.run(1e-6, 5, 4, 3), RUNTIME_ERROR, "");
    FactorGraph three;
    three.ReadFromFile((data + "/three_states.fg").c_str());
    BP many(three, options("SEQFIX"));
    many.init();
    many.run(1e-9, 500, 1000, 100);
    for (size_t i = 0; i < three.nrVars(); ++i)
        NEAR(many.newBelief(i), many.beliefV(i)[1]);
}

void test_bp(const std::string& data) {
    trees();
    rules();
    properties();
    bingo(data);
}
