package io.github.fastlbp;

import java.io.IOException;
import java.io.InvalidObjectException;
import java.io.ObjectInput;
import java.io.ObjectOutput;
import java.util.Arrays;

/**
 * Variables and factors of a graph, as arrays that can be written and read: what a graph is built from, so that the one
 * that is built has the same indices, edges and bits.
 */
final class GraphContent {
    private final long[] labels;
    private final int[] cardinalities;
    private final int[] kinds;
    /** Indices of variables, or -1. */
    private final int[] heads;
    private final long[] offsets;
    private final int[] variables;
    /** By factor, see {@link FactorGraph#factorParameters} and {@link FactorGraph#factorIndicators}. */
    private final double[][] parameters;
    private final int[][] indicators;

    GraphContent(FactorGraph graph) {
        labels = graph.labels();
        cardinalities = graph.cardinalities();
        kinds = graph.factorKinds();
        heads = graph.factorHeads();
        offsets = graph.factorOffsets();
        variables = graph.edgeVariables();
        parameters = new double[kinds.length][];
        indicators = new int[kinds.length][];
        for (int i = 0; i < kinds.length; i++) {
            parameters[i] = graph.factorParameters(i);
            indicators[i] = graph.factorIndicators(i);
        }
    }

    GraphContent(ObjectInput in) throws IOException {
        labels = Saved.Arrays.readLongs(in);
        cardinalities = Saved.Arrays.readInts(in);
        kinds = Saved.Arrays.readInts(in);
        heads = Saved.Arrays.readInts(in);
        offsets = Saved.Arrays.readLongs(in);
        variables = Saved.Arrays.readInts(in);
        check(cardinalities.length == labels.length && heads.length == kinds.length, "lengths");
        check(offsets.length == kinds.length + 1, "lengths");
        Check.ranges("offsets", offsets, variables.length);
        for (int variable : variables) check(variable >= 0 && variable < labels.length, "variables");
        for (int head : heads) check(head >= -1 && head < labels.length, "heads");
        parameters = new double[kinds.length][];
        indicators = new int[kinds.length][];
        for (int i = 0; i < kinds.length; i++) {
            parameters[i] = Saved.Arrays.readDoubles(in);
            indicators[i] = Saved.Arrays.readInts(in);
            checkFactor(i);
        }
    }

    /** What {@link #build} takes from the arrays of a factor is there; all else the library checks. */
    private void checkFactor(int factor) throws IOException {
        int kind = kinds[factor];
        check(kind >= FactorGraph.TABLE && kind <= FactorGraph.TERMS, "kinds");
        boolean hasHead = kind != FactorGraph.TABLE && kind != FactorGraph.TERMS;
        check(!hasHead || heads[factor] >= 0, "heads");
        int arity = (int) (offsets[factor + 1] - offsets[factor]);
        int numbers = parameters[factor].length;
        int wanted;
        if (kind == FactorGraph.PRIOR) wanted = 1;
        else if (kind == FactorGraph.AND || kind == FactorGraph.OR) wanted = 2;
        else if (kind == FactorGraph.SIGNED) wanted = 4;
        else if (kind == FactorGraph.NOISY) wanted = 4 + 4 * arity;
        else wanted = numbers;
        check(numbers == wanted, "parameters");
        boolean hasLiterals = kind == FactorGraph.AND || kind == FactorGraph.OR || kind == FactorGraph.SIGNED;
        check(!hasLiterals || indicators[factor].length == arity, "indicators");
    }

    private static void check(boolean holds, String what) throws IOException {
        if (!holds) throw new InvalidObjectException("the " + what + " of a serialized graph do not fit each other");
    }

    void write(ObjectOutput out) throws IOException {
        Saved.Arrays.write(out, labels);
        Saved.Arrays.write(out, cardinalities);
        Saved.Arrays.write(out, kinds);
        Saved.Arrays.write(out, heads);
        Saved.Arrays.write(out, offsets);
        Saved.Arrays.write(out, variables);
        for (int i = 0; i < kinds.length; i++) {
            Saved.Arrays.write(out, parameters[i]);
            Saved.Arrays.write(out, indicators[i]);
        }
    }

    FactorGraph build() {
        try (FactorGraph.Builder builder = FactorGraph.builder()) {
            builder.addVariables(labels, cardinalities);
            for (int first = 0; first < kinds.length; ) {
                int end = first + 1;
                if (isHorn(first)) {
                    while (end < kinds.length && isHorn(end)) end++;
                    addHorn(builder, first, end);
                } else {
                    add(builder, first);
                }
                first = end;
            }
            return builder.build();
        }
    }

    /** Kinds that are added in bulk: those of which graphs have many. */
    private boolean isHorn(int factor) {
        return kinds[factor] == FactorGraph.PRIOR || kinds[factor] == FactorGraph.AND
                || kinds[factor] == FactorGraph.OR;
    }

    private void addHorn(FactorGraph.Builder builder, int first, int end) {
        int count = end - first;
        long[] headLabels = new long[count];
        int[] bodyOffsets = new int[count + 1];
        long[] bodies = new long[(int) (offsets[end] - offsets[first])];
        double[] p = new double[count];
        double[] q = new double[count];
        int length = 0;
        for (int i = 0; i < count; i++) {
            int factor = first + i;
            headLabels[i] = labels[heads[factor]];
            p[i] = parameters[factor][0];
            if (kinds[factor] != FactorGraph.PRIOR) {
                q[i] = parameters[factor][1];
                for (int j = 0; j < indicators[factor].length; j++) {
                    if (indicators[factor][j] != FactorGraph.WILDCARD) bodies[length++] = label(factor, j);
                }
            }
            bodyOffsets[i + 1] = length;
        }
        int[] run = Arrays.copyOfRange(kinds, first, end);
        builder.addFactors(run, headLabels, bodyOffsets, Arrays.copyOf(bodies, length), p, q);
    }

    /** Label of a variable of a factor. */
    private long label(int factor, int position) {
        return labels[variables[(int) offsets[factor] + position]];
    }

    private void add(FactorGraph.Builder builder, int factor) {
        int arity = (int) (offsets[factor + 1] - offsets[factor]);
        long[] scope = new long[arity];
        for (int i = 0; i < arity; i++) scope[i] = label(factor, i);
        double[] numbers = parameters[factor];
        if (kinds[factor] == FactorGraph.TABLE) {
            builder.addTable(scope, numbers);
            return;
        }
        if (kinds[factor] == FactorGraph.TERMS) {
            builder.addTerms(scope, numbers, indicators[factor]);
            return;
        }
        boolean isSigned = kinds[factor] == FactorGraph.SIGNED;
        long head = labels[heads[factor]];
        long[] body = new long[arity];
        boolean[] negated = new boolean[arity];
        double[] literals = new double[4 * arity];
        int length = 0;
        for (int i = 0; i < arity; i++) {
            boolean isLiteral = isSigned ? indicators[factor][i] != FactorGraph.WILDCARD : scope[i] != head;
            if (!isLiteral) continue;
            body[length] = scope[i];
            if (isSigned) negated[length] = indicators[factor][i] == 0;
            else System.arraycopy(numbers, 4 + 4 * i, literals, 4 * length, 4);
            length++;
        }
        double[] values = Arrays.copyOf(numbers, 4);
        body = Arrays.copyOf(body, length);
        if (isSigned) builder.addSigned(head, body, Arrays.copyOf(negated, length), values);
        else builder.addNoisy(head, body, Arrays.copyOf(literals, 4 * length), values);
    }
}
