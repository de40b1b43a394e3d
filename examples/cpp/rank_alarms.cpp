// Which alarm of a program analysis to inspect next? Alarms follow from facts by rules that are right with
// some probability; each inspection says something about the others. Labels: 1 and 2 are facts, 11 and 12
// what follows from them, 101 to 103 the alarms.
#include <cstdio>
#include <fastlbp/fastlbp.hpp>

static void print(const fastlbp::BeliefPropagation &bp, const std::vector<std::uint64_t> &alarms) {
    const std::vector<double> p = bp.probabilities_of(bp.graph().variables_of_labels(alarms));
    for (std::size_t i = 0; i < alarms.size(); ++i)
        std::printf("  alarm %d: %.4f\n", static_cast<int>(alarms[i]), p[i]);
}

int main() try {
    fastlbp::Graph graph;
    graph.add_prior(1, 0.6);
    graph.add_prior(2, 0.5);
    graph.add_and(11, {1}, 0.9, 0.0); // 11 follows from 1 by a rule that is right in 9 of 10 cases
    graph.add_and(12, {1, 2}, 0.9, 0.0);
    graph.add_and(101, {11}, 0.9, 0.0);
    graph.add_and(102, {12}, 0.9, 0.0);
    graph.add_and(103, {11, 12}, 0.9, 0.0);

    fastlbp::BeliefPropagation bp(graph);
    bp.set_schedule("SEQFIX");
    bp.set_progress([](const fastlbp::Progress &run) { return run.iterations < 1000; });
    bp.run();
    std::printf("before any inspection:\n");
    print(bp, {101, 102, 103});

    bp.observe_label(101, 0); // alarm 101 was a false one
    bp.run();
    std::printf("after inspecting alarm 101:\n");
    print(bp, {102, 103});
} catch (const fastlbp::Error &error) {
    std::fprintf(stderr, "rank_alarms: %s: %s\n", fastlbp::status_name(error.status()), error.what());
    return 1;
}
