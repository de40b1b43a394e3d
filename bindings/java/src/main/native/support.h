/* What the functions behind Native.java share. Nothing is computed here: arguments are copied in, fastlbp is
 * called, and a result or an exception goes out. */
#ifndef FASTLBP_JNI_SUPPORT_H
#define FASTLBP_JNI_SUPPORT_H

#include "io_github_fastlbp_Native.h"

#include <fastlbp.h>
#include <stdbool.h>
#include <stdint.h>

/* The definition of a native method; its declaration comes from `javac -h`. */
#define NATIVE(result, name) JNIEXPORT result JNICALL Java_io_github_fastlbp_Native_##name

/* A method takes its own class, which none of them needs. */
#define UNUSED_CLASS (void)type

/* Throws what a status and a text (UTF-8) say. */
void throw_status(JNIEnv *env, fastlbp_status status, const char *text);

/* Whether a call succeeded; if not, an exception with the error text of this thread is pending. */
bool check(JNIEnv *env, fastlbp_status status);

/* Throws an OutOfMemoryError. */
void throw_out_of_memory(JNIEnv *env, const char *what);

static inline fastlbp_graph *to_graph(jlong handle) {
    return (fastlbp_graph *)(intptr_t)handle;
}

static inline fastlbp_bp *to_bp(jlong handle) {
    return (fastlbp_bp *)(intptr_t)handle;
}

static inline jlong from_pointer(const void *pointer) {
    return (jlong)(intptr_t)pointer;
}

/* Numbers that may exceed a long are cut off at its greatest value. */
static inline jlong to_long(uint64_t value) {
    return value > INT64_MAX ? INT64_MAX : (jlong)value;
}

/* Copies of the arrays that a call gets, so that nothing of the JVM is held while fastlbp works. */
typedef struct inputs {
    JNIEnv *env;
    void *copies[8];
    int count;
    /* An exception is pending: the call must not be made. */
    bool failed;
} inputs;

/* A copy of a primitive array with elements of `size` bytes; `length` may be NULL. */
const void *input(inputs *in, jarray array, size_t size, size_t *length);

/* A copy of what a direct buffer has at this moment, whatever other threads do with it. */
const void *input_direct(inputs *in, jobject buffer, size_t count, size_t size);

/* A copy of an array of offsets, which must not be negative. */
const size_t *input_offsets(inputs *in, jintArray array, size_t *length);

/* Memory for an output, freed with the copies. */
void *scratch(inputs *in, size_t count, size_t size);

void free_inputs(inputs *in);

/* New arrays with `length` entries; NULL with an exception pending if there is no memory. */
jintArray new_ints(JNIEnv *env, const uint32_t *values, size_t length);
jlongArray new_longs(JNIEnv *env, const uint64_t *values, size_t length);
jdoubleArray new_doubles(JNIEnv *env, const double *values, size_t length);
jbyteArray new_bytes(JNIEnv *env, const char *text);

/* A listener during one run. */
typedef struct progress {
    JNIEnv *env;
    jobject listener;
    jthrowable thrown;
} progress;

/* Has the session tell `told->listener`, or nobody, of its passes. Every run begins with this, so what the
 * session remembers of an earlier run's listener is never used. */
bool begin_run(fastlbp_bp *bp, progress *told);

/* Whether a run succeeded; if not, the exception of the listener or of the run is pending. */
bool end_run(progress *told, fastlbp_status status);

#endif
