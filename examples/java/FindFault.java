import io.github.fastlbp.BeliefPropagation;
import io.github.fastlbp.FactorGraph;
import io.github.fastlbp.RunResult;
import io.github.fastlbp.Schedule;

/**
 * Which of two statements is wrong? Run 1 executes statement 1 and gives a right value; run 2 executes
 * statement 1, whose value statement 2 uses, and gives a wrong one. Labels: 1 and 2 are the statements, 11 is
 * the value in run 1, 21 and 22 are those in run 2. True means right.
 */
public final class FindFault {
    public static void main(String[] arguments) {
        try (FactorGraph.Builder builder = FactorGraph.builder()) {
            // A value is right if its statement and the values that it uses are right, else with probability 0.01.
            builder.addAnd(11, new long[] {1}, 1.0, 0.01);
            builder.addAnd(21, new long[] {1}, 1.0, 0.01);
            builder.addAnd(22, new long[] {2, 21}, 1.0, 0.01);
            try (FactorGraph graph = builder.build();
                    BeliefPropagation bp = new BeliefPropagation(graph)) {
                bp.setSchedule(Schedule.PARALL).setTolerance(1e-8).setMaxIterations(500);
                bp.observeLabels(new long[] {11, 22}, new int[] {1, 0});
                RunResult result = bp.run();
                double[] right = new double[graph.variableCount()]; // by ascending label
                bp.probabilities(right);
                System.out.printf("%s after %d iterations%n", result.stopReason(), result.iterations());
                System.out.printf("statement 1 is right with probability %.4f%n", right[0]);
                System.out.printf("statement 2 is right with probability %.4f%n", right[1]);
            }
        }
    }
}
