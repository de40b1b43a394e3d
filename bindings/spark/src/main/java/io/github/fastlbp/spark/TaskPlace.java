package io.github.fastlbp.spark;

import io.github.fastlbp.Backend;
import io.github.fastlbp.BeliefPropagation;
import io.github.fastlbp.FastLbpException;
import io.github.fastlbp.Status;
import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskKilledException;
import org.apache.spark.resource.ResourceInformation;

/** What Spark gave a task: threads and devices; and whether it still may run. */
final class TaskPlace {
    private final TaskContext context;
    private final int threads;
    private final String devices;
    private final Backend backend;

    /** Of the task on this thread. */
    TaskPlace(RunSettings settings) {
        this(TaskContext.get(), settings);
    }

    private TaskPlace(TaskContext context, RunSettings settings) {
        this(context, context.cpus(), context.resourcesJMap(), settings);
    }

    /** For tests, which have no devices for Spark to find. */
    TaskPlace(TaskContext context, int threads, Map<String, ResourceInformation> resources, RunSettings settings) {
        this.context = context;
        this.threads = threads;
        ResourceInformation resource = resources.get(settings.resource());
        devices = resource == null ? null : String.join(",", resource.addresses());
        if (devices != null && !devices.matches("[0-9]+(,[0-9]+)*")) {
            throw new FastLbpException(
                    Status.INVALID_ARGUMENT,
                    "spark.task.resource." + settings.resource() + ": the address '" + devices
                            + "' is not the number of a CUDA device: the discovery script must give numbers from 0");
        }
        backend = settings.backend() != null ? settings.backend() : devices == null ? Backend.CPU : Backend.AUTO;
    }

    int threads() {
        return threads;
    }

    void set(BeliefPropagation bp) {
        bp.setThreads(threads).setBackend(backend);
        if (devices != null) bp.setProperty("device", devices);
    }

    /** Has a session end its run where the task is killed. */
    void watch(BeliefPropagation bp) {
        bp.setProgressListener((iterations, maxIterations, maxDiff, activeFraction) -> !context.isInterrupted());
    }

    /** Ends a task that is killed. */
    void check() {
        if (context.isInterrupted() || Thread.currentThread().isInterrupted()) {
            throw new TaskKilledException("killed while it ran belief propagation");
        }
    }

    /** Sessions with this are alike. */
    @Override
    public String toString() {
        return threads + " " + backend + " " + devices;
    }
}
