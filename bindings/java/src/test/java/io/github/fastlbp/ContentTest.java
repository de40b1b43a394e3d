package io.github.fastlbp;

import static io.github.fastlbp.Data.assertContains;
import static io.github.fastlbp.Data.fails;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InvalidObjectException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import org.junit.jupiter.api.Test;

/** What is in graphs, evidence and results: read back, written to memory, and serialized. */
class ContentTest {
    /** A graph with factors of all kinds, and a variable with three states. */
    private static FactorGraph mixed() {
        try (FactorGraph.Builder builder = FactorGraph.builder()) {
            return builder.addVariable(30, 3)
                    .addVariable(99, 2)
                    .addPrior(5, 0.25)
                    .addAnd(7, new long[] {5, 6}, 0.9, 0.125)
                    .addAnd(7, new long[] {5, 7}, 0.75, 0.25)
                    .addOr(8, new long[] {7, 5}, 0.875, 0.0625)
                    .addTable(new long[] {30, 5}, new double[] {1, 2, 3, 4, 5, 6})
                    .addSignedFactors(
                            new long[] {6, 8},
                            new long[] {0, 2, 3},
                            new long[] {5, 7, 6},
                            new boolean[] {true, false, true},
                            new double[] {0.5, 0.25, 1, 1, 0.125, 1, 0.5, 0.25})
                    .addNoisyFactors(
                            new long[] {8},
                            new long[] {0, 2},
                            new long[] {5, 6},
                            new double[] {1, 0, 0.25, 0.75, 1, 0, 0.5, 0.5},
                            new double[] {0.125, 0.875, 1, 0})
                    .addTermFactors(
                            new long[] {0, 2},
                            new long[] {30, 8},
                            new long[] {0, 2},
                            new double[] {0.5, 1.5},
                            new int[] {2, 1, FactorGraph.WILDCARD, 0})
                    .build();
        }
    }

    private static void assertEqual(FactorGraph wanted, FactorGraph found) {
        assertArrayEquals(wanted.labels(), found.labels());
        assertArrayEquals(wanted.cardinalities(), found.cardinalities());
        assertArrayEquals(wanted.factorKinds(), found.factorKinds());
        assertArrayEquals(wanted.factorHeads(), found.factorHeads());
        assertArrayEquals(wanted.factorOffsets(), found.factorOffsets());
        assertArrayEquals(wanted.edgeVariables(), found.edgeVariables());
        for (int i = 0; i < wanted.factorCount(); i++) {
            assertArrayEquals(wanted.factorParameters(i), found.factorParameters(i), "factor " + i);
            assertArrayEquals(wanted.factorIndicators(i), found.factorIndicators(i), "factor " + i);
            assertArrayEquals(wanted.factorValues(i), found.factorValues(i), "factor " + i);
        }
        double[] marginals = new double[wanted.stateCount()];
        double[] others = new double[wanted.stateCount()];
        try (BeliefPropagation one = new BeliefPropagation(wanted);
                BeliefPropagation other = new BeliefPropagation(found)) {
            one.runIterations(5);
            other.runIterations(5);
            one.marginals(marginals);
            other.marginals(others);
        }
        assertArrayEquals(marginals, others);
    }

    @Test
    void factorsAreReadBack() {
        try (FactorGraph graph = mixed()) {
            assertArrayEquals(new int[] {1, 2, 2, 3, 0, 4, 4, 5, 6}, graph.factorKinds());
            assertArrayEquals(new int[] {0, 2, 2, 3, -1, 1, 3, 3, -1}, graph.factorHeads());
            assertArrayEquals(new double[] {0.25}, graph.factorParameters(0));
            assertArrayEquals(new double[] {0.9, 0.125}, graph.factorParameters(1));
            assertArrayEquals(new int[] {1, 1, FactorGraph.WILDCARD}, graph.factorIndicators(1));
            assertArrayEquals(new int[] {1, 1}, graph.factorIndicators(2), "its head is in its body");
            // Variable 5 comes before 30.
            assertArrayEquals(new double[] {1, 4, 2, 5, 3, 6}, graph.factorParameters(4));
            assertArrayEquals(new double[] {0.5, 1.5}, graph.factorParameters(8));
            assertEquals(6, graph.factorValues(8).length);
            fails(Status.OUT_OF_RANGE, () -> graph.factorParameters(9));
            fails(Status.OUT_OF_RANGE, () -> graph.factorIndicators(-1));
        }
        try (FactorGraph.Builder builder = FactorGraph.builder()) {
            fails(Status.INVALID_ARGUMENT, () -> builder.addNoisyFactors(
                    new long[1], new long[] {0, 2}, new long[1], new double[4], new double[4]));
            fails(Status.INVALID_ARGUMENT, () -> builder.addSignedFactors(
                    new long[1], new long[] {0}, new long[0], new boolean[0], new double[4]));
            fails(Status.INVALID_ARGUMENT, () -> builder.addTermFactors(
                    new long[] {0, 1}, new long[1], new long[] {0}, new double[1], new int[1]));
        }
    }

    @Test
    void graphsAreReadFromMemory() {
        try (FactorGraph graph = Data.faultGraph()) {
            for (String name : new String[] {"g.causal_fg", "g.causal_fg.gz", "g.fg"}) {
                byte[] bytes = graph.writeBytes(name);
                try (FactorGraph read = FactorGraph.read(bytes, name)) {
                    assertArrayEquals(graph.labels(), read.labels());
                    assertArrayEquals(bytes, read.writeBytes(name));
                }
            }
            fails(Status.INVALID_ARGUMENT, () -> graph.writeBytes("g.txt"));
        }
        assertContains(
                "m.causal_fg:2",
                fails(Status.PARSE, () -> FactorGraph.read(new byte[] {'1', '\n', 'x', '\n'},
                        "m.causal_fg")).getMessage());
        assertThrows(NullPointerException.class, () -> FactorGraph.read(null, "m.fg"));
    }

    @Test
    void sessionsTellWhatTheyDo() {
        try (FactorGraph graph = mixed(); BeliefPropagation bp = new BeliefPropagation(graph).setThreads(2)) {
            assertTrue(bp.threads() >= 1 && bp.threads() <= 2);
            bp.setSchedule(Schedule.PARALL);
            assertArrayEquals(new int[] {graph.edgeCount()}, bp.levelWidths());
            assertArrayEquals(new int[graph.edgeCount()], bp.scheduleRanks(0));
            bp.setSchedule(Schedule.SEQFIX).run();
            assertEquals(graph.edgeCount() - 1, bp.scheduleRanks(0)[graph.edgeCount() - 1]);
            assertEquals(bp.levelCount(), bp.levelWidths().length);
            // Variables 0 and 4 are those with labels 5 and 30.
            double[] pair = bp.jointBelief(4, 0);
            assertEquals(6, pair.length);
            assertEquals(bp.marginal(0)[1], pair[3] + pair[4] + pair[5], 1e-12);
            assertArrayEquals(bp.marginal(4), bp.jointBelief(4));
            fails(Status.INVALID_ARGUMENT, () -> bp.jointBelief(4, 5));
            fails(Status.OUT_OF_RANGE, () -> bp.jointBelief(-1));
            bp.setSchedule(Schedule.SEQMAX);
            fails(Status.UNSUPPORTED, () -> bp.scheduleRanks(0));
        }
    }

    @Test
    void batchesTakeLabels() {
        try (FactorGraph graph = mixed(); BeliefPropagation bp = new BeliefPropagation(graph)) {
            double[] wanted = new double[2 * graph.stateCount()];
            double[] found = new double[2 * graph.stateCount()];
            int[] offsets = {0, 1, 2};
            int[] states = {1, 2};
            bp.runBatch(offsets, graph.variablesOfLabels(new long[] {8, 30}), states, wanted);
            assertArrayEquals(new Status[] {Status.OK, Status.OK},
                    bp.runBatchLabels(offsets, new long[] {8, 30}, states, found));
            assertArrayEquals(wanted, found);
            fails(Status.OUT_OF_RANGE, () -> bp.runBatchLabels(offsets, new long[] {8, 31}, states, found));
        }
    }

    private static byte[] serialized(Object value) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(value);
        }
        return bytes.toByteArray();
    }

    private static Object read(byte[] bytes) throws Exception {
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
            return in.readObject();
        }
    }

    @Test
    void graphsAreSerialized() throws Exception {
        try (FactorGraph graph = mixed(); FactorGraph grid = Data.grid(7)) {
            for (FactorGraph wanted : new FactorGraph[] {graph, grid}) {
                byte[] bytes = serialized(wanted);
                try (FactorGraph found = (FactorGraph) read(bytes)) {
                    assertEqual(wanted, found);
                    assertArrayEquals(bytes, serialized(found));
                }
            }
            // Whatever is damaged: an exception, or a graph.
            byte[] bytes = serialized(graph);
            for (int i = 0; i < bytes.length; i++) {
                byte[] damaged = bytes.clone();
                damaged[i] ^= 0x40;
                try {
                    Object found = read(damaged);
                    if (found instanceof FactorGraph) ((FactorGraph) found).close();
                } catch (IOException | ClassNotFoundException | ClassCastException exception) {
                    assertNotEquals(null, exception);
                }
            }
        }
    }

    @Test
    void resultsAndEvidenceAreSerialized() throws Exception {
        Evidence evidence = new Evidence().observe(3, 1).setLikelihood(4, new double[] {1, 0.5, 0.25})
                .observe(0, 0).clear(0);
        Evidence found = (Evidence) read(serialized(evidence));
        assertEquals(evidence, found);
        assertEquals(evidence.hashCode(), found.hashCode());
        assertNotEquals(evidence, found.clear(4));
        assertEquals(1, found.size());
        try (FactorGraph graph = mixed(); BeliefPropagation bp = new BeliefPropagation(graph)) {
            double[] wanted = new double[graph.stateCount()];
            double[] marginals = new double[graph.stateCount()];
            bp.observe(3, 1).setLikelihood(4, new double[] {1, 0.5, 0.25}).run();
            bp.marginals(wanted);
            bp.clearEvidence().observe(1, 0).setEvidence(evidence);
            assertEquals(2, bp.evidenceCount());
            RunResult result = bp.run();
            bp.marginals(marginals);
            assertArrayEquals(wanted, marginals);
            assertEquals(result.toString(), read(serialized(result)).toString());
            fails(Status.OUT_OF_RANGE, () -> bp.setEvidence(new Evidence().observe(6, 0)));
            fails(Status.OUT_OF_RANGE, () -> bp.setEvidence(new Evidence().observe(0, 2)));
            fails(Status.INVALID_ARGUMENT, () -> bp.setEvidence(new Evidence().setLikelihood(0, new double[3])));
            fails(Status.INVALID_ARGUMENT, () -> bp.setEvidence(new Evidence().setLikelihood(0, new double[2])));
            assertEquals(2, bp.evidenceCount(), "refused evidence changes nothing");
        }
    }

    @Test
    void otherVersionsAreRefused() throws Exception {
        byte[] bytes = serialized(new Evidence());
        // The block of data: its length, the kind, the version.
        int version = bytes.length - 1;
        while (bytes[version] != 1 || bytes[version - 1] != 2) version--;
        bytes[version] = 9;
        InvalidObjectException refused = assertThrows(InvalidObjectException.class, () -> read(bytes));
        assertContains("serialized form 9", refused.getMessage());
    }
}
