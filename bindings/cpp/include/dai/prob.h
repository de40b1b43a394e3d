// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief Vectors of numbers, mostly probabilities.
#ifndef FASTLBP_DAI_PROB_H
#define FASTLBP_DAI_PROB_H

#include <dai/util.h>

#include <functional>
#include <numeric>

namespace dai {

namespace detail {
/// What std::bind2nd and its like need to know of a function of one argument.
template <typename T>
struct Unary {
    typedef T argument_type;
    typedef T result_type;
};
/// What std::bind2nd and its like need to know of a function of two arguments.
template <typename T>
struct Binary {
    typedef T first_argument_type;
    typedef T second_argument_type;
    typedef T result_type;
};
} // namespace detail

// Function objects for the operations of TProb and TFactor.

/// The value itself.
template <typename T>
struct fo_id : detail::Unary<T> {
    T operator()(const T& x) const { return x; }
};
/// Absolute value.
template <typename T>
struct fo_abs : detail::Unary<T> {
    T operator()(const T& x) const { return x < T(0) ? -x : x; }
};
/// Exponential.
template <typename T>
struct fo_exp : detail::Unary<T> {
    T operator()(const T& x) const { return std::exp(x); }
};
/// Natural logarithm.
template <typename T>
struct fo_log : detail::Unary<T> {
    T operator()(const T& x) const { return std::log(x); }
};
/// Natural logarithm, 0 for 0.
template <typename T>
struct fo_log0 : detail::Unary<T> {
    T operator()(const T& x) const { return x != T(0) ? std::log(x) : T(0); }
};
/// Inverse.
template <typename T>
struct fo_inv : detail::Unary<T> {
    T operator()(const T& x) const { return T(1) / x; }
};
/// Inverse, 0 for 0.
template <typename T>
struct fo_inv0 : detail::Unary<T> {
    T operator()(const T& x) const { return x != T(0) ? T(1) / x : T(0); }
};
/// p log p, 0 for 0.
template <typename T>
struct fo_plog0p : detail::Unary<T> {
    T operator()(const T& x) const { return x != T(0) ? x * std::log(x) : T(0); }
};
/// Quotient, 0 where the divisor is 0.
template <typename T>
struct fo_divides0 : detail::Binary<T> {
    T operator()(const T& x, const T& y) const { return y == T(0) ? T(0) : x / y; }
};
/// A term p (log p - log q) of the Kullback-Leibler divergence, 0 for p = 0.
template <typename T>
struct fo_KL : detail::Binary<T> {
    T operator()(const T& x, const T& y) const { return x == T(0) ? T(0) : x * (std::log(x) - std::log(y)); }
};
/// A term of the Hellinger distance.
template <typename T>
struct fo_Hellinger : detail::Binary<T> {
    T operator()(const T& x, const T& y) const { return (std::sqrt(x) - std::sqrt(y)) * (std::sqrt(x) - std::sqrt(y)); }
};
/// Power, where that of 0 with a negative exponent is 0.
template <typename T>
struct fo_pow : detail::Binary<T> {
    T operator()(const T& x, const T& y) const { return y == T(1) ? x : x == T(0) && y < T(0) ? T(0) : std::pow(x, y); }
};
/// The larger one; y if they cannot be compared.
template <typename T>
struct fo_max : detail::Binary<T> {
    T operator()(const T& x, const T& y) const { return x > y ? x : y; }
};
/// The smaller one; x if they cannot be compared.
template <typename T>
struct fo_min : detail::Binary<T> {
    T operator()(const T& x, const T& y) const { return x > y ? y : x; }
};
/// Absolute difference.
template <typename T>
struct fo_absdiff : detail::Binary<T> {
    T operator()(const T& x, const T& y) const { return x < y ? y - x : x - y; }
};

/// A vector of numbers, one per state.
template <typename T>
class TProb {
public:
    typedef std::vector<T> container_type;
    typedef TProb<T> this_type;
    typedef typename container_type::const_iterator const_iterator;
    typedef typename container_type::iterator iterator;
    typedef typename container_type::const_reverse_iterator const_reverse_iterator;
    typedef typename container_type::reverse_iterator reverse_iterator;

    /// Of no states.
    TProb() {}
    /// The uniform distribution over n states.
    explicit TProb(size_t n) : p_(n, n == 0 ? T(0) : T(1) / static_cast<T>(n)) {}
    /// n times p.
    explicit TProb(size_t n, T p) : p_(n, p) {}
    /// The numbers of a range; the hint is not needed.
    template <typename Iterator>
    TProb(Iterator begin, Iterator end, size_t /*sizeHint*/) : p_(begin, end) {}
    /// The numbers of a vector.
    template <typename S>
    TProb(const std::vector<S>& v) : p_(v.begin(), v.end()) {}

    iterator begin() { return p_.begin(); }
    const_iterator begin() const { return p_.begin(); }
    iterator end() { return p_.end(); }
    const_iterator end() const { return p_.end(); }
    reverse_iterator rbegin() { return p_.rbegin(); }
    const_reverse_iterator rbegin() const { return p_.rbegin(); }
    reverse_iterator rend() { return p_.rend(); }
    const_reverse_iterator rend() const { return p_.rend(); }

    /// Number of states.
    size_t size() const { return p_.size(); }
    /// Changes the number of states.
    void resize(size_t size) { p_.resize(size); }
    /// One number.
    T get(size_t i) const { return p_.at(i); }
    /// Sets one number.
    void set(size_t i, T value) { p_.at(i) = value; }
    /// One number.
    T operator[](size_t i) const { return p_[i]; }
    /// All numbers.
    const container_type& p() const { return p_; }
    /// All numbers, to be changed.
    container_type& p() { return p_; }

    /// op(init) plus the sum of op(p).
    template <typename Op>
    T accumulateSum(T init, Op op) const {
        T sum = op(init);
        for (T x : p_)
            sum += op(x);
        return sum;
    }
    /// The largest (if `minimize` the smallest) of op(init) and op(p).
    template <typename Op>
    T accumulateMax(T init, Op op, bool minimize) const {
        T best = op(init);
        for (T x : p_)
            best = minimize ? std::min(best, op(x)) : std::max(best, op(x));
        return best;
    }
    /// Shannon entropy, with the natural logarithm.
    T entropy() const { return -accumulateSum(T(0), fo_plog0p<T>()); }
    /// The largest number, minus infinity of none.
    T max() const { return accumulateMax(-std::numeric_limits<T>::infinity(), fo_id<T>(), false); }
    /// The smallest number, infinity of none.
    T min() const { return accumulateMax(std::numeric_limits<T>::infinity(), fo_id<T>(), true); }
    /// The sum.
    T sum() const { return accumulateSum(T(0), fo_id<T>()); }
    /// The sum of the absolute values.
    T sumAbs() const { return accumulateSum(T(0), fo_abs<T>()); }
    /// The largest absolute value.
    T maxAbs() const { return accumulateMax(T(0), fo_abs<T>(), false); }
    /// Whether one is not a number.
    bool hasNaNs() const {
        return std::any_of(p_.begin(), p_.end(), [](T x) { return x != x; });
    }
    /// Whether one is negative.
    bool hasNegatives() const {
        return std::any_of(p_.begin(), p_.end(), [](T x) { return x < 0; });
    }
    /// The first state with the largest number, and that number.
    std::pair<size_t, T> argmax() const {
        DAI_ASSERT(!p_.empty());
        const const_iterator at = std::max_element(p_.begin(), p_.end());
        return std::make_pair(static_cast<size_t>(at - p_.begin()), *at);
    }
    /// A random state of this distribution.
    size_t draw() const {
        const T x = static_cast<T>(rnd_uniform()) * sum();
        T below = 0;
        for (size_t i = 0; i < size(); ++i)
            if ((below += p_[i]) > x)
                return i;
        return size() - 1;
    }
    friend bool operator<(const TProb& a, const TProb& b) { return a.p_ < b.p_; }
    friend bool operator==(const TProb& a, const TProb& b) { return a.p_ == b.p_; }
    friend bool operator!=(const TProb& a, const TProb& b) { return !(a == b); }
    /// As the operator << writes it.
    std::string toString() const { return dai::toString(*this); }

    /// op(p), state by state, in place.
    template <typename Op>
    this_type& pwUnaryOp(Op op) {
        std::transform(p_.begin(), p_.end(), p_.begin(), op);
        return *this;
    }
    /// op(p), state by state.
    template <typename Op>
    this_type pwUnaryTr(Op op) const {
        return this_type(*this).pwUnaryOp(op);
    }
    /// op(p, q), state by state, in place.
    template <typename Op>
    this_type& pwBinaryOp(const this_type& q, Op op) {
        DAI_ASSERT(size() == q.size());
        std::transform(p_.begin(), p_.end(), q.p_.begin(), p_.begin(), op);
        return *this;
    }
    /// op(p, q), state by state.
    template <typename Op>
    this_type pwBinaryTr(const this_type& q, Op op) const {
        return this_type(*this).pwBinaryOp(q, op);
    }
    /// `init` joined by `outer` with inner(p, q) of all states.
    template <typename Outer, typename Inner>
    T innerProduct(const this_type& q, T init, Outer outer, Inner inner) const {
        DAI_ASSERT(size() == q.size());
        return std::inner_product(p_.begin(), p_.end(), q.p_.begin(), init, outer, inner);
    }

    this_type operator-() const { return pwUnaryTr(std::negate<T>()); }
    this_type abs() const { return this_type(*this).takeAbs(); }
    this_type exp() const { return this_type(*this).takeExp(); }
    /// Logarithms; with `zero`, that of 0 is 0.
    this_type log(bool zero = false) const { return this_type(*this).takeLog(zero); }
    /// Inverses; with `zero`, that of 0 is 0.
    this_type inverse(bool zero = true) const {
        return pwUnaryTr([zero](T x) { return zero && x == 0 ? T(0) : T(1) / x; });
    }
    /// See normalize.
    this_type normalized(ProbNormType norm = NORMPROB) const {
        this_type copy(*this);
        copy.normalize(norm);
        return copy;
    }

    /// Random numbers from 0 to 1.
    this_type& randomize() {
        std::generate(p_.begin(), p_.end(), rnd_uniform);
        return *this;
    }
    /// The uniform distribution.
    this_type& setUniform() { return *this = this_type(size()); }
    this_type& takeAbs() {
        return pwUnaryOp([](T x) { return std::abs(x); });
    }
    this_type& takeExp() {
        return pwUnaryOp([](T x) { return std::exp(x); });
    }
    /// Logarithms; with `zero`, that of 0 is 0.
    this_type& takeLog(bool zero = false) {
        return pwUnaryOp([zero](T x) { return zero && x == 0 ? T(0) : std::log(x); });
    }
    /// Divides by the sum or the largest value, and returns it; NOT_NORMALIZABLE where that is 0.
    T normalize(ProbNormType norm = NORMPROB) {
        const T divisor = norm == NORMPROB ? sum() : maxAbs();
        if (divisor == 0)
            DAI_THROW(NOT_NORMALIZABLE);
        *this /= divisor;
        return divisor;
    }
    /// Sets all numbers.
    this_type& fill(T x) {
        std::fill(p_.begin(), p_.end(), x);
        return *this;
    }

    this_type& operator+=(T x) {
        return pwUnaryOp([x](T y) { return y + x; });
    }
    this_type& operator-=(T x) {
        return pwUnaryOp([x](T y) { return y - x; });
    }
    this_type& operator*=(T x) {
        return pwUnaryOp([x](T y) { return y * x; });
    }
    /// Quotients, 0 where x is 0.
    this_type& operator/=(T x) {
        return pwUnaryOp([x](T y) { return fo_divides0<T>()(y, x); });
    }
    this_type& operator^=(T x) {
        return pwUnaryOp([x](T y) { return fo_pow<T>()(y, x); });
    }
    this_type operator+(T x) const { return this_type(*this) += x; }
    this_type operator-(T x) const { return this_type(*this) -= x; }
    this_type operator*(T x) const { return this_type(*this) *= x; }
    this_type operator/(T x) const { return this_type(*this) /= x; }
    this_type operator^(T x) const { return this_type(*this) ^= x; }

    this_type& operator+=(const this_type& q) { return pwBinaryOp(q, std::plus<T>()); }
    this_type& operator-=(const this_type& q) { return pwBinaryOp(q, std::minus<T>()); }
    this_type& operator*=(const this_type& q) { return pwBinaryOp(q, std::multiplies<T>()); }
    /// Quotients, where anything divided by 0 is 0.
    this_type& operator/=(const this_type& q) { return pwBinaryOp(q, fo_divides0<T>()); }
    /// Quotients.
    this_type& divide(const this_type& q) { return pwBinaryOp(q, std::divides<T>()); }
    this_type& operator^=(const this_type& q) { return pwBinaryOp(q, fo_pow<T>()); }
    this_type operator+(const this_type& q) const { return this_type(*this) += q; }
    this_type operator-(const this_type& q) const { return this_type(*this) -= q; }
    this_type operator*(const this_type& q) const { return this_type(*this) *= q; }
    /// Quotients, where anything divided by 0 is 0.
    this_type operator/(const this_type& q) const { return this_type(*this) /= q; }
    /// Quotients.
    this_type divided_by(const this_type& q) const { return this_type(*this).divide(q); }
    this_type operator^(const this_type& q) const { return this_type(*this) ^= q; }

private:
    container_type p_;
};

/// The difference of two distributions; see ProbDistType.
template <typename T>
T dist(const TProb<T>& p, const TProb<T>& q, ProbDistType type) {
    switch (type) {
    case DISTL1:
        return p.innerProduct(q, T(0), std::plus<T>(), fo_absdiff<T>());
    case DISTLINF:
        return p.innerProduct(q, T(0), fo_max<T>(), fo_absdiff<T>());
    case DISTTV:
        return p.innerProduct(q, T(0), std::plus<T>(), fo_absdiff<T>()) / 2;
    case DISTKL:
        return p.innerProduct(q, T(0), std::plus<T>(), fo_KL<T>());
    case DISTHEL:
        return p.innerProduct(q, T(0), std::plus<T>(), fo_Hellinger<T>()) / 2;
    }
    DAI_THROW(UNKNOWN_ENUM_VALUE);
}

/// Writes (0.1, 0.9).
template <typename T>
std::ostream& operator<<(std::ostream& stream, const TProb<T>& p) {
    return detail::write_list(stream, '(', ')', p, [&](T x) { stream << x; });
}
/// The smaller ones, state by state.
template <typename T>
TProb<T> min(const TProb<T>& a, const TProb<T>& b) {
    return a.pwBinaryTr(b, fo_min<T>());
}
/// The larger ones, state by state.
template <typename T>
TProb<T> max(const TProb<T>& a, const TProb<T>& b) {
    return a.pwBinaryTr(b, fo_max<T>());
}

typedef TProb<Real> Prob;

} // namespace dai

#endif
