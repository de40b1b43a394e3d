// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief Decimation.
#ifndef FASTLBP_DAI_DECMAP_H
#define FASTLBP_DAI_DECMAP_H

#include <dai/daialg.h>

namespace dai {

// In alldai.h, which is included at the end: its list of algorithms has this one.
inline InfAlg* newInfAlg(const std::string& name, const FactorGraph& fg, const PropertySet& opts);

/// Decimation: runs another algorithm again and again, and clamps the variables that are certain, and those of the factor
/// that is most certain, in their most probable states, until all variables are clamped.
class DecMAP : public DAIAlgFG {
public:
    /// The properties.
    struct Properties {
        size_t verbose = 0;  ///< From 1 on, runs are told on the standard error.
        bool reinit = true;  ///< Whether each run starts from the beginning.
        std::string ianame;  ///< Name of the other algorithm; mandatory.
        PropertySet iaopts;  ///< Its properties; mandatory.
    } props;

    /// Of an empty graph.
    DecMAP() {}
    /// Of a copy of a graph; ASSERTION_FAILED where a mandatory property is missing.
    DecMAP(const FactorGraph& fg, const PropertySet& opts) : DAIAlgFG(fg), states_(nrVars(), 0) {
        DecMAP::setProperties(opts);
    }
    DecMAP* clone() const override { return new DecMAP(*this); }
    DecMAP* construct(const FactorGraph& fg, const PropertySet& opts) const override { return new DecMAP(fg, opts); }
    std::string name() const override { return "DECMAP"; }

    /// 1 for the states of the result, 0 elsewhere.
    Factor belief(const VarSet& vars) const override {
        State state;
        for (const Var& v : vars) {
            const std::map<Var, size_t> one{{v, states_.at(findVar(v))}};
            state.insert(one.begin(), one.end());
        }
        return vars.empty() ? Factor() : createFactorDelta(vars, state);
    }
    Factor belief(const Var& v) const override { return belief(VarSet(v)); }
    Factor beliefV(size_t i) const override { return belief(VarSet(var(i))); }
    Factor beliefF(size_t I) const override { return belief(factor(I).vars()); }
    /// Natural logarithm of the product of all factors at the result.
    Real logZ() const override { return log_score_; }
    /// The result.
    std::vector<size_t> findMaximum() const override { return states_; }
    /// The largest of what the runs of the other algorithm returned.
    Real maxDiff() const override { return largest_; }
    /// Iterations of all runs of the other algorithm.
    size_t Iterations() const override { return iterations_; }
    void init() override {
        largest_ = 0;
        iterations_ = 0;
    }
    void init(const VarSet&) override { init(); }
    Real run() override {
        if (props.verbose >= 1)
            std::cerr << "Starting " << identify() << "...\n";
        const std::unique_ptr<InfAlg> algorithm(newInfAlg(props.ianame, fg(), props.iaopts));
        std::set<size_t> free;
        for (size_t i = 0; i < nrVars(); ++i)
            free.insert(free.end(), i);
        while (!free.empty()) {
            largest_ = std::max(largest_, algorithm->run());
            iterations_ += algorithm->Iterations();
            const std::set<size_t> decided = decide(*algorithm, free);
            VarSet changed;
            for (size_t i : decided) {
                algorithm->clamp(i, states_[i]);
                changed.insert(var(i));
                free.erase(i);
            }
            if (props.reinit)
                algorithm->init();
            else
                algorithm->init(changed);
        }
        log_score_ = logScore(states_);
        return largest_;
    }

    void setProperties(const PropertySet& opts) override {
        DAI_ASSERT(opts.hasKey("ianame"));
        DAI_ASSERT(opts.hasKey("iaopts"));
        props = Properties();
        props.ianame = opts.getStringAs<std::string>("ianame");
        props.iaopts = opts.getStringAs<PropertySet>("iaopts");
        if (opts.hasKey("verbose"))
            props.verbose = opts.getStringAs<size_t>("verbose");
        if (opts.hasKey("reinit"))
            props.reinit = opts.getStringAs<bool>("reinit");
    }
    PropertySet getProperties() const override {
        return PropertySet()("verbose", props.verbose)("reinit", props.reinit)("ianame", props.ianame)("iaopts",
                                                                                                      props.iaopts);
    }
    std::string printProperties() const override {
        return "[verbose=" + dai::toString(props.verbose) + ",reinit=" + dai::toString(props.reinit) + ",ianame=" + props.ianame
               + ",iaopts=" + props.iaopts.toString() + "]";
    }

private:
    // Chooses states for some free variables, one at least, and returns these.
    std::set<size_t> decide(const InfAlg& algorithm, const std::set<size_t>& free) {
        std::set<size_t> decided;
        for (size_t i : free) {
            const Prob belief = algorithm.beliefV(i).p();
            if (belief.entropy() == 0) {
                states_[i] = belief.argmax().first;
                decided.insert(i);
            }
        }
        const auto is_free = [&](size_t i) { return free.count(i) != 0 && decided.count(i) == 0; };
        size_t best = nrFactors();
        Real lowest = INFINITY;
        for (size_t I = 0; I < nrFactors(); ++I)
            if (std::any_of(nbF(I).begin(), nbF(I).end(), is_free)) {
                const Real entropy = algorithm.beliefF(I).entropy();
                if (best == nrFactors() || entropy < lowest) {
                    best = I;
                    lowest = entropy;
                }
            }
        if (best != nrFactors()) {
            const Factor belief = algorithm.beliefF(best);
            const State state(belief.vars(), belief.p().argmax().first);
            for (const Neighbor& i : nbF(best))
                if (is_free(i)) {
                    states_[i] = state(var(i));
                    decided.insert(i);
                }
        } else if (decided.empty()) {
            // Variables without factors: any state will do.
            decided = free;
        }
        return decided;
    }

    std::vector<size_t> states_; // the result
    Real log_score_ = -INFINITY, largest_ = 0;
    size_t iterations_ = 0;
};

} // namespace dai

#include <dai/alldai.h>

#endif
