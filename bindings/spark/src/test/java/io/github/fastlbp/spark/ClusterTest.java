package io.github.fastlbp.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.fastlbp.BeliefPropagation;
import io.github.fastlbp.FactorGraph;
import io.github.fastlbp.Status;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Two executors with a core each, in processes of their own. */
class ClusterTest {
    private static SparkSession spark;
    private static JavaSparkContext context;

    @BeforeAll
    static void start() {
        spark = Data.cluster();
        context = JavaSparkContext.fromSparkContext(spark.sparkContext());
    }

    @AfterAll
    static void stop() {
        spark.stop();
    }

    private static FactorGraph graph() {
        return FactorGraph.read(
                Data.LARGE
                        ? Data.root().resolve("../shared/graphs/bingo/ftp-thresc.causal_fg.gz")
                        : Data.example("weblech.causal_fg.gz"));
    }

    private static double seconds(long since) {
        return (System.nanoTime() - since) / 1e9;
    }

    @Test
    void manySetsHaveTheBitsOfOneProcess() {
        int count = Data.LARGE ? 10_000 : 1_000;
        RunSettings settings = new RunSettings().maxIterations(Data.LARGE ? 5 : 10);
        try (FactorGraph graph = graph();
                EvidenceSets sets = new EvidenceSets(spark.sparkContext(), graph, settings)) {
            List<EvidenceSet> evidence = Data.evidence(graph, count);
            // Executors start, and Java compiles, before anything is timed: in one process, too.
            sets.run(context.parallelize(evidence.subList(0, count / 10), 4)).count();
            batch(graph, evidence.subList(0, count / 10), settings);

            long began = System.nanoTime();
            List<String> wanted = batch(graph, evidence, settings);
            double inOneProcess = seconds(began);
            JavaRDD<EvidenceSet> entries = context.parallelize(evidence, 16);
            began = System.nanoTime();
            List<Outcome> outcomes = sets.run(entries).collect();
            double onSpark = seconds(began);
            assertEquals(wanted, outcomes.stream().map(Data::text).collect(Collectors.toList()));

            // One entry in a task of its own, against one more entry in a task: what a task costs.
            List<EvidenceSet> few = evidence.subList(0, 200);
            double[] times = new double[2];
            for (int i = 0; i < 2; i++) {
                began = System.nanoTime();
                sets.run(context.parallelize(few, i == 0 ? 2 : 200)).count();
                times[i] = seconds(began);
            }
            System.out.printf(
                    "spark: %d sets on %d edges: runBatch on 2 threads %.2f s, Spark on 2 executors %.2f s, ratio %.2f;"
                            + " %.1f ms per task%n",
                    count, graph.edgeCount(), inOneProcess, onSpark, inOneProcess / onSpark,
                    (times[1] - times[0]) / 198 * 2 * 1000);
            assertTrue(sets.counters().graphsParsed() <= 2, "parsed " + sets.counters().graphsParsed() + " times");
            assertEquals(count + count / 10 + 400, sets.counters().entries());
            double least = Double.parseDouble(System.getProperty("fastlbp.spark.ratio", "0"));
            assertTrue(inOneProcess / onSpark >= least, inOneProcess / onSpark + " of the throughput of one process");
        }
    }

    /** By runBatch in this process on two threads: digests, or names of the statuses. */
    private static List<String> batch(FactorGraph graph, List<EvidenceSet> sets, RunSettings settings) {
        List<String> texts = new ArrayList<>();
        int states = graph.stateCount();
        try (BeliefPropagation bp = settings.session(graph).setThreads(2)) {
            // In parts: the marginals of all would not fit the heap.
            int part = 100;
            double[] marginals = new double[part * states];
            for (int first = 0; first < sets.size(); first += part) {
                List<EvidenceSet> some = sets.subList(first, Math.min(first + part, sets.size()));
                int[] offsets = new int[some.size() + 1];
                for (int i = 0; i < some.size(); i++) offsets[i + 1] = offsets[i] + some.get(i).labels().length;
                long[] labels = some.stream().flatMapToLong(set -> Arrays.stream(set.labels())).toArray();
                int[] of = some.stream().flatMapToInt(set -> Arrays.stream(set.states())).toArray();
                Status[] statuses = bp.runBatchLabels(offsets, labels, of, marginals);
                for (int i = 0; i < statuses.length; i++) {
                    double[] own = Arrays.copyOfRange(marginals, i * states, (i + 1) * states);
                    texts.add(statuses[i] == Status.OK ? Long.toHexString(Outcome.digest(own)) : statuses[i].name());
                }
            }
        }
        return texts;
    }

    @Test
    void anExecutorThatIsKilledInTheMiddleLosesNothing() {
        RunSettings settings = new RunSettings().maxIterations(10);
        try (FactorGraph graph = FactorGraph.read(Data.example("weblech.causal_fg.gz"));
                EvidenceSets sets = new EvidenceSets(spark.sparkContext(), graph, settings)) {
            List<EvidenceSet> evidence = Data.evidence(graph, 200);
            JavaRDD<EvidenceSet> deadly = context.parallelize(evidence, 8)
                    .mapPartitionsWithIndex(
                            (partition, entries) -> {
                                List<EvidenceSet> all = new ArrayList<>();
                                entries.forEachRemaining(all::add);
                                boolean kills = partition == 3 && TaskContext.get().attemptNumber() == 0;
                                return new Groups<>(all.iterator(), 1, group -> {
                                    // In the middle of the partition, with results that are then lost.
                                    if (kills && group.get(0) == all.get(12)) Runtime.getRuntime().halt(1);
                                    return group;
                                });
                            },
                            true);
            List<String> outcomes = sets.run(deadly).map(Data::text).collect();
            assertEquals(Data.alone(graph, evidence, settings), outcomes);
            // Two executors, and the one in place of that which was killed.
            assertTrue(sets.counters().graphsParsed() <= 3, "parsed " + sets.counters().graphsParsed() + " times");
        }
    }

    @Test
    void manyGraphsHaveTheBitsOfOneProcess() {
        List<GraphFile> graphs = IntStream.range(0, 200).mapToObj(Data::generated).collect(Collectors.toList());
        RunSettings settings = RunSettings.forSmartFl();
        List<String> wanted = new ArrayList<>();
        for (GraphFile file : graphs) {
            try (FactorGraph graph = FactorGraph.read(file.content(), "g.causal_fg");
                    BeliefPropagation bp = settings.session(graph)) {
                wanted.add(Data.alone(graph, bp, file.evidence(), settings));
            }
        }
        GraphFiles runs = new GraphFiles(spark.sparkContext(), settings);
        List<String> outcomes = runs.run(context.parallelize(graphs, 8)).map(Data::text).collect();
        assertEquals(wanted, outcomes);
        assertEquals(200, wanted.stream().distinct().count(), "the graphs are different ones");
        assertEquals(200, runs.counters().entries());
    }
}
