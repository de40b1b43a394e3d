"""A noisy image of four grey levels, as a Potts model on arrays of NumPy: max-product finds a likely original."""

import numpy as np

import fastlbp

height, width, levels = 24, 32, 4
random = np.random.default_rng(7)
original = (np.arange(width) // 8)[np.newaxis, :] * np.ones((height, 1), int)
original[8:16] = levels - 1 - original[8:16]
noisy = np.where(random.random(original.shape) < 0.25, random.integers(0, levels, original.shape), original)

# Each pixel is most likely what is seen; neighbours are likely equal.
pixels = np.arange(height * width).reshape(height, width)
right = np.stack([pixels[:, :-1].ravel(), pixels[:, 1:].ravel()], axis=1)
down = np.stack([pixels[:-1].ravel(), pixels[1:].ravel()], axis=1)
seen = np.where(np.arange(levels) == noisy.reshape(-1, 1), 4.0, 1.0)
equal = np.where(np.eye(levels, dtype=bool), 3.0, 1.0)
graph = fastlbp.FactorGraph.from_pairwise(seen, np.concatenate([right, down]), equal)

session = fastlbp.BeliefPropagation(graph, schedule="PARALL")
session.run(iterations=50, inference="max-product", damping=0.5)
restored = session.marginals().reshape(height, width, levels).argmax(axis=2)
print(f"{graph.variable_count} pixels, {graph.edge_count} edges")
print(f"wrong pixels: {(noisy != original).sum()} before, {(restored != original).sum()} after")
