/* CUDA devices: what the library says of them, and why there are none. */
#include "check.h"

/* Outputs that a failed call must not touch. */
struct outputs {
    uint32_t count, major, minor;
    uint64_t total, free;
    size_t needed;
    char name[8];
};

static const struct outputs untouched = {UNTOUCHED, UNTOUCHED, UNTOUCHED, UNTOUCHED,
                                         UNTOUCHED, UNTOUCHED, "same"};

static int same(const struct outputs *a, const struct outputs *b) {
    return a->count == b->count && a->major == b->major && a->minor == b->minor
           && a->total == b->total && a->free == b->free && a->needed == b->needed
           && strcmp(a->name, b->name) == 0;
}

static void null_pointers(void) {
    struct outputs o = untouched;
    NULL_POINTER(fastlbp_device_count(NULL), "out");
    NULL_POINTER(fastlbp_device_name(0, NULL, 8, &o.needed), "buffer");
    NULL_POINTER(fastlbp_device_memory(0, NULL, &o.free), "total");
    NULL_POINTER(fastlbp_device_memory(0, &o.total, NULL), "free");
    NULL_POINTER(fastlbp_device_driver_version(NULL, &o.minor), "major");
    NULL_POINTER(fastlbp_device_driver_version(&o.major, NULL), "minor");
    CHECK(same(&o, &untouched));
}

static void no_device(void) {
    struct outputs o = untouched;
    char reason[512];
    CHECK_STATUS(fastlbp_device_count(&o.count), FASTLBP_STATUS_NO_DEVICE);
    snprintf(reason, sizeof reason, "%s", fastlbp_last_error());
    CHECK(strstr(reason, "CUDA") != NULL);
    /* The same reason from all of them. */
    FAILS(fastlbp_device_name(0, o.name, sizeof o.name, &o.needed), FASTLBP_STATUS_NO_DEVICE, reason);
    FAILS(fastlbp_device_memory(0, &o.total, &o.free), FASTLBP_STATUS_NO_DEVICE, reason);
    FAILS(fastlbp_device_driver_version(&o.major, &o.minor), FASTLBP_STATUS_NO_DEVICE, reason);
    FAILS(fastlbp_device_start(0), FASTLBP_STATUS_NO_DEVICE, reason);
    FAILS(fastlbp_device_start(FASTLBP_DEVICE_DEFAULT), FASTLBP_STATUS_NO_DEVICE, reason);
    CHECK(same(&o, &untouched));
}

static void devices(uint32_t count) {
    struct outputs o = untouched;
    char name[256];
    OK(fastlbp_device_driver_version(&o.major, &o.minor));
    CHECK(o.major >= 12);
    FAILS(fastlbp_device_name(count, o.name, sizeof o.name, &o.needed), FASTLBP_STATUS_OUT_OF_RANGE,
          "no such device");
    FAILS(fastlbp_device_memory(UINT32_MAX, &o.total, &o.free), FASTLBP_STATUS_OUT_OF_RANGE,
          "no such device");
    FAILS(fastlbp_device_start(count), FASTLBP_STATUS_OUT_OF_RANGE, "no such device");
    OK(fastlbp_device_start(FASTLBP_DEVICE_DEFAULT));
    CHECK(o.needed == UNTOUCHED && o.total == UNTOUCHED && o.free == UNTOUCHED);
    for (uint32_t index = 0; index < count; index++) {
        CHECK_STATUS(fastlbp_device_name(index, NULL, 0, &o.needed),
                     FASTLBP_STATUS_BUFFER_TOO_SMALL);
        OK(fastlbp_device_name(index, name, sizeof name, NULL));
        CHECK(strlen(name) + 1 == o.needed);
        OK(fastlbp_device_memory(index, &o.total, &o.free));
        OK(fastlbp_device_start(index));
        CHECK(o.free > 0 && o.free <= o.total);
        printf("device %u: %s\n", (unsigned)index, name);
    }
}

/* The backends are those of the features. */
static void build_info(void) {
    const char *backends = strstr(fastlbp_build_info(), "backends: cpu");
    const char *features = strstr(fastlbp_build_info(), "features: ");
    CHECK(backends != NULL && features != NULL);
    if (backends != NULL && features != NULL) {
        int built = strncmp(backends, "backends: cpu, cuda;", 20) == 0;
        CHECK(built == (strstr(features, "cuda") != NULL));
    }
}

/* The property and the function are one setting, which the CPU does not mind. */
static void settings(void) {
    fastlbp_bp *bp = check_session(check_tree()), *copy = NULL;
    uint64_t backend = UNTOUCHED;
    char value[32];
    OK(fastlbp_bp_get_property(bp, "device", value, sizeof value, NULL));
    CHECK(strcmp(value, "default") == 0);
    OK(fastlbp_bp_set_device(bp, 4000000000u));
    OK(fastlbp_bp_clone(bp, &copy));
    OK(fastlbp_bp_get_property(copy, "device", value, sizeof value, NULL));
    CHECK(strcmp(value, "4000000000") == 0);
    OK(fastlbp_bp_set_device(copy, FASTLBP_DEVICE_DEFAULT));
    OK(fastlbp_bp_get_property(copy, "device", value, sizeof value, NULL));
    CHECK(strcmp(value, "default") == 0);
    for (uint32_t asked = FASTLBP_BACKEND_AUTO; asked <= FASTLBP_BACKEND_CPU; asked++) {
        OK(fastlbp_bp_set_backend(bp, asked));
        OK(fastlbp_bp_run(bp));
        OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_BACKEND, &backend));
        CHECK(backend == FASTLBP_BACKEND_CPU);
    }
    fastlbp_bp_free(copy);
    fastlbp_bp_free(bp);
}

/* A run on a device that is not there leaves the session as it was. */
static void missing_device(fastlbp_status expected) {
    fastlbp_bp *bp = check_session(check_tree());
    double before[4], after[4];
    OK(fastlbp_bp_run(bp));
    OK(fastlbp_bp_probabilities(bp, before, 4, NULL));
    OK(fastlbp_bp_set_backend(bp, FASTLBP_BACKEND_CUDA));
    OK(fastlbp_bp_set_device(bp, 4000000000u));
    CHECK_STATUS(fastlbp_bp_prepare(bp), expected);
    CHECK_STATUS(fastlbp_bp_run(bp), expected);
    CHECK(strlen(fastlbp_last_error()) > 0);
    OK(fastlbp_bp_probabilities(bp, after, 4, NULL));
    SAME_BITS(before, after, 4);
    OK(fastlbp_bp_set_backend(bp, FASTLBP_BACKEND_AUTO));
    OK(fastlbp_bp_run(bp));
    fastlbp_bp_free(bp);
}

int main(void) {
    uint32_t count = 0;
    null_pointers();
    build_info();
    settings();
    if (fastlbp_device_count(&count) == FASTLBP_STATUS_OK)
        devices(count);
    else
        no_device();
    missing_device(count > 0 ? FASTLBP_STATUS_OUT_OF_RANGE : FASTLBP_STATUS_NO_DEVICE);
    return check_result();
}
