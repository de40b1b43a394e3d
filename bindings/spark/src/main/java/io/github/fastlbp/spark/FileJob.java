package io.github.fastlbp.spark;

import java.io.Serializable;
import org.apache.spark.SparkContext;

/** What jobs whose entries bring graphs of their own have in common: how each is run, memory and counters. */
final class FileJob implements Serializable {
    private static final long serialVersionUID = 1L;

    final RunSettings settings;
    final MemoryBudget budget;
    final Counters counters;

    /** Fails if a setting is wrong. */
    FileJob(SparkContext context, RunSettings settings) {
        settings.check();
        budget = MemoryBudget.of(context, settings);
        counters = new Counters(context);
        this.settings = settings;
    }
}
