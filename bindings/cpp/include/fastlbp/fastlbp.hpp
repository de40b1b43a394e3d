// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * @file fastlbp.hpp
 * @brief fastlbp for C++: the C interface, fastlbp.h, with objects that own their handles and exceptions.
 *
 * A fastlbp::Graph is a factor graph, a fastlbp::BeliefPropagation a session of belief propagation on one.
 *
 * @code
 * #include <cstdio>
 * #include <fastlbp/fastlbp.hpp>
 *
 * int main() try {
 *     // A rule 0.9: x1 & x2 -> x3 with the priors 0.3 and 0.8; labels are any numbers.
 *     fastlbp::Graph graph;
 *     graph.add_prior(1, 0.3);
 *     graph.add_prior(2, 0.8);
 *     graph.add_and(3, {1, 2}, 0.9, 0.0);
 *
 *     fastlbp::BeliefPropagation bp(graph);
 *     bp.set_schedule("TREE");
 *     bp.observe_label(3, 1); // x3 is true
 *     bp.run();
 *     const std::vector<double> p = bp.probabilities();
 *     std::printf("P(x1) = %g, P(x2) = %g, P(x3) = %g\n", p[0], p[1], p[2]); // 1, 1, 1
 * } catch (const fastlbp::Error &error) {
 *     std::fprintf(stderr, "%s: %s\n", fastlbp::status_name(error.status()), error.what());
 *     return 1;
 * }
 * @endcode
 *
 * Header-only; C++11 or later, with std::string_view from C++17 and std::span from C++20 on. Compile with
 * `c++ example.cpp $(pkg-config --cflags --libs fastlbp)`, or in CMake with `find_package(fastlbp)` and
 * `target_link_libraries(example fastlbp::fastlbp)`. There is no state but in the objects, and nothing is
 * computed here: what a function does, what it costs and when it fails is said in fastlbp.h.
 */
#ifndef FASTLBP_FASTLBP_HPP
#define FASTLBP_FASTLBP_HPP

#include <fastlbp/callbacks.hpp>
#include <fastlbp/device.hpp>
#include <fastlbp/error.hpp>
#include <fastlbp/graph.hpp>
#include <fastlbp/session.hpp>
#include <fastlbp/settings.hpp>
#include <fastlbp/span.hpp>

#endif
