// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * @file session.hpp
 * @brief Sessions of belief propagation on a graph.
 */
#ifndef FASTLBP_SESSION_HPP
#define FASTLBP_SESSION_HPP

#include <cstddef>
#include <cstdint>
#include <fastlbp/callbacks.hpp>
#include <fastlbp/graph.hpp>
#include <fastlbp/settings.hpp>
#include <fastlbp/span.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fastlbp {

class BeliefPropagation;

std::vector<Status> run_all(Span<BeliefPropagation *const> sessions);

/**
 * A session of belief propagation on one graph: a schedule, evidence, messages, and the results of the last
 * run that ended without an error.
 *
 * The analysis of the schedule and all buffers are made once; evidence is data that can change between runs
 * at no cost but its own. Results are the same bits on any number of threads and any backend.
 *
 * Each function calls the function of fastlbp.h that its text names, which says more; all throw Error. The
 * lengths of arrays that belong together are compared (Status::invalid_argument). A function that takes a
 * `buffer` writes its result to the beginning of it and returns the number of elements written
 * (Status::buffer_too_small if it is too short); the one without makes a vector.
 *
 * Functions that are const may run at the same time on several threads. A call that changes the session while
 * another one runs on it throws Status::busy at once and does nothing. A session must not be moved while a
 * call runs on it. One that was moved from can be destroyed and assigned to; everything else throws
 * Status::null_pointer.
 */
class BeliefPropagation {
public:
    /// A session on a graph, which it shares: the graph may be changed or destroyed. Its settings are those
    /// of fastlbp_bp_new().
    explicit BeliefPropagation(const Graph &graph)
        : BeliefPropagation(detail::value<fastlbp_bp *>(
            [&](fastlbp_bp **out) { return fastlbp_bp_new(graph.get(), out); })) {}

    /// Takes over a handle of the C interface, which may be null.
    explicit BeliefPropagation(fastlbp_bp *handle) noexcept : handle_(handle) {}

    /// A session in the same state, but without the progress function; the two are independent:
    /// fastlbp_bp_clone().
    BeliefPropagation clone() const {
        return BeliefPropagation(value<fastlbp_bp *>(&fastlbp_bp_clone));
    }

    /// The graph of the session, which is shared: fastlbp_bp_graph().
    Graph graph() const { return Graph(value<fastlbp_graph *>(&fastlbp_bp_graph)); }

    /// The handle, for calls of the C interface; the session keeps it.
    fastlbp_bp *get() const noexcept { return handle_.get(); }

    /// The handle, which the caller has to free, without the progress function; the session is as if moved
    /// from. Status::busy while it runs.
    fastlbp_bp *release() {
        if (progress_ != nullptr)
            set_progress(nullptr);
        return handle_.release();
    }

    /// @name Settings
    /// @{

    /// Makes everything that the next run needs, where that is still to be done: fastlbp_bp_prepare().
    void prepare() { detail::check(fastlbp_bp_prepare(get())); }

    /// Sets the number of CPU threads, 0 for one per physical core: fastlbp_bp_set_threads().
    void set_threads(std::size_t threads) { detail::check(fastlbp_bp_set_threads(get(), threads)); }
    /// Number of CPU threads that passes run on: fastlbp_bp_threads().
    std::size_t threads() const { return value<std::size_t>(&fastlbp_bp_threads); }

    /// Sets where passes run: fastlbp_bp_set_backend().
    void set_backend(Backend backend) {
        detail::check(fastlbp_bp_set_backend(get(), static_cast<std::uint32_t>(backend)));
    }
    /// Where the last run was made, or the first one will most likely be: fastlbp_bp_backend().
    Backend backend() const { return static_cast<Backend>(value<std::uint32_t>(&fastlbp_bp_backend)); }

    /// Sets which CUDA device is used, ::fastlbp::default_device for the default: fastlbp_bp_set_device().
    void set_device(std::uint32_t index) { detail::check(fastlbp_bp_set_device(get(), index)); }

    /// Sets the largest change of a probability that counts as none: fastlbp_bp_set_tolerance().
    void set_tolerance(double tolerance) { detail::check(fastlbp_bp_set_tolerance(get(), tolerance)); }

    /// Sets after how many passes run() ends in any case: fastlbp_bp_set_max_passes().
    void set_max_passes(std::uint64_t passes) { detail::check(fastlbp_bp_set_max_passes(get(), passes)); }

    /// Sets after how many seconds no further pass begins: fastlbp_bp_set_max_time().
    void set_max_time(double seconds) { detail::check(fastlbp_bp_set_max_time(get(), seconds)); }

    /// Sets what happens where certain messages that disagree meet: fastlbp_bp_set_contradiction().
    void set_contradiction(Contradiction policy) {
        detail::check(fastlbp_bp_set_contradiction(get(), static_cast<std::uint32_t>(policy)));
    }

    /// Sets what messages runs start from: fastlbp_bp_set_start().
    void set_start(Start start) {
        detail::check(fastlbp_bp_set_start(get(), static_cast<std::uint32_t>(start)));
    }

    /// Sets sums or maxima: fastlbp_bp_set_inference().
    void set_inference(Inference inference) {
        detail::check(fastlbp_bp_set_inference(get(), static_cast<std::uint32_t>(inference)));
    }

    /// Sets the damping, from 0 for none up to but not including 1: fastlbp_bp_set_damping().
    void set_damping(double damping) { detail::check(fastlbp_bp_set_damping(get(), damping)); }

    /// Sets the threshold of the active set, ::fastlbp::active_off for none:
    /// fastlbp_bp_set_active_threshold().
    void set_active_threshold(double threshold) {
        detail::check(fastlbp_bp_set_active_threshold(get(), threshold));
    }

    /// Sets whose changes the tolerance is compared with: fastlbp_bp_set_measure().
    void set_measure(Measure measure) {
        detail::check(fastlbp_bp_set_measure(get(), static_cast<std::uint32_t>(measure)));
    }

    /// Sets a property by its name, as libDAI's users know them: fastlbp_bp_set_property().
    void set_property(const Text &key, const Text &value) {
        detail::check(fastlbp_bp_set_property(get(), key.c_str(), value.c_str()));
    }
    /// The value of a property: fastlbp_bp_get_property().
    std::string property(const Text &key) const {
        return detail::collect_string([&](char *out, std::size_t length, std::size_t *needed) {
            return fastlbp_bp_get_property(get(), key.c_str(), out, length, needed);
        });
    }

    /// Sets a function that is told how runs go and can end them, or none: fastlbp_bp_set_progress().
    void set_progress(ProgressFunction function) {
        std::shared_ptr<detail::ProgressState> state;
        if (function)
            state = std::make_shared<detail::ProgressState>(std::move(function));
        detail::check(fastlbp_bp_set_progress(
            get(), state != nullptr ? &detail::ProgressState::call : nullptr, state.get()));
        progress_ = std::move(state);
    }

    /// @}
    /// @name Schedule
    /// @{

    /// Sets the update schedule by its name, such as "SEQFIX", with the seed of random ones:
    /// fastlbp_bp_set_schedule().
    void set_schedule(const Text &name, std::uint64_t seed = 0) {
        detail::check(fastlbp_bp_set_schedule(get(), name.c_str(), seed));
    }

    /// Sets the schedule BLOCKS with a number of random blocks: fastlbp_bp_set_schedule_blocks().
    void set_schedule_blocks(std::uint32_t blocks, std::uint64_t seed) {
        detail::check(fastlbp_bp_set_schedule_blocks(get(), blocks, seed));
    }

    /// Sets the schedule by a rank per edge; lower ones come first: fastlbp_bp_set_schedule_ranks().
    void set_schedule_ranks(Span<const std::uint64_t> ranks) {
        detail::check(fastlbp_bp_set_schedule_ranks(get(), ranks.data(), ranks.size()));
    }

    /// Sets the schedule by pairs of edges: `before[i]` is not updated after `after[i]`:
    /// fastlbp_bp_set_schedule_relation().
    void set_schedule_relation(Span<const std::uint32_t> before, Span<const std::uint32_t> after) {
        detail::check_length("after", after.size(), before.size());
        detail::check(fastlbp_bp_set_schedule_relation(get(), before.data(), after.data(), before.size()));
    }

    /// Name of the schedule; "CUSTOM" for one set by ranks or a relation: fastlbp_bp_schedule().
    std::string schedule() const {
        return detail::collect_string([&](char *out, std::size_t length, std::size_t *needed) {
            return fastlbp_bp_schedule(get(), out, length, needed);
        });
    }

    /// Rank of every edge in a pass, from 0 without gaps; `pass` counts those since the messages were
    /// uniform: fastlbp_bp_schedule_ranks().
    std::vector<std::uint32_t> schedule_ranks(std::uint64_t pass = 0) const {
        return of(&fastlbp_bp_schedule_ranks, pass);
    }
    /// @copydoc schedule_ranks(std::uint64_t) const
    std::size_t schedule_ranks(std::uint64_t pass, Span<std::uint32_t> buffer) const {
        return of(&fastlbp_bp_schedule_ranks, pass, buffer);
    }

    /// Number of dependency levels of the schedule: fastlbp_bp_level_count().
    std::size_t level_count() const { return value<std::size_t>(&fastlbp_bp_level_count); }

    /// Number of edges of each dependency level: fastlbp_bp_level_widths().
    std::vector<std::uint32_t> level_widths() const { return all(&fastlbp_bp_level_widths); }
    /// @copydoc level_widths() const
    std::size_t level_widths(Span<std::uint32_t> buffer) const {
        return all(&fastlbp_bp_level_widths, buffer);
    }

    /// @}
    /// @name Evidence
    /// @{

    /// Observes the variable with an index in a state: fastlbp_bp_observe().
    void observe(std::size_t variable, std::size_t state) {
        detail::check(fastlbp_bp_observe(get(), variable, state));
    }

    /// Observes the variable with a label in a state: fastlbp_bp_observe_label().
    void observe_label(std::uint64_t label, std::size_t state) {
        detail::check(fastlbp_bp_observe_label(get(), label, state));
    }

    /// Observes many variables, or none if one of them cannot be: fastlbp_bp_observe_variables().
    void observe_variables(Span<const std::uint32_t> variables, Span<const std::uint32_t> states) {
        detail::check_length("states", states.size(), variables.size());
        detail::check(
            fastlbp_bp_observe_variables(get(), variables.data(), states.data(), variables.size()));
    }

    /// Observes many variables by their labels, or none if one cannot be: fastlbp_bp_observe_labels().
    void observe_labels(Span<const std::uint64_t> labels, Span<const std::uint32_t> states) {
        detail::check_length("states", states.size(), labels.size());
        detail::check(fastlbp_bp_observe_labels(get(), labels.data(), states.data(), labels.size()));
    }

    /// Sets soft evidence on a variable, a weight per state: fastlbp_bp_set_likelihood().
    void set_likelihood(std::size_t variable, Span<const double> likelihood) {
        detail::check(fastlbp_bp_set_likelihood(get(), variable, likelihood.data(), likelihood.size()));
    }

    /// Forgets what is known about a variable: fastlbp_bp_clear_evidence().
    void clear_evidence(std::size_t variable) {
        detail::check(fastlbp_bp_clear_evidence(get(), variable));
    }

    /// Forgets all evidence: fastlbp_bp_clear_all_evidence().
    void clear_all_evidence() { detail::check(fastlbp_bp_clear_all_evidence(get())); }

    /// Replaces all evidence by that of a file, `.obs` or `.evid`, each also with `.gz`. Returns how many
    /// observations of unknown variables were left out: fastlbp_bp_read_evidence().
    std::size_t read_evidence(const Text &path, UnknownVariable unknown = UnknownVariable::error) {
        std::size_t count = 0;
        detail::check(fastlbp_bp_read_evidence(get(), path.c_str(),
                                               unknown == UnknownVariable::skip ? &count : nullptr));
        return count;
    }

    /// Number of variables about which something is known: fastlbp_bp_evidence_count().
    std::size_t evidence_count() const { return value<std::size_t>(&fastlbp_bp_evidence_count); }

    /// @}
    /// @name Runs
    /// @{

    /// Runs passes until no belief changes by more than the tolerance, or until the greatest number of passes
    /// or the time limit is reached; stop_reason() tells which. Status::contradiction under
    /// Contradiction::error; whatever the progress function throws: fastlbp_bp_run().
    void run() {
        run_by([&] { return fastlbp_bp_run(get()); });
    }

    /// Runs a number of passes: fastlbp_bp_run_passes().
    void run_passes(std::uint64_t passes) {
        run_by([&] { return fastlbp_bp_run_passes(get(), passes); });
    }

    /// Runs passes by the rule of BINGO, `run(tolerance, minIters, maxIters, histLength)`, and returns the
    /// share of variables and factors that still moved: fastlbp_bp_run_bingo().
    double run_bingo(double tolerance, std::uint64_t min_passes, std::uint64_t max_passes,
                     std::uint64_t history) {
        double frac = 1.0;
        run_by([&] {
            return fastlbp_bp_run_bingo(get(), tolerance, min_passes, max_passes, history, &frac);
        });
        return frac;
    }

    /// Makes all messages uniform: fastlbp_bp_reset().
    void reset() { detail::check(fastlbp_bp_reset(get())); }

    /// Runs many evidence sets, each as a fresh run() of its own; those of the session stay. Entry i observes
    /// `variables[j]` in `states[j]` for all j from `entry_offsets[i]` up to, but not including,
    /// `entry_offsets[i + 1]`. One that fails spoils none of the others: fastlbp_bp_run_batch().
    Batch run_batch(Span<const std::size_t> entry_offsets, Span<const std::uint32_t> variables,
                    Span<const std::uint32_t> states) {
        return batch(&fastlbp_bp_run_batch, entry_offsets, variables, states);
    }
    /// As run_batch(), with the marginals of all entries into an array of the caller's; returns the statuses.
    std::vector<Status> run_batch(Span<const std::size_t> entry_offsets,
                                  Span<const std::uint32_t> variables,
                                  Span<const std::uint32_t> states, Span<double> marginals) {
        return batch(&fastlbp_bp_run_batch, entry_offsets, variables, states, marginals);
    }

    /// As run_batch(), for variables with labels: fastlbp_bp_run_batch_labels().
    Batch run_batch_labels(Span<const std::size_t> entry_offsets, Span<const std::uint64_t> labels,
                           Span<const std::uint32_t> states) {
        return batch(&fastlbp_bp_run_batch_labels, entry_offsets, labels, states);
    }
    /// As run_batch_labels(), with the marginals of all entries into an array of the caller's; returns the
    /// statuses.
    std::vector<Status> run_batch_labels(Span<const std::size_t> entry_offsets,
                                         Span<const std::uint64_t> labels,
                                         Span<const std::uint32_t> states, Span<double> marginals) {
        return batch(&fastlbp_bp_run_batch_labels, entry_offsets, labels, states, marginals);
    }

    /// @}
    /// @name What the last run reports: Status::no_result before there is one
    /// @{

    /// All of the following at once.
    Report report() const {
        return Report{passes(),   total_passes(), converged(),       stop_reason(),
                      max_diff(), frac(),         spared_messages(), contradictions()};
    }

    /// Number of passes: fastlbp_bp_passes().
    std::uint64_t passes() const { return value<std::uint64_t>(&fastlbp_bp_passes); }

    /// Number of passes since the messages were uniform: fastlbp_bp_total_passes().
    std::uint64_t total_passes() const { return value<std::uint64_t>(&fastlbp_bp_total_passes); }

    /// Whether the changes fell to the tolerance: fastlbp_bp_converged().
    bool converged() const { return value<bool>(&fastlbp_bp_converged); }

    /// Why the run ended: fastlbp_bp_stop_reason().
    StopReason stop_reason() const {
        return static_cast<StopReason>(value<std::uint32_t>(&fastlbp_bp_stop_reason));
    }

    /// Largest change in the last pass: fastlbp_bp_max_diff().
    double max_diff() const { return value<double>(&fastlbp_bp_max_diff); }

    /// Share of variables and factors that still moved (run_bingo()), else 1: fastlbp_bp_frac().
    double frac() const { return value<double>(&fastlbp_bp_frac); }

    /// Number of messages that the active set spared: fastlbp_bp_spared_messages().
    std::uint64_t spared_messages() const { return value<std::uint64_t>(&fastlbp_bp_spared_messages); }

    /// Number of contradictory places of the last run, also of one that failed by them:
    /// fastlbp_bp_contradictions().
    std::uint64_t contradictions() const { return value<std::uint64_t>(&fastlbp_bp_contradictions); }

    /// Label of the lowest contradictory variable; Status::no_result if there was none:
    /// fastlbp_bp_first_contradiction().
    std::uint64_t first_contradiction() const {
        return value<std::uint64_t>(&fastlbp_bp_first_contradiction);
    }

    /// @}
    /// @name Results
    /// @{

    /// Marginals of all variables: the probabilities of the states of variable 0, then those of variable 1,
    /// and so on: fastlbp_bp_marginals().
    std::vector<double> marginals() const { return all(&fastlbp_bp_marginals); }
    /// @copydoc marginals() const
    std::size_t marginals(Span<double> buffer) const { return all(&fastlbp_bp_marginals, buffer); }

    /// Marginal (belief) of one variable, a probability per state: fastlbp_bp_marginal().
    std::vector<double> marginal(std::size_t variable) const { return of(&fastlbp_bp_marginal, variable); }
    /// @copydoc marginal(std::size_t) const
    std::size_t marginal(std::size_t variable, Span<double> buffer) const {
        return of(&fastlbp_bp_marginal, variable, buffer);
    }

    /// Probability of state 1 of one variable: fastlbp_bp_probability().
    double probability(std::size_t variable) const {
        return detail::value<double>(
            [&](double *out) { return fastlbp_bp_probability(get(), variable, out); });
    }

    /// P(x = 1) of all variables, if all are binary: fastlbp_bp_probabilities().
    std::vector<double> probabilities() const { return all(&fastlbp_bp_probabilities); }
    /// @copydoc probabilities() const
    std::size_t probabilities(Span<double> buffer) const {
        return all(&fastlbp_bp_probabilities, buffer);
    }

    /// P(x = 1) of some variables: fastlbp_bp_probabilities_of().
    std::vector<double> probabilities_of(Span<const std::uint32_t> variables) const {
        std::vector<double> probabilities(variables.size());
        probabilities_of(variables, probabilities);
        return probabilities;
    }
    /// @copydoc probabilities_of(Span<const std::uint32_t>) const
    /// `buffer` must be as long as `variables`.
    void probabilities_of(Span<const std::uint32_t> variables, Span<double> buffer) const {
        detail::check_length("buffer", buffer.size(), variables.size());
        detail::check(
            fastlbp_bp_probabilities_of(get(), variables.data(), variables.size(), buffer.data()));
    }

    /// Belief of a factor, over its ascending variables, the lowest fastest: fastlbp_bp_factor_belief().
    std::vector<double> factor_belief(std::size_t factor) const {
        return of(&fastlbp_bp_factor_belief, factor);
    }
    /// @copydoc factor_belief(std::size_t) const
    std::size_t factor_belief(std::size_t factor, Span<double> buffer) const {
        return of(&fastlbp_bp_factor_belief, factor, buffer);
    }

    /// One entry of the belief of a factor, by the index of the joint state: fastlbp_bp_factor_belief_at().
    double factor_belief_at(std::size_t factor, std::uint64_t index) const {
        return detail::value<double>(
            [&](double *out) { return fastlbp_bp_factor_belief_at(get(), factor, index, out); });
    }

    /// Joint belief of two variables that share a factor, `first` fastest: fastlbp_bp_pair_belief().
    std::vector<double> pair_belief(std::size_t first, std::size_t second) const {
        return detail::collect<double>([&](double *out, std::size_t length, std::size_t *needed) {
            return fastlbp_bp_pair_belief(get(), first, second, out, length, needed);
        });
    }
    /// @copydoc pair_belief(std::size_t, std::size_t) const
    std::size_t pair_belief(std::size_t first, std::size_t second, Span<double> buffer) const {
        return detail::fill(buffer, [&](double *out, std::size_t length, std::size_t *needed) {
            return fastlbp_bp_pair_belief(get(), first, second, out, length, needed);
        });
    }

    /// Joint belief of some variables that share a factor, the first given one fastest:
    /// fastlbp_bp_joint_belief().
    std::vector<double> joint_belief(Span<const std::uint32_t> variables) const {
        return detail::collect<double>([&](double *out, std::size_t length, std::size_t *needed) {
            return fastlbp_bp_joint_belief(get(), variables.data(), variables.size(), out, length, needed);
        });
    }
    /// @copydoc joint_belief(Span<const std::uint32_t>) const
    std::size_t joint_belief(Span<const std::uint32_t> variables, Span<double> buffer) const {
        return detail::fill(buffer, [&](double *out, std::size_t length, std::size_t *needed) {
            return fastlbp_bp_joint_belief(get(), variables.data(), variables.size(), out, length, needed);
        });
    }

    /// Natural logarithm of the partition function, by the Bethe approximation: fastlbp_bp_log_partition().
    double log_partition() const { return value<double>(&fastlbp_bp_log_partition); }

    /// A joint state, in general of Inference::max_product, a state per variable: fastlbp_bp_find_maximum().
    std::vector<std::uint32_t> find_maximum() const { return all(&fastlbp_bp_find_maximum); }
    /// @copydoc find_maximum() const
    std::size_t find_maximum(Span<std::uint32_t> buffer) const {
        return all(&fastlbp_bp_find_maximum, buffer);
    }

    /// Natural logarithm of the product of all factors and likelihoods at a joint state; minus infinity where
    /// one excludes it: fastlbp_bp_log_score().
    double log_score(Span<const std::uint32_t> states) const {
        return detail::value<double>([&](double *out) {
            return fastlbp_bp_log_score(get(), states.data(), states.size(), out);
        });
    }

    /// @}
    /// @name Messages
    /// @{

    /// Length of the array of all messages: fastlbp_bp_message_length().
    std::size_t message_length() const { return value<std::size_t>(&fastlbp_bp_message_length); }

    /// All factor-to-variable messages, edge by edge, a probability per state: fastlbp_bp_messages().
    std::vector<double> messages() const { return all(&fastlbp_bp_messages); }
    /// @copydoc messages() const
    std::size_t messages(Span<double> buffer) const { return all(&fastlbp_bp_messages, buffer); }

    /// Replaces all messages, for a run with Start::warm: fastlbp_bp_set_messages().
    void set_messages(Span<const double> messages) {
        detail::check(fastlbp_bp_set_messages(get(), messages.data(), messages.size()));
    }

    /// The exact state of the messages, for restore_state(): fastlbp_bp_save_state().
    std::vector<std::uint64_t> save_state() const { return all(&fastlbp_bp_save_state); }
    /// @copydoc save_state() const
    std::size_t save_state(Span<std::uint64_t> buffer) const { return all(&fastlbp_bp_save_state, buffer); }

    /// Goes back to a saved state, also of another session on an equal graph: fastlbp_bp_restore_state().
    void restore_state(Span<const std::uint64_t> state) {
        detail::check(fastlbp_bp_restore_state(get(), state.data(), state.size()));
    }

    /// @}

private:
    friend std::vector<Status> run_all(Span<BeliefPropagation *const> sessions);

    // What a function of the C interface says of the session: one value, or one array.
    template <typename T> T value(fastlbp_status (*function)(const fastlbp_bp *, T *)) const {
        return detail::value<T>([&](T *out) { return function(get(), out); });
    }
    template <typename T>
    using AllFunction = fastlbp_status (*)(const fastlbp_bp *, T *, std::size_t, std::size_t *);
    template <typename T> std::vector<T> all(AllFunction<T> function) const {
        return detail::collect<T>([&](T *out, std::size_t length, std::size_t *needed) {
            return function(get(), out, length, needed);
        });
    }
    template <typename T> std::size_t all(AllFunction<T> function, Span<T> buffer) const {
        return detail::fill(buffer, [&](T *out, std::size_t length, std::size_t *needed) {
            return function(get(), out, length, needed);
        });
    }

    // What one says of a part of it.
    template <typename T, typename Part>
    using OfFunction = fastlbp_status (*)(const fastlbp_bp *, Part, T *, std::size_t, std::size_t *);
    template <typename T, typename Part>
    std::vector<T> of(OfFunction<T, Part> function, Part part) const {
        return detail::collect<T>([&](T *out, std::size_t length, std::size_t *needed) {
            return function(get(), part, out, length, needed);
        });
    }
    template <typename T, typename Part>
    std::size_t of(OfFunction<T, Part> function, Part part, Span<T> buffer) const {
        return detail::fill(buffer, [&](T *out, std::size_t length, std::size_t *needed) {
            return function(get(), part, out, length, needed);
        });
    }

    // Afterwards the session may be gone: the progress function can destroy it.
    template <typename Call> void run_by(Call call) {
        const detail::ProgressState::Run run(progress_);
        const fastlbp_status status = call();
        run.rethrow();
        detail::check(status);
    }

    // The two functions for batches differ in how entries name variables.
    template <typename Name>
    using BatchFunction = fastlbp_status (*)(fastlbp_bp *, const std::size_t *, std::size_t, const Name *,
                                             const std::uint32_t *, std::size_t, double *, std::size_t,
                                             std::size_t *, fastlbp_status *);
    template <typename Name>
    std::vector<Status> batch(BatchFunction<Name> function, Span<const std::size_t> entry_offsets,
                              Span<const Name> names, Span<const std::uint32_t> states,
                              Span<double> marginals) {
        const std::size_t none[] = {0};
        if (entry_offsets.size() == 0)
            entry_offsets = none;
        detail::check_length("states", states.size(), names.size());
        std::vector<fastlbp_status> got(entry_offsets.size() - 1);
        run_by([&] {
            return function(get(), entry_offsets.data(), got.size(), names.data(), states.data(),
                            names.size(), marginals.data(), marginals.size(), nullptr, got.data());
        });
        std::vector<Status> statuses;
        statuses.reserve(got.size());
        for (fastlbp_status status : got)
            statuses.push_back(static_cast<Status>(status));
        return statuses;
    }
    template <typename Name>
    Batch batch(BatchFunction<Name> function, Span<const std::size_t> entry_offsets,
                Span<const Name> names, Span<const std::uint32_t> states) {
        Batch batch;
        batch.state_count = graph().state_count();
        if (entry_offsets.size() > 1)
            batch.marginals.resize((entry_offsets.size() - 1) * batch.state_count);
        batch.statuses =
            this->batch(function, entry_offsets, names, states, Span<double>(batch.marginals));
        return batch;
    }

    struct Free {
        void operator()(fastlbp_bp *handle) const noexcept { fastlbp_bp_free(handle); }
    };
    std::shared_ptr<detail::ProgressState> progress_; // outlives the handle, which points to it
    std::unique_ptr<fastlbp_bp, Free> handle_;
};

/**
 * Runs many sessions, such as those of many small graphs, as BeliefPropagation::run() would run each of them,
 * several at once where they are small; one that fails spoils none of the others. Returns what each came to.
 * The first exception of a progress function is thrown again when all have run: fastlbp_run_all().
 */
inline std::vector<Status> run_all(Span<BeliefPropagation *const> sessions) {
    std::vector<fastlbp_bp *> handles;
    std::vector<std::unique_ptr<detail::ProgressState::Run>> runs;
    for (BeliefPropagation *session : sessions) {
        handles.push_back(session != nullptr ? session->get() : nullptr);
        if (session != nullptr && session->progress_ != nullptr)
            runs.emplace_back(new detail::ProgressState::Run(session->progress_));
    }
    std::vector<fastlbp_status> got(handles.size());
    detail::check(fastlbp_run_all(handles.data(), handles.size(), got.data()));
    for (const std::unique_ptr<detail::ProgressState::Run> &run : runs)
        run->rethrow();
    std::vector<Status> statuses;
    statuses.reserve(got.size());
    for (fastlbp_status status : got)
        statuses.push_back(static_cast<Status>(status));
    return statuses;
}

/// As the other run_all(), for sessions that lie side by side, as in a std::vector.
inline std::vector<Status> run_all(Span<BeliefPropagation> sessions) {
    std::vector<BeliefPropagation *> pointers;
    pointers.reserve(sessions.size());
    for (BeliefPropagation &session : sessions)
        pointers.push_back(&session);
    return run_all(Span<BeliefPropagation *const>(pointers));
}

} // namespace fastlbp

#endif
