package io.github.fastlbp.spark;

import io.github.fastlbp.BeliefPropagation;
import io.github.fastlbp.FastLbpException;
import io.github.fastlbp.RunResult;
import io.github.fastlbp.Status;
import io.github.fastlbp.StopReason;
import java.io.Serializable;

/**
 * What came out of one entry: its results, or the status and the text of its failure. For any of Spark's serializers.
 */
public final class Outcome implements Serializable {
    private static final long serialVersionUID = 1L;

    private final Status status;
    private final String message;
    private long iterations;
    private StopReason stopReason;
    private double maxDiff;
    private double activeFraction;
    private long contradictions;
    private long digest;
    private double[] probabilities;
    private double[] marginals;

    private Outcome(Status status, String message) {
        this.status = status;
        this.message = message;
    }

    static Outcome failed(FastLbpException failure) {
        return new Outcome(failure.status(), failure.getMessage());
    }

    static Outcome failed(Status status, String message) {
        return new Outcome(status, message);
    }

    /** The results of the last run of a session. {@code room} has one place per state. */
    static Outcome of(BeliefPropagation bp, RunResult result, RunSettings settings, int[] queries, double[] room) {
        Outcome outcome = new Outcome(Status.OK, null);
        outcome.iterations = result.iterations();
        outcome.stopReason = result.stopReason();
        outcome.maxDiff = result.maxDiff();
        outcome.activeFraction = result.activeFraction();
        outcome.contradictions = result.contradictions();
        bp.marginals(room);
        outcome.digest = digest(room);
        if (settings.wantsMarginals()) outcome.marginals = room.clone();
        if (queries.length > 0) {
            outcome.probabilities = new double[queries.length];
            bp.probabilities(queries, outcome.probabilities);
        }
        return outcome;
    }

    /**
     * A number that two lists of marginals have in common if, but for chance, they have the same bits.
     *
     * @param marginals the numbers
     * @return 64 bits that depend on all of them, and on their order
     */
    public static long digest(double[] marginals) {
        long digest = marginals.length;
        for (double value : marginals) {
            // Steps of a multiplicative hash: an odd factor, and the high bits into the low ones.
            digest = (digest ^ Double.doubleToRawLongBits(value)) * 0x9E3779B97F4A7C15L;
            digest ^= digest >>> 32;
        }
        return digest;
    }

    /**
     * Whether the entry was run.
     *
     * @return {@link Status#OK}, or what failed
     */
    public Status status() {
        return status;
    }

    /**
     * Why the entry failed.
     *
     * @return a text, or null where nothing did
     */
    public String message() {
        return message;
    }

    /**
     * Number of iterations.
     *
     * @return the number; 0 after a failure
     */
    public long iterations() {
        return iterations;
    }

    /**
     * Why the run ended.
     *
     * @return the reason, or null after a failure
     */
    public StopReason stopReason() {
        return stopReason;
    }

    /**
     * Largest change in the last iteration.
     *
     * @return as {@link RunResult#maxDiff}
     */
    public double maxDiff() {
        return maxDiff;
    }

    /**
     * Fraction that moved in the last iteration, by BINGO's rule.
     *
     * @return as {@link RunResult#activeFraction}
     */
    public double activeFraction() {
        return activeFraction;
    }

    /**
     * Number of places where deterministic messages disagreed.
     *
     * @return as {@link RunResult#contradictions}
     */
    public long contradictions() {
        return contradictions;
    }

    /**
     * {@link #digest(double[])} of the marginals of all variables, also where these are not kept.
     *
     * @return the number; 0 after a failure
     */
    public long digest() {
        return digest;
    }

    /**
     * P(x = 1) of the variables asked for by {@link RunSettings#queries}.
     *
     * @return one for each, or null where none were or the entry failed
     */
    public double[] probabilities() {
        return probabilities;
    }

    /**
     * Marginals of all variables, where {@link RunSettings#marginals} asks for them.
     *
     * @return as {@link BeliefPropagation#marginals(double[])}, or null
     */
    public double[] marginals() {
        return marginals;
    }

    @Override
    public String toString() {
        return status == Status.OK ? stopReason + " after " + iterations + " iterations" : status + ": " + message;
    }
}
