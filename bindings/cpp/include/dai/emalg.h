// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief Learning the factors of a graph from samples: expectation maximisation over any inference algorithm.
#ifndef FASTLBP_DAI_EMALG_H
#define FASTLBP_DAI_EMALG_H

#include <dai/evidence.h>

namespace dai {

/// How the values of a factor are estimated from expected numbers of joint states.
class ParameterEstimation {
public:
    /// Makes one of some properties.
    typedef ParameterEstimation* (*ParamEstFactory)(const PropertySet&);

    virtual ~ParameterEstimation() {}
    /// A copy.
    virtual ParameterEstimation* clone() const = 0;
    /// One by name, owned by the caller; UNKNOWN_PARAMETER_ESTIMATION_METHOD. At first there is CondProbEstimation.
    static ParameterEstimation* construct(const std::string& method, const PropertySet& properties);
    /// Gives a method a name.
    static void registerMethod(const std::string& method, const ParamEstFactory& factory) {
        registry().push_back(Method{method, factory});
    }
    /// The values of a factor from expected numbers.
    virtual Prob estimate(const Prob& expected) { return parametersToFactor(parameters(expected)); }
    /// The values of a factor from parameters.
    virtual Prob parametersToFactor(const Prob& parameters) = 0;
    /// The parameters from expected numbers.
    virtual Prob parameters(const Prob& expected) = 0;
    /// How many numbers are expected.
    virtual size_t probSize() const = 0;
    /// Its name.
    virtual const std::string& name() const = 0;
    /// Its properties.
    virtual const PropertySet& properties() const = 0;

private:
    struct Method {
        std::string name;
        ParamEstFactory factory;
    };
    // Of several of a name the last one counts.
    static std::vector<Method>& registry();
};

/// Estimates P(X | Y): a distribution of the states of X, the first variables of the factor, for each joint state of
/// the others.
class CondProbEstimation : public ParameterEstimation {
public:
    /// X has `target_dimension` states; the pseudocounts are added to what is expected. ASSERTION_FAILED unless their
    /// number is a multiple of that.
    CondProbEstimation(size_t target_dimension, const Prob& pseudocounts)
        : dimension_(target_dimension), pseudocounts_(pseudocounts) {
        DAI_ASSERT(dimension_ != 0 && pseudocounts_.size() != 0 && pseudocounts_.size() % dimension_ == 0);
        properties_.setAsString("target_dim", dimension_);
        properties_.setAsString("total_dim", pseudocounts_.size());
        properties_.setAsString("pseudo_count", pseudocounts_[0]);
    }
    /// Of the properties `target_dim`, the states of X, `total_dim`, those of X and Y, and `pseudo_count`, 1 if that is
    /// not there.
    static ParameterEstimation* factory(const PropertySet& p) {
        const Real count = p.hasKey("pseudo_count") ? p.getStringAs<Real>("pseudo_count") : 1;
        const Prob pseudocounts(p.getStringAs<size_t>("total_dim"), count);
        return new CondProbEstimation(p.getStringAs<size_t>("target_dim"), pseudocounts);
    }

    ParameterEstimation* clone() const override { return new CondProbEstimation(*this); }
    Prob parametersToFactor(const Prob& parameters) override { return parameters; }
    /// Normalised for each joint state of Y; zeros where nothing is expected.
    Prob parameters(const Prob& expected) override {
        Prob result = expected + pseudocounts_;
        for (size_t begin = 0; begin < result.size(); begin += dimension_) {
            Real sum = 0;
            for (size_t k = begin; k < begin + dimension_; ++k)
                sum += result[k];
            const Real scale = sum != 0 ? 1 / sum : 0;
            for (size_t k = begin; k < begin + dimension_; ++k)
                result.set(k, result[k] * scale);
        }
        return result;
    }
    size_t probSize() const override { return pseudocounts_.size(); }
    const std::string& name() const override {
        static const std::string text("CondProbEstimation");
        return text;
    }
    const PropertySet& properties() const override { return properties_; }

private:
    size_t dimension_;
    Prob pseudocounts_;
    PropertySet properties_;
};

inline std::vector<ParameterEstimation::Method>& ParameterEstimation::registry() {
    static std::vector<Method> all(1, Method{"CondProbEstimation", CondProbEstimation::factory});
    return all;
}
inline ParameterEstimation* ParameterEstimation::construct(const std::string& method, const PropertySet& properties) {
    for (size_t k = registry().size(); k-- > 0;)
        if (registry()[k].name == method)
            return registry()[k].factory(properties);
    DAI_THROWE(UNKNOWN_PARAMETER_ESTIMATION_METHOD, "'" + method + "'");
}

/// Factors that have the same values, up to the order of their variables, and how these are estimated.
class SharedParameters {
public:
    typedef size_t FactorIndex;
    /// The variables of each factor in the order in which the factors agree, the first one fastest.
    typedef std::map<FactorIndex, std::vector<Var>> FactorOrientations;

    /// ASSERTION_FAILED where a factor has another number of joint states than the estimation. With `ownPE`, it owns
    /// `estimation`, and copies have their own.
    SharedParameters(const FactorOrientations& varorders, ParameterEstimation* estimation, bool ownPE = false)
        : owned_(ownPE ? estimation : nullptr), estimation_(estimation), orders_(varorders) {
        prepare();
    }
    /// From a block of a file in libDAI's format `.em`: name and properties of the estimation, the number of factors,
    /// and for each a line of its index and the labels of its variables. INVALID_EMALG_FILE,
    /// UNKNOWN_PARAMETER_ESTIMATION_METHOD, MALFORMED_PROPERTY.
    SharedParameters(std::istream& stream, const FactorGraph& fg);
    SharedParameters(const SharedParameters& other)
        : owned_(other.owned_ ? other.owned_->clone() : nullptr),
          estimation_(owned_ ? owned_.get() : other.estimation_), orders_(other.orders_),
          expectations_(other.expectations_) {}
    SharedParameters& operator=(SharedParameters other) {
        std::swap(owned_, other.owned_);
        std::swap(estimation_, other.estimation_);
        std::swap(orders_, other.orders_);
        std::swap(expectations_, other.expectations_);
        return *this;
    }

    /// Adds the beliefs of the factors to what is expected.
    void collectExpectations(InfAlg& algorithm) {
        for (const auto& entry : orders_) {
            const Permute order(entry.second);
            const Factor belief = algorithm.belief(VarSet(entry.second.begin(), entry.second.end()));
            for (size_t k = 0; k < belief.nrStates(); ++k)
                expectations_.set(k, expectations_[k] + belief[order.convertLinearIndex(k)]);
        }
    }
    /// The sum of the beliefs, in the order of the shared values.
    const Prob& currentExpectations() const { return expectations_; }
    /// The estimation.
    ParameterEstimation& getPEst() const { return *estimation_; }
    /// Gives the factors the values that are estimated from what is expected.
    void setParameters(FactorGraph& fg) {
        const Prob values = estimation_->estimate(expectations_);
        for (const auto& entry : orders_)
            fg.setFactor(entry.first, Factor(entry.second, values.p()));
    }
    /// The orders of the variables.
    const FactorOrientations& getFactorOrientations() const { return orders_; }
    /// Forgets what is expected.
    void clear() { expectations_.fill(0); }

private:
    void prepare() {
        DAI_ASSERT(estimation_ != nullptr);
        for (const auto& entry : orders_) {
            const VarSet vars(entry.second.begin(), entry.second.end());
            DAI_ASSERT(detail::table_length(vars) == estimation_->probSize());
        }
        expectations_ = Prob(estimation_->probSize(), Real(0));
    }

    std::unique_ptr<ParameterEstimation> owned_;
    ParameterEstimation* estimation_;
    FactorOrientations orders_;
    Prob expectations_;
};

namespace detail {
/// A number of a file `.em`; INVALID_EMALG_FILE.
inline size_t read_em_number(std::istream& stream, const char* what) {
    std::string word;
    stream >> word;
    if (word.empty() || word.find_first_not_of("0123456789") != std::string::npos || word.size() > 18)
        DAI_THROWE(INVALID_EMALG_FILE, std::string(what) + " is '" + word + "' and should be a number");
    return fromString<size_t>(word);
}
} // namespace detail

inline SharedParameters::SharedParameters(std::istream& stream, const FactorGraph& fg) : estimation_(nullptr) {
    std::string method, line;
    PropertySet properties;
    stream >> method >> properties;
    owned_.reset(ParameterEstimation::construct(method, properties));
    estimation_ = owned_.get();
    for (size_t left = detail::read_em_number(stream, "the number of factors"); left > 0; --left) {
        do
            if (!std::getline(stream, line))
                DAI_THROWE(INVALID_EMALG_FILE, "the file ends where a factor should be");
        while (line.find_first_not_of(" \t\r") == std::string::npos);
        std::istringstream words(line);
        const size_t I = detail::read_em_number(words, "the index of a factor");
        if (I >= fg.nrFactors())
            DAI_THROWE(INVALID_EMALG_FILE, "the graph has no factor " + toString(I));
        VarSet rest = fg.factor(I).vars();
        std::vector<Var> order;
        while (!rest.empty()) {
            const size_t label = detail::read_em_number(words, "the label of a variable");
            for (const Var& v : rest)
                if (v.label() == label)
                    order.push_back(v);
            if (order.empty() || order.back().label() != label || !rest.contains(order.back()))
                DAI_THROWE(INVALID_EMALG_FILE, "'" + line + "' has other variables than the factor");
            rest /= order.back();
        }
        if (!(words >> std::ws).eof())
            DAI_THROWE(INVALID_EMALG_FILE, "'" + line + "' has more words than the factor has variables");
        orders_[I] = order;
    }
    prepare();
}

/// Parameters that are estimated at once.
class MaximizationStep {
public:
    typedef std::vector<SharedParameters>::iterator iterator;
    typedef std::vector<SharedParameters>::const_iterator const_iterator;

    /// Of no parameters.
    MaximizationStep() {}
    /// Of some parameters.
    MaximizationStep(const std::vector<SharedParameters>& maximizations) : params_(maximizations) {}
    /// From a block of a file `.em`: the number of SharedParameters, and these. INVALID_EMALG_FILE.
    MaximizationStep(std::istream& stream, const FactorGraph& fg) {
        for (size_t left = detail::read_em_number(stream, "the number of shared parameters"); left > 0; --left)
            params_.push_back(SharedParameters(stream, fg));
    }

    /// Adds the beliefs of an algorithm to what is expected.
    void addExpectations(InfAlg& algorithm) {
        for (SharedParameters& shared : params_)
            shared.collectExpectations(algorithm);
    }
    /// Gives all factors their estimated values.
    void maximize(FactorGraph& fg) {
        for (SharedParameters& shared : params_)
            shared.setParameters(fg);
    }
    /// Forgets what is expected.
    void clear() {
        for (SharedParameters& shared : params_)
            shared.clear();
    }
    iterator begin() { return params_.begin(); }
    const_iterator begin() const { return params_.begin(); }
    iterator end() { return params_.end(); }
    const_iterator end() const { return params_.end(); }

private:
    std::vector<SharedParameters> params_;
};

namespace detail {
/// The constants of EMAlg; a template, since only these may be defined in a header of C++11.
template <typename = void>
struct EMAlgConstants {
    static const std::string MAX_ITERS_KEY; ///< Name of the property for the most iterations.
    static const size_t MAX_ITERS_DEFAULT;  ///< The most iterations without it, 30.
    static const std::string LOG_Z_TOL_KEY; ///< Name of the property for the smallest increase.
    static const Real LOG_Z_TOL_DEFAULT;    ///< The smallest increase without it, 0.01.
};
template <typename T>
const std::string EMAlgConstants<T>::MAX_ITERS_KEY("max_iters");
template <typename T>
const size_t EMAlgConstants<T>::MAX_ITERS_DEFAULT = 30;
template <typename T>
const std::string EMAlgConstants<T>::LOG_Z_TOL_KEY("log_z_tol");
template <typename T>
const Real EMAlgConstants<T>::LOG_Z_TOL_DEFAULT = 0.01;
} // namespace detail

/// Expectation maximisation: for each step, an algorithm runs for each sample, with what it observes clamped, and the
/// factors get the values that are estimated from the sum of the beliefs.
class EMAlg : public detail::EMAlgConstants<> {
public:
    typedef std::vector<MaximizationStep>::iterator s_iterator;
    typedef std::vector<MaximizationStep>::const_iterator const_s_iterator;

    /// Keeps references to the samples and the algorithm, whose graph it changes. For the termination conditions see
    /// setTermConditions.
    EMAlg(const Evidence& evidence, InfAlg& estep, const std::vector<MaximizationStep>& msteps,
          const PropertySet& termconditions)
        : evidence_(evidence), estep_(estep), msteps_(msteps) {
        setTermConditions(termconditions);
    }
    /// The steps of a file in libDAI's format `.em`: their number, and these. INVALID_EMALG_FILE.
    EMAlg(const Evidence& evidence, InfAlg& estep, std::istream& stream) : evidence_(evidence), estep_(estep) {
        for (size_t left = detail::read_em_number(stream, "the number of maximization steps"); left > 0; --left)
            msteps_.push_back(MaximizationStep(stream, estep.fg()));
    }

    /// Sets `max_iters` and `log_z_tol`, as far as they are there.
    void setTermConditions(const PropertySet& p) {
        if (p.hasKey(MAX_ITERS_KEY))
            max_iterations_ = p.getStringAs<size_t>(MAX_ITERS_KEY);
        if (p.hasKey(LOG_Z_TOL_KEY))
            tolerance_ = p.getStringAs<Real>(LOG_Z_TOL_KEY);
    }
    /// Whether `max_iters` iterations were made, or the log-likelihood, which counts from the second iteration on, has
    /// grown by no more than `log_z_tol` times itself in the last one, or has become less, which it says on the
    /// standard error.
    bool hasSatisfiedTermConditions() const {
        if (iterations_ >= max_iterations_)
            return true;
        if (likelihoods_.size() < 3)
            return false;
        const Real last = likelihoods_[likelihoods_.size() - 1], before = likelihoods_[likelihoods_.size() - 2];
        if (before == 0)
            return false;
        if (last < before) {
            std::cerr << "EMAlg: the log-likelihood has decreased from " << before << " to " << last << std::endl;
            return true;
        }
        return (last - before) / std::abs(before) <= tolerance_;
    }
    /// The log-likelihood of the last iteration; ASSERTION_FAILED before the first one.
    Real logZ() const {
        DAI_ASSERT(!likelihoods_.empty());
        return likelihoods_.back();
    }
    /// Iterations made.
    size_t Iterations() const { return iterations_; }
    /// The algorithm.
    const InfAlg& eStep() const { return estep_; }
    /// All steps. Returns the log-likelihood of the samples before the last one; exceptions of runs.
    Real iterate() {
        Real likelihood = 0;
        for (MaximizationStep& step : msteps_)
            likelihood = iterate(step);
        likelihoods_.push_back(likelihood);
        ++iterations_;
        return likelihood;
    }
    /// One step. Returns the log-likelihood of the samples before it.
    Real iterate(MaximizationStep& step) {
        step.clear();
        estep_.run();
        const Real logZ = estep_.logZ();
        Real likelihood = 0;
        for (const Evidence::Observation& sample : evidence_) {
            const std::unique_ptr<InfAlg> clamped(estep_.clone());
            for (const auto& observed : sample)
                clamped->clamp(clamped->fg().findVar(observed.first), observed.second);
            clamped->init();
            clamped->run();
            likelihood += clamped->logZ() - logZ;
            step.addExpectations(*clamped);
        }
        step.maximize(estep_.fg());
        return likelihood;
    }
    /// Iterates until hasSatisfiedTermConditions().
    void run() {
        while (!hasSatisfiedTermConditions())
            iterate();
    }
    s_iterator s_begin() { return msteps_.begin(); }
    const_s_iterator s_begin() const { return msteps_.begin(); }
    s_iterator s_end() { return msteps_.end(); }
    const_s_iterator s_end() const { return msteps_.end(); }

private:
    const Evidence& evidence_;
    InfAlg& estep_;
    std::vector<MaximizationStep> msteps_;
    size_t iterations_ = 0;
    std::vector<Real> likelihoods_;
    size_t max_iterations_ = MAX_ITERS_DEFAULT;
    Real tolerance_ = LOG_Z_TOL_DEFAULT;
};

} // namespace dai

#endif
