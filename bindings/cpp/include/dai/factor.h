// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief Functions of some variables, as tables.
#ifndef FASTLBP_DAI_FACTOR_H
#define FASTLBP_DAI_FACTOR_H

#include <dai/index.h>
#include <dai/prob.h>

namespace dai {

/// A function of some variables: a table with a number per joint state, the variable of the lowest label
/// fastest.
template <typename T>
class TFactor {
public:
    /// A constant.
    TFactor(T p = 1) : p_(1, p) {}
    /// The uniform distribution of a variable.
    TFactor(const Var& v) : vars_(v), p_(v.states()) {}
    /// The uniform distribution of some variables.
    TFactor(const VarSet& vars) : vars_(vars), p_(detail::table_length(vars)) {}
    /// The same number everywhere.
    TFactor(const VarSet& vars, T p) : vars_(vars), p_(detail::table_length(vars), p) {}
    /// The numbers of a vector.
    template <typename S>
    TFactor(const VarSet& vars, const std::vector<S>& x) : vars_(vars), p_(x) {
        DAI_ASSERT(x.size() == detail::table_length(vars_));
    }
    /// The numbers of an array.
    TFactor(const VarSet& vars, const T* p) : vars_(vars), p_(p, p + detail::table_length(vars), 0) {}
    /// The numbers of a vector.
    TFactor(const VarSet& vars, const TProb<T>& p) : vars_(vars), p_(p) {
        DAI_ASSERT(p.size() == detail::table_length(vars_));
    }
    /// The numbers of a vector over variables in another order, the first one fastest.
    TFactor(const std::vector<Var>& vars, const std::vector<T>& p)
        : vars_(vars.begin(), vars.end()), p_(p.size()) {
        DAI_ASSERT(vars_.size() == vars.size() && p.size() == detail::table_length(vars_));
        const Permute order(vars);
        for (size_t i = 0; i < p.size(); ++i)
            p_.set(order.convertLinearIndex(i), p[i]);
    }

    /// Sets the number of a joint state.
    void set(size_t i, T value) { p_.set(i, value); }
    /// The number of a joint state.
    T get(size_t i) const { return p_.get(i); }
    /// The number of a joint state.
    T operator[](size_t i) const { return p_[i]; }
    /// All numbers.
    const TProb<T>& p() const { return p_; }
    /// All numbers, to be changed.
    TProb<T>& p() { return p_; }
    /// The variables.
    const VarSet& vars() const { return vars_; }
    /// The variables, to be renamed.
    VarSet& vars() { return vars_; }
    /// Number of joint states.
    size_t nrStates() const { return p_.size(); }

    T entropy() const { return p_.entropy(); }
    T max() const { return p_.max(); }
    T min() const { return p_.min(); }
    T sum() const { return p_.sum(); }
    T sumAbs() const { return p_.sumAbs(); }
    T maxAbs() const { return p_.maxAbs(); }
    bool hasNaNs() const { return p_.hasNaNs(); }
    bool hasNegatives() const { return p_.hasNegatives(); }
    /// How much the factor couples two of its variables (Mooij, Kappen 2007).
    T strength(const Var& i, const Var& j) const;

    friend bool operator==(const TFactor& a, const TFactor& b) { return a.vars_ == b.vars_ && a.p_ == b.p_; }
    friend bool operator!=(const TFactor& a, const TFactor& b) { return !(a == b); }
    /// As the operator << writes it.
    std::string toString() const { return dai::toString(*this); }

    TFactor operator-() const { return with(-p_); }
    TFactor abs() const { return with(p_.abs()); }
    TFactor exp() const { return with(p_.exp()); }
    /// Logarithms; with `zero`, that of 0 is 0.
    TFactor log(bool zero = false) const { return with(p_.log(zero)); }
    /// Inverses; with `zero`, that of 0 is 0.
    TFactor inverse(bool zero = true) const { return with(p_.inverse(zero)); }
    /// See normalize.
    TFactor normalized(ProbNormType norm = NORMPROB) const { return with(p_.normalized(norm)); }

    TFactor& randomize() { return take(p_.randomize()); }
    TFactor& setUniform() { return take(p_.setUniform()); }
    TFactor& takeAbs() { return take(p_.takeAbs()); }
    TFactor& takeExp() { return take(p_.takeExp()); }
    TFactor& takeLog(bool zero = false) { return take(p_.takeLog(zero)); }
    /// Divides by the sum or the largest value, and returns it; NOT_NORMALIZABLE where that is 0.
    T normalize(ProbNormType norm = NORMPROB) { return p_.normalize(norm); }
    TFactor& fill(T x) { return take(p_.fill(x)); }

    TFactor& operator+=(T x) { return take(p_ += x); }
    TFactor& operator-=(T x) { return take(p_ -= x); }
    TFactor& operator*=(T x) { return take(p_ *= x); }
    TFactor& operator/=(T x) { return take(p_ /= x); }
    TFactor& operator^=(T x) { return take(p_ ^= x); }
    TFactor operator+(T x) const { return with(p_ + x); }
    TFactor operator-(T x) const { return with(p_ - x); }
    TFactor operator*(T x) const { return with(p_ * x); }
    TFactor operator/(T x) const { return with(p_ / x); }
    TFactor operator^(T x) const { return with(p_ ^ x); }

    /// op(f, g), over the variables of both.
    template <typename Op>
    TFactor binaryTr(const TFactor& g, Op op) const {
        if (vars_ == g.vars_)
            return with(p_.pwBinaryTr(g.p_, op));
        TFactor result(vars_ | g.vars_, T(0));
        IndexFor f_index(vars_, result.vars_), g_index(g.vars_, result.vars_);
        for (size_t i = 0; i < result.nrStates(); ++i, ++f_index, ++g_index)
            result.set(i, op(p_[f_index], g.p_[g_index]));
        return result;
    }
    /// op(f, g), over the variables of both, in place.
    template <typename Op>
    TFactor& binaryOp(const TFactor& g, Op op) {
        return *this = binaryTr(g, op);
    }
    TFactor operator+(const TFactor& g) const { return binaryTr(g, std::plus<T>()); }
    TFactor operator-(const TFactor& g) const { return binaryTr(g, std::minus<T>()); }
    TFactor operator*(const TFactor& g) const { return binaryTr(g, std::multiplies<T>()); }
    /// The quotient, where anything divided by 0 is 0.
    TFactor operator/(const TFactor& g) const { return binaryTr(g, fo_divides0<T>()); }
    TFactor& operator+=(const TFactor& g) { return *this = *this + g; }
    TFactor& operator-=(const TFactor& g) { return *this = *this - g; }
    TFactor& operator*=(const TFactor& g) { return *this = *this * g; }
    TFactor& operator/=(const TFactor& g) { return *this = *this / g; }

    /// The factor with some of its variables in the joint state of a number, over the others.
    TFactor slice(const VarSet& vars, size_t state) const {
        DAI_ASSERT(vars << vars_);
        const VarSet rest = vars_ / vars;
        TFactor result(rest, T(0));
        IndexFor fixed(vars, vars_), free(rest, vars_);
        for (size_t i = 0; i < nrStates(); ++i, ++fixed, ++free)
            if (static_cast<size_t>(fixed) == state)
                result.set(free, p_[i]);
        return result;
    }
    /// The same function over more variables.
    TFactor embed(const VarSet& vars) const {
        DAI_ASSERT(vars >> vars_);
        return *this * TFactor(vars / vars_, T(1));
    }
    /// The sums over all variables but some, normalised unless not `normed`.
    TFactor marginal(const VarSet& vars, bool normed = true) const {
        return project(vars, normed, std::plus<T>());
    }
    /// The maxima over all variables but some, normalised unless not `normed`.
    TFactor maxMarginal(const VarSet& vars, bool normed = true) const {
        return project(vars, normed, fo_max<T>());
    }

private:
    TFactor with(const TProb<T>& p) const {
        TFactor result;
        result.vars_ = vars_;
        result.p_ = p;
        return result;
    }
    TFactor& take(const TProb<T>&) { return *this; }

    template <typename Op>
    TFactor project(const VarSet& vars, bool normed, Op op) const {
        TFactor result(vars & vars_, T(0));
        IndexFor index(result.vars_, vars_);
        for (size_t i = 0; i < nrStates(); ++i, ++index)
            result.set(index, op(result[index], p_[i]));
        if (normed)
            result.normalize();
        return result;
    }

    VarSet vars_;
    TProb<T> p_;
};

template <typename T>
T TFactor<T>::strength(const Var& i, const Var& j) const {
    DAI_ASSERT(vars_.contains(i) && vars_.contains(j) && i != j);
    const VarSet ij(i, j);
    const auto at = [&](size_t x, size_t y) {
        std::map<Var, size_t> states;
        states[i] = x;
        states[j] = y;
        return slice(ij, calcLinearState(ij, states)).p();
    };
    T largest = 0;
    for (size_t a = 0; a < i.states(); ++a)
        for (size_t b = 0; b < i.states(); ++b)
            for (size_t c = 0; a != b && c < j.states(); ++c)
                for (size_t d = 0; d < j.states(); ++d)
                    if (c != d)
                        largest = std::max(largest, at(a, c).divide(at(b, c)).max()
                                                        * at(b, d).divide(at(a, d)).max());
    return std::tanh(std::log(largest) / 4);
}

/// Writes ({x0, x1}, (0.1, 0.2, 0.3, 0.4)).
template <typename T>
std::ostream& operator<<(std::ostream& stream, const TFactor<T>& f) {
    return stream << "(" << f.vars() << ", " << f.p() << ")";
}
/// The difference of two factors over the same variables, -1 where one of them has none; see ProbDistType.
template <typename T>
T dist(const TFactor<T>& f, const TFactor<T>& g, ProbDistType type) {
    if (f.vars().empty() || g.vars().empty())
        return -1;
    DAI_ASSERT(f.vars() == g.vars());
    return dist(f.p(), g.p(), type);
}
/// The larger ones, state by state, of two factors over the same variables.
template <typename T>
TFactor<T> max(const TFactor<T>& f, const TFactor<T>& g) {
    DAI_ASSERT(f.vars() == g.vars());
    return TFactor<T>(f.vars(), max(f.p(), g.p()));
}
/// The smaller ones, state by state, of two factors over the same variables.
template <typename T>
TFactor<T> min(const TFactor<T>& f, const TFactor<T>& g) {
    DAI_ASSERT(f.vars() == g.vars());
    return TFactor<T>(f.vars(), min(f.p(), g.p()));
}
/// The mutual information of the two variables of a factor.
template <typename T>
T MutualInfo(const TFactor<T>& f) {
    DAI_ASSERT(f.vars().size() == 2);
    return dist(f.normalized(), f.marginal(f.vars().front()) * f.marginal(f.vars().back()), DISTKL);
}

typedef TFactor<Real> Factor;

/// exp(h x), where states 0 and 1 of a binary variable are x = -1 and x = 1.
inline Factor createFactorIsing(const Var& n, Real h) {
    DAI_ASSERT(n.states() == 2);
    return Factor(n, std::vector<Real>{std::exp(-h), std::exp(h)});
}
/// exp(J x y), where states 0 and 1 of the binary variables are -1 and 1.
inline Factor createFactorIsing(const Var& n1, const Var& n2, Real J) {
    DAI_ASSERT(n1.states() == 2 && n2.states() == 2 && n1 != n2);
    return Factor(VarSet(n1, n2), std::vector<Real>{std::exp(J), std::exp(-J), std::exp(-J), std::exp(J)});
}
/// exp(beta times a normally distributed random number) for each joint state.
inline Factor createFactorExpGauss(const VarSet& vars, Real beta) {
    Factor result(vars);
    for (size_t i = 0; i < result.nrStates(); ++i)
        result.set(i, std::exp(rnd_stdnormal() * beta));
    return result;
}
/// exp(J) where two variables of equally many states are in the same one, 1 elsewhere.
inline Factor createFactorPotts(const Var& x1, const Var& x2, Real J) {
    DAI_ASSERT(x1.states() == x2.states() && x1 != x2);
    Factor result(VarSet(x1, x2), Real(1));
    for (size_t state = 0; state < x1.states(); ++state)
        result.set(state + state * x1.states(), std::exp(J));
    return result;
}
/// 1 where a variable is in a state, 0 elsewhere.
inline Factor createFactorDelta(const Var& v, size_t state) {
    DAI_ASSERT(state < v.states());
    Factor result(v, Real(0));
    result.set(state, 1);
    return result;
}
/// 1 at the joint state of a number, 0 elsewhere.
inline Factor createFactorDelta(const VarSet& vars, size_t state) {
    Factor result(vars, Real(0));
    DAI_ASSERT(state < result.nrStates());
    result.set(state, 1);
    return result;
}

} // namespace dai

#endif
