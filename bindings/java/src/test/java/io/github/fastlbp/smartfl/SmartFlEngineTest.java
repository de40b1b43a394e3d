package io.github.fastlbp.smartfl;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.fastlbp.Backend;
import io.github.fastlbp.BeliefPropagation;
import io.github.fastlbp.Contradiction;
import io.github.fastlbp.Data;
import io.github.fastlbp.FactorGraph;
import io.github.fastlbp.FastLbpException;
import io.github.fastlbp.RunResult;
import io.github.fastlbp.Schedule;
import io.github.fastlbp.Status;
import io.github.fastlbp.StopReason;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.StringTokenizer;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class SmartFlEngineTest {
    private static final int[] NONE = {};

    /** Statements 0 and 1; value 2 of run 1; values 3 and 4 of run 2, of which 4 uses 3. */
    private static SmartFlEngine.Builder fault() {
        return SmartFlEngine.builder(5)
                .addFactor(2, 0, NONE, NONE, 0.01)
                .addFactor(3, 0, NONE, NONE, 0.01)
                .addFactor(4, 1, NONE, new int[] {3}, 0.01);
    }

    @Test
    void statementsAreRanked() {
        try (SmartFlEngine engine = fault().build()) {
            assertEquals(5, engine.nodeCount());
            RunResult result = engine.observe(2, true).observe(4, false).run();
            assertTrue(result.converged() && result.maxDiff() <= SmartFlEngine.TOLERANCE, result.toString());
            assertEquals(0.9805, engine.probability(0), 5e-5);
            assertEquals(0.0097, engine.probability(1), 5e-5);
            double[] all = new double[5];
            engine.probabilities(all);
            double[] statements = new double[2];
            engine.probabilities(new int[] {1, 0}, statements);
            assertArrayEquals(new double[] {all[1], all[0]}, statements);
            assertEquals(StopReason.ITERATIONS, engine.run(1).stopReason());

            // Observations are data.
            engine.clearObservations().run();
            assertEquals(0.5, engine.probability(1), 1e-12);
            engine.observe(new int[] {4, 2}, new boolean[] {false, true}).setBackend(Backend.CPU).run();
            double[] again = new double[5];
            engine.probabilities(again);
            assertArrayEquals(all, again);
            engine.setProgressListener((iterations, maxIterations, maxDiff, activeFraction) -> {
                assertEquals(SmartFlEngine.MAX_ITERATIONS, maxIterations);
                return false;
            });
            assertEquals(StopReason.CANCELLED, engine.run().stopReason());
        }
    }

    @Test
    void bulkAndSingleCallsMakeTheSameEngine() {
        int[] heads = {2, 3, 4};
        int[] statements = {0, 0, 1};
        double[] q = {0.01, 0.01, 0.5};
        int[] predicateOffsets = {0, 0, 1, 2};
        int[] predicates = {2, 3};
        int[] useOffsets = {0, 0, 0, 2};
        int[] uses = {2, 3}; // 3 is predicate and use: it counts once
        double[][] results = new double[2][5];
        try (SmartFlEngine bulk = SmartFlEngine.builder(5)
                        .addFactors(heads, statements, predicateOffsets, predicates, useOffsets, uses, q).build();
                SmartFlEngine single = SmartFlEngine.builder(5)
                        .addFactor(2, 0, NONE, NONE, 0.01)
                        .addFactor(3, 0, new int[] {2}, NONE, 0.01)
                        .addFactor(4, 1, new int[] {3}, new int[] {2}, 0.5).build()) {
            int i = 0;
            for (SmartFlEngine engine : new SmartFlEngine[] {bulk, single}) {
                engine.observe(4, false).run();
                engine.probabilities(results[i++]);
            }
        }
        assertArrayEquals(results[1], results[0]);
    }

    @Test
    void observationsThatContradictAreVotedOn() {
        // Value 1 is certainly right if statement 0 is; both are observed, against each other.
        try (SmartFlEngine engine = SmartFlEngine.builder(4)
                .addFactor(1, 0, NONE, NONE, 0)
                .addFactor(2, 0, new int[] {1}, NONE, 0)
                .addFactor(3, 1, NONE, NONE, 0)
                .build()) {
            RunResult result = engine.observe(new int[] {2, 3}, new boolean[] {true, false}).run();
            assertTrue(result.contradictions() > 0, result.toString());
            double[] p = new double[4];
            engine.probabilities(p);
            for (double value : p) assertTrue(value >= 0 && value <= 1);
        }
    }

    private static void fails(Status status, String part, Executable call) {
        FastLbpException exception = assertThrows(FastLbpException.class, call);
        assertEquals(status, exception.status());
        assertTrue(exception.getMessage().contains(part), exception.getMessage());
    }

    @Test
    void wrongArgumentsAreExceptions() {
        SmartFlEngine.Builder builder = fault();
        fails(Status.OUT_OF_RANGE, "factor 3: the head is node 5", () -> builder.addFactor(5, 0, NONE, NONE, 0.5));
        fails(Status.OUT_OF_RANGE, "statement is node -1", () -> builder.addFactor(0, -1, NONE, NONE, 0.5));
        fails(Status.OUT_OF_RANGE, "predicate", () -> builder.addFactor(0, 1, new int[] {1, 7}, NONE, 0.5));
        fails(Status.OUT_OF_RANGE, "use", () -> builder.addFactor(0, 1, NONE, new int[] {-7}, 0.5));
        fails(Status.INVALID_ARGUMENT, "q is 1.5", () -> builder.addFactor(0, 1, NONE, NONE, 1.5));
        fails(Status.INVALID_ARGUMENT, "NaN", () -> builder.addFactor(0, 1, NONE, NONE, Double.NaN));
        fails(Status.INVALID_ARGUMENT, "-1", () -> SmartFlEngine.builder(-1));
        assertThrows(NullPointerException.class, () -> builder.addFactor(0, 1, null, NONE, 0.5));
        assertThrows(NullPointerException.class, () -> builder.addFactor(0, 1, NONE, null, 0.5));
        int[] two = {0, 1};
        double[] q = {0.5, 0.5};
        int[] offsets = {0, 1, 2};
        fails(Status.INVALID_ARGUMENT, "2 heads",
                () -> builder.addFactors(two, new int[1], offsets, two, offsets, two, q));
        fails(Status.INVALID_ARGUMENT, "offsets", () -> builder.addFactors(two, two, two, two, offsets, two, q));
        fails(Status.INVALID_ARGUMENT, "[2] is 3", () -> builder.addFactors(
                two, two, new int[] {0, 1, 3}, two, offsets, two, q));
        fails(Status.INVALID_ARGUMENT, "useOffsets[1] is -1", () -> builder.addFactors(
                two, two, offsets, two, new int[] {0, -1, 2}, two, q));
        try (SmartFlEngine engine = builder.build()) {
            fails(Status.OUT_OF_RANGE, "5", () -> engine.observe(5, true));
            fails(Status.OUT_OF_RANGE, "-1", () -> engine.observe(-1, true));
            fails(Status.INVALID_ARGUMENT, "1 observed", () -> engine.observe(two, new boolean[1]));
            fails(Status.NO_RESULT, "", () -> engine.probability(0));
            engine.run();
            fails(Status.BUFFER_TOO_SMALL, "5", () -> engine.probabilities(new double[4]));
            // Nothing of the failed calls is in the graph.
            assertEquals(0.5, engine.probability(1), 1e-12);
        }
        SmartFlEngine empty = SmartFlEngine.builder(0).build();
        empty.run();
        empty.probabilities(new double[0]);
        empty.close();
        assertThrows(IllegalStateException.class, empty::run);
    }

    /** A graph of SmartFL as its file says it, and the results of it by way of the file. */
    private static void compare(Path directory, String name, long iterations, boolean mustConverge) throws Exception {
        Path file = directory.resolve(name + ".causal_fg.gz");
        Path observations = directory.resolve(name + ".obs");
        List<String> lines = Data.lines(file);
        TreeSet<Long> labels = new TreeSet<>();
        List<long[]> factors = new ArrayList<>(); // head, statement, the others
        List<Double> q = new ArrayList<>();
        for (int i = 1; i < lines.size(); i++) {
            if (lines.get(i).trim().isEmpty()) continue;
            long head = Long.parseLong(lines.get(i++).trim());
            String[] type = lines.get(i++).trim().substring(1).split(";");
            assertEquals(1, Double.parseDouble(type[0]), name);
            int length = Integer.parseInt(lines.get(i++).trim());
            StringTokenizer body = new StringTokenizer(lines.get(i));
            long[] factor = new long[length + 1];
            factor[0] = head;
            for (int j = 1; j <= length; j++) factor[j] = Long.parseLong(body.nextToken());
            for (long label : factor) labels.add(label);
            factors.add(factor);
            q.add(Double.parseDouble(type[1]));
        }
        TreeMap<Long, Integer> nodes = new TreeMap<>();
        for (long label : labels) nodes.put(label, nodes.size());

        double[] wanted;
        RunResult reference;
        long start = System.nanoTime();
        try (FactorGraph graph = FactorGraph.read(file); BeliefPropagation bp = new BeliefPropagation(graph)) {
            bp.setSchedule(Schedule.PARALL).setTolerance(1e-8).setMaxIterations(iterations)
                    .setContradiction(Contradiction.VOTE).readKnownEvidence(observations);
            reference = bp.run();
            wanted = new double[graph.variableCount()];
            bp.probabilities(wanted);
        }
        double fileSeconds = (System.nanoTime() - start) / 1e9;

        SmartFlEngine.Builder builder = SmartFlEngine.builder(nodes.size());
        for (int i = 0; i < factors.size(); i++) {
            long[] factor = factors.get(i);
            // Which of the others are predicates is not in the file, and makes no difference.
            int[] others = new int[factor.length - 2];
            for (int j = 0; j < others.length; j++) others[j] = nodes.get(factor[j + 2]);
            int[] predicates = Arrays.copyOf(others, others.length / 2);
            int[] uses = Arrays.copyOfRange(others, others.length / 2, others.length);
            builder.addFactor(nodes.get(factor[0]), nodes.get(factor[1]), predicates, uses, q.get(i));
        }
        start = System.nanoTime();
        try (SmartFlEngine engine = builder.build()) {
            for (String line : Data.lines(observations)) {
                String[] words = line.trim().split("\\s+");
                // Values that no factor of the file names are observed, too.
                Integer node = nodes.get(Long.parseLong(words[0]));
                if (node != null) engine.observe(node, words[1].equals("1"));
            }
            RunResult result = engine.run(iterations);
            double[] p = new double[engine.nodeCount()];
            engine.probabilities(p);
            System.out.printf("smartfl/%s: %s; engine %.2f s, by the file %.2f s%n", name, result,
                    (System.nanoTime() - start) / 1e9, fileSeconds);
            assertEquals(reference.toString(), result.toString(), name);
            if (mustConverge) assertTrue(result.converged(), name);
            assertArrayEquals(wanted, p, name);
            compareWithProgram(file, observations, iterations, nodes, p);
        }
    }

    /** The same by the command line program, if there is one. */
    private static void compareWithProgram(
            Path file, Path observations, long iterations, TreeMap<Long, Integer> nodes, double[] p) throws Exception {
        String program = System.getProperty("fastlbp.program", "");
        if (program.isEmpty()) {
            System.out.println("skipped: java: there is no command line program to compare SmartFlEngine with");
            return;
        }
        String printed = Data.run(Arrays.asList(
                program, "infer", file.toString(), "--evidence", observations.toString(), "--schedule", "PARALL",
                "--tolerance", "1e-8", "--max-iterations", Long.toString(iterations), "--contradiction", "vote"));
        int compared = 0;
        for (String line : printed.split("\n")) {
            if (line.startsWith("#") || line.startsWith("fastlbp:") || line.startsWith("exit code")) continue;
            String[] words = line.split(" ");
            // The shortest numbers that read back to the same bits.
            assertEquals(Double.parseDouble(words[1]), p[nodes.get(Long.parseLong(words[0]))], line);
            compared++;
        }
        assertTrue(printed.endsWith("exit code 0"), printed);
        assertEquals(p.length, compared);
    }

    @Test
    void realGraphsGiveTheBitsOfTheirFiles() throws Exception {
        Path directory = Data.data("graphs/smartfl");
        compare(directory, "Chart-24", 500, true);
        compare(directory, "Math-41", 500, true);
    }

    /** FASTLBP_TEST_GRAPHS=all runs the largest ones, too: about a minute. */
    @Test
    void largeRealGraphsGiveTheBitsOfTheirFiles() throws Exception {
        if (Data.CHECKED) return;
        Path directory = Data.shared("graphs/smartfl");
        compare(directory, "Math-3", 500, true);
        compare(directory, "Math-2", 500, true);
        if ("all".equals(System.getenv("FASTLBP_TEST_GRAPHS"))) {
            for (String name : new String[] {"Chart-1", "Math-27", "Chart-15"}) compare(directory, name, 500, false);
        }
    }
}
