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

NATIVE(void, bpPrepare)(JNIEnv *env, jclass type, jlong bp) {
    UNUSED_CLASS;
    check(env, fastlbp_bp_prepare(to_bp(bp)));
}

/* --- Settings ------------------------------------------------------------------------------------------- */

NATIVE(void, bpSetProperty)(JNIEnv *env, jclass type, jlong bp, jbyteArray key, jbyteArray value) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    const char *name = input(&in, key, 1, NULL);
    const char *text = input(&in, value, 1, NULL);
    if (!in.failed) check(env, fastlbp_bp_set_property(to_bp(bp), name, text));
    free_inputs(&in);
}

NATIVE(jbyteArray, bpGetProperty)(JNIEnv *env, jclass type, jlong bp, jbyteArray key) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    const char *name = input(&in, key, 1, NULL);
    char value[256];
    jbyteArray array = NULL;
    if (!in.failed && check(env, fastlbp_bp_get_property(to_bp(bp), name, value, sizeof value, NULL))) {
        array = new_bytes(env, value);
    }
    free_inputs(&in);
    return array;
}

NATIVE(jint, bpBackend)(JNIEnv *env, jclass type, jlong bp) {
    UNUSED_CLASS;
    uint32_t backend = FASTLBP_BACKEND_AUTO;
    check(env, fastlbp_bp_backend(to_bp(bp), &backend));
    return (jint)backend;
}

/* --- Schedules ------------------------------------------------------------------------------------------ */

NATIVE(void, bpSetSchedule)(JNIEnv *env, jclass type, jlong bp, jbyteArray name, jlong seed) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    const char *text = input(&in, name, 1, NULL);
    if (!in.failed) check(env, fastlbp_bp_set_schedule(to_bp(bp), text, (uint64_t)seed));
    free_inputs(&in);
}

NATIVE(void, bpSetScheduleBlocks)(JNIEnv *env, jclass type, jlong bp, jint blocks, jlong seed) {
    UNUSED_CLASS;
    check(env, fastlbp_bp_set_schedule_blocks(to_bp(bp), (uint32_t)blocks, (uint64_t)seed));
}

NATIVE(void, bpSetScheduleRanks)(JNIEnv *env, jclass type, jlong bp, jlongArray ranks) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    size_t length;
    const uint64_t *values = input(&in, ranks, sizeof *values, &length);
    if (!in.failed) check(env, fastlbp_bp_set_schedule_ranks(to_bp(bp), values, length));
    free_inputs(&in);
}

NATIVE(void, bpSetScheduleRelation)
(JNIEnv *env, jclass type, jlong bp, jintArray before, jintArray after) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    size_t count;
    const uint32_t *earlier = input(&in, before, sizeof *earlier, &count);
    const uint32_t *later = input(&in, after, sizeof *later, NULL);
    if (!in.failed) check(env, fastlbp_bp_set_schedule_relation(to_bp(bp), earlier, later, count));
    free_inputs(&in);
}

NATIVE(jbyteArray, bpSchedule)(JNIEnv *env, jclass type, jlong bp) {
    UNUSED_CLASS;
    char name[64];
    return check(env, fastlbp_bp_schedule(to_bp(bp), name, sizeof name, NULL)) ? new_bytes(env, name) : NULL;
}

NATIVE(jlong, bpLevelCount)(JNIEnv *env, jclass type, jlong bp) {
    UNUSED_CLASS;
    size_t count = 0;
    check(env, fastlbp_bp_level_count(to_bp(bp), &count));
    return (jlong)count;
}

/* --- Evidence ------------------------------------------------------------------------------------------- */

NATIVE(void, bpObserve)(JNIEnv *env, jclass type, jlong bp, jint variable, jint state) {
    UNUSED_CLASS;
    check(env, fastlbp_bp_observe(to_bp(bp), (size_t)variable, (size_t)state));
}

NATIVE(void, bpObserveLabel)(JNIEnv *env, jclass type, jlong bp, jlong label, jint state) {
    UNUSED_CLASS;
    check(env, fastlbp_bp_observe_label(to_bp(bp), (uint64_t)label, (size_t)state));
}

NATIVE(void, bpObserveVariables)(JNIEnv *env, jclass type, jlong bp, jintArray variables, jintArray states) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    size_t count;
    const uint32_t *indices = input(&in, variables, sizeof *indices, &count);
    const uint32_t *values = input(&in, states, sizeof *values, NULL);
    if (!in.failed) check(env, fastlbp_bp_observe_variables(to_bp(bp), indices, values, count));
    free_inputs(&in);
}

NATIVE(void, bpObserveLabels)(JNIEnv *env, jclass type, jlong bp, jlongArray labels, jintArray states) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    size_t count;
    const uint64_t *names = input(&in, labels, sizeof *names, &count);
    const uint32_t *values = input(&in, states, sizeof *values, NULL);
    if (!in.failed) check(env, fastlbp_bp_observe_labels(to_bp(bp), names, values, count));
    free_inputs(&in);
}

NATIVE(void, bpSetLikelihood)(JNIEnv *env, jclass type, jlong bp, jint variable, jdoubleArray likelihood) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    size_t length;
    const double *values = input(&in, likelihood, sizeof *values, &length);
    if (!in.failed) check(env, fastlbp_bp_set_likelihood(to_bp(bp), (size_t)variable, values, length));
    free_inputs(&in);
}

NATIVE(void, bpClearEvidence)(JNIEnv *env, jclass type, jlong bp, jint variable) {
    UNUSED_CLASS;
    check(env, fastlbp_bp_clear_evidence(to_bp(bp), (size_t)variable));
}

NATIVE(void, bpClearAllEvidence)(JNIEnv *env, jclass type, jlong bp) {
    UNUSED_CLASS;
    check(env, fastlbp_bp_clear_all_evidence(to_bp(bp)));
}

NATIVE(jlong, bpReadEvidence)(JNIEnv *env, jclass type, jlong bp, jbyteArray path, jboolean partial) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    const char *name = input(&in, path, 1, NULL);
    size_t unknown = 0;
    if (!in.failed) check(env, fastlbp_bp_read_evidence(to_bp(bp), name, partial ? &unknown : NULL));
    free_inputs(&in);
    return (jlong)unknown;
}

NATIVE(jlong, bpEvidenceCount)(JNIEnv *env, jclass type, jlong bp) {
    UNUSED_CLASS;
    size_t count = 0;
    check(env, fastlbp_bp_evidence_count(to_bp(bp), &count));
    return (jlong)count;
}

/* --- Runs ----------------------------------------------------------------------------------------------- */

NATIVE(void, bpRun)(JNIEnv *env, jclass type, jlong bp, jobject listener) {
    UNUSED_CLASS;
    progress told = {env, listener, NULL};
    if (begin_run(to_bp(bp), &told)) end_run(&told, fastlbp_bp_run(to_bp(bp)));
}

NATIVE(void, bpRunPasses)(JNIEnv *env, jclass type, jlong bp, jobject listener, jlong passes) {
    UNUSED_CLASS;
    progress told = {env, listener, NULL};
    if (begin_run(to_bp(bp), &told)) end_run(&told, fastlbp_bp_run_passes(to_bp(bp), (uint64_t)passes));
}

NATIVE(void, bpRunBingo)
(JNIEnv *env, jclass type, jlong bp, jobject listener, jdouble tolerance, jlong min_passes, jlong max_passes,
 jlong history) {
    UNUSED_CLASS;
    progress told = {env, listener, NULL};
    if (!begin_run(to_bp(bp), &told)) return;
    end_run(&told, fastlbp_bp_run_bingo(to_bp(bp), tolerance, (uint64_t)min_passes, (uint64_t)max_passes,
                                        (uint64_t)history, NULL));
}

NATIVE(jintArray, bpRunBatch)
(JNIEnv *env, jclass type, jlong bp, jobject listener, jintArray entry_offsets, jintArray variables,
 jintArray states, jdoubleArray marginals) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    size_t ends;
    size_t count;
    size_t needed = 0;
    size_t length = (size_t)(*env)->GetArrayLength(env, marginals);
    const size_t *offsets = input_offsets(&in, entry_offsets, &ends);
    const uint32_t *indices = input(&in, variables, sizeof *indices, &count);
    const uint32_t *values = input(&in, states, sizeof *values, NULL);
    double *results = scratch(&in, length, sizeof *results);
    fastlbp_status *statuses = scratch(&in, ends, sizeof *statuses);
    progress told = {env, listener, NULL};
    jintArray array = NULL;
    if (!in.failed && begin_run(to_bp(bp), &told)
        && end_run(&told, fastlbp_bp_run_batch(to_bp(bp), offsets, ends - 1, indices, values, count, results,
                                               length, &needed, statuses))) {
        (*env)->SetDoubleArrayRegion(env, marginals, 0, (jsize)needed, results);
        array = new_ints(env, (const uint32_t *)statuses, ends - 1);
    }
    free_inputs(&in);
    return array;
}

NATIVE(jintArray, bpRunAll)(JNIEnv *env, jclass type, jlongArray sessions, jobjectArray listeners) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    size_t count = 0;
    const jlong *handles = input(&in, sessions, sizeof *handles, &count);
    fastlbp_bp **bps = scratch(&in, count, sizeof *bps);
    progress *told = scratch(&in, count, sizeof *told);
    fastlbp_status *statuses = scratch(&in, count, sizeof *statuses);
    /* The references to the listeners, and some for what else is done. */
    bool ready = !in.failed && (*env)->EnsureLocalCapacity(env, (jint)count + 16) == JNI_OK;
    for (size_t i = 0; ready && i < count; i++) {
        bps[i] = to_bp(handles[i]);
        told[i].env = env;
        told[i].listener = (*env)->GetObjectArrayElement(env, listeners, (jsize)i);
        ready = begin_run(bps[i], &told[i]);
    }
    jintArray array = NULL;
    if (ready && check(env, fastlbp_run_all(bps, count, statuses))) {
        array = new_ints(env, (const uint32_t *)statuses, count);
        for (size_t i = 0; array != NULL && i < count; i++) {
            if (told[i].thrown == NULL) continue;
            (*env)->Throw(env, told[i].thrown);
            break;
        }
    }
    free_inputs(&in);
    return array;
}

NATIVE(void, bpReset)(JNIEnv *env, jclass type, jlong bp) {
    UNUSED_CLASS;
    check(env, fastlbp_bp_reset(to_bp(bp)));
}

NATIVE(void, bpReport)(JNIEnv *env, jclass type, jlong bp, jlongArray counts, jdoubleArray measures) {
    UNUSED_CLASS;
    const fastlbp_bp *session = to_bp(bp);
    uint64_t passes;
    uint64_t total_passes;
    uint64_t contradictions;
    uint64_t spared;
    uint32_t reason;
    double measured[2];
    if (!check(env, fastlbp_bp_passes(session, &passes))
        || !check(env, fastlbp_bp_total_passes(session, &total_passes))
        || !check(env, fastlbp_bp_stop_reason(session, &reason))
        || !check(env, fastlbp_bp_contradictions(session, &contradictions))
        || !check(env, fastlbp_bp_spared_messages(session, &spared))
        || !check(env, fastlbp_bp_max_diff(session, &measured[0]))
        || !check(env, fastlbp_bp_frac(session, &measured[1]))) {
        return;
    }
    const jlong whole[] = {to_long(passes), to_long(total_passes), (jlong)reason, to_long(contradictions),
                           to_long(spared)};
    (*env)->SetLongArrayRegion(env, counts, 0, 5, whole);
    (*env)->SetDoubleArrayRegion(env, measures, 0, 2, measured);
}

NATIVE(jlong, bpFirstContradiction)(JNIEnv *env, jclass type, jlong bp) {
    UNUSED_CLASS;
    uint64_t label = 0;
    check(env, fastlbp_bp_first_contradiction(to_bp(bp), &label));
    return (jlong)label;
}

NATIVE(jlong, bpContradictions)(JNIEnv *env, jclass type, jlong bp) {
    UNUSED_CLASS;
    uint64_t count = 0;
    check(env, fastlbp_bp_contradictions(to_bp(bp), &count));
    return to_long(count);
}
