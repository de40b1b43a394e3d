// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * @file settings.hpp
 * @brief What a session can be set to, and what a run reports.
 */
#ifndef FASTLBP_SETTINGS_HPP
#define FASTLBP_SETTINGS_HPP

#include <cstddef>
#include <cstdint>
#include <fastlbp/error.hpp>
#include <vector>

namespace fastlbp {

/// Where iterations run. Results do not depend on it.
enum class Backend : std::uint32_t {
    /// Where each run is expected to end first.
    automatic = FASTLBP_BACKEND_AUTO,
    /// The processor.
    cpu = FASTLBP_BACKEND_CPU,
    /// A CUDA device.
    cuda = FASTLBP_BACKEND_CUDA
};

/// What messages runs start from.
enum class Start : std::uint32_t {
    /// Uniform messages.
    fresh = FASTLBP_START_FRESH,
    /// The messages as the last run, BeliefPropagation::set_messages() or
    /// BeliefPropagation::restore_state() left them.
    warm = FASTLBP_START_WARM
};

/// For BeliefPropagation::set_active_threshold(): no active set.
constexpr double active_off = FASTLBP_ACTIVE_OFF;

/// What happens where deterministic messages disagree.
enum class Contradiction : std::uint32_t {
    /// The run throws Status::contradiction.
    error = FASTLBP_CONTRADICTION_ERROR,
    /// The state backed by more deterministic messages wins, a tie is uniform.
    vote = FASTLBP_CONTRADICTION_VOTE
};

/// What BeliefPropagation::read_evidence() does with a variable that the graph does not have.
enum class UnknownVariable {
    /// Status::parse, with file and line.
    error,
    /// It is left out, counted, and named in the log.
    skip
};

/// What messages are over the states of the other variables.
enum class Inference : std::uint32_t {
    /// Sums, for marginals.
    sum_product = FASTLBP_INFERENCE_SUM_PRODUCT,
    /// Maxima, for the most probable joint state.
    max_product = FASTLBP_INFERENCE_MAX_PRODUCT
};

/// Why a run ended.
enum class StopReason : std::uint32_t {
    /// The changes fell to the tolerance.
    converged = FASTLBP_STOP_CONVERGED,
    /// All iterations asked for were made.
    iterations = FASTLBP_STOP_ITERATIONS,
    /// By BINGO's rule, since few variables and factors still moved.
    active_fraction = FASTLBP_STOP_ACTIVE_FRACTION,
    /// The time was up.
    time = FASTLBP_STOP_TIME,
    /// The progress function asked for it.
    cancelled = FASTLBP_STOP_CANCELLED
};

/// Whose changes the tolerance of BeliefPropagation::run() is compared with.
enum class Measure : std::uint32_t {
    /// Beliefs of variables.
    variables = FASTLBP_MEASURE_VARIABLES,
    /// Beliefs of variables and of factors, as in libDAI.
    all = FASTLBP_MEASURE_ALL
};

/// What a run reports; see BeliefPropagation::report().
struct Report {
    /// Number of iterations.
    std::uint64_t iterations;
    /// Number of iterations since the messages were uniform: with warm starts, those of several runs.
    std::uint64_t total_iterations;
    /// Whether the changes fell to the tolerance.
    bool converged;
    /// Why the run ended.
    StopReason stop_reason;
    /// Largest change in the last iteration; infinity if none was made.
    double max_diff;
    /// Fraction of variables and factors that still moved (BINGO's rule), else 1.
    double active_fraction;
    /// Number of messages that a run with an active set left out on the CPU, which depends on what was faster; 0 on devices.
    std::uint64_t spared_messages;
    /// Number of contradictory places, in the iteration with most of them.
    std::uint64_t contradictions;
};

/// The results of BeliefPropagation::run_batch().
struct Batch {
    /// The marginals of all entries, one entry after the other; NaN for an entry that failed.
    std::vector<double> marginals;
    /// What BeliefPropagation::run() would have come to for each entry.
    std::vector<Status> statuses;
    /// Number of marginals of an entry, Graph::state_count().
    std::size_t state_count;

    /// The first of the Batch::state_count marginals of an entry, laid out as by
    /// BeliefPropagation::marginals().
    const double *entry(std::size_t index) const { return marginals.data() + index * state_count; }
};

} // namespace fastlbp

#endif
