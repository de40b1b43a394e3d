package io.github.fastlbp;

import static io.github.fastlbp.Data.assertContains;
import static io.github.fastlbp.Data.fails;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** What wrong arguments are told: by their names, and with the values that Java has for them. */
class ArgumentsTest {
    private static void isNull(String name, Executable call) {
        assertEquals(name, assertThrows(NullPointerException.class, call).getMessage());
    }

    @Test
    void noSettingTakesNull() {
        try (FactorGraph graph = Data.faultGraph(); BeliefPropagation bp = new BeliefPropagation(graph)) {
            isNull("inference", () -> bp.setInference(null));
            isNull("contradiction", () -> bp.setContradiction(null));
            isNull("start", () -> bp.setStart(null));
            isNull("measure", () -> bp.setMeasure(null));
            isNull("backend", () -> bp.setBackend(null));
            isNull("schedule", () -> bp.setSchedule(null));
            assertEquals("SUMPROD", bp.getProperty("inference"), "what it was");
        }
    }

    private static void isNegative(Status status, String text, Executable call) {
        assertContains(text + ", but must not be negative", fails(status, call).getMessage());
    }

    @Test
    void negativeNumbersAreToldAsTheyAre() {
        int[] wrong = {1, -5};
        int[] fine = {0, 1};
        try (FactorGraph graph = Data.faultGraph(); BeliefPropagation bp = new BeliefPropagation(graph)) {
            isNegative(Status.OUT_OF_RANGE, "variables[1] is -5", () -> bp.observe(wrong, fine));
            isNegative(Status.OUT_OF_RANGE, "states[1] is -5", () -> bp.observe(fine, wrong));
            isNegative(Status.OUT_OF_RANGE, "states[1] is -5", () -> bp.observeLabels(new long[] {1, 2}, wrong));
            isNegative(Status.OUT_OF_RANGE, "variables[1] is -5", () -> bp.probabilities(wrong, new double[2]));
            isNegative(Status.OUT_OF_RANGE, "states[1] is -5", () -> bp.logScore(wrong));
            isNegative(
                    Status.OUT_OF_RANGE,
                    "variables[1] is -5",
                    () -> bp.runBatch(new int[] {0, 2}, wrong, fine, new double[10]));
            isNegative(
                    Status.OUT_OF_RANGE, "states[1] is -5",
                    () -> bp.runBatch(new int[] {0, 2}, fine, wrong, new double[10]));
            isNegative(
                    Status.INVALID_ARGUMENT,
                    "entryOffsets[1] is -5",
                    () -> bp.runBatch(new int[] {0, -5, 2}, fine, fine, new double[20]));
            isNegative(
                    Status.OUT_OF_RANGE, "after[1] is -5", () -> bp.setSchedule(Schedule.relation(fine, wrong)));
        }
    }

    private static ByteBuffer direct(int length) {
        return ByteBuffer.allocateDirect(length).order(ByteOrder.nativeOrder());
    }

    @Test
    void offsetsOfEveryTypeAreTheSame() {
        int[] kinds = {FactorGraph.AND, FactorGraph.AND};
        long[] heads = {11, 12};
        long[] bodies = {1, 2};
        double[] p = {1, 1};
        double[] q = {0.5, 0.5};
        try (FactorGraph.Builder builder = FactorGraph.builder()) {
            builder.addFactors(kinds, heads, new int[] {0, 1, 2}, bodies, p, q);
            builder.addFactors(kinds, heads, new long[] {0, 1, 2}, bodies, p, q);
            builder.addTables(new long[] {0, 1, 2}, bodies, new long[] {0, 2, 4}, new double[] {1, 2, 3, 4});
            String wrong = "bodyOffsets[1] is -5";
            Status status = Status.INVALID_ARGUMENT;
            isNegative(status, wrong, () -> builder.addFactors(kinds, heads, new int[] {0, -5, 2}, bodies, p, q));
            isNegative(status, wrong, () -> builder.addFactors(kinds, heads, new long[] {0, -5, 2}, bodies, p, q));
            IntBuffer directKinds = direct(8).asIntBuffer().put(0, kinds[0]).put(1, kinds[1]);
            LongBuffer offsets = direct(24).asLongBuffer().put(1, -5).put(2, 2);
            LongBuffer labels = direct(16).asLongBuffer().put(0, 1).put(1, 2);
            DoubleBuffer numbers = direct(16).asDoubleBuffer();
            isNegative(status, wrong, () -> builder.addFactors(directKinds, labels, offsets, labels, numbers, numbers));
            isNegative(
                    status,
                    "valueOffsets[1] is -5",
                    () -> builder.addTables(new int[] {0, 1, 2}, bodies, new int[] {0, -5, 4}, new double[4]));
            try (FactorGraph graph = builder.build()) {
                assertEquals(6, graph.factorCount());
            }
        }
    }
}
