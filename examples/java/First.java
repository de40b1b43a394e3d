import io.github.fastlbp.BeliefPropagation;
import io.github.fastlbp.FactorGraph;
import io.github.fastlbp.Schedule;

/** A rule 0.9: x1 &amp; x2 -&gt; x3, with the priors 0.3 and 0.8. x3 is true: what about x1 and x2? */
public final class First {
    public static void main(String[] arguments) {
        try (FactorGraph.Builder builder = FactorGraph.builder()) {
            builder.addPrior(1, 0.3).addPrior(2, 0.8);
            builder.addAnd(3, new long[] {1, 2}, 0.9, 0.05); // 0.05 where the rule does not apply
            try (FactorGraph graph = builder.build();
                    BeliefPropagation bp = new BeliefPropagation(graph)) {
                bp.setSchedule(Schedule.TREE).observeLabel(3, 1);
                bp.run();
                double[] p = new double[graph.variableCount()]; // by ascending label
                bp.probabilities(p);
                System.out.printf("P(x1) = %.4f, P(x2) = %.4f%n", p[0], p[1]);
            }
        }
    }
}
