package io.github.fastlbp.spark;

import io.github.fastlbp.BeliefPropagation;
import io.github.fastlbp.Evidence;
import io.github.fastlbp.FactorGraph;
import java.io.Serializable;
import java.util.Arrays;

/**
 * What is known about variables, by their labels: states, or likelihoods of states. Plain arrays, for any of Spark's
 * serializers.
 */
public final class EvidenceSet implements Serializable {
    private static final long serialVersionUID = 1L;

    private final long[] labels;
    private final int[] states;
    private final long[] softLabels;
    private final double[][] likelihoods;

    /**
     * Evidence of states only.
     *
     * @param labels labels of variables; of several states for one variable the last one counts
     * @param states as many states, from 0
     */
    public EvidenceSet(long[] labels, int[] states) {
        this(labels, states, new long[0], new double[0][]);
    }

    /**
     * Evidence of states and of likelihoods.
     *
     * @param labels labels of observed variables
     * @param states as many states, from 0
     * @param softLabels labels of variables with soft evidence
     * @param likelihoods for each of them one value per state
     */
    public EvidenceSet(long[] labels, int[] states, long[] softLabels, double[][] likelihoods) {
        if (labels.length != states.length || softLabels.length != likelihoods.length) {
            throw new IllegalArgumentException("evidence: " + labels.length + " labels with " + states.length
                    + " states, and " + softLabels.length + " labels with " + likelihoods.length
                    + " likelihoods: as many are needed");
        }
        this.labels = labels.clone();
        this.states = states.clone();
        this.softLabels = softLabels.clone();
        this.likelihoods = likelihoods.clone();
    }

    /** Evidence that says nothing. */
    public EvidenceSet() {
        this(new long[0], new int[0]);
    }

    /** For tests. */
    long[] labels() {
        return labels;
    }

    /** For tests. */
    int[] states() {
        return states;
    }

    /** Replaces what a session knows. */
    void set(FactorGraph graph, BeliefPropagation bp) {
        bp.clearEvidence().observeLabels(labels, states);
        for (int i = 0; i < softLabels.length; i++) {
            bp.setLikelihood(graph.variableOfLabel(softLabels[i]), likelihoods[i]);
        }
    }

    /** The same by the variables of a graph. */
    Evidence of(FactorGraph graph) {
        Evidence evidence = new Evidence();
        int[] variables = graph.variablesOfLabels(labels);
        for (int i = 0; i < variables.length; i++) evidence.observe(variables[i], states[i]);
        for (int i = 0; i < softLabels.length; i++) {
            evidence.setLikelihood(graph.variableOfLabel(softLabels[i]), likelihoods[i]);
        }
        return evidence;
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof EvidenceSet)) return false;
        EvidenceSet evidence = (EvidenceSet) other;
        return Arrays.equals(labels, evidence.labels)
                && Arrays.equals(states, evidence.states)
                && Arrays.equals(softLabels, evidence.softLabels)
                && Arrays.deepEquals(likelihoods, evidence.likelihoods);
    }

    @Override
    public int hashCode() {
        return Arrays.deepHashCode(new Object[] {labels, states, softLabels, likelihoods});
    }

    @Override
    public String toString() {
        return "evidence on " + (labels.length + softLabels.length) + " variables";
    }
}
