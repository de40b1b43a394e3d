package io.github.fastlbp;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;

/**
 * BINGO's loop over a session: alarms are ranked by their probabilities, the first one is inspected, its answer is
 * observed, and the others are ranked again. As {@code fastlbp rank} does, with the same orders.
 *
 * <p>Alarms of equal probability are in the order of their names, byte by byte; those without a name come before, by
 * their variables. The session must not be used otherwise meanwhile, and is closed by its owner. For one thread at a
 * time.
 */
public final class Inspection {
    /** When probabilities count as equal. */
    public enum Precision {
        /** When their first six significant digits are: BINGO compares probabilities as its protocol prints them. */
        SIX_DIGITS,
        /** When they are the same number. */
        EXACT
    }

    /** How the session is run after each answer. */
    @FunctionalInterface
    public interface Run {
        /**
         * Makes a run.
         *
         * @param session the session, with the answers so far as evidence
         * @return how it went
         */
        RunResult of(BeliefPropagation session);
    }

    /** An alarm that was inspected. */
    public static final class Answer {
        private final int alarm;
        private final boolean isTrue;

        private Answer(int alarm, boolean isTrue) {
            this.alarm = alarm;
            this.isTrue = isTrue;
        }

        /**
         * The alarm.
         *
         * @return its place in the list of alarms
         */
        public int alarm() {
            return alarm;
        }

        /**
         * The answer.
         *
         * @return whether it is a true alarm
         */
        public boolean isTrue() {
            return isTrue;
        }
    }

    /** As BINGO runs, with the schedule of the session. */
    private static final Run BINGO = session -> session.runBingo(1e-6, 500, 1000, 100);

    private static final MathContext SIX_DIGITS = new MathContext(6, RoundingMode.HALF_EVEN);

    private final BeliefPropagation session;
    private final int[] alarms;
    private final int[] ties;
    private final double[] probabilities;
    private final boolean[] inspected;
    private final Evidence evidence;
    private final List<Answer> answers = new ArrayList<>();
    private Run run = BINGO;
    private Precision precision = Precision.SIX_DIGITS;
    private int[] order;

    /**
     * Starts an inspection. Nothing is run yet: see {@link #rank}.
     *
     * @param session the session, whose evidence is replaced
     * @param evidence what is known before the first answer; not of an alarm, whose state is what is asked for
     * @param alarms indices of the alarms' variables, all different; state 1 is that of a true alarm
     * @param names as many names, some or all of which may be null; or null for no names
     */
    public Inspection(BeliefPropagation session, Evidence evidence, int[] alarms, String[] names) {
        this.session = Objects.requireNonNull(session, "session");
        this.evidence = Objects.requireNonNull(evidence, "evidence");
        this.alarms = alarms.clone();
        if (names != null) Check.length("names", names.length, alarms.length, "one for each alarm");
        Check.indices("alarms", alarms);
        int[] cardinalities;
        long[] labels;
        try (FactorGraph graph = session.graph()) {
            cardinalities = graph.cardinalities();
            labels = graph.labels();
        }
        boolean[] seen = new boolean[cardinalities.length];
        for (int variable : alarms) {
            if (variable >= seen.length) {
                throw new FastLbpException(Status.OUT_OF_RANGE, "alarm " + variable + ": there are " + seen.length
                        + " variables");
            }
            String why = cardinalities[variable] != 2
                    ? "a variable with two states is needed"
                    : seen[variable]
                            ? "it is listed twice, and once is enough"
                            : evidence.known().containsKey(variable)
                                    ? "it is in the evidence already, so there is nothing to be asked"
                                    : null;
            if (why != null) {
                throw new FastLbpException(Status.INVALID_ARGUMENT, "alarm " + labels[variable] + ": " + why);
            }
            seen[variable] = true;
        }
        ties = ties(alarms, names);
        probabilities = new double[alarms.length];
        inspected = new boolean[alarms.length];
        session.setEvidence(evidence);
    }

    /** The rank of each alarm among those of equal probability. */
    private static int[] ties(int[] alarms, String[] names) {
        byte[][] texts = new byte[alarms.length][];
        for (int i = 0; i < texts.length; i++) {
            if (names != null && names[i] != null) texts[i] = names[i].getBytes(StandardCharsets.UTF_8);
        }
        Comparator<Integer> byName = (one, other) -> compare(texts[one], texts[other]);
        Integer[] sorted = new Integer[alarms.length];
        for (int i = 0; i < sorted.length; i++) sorted[i] = i;
        Arrays.sort(sorted, byName.thenComparing(alarm -> alarms[alarm]));
        int[] ties = new int[sorted.length];
        for (int rank = 0; rank < ties.length; rank++) ties[sorted[rank]] = rank;
        return ties;
    }

    private static int compare(byte[] one, byte[] other) {
        if (one == null || other == null) return Boolean.compare(one != null, other != null);
        for (int i = 0; i < Math.min(one.length, other.length); i++) {
            if (one[i] != other[i]) return Integer.compare(one[i] & 0xff, other[i] & 0xff);
        }
        return Integer.compare(one.length, other.length);
    }

    /**
     * Sets how the session is run; without this, as BINGO does: {@code runBingo(1e-6, 500, 1000, 100)}.
     *
     * @param run makes a run
     * @return this inspection
     */
    public Inspection setRun(Run run) {
        this.run = Objects.requireNonNull(run, "run");
        return this;
    }

    /**
     * Sets when probabilities count as equal; without this, {@link Precision#SIX_DIGITS}.
     *
     * @param precision when
     * @return this inspection
     */
    public Inspection setPrecision(Precision precision) {
        this.precision = Objects.requireNonNull(precision, "precision");
        return this;
    }

    /**
     * Runs the session and ranks the alarms that were not inspected: for the first time, or after a change of settings.
     *
     * @return how the run went
     * @throws FastLbpException as {@link BeliefPropagation#run}
     */
    public RunResult rank() {
        RunResult result = run.of(session);
        double[] found = new double[alarms.length];
        session.probabilities(alarms, found);
        System.arraycopy(found, 0, probabilities, 0, found.length);
        sort();
        return result;
    }

    private void sort() {
        double[] keys = new double[alarms.length];
        List<Integer> open = new ArrayList<>();
        for (int alarm = 0; alarm < alarms.length; alarm++) {
            if (inspected[alarm]) continue;
            open.add(alarm);
            keys[alarm] = key(probabilities[alarm]);
        }
        Comparator<Integer> byProbability = (one, other) -> Double.compare(keys[other], keys[one]);
        open.sort(byProbability.thenComparing(alarm -> ties[alarm]));
        order = open.stream().mapToInt(Integer::intValue).toArray();
    }

    private double key(double probability) {
        if (precision == Precision.EXACT) return probability;
        return new BigDecimal(probability).round(SIX_DIGITS).doubleValue();
    }

    /**
     * Says of an alarm whether it is a true one, runs the session, and ranks the others again. An answer that
     * contradicts the graph, which fails with {@link Status#CONTRADICTION}, is taken back, and all is as it was before.
     *
     * @param alarm place of the alarm in the list of alarms
     * @param isTrue whether it is a true one
     * @return how the run went
     * @throws FastLbpException with {@link Status#INVALID_ARGUMENT} for an alarm that was inspected before; as {@link
     *     BeliefPropagation#run}
     */
    public RunResult answer(int alarm, boolean isTrue) {
        if (Check.index("alarm", alarm) >= alarms.length) {
            throw new FastLbpException(
                    Status.OUT_OF_RANGE, "alarm " + alarm + ": there are " + alarms.length + " alarms, counted from 0");
        }
        if (inspected[alarm]) {
            throw new FastLbpException(
                    Status.INVALID_ARGUMENT,
                    "alarm " + alarm + ": it was answered before, and that answer must be taken back first");
        }
        session.observe(alarms[alarm], isTrue ? 1 : 0);
        inspected[alarm] = true;
        answers.add(new Answer(alarm, isTrue));
        try {
            return rank();
        } catch (FastLbpException failure) {
            if (failure.status() == Status.CONTRADICTION) takeBack();
            throw failure;
        }
    }

    private Answer takeBack() {
        Answer answer = answers.remove(answers.size() - 1);
        inspected[answer.alarm] = false;
        session.clearEvidence(alarms[answer.alarm]);
        return answer;
    }

    /**
     * Takes the last answer back, and ranks the alarms again.
     *
     * @return the answer
     * @throws FastLbpException with {@link Status#NO_RESULT} if there is no answer; as {@link BeliefPropagation#run}
     */
    public Answer undo() {
        if (answers.isEmpty()) {
            throw new FastLbpException(Status.NO_RESULT, "there is no answer that could be taken back");
        }
        Answer answer = takeBack();
        rank();
        return answer;
    }

    /**
     * The alarms that were not inspected, the most probable first, by the last run.
     *
     * @return places in the list of alarms, in a new array
     * @throws FastLbpException with {@link Status#NO_RESULT} before {@link #rank}
     */
    public int[] order() {
        if (order == null) throw new FastLbpException(Status.NO_RESULT, "the alarms are not ranked yet: call rank()");
        return order.clone();
    }

    /**
     * The probability of an alarm by the last run, with all digits.
     *
     * @param alarm place of the alarm in the list of alarms
     * @return P(x = 1) of its variable
     */
    public double probability(int alarm) {
        return probabilities[alarm];
    }

    /**
     * The answers, in their order.
     *
     * @return a list that does not change itself, but shows later answers
     */
    public List<Answer> answers() {
        return Collections.unmodifiableList(answers);
    }

    @Override
    public String toString() {
        return alarms.length + " alarms, " + answers.size() + " of them inspected, after " + evidence;
    }
}
