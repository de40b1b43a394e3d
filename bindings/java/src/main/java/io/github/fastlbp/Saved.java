package io.github.fastlbp;

import java.io.Externalizable;
import java.io.IOException;
import java.io.InvalidObjectException;
import java.io.ObjectInput;
import java.io.ObjectOutput;
import java.util.Map;

/**
 * What stands for a graph, evidence or a result in a serialized stream: its kind, the version of its bytes, and these,
 * which do not depend on the fields of the classes.
 */
final class Saved implements Externalizable {
    private static final long serialVersionUID = 1L;

    private static final int VERSION = 1;

    /** Kinds of objects. */
    private static final int GRAPH = 1, EVIDENCE = 2, RESULT = 3;

    /** Kinds of entries of evidence. */
    private static final int STATE = 0, LIKELIHOOD = 1;

    private transient Object value;

    /** For reading. */
    public Saved() {}

    Saved(Object value) {
        this.value = value;
    }

    static InvalidObjectException needed() {
        return new InvalidObjectException("this is written as another object, which is not there");
    }

    @Override
    public void writeExternal(ObjectOutput out) throws IOException {
        if (value instanceof FactorGraph) {
            out.writeByte(GRAPH);
            out.writeByte(VERSION);
            new GraphContent((FactorGraph) value).write(out);
        } else if (value instanceof Evidence) {
            out.writeByte(EVIDENCE);
            out.writeByte(VERSION);
            writeEvidence(out, ((Evidence) value).known());
        } else {
            out.writeByte(RESULT);
            out.writeByte(VERSION);
            ((RunResult) value).write(out);
        }
    }

    @Override
    public void readExternal(ObjectInput in) throws IOException {
        int kind = in.readUnsignedByte();
        int version = in.readUnsignedByte();
        if (version != VERSION) {
            throw new InvalidObjectException(
                    "serialized form " + version + " of fastlbp: these classes read " + VERSION);
        }
        try {
            if (kind == GRAPH) value = new GraphContent(in).build();
            else if (kind == EVIDENCE) value = readEvidence(in);
            else if (kind == RESULT) value = new RunResult(in);
            else throw new InvalidObjectException("kind " + kind + " of a serialized object of fastlbp");
        } catch (FastLbpException exception) {
            InvalidObjectException invalid = new InvalidObjectException(exception.getMessage());
            invalid.initCause(exception);
            throw invalid;
        }
    }

    private static void writeEvidence(ObjectOutput out, Map<Integer, Object> known) throws IOException {
        out.writeInt(known.size());
        for (Map.Entry<Integer, Object> entry : known.entrySet()) {
            out.writeInt(entry.getKey());
            boolean isState = entry.getValue() instanceof Integer;
            out.writeByte(isState ? STATE : LIKELIHOOD);
            if (isState) out.writeInt((Integer) entry.getValue());
            else Arrays.write(out, (double[]) entry.getValue());
        }
    }

    private static Evidence readEvidence(ObjectInput in) throws IOException {
        Evidence evidence = new Evidence();
        for (int left = in.readInt(); left > 0; left--) {
            int variable = in.readInt();
            if (in.readUnsignedByte() == STATE) evidence.observe(variable, in.readInt());
            else evidence.setLikelihood(variable, Arrays.readDoubles(in));
        }
        return evidence;
    }

    private Object readResolve() {
        return value;
    }

    /** Arrays with their lengths. Memory grows with what arrives, not with what a length promises. */
    static final class Arrays {
        /** Entries that are written or read at a time. */
        private static final int PIECE = 1 << 16;

        private Arrays() {}

        private interface Put {
            void of(java.nio.ByteBuffer bytes, int index);
        }

        private static void write(ObjectOutput out, int length, int size, Put put) throws IOException {
            out.writeInt(length);
            byte[] bytes = new byte[size * Math.min(length, PIECE)];
            for (int first = 0; first < length; first += PIECE) {
                int count = Math.min(PIECE, length - first);
                java.nio.ByteBuffer buffer = java.nio.ByteBuffer.wrap(bytes, 0, size * count);
                for (int i = first; i < first + count; i++) put.of(buffer, i);
                out.write(bytes, 0, size * count);
            }
        }

        static void write(ObjectOutput out, long[] values) throws IOException {
            write(out, values.length, Long.BYTES, (bytes, index) -> bytes.putLong(values[index]));
        }

        static void write(ObjectOutput out, int[] values) throws IOException {
            write(out, values.length, Integer.BYTES, (bytes, index) -> bytes.putInt(values[index]));
        }

        static void write(ObjectOutput out, double[] values) throws IOException {
            write(out, values.length, Double.BYTES, (bytes, index) -> bytes.putDouble(values[index]));
        }

        /** The bytes of so many entries. */
        private static java.nio.ByteBuffer read(ObjectInput in, int size) throws IOException {
            long length = in.readInt();
            if (length < 0 || length * size > Integer.MAX_VALUE - 8) {
                throw new InvalidObjectException(length + " entries in a serialized array");
            }
            int end = (int) length * size;
            byte[] bytes = new byte[Math.min(end, size * PIECE)];
            for (int done = 0; done < end; ) {
                if (done == bytes.length) bytes = java.util.Arrays.copyOf(bytes, (int) Math.min(end, 2L * done));
                in.readFully(bytes, done, bytes.length - done);
                done = bytes.length;
            }
            return java.nio.ByteBuffer.wrap(bytes);
        }

        static long[] readLongs(ObjectInput in) throws IOException {
            java.nio.ByteBuffer bytes = read(in, Long.BYTES);
            long[] values = new long[bytes.remaining() / Long.BYTES];
            bytes.asLongBuffer().get(values);
            return values;
        }

        static int[] readInts(ObjectInput in) throws IOException {
            java.nio.ByteBuffer bytes = read(in, Integer.BYTES);
            int[] values = new int[bytes.remaining() / Integer.BYTES];
            bytes.asIntBuffer().get(values);
            return values;
        }

        static double[] readDoubles(ObjectInput in) throws IOException {
            java.nio.ByteBuffer bytes = read(in, Double.BYTES);
            double[] values = new double[bytes.remaining() / Double.BYTES];
            bytes.asDoubleBuffer().get(values);
            return values;
        }
    }
}
