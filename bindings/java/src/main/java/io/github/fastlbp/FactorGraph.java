package io.github.fastlbp;

import java.io.InvalidObjectException;
import java.io.ObjectInputStream;
import java.io.Serializable;
import java.nio.DoubleBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;

/**
 * A factor graph over discrete variables, which does not change. Built by a {@link Builder}, or read from a file.
 * Sessions share it: it can be closed as soon as they are made.
 *
 * <p>Its serialized form begins with a version, and has variables and factors as they are here, of all kinds. What is
 * read is a graph of its own, which must be closed.
 */
public final class FactorGraph extends NativeObject implements Serializable {
    private static final long serialVersionUID = 1L;

    /** Kind of a factor: a dense table. */
    public static final int TABLE = 0;

    /** Kind of a factor: the prior of a binary variable, f(1) = p and f(0) = 1 - p. */
    public static final int PRIOR = 1;

    /** Kind of a factor: a noisy conjunction, P(head = 1) = p if the whole body is true, q otherwise. */
    public static final int AND = 2;

    /** Kind of a factor: a noisy disjunction, P(head = 0) = p if the whole body is false, q otherwise. */
    public static final int OR = 3;

    /** Kind of a factor: values by the head and by whether all of some signed literals hold. */
    public static final int SIGNED = 4;

    /** Kind of a factor: as {@link #SIGNED}, with literals that hold with a probability. */
    public static final int NOISY = 5;

    /** Kind of a factor: a sum of weighted terms. */
    public static final int TERMS = 6;

    /** Memory of a handle, with its own and what the allocator adds. */
    private static final long OBJECT_BYTES = 512;

    /** In the indicators of terms: any state. */
    public static final int WILDCARD = -1;

    /** A graph that is built. */
    FactorGraph(long pointer) {
        this(pointer, new Shared(bytes(pointer)));
    }

    /** A graph of which there are other owners. */
    FactorGraph(long pointer, Shared shared) {
        super("FactorGraph", pointer, GRAPH, OBJECT_BYTES, shared);
    }

    /** Memory of a graph that is built; frees it if it cannot be told. */
    private static long bytes(long pointer) {
        boolean isTold = false;
        try {
            long bytes = Native.graphCount(pointer, Native.BYTES);
            isTold = true;
            return bytes;
        } finally {
            if (!isTold) Native.graphFree(pointer);
        }
    }

    /**
     * Starts to build a graph.
     *
     * @return an empty builder
     */
    public static Builder builder() {
        NativeLibrary.load();
        return new Builder(Native.graphNew());
    }

    /**
     * Reads a graph from a file. The suffix tells the format: {@code .causal_fg}, {@code .fg} (libDAI), {@code .uai} or
     * {@code .bif}, each also compressed with a further {@code .gz}.
     *
     * @param path name of the file
     * @return the graph
     * @throws FastLbpException with {@link Status#IO}, {@link Status#PARSE} (the message names the line),
     *     {@link Status#INVALID_ARGUMENT} for an unknown suffix, or {@link Status#LIMIT_EXCEEDED}
     */
    public static FactorGraph read(Path path) {
        byte[] name = Native.bytes("path", path.toString());
        NativeLibrary.load();
        return new FactorGraph(Native.graphRead(name));
    }

    /**
     * Writes the graph to a file, in the format that its suffix tells; every number reads back to the same bits. The
     * file appears when it is complete.
     *
     * @param path name of the file
     * @throws FastLbpException with {@link Status#IO}, {@link Status#INVALID_ARGUMENT} for an unknown suffix, or
     *     {@link Status#UNSUPPORTED} where the format cannot hold the graph
     */
    public void write(Path path) {
        byte[] name = Native.bytes("path", path.toString());
        use(graph -> Native.graphWrite(graph, name));
    }

    /**
     * Reads a graph from memory, as {@link #read(Path)} does from a file.
     *
     * @param bytes what a file of this name would have in it
     * @param name a file name, such as {@code graph.causal_fg.gz}: its suffix tells the format, and errors call the
     *     bytes by it
     * @return the graph
     * @throws FastLbpException as {@link #read(Path)}; with {@link Status#IO} for what cannot be decompressed
     */
    public static FactorGraph read(byte[] bytes, String name) {
        Objects.requireNonNull(bytes, "bytes");
        byte[] text = Native.bytes("name", name);
        NativeLibrary.load();
        return new FactorGraph(Native.graphReadBytes(bytes, text));
    }

    /**
     * Writes the graph to memory, as {@link #write(Path)} does to a file.
     *
     * @param name a file name, whose suffix tells the format
     * @return what a file of this name would have in it
     * @throws FastLbpException as {@link #write(Path)}; {@link Status#LIMIT_EXCEEDED} for more than an array can hold
     */
    public byte[] writeBytes(String name) {
        byte[] text = Native.bytes("name", name);
        return get(graph -> Native.graphWriteBytes(graph, text));
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
     * Memory outside of Java's heap that the graph takes, and that sessions on it take, each with all its buffers on
     * the CPU: an estimate, on the safe side; but SEQRND on several threads may take 64 MiB more. A device has memory of its own.
     *
     * @param sessions number of sessions
     * @return bytes
     */
    public long estimateBytes(int sessions) {
        Check.count("sessions", sessions);
        return get(graph -> Native.graphCount(graph, Native.BYTES) + sessions * sessionBytes(graph));
    }

    /** Memory of a session on a graph: measured on graphs of all kinds, see LifetimeTest. */
    static long sessionBytes(long graph) {
        return 4096
                + 96 * Native.graphCount(graph, Native.EDGES)
                + 48 * Native.graphCount(graph, Native.STATES)
                + 16 * Native.graphCount(graph, Native.FACTORS);
    }

    private long count(int what) {
        return getLong(graph -> Native.graphCount(graph, what));
    }

    /**
     * Number of variables.
     *
     * @return the number
     */
    public int variableCount() {
        return Check.size("variables", count(Native.VARIABLES));
    }

    /**
     * Number of factors.
     *
     * @return the number
     */
    public int factorCount() {
        return Check.size("factors", count(Native.FACTORS));
    }

    /**
     * Number of edges.
     *
     * @return the number
     */
    public int edgeCount() {
        return Check.size("edges", count(Native.EDGES));
    }

    /**
     * Sum of all cardinalities: the length of an array of all marginals.
     *
     * @return the number, twice the number of variables if all are binary
     */
    public int stateCount() {
        return Check.size("states", count(Native.STATES));
    }

    /**
     * Labels of all variables, ascending (as unsigned numbers).
     *
     * @return a new array
     */
    public long[] labels() {
        return get(Native::graphLabels);
    }

    /**
     * Index of the variable with a label. O(log variables).
     *
     * @param label the label
     * @return the index
     * @throws FastLbpException with {@link Status#OUT_OF_RANGE} if there is no such variable
     */
    public int variableOfLabel(long label) {
        return (int) getLong(graph -> Native.graphVariableOfLabel(graph, label));
    }

    /**
     * Indices of the variables with many labels.
     *
     * @param labels the labels
     * @return a new array of as many indices
     * @throws FastLbpException with {@link Status#OUT_OF_RANGE} if one label names no variable
     */
    public int[] variablesOfLabels(long[] labels) {
        Objects.requireNonNull(labels, "labels");
        return get(graph -> Native.graphVariablesOfLabels(graph, labels));
    }

    /**
     * Numbers of states of all variables.
     *
     * @return a new array, by index
     */
    public int[] cardinalities() {
        return get(Native::graphCardinalities);
    }

    /**
     * Kinds of all factors.
     *
     * @return a new array of {@link #TABLE}, {@link #PRIOR} and so on, by index
     */
    public int[] factorKinds() {
        return get(Native::graphFactorKinds);
    }

    /**
     * The variables of a factor.
     *
     * @param factor index of the factor
     * @return a new array of ascending indices
     */
    public int[] factorVariables(int factor) {
        Check.index("factor", factor);
        return get(graph -> Native.graphFactorVariables(graph, factor));
    }

    /**
     * The variable of each edge.
     *
     * @return a new array of indices
     */
    public int[] edgeVariables() {
        return get(Native::graphEdgeVariables);
    }

    /**
     * Where the edges of each factor start, and behind them the number of edges: those of factor {@code f} are the
     * numbers from entry {@code f} up to, but not including, entry {@code f + 1}.
     *
     * @return a new array, not descending, with one entry more than there are factors
     */
    public long[] factorOffsets() {
        return get(Native::graphFactorOffsets);
    }

    /**
     * Heads of all factors.
     *
     * @return a new array of indices of variables, by factor; -1 for a table and for terms, which have none
     */
    public int[] factorHeads() {
        return get(Native::graphFactorHeads);
    }

    /**
     * The parameters of a factor: of a table its values, the first variable fastest; of a prior p; of AND and OR p and
     * q; of {@link #SIGNED} the 4 values; of {@link #NOISY} these, and 4 probabilities for each of its variables; of
     * terms their weights.
     *
     * @param factor index of the factor
     * @return a new array
     */
    public double[] factorParameters(int factor) {
        Check.index("factor", factor);
        return get(graph -> Native.graphFactorParameters(graph, factor));
    }

    /**
     * The states that the condition of a factor wants of its variables, or {@link #WILDCARD}, which a head has that is
     * not in the body: 1 for a literal x = 1, 0 for x = 0. Of terms one for each term and variable, term by term; of
     * tables, priors and {@link #NOISY} none.
     *
     * @param factor index of the factor
     * @return a new array
     */
    public int[] factorIndicators(int factor) {
        Check.index("factor", factor);
        return get(graph -> Native.graphFactorIndicators(graph, factor));
    }

    /**
     * The values of a factor of any kind as a table.
     *
     * @param factor index of the factor
     * @return a new array with one value per joint state of its variables, the lowest one fastest
     * @throws FastLbpException with {@link Status#LIMIT_EXCEEDED} for more than 2<sup>26</sup> values
     */
    public double[] factorValues(int factor) {
        Check.index("factor", factor);
        return get(graph -> Native.graphFactorValues(graph, factor));
    }

    /**
     * Builds a graph factor by factor, or many at once from arrays or direct buffers. Arrays are copied. For one
     * thread at a time.
     */
    public static final class Builder extends NativeObject {
        private Builder(long pointer) {
            super("FactorGraph.Builder", pointer, GRAPH, OBJECT_BYTES, null);
        }

        /**
         * Checks everything that was added and makes the graph. The builder is closed by it, unless it fails.
         * O(variables log variables + edges + table entries).
         *
         * @return the graph
         * @throws FastLbpException with {@link Status#INVALID_ARGUMENT} for a variable with two cardinalities, a table
         *     whose length is not the number of its joint states, and the like; {@link Status#LIMIT_EXCEEDED}
         */
        public FactorGraph build() {
            try (Use use = new Use()) {
                Native.graphBuild(use.pointer);
            }
            return new FactorGraph(take());
        }

        /**
         * Declares variables. Only needed for such with other than two states and for such as occur in no factor: a
         * label that is not declared is a binary variable.
         *
         * @param labels the labels
         * @param cardinalities for each its number of states, at least 1; a variable with one state is for tables
         *     and terms only
         * @return this builder
         */
        public Builder addVariables(long[] labels, int[] cardinalities) {
            Check.length("cardinalities", cardinalities.length, labels.length, "one for each label");
            for (int cardinality : cardinalities) Check.count("a cardinality", cardinality);
            try (Use use = new Use()) {
                Native.graphAddVariables(use.pointer, labels, cardinalities);
            }
            return this;
        }

        /**
         * Declares a variable; see {@link #addVariables}.
         *
         * @param label the label
         * @param cardinality the number of states, at least 1
         * @return this builder
         */
        public Builder addVariable(long label, int cardinality) {
            return addVariables(new long[] {label}, new int[] {cardinality});
        }

        /**
         * Adds the prior of a binary variable: f(1) = p, f(0) = 1 - p.
         *
         * @param label label of the variable
         * @param p a probability
         * @return this builder
         */
        public Builder addPrior(long label, double p) {
            try (Use use = new Use()) {
                Native.graphAddPrior(use.pointer, label, p);
            }
            return this;
        }

        /**
         * Adds a noisy conjunction: P(head = 1) = p if the whole body is true, and q otherwise. An empty body is true.
         *
         * @param head label of the head
         * @param body labels of the body; duplicates merge
         * @param p a probability
         * @param q a probability
         * @return this builder
         */
        public Builder addAnd(long head, long[] body, double p, double q) {
            Objects.requireNonNull(body, "body");
            try (Use use = new Use()) {
                Native.graphAddAnd(use.pointer, head, body, p, q);
            }
            return this;
        }

        /**
         * Adds a noisy disjunction: P(head = 0) = p if the whole body is false, and q otherwise. An empty body is
         * false.
         *
         * @param head label of the head
         * @param body labels of the body; duplicates merge
         * @param p a probability
         * @param q a probability
         * @return this builder
         */
        public Builder addOr(long head, long[] body, double p, double q) {
            Objects.requireNonNull(body, "body");
            try (Use use = new Use()) {
                Native.graphAddOr(use.pointer, head, body, p, q);
            }
            return this;
        }

        /**
         * Adds many priors, AND and OR factors, or none if one is wrong. Factor {@code i} has the kind
         * {@code kinds[i]}, the head {@code heads[i]}, as its body the labels from {@code bodies[bodyOffsets[i]]} up
         * to, but not including, {@code bodies[bodyOffsets[i + 1]]} (none for a prior), and the probabilities {@code
         * p[i]} and {@code q[i]} (q is ignored for a prior).
         *
         * @param kinds {@link #PRIOR}, {@link #AND} or {@link #OR}
         * @param heads as many labels
         * @param bodyOffsets one offset more, not descending, from 0 to the length of {@code bodies}
         * @param bodies labels of all bodies
         * @param p as many probabilities as there are kinds
         * @param q as many probabilities
         * @return this builder
         */
        public Builder addFactors(
                int[] kinds, long[] heads, int[] bodyOffsets, long[] bodies, double[] p, double[] q) {
            return addFactors(kinds, heads, Check.offsets("bodyOffsets", bodyOffsets), bodies, p, q);
        }

        /**
         * As {@link #addFactors(int[], long[], int[], long[], double[], double[])}, with offsets as
         * {@link FactorGraph#factorOffsets} gives them.
         *
         * @param kinds {@link #PRIOR}, {@link #AND} or {@link #OR}
         * @param heads as many labels
         * @param bodyOffsets one offset more, not descending, from 0 to the length of {@code bodies}
         * @param bodies labels of all bodies
         * @param p as many probabilities as there are kinds
         * @param q as many probabilities
         * @return this builder
         */
        public Builder addFactors(
                int[] kinds, long[] heads, long[] bodyOffsets, long[] bodies, double[] p, double[] q) {
            Objects.requireNonNull(bodies, "bodies");
            checkFactors(kinds.length, heads.length, bodyOffsets.length, p.length, q.length);
            Check.offsets("bodyOffsets", bodyOffsets);
            try (Use use = new Use()) {
                Native.graphAddFactors(use.pointer, kinds, heads, bodyOffsets, bodies, p, q);
            }
            return this;
        }

        /**
         * As {@link #addFactors(int[], long[], int[], long[], double[], double[])}, from direct buffers in native byte
         * order. They are copied before anything is read: what another thread writes to them meanwhile is in the copy
         * or not. Of each buffer, what is from its position to its limit counts; positions stay.
         *
         * @param kinds {@link #PRIOR}, {@link #AND} or {@link #OR}
         * @param heads as many labels
         * @param bodyOffsets one offset more, not descending, from 0 to the number of {@code bodies}
         * @param bodies labels of all bodies
         * @param p as many probabilities as there are kinds
         * @param q as many probabilities
         * @return this builder
         */
        public Builder addFactors(
                IntBuffer kinds,
                LongBuffer heads,
                LongBuffer bodyOffsets,
                LongBuffer bodies,
                DoubleBuffer p,
                DoubleBuffer q) {
            Check.direct("kinds", kinds, kinds.order());
            Check.direct("heads", heads, heads.order());
            Check.direct("bodyOffsets", bodyOffsets, bodyOffsets.order());
            Check.direct("bodies", bodies, bodies.order());
            Check.direct("p", p, p.order());
            Check.direct("q", q, q.order());
            checkFactors(
                    kinds.remaining(), heads.remaining(), bodyOffsets.remaining(), p.remaining(), q.remaining());
            Check.offsets("bodyOffsets", bodyOffsets);
            use(graph -> Native.graphAddFactorsDirect(
                    graph,
                    kinds.remaining(),
                    bodies.remaining(),
                    kinds.slice(),
                    heads.slice(),
                    bodyOffsets.slice(),
                    bodies.slice(),
                    p.slice(),
                    q.slice()));
            return this;
        }

        private static void checkFactors(int kinds, int heads, int bodyOffsets, int p, int q) {
            Check.length("heads", heads, kinds, "one for each kind");
            Check.length("bodyOffsets", bodyOffsets, kinds + 1, "one for each kind, and the end");
            Check.length("p", p, kinds, "one for each kind");
            Check.length("q", q, kinds, "one for each kind");
        }

        /**
         * Adds a dense table. The first variable of the scope varies fastest, as in libDAI.
         *
         * @param scope labels, all different
         * @param values one per joint state: finite, not negative, not all zero
         * @return this builder
         */
        public Builder addTable(long[] scope, double[] values) {
            Objects.requireNonNull(scope, "scope");
            Objects.requireNonNull(values, "values");
            try (Use use = new Use()) {
                Native.graphAddTable(use.pointer, scope, values);
            }
            return this;
        }

        /**
         * Adds many dense tables, or none if one is wrong. Table {@code i} has the scope from
         * {@code scopes[scopeOffsets[i]]} up to, but not including, {@code scopes[scopeOffsets[i + 1]]}, and likewise
         * the values cut out by {@code valueOffsets}.
         *
         * @param scopeOffsets offsets, one more than there are tables, from 0 to the length of {@code scopes}
         * @param scopes labels
         * @param valueOffsets as many offsets, from 0 to the length of {@code values}
         * @param values values
         * @return this builder
         */
        public Builder addTables(int[] scopeOffsets, long[] scopes, int[] valueOffsets, double[] values) {
            return addTables(
                    Check.offsets("scopeOffsets", scopeOffsets), scopes,
                    Check.offsets("valueOffsets", valueOffsets), values);
        }

        /**
         * As {@link #addTables(int[], long[], int[], double[])}, with offsets as {@link FactorGraph#factorOffsets}
         * gives them.
         *
         * @param scopeOffsets offsets, one more than there are tables, from 0 to the length of {@code scopes}
         * @param scopes labels
         * @param valueOffsets as many offsets, from 0 to the length of {@code values}
         * @param values values
         * @return this builder
         */
        public Builder addTables(long[] scopeOffsets, long[] scopes, long[] valueOffsets, double[] values) {
            Objects.requireNonNull(scopes, "scopes");
            Objects.requireNonNull(values, "values");
            if (scopeOffsets.length == 0) Check.length("scopeOffsets", 0, 1, "one for each table, and the end");
            Check.length("valueOffsets", valueOffsets.length, scopeOffsets.length, "as many as scopeOffsets");
            Check.offsets("scopeOffsets", scopeOffsets);
            Check.offsets("valueOffsets", valueOffsets);
            use(graph -> Native.graphAddTables(graph, scopeOffsets, scopes, valueOffsets, values));
            return this;
        }

        /**
         * Adds a factor decided by a conjunction of signed literals of binary variables.
         *
         * @param head label of the head
         * @param body labels
         * @param negated for each label, true for the literal x = 0, false for x = 1
         * @param values f(head = 1 | all hold), f(head = 0 | all hold), f(head = 1 | one fails), f(head = 0 | one
         *     fails)
         * @return this builder
         */
        public Builder addSigned(long head, long[] body, boolean[] negated, double[] values) {
            Check.length("negated", negated.length, body.length, "one for each label of the body");
            Check.length("values", values.length, 4, "two for the head where all literals hold, two where one fails");
            use(graph -> Native.graphAddSigned(graph, head, body, negated, values));
            return this;
        }

        /**
         * Adds many factors as {@link #addSigned} does, or none if one is wrong.
         *
         * @param heads labels of the heads
         * @param bodyOffsets one offset more, not descending, from 0 to the length of {@code bodies}
         * @param bodies labels of all bodies
         * @param negated for each of these, true for the literal x = 0, false for x = 1
         * @param values four for each factor
         * @return this builder
         */
        public Builder addSignedFactors(
                long[] heads, long[] bodyOffsets, long[] bodies, boolean[] negated, double[] values) {
            checkBodies(heads, bodyOffsets);
            Check.length("negated", negated.length, bodies.length, "one for each label of the bodies");
            Check.length("values", values.length, 4 * heads.length, "four for each head");
            use(graph -> Native.graphAddSignedFactors(graph, heads, bodyOffsets, bodies, negated, values));
            return this;
        }

        private static void checkBodies(long[] heads, long[] bodyOffsets) {
            Check.length("bodyOffsets", bodyOffsets.length, heads.length + 1, "one for each head, and the end");
            Check.offsets("bodyOffsets", bodyOffsets);
        }

        /**
         * Adds many factors as {@link #addNoisy} does. If one is wrong, those before it have been added.
         *
         * @param heads labels of the heads
         * @param bodyOffsets one offset more, not descending, from 0 to the length of {@code bodies}
         * @param bodies labels of all bodies
         * @param literals four probabilities for each of these
         * @param values four for each factor
         * @return this builder
         */
        public Builder addNoisyFactors(
                long[] heads, long[] bodyOffsets, long[] bodies, double[] literals, double[] values) {
            checkBodies(heads, bodyOffsets);
            Check.ranges("bodyOffsets", bodyOffsets, bodies.length);
            Check.length("literals", literals.length, 4 * bodies.length, "four for each label of the bodies");
            Check.length("values", values.length, 4 * heads.length, "four for each head");
            for (int i = 0; i < heads.length; i++) {
                int from = (int) bodyOffsets[i];
                int to = (int) bodyOffsets[i + 1];
                addNoisy(
                        heads[i],
                        Arrays.copyOfRange(bodies, from, to),
                        Arrays.copyOfRange(literals, 4 * from, 4 * to),
                        Arrays.copyOfRange(values, 4 * i, 4 * i + 4));
            }
            return this;
        }

        /**
         * Adds a clause of conjunctive normal form over binary variables.
         *
         * @param variables labels, at least 1
         * @param negated for each label, true for the literal x = 0, false for x = 1
         * @param satisfied value where one of the literals holds
         * @param violated value where none does
         * @return this builder
         */
        public Builder addClause(long[] variables, boolean[] negated, double satisfied, double violated) {
            Check.length("negated", negated.length, variables.length, "one for each variable");
            if (variables.length == 0) {
                throw new FastLbpException(
                        Status.INVALID_ARGUMENT, "a clause without literals: one is needed at least");
            }
            // The first literal decides where all others are violated.
            int others = variables.length - 1;
            long[] body = Arrays.copyOfRange(variables, 1, variables.length);
            boolean[] turned = new boolean[others];
            for (int i = 0; i < others; i++) turned[i] = !negated[i + 1];
            double ifTrue = negated[0] ? violated : satisfied;
            double ifFalse = negated[0] ? satisfied : violated;
            addSigned(variables[0], body, turned, new double[] {ifTrue, ifFalse, satisfied, satisfied});
            return this;
        }

        /**
         * Adds a factor decided by a conjunction of noisy literals: each holds with a probability that depends on the
         * state of its binary variable.
         *
         * @param head label of the head
         * @param body labels, all different and different from the head
         * @param literals for each label four probabilities: that its literal holds and that it fails if the variable
         *     is 0, and the same if it is 1
         * @param values f(head = 1 | all hold), f(head = 0 | all hold), f(head = 1 | one fails), f(head = 0 | one
         *     fails)
         * @return this builder
         */
        public Builder addNoisy(long head, long[] body, double[] literals, double[] values) {
            Check.length("literals", literals.length, 4 * body.length, "four for each label of the body");
            Check.length("values", values.length, 4, "two for the head where all literals hold, two where one fails");
            use(graph -> Native.graphAddNoisy(graph, head, body, literals, values));
            return this;
        }

        /**
         * Adds a noisy-OR of binary variables: P(head = 0 | x) = (1 - leak) times the product of 1 - {@code links[i]}
         * over all i with {@code body[i]} = 1.
         *
         * @param head label of the head
         * @param body labels, all different and different from the head
         * @param links for each label, the probability that it alone causes the head
         * @param leak probability of the head without any cause
         * @return this builder
         */
        public Builder addNoisyOr(long head, long[] body, double[] links, double leak) {
            Check.length("links", links.length, body.length, "one for each label of the body");
            double[] literals = new double[4 * links.length];
            for (int i = 0; i < links.length; i++) {
                literals[4 * i] = 1;
                literals[4 * i + 2] = 1 - links[i];
                literals[4 * i + 3] = links[i];
            }
            return addNoisy(head, body, literals, new double[] {leak, 1 - leak, 1, 0});
        }

        /**
         * Adds a noisy-AND of binary variables: P(head = 1 | x) = p times the product of {@code links[i]} over all i
         * with {@code body[i]} = 0.
         *
         * @param head label of the head
         * @param body labels, all different and different from the head
         * @param links for each label, the probability that the head survives its being 0
         * @param p probability of the head if the whole body is true
         * @return this builder
         */
        public Builder addNoisyAnd(long head, long[] body, double[] links, double p) {
            Check.length("links", links.length, body.length, "one for each label of the body");
            double[] literals = new double[4 * links.length];
            for (int i = 0; i < links.length; i++) {
                literals[4 * i] = links[i];
                literals[4 * i + 1] = 1 - links[i];
                literals[4 * i + 2] = 1;
            }
            return addNoisy(head, body, literals, new double[] {p, 1 - p, 0, 1});
        }

        /**
         * Adds a sum of weighted terms: the value is the sum of {@code weights[t]} over all t for which every variable
         * i of the scope is in the state {@code indicators[t * scope.length + i]}, or that is {@link #WILDCARD}.
         *
         * @param scope labels, all different
         * @param weights one weight per term, finite
         * @param indicators states or {@link #WILDCARD}, term by term
         * @return this builder
         */
        public Builder addTerms(long[] scope, double[] weights, int[] indicators) {
            Objects.requireNonNull(scope, "scope");
            Objects.requireNonNull(weights, "weights");
            Objects.requireNonNull(indicators, "indicators");
            use(graph -> Native.graphAddTerms(graph, scope, weights, indicators));
            return this;
        }

        /**
         * Adds many factors as {@link #addTerms} does, or none if one is wrong.
         *
         * @param scopeOffsets offsets, one more than there are factors, not descending, from 0 to the length of
         *     {@code scopes}
         * @param scopes labels
         * @param termOffsets as many offsets, from 0 to the length of {@code weights}
         * @param weights one weight per term
         * @param indicators states or {@link #WILDCARD}, one per term and variable of its factor, factor by factor and
         *     term by term
         * @return this builder
         */
        public Builder addTermFactors(
                long[] scopeOffsets, long[] scopes, long[] termOffsets, double[] weights, int[] indicators) {
            if (scopeOffsets.length == 0) Check.length("scopeOffsets", 0, 1, "one for each factor, and the end");
            Check.length("termOffsets", termOffsets.length, scopeOffsets.length, "as many as scopeOffsets");
            Check.offsets("scopeOffsets", scopeOffsets);
            Check.offsets("termOffsets", termOffsets);
            Objects.requireNonNull(scopes, "scopes");
            Objects.requireNonNull(weights, "weights");
            Objects.requireNonNull(indicators, "indicators");
            use(graph -> Native.graphAddTermFactors(graph, scopeOffsets, scopes, termOffsets, weights, indicators));
            return this;
        }
    }
}
