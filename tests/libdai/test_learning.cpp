// SPDX-License-Identifier: MIT OR Apache-2.0
// Evidence and EMAlg: samples from files, and factors learnt from them, against frequencies and log-likelihoods that
// are counted here.
#include "check.hpp"

using namespace dai;

/// P(x) P(y | x) as uniform factors: x has 2 states and label 7, y has 3 and label 4, so that y is the faster one.
static FactorGraph network() {
    const Var x(7, 2), y(4, 3);
    return FactorGraph(std::vector<Factor>{Factor(x), Factor(VarSet(x, y), 1.0 / 3)});
}

static const char* const STEPS = "1\n\n2\nCondProbEstimation [target_dim=2,total_dim=2,pseudo_count=0]\n1\n0 7\n"
                                 "CondProbEstimation [target_dim=3,total_dim=6,pseudo_count=1]\n1\n\n1\t4 7\n";

static Evidence samples(const FactorGraph& graph, const std::string& text) {
    Evidence result;
    std::istringstream stream(text);
    result.addEvidenceTabFile(stream, graph);
    return result;
}

static EMAlg learning(const Evidence& evidence, InfAlg& algorithm, const std::string& text) {
    std::istringstream stream(text);
    return EMAlg(evidence, algorithm, stream);
}

static std::unique_ptr<InfAlg> algorithm(const std::string& text, const FactorGraph& graph) {
    std::unique_ptr<InfAlg> result(newInfAlgFromString(text, graph));
    result->init();
    return result;
}

static void evidence() {
    const FactorGraph graph = network();
    const Evidence read = samples(graph, "4\t7\n\n2\t0\n\t1\n1\t\n\t\n");
    SAME(read.nrSamples(), size_t(4));
    SAME(read.begin()[0], (Evidence::Observation{{Var(4, 3), 2}, {Var(7, 2), 0}}));
    SAME(read.begin()[1], (Evidence::Observation{{Var(7, 2), 1}}));
    SAME(read.begin()[2], (Evidence::Observation{{Var(4, 3), 1}}));
    CHECK(read.begin()[3].empty());
    Evidence given(std::vector<Evidence::Observation>(3));
    SAME(size_t(given.end() - given.begin()), size_t(3));
    // The last line needs no end, and those of Windows are read.
    SAME(samples(graph, "7\r\n\r\n1\r\n0").nrSamples(), size_t(2));
    SAME(samples(graph, "7\n\n").nrSamples(), size_t(0));

    THROWS(samples(graph, ""), INVALID_EVIDENCE_FILE, "variable ''");
    THROWS(samples(graph, "4\t8\n\n"), INVALID_EVIDENCE_FILE, "variable '8'");
    THROWS(samples(graph, "4"), INVALID_EVIDENCE_FILE, "second line");
    THROWS(samples(graph, "4\n1\n"), INVALID_EVIDENCE_FILE, "second line");
    THROWS(samples(graph, "4\n\n1\t1\n"), INVALID_EVIDENCE_FILE, "line 3 has 2 columns instead of 1");
    THROWS(samples(graph, "4\n\n0\n3\n"), INVALID_EVIDENCE_FILE, "line 4 has state 3 of x4, which has 3");
    for (const char* state : {"-1", "x", "1 ", "99999999999999999999"})
        THROWS(samples(graph, std::string("4\n\n") + state + "\n"), INVALID_EVIDENCE_FILE, state);
    // All samples of a file, or none.
    std::istringstream stream("4\n\n0\n3\n");
    try {
        given.addEvidenceTabFile(stream, graph);
    } catch (const Exception&) {
    }
    SAME(given.nrSamples(), size_t(3));
}

/// What all variables are observed in is counted: one iteration gives the frequencies.
static void frequencies() {
    const FactorGraph graph = network();
    // y and x: (0, 0) twice, (2, 0), (1, 1) three times, (2, 1).
    const Evidence evidence = samples(graph, "4\t7\n\n0\t0\n0\t0\n2\t0\n1\t1\n1\t1\n1\t1\n2\t1\n");
    for (const char* text : {"JTREE[updates=HUGIN]", "BP[updates=SEQFIX,tol=1e-12,logdomain=0]"}) {
        const std::unique_ptr<InfAlg> bp = algorithm(text, graph);
        EMAlg em = learning(evidence, *bp, STEPS);
        CHECK(!em.hasSatisfiedTermConditions());
        // All 6 joint states are equally likely at first.
        WITHIN(em.iterate(), 7 * std::log(1.0 / 6), 1e-9);
        NEAR(bp->fg().factor(0), Factor(Var(7, 2), std::vector<Real>{3.0 / 7, 4.0 / 7}));
        NEAR(bp->fg().factor(1), Factor(VarSet(Var(4, 3), Var(7, 2)),
                                        (std::vector<Real>{3.0 / 6, 1.0 / 6, 2.0 / 6, 1.0 / 7, 4.0 / 7, 2.0 / 7})));
        const double likelihood = 3 * std::log(3.0 / 7) + 4 * std::log(4.0 / 7) + 2 * std::log(1.0 / 2)
                                  + std::log(1.0 / 3) + 3 * std::log(4.0 / 7) + std::log(2.0 / 7);
        WITHIN(em.iterate(), likelihood, 1e-9);
        em.run();
        SAME(em.Iterations(), size_t(3));
        WITHIN(em.logZ(), likelihood, 1e-9);
        CHECK(em.hasSatisfiedTermConditions());
        CHECK(&em.eStep() == bp.get());
        const SharedParameters& shared = em.s_begin()->begin()[1];
        SAME(shared.currentExpectations().p(), (std::vector<Real>{2, 0, 1, 0, 3, 1}));
        SAME(shared.getFactorOrientations().at(1), (std::vector<Var>{Var(4, 3), Var(7, 2)}));
        SAME(shared.getPEst().name(), "CondProbEstimation");
        SAME(shared.getPEst().properties().toString(), "[pseudo_count=1,target_dim=3,total_dim=6]");
    }
}

/// The sum of the logarithms of the values of a factor: what pseudocounts of 1 add to the log-likelihood.
static Real log_prior(const Factor& factor) { return factor.log().p().sum(); }

/// Two factors share values in orders of their own; some states are not known. What is maximised only grows, BP learns
/// what the junction tree does, where the graph is a tree, and what has converged is a fixed point.
static void shared() {
    const Var a(1, 2), b(2, 2), c(3, 2);
    const FactorGraph graph(std::vector<Factor>{Factor(a), Factor(VarSet(a, b), std::vector<Real>{0.6, 0.3, 0.4, 0.7}),
                                                Factor(VarSet(b, c), std::vector<Real>{0.6, 0.3, 0.4, 0.7})});
    const Evidence evidence = samples(graph, "1\t3\t2\n\n0\t1\t\n1\t1\t\n\t0\t1\n0\t\t0\n0\t0\t\n1\t\t\n1\t1\t1\n");
    std::vector<Factor> learnt;
    for (const char* text : {"JTREE[updates=HUGIN]", "BP[updates=SEQMAX,tol=1e-12,logdomain=1]"}) {
        const std::unique_ptr<InfAlg> bp = algorithm(text, graph);
        EMAlg em = learning(evidence, *bp, "1 1 CondProbEstimation [target_dim=2,total_dim=4] 2\n1 2 1\n2 3 2\n");
        em.setTermConditions(PropertySet()(EMAlg::MAX_ITERS_KEY, size_t(500))(EMAlg::LOG_Z_TOL_KEY, Real(0)));
        Real before = -INFINITY;
        while (em.Iterations() < 500) {
            const Real prior = log_prior(bp->fg().factor(1)), now = prior + em.iterate();
            CHECK(now > before - 1e-9);
            before = now;
        }
        CHECK(em.hasSatisfiedTermConditions());
        const Factor first = bp->fg().factor(1), second = bp->fg().factor(2);
        NEAR(first.p()[0], second.p()[0]);
        NEAR(first.p()[1], second.p()[1]);
        NEAR(first[0] + first[2], 1); // over b, for a = 0
        em.iterate();
        WITHIN(bp->fg().factor(1), first, 1e-9);
        NEAR(bp->fg().factor(0), Factor(a)); // not learnt
        learnt.push_back(first);
    }
    WITHIN(learnt[0], learnt[1], 1e-9);
    SAME(EMAlg::MAX_ITERS_DEFAULT + 0, size_t(30));
    SAME(EMAlg::LOG_Z_TOL_DEFAULT + 0, 0.01);
}

/// Estimates half of each expected number; for registerMethod.
class Half : public ParameterEstimation {
public:
    static ParameterEstimation* make(const PropertySet&) { return new Half; }
    ParameterEstimation* clone() const override { return new Half(*this); }
    Prob parametersToFactor(const Prob& parameters) override { return parameters; }
    Prob parameters(const Prob& expected) override { return expected * 0.5; }
    size_t probSize() const override { return 2; }
    const std::string& name() const override { return name_; }
    const PropertySet& properties() const override { return properties_; }

private:
    std::string name_ = "Half";
    PropertySet properties_;
};

static void estimations() {
    const FactorGraph graph = network();
    ParameterEstimation::registerMethod("Half", Half::make);
    const Evidence evidence = samples(graph, "7\n\n0\n0\n1\n");
    const std::unique_ptr<InfAlg> exact = algorithm("EXACT", graph);
    // As objects, of which one is owned by what is copied.
    SharedParameters::FactorOrientations orders;
    orders[0] = std::vector<Var>(1, Var(7, 2));
    Half half;
    std::vector<MaximizationStep> steps;
    steps.push_back(MaximizationStep(
        {SharedParameters(orders, &half), SharedParameters(orders, ParameterEstimation::construct("Half", {}), true)}));
    steps[0] = MaximizationStep(steps[0]);
    EMAlg em(evidence, *exact, steps, PropertySet()(EMAlg::MAX_ITERS_KEY, size_t(1)));
    em.run();
    SAME(em.Iterations(), size_t(1));
    NEAR(exact->fg().factor(0), Factor(Var(7, 2), std::vector<Real>{1, 0.5}));
    CHECK(&em.s_begin()->begin()->getPEst() == &half);
    SAME(em.s_end() - em.s_begin(), 1);
    THROWS(EMAlg(evidence, *exact, steps, PropertySet()).logZ(), ASSERTION_FAILED, "");

    THROWS(ParameterEstimation::construct("None", PropertySet()), UNKNOWN_PARAMETER_ESTIMATION_METHOD, "'None'");
    THROWS(CondProbEstimation(4, Prob(6)), ASSERTION_FAILED, "");
    THROWS(CondProbEstimation(0, Prob(6)), ASSERTION_FAILED, "");
    orders[1] = std::vector<Var>{Var(7, 2), Var(4, 3)};
    THROWS(SharedParameters(orders, &half), ASSERTION_FAILED, "");
    const std::pair<const char*, const char*> wrong[] = {
        {"", "maximization steps is ''"},
        {"x", "maximization steps is 'x'"},
        {"1", "shared parameters is ''"},
        {"1 1 Half [] -1", "factors is '-1'"},
        {"1 1 Half [] 1", "the file ends"},
        {"1 1 Half [] 1\n2 7\n", "no factor 2"},
        {"1 1 Half [] 1\n0\n", "variable is ''"},
        {"1 1 Half [] 1\n0 4\n", "'0 4' has other variables"},
        {"1 1 Half [] 1\n1 7 7\n", "'1 7 7' has other variables"},
        {"1 1 Half [] 1\n0 7 7\n", "'0 7 7' has more words"},
    };
    for (const auto& text : wrong)
        THROWS(learning(evidence, *exact, text.first), INVALID_EMALG_FILE, text.second);
    THROWS(learning(evidence, *exact, "1 1 None [] 1\n0 7\n"), UNKNOWN_PARAMETER_ESTIMATION_METHOD, "");
    THROWS(learning(evidence, *exact, "1 1 Half 1\n0 7\n"), MALFORMED_PROPERTY, "");
    THROWS(learning(evidence, *exact, "1 1 Half [] 1\n1 4 7\n"), ASSERTION_FAILED, "");
}

void test_learning() {
    evidence();
    frequencies();
    shared();
    estimations();
}
