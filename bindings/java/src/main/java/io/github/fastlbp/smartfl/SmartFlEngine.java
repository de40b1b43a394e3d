package io.github.fastlbp.smartfl;

import io.github.fastlbp.Backend;
import io.github.fastlbp.BeliefPropagation;
import io.github.fastlbp.Contradiction;
import io.github.fastlbp.FactorGraph;
import io.github.fastlbp.FastLbpException;
import io.github.fastlbp.ProgressListener;
import io.github.fastlbp.RunResult;
import io.github.fastlbp.Schedule;
import io.github.fastlbp.Status;
import java.util.Arrays;

/**
 * SmartFL's inference: the probability of each statement to be right, and of each value that it computed, from which
 * values of a run were right and which were wrong.
 *
 * <p>Nodes are statements and values, numbered from 0. Each execution of a statement is a factor: the value that it
 * defines (the head) is right if the statement, the predicates that control it and the values that it uses are right,
 * and with probability q otherwise. Where a factor names a node twice, it counts once. Nodes that head no factor, as
 * statements do not, are right with probability 0.5 before anything is observed. The graph, and with it every result,
 * is that of the {@code .causal_fg} file with a block {@code *1;q} for each factor, in the same order.
 *
 * <p>A run makes synchronous iterations until no probability has moved by more than 1e-8 in one. Where observations
 * contradict each other, the state that more deterministic messages back wins, and a tie gives 0.5.
 *
 * <p>The structure does not change; observations are data that can change from run to run.
 */
public final class SmartFlEngine implements AutoCloseable {
    /** The largest move of a probability that ends a run. */
    public static final double TOLERANCE = 1e-8;

    /** The number of iterations after which SmartFL ends a run in any case. */
    public static final int MAX_ITERATIONS = 100;

    private final BeliefPropagation bp;
    private final int nodeCount;

    private SmartFlEngine(FactorGraph graph, int nodeCount) {
        this.nodeCount = nodeCount;
        bp = new BeliefPropagation(graph)
                .setSchedule(Schedule.PARALL)
                .setTolerance(TOLERANCE)
                .setContradiction(Contradiction.VOTE);
    }

    /**
     * Starts to build an engine.
     *
     * @param nodeCount number of nodes, statements and values together
     * @return a builder without factors
     */
    public static Builder builder(int nodeCount) {
        return new Builder(nodeCount);
    }

    /**
     * Observes that a node is right or wrong; replaces what was observed of it.
     *
     * @param node number of the node
     * @param right whether it is right
     * @return this engine
     */
    public SmartFlEngine observe(int node, boolean right) {
        bp.observe(node, right ? 1 : 0);
        return this;
    }

    /**
     * Observes many nodes, or none if one is wrong.
     *
     * @param nodes numbers of nodes
     * @param right for each, whether it is right
     * @return this engine
     */
    public SmartFlEngine observe(int[] nodes, boolean[] right) {
        if (nodes.length != right.length) {
            throw invalid(right.length + " observed values for " + nodes.length + " nodes");
        }
        int[] states = new int[right.length];
        for (int i = 0; i < states.length; i++) states[i] = right[i] ? 1 : 0;
        bp.observe(nodes, states);
        return this;
    }

    /**
     * Forgets all observations.
     *
     * @return this engine
     */
    public SmartFlEngine clearObservations() {
        bp.clearEvidence();
        return this;
    }

    /**
     * Sets where iterations run; results do not depend on it.
     *
     * @param backend the backend
     * @return this engine
     */
    public SmartFlEngine setBackend(Backend backend) {
        bp.setBackend(backend);
        return this;
    }

    /**
     * Sets who is told after each iteration how a run goes, and can end it.
     *
     * @param listener the listener, or null for none
     * @return this engine
     */
    public SmartFlEngine setProgressListener(ProgressListener listener) {
        bp.setProgressListener(listener);
        return this;
    }

    /**
     * Runs at most {@link #MAX_ITERATIONS} iterations.
     *
     * @return how it went
     */
    public RunResult run() {
        return run(MAX_ITERATIONS);
    }

    /**
     * Runs iterations until no probability has moved by more than {@link #TOLERANCE}.
     *
     * @param maxIterations the number of iterations after which the run ends in any case
     * @return how it went; {@link RunResult#contradictions} counts places where deterministic messages disagreed
     */
    public RunResult run(long maxIterations) {
        return bp.setMaxIterations(maxIterations).run();
    }

    /**
     * Number of nodes.
     *
     * @return as given to {@link #builder}
     */
    public int nodeCount() {
        return nodeCount;
    }

    /**
     * P(right) of all nodes, after a run.
     *
     * @param out where they are written, by number of the node; {@link #nodeCount} entries are enough
     */
    public void probabilities(double[] out) {
        bp.probabilities(out);
    }

    /**
     * P(right) of some nodes, such as all statements, after a run.
     *
     * @param nodes numbers of nodes
     * @param out as many probabilities are written here
     */
    public void probabilities(int[] nodes, double[] out) {
        bp.probabilities(nodes, out);
    }

    /**
     * P(right) of one node, after a run.
     *
     * @param node number of the node
     * @return the probability
     */
    public double probability(int node) {
        return bp.probability(node);
    }

    /** Frees the native memory; see {@link BeliefPropagation#close}. */
    @Override
    public void close() {
        bp.close();
    }

    private static FastLbpException invalid(String text) {
        return new FastLbpException(Status.INVALID_ARGUMENT, text);
    }

    /** Collects factors in arrays of Java; the graph is made of them in one call. For one thread at a time. */
    public static final class Builder {
        private final int nodeCount;
        private final boolean[] isHead;
        private int factors;
        private long[] heads = new long[16];
        private double[] q = new double[16];
        private int[] bodyOffsets = new int[17];
        private long[] bodies = new long[64];
        private int bodiesLength;

        private Builder(int nodeCount) {
            if (nodeCount < 0) throw invalid("the number of nodes is " + nodeCount + ", but must not be negative");
            this.nodeCount = nodeCount;
            isHead = new boolean[nodeCount];
        }

        /**
         * Adds an execution of a statement.
         *
         * @param head the node of the value that it defines
         * @param statement the node of the statement
         * @param predicates nodes of the values that control it
         * @param uses nodes of the values that it uses
         * @param q probability that the value is right though one of these is wrong: 0.01 in SmartFL, 0.5 where the
         *     operation hides errors
         * @return this builder
         * @throws FastLbpException with {@link Status#OUT_OF_RANGE} for a node that there is not, and with
         *     {@link Status#INVALID_ARGUMENT} if q is no probability; nothing is added
         */
        public Builder addFactor(int head, int statement, int[] predicates, int[] uses, double q) {
            add(head, statement, predicates, 0, predicates.length, uses, 0, uses.length, q);
            return this;
        }

        /**
         * Adds many executions. Number {@code i} has the predicates from {@code predicates[predicateOffsets[i]]} up to,
         * but not including, {@code predicates[predicateOffsets[i + 1]]}, and likewise the uses that {@code useOffsets}
         * cuts out. If one is wrong, those before it have been added.
         *
         * @param heads nodes of the values that are defined
         * @param statements as many nodes of statements
         * @param predicateOffsets one offset more, not descending
         * @param predicates nodes of predicates
         * @param useOffsets one offset more, not descending
         * @param uses nodes of used values
         * @param q as many probabilities as there are heads
         * @return this builder
         * @throws FastLbpException as {@link #addFactor}, and with {@link Status#INVALID_ARGUMENT} for lengths and
         *     offsets that do not fit
         */
        public Builder addFactors(
                int[] heads,
                int[] statements,
                int[] predicateOffsets,
                int[] predicates,
                int[] useOffsets,
                int[] uses,
                double[] q) {
            int count = heads.length;
            if (statements.length != count || q.length != count) {
                throw invalid(count + " heads, " + statements.length + " statements and " + q.length
                        + " probabilities: as many of each are needed");
            }
            if (predicateOffsets.length != count + 1 || useOffsets.length != count + 1) {
                throw invalid(count + " heads need " + (count + 1) + " offsets, but there are "
                        + predicateOffsets.length + " of predicates and " + useOffsets.length + " of uses");
            }
            checkOffsets("predicateOffsets", predicateOffsets, predicates.length);
            checkOffsets("useOffsets", useOffsets, uses.length);
            for (int i = 0; i < count; i++) {
                add(
                        heads[i],
                        statements[i],
                        predicates,
                        predicateOffsets[i],
                        predicateOffsets[i + 1],
                        uses,
                        useOffsets[i],
                        useOffsets[i + 1],
                        q[i]);
            }
            return this;
        }

        private static void checkOffsets(String name, int[] offsets, int end) {
            int last = 0;
            for (int i = 0; i < offsets.length; i++) {
                if (offsets[i] < last || offsets[i] > end) {
                    throw invalid(name + "[" + i + "] is " + offsets[i] + ", but must be from " + last + " to " + end);
                }
                last = offsets[i];
            }
        }

        private void add(
                int head,
                int statement,
                int[] predicates,
                int firstPredicate,
                int endOfPredicates,
                int[] uses,
                int firstUse,
                int endOfUses,
                double q) {
            check("head", head);
            check("statement", statement);
            for (int i = firstPredicate; i < endOfPredicates; i++) check("predicate", predicates[i]);
            for (int i = firstUse; i < endOfUses; i++) check("use", uses[i]);
            if (!(q >= 0 && q <= 1)) throw invalid("factor " + factors + ": q is " + q + ", not a probability");
            long length = bodiesLength + 1L + (endOfPredicates - firstPredicate) + (endOfUses - firstUse);
            if (length > Integer.MAX_VALUE - 8) {
                throw new FastLbpException(
                        Status.LIMIT_EXCEEDED, "the bodies of all factors have more than 2^31 nodes");
            }
            reserve((int) length);
            heads[factors] = head;
            this.q[factors] = q;
            bodies[bodiesLength++] = statement;
            for (int i = firstPredicate; i < endOfPredicates; i++) bodies[bodiesLength++] = predicates[i];
            for (int i = firstUse; i < endOfUses; i++) bodies[bodiesLength++] = uses[i];
            bodyOffsets[++factors] = bodiesLength;
            isHead[head] = true;
        }

        private void check(String name, int node) {
            if (node < 0 || node >= nodeCount) {
                throw new FastLbpException(
                        Status.OUT_OF_RANGE,
                        "factor " + factors + ": the " + name + " is node " + node + ", but there are "
                                + nodeCount + " nodes");
            }
        }

        private void reserve(int length) {
            if (length > bodies.length) bodies = Arrays.copyOf(bodies, larger(bodies.length, length));
            if (factors == heads.length) {
                int size = larger(factors, factors + 1);
                heads = Arrays.copyOf(heads, size);
                q = Arrays.copyOf(q, size);
                bodyOffsets = Arrays.copyOf(bodyOffsets, size + 1);
            }
        }

        /** Half as much again, so that all copies together take linear time. */
        private static int larger(int size, int needed) {
            return (int) Math.min(Integer.MAX_VALUE - 8, Math.max(needed, size + (long) (size / 2)));
        }

        /**
         * Makes the engine. The builder can be used on.
         *
         * @return the engine, without observations
         */
        public SmartFlEngine build() {
            long[] nodes = new long[nodeCount];
            int[] cardinalities = new int[nodeCount];
            int roots = 0;
            for (int i = 0; i < nodeCount; i++) {
                nodes[i] = i;
                cardinalities[i] = 2;
                if (!isHead[i]) roots++;
            }
            // Factors first, then the priors of nodes that head none, as reading a .causal_fg file does.
            int[] kinds = filled(factors, FactorGraph.AND);
            double[] ones = new double[factors];
            Arrays.fill(ones, 1);
            long[] rootNodes = new long[roots];
            for (int i = 0, next = 0; i < nodeCount; i++) {
                if (!isHead[i]) rootNodes[next++] = i;
            }
            double[] halves = new double[roots];
            Arrays.fill(halves, 0.5);
            try (FactorGraph.Builder builder = FactorGraph.builder()) {
                builder.addVariables(nodes, cardinalities);
                builder.addFactors(
                        kinds,
                        Arrays.copyOf(heads, factors),
                        Arrays.copyOf(bodyOffsets, factors + 1),
                        Arrays.copyOf(bodies, bodiesLength),
                        ones,
                        Arrays.copyOf(q, factors));
                builder.addFactors(
                        filled(roots, FactorGraph.PRIOR), rootNodes, new int[roots + 1], new long[0], halves, halves);
                try (FactorGraph graph = builder.build()) {
                    return new SmartFlEngine(graph, nodeCount);
                }
            }
        }

        private static int[] filled(int length, int value) {
            int[] array = new int[length];
            Arrays.fill(array, value);
            return array;
        }
    }
}
