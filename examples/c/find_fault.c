/* Which of two statements is wrong? Run 1 executes statement 1 and gives a right value; run 2 executes
 * statement 1, whose value statement 2 uses, and gives a wrong one. Labels: 1 and 2 are the statements,
 * 11 is the value in run 1, 21 and 22 are those in run 2. True means right. */
#include <fastlbp.h>
#include <stdio.h>

/* Value `heads[i]` is right if its statement and the values that it uses are right, and with
 * probability 0.01 otherwise. */
static const uint32_t kinds[] = {FASTLBP_FACTOR_AND, FASTLBP_FACTOR_AND, FASTLBP_FACTOR_AND};
static const uint64_t heads[] = {11, 21, 22};
static const size_t body_offsets[] = {0, 1, 2, 4};
static const uint64_t bodies[] = {1, 1, 2, 21};
static const double p[] = {1.0, 1.0, 1.0};
static const double q[] = {0.01, 0.01, 0.01};

static const uint64_t observed[] = {11, 22};
static const uint32_t states[] = {1, 0};

int main(void) {
    fastlbp_graph *graph = NULL;
    fastlbp_bp *bp = NULL;
    double right[5]; /* by ascending label: 1, 2, 11, 21, 22 */
    uint32_t variables[2];
    uint64_t iterations, converged;

    if (fastlbp_graph_new(&graph) != FASTLBP_STATUS_OK
        || fastlbp_graph_add_factors(graph, 3, kinds, heads, body_offsets, bodies, 4, p, q)
               != FASTLBP_STATUS_OK
        || fastlbp_bp_new(graph, &bp) != FASTLBP_STATUS_OK
        || fastlbp_bp_set_schedule(bp, "PARALL", 0) != FASTLBP_STATUS_OK
        || fastlbp_bp_set_tolerance(bp, 1e-8) != FASTLBP_STATUS_OK
        || fastlbp_bp_set_max_iterations(bp, 500) != FASTLBP_STATUS_OK
        || fastlbp_graph_variables_of_labels(graph, observed, 2, variables) != FASTLBP_STATUS_OK
        || fastlbp_bp_observe(bp, variables, states, 2) != FASTLBP_STATUS_OK
        || fastlbp_bp_run(bp) != FASTLBP_STATUS_OK
        || fastlbp_bp_probabilities(bp, right, 5, NULL) != FASTLBP_STATUS_OK
        || fastlbp_bp_report_u64(bp, FASTLBP_REPORT_ITERATIONS, &iterations) != FASTLBP_STATUS_OK
        || fastlbp_bp_report_u64(bp, FASTLBP_REPORT_CONVERGED, &converged) != FASTLBP_STATUS_OK) {
        fprintf(stderr, "find_fault: %s\n", fastlbp_last_error());
        fastlbp_bp_free(bp);
        fastlbp_graph_free(graph);
        return 1;
    }
    printf("%s after %u iterations\n", converged ? "converged" : "not converged", (unsigned)iterations);
    printf("statement 1 is right with probability %.4f\n", right[0]);
    printf("statement 2 is right with probability %.4f\n", right[1]);
    fastlbp_bp_free(bp);
    fastlbp_graph_free(graph);
    return 0;
}
