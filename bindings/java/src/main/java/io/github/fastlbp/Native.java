package io.github.fastlbp;

import java.nio.Buffer;
import java.nio.charset.StandardCharsets;

/**
 * The functions of {@code fastlbp.h}, as src/main/native binds them. Handles are pointers: callers answer for
 * their being alive, and check lengths of arrays that belong together. Strings are UTF-8 with a final NUL on
 * the way in, and without one on the way out. Every function may throw FastLbpException.
 */
final class Native {
    /** The version of these classes; the native library must be of the same one. */
    static final String VERSION = "0.1.0";

    private static boolean isChangingLog;

    /** Keeps the listener alive: the library does not, so that it does not keep the class loader alive either. */
    @SuppressWarnings("unused")
    private static volatile LogListener logListener;

    private Native() {}

    // --- Called by the library -----------------------------------------------------------------------------

    static Throwable failure(int status, byte[] text) {
        return new FastLbpException(Status.of(status), string(text));
    }

    static boolean progress(
            Progress progress, int number, long iterations, long maxIterations, double maxDiff, double activeFraction) {
        return progress.goesOn(number, iterations, maxIterations, maxDiff, activeFraction);
    }

    static void log(LogListener listener, int level, byte[] text) {
        try {
            listener.onMessage(LogLevel.of(level), string(text));
        } catch (Throwable thrown) {
            // What the library does must not depend on it.
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, thrown);
        }
    }

    // --- Strings -------------------------------------------------------------------------------------------

    static String string(byte[] text) {
        return new String(text, StandardCharsets.UTF_8);
    }

    static byte[] bytes(String name, String text) {
        if (text.indexOf('\0') >= 0) {
            throw new FastLbpException(
                    Status.INVALID_ARGUMENT, name + " '" + text.replace('\0', '?') + "' contains a NUL character");
        }
        return (text + '\0').getBytes(StandardCharsets.UTF_8);
    }

    // --- The library ---------------------------------------------------------------------------------------

    static native byte[] version();

    static native byte[] buildInfo();

    static native int deviceCount();

    static native byte[] deviceName(int index);

    /** Writes the memory of a device: all, and what no process uses. */
    static native void deviceMemory(int index, long[] out);

    /** Starts the driver on a device; -1 for the default. */
    static native void deviceStart(int index);

    private static native void setLog(LogListener listener);

    /** One thread at a time, without waiting: the library waits for listeners, and these may come here. */
    static void changeLog(LogListener listener) {
        synchronized (Native.class) {
            if (isChangingLog) {
                throw new FastLbpException(Status.BUSY, "another thread is setting the log listener");
            }
            isChangingLog = true;
        }
        try {
            setLog(listener);
            logListener = listener;
        } finally {
            synchronized (Native.class) {
                isChangingLog = false;
            }
        }
    }

    // --- Graphs --------------------------------------------------------------------------------------------

    static native long graphNew();

    static native long graphRead(byte[] path);

    static native void graphFree(long graph);

    static native void graphBuild(long graph);

    static native void graphWrite(long graph, byte[] path);

    static native long graphReadBytes(byte[] bytes, byte[] name);

    static native byte[] graphWriteBytes(long graph, byte[] name);

    static native void graphAddVariables(long graph, long[] labels, int[] cardinalities);

    static native void graphAddPrior(long graph, long label, double p);

    static native void graphAddAnd(long graph, long head, long[] body, double p, double q);

    static native void graphAddOr(long graph, long head, long[] body, double p, double q);

    static native void graphAddFactors(
            long graph, int[] kinds, long[] heads, long[] bodyOffsets, long[] bodies, double[] p, double[] q);

    static native void graphAddFactorsDirect(
            long graph,
            int count,
            int bodiesLength,
            Buffer kinds,
            Buffer heads,
            Buffer bodyOffsets,
            Buffer bodies,
            Buffer p,
            Buffer q);

    static native void graphAddTable(long graph, long[] scope, double[] values);

    static native void graphAddTables(
            long graph, long[] scopeOffsets, long[] scopes, long[] valueOffsets, double[] values);

    static native void graphAddSigned(long graph, long head, long[] body, boolean[] negated, double[] values);

    static native void graphAddSignedFactors(
            long graph, long[] heads, long[] bodyOffsets, long[] bodies, boolean[] negated, double[] values);

    static native void graphAddNoisy(long graph, long head, long[] body, double[] literals, double[] values);

    static native void graphAddTerms(long graph, long[] scope, double[] weights, int[] indicators);

    static native void graphAddTermFactors(
            long graph, long[] scopeOffsets, long[] scopes, long[] termOffsets, double[] weights, int[] indicators);

    /** What is counted: the numbers of {@code FASTLBP_COUNT_...}. */
    static final int VARIABLES = 0, FACTORS = 1, EDGES = 2, STATES = 3, BYTES = 4;

    static native long graphCount(long graph, int what);

    static native long[] graphLabels(long graph);

    static native int graphVariableOfLabel(long graph, long label);

    static native int[] graphVariablesOfLabels(long graph, long[] labels);

    static native int[] graphCardinalities(long graph);

    static native int[] graphFactorKinds(long graph);

    static native int[] graphFactorVariables(long graph, int factor);

    static native int[] graphEdgeVariables(long graph);

    static native long[] graphFactorOffsets(long graph);

    static native int[] graphFactorHeads(long graph);

    static native double[] graphFactorParameters(long graph, int factor);

    static native int[] graphFactorIndicators(long graph, int factor);

    static native double[] graphFactorValues(long graph, int factor);

    // --- Sessions ------------------------------------------------------------------------------------------

    static native long bpNew(long graph);

    static native long bpClone(long bp);

    static native void bpFree(long bp);

    static native long bpGraph(long bp);

    static native void bpPrepare(long bp);

    static native void bpSetProperty(long bp, byte[] key, byte[] value);

    static native byte[] bpGetProperty(long bp, byte[] key);

    static native void bpSetSchedule(long bp, byte[] name, long seed);

    static native void bpSetScheduleBlocks(long bp, int blocks, long seed);

    static native void bpSetScheduleRanks(long bp, long[] ranks);

    static native void bpSetScheduleRelation(long bp, int[] before, int[] after);

    static native int[] bpScheduleRanks(long bp, long iteration);

    static native int[] bpLevelWidths(long bp);

    static native void bpObserve(long bp, int variable, int state);

    static native void bpObserveLabel(long bp, long label, int state);

    static native void bpObserveVariables(long bp, int[] variables, int[] states);

    static native void bpObserveLabels(long bp, long[] labels, int[] states);

    static native void bpSetLikelihood(long bp, int variable, double[] likelihood);

    static native void bpClearEvidence(long bp, int variable);

    static native void bpClearAllEvidence(long bp);

    static native long bpReadEvidence(long bp, byte[] path, boolean partial);

    // Runs are told to a Progress, after each iteration if a listener hears of them.

    static native void bpRun(long bp, Progress progress, boolean heard);

    static native void bpRunIterations(long bp, Progress progress, boolean heard, long iterations);

    static native void bpRunBingo(
            long bp,
            Progress progress,
            boolean heard,
            double tolerance,
            long minIterations,
            long maxIterations,
            long history);

    static native int[] bpRunBatch(
            long bp,
            Progress progress,
            boolean heard,
            long[] entryOffsets,
            int[] variables,
            int[] states,
            double[] marginals);

    static native int[] bpRunAll(long[] sessions, Progress progress, boolean[] heard);

    static native void bpRunExact(long bp, long tableLimit);

    static native void bpReset(long bp);

    /** Keys of reports: the numbers of {@code FASTLBP_REPORT_...}. */
    static final int ITERATIONS = 0,
            TOTAL_ITERATIONS = 1,
            STOP_REASON = 3,
            SPARED_MESSAGES = 4,
            CONTRADICTIONS = 5,
            FIRST_CONTRADICTION = 6,
            BACKEND = 7,
            THREADS = 8,
            EVIDENCE = 9,
            MAX_DIFF = 10,
            ACTIVE_FRACTION = 11;

    /** Writes whole numbers and real ones, by their keys. */
    static native void bpReport(long bp, int[] keys, long[] whole, int[] realKeys, double[] real);

    /** One whole number, by its key. */
    static native long bpReportOf(long bp, int key);

    // --- Results -------------------------------------------------------------------------------------------

    static native void bpMarginals(long bp, double[] out);

    static native void bpProbabilities(long bp, double[] out);

    static native void bpMarginalsDirect(long bp, Buffer out, int position, int length);

    static native void bpProbabilitiesDirect(long bp, Buffer out, int position, int length);

    static native void bpProbabilitiesOf(long bp, int[] variables, double[] out);

    static native double bpProbability(long bp, int variable);

    static native double[] bpMarginal(long bp, int variable);

    static native double[] bpJointBelief(long bp, int[] variables);

    static native double[] bpFactorBelief(long bp, int factor);

    static native double bpLogPartition(long bp);

    static native int[] bpFindMaximum(long bp);

    static native double bpLogScore(long bp, int[] states);

    static native long bpMessageLength(long bp);

    static native void bpMessages(long bp, double[] out);

    static native void bpSetMessages(long bp, double[] messages);

    static native long[] bpSaveState(long bp);

    static native void bpRestoreState(long bp, long[] state);
}
