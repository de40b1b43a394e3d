// The assertions of the C++ tests. A failed one is reported and counted; main returns check_result().
#ifndef FASTLBP_TESTS_CHECK_HPP
#define FASTLBP_TESTS_CHECK_HPP

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fastlbp/fastlbp.hpp>
#include <string>
#include <vector>

// Where files may be written.
struct Places {
    std::string scratch = ".";
};

inline std::atomic<int> &check_failures() {
    static std::atomic<int> failures(0);
    return failures;
}

inline std::atomic<int> &check_count() {
    static std::atomic<int> count(0);
    return count;
}

inline void check_true(bool holds, const char *what, const char *file, int line) {
    ++check_count();
    if (!holds) {
        ++check_failures();
        std::printf("%s:%d: does not hold: %s\n", file, line, what);
    }
}

inline void check_near(double value, double wanted, const char *what, const char *file, int line) {
    ++check_count();
    if (!(std::fabs(value - wanted) <= 1e-14)) {
        ++check_failures();
        std::printf("%s:%d: %s is %.17g instead of %.17g\n", file, line, what, value, wanted);
    }
}

// The call throws an Error of this status whose text contains `text`.
template <typename Call>
void check_throws(Call call, fastlbp::Status wanted, const std::string &text, const char *what,
                  const char *file, int line) {
    ++check_count();
    std::string problem = "nothing thrown";
    try {
        call();
    } catch (const fastlbp::Error &error) {
        problem.clear();
        if (error.status() != wanted)
            problem = fastlbp::status_name(error.status());
        if (std::string(error.what()).find(text) == std::string::npos)
            problem += " without '" + text + "'";
        if (!problem.empty())
            problem += std::string(": ") + error.what();
    }
    if (!problem.empty()) {
        ++check_failures();
        std::printf("%s:%d: %s: %s\n", file, line, what, problem.c_str());
    }
}

#define CHECK(...) check_true((__VA_ARGS__) ? true : false, #__VA_ARGS__, __FILE__, __LINE__)
#define NEAR(value, wanted) check_near((value), (wanted), #value, __FILE__, __LINE__)
#define THROWS(status, text, ...)                                                                          \
    check_throws([&] { (void)(__VA_ARGS__); }, fastlbp::Status::status, (text), #__VA_ARGS__, __FILE__,     \
                 __LINE__)

inline int check_result() {
    std::printf("%d checks, %d failed\n", check_count().load(), check_failures().load());
    return check_failures().load() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

// A number from the environment.
inline long check_setting(const char *name, long fallback) {
    const char *text = std::getenv(name);
    return text == nullptr ? fallback : std::strtol(text, nullptr, 10);
}

// The tree that most tests use: priors of 1 and 2, an AND of both to 3, an OR of 3 to 4.
//
//   P(3) = 0.24 * 0.9 + 0.76 * 0.1 = 0.292
//   P(4) = 0.292 * 0.8 + 0.708 * 0.3 = 0.446
inline fastlbp::Graph tree() {
    fastlbp::Graph graph;
    graph.add_prior(1, 0.3);
    graph.add_prior(2, 0.8);
    graph.add_and(3, {1, 2}, 0.9, 0.1);
    graph.add_or(4, {3}, 0.7, 0.2);
    return graph;
}

// A graph with cycles: a ring of `size` AND and OR factors, each also reading across the ring.
inline fastlbp::Graph ring(std::uint64_t size) {
    fastlbp::Graph graph;
    for (std::uint64_t i = 0; i < size; ++i) {
        const std::uint64_t body[] = {(i + 1) % size, (i + size / 2) % size};
        if (i % 2 == 0)
            graph.add_and(i, body, 0.9, 0.05);
        else
            graph.add_or(i, body, 0.8, 0.15);
        graph.add_prior(i, 0.3 + 0.4 * static_cast<double>(i) / static_cast<double>(size));
    }
    return graph;
}

// x2 is x1, which is true.
inline fastlbp::Graph certain() {
    fastlbp::Graph graph;
    graph.add_prior(1, 1.0);
    graph.add_and(2, {1}, 1.0, 0.0);
    return graph;
}

// A variable with the states 0, 1 and 2 (label 10) and a binary one (label 20), joined by a table.
inline fastlbp::Graph ternary() {
    fastlbp::Graph graph;
    graph.add_variable(10, 3);
    graph.add_table({10}, {0.2, 0.3, 0.5});
    graph.add_table({10, 20}, {0.9, 0.5, 0.1, 0.1, 0.5, 0.9});
    return graph;
}

// Writes a file; false, with a failed check, where that cannot be done.
inline bool write_text(const std::string &path, const char *text) {
    std::FILE *file = std::fopen(path.c_str(), "w");
    CHECK(file != nullptr);
    if (file == nullptr)
        return false;
    std::fputs(text, file);
    std::fclose(file);
    return true;
}

#endif
