package io.github.fastlbp;

import java.nio.Buffer;
import java.nio.DoubleBuffer;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Objects;
import java.util.OptionalLong;

/**
 * A session of belief propagation on one graph: a schedule, evidence, messages, and the results of the last run.
 *
 * <p>A new one has the schedule {@link Schedule#SEQFIX}, no evidence, sums, no damping, the tolerance 1e-9, at most
 * 10000 iterations, no time limit, fresh starts, {@link Contradiction#ERROR}, {@link Backend#AUTO}, and one thread per
 * physical core. The analysis of the schedule and all buffers are made once, at the first run or {@link #prepare};
 * evidence is data that can change between runs at no cost but its own.
 *
 * <p>Results are those of the last run that ended without an exception, and stay until the next one. Any thread may
 * use a session, see the package's description; {@link #close} may be called at any time.
 */
public final class BeliefPropagation extends NativeObject {
    // Guards the listener of a run, which lives only as long as that run.
    private volatile boolean running;
    private final Object beginning = new Object();
    private volatile ProgressListener listener;
    private final long bytes;

    /**
     * Makes a session on a graph.
     *
     * @param graph the graph, which is shared: it may be closed at once
     */
    public BeliefPropagation(FactorGraph graph) {
        this(Pointer.of(graph), graph.shared());
    }

    private BeliefPropagation(Pointer pointer, Shared shared) {
        super("BeliefPropagation", pointer.bp, SESSION, pointer.bytes, shared);
        bytes = pointer.bytes;
    }

    /** A new session, and what it will take. */
    private static final class Pointer {
        final long bp;
        final long bytes;

        private Pointer(long bp, long bytes) {
            this.bp = bp;
            this.bytes = bytes;
        }

        static Pointer of(FactorGraph graph) {
            try (Use use = graph.new Use()) {
                long bytes = FactorGraph.sessionBytes(use.pointer);
                return new Pointer(Native.bpNew(use.pointer), bytes);
            }
        }
    }

    /**
     * Makes an independent session in the same state: settings, schedule, evidence, messages and results, but without
     * the progress listener.
     *
     * @return the new session
     */
    public BeliefPropagation copy() {
        return new BeliefPropagation(get(bp -> new Pointer(Native.bpClone(bp), bytes)), shared());
    }

    /**
     * The graph of the session, as an object of its own that must be closed. O(1).
     *
     * @return the graph
     */
    public FactorGraph graph() {
        return new FactorGraph(getLong(Native::bpGraph), shared());
    }

    /**
     * Analyses the schedule and makes all buffers now, where that is still to be done. With {@link Backend#AUTO} these
     * are the buffers of the backend that is expected to be the faster one for {@link #run()}; another run may still
     * choose the other.
     *
     * @throws FastLbpException with {@link Status#UNSUPPORTED} or {@link Status#NO_DEVICE} if the backend asked for is
     *     not there
     */
    public void prepare() {
        use(Native::bpPrepare);
    }

    // --- Settings ------------------------------------------------------------------------------------------

    /**
     * Sets a property by its name, as libDAI's users know them: {@code tol}, {@code maxiter}, {@code maxtime},
     * {@code updates}, {@code damping}, {@code inference}, {@code logdomain}, {@code verbose}, and others, see
     * {@code fastlbp_bp_set_property}. (A run sets {@code progress} itself: {@code exact} where it has a listener.)
     *
     * @param key the key
     * @param value the value
     * @return this session
     * @throws FastLbpException with {@link Status#INVALID_ARGUMENT} for an unknown key (the message lists the known
     *     ones) or a wrong value
     */
    public BeliefPropagation setProperty(String key, String value) {
        byte[] name = Native.bytes("key", key);
        byte[] text = Native.bytes("value", value);
        try (Use use = new Use()) {
            Native.bpSetProperty(use.pointer, name, text);
        }
        return this;
    }

    /**
     * The value of a property.
     *
     * @param key the key
     * @return the value, as {@link #setProperty} takes it
     */
    public String getProperty(String key) {
        byte[] name = Native.bytes("key", key);
        return Native.string(get(bp -> Native.bpGetProperty(bp, name)));
    }

    /**
     * Sets the update schedule. Messages, evidence and results stay.
     *
     * @param schedule the schedule
     * @return this session
     * @throws FastLbpException with {@link Status#INVALID_ARGUMENT} or {@link Status#OUT_OF_RANGE} if it does not fit
     *     the graph
     */
    public BeliefPropagation setSchedule(Schedule schedule) {
        Objects.requireNonNull(schedule, "schedule");
        try (Use use = new Use()) {
            schedule.set(use.pointer);
        }
        return this;
    }

    /**
     * Name of the schedule in use.
     *
     * @return as for {@link Schedule#of}, or CUSTOM for one of ranks or a relation
     */
    public String scheduleName() {
        return getProperty("updates");
    }

    /**
     * Number of dependency levels of the schedule: groups of edges whose messages can be computed at once.
     *
     * @return the number
     */
    public int levelCount() {
        return levelWidths().length;
    }

    /**
     * Number of edges of each dependency level of the schedule, see {@link #levelCount}. For SEQRND, those of the first
     * iteration.
     *
     * @return a new array, level by level
     * @throws FastLbpException with {@link Status#UNSUPPORTED} for {@link Schedule#SEQMAX}, which has no preorder
     */
    public int[] levelWidths() {
        return get(Native::bpLevelWidths);
    }

    /**
     * Rank of every edge in an iteration, from 0 without gaps.
     *
     * @param iteration number of iterations since the messages were uniform, from 0; only SEQRND has other ranks in
     *     different ones
     * @return a new array, by edge
     * @throws FastLbpException with {@link Status#UNSUPPORTED} for {@link Schedule#SEQMAX}, which has no preorder
     */
    public int[] scheduleRanks(long iteration) {
        Check.count("iteration", iteration);
        return get(bp -> Native.bpScheduleRanks(bp, iteration));
    }

    /**
     * Sets the tolerance of {@link #run}: the largest change of a probability that counts as none.
     *
     * @param tolerance a value &gt;= 0
     * @return this session
     */
    public BeliefPropagation setTolerance(double tolerance) {
        return setProperty("tol", number(tolerance));
    }

    /**
     * Sets the number of iterations after which {@link #run} ends in any case.
     *
     * @param iterations the number
     * @return this session
     */
    public BeliefPropagation setMaxIterations(long iterations) {
        return setProperty("maxiter", Long.toString(iterations));
    }

    /**
     * Sets the time after which a run of any kind begins no further iteration.
     *
     * @param seconds a value &gt;= 0; infinity for no limit
     * @return this session
     */
    public BeliefPropagation setMaxTime(double seconds) {
        return setProperty("maxtime", number(seconds));
    }

    /**
     * Sets the damping d: a new message becomes old<sup>d</sup> * new<sup>1-d</sup>, normalised.
     *
     * @param damping a number from 0, for none, up to but not including 1
     * @return this session
     */
    public BeliefPropagation setDamping(double damping) {
        return setProperty("damping", number(damping));
    }

    /**
     * Sets the threshold of the active set: a message is computed again only if one that it reads has changed by more
     * than that since, in log-odds.
     *
     * @param threshold a number &gt;= 0, or a negative one to compute all messages in every iteration
     * @return this session
     */
    public BeliefPropagation setActiveThreshold(double threshold) {
        return setProperty("active", threshold < 0 ? "off" : number(threshold));
    }

    /**
     * Sets what happens where deterministic messages disagree.
     *
     * @param contradiction the policy
     * @return this session
     */
    public BeliefPropagation setContradiction(Contradiction contradiction) {
        return setProperty("contradiction", name("contradiction", contradiction));
    }

    /**
     * Sets what messages runs start from.
     *
     * @param start the messages
     * @return this session
     */
    public BeliefPropagation setStart(Start start) {
        return setProperty("start", name("start", start));
    }

    /**
     * Sets whose changes the tolerance is compared with.
     *
     * @param measure the measure
     * @return this session
     */
    public BeliefPropagation setMeasure(Measure measure) {
        return setProperty("measure", name("measure", measure));
    }

    /**
     * Sets sums or maxima.
     *
     * @param inference which of them
     * @return this session
     */
    public BeliefPropagation setInference(Inference inference) {
        Objects.requireNonNull(inference, "inference");
        return setProperty("inference", inference == Inference.SUM_PRODUCT ? "SUMPROD" : "MAXPROD");
    }

    /**
     * Sets the number of CPU threads; results do not depend on it.
     *
     * @param threads the number, at most 4096; 0 for one per physical core
     * @return this session
     */
    public BeliefPropagation setThreads(int threads) {
        return setProperty("threads", Integer.toString(threads));
    }

    /**
     * Number of CPU threads that iterations run on. Prepares the session.
     *
     * @return the number, at least 1
     */
    public int threads() {
        return (int) report(Native.THREADS);
    }

    /**
     * Sets where iterations run; results do not depend on it.
     *
     * @param backend the backend
     * @return this session
     */
    public BeliefPropagation setBackend(Backend backend) {
        return setProperty("backend", name("backend", backend));
    }

    /**
     * Sets the CUDA device that runs use.
     *
     * @param index its number, from 0, or -1 for that of the environment variable FASTLBP_DEVICE
     * @return this session
     */
    public BeliefPropagation setDevice(int index) {
        return setProperty("device", index == -1 ? "default" : Integer.toString(index));
    }

    /**
     * Sets the CUDA devices that {@link #runBatch} and {@link #runAll} are spread over; a single run uses the lowest.
     * Without this, and without {@link #setDevice}, these are all that there are.
     *
     * @param indices their numbers, from 0 to 63, all different; at least one
     * @return this session
     */
    public BeliefPropagation setDevices(int... indices) {
        Check.indices("devices", indices);
        StringBuilder numbers = new StringBuilder();
        for (int index : indices) numbers.append(numbers.length() == 0 ? "" : ",").append(index);
        return setProperty("device", numbers.toString());
    }

    /**
     * Where the last run was made, or where the first one will most likely be. Prepares the session.
     *
     * @return {@link Backend#CPU} or {@link Backend#CUDA}
     */
    public Backend backend() {
        return Backend.values()[(int) report(Native.BACKEND)];
    }

    /**
     * Sets who is told after each iteration how a run goes, and can end it; takes effect with the next run.
     *
     * @param listener the listener, or null for none
     * @return this session
     */
    public BeliefPropagation setProgressListener(ProgressListener listener) {
        this.listener = listener;
        return this;
    }

    private static String name(String what, Enum<?> value) {
        Objects.requireNonNull(value, what);
        return value.name().toLowerCase(Locale.ROOT);
    }

    /** A number that reads back to the same bits. */
    private static String number(double value) {
        return value == Double.POSITIVE_INFINITY ? "inf" : Double.toString(value);
    }

    // --- Evidence ------------------------------------------------------------------------------------------

    /**
     * Observes a variable in a state; replaces what was known about it.
     *
     * @param variable index of the variable
     * @param state the state, from 0
     * @return this session
     */
    public BeliefPropagation observe(int variable, int state) {
        Check.index("variable", variable);
        Check.index("state", state);
        try (Use use = new Use()) {
            Native.bpObserve(use.pointer, variable, state);
        }
        return this;
    }

    /**
     * As {@link #observe(int, int)}, for the variable with a label.
     *
     * @param label label of the variable
     * @param state the state, from 0
     * @return this session
     */
    public BeliefPropagation observeLabel(long label, int state) {
        Check.index("state", state);
        try (Use use = new Use()) {
            Native.bpObserveLabel(use.pointer, label, state);
        }
        return this;
    }

    /**
     * Observes many variables, or none if one of them cannot be. Of several states for one variable the last one
     * counts.
     *
     * @param variables indices of variables
     * @param states as many states
     * @return this session
     */
    public BeliefPropagation observe(int[] variables, int[] states) {
        Check.length("states", states.length, variables.length, "one for each variable");
        Check.indices("variables", variables);
        Check.indices("states", states);
        try (Use use = new Use()) {
            Native.bpObserveVariables(use.pointer, variables, states);
        }
        return this;
    }

    /**
     * As {@link #observe(int[], int[])}, for variables with labels.
     *
     * @param labels labels of variables
     * @param states as many states
     * @return this session
     */
    public BeliefPropagation observeLabels(long[] labels, int[] states) {
        Check.length("states", states.length, labels.length, "one for each label");
        Check.indices("states", states);
        use(bp -> Native.bpObserveLabels(bp, labels, states));
        return this;
    }

    /**
     * Sets soft evidence on a variable, a likelihood per state, which multiplies its belief and its outgoing messages;
     * replaces what was known about it.
     *
     * @param variable index of the variable
     * @param likelihood one value per state: finite, not negative, not all zero
     * @return this session
     */
    public BeliefPropagation setLikelihood(int variable, double[] likelihood) {
        Check.index("variable", variable);
        Objects.requireNonNull(likelihood, "likelihood");
        use(bp -> Native.bpSetLikelihood(bp, variable, likelihood));
        return this;
    }

    /**
     * Forgets what is known about a variable.
     *
     * @param variable index of the variable
     * @return this session
     */
    public BeliefPropagation clearEvidence(int variable) {
        Check.index("variable", variable);
        use(bp -> Native.bpClearEvidence(bp, variable));
        return this;
    }

    /**
     * Forgets all evidence.
     *
     * @return this session
     */
    public BeliefPropagation clearEvidence() {
        use(Native::bpClearAllEvidence);
        return this;
    }

    /**
     * Replaces all evidence, or changes nothing if some of it does not fit the graph.
     *
     * @param evidence what is known from now on, copied
     * @return this session
     */
    public BeliefPropagation setEvidence(Evidence evidence) {
        try (FactorGraph graph = graph()) {
            evidence.check(graph.cardinalities());
        }
        use(bp -> {
            Native.bpClearAllEvidence(bp);
            evidence.set(bp);
        });
        return this;
    }

    /**
     * Replaces all evidence by that of a file: {@code .evid} as in the UAI competitions, any other one with a line
     * {@code label value} per observation, also compressed with a further {@code .gz}.
     *
     * @param path name of the file
     * @return this session
     * @throws FastLbpException with {@link Status#IO}, or {@link Status#PARSE}, also for a variable that there is not
     */
    public BeliefPropagation readEvidence(Path path) {
        byte[] name = Native.bytes("path", path.toString());
        use(bp -> Native.bpReadEvidence(bp, name, false));
        return this;
    }

    /**
     * As {@link #readEvidence}, but leaves out observations of variables that the graph does not have.
     *
     * @param path name of the file
     * @return how many were left out
     */
    public long readKnownEvidence(Path path) {
        byte[] name = Native.bytes("path", path.toString());
        return getLong(bp -> Native.bpReadEvidence(bp, name, true));
    }

    /**
     * Number of variables about which something is known.
     *
     * @return the number
     */
    public long evidenceCount() {
        return report(Native.EVIDENCE);
    }

    // --- Runs ----------------------------------------------------------------------------------------------

    /**
     * Runs iterations until no belief has changed by more than the tolerance in one, or until the greatest number of
     * iterations, the time limit, the progress listener or {@link Thread#interrupt} ends it. Interrupted, it gives
     * {@link StopReason#CANCELLED} after the iteration that was under way, and the thread stays interrupted.
     *
     * @return how it went
     * @throws FastLbpException with {@link Status#CONTRADICTION} (see {@link #firstContradiction}), after which the
     *     results are those of the run before; {@link Status#NO_DEVICE} and others as the settings ask for
     */
    public RunResult run() {
        // (Without a lambda, as most programs begin with it: see NativeObject.Use.)
        Progress progress = new Progress(listener);
        try (Use use = new Use()) {
            begin();
            try {
                Native.bpRun(use.pointer, progress, progress.isHeard(0));
                return new RunResult(use.pointer);
            } finally {
                running = false;
                progress.rethrow();
            }
        }
    }

    /**
     * Runs a number of iterations, unless the time limit, the progress listener or {@link Thread#interrupt} ends them
     * earlier.
     *
     * @param iterations the number
     * @return how it went
     * @throws FastLbpException as {@link #run}
     */
    public RunResult runIterations(long iterations) {
        Check.count("iterations", iterations);
        return run((bp, progress, heard) -> Native.bpRunIterations(bp, progress, heard, iterations));
    }

    /**
     * Runs iterations by the rule of BINGO. Before each one, with n done, the run ends converged if the largest
     * difference is at most {@code tolerance}; it ends if n &gt; {@code minIterations} and the fraction of variables
     * and factors that still move is below (n - minIterations) / (maxIterations - minIterations); it ends if n &gt;
     * {@code maxIterations}. Without convergence, the results are the means of the last min({@code history}, n)
     * beliefs.
     *
     * @param tolerance largest difference that counts as none
     * @param minIterations iterations before the fraction is looked at
     * @param maxIterations iterations after which the run ends in any case, at least {@code minIterations}
     * @param history number of beliefs that the results average, at least 1
     * @return how it went; {@link RunResult#activeFraction} is what BINGO prints
     * @throws FastLbpException as {@link #run}
     */
    public RunResult runBingo(double tolerance, long minIterations, long maxIterations, long history) {
        Check.count("minIterations", minIterations);
        Check.count("maxIterations", maxIterations);
        Check.count("history", history);
        return run((bp, progress, heard) -> Native.bpRunBingo(
                bp, progress, heard, tolerance, minIterations, maxIterations, history));
    }

    private interface Run {
        void make(long bp, Progress progress, boolean heard);
    }

    private RunResult run(Run run) {
        return told((bp, progress) -> {
            run.make(bp, progress, progress.isHeard(0));
            return new RunResult(bp);
        });
    }

    private interface Told<T> {
        T make(long bp, Progress progress);
    }

    /** Makes a call that tells the listener; what that throws is thrown here. */
    private <T> T told(Told<T> call) {
        Progress progress = new Progress(listener);
        try (Use use = new Use()) {
            begin();
            try {
                return call.make(use.pointer, progress);
            } finally {
                running = false;
                progress.rethrow();
            }
        }
    }

    private void begin() {
        synchronized (beginning) {
            if (running) throw new FastLbpException(Status.BUSY, "another run of this session has not ended");
            running = true;
        }
    }

    /**
     * Runs many sets of evidence as {@link #run} would, each as a fresh run with exactly that evidence: entry {@code i}
     * observes {@code variables[j]} in {@code states[j]} for all {@code j} from {@code entryOffsets[i]} up to, but not
     * including, {@code entryOffsets[i + 1]}. The session's own evidence, messages and results stay. On small graphs
     * several entries run at once. An entry that fails spoils no other one: its marginals are NaN. Where the thread is
     * interrupted, what has not begun gets {@link Status#NO_RESULT}.
     *
     * @param entryOffsets one offset more than there are entries, not descending, from 0 to the length of
     *     {@code variables}
     * @param variables indices of variables
     * @param states as many states
     * @param marginals where the marginals of all entries are written, one after the other, each as by
     *     {@link #marginals(double[])}
     * @return the status of each entry
     */
    public Status[] runBatch(int[] entryOffsets, int[] variables, int[] states, double[] marginals) {
        Check.length("states", states.length, variables.length, "one for each variable");
        Objects.requireNonNull(marginals, "marginals");
        if (entryOffsets.length == 0) Check.length("entryOffsets", 0, 1, "one for each entry, and the end");
        long[] offsets = Check.offsets("entryOffsets", entryOffsets);
        Check.indices("variables", variables);
        Check.indices("states", states);
        int[] numbers = told((bp, progress) -> Native.bpRunBatch(
                bp, progress, progress.isHeard(0), offsets, variables, states, marginals));
        return statuses(numbers);
    }

    /**
     * As {@link #runBatch}, for variables with labels.
     *
     * @param entryOffsets one offset more than there are entries, not descending, from 0 to the length of {@code
     *     labels}
     * @param labels labels of variables
     * @param states as many states
     * @param marginals where the marginals of all entries are written
     * @return the status of each entry
     * @throws FastLbpException as {@link #runBatch}; {@link Status#OUT_OF_RANGE} if one label names no variable
     */
    public Status[] runBatchLabels(int[] entryOffsets, long[] labels, int[] states, double[] marginals) {
        Check.length("states", states.length, labels.length, "one for each label");
        int[] variables;
        try (FactorGraph graph = graph()) {
            variables = graph.variablesOfLabels(labels);
        }
        return runBatch(entryOffsets, variables, states, marginals);
    }

    private static Status[] statuses(int[] numbers) {
        Status[] statuses = new Status[numbers.length];
        for (int i = 0; i < numbers.length; i++) statuses[i] = Status.of(numbers[i]);
        return statuses;
    }

    /**
     * Runs many sessions, such as those of many small graphs, as {@link #run} would run each of them; sessions on small
     * graphs run several at once, but for those with a progress listener. One that fails spoils no other one. If
     * listeners throw exceptions, their sessions end, and the first of these exceptions is thrown when all have run.
     * {@link Thread#interrupt} ends sessions with a listener; others run to their end.
     *
     * @param sessions the sessions, all different
     * @return the status of each; see {@link #lastResult} for how it went
     * @throws FastLbpException with {@link Status#BUSY} if one of them is in use, or given twice: none is run
     */
    public static Status[] runAll(BeliefPropagation... sessions) {
        BeliefPropagation[] all = sessions.clone();
        NativeLibrary.load();
        return getAll(all, pointers -> {
            ProgressListener[] listeners = new ProgressListener[all.length];
            boolean[] heard = new boolean[all.length];
            int begun = 0;
            try {
                for (; begun < all.length; begun++) {
                    all[begun].begin();
                    listeners[begun] = all[begun].listener;
                    heard[begun] = listeners[begun] != null;
                }
                Progress progress = new Progress(listeners);
                try {
                    return statuses(Native.bpRunAll(pointers, progress, heard));
                } finally {
                    progress.rethrow();
                }
            } finally {
                while (begun > 0) all[--begun].running = false;
            }
        });
    }

    /**
     * How the last run that ended without an exception went, or the last one by {@link #runAll} that had the status OK.
     *
     * @return what the run returned
     * @throws FastLbpException with {@link Status#NO_RESULT} before there is such a run
     */
    public RunResult lastResult() {
        return get(RunResult::new);
    }

    /**
     * Makes the results exact ones, by a junction tree: marginals, beliefs, the log-partition and, with
     * {@link Inference#MAX_PRODUCT}, the most probable joint state. They stay until the next run. Messages are not
     * touched.
     *
     * @param tableLimit most entries of all tables together, or 0 for 2^24
     * @throws FastLbpException with {@link Status#LIMIT_EXCEEDED} where the treewidth of the graph without the observed
     *     variables is too large; {@link Status#CONTRADICTION} if no joint state is possible
     */
    public void runExact(long tableLimit) {
        Check.count("tableLimit", tableLimit);
        use(bp -> Native.bpRunExact(bp, tableLimit));
    }

    /** Makes all messages uniform and the number of iterations 0. Evidence, schedule, settings and results stay. */
    public void reset() {
        use(Native::bpReset);
    }

    private long report(int key) {
        return getLong(bp -> Native.bpReportOf(bp, key));
    }

    /**
     * Number of contradictory places of the last run, also of one that failed by them.
     *
     * @return the number
     */
    public long contradictions() {
        return report(Native.CONTRADICTIONS);
    }

    /**
     * Label of the lowest contradictory variable in the first iteration of the last run that had one.
     *
     * @return the label, empty if there was none
     */
    public OptionalLong firstContradiction() {
        try {
            return OptionalLong.of(report(Native.FIRST_CONTRADICTION));
        } catch (FastLbpException exception) {
            if (exception.status() == Status.NO_RESULT) return OptionalLong.empty();
            throw exception;
        }
    }

    // --- Results -------------------------------------------------------------------------------------------

    /**
     * Marginals of all variables: the probabilities of the states of variable 0, then those of variable 1, and so on.
     * Each is exact to rounding on its own.
     *
     * @param out where they are written; {@link FactorGraph#stateCount} entries are enough
     * @throws FastLbpException with {@link Status#NO_RESULT} before there is a run, {@link Status#BUFFER_TOO_SMALL}
     */
    public void marginals(double[] out) {
        Objects.requireNonNull(out, "out");
        try (Use use = new Use()) {
            Native.bpMarginals(use.pointer, out);
        }
    }

    /**
     * As {@link #marginals(double[])}, into a direct buffer in native byte order, from its position on, which stays.
     *
     * @param out where they are written
     */
    public void marginals(DoubleBuffer out) {
        intoDirect(out, Native::bpMarginalsDirect);
    }

    /**
     * P(x = 1) of all variables of a graph with binary variables only.
     *
     * @param out where they are written; {@link FactorGraph#variableCount} entries are enough
     * @throws FastLbpException as {@link #marginals(double[])}; {@link Status#UNSUPPORTED} if a variable has more than
     *     two states
     */
    public void probabilities(double[] out) {
        Objects.requireNonNull(out, "out");
        try (Use use = new Use()) {
            Native.bpProbabilities(use.pointer, out);
        }
    }

    /**
     * As {@link #probabilities(double[])}, into a direct buffer in native byte order, from its position on, which
     * stays.
     *
     * @param out where they are written
     */
    public void probabilities(DoubleBuffer out) {
        intoDirect(out, Native::bpProbabilitiesDirect);
    }

    private interface Fill {
        void accept(long bp, Buffer out, int position, int length);
    }

    private void intoDirect(DoubleBuffer out, Fill fill) {
        Check.direct("out", out, out.order());
        if (out.isReadOnly()) throw new FastLbpException(Status.INVALID_ARGUMENT, "out can only be read");
        use(bp -> fill.accept(bp, out, out.position(), out.remaining()));
    }

    /**
     * P(x = 1) of some variables.
     *
     * @param variables indices of variables
     * @param out as many probabilities are written here
     */
    public void probabilities(int[] variables, double[] out) {
        Check.length("out", out.length, variables.length, "one for each variable");
        Check.indices("variables", variables);
        use(bp -> Native.bpProbabilitiesOf(bp, variables, out));
    }

    /**
     * P(x = 1) of one variable.
     *
     * @param variable index of the variable
     * @return the probability
     */
    public double probability(int variable) {
        Check.index("variable", variable);
        try (Use use = new Use()) {
            return Native.bpProbability(use.pointer, variable);
        }
    }

    /**
     * Marginal of one variable.
     *
     * @param variable index of the variable
     * @return a new array with one probability per state
     */
    public double[] marginal(int variable) {
        Check.index("variable", variable);
        try (Use use = new Use()) {
            return Native.bpMarginal(use.pointer, variable);
        }
    }

    /**
     * Joint belief of variables that share a factor, from the lowest one that contains all of them, such as of a pair;
     * of one alone its marginal.
     *
     * @param variables indices of variables, all different
     * @return a new array with one probability per joint state, the first given variable fastest
     * @throws FastLbpException with {@link Status#INVALID_ARGUMENT} if no factor contains all of them
     */
    public double[] jointBelief(int... variables) {
        Check.indices("variables", variables);
        return get(bp -> Native.bpJointBelief(bp, variables));
    }

    /**
     * Belief of a factor from the current messages and evidence.
     *
     * @param factor index of the factor
     * @return a new array with one probability per joint state of its variables, the lowest one fastest
     */
    public double[] factorBelief(int factor) {
        Check.index("factor", factor);
        return get(bp -> Native.bpFactorBelief(bp, factor));
    }

    /**
     * Natural logarithm of the partition function by the Bethe approximation (libDAI's {@code logZ}).
     *
     * @return the logarithm
     */
    public double logPartition() {
        return getDouble(Native::bpLogPartition);
    }

    /**
     * A joint state decoded from the current messages, in general after a run with {@link Inference#MAX_PRODUCT}.
     *
     * @return a new array with one state per variable
     */
    public int[] findMaximum() {
        return get(Native::bpFindMaximum);
    }

    /**
     * Natural logarithm of the product of all factors, and of the likelihoods of soft evidence, at a joint state.
     *
     * @param states one state per variable
     * @return the logarithm; minus infinity where a factor or an observation excludes it
     */
    public double logScore(int[] states) {
        Check.indices("states", states);
        return getDouble(bp -> Native.bpLogScore(bp, states));
    }

    // --- Messages ------------------------------------------------------------------------------------------

    /**
     * Length of the array of all messages.
     *
     * @return the sum over all edges of the cardinality of the edge's variable
     */
    public int messageLength() {
        return Check.size("messages", getLong(Native::bpMessageLength));
    }

    /**
     * All factor-to-variable messages, edge by edge: one probability per state of the edge's variable. They are
     * rounded; to go on later with the same bits, see {@link #saveState}.
     *
     * @param out where they are written; {@link #messageLength} entries are enough
     */
    public void messages(double[] out) {
        Objects.requireNonNull(out, "out");
        use(bp -> Native.bpMessages(bp, out));
    }

    /**
     * Replaces all messages, in the layout of {@link #messages}. A run with {@link Start#WARM} goes on from them.
     *
     * @param messages for each edge finite, not negative, not all zero; {@link #messageLength} of them
     */
    public void setMessages(double[] messages) {
        Objects.requireNonNull(messages, "messages");
        use(bp -> Native.bpSetMessages(bp, messages));
    }

    /**
     * The exact state of the messages and the number of iterations done: words whose meaning belongs to this version of
     * the library.
     *
     * @return a new array for {@link #restoreState}
     */
    public long[] saveState() {
        return get(Native::bpSaveState);
    }

    /**
     * Goes back to a saved state, also of another session on an equal graph. A run with {@link Start#WARM} goes on from
     * it with the same bits.
     *
     * @param state from {@link #saveState}
     */
    public void restoreState(long[] state) {
        Objects.requireNonNull(state, "state");
        use(bp -> Native.bpRestoreState(bp, state));
    }
}
