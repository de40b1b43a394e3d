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
class BeliefPropagation : private detail::Reader<BeliefPropagation, fastlbp_bp> {
    friend class detail::Reader<BeliefPropagation, fastlbp_bp>;

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
    /// Number of CPU threads that iterations run on: FASTLBP_REPORT_THREADS.
    std::size_t threads() const { return static_cast<std::size_t>(whole(FASTLBP_REPORT_THREADS)); }

    /// Sets where iterations run: fastlbp_bp_set_backend().
    void set_backend(Backend backend) {
        detail::check(fastlbp_bp_set_backend(get(), static_cast<std::uint32_t>(backend)));
    }
    /// Where the last run was made, or the first one will most likely be: FASTLBP_REPORT_BACKEND.
    Backend backend() const { return static_cast<Backend>(whole(FASTLBP_REPORT_BACKEND)); }

    /// Sets which CUDA device is used, ::fastlbp::default_device for the default: fastlbp_bp_set_device().
    void set_device(std::uint32_t index) { detail::check(fastlbp_bp_set_device(get(), index)); }
    /// Sets the CUDA devices that run_batch() and run_all() are spread over, while a single run uses the lowest: the property
    /// "device". Without this and without set_device(), these are all that there are.
    void set_devices(const std::vector<std::uint32_t> &indices) {
        std::string numbers;
        for (std::uint32_t index : indices) numbers += (numbers.empty() ? "" : ",") + std::to_string(index);
        set_property("device", numbers);
    }

    /// Sets the largest change of a probability that counts as none: fastlbp_bp_set_tolerance().
    void set_tolerance(double tolerance) { detail::check(fastlbp_bp_set_tolerance(get(), tolerance)); }

    /// Sets after how many iterations run() ends in any case: fastlbp_bp_set_max_iterations().
    void set_max_iterations(std::uint64_t iterations) {
        detail::check(fastlbp_bp_set_max_iterations(get(), iterations));
    }

    /// Sets after how many seconds no further iteration begins: fastlbp_bp_set_max_time().
    void set_max_time(double seconds) { detail::check(fastlbp_bp_set_max_time(get(), seconds)); }

    /// Sets what happens where deterministic messages disagree: fastlbp_bp_set_contradiction().
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

    /// Name of the schedule; "CUSTOM" for one set by ranks or a relation: fastlbp_bp_get_property().
    std::string schedule() const { return property("updates"); }

    /// Rank of every edge in an iteration, from 0 without gaps; `iteration` counts those since the messages were
    /// uniform: fastlbp_bp_schedule_ranks().
    std::vector<std::uint32_t> schedule_ranks(std::uint64_t iteration = 0) const {
        return of(&fastlbp_bp_schedule_ranks, iteration);
    }
    /// @copydoc schedule_ranks(std::uint64_t) const
    std::size_t schedule_ranks(std::uint64_t iteration, Span<std::uint32_t> buffer) const {
        return of(&fastlbp_bp_schedule_ranks, iteration, buffer);
    }

    /// Number of dependency levels of the schedule: fastlbp_bp_level_widths().
    std::size_t level_count() const { return length_of(&fastlbp_bp_level_widths); }

    /// Number of edges of each dependency level: fastlbp_bp_level_widths().
    std::vector<std::uint32_t> level_widths() const { return all(&fastlbp_bp_level_widths); }
    /// @copydoc level_widths() const
    std::size_t level_widths(Span<std::uint32_t> buffer) const {
        return all(&fastlbp_bp_level_widths, buffer);
    }

    /// @}
    /// @name Evidence
    /// @{

    /// Observes variables, or none if one of them cannot be: fastlbp_bp_observe().
    void observe(Span<const std::uint32_t> variables, Span<const std::uint32_t> states) {
        detail::check_length("states", states.size(), variables.size());
        detail::check(fastlbp_bp_observe(get(), variables.data(), states.data(), variables.size()));
    }
    /// Observes the variable with an index in a state: fastlbp_bp_observe().
    void observe(std::size_t variable, std::size_t state) {
        const std::uint32_t variables[] = {detail::narrow(variable)}, states[] = {detail::narrow(state)};
        detail::check(fastlbp_bp_observe(get(), variables, states, 1));
    }

    /// As observe(), for the variables with some labels.
    void observe_labels(Span<const std::uint64_t> labels, Span<const std::uint32_t> states) {
        detail::check_length("states", states.size(), labels.size());
        observe(graph().variables_of_labels(labels), states);
    }
    /// As observe(), for the variable with a label.
    void observe_label(std::uint64_t label, std::size_t state) {
        observe(graph().variable_of_label(label), state);
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

    /// Number of variables about which something is known: FASTLBP_REPORT_EVIDENCE.
    std::size_t evidence_count() const { return static_cast<std::size_t>(whole(FASTLBP_REPORT_EVIDENCE)); }

    /// @}
    /// @name Runs
    /// @{

    /// Runs iterations until no belief changes by more than the tolerance, or until the greatest number of iterations
    /// or the time limit is reached; stop_reason() tells which. Status::contradiction under
    /// Contradiction::error; whatever the progress function throws: fastlbp_bp_run().
    void run() {
        run_by([&] { return fastlbp_bp_run(get()); });
    }

    /// Runs a number of iterations: fastlbp_bp_run_iterations().
    void run_iterations(std::uint64_t iterations) {
        run_by([&] { return fastlbp_bp_run_iterations(get(), iterations); });
    }

    /// Runs iterations by the rule of BINGO, `run(tolerance, minIters, maxIters, histLength)`, and returns the
    /// fraction of variables and factors that still moved: fastlbp_bp_run_bingo().
    double run_bingo(double tolerance, std::uint64_t min_iterations, std::uint64_t max_iterations,
                     std::uint64_t history) {
        double fraction = 1.0;
        run_by([&] {
            return fastlbp_bp_run_bingo(get(), tolerance, min_iterations, max_iterations, history, &fraction);
        });
        return fraction;
    }

    /// Makes the results exact ones, by a junction tree whose tables have at most so many entries in all (0: 2^24).
    /// Status::limit_exceeded where the treewidth is too large: fastlbp_bp_run_exact().
    void run_exact(std::size_t table_limit = 0) { detail::check(fastlbp_bp_run_exact(get(), table_limit)); }

    /// Makes all messages uniform: fastlbp_bp_reset().
    void reset() { detail::check(fastlbp_bp_reset(get())); }

    /// Runs many evidence sets, each as a fresh run() of its own; those of the session stay. Entry i observes
    /// `variables[j]` in `states[j]` for all j from `entry_offsets[i]` up to, but not including,
    /// `entry_offsets[i + 1]`. One that fails spoils none of the others: fastlbp_bp_run_batch().
    Batch run_batch(Span<const std::size_t> entry_offsets, Span<const std::uint32_t> variables,
                    Span<const std::uint32_t> states) {
        Batch batch;
        batch.state_count = graph().state_count();
        if (entry_offsets.size() > 1)
            batch.marginals.resize((entry_offsets.size() - 1) * batch.state_count);
        batch.statuses = run_batch(entry_offsets, variables, states, batch.marginals);
        return batch;
    }
    /// As run_batch(), with the marginals of all entries into an array of the caller's; returns the statuses.
    std::vector<Status> run_batch(Span<const std::size_t> entry_offsets,
                                  Span<const std::uint32_t> variables,
                                  Span<const std::uint32_t> states, Span<double> marginals) {
        const std::size_t none[] = {0};
        if (entry_offsets.size() == 0)
            entry_offsets = none;
        detail::check_length("states", states.size(), variables.size());
        std::vector<fastlbp_status> got(entry_offsets.size() - 1);
        run_by([&] {
            return fastlbp_bp_run_batch(get(), entry_offsets.data(), got.size(), variables.data(),
                                        states.data(), variables.size(), marginals.data(),
                                        marginals.size(), nullptr, got.data());
        });
        return detail::statuses(got);
    }

    /// @}
    /// @name What the last run reports: Status::no_result before there is one
    /// @{

    /// All of the following at once.
    Report report() const {
        return Report{iterations(), total_iterations(), converged(),       stop_reason(),
                      max_diff(),   active_fraction(),  spared_messages(), contradictions()};
    }

    /// Number of iterations: FASTLBP_REPORT_ITERATIONS.
    std::uint64_t iterations() const { return whole(FASTLBP_REPORT_ITERATIONS); }

    /// Number of iterations since the messages were uniform: FASTLBP_REPORT_TOTAL_ITERATIONS.
    std::uint64_t total_iterations() const { return whole(FASTLBP_REPORT_TOTAL_ITERATIONS); }

    /// Whether the changes fell to the tolerance: FASTLBP_REPORT_CONVERGED.
    bool converged() const { return whole(FASTLBP_REPORT_CONVERGED) != 0; }

    /// Why the run ended: FASTLBP_REPORT_STOP_REASON.
    StopReason stop_reason() const { return static_cast<StopReason>(whole(FASTLBP_REPORT_STOP_REASON)); }

    /// Largest change in the last iteration: FASTLBP_REPORT_MAX_DIFF.
    double max_diff() const { return real(FASTLBP_REPORT_MAX_DIFF); }

    /// Fraction of variables and factors that still moved (run_bingo()), else 1: FASTLBP_REPORT_ACTIVE_FRACTION.
    double active_fraction() const { return real(FASTLBP_REPORT_ACTIVE_FRACTION); }

    /// Number of messages that a run with an active set left out on the CPU: FASTLBP_REPORT_SPARED_MESSAGES.
    std::uint64_t spared_messages() const { return whole(FASTLBP_REPORT_SPARED_MESSAGES); }

    /// Number of contradictory places of the last run, also of one that failed by them:
    /// FASTLBP_REPORT_CONTRADICTIONS.
    std::uint64_t contradictions() const { return whole(FASTLBP_REPORT_CONTRADICTIONS); }

    /// Label of the lowest contradictory variable; Status::no_result if there was none:
    /// FASTLBP_REPORT_FIRST_CONTRADICTION.
    std::uint64_t first_contradiction() const { return whole(FASTLBP_REPORT_FIRST_CONTRADICTION); }

    /// @}
    /// @name Results
    /// @{

    /// Marginals of all variables: the probabilities of the states of variable 0, then those of variable 1,
    /// and so on: fastlbp_bp_marginals().
    std::vector<double> marginals() const { return all(&fastlbp_bp_marginals); }
    /// @copydoc marginals() const
    std::size_t marginals(Span<double> buffer) const { return all(&fastlbp_bp_marginals, buffer); }

    /// Belief of some variables: of one its marginal, a probability per state, of several that share a factor their joint
    /// belief, the first given one fastest: fastlbp_bp_belief().
    std::vector<double> belief(Span<const std::uint32_t> variables) const {
        return detail::collect<double>(belief_of(variables));
    }
    /// @copydoc belief(Span<const std::uint32_t>) const
    std::size_t belief(Span<const std::uint32_t> variables, Span<double> buffer) const {
        return detail::fill(buffer, belief_of(variables));
    }

    /// Marginal (belief) of one variable, a probability per state: fastlbp_bp_belief().
    std::vector<double> marginal(std::size_t variable) const { return belief({detail::narrow(variable)}); }

    /// Probability of state 1 of one variable: fastlbp_bp_probabilities_of().
    double probability(std::size_t variable) const { return probabilities_of({detail::narrow(variable)})[0]; }

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

    /// Length of the array of all messages: fastlbp_bp_messages().
    std::size_t message_length() const { return length_of(&fastlbp_bp_messages); }

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
    std::uint64_t whole(std::uint32_t key) const {
        return detail::value<std::uint64_t>(
            [&](std::uint64_t *out) { return fastlbp_bp_report_u64(get(), key, out); });
    }
    double real(std::uint32_t key) const {
        return detail::value<double>([&](double *out) { return fastlbp_bp_report_f64(get(), key, out); });
    }
    template <typename T> std::size_t length_of(AllFunction<T> function) const {
        std::size_t needed = 0;
        const fastlbp_status status = function(get(), nullptr, 0, &needed);
        if (status != FASTLBP_STATUS_BUFFER_TOO_SMALL)
            detail::check(status);
        return needed;
    }
    // Writes the belief of some variables.
    struct BeliefOf {
        const fastlbp_bp *bp;
        Span<const std::uint32_t> variables;

        fastlbp_status operator()(double *out, std::size_t length, std::size_t *needed) const {
            return fastlbp_bp_belief(bp, variables.data(), variables.size(), out, length, needed);
        }
    };
    BeliefOf belief_of(Span<const std::uint32_t> variables) const { return BeliefOf{get(), variables}; }

    // Afterwards the session may be gone: the progress function can destroy it.
    template <typename Call> void run_by(Call call) {
        const detail::ProgressState::Run run(progress_);
        const fastlbp_status status = call();
        run.rethrow();
        detail::check(status);
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
    return detail::statuses(got);
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
