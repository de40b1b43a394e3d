"""PGMax's models, an Ising grid, a Potts grid and a restricted Boltzmann machine, through the Python package and by the
command line: microseconds per iteration, side by side, and whether the marginals have the same bits.

    python pgmax_models.py PROGRAM [--backend cuda] [--size 1.0]

PROGRAM is `fastlbp` of the same source tree. Needs fastlbp; with PGMax and JAX, models are made by PGMax and taken by
`fastlbp.from_pgmax`, and PGMax is measured too, in 32 bits. An iteration's time is the difference between runs of many and
of few iterations, divided by the difference of their numbers: medians, of runs in turn. Prints a table in Markdown.
"""

import argparse
import functools
import json
import statistics
import subprocess
import sys
import tempfile
import time
import types
from pathlib import Path

import numpy as np

import fastlbp

FEW, MANY = 20, 220


def grid(side):
    """Neighbours in a square grid."""
    number = np.arange(side * side).reshape(side, side)
    right = np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], 1)
    down = np.stack([number[:-1].ravel(), number[1:].ravel()], 1)
    return np.concatenate([right, down])


def models(size, random):
    """Name, log-potentials of variables and pairs, and the pairs, of each model."""
    side = max(2, round(300 * size))
    pairs = grid(side)
    coupling = random.normal(0, 0.3, len(pairs))
    signs = np.array([[1.0, -1.0], [-1.0, 1.0]])
    yield f"Ising {side} x {side}", random.normal(0, 0.3, (side * side, 2)), pairs, coupling[:, None, None] * signs
    side = max(2, round(100 * size))
    pairs = grid(side)
    yield (f"Potts {side} x {side}, 16 states", random.normal(0, 0.5, (side * side, 16)), pairs,
           random.normal(0, 0.3, (len(pairs), 16, 16)))
    visible, hidden = max(2, round(784 * size)), max(2, round(500 * size))
    pairs = np.stack(np.divmod(np.arange(visible * hidden), hidden), 1) + [0, visible]
    weights = np.zeros((len(pairs), 2, 2))
    weights[:, 1, 1] = random.normal(0, 0.05, len(pairs))
    yield f"RBM {visible} x {hidden}", random.normal(0, 0.5, (visible + hidden, 2)), pairs, weights


@functools.lru_cache(maxsize=None)
def pgmax_modules():
    """PGMax's modules fgraph, fgroup, infer and vgroup; None where it is not installed."""
    try:
        import jax.extend.backend
        import jax.lib

        # PGMax 0.6.1 asks for a module that newer versions of JAX have elsewhere.
        if not hasattr(jax.lib, "xla_bridge"):
            jax.lib.xla_bridge = types.SimpleNamespace(get_backend=jax.extend.backend.get_backend)
        from pgmax import fgraph, fgroup, infer, vgroup
    except ImportError as error:
        print(f"PGMax is not measured: {error}", file=sys.stderr)
        return None
    return fgraph, fgroup, infer, vgroup


def made_by_pgmax(unary, pairs, weights):
    """The model as PGMax's, its group of variables, and its inferer; None where PGMax is not installed."""
    modules = pgmax_modules()
    if modules is None:
        return None
    fgraph, fgroup, infer, vgroup = modules
    group = vgroup.NDVarArray(num_states=unary.shape[1], shape=(len(unary),))
    model = fgraph.FactorGraph(variable_groups=group)
    scopes = [[group[int(a)], group[int(b)]] for a, b in pairs]
    model.add_factors(fgroup.PairwiseFactorGroup(variables_for_factors=scopes, log_potential_matrix=weights))
    return model, group, infer.build_inferer(model.bp_state, backend="bp")


def per_iteration(measure, repetitions):
    """Seconds per iteration, where `measure` gives the seconds of a run."""
    few, many = [], []
    measure(FEW)
    for _ in range(repetitions):
        few.append(measure(FEW))
        many.append(measure(MANY))
    return (statistics.median(many) - statistics.median(few)) / (MANY - FEW)


def by_package(graph, backend, damping):
    """A session, and what measures a run of it."""
    bp = fastlbp.BeliefPropagation(graph, backend=backend)

    def measure(iterations):
        start = time.perf_counter()
        bp.run(iterations=iterations, damping=damping)
        bp.marginals()
        return time.perf_counter() - start

    return bp, measure


def by_program(program, path, backend, damping):
    """Where the program saves its last marginals, and what measures a run of it."""
    output, stats = path.with_suffix(".out"), path.with_suffix(".json")

    def measure(iterations):
        subprocess.run([program, "infer", path, "--schedule", "PARALL", "--iterations", str(iterations), "--backend",
                        backend, "--damping", str(damping), "--output", output, "--stats", stats],
                       check=True, capture_output=True)
        return json.loads(stats.read_text())["seconds"]["run"]

    return output, measure


def by_pgmax(group, unary, inferer, damping):
    """What measures a run of PGMax."""
    import jax

    start_state = inferer.init(evidence_updates={group: unary})

    def measure(iterations):
        start = time.perf_counter()
        state = inferer.run(start_state, num_iters=iterations, damping=damping, temperature=1.0)
        jax.block_until_ready(state.ftov_msgs)
        return time.perf_counter() - start

    return measure


def marginals_of(output, states):
    """Marginals as the program wrote them, the first state's left out where only the second one's is written."""
    rows = [line.split()[1:] for line in output.read_text().splitlines() if not line.startswith("#")]
    found = np.array(rows, dtype=np.float64)
    return found if found.shape[1] == states else found[:, -1:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program", help="the program fastlbp")
    parser.add_argument("--backend", choices=("auto", "cpu", "cuda"), default="cuda")
    parser.add_argument("--size", type=float, default=1.0, help="of the models: 0.1 for a trial")
    parser.add_argument("--repetitions", type=int, default=5, help="runs of each length (5)")
    arguments = parser.parse_args()
    print("| model | damping | edges | Python, us | command line, us | Python / command line | same marginals | PGMax, us |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as directory:
        for name, unary, pairs, weights in models(arguments.size, np.random.default_rng(7)):
            pgmax = made_by_pgmax(unary, pairs, weights)
            if pgmax is None:
                graph = fastlbp.FactorGraph.from_pairwise(np.exp(unary), pairs, np.exp(weights))
            else:
                graph = fastlbp.from_pgmax(pgmax[0], {pgmax[1]: unary})
            path = Path(directory) / "model.uai"
            graph.write(path)
            for damping in (0.0, 0.5):
                bp, measure = by_package(graph, arguments.backend, damping)
                own = per_iteration(measure, arguments.repetitions)
                output, measure = by_program(arguments.program, path, arguments.backend, damping)
                program = per_iteration(measure, arguments.repetitions)
                written = marginals_of(output, unary.shape[1])
                marginals = bp.marginals().reshape(len(unary), -1)
                same = bool((marginals[:, -written.shape[1]:] == written).all())
                other = "–"
                if pgmax is not None:
                    other = f"{1e6 * per_iteration(by_pgmax(pgmax[1], unary, pgmax[2], damping), arguments.repetitions):.1f}"
                print(f"| {name} | {damping} | {graph.edge_count} | {1e6 * own:.1f} | {1e6 * program:.1f} | "
                      f"{own / program:.3f} | {'yes' if same else 'no'} | {other} |", flush=True)


if __name__ == "__main__":
    main()
