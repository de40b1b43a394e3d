package io.github.fastlbp;

import java.util.AbstractList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.function.IntPredicate;

/**
 * Candidates, the most suspicious first; those of equal probability in the order of their list, and with the same
 * ranks. As {@code fastlbp locate} ranks statements.
 *
 * <p>What is compared is the probability to be right, the lowest first, as SmartFL does: where a fault is next to
 * certain, these still differ. Which of several candidates of one probability is inspected first is open; {@link
 * #first} says what that means for the faulty ones.
 */
public final class Suspects extends AbstractList<Suspects.Suspect> {
    private final Suspect[] suspects;

    /** A ranked candidate. */
    public static final class Suspect {
        private final int candidate;
        private final double probability;
        private int best;
        private int worst;

        private Suspect(int candidate, double probability) {
            this.candidate = candidate;
            this.probability = probability;
        }

        /**
         * The candidate.
         *
         * @return its place in the list of candidates
         */
        public int candidate() {
            return candidate;
        }

        /**
         * The probability that it is at fault.
         *
         * @return a number from 0 to 1
         */
        public double probability() {
            return probability;
        }

        /**
         * Its rank, if it comes first among those of its probability.
         *
         * @return a number from 1
         */
        public int best() {
            return best;
        }

        /**
         * Its rank, if it comes last among those of its probability.
         *
         * @return a number from 1
         */
        public int worst() {
            return worst;
        }

        /**
         * The mean of its ranks over all orders of those of its probability.
         *
         * @return a number from 1
         */
        public double average() {
            return (best + (double) worst) / 2;
        }

        @Override
        public String toString() {
            return "candidate " + candidate + ", " + probability + ", rank " + best
                    + (best < worst ? " to " + worst : "");
        }
    }

    /** The rank of the first faulty candidate. */
    public static final class FirstRank {
        private final double average;
        private final int worst;

        private FirstRank(double average, int worst) {
            this.average = average;
            this.worst = worst;
        }

        /**
         * Its mean over all orders of candidates of equal probability.
         *
         * @return a number from 1
         */
        public double average() {
            return average;
        }

        /**
         * The last that it can be.
         *
         * @return a number from 1
         */
        public int worst() {
            return worst;
        }
    }

    /**
     * Ranks candidates by the probability of a state in the last run of a session.
     *
     * @param session the session, after a run
     * @param candidates indices of variables
     * @param fault the state of those at fault; 0 in SmartFL's graphs, where 1 is right
     * @throws FastLbpException with {@link Status#OUT_OF_RANGE} for a variable or a state that is not there; {@link
     *     Status#NO_RESULT} before there is a run
     */
    public Suspects(BeliefPropagation session, int[] candidates, int fault) {
        Check.indices("candidates", candidates);
        Check.index("fault", fault);
        double[] right = new double[candidates.length];
        suspects = new Suspect[candidates.length];
        for (int i = 0; i < candidates.length; i++) {
            double[] marginal = session.marginal(candidates[i]);
            if (fault >= marginal.length) {
                throw new FastLbpException(
                        Status.OUT_OF_RANGE,
                        "state " + fault + " of variable " + candidates[i] + ": it has " + marginal.length
                                + " states, numbered from 0");
            }
            for (int state = 0; state < marginal.length; state++) {
                if (state != fault) right[i] += marginal[state];
            }
            suspects[i] = new Suspect(i, marginal[fault]);
        }
        Arrays.sort(suspects, Comparator.comparingDouble((Suspect suspect) -> right[suspect.candidate]));
        for (int begin = 0, end; begin < suspects.length; begin = end) {
            double least = right[suspects[begin].candidate];
            for (end = begin; end < suspects.length && right[suspects[end].candidate] == least; end++) {
                suspects[end].best = begin + 1;
            }
            for (int i = begin; i < end; i++) suspects[i].worst = end;
        }
    }

    /**
     * The ranks of the first candidate that is at fault.
     *
     * @param isAtFault whether a candidate, by its place, is at fault
     * @return its ranks, or null if none is
     */
    public FirstRank first(IntPredicate isAtFault) {
        for (Suspect first : suspects) {
            if (!isAtFault.test(first.candidate)) continue;
            // Several of one probability may be at fault: the first of them comes earlier than one alone.
            int faulty = 0;
            for (int i = first.best - 1; i < first.worst; i++) {
                if (isAtFault.test(suspects[i].candidate)) faulty++;
            }
            double size = first.worst - first.best + 1;
            // The mean of the smallest of k different numbers from 1 to n is (n + 1) / (k + 1).
            return new FirstRank(first.best - 1 + (size + 1) / (faulty + 1.0), first.worst - (faulty - 1));
        }
        return null;
    }

    @Override
    public Suspect get(int index) {
        return suspects[index];
    }

    @Override
    public int size() {
        return suspects.length;
    }
}
