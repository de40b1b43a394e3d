// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief Orders of elimination, and what they cost.
#ifndef FASTLBP_DAI_CLUSTERGRAPH_H
#define FASTLBP_DAI_CLUSTERGRAPH_H

#include <dai/factorgraph.h>

namespace dai {

/// Sets of variables, as far as eliminations need them: which variables are together in one.
class ClusterGraph {
public:
    /// Without variables.
    ClusterGraph() {}
    /// The variables of a graph; those that share a factor are together.
    ClusterGraph(const FactorGraph& fg, bool /*onlyMaximal*/) : vars_(fg.vars()) {
        for (size_t i = 0; i < fg.nrVars(); ++i)
            joined_.push_back(fg.deltai(i));
    }

    /// Number of variables.
    size_t nrVars() const { return vars_.size(); }
    /// The variables.
    const std::vector<Var>& vars() const { return vars_; }
    /// A variable.
    const Var& var(size_t i) const { return vars_.at(i); }
    /// Whether two different variables are together.
    bool adj(size_t i, size_t j) const { return joined_.at(i).contains(j); }
    /// Those that are together with a variable, by index.
    const SmallSet<size_t>& neighbors(size_t i) const { return joined_.at(i); }
    /// Those that are together with a variable.
    VarSet delta(size_t i) const {
        VarSet result;
        for (size_t j : neighbors(i))
            result.insert(var(j));
        return result;
    }
    /// A variable and those that are together with it.
    VarSet Delta(size_t i) const { return delta(i) | var(i); }

    /// Takes a variable away, and puts all that were together with it in one set; returns that set and the variable.
    VarSet elimVar(size_t i) {
        const VarSet cluster = Delta(i);
        const SmallSet<size_t> neighbors = joined_.at(i);
        for (size_t j : neighbors) {
            joined_[j] |= neighbors;
            joined_[j].erase(i);
            joined_[j].erase(j);
        }
        joined_[i] = SmallSet<size_t>();
        return cluster;
    }
    /// The sets that an elimination of all variables leaves, of which `choose(graph, remaining)` tells the next one;
    /// OUT_OF_MEMORY where they have more than `maxStates` joint states in all, unless that is 0.
    template <typename Choice>
    std::vector<VarSet> eliminate(Choice choose, size_t maxStates = 0) const {
        ClusterGraph rest(*this);
        std::set<size_t> remaining;
        for (size_t i = 0; i < nrVars(); ++i)
            remaining.insert(remaining.end(), i);
        std::vector<VarSet> result;
        BigInt total = 0;
        while (!remaining.empty()) {
            const size_t i = choose(rest, remaining);
            result.push_back(rest.elimVar(i));
            total += result.back().nrStates();
            if (maxStates != 0 && total > maxStates)
                DAI_THROWE(OUT_OF_MEMORY, "more than " + toString(maxStates) + " joint states are needed");
            remaining.erase(i);
        }
        return result;
    }

private:
    std::vector<Var> vars_;
    std::vector<SmallSet<size_t>> joined_;
};

/// Chooses the next variable to eliminate, one of least cost, of those the one of the lowest index.
class greedyVariableElimination {
public:
    /// What it costs to eliminate the variable of an index.
    typedef size_t (*eliminationCostFunction)(const ClusterGraph&, size_t);

    /// By some cost.
    greedyVariableElimination(eliminationCostFunction cost) : cost_(cost) {}
    /// The variable of least cost among the remaining ones.
    size_t operator()(const ClusterGraph& graph, const std::set<size_t>& remaining) const {
        size_t best = *remaining.begin(), lowest = static_cast<size_t>(-1);
        for (size_t i : remaining) {
            const size_t cost = cost_(graph, i);
            if (cost < lowest) {
                best = i;
                lowest = cost;
            }
        }
        return best;
    }

private:
    eliminationCostFunction cost_;
};

namespace detail {
/// The sum, over all pairs of variables that an elimination joins, of some weight.
template <typename Weight>
size_t fill_of(const ClusterGraph& graph, size_t i, const Weight& weight) {
    const SmallSet<size_t>& neighbors = graph.neighbors(i);
    size_t sum = 0;
    for (SmallSet<size_t>::const_iterator first = neighbors.begin(); first != neighbors.end(); ++first)
        for (SmallSet<size_t>::const_iterator second = first; ++second != neighbors.end();)
            if (!graph.adj(*first, *second))
                sum += weight(graph.var(*first), graph.var(*second));
    return sum;
}
} // namespace detail

/// Number of variables that are together with one.
inline size_t eliminationCost_MinNeighbors(const ClusterGraph& graph, size_t i) { return graph.neighbors(i).size(); }
/// Number of joint states of the variables that are together with one, as far as it fits.
inline size_t eliminationCost_MinWeight(const ClusterGraph& graph, size_t i) {
    size_t product = 1;
    for (size_t j : graph.neighbors(i))
        product *= graph.var(j).states();
    return product;
}
/// Number of pairs that the elimination joins.
inline size_t eliminationCost_MinFill(const ClusterGraph& graph, size_t i) {
    return detail::fill_of(graph, i, [](const Var&, const Var&) { return size_t(1); });
}
/// Number of joint states of the pairs that the elimination joins.
inline size_t eliminationCost_WeightedMinFill(const ClusterGraph& graph, size_t i) {
    return detail::fill_of(graph, i, [](const Var& a, const Var& b) { return a.states() * b.states(); });
}

/// Variables, and joint states, of the largest set that a greedy order of elimination leaves; OUT_OF_MEMORY where all sets
/// together have more than `maxStates` joint states, unless that is 0.
inline std::pair<size_t, BigInt> boundTreewidth(const FactorGraph& fg,
                                                greedyVariableElimination::eliminationCostFunction cost,
                                                size_t maxStates = 0) {
    std::pair<size_t, BigInt> largest(0, 0);
    for (const VarSet& cluster : ClusterGraph(fg, true).eliminate(greedyVariableElimination(cost), maxStates)) {
        largest.first = std::max(largest.first, cluster.size());
        largest.second = std::max(largest.second, cluster.nrStates());
    }
    return largest;
}

} // namespace dai

#endif
