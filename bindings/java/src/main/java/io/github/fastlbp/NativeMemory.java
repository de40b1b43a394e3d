package io.github.fastlbp;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/**
 * What graphs and sessions take outside of Java's heap, as estimated. The collector does not see it: a small object
 * may hold much of it, and no collection comes while the heap has room. So, as for direct buffers, much of it makes
 * the collector look for objects that nobody closed, and more than the limit is an error.
 */
final class NativeMemory {
    /** The system property that sets the limit, in bytes; 0 for none. */
    static final String LIMIT = "fastlbp.memory.limit";

    /** No collection below this: with a small heap one takes milliseconds, with a large one more. */
    private static final long LEAST_START = 64L << 20;

    /** A part of the largest heap that may stand outside of it before the first collection. */
    private static final int START_OF_HEAP = 16;

    /** How long a collection may take to tell of the first object that nobody reaches, in milliseconds. */
    private static final long FIRST_WAIT = 100;

    /** The same of each further one: the thread of the JVM that tells of them is at work. */
    private static final long NEXT_WAIT = 5;

    private static final long START = Math.max(LEAST_START, Runtime.getRuntime().maxMemory() / START_OF_HEAP);

    private static long used;
    private static long nextCollection = START;
    private static boolean isCollecting;

    private NativeMemory() {}

    /** So much more is about to be taken. */
    static void reserve(long bytes) {
        long limit = limit();
        synchronized (NativeMemory.class) {
            used += bytes;
            if (used <= Math.min(limit, nextCollection)) return;
        }
        collect();
        synchronized (NativeMemory.class) {
            nextCollection = after(used);
            if (used <= limit) return;
            used -= bytes;
            throw new FastLbpException(
                    Status.OUT_OF_MEMORY,
                    "graphs and sessions would take about " + mebibytes(used + bytes) + " MiB outside of Java's heap, "
                            + mebibytes(bytes) + " of them for this one, but the limit is " + mebibytes(limit)
                            + " MiB: close those that are not needed any more, or set another limit by -D" + LIMIT
                            + "=BYTES");
        }
    }

    /** So much has been given back. */
    static synchronized void release(long bytes) {
        used -= bytes;
        nextCollection = Math.min(nextCollection, after(used));
    }

    /** Where the next collection comes: less and less often where everything is in use. */
    private static long after(long used) {
        return START + 2 * used;
    }

    static synchronized long used() {
        return used;
    }

    /** Has the collector look for forgotten objects, and frees them. One thread does, others wait for it. */
    private static void collect() {
        synchronized (NativeMemory.class) {
            boolean isInterrupted = false;
            boolean hasWaited = false;
            while (isCollecting) {
                hasWaited = true;
                try {
                    NativeMemory.class.wait();
                } catch (InterruptedException exception) {
                    isInterrupted = true;
                }
            }
            if (isInterrupted) Thread.currentThread().interrupt();
            if (hasWaited && used <= Math.min(limit(), nextCollection)) return;
            isCollecting = true;
        }
        try {
            System.gc();
            long wait = FIRST_WAIT;
            while (NativeObject.freeForgotten(wait)) wait = NEXT_WAIT;
        } finally {
            synchronized (NativeMemory.class) {
                isCollecting = false;
                NativeMemory.class.notifyAll();
            }
        }
    }

    /** The limit: by the property, or what the machine or its container has. */
    private static long limit() {
        String given = System.getProperty(LIMIT);
        if (given != null) {
            long limit;
            try {
                limit = Long.parseLong(given.trim());
            } catch (NumberFormatException exception) {
                throw new FastLbpException(
                        Status.INVALID_ARGUMENT,
                        "-D" + LIMIT + "=" + given + ": a number of bytes is needed, 0 for no limit");
            }
            return limit > 0 ? limit : Long.MAX_VALUE;
        }
        return Machine.MEMORY;
    }

    private static long mebibytes(long bytes) {
        return (bytes + (1 << 20) - 1) >> 20;
    }

    /** Read when it is first needed. */
    private static final class Machine {
        static final long MEMORY = Math.min(
                total("/proc/meminfo"),
                Math.min(number("/sys/fs/cgroup/memory.max"), number("/sys/fs/cgroup/memory/memory.limit_in_bytes")));

        /** More than any of these files has. */
        private static final int MOST_BYTES = 1 << 14;

        /** Of a number that times 1024 is still one. */
        private static final int MOST_DIGITS = 15;

        private static String text(String file) {
            // (A stream of java.io: most JVMs have its classes ready.)
            try (InputStream in = new FileInputStream(file)) {
                byte[] bytes = new byte[MOST_BYTES];
                int length = 0;
                for (int read = 0; read >= 0 && length < bytes.length; length += Math.max(0, read)) {
                    read = in.read(bytes, length, bytes.length - length);
                }
                return new String(bytes, 0, length, StandardCharsets.US_ASCII);
            } catch (IOException | SecurityException exception) {
                return "";
            }
        }

        /** The line "MemTotal:  NUMBER kB". */
        private static long total(String file) {
            // (By hand, as below: expressions would be the first ones of many a program.)
            String text = text(file);
            int start = text.indexOf("MemTotal:");
            int end = start < 0 ? -1 : text.indexOf("kB", start);
            if (end < 0) return Long.MAX_VALUE;
            long kibibytes = parsed(text.substring(start + "MemTotal:".length(), end).trim());
            return kibibytes == Long.MAX_VALUE ? kibibytes : kibibytes << 10;
        }

        /** A file that is one number, or "max". */
        private static long number(String file) {
            return parsed(text(file).trim());
        }

        private static long parsed(String digits) {
            if (digits.isEmpty() || digits.length() > MOST_DIGITS) return Long.MAX_VALUE;
            for (int i = 0; i < digits.length(); i++) {
                if (digits.charAt(i) < '0' || digits.charAt(i) > '9') return Long.MAX_VALUE;
            }
            return Long.parseLong(digits);
        }
    }
}
