package io.github.fastlbp;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;

/** Run in a JVM of its own by ThreadsTest: direct buffers that another thread changes while they are read. */
public final class ChangingBuffersProgram {
    private static final int FACTORS = 2000;
    private static final int CALLS = 400;
    private static volatile boolean isDone;

    private ChangingBuffersProgram() {}

    private static ByteBuffer bytes(int length) {
        return ByteBuffer.allocateDirect(length).order(ByteOrder.nativeOrder());
    }

    /** Prints how many calls were refused. */
    public static void main(String[] arguments) throws Exception {
        IntBuffer kinds = bytes(4 * FACTORS).asIntBuffer();
        LongBuffer heads = bytes(8 * FACTORS).asLongBuffer();
        LongBuffer offsets = bytes(8 * (FACTORS + 1)).asLongBuffer();
        LongBuffer bodies = bytes(16 * FACTORS).asLongBuffer();
        DoubleBuffer p = bytes(8 * FACTORS).asDoubleBuffer();
        DoubleBuffer q = bytes(8 * FACTORS).asDoubleBuffer();
        for (int i = 0; i < FACTORS; i++) {
            kinds.put(i, FactorGraph.AND);
            heads.put(i, i);
            offsets.put(i, 2L * i);
            bodies.put(2 * i, FACTORS + i);
            bodies.put(2 * i + 1, 2L * FACTORS + i);
            p.put(i, 0.5);
        }
        offsets.put(FACTORS, 2L * FACTORS);
        long[] wrongOffsets = {-1, Long.MAX_VALUE, 4L * FACTORS, 0};
        double[] wrongNumbers = {Double.NaN, -1, 2, Double.POSITIVE_INFINITY};
        Thread changes = new Thread(() -> {
            for (int turn = 0; !isDone; turn++) {
                int i = turn * 7 % FACTORS;
                offsets.put(i, wrongOffsets[turn % 4]);
                p.put(i, wrongNumbers[turn % 4]);
                kinds.put(i, turn);
                bodies.put(i, turn);
                offsets.put(i, 2L * i);
                p.put(i, 0.5);
                kinds.put(i, FactorGraph.AND);
            }
        });
        changes.setDaemon(true);
        changes.start();
        int refused = 0;
        for (int call = 0; call < CALLS; call++) {
            try (FactorGraph.Builder builder = FactorGraph.builder()) {
                try (FactorGraph graph = builder.addFactors(kinds, heads, offsets, bodies, p, q).build()) {
                    if (graph.factorCount() < FACTORS) throw new AssertionError("factors are missing");
                }
            } catch (FastLbpException exception) {
                Status status = exception.status();
                if (status != Status.INVALID_ARGUMENT) throw exception;
                refused++;
            }
        }
        isDone = true;
        changes.join();
        System.out.println(refused > 0 ? "some refused" : "none refused");
    }
}
