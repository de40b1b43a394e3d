// The headers can be in several units of one program, and included twice.
#include <fastlbp/fastlbp.hpp>
#include <fastlbp/fastlbp.hpp>

std::size_t in_a_second_unit(const fastlbp::Graph &graph);

std::size_t in_a_second_unit(const fastlbp::Graph &graph) {
    fastlbp::BeliefPropagation bp(graph);
    bp.set_progress([](const fastlbp::Progress &) { return true; });
    bp.run();
    return bp.probabilities().size();
}
