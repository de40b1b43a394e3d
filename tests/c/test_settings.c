/* Max-product, damping, active sets, the measure of convergence, decoding, joint beliefs. */
#include "check.h"

static fastlbp_bp *const no_bp = NULL;

static void damping(void) {
    fastlbp_graph *graph = NULL;
    fastlbp_bp *bp, *plain = check_session(check_ring(12)), *damped = check_session(check_ring(12));
    double messages[2], p = -1, a[12], b[12];
    uint64_t iterations = 0, more = 0;
    OK(fastlbp_graph_new(&graph));
    OK(fastlbp_graph_add_prior(graph, 1, 0.2)); /* odds 1/4, after uniform ones */
    bp = check_session(graph);
    OK(fastlbp_bp_set_damping(bp, 0.5));
    OK(fastlbp_bp_run_iterations(bp, 1));
    OK(fastlbp_bp_messages(bp, messages, 2, NULL));
    NEAR(messages[1] / messages[0], 0.5);
    OK(check_probability(bp, 0, &p));
    NEAR(p, 0.2); /* beliefs are of undamped messages */
    OK(fastlbp_bp_run_iterations(bp, 2));
    OK(fastlbp_bp_messages(bp, messages, 2, NULL));
    NEAR(messages[1] / messages[0], sqrt(0.5 * 0.25));
    fastlbp_bp_free(bp);

    /* The same fixed point, later. */
    OK(fastlbp_bp_set_tolerance(plain, 1e-13));
    OK(fastlbp_bp_set_tolerance(damped, 1e-13));
    OK(fastlbp_bp_set_damping(damped, 0.75));
    OK(fastlbp_bp_run(plain));
    OK(fastlbp_bp_run(damped));
    OK(fastlbp_bp_report_u64(plain, FASTLBP_REPORT_ITERATIONS, &iterations));
    OK(fastlbp_bp_report_u64(damped, FASTLBP_REPORT_ITERATIONS, &more));
    CHECK(more > iterations && more < 10000);
    OK(fastlbp_bp_probabilities(plain, a, 12, NULL));
    OK(fastlbp_bp_probabilities(damped, b, 12, NULL));
    for (int v = 0; v < 12; v++)
        CHECK(fabs(a[v] - b[v]) < 1e-11);
    OK(fastlbp_bp_set_damping(damped, 0));
    OK(fastlbp_bp_run(damped));
    OK(fastlbp_bp_probabilities(damped, b, 12, NULL));
    SAME_BITS(a, b, 12);
    fastlbp_bp_free(plain);
    fastlbp_bp_free(damped);
}

static void active_sets(void) {
    fastlbp_bp *bp = check_session(check_ring(12));
    double a[12], b[12];
    uint64_t spared = UNTOUCHED;
    OK(fastlbp_bp_run_iterations(bp, 500));
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_SPARED_MESSAGES, &spared));
    CHECK(spared == 0);
    OK(fastlbp_bp_probabilities(bp, a, 12, NULL));
    OK(fastlbp_bp_set_active_threshold(bp, 0));
    OK(fastlbp_bp_run_iterations(bp, 500));
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_SPARED_MESSAGES, &spared));
    CHECK(spared > 0 && spared < 500 * 48);
    OK(fastlbp_bp_probabilities(bp, b, 12, NULL));
    SAME_BITS(a, b, 12); /* what is spared would not have changed */
    OK(fastlbp_bp_set_active_threshold(bp, 1e-3));
    check_run(bp, 500, b, 12);
    CHECK(memcmp(a, b, sizeof a) != 0);
    for (int v = 0; v < 12; v++)
        CHECK(fabs(a[v] - b[v]) < 1e-2);
    OK(fastlbp_bp_set_damping(bp, 0.5));
    FAILS(fastlbp_bp_run(bp), FASTLBP_STATUS_UNSUPPORTED, "active set with damping 0.5");
    OK(fastlbp_bp_set_active_threshold(bp, FASTLBP_ACTIVE_OFF));
    OK(fastlbp_bp_run(bp));
    fastlbp_bp_free(bp);
}

/* Always the message that would change most: the same fixed point, in fewer iterations. */
static void residuals(void) {
    fastlbp_bp *bp = check_session(check_ring(12));
    double a[12], b[12];
    uint64_t fixed = 0, residual = 0;
    OK(fastlbp_bp_set_tolerance(bp, 1e-13));
    OK(fastlbp_bp_run(bp));
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_ITERATIONS, &fixed));
    OK(fastlbp_bp_probabilities(bp, a, 12, NULL));
    for (int logarithms = 0; logarithms < 2; logarithms++) {
        OK(fastlbp_bp_set_property(bp, "logdomain", logarithms ? "1" : "0"));
        OK(fastlbp_bp_set_property(bp, "updates", "seqmax"));
        OK(fastlbp_bp_run(bp));
        OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_ITERATIONS, &residual));
        CHECK(residual > 0 && residual <= fixed);
        OK(fastlbp_bp_probabilities(bp, b, 12, NULL));
        for (int v = 0; v < 12; v++)
            CHECK(fabs(a[v] - b[v]) < 1e-11);
    }
    OK(fastlbp_bp_set_active_threshold(bp, 0.1));
    FAILS(fastlbp_bp_run(bp), FASTLBP_STATUS_UNSUPPORTED, "SEQMAX");
    OK(fastlbp_bp_set_schedule(bp, "SEQFIX", 0));
    OK(fastlbp_bp_run(bp));
    fastlbp_bp_free(bp);
}

/* Two variables that are equal: only the factor's belief moves. */
static void measures(void) {
    const uint64_t scope[] = {1, 2};
    uint64_t body[21];
    const double equal[] = {1, 0, 0, 1};
    fastlbp_graph *graph = NULL;
    fastlbp_bp *bp;
    uint64_t iterations = 0;
    OK(fastlbp_graph_new(&graph));
    OK(fastlbp_graph_add_table(graph, scope, 2, equal, 4));
    bp = check_session(graph);
    OK(fastlbp_bp_run(bp));
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_ITERATIONS, &iterations));
    CHECK(iterations == 1);
    OK(fastlbp_bp_set_measure(bp, FASTLBP_MEASURE_ALL));
    OK(fastlbp_bp_run(bp));
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_ITERATIONS, &iterations));
    CHECK(iterations == 2);
    OK(fastlbp_bp_set_property(bp, "measure", "variables"));
    OK(fastlbp_bp_run(bp));
    OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_ITERATIONS, &iterations));
    CHECK(iterations == 1);
    fastlbp_bp_free(bp);

    for (uint64_t i = 0; i < 21; i++)
        body[i] = i;
    OK(fastlbp_graph_new(&graph));
    OK(fastlbp_graph_add_and(graph, 100, body, 21, 0.5, 0.25));
    bp = check_session(graph);
    OK(fastlbp_bp_set_measure(bp, FASTLBP_MEASURE_ALL));
    FAILS(fastlbp_bp_run(bp), FASTLBP_STATUS_LIMIT_EXCEEDED, "22 variables");
    OK(fastlbp_bp_run_iterations(bp, 1)); /* which does not look at them */
    OK(fastlbp_bp_set_measure(bp, FASTLBP_MEASURE_VARIABLES));
    OK(fastlbp_bp_run(bp));
    fastlbp_bp_free(bp);
}

static void maxima(void) {
    const uint64_t scope[] = {1, 2}, third[] = {3};
    const double equal[] = {1, 0, 0, 1}, likelihood[] = {1, 4};
    const double gate[] = {0.5, 0.5, 1, 0}; /* a noisy-OR */
    uint64_t body[22];
    double literals[88], value = UNTOUCHED;
    fastlbp_graph *graph = NULL;
    fastlbp_bp *bp, *copy = NULL;
    uint32_t states[3] = {UNTOUCHED, UNTOUCHED, UNTOUCHED}, copied_states[3] = {0};
    double log_partition = UNTOUCHED;
    size_t needed = UNTOUCHED;

    /* A tie between (0, 0) and (1, 1): the lowest state of the first variable decides. */
    OK(fastlbp_graph_new(&graph));
    OK(fastlbp_graph_add_table(graph, scope, 2, equal, 4));
    OK(check_add_variable(graph, 3, 2));
    bp = check_session(graph);
    OK(fastlbp_bp_set_property(bp, "inference", "MAXPROD"));
    FAILS(fastlbp_bp_find_maximum(bp, states, 3, &needed), FASTLBP_STATUS_NO_RESULT, "no results yet");
    CHECK(needed == UNTOUCHED && states[0] == UNTOUCHED);
    OK(fastlbp_bp_run(bp));
    OK(fastlbp_bp_find_maximum(bp, states, 3, &needed));
    CHECK(needed == 3 && states[0] == 0 && states[1] == 0 && states[2] == 0);
    /* Evidence decides elsewhere. */
    OK(check_observe(bp, 1, 1));
    OK(fastlbp_bp_set_likelihood(bp, 2, likelihood, 2));
    OK(fastlbp_bp_run(bp));
    OK(fastlbp_bp_find_maximum(bp, states, 3, NULL));
    CHECK(states[0] == 1 && states[1] == 1 && states[2] == 1);
    OK(fastlbp_bp_log_score(bp, states, 3, &value));
    NEAR(value, log(4));
    states[1] = 0; /* not as observed */
    OK(fastlbp_bp_log_score(bp, states, 3, &value));
    CHECK(value == -INFINITY);
    OK(fastlbp_bp_set_inference(bp, FASTLBP_INFERENCE_SUM_PRODUCT));
    OK(fastlbp_bp_run(bp));
    OK(fastlbp_bp_log_partition(bp, &log_partition));
    NEAR(log_partition, log(5));

    /* A clone has results, messages and what follows from both, as the session has. */
    OK(fastlbp_bp_find_maximum(bp, states, 3, NULL));
    OK(fastlbp_bp_clone(bp, &copy));
    value = UNTOUCHED;
    OK(fastlbp_bp_log_partition(copy, &value));
    SAME_BITS(&value, &log_partition, 1);
    OK(fastlbp_bp_find_maximum(copy, copied_states, 3, NULL));
    CHECK(memcmp(states, copied_states, sizeof states) == 0);
    /* So has a session that goes on with other threads. */
    OK(fastlbp_bp_set_threads(copy, 2));
    value = UNTOUCHED;
    OK(fastlbp_bp_log_partition(copy, &value));
    SAME_BITS(&value, &log_partition, 1);
    OK(fastlbp_bp_set_start(copy, FASTLBP_START_WARM));
    OK(fastlbp_bp_run_iterations(copy, 0));
    OK(fastlbp_bp_log_partition(copy, &value));
    SAME_BITS(&value, &log_partition, 1);
    fastlbp_bp_free(copy);
    fastlbp_bp_free(bp);

    /* The table that max-product needs of a noisy factor may be too large. */
    for (uint64_t i = 0; i < 22; i++) {
        body[i] = i;
        literals[4 * i] = 1, literals[4 * i + 1] = 0;
        literals[4 * i + 2] = literals[4 * i + 3] = 0.5;
    }
    OK(fastlbp_graph_new(&graph));
    OK(fastlbp_graph_add_noisy(graph, 100, body, literals, 22, gate));
    OK(fastlbp_graph_add_prior(graph, third[0], 0.75));
    bp = check_session(graph);
    OK(fastlbp_bp_run(bp));
    OK(fastlbp_bp_set_inference(bp, FASTLBP_INFERENCE_MAX_PRODUCT));
    FAILS(fastlbp_bp_run(bp), FASTLBP_STATUS_UNSUPPORTED, "max-product");
    OK(fastlbp_bp_set_inference(bp, FASTLBP_INFERENCE_SUM_PRODUCT));
    OK(fastlbp_bp_run(bp)); /* not poisoned */
    fastlbp_bp_free(bp);
}

static void joint_beliefs(void) {
    fastlbp_bp *bp = check_session(check_tree()), *copy = NULL;
    const uint32_t three[] = {2, 0, 1}, one[] = {2}, twice[] = {0, 0}, apart[] = {0, 3};
    const uint32_t unknown[] = {0, 4};
    static uint32_t many[100];
    double belief[8] = {UNTOUCHED}, marginal[2], value = UNTOUCHED;
    size_t needed = UNTOUCHED;
    FAILS(fastlbp_bp_belief(bp, one, 1, belief, 8, NULL), FASTLBP_STATUS_NO_RESULT,
          "no results yet");
    OK(fastlbp_bp_set_schedule(bp, "TREE", 0));
    OK(fastlbp_bp_run(bp));
    OK(fastlbp_bp_belief(bp, three, 3, belief, 8, &needed));
    CHECK(needed == 8);
    NEAR(belief[7], 0.3 * 0.8 * 0.9);
    NEAR(belief[2], 0.3 * 0.2 * 0.9); /* the variable 2 is 0, 0 is 1, 1 is 0 */
    OK(check_pair_belief(bp, 2, 0, belief, 4, &needed));
    CHECK(needed == 4);
    NEAR(belief[2], 0.3 * (0.8 * 0.1 + 0.2 * 0.9));
    OK(fastlbp_bp_belief(bp, NULL, 0, belief, 1, &needed));
    CHECK(needed == 1 && belief[0] == 1);
    OK(fastlbp_bp_clone(bp, &copy));
    OK(fastlbp_bp_belief(copy, one, 1, belief, 2, &needed)); /* also of a clone */
    OK(check_marginal(bp, 2, marginal, 2, NULL));
    CHECK(needed == 2);
    SAME_BITS(belief, marginal, 2);
    fastlbp_bp_free(copy);

    belief[0] = UNTOUCHED;
    needed = UNTOUCHED;
    FAILS(fastlbp_bp_belief(bp, unknown, 2, belief, 8, &needed), FASTLBP_STATUS_OUT_OF_RANGE,
          "index 4");
    FAILS(check_pair_belief(bp, UINT32_MAX, 0, belief, 8, &needed), FASTLBP_STATUS_OUT_OF_RANGE,
          "index");
    FAILS(fastlbp_bp_belief(bp, many, 100, belief, 8, &needed), FASTLBP_STATUS_LIMIT_EXCEEDED,
          "100 variables");
    NULL_HANDLE(fastlbp_bp_belief(no_bp, three, 3, belief, 8, &needed));
    NULL_POINTER(fastlbp_bp_belief(bp, NULL, 3, belief, 8, &needed), "variables");
    NULL_POINTER(fastlbp_bp_belief(bp, three, 3, NULL, 8, &needed), "buffer");
    CHECK(needed == UNTOUCHED);
    FAILS(fastlbp_bp_belief(bp, twice, 2, belief, 8, NULL), FASTLBP_STATUS_INVALID_ARGUMENT,
          "twice");
    FAILS(fastlbp_bp_belief(bp, apart, 2, belief, 8, NULL), FASTLBP_STATUS_INVALID_ARGUMENT,
          "no factor contains");
    FAILS(check_pair_belief(bp, 3, 0, belief, 8, NULL), FASTLBP_STATUS_INVALID_ARGUMENT,
          "no factor contains");
    FAILS(fastlbp_bp_belief(bp, three, 3, belief, 7, &needed), FASTLBP_STATUS_BUFFER_TOO_SMALL,
          "8 are needed");
    CHECK(needed == 8);
    FAILS(check_pair_belief(bp, 0, 1, belief, 3, &needed), FASTLBP_STATUS_BUFFER_TOO_SMALL,
          "4 are needed");
    CHECK(needed == 4 && belief[0] == UNTOUCHED && value == UNTOUCHED);
    fastlbp_bp_free(bp);
}

static void contradictory_factor(void) {
    const uint64_t scope[] = {1, 2};
    const double equal[] = {1, 0, 0, 1};
    fastlbp_graph *graph = NULL;
    fastlbp_bp *bp;
    double belief[4] = {UNTOUCHED}, value = UNTOUCHED;
    uint32_t states[2] = {UNTOUCHED, UNTOUCHED};
    OK(fastlbp_graph_new(&graph));
    OK(fastlbp_graph_add_table(graph, scope, 2, equal, 4));
    bp = check_session(graph);
    OK(check_observe(bp, 0, 0));
    OK(check_observe(bp, 1, 1));
    OK(fastlbp_bp_set_contradiction(bp, FASTLBP_CONTRADICTION_VOTE));
    OK(fastlbp_bp_run(bp));
    FAILS(check_pair_belief(bp, 0, 1, belief, 4, NULL), FASTLBP_STATUS_CONTRADICTION, "variable");
    FAILS(fastlbp_bp_log_partition(bp, &value), FASTLBP_STATUS_CONTRADICTION, "variable");
    CHECK(belief[0] == UNTOUCHED && value == UNTOUCHED);
    FAILS(fastlbp_bp_find_maximum(bp, states, 2, NULL), FASTLBP_STATUS_CONTRADICTION, "variable");
    CHECK(states[0] == UNTOUCHED && states[1] == UNTOUCHED); /* the factor excludes what was observed */
    fastlbp_bp_free(bp);
}

static void wrong_use(void) {
    fastlbp_bp *bp = check_session(check_tree());
    const uint32_t states[] = {0, 0, 0, 2}, fine[] = {0, 1, 0, 1};
    uint32_t found[4] = {UNTOUCHED};
    double value = UNTOUCHED;
    size_t needed = UNTOUCHED;
    char text[64];

    NULL_HANDLE(fastlbp_bp_set_inference(no_bp, FASTLBP_INFERENCE_MAX_PRODUCT));
    NULL_HANDLE(fastlbp_bp_set_damping(no_bp, 0.5));
    NULL_HANDLE(fastlbp_bp_set_active_threshold(no_bp, 0.5));
    NULL_HANDLE(fastlbp_bp_set_measure(no_bp, FASTLBP_MEASURE_ALL));
    NULL_HANDLE(fastlbp_bp_log_partition(no_bp, &value));
    NULL_POINTER(fastlbp_bp_log_partition(bp, NULL), "out");
    FAILS(fastlbp_bp_log_partition(bp, &value), FASTLBP_STATUS_NO_RESULT, "no results yet");
    NULL_HANDLE(fastlbp_bp_find_maximum(no_bp, found, 4, &needed));
    NULL_POINTER(fastlbp_bp_find_maximum(bp, NULL, 4, &needed), "buffer");
    NULL_HANDLE(fastlbp_bp_log_score(no_bp, fine, 4, &value));
    NULL_POINTER(fastlbp_bp_log_score(bp, NULL, 4, &value), "states");
    NULL_POINTER(fastlbp_bp_log_score(bp, fine, 4, NULL), "out");
    CHECK(value == UNTOUCHED && needed == UNTOUCHED);

    FAILS(fastlbp_bp_set_inference(bp, 2), FASTLBP_STATUS_INVALID_ARGUMENT, "inference 2");
    FAILS(fastlbp_bp_set_measure(bp, 2), FASTLBP_STATUS_INVALID_ARGUMENT, "measure 2");
    FAILS(fastlbp_bp_set_damping(bp, 1), FASTLBP_STATUS_INVALID_ARGUMENT, "damping 1");
    FAILS(fastlbp_bp_set_damping(bp, -0.25), FASTLBP_STATUS_INVALID_ARGUMENT, "-0.25");
    FAILS(fastlbp_bp_set_damping(bp, NAN), FASTLBP_STATUS_INVALID_ARGUMENT, "NaN");
    FAILS(fastlbp_bp_set_active_threshold(bp, -2), FASTLBP_STATUS_INVALID_ARGUMENT, "threshold -2");
    FAILS(fastlbp_bp_set_active_threshold(bp, NAN), FASTLBP_STATUS_INVALID_ARGUMENT, "NaN");
#define STILL(key, wanted)                                           \
    OK(fastlbp_bp_get_property(bp, key, text, sizeof text, NULL));   \
    CHECK(strcmp(text, wanted) == 0)
    STILL("inference", "SUMPROD");
    STILL("measure", "variables");
    STILL("damping", "0.0");
    STILL("active", "off");
    OK(fastlbp_bp_set_active_threshold(bp, 0.125));
    STILL("active", "0.125");
    OK(fastlbp_bp_set_active_threshold(bp, FASTLBP_ACTIVE_OFF));
    STILL("active", "off");

    FAILS(fastlbp_bp_log_score(bp, states, 4, &value), FASTLBP_STATUS_OUT_OF_RANGE,
          "state 2 of variable 4");
    FAILS(fastlbp_bp_log_score(bp, fine, 3, &value), FASTLBP_STATUS_INVALID_ARGUMENT, "3 states");
    CHECK(value == UNTOUCHED);
    OK(fastlbp_bp_log_score(bp, fine, 4, &value)); /* needs no run */
    NEAR(value, log(0.7 * 0.8 * 0.9 * 0.3));
    OK(fastlbp_bp_run(bp));
    FAILS(fastlbp_bp_find_maximum(bp, found, 3, &needed), FASTLBP_STATUS_BUFFER_TOO_SMALL,
          "4 are needed");
    CHECK(needed == 4 && found[0] == UNTOUCHED);
    fastlbp_bp_free(bp);
}

int main(void) {
    damping();
    active_sets();
    residuals();
    measures();
    maxima();
    joint_beliefs();
    contradictory_factor();
    wrong_use();
    return check_result();
}
