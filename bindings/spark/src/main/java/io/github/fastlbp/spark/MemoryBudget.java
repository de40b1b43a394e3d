package io.github.fastlbp.spark;

import io.github.fastlbp.FactorGraph;
import io.github.fastlbp.FastLbpException;
import io.github.fastlbp.Status;
import java.io.Serializable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;

/** What an executor may take outside of its heap, and how many tasks it has at once. */
final class MemoryBudget implements Serializable {
    private static final long serialVersionUID = 1L;

    /** Spark's own defaults of {@code spark.executor.memoryOverhead}: a tenth of the heap, and no less than this. */
    private static final double FACTOR = 0.1;

    private static final String LEAST = "384m";

    /** What is kept of graphs and sessions where nothing limits memory. */
    private static final long CACHE = 1L << 30;

    private static final Pattern LOCAL_CLUSTER = Pattern.compile("local-cluster\\[\\s*\\d+\\s*,\\s*(\\d+)\\s*,.*");

    /** In bytes; Long.MAX_VALUE for none. */
    private final long limit;

    private final int tasks;

    MemoryBudget(long limit, int tasks) {
        this.limit = limit;
        this.tasks = tasks;
    }

    static MemoryBudget of(SparkContext context, RunSettings settings) {
        return of(context.getConf(), context.defaultParallelism(), settings);
    }

    static MemoryBudget of(SparkConf conf, int threads, RunSettings settings) {
        String master = conf.get("spark.master", "");
        Matcher cluster = LOCAL_CLUSTER.matcher(master);
        boolean isCluster = cluster.matches();
        // Executors in the driver have no limit of their own, and as many tasks as threads.
        boolean isLocal = master.startsWith("local") && !isCluster;
        int cores = isCluster ? Integer.parseInt(cluster.group(1)) : isLocal ? threads : 1;
        cores = conf.getInt("spark.executor.cores", cores);
        int tasks = Math.max(1, cores / conf.getInt("spark.task.cpus", 1));
        if (isLocal || !settings.checksMemory()) return new MemoryBudget(Long.MAX_VALUE, tasks);
        long heap = conf.getSizeAsMb("spark.executor.memory", "1g");
        double factor = conf.getDouble("spark.executor.memoryOverheadFactor", FACTOR);
        long least = conf.getSizeAsMb("spark.executor.minMemoryOverhead", LEAST);
        long standard = Math.max(least, (long) (factor * heap));
        return new MemoryBudget(conf.getSizeAsMb("spark.executor.memoryOverhead", standard + "m") << 20, tasks);
    }

    /** Fails if a graph, with so many sessions in each task, does not fit. */
    void check(FactorGraph graph, int sessions, String what) {
        long needed = graph.estimateBytes(Math.multiplyExact(tasks, sessions));
        if (needed <= limit) return;
        throw new FastLbpException(
                Status.LIMIT_EXCEEDED,
                what + " with the sessions of " + tasks + " tasks at once takes about " + mebibytes(needed)
                        + " MiB outside of the heap, but executors have " + mebibytes(limit)
                        + " MiB for that: set spark.executor.memoryOverhead to " + mebibytes(needed + needed / 4)
                        + "m or more, or spark.task.cpus higher, so that fewer tasks run at once; where nothing limits"
                        + " memory, RunSettings.checkMemory(false)");
    }

    /** What executors may keep of graphs and sessions that no task uses. */
    long cache() {
        return limit == Long.MAX_VALUE ? CACHE : limit / 2;
    }

    private static long mebibytes(long bytes) {
        return (bytes + (1 << 20) - 1) >> 20;
    }
}
