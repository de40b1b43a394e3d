// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief Numbers, times, random numbers and texts.
#ifndef FASTLBP_DAI_UTIL_H
#define FASTLBP_DAI_UTIL_H

#include <dai/bigint.h>
#include <dai/exceptions.h>
#include <fastlbp/libdai_session.hpp>

#include <algorithm>
#include <cassert>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#ifdef DAI_DEBUG
/// Writes an expression and its value to the standard error, where DAI_DEBUG is defined.
#define DAI_PV(x) (std::cerr << #x "= " << (x) << std::endl)
/// Writes a text to the standard error, where DAI_DEBUG is defined.
#define DAI_DMSG(text) (std::cerr << text << std::endl)
#else
/// Writes an expression and its value to the standard error, where DAI_DEBUG is defined.
#define DAI_PV(x) static_cast<void>(0)
/// Writes a text to the standard error, where DAI_DEBUG is defined.
#define DAI_DMSG(text) static_cast<void>(0)
#endif
/// Writes a text to the standard error where the property `verbose` is n or more.
#define DAI_IFVERB(n, text) \
    if (props.verbose >= n) { \
        std::cerr << text; \
    }

/// A loop over a range, as libDAI writes it.
#define bforeach(declaration, range) for (declaration : range)

#ifndef __LOGSTR__
/// Begins a line of the log of BINGO's front ends: time, file and line.
#define __LOGSTR__ (nowstr() + " " + __FILE__ + ": " + std::to_string(__LINE__) + ". ")
#endif

/// The time of day as a text, for __LOGSTR__.
inline std::string nowstr() {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    char text[64];
    return std::string(text, std::strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", std::localtime(&now)));
}

namespace dai {

using std::size_t;

/// All real numbers.
typedef double Real;

/// A number of joint states as an index; ASSERTION_FAILED where it does not fit.
inline size_t BigInt_size_t(const BigInt& number) {
    DAI_ASSERT(number.fits_ulong_p() && number.get_ui() <= static_cast<size_t>(-1));
    return static_cast<size_t>(number.get_ui());
}

/// A map by hash.
template <typename T, typename U, typename H = std::hash<T>>
class hash_map : public std::unordered_map<T, U, H> {};

/// Whether x is not a number.
inline bool isnan(Real x) { return std::isnan(x); }
/// Natural logarithm.
inline Real log(Real x) { return std::log(x); }
/// Natural logarithm, 0 for 0.
inline Real log0(Real x) { return x != 0 ? std::log(x) : 0; }
/// Exponential.
inline Real exp(Real x) { return std::exp(x); }
/// Power, where that of 0 with a negative exponent is 0, as quotients by 0 are.
inline Real pow(Real x, Real y) { return x == 0 && y < 0 ? 0 : std::pow(x, y); }
/// Absolute value.
template <class T>
inline T abs(const T& t) {
    return t < 0 ? -t : t;
}

/// Seconds since some moment.
inline double toc() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

namespace detail {
/// The generator behind the functions rnd_.
inline std::mt19937& generator() {
    static std::mt19937 instance(42);
    return instance;
}
} // namespace detail

/// Seeds the random numbers of this namespace, and the orders SEQRND of sessions made afterwards.
inline void rnd_seed(size_t seed) {
    detail::generator().seed(static_cast<std::mt19937::result_type>(seed));
    fastlbp::dai::default_seed() = seed;
}
/// A random number from 0 up to, but not including, 1.
inline Real rnd_uniform() { return std::uniform_real_distribution<Real>(0, 1)(detail::generator()); }
/// A random number of the standard normal distribution.
inline Real rnd_stdnormal() { return std::normal_distribution<Real>(0, 1)(detail::generator()); }
/// A random whole number from `min` to `max`.
inline int rnd_int(int min, int max) {
    return std::uniform_int_distribution<int>(min, max)(detail::generator());
}
/// A random whole number from 0 up to, but not including, n.
inline int rnd(int n) { return rnd_int(0, n - 1); }

/// A value as its operator >> reads it from all of a text; IMPOSSIBLE_TYPECAST if it does not.
template <class T>
T fromString(const std::string& text) {
    std::istringstream stream(text);
    T value;
    stream.unsetf(std::ios::skipws);
    if (!(stream >> value) || stream.peek() != std::char_traits<char>::eof())
        DAI_THROWE(IMPOSSIBLE_TYPECAST, "'" + text + "'");
    return value;
}
/// A text is itself.
template <>
inline std::string fromString(const std::string& text) {
    return text;
}
/// Numbers may also be `inf`, as an unlimited time is written.
template <>
inline Real fromString(const std::string& text) {
    size_t end = 0;
    Real value = 0;
    try {
        value = std::stod(text, &end);
    } catch (const std::exception&) {
        end = 0;
    }
    if (text.empty() || end != text.size() || std::isspace(static_cast<unsigned char>(text[0])))
        DAI_THROWE(IMPOSSIBLE_TYPECAST, "'" + text + "' is not a number");
    return value;
}

// Declared before they are used for parts of each other.
template <class A, class B>
std::ostream& operator<<(std::ostream& stream, const std::pair<A, B>& x);
template <class T>
std::ostream& operator<<(std::ostream& stream, const std::vector<T>& x);
template <class T>
std::ostream& operator<<(std::ostream& stream, const std::set<T>& x);
template <class A, class B>
std::ostream& operator<<(std::ostream& stream, const std::map<A, B>& x);

namespace detail {
/// As many digits as a floating-point number needs to be read back, and 0 for other types.
template <class T>
constexpr int digits_of() {
    return std::numeric_limits<typename std::conditional<std::is_floating_point<T>::value, T, int>::type>::max_digits10;
}
} // namespace detail

/// A value as its operator << writes it; floating-point numbers with all of their digits.
template <class T>
std::string toString(const T& x) {
    std::ostringstream stream;
    if (detail::digits_of<T>() != 0)
        stream.precision(detail::digits_of<T>());
    stream << x;
    return stream.str();
}

namespace detail {
template <typename Range, typename Write>
std::ostream& write_list(std::ostream& stream, char open, char close, const Range& range, Write write) {
    stream << open;
    for (typename Range::const_iterator it = range.begin(); it != range.end(); ++it) {
        if (it != range.begin())
            stream << ", ";
        write(*it);
    }
    return stream << close;
}
} // namespace detail

/// Writes a pair as (a, b).
template <class A, class B>
std::ostream& operator<<(std::ostream& stream, const std::pair<A, B>& x) {
    return stream << "(" << x.first << ", " << x.second << ")";
}
/// Writes a vector as (a, b, c).
template <class T>
std::ostream& operator<<(std::ostream& stream, const std::vector<T>& x) {
    return detail::write_list(stream, '(', ')', x, [&](const T& value) { stream << value; });
}
/// Writes a set as {a, b, c}.
template <class T>
std::ostream& operator<<(std::ostream& stream, const std::set<T>& x) {
    return detail::write_list(stream, '{', '}', x, [&](const T& value) { stream << value; });
}
/// Writes a map as {a->b, c->d}.
template <class A, class B>
std::ostream& operator<<(std::ostream& stream, const std::map<A, B>& x) {
    return detail::write_list(stream, '{', '}', x, [&](const std::pair<const A, B>& entry) {
        stream << entry.first << "->" << entry.second;
    });
}

/// Two vectors as one.
template <class T>
std::vector<T> concat(const std::vector<T>& u, const std::vector<T>& v) {
    std::vector<T> all(u);
    all.insert(all.end(), v.begin(), v.end());
    return all;
}

/// Splits a text at any of some characters: at each of them if `singleDelimiter`, else at each group of them.
inline std::vector<std::string> tokenizeString(const std::string& text, bool singleDelimiter,
                                               const std::string& delimiters = "\t\n") {
    std::vector<std::string> parts;
    size_t from = 0;
    for (;;) {
        const size_t to = text.find_first_of(delimiters, from);
        const std::string part = text.substr(from, to == std::string::npos ? to : to - from);
        if (singleDelimiter || !part.empty())
            parts.push_back(part);
        if (to == std::string::npos)
            return parts;
        from = to + 1;
    }
}

/// Measures of the difference of two distributions.
enum ProbDistType {
    DISTL1,   ///< sum of the differences
    DISTLINF, ///< largest difference
    DISTTV,   ///< total variation, half of DISTL1
    DISTKL,   ///< Kullback-Leibler divergence
    DISTHEL   ///< Hellinger distance, squared
};

/// What normalisation makes 1.
enum ProbNormType {
    NORMPROB, ///< the sum
    NORMLINF  ///< the largest value
};

} // namespace dai

#endif
