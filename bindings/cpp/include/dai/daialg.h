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
    /// All beliefs.
    virtual std::vector<Factor> beliefs() const = 0;
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
    void backupFactor(size_t I) override { Graph::backupFactor(I); }
    using Graph::backupFactors;
    void backupFactors(const VarSet& vars) override { Graph::backupFactors(vars); }
    void restoreFactor(size_t I) override { Graph::restoreFactor(I); }
    using Graph::restoreFactors;
    void restoreFactors(const VarSet& vars) override { Graph::restoreFactors(vars); }
};

/// An inference algorithm on a factor graph that it is itself.
typedef DAIAlg<FactorGraph> DAIAlgFG;

/// The marginal of some variables by partition functions: clamps them in each of their joint states, and
/// runs. With `reInit`, each of these runs starts from the beginning, which joint states that are not
/// possible need; otherwise from the last run's messages.
inline Factor calcMarginal(const InfAlg& obj, const VarSet& vars, bool reInit) {
    const std::unique_ptr<InfAlg> algorithm(obj.clone());
    if (!reInit)
        algorithm->init();
    Factor logs(vars, Real(0));
    Real largest = -INFINITY;
    for (State state(vars); state.valid(); ++state) {
        algorithm->backupFactors(vars);
        for (const auto& entry : state)
            algorithm->clamp(obj.fg().findVar(entry.first), entry.second);
        if (reInit)
            algorithm->init();
        else
            algorithm->init(vars);
        Real logZ = -INFINITY;
        try {
            algorithm->run();
            logZ = algorithm->logZ();
        } catch (const Exception& error) {
            if (error.getCode() != Exception::NOT_NORMALIZABLE)
                throw;
        }
        algorithm->restoreFactors(vars);
        logs.set(state, logZ);
        largest = std::max(largest, logZ);
    }
    if (largest == -INFINITY)
        DAI_THROWE(NOT_NORMALIZABLE, "all joint states of " + toString(vars) + " are impossible");
    return (logs - largest).takeExp().normalized();
}

} // namespace dai

#endif
