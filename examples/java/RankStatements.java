import io.github.fastlbp.RunResult;
import io.github.fastlbp.smartfl.SmartFlEngine;

/** The same question as in FindFault, asked as SmartFL does: nodes are numbers, and factors are executions. */
public final class RankStatements {
    private static final int[] NONE = {};

    public static void main(String[] arguments) {
        // Nodes 0 and 1 are the statements, 2 is the value in run 1, 3 and 4 are those in run 2.
        try (SmartFlEngine engine = SmartFlEngine.builder(5)
                .addFactor(2, 0, NONE, NONE, 0.01)
                .addFactor(3, 0, NONE, NONE, 0.01)
                .addFactor(4, 1, NONE, new int[] {3}, 0.01)
                .build()) {
            RunResult result = engine.observe(2, true).observe(4, false).run();
            double[] right = new double[2];
            engine.probabilities(new int[] {0, 1}, right);
            System.out.printf("%s: %.4f %.4f%n", result.stopReason(), right[0], right[1]);
        }
    }
}
