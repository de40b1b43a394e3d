/* Results of a session: marginals, beliefs, and messages. */
#include "support.h"

/* --- All marginals -------------------------------------------------------------------------------------- */

/* Fills an array of Java in place. The functions that `fill` may be only copy what the last run left in the
 * session, and tell no listener. */
static void fill_in_place(JNIEnv *env, jlong handle, jdoubleArray array,
                          fastlbp_status (*fill)(const fastlbp_bp *, double *, size_t, size_t *)) {
    size_t length = (size_t)(*env)->GetArrayLength(env, array);
    double *buffer = (*env)->GetPrimitiveArrayCritical(env, array, NULL);
    if (buffer == NULL) {
        if (!(*env)->ExceptionCheck(env)) throw_out_of_memory(env, "fastlbp: an array cannot be written");
        return;
    }
    fastlbp_status status = fill(BP, buffer, length, NULL);
    (*env)->ReleasePrimitiveArrayCritical(env, array, buffer, 0);
    check(env, status);
}

#define IN_PLACE(name, fill)                                                             \
    NATIVE(void, name)(JNIEnv *env, jclass type, jlong handle, jdoubleArray out) {       \
        UNUSED_CLASS;                                                                    \
        fill_in_place(env, handle, out, fill);                                           \
    }

IN_PLACE(bpMarginals, fastlbp_bp_marginals)
IN_PLACE(bpProbabilities, fastlbp_bp_probabilities)

/* The buffers are direct and have `length` entries from `position` on: Java has checked it. */
#define DIRECT ((double *)(*env)->GetDirectBufferAddress(env, out) + position)

CALL(bpMarginalsDirect, PARAMETERS(jobject out, jint position, jint length), NONE,
     fastlbp_bp_marginals(BP, DIRECT, (size_t)length, NULL))
CALL(bpProbabilitiesDirect, PARAMETERS(jobject out, jint position, jint length), NONE,
     fastlbp_bp_probabilities(BP, DIRECT, (size_t)length, NULL))

NATIVE(void, bpProbabilitiesOf)(JNIEnv *env, jclass type, jlong handle, jintArray variables, jdoubleArray out) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    IN(uint32_t, variables)
    double *values = scratch(&in, variables_length, sizeof *values);
    if (!in.failed && check(env, fastlbp_bp_probabilities_of(BP, variables_at, variables_length, values))) {
        (*env)->SetDoubleArrayRegion(env, out, 0, (jsize)variables_length, values);
    }
    free_inputs(&in);
}

/* --- Single beliefs ------------------------------------------------------------------------------------- */

GET(jdouble, bpProbability, PARAMETERS(jint variable), NONE, double,
    fastlbp_bp_probabilities_of(BP, (const uint32_t *)&variable, 1, &value))
LIST(jdoubleArray, bpMarginal, PARAMETERS(jint variable), NONE, double, new_doubles,
     fastlbp_bp_belief(BP, (const uint32_t *)&variable, 1, ROOM))
LIST(jdoubleArray, bpJointBelief, PARAMETERS(jintArray variables), IN(uint32_t, variables), double, new_doubles,
     fastlbp_bp_belief(BP, variables_at, variables_length, ROOM))
LIST(jdoubleArray, bpFactorBelief, PARAMETERS(jint factor), NONE, double, new_doubles,
     fastlbp_bp_factor_belief(BP, (size_t)factor, ROOM))
GET(jdouble, bpLogPartition, NONE, NONE, double, fastlbp_bp_log_partition(BP, &value))
LIST(jintArray, bpFindMaximum, NONE, NONE, uint32_t, new_ints, fastlbp_bp_find_maximum(BP, ROOM))
GET(jdouble, bpLogScore, PARAMETERS(jintArray states), IN(uint32_t, states), double,
    fastlbp_bp_log_score(BP, states_at, states_length, &value))

/* --- Messages ------------------------------------------------------------------------------------------- */

NATIVE(jlong, bpMessageLength)(JNIEnv *env, jclass type, jlong handle) {
    UNUSED_CLASS;
    size_t length = 0;
    told_length(env, fastlbp_bp_messages(BP, NULL, 0, &length));
    return (jlong)length;
}

/* It may prepare the session, and tell the log of it: not in place. */
NATIVE(void, bpMessages)(JNIEnv *env, jclass type, jlong handle, jdoubleArray out) {
    UNUSED_CLASS;
    inputs in = {.env = env};
    size_t length = (size_t)(*env)->GetArrayLength(env, out);
    size_t needed = 0;
    double *values = scratch(&in, length, sizeof *values);
    if (!in.failed && check(env, fastlbp_bp_messages(BP, values, length, &needed))) {
        (*env)->SetDoubleArrayRegion(env, out, 0, (jsize)needed, values);
    }
    free_inputs(&in);
}

CALL(bpSetMessages, PARAMETERS(jdoubleArray messages), IN(double, messages),
     fastlbp_bp_set_messages(BP, messages_at, messages_length))
LIST(jlongArray, bpSaveState, NONE, NONE, uint64_t, new_longs, fastlbp_bp_save_state(BP, ROOM))
CALL(bpRestoreState, PARAMETERS(jlongArray state), IN(uint64_t, state),
     fastlbp_bp_restore_state(BP, state_at, state_length))
