package io.github.fastlbp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Reference values, computed in 128-bit arithmetic: those of tests/data, and the larger ones of ../shared. */
class GoldenTest {
    private static final Pattern NAME = Pattern.compile("(.+)\\.([A-Z]+)\\.([0-9]+)\\.ref");
    private static final double ABSOLUTE = 1e-12;
    private static final double RELATIVE = 1e-10;
    private static final double SMALLEST = 1e-200;
    /** Error of a probability near 1 that is given as a double. */
    private static final double ROUNDING = 1.2e-16;

    private static BeliefPropagation load(Path directory, String name) {
        Path plain = directory.resolve(name + ".causal_fg");
        Path file = Files.exists(plain) ? plain : directory.resolve(name + ".causal_fg.gz");
        try (FactorGraph graph = FactorGraph.read(file)) {
            BeliefPropagation bp = new BeliefPropagation(graph);
            Path evidence = directory.resolve(name + ".obs");
            if (Files.exists(evidence)) bp.readKnownEvidence(evidence);
            return bp;
        }
    }

    private static void assertRelative(double got, double wanted, double slack, String what) {
        boolean close = wanted >= SMALLEST
                ? Math.abs(got - wanted) <= RELATIVE * wanted + slack
                : got >= 0 && got <= Math.max(SMALLEST, slack);
        assertTrue(close, () -> what + ": " + got + " instead of " + wanted);
    }

    /** The files of a directory that are not in another one, sorted. */
    private static List<Path> files(Path directory, Path other) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.filter(path -> other == null || !Files.exists(other.resolve(path.getFileName())))
                    .sorted()
                    .collect(Collectors.toList());
        }
    }

    private static void checkFiles(String part, Path directory, List<Path> files, int cases, boolean relative)
            throws IOException {
        int checked = 0;
        double largest = 0;
        for (Path file : files) {
            String name = file.getFileName().toString();
            Matcher matcher = NAME.matcher(name);
            if (!matcher.matches()) continue;
            try (BeliefPropagation bp = load(directory, matcher.group(1)); FactorGraph graph = bp.graph()) {
                bp.setSchedule(Schedule.of(matcher.group(2), 0)).runIterations(Long.parseLong(matcher.group(3)));
                double[] marginals = new double[graph.stateCount()];
                bp.marginals(marginals);
                List<String> lines = Data.lines(file);
                assertEquals(graph.variableCount(), lines.size(), name);
                for (String line : lines) {
                    String[] words = line.split(" ");
                    int variable = graph.variableOfLabel(Long.parseLong(words[0]));
                    double wanted = Double.parseDouble(words[1]);
                    double p0 = marginals[2 * variable];
                    double p1 = marginals[2 * variable + 1];
                    double difference = Math.max(Math.abs(p1 - wanted), Math.abs(p0 + p1 - 1));
                    String what = name + " label " + words[0];
                    assertTrue(difference <= ABSOLUTE, () -> what + ": " + p1 + " instead of " + wanted);
                    largest = Math.max(largest, difference);
                    if (relative) {
                        assertRelative(p1, wanted, 0, what);
                        if (wanted >= 0.5) assertRelative(p0, 1 - wanted, ROUNDING, what + ": 1 - p");
                    }
                }
            }
            checked++;
        }
        System.out.println(
                "golden/" + part + " through JNI: " + checked + " references, largest difference " + largest);
        assertEquals(cases, checked);
    }

    @ParameterizedTest
    @CsvSource({"tiny, 360, true", "fixed, 32, false", "robust, 6, true"})
    void graphsInTheTree(String part, int cases, boolean relative) throws IOException {
        Path directory = Data.data("golden/" + part);
        checkFiles(part, directory, files(directory, null), cases, relative);
    }

    @Test
    void largerGraphs() throws IOException {
        Path directory = Data.shared("golden/fixed");
        checkFiles("fixed", directory, files(directory, Data.data("golden/fixed")), 8, false);
    }

    @Test
    void runsByBingosRule() throws IOException {
        Path directory = Data.data("golden/bingo_run");
        Path graphs = Data.data("golden/fixed");
        Pattern name = Pattern.compile("(.+)\\.obs\\.([^_]+)_([0-9]+)_([0-9]+)_([0-9]+)\\.ref");
        int checked = 0;
        for (Path file : files(directory, null)) {
            Matcher matcher = name.matcher(file.getFileName().toString());
            if (!matcher.matches()) continue;
            String trace = file.toString().replaceAll("ref$", "trace");
            List<String> iterations = Data.lines(file.getFileSystem().getPath(trace));
            String[] last = iterations.get(iterations.size() - 1).trim().split("\\s+");
            try (BeliefPropagation bp = load(graphs, matcher.group(1)); FactorGraph graph = bp.graph()) {
                RunResult result = bp.runBingo(
                        Double.parseDouble(matcher.group(2)), Long.parseLong(matcher.group(3)),
                        Long.parseLong(matcher.group(4)), Long.parseLong(matcher.group(5)));
                assertEquals(Long.parseLong(last[0]), result.iterations(), file.toString());
                assertEquals(Double.parseDouble(last[2]), result.activeFraction(), file.toString());
                for (String line : Data.lines(file)) {
                    String[] words = line.split(" ");
                    int variable = graph.variableOfLabel(Long.parseLong(words[0]));
                    assertEquals(Double.parseDouble(words[1]), bp.probability(variable), ABSOLUTE, line);
                }
            }
            checked++;
        }
        assertEquals(4, checked);
    }
}
