// Objects that own handles, errors, spans and texts; golden values.
#include "check.hpp"
#include <array>
#include <dirent.h>
#include <fstream>
#include <sstream>
#include <type_traits>

namespace {

static_assert(!std::is_copy_constructible<fastlbp::Graph>::value, "a graph can only be moved");
static_assert(!std::is_copy_assignable<fastlbp::Graph>::value, "a graph can only be moved");
static_assert(std::is_nothrow_move_constructible<fastlbp::Graph>::value, "moving a graph throws nothing");
static_assert(std::is_nothrow_move_assignable<fastlbp::Graph>::value, "moving a graph throws nothing");
static_assert(!std::is_copy_constructible<fastlbp::BeliefPropagation>::value, "sessions can only be moved");
static_assert(!std::is_copy_assignable<fastlbp::BeliefPropagation>::value, "sessions can only be moved");
static_assert(std::is_nothrow_move_constructible<fastlbp::BeliefPropagation>::value, "moving throws nothing");
static_assert(std::is_nothrow_move_assignable<fastlbp::BeliefPropagation>::value, "moving throws nothing");
static_assert(!std::is_copy_constructible<fastlbp::Log>::value, "a log can only be moved");
static_assert(std::is_nothrow_move_constructible<fastlbp::Log>::value, "moving a log throws nothing");

// A temporary may be read from, but results must not be written to one.
using Numbers = std::vector<double>;
static_assert(std::is_convertible<Numbers, fastlbp::Span<const double>>::value, "read from a temporary");
static_assert(std::is_convertible<Numbers &, fastlbp::Span<double>>::value, "write to a variable");
static_assert(!std::is_convertible<Numbers, fastlbp::Span<double>>::value, "no writing to a temporary");
static_assert(!std::is_convertible<const Numbers &, fastlbp::Span<double>>::value, "no writing to a constant");
static_assert(!std::is_convertible<std::vector<float> &, fastlbp::Span<const double>>::value, "another type");
static_assert(std::is_convertible<fastlbp::Span<double>, fastlbp::Span<const double>>::value, "as a constant");
static_assert(std::is_convertible<fastlbp::Span<double>, fastlbp::Span<double>>::value, "a copy");

void versions() {
    const std::string text = std::to_string(FASTLBP_VERSION_MAJOR) + "."
                             + std::to_string(FASTLBP_VERSION_MINOR) + "."
                             + std::to_string(FASTLBP_VERSION_PATCH);
    CHECK(fastlbp::version() == text);
    CHECK(std::string(fastlbp::build_info()).find(text) != std::string::npos);
    CHECK(std::string(fastlbp::status_name(fastlbp::Status::busy)) == "FASTLBP_STATUS_BUSY");
    CHECK(std::string(fastlbp::status_name(static_cast<fastlbp::Status>(1000))) == "unknown status");
}

template <typename T> T &itself(T &object) {
    return object;
}

void moving() {
    fastlbp::Graph graph = tree();
    graph = std::move(itself(graph));
    CHECK(graph.factor_count() == 4);
    fastlbp::Graph moved(std::move(graph));
    CHECK(moved.factor_count() == 4 && graph.get() == nullptr);
    THROWS(null_pointer, "handle is NULL", graph.factor_count());
    THROWS(null_pointer, "handle is NULL", graph.labels());
    THROWS(null_pointer, "handle is NULL", graph.add_prior(1, 0.5));
    THROWS(null_pointer, "handle is NULL", fastlbp::BeliefPropagation(graph));
    graph = ternary();
    CHECK(graph.state_count() == 5);

    fastlbp::BeliefPropagation bp(moved);
    bp.run_iterations(6);
    bp = std::move(itself(bp));
    CHECK(bp.iterations() == 6);
    fastlbp::BeliefPropagation other(std::move(bp));
    CHECK(other.iterations() == 6 && bp.get() == nullptr);
    THROWS(null_pointer, "handle is NULL", bp.run());
    THROWS(null_pointer, "handle is NULL", bp.set_progress([](const fastlbp::Progress &) { return true; }));
    THROWS(null_pointer, "handle is NULL", bp.graph());
    THROWS(null_pointer, "handle is NULL", bp.clone());
    THROWS(null_pointer, "handle is NULL", bp.run_batch({0}, {}, {}));
    CHECK(bp.release() == nullptr);
    bp = fastlbp::BeliefPropagation(graph);
    bp.run();
    NEAR(bp.marginal(1)[1], 0.62);
    bp = other.clone();
    CHECK(bp.iterations() == 6);

    fastlbp_graph *handle = moved.release();
    CHECK(handle != nullptr && moved.get() == nullptr && moved.release() == nullptr);
    const fastlbp::Graph adopted(handle);
    CHECK(adopted.factor_count() == 4);
    // A session keeps the graph that it got.
    fastlbp::Graph growing = tree();
    fastlbp::BeliefPropagation early(growing);
    growing.add_and(7, {7, 4}, 0.5, 0.25); // its head is in its body
    CHECK(growing.factor_indicators(4) == std::vector<std::int32_t>({1, 1}) && growing.variable_count() == 5);
    CHECK(early.graph().variable_count() == 4);
}

void errors() {
    fastlbp::Graph graph;
    THROWS(invalid_argument, "1.5", graph.add_prior(1, 1.5));
    THROWS(invalid_argument, "cardinality", graph.add_variable(1, 0));
    THROWS(out_of_range, "0", graph.factor_variables(0));
    THROWS(invalid_utf8, "", fastlbp::Graph::read_file("\xff.fg"));
    THROWS(null_pointer, "path", fastlbp::Graph::read_file(static_cast<const char *>(nullptr)));
    THROWS(invalid_argument, "NUL at byte 4", graph.write_file(std::string("a.fg\0b", 6)));
    // Two cardinalities: only seen when the graph is built, and for good.
    graph.add_variable(5, 3);
    graph.add_prior(5, 0.5);
    THROWS(invalid_argument, "5", graph.build());
    THROWS(invalid_argument, "5", graph.variable_count());
    THROWS(invalid_argument, "5", fastlbp::BeliefPropagation(graph));
    // It is a std::runtime_error, and keeps its text when other calls fail.
    try {
        fastlbp::Graph().add_prior(1, 2.5);
        CHECK(false);
    } catch (const std::runtime_error &error) {
        THROWS(out_of_range, "", fastlbp::Graph().factor_variables(3));
        CHECK(std::string(error.what()).find("2.5") != std::string::npos);
    }
}

std::size_t length_of(fastlbp::Span<const double> numbers) {
    return numbers.size();
}

void spans_and_texts() {
    const std::array<double, 3> three = {{1.0, 2.0, 3.0}};
    double two[] = {1.0, 2.0};
    const fastlbp::Span<double> writable(two);
    CHECK(length_of({}) == 0 && length_of({1.0}) == 1 && length_of({1.0, 2.0}) == 2);
    CHECK(length_of(three) == 3 && length_of(two) == 2 && length_of(writable) == 2);
    CHECK(length_of({three.data(), 2}) == 2);
    double sum = 0.0;
    for (double number : fastlbp::Span<const double>(three))
        sum += number;
    CHECK(sum == 6.0);
    writable[1] = 5.0;
    CHECK(two[1] == 5.0);

    fastlbp::BeliefPropagation bp(tree());
    const std::string name = "PARALL";
    bp.set_schedule(name);
    CHECK(bp.schedule() == name);
#if __cplusplus >= 201703L
    bp.set_schedule(std::string_view("SEQFIX and more", 6));
    CHECK(bp.schedule() == "SEQFIX");
    THROWS(invalid_argument, "NUL at byte 1", bp.set_schedule(std::string_view("T\0REE", 5)));
#endif
#if defined(__cpp_lib_span)
    double buffer[8] = {};
    bp.run();
    CHECK(bp.marginals(std::span<double>(buffer)) == 8 && buffer[7] == bp.probability(3));
    CHECK(length_of(std::span<const double>(buffer, 3)) == 3);
    const std::span<double> back = fastlbp::Span<double>(buffer);
    CHECK(back.size() == 8 && back.data() == buffer);
#endif
}

// NAME.SCHEDULE.ITERATIONS.ref, with NAME.causal_fg and NAME.obs: values computed in 128-bit arithmetic.
bool golden_file(const std::string &directory, const std::string &file) {
    std::istringstream parts(file);
    std::string name, schedule, iterations, suffix;
    if (!std::getline(parts, name, '.') || !std::getline(parts, schedule, '.')
        || !std::getline(parts, iterations, '.') || !std::getline(parts, suffix) || suffix != "ref")
        return false;
    std::string path = directory + "/" + name + ".causal_fg";
    if (!std::ifstream(path))
        path += ".gz";
    const fastlbp::Graph graph = fastlbp::Graph::read_file(path);
    fastlbp::BeliefPropagation bp(graph);
    path = directory + "/" + name + ".obs";
    if (std::ifstream(path))
        bp.read_evidence(path);
    bp.set_schedule(schedule);
    bp.run_iterations(std::stoull(iterations));
    const std::vector<double> p = bp.probabilities();
    std::ifstream wanted(directory + "/" + file);
    std::string line;
    std::size_t compared = 0;
    while (std::getline(wanted, line)) {
        if (line[0] == '#')
            continue;
        std::size_t end = 0;
        const std::size_t variable = graph.variable_of_label(std::stoull(line, &end));
        const double value = std::stod(line.substr(end));
        if (!(std::fabs(p[variable] - value) <= 1e-12)) {
            std::printf("%s: %s: %.17g\n", file.c_str(), line.c_str(), p[variable]);
            CHECK(false);
        }
        ++compared;
    }
    CHECK(compared == p.size());
    return true;
}

void golden(const std::string &path) {
    long limit = check_setting("FASTLBP_TEST_CYCLES", 1000000), references = 0;
    DIR *directory = path.empty() ? nullptr : opendir(path.c_str());
    if (directory == nullptr) {
        std::printf("no reference values in '%s'\n", path.c_str());
        CHECK(false);
        return;
    }
    while (const dirent *entry = references < limit ? readdir(directory) : nullptr)
        references += golden_file(path, entry->d_name);
    closedir(directory);
    std::printf("%ld references\n", references);
    CHECK(references > 0);
}

void test_objects(const Places &) {
    versions();
    moving();
    errors();
    spans_and_texts();
}

} // namespace
