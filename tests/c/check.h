/* The assertions of the C tests. A failed one is reported and counted; main returns check_result(). */
#ifndef FASTLBP_TESTS_CHECK_H
#define FASTLBP_TESTS_CHECK_H

#include <fastlbp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a failed call must leave in its outputs. */
enum { UNTOUCHED = 77 };

static int check_failures = 0;
static int check_count = 0;

#define CHECK(condition) check_true((condition) ? 1 : 0, #condition, __FILE__, __LINE__)
#define CHECK_STATUS(call, status) check_status((call), (status), #call, __FILE__, __LINE__)
#define OK(call) check_status((call), FASTLBP_STATUS_OK, #call, __FILE__, __LINE__)
/* Fails with a status, and the error text contains `text`. */
#define FAILS(call, status, text) check_fails((call), (status), (text), #call, __FILE__, __LINE__)
#define NULL_POINTER(call, name) FAILS(call, FASTLBP_STATUS_NULL_POINTER, name " is NULL")
#define NULL_HANDLE(call) FAILS(call, FASTLBP_STATUS_NULL_POINTER, "handle is NULL")
#define NEAR(value, wanted) check_near((value), (wanted), #value, __FILE__, __LINE__)
#define SAME_BITS(a, b, count) CHECK(memcmp((a), (b), (count) * sizeof *(a)) == 0)
#define LENGTH(array) (sizeof(array) / sizeof *(array))

static inline void check_true(int holds, const char *what, const char *file, int line) {
    check_count++;
    if (!holds) {
        check_failures++;
        printf("%s:%d: does not hold: %s\n", file, line, what);
    }
}

static inline void check_status(fastlbp_status got, fastlbp_status wanted, const char *call,
                                const char *file, int line) {
    check_count++;
    if (got != wanted) {
        check_failures++;
        printf("%s:%d: %s instead of %s: %s\n    %s\n", file, line, fastlbp_status_string(got),
               fastlbp_status_string(wanted), call, got == 0 ? "" : fastlbp_last_error());
    }
}

static inline void check_fails(fastlbp_status got, fastlbp_status wanted, const char *text,
                               const char *call, const char *file, int line) {
    check_status(got, wanted, call, file, line);
    if (got == wanted && strstr(fastlbp_last_error(), text) == NULL) {
        check_failures++;
        printf("%s:%d: '%s' is not in the error text: %s\n    %s\n", file, line, text, call,
               fastlbp_last_error());
    }
}

static inline void check_near(double value, double wanted, const char *what, const char *file,
                              int line) {
    check_count++;
    if (!(fabs(value - wanted) <= 1e-14)) {
        check_failures++;
        printf("%s:%d: %s is %.17g instead of %.17g\n", file, line, what, value, wanted);
    }
}

static inline int check_result(void) {
    printf("%d checks, %d failed\n", check_count, check_failures);
    return check_failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* A number from the environment. */
static inline long check_setting(const char *name, long fallback) {
    const char *text = getenv(name);
    return text == NULL ? fallback : strtol(text, NULL, 10);
}

/* --- The functions of the header for one entry, or by label ------------------------------------------------ */

static inline fastlbp_status check_add_variable(fastlbp_graph *graph, uint64_t label, size_t cardinality) {
    const uint32_t states = (uint32_t)cardinality;
    return fastlbp_graph_add_variables(graph, &label, &states, 1);
}

static inline fastlbp_status check_variable_of_label(const fastlbp_graph *graph, uint64_t label,
                                                     uint32_t *out) {
    return fastlbp_graph_variables_of_labels(graph, &label, 1, out);
}

static inline fastlbp_status check_observe(fastlbp_bp *bp, uint32_t variable, uint32_t state) {
    return fastlbp_bp_observe(bp, &variable, &state, 1);
}

static inline fastlbp_status check_observe_labels(fastlbp_bp *bp, const uint64_t *labels,
                                                  const uint32_t *states, size_t count) {
    uint32_t variables[16];
    fastlbp_graph *graph = NULL;
    fastlbp_status status = fastlbp_bp_graph(bp, &graph);
    if (status == FASTLBP_STATUS_OK)
        status = fastlbp_graph_variables_of_labels(graph, labels, count, variables);
    fastlbp_graph_free(graph);
    return status == FASTLBP_STATUS_OK ? fastlbp_bp_observe(bp, variables, states, count) : status;
}

static inline fastlbp_status check_observe_label(fastlbp_bp *bp, uint64_t label, uint32_t state) {
    return check_observe_labels(bp, &label, &state, 1);
}

static inline fastlbp_status check_probability(const fastlbp_bp *bp, uint32_t variable, double *out) {
    return fastlbp_bp_probabilities_of(bp, &variable, 1, out);
}

static inline fastlbp_status check_marginal(const fastlbp_bp *bp, size_t variable, double *buffer,
                                            size_t length, size_t *needed) {
    const uint32_t variables[] = {(uint32_t)variable};
    return fastlbp_bp_belief(bp, variables, 1, buffer, length, needed);
}

static inline fastlbp_status check_pair_belief(const fastlbp_bp *bp, size_t first, size_t second,
                                               double *buffer, size_t length, size_t *needed) {
    const uint32_t variables[] = {(uint32_t)first, (uint32_t)second};
    return fastlbp_bp_belief(bp, variables, 2, buffer, length, needed);
}

/* OK for a call that has told the length that it needs. */
static inline fastlbp_status check_told(fastlbp_status status) {
    return status == FASTLBP_STATUS_BUFFER_TOO_SMALL ? FASTLBP_STATUS_OK : status;
}

static inline fastlbp_status check_message_length(const fastlbp_bp *bp, size_t *out) {
    return check_told(fastlbp_bp_messages(bp, NULL, 0, out));
}

static inline fastlbp_status check_level_count(const fastlbp_bp *bp, size_t *out) {
    return check_told(fastlbp_bp_level_widths(bp, NULL, 0, out));
}

/* The tree that most tests use: priors of 1 and 2, an AND of both to 3, an OR of 3 to 4.
 *
 *   P(3) = 0.24 * 0.9 + 0.76 * 0.1 = 0.292
 *   P(4) = 0.292 * 0.8 + 0.708 * 0.3 = 0.446
 */
static inline fastlbp_graph *check_tree(void) {
    const uint64_t both[] = {1, 2};
    const uint64_t third[] = {3};
    fastlbp_graph *graph = NULL;
    OK(fastlbp_graph_new(&graph));
    OK(fastlbp_graph_add_prior(graph, 1, 0.3));
    OK(fastlbp_graph_add_prior(graph, 2, 0.8));
    OK(fastlbp_graph_add_and(graph, 3, both, 2, 0.9, 0.1));
    OK(fastlbp_graph_add_or(graph, 4, third, 1, 0.7, 0.2));
    return graph;
}

/* A graph with cycles: a ring of `size` AND and OR factors, each also reading across the ring. */
static inline fastlbp_graph *check_ring(uint64_t size) {
    fastlbp_graph *graph = NULL;
    OK(fastlbp_graph_new(&graph));
    for (uint64_t i = 0; i < size; i++) {
        uint64_t body[2];
        body[0] = (i + 1) % size;
        body[1] = (i + size / 2) % size;
        OK(i % 2 == 0 ? fastlbp_graph_add_and(graph, i, body, 2, 0.9, 0.05)
                      : fastlbp_graph_add_or(graph, i, body, 2, 0.8, 0.15));
        OK(fastlbp_graph_add_prior(graph, i, 0.3 + 0.4 * (double)i / (double)size));
    }
    return graph;
}

static inline fastlbp_bp *check_session(fastlbp_graph *graph) {
    fastlbp_bp *bp = NULL;
    OK(fastlbp_bp_new(graph, &bp));
    fastlbp_graph_free(graph);
    return bp;
}

/* Runs some iterations; `p` gets the probabilities of `count` variables. */
static inline void check_run(fastlbp_bp *bp, uint64_t iterations, double *p, size_t count) {
    OK(fastlbp_bp_run_iterations(bp, iterations));
    OK(fastlbp_bp_probabilities(bp, p, count, NULL));
}

/* Two graphs, which it frees, have the same marginals after some iterations, bit for bit. */
static inline void check_equal(fastlbp_graph *one, fastlbp_graph *other, uint64_t iterations) {
    fastlbp_bp *sessions[2];
    double marginals[2][64];
    size_t needed[2] = {0, 1};
    sessions[0] = check_session(one);
    sessions[1] = check_session(other);
    for (int i = 0; i < 2; i++) {
        OK(fastlbp_bp_run_iterations(sessions[i], iterations));
        OK(fastlbp_bp_marginals(sessions[i], marginals[i], 64, &needed[i]));
        fastlbp_bp_free(sessions[i]);
    }
    CHECK(needed[0] == needed[1]);
    SAME_BITS(marginals[0], marginals[1], needed[0]);
}

#endif
