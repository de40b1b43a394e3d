"""No call keeps a reference: what is alive after many calls is what was alive before, by the number of blocks that objects
have, and by the references to what calls are given and give.

A debug build of Python runs the same (scripts/test-python --debug), and finds objects that are used after they are freed. Its
count of all references is of no use: NumPy, which is built without it, changes it in every call.
"""

import gc
import io
import pickle
import sys
import warnings

import numpy as np
import pytest

import fastlbp
from fastlbp import BeliefPropagation, ExactInference, FactorGraph, FactorGraphBuilder, FactorKind, Inspection
from fastlbp._run import request

CALLS, MOST = 50, 40

GRAPH = FactorGraph.from_pairwise(np.ones((4, 2)), [[0, 1], [1, 2], [2, 3]], [[2, 1], [1, 2]])
NAMED = GRAPH.with_names(["a", "b", "c", "d"], [["no", "yes"]] * 4)
SESSION = BeliefPropagation(NAMED, "TREE", backend="cpu", threads=1)
SESSION.run()
STATE, MESSAGES, TEXT = SESSION.save_state(), SESSION.messages(), GRAPH.to_bytes("uai")
ROWS = np.full((3, 4), -1)
WORDS = np.arange(5, dtype=np.uint64)
# (Some versions of NumPy keep references to their types in `ones` and `zeros`.)
ONES, THREE, PAIRS = np.ones((4, 2)), np.array([1.0, 2.0, 3.0]), np.array([[2.0, 1.0], [1.0, 2.0]])
TRACED = request(iterations=2, trace=True)

WATCHED = [
    GRAPH, NAMED, SESSION, STATE, MESSAGES, TEXT, ROWS, WORDS, GRAPH._native, NAMED._native, SESSION._native, None, True,
    False, FactorGraph, BeliefPropagation, fastlbp.RunReport, fastlbp.Progress, fastlbp.InvalidArgumentError, np.ndarray,
    *map(type, (GRAPH._native, SESSION._native)), *map(np.dtype, ("u1", "u4", "i4", "u8", "i8", "f8", "bool")),
]


def builder():
    made = FactorGraphBuilder(GRAPH)
    made.add_variables([70, 80], [3, 2])
    made.add_prior(1, 0.5)
    made.add_and(1, [2, 3], 0.5, 0.25)
    made.add_or(1, [2, 3])
    made.add_table([1, 2], [[1, 2], [3, 4]])
    made.add_signed(1, [2], [True], [1, 2, 3, 4])
    made.add_signed_and(1, [2], [True], 0.5)
    made.add_clause([1, 2], [True, False])
    made.add_noisy(1, [2], [[[0.5, 0.5], [1, 0]]], [1, 2, 3, 4])
    made.add_noisy_or(1, [2], [0.5])
    made.add_terms([1, 70], [1.0, 2.0], [[0, 1], [-1, 2]])
    return made.build()


def inspection():
    inspected = Inspection(SESSION, [("a", "first"), "b"], bingo=(1e-6, 1, 5, 2))
    inspected.answer("a", True)
    inspected.undo()
    return inspected.order(), inspected.answers(), inspected.explain("b"), inspected.marginals(), inspected.report


def evidence():
    SESSION.set_evidence({"a": "yes", "b": [1.0, 2.0]})
    SESSION.add_evidence({"c": 0})
    known = SESSION.evidence
    SESSION.set_evidence(np.array([0, -1, 1, -1]))
    SESSION.clear_evidence("a")
    SESSION.clear_evidence()
    return known


def callbacks():
    SESSION.run(iterations=3, progress=lambda progress: progress.iterations < 2)
    SESSION.run_batch(ROWS, iterations=1, progress=lambda done, _: done < 2)


def failing_callback():
    def fail(_):
        raise KeyError("x")

    SESSION.run(iterations=2, progress=fail)


def warned():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        SESSION.run(max_time=0.0, tolerance=0.0)


WORKING = {
    "from_arrays": lambda: FactorGraph.from_arrays([2, 3], [0, 1, 3], [0, 0, 1], [0, 2, 8], ONES.ravel()),
    "from_horn_arrays": lambda: FactorGraph.from_horn_arrays([FactorKind.PRIOR], [1], [0, 0], [], [0.5], [0.0]),
    "from_pairwise": lambda: FactorGraph.from_pairwise(ONES, [[0, 1]], PAIRS),
    "builder": builder,
    "read": lambda: (FactorGraph.read(TEXT, format="uai"), FactorGraph.read(io.BytesIO(TEXT), format="uai")),
    "write": lambda: (GRAPH.to_bytes("fg"), GRAPH.write(io.BytesIO(), format="uai")),
    "files": lambda: (NAMED.read_evidence(b"1 0\n"), NAMED.read_soft_evidence(b"1 1 2\n"), NAMED.read_marked(b"1 x 1\n"),
                      NAMED.read_dictionary(b"1: x\n")),
    "parts": lambda: (GRAPH.labels, GRAPH.cardinalities, GRAPH.edge_variables, GRAPH.edge_factors, GRAPH.factor_offsets,
                      GRAPH.factor_kinds, GRAPH.scope(4), NAMED.index("b"), NAMED.describe(1), NAMED.state(1, "yes")),
    "names": lambda: GRAPH.with_names(["w", "x", "y", "z"], [["no", "yes"]] * 4),
    "compare": lambda: GRAPH == FactorGraph.read(TEXT, format="uai"),
    "pickle": lambda: pickle.loads(pickle.dumps((NAMED, SESSION))),
    "session": lambda: BeliefPropagation(GRAPH, "SEQFIX", backend="cpu", threads=1).copy(),
    "ranks": lambda: BeliefPropagation(GRAPH, np.arange(GRAPH.edge_count), backend="cpu").level_widths(),
    "run": lambda: SESSION.run(iterations=2),
    # (A table of NumPy or pandas keeps blocks of its own.)
    "trace": lambda: SESSION._native.run(TRACED, None),
    "warning": warned,
    "batch": lambda: SESSION.run_batch(ROWS, iterations=1).marginals,
    "callbacks": callbacks,
    "evidence": evidence,
    "results": lambda: (SESSION.marginals(), SESSION.marginal("a"), SESSION.probabilities(), SESSION.probability("a", "yes"),
                        SESSION.factor_belief(5), SESSION.belief(["b", "a"]), SESSION.log_partition(), SESSION.report,
                        SESSION.log_score([0, 0, 0, 0]), SESSION.messages(), SESSION.save_state(), repr(SESSION)),
    "messages": lambda: (SESSION.set_messages(MESSAGES), SESSION.restore_state(STATE), SESSION.reset()),
    "exact": lambda: (lambda exact: (exact.marginals(), exact.belief(["a", "b"]), exact.log_partition()))(
        ExactInference(NAMED, {"a": 1})),
    "maximum": lambda: ExactInference(NAMED, inference="max-product").find_maximum(),
    "inspection": inspection,
    "locate": lambda: fastlbp.locate(SESSION, ["a", "b"], at_fault=["b"]),
    "devices": lambda: (fastlbp.devices(), fastlbp.why_no_device()),
}

FAILING = {
    "wrong offsets": lambda: FactorGraph.from_arrays([2], [0, 2], [0], [0, 2], [1, 1]),
    "wrong values": lambda: FactorGraph.from_arrays([2], [0, 1], [0], [0, 2], [1, float("nan")]),
    "wrong type": lambda: FactorGraph.from_arrays([2], [0, 1], [0], [0, 2], ["a", "b"]),
    "wrong text": lambda: FactorGraph.read(b"x", format="fg"),
    "no file": lambda: FactorGraph.read("/no/such.fg"),
    "wrong variable": lambda: SESSION.observe("nobody", 1),
    "wrong state": lambda: SESSION.observe("a", 7),
    "wrong option": lambda: SESSION.run(damping=2.0),
    "wrong likelihood": lambda: SESSION.set_likelihood("a", [0, 0]),
    "wrong schedule": lambda: BeliefPropagation(GRAPH, WORDS),
    "wrong messages": lambda: SESSION.set_messages(THREE),
    "wrong state of messages": lambda: SESSION.restore_state(WORDS),
    "wrong batch": lambda: SESSION.run_batch(ROWS + 9, iterations=1),
    "callback": failing_callback,
    "contradiction": lambda: ExactInference(FactorGraph.from_horn_arrays([1, 1], [1, 1], [0, 0, 0], [], [0, 1], [0, 0])),
}


def counts():
    gc.collect()
    return np.array([sys.getallocatedblocks(), *map(sys.getrefcount, WATCHED)])


def growth(call):
    before = counts()
    for _ in range(CALLS):
        call()
    return (counts() - before).max()


@pytest.mark.parametrize("name", [*WORKING, *FAILING])
def test_a_call_keeps_no_reference(name):
    call = WORKING.get(name)
    if call is None:
        def call():
            try:
                FAILING[name]()
            except (fastlbp.Error, KeyError):
                return
            raise AssertionError("it does not fail")
    for _ in range(10):
        call()
    # Counts may move a little by themselves; what is kept would be kept by each call, in each round.
    grown = [growth(call)]
    while grown[-1] >= MOST and len(grown) < 6:
        grown.append(growth(call))
    assert grown[-1] < MOST, f"{name}: {grown} more after {CALLS} calls each"


def test_what_is_kept_is_found():
    kept = []
    assert growth(lambda: kept.append(object())) >= MOST
    assert growth(lambda: kept.append(GRAPH)) >= MOST
