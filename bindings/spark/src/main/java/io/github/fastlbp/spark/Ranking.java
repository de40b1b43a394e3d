package io.github.fastlbp.spark;

import io.github.fastlbp.FastLbpException;
import io.github.fastlbp.Status;
import java.io.Serializable;
import java.util.Arrays;

/** The alarms of one program in the order in which BINGO's loop has them inspected; or why there is none. */
public final class Ranking implements Serializable {
    private static final long serialVersionUID = 1L;

    private final Status status;
    private final String message;
    private final long[] inspected;
    private final double[] probabilities;
    private final long found;
    private final long iterations;

    Ranking(long[] inspected, double[] probabilities, long found, long iterations) {
        status = Status.OK;
        message = null;
        this.inspected = inspected;
        this.probabilities = probabilities;
        this.found = found;
        this.iterations = iterations;
    }

    Ranking(FastLbpException failure) {
        status = failure.status();
        message = failure.getMessage();
        inspected = new long[0];
        probabilities = new double[0];
        found = 0;
        iterations = 0;
    }

    /**
     * Whether the alarms were ranked.
     *
     * @return {@link Status#OK}, or what failed
     */
    public Status status() {
        return status;
    }

    /**
     * Why there is no ranking.
     *
     * @return a text, or null where there is one
     */
    public String message() {
        return message;
    }

    /**
     * The alarms that were inspected, in this order: all until the last true one is found.
     *
     * @return labels of variables
     */
    public long[] inspected() {
        return inspected;
    }

    /**
     * How probable each of them was when it was inspected.
     *
     * @return as many probabilities
     */
    public double[] probabilities() {
        return probabilities;
    }

    /**
     * Number of true alarms among them.
     *
     * @return the number
     */
    public long found() {
        return found;
    }

    /**
     * Number of iterations of all runs.
     *
     * @return the number
     */
    public long iterations() {
        return iterations;
    }

    @Override
    public String toString() {
        return status == Status.OK ? found + " true alarms in " + Arrays.toString(inspected) : status + ": " + message;
    }
}
