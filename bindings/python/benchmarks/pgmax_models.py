"""PGMax's models, an Ising grid, a Potts grid and a restricted Boltzmann machine, through the Python package and by the
command line: microseconds per iteration, side by side, and whether the marginals have the same bits.

    python pgmax_models.py PROGRAM [--backend cuda] [--size 1.0]

PROGRAM is `fastlbp` of the same source tree. Needs fastlbp; with PGMax and JAX, models are made by PGMax and taken by
`fastlbp.from_pgmax`, and PGMax is measured too, in 32 bits. An iteration's time is that of `fastlbp bench`, and measured
in the same way elsewhere: the difference between fresh runs of 1 and of 1 + `--iterations` iterations, divided by these;
the median of so many measurements, in rounds, in which package, command line and PGMax take turns. Prints a table in
Markdown.
"""

import argparse
import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import types
from pathlib import Path

import numpy as np

import fastlbp


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


def per_iteration(run, iterations):
    """Seconds per iteration, where `run` makes a fresh run of so many."""

    def seconds(count):
        start = time.perf_counter()
        run(count)
        return time.perf_counter() - start

    few = seconds(1)
    return (seconds(1 + iterations) - few) / iterations


def by_program(program, path, backend, damping, iterations, output):
    """Seconds per iteration by `fastlbp bench`, and, the first time, marginals by `fastlbp infer` in the file `output`."""
    options = ["--schedule", "PARALL", "--backend", backend, "--damping", str(damping)]
    if not output.exists():
        subprocess.run([program, "infer", path, *options, "--iterations", str(1 + iterations), "--output", output],
                       check=True, capture_output=True)
    done = subprocess.run([program, "bench", path, *options, "--iterations", str(iterations), "--repeats", "3", "--json"],
                          check=True, capture_output=True)
    return json.loads(done.stdout)["measurements"][0]["iteration"]


def by_pgmax(group, unary, inferer, damping):
    """What makes a run of PGMax; runs of a new number of iterations are compiled first."""
    import jax

    start_state = inferer.init(evidence_updates={group: unary})

    def run(iterations):
        state = inferer.run(start_state, num_iters=iterations, damping=damping, temperature=1.0)
        jax.block_until_ready(state.ftov_msgs)

    return run


def marginals_of(output, states):
    """Marginals as the program wrote them, the first state's left out where only the second one's is written."""
    rows = [line.split()[1:] for line in output.read_text().splitlines() if not line.startswith("#")]
    found = np.array(rows, dtype=np.float64)
    return found if found.shape[1] == states else found[:, -1:]


def measure(arguments, graph, path, pgmax, unary, damping):
    """A row's figures: seconds per iteration of package, program and PGMax, and whether marginals are the same."""
    output = path.with_suffix(f".{damping}.out")
    bp = fastlbp.BeliefPropagation(graph, backend=arguments.backend)

    def by_package(iterations):
        bp.run(iterations=iterations, damping=damping)

    other = None if pgmax is None else by_pgmax(pgmax[1], unary, pgmax[2], damping)
    for run in filter(None, (by_package, other)):
        # Prepared, compiled, and out of an idle device's low clocks.
        run(1)
        run(1 + arguments.iterations)
    seconds = {"package": [], "program": [], "PGMax": []}
    for _ in range(arguments.rounds):
        seconds["program"].append(by_program(arguments.program, path, arguments.backend, damping, arguments.iterations,
                                             output))
        for name, run in (("package", by_package), ("PGMax", other)):
            if run is not None:
                run(1 + arguments.iterations)
                seconds[name].append(statistics.median(per_iteration(run, arguments.iterations) for _ in range(3)))
    by_package(1 + arguments.iterations)
    written = marginals_of(output, unary.shape[1])
    marginals = bp.marginals().reshape(len(unary), -1)
    same = bool((marginals[:, -written.shape[1]:] == written).all())
    return [statistics.median(own) if own else None for own in seconds.values()], same


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program", help="the program fastlbp")
    parser.add_argument("--backend", choices=("auto", "cpu", "cuda"), default="cuda")
    parser.add_argument("--size", type=float, default=1.0, help="of the models: 0.1 for a trial")
    parser.add_argument("--iterations", type=int, default=200, help="of a measurement (200)")
    parser.add_argument("--rounds", type=int, default=3, help="of measurements in turn (3)")
    arguments = parser.parse_args()
    # JAX would take three quarters of the device's memory.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    print("| model | damping | edges | Python, us | command line, us | Python / command line | same marginals | PGMax, us |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as directory:
        for name, unary, pairs, weights in models(arguments.size, np.random.default_rng(7)):
            pgmax = made_by_pgmax(unary, pairs, weights)
            if pgmax is None:
                graph = fastlbp.FactorGraph.from_pairwise(np.exp(unary), pairs, np.exp(weights))
            else:
                graph = fastlbp.from_pgmax(pgmax[0], {pgmax[1]: unary})
            path = Path(directory) / f"{len(unary)}.uai"
            graph.write(path)
            for damping in (0.0, 0.5):
                (own, program, other), same = measure(arguments, graph, path, pgmax, unary, damping)
                print(f"| {name} | {damping} | {graph.edge_count} | {1e6 * own:.1f} | {1e6 * program:.1f} | "
                      f"{own / program:.3f} | {'yes' if same else 'no'} | {'–' if other is None else f'{1e6 * other:.1f}'} |",
                      flush=True)


if __name__ == "__main__":
    main()
