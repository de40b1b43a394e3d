// SPDX-License-Identifier: MIT OR Apache-2.0
// Belief propagation with every combination of its properties, on libDAI's test graphs and generated ones: PROGRAM
// TESTS, the directory of libDAI's tests. See with_both.hpp.
#include "with_both.hpp"

using namespace dai;

namespace {

/// What is run.
struct Configuration {
    std::string updates;
    bool logdomain;
    bool maxima;
    double damping;
    double tol;
    size_t maxiter;
};

PropertySet properties(const Configuration& c) {
    PropertySet opts;
    opts.set("updates", c.updates);
    opts.set("logdomain", c.logdomain);
    opts.set("inference", std::string(c.maxima ? "MAXPROD" : "SUMPROD"));
    opts.set("damping", Real(c.damping));
    opts.set("tol", Real(c.tol));
    opts.set("maxiter", c.maxiter);
    return opts;
}

/// Code of the exception, or iterations, whether they converged, beliefs, and the state that is decoded, where it is
/// not one of many of a run that has not converged.
Numbers run(const FactorGraph& graph, const Configuration& c) {
    Numbers numbers;
    try {
        const std::unique_ptr<InfAlg> bp(newInfAlg("BP", graph, properties(c)));
        bp->init();
        const bool converged = bp->run() <= c.tol;
        refuse_nan(*bp);
        numbers.push_back(converged);
        // The order of SEQRND is each library's own: converged results are the same, and nothing else.
        if (c.updates != "SEQRND")
            numbers.push_back(static_cast<Real>(bp->Iterations()));
        if (c.updates != "SEQRND" || converged)
            append_beliefs(numbers, *bp, c.maxima);
        if (converged)
            for (size_t state : bp->findMaximum())
                numbers.push_back(static_cast<Real>(state));
    } catch (const Exception& error) {
        numbers.assign(1, -static_cast<Real>(error.getCode()));
    }
    return numbers;
}

void run(const std::string& name, const FactorGraph& graph, const Configuration& c) {
    char text[200];
    std::snprintf(text, sizeof text, "configuration %s %s log=%d max=%d damping=%.2g tol=%.0e maxiter=%d", name.c_str(),
                  c.updates.c_str(), c.logdomain, c.maxima, c.damping, c.tol, static_cast<int>(c.maxiter));
    report(text, c.updates, [&](Rounding& rounding) { return run(rounding.changed(graph), c); });
}

bool has_zeros(const FactorGraph& graph) {
    for (const Factor& factor : graph.factors())
        if (factor.min() == 0)
            return true;
    return false;
}

void run_all(const std::string& name, const FactorGraph& graph) {
    const double tolerances[] = {1e-3, 1e-9};
    const size_t limits[] = {1, 5, 100};
    for (bool logdomain : {false, true})
        for (bool maxima : {false, true})
            for (double damping : {0.0, 0.2}) {
                for (const char* updates : {"SEQFIX", "SEQMAX", "PARALL"}) {
                    // libDAI's residuals of messages with zeros are NaN in the log domain.
                    if (updates == std::string("SEQMAX") && logdomain && has_zeros(graph))
                        continue;
                    for (double tol : tolerances)
                        for (size_t maxiter : limits)
                            run(name, graph, Configuration{updates, logdomain, maxima, damping, tol, maxiter});
                }
                run(name, graph, Configuration{"SEQRND", logdomain, maxima, damping, 1e-13, 2000});
            }
}

/// Properties that are wrong or not there.
void run_wrong(const FactorGraph& graph) {
    const char* const texts[] = {
        "BP", "BP[]", "BP[tol=1e-9]", "BP[tol=1e-9,logdomain=0]", "BP[updates=SEQFIX,logdomain=0]",
        "BP[tol=1e-9,updates=SEQFIX]", "BP[tol=1e-9,logdomain=0,updates=SEQ]", "BP[tol=x,logdomain=0,updates=SEQFIX]",
        "BP[tol=1e-9,logdomain=yes,updates=SEQFIX]", "BP[tol=1e-9,logdomain=2,updates=SEQFIX]",
        "BP[tol=1e-9,logdomain=0,updates=SEQFIX,inference=MIN]", "BP[tol=1e-9,logdomain=0,updates=SEQFIX,maxiter=x]",
        "BP[tol=1e-9,logdomain=0,updates=SEQFIX,maxiter=0]", "BP[tol=1e-9,logdomain=0,updates=SEQFIX,damping=x]",
        "BP[tol=1e-9,logdomain=0,updates=SEQFIX,maxtime=x]", "BP[tol=1e-9,logdomain=0,updates=SEQFIX,verbose=x]",
        "BP[tol=1e-9,logdomain=0,updates=SEQFIX,other=x]", "BP[tol=1e-9,logdomain=0,updates=SEQFIX", "BP[tol",
        "BP[tol=1e-9,logdomain=0,updates=SEQFIX]]", "NONE[tol=1e-9]", "",
    };
    for (const char* text : texts)
        report(std::string("properties ") + text, "SEQFIX", [&](Rounding&) {
            Numbers numbers;
            try {
                const std::unique_ptr<InfAlg> bp(newInfAlgFromString(text, graph));
                bp->init();
                bp->run();
                numbers.push_back(static_cast<Real>(bp->Iterations()));
                append_beliefs(numbers, *bp, false);
            } catch (const Exception& error) {
                numbers.assign(1, -static_cast<Real>(error.getCode()));
            }
            return numbers;
        });
}

/// A square grid of binary variables, of random couplings up to `strength` and fields.
FactorGraph grid(size_t side, double strength, unsigned long long seed) {
    Choices choices(seed);
    std::vector<Factor> factors;
    std::vector<Var> vars;
    for (size_t i = 0; i < side * side; ++i)
        vars.push_back(Var(i, 2));
    for (size_t i = 0; i < side * side; ++i) {
        factors.push_back(createFactorIsing(vars[i], choices.share() - 0.5));
        if (i % side + 1 < side)
            factors.push_back(createFactorIsing(vars[i], vars[i + 1], strength * (2 * choices.share() - 1)));
        if (i + side < side * side)
            factors.push_back(createFactorIsing(vars[i], vars[i + side], strength * (2 * choices.share() - 1)));
    }
    return FactorGraph(factors);
}

/// A chain of variables of three states, the first of which is observed.
FactorGraph observed_chain(size_t length) {
    Choices choices(7);
    std::vector<Factor> factors;
    for (size_t i = 0; i + 1 < length; ++i)
        factors.push_back(random_factor(choices, VarSet(Var(i, 3), Var(i + 1, 3))));
    FactorGraph graph(factors);
    graph.clamp(0, 1);
    return graph;
}

/// Implications x0 -> x1 -> ... as tables with zeros, with soft evidence, and the last one observed if `impossible`
/// where the first one excludes it.
FactorGraph implications(size_t length, bool impossible) {
    std::vector<Factor> factors;
    for (size_t i = 0; i + 1 < length; ++i) {
        Factor factor(VarSet(Var(i, 2), Var(i + 1, 2)), Real(1));
        factor.set(1, 0);
        factors.push_back(factor);
        factors.push_back(Factor(Var(i, 2), std::vector<Real>{0.5, 0.25 + 0.125 * static_cast<Real>(i % 3)}));
    }
    FactorGraph graph(factors);
    if (impossible) {
        graph.clamp(0, 1);
        graph.clamp(length - 1, 0);
    }
    return graph;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2)
        return 2;
    register_where_wanted();
    for (const char* name : {"testfast", "alarm", "hoi1", "hoi2", "hoi3", "hoi4", "jtreemapbug", "maxprodbug",
                             "twofactors", "zeroes1"}) {
        FactorGraph graph;
        graph.ReadFromFile((std::string(argv[1]) + "/" + name + ".fg").c_str());
        run_all(name, graph);
    }
    run_all("weak_grid", grid(4, 0.4, 1));
    run_all("strong_grid", grid(4, 1.5, 2));
    run_all("chain", observed_chain(8));
    run_all("implications", implications(6, false));
    run_all("impossible", implications(6, true));
    for (unsigned long long seed = 1; seed <= 5; ++seed) {
        Choices choices(seed);
        const FactorGraph graph = random_graph(choices);
        run_all("random" + toString(seed), graph);
    }
    run_wrong(grid(2, 0.5, 3));
    return 0;
}
