package io.github.fastlbp.spark;

import io.github.fastlbp.Backend;
import io.github.fastlbp.BeliefPropagation;
import io.github.fastlbp.Contradiction;
import io.github.fastlbp.FactorGraph;
import io.github.fastlbp.Inference;
import io.github.fastlbp.RunResult;
import io.github.fastlbp.Schedule;
import java.io.Serializable;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * How each entry is run. Instances do not change: every setter gives another one. The defaults are those of {@link
 * BeliefPropagation}.
 */
public final class RunSettings implements Serializable {
    private static final long serialVersionUID = 1L;

    /** What ends a run. */
    private enum Rule {
        TOLERANCE,
        ITERATIONS,
        BINGO
    }

    /** By the names of {@link BeliefPropagation#setProperty}. */
    private final TreeMap<String, String> properties;

    private String schedule = "SEQFIX";
    private long seed;
    private Rule rule = Rule.TOLERANCE;
    private double bingoTolerance;
    private long minIterations;
    private long maxIterations;
    private long history;
    private Backend backend;
    private String resource = "gpu";
    private boolean checksMemory = true;
    private long[] queries = new long[0];
    private boolean wantsMarginals;

    /** The defaults. */
    public RunSettings() {
        properties = new TreeMap<>();
    }

    private RunSettings(RunSettings other) {
        properties = new TreeMap<>(other.properties);
        schedule = other.schedule;
        seed = other.seed;
        rule = other.rule;
        bingoTolerance = other.bingoTolerance;
        minIterations = other.minIterations;
        maxIterations = other.maxIterations;
        history = other.history;
        backend = other.backend;
        resource = other.resource;
        checksMemory = other.checksMemory;
        queries = other.queries;
        wantsMarginals = other.wantsMarginals;
    }

    /** A copy with a change. */
    private RunSettings with(Consumer<RunSettings> change) {
        RunSettings other = new RunSettings(this);
        change.accept(other);
        return other;
    }

    /**
     * As BINGO runs: SEQFIX, until its rule with the tolerance 1e-6 ends the run, between 500 and 1000 iterations, with
     * a history of 100.
     *
     * @return the settings
     */
    public static RunSettings forBingo() {
        return new RunSettings().bingo(1e-6, 500, 1000, 100);
    }

    /**
     * As SmartFL runs: PARALL, until no probability moves by more than 1e-8, at most 100 iterations; where
     * deterministic messages disagree, they vote.
     *
     * @return the settings
     */
    public static RunSettings forSmartFl() {
        return new RunSettings()
                .schedule("PARALL", 0)
                .property("tol", "1e-8")
                .property("maxiter", "100")
                .contradiction(Contradiction.VOTE);
    }

    /**
     * Sets a property by its name, see {@link BeliefPropagation#setProperty}; a wrong one is refused before anything is
     * run.
     *
     * @param key the key
     * @param value the value
     * @return other settings
     */
    public RunSettings property(String key, String value) {
        return with(other -> other.properties.put(key, value));
    }

    /**
     * Sets the schedule.
     *
     * @param name as {@link Schedule#of}
     * @param seed for SEQRND and BLOCKS
     * @return other settings
     */
    public RunSettings schedule(String name, long seed) {
        return with(other -> {
            other.schedule = name;
            other.seed = seed;
        });
    }

    /**
     * Sets the largest change of a probability that counts as none.
     *
     * @param tolerance a value &gt;= 0
     * @return other settings
     */
    public RunSettings tolerance(double tolerance) {
        return property("tol", Double.toString(tolerance));
    }

    /**
     * Sets the number of iterations after which a run ends in any case.
     *
     * @param iterations the number
     * @return other settings
     */
    public RunSettings maxIterations(long iterations) {
        return property("maxiter", Long.toString(iterations));
    }

    /**
     * Sets the damping.
     *
     * @param damping from 0 up to but not including 1
     * @return other settings
     */
    public RunSettings damping(double damping) {
        return property("damping", Double.toString(damping));
    }

    /**
     * Sets what happens where deterministic messages disagree.
     *
     * @param contradiction the policy
     * @return other settings
     */
    public RunSettings contradiction(Contradiction contradiction) {
        return property("contradiction", contradiction.name().toLowerCase(Locale.ROOT));
    }

    /**
     * Sets sums or maxima.
     *
     * @param inference which of them
     * @return other settings
     */
    public RunSettings inference(Inference inference) {
        return property("inference", inference == Inference.SUM_PRODUCT ? "SUMPROD" : "MAXPROD");
    }

    /**
     * Runs make so many iterations, whatever changes; see {@link BeliefPropagation#runIterations}.
     *
     * @param iterations the number
     * @return other settings
     */
    public RunSettings iterations(long iterations) {
        return with(other -> {
            other.rule = Rule.ITERATIONS;
            other.maxIterations = iterations;
        });
    }

    /**
     * Runs end by the rule of BINGO; see {@link BeliefPropagation#runBingo}.
     *
     * @param tolerance largest difference that counts as none
     * @param minIterations iterations before the fraction that still moves is looked at
     * @param maxIterations iterations after which a run ends in any case
     * @param history number of beliefs that the results average
     * @return other settings
     */
    public RunSettings bingo(double tolerance, long minIterations, long maxIterations, long history) {
        return with(other -> {
            other.rule = Rule.BINGO;
            other.bingoTolerance = tolerance;
            other.minIterations = minIterations;
            other.maxIterations = maxIterations;
            other.history = history;
        });
    }

    /**
     * Sets where runs are made. Without it, that is the CPU for tasks that Spark gave no device, and {@link
     * Backend#AUTO} for others.
     *
     * @param backend the backend
     * @return other settings
     */
    public RunSettings backend(Backend backend) {
        return with(other -> other.backend = backend);
    }

    /**
     * Sets the name of Spark's resource whose addresses are numbers of CUDA devices; "gpu" without it.
     *
     * @param name the NAME of {@code spark.task.resource.NAME.amount}
     * @return other settings
     */
    public RunSettings deviceResource(String name) {
        return with(other -> other.resource = name);
    }

    /**
     * Whether graphs that need more memory outside of the heap than {@code spark.executor.memoryOverhead} are refused;
     * they are, without this.
     *
     * @param checks false for a cluster that limits no memory
     * @return other settings
     */
    public RunSettings checkMemory(boolean checks) {
        return with(other -> other.checksMemory = checks);
    }

    /**
     * Gives P(x = 1) of some variables with each result.
     *
     * @param labels labels of variables
     * @return other settings
     */
    public RunSettings queries(long... labels) {
        return with(other -> other.queries = labels.clone());
    }

    /**
     * Gives the marginals of all variables with each result: on large graphs this is much more than the evidence.
     *
     * @return other settings
     */
    public RunSettings marginals() {
        return with(other -> other.wantsMarginals = true);
    }

    // --- For tasks -----------------------------------------------------------------------------------------

    long[] queryLabels() {
        return queries;
    }

    boolean wantsMarginals() {
        return wantsMarginals;
    }

    boolean checksMemory() {
        return checksMemory;
    }

    String resource() {
        return resource;
    }

    Backend backend() {
        return backend;
    }

    /** Whether a run is {@link BeliefPropagation#run}, so that many can be one call. */
    boolean runsByTolerance() {
        return rule == Rule.TOLERANCE;
    }

    /** Which sessions are alike: equal for settings that make equal sessions. */
    String sessionKey() {
        return schedule + ' ' + seed + ' ' + properties;
    }

    /** Fails where some setting is wrong whatever the graph. */
    void check() {
        try (FactorGraph.Builder builder = FactorGraph.builder()) {
            try (FactorGraph graph = builder.addPrior(0, 0.5).build(); BeliefPropagation bp = session(graph)) {
                // One iteration is enough to have all of them checked.
                run(bp.setProgressListener((iterations, maxIterations, maxDiff, activeFraction) -> false));
            }
        }
    }

    BeliefPropagation session(FactorGraph graph) {
        BeliefPropagation bp = new BeliefPropagation(graph);
        try {
            bp.setBackend(Backend.CPU).setThreads(1).setSchedule(Schedule.of(schedule, seed));
            for (Map.Entry<String, String> property : properties.entrySet()) {
                bp.setProperty(property.getKey(), property.getValue());
            }
            return bp;
        } catch (RuntimeException | Error failure) {
            bp.close();
            throw failure;
        }
    }

    RunResult run(BeliefPropagation bp) {
        switch (rule) {
            case ITERATIONS:
                return bp.runIterations(maxIterations);
            case BINGO:
                return bp.runBingo(bingoTolerance, minIterations, maxIterations, history);
            default:
                return bp.run();
        }
    }
}
