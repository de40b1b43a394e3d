package io.github.fastlbp;

/**
 * Whom the runs of one call tell of their iterations: listeners, which may throw exceptions. These end their run, and
 * are thrown where the call was made. A run also ends where its thread has been interrupted.
 */
final class Progress {
    private final ProgressListener[] listeners;
    private Throwable thrown;
    private int thrower;

    /** With a listener for each run, or null. */
    Progress(ProgressListener... listeners) {
        this.listeners = listeners;
    }

    boolean isHeard(int number) {
        return listeners[number] != null;
    }

    /** Whether a run is to go on; called on the thread of the call. */
    boolean goesOn(int number, long iterations, long maxIterations, double maxDiff, double activeFraction) {
        try {
            ProgressListener listener = listeners[number];
            if (listener != null && !listener.onIteration(iterations, maxIterations, maxDiff, activeFraction)) {
                return false;
            }
        } catch (Throwable failure) {
            if (thrown == null || number < thrower) {
                thrown = failure;
                thrower = number;
            }
            return false;
        }
        // The thread stays interrupted, for the caller to see.
        return !Thread.currentThread().isInterrupted();
    }

    /** Throws what a listener has thrown, if one has: it goes before what the call of a run returns or throws. */
    void rethrow() {
        if (thrown != null) Progress.<RuntimeException>throwAny(thrown);
    }

    /** Throws also what is checked, as a listener in another language may. */
    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void throwAny(Throwable failure) throws T {
        throw (T) failure;
    }
}
