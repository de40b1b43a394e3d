/* Graphs: building, files, and what is in them. */
#include "support.h"

NATIVE(jlong, graphNew)(JNIEnv *env, jclass type) {
    UNUSED_CLASS;
    fastlbp_graph *graph = NULL;
    check(env, fastlbp_graph_new(&graph));
    return from_pointer(graph);
}

NATIVE(jlong, graphRead)(JNIEnv *env, jclass type, jbyteArray path) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    const char *name = input(&in, path, 1, NULL);
    fastlbp_graph *graph = NULL;
    if (!in.failed) check(env, fastlbp_graph_read_file(name, &graph));
    free_inputs(&in);
    return from_pointer(graph);
}

NATIVE(void, graphFree)(JNIEnv *env, jclass type, jlong graph) {
    UNUSED_CLASS;
    (void)env;
    fastlbp_graph_free(to_graph(graph));
}

NATIVE(void, graphBuild)(JNIEnv *env, jclass type, jlong graph) {
    UNUSED_CLASS;
    check(env, fastlbp_graph_build(to_graph(graph)));
}

NATIVE(void, graphWrite)(JNIEnv *env, jclass type, jlong graph, jbyteArray path) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    const char *name = input(&in, path, 1, NULL);
    if (!in.failed) check(env, fastlbp_graph_write_file(to_graph(graph), name));
    free_inputs(&in);
}

/* --- Adding factors ------------------------------------------------------------------------------------- */

NATIVE(void, graphAddVariables)
(JNIEnv *env, jclass type, jlong graph, jlongArray labels, jintArray cardinalities) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    size_t count;
    const uint64_t *names = input(&in, labels, sizeof *names, &count);
    const uint32_t *sizes = input(&in, cardinalities, sizeof *sizes, NULL);
    if (!in.failed) check(env, fastlbp_graph_add_variables(to_graph(graph), names, sizes, count));
    free_inputs(&in);
}

NATIVE(void, graphAddSingleton)(JNIEnv *env, jclass type, jlong graph, jlong label, jdouble p) {
    UNUSED_CLASS;
    check(env, fastlbp_graph_add_singleton(to_graph(graph), (uint64_t)label, p));
}

/* Adds an AND or an OR factor. */
static void add_gate(JNIEnv *env, jlong graph, jlong head, jlongArray body, double p, double q,
                     fastlbp_status (*add)(fastlbp_graph *, uint64_t, const uint64_t *, size_t, double, double)) {
    inputs in = {.env = env};
    size_t length;
    const uint64_t *labels = input(&in, body, sizeof *labels, &length);
    if (!in.failed) check(env, add(to_graph(graph), (uint64_t)head, labels, length, p, q));
    free_inputs(&in);
}

NATIVE(void, graphAddAnd)
(JNIEnv *env, jclass type, jlong graph, jlong head, jlongArray body, jdouble p, jdouble q) {
    UNUSED_CLASS;
    add_gate(env, graph, head, body, p, q, fastlbp_graph_add_and);
}

NATIVE(void, graphAddOr)
(JNIEnv *env, jclass type, jlong graph, jlong head, jlongArray body, jdouble p, jdouble q) {
    UNUSED_CLASS;
    add_gate(env, graph, head, body, p, q, fastlbp_graph_add_or);
}

NATIVE(void, graphAddFactors)
(JNIEnv *env, jclass type, jlong graph, jintArray kinds, jlongArray heads, jintArray offsets,
 jlongArray bodies, jdoubleArray p, jdoubleArray q) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    size_t count;
    size_t bodies_length;
    const uint32_t *kind = input(&in, kinds, sizeof *kind, &count);
    const uint64_t *head = input(&in, heads, sizeof *head, NULL);
    const size_t *offset = input_offsets(&in, offsets, NULL);
    const uint64_t *body = input(&in, bodies, sizeof *body, &bodies_length);
    const double *if_true = input(&in, p, sizeof *if_true, NULL);
    const double *otherwise = input(&in, q, sizeof *otherwise, NULL);
    if (!in.failed) {
        check(env, fastlbp_graph_add_factors(to_graph(graph), count, kind, head, offset, body, bodies_length,
                                             if_true, otherwise));
    }
    free_inputs(&in);
}

/* The buffers are direct and hold what they must: Java has checked it. */
NATIVE(void, graphAddFactorsDirect)
(JNIEnv *env, jclass type, jlong graph, jint count, jint bodies_length, jobject kinds, jobject heads,
 jobject offsets, jobject bodies, jobject p, jobject q) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    const size_t factors = (size_t)count;
    const uint32_t *kind = input_direct(&in, kinds, factors, sizeof *kind);
    const uint64_t *head = input_direct(&in, heads, factors, sizeof *head);
    const size_t *offset = input_direct(&in, offsets, factors + 1, sizeof *offset);
    const uint64_t *body = input_direct(&in, bodies, (size_t)bodies_length, sizeof *body);
    const double *if_true = input_direct(&in, p, factors, sizeof *if_true);
    const double *otherwise = input_direct(&in, q, factors, sizeof *otherwise);
    if (!in.failed) {
        check(env, fastlbp_graph_add_factors(to_graph(graph), factors, kind, head, offset, body,
                                             (size_t)bodies_length, if_true, otherwise));
    }
    free_inputs(&in);
}

NATIVE(void, graphAddTable)
(JNIEnv *env, jclass type, jlong graph, jlongArray scope, jdoubleArray values) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    size_t scope_length;
    size_t values_length;
    const uint64_t *labels = input(&in, scope, sizeof *labels, &scope_length);
    const double *table = input(&in, values, sizeof *table, &values_length);
    if (!in.failed) {
        check(env, fastlbp_graph_add_table(to_graph(graph), labels, scope_length, table, values_length));
    }
    free_inputs(&in);
}

NATIVE(void, graphAddTables)
(JNIEnv *env, jclass type, jlong graph, jintArray scope_offsets, jlongArray scopes, jintArray value_offsets,
 jdoubleArray values) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    size_t ends;
    size_t scopes_length;
    size_t values_length;
    const size_t *scope = input_offsets(&in, scope_offsets, &ends);
    const uint64_t *labels = input(&in, scopes, sizeof *labels, &scopes_length);
    const size_t *value = input_offsets(&in, value_offsets, NULL);
    const double *table = input(&in, values, sizeof *table, &values_length);
    if (!in.failed) {
        check(env, fastlbp_graph_add_tables(to_graph(graph), ends - 1, scope, labels, scopes_length, value,
                                            table, values_length));
    }
    free_inputs(&in);
}

NATIVE(void, graphAddSigned)
(JNIEnv *env, jclass type, jlong graph, jlong head, jlongArray body, jbooleanArray negated,
 jdoubleArray values) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    size_t length;
    const uint64_t *labels = input(&in, body, sizeof *labels, &length);
    const uint8_t *signs = input(&in, negated, sizeof *signs, NULL);
    const double *conditionals = input(&in, values, sizeof *conditionals, NULL);
    if (!in.failed) {
        check(env, fastlbp_graph_add_signed(to_graph(graph), (uint64_t)head, labels, signs, length,
                                            conditionals));
    }
    free_inputs(&in);
}

NATIVE(void, graphAddClause)
(JNIEnv *env, jclass type, jlong graph, jlongArray variables, jbooleanArray negated, jdouble satisfied,
 jdouble violated) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    size_t length;
    const uint64_t *labels = input(&in, variables, sizeof *labels, &length);
    const uint8_t *signs = input(&in, negated, sizeof *signs, NULL);
    if (!in.failed) {
        check(env, fastlbp_graph_add_clause(to_graph(graph), labels, signs, length, satisfied, violated));
    }
    free_inputs(&in);
}

/* Adds a noisy-OR or a noisy-AND factor. */
static void add_noisy(JNIEnv *env, jlong graph, jlong head, jlongArray body, jdoubleArray links, double p,
                      fastlbp_status (*add)(fastlbp_graph *, uint64_t, const uint64_t *, const double *, size_t,
                                            double)) {
    inputs in = {.env = env};
    size_t length;
    const uint64_t *labels = input(&in, body, sizeof *labels, &length);
    const double *link = input(&in, links, sizeof *link, NULL);
    if (!in.failed) check(env, add(to_graph(graph), (uint64_t)head, labels, link, length, p));
    free_inputs(&in);
}

NATIVE(void, graphAddNoisyOr)
(JNIEnv *env, jclass type, jlong graph, jlong head, jlongArray body, jdoubleArray links, jdouble leak) {
    UNUSED_CLASS;
    add_noisy(env, graph, head, body, links, leak, fastlbp_graph_add_noisy_or);
}

NATIVE(void, graphAddNoisyAnd)
(JNIEnv *env, jclass type, jlong graph, jlong head, jlongArray body, jdoubleArray links, jdouble p) {
    UNUSED_CLASS;
    add_noisy(env, graph, head, body, links, p, fastlbp_graph_add_noisy_and);
}

NATIVE(void, graphAddTerms)
(JNIEnv *env, jclass type, jlong graph, jlongArray scope, jdoubleArray weights, jintArray indicators) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    size_t scope_length;
    size_t weights_length;
    size_t indicators_length;
    const uint64_t *labels = input(&in, scope, sizeof *labels, &scope_length);
    const double *weight = input(&in, weights, sizeof *weight, &weights_length);
    const int32_t *indicator = input(&in, indicators, sizeof *indicator, &indicators_length);
    if (!in.failed) {
        check(env, fastlbp_graph_add_terms(to_graph(graph), labels, scope_length, weight, weights_length,
                                           indicator, indicators_length));
    }
    free_inputs(&in);
}

/* --- What is in a graph --------------------------------------------------------------------------------- */

NATIVE(jlong, graphVariableCount)(JNIEnv *env, jclass type, jlong graph) {
    UNUSED_CLASS;
    size_t count = 0;
    check(env, fastlbp_graph_variable_count(to_graph(graph), &count));
    return (jlong)count;
}

NATIVE(jlong, graphFactorCount)(JNIEnv *env, jclass type, jlong graph) {
    UNUSED_CLASS;
    size_t count = 0;
    check(env, fastlbp_graph_factor_count(to_graph(graph), &count));
    return (jlong)count;
}

NATIVE(jlong, graphEdgeCount)(JNIEnv *env, jclass type, jlong graph) {
    UNUSED_CLASS;
    size_t count = 0;
    check(env, fastlbp_graph_edge_count(to_graph(graph), &count));
    return (jlong)count;
}

NATIVE(jlong, graphStateCount)(JNIEnv *env, jclass type, jlong graph) {
    UNUSED_CLASS;
    size_t count = 0;
    check(env, fastlbp_graph_state_count(to_graph(graph), &count));
    return (jlong)count;
}

NATIVE(jlong, graphLabel)(JNIEnv *env, jclass type, jlong graph, jint variable) {
    UNUSED_CLASS;
    uint64_t label = 0;
    check(env, fastlbp_graph_label(to_graph(graph), (size_t)variable, &label));
    return (jlong)label;
}

NATIVE(jint, graphVariableOfLabel)(JNIEnv *env, jclass type, jlong graph, jlong label) {
    UNUSED_CLASS;
    size_t variable = 0;
    check(env, fastlbp_graph_variable_of_label(to_graph(graph), (uint64_t)label, &variable));
    return (jint)variable;
}

NATIVE(jint, graphCardinality)(JNIEnv *env, jclass type, jlong graph, jint variable) {
    UNUSED_CLASS;
    size_t cardinality = 0;
    check(env, fastlbp_graph_cardinality(to_graph(graph), (size_t)variable, &cardinality));
    return (jint)cardinality;
}

NATIVE(jint, graphEdge)(JNIEnv *env, jclass type, jlong graph, jint factor, jint variable) {
    UNUSED_CLASS;
    size_t edge = 0;
    check(env, fastlbp_graph_edge(to_graph(graph), (size_t)factor, (size_t)variable, &edge));
    return (jint)edge;
}

NATIVE(jlongArray, graphLabels)(JNIEnv *env, jclass type, jlong graph) {
    UNUSED_CLASS;
    size_t count;
    if (!check(env, fastlbp_graph_variable_count(to_graph(graph), &count))) return NULL;
    inputs in = {.env = env};
    uint64_t *labels = scratch(&in, count, sizeof *labels);
    jlongArray array = NULL;
    if (!in.failed && check(env, fastlbp_graph_labels(to_graph(graph), labels, count, NULL))) {
        array = new_longs(env, labels, count);
    }
    free_inputs(&in);
    return array;
}

NATIVE(jintArray, graphVariablesOfLabels)(JNIEnv *env, jclass type, jlong graph, jlongArray labels) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    size_t count = 0;
    const uint64_t *names = input(&in, labels, sizeof *names, &count);
    uint32_t *variables = scratch(&in, count, sizeof *variables);
    jintArray array = NULL;
    if (!in.failed
        && check(env, fastlbp_graph_variables_of_labels(to_graph(graph), names, count, variables))) {
        array = new_ints(env, variables, count);
    }
    free_inputs(&in);
    return array;
}

/* An array of which the graph tells the length and then the entries. */
static jintArray indices(JNIEnv *env, jlong graph, fastlbp_status (*count)(const fastlbp_graph *, size_t *),
                         fastlbp_status (*fill)(const fastlbp_graph *, uint32_t *, size_t, size_t *)) {
    size_t length;
    if (!check(env, count(to_graph(graph), &length))) return NULL;
    inputs in = {.env = env};
    uint32_t *values = scratch(&in, length, sizeof *values);
    jintArray array = NULL;
    if (!in.failed && check(env, fill(to_graph(graph), values, length, NULL))) {
        array = new_ints(env, values, length);
    }
    free_inputs(&in);
    return array;
}

NATIVE(jintArray, graphCardinalities)(JNIEnv *env, jclass type, jlong graph) {
    UNUSED_CLASS;
    return indices(env, graph, fastlbp_graph_variable_count, fastlbp_graph_cardinalities);
}

NATIVE(jintArray, graphEdgeVariables)(JNIEnv *env, jclass type, jlong graph) {
    UNUSED_CLASS;
    return indices(env, graph, fastlbp_graph_edge_count, fastlbp_graph_edge_variables);
}

NATIVE(jintArray, graphEdgeFactors)(JNIEnv *env, jclass type, jlong graph) {
    UNUSED_CLASS;
    return indices(env, graph, fastlbp_graph_edge_count, fastlbp_graph_edge_factors);
}

NATIVE(jintArray, graphFactorKinds)(JNIEnv *env, jclass type, jlong graph) {
    UNUSED_CLASS;
    return indices(env, graph, fastlbp_graph_factor_count, fastlbp_graph_factor_kinds);
}

NATIVE(jintArray, graphFactorVariables)(JNIEnv *env, jclass type, jlong graph, jint factor) {
    UNUSED_CLASS;
    size_t arity = 0;
    fastlbp_status status =
        fastlbp_graph_factor_variables(to_graph(graph), (size_t)factor, NULL, 0, &arity);
    if (status != FASTLBP_STATUS_BUFFER_TOO_SMALL && !check(env, status)) return NULL;
    inputs in = {.env = env};
    uint32_t *variables = scratch(&in, arity, sizeof *variables);
    jintArray array = NULL;
    if (!in.failed
        && check(env, fastlbp_graph_factor_variables(to_graph(graph), (size_t)factor, variables, arity,
                                                     NULL))) {
        array = new_ints(env, variables, arity);
    }
    free_inputs(&in);
    return array;
}
