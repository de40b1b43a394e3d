// The log and progress functions, and what comes of exceptions that they throw.
#include "check.hpp"
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>

namespace {

struct Thrown : std::runtime_error {
    explicit Thrown(int number_) : std::runtime_error("thrown"), number(number_) {}
    int number;
};

// The number of the Thrown that a call throws, or -1.
template <typename Call> int thrown_by(Call call) {
    try {
        call();
    } catch (const Thrown &thrown) {
        return thrown.number;
    }
    return -1;
}

void progress_and_cancelling() {
    fastlbp::BeliefPropagation bp(ring(12));
    std::uint64_t calls = 0;
    bp.set_progress([&](const fastlbp::Progress &progress) {
        ++calls;
        CHECK(progress.iterations == calls && progress.max_iterations == 20 && progress.active_fraction == 1.0);
        return calls < 3;
    });
    bp.run_iterations(20);
    CHECK(calls == 3 && bp.iterations() == 3 && bp.stop_reason() == fastlbp::StopReason::cancelled);
    bp.set_progress(nullptr);
    bp.run_iterations(4);
    CHECK(calls == 3 && bp.iterations() == 4);
}

void exceptions_end_runs() {
    fastlbp::BeliefPropagation bp(ring(12));
    bool armed = true;
    bp.set_progress([&](const fastlbp::Progress &progress) {
        if (armed && progress.iterations == 2)
            throw Thrown(7);
        return true;
    });
    CHECK(thrown_by([&] { bp.run_iterations(20); }) == 7);
    CHECK(bp.iterations() == 2 && bp.stop_reason() == fastlbp::StopReason::cancelled);
    bp.set_tolerance(0.0);
    CHECK(thrown_by([&] { bp.run(); }) == 7);
    CHECK(thrown_by([&] { bp.run_bingo(0.0, 10, 20, 5); }) == 7);
    CHECK(thrown_by([&] { bp.run_batch({0, 1, 2, 3, 4}, {1, 2, 3, 4}, {1, 1, 1, 1}); }) == 7);
    // It is thrown once, and the session goes on working.
    armed = false;
    bp.run_iterations(20);
    CHECK(bp.iterations() == 20 && bp.stop_reason() == fastlbp::StopReason::iterations);

    // Anything can be thrown.
    bp.set_progress([](const fastlbp::Progress &) -> bool { throw 3; });
    int caught = 0;
    try {
        bp.run();
    } catch (int number) {
        caught = number;
    }
    CHECK(caught == 3);
    // A moved session keeps its function, a clone has none.
    fastlbp::BeliefPropagation copy = bp.clone();
    copy.run_iterations(2);
    fastlbp::BeliefPropagation moved = std::move(bp);
    caught = 0;
    try {
        moved.run();
    } catch (int number) {
        caught = number;
    }
    CHECK(caught == 3);
    // A handle that was released has none either: its function would be gone.
    fastlbp_bp *handle = moved.release();
    CHECK(fastlbp_bp_run_iterations(handle, 2) == FASTLBP_STATUS_OK);
    fastlbp::BeliefPropagation adopted(handle);
    CHECK(adopted.iterations() == 2);
}

void exceptions_of_many_sessions() {
    std::vector<fastlbp::BeliefPropagation> sessions;
    for (int i = 0; i < 3; ++i)
        sessions.emplace_back(ring(12));
    sessions[1].set_progress([](const fastlbp::Progress &) -> bool { throw Thrown(1); });
    sessions[2].set_progress([](const fastlbp::Progress &) { return true; });
    CHECK(thrown_by([&] { fastlbp::run_all(sessions); }) == 1);
    CHECK(sessions[0].converged() && sessions[2].converged());
    CHECK(sessions[1].stop_reason() == fastlbp::StopReason::cancelled);
}

void calls_inside_of_runs() {
    std::unique_ptr<fastlbp::BeliefPropagation> bp(new fastlbp::BeliefPropagation(ring(12)));
    int calls = 0;
    bp->set_progress([&](const fastlbp::Progress &) {
        ++calls;
        THROWS(busy, "", bp->observe(0, 1));
        THROWS(busy, "", bp->run());
        THROWS(busy, "", bp->set_progress(nullptr));
        THROWS(busy, "", bp->probabilities());
        THROWS(busy, "", bp->release());
        return true;
    });
    bp->run_iterations(2);
    CHECK(calls == 2);
    // Errors of such calls leave the run, too, when the function lets them.
    bp->set_progress([&](const fastlbp::Progress &) {
        bp->observe(0, 1);
        return true;
    });
    THROWS(busy, "", bp->run());
    // The function may destroy its session, and throw after that.
    bp->set_progress([&](const fastlbp::Progress &) -> bool {
        bp.reset();
        throw Thrown(4);
    });
    fastlbp::BeliefPropagation *session = bp.get();
    CHECK(thrown_by([&] { session->run(); }) == 4);
    CHECK(bp == nullptr);
}

// Two threads try to run one session: what the function throws on a thread comes out of the call on that thread,
// and a call that was refused throws nothing of the other one's.
void exceptions_find_their_thread() {
    const long cycles = check_setting("FASTLBP_TEST_CYCLES", 200);
    fastlbp::BeliefPropagation bp(ring(12));
    bp.set_threads(1);
    std::thread::id second;
    std::atomic<bool> started(false);
    bp.set_progress([&](const fastlbp::Progress &) -> bool {
        // So that the other thread comes while this one runs.
        std::this_thread::sleep_for(std::chrono::microseconds(50));
        throw Thrown(std::this_thread::get_id() == second ? 2 : 1);
    });
    const auto hammer = [&](int own) {
        while (!started)
            std::this_thread::yield();
        for (long cycle = 0; cycle < cycles;) {
            try {
                bp.run_iterations(1);
                CHECK(false);
            } catch (const Thrown &thrown) {
                CHECK(thrown.number == own);
                ++cycle;
            } catch (const fastlbp::Error &error) {
                CHECK(error.status() == fastlbp::Status::busy);
            }
        }
    };
    std::thread other(hammer, 2);
    second = other.get_id();
    started = true;
    hammer(1);
    other.join();
}

void logs() {
    std::vector<std::string> texts;
    fastlbp::BeliefPropagation bp(certain());
    bp.observe_label(2, 0);
    bp.set_contradiction(fastlbp::Contradiction::vote);
    {
        fastlbp::Log log([&](fastlbp::LogLevel level, const char *text) {
            if (level == fastlbp::LogLevel::warning)
                texts.push_back(text);
        });
        bp.run();
        CHECK(texts.size() == 1 && texts[0].find("variable: 1") != std::string::npos);
        log.rethrow();
        const fastlbp::Log moved(std::move(log));
        bp.run();
        CHECK(texts.size() == 2);
        log.rethrow();
    }
    bp.run();
    CHECK(texts.size() == 2);
    {
        int calls = 0;
        fastlbp::Log log([&](fastlbp::LogLevel, const char *) { throw Thrown(++calls); });
        bp.run();
        bp.run();
        CHECK(calls == 2);
        CHECK(thrown_by([&] { log.rethrow(); }) == 1);
        log.rethrow();
        bp.run();
        CHECK(thrown_by([&] { log.rethrow(); }) == 3);
    }
    {
        // From inside, the log can be neither replaced nor ended.
        int calls = 0;
        fastlbp::Log log([&](fastlbp::LogLevel, const char *) {
            ++calls;
            THROWS(busy, "", fastlbp::Log([](fastlbp::LogLevel, const char *) {}));
        });
        bp.run();
        bp.run();
        CHECK(calls == 2);
        log.rethrow();
    }
}

void threads() {
    const long cycles = check_setting("FASTLBP_TEST_CYCLES", 200);
    const fastlbp::Graph graph = ring(30);
    fastlbp::BeliefPropagation shared(graph);
    shared.set_threads(1);
    shared.run_iterations(5);
    const std::vector<double> wanted = shared.marginals();
    std::vector<std::thread> workers;
    for (int worker = 0; worker < 4; ++worker)
        workers.emplace_back([&] {
            for (long cycle = 0; cycle < cycles; ++cycle) {
                CHECK(shared.marginals() == wanted);
                CHECK(graph.variable_count() == 30);
                fastlbp::BeliefPropagation own(graph);
                own.set_threads(1);
                own.set_progress([](const fastlbp::Progress &progress) -> bool {
                    if (progress.iterations == 5)
                        throw Thrown(6);
                    return true;
                });
                CHECK(thrown_by([&] { own.run_iterations(9); }) == 6);
                CHECK(own.marginals() == wanted);
                THROWS(out_of_range, std::to_string(1000 + cycle),
                       own.observe(static_cast<std::size_t>(1000 + cycle), 0));
            }
        });
    for (std::thread &worker : workers)
        worker.join();
}

// A log that its own function destroys takes messages until the process ends, since the library can then not be
// told otherwise. So this comes last.
void a_log_that_ends_itself() {
    static int calls = 0;
    static std::unique_ptr<fastlbp::Log> log;
    log.reset(new fastlbp::Log([](fastlbp::LogLevel, const char *) {
        ++calls;
        log.reset();
    }));
    fastlbp::BeliefPropagation bp(certain());
    bp.observe_label(2, 0);
    bp.set_contradiction(fastlbp::Contradiction::vote);
    bp.run();
    const int first = calls;
    CHECK(first > 0 && log == nullptr);
    bp.run();
    CHECK(calls > first);
}

void test_callbacks(const Places &) {
    progress_and_cancelling();
    exceptions_end_runs();
    exceptions_of_many_sessions();
    calls_inside_of_runs();
    exceptions_find_their_thread();
    logs();
    threads();
    a_log_that_ends_itself();
}

} // namespace
