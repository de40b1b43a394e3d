package io.github.fastlbp;

import static io.github.fastlbp.Data.fails;
import static io.github.fastlbp.Data.faultGraph;
import static io.github.fastlbp.Data.grid;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.fastlbp.smartfl.SmartFlEngine;
import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class LifetimeTest {
    /** Methods that do not reach the native object. */
    private static final List<String> HARMLESS =
            Arrays.asList("close", "what", "setProgressListener", "nodeCount", "take", "use", "get",
                    "getLong", "getInt", "getDouble");

    private static Object argument(Class<?> type) {
        if (type == int.class) return 0;
        if (type == long.class) return 1L;
        if (type == double.class) return 0.5;
        if (type == boolean.class) return true;
        if (type.isArray()) return Array.newInstance(type.getComponentType(), type == double[].class ? 4 : 1);
        if (type == String.class) return "tol";
        if (type == Path.class) return Paths.get("graph.fg");
        if (type == Schedule.class) return Schedule.PARALL;
        if (type.isEnum()) return type.getEnumConstants()[0];
        if (type == java.nio.DoubleBuffer.class) {
            return ByteBuffer.allocateDirect(8).order(ByteOrder.nativeOrder()).asDoubleBuffer();
        }
        return null;
    }

    /** Calls every public method of a closed object. */
    private static int everyCallFails(Object closed) throws Exception {
        int called = 0;
        for (Method method : closed.getClass().getDeclaredMethods()) {
            if (!Modifier.isPublic(method.getModifiers()) || Modifier.isStatic(method.getModifiers())) continue;
            if (HARMLESS.contains(method.getName()) || method.isSynthetic()) continue;
            Object[] arguments = Arrays.stream(method.getParameterTypes()).map(LifetimeTest::argument).toArray();
            // Their lengths must fit each other, or that is said first.
            if (Arrays.asList(arguments).contains(null) || method.getName().startsWith("add")) continue;
            InvocationTargetException thrown =
                    assertThrows(InvocationTargetException.class,
                            () -> method.invoke(closed, arguments), method.toString());
            if (method.getName().equals("probabilities") && arguments.length == 2) continue;
            assertEquals(IllegalStateException.class, thrown.getCause().getClass(), method.toString());
            Data.assertContains("closed", thrown.getCause().getMessage());
            called++;
        }
        return called;
    }

    @Test
    void everyCallOnAClosedObjectIsAnException() throws Exception {
        FactorGraph graph = faultGraph();
        BeliefPropagation bp = new BeliefPropagation(graph);
        FactorGraph.Builder builder = FactorGraph.builder();
        SmartFlEngine engine = SmartFlEngine.builder(2).addFactor(1, 0, new int[0], new int[0], 0.01).build();
        for (int times = 0; times < 2; times++) {
            graph.close();
            bp.close();
            builder.close();
            engine.close();
        }
        assertTrue(everyCallFails(graph) >= 13);
        assertTrue(everyCallFails(bp) >= 45);
        assertTrue(everyCallFails(engine) >= 6);
        assertThrows(IllegalStateException.class, () -> builder.addPrior(1, 0.5));
        assertThrows(IllegalStateException.class, () -> builder.addVariable(1, 2));
        assertThrows(IllegalStateException.class, () -> builder.addAnd(1, new long[1], 1, 0));
        assertThrows(IllegalStateException.class, () -> builder.addFactors(
                new int[0], new long[0], new int[1], new long[0], new double[0], new double[0]));
        assertThrows(IllegalStateException.class, builder::build);
        assertThrows(IllegalStateException.class, () -> new BeliefPropagation(graph));
    }

    @Test
    void sessionsOutliveTheirGraphAndTheirOriginal() {
        FactorGraph graph = faultGraph();
        BeliefPropagation bp = new BeliefPropagation(graph);
        graph.close();
        bp.runIterations(4);
        BeliefPropagation copy = bp.copy();
        double[] wanted = Data.probabilities(bp, 5);
        FactorGraph shared = bp.graph();
        bp.close();
        assertArrayEquals(wanted, Data.probabilities(copy, 5));
        copy.close();
        assertEquals(5, shared.variableCount());
        shared.close();
    }

    @Test
    void closingDuringARunLetsItEnd() throws Exception {
        ExecutorService other = Executors.newSingleThreadExecutor();
        try (FactorGraph graph = grid(20)) {
            for (int round = 0; round < 20; round++) {
                BeliefPropagation bp = new BeliefPropagation(graph).setThreads(1 + round % 2);
                CountDownLatch running = new CountDownLatch(1);
                AtomicBoolean closed = new AtomicBoolean();
                bp.setProgressListener((iterations, maxIterations, maxDiff, activeFraction) -> {
                    running.countDown();
                    // It goes on for some iterations after it was closed.
                    return !closed.get() || iterations % 16 != 0;
                });
                Future<RunResult> result = other.submit(() -> bp.runIterations(Long.MAX_VALUE));
                assertTrue(running.await(60, TimeUnit.SECONDS));
                bp.close();
                assertThrows(IllegalStateException.class, () -> bp.probability(0));
                assertThrows(IllegalStateException.class, bp::run);
                closed.set(true);
                assertEquals(StopReason.CANCELLED, result.get(60, TimeUnit.SECONDS).stopReason());
                bp.close();
            }
        } finally {
            other.shutdownNow();
        }
    }

    @Test
    void aListenerMayCloseItsSession() {
        try (FactorGraph graph = grid(5); BeliefPropagation bp = new BeliefPropagation(graph)) {
            bp.setProgressListener((iterations, maxIterations, maxDiff, activeFraction) -> {
                bp.close();
                assertThrows(IllegalStateException.class, bp::run);
                return true;
            });
            assertEquals(10, bp.runIterations(10).iterations());
            assertThrows(IllegalStateException.class, bp::run);
        }
    }

    /** Memory that this process holds, in KiB. */
    private static long resident() throws Exception {
        for (String line : Data.lines(Paths.get("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) return Long.parseLong(line.replaceAll("[^0-9]", ""));
        }
        throw new AssertionError("no VmRSS in /proc/self/status");
    }

    private interface Round {
        void run(int number) throws Exception;
    }

    private static void assertBounded(int all, Round round) throws Exception {
        int rounds = Data.CHECKED ? all / 10 : all;
        for (int i = 0; i < rounds / 10; i++) round.run(i);
        System.gc();
        long before = resident();
        for (int i = 0; i < rounds; i++) round.run(i);
        System.gc();
        long growth = resident() - before;
        System.out.println(rounds + " rounds: " + growth + " KiB more than the " + before + " KiB before");
        // What is freed too late or never would come to several hundred MiB.
        assertTrue(growth < 64 << 10, growth + " KiB more after " + rounds + " rounds");
    }

    @Test
    void memoryIsBoundedOver100000Cycles() throws Exception {
        double[] p = new double[5];
        assertBounded(100_000, number -> {
            try (FactorGraph graph = faultGraph(); BeliefPropagation bp = new BeliefPropagation(graph)) {
                if (number % 4 == 0) {
                    bp.setThreads(1).observe(4, 0).runIterations(1);
                    bp.probabilities(p);
                }
            }
        });
        assertTrue(p[0] > 0);
    }

    @Test
    void forgottenObjectsAreFreed() throws Exception {
        assertBounded(1_000, number -> {
            FactorGraph graph = grid(20);
            new BeliefPropagation(graph).setThreads(1).runIterations(1);
            if (number % 100 == 0) System.gc();
        });
    }

    @Test
    void failedCallsLeakNothing() throws Exception {
        long[] body = new long[1 << 14];
        try (FactorGraph graph = grid(10)) {
            assertBounded(5_000, number -> {
                try (FactorGraph.Builder builder = FactorGraph.builder()) {
                    fails(Status.INVALID_ARGUMENT, () -> builder.addAnd(1, body, 2, 0));
                    fails(Status.INVALID_ARGUMENT, () -> builder.addFactors(
                            new int[] {FactorGraph.AND}, new long[1], new int[] {0, -1}, body,
                            new double[1], new double[1]));
                }
                try (BeliefPropagation bp = new BeliefPropagation(graph)) {
                    fails(Status.NO_RESULT, () -> bp.marginals(new double[1]));
                }
            });
        }
    }
}
