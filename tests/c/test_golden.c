/* Reference values computed in 128-bit arithmetic:
 * NAME.SCHEDULE.ITERATIONS.ref in the directory given as argument, with NAME.causal_fg and NAME.obs. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <dirent.h>

static int file_exists(const char *path) {
    FILE *file = fopen(path, "r");
    if (file != NULL)
        fclose(file);
    return file != NULL;
}

static void compare(fastlbp_bp *bp, const char *path) {
    fastlbp_graph *graph = NULL;
    FILE *file = fopen(path, "r");
    char line[256];
    size_t compared = 0, count = 0;
    CHECK(file != NULL);
    if (file == NULL)
        return;
    OK(fastlbp_bp_graph(bp, &graph));
    while (fgets(line, sizeof line, file) != NULL) {
        char *end;
        uint64_t label;
        uint32_t variable = 0;
        double wanted, got = NAN;
        if (line[0] == '#')
            continue;
        label = strtoull(line, &end, 10);
        wanted = strtod(end, NULL);
        OK(check_variable_of_label(graph, label, &variable));
        OK(check_probability(bp, variable, &got));
        if (!(fabs(got - wanted) <= 1e-12)) {
            printf("%s: label %llu: %.17g instead of %.17g\n", path, (unsigned long long)label, got,
                   wanted);
            CHECK(!"a golden value");
        }
        compared++;
    }
    OK(fastlbp_graph_count(graph, FASTLBP_COUNT_VARIABLES, &count));
    CHECK(compared == count);
    fastlbp_graph_free(graph);
    fclose(file);
}

/* NAME.SCHEDULE.ITERATIONS.ref */
static int test_reference(const char *directory, const char *file) {
    char name[128], schedule[16], path[1024];
    unsigned long long iterations = 0;
    int end = 0;
    fastlbp_graph *graph = NULL;
    fastlbp_bp *bp;
    if (sscanf(file, "%127[^.].%15[^.].%llu.ref%n", name, schedule, &iterations, &end) != 3
        || end == 0 || file[end] != '\0')
        return 0;
    snprintf(path, sizeof path, "%s/%s.causal_fg", directory, name);
    if (!file_exists(path))
        snprintf(path, sizeof path, "%s/%s.causal_fg.gz", directory, name);
    OK(fastlbp_graph_read_file(path, &graph));
    if (graph == NULL)
        return 1;
    bp = check_session(graph);
    snprintf(path, sizeof path, "%s/%s.obs", directory, name);
    if (file_exists(path))
        OK(fastlbp_bp_read_evidence(bp, path, NULL));
    OK(fastlbp_bp_set_schedule(bp, schedule, 0));
    OK(fastlbp_bp_run_iterations(bp, iterations));
    snprintf(path, sizeof path, "%s/%s", directory, file);
    compare(bp, path);
    fastlbp_bp_free(bp);
    return 1;
}

int main(int argc, char **argv) {
    DIR *directory = argc > 1 ? opendir(argv[1]) : NULL;
    long limit = check_setting("FASTLBP_TEST_CYCLES", 1000000), references = 0;
    struct dirent *entry;
    if (directory == NULL) {
        printf("no reference values%s%s\n", argc > 1 ? " in " : "", argc > 1 ? argv[1] : "");
        return EXIT_FAILURE;
    }
    while (references < limit && (entry = readdir(directory)) != NULL)
        references += test_reference(argv[1], entry->d_name);
    closedir(directory);
    printf("%ld references\n", references);
    CHECK(references > 0);
    return check_result();
}
