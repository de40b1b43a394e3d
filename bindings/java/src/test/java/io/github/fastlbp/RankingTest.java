package io.github.fastlbp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rankings of alarms and of suspects: by hand, and against `fastlbp rank` and `fastlbp locate`. */
class RankingTest {
    /** 1 makes 10 and 11 probable, 2 makes 12 probable. */
    private static FactorGraph alarms() {
        try (FactorGraph.Builder builder = FactorGraph.builder()) {
            return builder.addPrior(1, 0.6)
                    .addPrior(2, 0.5)
                    .addAnd(10, new long[] {1}, 0.9, 0)
                    .addAnd(11, new long[] {1}, 0.8, 0)
                    .addAnd(12, new long[] {2}, 0.9, 0)
                    .build();
        }
    }

    private static final int[] ALARMS = {2, 3, 4};

    @Test
    void answersChangeTheOrder() {
        try (FactorGraph graph = alarms(); BeliefPropagation bp = new BeliefPropagation(graph)) {
            Inspection inspection = new Inspection(bp, new Evidence(), ALARMS, null);
            Data.fails(Status.NO_RESULT, inspection::order);
            inspection.rank();
            assertArrayEquals(new int[] {0, 1, 2}, inspection.order());
            assertEquals(0.54, inspection.probability(0), 1e-12);
            // It is a false one, so the other alarm that 1 causes falls behind.
            inspection.answer(0, false);
            assertArrayEquals(new int[] {2, 1}, inspection.order());
            inspection.answer(1, true);
            assertArrayEquals(new int[] {2}, inspection.order());
            Data.fails(Status.INVALID_ARGUMENT, () -> inspection.answer(1, true));
            Data.fails(Status.OUT_OF_RANGE, () -> inspection.answer(3, true));
            Data.fails(Status.OUT_OF_RANGE, () -> inspection.answer(-1, true));
            assertEquals(2, inspection.answers().size());
            assertEquals(1, inspection.undo().alarm());
            assertFalse(inspection.undo().isTrue());
            assertArrayEquals(new int[] {0, 1, 2}, inspection.order());
            assertEquals(0, bp.evidenceCount());
            Data.fails(Status.NO_RESULT, inspection::undo);
        }
    }

    @Test
    void anAnswerThatContradictsTheGraphIsTakenBack() {
        try (FactorGraph.Builder builder = FactorGraph.builder()) {
            builder.addPrior(1, 0.5).addAnd(2, new long[] {1}, 1, 0).addAnd(3, new long[] {1}, 0, 1);
            try (FactorGraph graph = builder.build(); BeliefPropagation bp = new BeliefPropagation(graph)) {
                Inspection inspection = new Inspection(bp, new Evidence(), new int[] {1, 2}, null);
                inspection.rank();
                inspection.answer(0, true);
                Data.fails(Status.CONTRADICTION, () -> inspection.answer(1, true));
                assertEquals(1, inspection.answers().size());
                assertArrayEquals(new int[] {1}, inspection.order());
                assertEquals(1, bp.evidenceCount());
                inspection.answer(1, false);
            }
        }
    }

    @Test
    void wrongAlarms() {
        try (FactorGraph graph = alarms(); BeliefPropagation bp = new BeliefPropagation(graph)) {
            Evidence none = new Evidence();
            Data.fails(Status.OUT_OF_RANGE, () -> new Inspection(bp, none, new int[] {5}, null));
            Data.fails(Status.OUT_OF_RANGE, () -> new Inspection(bp, none, new int[] {-1}, null));
            Data.assertContains("alarm 10: it is listed twice", Data.fails(
                    Status.INVALID_ARGUMENT, () -> new Inspection(bp, none, new int[] {2, 2}, null)).getMessage());
            Data.assertContains("in the evidence already", Data.fails(Status.INVALID_ARGUMENT, () ->
                    new Inspection(bp, new Evidence().observe(2, 1), ALARMS, null)).getMessage());
            Data.fails(Status.INVALID_ARGUMENT, () -> new Inspection(bp, none, ALARMS, new String[2]));
        }
        try (FactorGraph.Builder builder = FactorGraph.builder()) {
            try (FactorGraph graph = builder.addVariable(1, 3).addPrior(2, 0.5).build();
                    BeliefPropagation bp = new BeliefPropagation(graph)) {
                Data.assertContains("alarm 1: a variable with two states", Data.fails(Status.INVALID_ARGUMENT, () ->
                        new Inspection(bp, new Evidence(), new int[] {0}, null)).getMessage());
            }
        }
    }

    /** Probabilities that are equal in six digits, and the order of names that are there or not. */
    @Test
    void tiesGoByName() {
        try (FactorGraph.Builder builder = FactorGraph.builder()) {
            double[] priors = {0.1234561, 0.1234564, 0.1234559, 0.9, 0.1234561};
            for (int i = 0; i < priors.length; i++) builder.addPrior(i, priors[i]);
            int[] all = {0, 1, 2, 3, 4};
            String[] names = {"b", "a9", "a10", null, null};
            try (FactorGraph graph = builder.build(); BeliefPropagation bp = new BeliefPropagation(graph)) {
                Inspection inspection = new Inspection(bp, new Evidence(), all, names).setRun(session -> session.run());
                inspection.rank();
                assertArrayEquals(new int[] {3, 4, 2, 1, 0}, inspection.order());
                inspection.setPrecision(Inspection.Precision.EXACT).rank();
                assertArrayEquals(new int[] {3, 1, 4, 0, 2}, inspection.order());
            }
        }
    }

    private static Path program() {
        String program = System.getProperty("fastlbp.program", "");
        if (program.isEmpty()) Data.skip("the program fastlbp is not named by -Dfastlbp.program");
        return java.nio.file.Paths.get(program);
    }

    private static Path example(String name) {
        return Data.root().resolve("examples/data").resolve(name);
    }

    /** The same inspected alarms, with the same digits, as the program's. */
    @Test
    void alarmsAreInspectedAsByTheProgram() throws IOException, InterruptedException {
        String[] ran = Data.run(Arrays.asList(
                        program().toString(), "rank", example("weblech.causal_fg.gz").toString(), "--alarms",
                        example("weblech.alarms").toString(), "--answers", example("weblech.alarms").toString(),
                        "--bingo", "1e-6,20,40,10", "--quiet"))
                .split("\n");
        List<String> wanted = Arrays.stream(ran).filter(line -> line.matches("[0-9]+ (true|false) .*"))
                .map(line -> line.replaceAll("[0-9]+ (true|false) ([^ ]+) ([^ ]+) .*", "$1 $2 $3"))
                .collect(Collectors.toList());
        assertTrue(wanted.size() > 5, String.join("\n", ran));
        List<String> lines = Data.lines(example("weblech.alarms"));
        try (FactorGraph graph = FactorGraph.read(example("weblech.causal_fg.gz"));
                BeliefPropagation bp = new BeliefPropagation(graph)) {
            int[] alarms = new int[lines.size()];
            String[] names = new String[alarms.length];
            boolean[] isTrue = new boolean[alarms.length];
            int left = 0;
            for (int i = 0; i < alarms.length; i++) {
                String[] words = lines.get(i).split(" ");
                alarms[i] = graph.variableOfLabel(Long.parseLong(words[0]));
                names[i] = words[1];
                isTrue[i] = words[2].equals("1");
                if (isTrue[i]) left++;
            }
            Inspection inspection = new Inspection(bp, new Evidence(), alarms, names)
                    .setRun(session -> session.runBingo(1e-6, 20, 40, 10));
            inspection.rank();
            List<String> found = new ArrayList<>();
            while (left > 0) {
                int alarm = inspection.order()[0];
                // Six digits, as C++ prints them.
                String digits = String.format("%s", new java.math.BigDecimal(inspection.probability(alarm))
                        .round(new java.math.MathContext(6)).stripTrailingZeros().toPlainString());
                found.add(isTrue[alarm] + " " + digits + " " + names[alarm]);
                if (isTrue[alarm]) left--;
                inspection.answer(alarm, isTrue[alarm]);
            }
            assertEquals(wanted, found);
        }
    }

    @Test
    void suspectsOfOneProbabilityShareTheirRanks() {
        try (FactorGraph.Builder builder = FactorGraph.builder()) {
            double[] priors = {0.5, 0.25, 0.5, 0.75, 0.5};
            for (int i = 0; i < priors.length; i++) builder.addPrior(i, priors[i]);
            try (FactorGraph graph = builder.build(); BeliefPropagation bp = new BeliefPropagation(graph)) {
                int[] all = {0, 1, 2, 3, 4};
                Data.fails(Status.NO_RESULT, () -> new Suspects(bp, all, 0));
                bp.run();
                Suspects suspects = new Suspects(bp, all, 0);
                String brief = suspects.stream()
                        .map(s -> s.candidate() + " " + s.probability() + " " + s.best() + " " + s.worst()
                                + " " + s.average())
                        .collect(Collectors.joining("; "));
                assertEquals(
                        "1 0.75 1 1 1.0; 0 0.5 2 4 3.0; 2 0.5 2 4 3.0; 4 0.5 2 4 3.0; 3 0.25 5 5 5.0", brief);
                assertEquals(3, suspects.first(c -> c == 2).average());
                assertEquals(4, suspects.first(c -> c == 2).worst());
                assertEquals(1, suspects.first(c -> c == 3 || c == 1).average());
                // Of three in any order, the first of two is at 1, 1 or 2.
                assertEquals(1 + 4 / 3.0, suspects.first(c -> c == 2 || c == 4).average(), 1e-15);
                assertEquals(3, suspects.first(c -> c == 2 || c == 4).worst());
                assertNull(suspects.first(c -> false));
                Data.fails(Status.OUT_OF_RANGE, () -> new Suspects(bp, all, 2));
                Data.fails(Status.OUT_OF_RANGE, () -> new Suspects(bp, new int[] {5}, 0));
            }
        }
    }

    @Test
    void faultsNextToCertainAreToldApart() {
        try (FactorGraph.Builder builder = FactorGraph.builder()) {
            double[] priors = {1e-30, 1e-20, 1e-25};
            for (int i = 0; i < priors.length; i++) builder.addPrior(i, priors[i]);
            try (FactorGraph graph = builder.build(); BeliefPropagation bp = new BeliefPropagation(graph)) {
                bp.run();
                int[] order = new Suspects(bp, new int[] {0, 1, 2}, 0).stream()
                        .mapToInt(Suspects.Suspect::candidate).toArray();
                assertArrayEquals(new int[] {0, 2, 1}, order);
            }
        }
    }

    /** The same ranks as the program's, ties included, on a graph of SmartFL. */
    @Test
    void suspectsAreRankedAsByTheProgram(@TempDir Path directory) throws IOException, InterruptedException {
        Path file = example("Chart-24.causal_fg.gz");
        try (FactorGraph graph = FactorGraph.read(file); BeliefPropagation bp = new BeliefPropagation(graph)) {
            int[] candidates = new int[60];
            List<String> lines = new ArrayList<>();
            for (int i = 0; i < candidates.length; i++) {
                candidates[i] = i * 3;
                lines.add(Long.toString(graph.labels()[candidates[i]]));
            }
            Path list = directory.resolve("candidates");
            Files.write(list, lines);
            String[] ran = Data.run(Arrays.asList(
                            program().toString(), "locate", file.toString(), "--candidates", list.toString(),
                            "--evidence", example("Chart-24.obs").toString(), "--top", "60", "--quiet"))
                    .split("\n");
            bp.setSchedule(Schedule.PARALL).setTolerance(1e-8).setMaxIterations(500)
                    .setContradiction(Contradiction.VOTE).readKnownEvidence(example("Chart-24.obs"));
            bp.run();
            List<String> found = new ArrayList<>();
            for (Suspects.Suspect suspect : new Suspects(bp, candidates, 0)) {
                found.add(suspect.average() + " " + suspect.worst() + " " + lines.get(suspect.candidate()));
            }
            List<String> wanted = Arrays.stream(ran)
                    .map(String::trim)
                    .filter(line -> line.matches("[0-9.]+ +[0-9]+ .*"))
                    .map(line -> line.split(" +"))
                    .map(words -> Double.parseDouble(words[0]) + " " + words[1] + " " + words[3])
                    .collect(Collectors.toList());
            assertEquals(60, wanted.size(), String.join("\n", ran));
            assertEquals(wanted, found);
        }
    }
}
