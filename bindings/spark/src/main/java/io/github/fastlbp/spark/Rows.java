package io.github.fastlbp.spark;

import io.github.fastlbp.FastLbpException;
import io.github.fastlbp.Status;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** Columns of datasets. */
final class Rows {
    /** A column of the input: the labels of the variables about which something is known. */
    static final String LABELS = "labels";

    /** A column of the input: the states of these variables. */
    static final String STATES = "states";

    /** A column of the input: the name of a graph's file, whose suffix is its format. */
    static final String PATH = "path";

    /** A column of the input: the bytes of a graph's file. */
    static final String CONTENT = "content";

    private static final StructField[] OUTCOME = {
        DataTypes.createStructField("status", DataTypes.StringType, false),
        DataTypes.createStructField("message", DataTypes.StringType, true),
        DataTypes.createStructField("iterations", DataTypes.LongType, false),
        DataTypes.createStructField("stop_reason", DataTypes.StringType, true),
        DataTypes.createStructField("max_diff", DataTypes.DoubleType, false),
        DataTypes.createStructField("active_fraction", DataTypes.DoubleType, false),
        DataTypes.createStructField("contradictions", DataTypes.LongType, false),
        DataTypes.createStructField("digest", DataTypes.LongType, false),
        DataTypes.createStructField("probabilities", DataTypes.createArrayType(DataTypes.DoubleType, false), true),
        DataTypes.createStructField("marginals", DataTypes.createArrayType(DataTypes.DoubleType, false), true),
    };

    private Rows() {}

    /** The columns of the input that the output has, too: all but those with a graph or evidence. */
    static List<Integer> kept(StructType input, String... left) {
        List<Integer> kept = new ArrayList<>();
        for (int i = 0; i < input.size(); i++) {
            if (!Arrays.asList(left).contains(input.fields()[i].name())) kept.add(i);
        }
        return kept;
    }

    static StructType schema(StructType input, List<Integer> kept, StructField... added) {
        List<StructField> fields = new ArrayList<>();
        for (int column : kept) fields.add(input.fields()[column]);
        for (StructField field : added) {
            if (Arrays.asList(input.fieldNames()).contains(field.name()) && fields.stream().anyMatch(
                    other -> other.name().equals(field.name()))) {
                throw new FastLbpException(
                        Status.INVALID_ARGUMENT,
                        "the column '" + field.name() + "' would be there twice: rename that of the input");
            }
            fields.add(field);
        }
        return DataTypes.createStructType(fields);
    }

    static StructType outcomes(StructType input, List<Integer> kept) {
        return schema(input, kept, OUTCOME);
    }

    static Row row(Row input, List<Integer> kept, Object... added) {
        Object[] values = new Object[kept.size() + added.length];
        for (int i = 0; i < kept.size(); i++) values[i] = input.get(kept.get(i));
        System.arraycopy(added, 0, values, kept.size(), added.length);
        return RowFactory.create(values);
    }

    static Row row(Row input, List<Integer> kept, Outcome outcome) {
        return row(
                input,
                kept,
                outcome.status().name(),
                outcome.message(),
                outcome.iterations(),
                outcome.stopReason() == null ? null : outcome.stopReason().name(),
                outcome.maxDiff(),
                outcome.activeFraction(),
                outcome.contradictions(),
                outcome.digest(),
                outcome.probabilities(),
                outcome.marginals());
    }

    /** The column with a name. */
    static int column(StructType schema, String name) {
        int column = optional(schema, name);
        if (column < 0) {
            throw new FastLbpException(
                    Status.INVALID_ARGUMENT,
                    "there is no column '" + name + "' in " + Arrays.toString(schema.fieldNames()));
        }
        return column;
    }

    /** The column with a name, or -1. */
    static int optional(StructType schema, String name) {
        return Arrays.asList(schema.fieldNames()).indexOf(name);
    }

    /** What a column has, which must be something. */
    static <T> T notNull(Row row, int column) {
        if (row.isNullAt(column)) {
            throw new FastLbpException(
                    Status.INVALID_ARGUMENT, "column '" + row.schema().fieldNames()[column] + "' is null");
        }
        return row.getAs(column);
    }

    /** The whole numbers of an array, of any of Spark's integer types; none where there is no column. */
    static long[] longs(Row row, int column) {
        if (column < 0) return new long[0];
        notNull(row, column);
        List<?> list = row.getList(column);
        long[] values = new long[list.size()];
        for (int i = 0; i < values.length; i++) {
            if (!(list.get(i) instanceof Number)) {
                throw new FastLbpException(
                        Status.INVALID_ARGUMENT,
                        "column '" + row.schema().fieldNames()[column] + "', entry " + i + ": " + list.get(i)
                                + " is not a whole number");
            }
            values[i] = ((Number) list.get(i)).longValue();
        }
        return values;
    }

    /** The evidence of a row. */
    static EvidenceSet evidence(Row row, int labels, int states) {
        long[] wide = longs(row, states);
        long[] of = longs(row, labels);
        int[] narrow = new int[wide.length];
        for (int i = 0; i < wide.length; i++) {
            narrow[i] = (int) wide[i];
            if (narrow[i] != wide[i]) {
                throw new FastLbpException(Status.OUT_OF_RANGE, "variable " + of[i] + ": there is no state " + wide[i]);
            }
        }
        if (of.length != narrow.length) {
            throw new FastLbpException(
                    Status.INVALID_ARGUMENT,
                    of.length + " labels and " + narrow.length + " states: as many are needed");
        }
        return new EvidenceSet(of, narrow);
    }
}
