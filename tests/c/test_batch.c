/* Many evidence sets on one graph, and many graphs, in one call. */
#include "check.h"

enum { SIZE = 60, STATES = 2 * SIZE, ENTRIES = 5 };

/* Entry i observes i variables of the ring. */
static const size_t offsets[ENTRIES + 1] = {0, 0, 1, 3, 6, 10};
static const uint32_t variables[10] = {3, 5, 9, 1, 2, 40, 8, 9, 10, 11};
static const uint32_t states[10] = {1, 0, 1, 1, 1, 0, 1, 0, 0, 1};

static fastlbp_bp *ring_session(const char *schedule, size_t threads) {
    fastlbp_bp *bp = check_session(check_ring(SIZE));
    OK(fastlbp_bp_set_schedule(bp, schedule, 3));
    OK(fastlbp_bp_set_threads(bp, threads));
    OK(fastlbp_bp_set_max_iterations(bp, 40));
    return bp;
}

static void entries_one_by_one(const char *schedule, double *marginals) {
    fastlbp_bp *bp = ring_session(schedule, 1);
    for (size_t entry = 0; entry < ENTRIES; entry++) {
        size_t first = offsets[entry], count = offsets[entry + 1] - first;
        OK(fastlbp_bp_clear_all_evidence(bp));
        OK(fastlbp_bp_observe(bp, variables + first, states + first, count));
        OK(fastlbp_bp_run(bp));
        OK(fastlbp_bp_marginals(bp, marginals + entry * STATES, STATES, NULL));
    }
    fastlbp_bp_free(bp);
}

static void batches(void) {
    static const char *const schedules[] = {"PARALL", "SEQFIX", "SEQRND", "SEQMAX", "BLOCKS", "TREE"};
    static double wanted[ENTRIES * STATES], got[ENTRIES * STATES], before[STATES], after[STATES];
    fastlbp_status statuses[ENTRIES];
    for (size_t s = 0; s < LENGTH(schedules); s++) {
        entries_one_by_one(schedules[s], wanted);
        for (size_t threads = 1; threads <= 4; threads *= 2) {
            fastlbp_bp *bp = ring_session(schedules[s], threads);
            size_t needed = 0;
            uint64_t known = 0;
            OK(check_observe(bp, 7, 1));
            OK(fastlbp_bp_run(bp));
            OK(fastlbp_bp_marginals(bp, before, STATES, NULL));
            OK(fastlbp_bp_set_start(bp, FASTLBP_START_WARM)); /* entries are fresh all the same */
            for (int i = 0; i < ENTRIES; i++)
                statuses[i] = FASTLBP_STATUS_PANIC;
            OK(fastlbp_bp_run_batch(bp, offsets, ENTRIES, variables, states, 10, got,
                                    LENGTH(got), &needed, statuses));
            CHECK(needed == LENGTH(got));
            SAME_BITS(got, wanted, LENGTH(got));
            for (int i = 0; i < ENTRIES; i++)
                CHECK(statuses[i] == FASTLBP_STATUS_OK);
            memset(got, 0, sizeof got);
            OK(fastlbp_bp_run_batch(bp, offsets, ENTRIES, variables, states, 10, got, LENGTH(got), NULL,
                                    NULL));
            SAME_BITS(got, wanted, LENGTH(got));
            OK(fastlbp_bp_marginals(bp, after, STATES, NULL));
            SAME_BITS(before, after, STATES);
            OK(fastlbp_bp_report_u64(bp, FASTLBP_REPORT_EVIDENCE, &known));
            CHECK(known == 1);
            fastlbp_bp_free(bp);
        }
    }
}

/* x2 is x1, which is true. */
static fastlbp_graph *certain(void) {
    const uint64_t body[] = {1};
    fastlbp_graph *graph = NULL;
    OK(fastlbp_graph_new(&graph));
    OK(fastlbp_graph_add_prior(graph, 1, 1.0));
    OK(fastlbp_graph_add_and(graph, 2, body, 1, 1.0, 0.0));
    return graph;
}

static void count_warnings(void *user, uint32_t level, const char *text) {
    if (level == FASTLBP_LOG_WARNING && strstr(text, "contradiction at variable 1") != NULL)
        ++*(int *)user;
}

static void contradictory_entries(void) {
    const size_t starts[] = {0, 1, 2};
    const uint32_t second[] = {1, 1};
    const uint32_t known[] = {0, 1};
    fastlbp_bp *bp = check_session(certain());
    double marginals[8];
    fastlbp_status statuses[2];
    int warnings = 0;
    OK(fastlbp_bp_set_threads(bp, 2));
    OK(fastlbp_set_log_callback(count_warnings, &warnings));
    OK(fastlbp_bp_run_batch(bp, starts, 2, second, known, 2, marginals, 8, NULL, statuses));
    OK(fastlbp_set_log_callback(NULL, NULL));
    CHECK(statuses[0] == FASTLBP_STATUS_CONTRADICTION);
    CHECK(statuses[1] == FASTLBP_STATUS_OK);
    for (int i = 0; i < 4; i++)
        CHECK(isnan(marginals[i]));
    NEAR(marginals[5], 1.0);
    NEAR(marginals[7], 1.0);
    CHECK(warnings == 1);
    fastlbp_bp_free(bp);
}

static void wrong_arguments(void) {
    fastlbp_bp *bp = ring_session("PARALL", 2);
    double marginals[2 * STATES];
    fastlbp_status statuses[2] = {FASTLBP_STATUS_PANIC, FASTLBP_STATUS_PANIC};
    const size_t starts[] = {0, 1, 2};
    const size_t descending[] = {0, 3, 2};
    const size_t late[] = {1, 1, 2};
    const uint32_t known[] = {3, SIZE};
    const uint32_t wrong[] = {1, 2};
    const uint32_t right[] = {1, 1};
    size_t needed = 0;
    memset(marginals, 0, sizeof marginals);
#define REFUSED(bp, starts, entries, variables, states, count, marginals, status, text)              \
    FAILS(fastlbp_bp_run_batch(bp, starts, entries, variables, states, count, marginals, 2 * STATES, \
                               NULL, statuses),                                                      \
          FASTLBP_STATUS_##status, text)
    REFUSED(NULL, starts, 2, known, right, 2, marginals, NULL_POINTER, "fastlbp_bp");
    REFUSED(bp, NULL, 2, known, right, 2, marginals, NULL_POINTER, "entry_offsets");
    REFUSED(bp, starts, 2, NULL, right, 2, marginals, NULL_POINTER, "variables");
    REFUSED(bp, starts, 2, known, NULL, 2, marginals, NULL_POINTER, "states");
    REFUSED(bp, starts, 2, known, right, 2, NULL, NULL_POINTER, "marginals");
    REFUSED(bp, descending, 2, known, right, 2, marginals, INVALID_ARGUMENT, "entry_offsets[2] is 2 after 3");
    REFUSED(bp, late, 2, known, right, 2, marginals, INVALID_ARGUMENT, "entry_offsets[0] is 1");
    REFUSED(bp, starts, 2, known, right, 1, marginals, INVALID_ARGUMENT, "entry_offsets ends with 2");
    REFUSED(bp, starts, SIZE_MAX, known, right, 2, marginals, LIMIT_EXCEEDED, "entry_offsets");
    REFUSED(bp, starts, 2, known, right, 2, marginals, OUT_OF_RANGE, "entry 1: variable index 60");
    REFUSED(bp, starts, 2, variables, wrong, 2, marginals, OUT_OF_RANGE, "entry 1: state 2 of variable 5");
    FAILS(fastlbp_bp_run_batch(bp, starts, 2, variables, right, 2, marginals, LENGTH(marginals) - 1,
                               &needed, statuses),
          FASTLBP_STATUS_BUFFER_TOO_SMALL, "240 are needed");
    CHECK(needed == 2 * STATES);
    for (size_t i = 0; i < LENGTH(marginals); i++)
        CHECK(marginals[i] == 0.0);
    CHECK(statuses[0] == FASTLBP_STATUS_PANIC && statuses[1] == FASTLBP_STATUS_PANIC);
    OK(fastlbp_bp_run_batch(bp, starts, 0, NULL, NULL, 0, NULL, 0, &needed, NULL));
    CHECK(needed == 0);
    fastlbp_bp_free(bp);
}

struct meter {
    fastlbp_bp *bp;
    uint64_t calls, last, end;
};

static int32_t progress(void *user, uint64_t done, uint64_t all, double max_diff, double active_fraction) {
    struct meter *meter = user;
    CHECK(done == ++meter->calls);
    meter->last = all;
    CHECK(isinf(max_diff) && active_fraction == 1.0);
    CHECK_STATUS(check_observe(meter->bp, 0, 1), FASTLBP_STATUS_BUSY);
    return done == meter->end;
}

static void progress_and_cancelling(void) {
    static double marginals[ENTRIES * STATES];
    fastlbp_status statuses[ENTRIES];
    struct meter meter = {NULL, 0, 0, 3};
    meter.bp = ring_session("PARALL", 1);
    OK(fastlbp_bp_set_progress(meter.bp, progress, &meter));
    OK(fastlbp_bp_run_batch(meter.bp, offsets, ENTRIES, variables, states, 10, marginals,
                            LENGTH(marginals), NULL, statuses));
    CHECK(meter.calls == 3 && meter.last == ENTRIES);
    CHECK(statuses[2] == FASTLBP_STATUS_OK && statuses[3] == FASTLBP_STATUS_NO_RESULT);
    CHECK(!isnan(marginals[3 * STATES - 1]) && isnan(marginals[3 * STATES]));
    fastlbp_bp_free(meter.bp);
}

static int32_t count_iterations(void *user, uint64_t iterations, uint64_t all, double diff, double active_fraction) {
    (void)all, (void)diff, (void)active_fraction;
    *(uint64_t *)user = iterations;
    return 0;
}

static void many_graphs(void) {
    enum { COUNT = 12 };
    fastlbp_bp *sessions[COUNT + 1];
    fastlbp_status statuses[COUNT + 1];
    double wanted[STATES], got[STATES];
    uint64_t told = 0, iterations = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        sessions[i] = ring_session(i % 2 == 0 ? "PARALL" : "SEQFIX", 1 + i % 3);
        OK(check_observe(sessions[i], i, 1));
    }
    OK(fastlbp_bp_set_progress(sessions[5], count_iterations, &told));
    sessions[COUNT] = check_session(certain());
    OK(check_observe(sessions[COUNT], 1, 0));
    OK(fastlbp_run_all(sessions, COUNT + 1, statuses));
    for (uint32_t i = 0; i < COUNT; i++) {
        fastlbp_bp *alone = ring_session(i % 2 == 0 ? "PARALL" : "SEQFIX", 1);
        CHECK(statuses[i] == FASTLBP_STATUS_OK);
        OK(check_observe(alone, i, 1));
        OK(fastlbp_bp_run(alone));
        OK(fastlbp_bp_marginals(alone, wanted, STATES, NULL));
        OK(fastlbp_bp_marginals(sessions[i], got, STATES, NULL));
        SAME_BITS(got, wanted, STATES);
        fastlbp_bp_free(alone);
    }
    OK(fastlbp_bp_report_u64(sessions[5], FASTLBP_REPORT_ITERATIONS, &iterations));
    CHECK(told == iterations && iterations > 1);
    CHECK(statuses[COUNT] == FASTLBP_STATUS_CONTRADICTION);
    OK(fastlbp_bp_report_u64(sessions[COUNT], FASTLBP_REPORT_CONTRADICTIONS, &iterations));
    CHECK(iterations == 1);

    OK(fastlbp_run_all(NULL, 0, NULL));
    FAILS(fastlbp_run_all(NULL, 1, statuses), FASTLBP_STATUS_NULL_POINTER, "sessions is NULL");
    FAILS(fastlbp_run_all(sessions, 1, NULL), FASTLBP_STATUS_NULL_POINTER, "statuses is NULL");
    fastlbp_bp *last = sessions[COUNT];
    sessions[COUNT] = NULL;
    FAILS(fastlbp_run_all(sessions, COUNT + 1, statuses), FASTLBP_STATUS_NULL_POINTER,
          "sessions[12]");
    sessions[COUNT] = sessions[4];
    FAILS(fastlbp_run_all(sessions, COUNT + 1, statuses), FASTLBP_STATUS_BUSY, "sessions[12]");
    sessions[COUNT] = last;
    for (uint32_t i = 0; i <= COUNT; i++)
        fastlbp_bp_free(sessions[i]);
}

int main(void) {
    batches();
    contradictory_entries();
    wrong_arguments();
    progress_and_cancelling();
    many_graphs();
    return check_result();
}
