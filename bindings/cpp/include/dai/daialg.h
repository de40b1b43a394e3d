// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief What all inference algorithms have in common.
#ifndef FASTLBP_DAI_DAIALG_H
#define FASTLBP_DAI_DAIALG_H

#include <dai/factorgraph.h>
#include <dai/properties.h>

namespace dai {

/// An inference algorithm on a factor graph.
class InfAlg {
public:
    InfAlg() = default;
    InfAlg(const InfAlg&) = default;
    InfAlg& operator=(const InfAlg&) = default;
    virtual ~InfAlg() {}

    /// A copy.
    virtual InfAlg* clone() const = 0;
    /// An algorithm of the same kind, on another graph.
    virtual InfAlg* construct(const FactorGraph& fg, const PropertySet& opts) const = 0;
    /// Its name.
    virtual std::string name() const = 0;
    /// Its name and its properties.
    virtual std::string identify() const { return name() + printProperties(); }
    /// Its graph.
    virtual FactorGraph& fg() = 0;
    /// Its graph.
    virtual const FactorGraph& fg() const = 0;

    /// Back to the beginning.
    virtual void init() = 0;
    /// Back to the beginning as far as some variables are concerned.
    virtual void init(const VarSet& vars) = 0;
    /// Runs, and returns the largest change of a belief in the last iteration.
    virtual Real run() = 0;
    /// Belief of a variable.
    virtual Factor belief(const Var& v) const { return belief(VarSet(v)); }
    /// Belief of some variables; BELIEF_NOT_AVAILABLE.
    virtual Factor belief(const VarSet& vars) const = 0;
    /// Belief of the variable of an index.
    virtual Factor beliefV(size_t i) const { return belief(fg().var(i)); }
    /// Belief of the factor of an index.
    virtual Factor beliefF(size_t I) const { return belief(fg().factor(I).vars()); }
    /// Beliefs of all variables, then of all factors.
    virtual std::vector<Factor> beliefs() const {
        std::vector<Factor> all;
        for (size_t i = 0; i < fg().nrVars(); ++i)
            all.push_back(beliefV(i));
        for (size_t I = 0; I < fg().nrFactors(); ++I)
            all.push_back(beliefF(I));
        return all;
    }
    /// Natural logarithm of the partition function.
    virtual Real logZ() const = 0;
    /// The most probable joint state, by variable index.
    virtual std::vector<size_t> findMaximum() const { DAI_THROW(NOT_IMPLEMENTED); }
    /// Largest change of a belief in the last iteration of a run.
    virtual Real maxDiff() const { DAI_THROW(NOT_IMPLEMENTED); }
    /// Iterations since the beginning.
    virtual size_t Iterations() const { DAI_THROW(NOT_IMPLEMENTED); }
    /// Sets after how many iterations runs end.
    virtual void setMaxIter(size_t) { DAI_THROW(NOT_IMPLEMENTED); }

    /// See FactorGraph::clamp.
    virtual void clamp(size_t i, size_t x, bool backup = false) = 0;
    /// See FactorGraph::makeCavity.
    virtual void makeCavity(size_t i, bool backup = false) = 0;
    /// See FactorGraph::makeRegionCavity.
    virtual void makeRegionCavity(std::vector<size_t>, bool = false) { DAI_THROW(NOT_IMPLEMENTED); }
    /// See FactorGraph::backupFactor.
    virtual void backupFactor(size_t I) = 0;
    /// See FactorGraph::backupFactors.
    virtual void backupFactors(const VarSet& vars) = 0;
    /// See FactorGraph::restoreFactor.
    virtual void restoreFactor(size_t I) = 0;
    /// See FactorGraph::restoreFactors.
    virtual void restoreFactors(const VarSet& vars) = 0;

    /// Sets the properties.
    virtual void setProperties(const PropertySet& opts) = 0;
    /// The properties.
    virtual PropertySet getProperties() const = 0;
    /// The properties as a text [name=value,name=value].
    virtual std::string printProperties() const = 0;
};

/// An inference algorithm that is its graph.
template <typename Graph>
class DAIAlg : public InfAlg, public Graph {
public:
    /// Of an empty graph.
    DAIAlg() {}
    /// Of a copy of a graph.
    DAIAlg(const Graph& graph) : Graph(graph) {}

    FactorGraph& fg() override { return *this; }
    const FactorGraph& fg() const override { return *this; }
    void clamp(size_t i, size_t x, bool backup = false) override { Graph::clamp(i, x, backup); }
    void makeCavity(size_t i, bool backup = false) override { Graph::makeCavity(i, backup); }
    void makeRegionCavity(std::vector<size_t> factors, bool backup = false) override {
        Graph::makeRegionCavity(factors, backup);
    }
    void backupFactor(size_t I) override { Graph::backupFactor(I); }
    using Graph::backupFactors;
    void backupFactors(const VarSet& vars) override { Graph::backupFactors(vars); }
    void restoreFactor(size_t I) override { Graph::restoreFactor(I); }
    using Graph::restoreFactors;
    void restoreFactors(const VarSet& vars) override { Graph::restoreFactors(vars); }
};

/// An inference algorithm on a factor graph that it is itself.
typedef DAIAlg<FactorGraph> DAIAlgFG;

namespace detail {
/// Partition functions of an algorithm's graph with some of its variables clamped.
class Clamping {
public:
    /// Of a copy of an algorithm. With `reInit`, each run starts from the beginning, which joint states that are not
    /// possible need; otherwise from the last run's messages but those to the clamped variables.
    Clamping(const InfAlg& algorithm, const VarSet& vars, bool reInit)
        : algorithm_(algorithm.clone()), vars_(vars), reInit_(reInit), offset_(-INFINITY) {
        if (!reInit)
            algorithm_->init();
    }
    /// Clamps variables, runs, calls `read(algorithm)`, and restores all factors of the variables. Returns the partition
    /// function divided by the first one that was not 0, which keeps it in the range of numbers.
    template <typename Read>
    Real run(const State& state, const Read& read) {
        algorithm_->backupFactors(vars_);
        for (const auto& entry : state)
            algorithm_->clamp(algorithm_->fg().findVar(entry.first), entry.second);
        if (reInit_)
            algorithm_->init();
        else
            algorithm_->init(vars_);
        Real logZ = -INFINITY;
        try {
            algorithm_->run();
            logZ = algorithm_->logZ();
        } catch (const Exception& error) {
            if (error.getCode() != Exception::NOT_NORMALIZABLE)
                throw;
        }
        if (offset_ == -INFINITY)
            offset_ = logZ;
        if (logZ != -INFINITY)
            read(*algorithm_);
        algorithm_->restoreFactors(vars_);
        return logZ == -INFINITY ? 0 : std::exp(logZ - offset_);
    }

private:
    const std::unique_ptr<InfAlg> algorithm_;
    const VarSet vars_;
    const bool reInit_;
    Real offset_;
};
} // namespace detail

/// The marginal of some variables by partition functions: clamps them in each of their joint states, and
/// runs. With `reInit`, each of these runs starts from the beginning, which joint states that are not
/// possible need; otherwise from the last run's messages.
inline Factor calcMarginal(const InfAlg& obj, const VarSet& vars, bool reInit) {
    detail::Clamping clamping(obj, vars, reInit);
    Factor result(vars, Real(0));
    for (State state(vars); state.valid(); ++state)
        result.set(state, clamping.run(state, [](const InfAlg&) {}));
    if (result.sum() == 0)
        DAI_THROWE(NOT_NORMALIZABLE, "all joint states of " + toString(vars) + " are impossible");
    return result.normalized();
}

/// The marginals of all pairs of some variables, in the order of their labels. If `accurate`, each as by calcMarginal;
/// otherwise one variable is clamped in each of its states
/// and the belief of the other is taken, and the two results for a pair are averaged geometrically.
inline std::vector<Factor> calcPairBeliefs(const InfAlg& obj, const VarSet& vars, bool reInit, bool accurate = false) {
    detail::Clamping clamping(obj, vars, reInit);
    const std::vector<Var>& all = vars.elements();
    std::vector<Factor> pairs; // all[j], all[k] at j * all.size() + k
    for (const Var& clamped : all)
        for (const Var& other : all) {
            const bool wanted = accurate ? clamped < other : clamped != other;
            pairs.push_back(wanted ? Factor(VarSet(clamped, other), Real(0)) : Factor());
            for (State state(pairs.back().vars()); wanted && accurate && state.valid(); ++state)
                pairs.back().set(state, clamping.run(state, [](const InfAlg&) {}));
        }
    for (size_t j = 0; j < all.size() && !accurate; ++j) {
        const VarSet clamped(all[j]);
        for (State state(clamped); state.valid(); ++state) {
            std::vector<Factor> beliefs;
            const Real weight = clamping.run(state, [&](const InfAlg& algorithm) {
                for (const Var& v : all)
                    beliefs.push_back(algorithm.belief(v));
            });
            for (size_t k = 0; k < beliefs.size(); ++k) {
                Factor& pair = pairs[j * all.size() + k];
                for (size_t x = 0; k != j && x < all[k].states(); ++x) {
                    State both(state);
                    const std::map<Var, size_t> other{{all[k], x}};
                    both.insert(other.begin(), other.end());
                    pair.set(both, weight * beliefs[k][x]);
                }
            }
        }
    }
    std::vector<Factor> result;
    for (size_t j = 0; j < all.size(); ++j)
        for (size_t k = j + 1; k < all.size(); ++k) {
            const Factor& pair = pairs[j * all.size() + k];
            result.push_back(accurate ? pair.normalized() : ((pair * pairs[k * all.size() + j]) ^ 0.5).normalized());
        }
    return result;
}

/// A joint state by variable index, decoded from the beliefs of factors after a run: factor by factor, always one next to
/// a factor that was decoded before, the joint state of the largest belief among those that agree with the variables
/// decoded so far. RUNTIME_ERROR where none of them is possible.
inline std::vector<size_t> findMaximum(const InfAlg& obj) {
    const FactorGraph& graph = obj.fg();
    std::vector<size_t> states(graph.nrVars(), 0);
    std::vector<bool> decoded(graph.nrVars(), false), visited(graph.nrFactors(), false);
    std::vector<size_t> waiting; // of factors, the last one first
    for (size_t start = 0; start < graph.nrFactors(); ++start) {
        waiting.push_back(start);
        while (!waiting.empty()) {
            const size_t I = waiting.back();
            waiting.pop_back();
            if (visited[I])
                continue;
            visited[I] = true;
            const Factor belief = obj.beliefF(I);
            Real largest = -INFINITY;
            State best(belief.vars());
            for (State state(belief.vars()); state.valid(); ++state) {
                bool agrees = true;
                for (const Neighbor& i : graph.nbF(I))
                    agrees = agrees && (!decoded[i] || states[i] == state(graph.var(i)));
                if (agrees && belief[state] > largest) {
                    largest = belief[state];
                    best = state;
                }
            }
            if (largest == 0)
                DAI_THROWE(RUNTIME_ERROR, "the beliefs of factors agree on no joint state that is possible");
            DAI_ASSERT(graph.factor(I)[best] != 0);
            for (const Neighbor& i : graph.nbF(I)) {
                const size_t state = best(graph.var(i));
                if (decoded[i] && states[i] != state)
                    DAI_THROWE(RUNTIME_ERROR, "the beliefs of factors agree on no joint state");
                if (!decoded[i])
                    for (const Neighbor& J : graph.nbV(i))
                        if (!visited[J])
                            waiting.push_back(J);
                decoded[i] = true;
                states[i] = state;
            }
        }
    }
    return states;
}

} // namespace dai

#endif
