package io.github.fastlbp.spark;

import io.github.fastlbp.BeliefPropagation;
import io.github.fastlbp.FactorGraph;
import io.github.fastlbp.FastLbpException;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.apache.spark.sql.SparkSession;

/** What the tests share: graphs of the tree, generated ones, and Spark in several forms. */
final class Data {
    /** With the larger graph of ../shared, where it is, and 10,000 entries. */
    static final boolean LARGE = Boolean.getBoolean("fastlbp.spark.large");

    private Data() {}

    static Path root() {
        return Paths.get(System.getProperty("basedir", "")).toAbsolutePath().resolve("../..").normalize();
    }

    static Path example(String name) {
        return root().resolve("examples/data").resolve(name);
    }

    static byte[] bytes(Path path) {
        try {
            return Files.readAllBytes(path);
        } catch (IOException exception) {
            throw new UncheckedIOException(exception);
        }
    }

    /** Spark with executors in processes of their own; their classes are those of the test. */
    static SparkSession cluster() {
        return builder("local-cluster[2,1,1024]")
                .config("spark.executor.extraClassPath", classPath())
                .config("spark.executor.memory", "1g")
                // Any of Spark's serializers must do.
                .config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
                .getOrCreate();
    }

    /** That of this process, for those that work elsewhere. */
    private static String classPath() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(entry -> Paths.get(entry).toAbsolutePath().toString())
                .collect(Collectors.joining(File.pathSeparator));
    }

    static SparkSession.Builder builder(String master) {
        return SparkSession.builder()
                .master(master)
                .appName("fastlbp")
                .config("spark.ui.enabled", "false")
                .config("spark.driver.host", "127.0.0.1")
                .config("spark.driver.bindAddress", "127.0.0.1")
                .config("spark.sql.shuffle.partitions", "4")
                .config("spark.sql.warehouse.dir", root().resolve("bindings/spark/target/warehouse").toString());
    }

    /** A graph with cycles: AND factors over random earlier variables, with a few states known. */
    static GraphFile generated(int seed) {
        Random random = new Random(seed);
        int count = 20 + random.nextInt(60);
        try (FactorGraph.Builder builder = FactorGraph.builder()) {
            for (int variable = 0; variable < count; variable++) {
                if (variable < 5) {
                    builder.addPrior(variable, random.nextDouble());
                } else {
                    long[] body = random.ints(0, variable).distinct().limit(1 + random.nextInt(3))
                            .asLongStream().toArray();
                    builder.addAnd(variable, body, 0.5 + random.nextDouble() / 2, random.nextDouble() / 4);
                }
            }
            EvidenceSet evidence = new EvidenceSet(new long[] {count - 1, count - 2}, new int[] {1, random.nextInt(2)});
            try (FactorGraph graph = builder.build()) {
                return new GraphFile("generated/" + seed + ".causal_fg", graph.writeBytes("g.causal_fg"), evidence);
            }
        }
    }

    /** Different observations of a graph with labels: a few variables in random states, not all of them possible. */
    static List<EvidenceSet> evidence(FactorGraph graph, int count) {
        long[] labels = graph.labels();
        Random random = new Random(5);
        List<EvidenceSet> sets = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int size = random.nextInt(4);
            long[] of = new long[size];
            int[] states = new int[size];
            for (int j = 0; j < size; j++) {
                of[j] = labels[random.nextInt(labels.length)];
                states[j] = random.nextInt(2);
            }
            sets.add(new EvidenceSet(of, states));
        }
        return sets;
    }

    /** What one process makes of a set: the digest, or the name of the status. */
    static String alone(FactorGraph graph, BeliefPropagation bp, EvidenceSet evidence, RunSettings settings) {
        try {
            evidence.set(graph, bp);
            settings.run(bp);
            double[] marginals = new double[graph.stateCount()];
            bp.marginals(marginals);
            return Long.toHexString(Outcome.digest(marginals));
        } catch (FastLbpException failure) {
            return failure.status().name();
        }
    }

    static List<String> alone(FactorGraph graph, List<EvidenceSet> sets, RunSettings settings) {
        List<String> texts = new ArrayList<>();
        try (BeliefPropagation bp = settings.session(graph)) {
            for (EvidenceSet evidence : sets) texts.add(alone(graph, bp, evidence, settings));
        }
        return texts;
    }

    static String text(Outcome outcome) {
        return outcome.message() == null ? Long.toHexString(outcome.digest()) : outcome.status().name();
    }
}
