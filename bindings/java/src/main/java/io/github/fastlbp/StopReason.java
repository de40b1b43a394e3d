package io.github.fastlbp;

/** Why a run ended. */
public enum StopReason {
    /** The changes fell to the tolerance. */
    CONVERGED,
    /** All iterations asked for were made. */
    ITERATIONS,
    /** By BINGO's rule, since few variables and factors still moved. */
    ACTIVE_FRACTION,
    /** The time was up. */
    TIME,
    /** The progress listener asked for it. */
    CANCELLED,
    /** A reason that these classes do not know. */
    UNKNOWN;

    private static final StopReason[] ALL = values();

    /** The reason with a number of {@code FASTLBP_STOP_...}: constants are in the order of their numbers. */
    static StopReason of(long number) {
        return number >= 0 && number < UNKNOWN.ordinal() ? ALL[(int) number] : UNKNOWN;
    }
}
