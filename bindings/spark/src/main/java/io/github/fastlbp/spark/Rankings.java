package io.github.fastlbp.spark;

import io.github.fastlbp.BeliefPropagation;
import io.github.fastlbp.Evidence;
import io.github.fastlbp.FactorGraph;
import io.github.fastlbp.FastLbpException;
import io.github.fastlbp.Inspection;
import io.github.fastlbp.RunResult;
import io.github.fastlbp.Status;
import java.io.Serializable;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;

/**
 * BINGO's loop on many programs whose true alarms are known, as its evaluation runs it: see {@link Inspection}. One
 * session is a chain of runs, each of which needs the answer before, so that one task makes it; many run at once.
 */
public final class Rankings implements Serializable {
    private static final long serialVersionUID = 1L;

    private static final String ALARMS = "alarms";
    private static final String NAMES = "names";
    private static final String TRUE_ALARMS = "true_alarms";

    private static final StructField[] RANKING = {
        DataTypes.createStructField("status", DataTypes.StringType, false),
        DataTypes.createStructField("message", DataTypes.StringType, true),
        DataTypes.createStructField("inspected", DataTypes.createArrayType(DataTypes.LongType, false), false),
        DataTypes.createStructField("probabilities", DataTypes.createArrayType(DataTypes.DoubleType, false), false),
        DataTypes.createStructField("found", DataTypes.LongType, false),
        DataTypes.createStructField("iterations", DataTypes.LongType, false),
    };

    private final FileJob job;

    /**
     * Prepares jobs.
     *
     * @param context Spark's; in Java that of a session is {@code session.sparkContext()}
     * @param settings how the session is run after each answer: {@link RunSettings#forBingo}, or others
     * @throws FastLbpException if a setting is wrong
     */
    public Rankings(SparkContext context, RunSettings settings) {
        job = new FileJob(context, settings);
    }

    /**
     * Ranks the alarms of programs with keys.
     *
     * @param <K> any key
     * @param subjects programs
     * @return their rankings, with the same keys, in the same order and partitions
     */
    public <K> JavaPairRDD<K, Ranking> run(JavaPairRDD<K, Subject> subjects) {
        return subjects.mapPartitionsToPair(
                partition -> GraphFiles.each(partition, entry -> new Tuple2<>(entry._1(), ranking(entry::_2))), true);
    }

    /**
     * Ranks the alarms of the programs of rows: {@code path}, {@code content}, {@code labels} and {@code states} are
     * the graph and what is known of it, as in {@link GraphFiles#run(Dataset)}; {@code alarms} and {@code true_alarms}
     * are arrays of labels, and {@code names}, which may be missing, has a name for each alarm.
     *
     * @param subjects rows with these columns, and any others
     * @return the other columns, and {@code status}, {@code message}, {@code inspected}, {@code probabilities}, {@code
     *     found} and {@code iterations}, see {@link Ranking}
     */
    public Dataset<Row> run(Dataset<Row> subjects) {
        StructType input = subjects.schema();
        GraphFiles.FileColumns file = new GraphFiles.FileColumns(input);
        int alarms = Rows.column(input, ALARMS);
        int trueAlarms = Rows.column(input, TRUE_ALARMS);
        int names = Rows.optional(input, NAMES);
        List<Integer> kept =
                Rows.kept(input, Rows.CONTENT, Rows.LABELS, Rows.STATES, ALARMS, NAMES, TRUE_ALARMS);
        MapPartitionsFunction<Row, Row> map = partition -> GraphFiles.each(partition, row -> {
            Ranking ranking = ranking(() -> new Subject(
                    file.file(row),
                    Rows.longs(row, alarms),
                    names < 0 || row.isNullAt(names) ? null : row.<String>getList(names).toArray(new String[0]),
                    Rows.longs(row, trueAlarms)));
            return Rows.row(
                    row,
                    kept,
                    ranking.status().name(),
                    ranking.message(),
                    ranking.inspected(),
                    ranking.probabilities(),
                    ranking.found(),
                    ranking.iterations());
        });
        return subjects.mapPartitions(map, Encoders.row(Rows.schema(input, kept, RANKING)));
    }

    /**
     * How far jobs are: entries are programs.
     *
     * @return accumulators
     */
    public Counters counters() {
        return job.counters;
    }

    // --- In tasks ------------------------------------------------------------------------------------------

    private interface Source {
        Subject get();
    }

    private Ranking ranking(Source source) {
        Ranking ranking;
        try {
            Subject subject = source.get();
            TaskPlace place = new TaskPlace(job.settings);
            try (GraphCache.Lease lease = GraphFiles.lease(subject.graph(), job)) {
                ranking = rank(subject, place, lease);
            }
        } catch (FastLbpException failure) {
            ranking = new Ranking(failure);
        }
        job.counters.add(ranking.status(), ranking.iterations());
        return ranking;
    }

    private Ranking rank(Subject subject, TaskPlace place, GraphCache.Lease lease) {
        FactorGraph graph = lease.graph();
        long[] alarms = subject.alarms();
        Set<Long> left = new HashSet<>();
        for (long label : subject.trueAlarms()) left.add(label);
        for (long label : subject.trueAlarms()) {
            if (Arrays.stream(alarms).noneMatch(alarm -> alarm == label)) {
                throw new FastLbpException(
                        Status.INVALID_ARGUMENT, "variable " + label + " is said to be a true alarm, but is no alarm");
            }
        }
        long found = left.size();
        Evidence evidence = subject.graph().evidence().of(graph);
        BeliefPropagation bp = lease.session(job.settings, place);
        place.watch(bp);
        long[] iterations = {0};
        Inspection inspection =
                new Inspection(bp, evidence, graph.variablesOfLabels(alarms), subject.names()).setRun(session -> {
                    place.check();
                    RunResult result = job.settings.run(session);
                    place.check();
                    iterations[0] += result.iterations();
                    return result;
                });
        long[] inspected = new long[alarms.length];
        double[] probabilities = new double[alarms.length];
        int count = 0;
        if (!left.isEmpty()) inspection.rank();
        while (!left.isEmpty()) {
            int alarm = inspection.order()[0];
            inspected[count] = alarms[alarm];
            probabilities[count++] = inspection.probability(alarm);
            boolean isTrue = left.remove(alarms[alarm]);
            if (!left.isEmpty()) inspection.answer(alarm, isTrue);
        }
        return new Ranking(Arrays.copyOf(inspected, count), Arrays.copyOf(probabilities, count), found, iterations[0]);
    }
}
