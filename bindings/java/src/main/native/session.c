/* Sessions: settings, schedules, evidence, and runs. */
#include "support.h"

NATIVE(jlong, bpNew)(JNIEnv *env, jclass type, jlong graph) {
    UNUSED_CLASS;
    fastlbp_bp *bp = NULL;
    check(env, fastlbp_bp_new(to_graph(graph), &bp));
    return from_pointer(bp);
}

NATIVE(jlong, bpClone)(JNIEnv *env, jclass type, jlong bp) {
    UNUSED_CLASS;
    fastlbp_bp *copy = NULL;
    check(env, fastlbp_bp_clone(to_bp(bp), &copy));
    return from_pointer(copy);
}

NATIVE(void, bpFree)(JNIEnv *env, jclass type, jlong bp) {
    UNUSED_CLASS;
    (void)env;
    fastlbp_bp_free(to_bp(bp));
}

NATIVE(jlong, bpGraph)(JNIEnv *env, jclass type, jlong bp) {
    UNUSED_CLASS;
    fastlbp_graph *graph = NULL;
    check(env, fastlbp_bp_graph(to_bp(bp), &graph));
    return from_pointer(graph);
}

CALL(bpPrepare, NONE, NONE, fastlbp_bp_prepare(BP))

/* --- Settings and schedules ----------------------------------------------------------------------------- */

CALL(bpSetProperty, PARAMETERS(jbyteArray key, jbyteArray value), STRING(key) STRING(value),
     fastlbp_bp_set_property(BP, key_at, value_at))
LIST(jbyteArray, bpGetProperty, PARAMETERS(jbyteArray key), STRING(key), char, new_text,
     fastlbp_bp_get_property(BP, key_at, ROOM))

CALL(bpSetSchedule, PARAMETERS(jbyteArray name, jlong seed), STRING(name),
     fastlbp_bp_set_schedule(BP, name_at, (uint64_t)seed))
CALL(bpSetScheduleBlocks, PARAMETERS(jint blocks, jlong seed), NONE,
     fastlbp_bp_set_schedule_blocks(BP, (uint32_t)blocks, (uint64_t)seed))
CALL(bpSetScheduleRanks, PARAMETERS(jlongArray ranks), IN(uint64_t, ranks),
     fastlbp_bp_set_schedule_ranks(BP, ranks_at, ranks_length))
CALL(bpSetScheduleRelation, PARAMETERS(jintArray before, jintArray after), IN(uint32_t, before) IN(uint32_t, after),
     fastlbp_bp_set_schedule_relation(BP, before_at, after_at, before_length))
LIST(jintArray, bpScheduleRanks, PARAMETERS(jlong iteration), NONE, uint32_t, new_ints,
     fastlbp_bp_schedule_ranks(BP, (uint64_t)iteration, ROOM))
LIST(jintArray, bpLevelWidths, NONE, NONE, uint32_t, new_ints, fastlbp_bp_level_widths(BP, ROOM))

/* --- Evidence ------------------------------------------------------------------------------------------- */

CALL(bpObserve, PARAMETERS(jint variable, jint state), NONE,
     fastlbp_bp_observe(BP, (const uint32_t *)&variable, (const uint32_t *)&state, 1))
CALL(bpObserveVariables, PARAMETERS(jintArray variables, jintArray states),
     IN(uint32_t, variables) IN(uint32_t, states),
     fastlbp_bp_observe(BP, variables_at, states_at, variables_length))

/* The variables with some labels in the graph of a session. */
static uint32_t *labelled(inputs *in, const fastlbp_bp *bp, const uint64_t *labels, size_t count) {
    fastlbp_graph *graph = NULL;
    if (in->failed || !check(in->env, fastlbp_bp_graph(bp, &graph))) {
        in->failed = true;
        return NULL;
    }
    uint32_t *variables = variables_of_labels(in, graph, labels, count);
    fastlbp_graph_free(graph);
    return variables;
}

#define LABELLED(labels, count) const uint32_t *variables = labelled(&in, BP, labels, count);

CALL(bpObserveLabel, PARAMETERS(jlong label, jint state), LABELLED((const uint64_t *)&label, 1),
     fastlbp_bp_observe(BP, variables, (const uint32_t *)&state, 1))
CALL(bpObserveLabels, PARAMETERS(jlongArray labels, jintArray states),
     IN(uint64_t, labels) IN(uint32_t, states) LABELLED(labels_at, labels_length),
     fastlbp_bp_observe(BP, variables, states_at, labels_length))

CALL(bpSetLikelihood, PARAMETERS(jint variable, jdoubleArray likelihood), IN(double, likelihood),
     fastlbp_bp_set_likelihood(BP, (size_t)variable, likelihood_at, likelihood_length))
CALL(bpClearEvidence, PARAMETERS(jint variable), NONE, fastlbp_bp_clear_evidence(BP, (size_t)variable))
CALL(bpClearAllEvidence, NONE, NONE, fastlbp_bp_clear_all_evidence(BP))
GET(jlong, bpReadEvidence, PARAMETERS(jbyteArray path, jboolean partial), STRING(path), size_t,
    fastlbp_bp_read_evidence(BP, path_at, partial ? &value : NULL))

/* --- Runs ----------------------------------------------------------------------------------------------- */

#define RUN(name, parameters, call)                                                          \
    NATIVE(void, name)(JNIEnv *env, jclass type, jlong handle, jobject monitor, jboolean heard parameters) { \
        UNUSED_CLASS;                                                                        \
        progress told = {.env = env, .monitor = monitor, .is_heard = heard};                 \
        if (begin_run(BP, &told)) check(env, call);                                          \
    }

RUN(bpRun, NONE, fastlbp_bp_run(BP))
RUN(bpRunIterations, PARAMETERS(jlong iterations), fastlbp_bp_run_iterations(BP, (uint64_t)iterations))
RUN(bpRunBingo, PARAMETERS(jdouble tolerance, jlong min_iterations, jlong max_iterations, jlong history),
    fastlbp_bp_run_bingo(BP, tolerance, (uint64_t)min_iterations, (uint64_t)max_iterations, (uint64_t)history, NULL))

NATIVE(jintArray, bpRunBatch)
(JNIEnv *env, jclass type, jlong bp, jobject monitor, jboolean heard, jlongArray entry_offsets, jintArray variables,
 jintArray states, jdoubleArray marginals) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    size_t ends;
    size_t count;
    size_t needed = 0;
    size_t length = (size_t)(*env)->GetArrayLength(env, marginals);
    const size_t *offsets = input(&in, entry_offsets, sizeof *offsets, &ends);
    const uint32_t *indices = input(&in, variables, sizeof *indices, &count);
    const uint32_t *values = input(&in, states, sizeof *values, NULL);
    double *results = scratch(&in, length, sizeof *results);
    fastlbp_status *statuses = scratch(&in, ends, sizeof *statuses);
    progress told = {.env = env, .monitor = monitor, .is_heard = heard};
    jintArray array = NULL;
    if (!in.failed && begin_run(to_bp(bp), &told)
        && check(env, fastlbp_bp_run_batch(to_bp(bp), offsets, ends - 1, indices, values, count, results, length,
                                           &needed, statuses))) {
        (*env)->SetDoubleArrayRegion(env, marginals, 0, (jsize)needed, results);
        array = new_ints(env, (const uint32_t *)statuses, ends - 1);
    }
    free_inputs(&in);
    return array;
}

NATIVE(jintArray, bpRunAll)
(JNIEnv *env, jclass type, jlongArray sessions, jobject monitor, jbooleanArray heard) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    size_t count = 0;
    const jlong *handles = input(&in, sessions, sizeof *handles, &count);
    const jboolean *are_heard = input(&in, heard, sizeof *are_heard, NULL);
    fastlbp_bp **bps = scratch(&in, count, sizeof *bps);
    progress *told = scratch(&in, count, sizeof *told);
    fastlbp_status *statuses = scratch(&in, count, sizeof *statuses);
    bool ready = !in.failed;
    for (size_t i = 0; ready && i < count; i++) {
        bps[i] = to_bp(handles[i]);
        told[i] = (progress){.env = env, .monitor = monitor, .number = (jint)i, .is_heard = true};
        /* Sessions that tell of their iterations do not run at the same time. */
        ready = are_heard[i] ? begin_run(bps[i], &told[i]) : begin_untold_run(env, bps[i]);
    }
    jintArray array = NULL;
    if (ready && check(env, fastlbp_run_all(bps, count, statuses))) {
        array = new_ints(env, (const uint32_t *)statuses, count);
    }
    free_inputs(&in);
    return array;
}

CALL(bpRunExact, PARAMETERS(jlong limit), NONE, fastlbp_bp_run_exact(BP, (size_t)limit))
CALL(bpReset, NONE, NONE, fastlbp_bp_reset(BP))

/* --- Reports -------------------------------------------------------------------------------------------- */

SAME(ITERATIONS, REPORT_ITERATIONS);
SAME(TOTAL_ITERATIONS, REPORT_TOTAL_ITERATIONS);
SAME(STOP_REASON, REPORT_STOP_REASON);
SAME(SPARED_MESSAGES, REPORT_SPARED_MESSAGES);
SAME(CONTRADICTIONS, REPORT_CONTRADICTIONS);
SAME(FIRST_CONTRADICTION, REPORT_FIRST_CONTRADICTION);
SAME(BACKEND, REPORT_BACKEND);
SAME(THREADS, REPORT_THREADS);
SAME(EVIDENCE, REPORT_EVIDENCE);
SAME(MAX_DIFF, REPORT_MAX_DIFF);
SAME(ACTIVE_FRACTION, REPORT_ACTIVE_FRACTION);

/* Whole numbers by their keys, in one call for all of a run. */
NATIVE(void, bpReport)
(JNIEnv *env, jclass type, jlong handle, jintArray keys, jlongArray whole, jintArray real_keys, jdoubleArray real) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    IN(uint32_t, keys)
    IN(uint32_t, real_keys)
    uint64_t *counts = scratch(&in, keys_length, sizeof *counts);
    double *measures = scratch(&in, real_keys_length, sizeof *measures);
    bool fine = !in.failed;
    for (size_t i = 0; fine && i < keys_length; i++) {
        fine = check(env, fastlbp_bp_report_u64(BP, keys_at[i], &counts[i]));
        if (fine) counts[i] = (uint64_t)to_long(counts[i]);
    }
    for (size_t i = 0; fine && i < real_keys_length; i++) {
        fine = check(env, fastlbp_bp_report_f64(BP, real_keys_at[i], &measures[i]));
    }
    if (fine) {
        (*env)->SetLongArrayRegion(env, whole, 0, (jsize)keys_length, (const jlong *)counts);
        (*env)->SetDoubleArrayRegion(env, real, 0, (jsize)real_keys_length, measures);
    }
    free_inputs(&in);
}

GET(jlong, bpReportOf, PARAMETERS(jint key), NONE, uint64_t, fastlbp_bp_report_u64(BP, (uint32_t)key, &value))
