#include "support.h"

#include <stdlib.h>
#include <string.h>

static JavaVM *machine;
static jclass native_class;
static jmethodID make_failure;
static jmethodID tell_log;
static jmethodID on_iteration;

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved) {
    (void)reserved;
    JNIEnv *env;
    if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_8) != JNI_OK) return JNI_ERR;
    machine = vm;
    jclass found = (*env)->FindClass(env, "io/github/fastlbp/Native");
    if (found == NULL) return JNI_ERR;
    native_class = (*env)->NewGlobalRef(env, found);
    (*env)->DeleteLocalRef(env, found);
    if (native_class == NULL) return JNI_ERR;
    make_failure = (*env)->GetStaticMethodID(env, native_class, "failure", "(I[B)Ljava/lang/Throwable;");
    if (make_failure == NULL) return JNI_ERR;
    tell_log = (*env)->GetStaticMethodID(env, native_class, "log", "(Lio/github/fastlbp/LogListener;I[B)V");
    if (tell_log == NULL) return JNI_ERR;
    on_iteration = (*env)->GetStaticMethodID(env, native_class, "progress",
                                        "(Lio/github/fastlbp/ProgressListener;JJDD)Z");
    if (on_iteration == NULL) return JNI_ERR;
    return JNI_VERSION_1_8;
}

/* --- Exceptions ----------------------------------------------------------------------------------------- */

void throw_out_of_memory(JNIEnv *env, const char *what) {
    jclass type = (*env)->FindClass(env, "java/lang/OutOfMemoryError");
    if (type != NULL) (*env)->ThrowNew(env, type, what);
}

void throw_status(JNIEnv *env, fastlbp_status status, const char *text) {
    jbyteArray bytes = new_bytes(env, text);
    if (bytes == NULL) return;
    jthrowable failure =
        (*env)->CallStaticObjectMethod(env, native_class, make_failure, (jint)status, bytes);
    if (!(*env)->ExceptionCheck(env)) (*env)->Throw(env, failure);
}

bool check(JNIEnv *env, fastlbp_status status) {
    if (status == FASTLBP_STATUS_OK) return true;
    throw_status(env, status, fastlbp_last_error());
    return false;
}

/* --- Arrays --------------------------------------------------------------------------------------------- */

void *scratch(inputs *in, size_t count, size_t size) {
    if (in->failed) return NULL;
    /* A NULL pointer would stand for failure, also where nothing is needed. */
    void *memory = calloc(count > 0 ? count : 1, size);
    if (memory == NULL) {
        in->failed = true;
        throw_out_of_memory(in->env, "fastlbp: no memory for the arrays of a call");
        return NULL;
    }
    in->copies[in->count++] = memory;
    return memory;
}

const void *input(inputs *in, jarray array, size_t size, size_t *length) {
    if (in->failed) return NULL;
    JNIEnv *env = in->env;
    size_t count = (size_t)(*env)->GetArrayLength(env, array);
    void *copy = scratch(in, count, size);
    if (copy == NULL) return NULL;
    if (count > 0) {
        void *elements = (*env)->GetPrimitiveArrayCritical(env, array, NULL);
        if (elements == NULL) {
            in->failed = true;
            if (!(*env)->ExceptionCheck(env)) throw_out_of_memory(env, "fastlbp: an array cannot be read");
            return NULL;
        }
        memcpy(copy, elements, count * size);
        (*env)->ReleasePrimitiveArrayCritical(env, array, elements, JNI_ABORT);
    }
    if (length != NULL) *length = count;
    return copy;
}

const void *input_direct(inputs *in, jobject buffer, size_t count, size_t size) {
    void *copy = scratch(in, count, size);
    if (copy != NULL && count > 0) memcpy(copy, (*in->env)->GetDirectBufferAddress(in->env, buffer), count * size);
    return copy;
}

const size_t *input_offsets(inputs *in, jintArray array, size_t *length) {
    size_t count = 0;
    const int32_t *given = input(in, array, sizeof *given, &count);
    size_t *offsets = scratch(in, count, sizeof *offsets);
    if (offsets == NULL) return NULL;
    for (size_t i = 0; i < count; i++) {
        if (given[i] < 0) {
            in->failed = true;
            throw_status(in->env, FASTLBP_STATUS_INVALID_ARGUMENT, "an offset is negative");
            return NULL;
        }
        offsets[i] = (size_t)given[i];
    }
    if (length != NULL) *length = count;
    return offsets;
}

void free_inputs(inputs *in) {
    while (in->count > 0) free(in->copies[--in->count]);
}

jintArray new_ints(JNIEnv *env, const uint32_t *values, size_t length) {
    jintArray array = (*env)->NewIntArray(env, (jsize)length);
    if (array != NULL) (*env)->SetIntArrayRegion(env, array, 0, (jsize)length, (const jint *)values);
    return array;
}

jlongArray new_longs(JNIEnv *env, const uint64_t *values, size_t length) {
    jlongArray array = (*env)->NewLongArray(env, (jsize)length);
    if (array != NULL) (*env)->SetLongArrayRegion(env, array, 0, (jsize)length, (const jlong *)values);
    return array;
}

jlongArray new_sizes(JNIEnv *env, const size_t *values, size_t length) {
    return new_longs(env, (const uint64_t *)values, length);
}

jdoubleArray new_doubles(JNIEnv *env, const double *values, size_t length) {
    jdoubleArray array = (*env)->NewDoubleArray(env, (jsize)length);
    if (array != NULL) (*env)->SetDoubleArrayRegion(env, array, 0, (jsize)length, values);
    return array;
}

jbyteArray new_bytes(JNIEnv *env, const char *text) {
    jsize length = (jsize)strlen(text);
    jbyteArray array = (*env)->NewByteArray(env, length);
    if (array != NULL) (*env)->SetByteArrayRegion(env, array, 0, length, (const jbyte *)text);
    return array;
}

jbyteArray new_text(JNIEnv *env, const char *text, size_t length) {
    (void)length;
    return new_bytes(env, text);
}

uint32_t *variables_of_labels(inputs *in, const fastlbp_graph *graph, const uint64_t *labels, size_t count) {
    uint32_t *variables = scratch(in, count, sizeof *variables);
    if (!in->failed && !check(in->env, fastlbp_graph_variables_of_labels(graph, labels, count, variables))) {
        in->failed = true;
    }
    return variables;
}

/* --- Progress ------------------------------------------------------------------------------------------- */

static int32_t tell_progress(void *user, uint64_t iterations, uint64_t max_iterations, double max_diff,
                             double active_fraction) {
    progress *told = user;
    JNIEnv *env = told->env;
    jboolean go_on =
        (*env)->CallStaticBooleanMethod(env, native_class, on_iteration, told->listener, to_long(iterations),
                                        to_long(max_iterations), max_diff, active_fraction);
    told->thrown = (*env)->ExceptionOccurred(env);
    if (told->thrown == NULL) return go_on ? 0 : 1;
    /* Until the run has ended, other listeners may be called: no exception may be pending. */
    (*env)->ExceptionClear(env);
    return 1;
}

bool begin_run(fastlbp_bp *bp, progress *told) {
    return check(told->env, fastlbp_bp_set_progress(bp, told->listener ? tell_progress : NULL, told));
}

bool end_run(progress *told, fastlbp_status status) {
    if (told->thrown == NULL) return check(told->env, status);
    (*told->env)->Throw(told->env, told->thrown);
    return false;
}

/* --- Log ------------------------------------------------------------------------------------------------ */

/* The listener in use, a global reference. Native.setLog lets one thread at a time change it. */
static jobject log_listener;

static void tell_listener(void *user, uint32_t level, const char *text) {
    JNIEnv *env;
    /* Threads of the library's own are not known to the JVM. */
    bool attached = false;
    if ((*machine)->GetEnv(machine, (void **)&env, JNI_VERSION_1_8) != JNI_OK) {
        if ((*machine)->AttachCurrentThreadAsDaemon(machine, (void **)&env, NULL) != JNI_OK) return;
        attached = true;
    }
    jbyteArray bytes = new_bytes(env, text);
    if (bytes != NULL) {
        (*env)->CallStaticVoidMethod(env, native_class, tell_log, (jobject)user, (jint)level, bytes);
    }
    /* Native.log lets nothing out but what cannot be helped, such as an overflow of the stack. */
    if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env);
    if (bytes != NULL) (*env)->DeleteLocalRef(env, bytes);
    if (attached) (*machine)->DetachCurrentThread(machine);
}

NATIVE(void, setLog)(JNIEnv *env, jclass type, jobject listener) {
    UNUSED_CLASS;
    jobject next = NULL;
    if (listener != NULL) {
        next = (*env)->NewGlobalRef(env, listener);
        if (next == NULL) {
            throw_out_of_memory(env, "fastlbp: no memory for a reference to the listener");
            return;
        }
    }
    jobject unused = next;
    if (check(env, fastlbp_set_log_callback(next ? tell_listener : NULL, next))) {
        unused = log_listener;
        log_listener = next;
    }
    if (unused != NULL) (*env)->DeleteGlobalRef(env, unused);
}

/* --- The library and its devices ------------------------------------------------------------------------ */

NATIVE(jbyteArray, version)(JNIEnv *env, jclass type) {
    UNUSED_CLASS;
    return new_bytes(env, fastlbp_version());
}

NATIVE(jbyteArray, buildInfo)(JNIEnv *env, jclass type) {
    UNUSED_CLASS;
    return new_bytes(env, fastlbp_build_info());
}

NATIVE(jint, deviceCount)(JNIEnv *env, jclass type) {
    UNUSED_CLASS;
    uint32_t count = 0;
    check(env, fastlbp_device_count(&count));
    return (jint)count;
}

NATIVE(jbyteArray, deviceName)(JNIEnv *env, jclass type, jint index) {
    UNUSED_CLASS;
    char name[512];
    return check(env, fastlbp_device_name((uint32_t)index, name, sizeof name, NULL)) ? new_bytes(env, name)
                                                                                     : NULL;
}
