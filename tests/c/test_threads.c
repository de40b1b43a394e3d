/* Several threads: different handles at once, and one handle read by many. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <pthread.h>

enum { SIZE = 200, READERS = 4 };

static long rounds;
static double wanted[SIZE];

struct worker {
    fastlbp_bp *bp;
    long wrong;
};

/* Runs a session of its own again and again. */
static void *run_own(void *argument) {
    struct worker *worker = argument;
    double got[SIZE];
    for (long round = 0; round < rounds; round++) {
        if (fastlbp_bp_run_iterations(worker->bp, 20) != FASTLBP_STATUS_OK
            || fastlbp_bp_probabilities(worker->bp, got, SIZE, NULL) != FASTLBP_STATUS_OK
            || memcmp(got, wanted, sizeof got) != 0)
            worker->wrong++;
    }
    return NULL;
}

/* Reads a session that others read at the same time. */
static void *read_shared(void *argument) {
    struct worker *worker = argument;
    double got[SIZE], belief[8];
    size_t length = 0;
    for (long round = 0; round < rounds * 10; round++) {
        if (fastlbp_bp_probabilities(worker->bp, got, SIZE, NULL) != FASTLBP_STATUS_OK
            || memcmp(got, wanted, sizeof got) != 0
            || fastlbp_bp_factor_belief(worker->bp, 0, belief, 8, NULL) != FASTLBP_STATUS_OK
            || check_level_count(worker->bp, &length) != FASTLBP_STATUS_OK
            || check_message_length(worker->bp, &length) != FASTLBP_STATUS_OK)
            worker->wrong++;
    }
    return NULL;
}

/* Makes sessions from one graph, which is built by whoever comes first. */
static void *make_sessions(void *argument) {
    fastlbp_graph *graph = argument;
    long wrong = 0;
    for (long round = 0; round < rounds; round++) {
        fastlbp_bp *bp = NULL;
        double got[SIZE];
        if (fastlbp_bp_new(graph, &bp) != FASTLBP_STATUS_OK
            || fastlbp_bp_run_iterations(bp, 20) != FASTLBP_STATUS_OK
            || fastlbp_bp_probabilities(bp, got, SIZE, NULL) != FASTLBP_STATUS_OK
            || memcmp(got, wanted, sizeof got) != 0)
            wrong++;
        fastlbp_bp_free(bp);
    }
    return wrong == 0 ? NULL : argument;
}

/* Wants to run one session that others want to run as well: does, or is told that it is busy. */
static void *contend(void *argument) {
    struct worker *worker = argument;
    for (long round = 0; round < rounds * 10; round++) {
        fastlbp_status status = fastlbp_bp_run_iterations(worker->bp, 3);
        if (status != FASTLBP_STATUS_OK && status != FASTLBP_STATUS_BUSY)
            worker->wrong++;
    }
    return NULL;
}

static void log_nothing(void *user, uint32_t level, const char *text) {
    (void)user, (void)level, (void)text;
}

static void *change_log(void *argument) {
    for (long round = 0; round < rounds * 10; round++)
        fastlbp_set_log_callback(round % 2 == 0 ? log_nothing : NULL, NULL);
    return argument;
}

static void start_all(struct worker *workers, void *(*function)(void *)) {
    pthread_t threads[READERS], logger;
    CHECK(pthread_create(&logger, NULL, change_log, NULL) == 0);
    for (int i = 0; i < READERS; i++)
        CHECK(pthread_create(&threads[i], NULL, function, &workers[i]) == 0);
    for (int i = 0; i < READERS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(workers[i].wrong == 0);
    }
    CHECK(pthread_join(logger, NULL) == 0);
}

/* Sessions on two threads of their own give the bits of one thread, two at a time. */
struct pair {
    fastlbp_bp *bp;
    fastlbp_status status;
    double got[3000];
};

static void *run_pair(void *argument) {
    struct pair *pair = argument;
    if (fastlbp_bp_run_iterations(pair->bp, 5) == FASTLBP_STATUS_OK)
        pair->status = fastlbp_bp_probabilities(pair->bp, pair->got, 3000, NULL);
    return NULL;
}

static void teams(void) {
    static struct pair pairs[3];
    pthread_t threads[2];
    uint64_t count = 0;
    pairs[0].bp = check_session(check_ring(3000));
    for (size_t i = 1; i < 3; i++)
        OK(fastlbp_bp_clone(pairs[0].bp, &pairs[i].bp));
    for (size_t i = 0; i < 3; i++) {
        OK(fastlbp_bp_set_schedule(pairs[i].bp, "PARALL", 0));
        OK(fastlbp_bp_set_threads(pairs[i].bp, i == 0 ? 1 : 2));
        OK(fastlbp_bp_prepare(pairs[i].bp));
        OK(fastlbp_bp_report_u64(pairs[i].bp, FASTLBP_REPORT_THREADS, &count));
        CHECK(count == (i == 0 ? 1 : 2));
        pairs[i].status = FASTLBP_STATUS_PANIC; /* until it has run */
    }
    run_pair(&pairs[0]);
    for (size_t i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, run_pair, &pairs[i + 1]) == 0);
    for (size_t i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    SAME_BITS(pairs[0].got, pairs[1].got, 3000);
    SAME_BITS(pairs[0].got, pairs[2].got, 3000);
    for (size_t i = 0; i < 3; i++) {
        CHECK(pairs[i].status == FASTLBP_STATUS_OK);
        fastlbp_bp_free(pairs[i].bp);
    }
}

int main(void) {
    fastlbp_graph *graph = check_ring(SIZE);
    fastlbp_bp *bp = NULL;
    struct worker workers[READERS];
    pthread_t threads[READERS];
    rounds = check_setting("FASTLBP_TEST_CYCLES", 100);
    OK(fastlbp_bp_new(graph, &bp));
    check_run(bp, 20, wanted, SIZE);
    for (int i = 0; i < READERS; i++) {
        workers[i].wrong = 0;
        OK(fastlbp_bp_clone(bp, &workers[i].bp));
        OK(fastlbp_bp_set_threads(workers[i].bp, 1 + (size_t)i % 2));
    }
    start_all(workers, run_own);
    for (int i = 0; i < READERS; i++) {
        fastlbp_bp_free(workers[i].bp);
        workers[i].bp = bp;
    }
    start_all(workers, read_shared);
    start_all(workers, contend);
    fastlbp_bp_free(bp);
    fastlbp_graph_free(graph);

    graph = check_ring(SIZE);
    for (int i = 0; i < READERS; i++)
        CHECK(pthread_create(&threads[i], NULL, make_sessions, graph) == 0);
    for (int i = 0; i < READERS; i++) {
        void *wrong = graph;
        CHECK(pthread_join(threads[i], &wrong) == 0);
        CHECK(wrong == NULL);
    }
    fastlbp_graph_free(graph);
    teams();
    return check_result();
}
