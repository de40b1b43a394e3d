package io.github.fastlbp.spark;

import io.github.fastlbp.FactorGraph;
import io.github.fastlbp.FastLbpException;
import java.io.Serializable;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.function.Function;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;

/**
 * Many graphs, each with some evidence: SmartFL's subjects with {@link RunSettings#forSmartFl}, or any others. The
 * files are the content of the rows, as Spark's data source {@code binaryFile} reads them. An executor parses a graph
 * that occurs in many rows once, as long as its cache has room.
 */
public final class GraphFiles implements Serializable {
    private static final long serialVersionUID = 1L;

    private final FileJob job;

    /**
     * Prepares jobs.
     *
     * @param context Spark's; in Java that of a session is {@code session.sparkContext()}
     * @param settings how each graph is run
     * @throws FastLbpException if a setting is wrong
     */
    public GraphFiles(SparkContext context, RunSettings settings) {
        job = new FileJob(context, settings);
    }

    /**
     * Runs graphs with keys.
     *
     * @param <K> any key
     * @param graphs graphs with evidence
     * @return what came out, with the same keys, in the same order and partitions
     */
    public <K> JavaPairRDD<K, Outcome> run(JavaPairRDD<K, GraphFile> graphs) {
        return graphs.mapPartitionsToPair(
                partition -> each(partition, entry -> new Tuple2<>(entry._1(), outcome(entry::_2))), true);
    }

    /**
     * Runs graphs without keys.
     *
     * @param graphs graphs with evidence
     * @return what came out, in the same order and partitions
     */
    public JavaRDD<Outcome> run(JavaRDD<GraphFile> graphs) {
        return graphs.mapPartitions(partition -> each(partition, graph -> outcome(() -> graph)), true);
    }

    /**
     * Runs the graphs of rows: the column {@code path} is a name whose suffixes tell the format, {@code content} has
     * the bytes of the file; {@code labels} and {@code states} are evidence as in {@link EvidenceSets#run(Dataset)},
     * and may be missing.
     *
     * @param graphs rows with these columns, and any others
     * @return all columns but the content and the evidence, and those of an {@link Outcome}
     */
    public Dataset<Row> run(Dataset<Row> graphs) {
        StructType input = graphs.schema();
        FileColumns columns = new FileColumns(input);
        List<Integer> kept = Rows.kept(input, Rows.CONTENT, Rows.LABELS, Rows.STATES);
        MapPartitionsFunction<Row, Row> map =
                partition -> each(partition, row -> Rows.row(row, kept, outcome(() -> columns.file(row))));
        return graphs.mapPartitions(map, Encoders.row(Rows.outcomes(input, kept)));
    }

    /**
     * How far jobs are.
     *
     * @return accumulators
     */
    public Counters counters() {
        return job.counters;
    }

    // --- In tasks ------------------------------------------------------------------------------------------

    static <T, R> Iterator<R> each(Iterator<T> partition, Function<T, R> run) {
        return new Groups<>(partition, 1, group -> Arrays.asList(run.apply(group.get(0))));
    }

    private interface File {
        GraphFile get();
    }

    private Outcome outcome(File file) {
        try {
            GraphFile graph = file.get();
            TaskPlace place = new TaskPlace(job.settings);
            place.check();
            try (GraphCache.Lease lease = lease(graph, job)) {
                EntryRunner runner = new EntryRunner(job.settings, job.counters, place, lease);
                return runner.run(Arrays.asList(graph.evidence())).get(0);
            }
        } catch (FastLbpException failure) {
            Outcome outcome = Outcome.failed(failure);
            job.counters.add(outcome);
            return outcome;
        }
    }

    /** The graph of a file, for a task. */
    static GraphCache.Lease lease(GraphFile file, FileJob job) {
        // The suffixes tell the format, and are all that a name says of the content.
        String name = file.name().substring(file.name().lastIndexOf('/') + 1);
        String format = name.substring(Math.max(0, name.indexOf('.')));
        return GraphCache.lease(
                GraphCache.key(file.content(), format),
                () -> {
                    job.counters.addGraph();
                    FactorGraph graph = FactorGraph.read(file.content(), name);
                    try {
                        job.budget.check(graph, 1, name);
                        return graph;
                    } catch (FastLbpException failure) {
                        graph.close();
                        throw failure;
                    }
                },
                job.budget.cache());
    }

    /** Where the columns of a graph with evidence are. */
    static final class FileColumns implements Serializable {
        private static final long serialVersionUID = 1L;

        private final int path;
        private final int content;
        private final int labels;
        private final int states;

        FileColumns(StructType schema) {
            path = Rows.column(schema, Rows.PATH);
            content = Rows.column(schema, Rows.CONTENT);
            labels = Rows.optional(schema, Rows.LABELS);
            states = labels < 0 ? -1 : Rows.column(schema, Rows.STATES);
        }

        GraphFile file(Row row) {
            return new GraphFile(
                    Rows.notNull(row, path), Rows.notNull(row, content), Rows.evidence(row, labels, states));
        }
    }
}
