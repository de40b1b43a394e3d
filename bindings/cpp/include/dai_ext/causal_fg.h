// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief Factor graphs of priors, noisy conjunctions and noisy disjunctions: the interface of the CausalBP
/// extension of libDAI, in front of fastlbp.
#ifndef FASTLBP_DAI_EXT_CAUSAL_FG_H
#define FASTLBP_DAI_EXT_CAUSAL_FG_H

#include <dai/factorgraph.h>

namespace dai {

/// A prior, a noisy conjunction or a noisy disjunction of binary variables.
class CausalFactor {
public:
    /// Kinds of factors; their numbers are the letters of the format `.causal_fg`.
    enum CausalType {
        Singleton = 'I',   ///< P(head = 1) = p
        DefiniteAnd = '*', ///< P(head = 1) = p where all of the body is true, q elsewhere
        DefiniteOr = '+'   ///< P(head = 0) = p where all of the body is false, q elsewhere
    };
    CausalType type; ///< The kind.

    /// A prior.
    explicit CausalFactor(const Var& v, Real p = 1) : type(Singleton), head_(v), vars_(v), p_(p), q_(0) {}
    /// A conjunction or a disjunction.
    CausalFactor(const Var& head, const VarSet& body, bool isAnd, Real p = 1, Real q = 0)
        : type(isAnd ? DefiniteAnd : DefiniteOr), head_(head), body_(body), vars_(body | VarSet(head)), p_(p),
          q_(q) {}

    /// The probability p.
    Real prob() const { return p_; }
    /// The probability q.
    Real prob_default() const { return q_; }
    /// The head.
    const Var& head() const { return head_; }
    /// The body.
    const VarSet& body() const { return body_; }
    /// Head and body.
    const VarSet& vars() const { return vars_; }
    /// As the operator << writes it.
    std::string toString() const { return dai::toString(*this); }

    /// The factor as a table; OUT_OF_MEMORY above 2^26 entries.
    Factor factor() const {
        if (vars_.size() > 26)
            DAI_THROWE(OUT_OF_MEMORY, "a table of " + dai::toString(vars_.size()) + " variables");
        Factor table(vars_, Real(0));
        IndexFor head(VarSet(head_), vars_), body(body_, vars_);
        const size_t all = detail::table_length(body_) - 1;
        for (size_t k = 0; k < table.nrStates(); ++k, ++head, ++body) {
            const bool held = type == DefiniteOr ? static_cast<size_t>(body) == 0 : static_cast<size_t>(body) == all;
            const Real p = type == Singleton || held ? p_ : q_;
            const bool matches = (static_cast<size_t>(head) == 1) == (type != DefiniteOr);
            table.set(k, matches ? p : 1 - p);
        }
        return table;
    }

    /// Writes it as in the format `.causal_fg`, with the precision of the stream.
    friend std::ostream& operator<<(std::ostream& stream, const CausalFactor& f) {
        stream << f.head_.label() << "\n" << static_cast<char>(f.type);
        if (f.type == Singleton)
            return stream << "\n" << f.p_ << "\n";
        stream << f.p_ << ";" << f.q_ << "\n" << f.body_.size() << "\n";
        for (const Var& v : f.body_)
            stream << v.label() << " ";
        return stream << "\n";
    }

private:
    Var head_;
    VarSet body_, vars_;
    Real p_, q_;
};

/// A factor graph of causal factors. Clamping a variable is an observation: it is kept beside the factors,
/// which stay as they are.
class CausalFactorGraph : public BasicFactorGraph<CausalFactor> {
public:
    /// Empty.
    CausalFactorGraph() {}
    /// From factors; the variables are those of the factors, ascending by label.
    CausalFactorGraph(const std::vector<CausalFactor>& factors) : BasicFactorGraph<CausalFactor>(factors) {}
    CausalFactorGraph(const CausalFactorGraph&) = default;
    CausalFactorGraph& operator=(const CausalFactorGraph&) = default;
    /// A copy.
    virtual CausalFactorGraph* clone() const { return new CausalFactorGraph(*this); }

    void setFactor(size_t I, const CausalFactor& factor, bool backup = false) override {
        BasicFactorGraph<CausalFactor>::setFactor(I, factor, backup);
        graph_.reset();
        tables_.reset();
    }

    /// Observes a variable in a state; replaces what was observed of it.
    virtual void clamp(size_t i, size_t x, bool backup = false) {
        DAI_ASSERT(x < var(i).states());
        if (backup) {
            const auto known = clamps_.find(i);
            const int before = known == clamps_.end() ? -1 : static_cast<int>(known->second);
            if (!clamps_before_.insert(std::make_pair(i, before)).second)
                DAI_THROWE(MULTIPLE_UNDO, "variable " + dai::toString(var(i)));
        }
        clamps_[i] = x;
    }
    /// As clamp, for one state; NOT_IMPLEMENTED for several.
    void clampVar(size_t i, const std::vector<size_t>& states, bool backup = false) {
        if (states.size() != 1)
            DAI_THROWE(NOT_IMPLEMENTED, "a causal factor graph can be clamped to one state only");
        clamp(i, states[0], backup);
    }
    /// NOT_IMPLEMENTED: factors of 1 are none of these kinds.
    virtual void makeCavity(size_t, bool = false) {
        DAI_THROWE(NOT_IMPLEMENTED, "a causal factor graph has no factors of 1");
    }
    /// NOT_IMPLEMENTED, as makeCavity.
    virtual void makeRegionCavity(std::vector<size_t>, bool = false) { makeCavity(0); }
    /// The observations: states by variable index.
    const std::map<size_t, size_t>& clamps() const { return clamps_; }
    using BasicFactorGraph<CausalFactor>::restoreFactors;
    /// Brings all factors and observations back of which there are copies.
    void restoreFactors() override {
        BasicFactorGraph<CausalFactor>::restoreFactors();
        for (const auto& entry : clamps_before_)
            restore(entry);
        clamps_before_.clear();
    }
    /// Brings those factors and observations of some variables back of which there are copies.
    void restoreFactors(const VarSet& vars) {
        BasicFactorGraph<CausalFactor>::restoreFactors(vars);
        for (const Var& v : vars) {
            const auto before = clamps_before_.find(findVar(v));
            if (before != clamps_before_.end()) {
                restore(*before);
                clamps_before_.erase(before);
            }
        }
    }

    /// Reads a file in the format `.causal_fg` or `.causal_fg.gz`; its name must end so. CANNOT_READ_FILE,
    /// INVALID_FACTORGRAPH_FILE.
    virtual void ReadFromFile(const char* filename);
    /// Writes a file in the format `.causal_fg`, where all numbers are exact; its name must end so.
    /// CANNOT_WRITE_FILE.
    virtual void WriteToFile(const char* filename, size_t /*precision*/ = 15) const {
        const fastlbp_status status = fastlbp_graph_write_file(graph().get(), filename);
        if (status != FASTLBP_STATUS_OK)
            DAI_THROWE(CANNOT_WRITE_FILE, fastlbp_last_error());
    }
    /// The factors as tables; observations are not part of them.
    FactorGraph factorgraph() const {
        std::vector<Factor> tables;
        for (const CausalFactor& f : factors())
            tables.push_back(f.factor());
        return FactorGraph(tables);
    }
    /// As factorgraph(), made when it is first asked for and kept until a factor changes.
    FactorGraph& tables() const {
        if (!tables_)
            tables_ = std::make_shared<FactorGraph>(factorgraph());
        return *tables_;
    }
    /// The graph in the library, made when it is first asked for and kept until a factor changes.
    const fastlbp::dai::Graph& graph() const;

private:
    void restore(const std::pair<const size_t, int>& before) {
        if (before.second < 0)
            clamps_.erase(before.first);
        else
            clamps_[before.first] = static_cast<size_t>(before.second);
    }

    std::map<size_t, size_t> clamps_;
    std::map<size_t, int> clamps_before_; // the backups; -1 for what was not observed
    mutable fastlbp::dai::Graph graph_;
    mutable std::shared_ptr<FactorGraph> tables_;
};

inline void CausalFactorGraph::ReadFromFile(const char* filename) {
    using fastlbp::dai::check;
    fastlbp_graph* read = nullptr;
    const fastlbp_status status = fastlbp_graph_read_file(filename, &read);
    if (status == FASTLBP_STATUS_INVALID_ARGUMENT)
        DAI_THROWE(INVALID_FACTORGRAPH_FILE, fastlbp_last_error());
    check(status, "fastlbp_graph_read_file");
    const fastlbp::dai::Graph owner(read, fastlbp_graph_free);
    size_t variables = 0, count = 0, edges = 0;
    check(fastlbp_graph_count(read, FASTLBP_COUNT_VARIABLES, &variables), "fastlbp_graph_count");
    check(fastlbp_graph_count(read, FASTLBP_COUNT_FACTORS, &count), "fastlbp_graph_count");
    check(fastlbp_graph_count(read, FASTLBP_COUNT_EDGES, &edges), "fastlbp_graph_count");
    std::vector<uint64_t> labels(variables);
    std::vector<uint32_t> kinds(count), heads(count), scopes(edges);
    std::vector<size_t> offsets(count + 1);
    check(fastlbp_graph_labels(read, labels.data(), variables, nullptr), "fastlbp_graph_labels");
    check(fastlbp_graph_factor_kinds(read, kinds.data(), count, nullptr), "fastlbp_graph_factor_kinds");
    check(fastlbp_graph_factor_heads(read, heads.data(), count, nullptr), "fastlbp_graph_factor_heads");
    check(fastlbp_graph_factor_offsets(read, offsets.data(), count + 1, nullptr),
          "fastlbp_graph_factor_offsets");
    check(fastlbp_graph_edge_variables(read, scopes.data(), edges, nullptr), "fastlbp_graph_edge_variables");
    std::vector<CausalFactor> factors;
    factors.reserve(count);
    for (size_t I = 0; I < count; ++I) {
        if (kinds[I] > FASTLBP_FACTOR_OR || kinds[I] < FASTLBP_FACTOR_PRIOR)
            DAI_THROWE(INVALID_FACTORGRAPH_FILE, std::string(filename)
                                                     + ": has factors that are no causal ones; name a .causal_fg");
        const Var head(labels[heads[I]], 2);
        double p[] = {0, 0}; // p and q
        check(fastlbp_graph_factor_parameters(read, I, p, 2, nullptr), "fastlbp_graph_factor_parameters");
        if (kinds[I] == FASTLBP_FACTOR_PRIOR) {
            factors.push_back(CausalFactor(head, p[0]));
            continue;
        }
        const size_t arity = offsets[I + 1] - offsets[I];
        std::vector<int32_t> literals(arity);
        check(fastlbp_graph_factor_indicators(read, I, literals.data(), arity, nullptr),
              "fastlbp_graph_factor_indicators");
        std::vector<Var> body;
        for (size_t i = 0; i < arity; ++i)
            if (literals[i] != FASTLBP_WILDCARD)
                body.push_back(Var(labels[scopes[offsets[I] + i]], 2));
        factors.push_back(CausalFactor(head, VarSet(body.begin(), body.end()),
                                       kinds[I] == FASTLBP_FACTOR_AND, p[0], p[1]));
    }
    *this = CausalFactorGraph(factors);
    graph_ = owner;
}

inline const fastlbp::dai::Graph& CausalFactorGraph::graph() const {
    if (graph_)
        return graph_;
    std::vector<uint32_t> kinds;
    std::vector<uint64_t> heads, bodies;
    std::vector<size_t> offsets(1, 0);
    std::vector<double> p, q;
    for (const CausalFactor& f : factors()) {
        kinds.push_back(f.type == CausalFactor::Singleton     ? FASTLBP_FACTOR_PRIOR
                        : f.type == CausalFactor::DefiniteAnd ? FASTLBP_FACTOR_AND
                                                              : FASTLBP_FACTOR_OR);
        heads.push_back(f.head().label());
        for (const Var& v : f.body())
            bodies.push_back(v.label());
        offsets.push_back(bodies.size());
        p.push_back(f.prob());
        q.push_back(f.prob_default());
    }
    const fastlbp::dai::Graph made = fastlbp::dai::new_graph();
    fastlbp::dai::check(fastlbp_graph_add_factors(made.get(), kinds.size(), kinds.data(), heads.data(), offsets.data(),
                                                  bodies.data(), bodies.size(), p.data(), q.data()),
                        "fastlbp_graph_add_factors");
    return graph_ = made;
}

} // namespace dai

#endif
