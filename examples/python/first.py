"""A rule 0.9: x1 & x2 -> x3, with the priors 0.3 and 0.8. x3 is true: what about x1 and x2?"""

import fastlbp

builder = fastlbp.FactorGraphBuilder()
builder.add_prior(1, 0.3)
builder.add_prior(2, 0.8)
builder.add_and(3, [1, 2], 0.9, 0.05)  # 0.05 where the rule does not apply

bp = fastlbp.BeliefPropagation(builder.build(), schedule="TREE")
bp.observe(3, 1)
bp.run()
print(f"P(x1) = {bp.probability(1):.4f}, P(x2) = {bp.probability(2):.4f}")
