package io.github.fastlbp;

import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;
import java.util.function.LongToDoubleFunction;
import java.util.function.LongUnaryOperator;

/**
 * Owns something of the native library, and counts the calls that use it: closed while calls are running, it
 * is freed when the last of them ends, so that none ever meets freed memory.
 */
abstract class NativeObject implements AutoCloseable {
    private static final ReferenceQueue<NativeObject> UNREACHABLE = new ReferenceQueue<>();

    /** What is to be freed if its owner is forgotten. */
    private static final Set<Owned> OWNED = ConcurrentHashMap.newKeySet();

    /** Memory that several objects use together: what the graph takes that sessions share. */
    static final class Shared {
        private final long bytes;
        private int users;

        Shared(long bytes) {
            this.bytes = bytes;
        }

        /** Another object uses it. No lock is held while memory is reserved, which may free other objects. */
        private void join() {
            synchronized (this) {
                if (users++ > 0) return;
            }
            boolean isReserved = false;
            try {
                NativeMemory.reserve(bytes);
                isReserved = true;
            } finally {
                if (!isReserved) {
                    synchronized (this) {
                        users--;
                    }
                }
            }
        }

        private void leave() {
            synchronized (this) {
                if (--users > 0) return;
            }
            NativeMemory.release(bytes);
        }
    }

    /** What a pointer leads to. (Constants: a JVM makes a class of each enumeration and of each lambda.) */
    static final int GRAPH = 0;

    static final int SESSION = 1;

    private static void free(int kind, long pointer) {
        if (kind == GRAPH) {
            Native.graphFree(pointer);
        } else {
            Native.bpFree(pointer);
        }
    }

    private static final class Owned extends PhantomReference<NativeObject> {
        final long pointer;
        final int kind;
        final long bytes;
        final Shared shared;

        Owned(NativeObject owner, long pointer, int kind, long bytes, Shared shared) {
            super(owner, UNREACHABLE);
            this.pointer = pointer;
            this.kind = kind;
            this.bytes = bytes;
            this.shared = shared;
        }

        /** Whether this call is the one that ends the ownership. */
        boolean end() {
            clear();
            if (!OWNED.remove(this)) return false;
            NativeMemory.release(bytes);
            if (shared != null) shared.leave();
            return true;
        }

        /** Frees the pointer if this call is the one that ends the ownership. */
        void free() {
            if (end()) NativeObject.free(kind, pointer);
        }
    }

    private final Owned owned;
    private final String what;
    private int users;
    private boolean closed;

    /**
     * Takes over a pointer to a {@link #GRAPH} or {@link #SESSION}; {@code what} is the object's name in messages.
     * {@code bytes} that it alone takes are reserved, and so are those that it shares. If they cannot be, the pointer is
     * freed.
     */
    NativeObject(String what, long pointer, int kind, long bytes, Shared shared) {
        this.what = what;
        // No thread waits for forgotten objects, which would keep the class loader alive; new ones pay for them.
        freeForgotten(0);
        boolean isReserved = false;
        boolean isMade = false;
        try {
            NativeMemory.reserve(bytes);
            isReserved = true;
            if (shared != null) shared.join();
            isMade = true;
        } finally {
            if (!isMade) {
                if (isReserved) NativeMemory.release(bytes);
                free(kind, pointer);
            }
        }
        owned = new Owned(this, pointer, kind, bytes, shared);
        OWNED.add(owned);
    }

    /**
     * Frees objects that nobody reaches any more. Waits so many milliseconds for the first one, if it has to wait at
     * all. Gives whether there was one.
     */
    static boolean freeForgotten(long wait) {
        Reference<?> lost = UNREACHABLE.poll();
        if (lost == null && wait > 0) {
            try {
                lost = UNREACHABLE.remove(wait);
            } catch (InterruptedException exception) {
                Thread.currentThread().interrupt();
            }
        }
        boolean found = lost != null;
        for (; lost != null; lost = UNREACHABLE.poll()) {
            ((Owned) lost).free();
        }
        return found;
    }

    /** What this object takes together with others, for one more of them. */
    final Shared shared() {
        return owned.shared;
    }

    private long acquire() {
        synchronized (owned) {
            if (closed) throw new IllegalStateException("this " + what + " is closed");
            users++;
            return owned.pointer;
        }
    }

    private void release() {
        boolean free;
        synchronized (owned) {
            users--;
            free = closed && users == 0;
        }
        if (free) owned.free();
    }

    /**
     * Frees the native memory. Harmless if it was closed before. Never waits: where another thread is inside of a
     * call on this object, or this is called from a listener, that call goes on to its end, and the memory is
     * freed then. All later calls throw {@link IllegalStateException}.
     */
    @Override
    public void close() {
        boolean free;
        synchronized (owned) {
            free = !closed && users == 0;
            closed = true;
        }
        if (free) owned.free();
    }

    /** Closes this object without freeing what it owned, for another owner. */
    final long take() {
        synchronized (owned) {
            if (closed) throw new IllegalStateException("this " + what + " is closed");
            if (users > 0) throw new IllegalStateException("another thread is using this " + what);
            closed = true;
        }
        owned.end();
        return owned.pointer;
    }

    /**
     * A call on this object, which is not freed before its end. The calls that most programs begin with are written by it,
     * the others by the functions below: a JVM makes a class of each lambda when it is first met, and the first graph and
     * run would meet some twenty.
     */
    final class Use implements AutoCloseable {
        final long pointer = acquire();

        @Override
        public void close() {
            release();
        }
    }

    final void use(LongConsumer call) {
        try (Use use = new Use()) {
            call.accept(use.pointer);
        }
    }

    /** Uses many objects at the same time. */
    static <T> T getAll(NativeObject[] objects, Function<long[], T> call) {
        long[] pointers = new long[objects.length];
        int acquired = 0;
        try {
            while (acquired < objects.length) {
                pointers[acquired] = objects[acquired].acquire();
                acquired++;
            }
            return call.apply(pointers);
        } finally {
            while (acquired > 0) objects[--acquired].release();
        }
    }

    final <T> T get(LongFunction<T> call) {
        try (Use use = new Use()) {
            return call.apply(use.pointer);
        }
    }

    final long getLong(LongUnaryOperator call) {
        try (Use use = new Use()) {
            return call.applyAsLong(use.pointer);
        }
    }

    final double getDouble(LongToDoubleFunction call) {
        try (Use use = new Use()) {
            return call.applyAsDouble(use.pointer);
        }
    }
}
