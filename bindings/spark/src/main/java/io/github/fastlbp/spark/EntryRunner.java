package io.github.fastlbp.spark;

import io.github.fastlbp.BeliefPropagation;
import io.github.fastlbp.FactorGraph;
import io.github.fastlbp.FastLbpException;
import io.github.fastlbp.RunResult;
import io.github.fastlbp.Status;
import java.util.ArrayList;
import java.util.List;

/** Runs sets of evidence on one graph, in a task. For one thread. */
final class EntryRunner {
    /** Sessions that run at once, for each thread of a task with several: more of them leave fewer threads waiting. */
    static final int SESSIONS_PER_THREAD = 2;

    private final RunSettings settings;
    private final Counters counters;
    private final TaskPlace place;
    private final GraphCache.Lease lease;
    private final List<BeliefPropagation> sessions = new ArrayList<>();
    private final double[] room;
    private final int[] queries;

    EntryRunner(RunSettings settings, Counters counters, TaskPlace place, GraphCache.Lease lease) {
        this.settings = settings;
        this.counters = counters;
        this.place = place;
        this.lease = lease;
        FactorGraph graph = lease.graph();
        room = new double[graph.stateCount()];
        queries = graph.variablesOfLabels(settings.queryLabels());
    }

    /** Sessions that a task may need. */
    static int sessionsPerTask(RunSettings settings, int cpus) {
        return cpus > 1 && settings.runsByTolerance() ? SESSIONS_PER_THREAD * cpus : 1;
    }

    /** How many entries are best run by one call: one where a run can use all threads of the task. */
    int atOnce() {
        int most = sessionsPerTask(settings, place.threads());
        return most > 1 && session(0).threads() == 1 ? most : 1;
    }

    private BeliefPropagation session(int number) {
        while (sessions.size() <= number) sessions.add(null);
        if (sessions.get(number) == null) sessions.set(number, lease.session(settings, place));
        return sessions.get(number);
    }

    /** Runs some entries: what came out of each, in their order. */
    List<Outcome> run(List<EvidenceSet> entries) {
        place.check();
        List<Outcome> outcomes = new ArrayList<>();
        if (entries.size() == 1) outcomes.add(runOne(entries.get(0)));
        else runSeveral(entries, outcomes);
        place.check();
        outcomes.forEach(counters::add);
        return outcomes;
    }

    private Outcome runOne(EvidenceSet evidence) {
        try {
            BeliefPropagation bp = session(0);
            place.watch(bp);
            evidence.set(lease.graph(), bp);
            return outcome(bp, settings.run(bp));
        } catch (FastLbpException failure) {
            return failed(0, failure);
        }
    }

    private void runSeveral(List<EvidenceSet> entries, List<Outcome> outcomes) {
        List<Integer> ready = new ArrayList<>();
        for (int i = 0; i < entries.size(); i++) {
            outcomes.add(null);
            try {
                entries.get(i).set(lease.graph(), session(i));
                ready.add(i);
            } catch (FastLbpException failure) {
                outcomes.set(i, failed(i, failure));
            }
        }
        BeliefPropagation[] able = new BeliefPropagation[ready.size()];
        for (int i = 0; i < able.length; i++) able[i] = session(ready.get(i));
        Status[] statuses = BeliefPropagation.runAll(able);
        for (int i = 0; i < able.length; i++) {
            int entry = ready.get(i);
            // The text of a failure is that of the same run alone, which is rare.
            outcomes.set(entry, statuses[i] == Status.OK ? outcome(able[i], able[i].lastResult()) : again(entry));
        }
    }

    private Outcome again(int entry) {
        try {
            place.watch(session(entry));
            return outcome(session(entry), session(entry).run());
        } catch (FastLbpException failure) {
            return failed(entry, failure);
        } finally {
            // Those with a listener run one after the other.
            if (sessions.get(entry) != null) sessions.get(entry).setProgressListener(null);
        }
    }

    private Outcome outcome(BeliefPropagation bp, RunResult result) {
        return Outcome.of(bp, result, settings, queries, room);
    }

    private Outcome failed(int number, FastLbpException failure) {
        Status status = failure.status();
        if (status == Status.PANIC || status == Status.POISONED || status == Status.OUT_OF_MEMORY) {
            lease.discard(sessions.set(number, null));
        }
        return Outcome.failed(failure);
    }
}
