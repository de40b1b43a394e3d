package io.github.fastlbp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class MarginalsTest {
    private static final int VARIABLES = 1_000_000;

    private static double best(Runnable call) {
        double best = Double.POSITIVE_INFINITY;
        for (int i = 0; i < 20; i++) {
            long start = System.nanoTime();
            call.run();
            best = Math.min(best, (System.nanoTime() - start) / 1e6);
        }
        return best;
    }

    /** Into a direct buffer they get as in C: the library writes them to memory of the caller. */
    @Test
    void aMillionMarginalsReachAnArrayIn5MillisecondsMoreThanInC() {
        int[] kinds = new int[VARIABLES];
        long[] heads = new long[VARIABLES];
        double[] p = new double[VARIABLES];
        Arrays.fill(kinds, FactorGraph.PRIOR);
        for (int i = 0; i < VARIABLES; i++) {
            heads[i] = i;
            p[i] = (i + 0.5) / VARIABLES;
        }
        try (FactorGraph.Builder builder = FactorGraph.builder()
                        .addFactors(kinds, heads, new int[VARIABLES + 1], new long[0], p, p);
                FactorGraph graph = builder.build();
                BeliefPropagation bp = new BeliefPropagation(graph)) {
            bp.setSchedule(Schedule.PARALL).runIterations(1);
            double[] marginals = new double[2 * VARIABLES];
            DoubleBuffer direct =
                    ByteBuffer.allocateDirect(16 * VARIABLES).order(ByteOrder.nativeOrder()).asDoubleBuffer();
            double inC = best(() -> bp.marginals(direct));
            double array = best(() -> bp.marginals(marginals));
            double[] probabilities = new double[VARIABLES];
            double one = best(() -> bp.probabilities(probabilities));
            System.out.printf(
                    "marginals of %d variables: as in C %.2f ms, to an array %.2f ms; probabilities %.2f ms%n",
                    VARIABLES, inC, array, one);
            double[] wanted = new double[2 * VARIABLES];
            direct.get(wanted);
            assertArrayEquals(wanted, marginals);
            for (int i = 0; i < VARIABLES; i++) assertTrue(Math.abs(probabilities[i] - p[i]) < 1e-15);
            if (!Data.CHECKED) assertTrue(array - inC < 5, array + " ms, in C " + inC);
        }
    }
}
