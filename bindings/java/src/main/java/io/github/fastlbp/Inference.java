package io.github.fastlbp;

/** What messages and beliefs are over the states of the other variables. */
public enum Inference {
    /** Sums: beliefs approximate marginals. */
    SUM_PRODUCT,
    /** Maxima: beliefs are max-marginals, and {@link BeliefPropagation#findMaximum} decodes a joint state. */
    MAX_PRODUCT;
}
