package io.github.fastlbp.spark;

import io.github.fastlbp.FactorGraph;
import io.github.fastlbp.FastLbpException;
import io.github.fastlbp.Status;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.function.Function;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.TaskCompletionListener;
import scala.Tuple2;

/**
 * Many sets of evidence on one graph. The graph is broadcast once; each executor parses it once, and its tasks share it
 * and the analysis of the schedule. Every set is a fresh run of its own: results are those of {@link
 * io.github.fastlbp.BeliefPropagation#run} with exactly that evidence, bit for bit, however Spark deals them out.
 *
 * <p>One with {@link #close} undone keeps its broadcast until Spark's cleaner finds it.
 */
public final class EvidenceSets implements Serializable, AutoCloseable {
    private static final long serialVersionUID = 1L;

    private final Broadcast<byte[]> content;
    private final String key;
    private final RunSettings settings;
    private final MemoryBudget budget;
    private final Counters counters;

    /**
     * Broadcasts a graph.
     *
     * @param context Spark's; in Java that of a session is {@code session.sparkContext()}
     * @param graph the graph, which may be closed at once
     * @param settings how each set is run
     * @throws FastLbpException if a setting is wrong, if a query is no variable of the graph, or, with {@link
     *     Status#LIMIT_EXCEEDED}, if the graph needs more memory than executors have outside of the heap
     */
    public EvidenceSets(SparkContext context, FactorGraph graph, RunSettings settings) {
        settings.check();
        graph.variablesOfLabels(settings.queryLabels());
        budget = MemoryBudget.of(context, settings);
        int cpus = context.getConf().getInt("spark.task.cpus", 1);
        budget.check(graph, EntryRunner.sessionsPerTask(settings, cpus), "a graph of " + graph.edgeCount() + " edges");
        byte[] bytes = bytes(graph);
        key = GraphCache.key(bytes, "");
        content = JavaSparkContext.fromSparkContext(context).broadcast(bytes);
        counters = new Counters(context);
        this.settings = settings;
    }

    /**
     * Runs evidence with keys.
     *
     * @param <K> any key
     * @param entries evidence
     * @return what came out, with the same keys, in the same order and partitions
     */
    public <K> JavaPairRDD<K, Outcome> run(JavaPairRDD<K, EvidenceSet> entries) {
        return entries.mapPartitionsToPair(
                partition -> run(partition, Tuple2::_2, (entry, outcome) -> new Tuple2<>(entry._1(), outcome)), true);
    }

    /**
     * Runs evidence without keys.
     *
     * @param entries evidence
     * @return what came out, in the same order and partitions
     */
    public JavaRDD<Outcome> run(JavaRDD<EvidenceSet> entries) {
        return entries.mapPartitions(partition -> run(partition, Function.identity(),
                (entry, outcome) -> outcome), true);
    }

    /**
     * Runs the evidence of rows: the column {@code labels} is an array of labels of variables, {@code states} one of as
     * many states.
     *
     * @param entries rows with these columns, and any others
     * @return the other columns, and {@code status}, {@code message}, {@code iterations}, {@code stop_reason}, {@code
     *     max_diff}, {@code active_fraction}, {@code contradictions}, {@code digest}, {@code probabilities} and {@code
     *     marginals}, see {@link Outcome}
     */
    public Dataset<Row> run(Dataset<Row> entries) {
        StructType input = entries.schema();
        int labels = Rows.column(input, Rows.LABELS);
        int states = Rows.column(input, Rows.STATES);
        List<Integer> kept = Rows.kept(input, Rows.LABELS, Rows.STATES);
        MapPartitionsFunction<Row, Row> map = partition -> run(
                partition,
                row -> Rows.evidence(row, labels, states),
                (row, outcome) -> Rows.row(row, kept, outcome));
        return entries.mapPartitions(map, Encoders.row(Rows.outcomes(input, kept)));
    }

    /**
     * How far jobs are.
     *
     * @return accumulators
     */
    public Counters counters() {
        return counters;
    }

    /** Removes the broadcast from all executors: lineages with it cannot be computed again. */
    @Override
    public void close() {
        content.destroy();
    }

    // --- In tasks ------------------------------------------------------------------------------------------

    private interface Output<T, R> {
        R of(T entry, Outcome outcome);
    }

    private <T, R> Iterator<R> run(Iterator<T> partition, Function<T, EvidenceSet> evidence, Output<T, R> output) {
        if (!partition.hasNext()) return Collections.emptyIterator();
        TaskPlace place = new TaskPlace(settings);
        GraphCache.Lease lease = GraphCache.lease(key, this::parse, budget.cache());
        closeAtEnd(lease);
        EntryRunner runner = new EntryRunner(settings, counters, place, lease);
        return new Groups<>(partition, runner.atOnce(), group -> {
            List<EvidenceSet> entries = new ArrayList<>();
            Outcome[] outcomes = new Outcome[group.size()];
            for (int i = 0; i < outcomes.length; i++) {
                try {
                    entries.add(evidence.apply(group.get(i)));
                } catch (FastLbpException failure) {
                    outcomes[i] = Outcome.failed(failure);
                    counters.add(outcomes[i]);
                }
            }
            Iterator<Outcome> done = (entries.isEmpty() ? new ArrayList<Outcome>() : runner.run(entries)).iterator();
            List<R> results = new ArrayList<>();
            for (int i = 0; i < outcomes.length; i++) {
                results.add(output.of(group.get(i), outcomes[i] == null ? done.next() : outcomes[i]));
            }
            return results;
        });
    }

    private FactorGraph parse() {
        counters.addGraph();
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(content.value()))) {
            return (FactorGraph) in.readObject();
        } catch (IOException | ClassNotFoundException exception) {
            throw new IllegalStateException("a graph that was broadcast cannot be read", exception);
        }
    }

    static void closeAtEnd(AutoCloseable resource) {
        TaskContext.get().addTaskCompletionListener(new TaskCompletionListener() {
            @Override
            public void onTaskCompletion(TaskContext context) {
                try {
                    resource.close();
                } catch (Exception exception) {
                    throw new IllegalStateException(exception); // neither graphs nor leases throw one
                }
            }
        });
    }

    /** Every bit of the graph, in the order of its factors, which not every format of files keeps. */
    private static byte[] bytes(FactorGraph graph) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(graph);
        } catch (IOException exception) {
            throw new IllegalStateException("a graph cannot be written to memory", exception);
        }
        return bytes.toByteArray();
    }
}
