"""The same bits as the command line, and as the reference values of the tree."""

import gzip
import warnings

import numpy as np
import pytest
from conftest import DATA, marginals_of

import fastlbp
from fastlbp import BeliefPropagation, FactorGraph

FIXED = DATA / "golden" / "fixed"


def _lines(path):
    opened = gzip.open(path, "rt") if path.suffix == ".gz" else open(path)
    with opened as file:
        return [line.split() for line in file if line.strip() and line[0] != "#"]


@pytest.mark.parametrize("path", sorted(FIXED.glob("*.ref*")), ids=lambda path: path.name)
def test_golden_values(path):
    name, schedule, iterations = path.name.replace(".gz", "").replace(".ref", "").split(".")
    graph = FactorGraph.read(next(FIXED.glob(f"{name}.causal_fg*")))
    observed = list(FIXED.glob(f"{name}.obs"))
    bp = BeliefPropagation(graph, schedule, backend="cpu")
    if observed:
        bp.set_evidence(graph.read_evidence(observed[0]))
    bp.run(iterations=int(iterations), contradiction="vote")
    lines = _lines(path)
    assert lines
    for label, value, *_ in lines:
        wanted = float.fromhex(value) if value.startswith("0x") else float(value)
        assert bp.probability(int(label)) == pytest.approx(wanted, abs=1e-9), label


@pytest.mark.parametrize("schedule", ["PARALL", "SEQFIX", "TREE", "BLOCKS", "SEQRND", "SEQMAX"])
@pytest.mark.parametrize("options", [
    dict(iterations=7), dict(tolerance=1e-6), dict(bingo=(1e-6, 5, 20, 3)), dict(iterations=5, damping=0.25),
    dict(iterations=5, inference="max-product"), dict(tolerance=1e-3, active_threshold=1e-3),
], ids=str)
def test_bits_are_the_command_line_s(program, schedule, options, tmp_path):
    if schedule == "SEQMAX" and "active_threshold" in options:
        return
    path = FIXED / "smartfl_1000.causal_fg"
    graph = FactorGraph.read(path)
    label = int(graph.labels[17])
    (tmp_path / "evidence.obs").write_text(f"{label} 1\n")
    names = {"iterations": "--iterations", "tolerance": "--tolerance", "damping": "--damping", "bingo": "--bingo",
             "inference": "--inference", "active_threshold": "--active"}
    values = {"max-product": "max"}
    arguments = []
    for name, value in options.items():
        text = ",".join(map(str, value)) if isinstance(value, tuple) else values.get(value, value)
        arguments += [names[name], text]
    printed = program("infer", path, "--evidence", tmp_path / "evidence.obs", "--schedule", schedule, "--contradiction",
                      "vote", *arguments)
    bp = BeliefPropagation(graph, schedule)
    bp.observe(label, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fastlbp.FastlbpWarning)
        bp.run(contradiction="vote", **options)
    wanted = marginals_of(printed)
    assert list(wanted) == graph.labels.tolist()
    assert np.array_equal(np.array(list(wanted.values())), bp.probabilities())
    bp.graph.write_marginals(tmp_path / "written", bp.marginals())
    assert marginals_of((tmp_path / "written").read_text()) == wanted
