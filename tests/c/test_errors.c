/* What the library answers to wrong use: the right status, a text that helps, outputs untouched. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <pthread.h>

static fastlbp_graph *const no_graph = NULL;
static fastlbp_bp *const no_bp = NULL;

/* NULL for every pointer of every function. */
static void null_graph(void) {
    fastlbp_graph *graph = check_tree();
    const uint64_t labels[] = {1, 2};
    const uint32_t numbers[] = {2, 2};
    const size_t offsets[] = {0, 0, 0};
    const double values[] = {0.5, 0.5};
    const uint32_t kinds[] = {1, 1};
    uint64_t wide[8];
    uint32_t narrow[8];
    int32_t states[8];
    size_t size = UNTOUCHED, sizes[8];
    double doubles[8];

    NULL_POINTER(fastlbp_graph_new(NULL), "out");
    fastlbp_graph_free(NULL);
    NULL_POINTER(fastlbp_graph_read_file(NULL, &graph), "path");
    NULL_POINTER(fastlbp_graph_read_file("x.fg", NULL), "out");
    NULL_POINTER(fastlbp_graph_read_memory(NULL, 1, "x.fg", &graph), "bytes");
    NULL_POINTER(fastlbp_graph_read_memory((const uint8_t *)"1", 1, NULL, &graph), "name");
    NULL_POINTER(fastlbp_graph_read_memory((const uint8_t *)"0", 1, "x.fg", NULL), "out");
    NULL_HANDLE(fastlbp_graph_add_variables(no_graph, labels, numbers, 2));
    NULL_POINTER(fastlbp_graph_add_variables(graph, NULL, numbers, 2), "labels");
    NULL_POINTER(fastlbp_graph_add_variables(graph, labels, NULL, 2), "cardinalities");
    NULL_HANDLE(fastlbp_graph_add_prior(no_graph, 1, 0.5));
    NULL_HANDLE(fastlbp_graph_add_and(no_graph, 1, labels, 2, 0.5, 0.5));
    NULL_POINTER(fastlbp_graph_add_and(graph, 1, NULL, 2, 0.5, 0.5), "body");
    NULL_HANDLE(fastlbp_graph_add_or(no_graph, 1, labels, 2, 0.5, 0.5));
    NULL_POINTER(fastlbp_graph_add_or(graph, 1, NULL, 2, 0.5, 0.5), "body");
    NULL_HANDLE(fastlbp_graph_add_factors(no_graph, 2, kinds, labels, offsets, labels, 0, values, values));
    NULL_POINTER(fastlbp_graph_add_factors(graph, 2, NULL, labels, offsets, labels, 0, values, values), "kinds");
    NULL_POINTER(fastlbp_graph_add_factors(graph, 2, kinds, NULL, offsets, labels, 0, values, values), "heads");
    NULL_POINTER(fastlbp_graph_add_factors(graph, 2, kinds, labels, NULL, labels, 0, values, values), "body_offsets");
    NULL_POINTER(fastlbp_graph_add_factors(graph, 2, kinds, labels, offsets, NULL, 1, values, values), "bodies");
    NULL_POINTER(fastlbp_graph_add_factors(graph, 2, kinds, labels, offsets, labels, 0, NULL, values), "p");
    NULL_POINTER(fastlbp_graph_add_factors(graph, 2, kinds, labels, offsets, labels, 0, values, NULL), "q");
    NULL_HANDLE(fastlbp_graph_add_table(no_graph, labels, 1, values, 2));
    NULL_POINTER(fastlbp_graph_add_table(graph, NULL, 1, values, 2), "scope");
    NULL_POINTER(fastlbp_graph_add_table(graph, labels, 1, NULL, 2), "values");
    NULL_HANDLE(fastlbp_graph_add_tables(no_graph, 1, offsets, labels, 0, offsets, values, 0));
    NULL_POINTER(fastlbp_graph_add_tables(graph, 1, NULL, labels, 0, offsets, values, 2), "scope_offsets");
    NULL_POINTER(fastlbp_graph_add_tables(graph, 1, offsets, NULL, 1, offsets, values, 2), "scopes");
    NULL_POINTER(fastlbp_graph_add_tables(graph, 1, offsets, labels, 0, NULL, values, 2), "value_offsets");
    NULL_POINTER(fastlbp_graph_add_tables(graph, 1, offsets, labels, 0, offsets, NULL, 2), "values");
    NULL_HANDLE(fastlbp_graph_build(no_graph));
    NULL_HANDLE(fastlbp_graph_write_file(no_graph, "x.fg"));
    NULL_POINTER(fastlbp_graph_write_file(graph, NULL), "path");
    NULL_HANDLE(fastlbp_graph_write_memory(no_graph, "x.fg", (uint8_t *)doubles, sizeof doubles, &size));
    NULL_POINTER(fastlbp_graph_write_memory(graph, NULL, (uint8_t *)doubles, sizeof doubles, &size), "name");

    for (uint32_t what = FASTLBP_COUNT_VARIABLES; what <= FASTLBP_COUNT_BYTES; what++) {
        NULL_HANDLE(fastlbp_graph_count(no_graph, what, &size));
        NULL_POINTER(fastlbp_graph_count(graph, what, NULL), "out");
    }
    FAILS(fastlbp_graph_count(graph, 5, &size), FASTLBP_STATUS_INVALID_ARGUMENT,
          "FASTLBP_COUNT_STATES (3) or FASTLBP_COUNT_BYTES (4)");
    CHECK(size == UNTOUCHED);

/* An array: no handle, no buffer, a buffer that is too short, and the length alone. `which` is what stands between
   the graph and the array. */
#define FILLED(function, which, array, wanted)                                             \
    NULL_HANDLE(function(no_graph, which array, LENGTH(array), &size));                    \
    NULL_POINTER(function(graph, which NULL, 8, &size), "buffer");                         \
    CHECK(size == UNTOUCHED);                                                              \
    memset(array, 1, sizeof array);                                                        \
    FAILS(function(graph, which array, wanted - 1, &size), FASTLBP_STATUS_BUFFER_TOO_SMALL, \
          #wanted " are needed");                                                          \
    CHECK(size == wanted && array[0] == array[7]);                                         \
    FAILS(function(graph, which array, wanted - 1, NULL), FASTLBP_STATUS_BUFFER_TOO_SMALL, #wanted); \
    size = UNTOUCHED;                                                                      \
    CHECK_STATUS(function(graph, which NULL, 0, &size), FASTLBP_STATUS_BUFFER_TOO_SMALL);  \
    CHECK(size == wanted);                                                                 \
    size = UNTOUCHED
#define NOTHING
#define ARRAY(function, array, wanted) FILLED(function, NOTHING, array, wanted)
    ARRAY(fastlbp_graph_labels, wide, 4);
    ARRAY(fastlbp_graph_cardinalities, narrow, 4);
    ARRAY(fastlbp_graph_factor_kinds, narrow, 4);
    ARRAY(fastlbp_graph_factor_heads, narrow, 4);
    ARRAY(fastlbp_graph_factor_offsets, sizes, 5);
    ARRAY(fastlbp_graph_edge_variables, narrow, 7);

    NULL_HANDLE(fastlbp_graph_variables_of_labels(no_graph, labels, 2, narrow));
    NULL_POINTER(fastlbp_graph_variables_of_labels(graph, NULL, 2, narrow), "labels");
    NULL_POINTER(fastlbp_graph_variables_of_labels(graph, labels, 2, NULL), "out");
    narrow[0] = UNTOUCHED;
    FAILS(check_variable_of_label(graph, 8, narrow), FASTLBP_STATUS_OUT_OF_RANGE, "label 8");
    CHECK(narrow[0] == UNTOUCHED);

/* An array of one factor: the same, and a factor that there is not. */
#define FACTOR_2 2,
#define OF_FACTOR(function, array, wanted)                                                 \
    FAILS(function(graph, 4, array, 8, &size), FASTLBP_STATUS_OUT_OF_RANGE, "factor index 4"); \
    FAILS(function(graph, SIZE_MAX, array, 8, &size), FASTLBP_STATUS_OUT_OF_RANGE, "index"); \
    FILLED(function, FACTOR_2, array, wanted)
    OF_FACTOR(fastlbp_graph_factor_variables, narrow, 3);
    OF_FACTOR(fastlbp_graph_factor_parameters, doubles, 2);
    OF_FACTOR(fastlbp_graph_factor_indicators, states, 3);
    OF_FACTOR(fastlbp_graph_factor_values, doubles, 8);
    fastlbp_graph_free(graph);
}

static void null_session(void) {
    fastlbp_graph *graph = check_tree(), *got_graph = NULL;
    fastlbp_bp *bp = NULL, *got = NULL;
    const uint32_t numbers[] = {0, 1};
    const double values[] = {0.5, 0.5};
    uint64_t words[18], number = UNTOUCHED;
    uint32_t narrow[8];
    size_t size = UNTOUCHED;
    double value = UNTOUCHED, doubles[18];
    char text[64];

    NULL_HANDLE(fastlbp_bp_new(NULL, &bp));
    NULL_POINTER(fastlbp_bp_new(graph, NULL), "out");
    CHECK(bp == NULL);
    bp = check_session(graph);
    NULL_HANDLE(fastlbp_bp_clone(NULL, &got));
    NULL_POINTER(fastlbp_bp_clone(bp, NULL), "out");
    fastlbp_bp_free(NULL);
    NULL_HANDLE(fastlbp_bp_graph(NULL, &got_graph));
    NULL_POINTER(fastlbp_bp_graph(bp, NULL), "out");
    CHECK(got == NULL && got_graph == NULL);

    NULL_HANDLE(fastlbp_bp_prepare(no_bp));
    NULL_HANDLE(fastlbp_bp_set_threads(no_bp, 1));
    NULL_HANDLE(fastlbp_bp_set_backend(no_bp, FASTLBP_BACKEND_CPU));
    NULL_HANDLE(fastlbp_bp_set_device(no_bp, 0));
    NULL_HANDLE(fastlbp_bp_set_tolerance(no_bp, 0));
    NULL_HANDLE(fastlbp_bp_set_max_iterations(no_bp, 1));
    NULL_HANDLE(fastlbp_bp_set_max_time(no_bp, 1));
    NULL_HANDLE(fastlbp_bp_set_contradiction(no_bp, FASTLBP_CONTRADICTION_VOTE));
    NULL_HANDLE(fastlbp_bp_set_start(no_bp, FASTLBP_START_WARM));
    NULL_HANDLE(fastlbp_bp_set_progress(no_bp, NULL, NULL));
    NULL_HANDLE(fastlbp_bp_set_property(no_bp, "tol", "1"));
    NULL_POINTER(fastlbp_bp_set_property(bp, NULL, "1"), "key");
    NULL_POINTER(fastlbp_bp_set_property(bp, "tol", NULL), "value");
    NULL_HANDLE(fastlbp_bp_get_property(no_bp, "tol", text, sizeof text, &size));
    NULL_POINTER(fastlbp_bp_get_property(bp, NULL, text, sizeof text, &size), "key");
    NULL_POINTER(fastlbp_bp_get_property(bp, "tol", NULL, 8, &size), "buffer");
    NULL_HANDLE(fastlbp_bp_set_schedule(no_bp, "TREE", 0));
    NULL_POINTER(fastlbp_bp_set_schedule(bp, NULL, 0), "name");
    NULL_HANDLE(fastlbp_bp_set_schedule_blocks(no_bp, 2, 0));
    NULL_HANDLE(fastlbp_bp_set_schedule_ranks(no_bp, words, 7));
    NULL_POINTER(fastlbp_bp_set_schedule_ranks(bp, NULL, 7), "ranks");
    NULL_HANDLE(fastlbp_bp_set_schedule_relation(no_bp, numbers, numbers, 2));
    NULL_POINTER(fastlbp_bp_set_schedule_relation(bp, NULL, numbers, 2), "before");
    NULL_POINTER(fastlbp_bp_set_schedule_relation(bp, numbers, NULL, 2), "after");
    NULL_HANDLE(fastlbp_bp_schedule_ranks(no_bp, 1, narrow, 8, &size));
    NULL_POINTER(fastlbp_bp_schedule_ranks(bp, 1, NULL, 8, &size), "buffer");
    NULL_HANDLE(fastlbp_bp_level_widths(no_bp, narrow, 8, &size));
    NULL_POINTER(fastlbp_bp_level_widths(bp, NULL, 8, &size), "buffer");

    NULL_HANDLE(fastlbp_bp_observe(no_bp, numbers, numbers, 2));
    NULL_POINTER(fastlbp_bp_observe(bp, NULL, numbers, 2), "variables");
    NULL_POINTER(fastlbp_bp_observe(bp, numbers, NULL, 2), "states");
    NULL_HANDLE(fastlbp_bp_set_likelihood(no_bp, 0, values, 2));
    NULL_POINTER(fastlbp_bp_set_likelihood(bp, 0, NULL, 2), "likelihood");
    NULL_HANDLE(fastlbp_bp_clear_evidence(no_bp, 0));
    NULL_HANDLE(fastlbp_bp_clear_all_evidence(no_bp));
    NULL_HANDLE(fastlbp_bp_read_evidence(no_bp, "x.obs", &size));
    NULL_POINTER(fastlbp_bp_read_evidence(bp, NULL, &size), "path");

    NULL_HANDLE(fastlbp_bp_run(no_bp));
    NULL_HANDLE(fastlbp_bp_run_iterations(no_bp, 1));
    NULL_HANDLE(fastlbp_bp_run_exact(no_bp, 0));
    NULL_HANDLE(fastlbp_bp_run_bingo(no_bp, 1e-6, 5, 10, 2, &value));
    NULL_HANDLE(fastlbp_bp_reset(no_bp));

    for (uint32_t key = FASTLBP_REPORT_ITERATIONS; key <= FASTLBP_REPORT_EVIDENCE; key++) {
        NULL_HANDLE(fastlbp_bp_report_u64(no_bp, key, &number));
        NULL_POINTER(fastlbp_bp_report_u64(bp, key, NULL), "out");
        FAILS(fastlbp_bp_report_f64(bp, key, &value), FASTLBP_STATUS_INVALID_ARGUMENT, "report key");
        if (key < FASTLBP_REPORT_BACKEND)
            FAILS(fastlbp_bp_report_u64(bp, key, &number), FASTLBP_STATUS_NO_RESULT, "no results yet");
    }
    for (uint32_t key = FASTLBP_REPORT_MAX_DIFF; key <= FASTLBP_REPORT_ACTIVE_FRACTION; key++) {
        NULL_HANDLE(fastlbp_bp_report_f64(no_bp, key, &value));
        NULL_POINTER(fastlbp_bp_report_f64(bp, key, NULL), "out");
        FAILS(fastlbp_bp_report_u64(bp, key, &number), FASTLBP_STATUS_INVALID_ARGUMENT, "report key");
        FAILS(fastlbp_bp_report_f64(bp, key, &value), FASTLBP_STATUS_NO_RESULT, "no results yet");
    }
    FAILS(fastlbp_bp_report_u64(bp, 12, &number), FASTLBP_STATUS_INVALID_ARGUMENT, "report key 12");

    NULL_HANDLE(fastlbp_bp_marginals(no_bp, doubles, 8, &size));
    NULL_POINTER(fastlbp_bp_marginals(bp, NULL, 8, &size), "buffer");
    FAILS(fastlbp_bp_marginals(bp, doubles, 8, &size), FASTLBP_STATUS_NO_RESULT, "no results yet");
    FAILS(check_marginal(bp, 0, doubles, 2, &size), FASTLBP_STATUS_NO_RESULT, "no results yet");
    FAILS(check_probability(bp, 0, &value), FASTLBP_STATUS_NO_RESULT, "no results yet");
    NULL_HANDLE(fastlbp_bp_probabilities(no_bp, doubles, 4, &size));
    NULL_POINTER(fastlbp_bp_probabilities(bp, NULL, 4, &size), "buffer");
    FAILS(fastlbp_bp_probabilities(bp, doubles, 4, &size), FASTLBP_STATUS_NO_RESULT,
          "no results yet");
    NULL_HANDLE(fastlbp_bp_probabilities_of(no_bp, numbers, 2, doubles));
    NULL_POINTER(fastlbp_bp_probabilities_of(bp, NULL, 2, doubles), "variables");
    NULL_POINTER(fastlbp_bp_probabilities_of(bp, numbers, 2, NULL), "out");
    FAILS(fastlbp_bp_probabilities_of(bp, numbers, 2, doubles), FASTLBP_STATUS_NO_RESULT,
          "no results yet");
    NULL_HANDLE(fastlbp_bp_factor_belief(no_bp, 2, doubles, 8, &size));
    NULL_POINTER(fastlbp_bp_factor_belief(bp, 2, NULL, 8, &size), "buffer");
    NULL_HANDLE(fastlbp_bp_factor_belief_at(no_bp, 2, 0, &value));
    NULL_POINTER(fastlbp_bp_factor_belief_at(bp, 2, 0, NULL), "out");
    NULL_HANDLE(fastlbp_bp_messages(no_bp, doubles, 14, &size));
    NULL_POINTER(fastlbp_bp_messages(bp, NULL, 14, &size), "buffer");
    NULL_HANDLE(fastlbp_bp_set_messages(no_bp, doubles, 14));
    NULL_POINTER(fastlbp_bp_set_messages(bp, NULL, 14), "messages");
    NULL_HANDLE(fastlbp_bp_save_state(no_bp, words, 18, &size));
    NULL_POINTER(fastlbp_bp_save_state(bp, NULL, 18, &size), "buffer");
    NULL_HANDLE(fastlbp_bp_restore_state(no_bp, words, 18));
    NULL_POINTER(fastlbp_bp_restore_state(bp, NULL, 18), "state");
    CHECK(number == UNTOUCHED && value == UNTOUCHED && size == UNTOUCHED);
    fastlbp_bp_free(bp);
}

/* Wrong values for the graph: refused by the call, or when the graph is built. */
static void wrong_graphs(void) {
    fastlbp_graph *graph = NULL;
    fastlbp_bp *bp = NULL;
    const uint64_t labels[] = {1, 2, 1};
    const double values[] = {1, 2, 3, 4, -1, NAN, 0, 0};
    const uint32_t cardinalities[] = {2, 0};
    const uint32_t kinds[] = {FASTLBP_FACTOR_AND, 9}, table[] = {FASTLBP_FACTOR_TABLE, 1};
    const uint32_t good[] = {FASTLBP_FACTOR_AND, FASTLBP_FACTOR_OR};
    const size_t offsets[] = {0, 1, 2}, down[] = {0, 2, 1}, late[] = {1, 1, 2}, far[] = {0, 1, 3};
    const double p[] = {0.5, 0.5}, bad[] = {0.5, 1.5};
    const size_t table_offsets[] = {0, 2, 6};
    size_t count = UNTOUCHED;

    OK(fastlbp_graph_new(&graph));
    FAILS(check_add_variable(graph, 7, 0), FASTLBP_STATUS_INVALID_ARGUMENT, "variable 7");
    FAILS(fastlbp_graph_add_variables(graph, labels, cardinalities, 2),
          FASTLBP_STATUS_INVALID_ARGUMENT, "cardinality 0");
    FAILS(fastlbp_graph_add_prior(graph, 1, 1.5), FASTLBP_STATUS_INVALID_ARGUMENT, "1.5");
    FAILS(fastlbp_graph_add_prior(graph, 1, NAN), FASTLBP_STATUS_INVALID_ARGUMENT, "NaN");
    FAILS(fastlbp_graph_add_and(graph, 1, labels, 2, -0.5, 0), FASTLBP_STATUS_INVALID_ARGUMENT, "-0.5");
    FAILS(fastlbp_graph_add_or(graph, 1, labels, 2, 0.5, INFINITY), FASTLBP_STATUS_INVALID_ARGUMENT,
          "inf");
    FAILS(fastlbp_graph_add_or(graph, 1, labels, SIZE_MAX, 0.5, 0.5), FASTLBP_STATUS_LIMIT_EXCEEDED,
          "body");
    FAILS(fastlbp_graph_add_or(graph, 1, (const uint64_t *)(const void *)((const char *)labels + 1),
                               1, 0.5, 0.5),
          FASTLBP_STATUS_INVALID_ARGUMENT, "aligned");
    FAILS(fastlbp_graph_add_table(graph, labels, 1, values + 3, 2), FASTLBP_STATUS_INVALID_ARGUMENT,
          "-1");
    FAILS(fastlbp_graph_add_table(graph, labels, 1, values + 5, 2), FASTLBP_STATUS_INVALID_ARGUMENT,
          "NaN");
    FAILS(fastlbp_graph_add_table(graph, labels, 1, values + 6, 2), FASTLBP_STATUS_INVALID_ARGUMENT,
          "zero");
    FAILS(fastlbp_graph_add_table(graph, labels, 0, values, 0), FASTLBP_STATUS_INVALID_ARGUMENT,
          "values");
#define NO_FACTORS(kinds, offsets, p_values, text)                                         \
    FAILS(fastlbp_graph_add_factors(graph, 2, kinds, labels, offsets, labels, 2, p_values, p), \
          FASTLBP_STATUS_INVALID_ARGUMENT, text)
    NO_FACTORS(kinds, offsets, p, "kinds[1] is 9");
    NO_FACTORS(table, offsets, p, "table");
    NO_FACTORS(good, down, p, "body_offsets[2] is 1 after 2");
    NO_FACTORS(good, late, p, "body_offsets[0] is 1");
    NO_FACTORS(good, far, p, "ends with 3");
    NO_FACTORS(good, offsets, bad, "1.5");
    FAILS(fastlbp_graph_add_factors(graph, SIZE_MAX, good, labels, offsets, labels, 2, p, p),
          FASTLBP_STATUS_LIMIT_EXCEEDED, "heads");
    FAILS(fastlbp_graph_add_tables(graph, 2, down, labels, 2, table_offsets, values, 6),
          FASTLBP_STATUS_INVALID_ARGUMENT, "scope_offsets");
    FAILS(fastlbp_graph_add_tables(graph, 2, offsets, labels, 2, far, values, 2),
          FASTLBP_STATUS_INVALID_ARGUMENT, "value_offsets");
    FAILS(fastlbp_graph_add_tables(graph, 2, offsets, labels, 2, table_offsets, values, 6),
          FASTLBP_STATUS_INVALID_ARGUMENT, "table 1");
    OK(fastlbp_graph_count(graph, FASTLBP_COUNT_FACTORS, &count)); /* none of these added anything */
    CHECK(count == 0);
    OK(fastlbp_graph_count(graph, FASTLBP_COUNT_VARIABLES, &count));
    CHECK(count == 0);

    /* These show when all is known. */
    OK(fastlbp_graph_add_table(graph, labels, 2, values, 3));
    FAILS(fastlbp_graph_build(graph), FASTLBP_STATUS_INVALID_ARGUMENT, "4 joint states");
    FAILS(fastlbp_graph_count(graph, FASTLBP_COUNT_VARIABLES, &count), FASTLBP_STATUS_INVALID_ARGUMENT, "factor 0");
    FAILS(fastlbp_bp_new(graph, &bp), FASTLBP_STATUS_INVALID_ARGUMENT, "factor 0");
    CHECK(count == 0 && bp == NULL);
    fastlbp_graph_free(graph);
    OK(fastlbp_graph_new(&graph));
    OK(check_add_variable(graph, 1, 3));
    OK(check_add_variable(graph, 1, 4));
    FAILS(fastlbp_graph_build(graph), FASTLBP_STATUS_INVALID_ARGUMENT, "variable 1");
    fastlbp_graph_free(graph);
    for (uint32_t states = 1; states <= 3; states += 2) {
        OK(fastlbp_graph_new(&graph));
        OK(check_add_variable(graph, 1, states));
        OK(fastlbp_graph_add_prior(graph, 1, 0.5));
        FAILS(fastlbp_graph_build(graph), FASTLBP_STATUS_INVALID_ARGUMENT, "binary");
        fastlbp_graph_free(graph);
    }
    OK(fastlbp_graph_new(&graph));
    OK(fastlbp_graph_add_table(graph, labels, 3, values, 4));
    CHECK_STATUS(fastlbp_graph_build(graph), FASTLBP_STATUS_INVALID_ARGUMENT);
    fastlbp_graph_free(graph);
}

static void wrong_files(const char *directory) {
    fastlbp_graph *graph = NULL;
    fastlbp_bp *bp = check_session(check_tree());
    char path[512];
    FILE *file;
    FAILS(fastlbp_graph_read_file("/no/such/file.fg", &graph), FASTLBP_STATUS_IO, "/no/such/file.fg");
    FAILS(fastlbp_graph_read_file("/no/such/file.txt", &graph), FASTLBP_STATUS_INVALID_ARGUMENT,
          "suffix");
    FAILS(fastlbp_graph_read_file("", &graph), FASTLBP_STATUS_INVALID_ARGUMENT, "empty");
    FAILS(fastlbp_graph_read_file("x\xff.fg", &graph), FASTLBP_STATUS_INVALID_UTF8, "byte 1");
    FAILS(fastlbp_bp_read_evidence(bp, "/no/such/file.obs", NULL), FASTLBP_STATUS_IO, "/no/such/file.obs");
    snprintf(path, sizeof path, "%s/test_errors.causal_fg", directory);
    file = fopen(path, "w");
    CHECK(file != NULL);
    if (file != NULL) {
        fputs("1\n\n3\n%0.5\n", file);
        fclose(file);
        FAILS(fastlbp_graph_read_file(path, &graph), FASTLBP_STATUS_PARSE, ".causal_fg:4:");
        FAILS(fastlbp_bp_read_evidence(bp, path, NULL), FASTLBP_STATUS_PARSE, ".causal_fg:");
        CHECK(remove(path) == 0);
    }
    FAILS(fastlbp_graph_read_memory((const uint8_t *)"1\nx\n", 4, "m.causal_fg", &graph), FASTLBP_STATUS_PARSE,
          "m.causal_fg:2");
    FAILS(fastlbp_graph_read_memory((const uint8_t *)"0\n", 2, "m.txt", &graph), FASTLBP_STATUS_INVALID_ARGUMENT,
          "suffix");
    FAILS(fastlbp_graph_read_memory((const uint8_t *)"0\n", 2, "m.fg.gz", &graph), FASTLBP_STATUS_IO, "gzip");
    FAILS(fastlbp_graph_read_memory((const uint8_t *)"\x1f\x8b", 2, "m.fg", &graph), FASTLBP_STATUS_IO, "gzip data");
    FAILS(fastlbp_graph_read_memory(NULL, 0, "", &graph), FASTLBP_STATUS_INVALID_ARGUMENT, "name is empty");
    CHECK(graph == NULL);
    graph = check_tree();
    FAILS(fastlbp_graph_write_file(graph, "/no/such/file.fg"), FASTLBP_STATUS_IO, "/no/such/file.fg");
    FAILS(fastlbp_graph_write_file(graph, "file.txt"), FASTLBP_STATUS_INVALID_ARGUMENT, "suffix");
    FAILS(fastlbp_graph_write_memory(graph, "file.txt", NULL, 0, NULL), FASTLBP_STATUS_INVALID_ARGUMENT, "suffix");
    FAILS(fastlbp_graph_write_memory(graph, "file.fg", NULL, 0, NULL), FASTLBP_STATUS_BUFFER_TOO_SMALL, "needed");
    OK(check_add_variable(graph, 20, 3));
    snprintf(path, sizeof path, "%s/test_errors_2.causal_fg", directory);
    CHECK_STATUS(fastlbp_graph_write_file(graph, path), FASTLBP_STATUS_UNSUPPORTED);
    file = fopen(path, "r");
    CHECK(file == NULL);
    fastlbp_graph_free(graph);
    fastlbp_bp_free(bp);
}

static void wrong_values(void) {
    fastlbp_bp *bp = check_session(check_tree());
    const uint32_t variables[] = {0, 4}, states[] = {1, 0}, three[] = {1, 3};
    const uint64_t labels[] = {1, 9}, ranks[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const double negative[] = {0.5, -0.5}, zero[] = {0.0, 0.0}, good[] = {0.5, 0.5};
    const uint32_t before[] = {0, 7}, after[] = {1, 1};
    uint64_t words[18];
    uint32_t narrow[8];
    double messages[14], value = UNTOUCHED;
    size_t count = UNTOUCHED;
    char text[64] = "untouched";

    FAILS(fastlbp_bp_set_backend(bp, 3), FASTLBP_STATUS_INVALID_ARGUMENT, "backend 3");
    FAILS(fastlbp_bp_set_contradiction(bp, 2), FASTLBP_STATUS_INVALID_ARGUMENT, "policy 2");
    FAILS(fastlbp_bp_set_start(bp, UINT32_MAX), FASTLBP_STATUS_INVALID_ARGUMENT, "4294967295");
    FAILS(fastlbp_bp_set_threads(bp, SIZE_MAX), FASTLBP_STATUS_INVALID_ARGUMENT, "4096");
    FAILS(fastlbp_bp_set_tolerance(bp, -1), FASTLBP_STATUS_INVALID_ARGUMENT, "-1");
    FAILS(fastlbp_bp_set_tolerance(bp, NAN), FASTLBP_STATUS_INVALID_ARGUMENT, "NaN");
    FAILS(fastlbp_bp_set_max_time(bp, -1), FASTLBP_STATUS_INVALID_ARGUMENT, "-1");
    FAILS(fastlbp_bp_set_max_time(bp, NAN), FASTLBP_STATUS_INVALID_ARGUMENT, "NaN");
    FAILS(fastlbp_bp_set_schedule(bp, "RANDOM", 0), FASTLBP_STATUS_INVALID_ARGUMENT, "'RANDOM'");
    FAILS(fastlbp_bp_set_schedule(bp, "\x80", 0), FASTLBP_STATUS_INVALID_UTF8, "byte 0");
    FAILS(fastlbp_bp_set_schedule_blocks(bp, 0, 1), FASTLBP_STATUS_INVALID_ARGUMENT, "0 blocks");
    FAILS(fastlbp_bp_set_schedule_ranks(bp, ranks, 8), FASTLBP_STATUS_INVALID_ARGUMENT, "7 edges");
    FAILS(fastlbp_bp_set_schedule_relation(bp, before, after, 2), FASTLBP_STATUS_OUT_OF_RANGE,
          "no edge 7");
    FAILS(fastlbp_bp_set_schedule_relation(bp, before, after, 1), FASTLBP_STATUS_INVALID_ARGUMENT,
          "edge");
    FAILS(fastlbp_bp_get_property(bp, "updates", text, 6, &count), FASTLBP_STATUS_BUFFER_TOO_SMALL, "7 are needed");
    CHECK(count == 7 && strcmp(text, "untouched") == 0);
    OK(fastlbp_bp_get_property(bp, "updates", text, 7, NULL));
    CHECK(strcmp(text, "SEQFIX") == 0); /* none of the wrong ones */
    count = UNTOUCHED;
    FAILS(fastlbp_bp_schedule_ranks(bp, 1, narrow, 6, &count),
          FASTLBP_STATUS_BUFFER_TOO_SMALL, "7 are needed");
    FAILS(fastlbp_bp_level_widths(bp, narrow, 1, &count), FASTLBP_STATUS_BUFFER_TOO_SMALL,
          "are needed");

    FAILS(check_observe(bp, 4, 0), FASTLBP_STATUS_OUT_OF_RANGE, "variable index 4");
    FAILS(check_observe(bp, 0, 2), FASTLBP_STATUS_OUT_OF_RANGE, "state 2");
    FAILS(check_observe_label(bp, 9, 0), FASTLBP_STATUS_OUT_OF_RANGE, "label 9");
    FAILS(fastlbp_bp_observe(bp, variables, states, 2), FASTLBP_STATUS_OUT_OF_RANGE,
          "variable index 4");
    FAILS(fastlbp_bp_observe(bp, states, three, 2), FASTLBP_STATUS_OUT_OF_RANGE, "state 3");
    FAILS(check_observe_labels(bp, labels, states, 2), FASTLBP_STATUS_OUT_OF_RANGE, "label 9");
    FAILS(fastlbp_bp_set_likelihood(bp, 0, negative, 2), FASTLBP_STATUS_INVALID_ARGUMENT, "-0.5");
    FAILS(fastlbp_bp_set_likelihood(bp, 0, zero, 2), FASTLBP_STATUS_INVALID_ARGUMENT, "zero");
    FAILS(fastlbp_bp_set_likelihood(bp, 0, good, 1), FASTLBP_STATUS_INVALID_ARGUMENT, "2 states");
    FAILS(fastlbp_bp_set_likelihood(bp, 4, good, 2), FASTLBP_STATUS_OUT_OF_RANGE, "index 4");
    FAILS(fastlbp_bp_clear_evidence(bp, 4), FASTLBP_STATUS_OUT_OF_RANGE, "index 4");
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_EVIDENCE, &count));
    CHECK(count == 0);

    FAILS(fastlbp_bp_run_bingo(bp, -1, 1, 2, 1, &value), FASTLBP_STATUS_INVALID_ARGUMENT, "-1");
    FAILS(fastlbp_bp_run_bingo(bp, 1, 3, 2, 1, &value), FASTLBP_STATUS_INVALID_ARGUMENT, "minimum");
    FAILS(fastlbp_bp_run_bingo(bp, 1, 1, 2, 0, &value), FASTLBP_STATUS_INVALID_ARGUMENT, "history");
    OK(fastlbp_bp_run(bp));
    FAILS(check_marginal(bp, 4, messages, 2, NULL), FASTLBP_STATUS_OUT_OF_RANGE, "index 4");
    FAILS(check_probability(bp, UINT32_MAX, &value), FASTLBP_STATUS_OUT_OF_RANGE, "index");
    FAILS(fastlbp_bp_probabilities_of(bp, variables, 2, messages), FASTLBP_STATUS_OUT_OF_RANGE,
          "index 4");
    FAILS(fastlbp_bp_factor_belief(bp, 4, messages, 8, NULL), FASTLBP_STATUS_OUT_OF_RANGE, "factor");
    FAILS(fastlbp_bp_factor_belief_at(bp, 2, 8, &value), FASTLBP_STATUS_OUT_OF_RANGE, "8 entries");
    FAILS(fastlbp_bp_factor_belief_at(bp, 4, 0, &value), FASTLBP_STATUS_OUT_OF_RANGE, "factor");
    CHECK(value == UNTOUCHED);
    FAILS(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_FIRST_CONTRADICTION, words), FASTLBP_STATUS_NO_RESULT, "contradictory");

#define SHORT(call, wanted)                                                              \
    count = UNTOUCHED;                                                                   \
    messages[0] = UNTOUCHED;                                                             \
    FAILS(call, FASTLBP_STATUS_BUFFER_TOO_SMALL, #wanted " are needed");                 \
    CHECK(count == wanted && messages[0] == UNTOUCHED)
    SHORT(fastlbp_bp_marginals(bp, messages, 7, &count), 8);
    SHORT(check_marginal(bp, 0, messages, 1, &count), 2);
    SHORT(fastlbp_bp_probabilities(bp, messages, 3, &count), 4);
    SHORT(fastlbp_bp_factor_belief(bp, 2, messages, 7, &count), 8);
    SHORT(fastlbp_bp_messages(bp, messages, 13, &count), 14);
    FAILS(fastlbp_bp_save_state(bp, words, 3, &count), FASTLBP_STATUS_BUFFER_TOO_SMALL, "needed");

    OK(fastlbp_bp_messages(bp, messages, 14, NULL));
    FAILS(fastlbp_bp_set_messages(bp, messages, 13), FASTLBP_STATUS_INVALID_ARGUMENT, "13");
    messages[5] = NAN;
    FAILS(fastlbp_bp_set_messages(bp, messages, 14), FASTLBP_STATUS_INVALID_ARGUMENT, "edge 2");
    OK(fastlbp_bp_save_state(bp, words, 18, &count));
    FAILS(fastlbp_bp_restore_state(bp, words, count - 1), FASTLBP_STATUS_INVALID_ARGUMENT, "values");
    FAILS(fastlbp_bp_restore_state(bp, words, 2), FASTLBP_STATUS_INVALID_ARGUMENT, "2 words");
    words[7] ^= 1;
    FAILS(fastlbp_bp_restore_state(bp, words, count), FASTLBP_STATUS_INVALID_ARGUMENT, "checksum");
    words[0]++;
    FAILS(fastlbp_bp_restore_state(bp, words, count), FASTLBP_STATUS_INVALID_ARGUMENT, "format");
    fastlbp_bp_free(bp);
}

static void wrong_properties(void) {
    static const struct {
        const char *key, *value;
        fastlbp_status status;
        const char *text;
    } cases[] = {
        {"tolerance", "1", FASTLBP_STATUS_INVALID_ARGUMENT, "known are tol, maxiter, maxtime"},
        {"tol", "small", FASTLBP_STATUS_INVALID_ARGUMENT, "tol = 'small'"},
        {"tol", "-1", FASTLBP_STATUS_INVALID_ARGUMENT, "-1"},
        {"tol", "nan", FASTLBP_STATUS_INVALID_ARGUMENT, "NaN"},
        {"maxiter", "-1", FASTLBP_STATUS_INVALID_ARGUMENT, "whole number"},
        {"maxtime", "-1", FASTLBP_STATUS_INVALID_ARGUMENT, "-1"},
        {"updates", "SEQ", FASTLBP_STATUS_INVALID_ARGUMENT, "'SEQ'"},
        {"damping", "-0.5", FASTLBP_STATUS_INVALID_ARGUMENT, "damping -0.5"},
        {"damping", "nan", FASTLBP_STATUS_INVALID_ARGUMENT, "NaN"},
        {"damping", "1", FASTLBP_STATUS_INVALID_ARGUMENT, "[0, 1)"},
        {"damping", "x", FASTLBP_STATUS_INVALID_ARGUMENT, "[0, 1)"},
        {"inference", "x", FASTLBP_STATUS_INVALID_ARGUMENT, "SUMPROD or MAXPROD"},
        {"measure", "beliefs", FASTLBP_STATUS_INVALID_ARGUMENT, "variables or all"},
        {"progress", "no", FASTLBP_STATUS_INVALID_ARGUMENT, "exact or rough"},
        {"active", "on", FASTLBP_STATUS_INVALID_ARGUMENT, "off or a number"},
        {"active", "", FASTLBP_STATUS_INVALID_ARGUMENT, "active = ''"},
        {"active", "-1", FASTLBP_STATUS_INVALID_ARGUMENT, "threshold -1"},
        {"logdomain", "2", FASTLBP_STATUS_INVALID_ARGUMENT, "0 or 1"},
        {"verbose", "yes", FASTLBP_STATUS_INVALID_ARGUMENT, "whole number"},
        {"threads", "5000", FASTLBP_STATUS_INVALID_ARGUMENT, "4096"},
        {"threads", "", FASTLBP_STATUS_INVALID_ARGUMENT, "threads = ''"},
        {"seed", "-1", FASTLBP_STATUS_INVALID_ARGUMENT, "2^64"},
        {"backend", "gpu", FASTLBP_STATUS_INVALID_ARGUMENT, "auto, cpu or cuda"},
        {"device", "-1", FASTLBP_STATUS_INVALID_ARGUMENT, "default, the number of a CUDA device, or several such as 0,1"},
        {"device", "0,", FASTLBP_STATUS_INVALID_ARGUMENT, "device = '0,'"},
        {"device", "0,1,0", FASTLBP_STATUS_INVALID_ARGUMENT, "device 0 is listed twice"},
        {"device", "0,64", FASTLBP_STATUS_OUT_OF_RANGE, "numbers from 0 to 63"},
        {"device", "4294967296", FASTLBP_STATUS_INVALID_ARGUMENT, "device = '4294967296'"},
        {"device", "", FASTLBP_STATUS_INVALID_ARGUMENT, "device = ''"},
        {"contradiction", "ignore", FASTLBP_STATUS_INVALID_ARGUMENT, "error or vote"},
        {"start", "cold", FASTLBP_STATUS_INVALID_ARGUMENT, "fresh or warm"},
        {"tol", "\xc3", FASTLBP_STATUS_INVALID_UTF8, "value"},
        {"\xc3", "1", FASTLBP_STATUS_INVALID_UTF8, "key"},
    };
    fastlbp_bp *bp = check_session(check_tree());
    char text[8] = "same";
    size_t needed = UNTOUCHED;
    for (size_t i = 0; i < LENGTH(cases); i++)
        FAILS(fastlbp_bp_set_property(bp, cases[i].key, cases[i].value), cases[i].status,
              cases[i].text);
    FAILS(fastlbp_bp_get_property(bp, "x", text, sizeof text, &needed),
          FASTLBP_STATUS_INVALID_ARGUMENT, "known are");
    CHECK(needed == UNTOUCHED);
    FAILS(fastlbp_bp_get_property(bp, "tol", text, 4, &needed), FASTLBP_STATUS_BUFFER_TOO_SMALL,
          "5 are needed");
    CHECK(needed == 5 && strcmp(text, "same") == 0);
    OK(fastlbp_bp_get_property(bp, "tol", text, 5, &needed));
    CHECK(strcmp(text, "1e-9") == 0); /* none of the wrong ones */
    fastlbp_bp_free(bp);
}

/* CUDA where there is none, and back: the session goes on. */
static void missing_backend(void) {
    fastlbp_bp *bp = check_session(check_tree());
    fastlbp_status status;
    uint64_t backend = UNTOUCHED;
    OK(fastlbp_bp_set_backend(bp, FASTLBP_BACKEND_CUDA));
    status = fastlbp_bp_run(bp);
    if (status == FASTLBP_STATUS_OK) {
        printf("skipped: missing_backend, as there is a CUDA device\n");
    } else {
        CHECK(status == FASTLBP_STATUS_UNSUPPORTED || status == FASTLBP_STATUS_NO_DEVICE);
        CHECK(strstr(fastlbp_last_error(), "CUDA") != NULL);
        CHECK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_BACKEND, &backend) == status && backend == UNTOUCHED);
        OK(fastlbp_bp_set_backend(bp, FASTLBP_BACKEND_CPU));
        OK(fastlbp_bp_run(bp));
    }
    fastlbp_bp_free(bp);
}

/* Sizes that nobody has memory for. */
static void out_of_memory(void) {
    fastlbp_graph *graph = NULL;
    fastlbp_bp *bp;
    OK(fastlbp_graph_new(&graph));
    for (uint64_t label = 0; label < 20000; label++)
        OK(check_add_variable(graph, label, UINT32_MAX));
    bp = check_session(graph);
    FAILS(fastlbp_bp_run(bp), FASTLBP_STATUS_OUT_OF_MEMORY, "bytes");
    CHECK_STATUS(fastlbp_bp_run(bp), FASTLBP_STATUS_OUT_OF_MEMORY); /* not poisoned */
    fastlbp_bp_free(bp);
}

struct other_thread {
    fastlbp_bp *bp;
    fastlbp_status changing, reading;
    char text[128];
};

static void *call_from_other_thread(void *argument) {
    struct other_thread *other = argument;
    double value;
    other->reading = check_probability(other->bp, 0, &value);
    other->changing = check_observe(other->bp, 0, 1);
    snprintf(other->text, sizeof other->text, "%s", fastlbp_last_error());
    return NULL;
}

/* Calls into the session that runs, from the callback's thread and from another one. */
static int32_t call_back(void *user, uint64_t iterations, uint64_t max_iterations, double max_diff,
                         double active_fraction) {
    fastlbp_bp *bp = user, *copy = NULL;
    struct other_thread other;
    pthread_t thread;
    double value = UNTOUCHED;
    (void)iterations, (void)max_iterations, (void)max_diff, (void)active_fraction;
    FAILS(fastlbp_bp_run(bp), FASTLBP_STATUS_BUSY, "busy");
    FAILS(check_observe(bp, 0, 1), FASTLBP_STATUS_BUSY, "busy");
    FAILS(check_probability(bp, 0, &value), FASTLBP_STATUS_BUSY, "busy");
    FAILS(fastlbp_bp_clone(bp, &copy), FASTLBP_STATUS_BUSY, "busy");
    CHECK(value == UNTOUCHED && copy == NULL);
    other.bp = bp;
    CHECK(pthread_create(&thread, NULL, call_from_other_thread, &other) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(other.reading == FASTLBP_STATUS_BUSY && other.changing == FASTLBP_STATUS_BUSY);
    CHECK(strstr(other.text, "busy") != NULL);
    return 0;
}

static int32_t free_itself(void *user, uint64_t iterations, uint64_t max_iterations, double max_diff,
                           double active_fraction) {
    (void)max_iterations, (void)max_diff, (void)active_fraction;
    if (iterations == 1)
        fastlbp_bp_free(user);
    return 0;
}

static void busy(void) {
    fastlbp_bp *bp = check_session(check_tree());
    double value = UNTOUCHED;
    OK(fastlbp_bp_set_progress(bp, call_back, bp));
    OK(fastlbp_bp_run_iterations(bp, 2));
    OK(fastlbp_bp_set_progress(bp, NULL, NULL));
    OK(fastlbp_bp_run_iterations(bp, 2)); /* no longer busy */
    OK(check_probability(bp, 0, &value));
    OK(fastlbp_bp_set_progress(bp, free_itself, bp));
    OK(fastlbp_bp_run_iterations(bp, 3)); /* goes when the run ends */
}

static void *read_last_error(void *argument) {
    strcpy(argument, fastlbp_last_error());
    return NULL;
}

static void error_texts(void) {
    char text[128] = "none";
    pthread_t thread;
    double value;
    fastlbp_bp *bp = check_session(check_tree());
    FAILS(check_observe(bp, 1000, 0), FASTLBP_STATUS_OUT_OF_RANGE,
          "variable index 1000: the graph has 4 variables");
    OK(fastlbp_bp_run(bp));
    OK(check_probability(bp, 0, &value));
    CHECK(strstr(fastlbp_last_error(), "1000") != NULL); /* successes do not change it */
    CHECK(pthread_create(&thread, NULL, read_last_error, text) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(strcmp(text, "") == 0); /* each thread has its own */
    fastlbp_bp_free(bp);
}

#ifdef FASTLBP_TEST_HOOKS
fastlbp_status fastlbp_test_panic(fastlbp_bp *bp);
fastlbp_status fastlbp_test_panic_reading(const fastlbp_bp *bp);

static void poisoned(void) {
    for (int reading = 0; reading < 2; reading++) {
        fastlbp_bp *bp = check_session(check_tree()), *copy = NULL;
        double value = UNTOUCHED;
        OK(fastlbp_bp_run(bp));
        FAILS(reading ? fastlbp_test_panic_reading(bp) : fastlbp_test_panic(bp),
              FASTLBP_STATUS_PANIC, "a panic for tests");
        FAILS(fastlbp_bp_run(bp), FASTLBP_STATUS_POISONED, "poisoned");
        FAILS(check_probability(bp, 0, &value), FASTLBP_STATUS_POISONED, "freed");
        FAILS(fastlbp_bp_clone(bp, &copy), FASTLBP_STATUS_POISONED, "poisoned");
        CHECK(value == UNTOUCHED && copy == NULL);
        fastlbp_bp_free(bp);
    }
}
#else
static void poisoned(void) {
    printf("skipped: poisoned, which needs a library with the feature test-hooks\n");
}
#endif

int main(int argc, char **argv) {
    null_graph();
    null_session();
    wrong_graphs();
    wrong_files(argc > 1 ? argv[1] : ".");
    wrong_values();
    wrong_properties();
    missing_backend();
    if (check_setting("FASTLBP_TEST_OUT_OF_MEMORY", 1))
        out_of_memory();
    busy();
    error_texts();
    poisoned();
    return check_result();
}
