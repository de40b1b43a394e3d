# %% [markdown]
# # A Bayesian network, beside pgmpy
#
# A network with names, from a file `.bif`. On a tree, as this one is, one iteration of the schedule TREE is exact.

# %%
import sys
from pathlib import Path

import numpy as np

import fastlbp

folder = Path(__file__).parent if "__file__" in globals() else Path()  # a notebook has no __file__
path = folder.resolve().parents[1] / "data" / "harvest.bif"
graph = fastlbp.FactorGraph.read(path)
print(graph, *graph.names)

# %%
session = fastlbp.BeliefPropagation(graph, schedule="TREE")
session.set_evidence({"price": "high", "flood": "no"})
session.run()
for name in ("season", "crop"):
    states = graph.state_names[graph.index(name)]
    print(name, {state: round(float(p), 6) for state, p in zip(states, session.marginal(name))})

# %% [markdown]
# A junction tree is exact on any network of small treewidth, and has the probability of the evidence and the most probable
# explanation.

# %%
exact = fastlbp.ExactInference(graph, {"price": "high", "flood": "no"})
print("same as by the junction tree:", np.abs(exact.marginals() - session.marginals()).max() < 1e-15)
print(f"probability of the evidence: {np.exp(exact.log_partition()):.6f}")
best = fastlbp.ExactInference(graph, {"price": "high", "flood": "no"}, inference="max-product").find_maximum()
print("most probable:", {name: graph.state_names[index][best[index]] for index, name in enumerate(graph.names)})

# %% [markdown]
# pgmpy reads the same file; `from_pgmpy` takes its model, and its variable elimination finds the same.

# %%
try:
    from pgmpy.inference import VariableElimination
    from pgmpy.readwrite import BIFReader
except ImportError as missing:
    sys.exit(f"pgmpy is not here: {missing}")

model = BIFReader(str(path)).get_model()
taken = fastlbp.BeliefPropagation(fastlbp.from_pgmpy(model), schedule="TREE")
taken.set_evidence({"price": "high", "flood": "no"})
taken.run()
elimination = VariableElimination(model)
for name in ("season", "soil", "crop"):
    wanted = elimination.query([name], evidence={"price": "high", "flood": "no"}, show_progress=False)
    same = np.abs(taken.marginal(name) - wanted.values).max() < 1e-12 and fastlbp.to_pgmpy(taken, name) == wanted
    print(f"pgmpy's {name}: the same {same}")
