package io.github.fastlbp;

import java.io.IOException;
import java.io.InvalidObjectException;
import java.io.ObjectInput;
import java.io.ObjectInputStream;
import java.io.ObjectOutput;
import java.io.Serializable;

/** How a run went. Its serialized form begins with a version. */
public final class RunResult implements Serializable {
    private static final long serialVersionUID = 1L;

    private static final int[] KEYS = {
        Native.ITERATIONS,
        Native.TOTAL_ITERATIONS,
        Native.STOP_REASON,
        Native.CONTRADICTIONS,
        Native.SPARED_MESSAGES
    };
    private static final int[] REAL_KEYS = {Native.MAX_DIFF, Native.ACTIVE_FRACTION};

    private final transient long[] whole = new long[KEYS.length];
    private final transient double[] real = new double[REAL_KEYS.length];

    RunResult(long bp) {
        Native.bpReport(bp, KEYS, whole, REAL_KEYS, real);
    }

    /** For {@link Saved}. */
    RunResult(ObjectInput in) throws IOException {
        for (int i = 0; i < whole.length; i++) whole[i] = in.readLong();
        for (int i = 0; i < real.length; i++) real[i] = in.readDouble();
    }

    /** For {@link Saved}. */
    void write(ObjectOutput out) throws IOException {
        for (long value : whole) out.writeLong(value);
        for (double value : real) out.writeDouble(value);
    }

    /**
     * What is written in place of this: a kind, a version, and its bytes.
     *
     * @return the other object
     */
    private Object writeReplace() {
        return new Saved(this);
    }

    /**
     * Never read by its fields.
     *
     * @param stream unused
     * @throws InvalidObjectException always
     */
    private void readObject(ObjectInputStream stream) throws InvalidObjectException {
        throw Saved.needed();
    }

    /**
     * Number of iterations of the run.
     *
     * @return the number
     */
    public long iterations() {
        return whole[0];
    }

    /**
     * Number of iterations since the messages were uniform: with warm starts, those of several runs.
     *
     * @return the number
     */
    public long totalIterations() {
        return whole[1];
    }

    /**
     * Why the run ended.
     *
     * @return the reason
     */
    public StopReason stopReason() {
        return StopReason.of(whole[2]);
    }

    /**
     * Whether the changes fell to the tolerance.
     *
     * @return true if {@link #stopReason} is {@link StopReason#CONVERGED}
     */
    public boolean converged() {
        return stopReason() == StopReason.CONVERGED;
    }

    /**
     * Number of places where deterministic messages disagreed, in the iteration with most of them.
     *
     * @return the number; more than 0 only with {@link Contradiction#VOTE}
     */
    public long contradictions() {
        return whole[3];
    }

    /**
     * Number of messages that a run with an active set left out on the CPU, which depends on what was faster.
     *
     * @return the number; 0 without an active set, and on devices
     */
    public long sparedMessages() {
        return whole[4];
    }

    /**
     * Largest change in the last iteration.
     *
     * @return a probability's change, or infinity if no iteration was made
     */
    public double maxDiff() {
        return real[0];
    }

    /**
     * Fraction of the variables and factors that moved by more than the tolerance in the last iteration, by BINGO's
     * rule.
     *
     * @return a number from 0 to 1; 1 for other runs
     */
    public double activeFraction() {
        return real[1];
    }

    @Override
    public String toString() {
        return stopReason() + " after " + iterations() + " iterations, largest change " + maxDiff() + ", "
                + contradictions() + " contradictions";
    }
}
