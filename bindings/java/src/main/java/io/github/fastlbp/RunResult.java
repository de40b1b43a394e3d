package io.github.fastlbp;

/** How a run went. */
public final class RunResult {
    private final long passes;
    private final long totalPasses;
    private final StopReason stopReason;
    private final long contradictions;
    private final long sparedMessages;
    private final double maxDiff;
    private final double frac;

    RunResult(long bp) {
        long[] counts = new long[5];
        double[] measures = new double[2];
        Native.bpReport(bp, counts, measures);
        passes = counts[0];
        totalPasses = counts[1];
        stopReason = StopReason.of(counts[2]);
        contradictions = counts[3];
        sparedMessages = counts[4];
        maxDiff = measures[0];
        frac = measures[1];
    }

    /**
     * Number of passes of the run.
     *
     * @return the number
     */
    public long passes() {
        return passes;
    }

    /**
     * Number of passes since the messages were uniform: with warm starts, those of several runs.
     *
     * @return the number
     */
    public long totalPasses() {
        return totalPasses;
    }

    /**
     * Why the run ended.
     *
     * @return the reason
     */
    public StopReason stopReason() {
        return stopReason;
    }

    /**
     * Whether the changes fell to the tolerance.
     *
     * @return true if {@link #stopReason} is {@link StopReason#CONVERGED}
     */
    public boolean converged() {
        return stopReason == StopReason.CONVERGED;
    }

    /**
     * Number of places where certain messages disagreed, in the pass with most of them.
     *
     * @return the number; more than 0 only with {@link Contradiction#VOTE}
     */
    public long contradictions() {
        return contradictions;
    }

    /**
     * Number of messages that the active set spared.
     *
     * @return the number; 0 without an active set
     */
    public long sparedMessages() {
        return sparedMessages;
    }

    /**
     * Largest change in the last pass.
     *
     * @return a probability's change, or infinity if no pass was made
     */
    public double maxDiff() {
        return maxDiff;
    }

    /**
     * Share of the variables and factors that moved by more than the tolerance in the last pass, by BINGO's rule.
     *
     * @return a number from 0 to 1; 1 for other runs
     */
    public double frac() {
        return frac;
    }

    @Override
    public String toString() {
        return stopReason + " after " + passes + " passes, largest change " + maxDiff + ", " + contradictions
                + " contradictions";
    }
}
