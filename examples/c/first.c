/* A rule 0.9: x1 & x2 -> x3, with the priors 0.3 and 0.8. x3 is true: what about x1 and x2? */
#include <fastlbp.h>
#include <stdio.h>

int main(void) {
    const uint64_t body[] = {1, 2};
    const uint32_t x3 = 2, yes = 1; /* variables are numbered by ascending label, from 0 on */
    double p[3]; /* by ascending label */
    fastlbp_graph *graph = NULL;
    fastlbp_bp *bp = NULL;
    if (fastlbp_graph_new(&graph)
        || fastlbp_graph_add_prior(graph, 1, 0.3)
        || fastlbp_graph_add_prior(graph, 2, 0.8)
        || fastlbp_graph_add_and(graph, 3, body, 2, 0.9, 0.05) /* 0.05 where the rule does not apply */
        || fastlbp_bp_new(graph, &bp)
        || fastlbp_bp_set_schedule(bp, "TREE", 0)
        || fastlbp_bp_observe(bp, &x3, &yes, 1)
        || fastlbp_bp_run(bp)
        || fastlbp_bp_probabilities(bp, p, 3, NULL)) {
        fprintf(stderr, "%s\n", fastlbp_last_error());
        return 1;
    }
    printf("P(x1) = %.4f, P(x2) = %.4f\n", p[0], p[1]);
    fastlbp_bp_free(bp);
    fastlbp_graph_free(graph);
    return 0;
}
