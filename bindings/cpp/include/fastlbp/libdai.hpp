// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief fastlbp as an inference algorithm of libDAI: fastlbp::dai::BP, and its registration.
///
/// A program that makes its algorithms by name needs one line, in `main`:
///
/// @code
/// #include <fastlbp/libdai.hpp>
/// ...
/// fastlbp::dai::register_bp(); // newInfAlg("BP", ...) makes fastlbp's from here on
/// @endcode
///
/// C++11 and C++14, as libDAI itself; link libDAI and fastlbp, and let libDAI's include directory come
/// before this one. It works with the headers of fastlbp in place of libDAI's as well (C++11 and later).
/// docs/src/guides/libdai.md says what is served and what differs.
#ifndef FASTLBP_LIBDAI_HPP
#define FASTLBP_LIBDAI_HPP

#include <fastlbp/libdai_algorithm.hpp>

#include <limits>
#include <map>

namespace dai {
std::map<std::string, InfAlg*>& builtinInfAlgs();
}

namespace fastlbp {
namespace dai {

/// Loopy belief propagation by fastlbp as an algorithm of libDAI, with the interface of libDAI's own class
/// BP but for the record of sent messages. See Algorithm for runs and results.
class BP : public Algorithm< ::dai::DAIAlgFG> {
public:
    /// Of an empty graph.
    explicit BP(const std::string& name = "BP") : Algorithm(name) {}
    /// Of a copy of a graph; ASSERTION_FAILED where a mandatory property is missing, IMPOSSIBLE_TYPECAST or
    /// UNKNOWN_ENUM_VALUE for a wrong value.
    BP(const FactorGraph& fg, const PropertySet& opts, const std::string& name = "BP")
        : Algorithm(fg, opts, name) {}

    BP* clone() const override { return new BP(*this); }
    BP* construct(const FactorGraph& fg, const PropertySet& opts) const override {
        return new BP(fg, opts, name());
    }

    /// Replaces a factor, as all changes of factors do; it counts from the next run on.
    void setFactor(std::size_t I, const Factor& factor, bool backup = false) override {
        ::dai::DAIAlgFG::setFactor(I, factor, backup);
        changed_ = true;
    }

protected:
    std::size_t run_iterations(std::size_t iterations) override {
        return session_.run(props, props.updates.name(), props.inference.name(), iterations, FASTLBP_MEASURE_ALL);
    }

    // Hands the graph over where that is still to be done. Variables of one state, of which there is nothing to
    // say, are left out: that changes no table, and devices need not know of them.
    void synchronise() const override {
        if (session_.has_graph() && !changed_)
            return;
        std::vector<std::uint64_t> labels, scopes;
        std::vector<std::size_t> variables;
        std::vector<std::uint32_t> cardinalities;
        labels.reserve(nrVars());
        variables.reserve(nrVars());
        cardinalities.reserve(nrVars());
        for (std::size_t i = 0; i < nrVars(); ++i)
            if (var(i).states() != 1) {
                labels.push_back(var(i).label());
                variables.push_back(i);
                cardinalities.push_back(static_cast<std::uint32_t>(
                    std::min<std::size_t>(var(i).states(), std::numeric_limits<std::uint32_t>::max())));
            }
        std::vector<std::size_t> scope_offsets(1, 0), value_offsets(1, 0);
        std::vector<double> values;
        std::size_t entries = 0;
        for (std::size_t I = 0; I < nrFactors(); ++I)
            entries += factor(I).nrStates();
        values.reserve(entries);
        scopes.reserve(nrEdges());
        scope_offsets.reserve(nrFactors() + 1);
        value_offsets.reserve(nrFactors() + 1);
        for (std::size_t I = 0; I < nrFactors(); ++I) {
            const Factor& f = factor(I);
            bool possible = false;
            for (const Var& v : f.vars().elements())
                if (v.states() != 1)
                    scopes.push_back(v.label());
            for (std::size_t k = 0; k < f.nrStates(); ++k) {
                values.push_back(f[k]);
                possible = possible || f[k] != 0;
            }
            if (!possible) {
                std::ostringstream text;
                text << "factor " << I << " is 0 everywhere";
                DAI_THROWE(NOT_NORMALIZABLE, text.str());
            }
            scope_offsets.push_back(scopes.size());
            value_offsets.push_back(values.size());
        }
        const Graph graph = new_graph();
        check(fastlbp_graph_add_variables(graph.get(), labels.data(), cardinalities.data(), labels.size()),
              "fastlbp_graph_add_variables");
        check(fastlbp_graph_add_tables(graph.get(), nrFactors(), scope_offsets.data(), scopes.data(),
                                       scopes.size(), value_offsets.data(), values.data(), values.size()),
              "fastlbp_graph_add_tables");
        if (!session_.has_graph())
            number(graph.get(), labels, variables);
        session_.set_graph(graph);
        changed_ = false;
    }

private:
    mutable bool changed_ = false; // whether factors have, since set_graph
};

/// Makes newInfAlg(name, ...) and newInfAlgFromString(name[...], ...) give fastlbp's belief propagation, in
/// place of what may have that name: "BP", so that programs change nothing else, or a new one such as
/// "FASTLBP". To be called in `main`, as libDAI's list of algorithms is made before it.
inline void register_bp(const std::string& name = "BP") {
    ::dai::InfAlg*& entry = ::dai::builtinInfAlgs()[name];
    delete entry;
    entry = nullptr;
    entry = new BP(name);
}

} // namespace dai
} // namespace fastlbp

// For builtinInfAlgs(); at the end, since fastlbp's own dai/bp.h includes this file for what is above.
#include <dai/alldai.h>

#endif
