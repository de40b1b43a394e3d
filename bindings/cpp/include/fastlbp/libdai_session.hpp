// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief Sessions of the C interface as libDAI's algorithms need them: graphs whose factors change under
/// messages that stay, warm starts, and libDAI's exceptions. For fastlbp/libdai.hpp and dai_ext.
#ifndef FASTLBP_LIBDAI_SESSION_HPP
#define FASTLBP_LIBDAI_SESSION_HPP

#include <fastlbp.h>

#include <dai/exceptions.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace fastlbp {
namespace dai {

using ::dai::Exception;

/// Seed of the orders SEQRND of what is made afterwards without the property `seed`.
inline std::size_t& default_seed() {
    static std::size_t seed = 0;
    return seed;
}

/// What a failure is in libDAI's terms.
inline Exception::Code exception_code(fastlbp_status status) {
    switch (status) {
    case FASTLBP_STATUS_CONTRADICTION: return Exception::NOT_NORMALIZABLE;
    case FASTLBP_STATUS_PARSE: return Exception::INVALID_FACTORGRAPH_FILE;
    case FASTLBP_STATUS_IO: return Exception::CANNOT_READ_FILE;
    case FASTLBP_STATUS_OUT_OF_RANGE: return Exception::OBJECT_NOT_FOUND;
    case FASTLBP_STATUS_UNSUPPORTED: return Exception::NOT_IMPLEMENTED;
    case FASTLBP_STATUS_OUT_OF_MEMORY:
    case FASTLBP_STATUS_LIMIT_EXCEEDED: return Exception::OUT_OF_MEMORY;
    case FASTLBP_STATUS_PANIC:
    case FASTLBP_STATUS_POISONED: return Exception::INTERNAL_ERROR;
    default: return Exception::RUNTIME_ERROR;
    }
}

/// Throws what a call that failed says; `call` is its name.
inline void check(fastlbp_status status, const char* call) {
    if (status != FASTLBP_STATUS_OK)
        throw Exception(exception_code(status), __FILE__, call, "0", fastlbp_last_error());
}

/// A graph, shared by all that run on it.
typedef std::shared_ptr<fastlbp_graph> Graph;

/// An empty graph.
inline Graph new_graph() {
    fastlbp_graph* graph = nullptr;
    check(fastlbp_graph_new(&graph), "fastlbp_graph_new");
    return Graph(graph, fastlbp_graph_free);
}

/// How to run.
struct Settings {
    double tol = 1e-9;                                           ///< Largest change that counts as none.
    std::size_t maxiter = 10000;                                 ///< Iterations after which a run ends.
    double maxtime = std::numeric_limits<double>::infinity();    ///< Seconds after which a run ends.
    std::size_t verbose = 0;                                     ///< From 1 on, runs are told on stderr.
    bool logdomain = false;                                      ///< In which domain SEQMAX compares.
    double damping = 0;                                          ///< See fastlbp_bp_set_damping.
    std::size_t seed = default_seed();                           ///< Of SEQRND and BLOCKS.
    std::size_t threads = 0;                                     ///< See fastlbp_bp_set_threads.
    std::string backend = "auto";                                ///< See fastlbp_bp_set_property.
    std::string device = "default";                              ///< See fastlbp_bp_set_property.
    std::string contradiction;                                   ///< `error`, `vote`, or by the kind of run.
};

/// A session that goes on from its messages, and whose graph can be replaced under them.
class Session {
public:
    Session() : messages_(UNIFORM), current_(false) {}
    Session(const Session& other)
        : graph_(other.graph_), messages_(other.messages_), current_(false) {
        // What has no messages of its own yet is made anew where it is needed.
        if (!other.bp_ || messages_ == UNIFORM)
            return;
        fastlbp_bp* bp = nullptr;
        check(fastlbp_bp_clone(other.bp_.get(), &bp), "fastlbp_bp_clone");
        bp_.reset(bp);
        applied_ = other.applied_;
    }
    Session& operator=(const Session& other) {
        if (this != &other) {
            Session copy(other);
            std::swap(graph_, copy.graph_);
            std::swap(bp_, copy.bp_);
            std::swap(applied_, copy.applied_);
            messages_ = copy.messages_;
            current_ = copy.current_;
        }
        return *this;
    }

    /// Whether it has a graph.
    bool has_graph() const { return static_cast<bool>(graph_); }
    /// The graph.
    const fastlbp_graph* graph() const { return graph_.get(); }

    /// Replaces the graph by one of the same variables and scopes (or sets the first one). Messages stay;
    /// evidence goes.
    void set_graph(const Graph& graph) {
        std::vector<std::uint64_t> state;
        if (bp_ && messages_ != UNIFORM) {
            std::size_t length = 0;
            fastlbp_bp_save_state(bp_.get(), nullptr, 0, &length);
            state.resize(length);
            check(fastlbp_bp_save_state(bp_.get(), state.data(), length, nullptr), "fastlbp_bp_save_state");
        }
        graph_ = graph;
        bp_.reset();
        current_ = false;
        if (!state.empty())
            check(fastlbp_bp_restore_state(bp(), state.data(), state.size()), "fastlbp_bp_restore_state");
    }

    /// The handle.
    fastlbp_bp* bp() {
        if (!bp_) {
            fastlbp_bp* bp = nullptr;
            check(fastlbp_bp_new(graph_.get(), &bp), "fastlbp_bp_new");
            bp_.reset(bp);
            const Applied last = applied_;
            applied_ = Applied();
            if (!last.updates.empty())
                apply(last.settings, last.updates.c_str(), last.inference.c_str(), last.policy);
        }
        return bp_.get();
    }

    /// Makes all messages uniform.
    void reset() {
        if (bp_ && messages_ != UNIFORM)
            check(fastlbp_bp_reset(bp_.get()), "fastlbp_bp_reset");
        messages_ = UNIFORM;
        current_ = false;
    }

    /// Makes the messages to some variables uniform, the others rounded to what fastlbp_bp_messages tells.
    template <typename Contains>
    void reset(const Contains& contains) {
        if (!bp_ || messages_ == UNIFORM)
            return;
        std::size_t edges = 0, count = 0, length = 0;
        check(fastlbp_graph_count(graph(), FASTLBP_COUNT_EDGES, &edges), "fastlbp_graph_count");
        check(fastlbp_graph_count(graph(), FASTLBP_COUNT_VARIABLES, &count), "fastlbp_graph_count");
        fastlbp_bp_messages(bp(), nullptr, 0, &length);
        std::vector<std::uint32_t> variables(edges), cardinalities(count);
        std::vector<double> messages(length);
        check(fastlbp_graph_cardinalities(graph(), cardinalities.data(), count, nullptr),
              "fastlbp_graph_cardinalities");
        check(fastlbp_graph_edge_variables(graph(), variables.data(), edges, nullptr),
              "fastlbp_graph_edge_variables");
        check(fastlbp_bp_messages(bp(), messages.data(), length, nullptr), "fastlbp_bp_messages");
        std::size_t from = 0;
        for (std::size_t edge = 0; edge < edges; ++edge) {
            const std::size_t states = cardinalities[variables[edge]];
            if (contains(variables[edge]))
                for (std::size_t x = 0; x < states; ++x)
                    messages[from + x] = 1;
            from += states;
        }
        check(fastlbp_bp_set_messages(bp(), messages.data(), length), "fastlbp_bp_set_messages");
        current_ = false;
    }

    /// Runs by libDAI's rule, or, where `measure` is FASTLBP_MEASURE_VARIABLES, by that part of it; at most
    /// `iterations` iterations. Returns how many were made.
    std::size_t run(const Settings& settings, const char* updates, const char* inference,
                    std::size_t iterations, std::uint32_t measure) {
        apply(settings, updates, inference, FASTLBP_CONTRADICTION_ERROR);
        check(fastlbp_bp_set_measure(bp(), measure), "fastlbp_bp_set_measure");
        check(fastlbp_bp_set_tolerance(bp(), settings.tol), "fastlbp_bp_set_tolerance");
        check(fastlbp_bp_set_max_iterations(bp(), iterations), "fastlbp_bp_set_max_iterations");
        begin();
        check(fastlbp_bp_run(bp()), "fastlbp_bp_run");
        return end(true);
    }

    /// Runs by BINGO's rule; `active_fraction` is the fraction that still moves, unless it is NULL. Results are the means
    /// of the last beliefs, unless it converged. Returns the iterations made.
    std::size_t run_bingo(const Settings& settings, const char* updates, const char* inference,
                          double tolerance, std::size_t minimum, std::size_t maximum, std::size_t history,
                          double* active_fraction) {
        apply(settings, updates, inference, FASTLBP_CONTRADICTION_VOTE);
        begin();
        check(fastlbp_bp_run_bingo(bp(), tolerance, minimum, maximum, history, active_fraction), "fastlbp_bp_run_bingo");
        return end(report(FASTLBP_REPORT_CONVERGED) != 0 || history == 1);
    }

    /// Largest change in the last iteration of the last run.
    double max_diff() {
        double value = 0;
        check(fastlbp_bp_report_f64(bp(), FASTLBP_REPORT_MAX_DIFF, &value), "fastlbp_bp_report_f64");
        return value;
    }

    /// The handle, with results of the messages as they are.
    fastlbp_bp* results() {
        if (!current_) {
            check(fastlbp_bp_set_start(bp(), FASTLBP_START_WARM), "fastlbp_bp_set_start");
            check(fastlbp_bp_run_iterations(bp(), 0), "fastlbp_bp_run_iterations");
        }
        current_ = true;
        return bp();
    }

    /// Says that evidence was changed.
    void touch() { current_ = false; }

    /// Belief of a variable.
    void marginal(std::size_t variable, std::vector<double>& belief) {
        const std::uint32_t variables[] = {static_cast<std::uint32_t>(variable)};
        check(fastlbp_bp_belief(results(), variables, 1, belief.data(), belief.size(), nullptr),
              "fastlbp_bp_belief");
    }

    /// Belief of a factor.
    void factor_belief(std::size_t factor, std::vector<double>& belief) {
        check(fastlbp_bp_factor_belief(results(), factor, belief.data(), belief.size(), nullptr),
              "fastlbp_bp_factor_belief");
    }

    /// Joint belief of variables, the first one fastest; BELIEF_NOT_AVAILABLE if no factor has all of them.
    void joint_belief(const std::vector<std::uint32_t>& variables, std::vector<double>& belief) {
        const fastlbp_status status = fastlbp_bp_belief(results(), variables.data(), variables.size(),
                                                        belief.data(), belief.size(), nullptr);
        if (status == FASTLBP_STATUS_INVALID_ARGUMENT)
            throw Exception(Exception::BELIEF_NOT_AVAILABLE, __FILE__, "fastlbp_bp_belief", "0",
                            fastlbp_last_error());
        check(status, "fastlbp_bp_belief");
    }

    /// Natural logarithm of the partition function.
    double log_partition() {
        double value = 0;
        check(fastlbp_bp_log_partition(results(), &value), "fastlbp_bp_log_partition");
        return value;
    }

    /// Decodes a joint state; RUNTIME_ERROR if the factors allow none of those that it looks at.
    void find_maximum(std::vector<std::uint32_t>& states) {
        const fastlbp_status status =
            fastlbp_bp_find_maximum(results(), states.data(), states.size(), nullptr);
        if (status == FASTLBP_STATUS_CONTRADICTION)
            throw Exception(Exception::RUNTIME_ERROR, __FILE__, "fastlbp_bp_find_maximum", "0",
                            fastlbp_last_error());
        check(status, "fastlbp_bp_find_maximum");
    }

private:
    struct Free {
        void operator()(fastlbp_bp* bp) const { fastlbp_bp_free(bp); }
    };
    // What was set before: some settings would have the schedule analysed again.
    struct Applied {
        Settings settings;
        std::string updates, inference; // empty before the first run
        std::uint32_t policy = FASTLBP_CONTRADICTION_ERROR;
    };
    enum Messages { UNIFORM, OTHER };

    void set(const char* key, const std::string& value) {
        check(fastlbp_bp_set_property(bp(), key, value.c_str()), "fastlbp_bp_set_property");
    }

    void apply(const Settings& settings, const char* updates, const char* inference, std::uint32_t policy) {
        const Settings& old = applied_.settings;
        bp();
        if (applied_.updates != updates || old.seed != settings.seed) {
            // The place of a parallel order of threads, which libDAI's extension has, takes a random one.
            const bool parallel = std::string(updates) == "SEQRNDPAR";
            check(fastlbp_bp_set_schedule(bp(), parallel ? "SEQRND" : updates, settings.seed),
                  "fastlbp_bp_set_schedule");
        }
        if (old.threads != settings.threads)
            check(fastlbp_bp_set_threads(bp(), settings.threads), "fastlbp_bp_set_threads");
        if (old.backend != settings.backend)
            set("backend", settings.backend);
        if (old.device != settings.device)
            set("device", settings.device);
        set("logdomain", settings.logdomain ? "1" : "0");
        set("inference", inference);
        check(fastlbp_bp_set_damping(bp(), settings.damping), "fastlbp_bp_set_damping");
        check(fastlbp_bp_set_max_time(bp(), settings.maxtime), "fastlbp_bp_set_max_time");
        check(fastlbp_bp_set_contradiction(bp(), policy), "fastlbp_bp_set_contradiction");
        if (!settings.contradiction.empty())
            set("contradiction", settings.contradiction);
        applied_.settings = settings;
        applied_.updates = updates;
        applied_.inference = inference;
        applied_.policy = policy;
    }

    // A run from uniform messages compares its first iteration with uniform beliefs; other runs go on.
    void begin() {
        check(fastlbp_bp_set_start(bp(), messages_ == UNIFORM ? FASTLBP_START_FRESH : FASTLBP_START_WARM),
              "fastlbp_bp_set_start");
        current_ = false;
        messages_ = OTHER;
    }

    std::size_t end(bool results_are_current) {
        current_ = results_are_current;
        return static_cast<std::size_t>(report(FASTLBP_REPORT_ITERATIONS));
    }

    std::uint64_t report(std::uint32_t key) {
        std::uint64_t value = 0;
        check(fastlbp_bp_report_u64(bp(), key, &value), "fastlbp_bp_report_u64");
        return value;
    }

    Graph graph_;
    std::unique_ptr<fastlbp_bp, Free> bp_;
    Applied applied_;
    Messages messages_;
    bool current_; // whether the results are those of the messages and evidence as they are
};

} // namespace dai
} // namespace fastlbp

#endif
