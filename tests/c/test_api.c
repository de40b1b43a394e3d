/* What the library does when it is used as described. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <unistd.h>

static const char *directory = ".";

static void versions(void) {
    char text[64];
    snprintf(text, sizeof text, "%d.%d.%d", FASTLBP_VERSION_MAJOR, FASTLBP_VERSION_MINOR,
             FASTLBP_VERSION_PATCH);
    CHECK(strcmp(fastlbp_version(), text) == 0);
    CHECK(strstr(fastlbp_build_info(), text) != NULL);
    CHECK(strcmp(fastlbp_status_string(FASTLBP_STATUS_OK), "FASTLBP_STATUS_OK") == 0);
    CHECK(strcmp(fastlbp_status_string(FASTLBP_STATUS_NO_DEVICE), "FASTLBP_STATUS_NO_DEVICE") == 0);
    CHECK(strcmp(fastlbp_status_string(1000), "unknown status") == 0);
    CHECK(strcmp(fastlbp_status_string(-1), "unknown status") == 0);
    CHECK(strcmp(fastlbp_last_error(), "") == 0);
}

static void tree_by_hand(void) {
    fastlbp_bp *bp = check_session(check_tree());
    double p[4], states[8], belief[8], sum = 0.0, value = -1.0;
    const double likelihood[] = {1.0, 3.0};
    const uint32_t some[] = {3, 0};
    uint64_t converged = 0;
    uint64_t iterations = 0;
    size_t needed = 0;

    OK(fastlbp_bp_set_schedule(bp, "TREE", 0));
    OK(fastlbp_bp_run(bp));
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_CONVERGED, &converged));
    CHECK(converged);
    OK(fastlbp_bp_probabilities(bp, p, 4, &needed));
    CHECK(needed == 4);
    NEAR(p[0], 0.3);
    NEAR(p[1], 0.8);
    NEAR(p[2], 0.292);
    NEAR(p[3], 0.446);
    OK(fastlbp_bp_marginals(bp, states, 8, NULL));
    NEAR(states[4], 0.708);
    NEAR(states[5], 0.292);
    OK(fastlbp_bp_factor_belief(bp, 2, belief, 8, &needed));
    CHECK(needed == 8);
    for (int i = 0; i < 8; i++)
        sum += belief[i];
    NEAR(sum, 1.0);
    NEAR(belief[7], 0.3 * 0.8 * 0.9);
    NEAR(belief[1], 0.3 * 0.2 * 0.9); /* x1 alone, x3 false */
    OK(fastlbp_bp_factor_belief_at(bp, 2, 7, &value));
    NEAR(value, belief[7]);

    OK(check_observe(bp, 3, 1)); /* the variable with label 4 */
    OK(fastlbp_bp_run_iterations(bp, 1)); /* exact: the graph is a tree */
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_ITERATIONS, &iterations));
    CHECK(iterations == 1);
    OK(fastlbp_bp_probabilities(bp, p, 4, NULL));
    NEAR(p[0], 0.3 * 0.67 / 0.446);
    NEAR(p[2], 0.292 * 0.8 / 0.446);
    CHECK(p[3] == 1.0);

    OK(fastlbp_bp_set_likelihood(bp, 3, likelihood, 2));
    OK(fastlbp_bp_run_iterations(bp, 1));
    OK(fastlbp_bp_probabilities_of(bp, some, 2, p));
    NEAR(p[0], 3 * 0.446 / 1.892);
    NEAR(p[1], 0.3 * 2.34 / 1.892);

    OK(fastlbp_bp_clear_evidence(bp, 3));
    OK(fastlbp_bp_run_iterations(bp, 1));
    OK(check_probability(bp, 3, &value));
    NEAR(value, 0.446);
    OK(check_marginal(bp, 3, states, 2, NULL));
    NEAR(states[0], 0.554);
    fastlbp_bp_free(bp);
}

/* f(a, b) over a ternary and a binary variable, in both orders of the scope. */
static void tables(void) {
    for (int reversed = 0; reversed < 2; reversed++) {
        const double prior[] = {0.2, 0.3, 0.5};
        const double straight[] = {0.9, 0.5, 0.1, 0.1, 0.5, 0.9};
        const double turned[] = {0.9, 0.1, 0.5, 0.5, 0.1, 0.9};
        const uint64_t scopes[2][2] = {{10, 20}, {20, 10}};
        const uint64_t single[] = {10};
        fastlbp_graph *graph = NULL;
        fastlbp_bp *bp;
        double marginals[5], values[6], value = -1;
        size_t count = 0;
        OK(fastlbp_graph_new(&graph));
        OK(check_add_variable(graph, 10, 3));
        OK(fastlbp_graph_add_table(graph, single, 1, prior, 3));
        OK(fastlbp_graph_add_table(graph, scopes[reversed], 2, reversed ? turned : straight, 6));
        OK(fastlbp_graph_count(graph, FASTLBP_COUNT_STATES, &count));
        CHECK(count == 5);
        OK(fastlbp_graph_factor_values(graph, 1, values, 6, NULL));
        SAME_BITS(values, straight, 6);
        bp = check_session(graph);
        OK(fastlbp_bp_run(bp));
        OK(fastlbp_bp_marginals(bp, marginals, 5, NULL));
        NEAR(marginals[0], 0.2);
        NEAR(marginals[2], 0.5);
        NEAR(marginals[4], 0.62);
        OK(check_observe_label(bp, 20, 1));
        OK(fastlbp_bp_run(bp));
        OK(check_marginal(bp, 0, marginals, 3, NULL));
        NEAR(marginals[0], 0.02 / 0.62);
        NEAR(marginals[1], 0.15 / 0.62);
        OK(fastlbp_bp_factor_belief_at(bp, 1, 5, &value));
        NEAR(value, 0.45 / 0.62);
        CHECK_STATUS(fastlbp_bp_probabilities(bp, marginals, 5, NULL), FASTLBP_STATUS_UNSUPPORTED);
        fastlbp_bp_free(bp);
    }
}

static void reading_a_graph(void) {
    fastlbp_graph *graph = check_tree();
    size_t count = 0, offsets[5];
    uint64_t labels[4];
    uint32_t kinds[4], heads[4], variables[7], cardinalities[4], found[2];
    int32_t indicators[3];
    double parameters[2], values[8];
    const uint64_t asked[] = {4, 1};
    const uint32_t all_variables[] = {0, 1, 0, 1, 2, 2, 3};
    OK(fastlbp_graph_build(graph));
    OK(fastlbp_graph_count(graph, FASTLBP_COUNT_VARIABLES, &count));
    CHECK(count == 4);
    OK(fastlbp_graph_count(graph, FASTLBP_COUNT_FACTORS, &count));
    CHECK(count == 4);
    OK(fastlbp_graph_count(graph, FASTLBP_COUNT_EDGES, &count));
    CHECK(count == 7);
    OK(fastlbp_graph_count(graph, FASTLBP_COUNT_STATES, &count));
    CHECK(count == 8);
    OK(fastlbp_graph_labels(graph, labels, 4, NULL));
    CHECK(labels[0] == 1 && labels[3] == 4);
    OK(fastlbp_graph_variables_of_labels(graph, asked, 2, found));
    CHECK(found[0] == 3 && found[1] == 0);
    OK(fastlbp_graph_cardinalities(graph, cardinalities, 4, &count));
    CHECK(count == 4 && cardinalities[3] == 2);
    OK(fastlbp_graph_factor_kinds(graph, kinds, 4, NULL));
    CHECK(kinds[0] == FASTLBP_FACTOR_PRIOR && kinds[2] == FASTLBP_FACTOR_AND
          && kinds[3] == FASTLBP_FACTOR_OR);
    OK(fastlbp_graph_factor_heads(graph, heads, 4, NULL));
    CHECK(heads[0] == 0 && heads[2] == 2 && heads[3] == 3);
    OK(fastlbp_graph_factor_parameters(graph, 1, parameters, 2, &count));
    CHECK(count == 1 && parameters[0] == 0.8);
    OK(fastlbp_graph_factor_parameters(graph, 2, parameters, 2, &count));
    CHECK(count == 2 && parameters[0] == 0.9 && parameters[1] == 0.1);
    OK(fastlbp_graph_factor_indicators(graph, 0, NULL, 0, &count));
    CHECK(count == 0);
    OK(fastlbp_graph_factor_indicators(graph, 2, indicators, 3, &count));
    CHECK(count == 3 && indicators[0] == 1 && indicators[1] == 1 && indicators[2] == FASTLBP_WILDCARD);
    OK(fastlbp_graph_factor_indicators(graph, 3, indicators, 3, &count));
    CHECK(count == 2 && indicators[0] == 0 && indicators[1] == FASTLBP_WILDCARD);
    OK(fastlbp_graph_factor_offsets(graph, offsets, 5, NULL));
    CHECK(offsets[0] == 0 && offsets[2] == 2 && offsets[3] == 5 && offsets[4] == 7);
    OK(fastlbp_graph_edge_variables(graph, variables, 7, NULL));
    SAME_BITS(variables, all_variables, 7);
    OK(fastlbp_graph_factor_variables(graph, 3, variables, 7, &count));
    CHECK(count == 2 && variables[0] == 2 && variables[1] == 3);
    OK(fastlbp_graph_factor_values(graph, 2, values, 8, &count));
    CHECK(count == 8 && values[7] == 0.9 && values[4] == 0.1 && values[3] == 1 - 0.9);
    fastlbp_graph_free(graph);
}

/* A graph can be added to after it was read from, and a session keeps the graph that it got. */
static void growing_a_graph(void) {
    fastlbp_graph *graph = check_tree(), *shared = NULL;
    fastlbp_bp *bp = NULL;
    const uint64_t body[] = {7, 4};
    int32_t indicators[3];
    size_t count = 0;
    OK(fastlbp_bp_new(graph, &bp));
    OK(fastlbp_graph_add_and(graph, 7, body, 2, 0.5, 0.25)); /* its head is in its body */
    OK(fastlbp_graph_count(graph, FASTLBP_COUNT_VARIABLES, &count));
    CHECK(count == 5);
    OK(fastlbp_graph_factor_indicators(graph, 4, indicators, 3, &count));
    CHECK(count == 2 && indicators[0] == 1 && indicators[1] == 1);
    OK(check_add_variable(graph, 9, 4));
    OK(fastlbp_graph_count(graph, FASTLBP_COUNT_STATES, &count));
    CHECK(count == 14);
    OK(fastlbp_graph_factor_indicators(graph, 4, indicators, 3, &count));
    CHECK(count == 2 && indicators[1] == 1);
    fastlbp_graph_free(graph);
    OK(fastlbp_bp_graph(bp, &shared));
    fastlbp_bp_free(bp);
    OK(fastlbp_graph_count(shared, FASTLBP_COUNT_VARIABLES, &count));
    CHECK(count == 4);
    fastlbp_graph_free(shared);
}

static void bulk_equals_single(void) {
    const uint32_t kinds[] = {FASTLBP_FACTOR_PRIOR, FASTLBP_FACTOR_PRIOR,
                              FASTLBP_FACTOR_AND, FASTLBP_FACTOR_OR};
    const uint64_t heads[] = {1, 2, 3, 4}, bodies[] = {1, 2, 3};
    const size_t offsets[] = {0, 0, 0, 2, 3};
    const double p[] = {0.3, 0.8, 0.9, 0.7}, q[] = {0.0, 0.0, 0.1, 0.2};
    const uint64_t labels[] = {1, 10}, scopes[] = {10, 4};
    const uint32_t cardinalities[] = {2, 3};
    const size_t scope_offsets[] = {0, 1, 2}, value_offsets[] = {0, 3, 5};
    const double values[] = {1, 2, 3, 0.5, 0.25};
    fastlbp_graph *bulk = NULL, *single = check_tree();
    OK(fastlbp_graph_new(&bulk));
    OK(fastlbp_graph_add_factors(bulk, 4, kinds, heads, offsets, bodies, 3, p, q));
    OK(fastlbp_graph_add_variables(bulk, labels, cardinalities, 2));
    OK(fastlbp_graph_add_tables(bulk, 2, scope_offsets, scopes, 2, value_offsets, values, 5));
    OK(fastlbp_graph_add_factors(bulk, 0, NULL, NULL, NULL, NULL, 0, NULL, NULL));
    OK(fastlbp_graph_add_tables(bulk, 0, NULL, NULL, 0, NULL, NULL, 0));
    OK(fastlbp_graph_add_variables(bulk, NULL, NULL, 0));
    OK(check_add_variable(single, 10, 3));
    OK(fastlbp_graph_add_table(single, scopes, 1, values, 3));
    OK(fastlbp_graph_add_table(single, scopes + 1, 1, values + 3, 2));
    check_equal(bulk, single, 3);
}

static void evidence(void) {
    fastlbp_bp *bp = check_session(check_ring(12));
    const uint32_t variables[] = {3, 5, 3}, states[] = {0, 1, 1};
    const uint64_t labels[] = {3, 5};
    const uint32_t label_states[] = {1, 1};
    double never[12], once[12], again[12];
    size_t count = 9;
    check_run(bp, 5, never, 12);
    OK(fastlbp_bp_observe(bp, variables, states, 3)); /* the last one counts */
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_EVIDENCE, &count));
    CHECK(count == 2);
    check_run(bp, 5, once, 12);
    CHECK(once[3] == 1.0 && once[5] == 1.0 && once[0] != never[0]);
    OK(fastlbp_bp_clear_all_evidence(bp));
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_EVIDENCE, &count));
    CHECK(count == 0);
    check_run(bp, 5, again, 12);
    SAME_BITS(never, again, 12);
    OK(check_observe_labels(bp, labels, label_states, 2));
    check_run(bp, 5, again, 12);
    SAME_BITS(once, again, 12);
    OK(fastlbp_bp_observe(bp, NULL, NULL, 0));
    OK(check_observe_labels(bp, NULL, NULL, 0));
    fastlbp_bp_free(bp);

    /* Also when the evidence comes before the session is prepared. */
    bp = check_session(check_ring(12));
    OK(check_observe_labels(bp, labels, label_states, 2));
    OK(check_observe(bp, 7, 0));
    OK(fastlbp_bp_clear_evidence(bp, 7));
    check_run(bp, 5, again, 12);
    SAME_BITS(once, again, 12);
    fastlbp_bp_free(bp);
}

static void schedules(void) {
    enum { SIZE = 12, EDGES = 12 * 4 };
    fastlbp_graph *graph = check_ring(SIZE);
    const char *names[] = {"PARALL", "SEQFIX", "SEQRND", "BLOCKS", "TOPO", "FWDBWD", "TREE"};
    double named[SIZE], ranked[SIZE], related[SIZE];
    uint64_t ranks[EDGES];
    uint32_t before[EDGES], after[EDGES], got[EDGES], widths[EDGES];
    size_t edges = 0, levels = 0, needed = 0, sum;
    char name[16];
    fastlbp_bp *bp;
    OK(fastlbp_graph_count(graph, FASTLBP_COUNT_EDGES, &edges));
    CHECK(edges == EDGES);
    bp = check_session(graph);
    for (size_t i = 0; i < LENGTH(names); i++) {
        OK(fastlbp_bp_set_schedule(bp, names[i], 17));
        OK(fastlbp_bp_get_property(bp, "updates", name, sizeof name, &needed));
        CHECK(strcmp(name, names[i]) == 0 && needed == strlen(names[i]) + 1);
        check_run(bp, 4, named, SIZE);
        OK(check_level_count(bp, &levels));
        OK(fastlbp_bp_level_widths(bp, widths, EDGES, &needed));
        CHECK(needed == levels && levels >= 1);
        CHECK((i == 0) == (levels == 1));
        sum = 0;
        for (size_t level = 0; level < levels; level++)
            sum += widths[level];
        CHECK(sum == EDGES);
        /* The same by the ranks of each iteration. */
        for (uint64_t iteration = 0; iteration < 4; iteration++) {
            OK(fastlbp_bp_set_schedule(bp, names[i], 17));
            OK(fastlbp_bp_schedule_ranks(bp, iteration, got, EDGES, NULL));
            for (size_t edge = 0; edge < EDGES; edge++)
                ranks[edge] = 1000 + 7 * (uint64_t)got[edge];
            OK(fastlbp_bp_set_schedule_ranks(bp, ranks, EDGES));
            OK(fastlbp_bp_get_property(bp, "updates", name, sizeof name, NULL));
            CHECK(strcmp(name, "CUSTOM") == 0);
            OK(fastlbp_bp_set_start(bp, iteration == 0 ? FASTLBP_START_FRESH : FASTLBP_START_WARM));
            OK(fastlbp_bp_run_iterations(bp, 1));
        }
        OK(fastlbp_bp_set_start(bp, FASTLBP_START_FRESH));
        OK(fastlbp_bp_probabilities(bp, ranked, SIZE, NULL));
        SAME_BITS(named, ranked, SIZE);
    }
    /* The number of blocks: set before or after the schedule, or with it; one block is PARALL. */
    OK(fastlbp_bp_set_schedule_blocks(bp, 3, 17));
    OK(fastlbp_bp_get_property(bp, "updates", name, sizeof name, NULL));
    CHECK(strcmp(name, "BLOCKS") == 0);
    OK(fastlbp_bp_schedule_ranks(bp, 0, got, EDGES, NULL));
    OK(fastlbp_bp_schedule_ranks(bp, 5, before, EDGES, NULL));
    CHECK(memcmp(got, before, sizeof got) == 0);
    for (size_t edge = 0; edge < EDGES; edge++)
        CHECK(got[edge] < 3);
    OK(fastlbp_bp_set_schedule(bp, "TREE", 17));
    OK(fastlbp_bp_set_property(bp, "updates", "BLOCKS"));
    OK(fastlbp_bp_schedule_ranks(bp, 0, before, EDGES, NULL));
    CHECK(memcmp(got, before, sizeof got) == 0);
    OK(fastlbp_bp_set_property(bp, "seed", "18"));
    OK(fastlbp_bp_schedule_ranks(bp, 0, before, EDGES, NULL));
    CHECK(memcmp(got, before, sizeof got) != 0);
    OK(fastlbp_bp_set_property(bp, "blocks", "1"));
    check_run(bp, 4, ranked, SIZE);
    OK(fastlbp_bp_set_schedule(bp, "PARALL", 0));
    check_run(bp, 4, named, SIZE);
    SAME_BITS(named, ranked, SIZE);
    /* SEQFIX as the chain of all edges. */
    for (uint32_t edge = 0; edge + 1 < EDGES; edge++) {
        before[edge] = edge;
        after[edge] = edge + 1;
    }
    OK(fastlbp_bp_set_schedule_relation(bp, before, after, EDGES - 1));
    check_run(bp, 4, related, SIZE);
    OK(fastlbp_bp_set_schedule(bp, "seqfix", 0));
    check_run(bp, 4, named, SIZE);
    SAME_BITS(named, related, SIZE);
    CHECK_STATUS(fastlbp_bp_set_schedule_relation(bp, before, after, 3),
                 FASTLBP_STATUS_INVALID_ARGUMENT);
    fastlbp_bp_free(bp);
}

static void messages_and_states(void) {
    fastlbp_bp *bp = check_session(check_ring(12)), *other = check_session(check_ring(12));
    fastlbp_bp *copy = NULL;
    double seven[12], split[12], resumed[12], copied[12], *messages;
    uint64_t *state, total = 0;
    size_t length = 0, state_length = 0;
    check_run(bp, 7, seven, 12);

    OK(fastlbp_bp_run_iterations(bp, 3)); /* fresh */
    CHECK_STATUS(fastlbp_bp_save_state(bp, NULL, 0, &state_length), FASTLBP_STATUS_BUFFER_TOO_SMALL);
    OK(check_message_length(bp, &length));
    CHECK(length == 96 && state_length > 0 && state_length <= length + 4);
    state = malloc(state_length * sizeof *state);
    messages = malloc(length * sizeof *messages);
    CHECK(state != NULL && messages != NULL);
    OK(fastlbp_bp_save_state(bp, state, state_length, NULL));
    OK(fastlbp_bp_clone(bp, &copy));
    OK(fastlbp_bp_probabilities(copy, copied, 12, NULL)); /* results are cloned as well */
    OK(fastlbp_bp_probabilities(bp, split, 12, NULL));
    SAME_BITS(split, copied, 12);

    OK(fastlbp_bp_set_start(bp, FASTLBP_START_WARM));
    OK(fastlbp_bp_run_iterations(bp, 4));
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_TOTAL_ITERATIONS, &total));
    CHECK(total == 7);
    OK(fastlbp_bp_probabilities(bp, split, 12, NULL));
    SAME_BITS(seven, split, 12);

    OK(fastlbp_bp_set_start(other, FASTLBP_START_WARM));
    OK(fastlbp_bp_restore_state(other, state, state_length));
    check_run(other, 4, resumed, 12);
    SAME_BITS(seven, resumed, 12);

    OK(fastlbp_bp_set_start(copy, FASTLBP_START_WARM));
    OK(fastlbp_bp_set_threads(copy, 2)); /* messages survive a change of the engine */
    check_run(copy, 4, copied, 12);
    SAME_BITS(seven, copied, 12);

    OK(fastlbp_bp_messages(bp, messages, length, NULL));
    for (size_t i = 0; i < length; i += 2)
        NEAR(messages[i] + messages[i + 1], 1.0);
    OK(fastlbp_bp_reset(other)); /* as new, although starts are warm */
    check_run(other, 7, resumed, 12);
    SAME_BITS(seven, resumed, 12);
    for (size_t i = 0; i < length; i++)
        messages[i] = 0.25;
    OK(fastlbp_bp_set_messages(other, messages, length)); /* uniform */
    OK(fastlbp_bp_run_iterations(other, 7));
    OK(fastlbp_bp_report_u64(other, FASTLBP_REPORT_TOTAL_ITERATIONS, &total));
    CHECK(total == 7);
    OK(fastlbp_bp_probabilities(other, resumed, 12, NULL));
    SAME_BITS(seven, resumed, 12);
    free(state);
    free(messages);
    fastlbp_bp_free(bp);
    fastlbp_bp_free(other);
    fastlbp_bp_free(copy);
}

static void bingo_rule(void) {
    fastlbp_bp *bp = check_session(check_ring(40));
    double low_pass[40], plain[40], active_fraction = -1, same = -2, max_diff = -1;
    uint64_t iterations = 0;
    uint64_t reason = 99;
    uint64_t converged = 1;
    OK(fastlbp_bp_set_schedule(bp, "PARALL", 0));
    /* A mean over one belief is the belief. */
    OK(fastlbp_bp_run_bingo(bp, 1e-300, 2, 4, 1, &active_fraction));
    OK(fastlbp_bp_report_f64(bp, FASTLBP_REPORT_ACTIVE_FRACTION, &same));
    CHECK(active_fraction == same && active_fraction > 0 && active_fraction <= 1);
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_CONVERGED, &converged));
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_STOP_REASON, &reason));
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_ITERATIONS, &iterations));
    CHECK(!converged && iterations > 2 && iterations <= 5);
    CHECK(reason == FASTLBP_STOP_ACTIVE_FRACTION); /* looked at before the greatest number of iterations */
    OK(fastlbp_bp_probabilities(bp, low_pass, 40, NULL));
    check_run(bp, iterations, plain, 40);
    SAME_BITS(low_pass, plain, 40);
    /* Loose enough to converge; no share is asked for. */
    OK(fastlbp_bp_run_bingo(bp, 1e-3, 100, 200, UINT64_MAX, NULL));
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_CONVERGED, &converged));
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_STOP_REASON, &reason));
    OK(fastlbp_bp_report_f64(bp, FASTLBP_REPORT_MAX_DIFF, &max_diff));
    CHECK(converged && reason == FASTLBP_STOP_CONVERGED && max_diff <= 1e-3);
    fastlbp_bp_free(bp);
}

static void stopping(void) {
    fastlbp_bp *bp = check_session(check_ring(40));
    uint64_t reason = 99;
    uint64_t iterations = 99;
    double max_diff = -1;
    OK(fastlbp_bp_set_tolerance(bp, 0.0));
    OK(fastlbp_bp_set_max_iterations(bp, 3));
    OK(fastlbp_bp_run(bp));
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_STOP_REASON, &reason));
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_ITERATIONS, &iterations));
    CHECK(reason == FASTLBP_STOP_ITERATIONS && iterations == 3);
    OK(fastlbp_bp_set_max_time(bp, 0.0));
    OK(fastlbp_bp_run_iterations(bp, 1000));
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_STOP_REASON, &reason));
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_ITERATIONS, &iterations));
    CHECK(reason == FASTLBP_STOP_TIME && iterations < 1000);
    OK(fastlbp_bp_set_max_time(bp, INFINITY));
    OK(fastlbp_bp_set_tolerance(bp, 1e-6));
    OK(fastlbp_bp_set_max_iterations(bp, 1000));
    OK(fastlbp_bp_run(bp));
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_STOP_REASON, &reason));
    OK(fastlbp_bp_report_f64(bp, FASTLBP_REPORT_MAX_DIFF, &max_diff));
    CHECK(reason == FASTLBP_STOP_CONVERGED && max_diff <= 1e-6);
    fastlbp_bp_free(bp);
}

static int32_t count_iterations(void *user, uint64_t iterations, uint64_t max_iterations, double max_diff,
                            double active_fraction) {
    uint64_t *count = user;
    (void)max_diff;
    ++*count;
    CHECK(iterations == *count && max_iterations == 50 && active_fraction == 1.0);
    return iterations == 2;
}

static void progress(void) {
    fastlbp_bp *bp = check_session(check_ring(12));
    uint64_t count = 0, iterations = 0;
    uint64_t reason = 99;
    OK(fastlbp_bp_set_progress(bp, count_iterations, &count));
    OK(fastlbp_bp_run_iterations(bp, 50));
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_ITERATIONS, &iterations));
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_STOP_REASON, &reason));
    CHECK(count == 2 && iterations == 2 && reason == FASTLBP_STOP_CANCELLED);
    OK(fastlbp_bp_set_progress(bp, NULL, NULL));
    OK(fastlbp_bp_run_iterations(bp, 50));
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_ITERATIONS, &iterations));
    CHECK(count == 2 && iterations == 50);
    fastlbp_bp_free(bp);
}

struct log_state {
    int infos, warnings;
    char text[256];
};

static void keep_log(void *user, uint32_t level, const char *text) {
    struct log_state *state = user;
    state->infos += level == FASTLBP_LOG_INFO;
    state->warnings += level == FASTLBP_LOG_WARNING;
    snprintf(state->text, sizeof state->text, "%s", text);
    CHECK_STATUS(fastlbp_set_log_callback(NULL, NULL), FASTLBP_STATUS_BUSY);
}

static void contradictions_and_log(void) {
    fastlbp_graph *graph = NULL;
    fastlbp_bp *bp;
    struct log_state state = {0, 0, ""};
    uint64_t count = 99, label = 99;
    double p[2] = {-1, -1};
    OK(fastlbp_set_log_callback(keep_log, &state));
    OK(fastlbp_graph_new(&graph));
    OK(fastlbp_graph_add_prior(graph, 5, 0.5));
    OK(fastlbp_graph_add_prior(graph, 6, 1.0));
    OK(fastlbp_graph_add_prior(graph, 6, 0.0));
    bp = check_session(graph);
    FAILS(fastlbp_bp_run(bp), FASTLBP_STATUS_CONTRADICTION, "variable 6");
    CHECK(state.infos == 1); /* which backend AUTO chose */
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_FIRST_CONTRADICTION, &label));
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_CONTRADICTIONS, &count));
    CHECK(label == 6 && count >= 1);
    CHECK_STATUS(fastlbp_bp_probabilities(bp, p, 2, NULL), FASTLBP_STATUS_NO_RESULT);
    OK(fastlbp_bp_set_contradiction(bp, FASTLBP_CONTRADICTION_VOTE));
    OK(fastlbp_bp_run(bp));
    CHECK(state.warnings == 1 && strstr(state.text, "6") != NULL);
    OK(fastlbp_bp_probabilities(bp, p, 2, NULL));
    CHECK(p[0] == 0.5 && p[1] == 0.5); /* a tie */
    OK(check_observe(bp, 1, 1));
    OK(fastlbp_set_log_callback(NULL, NULL));
    OK(fastlbp_bp_run(bp));
    CHECK(state.warnings == 1);
    fastlbp_bp_free(bp);
}

static void backends(void) {
    fastlbp_bp *bp = check_session(check_tree());
    uint64_t backend = 99, threads = 0;
    double before[4], after[4];
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_BACKEND, &backend));
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_THREADS, &threads));
    CHECK(backend == FASTLBP_BACKEND_CPU && threads >= 1);
    OK(fastlbp_bp_set_threads(bp, 1));
    OK(fastlbp_bp_prepare(bp));
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_THREADS, &threads));
    CHECK(threads == 1);
    OK(fastlbp_bp_run(bp));
    OK(fastlbp_bp_probabilities(bp, before, 4, NULL));
    OK(fastlbp_bp_set_backend(bp, FASTLBP_BACKEND_CPU));
    OK(fastlbp_bp_prepare(bp)); /* results stay */
    OK(fastlbp_bp_probabilities(bp, after, 4, NULL));
    SAME_BITS(before, after, 4);
    OK(check_probability(bp, 3, after));
    CHECK(after[0] == before[3]);
    fastlbp_bp_free(bp);
}

static void properties(void) {
    static const char *const accepted[][3] = {
        {"tol", "1e-7", "1e-7"},          {"maxiter", "20", "20"},
        {"maxtime", "2.5", "2.5"},        {"maxtime", "inf", "inf"},
        {"updates", "SEQRND", "SEQRND"},  {"updates", "PARALL", "PARALL"},
        {"updates", "TOPO", "TOPO"},      {"updates", "TREE", "TREE"},
        {"updates", "BLOCKS", "BLOCKS"},  {"updates", "FWDBWD", "FWDBWD"},
        {"blocks", "3", "3"},             {"blocks", "4294967295", "4294967295"},
        {"updates", "SEQFIX", "SEQFIX"},  {"damping", "0.5", "0.5"},
        {"damping", "-0", "0.0"},         {"damping", "1e-300", "1e-300"},
        {"damping", "0", "0.0"},          {"inference", "maxprod", "MAXPROD"},
        {"inference", "SUMPROD", "SUMPROD"}, {"logdomain", "1", "1"},
        {"measure", "all", "all"},        {"measure", "Variables", "variables"},
        {"active", "0.25", "0.25"},       {"active", "0", "0.0"},
        {"active", "OFF", "off"},
        {"progress", "rough", "rough"},  {"progress", "EXACT", "exact"},
        {"logdomain", "0", "0"},          {"verbose", "0", "0"},
        {"threads", "2", "2"},            {"seed", "18446744073709551615", "18446744073709551615"},
        {"backend", "cpu", "cpu"},        {"backend", "AUTO", "auto"},
        {"device", "3", "3"},             {"device", "4294967295", "default"},
        {"device", "0", "0"},             {"device", "3, 1", "1,3"},
        {"device", "2,5", "2,5"},         {"device", "Default", "default"},
        {"contradiction", "vote", "vote"}, {"start", "warm", "warm"},
    };
    fastlbp_bp *bp = check_session(check_tree());
    char value[64];
    size_t needed = 0;
    for (size_t i = 0; i < LENGTH(accepted); i++) {
        OK(fastlbp_bp_set_property(bp, accepted[i][0], accepted[i][1]));
        OK(fastlbp_bp_get_property(bp, accepted[i][0], value, sizeof value, &needed));
        CHECK(strcmp(value, accepted[i][2]) == 0);
        CHECK(needed == strlen(value) + 1);
        if (strcmp(value, accepted[i][2]) != 0)
            printf("%s = %s\n", accepted[i][0], value);
    }
    OK(fastlbp_bp_run(bp));
    fastlbp_bp_free(bp);
}

/* What a file would have in it gives the same graph from memory. */
static void check_memory(const fastlbp_graph *graph, const char *suffix, const double *wanted) {
    static uint8_t bytes[4096];
    char name[64];
    double got[4];
    size_t needed = 0, again = 0;
    fastlbp_graph *read = NULL;
    snprintf(name, sizeof name, "memory.%s", suffix);
    CHECK_STATUS(fastlbp_graph_write_memory(graph, name, NULL, 0, &needed), FASTLBP_STATUS_BUFFER_TOO_SMALL);
    OK(fastlbp_graph_write_memory(graph, name, bytes, sizeof bytes, &again));
    CHECK(needed == again && needed > 0);
    OK(fastlbp_graph_read_memory(bytes, needed, name, &read));
    fastlbp_bp *bp = check_session(read);
    check_run(bp, 6, got, 4);
    for (int v = 0; v < 4; v++)
        NEAR(got[v], wanted[v]);
    fastlbp_bp_free(bp);
}

static void files(void) {
    static const char *const suffixes[] = {"causal_fg", "causal_fg.gz", "fg", "uai.gz"};
    char path[512];
    double before[4], after[4];
    fastlbp_graph *graph = check_tree();
    fastlbp_bp *bp = NULL;
    FILE *file;
    size_t count = 0;
    OK(fastlbp_bp_new(graph, &bp));
    check_run(bp, 6, before, 4);
    fastlbp_bp_free(bp);
    for (size_t i = 0; i < LENGTH(suffixes); i++) {
        fastlbp_graph *read = NULL;
        snprintf(path, sizeof path, "%s/test_api_%ld.%s", directory, (long)getpid(), suffixes[i]);
        OK(fastlbp_graph_write_file(graph, path));
        OK(fastlbp_graph_read_file(path, &read));
        bp = check_session(read);
        check_run(bp, 6, after, 4);
        for (int v = 0; v < 4; v++)
            NEAR(after[v], before[v]);
        fastlbp_bp_free(bp);
        CHECK(remove(path) == 0);
        check_memory(graph, suffixes[i], before);
    }
    snprintf(path, sizeof path, "%s/test_api_%ld.obs", directory, (long)getpid());
    file = fopen(path, "w");
    CHECK(file != NULL);
    if (file != NULL) {
        fputs("4 1\n2 false\n", file);
        fclose(file);
        OK(fastlbp_bp_new(graph, &bp));
        OK(check_observe(bp, 0, 1)); /* replaced */
        OK(fastlbp_bp_read_evidence(bp, path, NULL));
        OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_EVIDENCE, &count));
        CHECK(count == 2);
        OK(fastlbp_bp_run(bp));
        OK(fastlbp_bp_probabilities(bp, after, 4, NULL));
        CHECK(after[1] == 0.0 && after[3] == 1.0);
        file = fopen(path, "a");
        CHECK(file != NULL && fputs("77 1\n", file) >= 0 && fclose(file) == 0);
        FAILS(fastlbp_bp_read_evidence(bp, path, NULL), FASTLBP_STATUS_PARSE, ".obs:3: variable 77");
        OK(fastlbp_bp_clear_all_evidence(bp));
        OK(fastlbp_bp_read_evidence(bp, path, &count));
        CHECK(count == 1);
        OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_EVIDENCE, &count));
        CHECK(count == 2);
        fastlbp_bp_free(bp);
        CHECK(remove(path) == 0);
    }
    fastlbp_graph_free(graph);
}

static void empty_graph(void) {
    fastlbp_graph *graph = NULL;
    fastlbp_bp *bp;
    size_t count = 99;
    OK(fastlbp_graph_new(&graph));
    OK(fastlbp_graph_count(graph, FASTLBP_COUNT_VARIABLES, &count));
    CHECK(count == 0);
    OK(fastlbp_graph_labels(graph, NULL, 0, &count));
    CHECK(count == 0);
    bp = check_session(graph);
    OK(fastlbp_bp_run(bp));
    OK(fastlbp_bp_marginals(bp, NULL, 0, &count));
    CHECK(count == 0);
    OK(check_level_count(bp, &count));
    CHECK(count == 0);
    fastlbp_bp_free(bp);
}

/* A variable with one state is for tables: it changes nothing but its own shape. */
static void one_state(void) {
    static const uint64_t scope[] = {3, 4};
    static const double values[] = {1, 3}, conjunction[] = {4};
    fastlbp_graph *graph = NULL;
    fastlbp_bp *bp = NULL;
    double p[3] = {0}, probability = UNTOUCHED, sum = 0;
    uint32_t maximum[2] = {9, 9};
    const uint32_t both[] = {0, 1};
    OK(fastlbp_graph_new(&graph));
    OK(check_add_variable(graph, 3, 1));
    OK(fastlbp_graph_add_table(graph, scope, 2, values, 2));
    OK(fastlbp_graph_add_table(graph, scope, 1, conjunction, 1));
    OK(fastlbp_bp_new(graph, &bp));
    OK(fastlbp_bp_run(bp));
    OK(fastlbp_bp_marginals(bp, p, LENGTH(p), NULL));
    NEAR(p[0], 1);
    NEAR(p[1], 0.25);
    OK(fastlbp_bp_log_partition(bp, &sum));
    NEAR(sum, log(16));
    OK(fastlbp_bp_find_maximum(bp, maximum, 2, NULL));
    CHECK(maximum[0] == 0 && maximum[1] == 1);
    OK(fastlbp_bp_run_bingo(bp, 1e-9, 10, 20, 5, NULL));
    OK(check_probability(bp, 1, &probability));
    NEAR(probability, 0.75);
    FAILS(check_probability(bp, 0, &probability), FASTLBP_STATUS_OUT_OF_RANGE, "variable 3");
    FAILS(fastlbp_bp_probabilities_of(bp, both, 2, p), FASTLBP_STATUS_OUT_OF_RANGE, "no state 1");
    FAILS(fastlbp_bp_probabilities(bp, p, 2, NULL), FASTLBP_STATUS_UNSUPPORTED, "1 states");
    OK(check_observe(bp, 0, 0));
    OK(fastlbp_bp_set_schedule(bp, "SEQMAX", 0));
    OK(fastlbp_bp_run(bp));
    OK(check_marginal(bp, 1, p, 2, NULL));
    NEAR(p[1], 0.75);
    fastlbp_bp_free(bp);
    fastlbp_graph_free(graph);
}

/* A cycle, on which belief propagation is off, and what is exact there, by hand. */
static void exact_results(void) {
    static const uint64_t scopes[] = {0, 1, 1, 2, 0, 2, 0};
    static const size_t scope_offsets[] = {0, 2, 4, 6, 7}, value_offsets[] = {0, 4, 8, 12, 14};
    static const double values[] = {2, 1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 1, 3};
    const uint32_t pair[] = {2, 0}, all[] = {0, 1, 2};
    uint32_t maximum[3] = {9, 9, 9};
    double p[6], loopy[6], belief[8], sum = 0;
    fastlbp_graph *graph = NULL;
    fastlbp_bp *bp = NULL, *copy = NULL;
    OK(fastlbp_graph_new(&graph));
    for (uint64_t v = 0; v < 3; ++v)
        OK(check_add_variable(graph, v, 2));
    OK(fastlbp_graph_add_tables(graph, 4, scope_offsets, scopes, 7, value_offsets, values, 14));
    OK(fastlbp_bp_new(graph, &bp));
    OK(fastlbp_bp_run_exact(bp, 0));
    /* Of x0 = 0, the sums are 8 + 2 + 2 + 2 = 14 of its states; of x0 = 1 three times as much. */
    OK(fastlbp_bp_marginals(bp, p, 6, NULL));
    NEAR(p[1], 0.75);
    NEAR(p[3], 0.75 * 10 / 14 + 0.25 * 4 / 14);
    OK(fastlbp_bp_log_partition(bp, &sum));
    NEAR(sum, log(56));
    OK(fastlbp_bp_belief(bp, pair, 2, belief, 4, NULL));
    NEAR(belief[3], 0.75 * 10 / 14);
    NEAR(belief[1], 0.25 * 4 / 14);
    OK(fastlbp_bp_factor_belief(bp, 3, belief, 8, NULL));
    NEAR(belief[1], 0.75);
    OK(fastlbp_bp_factor_belief_at(bp, 3, 1, &belief[0]));
    NEAR(belief[0], 0.75);
    FAILS(fastlbp_bp_factor_belief_at(bp, 3, 2, &belief[0]), FASTLBP_STATUS_OUT_OF_RANGE, "has 2 entries");
    OK(fastlbp_bp_probabilities_of(bp, all, 3, belief));
    NEAR(belief[0], 0.75);
    /* More than a factor has: they are in one clique. */
    OK(fastlbp_bp_belief(bp, all, 3, belief, 8, NULL));
    NEAR(belief[7], 24.0 / 56);
    FAILS(fastlbp_bp_find_maximum(bp, maximum, 3, NULL), FASTLBP_STATUS_NO_RESULT, "max-product");
    OK(fastlbp_bp_clone(bp, &copy));
    OK(fastlbp_bp_log_partition(copy, &sum));
    NEAR(sum, log(56));
    /* A run takes its place; then it is back. */
    OK(fastlbp_bp_run(bp));
    OK(fastlbp_bp_marginals(bp, loopy, 6, NULL));
    CHECK(fabs(loopy[3] - p[3]) > 1e-3);
    OK(fastlbp_bp_set_inference(bp, FASTLBP_INFERENCE_MAX_PRODUCT));
    OK(check_observe(bp, 2, 0));
    FAILS(fastlbp_bp_run_exact(bp, 5), FASTLBP_STATUS_LIMIT_EXCEEDED, "tables of 6 entries");
    OK(fastlbp_bp_run_exact(bp, 6));
    OK(fastlbp_bp_find_maximum(bp, maximum, 3, NULL));
    CHECK(maximum[0] == 0 && maximum[1] == 0 && maximum[2] == 0);
    OK(fastlbp_bp_log_partition(bp, &sum));
    NEAR(sum, log(8));
    FAILS(fastlbp_bp_run_exact(copy, 13), FASTLBP_STATUS_LIMIT_EXCEEDED, "treewidth");
    OK(fastlbp_bp_run_exact(copy, 14));
    fastlbp_bp_free(copy);
    fastlbp_bp_free(bp);
    fastlbp_graph_free(graph);
}

int main(int argc, char **argv) {
    if (argc > 1)
        directory = argv[1];
    versions();
    tree_by_hand();
    tables();
    reading_a_graph();
    growing_a_graph();
    bulk_equals_single();
    evidence();
    schedules();
    messages_and_states();
    bingo_rule();
    stopping();
    progress();
    contradictions_and_log();
    backends();
    properties();
    files();
    empty_graph();
    one_state();
    exact_results();
    return check_result();
}
