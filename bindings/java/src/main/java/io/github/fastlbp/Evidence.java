package io.github.fastlbp;

import java.io.Serializable;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/**
 * What is known about variables: states, or likelihoods of states. Data of its own, for any session on the graph; see
 * {@link BeliefPropagation#setEvidence}. For one thread at a time. Its serialized form begins with a version.
 */
public final class Evidence implements Serializable {
    private static final long serialVersionUID = 1L;

    /** By variable: a state, or a likelihood for each state. */
    private final transient Map<Integer, Object> known = new TreeMap<>();

    /** Makes evidence that says nothing. */
    public Evidence() {}

    /**
     * A variable is in a state; replaces what was known about it.
     *
     * @param variable index of the variable
     * @param state the state, from 0
     * @return this evidence
     */
    public Evidence observe(int variable, int state) {
        known.put(Check.index("variable", variable), Check.index("state", state));
        return this;
    }

    /**
     * The states of a variable have likelihoods; replaces what was known about it.
     *
     * @param variable index of the variable
     * @param likelihood one value per state: finite, not negative, not all zero; copied
     * @return this evidence
     */
    public Evidence setLikelihood(int variable, double[] likelihood) {
        known.put(Check.index("variable", variable), likelihood.clone());
        return this;
    }

    /**
     * Forgets what is known about a variable.
     *
     * @param variable index of the variable
     * @return this evidence
     */
    public Evidence clear(int variable) {
        known.remove(variable);
        return this;
    }

    /**
     * Number of variables about which something is known.
     *
     * @return the number
     */
    public int size() {
        return known.size();
    }

    /** Fails if this does not fit variables with such numbers of states. */
    void check(int[] cardinalities) {
        for (Map.Entry<Integer, Object> entry : known.entrySet()) {
            int variable = entry.getKey();
            if (variable >= cardinalities.length) {
                throw new FastLbpException(
                        Status.OUT_OF_RANGE, "variable " + variable + ": there are " + cardinalities.length);
            }
            int states = cardinalities[variable];
            if (entry.getValue() instanceof Integer) {
                int state = (Integer) entry.getValue();
                if (state >= states) {
                    throw new FastLbpException(
                            Status.OUT_OF_RANGE, "variable " + variable + ", state " + state + ": it has " + states);
                }
            } else {
                checkLikelihood(variable, states, (double[]) entry.getValue());
            }
        }
    }

    private static void checkLikelihood(int variable, int states, double[] likelihood) {
        String name = "likelihood of variable " + variable;
        Check.length(name, likelihood.length, states, "one for each state");
        boolean isPossible = false;
        for (double value : likelihood) {
            if (!(value >= 0 && value < Double.POSITIVE_INFINITY)) {
                throw new FastLbpException(
                        Status.INVALID_ARGUMENT, name + ": " + value + " is not a finite number that is not negative");
            }
            isPossible |= value > 0;
        }
        if (!isPossible) throw new FastLbpException(Status.INVALID_ARGUMENT, name + ": all values are zero");
    }

    /** Adds this to a session that knows nothing. */
    void set(long bp) {
        int[] variables = new int[known.size()];
        int[] states = new int[known.size()];
        int observed = 0;
        for (Map.Entry<Integer, Object> entry : known.entrySet()) {
            if (entry.getValue() instanceof Integer) {
                variables[observed] = entry.getKey();
                states[observed++] = (Integer) entry.getValue();
            } else {
                Native.bpSetLikelihood(bp, entry.getKey(), (double[]) entry.getValue());
            }
        }
        Native.bpObserveVariables(bp, Arrays.copyOf(variables, observed), Arrays.copyOf(states, observed));
    }

    /** For {@link Saved}: what is known, by ascending variable. */
    Map<Integer, Object> known() {
        return known;
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof Evidence)) return false;
        Map<Integer, Object> others = ((Evidence) other).known;
        if (!known.keySet().equals(others.keySet())) return false;
        for (Map.Entry<Integer, Object> entry : known.entrySet()) {
            Object wanted = others.get(entry.getKey());
            if (!Arrays.deepEquals(new Object[] {entry.getValue()}, new Object[] {wanted})) return false;
        }
        return true;
    }

    @Override
    public int hashCode() {
        int hash = 1;
        for (Map.Entry<Integer, Object> entry : known.entrySet()) {
            hash = 31 * hash + entry.getKey() + Arrays.deepHashCode(new Object[] {entry.getValue()});
        }
        return hash;
    }

    @Override
    public String toString() {
        return "evidence on " + known.size() + " variables";
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
     * @throws java.io.InvalidObjectException always
     */
    private void readObject(java.io.ObjectInputStream stream) throws java.io.InvalidObjectException {
        throw Saved.needed();
    }
}
