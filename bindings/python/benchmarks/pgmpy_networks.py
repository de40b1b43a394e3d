"""The networks that pgmpy comes with, through `fastlbp.from_pgmpy`: loopy and exact marginals of fastlbp beside the exact
ones of pgmpy's variable elimination, a query for each variable, with the time that each takes.

    python pgmpy_networks.py [--seconds 60] [--memory 8] [NETWORK ...]

Needs fastlbp and pgmpy; no network access, as the `.bif.gz` files are in pgmpy's package. Each network has a process of
its own, which ends after so many seconds of pgmpy's queries or with an allocation beyond so many GiB; what it had found by
then is shown. Prints a table in Markdown.
"""

import argparse
import gzip
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path


def networks():
    """Path of each network's file, smallest file first."""
    import pgmpy

    files = (Path(pgmpy.__file__).parent / "utils" / "example_models").glob("*.bif.gz")
    return {path.name[:-len(".bif.gz")]: path for path in sorted(files, key=lambda path: path.stat().st_size)}


def timed(call):
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


def measure(path, limit):
    """Measures one network, printing after each step, as a line of JSON, all that is known by then."""
    import numpy as np
    from pgmpy.readwrite import BIFReader

    import fastlbp

    known = {}

    def tell(**more):
        known.update(more)
        print(json.dumps(known), flush=True)

    text = gzip.decompress(path.read_bytes()).decode()
    model, seconds = timed(lambda: BIFReader(string=text).get_model())
    tell(variables=len(model.nodes()), read=seconds)
    graph, seconds = timed(lambda: fastlbp.from_pgmpy(model))
    tell(convert=seconds)
    bp = fastlbp.BeliefPropagation(graph, backend="cpu")
    damping = 0.0
    report, seconds = timed(lambda: bp.run())
    if not report.converged:
        damping = 0.5
        report, more = timed(lambda: bp.run(damping=damping))
        seconds += more
    tell(loopy=seconds, iterations=report.iterations, converged=report.converged, damping=damping)
    exact = None
    try:
        exact, seconds = timed(lambda: fastlbp.ExactInference(graph, table_limit=1 << 26))
        loopy_error = float(np.abs(bp.marginals() - exact.marginals()).max())
        tell(exact=seconds, width=exact.width, loopy_error=loopy_error)
    except fastlbp.LimitExceededError:
        tell(exact=None)
    from pgmpy.inference import VariableElimination

    elimination = VariableElimination(model)
    total, differences, errors = 0.0, [], []
    signal.setitimer(signal.ITIMER_REAL, limit)
    for name in graph.names:
        wanted, seconds = timed(lambda: elimination.query([name], elimination_order="MinFill", show_progress=False))
        total += seconds
        wanted = wanted.values / wanted.values.sum()
        errors.append(float(np.abs(bp.marginal(name) - wanted).max()))
        more = {"pgmpy": total, "queries": len(errors)}
        if exact is None:
            more["loopy_error"] = max(errors)
        else:
            differences.append(float(np.abs(exact.marginal(name) - wanted).max()))
            more["exact_error"] = max(differences)
        tell(**more)


def measured(path, seconds, gibibytes):
    """What a process of its own finds of a network before it ends, and whether it came to its end."""
    limit = int(gibibytes * 2**30)
    done = subprocess.run([sys.executable, __file__, "--seconds", str(seconds), "--measure", str(path)],
                          capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    output, ended = done.stdout, ""
    if done.returncode == -signal.SIGALRM:
        ended = f"> {seconds:g} s"
    elif done.returncode:
        ended = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
    lines = output.splitlines()
    return (json.loads(lines[-1]) if lines else {}), ended


def row(name, known, ended):
    """A row of the table."""

    def seconds(key):
        return "–" if known.get(key) is None else f"{known[key]:.3g}"

    def error(key):
        return "–" if known.get(key) is None else f"{known[key]:.1e}"

    pgmpy = seconds("pgmpy")
    if ended:
        why = "out of memory" if "Memory" in ended or "allocate" in ended else ended
        pgmpy = f"{why} ({known.get('queries', 0)} of {known.get('variables', '–')})"
    iterations = "–"
    if "iterations" in known:
        iterations = f"{known['iterations']}" + ("" if known["converged"] else " (not converged)")
        if known["damping"]:
            iterations += f", damping {known['damping']}"
    return (f"| {name} | {known.get('variables', '–')} | {known.get('width', '–')} | {seconds('read')} | "
            f"{seconds('convert')} | {seconds('loopy')} | {iterations} | {error('loopy_error')} | {seconds('exact')} | "
            f"{pgmpy} | {error('exact_error')} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=60, help="limit of pgmpy's queries for each network (60)")
    parser.add_argument("--memory", type=float, default=8, help="limit for each network, in GiB (8)")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help="such as alarm; all unless given")
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments.measure, arguments.seconds)
        return
    known = networks()
    unknown = [name for name in arguments.networks if name not in known]
    if unknown:
        parser.error(f"{unknown[0]}: pgmpy has {', '.join(known)}")
    print("| network | variables | width | pgmpy reads, s | from_pgmpy, s | loopy, s | iterations | largest error "
          "| fastlbp exact, s | pgmpy exact, s | largest difference |")
    print("|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
    for name in arguments.networks or known:
        print(row(name, *measured(known[name], arguments.seconds, arguments.memory)), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
