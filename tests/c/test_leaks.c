/* Thousands of create, run, free cycles: the process does not grow. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <unistd.h>

/* Resident memory in bytes, 0 where it cannot be had. */
static long resident(void) {
    long total = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%ld %ld", &total, &pages) != 2)
        pages = 0;
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

static int32_t cancel(void *user, uint64_t iterations, uint64_t max_iterations, double max_diff,
                      double active_fraction) {
    (void)user, (void)iterations, (void)max_iterations, (void)max_diff, (void)active_fraction;
    return 1;
}

static void cycle(long number) {
    /* Every now and then one that is large enough for two threads. */
    const uint64_t size = number % 50 == 0 ? 3000 : 30;
    fastlbp_graph *graph = check_ring(size), *shared = NULL;
    fastlbp_bp *bp = NULL, *copy = NULL;
    static uint64_t state[40000];
    static double p[3001];
    size_t length = 0;
    OK(fastlbp_bp_new(graph, &bp));
    if (number % 3 == 0) {
        const uint64_t body[] = {0, 1};
        OK(fastlbp_graph_add_and(graph, 100, body, 2, 0.5, 0.5));
        OK(fastlbp_graph_build(graph));
    }
    fastlbp_graph_free(graph);
    if (number % 5 == 0)
        OK(fastlbp_bp_set_threads(bp, 2));
    OK(fastlbp_bp_set_schedule(bp, number % 2 == 0 ? "PARALL" : "SEQRND", (uint64_t)number));
    OK(check_observe(bp, 3, 1));
    OK(fastlbp_bp_run_bingo(bp, 1e-6, 2, 4, 3, NULL));
    OK(fastlbp_bp_clone(bp, &copy));
    OK(fastlbp_bp_set_threads(copy, 1 + (size_t)number % 2));
    OK(fastlbp_bp_set_progress(copy, cancel, NULL));
    OK(fastlbp_bp_run_iterations(copy, 5));
    OK(fastlbp_bp_save_state(copy, state, LENGTH(state), &length));
    OK(fastlbp_bp_restore_state(bp, state, length));
    OK(fastlbp_bp_probabilities(copy, p, LENGTH(p), NULL));
    CHECK_STATUS(check_observe(copy, 100000, 1), FASTLBP_STATUS_OUT_OF_RANGE);
    CHECK_STATUS(fastlbp_bp_restore_state(bp, state, 3), FASTLBP_STATUS_INVALID_ARGUMENT);
    OK(fastlbp_bp_graph(copy, &shared));
    fastlbp_bp_free(bp);
    fastlbp_bp_free(copy);
    fastlbp_graph_free(shared);
}

int main(void) {
    const long cycles = check_setting("FASTLBP_TEST_CYCLES", 5000);
    const long limit = 2L << 20;
    long before, after;
    for (long number = 0; number < cycles / 5; number++)
        cycle(number);
    before = resident();
    for (long number = 0; number < cycles; number++)
        cycle(number);
    after = resident();
    printf("%ld cycles: resident memory %ld -> %ld KiB\n", cycles, before >> 10, after >> 10);
    if (cycles >= 1000 && check_setting("FASTLBP_TEST_RESIDENT", 1))
        CHECK(after - before < limit);
    return check_result();
}
