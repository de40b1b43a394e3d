package io.github.fastlbp;

/** Hears after each iteration how a run goes, and can end it; see {@link BeliefPropagation#setProgressListener}. */
@FunctionalInterface
public interface ProgressListener {
    /**
     * Called after each iteration (in a batch, after each entry), on the thread that called the run. Calls on the
     * running session throw a {@link FastLbpException} with {@link Status#BUSY}, but {@link BeliefPropagation#close},
     * which takes effect when the run ends. An exception that it throws ends the run, and the run's method throws it.
     *
     * @param iterations iterations (entries) done in this run
     * @param maxIterations largest number of them that the run can make
     * @param maxDiff largest change in the last iteration; infinity where the run does not measure it
     * @param activeFraction fraction of the variables and factors that still move, by BINGO's rule; else 1
     * @return true to go on, false to end the run before its next iteration
     */
    boolean onIteration(long iterations, long maxIterations, double maxDiff, double activeFraction);
}
