package io.github.fastlbp;

import java.nio.Buffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;

/** Checks of arguments that the native library cannot make, since it sees pointers and single lengths. */
final class Check {
    private Check() {}

    /** That an array has the length that belongs to another one. */
    static void length(String name, int length, int wanted, String why) {
        if (length != wanted) {
            throw new FastLbpException(
                    Status.INVALID_ARGUMENT,
                    name + " has " + length + " entries, but " + wanted + " are needed: " + why);
        }
    }

    /** An index: what is too large is for the library to say. */
    static int index(String name, int value) {
        if (value < 0) {
            throw new FastLbpException(Status.OUT_OF_RANGE, name + " " + value + " is negative");
        }
        return value;
    }

    /** Indices, states and the like, of which none may be negative: the library would take them for huge ones. */
    static int[] indices(String name, int[] values) {
        for (int i = 0; i < values.length; i++) {
            if (values[i] < 0) throw negative(Status.OUT_OF_RANGE, name, i, values[i]);
        }
        return values;
    }

    /** Offsets, of which none may be negative. */
    static long[] offsets(String name, long[] values) {
        for (int i = 0; i < values.length; i++) {
            if (values[i] < 0) throw negative(Status.INVALID_ARGUMENT, name, i, values[i]);
        }
        return values;
    }

    /** As {@link #offsets(String, long[])}, for those who have no more than 2^31. */
    static long[] offsets(String name, int[] values) {
        long[] offsets = new long[values.length];
        for (int i = 0; i < values.length; i++) offsets[i] = values[i];
        return offsets(name, offsets);
    }

    /** As {@link #offsets(String, long[])}, from the position of a buffer to its limit. */
    static void offsets(String name, LongBuffer values) {
        for (int i = 0; i < values.remaining(); i++) {
            long value = values.get(values.position() + i);
            if (value < 0) throw negative(Status.INVALID_ARGUMENT, name, i, value);
        }
    }

    /** That offsets cut an array of some length into ranges. */
    static void ranges(String name, long[] offsets, int length) {
        for (int i = 0; i < offsets.length; i++) {
            long least = i == 0 ? 0 : offsets[i - 1];
            long most = i == 0 ? 0 : length;
            if (offsets[i] < least || offsets[i] > most || i == offsets.length - 1 && offsets[i] != length) {
                throw new FastLbpException(
                        Status.INVALID_ARGUMENT,
                        name + "[" + i + "] is " + offsets[i] + ": offsets from 0 to " + length
                                + " that do not descend are needed");
            }
        }
    }

    private static FastLbpException negative(Status status, String name, int position, long value) {
        return new FastLbpException(
                status, name + "[" + position + "] is " + value + ", but must not be negative");
    }

    /** A number of something. */
    static long count(String name, long value) {
        if (value < 0) {
            throw new FastLbpException(Status.INVALID_ARGUMENT, name + " is " + value + ", but must not be negative");
        }
        return value;
    }

    /** That a buffer can be read or written in place. */
    static void direct(String name, Buffer buffer, ByteOrder order) {
        if (!buffer.isDirect()) {
            throw new FastLbpException(Status.INVALID_ARGUMENT, name + " is not a direct buffer");
        }
        if (order != ByteOrder.nativeOrder()) {
            throw new FastLbpException(
                    Status.INVALID_ARGUMENT,
                    name + " has the byte order " + order + ", but needs " + ByteOrder.nativeOrder());
        }
    }

    /** A number of things, which arrays of Java can hold. */
    static int size(String name, long value) {
        if (value > Integer.MAX_VALUE) {
            throw new FastLbpException(
                    Status.LIMIT_EXCEEDED, value + " " + name + " are more than an array of Java can hold");
        }
        return (int) value;
    }
}
