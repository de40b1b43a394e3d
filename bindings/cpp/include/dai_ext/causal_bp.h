// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief Belief propagation on causal factor graphs: the interface of the CausalBP extension of libDAI, by
/// fastlbp.
#ifndef FASTLBP_DAI_EXT_CAUSAL_BP_H
#define FASTLBP_DAI_EXT_CAUSAL_BP_H

#include <dai/alldai.h>
#include <dai_ext/causal_fg.h>

namespace dai {

/// The factors as tables; see CausalFactorGraph::tables. What is changed there is lost.
template <>
inline FactorGraph& DAIAlg<CausalFactorGraph>::fg() {
    return tables();
}
/// The factors as tables.
template <>
inline const FactorGraph& DAIAlg<CausalFactorGraph>::fg() const {
    return tables();
}

/// Belief propagation on a causal factor graph. See fastlbp::dai::Algorithm for runs and results.
///
/// run() stops when no belief of a variable, and for no factor the mean of the messages from its variables,
/// moves by more than `tol`; messages of all factors take time linear in their number of variables.
class CausalBP : public fastlbp::dai::Algorithm< DAIAlg<CausalFactorGraph> > {
    typedef fastlbp::dai::Algorithm< DAIAlg<CausalFactorGraph> > Base;

public:
    using Base::run;

    /// Of an empty graph.
    CausalBP() : Base("CausalBP") {}
    /// Of a copy of a graph; the property `fastcausal` of the extension is ignored, as are unknown ones.
    CausalBP(const CausalFactorGraph& graph, const PropertySet& opts) : Base(graph, opts, "CausalBP") {}

    CausalBP* clone() const override { return new CausalBP(*this); }
    /// NOT_IMPLEMENTED: tables are no causal factors.
    CausalBP* construct(const FactorGraph&, const PropertySet&) const override {
        DAI_THROWE(NOT_IMPLEMENTED, "CausalBP runs on a CausalFactorGraph");
    }

    void setFactor(size_t I, const CausalFactor& factor, bool backup = false) override {
        Base::setFactor(I, factor, backup);
        changed_ = true;
    }

protected:
    size_t run_iterations(size_t iterations) override {
        // BINGO's rule makes one iteration more than its maximum; without a history, its results are the beliefs.
        return session_.run_bingo(props, props.updates.name(), props.inference.name(), props.tol, iterations - 1,
                                  iterations - 1, 1, nullptr);
    }

    void synchronise() const override {
        const bool first = !session_.has_graph();
        if (first || changed_) {
            session_.set_graph(graph());
            changed_ = false;
            observed_.clear();
        }
        if (first) {
            std::vector<uint64_t> labels;
            std::vector<size_t> indices;
            for (size_t i = 0; i < nrVars(); ++i) {
                labels.push_back(var(i).label());
                indices.push_back(i);
            }
            number(session_.graph(), labels, indices);
        }
        if (observed_ == clamps())
            return;
        std::vector<uint32_t> variables, states;
        for (const auto& clamp : clamps()) {
            variables.push_back(static_cast<uint32_t>(clamp.first));
            states.push_back(static_cast<uint32_t>(clamp.second));
        }
        fastlbp::dai::check(fastlbp_bp_clear_all_evidence(session_.bp()), "fastlbp_bp_clear_all_evidence");
        fastlbp::dai::check(
            fastlbp_bp_observe(session_.bp(), variables.data(), states.data(), variables.size()),
            "fastlbp_bp_observe");
        observed_ = clamps();
        session_.touch();
    }

private:
    mutable bool changed_ = false;                // whether factors have, since set_graph
    mutable std::map<size_t, size_t> observed_;   // the observations that the session has
};

} // namespace dai

#endif
