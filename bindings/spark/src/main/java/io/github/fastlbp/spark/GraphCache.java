package io.github.fastlbp.spark;

import io.github.fastlbp.BeliefPropagation;
import io.github.fastlbp.FactorGraph;
import io.github.fastlbp.FastLbpException;
import io.github.fastlbp.Status;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The graphs that this executor has parsed, by a hash of their content, and sessions on them that have analysed the
 * schedule already. What no task uses is closed, the longest unused first, where all of it takes more than a limit.
 */
final class GraphCache {
    /** The longest unused first. Guards all fields of the entries but their graphs. */
    private static final Map<String, Entry> ENTRIES = new LinkedHashMap<>(16, 0.75f, true);

    private GraphCache() {}

    private static final class Entry {
        final String key;
        final Map<String, ArrayDeque<BeliefPropagation>> idle = new HashMap<>();
        int users;
        int sessions;
        long bytes;

        /** Guarded by the entry itself, so that one task parses it and others wait for that one alone. */
        FactorGraph graph;

        FastLbpException failure;

        Entry(String key) {
            this.key = key;
        }

        synchronized FactorGraph graph(Supplier<FactorGraph> parse) {
            if (failure != null) throw new FastLbpException(failure.status(), failure.getMessage());
            if (graph == null) {
                try {
                    graph = parse.get();
                } catch (FastLbpException exception) {
                    if (exception.status() != Status.OUT_OF_MEMORY) failure = exception;
                    throw exception;
                }
            }
            return graph;
        }

        void close() {
            for (ArrayDeque<BeliefPropagation> sessions : idle.values()) sessions.forEach(BeliefPropagation::close);
            if (graph != null) graph.close();
        }
    }

    /** A key for content: SHA-256, and what tells its format. */
    static String key(byte[] content, String format) {
        try {
            StringBuilder key = new StringBuilder();
            for (byte part : MessageDigest.getInstance("SHA-256").digest(content)) {
                key.append(String.format("%02x", part));
            }
            return key + format;
        } catch (NoSuchAlgorithmException exception) {
            throw new IllegalStateException(exception); // every JVM has it
        }
    }

    /** A graph and sessions for one task, until it is closed. For one thread. */
    static final class Lease implements AutoCloseable {
        private final Entry entry;
        private final FactorGraph graph;
        private final long limit;
        private final Map<BeliefPropagation, String> taken = new LinkedHashMap<>();
        private boolean isClosed;

        private Lease(Entry entry, FactorGraph graph, long limit) {
            this.entry = entry;
            this.graph = graph;
            this.limit = limit;
        }

        FactorGraph graph() {
            return graph;
        }

        /** A session by the settings, where a task put it, for this lease. */
        BeliefPropagation session(RunSettings settings, TaskPlace place) {
            String key = settings.sessionKey() + ' ' + place;
            BeliefPropagation bp = null;
            synchronized (ENTRIES) {
                ArrayDeque<BeliefPropagation> idle = entry.idle.get(key);
                if (idle != null) bp = idle.poll();
            }
            if (bp == null) {
                bp = settings.session(graph);
                try {
                    place.set(bp);
                } catch (RuntimeException | Error failure) {
                    bp.close();
                    throw failure;
                }
                synchronized (ENTRIES) {
                    entry.sessions++;
                }
            }
            taken.put(bp, key);
            return bp;
        }

        /** A session that failed in a way that it may keep is not for others. */
        void discard(BeliefPropagation bp) {
            if (taken.remove(bp) == null) return;
            bp.close();
            synchronized (ENTRIES) {
                entry.sessions--;
            }
        }

        @Override
        public void close() {
            if (isClosed) return;
            isClosed = true;
            synchronized (ENTRIES) {
                taken.forEach((bp, key) -> {
                    bp.setProgressListener(null);
                    entry.idle.computeIfAbsent(key, any -> new ArrayDeque<>()).push(bp);
                });
                entry.users--;
                entry.bytes = graph.estimateBytes(entry.sessions);
            }
            trim(limit);
        }
    }

    /** The graph with a key, parsed if it is not there. */
    static Lease lease(String key, Supplier<FactorGraph> parse, long limit) {
        Entry entry;
        synchronized (ENTRIES) {
            entry = ENTRIES.computeIfAbsent(key, Entry::new);
            entry.users++;
        }
        boolean isThere = false;
        try {
            FactorGraph graph = entry.graph(parse);
            isThere = true;
            return new Lease(entry, graph, limit);
        } finally {
            if (!isThere) {
                synchronized (ENTRIES) {
                    entry.users--;
                }
                trim(limit);
            }
        }
    }

    private static void trim(long limit) {
        List<Entry> gone = new ArrayList<>();
        synchronized (ENTRIES) {
            long total = 0;
            for (Entry entry : ENTRIES.values()) total += entry.bytes;
            Iterator<Entry> entries = ENTRIES.values().iterator();
            while (total > limit && entries.hasNext()) {
                Entry entry = entries.next();
                if (entry.users > 0) continue;
                entries.remove();
                total -= entry.bytes;
                gone.add(entry);
            }
        }
        gone.forEach(Entry::close);
    }

    /** For tests: graphs in the cache, and how many tasks use one. */
    static int[] state() {
        synchronized (ENTRIES) {
            int users = 0;
            for (Entry entry : ENTRIES.values()) users += entry.users;
            return new int[] {ENTRIES.size(), users};
        }
    }

    /** For tests. */
    static void clear() {
        trim(-1);
    }
}
