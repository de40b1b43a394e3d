// SPDX-License-Identifier: MIT OR Apache-2.0
// Random sequences of what users of belief propagation do, each of which writes a line: PROGRAM COUNT [FIRST]. See
// with_both.hpp.
#include "with_both.hpp"

using namespace dai;

namespace {

/// Code of an exception.
Real code(const Exception& error) { return -static_cast<Real>(error.getCode()); }

/// A run and its results; false where it throws.
bool run(Numbers& numbers, InfAlg& bp, bool maxima, bool fresh) {
    try {
        const Real difference = bp.run();
        refuse_nan(bp);
        // What converges late, or never, may be anywhere: rounding errors grow from iteration to iteration.
        if (difference > 1e-9 || bp.Iterations() > 100) {
            numbers.push_back(-100);
            return false;
        }
        if (fresh)
            numbers.push_back(static_cast<Real>(bp.Iterations()));
        append_beliefs(numbers, bp, maxima);
        return true;
    } catch (const Exception& error) {
        numbers.push_back(code(error));
        return false;
    }
}

Numbers sequence(Choices choices, const std::string& order, const FactorGraph& graph, Rounding& rounding) {
    const bool maxima = choices.below(4) == 0;
    const double damping = choices.below(3) == 0 ? 0.25 : 0;
    PropertySet opts;
    opts.set("tol", Real(1e-9));
    opts.set("maxiter", size_t(200));
    opts.set("updates", order);
    // With SEQMAX, libDAI's messages know nothing of factors that were changed since they were made.
    const bool residuals = order == "SEQMAX";
    // In the log domain, residuals of messages with zeros are NaN in libDAI, whose order SEQMAX then updates the same
    // ones again and again.
    opts.set("logdomain", choices.below(2) == 1 && !residuals);
    opts.set("damping", Real(damping));
    opts.set("inference", std::string(maxima ? "MAXPROD" : "SUMPROD"));
    const std::unique_ptr<InfAlg> bp(newInfAlg("BP", graph, opts));
    bp->init();
    Numbers numbers;
    if (!run(numbers, *bp, maxima, true))
        return numbers;
    std::vector<int> clamped(graph.nrVars(), -1);
    for (size_t step = 2 + choices.below(8); step > 0; --step) {
        const size_t i = choices.below(graph.nrVars()), I = choices.below(graph.nrFactors());
        const Var v = graph.var(i);
        const bool backup = choices.below(2) == 0;
        const size_t what = choices.below(9);
        const size_t state = choices.below(v.states());
        Factor other = random_factor(choices, graph.factor(I).vars());
        rounding.change(other);
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
                run(numbers, *copy, maxima, false);
            }
        } catch (const Exception& error) {
            numbers.push_back(code(error));
        }
        if (choices.below(2) == 0)
            continue;
        // Messages of before may be 0 where the factors are not any more: they are no way to go on.
        const bool all = damping != 0 || residuals || choices.below(2) == 0;
        if (all)
            bp->init();
        else
            bp->init(bp->fg().Delta(VarSet(v)));
        if (!run(numbers, *bp, maxima, false))
            return numbers;
    }
    // What factors are in the end.
    for (size_t I = 0; I < graph.nrFactors(); ++I)
        append(numbers, bp->fg().factor(I));
    return numbers;
}

} // namespace

int main(int argc, char** argv) {
    register_where_wanted();
    const unsigned long long first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
    for (unsigned long long seed = first; argc > 1 && seed - first < std::strtoull(argv[1], nullptr, 10); ++seed) {
        Choices choices(seed);
        const FactorGraph graph = random_graph(choices);
        const char* const orders[] = {"SEQFIX", "PARALL", "SEQMAX"};
        const std::string order = orders[choices.below(3)];
        report("sequence " + toString(seed), order, [&](Rounding& rounding) {
            return sequence(choices, order, rounding.changed(graph), rounding);
        });
    }
    return 0;
}
