// SPDX-License-Identifier: MIT OR Apache-2.0
// Random sequences of what users of belief propagation do: PROGRAM COUNT. Compiled with libDAI and with fastlbp's headers
// in its place; both must write the same: exceptions by their codes, iterations, beliefs and log-partitions.
#include <dai/alldai.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>

#ifdef FASTLBP_REGISTERED
#include <fastlbp/libdai.hpp>
#endif

using namespace dai;

namespace {

/// Random choices (splitmix64), so that both programs make the same.
class Choices {
public:
    explicit Choices(unsigned long long seed) : state_(seed) {}
    size_t below(size_t count) { return static_cast<size_t>(next() % count); }
    double share() { return static_cast<double>(next() >> 11) / 9007199254740992.0; }

private:
    unsigned long long next() {
        unsigned long long z = state_ += 0x9e3779b97f4a7c15ull;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ z >> 27) * 0x94d049bb133111ebull;
        return z ^ z >> 31;
    }
    unsigned long long state_;
};

Factor random_factor(Choices& choices, const VarSet& vars) {
    Factor factor(vars, Real(1));
    for (size_t k = 0; k < factor.nrStates(); ++k)
        factor.set(k, 0.05 + choices.share());
    return factor;
}

FactorGraph random_graph(Choices& choices) {
    std::vector<Var> vars;
    for (size_t i = 0, count = 2 + choices.below(6); i < count; ++i)
        vars.push_back(Var(3 * i + choices.below(3), 2 + choices.below(2)));
    std::vector<Factor> factors;
    for (size_t I = 0, count = vars.size() + choices.below(5); I < count; ++I) {
        // Each variable has a factor.
        VarSet scope(vars[I % vars.size()]);
        for (size_t k = choices.below(3); k > 0; --k)
            scope |= vars[choices.below(vars.size())];
        factors.push_back(random_factor(choices, scope));
    }
    return FactorGraph(factors);
}

void write(const char* what, const Factor& factor) {
    std::printf("%s", what);
    for (size_t k = 0; k < factor.nrStates(); ++k)
        std::printf(" %.17g", factor[k]);
    std::printf("\n");
}

/// A run and its results; false where it throws.
bool run(InfAlg& bp, bool maxima, bool fresh) {
    try {
        const Real difference = bp.run();
        // In the log domain, libDAI goes on with NaN where nothing is possible any more.
        for (const Factor& belief : bp.beliefs())
            if (belief.hasNaNs())
                DAI_THROW(NOT_NORMALIZABLE);
        // What converges late, or never, may be anywhere: rounding errors grow from iteration to iteration.
        if (difference > 1e-9 || bp.Iterations() > 100) {
            std::printf("run late\n");
            return false;
        }
        if (fresh)
            std::printf("run %d\n", static_cast<int>(bp.Iterations()));
        for (size_t i = 0; i < bp.fg().nrVars(); ++i)
            write("variable", bp.beliefV(i));
        for (size_t I = 0; I < bp.fg().nrFactors(); ++I)
            write("factor", bp.beliefF(I));
        if (!maxima)
            std::printf("partition %.17g\n", bp.logZ());
        return true;
    } catch (const Exception& error) {
        std::printf("run throws %d\n", static_cast<int>(error.getCode()));
        return false;
    }
}

void sequence(unsigned long long seed) {
    Choices choices(seed);
    const FactorGraph graph = random_graph(choices);
    const char* const orders[] = {"SEQFIX", "PARALL", "SEQMAX"};
    const bool maxima = choices.below(4) == 0;
    const double damping = choices.below(3) == 0 ? 0.25 : 0;
    PropertySet opts;
    opts.set("tol", Real(1e-9));
    opts.set("maxiter", size_t(200));
    const std::string order = orders[choices.below(3)];
    opts.set("updates", order);
    // With SEQMAX, libDAI's messages know nothing of factors that were changed since they were made.
    const bool residuals = order == "SEQMAX";
    // In the log domain, residuals of messages with zeros are NaN in libDAI, whose order SEQMAX then sends the same ones
    // again and again.
    opts.set("logdomain", choices.below(2) == 1 && !residuals);
    opts.set("damping", Real(damping));
    opts.set("inference", std::string(maxima ? "MAXPROD" : "SUMPROD"));
    const std::unique_ptr<InfAlg> bp(newInfAlg("BP", graph, opts));
    bp->init();
    std::printf("sequence %llu %d variables %d factors\n", seed, static_cast<int>(graph.nrVars()),
                static_cast<int>(graph.nrFactors()));
    if (!run(*bp, maxima, true))
        return;
    std::vector<int> clamped(graph.nrVars(), -1);
    for (size_t step = 2 + choices.below(8); step > 0; --step) {
        const size_t i = choices.below(graph.nrVars()), I = choices.below(graph.nrFactors());
        const Var v = graph.var(i);
        const bool backup = choices.below(2) == 0;
        const size_t what = choices.below(9);
        const size_t state = choices.below(v.states());
        const Factor other = random_factor(choices, graph.factor(I).vars());
        try {
            if (what == 0 && clamped[i] < 0) {
                bp->clamp(i, state, backup);
                clamped[i] = static_cast<int>(state);
            } else if (what == 1) {
                bp->backupFactor(I);
            } else if (what == 2) {
                bp->backupFactors(VarSet(v));
            } else if (what == 3) {
                bp->restoreFactor(I);
            } else if (what == 4) {
                bp->restoreFactors(VarSet(v));
            } else if (what == 5) {
                bp->fg().setFactor(I, other, backup);
            } else if (what == 6) {
                bp->makeCavity(i, backup);
            } else if (what == 7) {
                bp->fg().setFactor(I, Factor(v, Real(1)), backup);
            } else {
                std::unique_ptr<InfAlg> copy(bp->clone());
                if (residuals)
                    copy->init();
                run(*copy, maxima, false);
            }
        } catch (const Exception& error) {
            std::printf("step %d throws %d\n", static_cast<int>(what), static_cast<int>(error.getCode()));
        }
        if (choices.below(2) == 0)
            continue;
        // Messages of before may be 0 where the factors are not any more: they are no way to go on.
        const bool all = damping != 0 || residuals || choices.below(2) == 0;
        if (all)
            bp->init();
        else
            bp->init(bp->fg().Delta(VarSet(v)));
        if (!run(*bp, maxima, false))
            return;
    }
    // What factors are in the end.
    for (size_t I = 0; I < graph.nrFactors(); ++I)
        write("end", bp->fg().factor(I));
}

} // namespace

int main(int argc, char** argv) {
#ifdef FASTLBP_REGISTERED
    fastlbp::dai::register_bp();
#endif
    for (unsigned long long seed = 0; argc > 1 && seed < std::strtoull(argv[1], nullptr, 10); ++seed)
        sequence(seed);
    return 0;
}
