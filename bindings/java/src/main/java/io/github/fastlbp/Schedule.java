package io.github.fastlbp;

import java.util.function.LongConsumer;

/**
 * An update order of messages: a total preorder on the edges of a graph. In each iteration, a message reads those of
 * edges of lower rank from the same iteration, all others from the previous one. Instances do not change; set one by
 * {@link BeliefPropagation#setSchedule}.
 */
public final class Schedule {
    /** Every message reads those of the iteration before (synchronous). */
    public static final Schedule PARALL = of("PARALL", 0);

    /** One after the other: factors in order, within a factor variables ascending; the default of sessions. */
    public static final Schedule SEQFIX = of("SEQFIX", 0);

    /** Always the message that would change most (residual belief propagation); no preorder. */
    public static final Schedule SEQMAX = of("SEQMAX", 0);

    /** Along the arcs from the bodies to the heads of AND and OR factors, then back. */
    public static final Schedule TOPO = of("TOPO", 0);

    /** As {@link #TOPO}, but all messages whose heads are equally deep at once. */
    public static final Schedule FWDBWD = of("FWDBWD", 0);

    /** Towards the roots of a spanning forest, then away from them; exact in one iteration without cycles. */
    public static final Schedule TREE = of("TREE", 0);

    private final String description;
    /** How a session is given it; null for a name and a seed. */
    private final LongConsumer set;

    private final byte[] name;
    private final long seed;

    private Schedule(String description, LongConsumer set) {
        this.description = description;
        this.set = set;
        name = null;
        seed = 0;
    }

    private Schedule(String name, long seed) {
        description = name;
        set = null;
        this.name = Native.bytes("schedule", name);
        this.seed = seed;
    }

    /**
     * A schedule by its name.
     *
     * @param name as in {@code fastlbp_bp_set_schedule}, in upper or lower case; a wrong one is refused when it is set
     * @param seed seed of SEQRND and BLOCKS, the same everywhere; other schedules ignore it
     * @return the schedule
     */
    public static Schedule of(String name, long seed) {
        return new Schedule(name, seed);
    }

    /**
     * One edge after the other, in a new random order every iteration.
     *
     * @param seed gives the same orders on every machine
     * @return the schedule SEQRND
     */
    public static Schedule random(long seed) {
        return of("SEQRND", seed);
    }

    /**
     * Every edge is in one of some blocks, at random, the same ones every iteration; one block after the other, the
     * edges of a block at once.
     *
     * @param blocks number of blocks, 1 or more
     * @param seed gives the same blocks on every machine
     * @return the schedule BLOCKS
     */
    public static Schedule blocks(int blocks, long seed) {
        if (blocks < 1) {
            throw new FastLbpException(Status.INVALID_ARGUMENT, blocks + " blocks: at least 1 is needed");
        }
        return new Schedule("BLOCKS " + blocks, bp -> Native.bpSetScheduleBlocks(bp, blocks, seed));
    }

    /**
     * A rank per edge: edges of lower rank come first, edges of equal rank are updated at once.
     *
     * @param ranks one rank per edge (see {@link FactorGraph#edgeVariables}), copied
     * @return the schedule
     */
    public static Schedule ranks(long[] ranks) {
        long[] copy = ranks.clone();
        return new Schedule("ranks", bp -> Native.bpSetScheduleRanks(bp, copy));
    }

    /**
     * A relation on the edges: {@code before[i]} is not updated after {@code after[i]}. It must compare every two edges
     * of which one message reads the other.
     *
     * @param before edges, copied
     * @param after as many edges, copied
     * @return the schedule
     */
    public static Schedule relation(int[] before, int[] after) {
        Check.length("after", after.length, before.length, "one for each edge in before");
        int[] earlier = Check.indices("before", before.clone());
        int[] later = Check.indices("after", after.clone());
        return new Schedule("relation", bp -> Native.bpSetScheduleRelation(bp, earlier, later));
    }

    void set(long bp) {
        if (set == null) {
            Native.bpSetSchedule(bp, name, seed);
        } else {
            set.accept(bp);
        }
    }

    @Override
    public String toString() {
        return description;
    }
}
