/* Results of a session: marginals, beliefs, and messages. */
#include "support.h"

/* --- All marginals -------------------------------------------------------------------------------------- */

/* Fills an array of Java in place. The functions that `fill` may be only copy what the last run left in the
 * session, and tell no listener. */
static void fill_in_place(JNIEnv *env, jlong bp, jdoubleArray array,
                          fastlbp_status (*fill)(const fastlbp_bp *, double *, size_t, size_t *)) {
    size_t length = (size_t)(*env)->GetArrayLength(env, array);
    double *buffer = (*env)->GetPrimitiveArrayCritical(env, array, NULL);
    if (buffer == NULL) {
        if (!(*env)->ExceptionCheck(env)) throw_out_of_memory(env, "fastlbp: an array cannot be written");
        return;
    }
    fastlbp_status status = fill(to_bp(bp), buffer, length, NULL);
    (*env)->ReleasePrimitiveArrayCritical(env, array, buffer, 0);
    check(env, status);
}

NATIVE(void, bpMarginals)(JNIEnv *env, jclass type, jlong bp, jdoubleArray out) {
    UNUSED_CLASS;
    fill_in_place(env, bp, out, fastlbp_bp_marginals);
}

NATIVE(void, bpProbabilities)(JNIEnv *env, jclass type, jlong bp, jdoubleArray out) {
    UNUSED_CLASS;
    fill_in_place(env, bp, out, fastlbp_bp_probabilities);
}

/* The buffers are direct and have `length` entries from `position` on: Java has checked it. */
NATIVE(void, bpMarginalsDirect)(JNIEnv *env, jclass type, jlong bp, jobject out, jint position, jint length) {
    UNUSED_CLASS;
    double *buffer = (double *)(*env)->GetDirectBufferAddress(env, out) + position;
    check(env, fastlbp_bp_marginals(to_bp(bp), buffer, (size_t)length, NULL));
}

NATIVE(void, bpProbabilitiesDirect)
(JNIEnv *env, jclass type, jlong bp, jobject out, jint position, jint length) {
    UNUSED_CLASS;
    double *buffer = (double *)(*env)->GetDirectBufferAddress(env, out) + position;
    check(env, fastlbp_bp_probabilities(to_bp(bp), buffer, (size_t)length, NULL));
}

NATIVE(void, bpProbabilitiesOf)(JNIEnv *env, jclass type, jlong bp, jintArray variables, jdoubleArray out) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    size_t count;
    const uint32_t *indices = input(&in, variables, sizeof *indices, &count);
    double *values = scratch(&in, count, sizeof *values);
    if (!in.failed && check(env, fastlbp_bp_probabilities_of(to_bp(bp), indices, count, values))) {
        (*env)->SetDoubleArrayRegion(env, out, 0, (jsize)count, values);
    }
    free_inputs(&in);
}

/* --- Single beliefs ------------------------------------------------------------------------------------- */

NATIVE(jdouble, bpProbability)(JNIEnv *env, jclass type, jlong bp, jint variable) {
    UNUSED_CLASS;
    double p = 0;
    check(env, fastlbp_bp_probability(to_bp(bp), (size_t)variable, &p));
    return p;
}

/* An array for the belief of which `fill` tells the length. */
static jdoubleArray belief(JNIEnv *env, jlong bp, jint index,
                           fastlbp_status (*fill)(const fastlbp_bp *, size_t, double *, size_t, size_t *)) {
    size_t length = 0;
    fastlbp_status status = fill(to_bp(bp), (size_t)index, NULL, 0, &length);
    if (status != FASTLBP_STATUS_BUFFER_TOO_SMALL && !check(env, status)) return NULL;
    inputs in = {.env = env};
    double *values = scratch(&in, length, sizeof *values);
    jdoubleArray array = NULL;
    if (!in.failed && check(env, fill(to_bp(bp), (size_t)index, values, length, NULL))) {
        array = new_doubles(env, values, length);
    }
    free_inputs(&in);
    return array;
}

NATIVE(jdoubleArray, bpMarginal)(JNIEnv *env, jclass type, jlong bp, jint variable) {
    UNUSED_CLASS;
    return belief(env, bp, variable, fastlbp_bp_marginal);
}

NATIVE(jdoubleArray, bpFactorBelief)(JNIEnv *env, jclass type, jlong bp, jint factor) {
    UNUSED_CLASS;
    return belief(env, bp, factor, fastlbp_bp_factor_belief);
}

NATIVE(jdouble, bpLogPartition)(JNIEnv *env, jclass type, jlong bp) {
    UNUSED_CLASS;
    double value = 0;
    check(env, fastlbp_bp_log_partition(to_bp(bp), &value));
    return value;
}

NATIVE(jintArray, bpFindMaximum)(JNIEnv *env, jclass type, jlong bp, jint variables) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    uint32_t *states = scratch(&in, (size_t)variables, sizeof *states);
    jintArray array = NULL;
    if (!in.failed && check(env, fastlbp_bp_find_maximum(to_bp(bp), states, (size_t)variables, NULL))) {
        array = new_ints(env, states, (size_t)variables);
    }
    free_inputs(&in);
    return array;
}

NATIVE(jdouble, bpLogScore)(JNIEnv *env, jclass type, jlong bp, jintArray states) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    size_t length;
    const uint32_t *values = input(&in, states, sizeof *values, &length);
    double score = 0;
    if (!in.failed) check(env, fastlbp_bp_log_score(to_bp(bp), values, length, &score));
    free_inputs(&in);
    return score;
}

/* --- Messages ------------------------------------------------------------------------------------------- */

NATIVE(jlong, bpMessageLength)(JNIEnv *env, jclass type, jlong bp) {
    UNUSED_CLASS;
    size_t length = 0;
    check(env, fastlbp_bp_message_length(to_bp(bp), &length));
    return (jlong)length;
}

/* These may prepare the session, and tell the log of it: not in place. */
NATIVE(void, bpMessages)(JNIEnv *env, jclass type, jlong bp, jdoubleArray out) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    size_t length = (size_t)(*env)->GetArrayLength(env, out);
    size_t needed = 0;
    double *values = scratch(&in, length, sizeof *values);
    if (!in.failed && check(env, fastlbp_bp_messages(to_bp(bp), values, length, &needed))) {
        (*env)->SetDoubleArrayRegion(env, out, 0, (jsize)needed, values);
    }
    free_inputs(&in);
}

NATIVE(void, bpSetMessages)(JNIEnv *env, jclass type, jlong bp, jdoubleArray messages) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    size_t length;
    const double *values = input(&in, messages, sizeof *values, &length);
    if (!in.failed) check(env, fastlbp_bp_set_messages(to_bp(bp), values, length));
    free_inputs(&in);
}

NATIVE(jlongArray, bpSaveState)(JNIEnv *env, jclass type, jlong bp) {
    UNUSED_CLASS;
    size_t length = 0;
    fastlbp_status status = fastlbp_bp_save_state(to_bp(bp), NULL, 0, &length);
    if (status != FASTLBP_STATUS_BUFFER_TOO_SMALL && !check(env, status)) return NULL;
    inputs in = {.env = env};
    uint64_t *words = scratch(&in, length, sizeof *words);
    jlongArray array = NULL;
    if (!in.failed && check(env, fastlbp_bp_save_state(to_bp(bp), words, length, NULL))) {
        array = new_longs(env, words, length);
    }
    free_inputs(&in);
    return array;
}

NATIVE(void, bpRestoreState)(JNIEnv *env, jclass type, jlong bp, jlongArray state) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    size_t length;
    const uint64_t *words = input(&in, state, sizeof *words, &length);
    if (!in.failed) check(env, fastlbp_bp_restore_state(to_bp(bp), words, length));
    free_inputs(&in);
}
