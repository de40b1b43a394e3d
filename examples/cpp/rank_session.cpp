// Ranks the alarms of a session of BINGO by their probability, and prints the first five.
//
//   rank_session examples/data/weblech.causal_fg.gz examples/data/weblech.alarms
#include <algorithm>
#include <cstdio>
#include <fastlbp/fastlbp.hpp>
#include <fstream>
#include <string>
#include <vector>

int main(int argc, char **argv) try {
    if (argc != 3) {
        std::fprintf(stderr, "rank_session GRAPH ALARMS is needed\n");
        return 2;
    }
    std::vector<std::uint64_t> labels;
    std::vector<std::string> names;
    std::ifstream file(argv[2]);
    std::string name, truth;
    for (std::uint64_t label; file >> label >> name >> truth;) { // a line of ALARMS
        labels.push_back(label);
        names.push_back(name);
    }

    const fastlbp::Graph graph = fastlbp::Graph::read_file(argv[1]);
    fastlbp::BeliefPropagation bp(graph);
    bp.set_schedule("SEQFIX");
    bp.set_max_iterations(100);
    bp.set_tolerance(0); // all 100 of them
    bp.run();

    const std::vector<double> p = bp.probabilities_of(graph.variables_of_labels(labels));
    std::vector<std::size_t> order(labels.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] > p[b]; });
    for (std::size_t i = 0; i < order.size() && i < 5; ++i)
        std::printf("%.6f %s\n", p[order[i]], names[order[i]].c_str());
} catch (const fastlbp::Error &error) {
    std::fprintf(stderr, "rank_session: %s\n", error.what());
    return 1;
}
