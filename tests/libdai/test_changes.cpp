// SPDX-License-Identifier: MIT OR Apache-2.0
// Belief propagation on graphs whose factors change: clamping, backups, copies, contradictions.
#include "check.hpp"

using namespace dai;

static const char* const OPTIONS = "[tol=1e-13,updates=SEQFIX,logdomain=0]";

static FactorGraph chain(size_t length) {
    std::vector<Factor> factors;
    for (size_t i = 0; i < length; ++i) {
        factors.push_back(createFactorIsing(Var(i, 2), 0.1 * static_cast<Real>(i)));
        if (i + 1 < length)
            factors.push_back(createFactorIsing(Var(i, 2), Var(i + 1, 2), 0.4));
    }
    return FactorGraph(factors);
}

static void check_exact(const BP& bp) {
    for (size_t i = 0; i < bp.nrVars(); ++i)
        NEAR(bp.beliefV(i), exact(bp, VarSet(bp.var(i))));
    NEAR(bp.logZ(), exact_log_sum(bp));
}

static void clamping(const char* updates) {
    BP bp(chain(5), PropertySet(OPTIONS)("updates", updates));
    InfAlg& algorithm = bp;
    bp.init();
    bp.run();
    check_exact(bp);
    const Factor before = bp.beliefV(0);
    algorithm.clamp(2, 1, true);
    bp.init();
    bp.run();
    check_exact(bp);
    NEAR(bp.beliefV(2), createFactorDelta(bp.var(2), 1));
    CHECK(std::abs(before[0] - bp.beliefV(0)[0]) > 1e-3);
    algorithm.restoreFactors(VarSet(bp.var(2)));
    bp.init(VarSet(bp.var(1), bp.var(3))); // what they heard of the clamped variable is forgotten
    SAME(bp.Iterations(), 0u);
    bp.init();
    bp.run();
    check_exact(bp);
    NEAR(bp.beliefV(0), before);
    // From the messages of before, with another factor.
    bp.setFactor(0, Factor(bp.var(0), std::vector<Real>{5, 1}));
    bp.run();
    check_exact(bp);
    bp.makeCavity(4);
    bp.init(VarSet(bp.var(4)));
    bp.run();
    check_exact(bp);
    NEAR(algorithm.fg().factor(8)[1], 1);

    for (bool reInit : {false, true}) {
        const VarSet pair(bp.var(0), bp.var(3));
        NEAR(calcMarginal(bp, pair, reInit), exact(bp, pair));
    }
}

static void copies() {
    BP bp(chain(6), PropertySet(OPTIONS));
    bp.init();
    bp.setMaxIter(1);
    bp.run();
    const std::unique_ptr<BP> copy(bp.clone());
    SAME(copy->Iterations(), 1u);
    CHECK(copy->beliefV(5) == bp.beliefV(5) && copy->logZ() == bp.logZ());
    copy->setMaxIter(100);
    copy->run();
    check_exact(*copy);
    CHECK(!(copy->beliefV(0) == bp.beliefV(0)) && bp.Iterations() == 1); // they are independent
    copy->clamp(0, 0);
    CHECK(bp.factor(0)[1] != 0);
    BP assigned;
    assigned = *copy;
    assigned.init();
    assigned.run();
    check_exact(assigned);
    NEAR(assigned.beliefV(0)[0], 1);
    assigned = BP(chain(3), PropertySet(OPTIONS)); // another graph
    assigned.run();
    check_exact(assigned);
    BP& self = assigned;
    assigned = self;
    check_exact(assigned);
    const std::unique_ptr<InfAlg> constructed(bp.construct(chain(2), PropertySet(OPTIONS)));
    constructed->init();
    constructed->run();
    SAME(constructed->fg().nrVars(), 2u);
}

static void contradictions() {
    BP bp(chain(3), PropertySet(OPTIONS));
    bp.clamp(1, 0);
    bp.clamp(1, 1); // all its factors are 0 now
    bp.init();
    THROWS(bp.run(), NOT_NORMALIZABLE, "factor 1 is 0 everywhere");
    const Var a(0, 2), b(1, 2);
    const FactorGraph disagreeing(std::vector<Factor>{createFactorDelta(a, 0), createFactorDelta(a, 1),
                                                      createFactorIsing(a, b, 0.5)});
    for (const char* domain : {"0", "1"}) {
        BP error(disagreeing, PropertySet(OPTIONS)("logdomain", domain));
        error.init();
        THROWS(error.run(), NOT_NORMALIZABLE, "contradiction at variable 0");
        BP vote(disagreeing, PropertySet(OPTIONS)("logdomain", domain)("contradiction", "vote"));
        vote.init();
        CHECK(vote.run() <= 1e-13);
        NEAR(vote.beliefV(0), Factor(a));
    }
    BP bingo(disagreeing, PropertySet(OPTIONS));
    bingo.init();
    bingo.run(1e-9, 10, 20, 5);
    NEAR(bingo.newBelief(0), 0.5);
    THROWS(calcMarginal(bingo, VarSet(a), true), NOT_NORMALIZABLE, "all joint states of {x0}");
    // One impossible state is no failure: it has the probability 0.
    const FactorGraph zero(std::vector<Factor>{Factor(VarSet(a, b), std::vector<Real>{1, 0, 2, 0})});
    const BP half(zero, PropertySet(OPTIONS));
    NEAR(calcMarginal(half, VarSet(a), true), createFactorDelta(a, 0));

    BP negative(FactorGraph(std::vector<Factor>(1, Factor(a, std::vector<Real>{1, -1}))), PropertySet(OPTIONS));
    THROWS(negative.run(), RUNTIME_ERROR, "-1");
    BP stateless(FactorGraph(std::vector<Factor>(1, Factor(VarSet(Var(3, 0))))), PropertySet(OPTIONS));
    THROWS(stateless.run(), NOT_NORMALIZABLE, "factor 0");
    // What max-product decodes must exist.
    const FactorGraph odd(std::vector<Factor>{createFactorPotts(a, b, -50.0), Factor(a, 1.0)});
    BP decoded(odd, PropertySet(OPTIONS)("inference", "MAXPROD"));
    decoded.init();
    decoded.run();
    CHECK(decoded.findMaximum()[0] != decoded.findMaximum()[1]);
}

void test_changes() {
    for (const char* updates : {"SEQFIX", "SEQRND", "SEQMAX", "PARALL"})
        clamping(updates);
    copies();
    contradictions();
}
