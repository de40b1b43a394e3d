// SPDX-License-Identifier: MIT OR Apache-2.0
// Causal factor graphs and belief propagation on them.
#include "check.hpp"

#include <dai_ext/causal_bp.h>
#include <dai_ext/causal_fg.h>

using namespace dai;

static PropertySet options() {
    return PropertySet("[tol=1e-12,updates=SEQFIX,logdomain=1,verb=1,fastcausal=0]");
}

static std::vector<CausalFactor> factors() {
    const Var a(1, 2), b(2, 2), c(7, 2), d(9, 2);
    return std::vector<CausalFactor>{CausalFactor(a, 0.3), CausalFactor(b, 0.6),
                                     CausalFactor(c, VarSet(a, b), true, 0.9, 0.2),
                                     CausalFactor(d, VarSet(c), false, 0.8, 0.1)};
}

static void tables() {
    const Var a(1, 2), b(2, 2), c(7, 2);
    // P(c = 1) is 0.9 where a and b are true and 0.2 elsewhere; a is the fastest.
    const VarSet all = (a | b) | VarSet(c);
    CHECK(CausalFactor(c, VarSet(a, b), true, 0.9, 0.2).factor()
          == Factor(all, std::vector<Real>{1 - 0.2, 1 - 0.2, 1 - 0.2, 1 - 0.9, 0.2, 0.2, 0.2, 0.9}));
    // P(a = 0) is 0.9 where b and c are false and 0.2 elsewhere.
    CHECK(CausalFactor(a, VarSet(b, c), false, 0.9, 0.2).factor()
          == Factor(all, std::vector<Real>{0.9, 1 - 0.9, 0.2, 1 - 0.2, 0.2, 1 - 0.2, 0.2, 1 - 0.2}));
    CHECK(CausalFactor(a, 0.25).factor() == Factor(a, std::vector<Real>{0.75, 0.25}));
    CHECK(CausalFactor(a, VarSet(), true, 0.25).factor() == Factor(a, std::vector<Real>{0.75, 0.25}));
    SAME(CausalFactor(c, VarSet(a, b), true, 0.9, 0.2).toString(), "7\n*0.9;0.2\n2\n1 2 \n");
}

static void runs() {
    const CausalFactorGraph graph(factors());
    SAME(toString(graph.vars()), "(x1, x2, x7, x9)");
    SAME(graph.findVar(Var(9, 2)), 3u);
    const FactorGraph expanded = graph.factorgraph();
    CausalBP bp(graph, options());
    bp.clamp(3, 1);
    bp.init();
    CHECK(bp.run() <= 1e-12 && bp.Iterations() > 1);
    FactorGraph observed(expanded);
    observed.clamp(3, 1);
    for (size_t i = 0; i < graph.nrVars(); ++i)
        NEAR(bp.beliefV(i), exact(observed, VarSet(graph.var(i))));
    NEAR(bp.beliefF(2), exact(observed, graph.factor(2).vars()));
    NEAR(bp.belief(VarSet(Var(2, 2), Var(7, 2))), exact(observed, VarSet(Var(2, 2), Var(7, 2))));
    NEAR(bp.logZ(), exact_log_sum(observed));
    const InfAlg& algorithm = bp;
    NEAR(algorithm.fg().factor(0)[1], 0.3);
    SAME(algorithm.name(), "CausalBP");
    SAME(bp.beliefs().size(), 8u);

    // Observations are taken back with the factors.
    bp.clamp(0, 0, true);
    THROWS(bp.clamp(0, 1, true), MULTIPLE_UNDO, "x1");
    bp.init();
    bp.run();
    NEAR(bp.beliefV(0)[1], 0);
    bp.restoreFactors(VarSet(graph.var(0)));
    bp.init();
    bp.run();
    NEAR(bp.beliefV(0), exact(observed, VarSet(graph.var(0))));
    bp.clamp(3, 0, true);
    bp.restoreFactors();
    bp.setFactor(0, CausalFactor(Var(1, 2), 0.5), true);
    bp.run();
    observed.setFactor(0, Factor(Var(1, 2)));
    NEAR(bp.beliefV(1), exact(observed, VarSet(graph.var(1))));
    THROWS(bp.setFactor(0, CausalFactor(Var(2, 2), 0.5)), ASSERTION_FAILED, "vars()");
    THROWS(bp.clamp(0, 2), ASSERTION_FAILED, "states()");
    THROWS(bp.construct(expanded, options()), NOT_IMPLEMENTED, "CausalFactorGraph");
    THROWS(bp.makeCavity(0), NOT_IMPLEMENTED, "factors of 1");
    THROWS(bp.clampVar(0, std::vector<size_t>{0, 1}), NOT_IMPLEMENTED, "one state");

    const std::unique_ptr<CausalBP> copy(bp.clone());
    CHECK(copy->beliefV(1) == bp.beliefV(1));
    copy->clamp(1, 1);
    copy->run();
    NEAR(copy->beliefV(1)[1], 1);
    CHECK(bp.beliefV(1)[1] < 1);
    // BINGO's rule.
    CHECK(bp.run(1e-9, 500, 1000, 100) == 0);
    NEAR(bp.newBelief(1), bp.beliefV(1)[1]);
    bp.setMaxIter(1);
    bp.init();
    bp.run();
    SAME(bp.Iterations(), 1u);
}

static void files(const std::string& data, const std::string& scratch) {
    CausalFactorGraph graph;
    graph.ReadFromFile((data + "/alarm_small.causal_fg").c_str());
    SAME(graph.nrFactors(), 11u); // with the priors of labels that head no factor
    SAME(graph.nrVars(), 11u);
    SAME(graph.factor(0).toString(), "10\n*0.95;0\n2\n1 2 \n");
    CHECK(graph.factor(10).type == CausalFactor::Singleton && graph.factor(10).prob() == 0.5);
    const std::string file = scratch + "/written.causal_fg";
    graph.WriteToFile(file.c_str());
    CausalFactorGraph again;
    again.ReadFromFile(file.c_str());
    SAME(again.nrFactors(), graph.nrFactors());
    for (size_t I = 0; I < graph.nrFactors(); ++I)
        SAME(again.factor(I).toString(), graph.factor(I).toString());
    // Built from its factors, it is the same graph.
    CausalBP read(graph, options()), built(CausalFactorGraph(graph.factors()), options());
    BP expanded(graph.factorgraph(), options());
    for (InfAlg* bp : std::vector<InfAlg*>{&read, &built, &expanded}) {
        bp->clamp(7, 1);
        bp->init();
        bp->run();
    }
    for (size_t i = 0; i < graph.nrVars(); ++i) {
        CHECK(read.beliefV(i) == built.beliefV(i));
        WITHIN(expanded.beliefV(i), read.beliefV(i), 1e-10);
    }
    std::ofstream((scratch + "/own.causal_fg").c_str()) << "1\n\n3\n+0.9;0.1\n2\n3 4\n"; // head in its body
    graph.ReadFromFile((scratch + "/own.causal_fg").c_str());
    SAME(graph.factor(0).toString(), "3\n+0.9;0.1\n2\n3 4 \n");
    SAME(graph.factor(1).toString(), "4\nI\n0.5\n");

    THROWS(graph.ReadFromFile((scratch + "/nothing.causal_fg").c_str()), CANNOT_READ_FILE, "nothing.causal_fg");
    THROWS(graph.ReadFromFile((data + "/three_states.fg").c_str()), INVALID_FACTORGRAPH_FILE, "no causal ones");
    THROWS(graph.ReadFromFile((data + "/alarm_small.obs").c_str()), INVALID_FACTORGRAPH_FILE, "alarm_small.obs");
    std::ofstream((scratch + "/wrong.causal_fg").c_str()) << "1\n\n3\n?\n";
    THROWS(graph.ReadFromFile((scratch + "/wrong.causal_fg").c_str()), INVALID_FACTORGRAPH_FILE, "wrong.causal_fg:4");
    THROWS(graph.WriteToFile((scratch + "/no/directory.causal_fg").c_str()), CANNOT_WRITE_FILE, "directory");
    SAME(graph.factor(1).toString(), "4\nI\n0.5\n"); // as it was
    const CausalFactorGraph wrong(std::vector<CausalFactor>(1, CausalFactor(Var(1, 2), 1.5)));
    CausalBP bp(wrong, options());
    THROWS(bp.run(), RUNTIME_ERROR, "1.5");
}

void test_causal(const std::string& data, const std::string& scratch) {
    tables();
    runs();
    files(data, scratch);
}
