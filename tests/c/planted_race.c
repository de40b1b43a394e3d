/* A data race on purpose: two threads have the library write to one buffer of theirs, which the header
 * forbids. `scripts/test-deep` fails unless ThreadSanitizer sees it, inside the library. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <pthread.h>

static fastlbp_bp *bp;
static double shared[2];
static pthread_barrier_t both;

static void *read_into_shared(void *argument) {
    pthread_barrier_wait(&both);
    for (int round = 0; round < 1000; round++)
        fastlbp_bp_marginals(bp, shared, 2, NULL);
    return argument;
}

int main(void) {
    fastlbp_graph *graph = NULL;
    pthread_t threads[2];
    OK(fastlbp_graph_new(&graph));
    OK(fastlbp_graph_add_prior(graph, 1, 0.25));
    OK(fastlbp_bp_new(graph, &bp));
    OK(fastlbp_bp_run_iterations(bp, 1));
    pthread_barrier_init(&both, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, read_into_shared, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    fastlbp_bp_free(bp);
    fastlbp_graph_free(graph);
    return 0;
}
