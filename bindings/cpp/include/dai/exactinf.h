// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief Exact inference.
#ifndef FASTLBP_DAI_EXACTINF_H
#define FASTLBP_DAI_EXACTINF_H

#include <dai/daialg.h>
#include <fastlbp/libdai_tables.hpp>

namespace dai {

namespace detail {
/// Most entries of all tables of a junction tree where nothing else is asked for: 3 GiB.
const size_t TABLE_ENTRIES = size_t(1) << 27;

/// The results of a junction tree of the library; copies share them.
class Exact {
public:
    /// No results.
    Exact() {}
    /// Of sums, or of maxima. NOT_NORMALIZABLE where no joint state is possible, OUT_OF_MEMORY where the tables would have
    /// more than so many entries in all.
    Exact(const FactorGraph& fg, bool maxima, size_t entries) {
        using fastlbp::dai::check;
        const fastlbp::dai::Tables tables(fg);
        fastlbp_bp* bp = nullptr;
        check(fastlbp_bp_new(tables.graph().get(), &bp), "fastlbp_bp_new");
        session_.reset(bp, fastlbp_bp_free);
        if (maxima)
            check(fastlbp_bp_set_inference(bp, FASTLBP_INFERENCE_MAX_PRODUCT), "fastlbp_bp_set_inference");
        check(fastlbp_bp_run_exact(bp, entries), "fastlbp_bp_run_exact");
        numbers_.resize(tables.labels().size());
        variables_ = tables.variables();
        check(fastlbp_graph_variables_of_labels(tables.graph().get(), tables.labels().data(), numbers_.size(),
                                                numbers_.data()),
              "fastlbp_graph_variables_of_labels");
        for (size_t k = 0; k < numbers_.size(); ++k)
            number_of_label_[static_cast<size_t>(tables.labels()[k])] = numbers_[k];
    }
    /// Whether there are results.
    explicit operator bool() const { return static_cast<bool>(session_); }

    /// Joint belief; BELIEF_NOT_AVAILABLE unless the variables are in one clique of the junction tree.
    Factor belief(const VarSet& vars) const {
        std::vector<std::uint32_t> numbers;
        for (const Var& v : vars)
            if (v.states() != 1)
                numbers.push_back(static_cast<std::uint32_t>(number_of_label_.at(v.label())));
        Factor result(vars, Real(1));
        const fastlbp_status status = fastlbp_bp_belief(session_.get(), numbers.data(), numbers.size(),
                                                        result.p().p().data(), result.nrStates(), nullptr);
        if (status == FASTLBP_STATUS_INVALID_ARGUMENT)
            DAI_THROWE(BELIEF_NOT_AVAILABLE, fastlbp_last_error());
        fastlbp::dai::check(status, "fastlbp_bp_belief");
        return result;
    }
    /// Natural logarithm of the sum, or maximum, over all joint states.
    Real log_partition() const {
        Real value = 0;
        fastlbp::dai::check(fastlbp_bp_log_partition(session_.get(), &value), "fastlbp_bp_log_partition");
        return value;
    }
    /// The most probable joint state, by variable index, of results of maxima of a graph with so many variables.
    std::vector<size_t> find_maximum(size_t nrVars) const {
        std::vector<std::uint32_t> states(numbers_.size());
        fastlbp::dai::check(fastlbp_bp_find_maximum(session_.get(), states.data(), states.size(), nullptr),
                            "fastlbp_bp_find_maximum");
        std::vector<size_t> result(nrVars, 0);
        for (size_t k = 0; k < numbers_.size(); ++k)
            result[variables_[k]] = states[numbers_[k]];
        return result;
    }

private:
    std::shared_ptr<fastlbp_bp> session_;
    std::vector<std::uint32_t> numbers_; // of the variables in the library
    std::vector<size_t> variables_;      // their indices in the graph
    std::unordered_map<size_t, size_t> number_of_label_;
};

/// What ExactInf and JTree have in common: an algorithm whose run needs no iterations.
class ExactAlgorithm : public DAIAlgFG {
public:
    Factor belief(const Var& v) const override { return beliefV(findVar(v)); }
    /// BELIEF_NOT_AVAILABLE unless the variables are in one clique of the junction tree, as those of a factor are.
    Factor belief(const VarSet& vars) const override {
        findVars(vars);
        return results_ ? results_.belief(vars) : Factor(vars);
    }
    Factor beliefV(size_t i) const override { return belief(VarSet(var(i))); }
    Factor beliefF(size_t I) const override { return belief(factor(I).vars()); }
    Real logZ() const override { return results_ ? results_.log_partition() : 0; }
    /// Forgets the results.
    void init() override { results_ = Exact(); }
    void init(const VarSet&) override {}
    /// The marginal of any variables; joins them by a factor that is 1.
    Factor calcMarginal(const VarSet& vars) const {
        std::vector<Factor> joined(factors());
        joined.push_back(Factor(vars, Real(1)));
        const FactorGraph graph(joined.begin(), joined.end(), this->vars().begin(), this->vars().end());
        return Exact(graph, false, TABLE_ENTRIES).belief(vars);
    }

protected:
    ExactAlgorithm() {}
    explicit ExactAlgorithm(const FactorGraph& fg) : DAIAlgFG(fg) {}

    /// Computes everything.
    Real compute(size_t verbose, bool maxima, size_t entries) {
        if (verbose >= 1)
            std::cerr << "Starting " << identify() << "...";
        results_ = Exact(*this, maxima, entries);
        if (verbose >= 1)
            std::cerr << "finished" << std::endl;
        return 0;
    }

    Exact results_;
};
} // namespace detail

/// Exact inference, by a junction tree.
class ExactInf : public detail::ExactAlgorithm {
public:
    /// The properties.
    struct Properties {
        size_t verbose = 0; ///< From 1 on, runs are told on the standard error.
    } props;

    /// Of an empty graph.
    ExactInf() {}
    /// Of a copy of a graph.
    ExactInf(const FactorGraph& fg, const PropertySet& opts) : ExactAlgorithm(fg) { ExactInf::setProperties(opts); }
    ExactInf* clone() const override { return new ExactInf(*this); }
    ExactInf* construct(const FactorGraph& fg, const PropertySet& opts) const override { return new ExactInf(fg, opts); }
    std::string name() const override { return "EXACT"; }
    /// NOT_NORMALIZABLE where no joint state is possible; OUT_OF_MEMORY where the treewidth is too large.
    Real run() override { return compute(props.verbose, false, detail::TABLE_ENTRIES); }
    /// The most probable joint state; needs no run.
    std::vector<size_t> findMaximum() const override {
        return detail::Exact(*this, true, detail::TABLE_ENTRIES).find_maximum(nrVars());
    }
    void setProperties(const PropertySet& opts) override {
        props.verbose = opts.hasKey("verbose") ? opts.getStringAs<size_t>("verbose") : 0;
    }
    PropertySet getProperties() const override { return PropertySet()("verbose", props.verbose); }
    std::string printProperties() const override { return "[verbose=" + dai::toString(props.verbose) + "]"; }
};

} // namespace dai

#endif
