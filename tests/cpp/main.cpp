// All tests of the C++ interface. Arguments: a directory for files, and `golden DIRECTORY` instead of the
// tests for the comparison with golden values.
#include "test_callbacks.hpp"
#include "test_graph.hpp"
#include "test_objects.hpp"
#include "test_session.hpp"

std::size_t in_a_second_unit(const fastlbp::Graph &graph);

int main(int argc, char **argv) try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments.size() == 2 && arguments[0] == "golden") {
        golden(arguments[1]);
        return check_result();
    }
    Places places;
    if (!arguments.empty())
        places.scratch = arguments[0];
    test_objects(places);
    test_graph(places);
    test_session(places);
    CHECK(in_a_second_unit(tree()) == 4);
    test_callbacks(places);
    return check_result();
} catch (const std::exception &error) {
    std::printf("an exception that no test expects: %s\n", error.what());
    return EXIT_FAILURE;
}
