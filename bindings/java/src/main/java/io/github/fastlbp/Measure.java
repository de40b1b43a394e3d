package io.github.fastlbp;

/** Whose changes the tolerance of {@link BeliefPropagation#run} is compared with. */
public enum Measure {
    /** Beliefs of variables. */
    VARIABLES,
    /** Beliefs of variables and of factors, as in libDAI. */
    ALL;
}
