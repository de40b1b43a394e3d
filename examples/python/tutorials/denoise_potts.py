# %% [markdown]
# # Image denoising, beside PGMax
#
# A noisy image of four grey levels as a Potts model: a pixel is most likely what is seen, and neighbours are likely equal.
# The model is made of arrays, runs on a CUDA device where there is one, and is the same that PGMax has.

# %%
import sys
import types

import numpy as np

import fastlbp

height, width, levels = 60, 80, 4
random = np.random.default_rng(7)
rows, columns = np.mgrid[:height, :width]
original = (columns // 20 + (np.hypot(rows - 30, columns - 40) < 18)) % levels
noisy = np.where(random.random(original.shape) < 0.3, random.integers(0, levels, original.shape), original)

# %%
pixels = np.arange(height * width).reshape(height, width)
right = np.stack([pixels[:, :-1].ravel(), pixels[:, 1:].ravel()], axis=1)
down = np.stack([pixels[:-1].ravel(), pixels[1:].ravel()], axis=1)
edges = np.concatenate([right, down])
seen = np.where(np.arange(levels) == noisy.reshape(-1, 1), 4.0, 1.0)
equal = np.where(np.eye(levels, dtype=bool), 3.0, 1.0)
graph = fastlbp.FactorGraph.from_pairwise(seen, edges, equal)
print(graph)

# %% [markdown]
# Sums and maxima, both damped, 100 iterations each. The results have the same bits on a device and on any number of threads.

# %%
session = fastlbp.BeliefPropagation(graph, backend="cuda" if fastlbp.devices() else "cpu")
session.run(iterations=100, damping=0.5)
marginals = session.marginals().reshape(height, width, levels)
session.run(iterations=100, damping=0.5, inference="max-product")
restored = session.marginals().reshape(height, width, levels).argmax(axis=2)
print("wrong pixels:", (noisy != original).sum(), "seen,", (marginals.argmax(axis=2) != original).sum(), "by sums,",
      (restored != original).sum(), "by maxima")

# %% [markdown]
# The same model of PGMax, taken by its groups, and PGMax's own marginals, which have 32 bits.

# %%
try:
    import jax.extend.backend
    import jax.lib

    # PGMax 0.6.1 asks for a module that newer versions of JAX have elsewhere.
    if not hasattr(jax.lib, "xla_bridge"):
        jax.lib.xla_bridge = types.SimpleNamespace(get_backend=jax.extend.backend.get_backend)
    from pgmax import fgraph, fgroup, infer, vgroup
except ImportError as missing:
    sys.exit(f"PGMax is not here: {missing}")

variables = vgroup.NDVarArray(num_states=levels, shape=(height, width))
model = fgraph.FactorGraph(variable_groups=variables)
named = [variables[int(row), int(column)] for row, column in zip(rows.ravel(), columns.ravel())]
model.add_factors(fgroup.PairwiseFactorGroup(variables_for_factors=[[named[a], named[b]] for a, b in edges],
                                             log_potential_matrix=np.log(equal)))
evidence = {variables: np.log(seen).reshape(height, width, levels)}
taken = fastlbp.BeliefPropagation(fastlbp.from_pgmax(model, evidence))
taken.run(iterations=100, damping=0.5)
print("PGMax's model, taken:", np.abs(fastlbp.to_pgmax(taken, model)[variables] - marginals).max() < 1e-12)

inferer = infer.build_inferer(model.bp_state, backend="bp")
arrays = inferer.run(inferer.init(evidence_updates=evidence), num_iters=100, damping=0.5, temperature=1.0)
theirs = np.asarray(infer.get_marginals(inferer.get_beliefs(arrays))[variables])
print("PGMax finds the same image:", (theirs.argmax(axis=2) == marginals.argmax(axis=2)).mean() > 0.999)
