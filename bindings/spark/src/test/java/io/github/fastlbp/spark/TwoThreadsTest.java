package io.github.fastlbp.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.fastlbp.FactorGraph;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Test;

/** Tasks with two threads run several sets at once. */
class TwoThreadsTest {
    @Test
    void resultsAreThoseOfOneThread() {
        SparkSession spark = Data.builder("local[2]").config("spark.task.cpus", "2").getOrCreate();
        RunSettings settings = new RunSettings().maxIterations(10);
        try (FactorGraph graph = FactorGraph.read(Data.example("weblech.causal_fg.gz"));
                EvidenceSets sets = new EvidenceSets(spark.sparkContext(), graph, settings)) {
            List<EvidenceSet> evidence = new ArrayList<>(Data.evidence(graph, 50));
            evidence.set(7, new EvidenceSet(new long[] {-1}, new int[] {0}));
            // Impossible: an alarm that is derived from what is observed not to be.
            List<String> wanted = Data.alone(graph, evidence, settings);
            assertEquals("OUT_OF_RANGE", wanted.get(7));
            JavaSparkContext context = JavaSparkContext.fromSparkContext(spark.sparkContext());
            List<Outcome> found = sets.run(context.parallelize(evidence, 3)).collect();
            assertEquals(wanted, found.stream().map(Data::text).collect(Collectors.toList()));
            assertEquals(50, sets.counters().entries());
        } finally {
            spark.stop();
        }
    }
}
