// SPDX-License-Identifier: MIT OR Apache-2.0
// The assertions of these tests. A failed one is reported and counted; main returns the count.
#ifndef FASTLBP_TESTS_LIBDAI_CHECK_HPP
#define FASTLBP_TESTS_LIBDAI_CHECK_HPP

#include <dai/alldai.h>

#include <cstdio>

/// Number of assertions that did not hold.
inline int& failures() {
    static int count = 0;
    return count;
}

inline void check_that(bool holds, const std::string& what, const char* file, int line) {
    if (holds)
        return;
    ++failures();
    std::printf("%s:%d: does not hold: %s\n", file, line, what.c_str());
}

#define CHECK(condition) check_that((condition) ? true : false, #condition, __FILE__, __LINE__)
#define SAME(a, b) check_same((a), (b), #a, __FILE__, __LINE__)
#define NEAR(a, b) check_near((a), (b), 1e-12, #a, __FILE__, __LINE__)
#define WITHIN(a, b, distance) check_near((a), (b), (distance), #a, __FILE__, __LINE__)
/// Throws dai::Exception with a code and a text that contains `text`.
#define THROWS(expression, wanted, text) \
    check_throws([&] { (void)(expression); }, dai::Exception::wanted, (text), #expression, __FILE__, __LINE__)

template <typename A, typename B>
void check_same(const A& a, const B& b, const char* what, const char* file, int line) {
    check_that(a == b, std::string(what) + " = " + dai::toString(a) + ", not " + dai::toString(b), file, line);
}

inline void check_near(double a, double b, double distance, const char* what, const char* file, int line) {
    std::ostringstream text;
    text.precision(17);
    text << what << " = " << a << ", not " << b;
    check_that(std::abs(a - b) <= distance, text.str(), file, line);
}

inline void check_near(const dai::Factor& a, const dai::Factor& b, double distance, const char* what,
                       const char* file, int line) {
    check_that(a.vars() == b.vars() && dist(a, b, dai::DISTLINF) <= distance,
               std::string(what) + " = " + a.toString() + ", not " + b.toString(), file, line);
}

template <typename Call>
void check_throws(Call call, dai::Exception::Code wanted, const std::string& text, const char* what,
                  const char* file, int line) {
    try {
        call();
    } catch (const dai::Exception& error) {
        check_that(error.getCode() == wanted && error.getDetailedMsg().find(text) != std::string::npos,
                   std::string(what) + " throws with '" + text + "', not " + error.what(), file, line);
        return;
    }
    check_that(false, std::string(what) + " throws", file, line);
}

/// Marginal of some variables by the sum over all joint states of a graph.
inline dai::Factor exact(const dai::FactorGraph& graph, const dai::VarSet& vars) {
    dai::Factor joint;
    for (const dai::Factor& factor : graph.factors())
        joint *= factor;
    return joint.marginal(vars);
}

/// Logarithm of the sum over all joint states.
inline double exact_log_sum(const dai::FactorGraph& graph) {
    dai::Factor joint;
    for (const dai::Factor& factor : graph.factors())
        joint *= factor;
    return std::log(joint.sum());
}

#endif
