// SPDX-License-Identifier: MIT OR Apache-2.0
// For programs that are compiled with libDAI, with libDAI and fastlbp's belief propagation registered, and with
// fastlbp's headers in libDAI's place: random graphs and the writing of results, of which all three must write the same.
#ifndef FASTLBP_TESTS_LIBDAI_WITH_BOTH_HPP
#define FASTLBP_TESTS_LIBDAI_WITH_BOTH_HPP

#include <dai/alldai.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>

#ifdef FASTLBP_REGISTERED
#include <fastlbp/libdai.hpp>
#endif

/// Puts fastlbp's belief propagation in the place of libDAI's, in the program that is compiled so.
inline void register_where_wanted() {
#ifdef FASTLBP_REGISTERED
    fastlbp::dai::register_bp();
#endif
}

/// Random choices (splitmix64), so that all programs make the same.
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

inline dai::Factor random_factor(Choices& choices, const dai::VarSet& vars) {
    dai::Factor factor(vars, dai::Real(1));
    for (size_t k = 0; k < factor.nrStates(); ++k)
        factor.set(k, 0.05 + choices.share());
    return factor;
}

inline dai::FactorGraph random_graph(Choices& choices) {
    std::vector<dai::Var> vars;
    for (size_t i = 0, count = 2 + choices.below(6); i < count; ++i)
        vars.push_back(dai::Var(3 * i + choices.below(3), 2 + choices.below(2)));
    std::vector<dai::Factor> factors;
    for (size_t I = 0, count = vars.size() + choices.below(5); I < count; ++I) {
        // Each variable has a factor.
        dai::VarSet scope(vars[I % vars.size()]);
        for (size_t k = choices.below(3); k > 0; --k)
            scope |= vars[choices.below(vars.size())];
        factors.push_back(random_factor(choices, scope));
    }
    return dai::FactorGraph(factors);
}

/// What a trial gave, number by number: codes of exceptions, iterations, results.
typedef std::vector<dai::Real> Numbers;

inline void append(Numbers& numbers, const dai::Factor& factor) {
    for (size_t k = 0; k < factor.nrStates(); ++k)
        numbers.push_back(factor[k]);
}

/// The results of a run.
inline void append_beliefs(Numbers& numbers, const dai::InfAlg& bp, bool maxima) {
    for (size_t i = 0; i < bp.fg().nrVars(); ++i)
        append(numbers, bp.beliefV(i));
    for (size_t I = 0; I < bp.fg().nrFactors(); ++I)
        append(numbers, bp.beliefF(I));
    if (!maxima)
        numbers.push_back(bp.logZ());
}

/// NOT_NORMALIZABLE where a belief is not a number: libDAI goes on so in the log domain, where nothing is possible any
/// more.
inline void refuse_nan(const dai::InfAlg& bp) {
    for (const dai::Factor& belief : bp.beliefs())
        if (belief.hasNaNs())
            DAI_THROW(NOT_NORMALIZABLE);
}

/// Changes factors by about as much as rounding does; the first kind changes nothing.
class Rounding {
public:
    explicit Rounding(unsigned kind) : kind_(kind), choices_(kind) {}
    void change(dai::Factor& factor) {
        for (size_t k = 0; kind_ != 0 && k < factor.nrStates(); ++k)
            factor.set(k, factor[k] * (1 + 1e-15 * (choices_.share() - 0.5)));
    }
    dai::FactorGraph changed(const dai::FactorGraph& graph) {
        std::vector<dai::Factor> factors(graph.factors());
        for (dai::Factor& factor : factors)
            change(factor);
        return dai::FactorGraph(factors.begin(), factors.end(), graph.vars().begin(), graph.vars().end());
    }

private:
    unsigned kind_;
    Choices choices_;
};

/// Writes a line of what `trial(rounding)` gives. With SEQMAX, of residuals that are equal but for rounding errors any may
/// be the largest, and with SEQRND each library has its own orders. Where one of these decides, so that the result is
/// another one for factors that differ in the last bits, or for another seed, the line says so.
template <typename Trial>
void report(const std::string& name, const std::string& updates, const Trial& trial) {
    Numbers numbers;
    const bool by_chance = updates == "SEQMAX" || updates == "SEQRND";
    for (unsigned kind = 0; kind == 0 || (by_chance && kind <= 4); ++kind) {
        dai::rnd_seed(kind);
        Rounding rounding(updates == "SEQMAX" ? kind : 0);
        const Numbers others = trial(rounding);
        if (kind == 0)
            numbers = others;
        bool same = numbers.size() == others.size();
        for (size_t k = 0; same && k < numbers.size(); ++k)
            same = numbers[k] == others[k] || std::abs(numbers[k] - others[k]) <= 1e-10;
        if (!same) {
            std::printf("%s: undecided\n", name.c_str());
            return;
        }
    }
    std::printf("%s:", name.c_str());
    for (dai::Real x : numbers)
        std::printf(" %.17g", x);
    std::printf("\n");
}

#endif
