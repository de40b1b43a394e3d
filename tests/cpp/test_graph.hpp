// Graphs: building, reading and writing them.
#include "check.hpp"
#include <array>

namespace {

void graph_contents() {
    const fastlbp::Graph graph = tree();
    graph.build();
    CHECK(graph.variable_count() == 4);
    CHECK(graph.factor_count() == 4);
    CHECK(graph.edge_count() == 7);
    CHECK(graph.state_count() == 8);
    CHECK(graph.byte_count() > 8 * graph.edge_count());
    CHECK(graph.labels() == std::vector<std::uint64_t>({1, 2, 3, 4}));
    CHECK(graph.variable_of_label(4) == 3);
    CHECK(graph.variables_of_labels({4, 1}) == std::vector<std::uint32_t>({3, 0}));
    CHECK(graph.cardinalities() == std::vector<std::uint32_t>({2, 2, 2, 2}));
    CHECK(graph.factor_kinds()
          == std::vector<fastlbp::FactorKind>({fastlbp::FactorKind::prior,
                                               fastlbp::FactorKind::prior,
                                               fastlbp::FactorKind::conjunction,
                                               fastlbp::FactorKind::disjunction}));
    CHECK(graph.factor_heads() == std::vector<std::uint32_t>({0, 1, 2, 3}));
    CHECK(graph.factor_parameters(1) == std::vector<double>({0.8}));
    CHECK(graph.factor_parameters(2) == std::vector<double>({0.9, 0.1}));
    CHECK(graph.factor_indicators(0).empty());
    CHECK(graph.factor_indicators(2) == std::vector<std::int32_t>({1, 1, fastlbp::wildcard}));
    CHECK(graph.factor_indicators(3) == std::vector<std::int32_t>({0, fastlbp::wildcard}));
    CHECK(graph.factor_offsets() == std::vector<std::size_t>({0, 1, 2, 5, 7}));
    CHECK(graph.edge_variables() == std::vector<std::uint32_t>({0, 1, 0, 1, 2, 2, 3}));
    CHECK(graph.factor_variables(3) == std::vector<std::uint32_t>({2, 3}));
    const std::vector<double> values = graph.factor_values(2);
    CHECK(values.size() == 8 && values[7] == 0.9 && values[4] == 0.1 && values[3] == 1 - 0.9);
}

// What is written into arrays of the caller's is what comes as vectors.
void graph_buffers() {
    const fastlbp::Graph graph = tree();
    std::vector<std::uint64_t> labels(5, 77);
    CHECK(graph.labels(labels) == 4);
    CHECK(labels == std::vector<std::uint64_t>({1, 2, 3, 4, 77}));
    std::array<std::uint32_t, 7> indices = {};
    CHECK(graph.edge_variables(indices) == 7 && indices[6] == 3);
    CHECK(graph.factor_heads(indices) == 4 && indices[2] == 2);
    CHECK(graph.cardinalities(indices) == 4 && indices[3] == 2);
    CHECK(graph.factor_variables(2, indices) == 3 && indices[2] == 2);
    std::uint32_t found[2] = {};
    graph.variables_of_labels({2, 4}, found);
    CHECK(found[0] == 1 && found[1] == 3);
    std::int32_t states[3];
    CHECK(graph.factor_indicators(2, states) == 3 && states[2] == fastlbp::wildcard);
    std::size_t offsets[5];
    CHECK(graph.factor_offsets(offsets) == 5 && offsets[4] == 7);
    double values[8];
    CHECK(graph.factor_values(2, values) == 8 && values[7] == 0.9);
    CHECK(graph.factor_parameters(3, values) == 2 && values[0] == 0.7 && values[1] == 0.2);
    std::uint64_t few[3];
    THROWS(buffer_too_small, "4", graph.labels(few));
    THROWS(buffer_too_small, "4", graph.labels(fastlbp::Span<std::uint64_t>()));
    THROWS(invalid_argument, "buffer has length 2", graph.variables_of_labels({1}, found));
}

void bulk_equals_single() {
    using fastlbp::FactorKind;
    fastlbp::Graph bulk, single = tree();
    bulk.add_factors({FactorKind::prior, FactorKind::prior, FactorKind::conjunction,
                      FactorKind::disjunction},
                     {1, 2, 3, 4}, {0, 0, 0, 2, 3}, {1, 2, 3}, {0.3, 0.8, 0.9, 0.7},
                     {0.0, 0.0, 0.1, 0.2});
    bulk.add_variables({1, 10}, {2, 3});
    bulk.add_tables({0, 1, 2}, {10, 4}, {0, 3, 5}, {1, 2, 3, 0.5, 0.25});
    bulk.add_signed_factors({3, 4}, {0, 1, 3}, {1, 1, 2}, {1, 0, 1}, {1, 2, 3, 4, 5, 6, 7, 8});
    bulk.add_term_factors({0, 2, 3}, {4, 10, 10}, {0, 2, 3}, {0.5, 2.0, 1.5},
                          {1, fastlbp::wildcard, fastlbp::wildcard, 2, 0});
    bulk.add_factors({}, {}, {}, {}, {}, {});
    bulk.add_variables({}, {});
    bulk.add_tables({}, {}, {}, {});
    bulk.add_signed_factors({}, {}, {}, {}, {});
    bulk.add_term_factors({}, {}, {}, {}, {});

    single.add_variable(10, 3);
    single.add_table({10}, {1, 2, 3});
    single.add_table({4}, {0.5, 0.25});
    single.add_signed(3, {1}, {1}, {1, 2, 3, 4});
    single.add_signed(4, {1, 2}, {0, 1}, {5, 6, 7, 8});
    single.add_terms({4, 10}, {0.5, 2.0}, {1, fastlbp::wildcard, fastlbp::wildcard, 2});
    single.add_terms({10}, {1.5}, {0});

    CHECK(bulk.factor_kinds() == single.factor_kinds());
    CHECK(bulk.edge_variables() == single.edge_variables());
    for (std::size_t factor = 0; factor < single.factor_count(); ++factor)
        CHECK(bulk.factor_values(factor) == single.factor_values(factor));
    fastlbp::BeliefPropagation one(bulk), other(single);
    one.run_iterations(3);
    other.run_iterations(3);
    CHECK(one.marginals() == other.marginals());

    THROWS(invalid_argument, "heads has length 1: it must be 2",
           bulk.add_factors({FactorKind::prior, FactorKind::prior}, {1}, {0, 0, 0}, {}, {1, 1}, {0, 0}));
    THROWS(invalid_argument, "body_offsets has length 2: it must be 3",
           bulk.add_factors({FactorKind::prior, FactorKind::prior}, {1, 2}, {0, 0}, {}, {1, 1}, {0, 0}));
    THROWS(invalid_argument, "p has length 1: it must be 2",
           bulk.add_factors({FactorKind::prior, FactorKind::prior}, {1, 2}, {0, 0, 0}, {}, {1}, {0, 0}));
    THROWS(invalid_argument, "q has length 3: it must be 2",
           bulk.add_factors({FactorKind::prior, FactorKind::prior}, {1, 2}, {0, 0, 0}, {}, {1, 1},
                            {0, 0, 0}));
    THROWS(invalid_argument, "negated has length 1: it must be 2", bulk.add_signed_and(9, {1, 2}, {0}, 1, 0));
    THROWS(invalid_argument, "links has length 1: it must be 2", bulk.add_noisy_or(9, {1, 2}, {0.5}, 0));
    THROWS(invalid_argument, "cardinalities has length 1", bulk.add_variables({1, 2}, {2}));
    THROWS(invalid_argument, "value_offsets has length 2", bulk.add_tables({0, 0, 0}, {}, {0, 1}, {1.0}));
    THROWS(invalid_argument, "term_offsets has length 1", bulk.add_term_factors({0, 1}, {1}, {0}, {1}, {1}));
    THROWS(invalid_argument, "values has length 4: it must be 8",
           bulk.add_signed_factors({3, 4}, {0, 1, 3}, {1, 1, 2}, {1, 0, 1}, {1, 2, 3, 4}));
}

// P(head = 1) of a factor alone, with all variables of the body in the given states.
double head_given(fastlbp::Graph &graph, const std::vector<std::uint32_t> &body) {
    fastlbp::BeliefPropagation bp(graph);
    for (std::size_t i = 0; i < body.size(); ++i)
        bp.observe_label(i + 1, body[i]);
    bp.run();
    return bp.probability(graph.variable_of_label(9));
}

void structured_factors() {
    {
        fastlbp::Graph graph;
        graph.add_signed_and(9, {1, 2}, {0, 1}, 0.9, 0.2);
        NEAR(head_given(graph, {1, 0}), 0.9);
        NEAR(head_given(graph, {1, 1}), 0.2);
        CHECK(graph.factor_indicators(0) == std::vector<std::int32_t>({1, 0, fastlbp::wildcard}));
        CHECK(graph.factor_parameters(0) == std::vector<double>({0.9, 1 - 0.9, 0.2, 1 - 0.2}));
        CHECK(graph.factor_kinds()[0] == fastlbp::FactorKind::signed_literals);
    }
    {
        fastlbp::Graph graph;
        graph.add_signed_or(9, {1, 2}, {0, 1}, 0.9, 0.2);
        NEAR(head_given(graph, {0, 1}), 1 - 0.9);
        NEAR(head_given(graph, {0, 0}), 1 - 0.2);
    }
    {
        fastlbp::Graph graph;
        graph.add_clause({1, 9}, {1, 0}, 1.0, 0.25); // x1 -> x9
        NEAR(head_given(graph, {1}), 0.8);
        NEAR(head_given(graph, {0}), 0.5);
        THROWS(invalid_argument, "without literals", graph.add_clause({}, {}, 1.0, 0.25));
    }
    {
        fastlbp::Graph graph;
        graph.add_noisy_or(9, {1, 2}, {0.5, 0.25}, 0.1);
        NEAR(head_given(graph, {1, 1}), 1 - 0.9 * 0.5 * 0.75);
        CHECK(graph.factor_kinds()[0] == fastlbp::FactorKind::noisy_literals);
        CHECK(graph.factor_parameters(0)
              == std::vector<double>({0.1, 1 - 0.1, 1, 0, 1, 0, 0.5, 0.5, 1, 0, 0.75, 0.25, 1, 0, 1, 0}));
    }
    {
        fastlbp::Graph graph;
        graph.add_noisy_and(9, {1, 2}, {0.5, 0.25}, 0.8);
        NEAR(head_given(graph, {0, 0}), 0.8 * 0.5 * 0.25);
    }
    {
        fastlbp::Graph graph;
        graph.add_noisy(9, {1}, {0.25, 0.75, 1.0, 0.0}, {0.6, 0.4, 0.2, 0.8});
        NEAR(head_given(graph, {1}), 0.6);
        NEAR(head_given(graph, {0}), 0.25 * 0.6 + 0.75 * 0.2);
        THROWS(invalid_argument, "literals has length 4: it must be 8",
               graph.add_noisy(9, {1, 2}, {0.25, 0.75, 1.0, 0.0}, {0.6, 0.4, 0.2, 0.8}));
        THROWS(invalid_argument, "values has length 1: it must be 4",
               graph.add_noisy(9, {1}, {0.25, 0.75, 1.0, 0.0}, {0.6}));
    }
    {
        fastlbp::Graph graph;
        graph.add_variable(1, 3);
        graph.add_terms({1, 9}, {1.0, 3.0, 1.0}, {0, 1, 0, 0, 2, fastlbp::wildcard});
        NEAR(head_given(graph, {0}), 0.25);
        NEAR(head_given(graph, {2}), 0.5);
        CHECK(graph.factor_parameters(0) == std::vector<double>({1, 3, 1}));
        CHECK(graph.factor_indicators(0) == std::vector<std::int32_t>({0, 1, 0, 0, 2, -1}));
        std::int32_t indicators[6];
        CHECK(graph.factor_indicators(0, indicators) == 6 && indicators[5] == fastlbp::wildcard);
        CHECK(graph.factor_heads() == std::vector<std::uint32_t>({fastlbp::no_variable}));
    }
}

void graph_files(const Places &places) {
    const fastlbp::Graph graph = tree();
    for (const char *suffix : {"causal_fg", "causal_fg.gz", "fg", "uai.gz"}) {
        const std::string path = places.scratch + "/tree." + suffix;
        graph.write_file(path);
        const fastlbp::Graph read = fastlbp::Graph::read_file(path);
        // The formats of tables forget the labels and kinds.
        for (std::size_t factor = 0; factor < 4; ++factor)
            CHECK(read.factor_values(factor) == graph.factor_values(factor));
        CHECK(std::remove(path.c_str()) == 0);
        const std::vector<std::uint8_t> bytes = graph.write_memory(path);
        const fastlbp::Graph from_memory = fastlbp::Graph::read_memory(bytes, path);
        CHECK(from_memory.factor_values(3) == graph.factor_values(3));
        std::vector<std::uint8_t> room(bytes.size() + 1);
        CHECK(graph.write_memory(path, room) == bytes.size() && room[0] == bytes[0]);
    }
    const std::uint8_t text[] = {'1', '\n', 'x', '\n'};
    THROWS(parse, "memory.causal_fg:2", fastlbp::Graph::read_memory(text, "memory.causal_fg"));
    const std::string wrong = places.scratch + "/wrong.causal_fg";
    if (write_text(wrong, "1\nx\n")) {
        THROWS(parse, "wrong.causal_fg:2", fastlbp::Graph::read_file(wrong));
        CHECK(std::remove(wrong.c_str()) == 0);
    }
    THROWS(io, "missing.fg", fastlbp::Graph::read_file(places.scratch + "/missing.fg"));
    THROWS(invalid_argument, "suffix", graph.write_file("tree.txt"));
}

void test_graph(const Places &places) {
    graph_contents();
    graph_buffers();
    bulk_equals_single();
    structured_factors();
    graph_files(places);
}

} // namespace
