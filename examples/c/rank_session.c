/* Ranks the alarms of a session of BINGO by their probability, and prints the first five.
 *
 *   rank_session examples/data/weblech.causal_fg.gz examples/data/weblech.alarms */
#include <fastlbp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1000, SHOWN = 5 };

struct alarm {
    uint64_t label;
    char name[200];
    double p;
};

static struct alarm alarms[MOST];

static int by_probability(const void *one, const void *other) {
    const double a = ((const struct alarm *)one)->p, b = ((const struct alarm *)other)->p;
    return (a < b) - (a > b);
}

/* A line is `LABEL NAME TRUTH`. */
static size_t read_alarms(const char *path) {
    size_t count = 0;
    FILE *file = fopen(path, "r");
    while (file != NULL && count < MOST
           && fscanf(file, "%" SCNu64 " %199s %*d", &alarms[count].label, alarms[count].name) == 2)
        ++count;
    if (file != NULL)
        fclose(file);
    return count;
}

int main(int argc, char **argv) {
    static uint64_t labels[MOST];
    static uint32_t variables[MOST];
    static double p[MOST];
    fastlbp_graph *graph = NULL;
    fastlbp_bp *bp = NULL;
    const size_t count = argc == 3 ? read_alarms(argv[2]) : 0;
    size_t i;
    if (count == 0) {
        fprintf(stderr, "rank_session GRAPH ALARMS, where ALARMS has lines LABEL NAME TRUTH, is needed\n");
        return 2;
    }
    for (i = 0; i < count; ++i)
        labels[i] = alarms[i].label;
    if (fastlbp_graph_read_file(argv[1], &graph)
        || fastlbp_graph_variables_of_labels(graph, labels, count, variables)
        || fastlbp_bp_new(graph, &bp)
        || fastlbp_bp_set_schedule(bp, "SEQFIX", 0)
        || fastlbp_bp_set_max_iterations(bp, 100)
        || fastlbp_bp_set_tolerance(bp, 0) /* all 100 of them */
        || fastlbp_bp_run(bp)
        || fastlbp_bp_probabilities_of(bp, variables, count, p)) {
        fprintf(stderr, "rank_session: %s\n", fastlbp_last_error());
        return 1;
    }
    for (i = 0; i < count; ++i)
        alarms[i].p = p[i];
    qsort(alarms, count, sizeof alarms[0], by_probability);
    for (i = 0; i < count && i < SHOWN; ++i)
        printf("%.6f %s\n", alarms[i].p, alarms[i].name);
    fastlbp_bp_free(bp);
    fastlbp_graph_free(graph);
    return 0;
}
