import io.github.fastlbp.BeliefPropagation;
import io.github.fastlbp.FactorGraph;
import io.github.fastlbp.Schedule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * Ranks the alarms of a session of BINGO by their probability, and prints the first five. Arguments: the graph, and a
 * file with a line {@code LABEL NAME TRUTH} for each alarm.
 */
public final class RankSession {
    public static void main(String[] arguments) throws IOException {
        if (arguments.length != 2) {
            System.err.println("RankSession GRAPH ALARMS is needed, where ALARMS has lines LABEL NAME TRUTH");
            System.exit(2);
        }
        List<String> lines = Files.readAllLines(Paths.get(arguments[1]));
        long[] labels = lines.stream().mapToLong(line -> Long.parseLong(line.split(" ")[0])).toArray();
        double[] p = new double[labels.length];
        try (FactorGraph graph = FactorGraph.read(Paths.get(arguments[0]));
                BeliefPropagation bp = new BeliefPropagation(graph)) {
            bp.setSchedule(Schedule.SEQFIX).setMaxIterations(100).setTolerance(0); // all 100 of them
            bp.run();
            bp.probabilities(graph.variablesOfLabels(labels), p);
        }
        IntStream.range(0, p.length).boxed()
                .sorted((a, b) -> Double.compare(p[b], p[a]))
                .limit(5)
                .forEach(i -> System.out.printf(Locale.ROOT, "%.6f %s%n", p[i], lines.get(i).split(" ")[1]));
    }
}
