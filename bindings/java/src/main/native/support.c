/* clock_gettime, dl_iterate_phdr, madvise */
#define _GNU_SOURCE

#include "support.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static JavaVM *machine;
/* The class Native. A reference that does not keep it alive: its class loader can be collected, and this library with
 * it. While one of its methods runs, or a listener of its class loader is alive, it is there. */
static jweak native_class;
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
    make_failure = (*env)->GetStaticMethodID(env, found, "failure", "(I[B)Ljava/lang/Throwable;");
    if (make_failure == NULL) return JNI_ERR;
    tell_log = (*env)->GetStaticMethodID(env, found, "log", "(Lio/github/fastlbp/LogListener;I[B)V");
    if (tell_log == NULL) return JNI_ERR;
    on_iteration = (*env)->GetStaticMethodID(env, found, "progress", "(Lio/github/fastlbp/Progress;IJJDD)Z");
    if (on_iteration == NULL) return JNI_ERR;
    native_class = (*env)->NewWeakGlobalRef(env, found);
    (*env)->DeleteLocalRef(env, found);
    return native_class == NULL ? JNI_ERR : JNI_VERSION_1_8;
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

jintArray new_signed_ints(JNIEnv *env, const int32_t *values, size_t length) {
    return new_ints(env, (const uint32_t *)values, length);
}

jbyteArray new_byte_array(JNIEnv *env, const uint8_t *values, size_t length) {
    if (length > INT32_MAX) {
        throw_status(env, FASTLBP_STATUS_LIMIT_EXCEEDED,
                     "more than 2^31 - 1 bytes are more than an array of Java can hold");
        return NULL;
    }
    jbyteArray array = (*env)->NewByteArray(env, (jsize)length);
    if (array != NULL) (*env)->SetByteArrayRegion(env, array, 0, (jsize)length, (const jbyte *)values);
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

/* Nanoseconds between two questions whether a thread has been interrupted: short for who waits, and long beside the
 * time that a question takes. */
#define QUESTION_INTERVAL 10000000

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int32_t tell_progress(void *user, uint64_t iterations, uint64_t max_iterations, double max_diff,
                             double active_fraction) {
    progress *told = user;
    JNIEnv *env = told->env;
    if (!told->is_heard) {
        int64_t time = now();
        if (time < told->next_question) return 0;
        told->next_question = time + QUESTION_INTERVAL;
    }
    jboolean go_on = (*env)->CallStaticBooleanMethod(env, native_class, on_iteration, told->monitor, told->number,
                                                     to_long(iterations), to_long(max_iterations), max_diff,
                                                     active_fraction);
    if (!(*env)->ExceptionCheck(env)) return go_on ? 0 : 1;
    /* Native.progress lets nothing out but what cannot be helped, such as an overflow of the stack. */
    (*env)->ExceptionClear(env);
    return 1;
}

bool begin_run(fastlbp_bp *bp, progress *told) {
    return check(told->env, fastlbp_bp_set_property(bp, "progress", told->is_heard ? "exact" : "rough"))
           && check(told->env, fastlbp_bp_set_progress(bp, tell_progress, told));
}

bool begin_untold_run(JNIEnv *env, fastlbp_bp *bp) {
    return check(env, fastlbp_bp_set_progress(bp, NULL, NULL));
}

/* --- Log ------------------------------------------------------------------------------------------------ */

/* The listener in use, which Native.java keeps alive. Native.changeLog lets one thread at a time change it. */
static jweak log_listener;

static void tell_listener(void *user, uint32_t level, const char *text) {
    JNIEnv *env;
    /* Threads of the library's own are not known to the JVM. */
    bool attached = false;
    if ((*machine)->GetEnv(machine, (void **)&env, JNI_VERSION_1_8) != JNI_OK) {
        if ((*machine)->AttachCurrentThreadAsDaemon(machine, (void **)&env, NULL) != JNI_OK) return;
        attached = true;
    }
    jobject listener = (*env)->NewLocalRef(env, (jobject)user);
    if (listener != NULL) {
        jbyteArray bytes = new_bytes(env, text);
        if (bytes != NULL) {
            (*env)->CallStaticVoidMethod(env, native_class, tell_log, listener, (jint)level, bytes);
        }
        /* Native.log lets nothing out but what cannot be helped, such as an overflow of the stack. */
        if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env);
        if (bytes != NULL) (*env)->DeleteLocalRef(env, bytes);
        (*env)->DeleteLocalRef(env, listener);
    }
    if (attached) (*machine)->DetachCurrentThread(machine);
}

NATIVE(void, setLog)(JNIEnv *env, jclass type, jobject listener) {
    UNUSED_CLASS;
    jweak next = NULL;
    if (listener != NULL) {
        next = (*env)->NewWeakGlobalRef(env, listener);
        if (next == NULL) {
            throw_out_of_memory(env, "fastlbp: no memory for a reference to the listener");
            return;
        }
    }
    jweak unused = next;
    if (check(env, fastlbp_set_log_callback(next ? tell_listener : NULL, next))) {
        unused = log_listener;
        log_listener = next;
    }
    if (unused != NULL) (*env)->DeleteWeakGlobalRef(env, unused);
}

/* Where one of the loaded libraries has its code and its constants: if it is this one, gives these pages back. */
static int release_pages(struct dl_phdr_info *library, size_t size, void *own) {
    (void)size;
    ElfW(Addr) here = (ElfW(Addr))(uintptr_t)own;
    bool is_own = false;
    for (ElfW(Half) i = 0; i < library->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &library->dlpi_phdr[i];
        is_own |= part->p_type == PT_LOAD && here - (library->dlpi_addr + part->p_vaddr) < part->p_memsz;
    }
    if (!is_own) return 0;
    ElfW(Addr) page = (ElfW(Addr))sysconf(_SC_PAGESIZE);
    for (ElfW(Half) i = 0; i < library->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &library->dlpi_phdr[i];
        /* What can be written has been: it is not in the file as it is here. */
        if (part->p_type != PT_LOAD || part->p_flags & PF_W) continue;
        ElfW(Addr) start = (library->dlpi_addr + part->p_vaddr) & ~(page - 1);
        ElfW(Addr) end = library->dlpi_addr + part->p_vaddr + part->p_memsz;
        madvise((void *)(uintptr_t)start, end - start, MADV_DONTNEED);
    }
    return 1;
}

/* The class loader has been collected: nobody is told anything any more. The library stays mapped, since its threads, and
 * what it left to be done when threads of the JVM end, may outlive the class loader (nodelete, see build-native). But the
 * pages that were read from its file are given back; who comes here again has them read again. */
JNIEXPORT void JNICALL JNI_OnUnload(JavaVM *vm, void *reserved) {
    (void)reserved;
    JNIEnv *env;
    if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_8) != JNI_OK) return;
    if (fastlbp_set_log_callback(NULL, NULL) == FASTLBP_STATUS_OK && log_listener != NULL) {
        (*env)->DeleteWeakGlobalRef(env, log_listener);
        log_listener = NULL;
    }
    (*env)->DeleteWeakGlobalRef(env, native_class);
    native_class = NULL;
    dl_iterate_phdr(release_pages, &native_class);
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

NATIVE(void, deviceMemory)(JNIEnv *env, jclass type, jint index, jlongArray out) {
    UNUSED_CLASS;
    uint64_t memory[2] = {0, 0};
    if (!check(env, fastlbp_device_memory((uint32_t)index, &memory[0], &memory[1]))) return;
    jlong longs[2] = {to_long(memory[0]), to_long(memory[1])};
    (*env)->SetLongArrayRegion(env, out, 0, 2, longs);
}

NATIVE(void, deviceStart)(JNIEnv *env, jclass type, jint index) {
    UNUSED_CLASS;
    check(env, fastlbp_device_start(index < 0 ? FASTLBP_DEVICE_DEFAULT : (uint32_t)index));
}
