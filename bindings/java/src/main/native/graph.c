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
    fastlbp_graph *graph = NULL;
    STRING(path) if (!in.failed) check(env, fastlbp_graph_read_file(path_at, &graph));
    free_inputs(&in);
    return from_pointer(graph);
}

NATIVE(void, graphFree)(JNIEnv *env, jclass type, jlong graph) {
    UNUSED_CLASS;
    (void)env;
    fastlbp_graph_free(to_graph(graph));
}

CALL(graphBuild, NONE, NONE, fastlbp_graph_build(GRAPH))
CALL(graphWrite, PARAMETERS(jbyteArray path), STRING(path), fastlbp_graph_write_file(GRAPH, path_at))

NATIVE(jlong, graphReadBytes)(JNIEnv *env, jclass type, jbyteArray bytes, jbyteArray name) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    fastlbp_graph *graph = NULL;
    IN(uint8_t, bytes)
    STRING(name)
    if (!in.failed) check(env, fastlbp_graph_read_memory(bytes_at, bytes_length, name_at, &graph));
    free_inputs(&in);
    return from_pointer(graph);
}

LIST(jbyteArray, graphWriteBytes, PARAMETERS(jbyteArray name), STRING(name), uint8_t, new_byte_array,
     fastlbp_graph_write_memory(GRAPH, name_at, ROOM))

/* --- Adding factors ------------------------------------------------------------------------------------- */

CALL(graphAddVariables, PARAMETERS(jlongArray labels, jintArray cardinalities),
     IN(uint64_t, labels) IN(uint32_t, cardinalities),
     fastlbp_graph_add_variables(GRAPH, labels_at, cardinalities_at, labels_length))

CALL(graphAddPrior, PARAMETERS(jlong label, jdouble p), NONE, fastlbp_graph_add_prior(GRAPH, (uint64_t)label, p))

CALL(graphAddAnd, PARAMETERS(jlong head, jlongArray body, jdouble p, jdouble q), IN(uint64_t, body),
     fastlbp_graph_add_and(GRAPH, (uint64_t)head, body_at, body_length, p, q))

CALL(graphAddOr, PARAMETERS(jlong head, jlongArray body, jdouble p, jdouble q), IN(uint64_t, body),
     fastlbp_graph_add_or(GRAPH, (uint64_t)head, body_at, body_length, p, q))

CALL(graphAddFactors,
     PARAMETERS(jintArray kinds, jlongArray heads, jlongArray offsets, jlongArray bodies, jdoubleArray p,
                jdoubleArray q),
     IN(uint32_t, kinds) IN(uint64_t, heads) IN(size_t, offsets) IN(uint64_t, bodies) IN(double, p) IN(double, q),
     fastlbp_graph_add_factors(GRAPH, kinds_length, kinds_at, heads_at, offsets_at, bodies_at, bodies_length, p_at,
                               q_at))

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

CALL(graphAddTable, PARAMETERS(jlongArray scope, jdoubleArray values), IN(uint64_t, scope) IN(double, values),
     fastlbp_graph_add_table(GRAPH, scope_at, scope_length, values_at, values_length))

CALL(graphAddTables,
     PARAMETERS(jlongArray scope_ends, jlongArray scopes, jlongArray value_ends, jdoubleArray values),
     IN(size_t, scope_ends) IN(uint64_t, scopes) IN(size_t, value_ends) IN(double, values),
     fastlbp_graph_add_tables(GRAPH, scope_ends_length - 1, scope_ends_at, scopes_at, scopes_length, value_ends_at,
                              values_at, values_length))

CALL(graphAddSigned, PARAMETERS(jlong head, jlongArray body, jbooleanArray negated, jdoubleArray values),
     IN(uint64_t, body) IN(uint8_t, negated) IN(double, values),
     fastlbp_graph_add_signed(GRAPH, (uint64_t)head, body_at, negated_at, body_length, values_at))

CALL(graphAddSignedFactors,
     PARAMETERS(jlongArray heads, jlongArray offsets, jlongArray bodies, jbooleanArray negated, jdoubleArray values),
     IN(uint64_t, heads) IN(size_t, offsets) IN(uint64_t, bodies) IN(uint8_t, negated) IN(double, values),
     fastlbp_graph_add_signed_factors(GRAPH, heads_length, heads_at, offsets_at, bodies_at, negated_at, bodies_length,
                                      values_at))

CALL(graphAddNoisy, PARAMETERS(jlong head, jlongArray body, jdoubleArray literals, jdoubleArray values),
     IN(uint64_t, body) IN(double, literals) IN(double, values),
     fastlbp_graph_add_noisy(GRAPH, (uint64_t)head, body_at, literals_at, body_length, values_at))

CALL(graphAddTerms, PARAMETERS(jlongArray scope, jdoubleArray weights, jintArray indicators),
     IN(uint64_t, scope) IN(double, weights) IN(int32_t, indicators),
     fastlbp_graph_add_terms(GRAPH, scope_at, scope_length, weights_at, weights_length, indicators_at,
                             indicators_length))

CALL(graphAddTermFactors,
     PARAMETERS(jlongArray scope_offsets, jlongArray scopes, jlongArray term_offsets, jdoubleArray weights,
                jintArray indicators),
     IN(size_t, scope_offsets) IN(uint64_t, scopes) IN(size_t, term_offsets) IN(double, weights)
     IN(int32_t, indicators),
     fastlbp_graph_add_term_factors(GRAPH, scope_offsets_length - 1, scope_offsets_at, scopes_at, scopes_length,
                                    term_offsets_at, weights_at, weights_length, indicators_at, indicators_length))

/* --- What is in a graph --------------------------------------------------------------------------------- */

SAME(VARIABLES, COUNT_VARIABLES);
SAME(FACTORS, COUNT_FACTORS);
SAME(EDGES, COUNT_EDGES);
SAME(STATES, COUNT_STATES);
SAME(BYTES, COUNT_BYTES);

GET(jlong, graphCount, PARAMETERS(jint what), NONE, size_t, fastlbp_graph_count(GRAPH, (uint32_t)what, &value))
LIST(jlongArray, graphLabels, NONE, NONE, uint64_t, new_longs, fastlbp_graph_labels(GRAPH, ROOM))
LIST(jintArray, graphCardinalities, NONE, NONE, uint32_t, new_ints, fastlbp_graph_cardinalities(GRAPH, ROOM))
LIST(jintArray, graphFactorKinds, NONE, NONE, uint32_t, new_ints, fastlbp_graph_factor_kinds(GRAPH, ROOM))
LIST(jlongArray, graphFactorOffsets, NONE, NONE, size_t, new_sizes, fastlbp_graph_factor_offsets(GRAPH, ROOM))
LIST(jintArray, graphEdgeVariables, NONE, NONE, uint32_t, new_ints, fastlbp_graph_edge_variables(GRAPH, ROOM))
LIST(jintArray, graphFactorVariables, PARAMETERS(jint factor), NONE, uint32_t, new_ints,
     fastlbp_graph_factor_variables(GRAPH, (size_t)factor, ROOM))

LIST(jintArray, graphFactorHeads, NONE, NONE, uint32_t, new_ints, fastlbp_graph_factor_heads(GRAPH, ROOM))
LIST(jdoubleArray, graphFactorParameters, PARAMETERS(jint factor), NONE, double, new_doubles,
     fastlbp_graph_factor_parameters(GRAPH, (size_t)factor, ROOM))
LIST(jintArray, graphFactorIndicators, PARAMETERS(jint factor), NONE, int32_t, new_signed_ints,
     fastlbp_graph_factor_indicators(GRAPH, (size_t)factor, ROOM))
LIST(jdoubleArray, graphFactorValues, PARAMETERS(jint factor), NONE, double, new_doubles,
     fastlbp_graph_factor_values(GRAPH, (size_t)factor, ROOM))

GET(jint, graphVariableOfLabel, PARAMETERS(jlong label), NONE, uint32_t,
    fastlbp_graph_variables_of_labels(GRAPH, (const uint64_t *)&label, 1, &value))

NATIVE(jintArray, graphVariablesOfLabels)(JNIEnv *env, jclass type, jlong graph, jlongArray labels) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    jintArray array = NULL;
    IN(uint64_t, labels)
    uint32_t *variables = variables_of_labels(&in, to_graph(graph), labels_at, labels_length);
    if (!in.failed) array = new_ints(env, variables, labels_length);
    free_inputs(&in);
    return array;
}
