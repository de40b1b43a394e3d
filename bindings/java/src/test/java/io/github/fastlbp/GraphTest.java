package io.github.fastlbp;

import static io.github.fastlbp.Data.assertContains;
import static io.github.fastlbp.Data.fails;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GraphTest {
    private static final int[] KINDS = {FactorGraph.PRIOR, FactorGraph.AND, FactorGraph.OR};
    private static final long[] HEADS = {1, 3, 4};
    private static final int[] OFFSETS = {0, 0, 2, 4};
    private static final long[] BODIES = {1, 2, 2, 3};
    private static final double[] P = {0.3, 0.9, 0.8};
    private static final double[] Q = {0, 0.1, 0.05};

    private static byte[] bytes(FactorGraph graph, Path directory) throws Exception {
        Path file = directory.resolve("written.causal_fg");
        graph.write(file);
        return Files.readAllBytes(file);
    }

    private static FactorGraph single() {
        try (FactorGraph.Builder builder = FactorGraph.builder()) {
            return builder.addPrior(1, 0.3)
                    .addAnd(3, new long[] {1, 2}, 0.9, 0.1)
                    .addOr(4, new long[] {2, 3}, 0.8, 0.05)
                    .build();
        }
    }

    @Test
    void contentsAreThoseThatWereAdded() {
        try (FactorGraph graph = single()) {
            assertEquals(4, graph.variableCount());
            assertEquals(3, graph.factorCount());
            assertEquals(7, graph.edgeCount());
            assertEquals(8, graph.stateCount());
            assertArrayEquals(new long[] {1, 2, 3, 4}, graph.labels());
            assertEquals(3, graph.variableOfLabel(4));
            assertArrayEquals(new int[] {3, 0}, graph.variablesOfLabels(new long[] {4, 1}));
            assertArrayEquals(new int[] {2, 2, 2, 2}, graph.cardinalities());
            assertArrayEquals(KINDS, graph.factorKinds());
            assertArrayEquals(new int[] {0, 1, 2}, graph.factorVariables(1));
            assertArrayEquals(new int[] {0, 0, 1, 2, 1, 2, 3}, graph.edgeVariables());
            assertArrayEquals(new long[] {0, 1, 4, 7}, graph.factorOffsets());
        }
    }

    @Test
    void bulkCallsMakeTheSameGraph(@TempDir Path directory) throws Exception {
        byte[] wanted;
        try (FactorGraph graph = single()) {
            wanted = bytes(graph, directory);
        }
        try (FactorGraph.Builder builder = FactorGraph.builder()) {
            try (FactorGraph graph = builder.addFactors(KINDS, HEADS, OFFSETS, BODIES, P, Q).build()) {
                assertArrayEquals(wanted, bytes(graph, directory));
            }
        }
        // The buffers hold more before and behind what counts.
        IntBuffer kinds = ByteBuffer.allocateDirect(64).order(ByteOrder.nativeOrder()).asIntBuffer();
        kinds.put(99).put(KINDS).put(99).position(1).limit(4);
        LongBuffer heads = longs(HEADS);
        LongBuffer offsets = longs(new long[] {0, 0, 2, 4});
        LongBuffer bodies = longs(BODIES);
        DoubleBuffer p = doubles(P);
        DoubleBuffer q = doubles(Q);
        try (FactorGraph.Builder builder = FactorGraph.builder()) {
            try (FactorGraph graph = builder.addFactors(kinds, heads, offsets, bodies, p, q).build()) {
                assertArrayEquals(wanted, bytes(graph, directory));
            }
        }
        assertEquals(1, kinds.position());
        try (FactorGraph.Builder builder = FactorGraph.builder()) {
            fails(Status.INVALID_ARGUMENT, () -> builder.addFactors(
                    IntBuffer.wrap(KINDS), heads, offsets, bodies, p, q));
            fails(Status.INVALID_ARGUMENT,
                    () -> builder.addFactors(kinds, heads, bodies.slice(), bodies, p, doubles(P, 1)));
            LongBuffer foreign = ByteBuffer.allocateDirect(24).order(ByteOrder.BIG_ENDIAN).asLongBuffer();
            if (ByteOrder.nativeOrder() != ByteOrder.BIG_ENDIAN) {
                FastLbpException exception = fails(
                        Status.INVALID_ARGUMENT, () -> builder.addFactors(kinds, foreign, offsets, bodies, p, q));
                assertContains("byte order", exception.getMessage());
            }
            try (FactorGraph empty = builder.build()) {
                assertEquals(0, empty.factorCount(), "failed calls added nothing");
            }
        }
    }

    private static LongBuffer longs(long[] values) {
        LongBuffer buffer =
                ByteBuffer.allocateDirect(8 * values.length).order(ByteOrder.nativeOrder()).asLongBuffer();
        buffer.put(values).position(0);
        return buffer;
    }

    private static DoubleBuffer doubles(double[] values, int... less) {
        DoubleBuffer buffer =
                ByteBuffer.allocateDirect(8 * values.length).order(ByteOrder.nativeOrder()).asDoubleBuffer();
        buffer.put(values).position(less.length);
        return buffer;
    }

    @Test
    void tablesAndLargerVariables() {
        try (FactorGraph.Builder builder = FactorGraph.builder()) {
            builder.addVariable(5, 3);
            builder.addTable(new long[] {5}, new double[] {1, 2, 5});
            builder.addTables(
                    new int[] {0, 2, 3}, new long[] {5, 6, 6}, new int[] {0, 6, 8},
                    new double[] {1, 1, 1, 1, 1, 1, 3, 1});
            try (FactorGraph graph = builder.build();
                    BeliefPropagation bp = new BeliefPropagation(graph)) {
                assertEquals(5, graph.stateCount());
                bp.setSchedule(Schedule.TREE).runIterations(1);
                assertArrayEquals(new double[] {0.125, 0.25, 0.625}, bp.marginal(0), 1e-15);
                assertArrayEquals(new double[] {0.75, 0.25}, bp.marginal(1), 1e-15);
                fails(Status.UNSUPPORTED, () -> bp.probabilities(new double[2]));
            }
        }
    }

    /** Each kind against the table with its values, in order of the variables 0, 1, 2 with 0 fastest. */
    @Test
    void otherKindsHaveTheirValues() {
        long[] body = {0, 1};
        double[] links = {0.5, 0.25};
        assertBeliefs(
                builder -> builder.addSigned(2, body, new boolean[] {false, true}, new double[] {0.9, 0.1, 0.2, 0.8}),
                new double[] {0.8, 0.1, 0.8, 0.8, 0.2, 0.9, 0.2, 0.2});
        assertBeliefs(
                builder -> builder.addClause(new long[] {0, 1, 2}, new boolean[] {true, false, false}, 4, 1),
                new double[] {4, 1, 4, 4, 4, 4, 4, 4});
        double[] noise = new double[8];
        double[] alike = new double[8];
        for (int state = 0; state < 4; state++) {
            int x = state & 1;
            int y = state >> 1;
            double off = 0.9 * (x == 1 ? 0.5 : 1) * (y == 1 ? 0.75 : 1);
            noise[state] = off;
            noise[state + 4] = 1 - off;
            double on = 0.8 * (x == 0 ? 0.5 : 1) * (y == 0 ? 0.25 : 1);
            alike[state] = 1 - on;
            alike[state + 4] = on;
        }
        assertBeliefs(builder -> builder.addNoisyOr(2, body, links, 0.1), noise);
        assertBeliefs(builder -> builder.addNoisyAnd(2, body, links, 0.8), alike);
        assertBeliefs(
                builder -> builder.addTerms(
                        new long[] {0, 1, 2},
                        new double[] {1, 3},
                        new int[] {FactorGraph.WILDCARD, FactorGraph.WILDCARD, FactorGraph.WILDCARD, 1, 0, 1}),
                new double[] {1, 1, 1, 1, 1, 4, 1, 1});
    }

    private interface Adding {
        void to(FactorGraph.Builder builder);
    }

    private static void assertBeliefs(Adding adding, double[] values) {
        try (FactorGraph.Builder builder = FactorGraph.builder()) {
            adding.to(builder);
            try (FactorGraph graph = builder.build();
                    BeliefPropagation bp = new BeliefPropagation(graph)) {
                bp.runIterations(2);
                double sum = Arrays.stream(values).sum();
                double[] wanted = Arrays.stream(values).map(value -> value / sum).toArray();
                assertArrayEquals(wanted, bp.factorBelief(0), 1e-14);
            }
        }
    }

    @Test
    void labelsAreUnsigned() {
        try (FactorGraph.Builder builder = FactorGraph.builder()) {
            try (FactorGraph graph = builder.addPrior(-1, 0.25).addPrior(7, 0.5).build()) {
                assertArrayEquals(new long[] {7, -1}, graph.labels());
                assertEquals(1, graph.variableOfLabel(-1));
            }
        }
    }

    @Test
    void filesAreReadAndWritten(@TempDir Path directory) throws Exception {
        Path data = Data.root().resolve("tests/data");
        for (String name : new String[] {"alarm_small.causal_fg", "mixed.fg", "mixed.uai"}) {
            // Not only ASCII in the name.
            Path copy = directory.resolve("gr\u00e4ph-\ud83c\udf33" + name.substring(name.lastIndexOf('.')));
            try (FactorGraph graph = FactorGraph.read(data.resolve(name))) {
                graph.write(copy);
                try (FactorGraph again = FactorGraph.read(copy)) {
                    assertArrayEquals(graph.edgeVariables(), again.edgeVariables(), name);
                }
            }
        }
        try (FactorGraph graph = FactorGraph.read(data.resolve("harvest.bif"))) {
            assertEquals(5, graph.variableCount());
        }
        Path nowhere = directory.resolve("k\u00e9in.causal_fg");
        assertContains(nowhere.toString(), fails(Status.IO, () -> FactorGraph.read(nowhere)).getMessage());
        Path wrong = directory.resolve("wrong.causal_fg");
        Files.write(wrong, "1\n\n3\nX 0.5\n".getBytes("US-ASCII"));
        assertContains("wrong.causal_fg:4", fails(Status.PARSE, () -> FactorGraph.read(wrong)).getMessage());
        fails(Status.INVALID_ARGUMENT, () -> FactorGraph.read(directory.resolve("graph.txt")));
        fails(Status.INVALID_ARGUMENT, () -> FactorGraph.read(Data.root().resolve("tests/data")));
    }

    @Test
    void wrongArgumentsAreExceptions() {
        try (FactorGraph.Builder builder = FactorGraph.builder()) {
            assertThrows(NullPointerException.class, () -> FactorGraph.read(null));
            assertThrows(NullPointerException.class, () -> builder.addAnd(1, null, 1, 0));
            assertThrows(NullPointerException.class, () -> builder.addOr(1, null, 1, 0));
            assertThrows(NullPointerException.class, () -> builder.addVariables(null, new int[0]));
            assertThrows(NullPointerException.class, () -> builder.addVariables(new long[0], null));
            assertThrows(NullPointerException.class, () -> builder.addTable(null, new double[0]));
            assertThrows(NullPointerException.class, () -> builder.addTable(new long[0], null));
            assertThrows(NullPointerException.class, () -> builder.addTerms(null, new double[1], new int[1]));
            assertThrows(
                    NullPointerException.class, () -> builder.addFactors(KINDS, HEADS, OFFSETS, null, P, Q));
            assertThrows(
                    NullPointerException.class, () -> builder.addFactors((int[]) null, HEADS, OFFSETS, BODIES, P, Q));
            assertThrows(NullPointerException.class, () -> builder.addSigned(1, new long[1], null, new double[4]));
            fails(Status.INVALID_ARGUMENT, () -> builder.addVariables(new long[2], new int[] {2}));
            fails(Status.INVALID_ARGUMENT, () -> builder.addVariable(1, 0));
            fails(Status.INVALID_ARGUMENT, () -> builder.addVariable(1, -1));
            fails(Status.INVALID_ARGUMENT, () -> builder.addPrior(1, Double.NaN));
            fails(Status.INVALID_ARGUMENT, () -> builder.addAnd(1, new long[] {2}, 1.5, 0));
            fails(Status.INVALID_ARGUMENT, () -> builder.addSigned(1, new long[2], new boolean[1], new double[4]));
            fails(Status.INVALID_ARGUMENT, () -> builder.addSigned(1, new long[1], new boolean[1], new double[3]));
            fails(Status.INVALID_ARGUMENT, () -> builder.addClause(new long[2], new boolean[3], 1, 0));
            fails(Status.INVALID_ARGUMENT, () -> builder.addNoisyOr(1, new long[] {2}, new double[2], 0));
            fails(Status.INVALID_ARGUMENT, () -> builder.addNoisyAnd(1, new long[] {2}, new double[0], 0));
            fails(Status.INVALID_ARGUMENT, () -> builder.addTerms(new long[] {1}, new double[2], new int[1]));
            fails(Status.INVALID_ARGUMENT, () -> builder.addTables(new int[0], new long[0], new int[0], new double[0]));
            fails(Status.INVALID_ARGUMENT, () -> builder.addFactors(KINDS, new long[2], OFFSETS, BODIES, P, Q));
            fails(Status.INVALID_ARGUMENT, () -> builder.addFactors(KINDS, HEADS, new int[3], BODIES, P, Q));
            fails(Status.INVALID_ARGUMENT, () -> builder.addFactors(KINDS, HEADS, OFFSETS, BODIES, new double[4], Q));
            fails(Status.INVALID_ARGUMENT, () -> builder.addFactors(KINDS, HEADS, OFFSETS, BODIES, P, new double[0]));
            int[][] wrong = {{0, 0, 2, 5}, {0, 3, 2, 4}, {0, -1, 2, 4}, {0, 0, 2, Integer.MIN_VALUE}};
            for (int[] offsets : wrong) {
                fails(Status.INVALID_ARGUMENT, () -> builder.addFactors(KINDS, HEADS, offsets, BODIES, P, Q));
            }
            int[] unknown = {FactorGraph.TABLE, 17, -1};
            fails(Status.INVALID_ARGUMENT, () -> builder.addFactors(unknown, HEADS, OFFSETS, BODIES, P, Q));
            builder.addPrior(1, 0.5);
            try (FactorGraph graph = builder.build()) {
                assertEquals(1, graph.factorCount(), "failed calls added nothing");
                for (int index : new int[] {-1, 1, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
                    fails(Status.OUT_OF_RANGE, () -> graph.factorVariables(index));
                }
                fails(Status.OUT_OF_RANGE, () -> graph.variableOfLabel(2));
                fails(Status.OUT_OF_RANGE, () -> graph.variablesOfLabels(new long[] {1, 2}));
                assertThrows(NullPointerException.class, () -> graph.variablesOfLabels(null));
                assertThrows(NullPointerException.class, () -> graph.write(null));
            }
            assertThrows(IllegalStateException.class, builder::build, "it was built before");
        }
    }

    @Test
    void aGraphWithErrorsIsNotBuilt() {
        try (FactorGraph.Builder builder = FactorGraph.builder()) {
            builder.addTable(new long[] {1}, new double[] {1, 2, 3});
            fails(Status.INVALID_ARGUMENT, builder::build);
            fails(Status.INVALID_ARGUMENT, builder::build);
        }
    }
}
