package io.github.fastlbp.spark;

import io.github.fastlbp.Status;
import java.io.Serializable;
import org.apache.spark.SparkContext;
import org.apache.spark.util.LongAccumulator;

/**
 * Spark's accumulators of how far a job is: the driver may read them at any time, and they are in Spark's own pages
 * under their names. What a task that is repeated did before counts, too.
 */
public final class Counters implements Serializable {
    private static final long serialVersionUID = 1L;

    private final LongAccumulator entries;
    private final LongAccumulator failures;
    private final LongAccumulator iterations;
    private final LongAccumulator graphs;

    /**
     * Registers four accumulators, which count from 0.
     *
     * @param context Spark's
     */
    public Counters(SparkContext context) {
        entries = context.longAccumulator("fastlbp entries");
        failures = context.longAccumulator("fastlbp failed entries");
        iterations = context.longAccumulator("fastlbp iterations");
        graphs = context.longAccumulator("fastlbp graphs parsed");
    }

    void add(Outcome outcome) {
        add(outcome.status(), outcome.iterations());
    }

    void add(Status status, long made) {
        entries.add(1L);
        if (status != Status.OK) failures.add(1L);
        iterations.add(made);
    }

    void addGraph() {
        graphs.add(1L);
    }

    /**
     * Number of entries that tasks have ended with, those that failed included. Spark updates it when a task ends.
     *
     * @return the number
     */
    public long entries() {
        return entries.sum();
    }

    /**
     * Number of entries that failed.
     *
     * @return the number
     */
    public long failures() {
        return failures.sum();
    }

    /**
     * Number of iterations of all entries.
     *
     * @return the number
     */
    public long iterations() {
        return iterations.sum();
    }

    /**
     * Number of times that a graph was parsed: once per executor and graph, but where the cache had no room.
     *
     * @return the number
     */
    public long graphsParsed() {
        return graphs.sum();
    }
}
