package io.github.fastlbp;

import static io.github.fastlbp.Data.assertContains;
import static io.github.fastlbp.Data.fails;
import static io.github.fastlbp.Data.faultGraph;
import static io.github.fastlbp.Data.grid;
import static io.github.fastlbp.Data.probabilities;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SessionTest {
    private static BeliefPropagation faultSession() {
        try (FactorGraph graph = faultGraph()) {
            return new BeliefPropagation(graph)
                    .setSchedule(Schedule.PARALL)
                    .setTolerance(1e-8)
                    .setMaxIterations(500)
                    .observeLabels(new long[] {11, 22}, new int[] {1, 0});
        }
    }

    private static BeliefPropagation gridSession(int side) {
        try (FactorGraph graph = grid(side)) {
            return new BeliefPropagation(graph);
        }
    }

    @Test
    void aRunGivesMarginals() {
        try (BeliefPropagation bp = faultSession()) {
            fails(Status.NO_RESULT, () -> bp.probability(0));
            RunResult result = bp.run();
            assertEquals(StopReason.CONVERGED, result.stopReason());
            assertTrue(result.converged());
            assertEquals(4, result.iterations());
            assertEquals(4, result.totalIterations());
            assertTrue(result.maxDiff() <= 1e-8);
            assertEquals(1, result.activeFraction());
            assertEquals(0, result.contradictions());
            assertContains("CONVERGED after 4 iterations", result.toString());
            double[] p = probabilities(bp, 5);
            assertEquals(0.9805, p[0], 5e-5);
            assertEquals(0.0097, p[1], 5e-5);
            double[] marginals = new double[12];
            marginals[10] = 7;
            bp.marginals(marginals);
            assertEquals(p[1], marginals[3]);
            assertEquals(7, marginals[10], "beyond the marginals nothing is written");
            assertEquals(p[0], bp.probability(0));
            assertArrayEquals(new double[] {marginals[0], p[0]}, bp.marginal(0));
            double[] some = new double[2];
            bp.probabilities(new int[] {1, 0}, some);
            assertArrayEquals(new double[] {p[1], p[0]}, some);

            DoubleBuffer buffer = ByteBuffer.allocateDirect(8 * 7).order(ByteOrder.nativeOrder()).asDoubleBuffer();
            buffer.position(2);
            bp.probabilities(buffer);
            assertEquals(2, buffer.position());
            assertEquals(p[0], buffer.get(2));
            DoubleBuffer all = ByteBuffer.allocateDirect(80).order(ByteOrder.nativeOrder()).asDoubleBuffer();
            bp.marginals(all);
            assertEquals(marginals[9], all.get(9));

            fails(Status.BUFFER_TOO_SMALL, () -> bp.marginals(new double[9]));
            fails(Status.BUFFER_TOO_SMALL, () -> bp.probabilities(new double[0]));
            all.position(1);
            fails(Status.BUFFER_TOO_SMALL, () -> bp.marginals(all));
            fails(Status.INVALID_ARGUMENT, () -> bp.marginals(DoubleBuffer.allocate(10)));
            fails(Status.INVALID_ARGUMENT, () -> bp.marginals(all.asReadOnlyBuffer()));
            fails(Status.INVALID_ARGUMENT, () -> bp.probabilities(
                    ByteBuffer.allocateDirect(80).order(ByteOrder.BIG_ENDIAN).asDoubleBuffer()));
            fails(Status.INVALID_ARGUMENT, () -> bp.probabilities(new int[2], new double[3]));
            fails(Status.OUT_OF_RANGE, () -> bp.probabilities(new int[] {0, -1}, new double[2]));
        }
    }

    @Test
    void settingsAreProperties() {
        try (BeliefPropagation bp = gridSession(3)) {
            bp.setTolerance(1e-300).setMaxIterations(12345678901L).setMaxTime(2.5).setDamping(0.25).setThreads(2)
                    .setContradiction(Contradiction.VOTE).setStart(Start.WARM).setMeasure(Measure.ALL)
                    .setInference(Inference.MAX_PRODUCT).setBackend(Backend.CPU).setDevice(3).setActiveThreshold(0.5);
            String[][] wanted = {
                {"maxiter", "12345678901"}, {"maxtime", "2.5"}, {"damping", "0.25"}, {"threads", "2"},
                {"contradiction", "vote"}, {"start", "warm"}, {"measure", "all"}, {"inference", "MAXPROD"},
                {"backend", "cpu"}, {"device", "3"}, {"active", "0.5"}};
            for (String[] property : wanted) assertEquals(property[1], bp.getProperty(property[0]), property[0]);
            assertEquals(1e-300, Double.parseDouble(bp.getProperty("tol")));
            bp.setMaxTime(Double.POSITIVE_INFINITY).setDevice(-1).setActiveThreshold(-1);
            assertEquals("inf", bp.getProperty("maxtime"));
            assertEquals("default", bp.getProperty("device"));
            assertEquals("0,2", bp.setDevices(2, 0).getProperty("device"));
            assertEquals("1", bp.setDevices(1).getProperty("device"));
            Data.fails(Status.INVALID_ARGUMENT, () -> bp.setDevices(1, 1));
            Data.fails(Status.OUT_OF_RANGE, () -> bp.setDevices(0, -1));
            Data.fails(Status.OUT_OF_RANGE, () -> bp.setDevices(0, 64));
            Data.fails(Status.INVALID_ARGUMENT, () -> bp.setDevices());
            bp.setDevice(-1);
            assertEquals("off", bp.getProperty("active"));
            assertEquals(Backend.CPU, bp.backend());
            fails(Status.INVALID_ARGUMENT, () -> bp.setTolerance(-1));
            fails(Status.INVALID_ARGUMENT, () -> bp.setTolerance(Double.NaN));
            fails(Status.INVALID_ARGUMENT, () -> bp.setMaxIterations(-1));
            fails(Status.INVALID_ARGUMENT, () -> bp.setDamping(1));
            fails(Status.INVALID_ARGUMENT, () -> bp.setThreads(-1));
            fails(Status.INVALID_ARGUMENT, () -> bp.setDevice(-2));
            assertContains("maxiter", fails(Status.INVALID_ARGUMENT, () -> bp.setProperty("max", "1")).getMessage());
            fails(Status.INVALID_ARGUMENT, () -> bp.getProperty(""));
            fails(Status.INVALID_ARGUMENT, () -> bp.setProperty("tol\0", "1"));
            assertThrows(NullPointerException.class, () -> bp.setProperty(null, "1"));
            assertThrows(NullPointerException.class, () -> bp.setProperty("tol", null));
            assertThrows(NullPointerException.class, () -> bp.setBackend(null));
            assertThrows(NullPointerException.class, () -> bp.setSchedule(null));
        }
    }

    @Test
    void theBackendCudaSaysWhyItCannotBeUsed() {
        int devices;
        try {
            devices = FastLbp.deviceCount();
        } catch (FastLbpException exception) {
            assertEquals(Status.NO_DEVICE, exception.status());
            try (BeliefPropagation bp = faultSession()) {
                bp.setBackend(Backend.CUDA);
                fails(Status.NO_DEVICE, bp::run);
            }
            fails(Status.NO_DEVICE, () -> FastLbp.deviceName(0));
            fails(Status.NO_DEVICE, () -> FastLbp.startDevice(0));
            fails(Status.NO_DEVICE, () -> FastLbp.startDevice(-1));
            fails(Status.OUT_OF_RANGE, () -> FastLbp.startDevice(-2));
            return;
        }
        FastLbp.startDevice(-1);
        fails(Status.OUT_OF_RANGE, () -> FastLbp.startDevice(devices));
        assertTrue(devices > 0 && !FastLbp.deviceName(0).isEmpty());
        try (BeliefPropagation bp = faultSession()) {
            bp.setBackend(Backend.CUDA).run();
            assertEquals(Backend.CUDA, bp.backend());
        }
    }

    @Test
    void schedulesAreSet() {
        try (BeliefPropagation bp = gridSession(4); FactorGraph graph = bp.graph()) {
            int edges = graph.edgeCount();
            bp.runIterations(30);
            double[] sequential = probabilities(bp, 16);
            Object[][] named = {
                {Schedule.PARALL, "PARALL"}, {Schedule.SEQFIX, "SEQFIX"}, {Schedule.SEQMAX, "SEQMAX"},
                {Schedule.TOPO, "TOPO"}, {Schedule.FWDBWD, "FWDBWD"}, {Schedule.TREE, "TREE"},
                {Schedule.random(5), "SEQRND"}, {Schedule.blocks(3, 5), "BLOCKS"},
                {Schedule.of("parall", 0), "PARALL"}};
            for (Object[] pair : named) {
                assertEquals(pair[1], bp.setSchedule((Schedule) pair[0]).scheduleName());
                if (pair[0] == Schedule.SEQMAX) fails(Status.UNSUPPORTED, bp::levelCount);
                else assertTrue(bp.levelCount() > 0);
            }
            assertEquals("PARALL", Schedule.PARALL.toString());

            // SEQFIX once more, as ranks and as a chain.
            long[] ranks = new long[edges];
            int[] before = new int[edges - 1];
            int[] after = new int[edges - 1];
            for (int edge = 0; edge < edges; edge++) ranks[edge] = 1000L * edge;
            for (int edge = 1; edge < edges; edge++) {
                before[edge - 1] = edge - 1;
                after[edge - 1] = edge;
            }
            Schedule custom = Schedule.ranks(ranks);
            ranks[0] = Long.MAX_VALUE; // it was copied
            for (Schedule schedule : new Schedule[] {custom, Schedule.relation(before, after)}) {
                bp.setSchedule(schedule).runIterations(30);
                assertEquals("CUSTOM", bp.scheduleName());
                assertArrayEquals(sequential, probabilities(bp, 16));
            }
            fails(Status.INVALID_ARGUMENT, () -> bp.setSchedule(Schedule.of("NONE", 0)));
            fails(Status.INVALID_ARGUMENT, () -> bp.setSchedule(Schedule.ranks(new long[edges - 1])));
            fails(Status.OUT_OF_RANGE, () -> bp.setSchedule(Schedule.relation(new int[] {0}, new int[] {edges})));
            fails(Status.INVALID_ARGUMENT, () -> bp.setSchedule(Schedule.relation(new int[0], new int[0])));
            fails(Status.INVALID_ARGUMENT, () -> Schedule.relation(new int[1], new int[2]));
            fails(Status.INVALID_ARGUMENT, () -> Schedule.blocks(0, 1));
            assertThrows(NullPointerException.class, () -> Schedule.ranks(null));
            assertThrows(NullPointerException.class, () -> Schedule.of(null, 0));
            assertEquals("CUSTOM", bp.scheduleName(), "failed calls change nothing");
        }
    }

    @Test
    void evidenceIsData(@TempDir Path directory) throws Exception {
        try (BeliefPropagation bp = faultSession(); BeliefPropagation other = bp.copy()) {
            assertEquals(2, bp.evidenceCount());
            bp.run();
            double[] wanted = probabilities(bp, 5);
            other.clearEvidence().observe(2, 1).observe(4, 0).run();
            assertArrayEquals(wanted, probabilities(other, 5));
            other.clearEvidence().observe(new int[] {4, 2, 4}, new int[] {1, 1, 0}).run();
            assertArrayEquals(wanted, probabilities(other, 5));
            other.clearEvidence(2).observeLabel(11, 1).run();
            assertArrayEquals(wanted, probabilities(other, 5));
            Path file = directory.resolve("run.obs");
            Files.write(file, "11 true\n22 0\n99 1\n".getBytes("US-ASCII"));
            assertEquals(1, other.clearEvidence().readKnownEvidence(file));
            other.run();
            assertArrayEquals(wanted, probabilities(other, 5));
            fails(Status.PARSE, () -> other.readEvidence(file));
            fails(Status.IO, () -> other.readEvidence(directory.resolve("none.obs")));

            // A likelihood that excludes a state is an observation.
            other.clearEvidence().setLikelihood(2, new double[] {0, 3}).setLikelihood(4, new double[] {0.5, 0}).run();
            double[] soft = probabilities(other, 5);
            for (int i = 0; i < 5; i++) assertEquals(wanted[i], soft[i], 1e-12);
            other.clearEvidence().setLikelihood(0, new double[] {3, 1}).runIterations(10);
            assertTrue(other.probability(0) < 0.3);

            for (int wrong : new int[] {-1, 5, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
                fails(Status.OUT_OF_RANGE, () -> bp.observe(wrong, 0));
                fails(Status.OUT_OF_RANGE, () -> bp.observe(0, wrong));
                fails(Status.OUT_OF_RANGE, () -> bp.observeLabel(11, wrong));
                fails(Status.OUT_OF_RANGE, () -> bp.clearEvidence(wrong));
                fails(Status.OUT_OF_RANGE, () -> bp.setLikelihood(wrong, new double[] {1, 1}));
                fails(Status.OUT_OF_RANGE, () -> bp.observe(new int[] {0, wrong}, new int[2]));
                fails(Status.OUT_OF_RANGE, () -> bp.observe(new int[2], new int[] {0, wrong}));
                fails(Status.OUT_OF_RANGE, () -> bp.probability(wrong));
                fails(Status.OUT_OF_RANGE, () -> bp.marginal(wrong));
                fails(Status.OUT_OF_RANGE, () -> bp.factorBelief(wrong));
            }
            fails(Status.OUT_OF_RANGE, () -> bp.observeLabel(12, 0));
            fails(Status.OUT_OF_RANGE, () -> bp.observeLabels(new long[] {11, 12}, new int[2]));
            fails(Status.INVALID_ARGUMENT, () -> bp.observe(new int[2], new int[1]));
            fails(Status.INVALID_ARGUMENT, () -> bp.observeLabels(new long[1], new int[2]));
            fails(Status.INVALID_ARGUMENT, () -> bp.setLikelihood(0, new double[3]));
            fails(Status.INVALID_ARGUMENT, () -> bp.setLikelihood(0, new double[] {0, 0}));
            fails(Status.INVALID_ARGUMENT, () -> bp.setLikelihood(0, new double[] {1, Double.NaN}));
            assertThrows(NullPointerException.class, () -> bp.setLikelihood(0, null));
            assertThrows(NullPointerException.class, () -> bp.observe(null, new int[0]));
            assertThrows(NullPointerException.class, () -> bp.observe(new int[0], null));
            assertThrows(NullPointerException.class, () -> bp.readEvidence(null));
            assertEquals(2, bp.evidenceCount());
            bp.run();
            assertArrayEquals(wanted, probabilities(bp, 5), "failed calls change nothing");
        }
    }

    @Test
    void runsEndByTheirRules() {
        try (BeliefPropagation bp = gridSession(5)) {
            RunResult iterations = bp.runIterations(3);
            assertEquals(StopReason.ITERATIONS, iterations.stopReason());
            assertEquals(3, iterations.iterations());
            assertFalse(iterations.converged());
            RunResult bingo = bp.runBingo(0, 10, 20, 5);
            assertTrue(bingo.stopReason() == StopReason.ACTIVE_FRACTION || bingo.stopReason() == StopReason.ITERATIONS);
            assertTrue(bingo.activeFraction() > 0 && bingo.activeFraction() <= 1);
            assertEquals(StopReason.CONVERGED, bp.runBingo(1e-6, 500, 1000, 100).stopReason());
            assertEquals(StopReason.TIME, bp.setMaxTime(0).run().stopReason());
            bp.setMaxTime(Double.POSITIVE_INFINITY);

            // Warm starts go on.
            bp.runIterations(9);
            double[] wanted = probabilities(bp, 25);
            bp.runIterations(4);
            long[] state = bp.saveState();
            bp.setStart(Start.WARM).runIterations(2);
            bp.restoreState(state);
            assertEquals(9, bp.runIterations(5).totalIterations());
            assertArrayEquals(wanted, probabilities(bp, 25));
            double[] messages = new double[bp.messageLength()];
            bp.messages(messages);
            bp.reset();
            bp.setMessages(messages);
            bp.runIterations(0);
            double[] again = probabilities(bp, 25);
            for (int i = 0; i < 25; i++) assertEquals(wanted[i], again[i], 1e-14);

            fails(Status.INVALID_ARGUMENT, () -> bp.runIterations(-1));
            fails(Status.INVALID_ARGUMENT, () -> bp.runBingo(-1, 1, 2, 3));
            fails(Status.INVALID_ARGUMENT, () -> bp.runBingo(1e-6, 5, 4, 3));
            fails(Status.INVALID_ARGUMENT, () -> bp.runBingo(1e-6, -5, 4, 3));
            fails(Status.INVALID_ARGUMENT, () -> bp.runBingo(1e-6, 1, 4, 0));
            fails(Status.BUFFER_TOO_SMALL, () -> bp.messages(new double[3]));
            fails(Status.INVALID_ARGUMENT, () -> bp.setMessages(new double[3]));
            fails(Status.INVALID_ARGUMENT, () -> bp.setMessages(new double[messages.length]));
            fails(Status.INVALID_ARGUMENT, () -> bp.restoreState(new long[3]));
            for (int i = 0; i < state.length; i++) {
                long[] damaged = state.clone();
                damaged[i] ^= 1L << (i % Long.SIZE);
                fails(Status.INVALID_ARGUMENT, () -> bp.restoreState(damaged));
            }
            try (FactorGraph graph = Data.faultGraph(); BeliefPropagation other = new BeliefPropagation(graph)) {
                fails(Status.INVALID_ARGUMENT, () -> other.restoreState(state));
            }
            assertThrows(NullPointerException.class, () -> bp.messages(null));
            assertThrows(NullPointerException.class, () -> bp.setMessages(null));
            assertThrows(NullPointerException.class, () -> bp.restoreState(null));
            assertThrows(NullPointerException.class, () -> bp.marginals((double[]) null));
            assertThrows(NullPointerException.class, () -> bp.marginals((DoubleBuffer) null));
            assertThrows(NullPointerException.class, () -> bp.probabilities((double[]) null));
            assertThrows(NullPointerException.class, () -> new BeliefPropagation(null));
        }
    }

    @Test
    void maximaAndScores() {
        try (BeliefPropagation bp = faultSession()) {
            bp.setSchedule(Schedule.TREE).setInference(Inference.MAX_PRODUCT).runIterations(1);
            int[] states = bp.findMaximum();
            assertArrayEquals(new int[] {1, 0, 1, 1, 0}, states);
            assertEquals(Math.log(0.99), bp.logScore(states), 1e-12);
            fails(Status.INVALID_ARGUMENT, () -> bp.logScore(new int[4]));
            fails(Status.OUT_OF_RANGE, () -> bp.logScore(new int[] {0, 0, 0, 0, 2}));
            bp.setInference(Inference.SUM_PRODUCT).runIterations(1);
            // 0.5^0: the sum over x1, x2, x21 of f(11=1) f(21) f(22=0), by hand.
            double sum = 0;
            for (int bits = 0; bits < 8; bits++) {
                boolean x1 = (bits & 1) != 0;
                boolean x2 = (bits & 2) != 0;
                boolean x21 = (bits & 4) != 0;
                double p21 = x1 ? 1 : 0.01;
                sum += (x1 ? 1 : 0.01) * (x21 ? p21 : 1 - p21) * (x2 && x21 ? 0 : 0.99);
            }
            assertEquals(Math.log(sum), bp.logPartition(), 1e-12);
            double[] marginals = bp.marginal(0);
            bp.runExact(0);
            assertEquals(Math.log(sum), bp.logPartition(), 1e-12);
            assertArrayEquals(marginals, bp.marginal(0), 1e-12);
            bp.setInference(Inference.MAX_PRODUCT).runExact(100);
            assertArrayEquals(states, bp.findMaximum());
            fails(Status.LIMIT_EXCEEDED, () -> bp.runExact(1));
            fails(Status.INVALID_ARGUMENT, () -> bp.runExact(-1));
        }
    }

    @Test
    void contradictionsAreReportedOrVotedOn() {
        try (FactorGraph graph = FactorGraph.read(Data.root().resolve("tests/data/contradiction.causal_fg"));
                BeliefPropagation bp = new BeliefPropagation(graph)) {
            fails(Status.NO_RESULT, bp.setSchedule(Schedule.PARALL)::contradictions);
            assertEquals(OptionalLong.empty(), bp.firstContradiction());
            FastLbpException exception = fails(Status.CONTRADICTION, bp::run);
            assertContains("variable 4", exception.getMessage());
            assertContains("CONTRADICTION", exception.toString());
            assertEquals(OptionalLong.of(4), bp.firstContradiction());
            assertEquals(2, bp.contradictions());
            List<String> warnings = Collections.synchronizedList(new ArrayList<>());
            FastLbp.setLogListener((level, text) -> warnings.add(level + " " + text));
            try {
                RunResult result = bp.setContradiction(Contradiction.VOTE).run();
                assertEquals(2, result.contradictions());
                assertEquals(0.5, bp.probability(0));
                assertEquals(1, warnings.size());
                assertContains("WARNING", warnings.get(0));
                assertContains("first variable: 4", warnings.get(0));
            } finally {
                FastLbp.setLogListener(null);
            }
            bp.run();
            assertEquals(1, warnings.size(), "the listener was taken away");
        }
    }

    @Test
    void logListenersMayFail() {
        Thread thread = Thread.currentThread();
        Thread.UncaughtExceptionHandler before = thread.getUncaughtExceptionHandler();
        List<Throwable> heard = new ArrayList<>();
        List<Status> nested = new ArrayList<>();
        thread.setUncaughtExceptionHandler((where, thrown) -> heard.add(thrown));
        RuntimeException failure = new RuntimeException("from the listener");
        FastLbp.setLogListener((level, text) -> {
            nested.add(fails(Status.BUSY, () -> FastLbp.setLogListener(null)).status());
            throw failure;
        });
        try (BeliefPropagation bp = faultSession()) {
            bp.setProperty("verbose", "1").run();
        } finally {
            FastLbp.setLogListener(null);
            thread.setUncaughtExceptionHandler(before);
        }
        assertFalse(heard.isEmpty());
        for (Throwable thrown : heard) assertSame(failure, thrown);
        assertFalse(nested.isEmpty());
    }

    @Test
    void listenersHearOfIterationsAndEndRuns() {
        try (BeliefPropagation bp = gridSession(5)) {
            List<Long> heard = new ArrayList<>();
            bp.setProgressListener((iterations, maxIterations, maxDiff, activeFraction) -> {
                assertEquals(1, activeFraction);
                assertTrue(maxDiff >= 0);
                assertEquals(100, maxIterations);
                heard.add(iterations);
                return iterations < 7;
            });
            RunResult result = bp.runIterations(100);
            assertEquals(StopReason.CANCELLED, result.stopReason());
            assertEquals(7, result.iterations());
            assertEquals(7, heard.size());
            assertEquals(7L, heard.get(6).longValue());

            RuntimeException failure = new RuntimeException("enough");
            bp.setProgressListener((iterations, maxIterations, maxDiff, activeFraction) -> {
                throw failure;
            });
            assertSame(failure, assertThrows(RuntimeException.class, bp::run));
            assertSame(failure, assertThrows(RuntimeException.class, () -> bp.runBingo(1e-6, 5, 10, 2)));
            StackOverflowError error = new StackOverflowError();
            bp.setProgressListener((iterations, maxIterations, maxDiff, activeFraction) -> {
                throw error;
            });
            assertSame(error, assertThrows(StackOverflowError.class, bp::run));

            // Calls on the running session.
            List<Status> statuses = new ArrayList<>();
            bp.setProgressListener((iterations, maxIterations, maxDiff, activeFraction) -> {
                statuses.add(fails(Status.BUSY, () -> bp.observe(0, 1)).status());
                statuses.add(fails(Status.BUSY, bp::run).status());
                statuses.add(fails(Status.BUSY, () -> bp.marginals(new double[50])).status());
                return false;
            });
            assertEquals(StopReason.CANCELLED, bp.run().stopReason());
            assertEquals(3, statuses.size());
            bp.setProgressListener(null);
            assertEquals(StopReason.CONVERGED, bp.run().stopReason());
        }
    }

    @Test
    void batchesGiveWhatSingleRunsGive() {
        try (BeliefPropagation bp = faultSession()) {
            int[] offsets = {0, 2, 3, 3};
            int[] variables = {2, 4, 4};
            int[] states = {1, 0, 1};
            double[] marginals = new double[31];
            marginals[30] = 7;
            assertArrayEquals(
                    new Status[] {Status.OK, Status.OK, Status.OK}, bp.runBatch(offsets, variables, states, marginals));
            assertEquals(7, marginals[30]);
            for (int entry = 0; entry < 3; entry++) {
                bp.clearEvidence();
                for (int i = offsets[entry]; i < offsets[entry + 1]; i++) bp.observe(variables[i], states[i]);
                bp.run();
                for (int variable = 0; variable < 5; variable++) {
                    assertEquals(bp.probability(variable), marginals[10 * entry + 2 * variable + 1]);
                }
            }
            List<Long> heard = new ArrayList<>();
            bp.setProgressListener((entries, all, maxDiff, active_fraction) -> heard.add(entries) && entries < 1);
            Status[] statuses = bp.setThreads(1).runBatch(offsets, variables, states, marginals);
            assertEquals(Status.NO_RESULT, statuses[2]);
            assertEquals(1, heard.size());
            IllegalStateException failure = new IllegalStateException("enough");
            bp.setProgressListener((entries, all, maxDiff, active_fraction) -> {
                throw failure;
            });
            assertSame(failure, assertThrows(
                    IllegalStateException.class, () -> bp.runBatch(offsets, variables, states, marginals)));
            bp.setProgressListener(null);
            fails(Status.BUFFER_TOO_SMALL, () -> bp.runBatch(offsets, variables, states, new double[29]));
            fails(Status.INVALID_ARGUMENT, () -> bp.runBatch(new int[0], variables, states, marginals));
            fails(Status.INVALID_ARGUMENT, () -> bp.runBatch(new int[] {0, 4}, variables, states, marginals));
            fails(Status.INVALID_ARGUMENT, () -> bp.runBatch(new int[] {-1, 3}, variables, states, marginals));
            fails(Status.INVALID_ARGUMENT, () -> bp.runBatch(offsets, variables, new int[1], marginals));
            fails(Status.OUT_OF_RANGE, () -> bp.runBatch(offsets, new int[] {2, 4, 5}, states, marginals));
            assertThrows(NullPointerException.class, () -> bp.runBatch(null, variables, states, marginals));
            assertThrows(NullPointerException.class, () -> bp.runBatch(offsets, variables, states, null));
        }
    }

    @Test
    void entriesThatFailSpoilNoOther() {
        List<String> messages = new ArrayList<>();
        try (FactorGraph.Builder builder = FactorGraph.builder();
                FactorGraph graph = builder.addPrior(1, 1).addAnd(2, new long[] {1}, 1, 0).build();
                BeliefPropagation bp = new BeliefPropagation(graph).setSchedule(Schedule.PARALL)) {
            FastLbp.setLogListener((level, text) -> {
                if (level == LogLevel.WARNING) messages.add(text);
            });
            int[] variables = {0, 1};
            double[] marginals = new double[2 * graph.stateCount()];
            // The first variable is certainly true.
            Status[] statuses = bp.runBatch(new int[] {0, 1, 2}, variables, new int[] {0, 1}, marginals);
            assertArrayEquals(new Status[] {Status.CONTRADICTION, Status.OK}, statuses);
            assertTrue(Double.isNaN(marginals[0]));
            assertEquals(1, marginals[graph.stateCount() + 1]);
            assertEquals(1, messages.size(), messages.toString());
            assertContains("entry 0", messages.get(0));
        } finally {
            FastLbp.setLogListener(null);
        }
    }

    @Test
    void manySessionsRunInOneCall() {
        int count = 40;
        BeliefPropagation[] sessions = new BeliefPropagation[count];
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        try (BeliefPropagation reference = gridSession(4)) {
            reference.run();
            fails(Status.NO_RESULT, gridSession(4)::lastResult);
            for (int i = 0; i < count; i++) {
                sessions[i] = gridSession(4).setThreads(2).setProperty("verbose", "1");
            }
            sessions[7].setMaxTime(0);
            FastLbp.setLogListener((level, text) -> threads.add(Thread.currentThread()));
            Status[] statuses = BeliefPropagation.runAll(sessions);
            for (int i = 0; i < count; i++) {
                assertEquals(Status.OK, statuses[i]);
                assertEquals(i == 7 ? StopReason.TIME : StopReason.CONVERGED, sessions[i].lastResult().stopReason());
                if (i != 7) assertArrayEquals(probabilities(reference, 16), probabilities(sessions[i], 16));
            }
            // Those that the JVM did not start tell the log, too.
            threads.remove(Thread.currentThread());
            assertFalse(threads.isEmpty());

            fails(Status.BUSY, () -> BeliefPropagation.runAll(reference, reference));
            assertEquals(0, BeliefPropagation.runAll().length);
            assertThrows(NullPointerException.class, () -> BeliefPropagation.runAll(reference, null));
            RuntimeException failure = new RuntimeException("enough");
            sessions[3].setProgressListener((iterations, maxIterations, maxDiff, activeFraction) -> {
                fails(Status.BUSY, () -> BeliefPropagation.runAll(sessions[5]));
                throw failure;
            });
            sessions[4].setProgressListener((iterations, maxIterations, maxDiff, activeFraction) -> false);
            assertSame(failure, assertThrows(RuntimeException.class, () -> BeliefPropagation.runAll(sessions)));
            assertEquals(StopReason.CANCELLED, sessions[4].lastResult().stopReason());
            assertEquals(StopReason.CONVERGED, sessions[6].lastResult().stopReason());
            sessions[9].close();
            assertThrows(IllegalStateException.class, () -> BeliefPropagation.runAll(sessions));
            assertEquals(Status.OK, BeliefPropagation.runAll(sessions[5], reference)[1], "none stayed in use");
        } finally {
            FastLbp.setLogListener(null);
            for (BeliefPropagation session : sessions) if (session != null) session.close();
        }
    }

    @Test
    void theLibrarySaysWhatItIs() throws Exception {
        String manifest = new String(Files.readAllBytes(Data.root().resolve("Cargo.toml")), "UTF-8");
        assertContains("\nversion = \"" + FastLbp.version() + "\"\n", manifest);
        String pom = new String(Files.readAllBytes(Data.module().resolve("pom.xml")), "UTF-8");
        assertContains("<version>" + FastLbp.version() + "</version>", pom);
        assertContains(FastLbp.version(), FastLbp.buildInfo());
    }

    @Test
    void constantsAreThoseOfTheHeader() throws Exception {
        String header =
                new String(Files.readAllBytes(Data.root().resolve("include/fastlbp.h")), "UTF-8");
        for (Status status : Status.values()) {
            if (status != Status.UNKNOWN) {
                assertContains("FASTLBP_STATUS_" + status + " = " + status.ordinal() + ",", header);
            }
        }
        for (StopReason reason : StopReason.values()) {
            if (reason != StopReason.UNKNOWN) {
                assertContains("#define FASTLBP_STOP_" + reason + " " + reason.ordinal() + "\n", header);
            }
        }
        for (Backend backend : Backend.values()) {
            assertContains("#define FASTLBP_BACKEND_" + backend + " " + backend.ordinal() + "\n", header);
        }
        for (String kind : new String[] {"TABLE", "PRIOR", "AND", "OR", "SIGNED", "NOISY", "TERMS"}) {
            int number = FactorGraph.class.getField(kind).getInt(null);
            assertContains("#define FASTLBP_FACTOR_" + kind + " " + number + "\n", header);
        }
        assertEquals(Status.UNKNOWN, Status.of(Status.UNKNOWN.ordinal()));
        assertEquals(Status.UNKNOWN, Status.of(-1));
        assertEquals(StopReason.UNKNOWN, StopReason.of(99));
    }
}
