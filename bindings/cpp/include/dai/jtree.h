// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief The junction tree algorithm.
#ifndef FASTLBP_DAI_JTREE_H
#define FASTLBP_DAI_JTREE_H

#include <dai/clustergraph.h>
#include <dai/exactinf.h>

namespace dai {

/// Exact inference by the library's junction tree, with sums or maxima. The properties are libDAI's; `updates` is
/// mandatory, and HUGIN and SHSH give the same. The tree is the library's own: there is nothing of it to be seen but
/// beliefs, which are of variables and factors (beliefs()), or of all variables of a clique (belief(VarSet)).
class JTree : public detail::ExactAlgorithm {
public:
    /// The properties.
    struct Properties {
        size_t verbose = 0;                ///< From 1 on, runs are told on the standard error.
        std::string updates = "HUGIN";     ///< HUGIN or SHSH.
        std::string inference = "SUMPROD"; ///< SUMPROD or MAXPROD.
        std::string heuristic = "MINFILL"; ///< Of the estimate of the memory; the library's own order is of the better one
                                           ///< of minimum weight and minimum fill.
        size_t maxmem = 0;                 ///< Most bytes of memory, 0 for no limit.
    } props;

    /// Of an empty graph.
    JTree() {}
    /// Of a copy of a graph; ASSERTION_FAILED without `updates`, UNKNOWN_ENUM_VALUE, OUT_OF_MEMORY where more than `maxmem`
    /// bytes would be needed.
    JTree(const FactorGraph& fg, const PropertySet& opts, bool /*automatic*/ = true) : ExactAlgorithm(fg) {
        JTree::setProperties(opts);
        const size_t states = props.maxmem / (BYTES_OF_ENTRY);
        if (props.maxmem != 0)
            boundTreewidth(fg, cost(), std::max<size_t>(states, 1));
    }
    JTree* clone() const override { return new JTree(*this); }
    JTree* construct(const FactorGraph& fg, const PropertySet& opts) const override { return new JTree(fg, opts); }
    std::string name() const override { return "JTREE"; }
    /// NOT_NORMALIZABLE where no joint state is possible; OUT_OF_MEMORY where the treewidth is too large.
    Real run() override { return compute(props.verbose, props.inference == "MAXPROD", detail::TABLE_ENTRIES); }
    /// The most probable joint state.
    std::vector<size_t> findMaximum() const override {
        if (results_ && props.inference == "MAXPROD")
            return results_.find_maximum(nrVars());
        return detail::Exact(*this, true, detail::TABLE_ENTRIES).find_maximum(nrVars());
    }
    Real maxDiff() const override { return 0; }
    size_t Iterations() const override { return 1; }
    void setProperties(const PropertySet& opts) override {
        DAI_ASSERT(opts.hasKey("updates"));
        props = Properties();
        choose(opts, "updates", props.updates, {"HUGIN", "SHSH"});
        choose(opts, "inference", props.inference, {"SUMPROD", "MAXPROD"});
        choose(opts, "heuristic", props.heuristic, {"MINFILL", "MINNEIGHBORS", "MINWEIGHT", "WEIGHTEDMINFILL"});
        if (opts.hasKey("verbose"))
            props.verbose = opts.getStringAs<size_t>("verbose");
        if (opts.hasKey("maxmem"))
            props.maxmem = opts.getStringAs<size_t>("maxmem");
    }
    PropertySet getProperties() const override {
        return PropertySet()("verbose", props.verbose)("updates", props.updates)("inference", props.inference)(
            "heuristic", props.heuristic)("maxmem", props.maxmem);
    }
    std::string printProperties() const override {
        return "[verbose=" + dai::toString(props.verbose) + ",updates=" + props.updates + ",heuristic=" + props.heuristic
               + ",inference=" + props.inference + ",maxmem=" + dai::toString(props.maxmem) + "]";
    }

private:
    // What libDAI reckons with: six numbers for each joint state.
    static const size_t BYTES_OF_ENTRY = 6 * sizeof(Real);

    static void choose(const PropertySet& opts, const char* key, std::string& value,
                       std::initializer_list<const char*> all) {
        if (!opts.hasKey(key))
            return;
        value = opts.getStringAs<std::string>(key);
        if (std::find(all.begin(), all.end(), value) == all.end())
            DAI_THROWE(UNKNOWN_ENUM_VALUE, "'" + value + "' is no value of '" + key + "'");
    }
    greedyVariableElimination::eliminationCostFunction cost() const {
        if (props.heuristic == "MINNEIGHBORS")
            return &eliminationCost_MinNeighbors;
        if (props.heuristic == "MINWEIGHT")
            return &eliminationCost_MinWeight;
        return props.heuristic == "MINFILL" ? &eliminationCost_MinFill : &eliminationCost_WeightedMinFill;
    }
};

} // namespace dai

#endif
