// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief Factor graphs of libDAI as graphs of the library. For fastlbp/libdai.hpp and the inference algorithms of dai.
#ifndef FASTLBP_LIBDAI_TABLES_HPP
#define FASTLBP_LIBDAI_TABLES_HPP

#include <dai/exceptions.h>
#include <dai/factorgraph.h>

#include <fastlbp/libdai_session.hpp>

#include <algorithm>
#include <limits>
#include <sstream>
#include <vector>

namespace fastlbp {
namespace dai {

/// A copy of a factor graph in the library. Variables of one state, of which there is nothing to say, are left out: that
/// changes no table, and devices need not know of them.
class Tables {
public:
    /// NOT_NORMALIZABLE where a factor is 0 everywhere; RUNTIME_ERROR for values that no factor may have.
    explicit Tables(const ::dai::FactorGraph& fg) : graph_(new_graph()) {
        std::vector<std::uint64_t> scopes;
        std::vector<std::uint32_t> cardinalities;
        labels_.reserve(fg.nrVars());
        variables_.reserve(fg.nrVars());
        cardinalities.reserve(fg.nrVars());
        for (std::size_t i = 0; i < fg.nrVars(); ++i)
            if (fg.var(i).states() != 1) {
                labels_.push_back(fg.var(i).label());
                variables_.push_back(i);
                cardinalities.push_back(static_cast<std::uint32_t>(
                    std::min<std::size_t>(fg.var(i).states(), std::numeric_limits<std::uint32_t>::max())));
            }
        std::vector<std::size_t> scope_offsets(1, 0), value_offsets(1, 0);
        std::vector<double> values;
        std::size_t entries = 0;
        for (std::size_t I = 0; I < fg.nrFactors(); ++I)
            entries += fg.factor(I).nrStates();
        values.reserve(entries);
        scopes.reserve(fg.nrEdges());
        scope_offsets.reserve(fg.nrFactors() + 1);
        value_offsets.reserve(fg.nrFactors() + 1);
        for (std::size_t I = 0; I < fg.nrFactors(); ++I) {
            const ::dai::Factor& f = fg.factor(I);
            bool possible = false;
            for (const ::dai::Var& v : f.vars().elements())
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
        check(fastlbp_graph_add_variables(graph_.get(), labels_.data(), cardinalities.data(), labels_.size()),
              "fastlbp_graph_add_variables");
        check(fastlbp_graph_add_tables(graph_.get(), fg.nrFactors(), scope_offsets.data(), scopes.data(),
                                       scopes.size(), value_offsets.data(), values.data(), values.size()),
              "fastlbp_graph_add_tables");
    }

    /// The graph of the library.
    const Graph& graph() const { return graph_; }
    /// Labels of the variables that it has.
    const std::vector<std::uint64_t>& labels() const { return labels_; }
    /// Their indices in the factor graph.
    const std::vector<std::size_t>& variables() const { return variables_; }

private:
    Graph graph_;
    std::vector<std::uint64_t> labels_;
    std::vector<std::size_t> variables_;
};

} // namespace dai
} // namespace fastlbp

#endif
