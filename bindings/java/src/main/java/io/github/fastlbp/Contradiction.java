package io.github.fastlbp;

/** What happens where deterministic messages disagree, so that a probability would be 0/0. */
public enum Contradiction {
    /** The run ends with {@link Status#CONTRADICTION}. */
    ERROR,
    /**
     * The state that more deterministic messages back wins, a tie is uniform; the run goes on and counts such places.
     */
    VOTE;
}
