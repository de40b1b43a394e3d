/* Evidence that a factor excludes, the logarithm of an impossible sum, and copies that go on. */
#include "check.h"

/* A prior, an AND and a table over three variables, each 0 for the states that are observed. */
static fastlbp_graph *certain_factors(void) {
    const uint64_t scope[] = {3, 4, 5};
    const double values[] = {1, 1, 1, 1, 1, 1, 1, 0};
    fastlbp_graph *graph = NULL;
    OK(fastlbp_graph_new(&graph));
    OK(fastlbp_graph_add_prior(graph, 1, 0.0));
    OK(fastlbp_graph_add_and(graph, 3, (const uint64_t[]){2}, 1, 1.0, 0.0));
    OK(fastlbp_graph_add_table(graph, scope, 3, values, 8));
    return graph;
}

static void excluded_by_one_factor(void) {
    static const struct {
        uint64_t labels[3];
        uint32_t states[3];
        size_t count;
        const char *factor;
    } cases[] = {
        {{1}, {1}, 1, "factor 0 is 0"},
        {{2, 3}, {1, 0}, 2, "factor 1 is 0"},
        {{3, 4, 5}, {1, 1, 1}, 3, "factor 2 is 0"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        fastlbp_bp *bp = check_session(certain_factors());
        uint64_t count = 99, label = 99;
        double p[5] = {UNTOUCHED};
        OK(check_observe_labels(bp, cases[i].labels, cases[i].states, cases[i].count));
        FAILS(fastlbp_bp_run(bp), FASTLBP_STATUS_CONTRADICTION, cases[i].factor);
        OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_FIRST_CONTRADICTION, &label));
        OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_CONTRADICTIONS, &count));
        CHECK(label == cases[i].labels[0] && count == 1);
        FAILS(fastlbp_bp_probabilities(bp, p, 5, NULL), FASTLBP_STATUS_NO_RESULT, "no results");
        CHECK(p[0] == UNTOUCHED);
        OK(fastlbp_bp_set_contradiction(bp, FASTLBP_CONTRADICTION_VOTE));
        OK(fastlbp_bp_run(bp));
        OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_FIRST_CONTRADICTION, &label));
        OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_CONTRADICTIONS, &count));
        CHECK(label == cases[i].labels[0] && count >= 1);
        OK(fastlbp_bp_probabilities(bp, p, 5, NULL));
        for (size_t j = 0; j < cases[i].count; j++)
            CHECK(p[cases[i].labels[j] - 1] == cases[i].states[j]);
        /* Without one of the observations all is well. */
        OK(fastlbp_bp_clear_evidence(bp, (size_t)cases[i].labels[0] - 1));
        OK(fastlbp_bp_set_contradiction(bp, FASTLBP_CONTRADICTION_ERROR));
        OK(fastlbp_bp_run(bp));
        fastlbp_bp_free(bp);
    }
}

static void logarithm_of_zero(void) {
    const double second[] = {0, 1};
    fastlbp_bp *bp = check_session(check_tree());
    double value = UNTOUCHED;
    OK(fastlbp_bp_run(bp));
    OK(fastlbp_bp_set_likelihood(bp, 0, second, 2));
    OK(fastlbp_bp_log_partition(bp, &value));
    CHECK(value == -INFINITY); /* the belief is still positive for what is excluded */
    OK(fastlbp_bp_run(bp));
    OK(fastlbp_bp_log_partition(bp, &value));
    NEAR(value, log(0.3));
    fastlbp_bp_free(bp);
}

static void copies_go_on(void) {
    enum { VARIABLES = 40 };
    static const double factors[] = {0, 0.25, 0.9};
    for (size_t i = 0; i < LENGTH(factors); i++) {
        fastlbp_bp *bp = check_session(check_ring(VARIABLES)), *copy = NULL, *other = NULL;
        double p[3][VARIABLES] = {{0}};
        uint64_t *words;
        size_t needed = 0;
        OK(fastlbp_bp_set_schedule(bp, "SEQMAX", 0));
        OK(fastlbp_bp_set_damping(bp, factors[i]));
        OK(fastlbp_bp_run_iterations(bp, 1));
        OK(fastlbp_bp_clone(bp, &copy));
        OK(fastlbp_bp_clone(bp, &other));
        CHECK_STATUS(fastlbp_bp_save_state(bp, NULL, 0, &needed), FASTLBP_STATUS_BUFFER_TOO_SMALL);
        words = malloc(needed * sizeof *words);
        OK(fastlbp_bp_save_state(bp, words, needed, NULL));
        OK(fastlbp_bp_run_iterations(other, 5)); /* away from it, and back */
        OK(fastlbp_bp_restore_state(other, words, needed));
        OK(fastlbp_bp_set_start(bp, FASTLBP_START_WARM));
        OK(fastlbp_bp_set_start(copy, FASTLBP_START_WARM));
        OK(fastlbp_bp_set_start(other, FASTLBP_START_WARM));
        OK(fastlbp_bp_run_iterations(bp, 2));
        OK(fastlbp_bp_run_iterations(copy, 2));
        OK(fastlbp_bp_run_iterations(other, 2));
        OK(fastlbp_bp_probabilities(bp, p[0], VARIABLES, NULL));
        OK(fastlbp_bp_probabilities(copy, p[1], VARIABLES, NULL));
        OK(fastlbp_bp_probabilities(other, p[2], VARIABLES, NULL));
        SAME_BITS(p[0], p[1], VARIABLES);
        SAME_BITS(p[0], p[2], VARIABLES);
        free(words);
        fastlbp_bp_free(bp);
        fastlbp_bp_free(copy);
        fastlbp_bp_free(other);
    }
}

int main(void) {
    excluded_by_one_factor();
    logarithm_of_zero();
    copies_go_on();
    return check_result();
}
