// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief Factor graphs.
#ifndef FASTLBP_DAI_FACTORGRAPH_H
#define FASTLBP_DAI_FACTORGRAPH_H

#include <dai/bipgraph.h>
#include <dai/factor.h>

#include <cctype>
#include <cstdlib>

namespace dai {

/// Variables and factors over them, with backups of changed factors: what factor graphs with factors of
/// any kind have in common. A kind of factor has vars().
template <typename F>
class BasicFactorGraph {
public:
    virtual ~BasicFactorGraph() {}

    /// A variable.
    const Var& var(size_t i) const { return vars_.at(i); }
    /// All variables.
    const std::vector<Var>& vars() const { return vars_; }
    /// A factor.
    const F& factor(size_t I) const { return factors_.at(I); }
    /// All factors.
    const std::vector<F>& factors() const { return factors_; }
    /// The factors of a variable.
    const Neighbors& nbV(size_t i) const { return graph_.nb1(i); }
    /// The variables of a factor, ascending by label.
    const Neighbors& nbF(size_t I) const { return graph_.nb2(I); }
    /// One factor of a variable.
    const Neighbor& nbV(size_t i, size_t place) const { return graph_.nb1(i, place); }
    /// One variable of a factor.
    const Neighbor& nbF(size_t I, size_t place) const { return graph_.nb2(I, place); }
    /// Variables (type 1) and factors (type 2).
    const BipartiteGraph& bipGraph() const { return graph_; }
    size_t nrVars() const { return vars_.size(); }
    size_t nrFactors() const { return factors_.size(); }
    size_t nrEdges() const { return graph_.nrEdges(); }

    /// Index of a variable; OBJECT_NOT_FOUND. O(log variables).
    size_t findVar(const Var& v) const {
        const std::unordered_map<size_t, size_t>::const_iterator at = places_.find(v.label());
        if (at == places_.end())
            DAI_THROWE(OBJECT_NOT_FOUND, "there is no variable " + dai::toString(v));
        return at->second;
    }
    /// Indices of variables; OBJECT_NOT_FOUND.
    SmallSet<size_t> findVars(const VarSet& vars) const {
        SmallSet<size_t> result;
        for (const Var& v : vars)
            result.insert(findVar(v));
        return result;
    }
    /// Index of the first factor of exactly these variables; OBJECT_NOT_FOUND.
    size_t findFactor(const VarSet& vars) const {
        for (size_t I = 0; I < nrFactors(); ++I)
            if (factor(I).vars() == vars)
                return I;
        DAI_THROWE(OBJECT_NOT_FOUND, "there is no factor of " + dai::toString(vars));
    }
    /// The variables of some indices.
    VarSet inds2vars(const std::vector<size_t>& indices) const {
        VarSet result;
        for (size_t i : indices)
            result.insert(var(i));
        return result;
    }
    /// A variable and all that share a factor with it; none, if it has no factor.
    VarSet Delta(size_t i) const {
        VarSet result;
        for (const Neighbor& I : nbV(i))
            result |= factor(I).vars();
        return result;
    }
    /// Some variables and all that share a factor with one of them.
    VarSet Delta(const VarSet& vars) const {
        VarSet result;
        for (const Var& v : vars)
            result |= Delta(findVar(v));
        return result;
    }
    /// All that share a factor with a variable, but itself.
    VarSet delta(size_t i) const { return VarSet(Delta(i) / VarSet(var(i))); }
    /// All that share a factor with one of some variables, but these.
    VarSet delta(const VarSet& vars) const { return VarSet(Delta(vars) / vars); }

    /// As Delta, as indices.
    SmallSet<size_t> Deltai(size_t i) const { return graph_.delta1(i, true); }
    /// As delta, as indices.
    SmallSet<size_t> deltai(size_t i) const { return graph_.delta1(i, false); }
    /// The variables as nodes, joined where they share a factor.
    GraphAL MarkovGraph() const {
        GraphAL result(nrVars());
        for (size_t i = 0; i < nrVars(); ++i)
            for (size_t j : deltai(i))
                if (i < j)
                    result.addEdge(i, j, false);
        return result;
    }
    /// Whether no other factor has the variables of a factor and more.
    bool isMaximal(size_t I) const { return larger(I) == I; }
    /// Index of a maximal factor with all variables of a factor.
    size_t maximalFactor(size_t I) const {
        for (size_t J = larger(I); J != I; J = larger(I))
            I = J;
        return I;
    }
    /// The sets of variables of all maximal factors; an empty one, if there are no factors.
    std::vector<VarSet> maximalFactorDomains() const {
        std::vector<VarSet> result;
        for (size_t I = 0; I < nrFactors(); ++I)
            if (isMaximal(I))
                result.push_back(factor(I).vars());
        if (result.empty())
            result.push_back(VarSet());
        return result;
    }

    bool isConnected() const { return graph_.isConnected(); }
    bool isTree() const { return graph_.isTree(); }
    /// Whether no factor has more than two variables.
    bool isPairwise() const {
        for (const F& factor : factors_)
            if (factor.vars().size() > 2)
                return false;
        return true;
    }
    /// Whether no variable has more than two states.
    bool isBinary() const {
        for (const Var& v : vars_)
            if (v.states() > 2)
                return false;
        return true;
    }
    /// Replaces a factor by one of the same variables. All changes of factors come here.
    virtual void setFactor(size_t I, const F& factor, bool backup = false) {
        DAI_ASSERT(factor.vars() == this->factor(I).vars());
        if (backup)
            backupFactor(I);
        factors_[I] = factor;
    }
    /// Replaces factors.
    virtual void setFactors(const std::map<size_t, F>& factors, bool backup = false) {
        for (const auto& entry : factors)
            setFactor(entry.first, entry.second, backup);
    }
    /// Keeps a copy of a factor; MULTIPLE_UNDO if there is one.
    void backupFactor(size_t I) {
        if (!backup_.insert(std::make_pair(I, factor(I))).second)
            DAI_THROWE(MULTIPLE_UNDO, "factor " + dai::toString(I));
    }
    /// Brings a factor back from its copy; OBJECT_NOT_FOUND if there is none.
    void restoreFactor(size_t I) {
        const typename std::map<size_t, F>::iterator at = backup_.find(I);
        if (at == backup_.end())
            DAI_THROWE(OBJECT_NOT_FOUND, "there is no backup of factor " + dai::toString(I));
        const F kept = at->second;
        backup_.erase(at);
        setFactor(I, kept);
    }
    /// Keeps copies of factors; MULTIPLE_UNDO.
    virtual void backupFactors(const std::set<size_t>& factors) {
        for (size_t I : factors)
            backupFactor(I);
    }
    /// Brings all factors back of which there are copies.
    virtual void restoreFactors() {
        std::map<size_t, F> kept;
        kept.swap(backup_);
        setFactors(kept);
    }
    /// Keeps copies of all factors with one of some variables; MULTIPLE_UNDO.
    void backupFactors(const VarSet& vars) {
        for (size_t I = 0; I < nrFactors(); ++I)
            if (factor(I).vars().intersects(vars))
                backupFactor(I);
    }
    /// Brings those factors with one of some variables back of which there are copies.
    void restoreFactors(const VarSet& vars) {
        std::map<size_t, F> kept;
        for (const auto& entry : backup_)
            if (factor(entry.first).vars().intersects(vars))
                kept.insert(entry);
        for (const auto& entry : kept)
            backup_.erase(entry.first);
        setFactors(kept);
    }

protected:
    BasicFactorGraph() {}
    explicit BasicFactorGraph(const std::vector<F>& factors) : factors_(factors) {
        std::vector<Var> all;
        for (const F& factor : factors)
            all.insert(all.end(), factor.vars().begin(), factor.vars().end());
        const VarSet set(all.begin(), all.end());
        vars_ = set.elements();
        connect();
    }
    template <typename FactorIterator, typename VarIterator>
    BasicFactorGraph(FactorIterator factorsBegin, FactorIterator factorsEnd, VarIterator varsBegin,
                     VarIterator varsEnd)
        : vars_(varsBegin, varsEnd), factors_(factorsBegin, factorsEnd) {
        connect();
    }
    BasicFactorGraph(const BasicFactorGraph&) = default;
    BasicFactorGraph& operator=(const BasicFactorGraph&) = default;

private:
    // A factor with all variables of a factor and more, or itself where there is none.
    size_t larger(size_t I) const {
        const VarSet& vars = factor(I).vars();
        if (vars.empty())
            for (size_t J = 0; J < nrFactors(); ++J)
                if (!factor(J).vars().empty())
                    return J;
        for (const Neighbor& i : nbF(I))
            for (const Neighbor& J : nbV(i))
                if (factor(J).vars().size() > vars.size() && factor(J).vars() >> vars)
                    return J;
        return I;
    }
    void connect() {
        for (size_t i = 0; i < nrVars(); ++i)
            places_[var(i).label()] = i;
        std::vector<Edge> edges;
        for (size_t I = 0; I < nrFactors(); ++I)
            for (const Var& v : factor(I).vars())
                edges.push_back(Edge(findVar(v), I));
        graph_.construct(nrVars(), nrFactors(), edges.begin(), edges.end(), false);
    }
    std::vector<Var> vars_;
    std::vector<F> factors_;
    BipartiteGraph graph_;
    std::unordered_map<size_t, size_t> places_; // of variables, by label
    std::map<size_t, F> backup_;
};

/// A factor graph of tables.
class FactorGraph : public BasicFactorGraph<Factor> {
public:
    /// Empty.
    FactorGraph() {}
    /// From factors; the variables are those of the factors, ascending by label.
    FactorGraph(const std::vector<Factor>& factors) : BasicFactorGraph<Factor>(factors) {}
    /// From factors and variables, in the order given; those of the factors must be among these
    /// (OBJECT_NOT_FOUND). The hints are not needed.
    template <typename FactorIterator, typename VarIterator>
    FactorGraph(FactorIterator factorsBegin, FactorIterator factorsEnd, VarIterator varsBegin,
                VarIterator varsEnd, size_t /*nrFacHint*/ = 0, size_t /*nrVarHint*/ = 0)
        : BasicFactorGraph<Factor>(factorsBegin, factorsEnd, varsBegin, varsEnd) {}
    FactorGraph(const FactorGraph&) = default;
    FactorGraph& operator=(const FactorGraph&) = default;
    /// A copy.
    virtual FactorGraph* clone() const { return new FactorGraph(*this); }

    /// Natural logarithm of the product of all factors at a joint state, given by variable index.
    Real logScore(const std::vector<size_t>& states) const {
        DAI_ASSERT(states.size() == nrVars());
        std::map<Var, size_t> byVar;
        for (size_t i = 0; i < nrVars(); ++i)
            byVar[var(i)] = states[i];
        Real sum = 0;
        for (const Factor& factor : factors())
            sum += std::log(factor[calcLinearState(factor.vars(), byVar)]);
        return sum;
    }

    /// Multiplies all factors of a variable with 1 where it is in a state and 0 elsewhere.
    virtual void clamp(size_t i, size_t x, bool backup = false) {
        DAI_ASSERT(x < var(i).states());
        multiply(i, createFactorDelta(var(i), x), backup);
    }
    /// Multiplies all factors of a variable with 1 where it is in one of some states and 0 elsewhere.
    void clampVar(size_t i, const std::vector<size_t>& states, bool backup = false) {
        Factor mask(var(i), Real(0));
        for (size_t x : states) {
            DAI_ASSERT(x < var(i).states());
            mask.set(x, 1);
        }
        multiply(i, mask, backup);
    }
    /// Keeps some values of a factor and makes the others 0.
    void clampFactor(size_t I, const std::vector<size_t>& states, bool backup = false) {
        Factor kept(factor(I).vars(), Real(0));
        for (size_t x : states) {
            DAI_ASSERT(x < kept.nrStates());
            kept.set(x, factor(I).get(x));
        }
        setFactor(I, kept, backup);
    }
    /// This graph with a variable fixed in a state: its factors are sliced, and factors of the same variables become one.
    /// The first factor is over the variable alone, 0 in all other states, and has the constants that are left of
    /// sliced factors.
    FactorGraph clamped(size_t i, size_t state) const;
    /// This graph with maximal factors only, by which the others are multiplied.
    FactorGraph maximalFactors() const;
    /// Makes all factors of a variable 1.
    virtual void makeCavity(size_t i, bool backup = false) {
        std::map<size_t, Factor> ones;
        for (const Neighbor& I : nbV(i))
            ones.insert(std::make_pair(I.node, Factor(factor(I).vars(), Real(1))));
        setFactors(ones, backup);
    }
    /// Makes some factors 1.
    virtual void makeRegionCavity(std::vector<size_t> factors, bool backup) {
        std::map<size_t, Factor> ones;
        for (size_t I : factors)
            ones.insert(std::make_pair(I, Factor(factor(I).vars(), Real(1))));
        setFactors(ones, backup);
    }

    /// Reads a file in libDAI's format `.fg`; CANNOT_READ_FILE, INVALID_FACTORGRAPH_FILE, and ASSERTION_FAILED where a
    /// factor has a variable twice or more than 2^26 joint states. Of several values of an index the last counts.
    inline virtual void ReadFromFile(const char* filename);
    /// Writes a file in libDAI's format `.fg`, with some significant digits; CANNOT_WRITE_FILE. 17 digits
    /// are read back to the same bits.
    inline virtual void WriteToFile(const char* filename, size_t precision = 15) const;
    /// Writes the format `.fg`, with the precision of the stream.
    friend std::ostream& operator<<(std::ostream& stream, const FactorGraph& graph);
    /// Reads the format `.fg`; INVALID_FACTORGRAPH_FILE.
    friend std::istream& operator>>(std::istream& stream, FactorGraph& graph);
    /// The text that the operator << writes.
    std::string toString() const { return dai::toString(*this); }
    /// Reads such a text.
    void fromString(const std::string& text) {
        std::istringstream stream(text);
        stream >> *this;
    }
    /// Writes it as a graph for GraphViz.
    virtual void printDot(std::ostream& stream) const {
        stream << "graph FactorGraph {\nnode[shape=circle,width=0.4,fixedsize=true];\n";
        for (const Var& v : vars())
            stream << "\tv" << v.label() << ";\n";
        stream << "node[shape=box,width=0.3,height=0.3,fixedsize=true];\n";
        for (size_t I = 0; I < nrFactors(); ++I)
            stream << "\tf" << I << ";\n";
        for (size_t i = 0; i < nrVars(); ++i)
            for (const Neighbor& I : nbV(i))
                stream << "\tv" << var(i).label() << " -- f" << I.node << ";\n";
        stream << "}\n";
    }

private:
    void multiply(size_t i, const Factor& mask, bool backup) {
        std::map<size_t, Factor> changed;
        for (const Neighbor& I : nbV(i))
            changed.insert(std::make_pair(I.node, factor(I) * mask));
        setFactors(changed, backup);
    }
};

inline FactorGraph FactorGraph::clamped(size_t i, size_t state) const {
    const Var v = var(i);
    std::vector<Factor> rest(1, createFactorDelta(v, state));
    Real constant = 1;
    for (const Factor& factor : factors()) {
        const Factor sliced = factor.vars().contains(v) ? factor.slice(VarSet(v), state) : factor;
        const auto same = std::find_if(rest.begin(), rest.end(),
                                       [&](const Factor& other) { return other.vars() == sliced.vars(); });
        if (sliced.vars().empty())
            constant *= sliced[0];
        else if (same != rest.end())
            *same *= sliced;
        else
            rest.push_back(sliced);
    }
    rest.front() *= constant;
    return FactorGraph(rest);
}

inline FactorGraph FactorGraph::maximalFactors() const {
    std::vector<Factor> result;
    std::vector<size_t> place(nrFactors()); // in the result, of maximal factors
    for (size_t I = 0; I < nrFactors(); ++I)
        if (isMaximal(I)) {
            place[I] = result.size();
            result.push_back(Factor());
        }
    for (size_t I = 0; I < nrFactors(); ++I) {
        // The first one that grows the set of variables, as often as there is one.
        size_t largest = I;
        for (size_t J = 0; J < nrFactors(); ++J)
            if (factor(J).vars() >> factor(largest).vars() && factor(J).vars() != factor(largest).vars())
                largest = J;
        result[place[largest]] *= factor(I);
    }
    return FactorGraph(result.begin(), result.end(), vars().begin(), vars().end());
}

inline void FactorGraph::ReadFromFile(const char* filename) {
    std::ifstream stream(filename);
    if (!stream)
        DAI_THROWE(CANNOT_READ_FILE, std::string("'") + filename + "' cannot be opened");
    try {
        stream >> *this;
    } catch (const Exception& error) {
        if (error.getCode() != Exception::INVALID_FACTORGRAPH_FILE)
            throw;
        DAI_THROWE(INVALID_FACTORGRAPH_FILE, std::string(filename) + ":" + error.getDetailedMsg());
    }
}

inline void FactorGraph::WriteToFile(const char* filename, size_t precision) const {
    std::ofstream stream(filename);
    stream.precision(static_cast<std::streamsize>(precision));
    if (!(stream << *this) || !stream.flush())
        DAI_THROWE(CANNOT_WRITE_FILE, std::string("'") + filename + "' cannot be written");
}

inline std::ostream& operator<<(std::ostream& stream, const FactorGraph& graph) {
    stream << graph.nrFactors() << "\n";
    for (const Factor& factor : graph.factors()) {
        stream << "\n" << factor.vars().size() << "\n";
        for (const Var& v : factor.vars())
            stream << v.label() << " ";
        stream << "\n";
        for (const Var& v : factor.vars())
            stream << v.states() << " ";
        const std::vector<Real>& values = factor.p().p();
        stream << "\n" << static_cast<size_t>(std::count_if(values.begin(), values.end(), [](Real x) {
            return x != 0;
        })) << "\n";
        for (size_t k = 0; k < values.size(); ++k)
            if (values[k] != 0)
                stream << k << " " << std::setw(static_cast<int>(stream.precision()) + 4) << values[k] << "\n";
    }
    return stream;
}

namespace detail {
/// Reads numbers of a `.fg` file, and knows the line.
class FgReader {
public:
    explicit FgReader(std::istream& stream) : stream_(stream), line_(1) {}

    /// A whole number, at most `limit`.
    size_t whole(const char* what, size_t limit = static_cast<size_t>(-1)) {
        const std::string text = token(what);
        size_t value = 0;
        for (char digit : text) {
            const size_t d = static_cast<size_t>(digit - '0');
            if (digit < '0' || digit > '9' || d > limit || value > (limit - d) / 10)
                fail(std::string(what) + " '" + text + "' should be a whole number, at most "
                     + toString(limit));
            value = value * 10 + d;
        }
        return value;
    }
    /// A value of a factor.
    Real real(const char* what) {
        const std::string text = token(what);
        char* end = nullptr;
        const Real value = std::strtod(text.c_str(), &end);
        if (*end != 0 || !std::isfinite(value))
            fail(std::string(what) + " '" + text + "' should be a finite number");
        return value;
    }
    /// INVALID_FACTORGRAPH_FILE.
    [[noreturn]] void fail(const std::string& what) const {
        DAI_THROWE(INVALID_FACTORGRAPH_FILE, toString(line_) + ": " + what);
    }
    /// ASSERTION_FAILED, for what libDAI asserts.
    void require(bool condition, const std::string& what) const {
        if (!condition)
            DAI_THROWE(ASSERTION_FAILED, toString(line_) + ": " + what);
    }

private:
    // Words are looked for here, not by the stream, so that comments are left out and lines counted.
    std::string token(const char* what) {
        int c = stream_.get();
        for (bool comment = false; c != EOF && (comment || c == '#' || std::isspace(c)); c = stream_.get()) {
            comment = c == '#' || (comment && c != '\n');
            line_ += c == '\n';
        }
        std::string text;
        for (; c != EOF && !std::isspace(c); c = stream_.get())
            text += static_cast<char>(c);
        if (c != EOF)
            stream_.unget();
        if (text.empty())
            fail(std::string("the file ends where ") + what + " should be");
        return text;
    }

    std::istream& stream_;
    size_t line_;
};
} // namespace detail

inline std::istream& operator>>(std::istream& stream, FactorGraph& graph) {
    detail::FgReader reader(stream);
    std::unordered_map<size_t, size_t> cardinalities; // by label
    std::vector<Factor> factors;
    for (size_t left = reader.whole("the number of factors"); left > 0; --left) {
        std::vector<Var> vars;
        for (size_t i = reader.whole("the number of variables"); i > 0; --i)
            vars.push_back(Var(reader.whole("a label"), 0));
        size_t size = 1;
        for (Var& v : vars) {
            v.states() = reader.whole("a number of states");
            if (v.states() == 0)
                reader.fail("variable " + toString(v.label()) + " has no states: at least 1 is needed");
            size_t& known = cardinalities[v.label()];
            if (known == 0)
                known = v.states();
            if (known != v.states())
                reader.fail("variable " + toString(v.label()) + " has " + toString(v.states())
                            + " states here and " + toString(known) + " before");
            // Files may leave out zeros: their size does not bound that of the tables.
            reader.require(size <= (size_t(1) << 26) / v.states(), "the factor has more than 2^26 joint states");
            size *= v.states();
        }
        reader.require(VarSet(vars.begin(), vars.end()).size() == vars.size(), "a variable is in the factor twice");
        std::vector<Real> values(size, Real(0));
        for (size_t i = reader.whole("the number of values"); i > 0; --i) {
            const size_t at = reader.whole("an index", size - 1);
            values[at] = reader.real("a value");
        }
        factors.push_back(Factor(vars, values));
    }
    graph = FactorGraph(factors);
    return stream;
}

} // namespace dai

#endif
