/* A CUDA driver without a device, for tests of what the library does with one: memory is the host's,
 * and the kernels of cuda/probe*.cu are C functions.
 *
 * FAKE_CUDA is a list such as "version=12000,devices=2,cuMemAlloc_v2=2": the version and the number of
 * devices, and codes that functions return instead of doing anything. `fused=1` computes with fused
 * multiply-adds, `stuck=1` loses a round of a barrier, `capability=60` is an old device. `retains=1` and
 * `modules=2` allow so many of these in all; `failing=3` lets launch number 3 of the process fail, which
 * spoils the context until it has been released; with `faulty=1`, those on device 1 alone are counted. At the end of the process, things that were not given back
 * are listed on stderr; a context and its modules may stay. With `told=1`, it says there how often a context was retained, how many
 * channels it was asked for, and which devices it is to show.
 *
 * FAKE_CUDA_KERNELS names libraries with the engine's kernels, separated by colons. Those made from
 * cuda/engine/host.cpp run on `blocks=3` blocks of `threads=2` threads (else on one of one) whatever the
 * launch says; those made from tests/cuda/emulated_*.cpp on what it says, on a device that has
 * `multiprocessors=4` with `resident=1024` threads each. Buffers have pages behind them that nothing may touch.
 */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, INVALID_DEVICE = 101, INVALID_CONTEXT = 201, NOT_FOUND = 500, TOO_LARGE = 720 };

/* The number that FAKE_CUDA has for a name. */
static long setting(const char *name, long otherwise) {
    const char *list = getenv("FAKE_CUDA");
    size_t length = strlen(name);
    while (list != NULL && *list != 0) {
        if (strncmp(list, name, length) == 0 && list[length] == '=')
            return strtol(list + length + 1, NULL, 10);
        list = strchr(list, ',');
        if (list != NULL)
            list++;
    }
    return otherwise;
}

/* Returns what FAKE_CUDA says of the function, if anything. */
#define MAY_FAIL                                                                                     \
    do {                                                                                             \
        long code = setting(__func__, 0);                                                            \
        if (code != 0)                                                                               \
            return (int)code;                                                                        \
    } while (0)
#define API __attribute__((visibility("default"))) int

/* --- What there is, and what was not given back --------------------------------------------------- */

struct context {
    _Atomic int retained, allocated, pinned, modules, streams, events, graphs, executables;
    /* What all functions return in it. */
    _Atomic int spoiled;
    /* How many contexts this one was before. */
    unsigned long long generation;
};
enum { MAX_DEVICES = 8, ILLEGAL_ADDRESS = 700, CONTEXT_IS_DESTROYED = 709 };
/* The primary contexts. */
static struct context primary[MAX_DEVICES];
static _Atomic int all_retains, all_modules, launches;
static __thread struct context *stack[64];
static __thread int depth;

__attribute__((destructor)) static void report(void) {
    const char *channels = getenv("CUDA_DEVICE_MAX_CONNECTIONS"), *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (setting("told", 0))
        fprintf(stderr, "fake driver: retained %d contexts, %s channels, devices %s\n", all_retains,
                channels ? channels : "all", visible ? visible : "all");
    for (struct context *c = primary; c < primary + MAX_DEVICES; c++)
        if (c->retained > 1 || (c->modules && !c->retained) || c->allocated || c->pinned || c->streams ||
            c->events || c->graphs || c->executables || depth)
            fprintf(stderr,
                    "fake driver: left: %d contexts, %d buffers, %d pinned, %d modules, %d streams, "
                    "%d events, %d graphs, %d executables, %d pushed\n",
                    c->retained, c->allocated, c->pinned, c->modules, c->streams, c->events, c->graphs,
                    c->executables, depth);
}

/* A context that has failed or was reset takes with it all that is in it. */
static void end(struct context *c) {
    c->allocated = c->pinned = c->modules = c->streams = c->events = c->graphs = c->executables = 0;
    c->spoiled = 0;
    c->generation++;
}

static struct context *current(void) {
    return depth > 0 ? stack[depth - 1] : NULL;
}

/* Most functions need a context. */
#define NEEDS_CONTEXT                                                                                \
    MAY_FAIL;                                                                                        \
    if (current() == NULL)                                                                           \
        return INVALID_CONTEXT;                                                                      \
    if (current()->spoiled)                                                                          \
    return current()->spoiled

API cuInit(unsigned flags) {
    MAY_FAIL;
    return flags == 0 ? SUCCESS : INVALID_VALUE;
}

API cuDriverGetVersion(int *version) {
    MAY_FAIL;
    *version = (int)setting("version", 13000);
    return SUCCESS;
}

API cuGetErrorName(unsigned code, const char **text) {
    *text = code == 919 ? "CUDA_ERROR_OF_TOMORROW" : code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : NULL;
    return *text != NULL ? SUCCESS : INVALID_VALUE;
}

API cuGetErrorString(unsigned code, const char **text) {
    *text = code == 919 ? "not known yet" : NULL;
    return *text != NULL ? SUCCESS : INVALID_VALUE;
}

API cuDeviceGetCount(int *count) {
    MAY_FAIL;
    *count = (int)setting("devices", 1);
    return SUCCESS;
}

API cuDeviceGet(int *device, int index) {
    MAY_FAIL;
    *device = index;
    return index >= 0 && index < setting("devices", 1) ? SUCCESS : INVALID_DEVICE;
}

API cuDeviceGetName(char *name, int length, int device) {
    MAY_FAIL;
    snprintf(name, (size_t)length, "Fake device %d", device);
    return SUCCESS;
}

API cuDeviceTotalMem_v2(size_t *bytes, int device) {
    (void)device;
    MAY_FAIL;
    *bytes = (size_t)8 << 30;
    return SUCCESS;
}

API cuDeviceGetAttribute(int *value, int attribute, int device) {
    (void)device;
    MAY_FAIL;
    switch (attribute) {
    case 10: *value = (int)setting("warp", 32); return SUCCESS;
    case 16: *value = (int)setting("multiprocessors", 4); return SUCCESS;
    case 81: *value = (int)setting("shared", 64) << 10; return SUCCESS;
    case 75: *value = (int)setting("capability", 90) / 10; return SUCCESS;
    case 76: *value = (int)setting("capability", 90) % 10; return SUCCESS;
    default: return INVALID_VALUE;
    }
}

API cuDevicePrimaryCtxRetain(void **context, int device) {
    MAY_FAIL;
    struct context *c = &primary[device];
    if (++all_retains > setting("retains", 1000000))
        return INVALID_VALUE;
    if (c->spoiled == CONTEXT_IS_DESTROYED)
        c->spoiled = 0;
    *context = c;
    c->retained++;
    return SUCCESS;
}

API cuDevicePrimaryCtxRelease_v2(int device) {
    struct context *c = &primary[device];
    if (--c->retained == 0 && c->spoiled)
        end(c);
    return SUCCESS;
}

/* Its users must still release it. */
API cuDevicePrimaryCtxReset_v2(int device) {
    end(&primary[device]);
    primary[device].spoiled = CONTEXT_IS_DESTROYED;
    return SUCCESS;
}

API cuCtxGetId(void *context, unsigned long long *id) {
    struct context *c = context;
    MAY_FAIL;
    if (c->spoiled == CONTEXT_IS_DESTROYED)
        return c->spoiled;
    *id = (unsigned long long)(c - primary) + MAX_DEVICES * c->generation;
    return SUCCESS;
}

API cuCtxGetCurrent(void **context) {
    *context = current();
    return SUCCESS;
}

API cuCtxPushCurrent_v2(void *context) {
    MAY_FAIL;
    if (depth == 64)
        return INVALID_VALUE;
    stack[depth++] = context;
    return SUCCESS;
}

API cuCtxPopCurrent_v2(void **context) {
    if (depth == 0)
        return INVALID_CONTEXT;
    *context = stack[--depth];
    return SUCCESS;
}

/* --- Memory --------------------------------------------------------------------------------------- */

API cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
    NEEDS_CONTEXT;
    *free_bytes = (size_t)6 << 30;
    *total = (size_t)8 << 30;
    return SUCCESS;
}

/* A buffer ends at a page that nothing may touch; a page with its size lies before the first of its own. What
 * is between its end and that page keeps this value. */
enum { PAGE = 4096, ALIGNMENT = 16, FILL = 0xA5 };

static size_t pages(size_t bytes) {
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

static unsigned char *fenced(size_t bytes) {
    size_t room = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT, own = pages(room);
    unsigned char *first = mmap(NULL, own + 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (first == MAP_FAILED)
        return NULL;
    *(size_t *)first = bytes;
    memset(first + PAGE, FILL, own); /* not zero by chance */
    mprotect(first, PAGE, PROT_NONE);
    mprotect(first + PAGE + own, PAGE, PROT_NONE);
    return first + PAGE + own - room;
}

static void unfence(unsigned char *buffer) {
    unsigned char *first = (unsigned char *)((uintptr_t)buffer / PAGE * PAGE - PAGE);
    mprotect(first, PAGE, PROT_READ);
    size_t bytes = *(size_t *)first, room = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    for (size_t i = bytes; i < room; i++)
        if (buffer[i] != FILL) {
            fprintf(stderr, "fake driver: byte %zu of a buffer of %zu was written\n", i, bytes);
            abort();
        }
    munmap(first, pages(room) + 2 * PAGE);
}

API cuMemAlloc_v2(uint64_t *address, size_t bytes) {
    NEEDS_CONTEXT;
    if (bytes > (size_t)8 << 30 || bytes == 0)
        return 2;
    unsigned char *memory = fenced(bytes);
    if (memory == NULL)
        return 2;
    *address = (uint64_t)(uintptr_t)memory;
    current()->allocated++;
    return SUCCESS;
}

API cuMemFree_v2(uint64_t address) {
    NEEDS_CONTEXT;
    unfence((unsigned char *)(uintptr_t)address);
    current()->allocated--;
    return SUCCESS;
}

API cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
    NEEDS_CONTEXT;
    *memory = flags == 3 && bytes > 0 ? malloc(bytes) : NULL;
    current()->pinned += *memory != NULL;
    return *memory != NULL ? SUCCESS : 2;
}

API cuMemFreeHost(void *memory) {
    NEEDS_CONTEXT;
    free(memory);
    current()->pinned--;
    return SUCCESS;
}

API cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream) {
    (void)stream;
    NEEDS_CONTEXT;
    memcpy((void *)(uintptr_t)to, from, bytes);
    return SUCCESS;
}

API cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
    (void)stream;
    NEEDS_CONTEXT;
    memcpy(to, (void *)(uintptr_t)from, bytes);
    return SUCCESS;
}

API cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream) {
    (void)stream;
    NEEDS_CONTEXT;
    memcpy((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes);
    return SUCCESS;
}

API cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *stream) {
    (void)stream;
    NEEDS_CONTEXT;
    memset((void *)(uintptr_t)to, value, bytes);
    return SUCCESS;
}

/* --- Streams, events ------------------------------------------------------------------------------ */

API cuStreamCreate(void **stream, unsigned flags) {
    NEEDS_CONTEXT;
    if (flags != 1)
        return INVALID_VALUE;
    *stream = malloc(1);
    current()->streams++;
    return SUCCESS;
}

API cuStreamDestroy_v2(void *stream) {
    NEEDS_CONTEXT;
    free(stream);
    current()->streams--;
    return SUCCESS;
}

API cuStreamSynchronize(void *stream) {
    (void)stream;
    NEEDS_CONTEXT;
    return SUCCESS;
}

/* One that the library only forwards. */
API cuStreamGetFlags(void *stream, unsigned *flags) {
    NEEDS_CONTEXT;
    *flags = stream != NULL ? 1 : 0;
    return SUCCESS;
}

API cuStreamQuery(void *stream) {
    static _Atomic int asked;
    (void)stream;
    NEEDS_CONTEXT;
    return asked++ == 0 ? 600 : SUCCESS; /* not ready at first */
}

API cuEventCreate(void **event, unsigned flags) {
    NEEDS_CONTEXT;
    *event = malloc(1);
    current()->events++;
    return flags == 0 ? SUCCESS : INVALID_VALUE;
}

API cuEventRecord(void *event, void *stream) {
    (void)event, (void)stream;
    NEEDS_CONTEXT;
    return SUCCESS;
}

API cuEventSynchronize(void *event) {
    (void)event;
    NEEDS_CONTEXT;
    return SUCCESS;
}

API cuEventElapsedTime(float *milliseconds, void *start, void *end) {
    (void)start, (void)end;
    NEEDS_CONTEXT;
    *milliseconds = 2;
    return SUCCESS;
}

API cuEventDestroy_v2(void *event) {
    NEEDS_CONTEXT;
    free(event);
    current()->events--;
    return SUCCESS;
}

/* --- Kernels -------------------------------------------------------------------------------------- */

struct config {
    unsigned grid[3], block[3], shared;
    void *stream;
    const struct { unsigned id, padding, value[16]; } *attributes;
    unsigned count;
};

typedef void kernel(unsigned blocks, void **arguments);
typedef void host_kernel(unsigned blocks, unsigned threads, void **arguments);
typedef void emulated_kernel(unsigned blocks, unsigned threads, unsigned cluster, int cooperative,
                             void **arguments);

static uint64_t address(void *argument) {
    return *(uint64_t *)argument;
}

static void arithmetic(unsigned blocks, void **arguments) {
    const double *triples = (const double *)(uintptr_t)address(arguments[0]);
    double *results = (double *)(uintptr_t)address(arguments[1]);
    unsigned count = *(unsigned *)arguments[2];
    (void)blocks;
    for (unsigned i = 0; i < count; i++) {
        volatile double a = triples[3 * i], b = triples[3 * i + 1], c = triples[3 * i + 2];
        volatile double product = a * b;
        results[4 * i] = setting("fused", 0) ? fma(a, b, c) : product + c;
        results[4 * i + 1] = a / b;
        results[4 * i + 2] = a - b;
        results[4 * i + 3] = product;
    }
}

static void barrier(unsigned blocks, void **arguments) {
    unsigned *values = (unsigned *)(uintptr_t)address(arguments[0]);
    unsigned *arrived = (unsigned *)(uintptr_t)address(arguments[1]);
    unsigned rounds = *(unsigned *)arguments[2];
    for (unsigned block = 0; block < blocks; block++)
        values[block] += rounds - (setting("stuck", 0) && block == 1);
    *arrived += blocks * 2 * rounds;
}

static void cluster(unsigned blocks, void **arguments) {
    unsigned *values = (unsigned *)(uintptr_t)address(arguments[0]);
    for (unsigned block = 0; block < blocks; block++)
        values[block] = *(unsigned *)arguments[1];
}

enum { OWN_KERNELS = 3, MAX_KERNELS = 40 };
static struct {
    char name[60];
    kernel *run;
    int large, shared;
    host_kernel *on_host;
    emulated_kernel *emulated;
} kernels[MAX_KERNELS] = {
    {"probe_arithmetic", arithmetic, 0, 0, NULL, NULL},
    {"probe_barrier", barrier, 0, 0, NULL, NULL},
    {"probe_cluster", cluster, 0, 0, NULL, NULL},
};
static int kernel_count = OWN_KERNELS;
static pthread_mutex_t kernels_lock = PTHREAD_MUTEX_INITIALIZER;

/* The function that a library of the engine's kernels has for one, with this ending; NULL if none has. */
static void *find_in_libraries(const char *name, const char *ending) {
    static void *libraries[8];
    static int count = -1;
    if (count < 0) {
        const char *list = getenv("FAKE_CUDA_KERNELS");
        char *paths = strdup(list != NULL ? list : ""), *rest = paths;
        count = 0;
        for (char *path; count < 8 && (path = strsep(&rest, ":")) != NULL;)
            if (*path != 0) {
                libraries[count] = dlopen(path, RTLD_NOW | RTLD_LOCAL);
                if (libraries[count] == NULL)
                    fprintf(stderr, "fake driver: %s\n", dlerror());
                else
                    count++;
            }
        free(paths);
    }
    char symbol[80];
    snprintf(symbol, sizeof symbol, "%s%s", name, ending);
    void *found = NULL;
    for (int i = 0; i < count && found == NULL; i++)
        found = dlsym(libraries[i], symbol);
    return found;
}

/* The number of a kernel, or -1. */
static int find_kernel(const char *name) {
    int k = 0;
    pthread_mutex_lock(&kernels_lock);
    while (k < kernel_count && strcmp(kernels[k].name, name) != 0)
        k++;
    if (k == kernel_count) {
        void *on_host = find_in_libraries(name, "_on_host");
        void *emulated = find_in_libraries(name, "_emulated");
        int found = on_host != NULL || emulated != NULL;
        if (!found || k == MAX_KERNELS || strlen(name) >= sizeof kernels[k].name) {
            k = -1;
        } else {
            strcpy(kernels[k].name, name);
            kernels[k].on_host = (host_kernel *)(uintptr_t)on_host;
            kernels[k].emulated = (emulated_kernel *)(uintptr_t)emulated;
            kernel_count++;
        }
    }
    pthread_mutex_unlock(&kernels_lock);
    return k;
}

API cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options, void **values) {
    long code = setting(__func__, 0);
    if (current() == NULL)
        return INVALID_CONTEXT;
    if (current()->spoiled)
        return current()->spoiled;
    /* PTX, or an ELF file for the GPU. */
    int loadable = memcmp(image, "\177ELF", 4) == 0 || strstr((const char *)image, ".target sm_") != NULL;
    if (!loadable || count != 2 || options[0] != 5)
        return INVALID_VALUE;
    if (code != 0) {
        snprintf((char *)values[0], (size_t)(uintptr_t)values[1], "ptxas fatal : line 1; no");
        return (int)code;
    }
    if (++all_modules > setting("modules", 1000000))
        return 2;
    *module = malloc(1);
    current()->modules++;
    return SUCCESS;
}

API cuModuleUnload(void *module) {
    NEEDS_CONTEXT;
    free(module);
    current()->modules--;
    return SUCCESS;
}

API cuModuleGetFunction(void **function, void *module, const char *name) {
    (void)module;
    NEEDS_CONTEXT;
    int k = find_kernel(name);
    if (k < 0)
        return NOT_FOUND;
    *function = &kernels[k];
    return SUCCESS;
}

static int index_of(void *function) {
    return (int)(((char *)function - (char *)kernels) / (long)sizeof kernels[0]);
}

API cuFuncSetAttribute(void *function, int attribute, int value) {
    NEEDS_CONTEXT;
    if (attribute == 8)
        kernels[index_of(function)].shared = value;
    else if (attribute == 14)
        kernels[index_of(function)].large = value;
    else
        return INVALID_VALUE;
    return SUCCESS;
}

API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads,
                                                size_t shared) {
    (void)function, (void)shared;
    NEEDS_CONTEXT;
    *blocks = (int)setting("resident", 1024) / threads;
    return SUCCESS;
}

/* The value of a launch's attribute, or 0. */
static unsigned attribute(const struct config *config, unsigned id) {
    for (unsigned i = 0; i < config->count; i++)
        if (config->attributes[i].id == id)
            return config->attributes[i].value[0];
    return 0;
}

API cuOccupancyMaxActiveClusters(int *clusters, void *function, const struct config *config) {
    NEEDS_CONTEXT;
    int k = index_of(function);
    unsigned blocks = attribute(config, 4);
    if ((blocks > 8 && !kernels[k].large) || config->shared > (unsigned)kernels[k].shared)
        return 912; /* CUDA_ERROR_INVALID_CLUSTER_SIZE of CUDA 12, which the bindings do not know */
    int fitting = (int)setting("multiprocessors", 4) / (int)(blocks > 0 ? blocks : 1);
    *clusters = blocks > 8 ? 0 : fitting > 1 ? fitting : 1;
    return SUCCESS;
}

/* What this thread records: one kernel, with copies of its arguments, so many times. */
static __thread int recording;
static __thread struct { int kernel, count; uint64_t arguments[3]; unsigned blocks; } recorded;

API cuLaunchKernelEx(const struct config *config, void *function, void **arguments, void **extra) {
    NEEDS_CONTEXT;
    int k = index_of(function);
    if (extra != NULL || config->block[0] == 0 || config->block[0] > 1024)
        return INVALID_VALUE;
    long faulty = setting("faulty", -1);
    if ((faulty < 0 || current() == &primary[faulty]) && ++launches == setting("failing", 0)) {
        current()->spoiled = ILLEGAL_ADDRESS; /* which the next call says */
        return SUCCESS;
    }
    if (k == 1 && attribute(config, 2) != 1)
        return INVALID_VALUE; /* not cooperative */
    int of_engine = kernels[k].on_host != NULL || kernels[k].emulated != NULL;
    if (of_engine && recording)
        return INVALID_VALUE; /* the sizes of the arguments are not known */
    if (config->shared > (48 << 10) && config->shared > (unsigned)kernels[k].shared)
        return INVALID_VALUE; /* not allowed */
    if (kernels[k].emulated != NULL) {
        int cooperative = attribute(config, 2) != 0;
        if (cooperative && config->grid[0] > setting("multiprocessors", 4) * (setting("resident", 1024) / config->block[0]))
            return TOO_LARGE;
        unsigned cluster = attribute(config, 4);
        kernels[k].emulated(config->grid[0], config->block[0], cluster > 1 ? cluster : 1, cooperative, arguments);
        return SUCCESS;
    }
    if (of_engine) {
        kernels[k].on_host((unsigned)setting("blocks", 1), (unsigned)setting("threads", 1), arguments);
        return SUCCESS;
    }
    if (recording) {
        recorded.kernel = k;
        recorded.blocks = config->grid[0];
        recorded.count++;
        recorded.arguments[0] = address(arguments[0]);
        recorded.arguments[1] = address(arguments[1]);
        recorded.arguments[2] = *(unsigned *)arguments[2];
        return SUCCESS;
    }
    kernels[k].run(config->grid[0], arguments);
    return SUCCESS;
}

API cuStreamBeginCapture_v2(void *stream, int mode) {
    (void)stream;
    NEEDS_CONTEXT;
    recording = 1;
    recorded.count = 0;
    return mode == 1 ? SUCCESS : INVALID_VALUE;
}

API cuStreamEndCapture(void *stream, void **graph) {
    (void)stream;
    NEEDS_CONTEXT;
    recording = 0;
    *graph = malloc(1);
    current()->graphs++;
    return SUCCESS;
}

API cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long flags) {
    (void)graph;
    NEEDS_CONTEXT;
    *executable = malloc(1);
    current()->executables++;
    return flags == 0 ? SUCCESS : INVALID_VALUE;
}

API cuGraphLaunch(void *executable, void *stream) {
    (void)executable, (void)stream;
    NEEDS_CONTEXT;
    void *arguments[3] = {&recorded.arguments[0], &recorded.arguments[1], &recorded.arguments[2]};
    for (int i = 0; i < recorded.count; i++)
        kernels[recorded.kernel].run(recorded.blocks, arguments);
    return SUCCESS;
}

API cuGraphExecDestroy(void *executable) {
    NEEDS_CONTEXT;
    free(executable);
    current()->executables--;
    return SUCCESS;
}

API cuGraphDestroy(void *graph) {
    NEEDS_CONTEXT;
    free(graph);
    current()->graphs--;
    return SUCCESS;
}
