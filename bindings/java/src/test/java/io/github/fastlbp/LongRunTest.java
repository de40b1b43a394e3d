package io.github.fastlbp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Programs that run for months: what is never closed, what is loaded again and again, what is interrupted. */
class LongRunTest {
    private static String child(String... arguments) throws Exception {
        return Data.run(Data.java(arguments));
    }

    private static final String PROGRAM = LongRunProgram.class.getName();

    /** In a small heap, so that no collection comes by itself. scripts/test-deep has 100,000 of them. */
    @Test
    void sessionsThatNobodyClosesTakeBoundedMemoryAndThreads() throws Exception {
        String count = System.getProperty("fastlbp.test.sessions", "600");
        String printed = child("-Xmx64m", PROGRAM, "sessions", count);
        assertTrue(printed.endsWith("exit code 0"), printed);
        System.out.println(printed.replace("\n", "; "));
    }

    @Test
    void tooMuchThatIsInUseIsAnErrorThatSaysSo() throws Exception {
        String printed = child("-Dfastlbp.memory.limit=" + (8 << 20), PROGRAM, "limit");
        Data.assertContains("OUT_OF_MEMORY", printed);
        Data.assertContains("the limit is 8 MiB", printed);
        Data.assertContains("close those that are not needed", printed);
        Data.assertContains("-Dfastlbp.memory.limit", printed);
        Data.assertContains("after closing: fine", printed);
        assertTrue(printed.endsWith("exit code 0"), printed);
        printed = child("-Dfastlbp.memory.limit=much", PROGRAM, "limit");
        Data.assertContains("a number of bytes is needed", printed);
    }

    /** scripts/test-deep has 1,000 of them. */
    @Test
    void classLoadersAreCollected() throws Exception {
        String count = System.getProperty("fastlbp.test.loaders", "20");
        String printed = child("-Xmx128m", PROGRAM, "loaders", count);
        Data.assertContains("all " + count + " collected", printed);
        assertTrue(printed.endsWith("exit code 0"), printed);
    }

    @Test
    void anInterruptEndsARun() throws Exception {
        try (FactorGraph graph = Data.grid(20); BeliefPropagation bp = new BeliefPropagation(graph).setThreads(1)) {
            double[] marginals = new double[graph.stateCount() * 100_000];
            int[] offsets = new int[100_001];
            List<Runnable> runs = Arrays.asList(
                    () -> assertSame(StopReason.CANCELLED, bp.runIterations(Long.MAX_VALUE).stopReason()),
                    () -> assertSame(
                            StopReason.CANCELLED, bp.runBingo(0, 1L << 40, 1L << 41, 3).stopReason()),
                    () -> {
                        Status[] statuses = bp.runBatch(offsets, new int[0], new int[0], marginals);
                        assertSame(Status.NO_RESULT, statuses[99_999]);
                    });
            ExecutorService other = Executors.newSingleThreadExecutor();
            for (Runnable run : runs) {
                CountDownLatch begun = new CountDownLatch(1);
                Thread[] runner = new Thread[1];
                Future<Boolean> isInterrupted = other.submit(() -> {
                    runner[0] = Thread.currentThread();
                    begun.countDown();
                    run.run();
                    return Thread.interrupted();
                });
                assertTrue(begun.await(60, TimeUnit.SECONDS));
                Thread.sleep(30);
                runner[0].interrupt();
                assertTrue(isInterrupted.get(60, TimeUnit.SECONDS), "the thread stays interrupted");
            }
            other.shutdown();
            // The session can be used on.
            assertEquals(7, bp.runIterations(7).iterations());
            bp.setProgressListener((iterations, maxIterations, maxDiff, activeFraction) -> {
                if (iterations == 3) Thread.currentThread().interrupt();
                return true;
            });
            assertEquals(3, bp.runIterations(7).iterations());
            assertTrue(Thread.interrupted());
        }
    }

    /** With -Xcheck:jni the JVM warns of too many local references. */
    @Test
    void manyListenersMayFail() {
        int count = 100;
        BeliefPropagation[] sessions = new BeliefPropagation[count];
        List<RuntimeException> thrown = new ArrayList<>();
        try (FactorGraph graph = Data.grid(3)) {
            for (int i = 0; i < count; i++) {
                RuntimeException failure = new RuntimeException("listener " + i);
                thrown.add(failure);
                sessions[i] = new BeliefPropagation(graph).setThreads(1);
                sessions[i].setProgressListener((iterations, maxIterations, maxDiff, activeFraction) -> {
                    throw failure;
                });
            }
            assertSame(thrown.get(0), assertThrows(RuntimeException.class, () -> BeliefPropagation.runAll(sessions)));
            for (BeliefPropagation session : sessions) session.setProgressListener(null);
            Status[] wanted = new Status[count];
            Arrays.fill(wanted, Status.OK);
            assertArrayEquals(wanted, BeliefPropagation.runAll(sessions));
        } finally {
            for (BeliefPropagation session : sessions) {
                if (session != null) session.close();
            }
        }
    }

    @Test
    void memoryIsEstimatedOnTheSafeSide() throws Exception {
        String printed = child("-Xmx256m", PROGRAM, "estimate");
        assertTrue(printed.endsWith("exit code 0"), printed);
        System.out.println(printed.replace("\n", "; "));
    }
}
