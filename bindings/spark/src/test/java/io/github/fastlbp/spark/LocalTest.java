package io.github.fastlbp.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.fastlbp.BeliefPropagation;
import io.github.fastlbp.FactorGraph;
import io.github.fastlbp.FastLbpException;
import io.github.fastlbp.Status;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkException;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.resource.ResourceInformation;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tasks in this process, with Java's serializer; datasets, failures, and tasks that are killed. */
class LocalTest {
    private static SparkSession spark;
    private static JavaSparkContext context;

    @BeforeAll
    static void start() {
        spark = Data.builder("local[2]").getOrCreate();
        context = JavaSparkContext.fromSparkContext(spark.sparkContext());
    }

    @AfterAll
    static void stop() {
        spark.stop();
    }

    /** 1 with the probability 0.3; 2 is 1, certainly, and 3 is not 1. */
    private static FactorGraph small() {
        try (FactorGraph.Builder builder = FactorGraph.builder()) {
            return builder.addPrior(1, 0.3)
                    .addAnd(2, new long[] {1}, 1, 0)
                    .addAnd(3, new long[] {1}, 0, 1)
                    .build();
        }
    }

    private static StructField column(String name, org.apache.spark.sql.types.DataType type) {
        return DataTypes.createStructField(name, type, true);
    }

    private static final org.apache.spark.sql.types.DataType LONGS = DataTypes.createArrayType(DataTypes.LongType);
    private static final org.apache.spark.sql.types.DataType INTS = DataTypes.createArrayType(DataTypes.IntegerType);

    @Test
    void rowsInRowsOutAndAFailureIsARow() {
        StructType schema = DataTypes.createStructType(new StructField[] {
            column("id", DataTypes.StringType), column("labels", LONGS), column("states", INTS)
        });
        Dataset<Row> rows = spark.createDataFrame(
                Arrays.asList(
                        RowFactory.create("none", new Long[] {}, new Integer[] {}),
                        RowFactory.create("two", new Long[] {2L}, new Integer[] {1}),
                        RowFactory.create("both", new Long[] {2L, 3L}, new Integer[] {1, 1}),
                        RowFactory.create("unknown", new Long[] {7L}, new Integer[] {1}),
                        RowFactory.create("state", new Long[] {2L}, new Integer[] {2}),
                        RowFactory.create("lengths", new Long[] {2L}, new Integer[] {}),
                        RowFactory.create("null", null, new Integer[] {})),
                schema);
        try (FactorGraph graph = small();
                EvidenceSets sets = new EvidenceSets(
                        spark.sparkContext(), graph, new RunSettings().queries(1, 3).marginals())) {
            List<Row> found = sets.run(rows).collectAsList();
            List<String> statuses =
                    found.stream().map(row -> row.getAs("id") + " " + row.getAs("status")).collect(Collectors.toList());
            assertEquals(
                    Arrays.asList(
                            "none OK",
                            "two OK",
                            "both CONTRADICTION",
                            "unknown OUT_OF_RANGE",
                            "state OUT_OF_RANGE",
                            "lengths INVALID_ARGUMENT",
                            "null INVALID_ARGUMENT"),
                    statuses);
            assertEquals(Arrays.asList(0.3, 0.7), found.get(0).getList(found.get(0).fieldIndex("probabilities")));
            assertEquals(Arrays.asList(1.0, 0.0), found.get(1).getList(found.get(1).fieldIndex("probabilities")));
            assertEquals(6, found.get(1).getList(found.get(1).fieldIndex("marginals")).size());
            assertTrue(found.get(3).<String>getAs("message").contains("label 7"),
                    found.get(3).<String>getAs("message"));
            assertEquals(7, sets.counters().entries());
            assertEquals(5, sets.counters().failures());
            FastLbpException missing = assertThrows(FastLbpException.class, () -> sets.run(rows.drop("states")));
            assertTrue(missing.getMessage().contains("no column 'states'"), missing.getMessage());
            FastLbpException twice = assertThrows(
                    FastLbpException.class, () -> sets.run(rows.withColumn("status", functions.lit(1))));
            assertTrue(twice.getMessage().contains("'status' would be there twice"), twice.getMessage());
        }
    }

    @Test
    void softEvidenceAndKeys() {
        try (FactorGraph graph = small();
                EvidenceSets sets = new EvidenceSets(spark.sparkContext(), graph, new RunSettings().queries(1))) {
            EvidenceSet soft = new EvidenceSet(
                    new long[0], new int[0], new long[] {2}, new double[][] {{1, 7}});
            List<scala.Tuple2<String, EvidenceSet>> entries = new ArrayList<>();
            entries.add(new scala.Tuple2<>("soft", soft));
            entries.add(new scala.Tuple2<>("none", new EvidenceSet()));
            List<scala.Tuple2<String, Outcome>> found = sets.run(context.parallelizePairs(entries, 2)).collect();
            assertEquals("soft", found.get(0)._1());
            assertEquals(0.75, found.get(0)._2().probabilities()[0], 1e-15);
            assertEquals(0.3, found.get(1)._2().probabilities()[0], 1e-15);
        }
    }

    @Test
    void wrongSettingsFailBeforeAnythingIsRun() {
        try (FactorGraph graph = small()) {
            String[] properties = {"tol", "-1", "damping", "1.5", "nothing", "1"};
            for (int i = 0; i < properties.length; i += 2) {
                RunSettings wrong = new RunSettings().property(properties[i], properties[i + 1]);
                FastLbpException failure = assertThrows(
                        FastLbpException.class, () -> new EvidenceSets(spark.sparkContext(), graph, wrong));
                assertEquals(Status.INVALID_ARGUMENT, failure.status());
            }
            RunSettings query = new RunSettings().queries(99);
            FastLbpException failure =
                    assertThrows(FastLbpException.class, () -> new EvidenceSets(spark.sparkContext(), graph, query));
            assertEquals(Status.OUT_OF_RANGE, failure.status());
        }
    }

    @Test
    void filesAsSparkReadsThem(@TempDir Path directory) throws IOException {
        for (int seed = 0; seed < 5; seed++) {
            Files.write(directory.resolve(seed + ".causal_fg"), Data.generated(seed).content());
        }
        Files.write(directory.resolve("9.causal_fg"), "1\nno graph\n".getBytes(StandardCharsets.UTF_8));
        RunSettings settings = RunSettings.forSmartFl();
        GraphFiles runs = new GraphFiles(spark.sparkContext(), settings);
        Dataset<Row> files = spark.read().format("binaryFile").load(directory.toString());
        List<Row> found = runs.run(files).orderBy("path").collectAsList();
        assertEquals(6, found.size());
        for (int seed = 0; seed < 5; seed++) {
            try (FactorGraph graph = FactorGraph.read(Data.generated(seed).content(), "g.causal_fg");
                    BeliefPropagation bp = settings.session(graph)) {
                String wanted = Data.alone(graph, bp, new EvidenceSet(), settings);
                assertEquals(wanted, Long.toHexString(found.get(seed).<Long>getAs("digest")));
            }
        }
        assertEquals("PARSE", found.get(5).getAs("status"));
        assertTrue(found.get(5).<String>getAs("message").contains("9.causal_fg"),
                found.get(5).<String>getAs("message"));
    }

    /** A run that would take for ever ends with its task, with an interrupt or without. */
    @Test
    void killedTasksEndTheirRuns() throws Exception {
        for (boolean interrupts : new boolean[] {false, true}) {
            try (FactorGraph graph = FactorGraph.read(Data.example("weblech.causal_fg.gz"));
                    EvidenceSets sets = new EvidenceSets(
                            spark.sparkContext(), graph, new RunSettings().iterations(1L << 60))) {
                int before = GraphCache.state()[1];
                Throwable[] thrown = new Throwable[1];
                Thread job = new Thread(() -> {
                    context.setJobGroup("endless " + interrupts, "a run without an end", interrupts);
                    try {
                        sets.run(context.parallelize(Collections.nCopies(2, new EvidenceSet()), 2)).collect();
                    } catch (Throwable failure) {
                        thrown[0] = failure;
                    }
                });
                job.start();
                await(() -> GraphCache.state()[1] == before + 2);
                Thread.sleep(100);
                assertEquals(before + 2, GraphCache.state()[1], "they run");
                context.cancelJobGroup("endless " + interrupts);
                await(() -> GraphCache.state()[1] == before);
                job.join();
                assertTrue(thrown[0] instanceof SparkException || thrown[0].getCause() instanceof SparkException,
                        String.valueOf(thrown[0]));
            }
        }
    }

    private interface Condition {
        boolean holds();
    }

    private static void await(Condition condition) throws InterruptedException {
        long end = System.nanoTime() + 60_000_000_000L;
        while (!condition.holds()) {
            assertTrue(System.nanoTime() < end, "this did not come");
            Thread.sleep(5);
        }
    }

    @Test
    void theCacheParsesOnceAndForgets() {
        GraphCache.clear();
        assertArrayEquals(new int[] {0, 0}, GraphCache.state());
        GraphFiles runs = new GraphFiles(spark.sparkContext(), new RunSettings());
        List<GraphFile> graphs = new ArrayList<>();
        for (int i = 0; i < 60; i++) graphs.add(Data.generated(i % 3));
        runs.run(context.parallelize(graphs, 6)).count();
        assertEquals(3, runs.counters().graphsParsed());
        assertArrayEquals(new int[] {3, 0}, GraphCache.state());
        GraphCache.clear();
        assertArrayEquals(new int[] {0, 0}, GraphCache.state());
    }

    @Test
    void graphsThatDoNotFitAreRefusedWithWhatWouldHelp() {
        SparkConf conf = new SparkConf(false);
        conf.set("spark.executor.cores", "4").set("spark.task.cpus", "2").set("spark.executor.memory", "8g");
        MemoryBudget enough = MemoryBudget.of(conf, 7, new RunSettings());
        try (FactorGraph graph = FactorGraph.read(Data.example("weblech.causal_fg.gz"))) {
            enough.check(graph, 1, "it");
            assertEquals(819L << 20, 2 * enough.cache());
            MemoryBudget little = MemoryBudget.of(conf.set("spark.executor.memoryOverhead", "1m"),
                    7, new RunSettings());
            FastLbpException failure = assertThrows(FastLbpException.class, () -> little.check(graph, 1, "weblech"));
            assertEquals(Status.LIMIT_EXCEEDED, failure.status());
            assertTrue(
                    failure.getMessage().matches("weblech with the sessions of 2 tasks .* executors have 1 MiB.*"
                            + " memoryOverhead to \\d+m or more.*")
                            || failure.getMessage().contains("spark.executor.memoryOverhead to"),
                    failure.getMessage());
            MemoryBudget.of(conf, 7, new RunSettings().checkMemory(false)).check(graph, 1, "weblech");
            // What the message asks for is enough.
            String asked = failure.getMessage().replaceAll(".*memoryOverhead to (\\d+m).*", "$1");
            MemoryBudget.of(conf.set("spark.executor.memoryOverhead", asked), 7, new RunSettings())
                    .check(graph, 1, "weblech");
        }
    }

    private static Map<String, ResourceInformation> resources(ResourceInformation gpu) {
        Map<String, ResourceInformation> resources = new HashMap<>();
        resources.put("gpu", gpu);
        return resources;
    }

    @Test
    void devicesAreThoseThatSparkGives() {
        try (FactorGraph graph = small(); BeliefPropagation bp = new BeliefPropagation(graph)) {
            RunSettings settings = new RunSettings();
            new TaskPlace(null, 3, Collections.emptyMap(), settings).set(bp);
            assertEquals("cpu", bp.getProperty("backend"));
            assertEquals("3", bp.getProperty("threads"));
            ResourceInformation five = new ResourceInformation("gpu", new String[] {"5"});
            new TaskPlace(null, 1, resources(five), settings).set(bp);
            assertEquals("auto", bp.getProperty("backend"));
            assertEquals("5", bp.getProperty("device"));
            ResourceInformation two = new ResourceInformation("gpu", new String[] {"4", "2"});
            new TaskPlace(null, 1, resources(two), settings).set(bp);
            assertEquals("2,4", bp.getProperty("device"));
            ResourceInformation named = new ResourceInformation("gpu", new String[] {"GPU-3fe"});
            FastLbpException failure = assertThrows(
                    FastLbpException.class,
                    () -> new TaskPlace(null, 1, resources(named), settings));
            assertTrue(failure.getMessage().contains("'GPU-3fe' is not the number of a CUDA device"));
        }
    }

    /** As {@code fastlbp rank} has them inspected, see InspectionTest of bindings/java. */
    @Test
    void rankingsAreThoseOfOneProcess() throws IOException {
        List<String> lines = Files.readAllLines(Data.example("weblech.alarms"));
        long[] alarms = new long[lines.size()];
        String[] names = new String[alarms.length];
        List<Long> trueAlarms = new ArrayList<>();
        for (int i = 0; i < alarms.length; i++) {
            String[] words = lines.get(i).split(" ");
            alarms[i] = Long.parseLong(words[0]);
            names[i] = words[1];
            if (words[2].equals("1")) trueAlarms.add(alarms[i]);
        }
        long[] known = trueAlarms.stream().mapToLong(Long::longValue).toArray();
        GraphFile graph = new GraphFile(
                "weblech.causal_fg.gz", Data.bytes(Data.example("weblech.causal_fg.gz")), new EvidenceSet());
        RunSettings settings = new RunSettings().bingo(1e-6, 20, 40, 10);
        Rankings rankings = new Rankings(spark.sparkContext(), settings);
        List<scala.Tuple2<Integer, Subject>> subjects = new ArrayList<>();
        subjects.add(new scala.Tuple2<>(0, new Subject(graph, alarms, names, known)));
        subjects.add(new scala.Tuple2<>(1, new Subject(graph, alarms, null, new long[] {alarms[3]})));
        subjects.add(new scala.Tuple2<>(2, new Subject(graph, alarms, null, new long[] {1234567})));
        List<scala.Tuple2<Integer, Ranking>> found = rankings.run(context.parallelizePairs(subjects, 3)).collect();
        Ranking first = found.get(0)._2();
        assertEquals(Status.OK, first.status(), first.message());
        assertEquals(known.length, first.found());
        long last = first.inspected()[first.inspected().length - 1];
        assertTrue(trueAlarms.contains(last), "it ends with the last true alarm");
        assertTrue(first.iterations() > 20L * (first.inspected().length - 1));
        assertEquals(alarms[3], found.get(1)._2().inspected()[found.get(1)._2().inspected().length - 1]);
        assertEquals(Status.INVALID_ARGUMENT, found.get(2)._2().status());
        assertNotEquals(0, rankings.counters().iterations());

        StructType schema = DataTypes.createStructType(new StructField[] {
            column("path", DataTypes.StringType),
            column("content", DataTypes.BinaryType),
            column("alarms", LONGS),
            column("names", DataTypes.createArrayType(DataTypes.StringType)),
            column("true_alarms", LONGS)
        });
        Row row = RowFactory.create(
                "w/weblech.causal_fg.gz",
                graph.content(),
                Arrays.stream(alarms).boxed().toArray(),
                names,
                trueAlarms.toArray());
        Row ranked = rankings.run(spark.createDataFrame(Arrays.asList(row), schema)).first();
        assertEquals("w/weblech.causal_fg.gz", ranked.getAs("path"));
        assertEquals(
                Arrays.stream(first.inspected()).boxed().collect(Collectors.toList()),
                ranked.getList(ranked.fieldIndex("inspected")));
    }
}
