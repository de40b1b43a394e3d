// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * @file callbacks.hpp
 * @brief Functions of the caller's that the library calls: the log, and the progress of runs.
 */
#ifndef FASTLBP_CALLBACKS_HPP
#define FASTLBP_CALLBACKS_HPP

#include <cstdint>
#include <exception>
#include <fastlbp/error.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace fastlbp {

/// How a run goes.
struct Progress {
    /// Iterations done in this run; finished entries in a batch.
    std::uint64_t iterations;
    /// Largest number of iterations that this run can make; number of all entries in a batch.
    std::uint64_t max_iterations;
    /// Largest change in the last iteration; infinity where the run does not measure it.
    double max_diff;
    /// Fraction of variables and factors that still move (BINGO's rule), else 1.
    double active_fraction;
};

/// How important a message is; later versions of the library may add less important ones.
enum class LogLevel : std::uint32_t {
    /// A defect, or something that did not work.
    error = FASTLBP_LOG_ERROR,
    /// Something that makes results doubtful, such as contradictions that were voted on.
    warning = FASTLBP_LOG_WARNING,
    /// What the library decided or did, such as the backend it chose.
    info = FASTLBP_LOG_INFO
};

/**
 * Takes the library's messages as long as it exists: fastlbp_set_log_callback(). A process has one log: making
 * a second one replaces the first, and destroying either ends the messages.
 *
 * The function gets a level and a text, which is valid during the call. It is called on the threads that
 * call the library and on the library's own, also on several at once. An exception that it throws goes no
 * further; the first one is kept for rethrow().
 */
class Log {
public:
    /// The function that takes messages.
    using Function = std::function<void(LogLevel level, const char *text)>;

    /// Has the library call a function; Status::busy from inside a log function.
    explicit Log(Function function) : state_(new State) {
        state_->function = std::move(function);
        detail::check(fastlbp_set_log_callback(&State::call, state_.get()));
    }

    /// Takes over another log, which then takes none.
    Log(Log &&) noexcept = default;
    Log &operator=(Log &&) = delete;

    /// Ends the messages, after waiting for calls of the function on other threads. From inside the function that is
    /// impossible: it is then called until another log replaces it, and what it holds stays.
    ~Log() {
        if (state_ != nullptr && fastlbp_set_log_callback(nullptr, nullptr) != FASTLBP_STATUS_OK)
            state_.release();
    }

    /// Throws the first exception that the function threw since the last call of this; nothing if there
    /// was none.
    void rethrow() const {
        std::exception_ptr error;
        if (state_ != nullptr) {
            std::lock_guard<std::mutex> lock(state_->mutex);
            std::swap(error, state_->error);
        }
        if (error != nullptr)
            std::rethrow_exception(error);
    }

private:
    struct State {
        Function function;
        std::mutex mutex;
        std::exception_ptr error;

        static void call(void *user, std::uint32_t level, const char *text) noexcept {
            State &state = *static_cast<State *>(user);
            try {
                state.function(static_cast<LogLevel>(level), text);
            } catch (...) {
                std::lock_guard<std::mutex> lock(state.mutex);
                if (state.error == nullptr)
                    state.error = std::current_exception();
            }
        }
    };

    std::unique_ptr<State> state_;
};

/**
 * Is told after each iteration how a run goes; returns true to go on and false to end the run before the next one.
 *
 * Called on the thread that runs the session. An exception that it throws ends the run in the same way, and
 * the function that runs throws it again after that. Calls on the running session throw Status::busy;
 * destroying it is allowed, and takes effect when the run ends.
 */
using ProgressFunction = std::function<bool(const Progress &)>;

namespace detail {

/// A progress function and the runs that it is called for.
class ProgressState {
public:
    /// A state that calls `function`.
    explicit ProgressState(ProgressFunction function) : function_(std::move(function)) {}

    /// A run on this thread that may call the function. It takes the exception from where it was thrown to
    /// behind the frames of the library.
    class Run {
    public:
        /// Begins a run; `state` may be null, if there is no function.
        explicit Run(std::shared_ptr<ProgressState> state) : state_(std::move(state)) {
            if (state_ != nullptr) {
                std::lock_guard<std::mutex> lock(state_->mutex_);
                outer_ = state_->innermost_;
                state_->innermost_ = this;
            }
        }
        Run(const Run &) = delete;
        Run &operator=(const Run &) = delete;
        ~Run() {
            if (state_ != nullptr) {
                std::lock_guard<std::mutex> lock(state_->mutex_);
                Run **link = &state_->innermost_;
                while (*link != this)
                    link = &(*link)->outer_;
                *link = outer_;
            }
        }

        /// Throws what the function threw in this run.
        void rethrow() const {
            if (error_ != nullptr)
                std::rethrow_exception(error_);
        }

    private:
        friend class ProgressState;
        std::shared_ptr<ProgressState> state_; // the function may destroy its session
        Run *outer_ = nullptr;
        std::thread::id thread_ = std::this_thread::get_id();
        std::exception_ptr error_;
    };

    /// What the library calls.
    static std::int32_t call(void *user, std::uint64_t iterations, std::uint64_t max_iterations,
                             double max_diff, double active_fraction) noexcept {
        ProgressState &state = *static_cast<ProgressState *>(user);
        try {
            const Progress progress = {iterations, max_iterations, max_diff, active_fraction};
            return state.function_(progress) ? 0 : 1;
        } catch (...) {
            state.keep(std::current_exception());
            return 1;
        }
    }

private:
    // Several threads have a run each where all but one will be told that the session is busy.
    void keep(std::exception_ptr error) noexcept {
        std::lock_guard<std::mutex> lock(mutex_);
        for (Run *run = innermost_; run != nullptr; run = run->outer_)
            if (run->thread_ == std::this_thread::get_id()) {
                run->error_ = std::move(error);
                return;
            }
    }

    ProgressFunction function_;
    std::mutex mutex_;
    Run *innermost_ = nullptr;
};

} // namespace detail
} // namespace fastlbp

#endif
