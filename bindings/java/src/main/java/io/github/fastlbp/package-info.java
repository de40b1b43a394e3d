/**
 * Belief propagation on factor graphs, for probabilistic program analysis.
 *
 * <p>A {@link io.github.fastlbp.FactorGraph} is built from factors or read from a file; a
 * {@link io.github.fastlbp.BeliefPropagation} is a session on one: a {@link io.github.fastlbp.Schedule}, evidence,
 * messages, and the results of the last run. For a graph, schedule, evidence and number of iterations, results are
 * the same bits on any number of threads and any backend.
 *
 * <p><b>Numbers.</b> Variables have labels of the caller's, which are unsigned: a negative {@code long} stands for a
 * number above 2<sup>63</sup>. The index of a variable is the rank of its label, from 0; that of a factor, the number
 * of factors added before it. Edges join a factor with one of its variables, and are numbered factor by factor, in a
 * factor by ascending variable.
 *
 * <p><b>Failures</b> are {@link io.github.fastlbp.FastLbpException}s with a status, unless said otherwise; they leave
 * everything as it was. Null where an object is needed is a {@link java.lang.NullPointerException}, use after
 * {@code close} an {@link java.lang.IllegalStateException}. If the native library cannot be loaded, the first calls
 * throw an {@link java.lang.UnsatisfiedLinkError} that says why; the system property {@code fastlbp.library.path}
 * names another file, or the directory with {@code libfastlbp_jni.so}.
 *
 * <p><b>Threads.</b> Any thread may use any object, and different ones are independent. A call that changes a session,
 * such as a run, and meets another call on the same session, throws a {@code FastLbpException} with the status
 * {@code BUSY} in one of the two; calls that only read run side by side.
 *
 * <p><b>Memory</b> of graphs and sessions is outside of Java's heap: close them, best by
 * {@code try (...)}. Those that become unreachable without it are freed when others are made; where much of it is in
 * use, the collector is asked to look for them first. More than the limit, which is what the machine or its container
 * has unless the system property {@code fastlbp.memory.limit} gives a number of bytes, is a {@code FastLbpException}
 * with the status {@code OUT_OF_MEMORY}.
 */
package io.github.fastlbp;
