/* Factors with local structure and what is computed from them, against sums over all joint states. */
#include "check.h"

static fastlbp_graph *const no_graph = NULL;

#define CLOSE(value, wanted) CHECK(fabs((value) - (wanted)) <= 1e-12)

/* A factor over the variables 0 to n - 1, as values by hand. */
struct shape {
    const char *name;
    uint32_t kind;
    size_t n;
    size_t radix[4];
    double (*value)(const size_t *x);
    fastlbp_status (*add)(fastlbp_graph *graph);
};

static const uint64_t all[] = {0, 1, 2, 3};
static const uint64_t others[] = {0, 1, 3};
static const uint8_t mixed[] = {0, 1, 0}, turned[] = {1, 0, 1};

static double signed_value(const size_t *x) {
    if (x[0] == 1 && x[1] == 0 && x[3] == 1)
        return x[2] == 1 ? 0.9 : 0.2;
    return x[2] == 1 ? 0.3 : 0.6;
}
static fastlbp_status add_signed(fastlbp_graph *graph) {
    const double values[] = {0.9, 0.2, 0.3, 0.6};
    return fastlbp_graph_add_signed(graph, 2, others, mixed, 3, values);
}

/* The head is in its body: with x0 = 0 the body fails. */
static double own_value(const size_t *x) {
    if (x[0] == 1 && x[1] == 0)
        return 0.9;
    return x[0] == 1 ? 0.3 : 0.6;
}
static fastlbp_status add_own(fastlbp_graph *graph) {
    const double values[] = {0.9, 0.2, 0.3, 0.6};
    return fastlbp_graph_add_signed(graph, 0, all, mixed, 2, values);
}

static double and_value(const size_t *x) {
    const double p = x[0] == 1 && x[1] == 0 && x[3] == 1 ? 0.8 : 0.1;
    return x[2] == 1 ? p : 1 - p;
}
static fastlbp_status add_and(fastlbp_graph *graph) {
    const double values[] = {0.8, 1 - 0.8, 0.1, 1 - 0.1};
    return fastlbp_graph_add_signed(graph, 2, others, mixed, 3, values);
}

static double or_value(const size_t *x) {
    const double p = x[0] == 1 || x[1] == 0 || x[3] == 1 ? 0.25 : 0.7;
    return x[2] == 0 ? p : 1 - p;
}
static fastlbp_status add_or(fastlbp_graph *graph) {
    const double values[] = {1 - 0.7, 0.7, 1 - 0.25, 0.25};
    return fastlbp_graph_add_signed(graph, 2, others, turned, 3, values);
}

static double clause_value(const size_t *x) {
    return x[2] == 1 || x[0] == 0 || x[1] == 1 ? 1 : 0;
}
static fastlbp_status add_clause(fastlbp_graph *graph) {
    const double values[] = {1, 0, 1, 1};
    return fastlbp_graph_add_signed(graph, 2, all, turned + 1, 2, values);
}

static double noisy_value(const size_t *x) {
    const double holds = (x[0] == 0 ? 0.25 : 0.75) * (x[2] == 0 ? 1 : 0.5);
    return x[1] == 1 ? holds * 3 + (1 - holds) * 0.5 : holds * 2 + (1 - holds) * 4;
}
static fastlbp_status add_noisy(fastlbp_graph *graph) {
    const uint64_t body[] = {2, 0};
    const double literals[] = {1, 0, 0.5, 0.5, 0.25, 0.75, 0.75, 0.25}, values[] = {3, 2, 0.5, 4};
    return fastlbp_graph_add_noisy(graph, 1, body, literals, 2, values);
}

static double noisy_or_value(const size_t *x) {
    const double off = 0.9 * (x[0] ? 0.75 : 1) * (x[1] ? 0.5 : 1) * (x[3] ? 0.25 : 1);
    return x[2] == 0 ? off : 1 - off;
}
static fastlbp_status add_noisy_or(fastlbp_graph *graph) {
    const double literals[] = {1, 0, 0.75, 0.25, 1, 0, 0.5, 0.5, 1, 0, 0.25, 0.75};
    const double values[] = {0.1, 1 - 0.1, 1, 0};
    return fastlbp_graph_add_noisy(graph, 2, others, literals, 3, values);
}

static double noisy_and_value(const size_t *x) {
    const double on = 0.9 * (x[0] ? 1 : 0.25) * (x[1] ? 1 : 0.5) * (x[3] ? 1 : 0.75);
    return x[2] == 1 ? on : 1 - on;
}
static fastlbp_status add_noisy_and(fastlbp_graph *graph) {
    const double literals[] = {0.25, 0.75, 1, 0, 0.5, 0.5, 1, 0, 0.75, 0.25, 1, 0};
    const double values[] = {0.9, 1 - 0.9, 0, 1};
    return fastlbp_graph_add_noisy(graph, 2, others, literals, 3, values);
}

/* Terms that overlap; two has weight 2 less where x0 = 1 as well. */
static double terms_value(const size_t *x) {
    return 0.5 + (x[2] == 2 ? 3 : 0) - (x[2] == 2 && x[0] == 1 ? 2 : 0) + (x[1] == 0 ? 0.25 : 0);
}
static fastlbp_status add_terms(fastlbp_graph *graph) {
    const uint64_t scope[] = {2, 0, 1};
    const double weights[] = {0.5, 3, -2, 0.25};
    const int32_t any = FASTLBP_WILDCARD;
    int32_t indicators[12] = {0};
    for (int i = 0; i < 12; i++)
        indicators[i] = any;
    indicators[3] = 2;
    indicators[6] = 2, indicators[7] = 1;
    indicators[11] = 0;
    return fastlbp_graph_add_terms(graph, scope, 3, weights, 4, indicators, 12);
}

/* Terms that exclude each other. */
static double exclusive_value(const size_t *x) {
    return x[0] == 1 ? 2 : x[1] == 2 ? 0.5 : 0;
}
static fastlbp_status add_exclusive(fastlbp_graph *graph) {
    const double weights[] = {2, 0.5};
    const int32_t indicators[] = {1, FASTLBP_WILDCARD, 0, 2};
    return fastlbp_graph_add_terms(graph, all, 2, weights, 2, indicators, 4);
}

static const struct shape shapes[] = {
    {"signed", FASTLBP_FACTOR_SIGNED, 4, {2, 2, 2, 2}, signed_value, add_signed},
    {"own head", FASTLBP_FACTOR_SIGNED, 2, {2, 2, 0, 0}, own_value, add_own},
    {"signed and", FASTLBP_FACTOR_SIGNED, 4, {2, 2, 2, 2}, and_value, add_and},
    {"signed or", FASTLBP_FACTOR_SIGNED, 4, {2, 2, 2, 2}, or_value, add_or},
    {"clause", FASTLBP_FACTOR_SIGNED, 3, {2, 2, 2, 0}, clause_value, add_clause},
    {"noisy", FASTLBP_FACTOR_NOISY, 3, {2, 2, 2, 0}, noisy_value, add_noisy},
    {"noisy or", FASTLBP_FACTOR_NOISY, 4, {2, 2, 2, 2}, noisy_or_value, add_noisy_or},
    {"noisy and", FASTLBP_FACTOR_NOISY, 4, {2, 2, 2, 2}, noisy_and_value, add_noisy_and},
    {"terms", FASTLBP_FACTOR_TERMS, 3, {3, 2, 4, 0}, terms_value, add_terms},
    {"exclusive terms", FASTLBP_FACTOR_TERMS, 2, {2, 3, 0, 0}, exclusive_value, add_exclusive},
};

static double prior(size_t variable, size_t state) {
    return 0.2 + 0.07 * (double)variable + (state == 1 ? 0.31 : 0.013 * (double)state);
}

static size_t joint_states(const struct shape *shape) {
    size_t size = 1;
    for (size_t i = 0; i < shape->n; i++)
        size *= shape->radix[i];
    return size;
}

static void states_of(const struct shape *shape, size_t index, size_t *x) {
    for (size_t i = 0; i < shape->n; i++) {
        x[i] = index % shape->radix[i];
        index /= shape->radix[i];
    }
}

/* Weight of a joint state: the factor times the priors, 0 where variable 0 is not as observed. */
static double weight_of(const struct shape *shape, const size_t *x, int observed) {
    double weight = observed >= 0 && x[0] != (size_t)observed ? 0 : shape->value(x);
    for (size_t i = 0; i < shape->n; i++)
        weight *= prior(i, x[i]);
    return weight;
}

static fastlbp_graph *graph_of(const struct shape *shape) {
    fastlbp_graph *graph = NULL;
    OK(fastlbp_graph_new(&graph));
    OK(shape->add(graph));
    for (size_t i = 0; i < shape->n; i++) {
        double values[4];
        for (size_t state = 0; state < shape->radix[i]; state++)
            values[state] = prior(i, state);
        OK(check_add_variable(graph, i, shape->radix[i]));
        OK(fastlbp_graph_add_table(graph, all + i, 1, values, shape->radix[i]));
    }
    return graph;
}

/* Beliefs, partition function and maximum of the session's run against sums over all joint states. */
static void compare(const struct shape *shape, fastlbp_bp *bp, int observed) {
    const size_t size = joint_states(shape);
    double weights[64], total = 0, belief[64], pair[16], value = UNTOUCHED, score = 0, best = 0;
    uint32_t scope[4], states[4];
    size_t x[4], y[4], needed = UNTOUCHED;
    OK(fastlbp_bp_set_inference(bp, FASTLBP_INFERENCE_SUM_PRODUCT));
    OK(fastlbp_bp_run_iterations(bp, 1)); /* exact: the graph is a tree */
    for (size_t index = 0; index < size; index++) {
        states_of(shape, index, x);
        weights[index] = weight_of(shape, x, observed);
        total += weights[index];
        best = fmax(best, weights[index]);
    }
    for (size_t i = 0; i < shape->n; i++) {
        double wanted[4] = {0, 0, 0, 0}, marginal[4];
        for (size_t index = 0; index < size; index++) {
            states_of(shape, index, x);
            wanted[x[i]] += weights[index] / total;
        }
        OK(check_marginal(bp, i, marginal, shape->radix[i], NULL));
        for (size_t state = 0; state < shape->radix[i]; state++)
            NEAR(marginal[state], wanted[state]);
        for (size_t j = 0; j < shape->n; j++) {
            if (i == j)
                continue;
            OK(check_pair_belief(bp, i, j, pair, 16, &needed));
            CHECK(needed == shape->radix[i] * shape->radix[j]);
            for (size_t index = 0; index < size; index++) {
                states_of(shape, index, x);
                pair[x[i] + x[j] * shape->radix[i]] -= weights[index] / total;
            }
            for (size_t index = 0; index < needed; index++)
                NEAR(pair[index], 0);
        }
    }
    OK(fastlbp_bp_factor_belief(bp, 0, belief, 64, &needed));
    CHECK(needed == size);
    for (size_t index = 0; index < size; index++) {
        NEAR(belief[index], weights[index] / total);
        OK(fastlbp_bp_factor_belief_at(bp, 0, index, &value));
        NEAR(value, weights[index] / total);
    }
    /* All variables, the last one fastest. */
    for (size_t i = 0; i < shape->n; i++)
        scope[i] = (uint32_t)(shape->n - 1 - i);
    OK(fastlbp_bp_belief(bp, scope, shape->n, belief, 64, &needed));
    CHECK(needed == size);
    for (size_t index = 0; index < size; index++) {
        size_t at = 0;
        states_of(shape, index, x);
        for (size_t i = 0; i < shape->n; i++)
            at = at * shape->radix[i] + x[i];
        NEAR(belief[at], weights[index] / total);
    }
    OK(fastlbp_bp_log_partition(bp, &value));
    CLOSE(value, log(total));
    for (size_t index = 0; index < size; index++) {
        states_of(shape, index, x);
        for (size_t i = 0; i < shape->n; i++)
            states[i] = (uint32_t)x[i];
        OK(fastlbp_bp_log_score(bp, states, shape->n, &score));
        if (weights[index] > 0)
            CLOSE(score, log(weights[index]));
        else
            CHECK(score == -INFINITY);
    }

    OK(fastlbp_bp_set_inference(bp, FASTLBP_INFERENCE_MAX_PRODUCT));
    OK(fastlbp_bp_run_iterations(bp, 1));
    OK(fastlbp_bp_find_maximum(bp, states, 4, &needed));
    CHECK(needed == shape->n);
    for (size_t i = 0; i < shape->n; i++)
        y[i] = states[i];
    CLOSE(weight_of(shape, y, observed), best);
    OK(fastlbp_bp_log_score(bp, states, shape->n, &score));
    CLOSE(score, log(best));
}

static void kinds_by_hand(void) {
    for (size_t s = 0; s < LENGTH(shapes); s++) {
        const struct shape *shape = &shapes[s];
        const int failures = check_failures;
        fastlbp_graph *graph = graph_of(shape);
        fastlbp_bp *bp;
        double values[64];
        uint32_t kinds[5];
        size_t x[4], needed = UNTOUCHED;
        OK(fastlbp_graph_factor_kinds(graph, kinds, 5, NULL));
        CHECK(kinds[0] == shape->kind && kinds[1] == FASTLBP_FACTOR_TABLE);
        OK(fastlbp_graph_factor_values(graph, 0, values, 64, &needed));
        CHECK(needed == joint_states(shape));
        for (size_t index = 0; index < needed; index++) {
            states_of(shape, index, x);
            NEAR(values[index], shape->value(x));
        }
        bp = check_session(graph);
        OK(fastlbp_bp_set_schedule(bp, "TREE", 0));
        compare(shape, bp, -1);
        OK(check_observe(bp, 0, 1));
        compare(shape, bp, 1);
        fastlbp_bp_free(bp);
        if (check_failures > failures)
            printf("in the shape '%s'\n", shape->name);
    }
}

/* One factor of each kind, in this order: prior, signed, noisy, terms. */
static fastlbp_graph *one_of_each(void) {
    const uint64_t body[] = {3, 1}, scope[] = {9, 1};
    const uint8_t negated[] = {1, 0};
    const double values[] = {0.9, 0.2, 0.3, 0.6}, literals[] = {1, 0, 0.5, 0.5, 0.25, 0.75, 0, 1};
    const double weights[] = {1.5, 0.5};
    const int32_t indicators[] = {2, FASTLBP_WILDCARD, FASTLBP_WILDCARD, 1};
    fastlbp_graph *graph = NULL;
    OK(fastlbp_graph_new(&graph));
    OK(check_add_variable(graph, 9, 3));
    OK(fastlbp_graph_add_prior(graph, 1, 0.5));
    OK(fastlbp_graph_add_signed(graph, 2, body, negated, 2, values));
    OK(fastlbp_graph_add_noisy(graph, 2, body, literals, 2, values));
    OK(fastlbp_graph_add_terms(graph, scope, 2, weights, 2, indicators, 4));
    return graph;
}

static void reading_back(void) {
    fastlbp_graph *graph = one_of_each();
    for (int round = 0; round < 2; round++) {
        /* The variables 1, 2, 3, 9 have the indices 0 to 3: factors over 0 | 0 1 2 | 0 1 2 | 0 3. */
        const double gate[] = {0.9, 0.2, 0.3, 0.6};
        const double noisy[] = {0.9, 0.2, 0.3, 0.6, 0.25, 0.75, 0, 1, 1, 0, 1, 0, 1, 0, 0.5, 0.5};
        const double wanted_weights[] = {1.5, 0.5};
        const int32_t wanted_signs[] = {1, -1, 0}, wanted_indicators[] = {-1, 2, 1, -1};
        double values[24];
        uint32_t heads[5];
        int32_t indicators[4];
        size_t needed = UNTOUCHED;
        OK(fastlbp_graph_factor_parameters(graph, 0, values, 24, &needed));
        CHECK(needed == 1 && values[0] == 0.5);
        OK(fastlbp_graph_factor_parameters(graph, 1, values, 24, &needed));
        CHECK(needed == 4);
        SAME_BITS(values, gate, 4);
        OK(fastlbp_graph_factor_parameters(graph, 2, values, 24, &needed));
        CHECK(needed == 16);
        SAME_BITS(values, noisy, 16);
        OK(fastlbp_graph_factor_parameters(graph, 3, values, 24, &needed));
        CHECK(needed == 2);
        SAME_BITS(values, wanted_weights, 2);
        OK(fastlbp_graph_factor_indicators(graph, 1, indicators, 4, &needed));
        CHECK(needed == 3);
        SAME_BITS(indicators, wanted_signs, 3);
        OK(fastlbp_graph_factor_indicators(graph, 2, indicators, 4, &needed));
        CHECK(needed == 0);
        OK(fastlbp_graph_factor_indicators(graph, 3, indicators, 4, &needed));
        CHECK(needed == 4);
        SAME_BITS(indicators, wanted_indicators, 4);
        OK(fastlbp_graph_factor_heads(graph, heads, 5, NULL));
        CHECK(heads[0] == 0 && heads[1] == 1 && heads[2] == 1 && heads[3] == FASTLBP_NO_VARIABLE);
        OK(fastlbp_graph_add_prior(graph, 1, 0.25)); /* the builder is made again */
    }
    fastlbp_graph_free(graph);
}

static void bulk_equals_single(void) {
    const uint64_t heads[] = {5, 6, 7}, bodies[] = {1, 2, 3, 5, 6};
    const size_t offsets[] = {0, 3, 3, 5};
    const uint8_t negated[] = {0, 1, 0, 1, 1};
    const double values[] = {0.9, 0.1, 0.2, 0.8, 1, 2, 0, 0, 0.3, 0.7, 0.6, 0.4};
    const uint64_t scopes[] = {9, 1, 7};
    const size_t scope_offsets[] = {0, 2, 3}, term_offsets[] = {0, 2, 3};
    const double weights[] = {1.5, 0.5, 2};
    const int32_t indicators[] = {2, -1, -1, 1, -1};
    fastlbp_graph *bulk = NULL, *single = NULL;
    OK(fastlbp_graph_new(&bulk));
    OK(fastlbp_graph_new(&single));
    OK(check_add_variable(bulk, 9, 3));
    OK(check_add_variable(single, 9, 3));
    OK(fastlbp_graph_add_signed_factors(bulk, 3, heads, offsets, bodies, negated, 5, values));
    OK(fastlbp_graph_add_term_factors(bulk, 2, scope_offsets, scopes, 3, term_offsets, weights, 3,
                                      indicators, 5));
    OK(fastlbp_graph_add_signed_factors(bulk, 0, NULL, NULL, NULL, NULL, 0, NULL));
    OK(fastlbp_graph_add_term_factors(bulk, 0, NULL, NULL, 0, NULL, NULL, 0, NULL, 0));
    OK(fastlbp_graph_add_signed(single, 5, bodies, negated, 3, values));
    OK(fastlbp_graph_add_signed(single, 6, NULL, NULL, 0, values + 4));
    OK(fastlbp_graph_add_signed(single, 7, bodies + 3, negated + 3, 2, values + 8));
    OK(fastlbp_graph_add_terms(single, scopes, 2, weights, 2, indicators, 4));
    OK(fastlbp_graph_add_terms(single, scopes + 2, 1, weights + 2, 1, indicators + 4, 1));
    check_equal(bulk, single, 5);
}

static void null_pointers(void) {
    fastlbp_graph *graph = one_of_each();
    const uint64_t labels[] = {1, 2};
    const uint8_t signs[] = {0, 1};
    const size_t offsets[] = {0, 0, 1};
    const double v[] = {0.5, 0.5, 0.5, 0.5, 1, 1, 1, 1};
    const int32_t states[] = {0, 1};
    size_t count = 0;

    NULL_HANDLE(fastlbp_graph_add_signed(no_graph, 3, labels, signs, 2, v));
    NULL_POINTER(fastlbp_graph_add_signed(graph, 3, NULL, signs, 2, v), "body");
    NULL_POINTER(fastlbp_graph_add_signed(graph, 3, labels, NULL, 2, v), "negated");
    NULL_POINTER(fastlbp_graph_add_signed(graph, 3, labels, signs, 2, NULL), "values");
    NULL_HANDLE(fastlbp_graph_add_signed_factors(no_graph, 2, labels, offsets, labels, signs, 1, v));
    NULL_POINTER(fastlbp_graph_add_signed_factors(graph, 2, NULL, offsets, labels, signs, 1, v), "heads");
    NULL_POINTER(fastlbp_graph_add_signed_factors(graph, 2, labels, NULL, labels, signs, 1, v), "body_offsets");
    NULL_POINTER(fastlbp_graph_add_signed_factors(graph, 2, labels, offsets, NULL, signs, 1, v), "bodies");
    NULL_POINTER(fastlbp_graph_add_signed_factors(graph, 2, labels, offsets, labels, NULL, 1, v), "negated");
    NULL_POINTER(fastlbp_graph_add_signed_factors(graph, 2, labels, offsets, labels, signs, 1, NULL), "values");
    NULL_HANDLE(fastlbp_graph_add_noisy(no_graph, 3, labels, v, 2, v));
    NULL_POINTER(fastlbp_graph_add_noisy(graph, 3, NULL, v, 2, v), "body");
    NULL_POINTER(fastlbp_graph_add_noisy(graph, 3, labels, NULL, 2, v), "literals");
    NULL_POINTER(fastlbp_graph_add_noisy(graph, 3, labels, v, 2, NULL), "values");
    NULL_HANDLE(fastlbp_graph_add_terms(no_graph, labels, 2, v, 1, states, 2));
    NULL_POINTER(fastlbp_graph_add_terms(graph, NULL, 2, v, 1, states, 2), "scope");
    NULL_POINTER(fastlbp_graph_add_terms(graph, labels, 2, NULL, 1, states, 2), "weights");
    NULL_POINTER(fastlbp_graph_add_terms(graph, labels, 2, v, 1, NULL, 2), "indicators");
#define TERMS(graph, a, b, c, d, e) \
    fastlbp_graph_add_term_factors(graph, 2, a, b, 1, c, d, 1, e, 1)
    NULL_HANDLE(TERMS(no_graph, offsets, labels, offsets, v, states));
    NULL_POINTER(TERMS(graph, NULL, labels, offsets, v, states), "scope_offsets");
    NULL_POINTER(TERMS(graph, offsets, NULL, offsets, v, states), "scopes");
    NULL_POINTER(TERMS(graph, offsets, labels, NULL, v, states), "term_offsets");
    NULL_POINTER(TERMS(graph, offsets, labels, offsets, NULL, states), "weights");
    NULL_POINTER(TERMS(graph, offsets, labels, offsets, v, NULL), "indicators");

    OK(fastlbp_graph_count(graph, FASTLBP_COUNT_FACTORS, &count));
    CHECK(count == 4); /* nothing was added */
    fastlbp_graph_free(graph);
}

static void wrong_factors(void) {
    fastlbp_graph *graph = NULL;
    const fastlbp_status invalid = FASTLBP_STATUS_INVALID_ARGUMENT;
    const fastlbp_status limit = FASTLBP_STATUS_LIMIT_EXCEEDED;
    const uint64_t l[] = {1, 2, 3};
    const uint8_t n[] = {0, 1, 0}, flag[] = {0, 2, 1};
    const double v[] = {0.5, 0.5, 0.5, 0.5, 1, 1, 1, 1}, zero[8] = {0};
    const double negative[] = {1, 1, 1, 1, 1, -0.25, 1, 1}, nan[] = {1, NAN, 1, 1};
    const double apart[] = {0.5, 0.25, 0.5, 0.5}, infinite[] = {1, INFINITY};
    const size_t fine[] = {0, 1, 2}, down[] = {0, 2, 1}, late[] = {1, 1, 2}, far[] = {0, 1, SIZE_MAX};
    const int32_t s[] = {0, 1, FASTLBP_WILDCARD, 0}, low[] = {0, -2};
    const uint32_t kinds[] = {FASTLBP_FACTOR_SIGNED};
    size_t count = UNTOUCHED;

    OK(fastlbp_graph_new(&graph));
    FAILS(fastlbp_graph_add_signed(graph, 3, l, flag, 2, v), invalid, "negated[1] is 2");
    FAILS(fastlbp_graph_add_signed(graph, 3, l, n, 2, negative + 4), invalid, "-0.25");
    FAILS(fastlbp_graph_add_signed(graph, 3, l, n, 2, nan), invalid, "NaN");
    FAILS(fastlbp_graph_add_signed(graph, 3, l, n, 2, zero), invalid, "zero");
    FAILS(fastlbp_graph_add_signed(graph, 3, l, n, SIZE_MAX, v), limit, "body");
#define SIGNED(offsets, signs, values) \
    fastlbp_graph_add_signed_factors(graph, 2, l, offsets, l, signs, 2, values)
    FAILS(SIGNED(down, n, v), invalid, "body_offsets[2] is 1 after 2");
    FAILS(SIGNED(late, n, v), invalid, "body_offsets[0] is 1");
    FAILS(SIGNED(far, n, v), invalid, "ends with");
    FAILS(SIGNED(fine, flag, v), invalid, "negated[1] is 2");
    FAILS(SIGNED(fine, n, negative), invalid, "factor 1");
    FAILS(fastlbp_graph_add_signed_factors(graph, SIZE_MAX, l, fine, l, n, 2, v), limit, "heads");
    FAILS(fastlbp_graph_add_noisy(graph, 3, l, apart, 1, zero), invalid, "zero");
    FAILS(fastlbp_graph_add_noisy(graph, 3, l, apart, 1, v), invalid, "add up to 1");
    FAILS(fastlbp_graph_add_noisy(graph, 3, l, nan, 1, v), invalid, "NaN");
    FAILS(fastlbp_graph_add_noisy(graph, 3, l, negative + 4, 1, v), invalid, "-0.25");
    FAILS(fastlbp_graph_add_noisy(graph, 3, l, v, SIZE_MAX / 16, v), limit, "literals");
    FAILS(fastlbp_graph_add_terms(graph, l, 2, v, 0, s, 0), invalid, "no terms");
    FAILS(fastlbp_graph_add_terms(graph, l, 2, v, 2, s, 3), invalid, "3 indicators");
    FAILS(fastlbp_graph_add_terms(graph, l, 2, infinite, 2, s, 4), invalid, "weight inf of term 1");
    FAILS(fastlbp_graph_add_terms(graph, l, 2, v, 1, low, 2), invalid, "indicator -2");
    FAILS(fastlbp_graph_add_terms(graph, l, 2, v, SIZE_MAX, s, 4), limit, "weights");
#define TERM_FACTORS(scope_offsets, term_offsets, weights, indicators, length) \
    fastlbp_graph_add_term_factors(graph, 2, scope_offsets, l, 2, term_offsets, weights, 2, \
                                   indicators, length)
    FAILS(TERM_FACTORS(down, fine, v, s, 2), invalid, "scope_offsets");
    FAILS(TERM_FACTORS(fine, late, v, s, 2), invalid, "term_offsets");
    FAILS(TERM_FACTORS(fine, far, v, s, 2), invalid, "term_offsets");
    FAILS(TERM_FACTORS(fine, fine, v, s, 1), invalid, "indicators has 1 entries");
    FAILS(TERM_FACTORS(fine, fine, v, s, 3), invalid, "indicators has 3 entries");
    FAILS(TERM_FACTORS(fine, fine, infinite, s, 2), invalid, "factor 1");
    FAILS(TERM_FACTORS(fine, fine, v, low, 2), invalid, "factor 1");
    FAILS(fastlbp_graph_add_term_factors(graph, SIZE_MAX, fine, l, 2, fine, v, 2, s, 2), limit,
          "scope_offsets");
    FAILS(fastlbp_graph_add_factors(graph, 1, kinds, l, fine, l, 1, v, v), invalid, "signed");
    OK(fastlbp_graph_count(graph, FASTLBP_COUNT_FACTORS, &count)); /* none of these added anything */
    CHECK(count == 0);
    fastlbp_graph_free(graph);

    /* These show when all is known. */
#define LATE(call, status, text)                       \
    OK(fastlbp_graph_new(&graph));                     \
    OK(check_add_variable(graph, 3, 3));       \
    OK(call);                                          \
    FAILS(fastlbp_graph_build(graph), status, text);   \
    fastlbp_graph_free(graph)
    {
        const uint64_t twice[] = {1, 1}, third[] = {3};
        const int32_t state[] = {3}, same[] = {1, 1};
        const double both[] = {-1, 0.5}, cancel[] = {1, -1};
        const double halves[] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
        LATE(fastlbp_graph_add_signed(graph, 2, third, n, 1, v), invalid, "binary");
        LATE(fastlbp_graph_add_noisy(graph, 2, third, v, 1, v), invalid, "binary");
        LATE(fastlbp_graph_add_noisy(graph, 2, twice, halves, 2, v), invalid, "occurs twice");
        LATE(fastlbp_graph_add_noisy(graph, 1, twice, v, 1, v), invalid, "occurs twice");
        LATE(fastlbp_graph_add_terms(graph, twice, 2, v, 1, s, 2), invalid, "occurs twice");
        LATE(fastlbp_graph_add_terms(graph, third, 1, v, 1, state, 1), FASTLBP_STATUS_OUT_OF_RANGE,
             "in state 3");
        LATE(fastlbp_graph_add_terms(graph, third, 1, both, 2, same, 2), invalid, "negative");
        LATE(fastlbp_graph_add_terms(graph, third, 1, cancel, 2, same, 2), invalid, "zero everywhere");
    }
}

int main(void) {
    kinds_by_hand();
    reading_back();
    bulk_equals_single();
    null_pointers();
    wrong_factors();
    return check_result();
}
