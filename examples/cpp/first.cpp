// A rule 0.9: x1 & x2 -> x3, with the priors 0.3 and 0.8. x3 is true: what about x1 and x2?
#include <cstdio>
#include <fastlbp/fastlbp.hpp>

int main() try {
    fastlbp::Graph graph;
    graph.add_prior(1, 0.3);
    graph.add_prior(2, 0.8);
    graph.add_and(3, {1, 2}, 0.9, 0.05); // 0.05 where the rule does not apply

    fastlbp::BeliefPropagation bp(graph);
    bp.set_schedule("TREE");
    bp.observe_label(3, 1);
    bp.run();
    const std::vector<double> p = bp.probabilities(); // by ascending label
    std::printf("P(x1) = %.4f, P(x2) = %.4f\n", p[0], p[1]);
} catch (const fastlbp::Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
