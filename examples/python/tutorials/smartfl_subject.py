# %% [markdown]
# # A subject of SmartFL
#
# A failing test of JFreeChart (bug 24 of Defects4J) as a factor graph: its values depend on statements, one of which is
# wrong. Some values are known to be right. Which statements are the most suspicious?

# %%
import warnings
from pathlib import Path

import numpy as np

import fastlbp

folder = Path(__file__).parent if "__file__" in globals() else Path()  # a notebook has no __file__
data = folder.resolve().parents[1] / "data"
graph = fastlbp.FactorGraph.read(data / "Chart-24.causal_fg.gz")
# (SmartFL also names values that nothing depends on; a warning would say so.)
warnings.simplefilter("ignore", fastlbp.FastlbpWarning)
observed = graph.read_evidence(data / "Chart-24.obs", unknown="skip")
print(graph)
print(f"{len(observed)} known values")

# %% [markdown]
# Candidates are the variables that head no rule: statements, and what comes from outside. They have many neighbours.

# %%
degrees = np.bincount(graph.edge_variables, minlength=graph.variable_count)
bodies = np.setdiff1d(np.arange(graph.variable_count), [graph.scope(f).head for f in range(graph.factor_count)
                                                        if len(graph.scope(f).variables) > 1])
candidates = [int(label) for label in graph.labels[bodies] if int(label) not in observed]
print(f"{len(candidates)} candidates, in up to {degrees[bodies].max()} factors each")

# %% [markdown]
# `locate` runs as SmartFL does, synchronously to changes of 1e-8, and ranks candidates by the probability that they are wrong.
# Candidates of the same probability share their ranks, from the best to the worst.

# %%
session = fastlbp.BeliefPropagation(graph)
session.set_evidence(observed)
suspects = fastlbp.locate(session, candidates)
print(f"{suspects.report.iterations} iterations, {suspects.report.reason}")
for suspect in suspects[:3]:
    print(f"statement {suspect.label}: {suspect.probability:.6f}, rank {suspect.best} to {suspect.worst}")

# %% [markdown]
# How much does the answer owe to each observation? A batch has a row of evidence for each question: here, every row leaves
# a tenth of the known values out. The rows run at once, and each gives the bits of a run of its own.

# %%
rows = np.full((10, graph.variable_count), -1)
known = np.array([graph.index(label) for label in observed])
states = np.array(list(observed.values()))
for row in range(len(rows)):
    kept = np.arange(len(known)) % len(rows) != row
    rows[row, known[kept]] = states[kept]
results = session.run_batch(rows, tolerance=1e-8, max_iterations=500, contradiction="vote").raise_first()
wrong = results.marginals[:, 0::2]
print(f"P(statement {suspects[0].label} is wrong) with nine tenths of the values: "
      f"{wrong[:, graph.index(suspects[0].label)].min():.4f} to {wrong[:, graph.index(suspects[0].label)].max():.4f}")
