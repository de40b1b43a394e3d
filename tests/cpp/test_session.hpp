// Sessions: evidence, schedules, settings, runs, results, batches and messages.
#include "check.hpp"
#include <limits>

namespace {

void tree_by_hand() {
    fastlbp::BeliefPropagation bp(tree());
    THROWS(no_result, "", bp.report());
    bp.set_schedule("TREE");
    bp.run();
    CHECK(bp.converged());
    const std::vector<double> p = bp.probabilities();
    CHECK(p.size() == 4);
    NEAR(p[0], 0.3);
    NEAR(p[2], 0.292);
    NEAR(p[3], 0.446);
    NEAR(bp.marginals()[4], 0.708);
    const std::vector<double> belief = bp.factor_belief(2);
    CHECK(belief.size() == 8);
    NEAR(belief[7], 0.3 * 0.8 * 0.9);
    NEAR(bp.factor_belief_at(2, 7), belief[7]);
    // The belief of factor 2 is over x1, x2, x3.
    NEAR(bp.belief({2, 0})[3], belief[5] + belief[7]);
    NEAR(bp.log_partition(), 0.0);

    bp.observe(3, 1); // the variable with label 4
    bp.run_iterations(1); // exact: the graph is a tree
    CHECK(bp.iterations() == 1);
    NEAR(bp.probability(0), 0.3 * 0.67 / 0.446);
    NEAR(bp.log_partition(), std::log(0.446));
    bp.set_likelihood(3, {1.0, 3.0});
    bp.run_iterations(1);
    NEAR(bp.probabilities_of({3, 0})[0], 3 * 0.446 / 1.892);
    bp.clear_evidence(3);
    bp.run_iterations(1);
    NEAR(bp.marginal(3)[0], 0.554);

    double buffer[8];
    CHECK(bp.probabilities(buffer) == 4 && buffer[3] == bp.probability(3));
    CHECK(bp.marginals(buffer) == 8 && buffer[7] == bp.probability(3));
    CHECK(bp.belief({3}, buffer) == 2 && buffer[1] == bp.probability(3));
    CHECK(bp.factor_belief(3, buffer) == 4);
    CHECK(bp.belief({2, 3}, buffer) == 4);
    bp.probabilities_of({3}, fastlbp::Span<double>(buffer, 1));
    CHECK(buffer[0] == bp.probability(3));
    // The same, exactly.
    const std::vector<double> of_run = bp.marginals();
    bp.run_exact();
    for (std::size_t i = 0; i < of_run.size(); ++i)
        NEAR(bp.marginals()[i], of_run[i]);
    NEAR(bp.log_partition(), 0.0);
    THROWS(limit_exceeded, "treewidth", bp.run_exact(3));
    bp.run_iterations(1);
    THROWS(invalid_argument, "buffer has length 8", bp.probabilities_of({3}, buffer));
    THROWS(buffer_too_small, "8", bp.marginals(fastlbp::Span<double>(buffer, 7)));
    THROWS(out_of_range, "4", bp.probability(4));
    THROWS(out_of_range, "99", bp.observe_label(99, 1));
    THROWS(out_of_range, "state", bp.observe(0, 2));
}

void most_probable_state() {
    fastlbp::BeliefPropagation bp(ternary());
    bp.set_inference(fastlbp::Inference::max_product);
    bp.run();
    const std::vector<std::uint32_t> states = bp.find_maximum();
    CHECK(states == std::vector<std::uint32_t>({2, 1}));
    std::uint32_t buffer[2];
    CHECK(bp.find_maximum(buffer) == 2 && buffer[0] == 2);
    NEAR(bp.log_score(states), std::log(0.45));
    THROWS(invalid_argument, "", bp.log_score({1}));
    bp.set_inference(fastlbp::Inference::sum_product);
    bp.run();
    NEAR(bp.marginal(1)[1], 0.62);
    THROWS(unsupported, "", bp.probabilities());
}

void evidence(const Places &places) {
    fastlbp::BeliefPropagation bp(ring(12));
    bp.run_iterations(5);
    const std::vector<double> never = bp.probabilities();
    bp.observe({3, 5, 3}, {0, 1, 1}); // the last one counts
    CHECK(bp.evidence_count() == 2);
    bp.run_iterations(5);
    const std::vector<double> once = bp.probabilities();
    CHECK(once[3] == 1.0 && once[5] == 1.0 && once[0] != never[0]);
    bp.clear_all_evidence();
    CHECK(bp.evidence_count() == 0);
    bp.run_iterations(5);
    CHECK(bp.probabilities() == never);
    bp.observe_labels({3, 5}, {1, 1});
    bp.run_iterations(5);
    CHECK(bp.probabilities() == once);
    THROWS(invalid_argument, "states has length 1: it must be 2", bp.observe_labels({3, 5}, {1}));
    THROWS(invalid_argument, "states has length 1: it must be 2", bp.observe({3, 5}, {1}));

    const std::string path = places.scratch + "/evidence.obs";
    if (write_text(path, "3 1\n5 true\n77 1\n")) {
        THROWS(parse, ".obs:3: variable 77", bp.read_evidence(path));
        CHECK(bp.read_evidence(path, fastlbp::UnknownVariable::skip) == 1);
        CHECK(bp.evidence_count() == 2);
        bp.run_iterations(5);
        CHECK(bp.probabilities() == once);
        CHECK(std::remove(path.c_str()) == 0);
    }
}

void schedules() {
    fastlbp::BeliefPropagation bp(ring(12));
    const std::size_t edges = bp.graph().edge_count();
    for (const char *name : {"PARALL", "SEQFIX", "SEQRND", "BLOCKS", "TOPO", "FWDBWD", "TREE"}) {
        bp.set_start(fastlbp::Start::fresh);
        bp.set_schedule(name, 17);
        CHECK(bp.schedule() == name);
        bp.run_iterations(4);
        const std::vector<double> named = bp.probabilities();
        const std::vector<std::uint32_t> widths = bp.level_widths();
        CHECK(widths.size() == bp.level_count());
        std::vector<std::uint32_t> buffer(edges);
        CHECK(bp.level_widths(buffer) == widths.size() && buffer[0] == widths[0]);
        // The same by the ranks of each iteration.
        for (std::uint64_t iteration = 0; iteration < 4; ++iteration) {
            bp.set_schedule(name, 17);
            const std::vector<std::uint32_t> ranks = bp.schedule_ranks(iteration);
            CHECK(bp.schedule_ranks(iteration, buffer) == edges && buffer == ranks);
            bp.set_schedule_ranks(std::vector<std::uint64_t>(ranks.begin(), ranks.end()));
            CHECK(bp.schedule() == "CUSTOM");
            bp.set_start(iteration == 0 ? fastlbp::Start::fresh : fastlbp::Start::warm);
            bp.run_iterations(1);
        }
        CHECK(bp.probabilities() == named);
        CHECK(bp.total_iterations() == 4);
    }
    bp.set_schedule_blocks(3, 17);
    CHECK(bp.schedule() == "BLOCKS" && bp.property("blocks") == "3");
    // SEQFIX as the chain of all edges.
    std::vector<std::uint32_t> before, after;
    for (std::uint32_t edge = 0; edge + 1 < edges; ++edge) {
        before.push_back(edge);
        after.push_back(edge + 1);
    }
    bp.set_start(fastlbp::Start::fresh);
    bp.set_schedule_relation(before, after);
    bp.run_iterations(4);
    const std::vector<double> related = bp.probabilities();
    bp.set_schedule("SEQFIX");
    bp.run_iterations(4);
    CHECK(bp.probabilities() == related);
    after.pop_back();
    THROWS(invalid_argument, "after has length", bp.set_schedule_relation(before, after));
    THROWS(invalid_argument, "48 edges", bp.set_schedule_ranks({1, 2}));
    THROWS(invalid_argument, "NOSUCH", bp.set_schedule("NOSUCH"));
}

void settings() {
    fastlbp::BeliefPropagation bp(ring(12));
    bp.set_threads(2);
    bp.prepare();
    CHECK(bp.property("threads") == "2");
    CHECK(bp.threads() >= 1 && bp.threads() <= 2);
    bp.set_backend(fastlbp::Backend::cpu);
    CHECK(bp.backend() == fastlbp::Backend::cpu && bp.property("backend") == "cpu");
    bp.set_backend(fastlbp::Backend::automatic);
    bp.set_device(3);
    CHECK(bp.property("device") == "3");
    bp.set_devices({4, 1});
    CHECK(bp.property("device") == "1,4");
    bp.set_device(fastlbp::default_device);
    CHECK(bp.property("device") == "default");
    bp.set_tolerance(1e-3);
    CHECK(bp.property("tol") == "0.001");
    bp.set_max_iterations(7);
    CHECK(bp.property("maxiter") == "7");
    bp.set_max_time(2.5);
    CHECK(bp.property("maxtime") == "2.5");
    bp.set_max_time(std::numeric_limits<double>::infinity());
    bp.set_contradiction(fastlbp::Contradiction::vote);
    CHECK(bp.property("contradiction") == "vote");
    bp.set_contradiction(fastlbp::Contradiction::error);
    bp.set_damping(0.25);
    CHECK(bp.property("damping") == "0.25");
    bp.set_damping(0.0);
    bp.set_active_threshold(0.0);
    bp.set_schedule("PARALL");
    bp.run_iterations(200);
    CHECK(bp.spared_messages() > 0);
    bp.set_active_threshold(fastlbp::active_off);
    CHECK(bp.property("active") == "off");
    bp.set_measure(fastlbp::Measure::all);
    CHECK(bp.property("measure") == "all");
    bp.set_property("updates", "SEQMAX");
    CHECK(bp.schedule() == "SEQMAX");
    THROWS(invalid_argument, "contradiction", bp.set_property("nosuch", "1"));
    THROWS(invalid_argument, "nosuch", bp.property("nosuch"));
    THROWS(invalid_argument, "", bp.set_damping(1.0));
    THROWS(invalid_argument, "", bp.set_tolerance(-1.0));
    THROWS(invalid_argument, "7", bp.set_backend(static_cast<fastlbp::Backend>(7)));
}

void reports() {
    fastlbp::BeliefPropagation bp(ring(12));
    bp.set_tolerance(0.0);
    bp.set_max_iterations(3);
    bp.run();
    fastlbp::Report report = bp.report();
    CHECK(report.iterations == 3 && report.total_iterations == 3 && !report.converged);
    CHECK(report.stop_reason == fastlbp::StopReason::iterations);
    CHECK(report.max_diff > 0.0 && report.max_diff == bp.max_diff());
    CHECK(report.active_fraction == 1.0 && report.spared_messages == 0 && report.contradictions == 0);
    THROWS(no_result, "", bp.first_contradiction());
    bp.set_max_time(0.0);
    bp.run();
    CHECK(bp.stop_reason() == fastlbp::StopReason::time);
    bp.set_max_time(std::numeric_limits<double>::infinity());
    bp.set_tolerance(1e-9);
    bp.set_max_iterations(10000);
    bp.run();
    CHECK(bp.converged() && bp.stop_reason() == fastlbp::StopReason::converged);
    const double fraction = bp.run_bingo(1e-6, 500, 1000, 100);
    CHECK(fraction == bp.active_fraction() && bp.converged());
    bp.reset();
    bp.run_iterations(0);
    CHECK(bp.report().total_iterations == 0);
    CHECK(std::isinf(bp.max_diff()));
}

void contradictions() {
    fastlbp::BeliefPropagation bp(certain());
    bp.observe_label(2, 0);
    THROWS(contradiction, "variable 1", bp.run());
    CHECK(bp.contradictions() >= 1 && bp.first_contradiction() == 1);
    THROWS(no_result, "", bp.marginals());
    bp.set_contradiction(fastlbp::Contradiction::vote);
    bp.run();
    CHECK(bp.report().contradictions >= 1);
}

void batches() {
    fastlbp::BeliefPropagation bp(ring(12));
    bp.set_threads(2);
    const std::vector<std::size_t> offsets = {0, 0, 1, 3};
    const std::vector<std::uint32_t> variables = {3, 5, 9}, states = {1, 0, 1};
    const fastlbp::Batch batch = bp.run_batch(offsets, variables, states);
    CHECK(batch.statuses == std::vector<fastlbp::Status>(3, fastlbp::Status::ok));
    CHECK(batch.state_count == 24 && batch.marginals.size() == 72);
    fastlbp::BeliefPropagation single(ring(12));
    for (std::size_t entry = 0; entry < 3; ++entry) {
        single.clear_all_evidence();
        for (std::size_t i = offsets[entry]; i < offsets[entry + 1]; ++i)
            single.observe(variables[i], states[i]);
        single.run();
        const std::vector<double> wanted = single.marginals();
        CHECK(std::memcmp(batch.entry(entry), wanted.data(), 24 * sizeof(double)) == 0);
    }
    std::vector<double> buffer(72);
    CHECK(bp.run_batch(offsets, variables, states, buffer).size() == 3 && buffer == batch.marginals);
    CHECK(bp.run_batch({}, {}, {}).statuses.empty());
    CHECK(bp.run_batch({0}, {}, {}).marginals.empty());
    THROWS(invalid_argument, "states has length 2: it must be 3", bp.run_batch(offsets, variables, {1, 1}));
    THROWS(invalid_argument, "entry_offsets ends with 0", bp.run_batch({}, {1}, {1}));
    THROWS(invalid_argument, "entry_offsets", bp.run_batch({1, 2}, {3, 4}, {1, 1}));
    THROWS(buffer_too_small, "72",
           bp.run_batch(offsets, variables, states, fastlbp::Span<double>(buffer.data(), 71)));
    THROWS(out_of_range, "entry 1", bp.run_batch({0, 1, 2}, {3, 12}, {1, 1}));

    fastlbp::BeliefPropagation contradictory(certain());
    const fastlbp::Batch mixed = contradictory.run_batch({0, 1, 2}, {1, 1}, {0, 1});
    CHECK(mixed.statuses
          == std::vector<fastlbp::Status>({fastlbp::Status::contradiction, fastlbp::Status::ok}));
    CHECK(std::isnan(mixed.entry(0)[0]));
    NEAR(mixed.entry(1)[3], 1.0);
}

void many_sessions() {
    std::vector<fastlbp::BeliefPropagation> sessions;
    for (std::uint64_t i = 0; i < 6; ++i) {
        sessions.emplace_back(ring(8 + i));
        sessions.back().observe(i, 1);
    }
    sessions.emplace_back(certain());
    sessions.back().observe_label(2, 0);
    const std::vector<fastlbp::Status> statuses = fastlbp::run_all(sessions);
    CHECK(statuses.size() == 7 && statuses[6] == fastlbp::Status::contradiction);
    for (std::uint64_t i = 0; i < 6; ++i) {
        CHECK(statuses[i] == fastlbp::Status::ok);
        fastlbp::BeliefPropagation alone(ring(8 + i));
        alone.observe(i, 1);
        alone.run();
        CHECK(alone.probabilities() == sessions[i].probabilities());
    }
    CHECK(fastlbp::run_all({&sessions[0], &sessions[3]}).size() == 2);
    std::vector<fastlbp::BeliefPropagation> none;
    CHECK(fastlbp::run_all(none).empty());
    THROWS(busy, "", fastlbp::run_all({&sessions[0], &sessions[0]}));
    THROWS(null_pointer, "1", fastlbp::run_all({&sessions[0], nullptr}));
}

void messages() {
    fastlbp::BeliefPropagation bp(ring(12));
    bp.run_iterations(3);
    const std::vector<std::uint64_t> state = bp.save_state();
    const std::vector<double> kept = bp.messages();
    CHECK(kept.size() == bp.message_length());
    std::vector<double> buffer(kept.size());
    CHECK(bp.messages(buffer) == kept.size() && buffer == kept);
    std::vector<std::uint64_t> words(state.size());
    CHECK(bp.save_state(words) == state.size() && words == state);
    bp.set_start(fastlbp::Start::warm);
    bp.run_iterations(4);
    const std::vector<double> wanted = bp.marginals();

    fastlbp::BeliefPropagation other(ring(12));
    other.set_start(fastlbp::Start::warm);
    other.restore_state(state);
    other.run_iterations(4);
    CHECK(other.marginals() == wanted && other.total_iterations() == 7);
    other.set_messages(kept);
    other.run_iterations(4);
    NEAR(other.probability(5), bp.probability(5));
    fastlbp::BeliefPropagation copy = bp.clone();
    CHECK(copy.marginals() == wanted);
    copy.observe(0, 1);
    CHECK(bp.evidence_count() == 0 && copy.evidence_count() == 1);
    THROWS(invalid_argument, "", other.restore_state({1, 2, 3}));
    THROWS(invalid_argument, "", other.set_messages({0.5}));
}

void devices() {
    // There may or may not be one.
    try {
        const std::uint32_t count = fastlbp::device_count();
        CHECK(count >= 1);
        CHECK(!fastlbp::device_name(0).empty());
        const fastlbp::DeviceMemory memory = fastlbp::device_memory(0);
        CHECK(memory.free <= memory.total && memory.total > 0);
        const fastlbp::CudaVersion version = fastlbp::device_driver_version();
        CHECK(version.major_number >= 12 && version.minor_number < 100);
        THROWS(out_of_range, "", fastlbp::device_name(count));
        THROWS(out_of_range, "", fastlbp::device_start(count));
        fastlbp::device_start();
    } catch (const fastlbp::Error &error) {
        CHECK(error.status() == fastlbp::Status::no_device && error.what()[0] != '\0');
        THROWS(no_device, error.what(), fastlbp::device_name(0));
        THROWS(no_device, error.what(), fastlbp::device_memory(0));
        THROWS(no_device, error.what(), fastlbp::device_driver_version());
        THROWS(no_device, error.what(), fastlbp::device_start());
        fastlbp::BeliefPropagation bp(tree());
        bp.set_backend(fastlbp::Backend::cuda);
        THROWS(no_device, "", bp.run());
    }
}

void test_session(const Places &places) {
    tree_by_hand();
    most_probable_state();
    evidence(places);
    schedules();
    settings();
    reports();
    contradictions();
    batches();
    many_sessions();
    messages();
    devices();
}

} // namespace
