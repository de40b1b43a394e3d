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

/* A constant of Native.java is one of fastlbp.h. */
#define SAME(java, c) _Static_assert(io_github_fastlbp_Native_##java == FASTLBP_##c, #java)

/* --- One line per method --------------------------------------------------------------------------------
 *
 * Most methods copy their arrays in, make one call, and hand out what it wrote. Each is a line of a table:
 *
 *     CALL(name, PARAMETERS(...), arrays, call)                          nothing comes out
 *     GET(result, name, PARAMETERS(...), arrays, element, call)         one value, which the call writes to &value
 *     LIST(result, name, PARAMETERS(...), arrays, element, make, call)  an array, by ROOM; `make` is new_ints and so on
 *
 * Without parameters it is NONE. `arrays` is NONE, or a list of IN(element, array) and STRING(bytes): after
 * IN(double, p), the call has p_at and p_length. The first parameter is the handle, GRAPH or BP in the call. */
#define NONE
#define PARAMETERS(...) , __VA_ARGS__
#define GRAPH to_graph(handle)
#define BP to_bp(handle)
#define ROOM buffer, length, &needed

#define IN(element, array)                                                   \
    size_t array##_length = 0;                                               \
    const element *array##_at = input(&in, array, sizeof(element), &array##_length); \
    (void)array##_length;
#define STRING(bytes) const char *bytes##_at = input(&in, bytes, 1, NULL);

#define CALL(name, parameters, arrays, call)                                 \
    NATIVE(void, name)(JNIEnv *env, jclass type, jlong handle parameters) {  \
        UNUSED_CLASS;                                                        \
        inputs in = {.env = env};                                            \
        arrays if (!in.failed) check(env, call);                             \
        free_inputs(&in);                                                    \
    }

#define GET(result, name, parameters, arrays, element, call)                 \
    NATIVE(result, name)(JNIEnv *env, jclass type, jlong handle parameters) { \
        UNUSED_CLASS;                                                        \
        inputs in = {.env = env};                                            \
        element value = 0;                                                   \
        arrays if (!in.failed) check(env, call);                             \
        free_inputs(&in);                                                    \
        return (result)value;                                                \
    }

#define LIST(result, name, parameters, arrays, element, make, call)          \
    NATIVE(result, name)(JNIEnv *env, jclass type, jlong handle parameters) { \
        UNUSED_CLASS;                                                        \
        inputs in = {.env = env};                                            \
        element *buffer = NULL;                                              \
        size_t length = 0;                                                   \
        size_t needed = 0;                                                   \
        result array = NULL;                                                 \
        arrays if (!in.failed && told_length(env, call)) {                   \
            length = needed;                                                 \
            buffer = scratch(&in, length, sizeof *buffer);                   \
            if (!in.failed && check(env, call)) array = make(env, buffer, length); \
        }                                                                    \
        free_inputs(&in);                                                    \
        return array;                                                        \
    }

/* Throws what a status and a text (UTF-8) say. */
void throw_status(JNIEnv *env, fastlbp_status status, const char *text);

/* Whether a call succeeded; if not, an exception with the error text of this thread is pending. */
bool check(JNIEnv *env, fastlbp_status status);

/* Whether a call without a buffer has told the length that it needs; if not, an exception is pending. */
static inline bool told_length(JNIEnv *env, fastlbp_status status) {
    return status == FASTLBP_STATUS_BUFFER_TOO_SMALL || check(env, status);
}

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

/* Memory for an output, freed with the copies. */
void *scratch(inputs *in, size_t count, size_t size);

void free_inputs(inputs *in);

/* New arrays with `length` entries; NULL with an exception pending if there is no memory. */
jintArray new_ints(JNIEnv *env, const uint32_t *values, size_t length);
jlongArray new_longs(JNIEnv *env, const uint64_t *values, size_t length);
jdoubleArray new_doubles(JNIEnv *env, const double *values, size_t length);
jlongArray new_sizes(JNIEnv *env, const size_t *values, size_t length);
jintArray new_signed_ints(JNIEnv *env, const int32_t *values, size_t length);
jbyteArray new_byte_array(JNIEnv *env, const uint8_t *values, size_t length);
jbyteArray new_bytes(JNIEnv *env, const char *text);
/* As new_bytes, of a text that came with the length of its buffer. */
jbyteArray new_text(JNIEnv *env, const char *text, size_t length);

/* The indices of the variables with some labels, in memory that is freed with the copies. */
uint32_t *variables_of_labels(inputs *in, const fastlbp_graph *graph, const uint64_t *labels, size_t count);

/* What a run tells of its iterations. */
typedef struct progress {
    JNIEnv *env;
    /* An object of the class Progress, and the number of the run in it. */
    jobject monitor;
    jint number;
    /* Whether a listener waits for each iteration; if not, the thread is only asked now and then whether it has been
     * interrupted. */
    bool is_heard;
    /* When it is asked next, in nanoseconds. */
    int64_t next_question;
} progress;

/* Has the session tell of its iterations. Every run begins with this or with begin_untold_run, so what the session
 * remembers of an earlier run is never used. */
bool begin_run(fastlbp_bp *bp, progress *told);
bool begin_untold_run(JNIEnv *env, fastlbp_bp *bp);

#endif
