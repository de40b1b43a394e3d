/**
 * Belief propagation on Apache Spark, 3.5 and 4.x: many sets of evidence on one graph ({@link
 * io.github.fastlbp.spark.EvidenceSets}), many graphs, such as SmartFL's subjects ({@link
 * io.github.fastlbp.spark.GraphFiles}), and many rankings of alarms by BINGO's loop ({@link
 * io.github.fastlbp.spark.Rankings}), over datasets or RDDs.
 *
 * <p>What is computed is that of {@link io.github.fastlbp}, with the same bits; Spark schedules, moves and repeats. An
 * entry that fails is a row with its status, and no failed job. A task that is killed ends its run after the iteration
 * that is under way. Each task has {@code spark.task.cpus} threads, and the device, if any, that Spark gave it
 * ({@code spark.task.resource.gpu.amount}); without one it runs on the CPU.
 */
package io.github.fastlbp.spark;
