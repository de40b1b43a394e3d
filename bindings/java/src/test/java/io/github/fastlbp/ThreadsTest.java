package io.github.fastlbp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class ThreadsTest {
    private static final int THREADS = 8;
    private static final long MILLISECONDS = 700;

    /** Runs a task on all threads; fails if one of them does. */
    private static void onAllThreads(Callable<?> task) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(THREADS);
        try {
            List<Future<?>> futures = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) futures.add(executor.submit(task));
            for (Future<?> future : futures) future.get(120, TimeUnit.SECONDS);
        } finally {
            executor.shutdownNow();
        }
    }

    private interface Turn {
        /** With the thread's own random numbers and array of probabilities. */
        void take(Random random, double[] p) throws Exception;
    }

    /** All threads take turns for a while. */
    private static void hammer(Turn turn) throws Exception {
        AtomicInteger seeds = new AtomicInteger();
        long end = System.nanoTime() + MILLISECONDS * 1_000_000;
        onAllThreads(() -> {
            Random random = new Random(seeds.incrementAndGet());
            double[] p = new double[36];
            while (System.nanoTime() < end) turn.take(random, p);
            return null;
        });
    }

    @Test
    void eightThreadsHammerOneSession() throws Exception {
        double[] wanted = new double[36];
        try (FactorGraph graph = Data.grid(6); BeliefPropagation bp = new BeliefPropagation(graph)) {
            bp.setSchedule(Schedule.PARALL).runIterations(20);
            bp.probabilities(wanted);
            AtomicInteger runs = new AtomicInteger();
            AtomicInteger reads = new AtomicInteger();
            AtomicInteger busy = new AtomicInteger();
            hammer((random, p) -> {
                try {
                    switch (random.nextInt(7)) {
                        case 0:
                            bp.setProgressListener((iterations, maxIterations, maxDiff, activeFraction) -> true);
                            assertEquals(20, bp.runIterations(20).iterations());
                            runs.incrementAndGet();
                            break;
                        case 1:
                            bp.setProgressListener(null);
                            bp.clearEvidence().setTolerance(1e-9).setSchedule(Schedule.PARALL);
                            break;
                        case 2:
                            bp.copy().close();
                            break;
                        case 3:
                            graph.edgeVariables();
                            assertEquals(1, bp.marginal(3)[0] + bp.marginal(3)[1], 1e-12);
                            break;
                        default:
                            bp.probabilities(p);
                            // All runs give the same bits: there is never anything else to see.
                            assertArrayEquals(wanted, p);
                            reads.incrementAndGet();
                    }
                } catch (FastLbpException exception) {
                    assertEquals(Status.BUSY, exception.status(), exception.getMessage());
                    busy.incrementAndGet();
                }
            });
            System.out.println("one session: " + runs + " runs, " + reads + " reads, " + busy + " busy");
            assertTrue(runs.get() > 0 && reads.get() > 0);
        }
    }

    @Test
    void eightThreadsHaveTheirOwnSessions() throws Exception {
        double[] wanted = new double[36];
        try (FactorGraph graph = Data.grid(6)) {
            try (BeliefPropagation bp = new BeliefPropagation(graph)) {
                bp.runIterations(10);
                bp.probabilities(wanted);
            }
            AtomicInteger runs = new AtomicInteger();
            hammer((random, p) -> {
                // No call may be busy here.
                try (BeliefPropagation bp = new BeliefPropagation(graph).setThreads(1)) {
                    for (int i = 0; i < 10; i++) {
                        bp.observe(i, 1).clearEvidence(i).runIterations(10);
                        bp.probabilities(p);
                        assertArrayEquals(wanted, p);
                        runs.incrementAndGet();
                    }
                }
            });
            System.out.println("own sessions: " + runs + " runs");
            assertTrue(runs.get() > 0);
        }
    }

    /** One thread after the other replaces and closes the session that all of them use. */
    @Test
    void sessionsAreClosedUnderTheirUsers() throws Exception {
        try (FactorGraph graph = Data.grid(6)) {
            AtomicReference<BeliefPropagation> current = new AtomicReference<>(new BeliefPropagation(graph));
            AtomicInteger closed = new AtomicInteger();
            hammer((random, p) -> {
                BeliefPropagation bp = current.get();
                try {
                    if (random.nextInt(20) == 0) {
                        BeliefPropagation old =
                                current.getAndSet(new BeliefPropagation(graph).setThreads(1 + random.nextInt(2)));
                        old.close();
                        old.close();
                    }
                    bp.runIterations(5);
                    bp.probabilities(p);
                } catch (IllegalStateException exception) {
                    closed.incrementAndGet();
                } catch (FastLbpException exception) {
                    assertEquals(Status.BUSY, exception.status(), exception.getMessage());
                }
            });
            current.get().close();
            System.out.println("sessions closed under their users: " + closed + " calls refused");
        }
    }

    /** Each call takes what the buffers have, or refuses it: no crash, and no word on the standard error. */
    @Test
    void directBuffersMayChangeWhileTheyAreRead() throws Exception {
        String printed = Data.run(Data.java(ChangingBuffersProgram.class.getName()));
        assertTrue(printed.matches("(some|none) refused\\R?exit code 0"), printed);
    }

    @Test
    void listenersOfTheLogChangeWhileItIsUsed() throws Exception {
        AtomicInteger messages = new AtomicInteger();
        try (FactorGraph graph = Data.faultGraph()) {
            AtomicInteger turns = new AtomicInteger();
            onAllThreads(() -> {
                boolean setter = turns.getAndIncrement() % 4 == 0;
                for (int i = 0; i < 300; i++) {
                    try (BeliefPropagation bp = new BeliefPropagation(graph)) {
                        if (setter) FastLbp.setLogListener((level, text) -> messages.incrementAndGet());
                        bp.setProperty("verbose", "1").setThreads(1).runIterations(1);
                        if (setter && i % 3 == 0) FastLbp.setLogListener(null);
                    } catch (FastLbpException exception) {
                        assertEquals(Status.BUSY, exception.status(), exception.getMessage());
                    }
                }
                return null;
            });
        } finally {
            FastLbp.setLogListener(null);
        }
        assertTrue(messages.get() > 0);
    }
}
