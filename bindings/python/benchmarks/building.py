"""How long it takes to build a graph of a million factors from arrays, and to have the marginals of a million variables.

    python building.py [--factors 1000000]

Needs fastlbp alone. Prints seconds: the fastest of five, and, beside them, those that the processor worked for it, which
others on the same machine do not make longer.
"""

import argparse
import os
import time

import numpy as np

import fastlbp


def fastest(call):
    """The result of a call, its fastest wall-clock time and its shortest processor time, of five."""
    walls, works = [], []
    for _ in range(5):
        wall, work = time.perf_counter(), time.process_time()
        result = call()
        walls.append(time.perf_counter() - wall)
        works.append(time.process_time() - work)
    return result, min(walls), min(works)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--factors", type=int, default=10**6)
    count = parser.parse_args().factors
    random = np.random.default_rng(1)
    variables = max(2, count // 2)
    first = random.integers(0, variables - 1, count)
    pairs = np.stack([first, first + 1], axis=1)
    tables = random.random((count, 4)) + 0.1
    heads = np.arange(count) % variables
    # Half priors, half conjunctions of two.
    kinds = np.where(np.arange(count) < count // 2, fastlbp.FactorKind.PRIOR, fastlbp.FactorKind.AND).astype(np.uint8)
    body_offsets = np.concatenate([[0], np.cumsum(np.where(kinds == fastlbp.FactorKind.AND, 2, 0))])
    bodies = random.integers(0, variables, body_offsets[-1])
    made = {
        "from_arrays, tables over pairs": lambda: fastlbp.FactorGraph.from_arrays(
            np.full(variables, 2), np.arange(0, 2 * count + 1, 2), pairs.ravel(), np.arange(0, 4 * count + 1, 4), tables.ravel()),
        "from_pairwise": lambda: fastlbp.FactorGraph.from_pairwise(
            np.ones((variables, 2)), pairs[:count - variables], tables[:count - variables].reshape(-1, 2, 2)),
        "from_horn_arrays": lambda: fastlbp.FactorGraph.from_horn_arrays(
            kinds, heads, body_offsets, bodies, np.full(count, 0.9), np.full(count, 0.1)),
    }
    print(f"{count} factors, load {os.getloadavg()[0]:.1f}: s, processor s")
    for name, call in made.items():
        graph, wall, work = fastest(call)
        print(f"{name}: {wall:.3f}, {work:.3f} ({graph.factor_count} factors, {graph.edge_count} edges)", flush=True)
    offsets, none = np.zeros(count + 1, np.uint64), np.zeros(0, np.uint64)
    graph = fastlbp.FactorGraph.from_horn_arrays(np.full(count, 1, np.uint8), np.arange(count), offsets, none,
                                                 np.linspace(0, 1, count), np.zeros(count))
    session = fastlbp.BeliefPropagation(graph, "TREE", backend="cpu")
    session.run()
    marginals, wall, _ = fastest(session.marginals)
    print(f"marginals of {graph.variable_count} variables: {wall:.2e}, a copy: {marginals.flags.owndata}")


if __name__ == "__main__":
    main()
