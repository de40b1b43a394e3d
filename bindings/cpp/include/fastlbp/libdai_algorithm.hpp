// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief What fastlbp's algorithms for libDAI have in common: properties, runs and beliefs. For
/// fastlbp/libdai.hpp and dai_ext.
#ifndef FASTLBP_LIBDAI_ALGORITHM_HPP
#define FASTLBP_LIBDAI_ALGORITHM_HPP

#include <dai/daialg.h>
#include <dai/exceptions.h>
#include <dai/factorgraph.h>
#include <dai/properties.h>

#include <fastlbp/libdai_session.hpp>

#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace fastlbp {
namespace detail {

/// What is written to a stream, and read from one, by its name.
template <typename T>
struct Named {
    friend std::ostream& operator<<(std::ostream& stream, const T& x) { return stream << x.name(); }
    friend std::istream& operator>>(std::istream& stream, T& x) {
        std::string name;
        stream >> name;
        x = T(name);
        return stream;
    }
};

} // namespace detail

namespace dai {

using ::dai::Factor;
using ::dai::FactorGraph;
using ::dai::PropertySet;
using ::dai::Real;
using ::dai::Var;
using ::dai::VarSet;

/// An order in which messages are updated; docs/src/guides/libdai.md describes them.
class UpdateType : detail::Named<UpdateType> {
public:
    /// libDAI's orders, that of BINGO's version (SEQRNDPAR, which is SEQRND here), and fastlbp's others.
    enum value { SEQFIX, SEQRND, SEQMAX, PARALL, SEQRNDPAR, BLOCKS, TOPO, FWDBWD, TREE };

    UpdateType(value v = SEQFIX) : value_(v) {}
    /// By its name; UNKNOWN_ENUM_VALUE.
    explicit UpdateType(const std::string& name) : value_(SEQFIX) {
        std::string all;
        for (int i = 0; names()[i] != nullptr; ++i) {
            if (name == names()[i]) {
                value_ = static_cast<value>(i);
                return;
            }
            all += (i == 0 ? "" : ", ") + std::string(names()[i]);
        }
        DAI_THROWE(UNKNOWN_ENUM_VALUE, "'" + name + "' is no order of updates: one of " + all + " is needed");
    }
    operator value() const { return value_; }
    /// Its name.
    const char* name() const { return names()[value_]; }

private:
    // In the order of `value`, and nullptr behind the last.
    static const char* const* names() {
        static const char* const all[] = {"SEQFIX", "SEQRND", "SEQMAX", "PARALL", "SEQRNDPAR",
                                          "BLOCKS", "TOPO",   "FWDBWD", "TREE",   nullptr};
        return all;
    }
    value value_;
};

/// What messages are over the states of the other variables.
class InfType : detail::Named<InfType> {
public:
    /// Sums or maxima.
    enum value { SUMPROD, MAXPROD };

    InfType(value v = SUMPROD) : value_(v) {}
    /// By its name; UNKNOWN_ENUM_VALUE.
    explicit InfType(const std::string& name) : value_(name == "MAXPROD" ? MAXPROD : SUMPROD) {
        if (name != this->name())
            DAI_THROWE(UNKNOWN_ENUM_VALUE, "'" + name + "': inference is SUMPROD or MAXPROD");
    }
    operator value() const { return value_; }
    /// Its name.
    const char* name() const { return value_ == MAXPROD ? "MAXPROD" : "SUMPROD"; }

private:
    value value_;
};

/// The properties of an algorithm.
struct Properties : Settings {
    typedef fastlbp::dai::UpdateType UpdateType;
    typedef fastlbp::dai::InfType InfType;

    Properties::UpdateType updates; ///< The order of updates.
    Properties::InfType inference;  ///< Sums or maxima.

    /// Takes them from a set: `tol`, `updates` and `logdomain` are mandatory (ASSERTION_FAILED), others
    /// get their defaults; unknown ones are ignored.
    void set(const PropertySet& opts) {
        DAI_ASSERT(opts.hasKey("tol"));
        DAI_ASSERT(opts.hasKey("logdomain"));
        DAI_ASSERT(opts.hasKey("updates"));
        *this = Properties();
        tol = opts.getStringAs<Real>("tol");
        logdomain = opts.getStringAs<bool>("logdomain");
        updates = named<UpdateType>(opts, "updates");
        take(opts, "maxiter", maxiter);
        take(opts, "maxtime", maxtime);
        take(opts, "verbose", verbose);
        take(opts, "damping", damping);
        if (opts.hasKey("inference"))
            inference = named<InfType>(opts, "inference");
        take(opts, "seed", seed);
        take(opts, "threads", threads);
        take(opts, "backend", backend);
        take(opts, "device", device);
        take(opts, "contradiction", contradiction);
    }

    /// All of them, those that libDAI does not have only where they are not the default.
    PropertySet get() const {
        PropertySet opts;
        const Settings usual;
        opts.set("tol", tol);
        opts.set("maxiter", maxiter);
        opts.set("maxtime", maxtime);
        opts.set("verbose", verbose);
        opts.set("logdomain", logdomain);
        opts.set("updates", std::string(updates.name()));
        opts.set("damping", damping);
        opts.set("inference", std::string(inference.name()));
        if (seed != usual.seed)
            opts.set("seed", seed);
        if (threads != usual.threads)
            opts.set("threads", threads);
        if (backend != usual.backend)
            opts.set("backend", backend);
        if (device != usual.device)
            opts.set("device", device);
        if (!contradiction.empty())
            opts.set("contradiction", contradiction);
        return opts;
    }

    /// libDAI's properties as it prints them.
    std::string print() const {
        std::ostringstream text;
        text << "[tol=" << tol << ",maxiter=" << maxiter << ",maxtime=" << maxtime << ",verbose=" << verbose
             << ",logdomain=" << logdomain << ",updates=" << updates << ",damping=" << damping
             << ",inference=" << inference << "]";
        return text.str();
    }

private:
    template <typename T>
    static void take(const PropertySet& opts, const char* key, T& value) {
        if (opts.hasKey(key))
            value = opts.getStringAs<T>(key);
    }
    template <typename T>
    static T named(const PropertySet& opts, const char* key) {
        try {
            return T(opts.getStringAs<std::string>(key));
        } catch (const Exception& error) {
            if (error.getCode() != Exception::IMPOSSIBLE_TYPECAST)
                throw;
            return opts.getAs<T>(key);
        }
    }
};

/// An algorithm of libDAI on a kind of graph (`Base` is DAIAlg of it) whose messages live in a session of the
/// library. Objects are independent of each other; one object is for one thread at a time, also where only
/// `const` members are called.
template <typename Base>
class Algorithm : public Base {
public:
    /// The properties.
    typedef fastlbp::dai::Properties Properties;
    Properties props; ///< The properties; changes count from the next run on.

    std::string name() const override { return name_; }

    /// Makes all messages uniform.
    void init() override {
        session_.reset();
        iterations_ = 0;
    }
    /// Makes the messages to some variables uniform; OBJECT_NOT_FOUND.
    void init(const VarSet& vars) override {
        std::vector<bool> chosen(this->nrVars(), false);
        for (const Var& v : vars.elements())
            chosen[this->findVar(v)] = true;
        session_.reset([&](std::size_t variable) { return bool(chosen[variable_[variable]]); });
        iterations_ = 0;
    }
    /// Runs iterations from the messages as they are, until no belief has changed by more than `tol`, or for
    /// `maxiter` iterations since init(), or for `maxtime` seconds. Returns the largest change in the last iteration,
    /// infinity if none was made; NOT_NORMALIZABLE where the factors exclude all states of a variable.
    Real run() override {
        announce();
        Real difference = std::numeric_limits<Real>::infinity();
        if (iterations_ < props.maxiter) {
            synchronise();
            iterations_ += run_iterations(props.maxiter - iterations_);
            difference = session_.max_diff();
        }
        largest_ = std::max(largest_, difference);
        report(difference);
        return difference;
    }
    /// Runs by the rule of BINGO's version of libDAI, for which see fastlbp_bp_run_bingo; newBelief() then
    /// has its results. Returns the share of variables and factors that still move. Contradictions are
    /// voted on, unless the property `contradiction` says otherwise.
    double run(double tolerance, std::size_t minIters, std::size_t maxIters, std::size_t histLength) {
        announce();
        synchronise();
        double active_fraction = 1;
        iterations_ += session_.run_bingo(props, props.updates.name(), props.inference.name(), tolerance,
                                          minIters, maxIters, histLength, &active_fraction);
        std::vector<std::uint32_t> variables;
        for (std::uint32_t index : index_)
            if (index != FASTLBP_NO_VARIABLE)
                variables.push_back(index);
        std::vector<double> probabilities(variables.size());
        check(fastlbp_bp_probabilities_of(session_.bp(), variables.data(), variables.size(),
                                          probabilities.data()),
              "fastlbp_bp_probabilities_of");
        new_beliefs_.assign(this->nrVars(), 0);
        std::size_t next = 0;
        for (std::size_t i = 0; i < this->nrVars(); ++i)
            if (index_[i] != FASTLBP_NO_VARIABLE)
                new_beliefs_[i] = probabilities[next++];
        const Real difference = session_.max_diff();
        largest_ = std::max(largest_, difference);
        report(difference);
        return active_fraction;
    }
    /// P(x = 1) of the variable of an index, from the last run by BINGO's rule; RUNTIME_ERROR if there was
    /// none, OBJECT_NOT_FOUND.
    double newBelief(std::size_t i) const {
        if (new_beliefs_.empty())
            DAI_THROWE(RUNTIME_ERROR, "newBelief() before run(tol, minIters, maxIters, histLength)");
        if (i >= new_beliefs_.size())
            DAI_THROWE(OBJECT_NOT_FOUND, "newBelief(): the graph has fewer variables");
        return new_beliefs_[i];
    }

    /// Belief of a variable; OBJECT_NOT_FOUND.
    Factor belief(const Var& v) const override { return beliefV(this->findVar(v)); }
    /// Belief of variables that share a factor; BELIEF_NOT_AVAILABLE where none has all of them.
    Factor belief(const VarSet& vars) const override {
        std::vector<std::uint32_t> variables;
        synchronise();
        for (const Var& v : vars.elements())
            if (index_[this->findVar(v)] != FASTLBP_NO_VARIABLE)
                variables.push_back(index_[this->findVar(v)]);
        if (vars.empty())
            return Factor();
        std::vector<double> values(variables.empty() ? 1 : states(vars), 1.0);
        if (!variables.empty())
            session_.joint_belief(variables, values);
        return Factor(vars, values);
    }
    Factor beliefV(std::size_t i) const override {
        synchronise();
        std::vector<double> values(this->var(i).states(), 1.0);
        if (index_[i] != FASTLBP_NO_VARIABLE)
            session_.marginal(index_[i], values);
        return Factor(this->var(i), values);
    }
    Factor beliefF(std::size_t I) const override {
        synchronise();
        std::vector<double> values(states(this->factor(I).vars()));
        session_.factor_belief(I, values);
        return Factor(this->factor(I).vars(), values);
    }
    /// Beliefs of all variables, then of all factors.
    std::vector<Factor> beliefs() const override {
        std::vector<Factor> all;
        for (std::size_t i = 0; i < this->nrVars(); ++i)
            all.push_back(beliefV(i));
        for (std::size_t I = 0; I < this->nrFactors(); ++I)
            all.push_back(beliefF(I));
        return all;
    }
    /// Natural logarithm of the partition function, by Bethe's approximation.
    Real logZ() const override {
        synchronise();
        return session_.log_partition();
    }
    /// A joint state decoded from the messages, in general of maxima; RUNTIME_ERROR if that fails.
    std::vector<std::size_t> findMaximum() const override {
        synchronise();
        std::vector<std::uint32_t> decoded(variable_.size());
        session_.find_maximum(decoded);
        std::vector<std::size_t> result(this->nrVars(), 0);
        for (std::size_t v = 0; v < variable_.size(); ++v)
            result[variable_[v]] = decoded[v];
        return result;
    }

    /// Largest of what the runs of this object returned.
    Real maxDiff() const override { return largest_; }
    /// Iterations since init().
    std::size_t Iterations() const override { return iterations_; }
    void setMaxIter(std::size_t maxiter) override { props.maxiter = maxiter; }
    void setProperties(const PropertySet& opts) override { props.set(opts); }
    PropertySet getProperties() const override { return props.get(); }
    std::string printProperties() const override { return props.print(); }

protected:
    /// Of an empty graph.
    explicit Algorithm(const std::string& name) : name_(name) {}
    /// Of a copy of a graph.
    template <typename Graph>
    Algorithm(const Graph& graph, const PropertySet& opts, const std::string& name) : Base(graph), name_(name) {
        props.set(opts);
    }
    Algorithm(const Algorithm&) = default;
    Algorithm& operator=(const Algorithm&) = default;

    /// Gives the session the graph and the evidence that it does not have yet, and fills in index_ and variable_.
    virtual void synchronise() const = 0;
    /// Runs until convergence or for some iterations, by the rule of the algorithm; returns the iterations made.
    virtual std::size_t run_iterations(std::size_t iterations) = 0;

    /// Numbers the variables as the library does, which has those of `labels`, which are those of index
    /// `variables` here.
    void number(const fastlbp_graph* graph, const std::vector<std::uint64_t>& labels,
                const std::vector<std::size_t>& variables) const {
        std::vector<std::uint32_t> indices(labels.size());
        check(fastlbp_graph_variables_of_labels(graph, labels.data(), labels.size(), indices.data()),
              "fastlbp_graph_variables_of_labels");
        index_.assign(this->nrVars(), FASTLBP_NO_VARIABLE);
        variable_.assign(labels.size(), 0);
        for (std::size_t k = 0; k < labels.size(); ++k) {
            index_[variables[k]] = indices[k];
            variable_[indices[k]] = variables[k];
        }
    }

    mutable Session session_;

private:
    static std::size_t states(const VarSet& vars) {
        std::size_t product = 1;
        for (const Var& v : vars.elements())
            product *= v.states();
        return product;
    }
    void announce() const {
        if (props.verbose >= 1)
            std::cerr << "Starting " << this->identify() << "...\n";
    }
    void report(Real difference) const {
        if (props.verbose >= 1)
            std::cerr << name_ << "::run:  "
                      << (difference > props.tol ? "WARNING: not converged after " : "converged in ")
                      << iterations_ << " iterations, final maxdiff: " << difference << "\n";
    }

    std::string name_;
    mutable std::vector<std::uint32_t> index_;  // of each variable in the library, if it is there
    mutable std::vector<std::size_t> variable_; // of each index in the library
    std::vector<double> new_beliefs_;
    Real largest_ = 0;
    std::size_t iterations_ = 0;
};

} // namespace dai
} // namespace fastlbp

#endif
