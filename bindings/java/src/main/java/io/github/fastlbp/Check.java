package io.github.fastlbp;

import java.nio.Buffer;
import java.nio.ByteOrder;

/** Checks of arguments that the native library cannot make, since it sees pointers and single lengths. */
final class Check {
    private Check() {}

    /** That an array has the length that belongs to another one. */
    static void length(String name, int length, int wanted, String why) {
        if (length != wanted) {
            throw new FastLbpException(
                    Status.INVALID_ARGUMENT, name + " has " + length + " entries, but " + wanted + " are needed: " + why);
        }
    }

    /** An index: what is too large is for the library to say. */
    static int index(String name, int value) {
        if (value < 0) {
            throw new FastLbpException(Status.OUT_OF_RANGE, name + " " + value + " is negative");
        }
        return value;
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
                    Status.INVALID_ARGUMENT, name + " has the byte order " + order + ", but needs " + ByteOrder.nativeOrder());
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
