"""Arrays of every type, shape and stride: an exception or a result, never a crash. Memory stays flat."""

import gc
import os
import resource
import warnings

import hypothesis.extra.numpy as npst
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fastlbp
from fastlbp import BeliefPropagation, FactorGraph, FactorGraphBuilder

FINE = (fastlbp.Error, TypeError, ValueError, OverflowError)

anything = st.one_of(
    npst.arrays(npst.scalar_dtypes(), npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5)),
    npst.arrays(st.sampled_from([np.int64, np.uint64, np.int8]), npst.array_shapes(max_dims=1, max_side=6),
                elements=st.integers(0, 6)),
    npst.arrays(np.float64, npst.array_shapes(max_dims=2, max_side=6)),
    st.lists(st.integers(-2, 7), max_size=6),
    st.lists(st.lists(st.integers(-1, 3), max_size=3), max_size=3),
    st.sampled_from([None, "x", b"x", 7, -1, 1.5, float("nan"), 1 << 70, {}, {1: 1}, {1: [1, 2]}, object(),
                     np.ma.masked_array([1, 2], [True, False]), np.array(["a"]), np.array([None]),
                     np.array([(1, 2.0)], "i4,f8"), np.array([1, 2], object)]),
)


@st.composite
def views(draw):
    """Arrays with strides: reversed, every other entry, transposed, broadcast, byte-swapped, not writeable."""
    array = draw(anything)
    if not isinstance(array, np.ndarray) or array.ndim == 0 or array.dtype.names:
        return array
    kind = draw(st.integers(0, 6))
    if kind == 0:
        return array[::-1]
    if kind == 1:
        return array[::2]
    if kind == 2:
        return array.T
    if kind == 3:
        return np.broadcast_to(array, (2,) + array.shape)
    if kind == 4:
        return array.astype(array.dtype.newbyteorder())
    if kind == 5:
        array.flags.writeable = False
    return array


#: FASTLBP_EXAMPLES and FASTLBP_SESSIONS make a longer run; an acceptance run has 100,000 sessions.
SESSIONS = int(os.environ.get("FASTLBP_SESSIONS", "2000"))

many = settings(max_examples=int(os.environ.get("FASTLBP_EXAMPLES", "60")), deadline=None,
                suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def graph():
    return FactorGraph.from_pairwise(np.ones((4, 3)), [[0, 1], [1, 2], [2, 3]], np.eye(3) + 1)


GRAPH = graph()


def attempt(call, *arguments, **keywords):
    """Calls; checks that what is built can be run."""
    try:
        result = call(*arguments, **keywords)
    except FINE:
        return None
    if isinstance(result, FactorGraph):
        bp = BeliefPropagation(result, backend="cpu", threads=1)
        try:
            bp.run(iterations=2)
        except fastlbp.ContradictionError:
            return result
        assert bp.marginals().shape == (result.state_count,) and not np.isnan(bp.marginals()).any()
    return result


@many
@given(st.tuples(views(), views(), views(), views(), views()), st.integers(0, 5))
def test_tables(arrays, which):
    right = [[2, 2], [0, 1, 2], [0, 1], [0, 2, 4], [1.0, 2.0, 3.0, 4.0]]
    # One wrong array among right ones gets further than five wrong ones.
    if which < 5:
        right[which] = arrays[which]
        arrays = right
    attempt(FactorGraph.from_arrays, *arrays)


@many
@given(st.tuples(*[views()] * 6), st.integers(0, 6))
def test_rules(arrays, which):
    right = [[1, 2], [0, 1], [0, 0, 1], [0], [0.5, 0.5], [0.0, 0.5]]
    if which < 6:
        right[which] = arrays[which]
        arrays = right
    attempt(FactorGraph.from_horn_arrays, *arrays)


@many
@given(views(), views(), views())
def test_pairs(unary, edges, pairwise):
    attempt(FactorGraph.from_pairwise, unary, edges, pairwise)
    attempt(FactorGraph.from_pairwise, np.ones((3, 2)), [[0, 1]], pairwise)
    attempt(FactorGraph.from_pairwise, unary, [[0, 1]], [[1, 2], [3, 4]])
    attempt(FactorGraph.from_pairwise, np.ones((3, 2)), edges, [[1, 2], [3, 4]])


@many
@given(views(), views(), views())
def test_builders(one, two, three):
    builder = FactorGraphBuilder()
    for call, arguments in (
        (builder.add_variables, (one, two)),
        (builder.add_variable, (one, two)),
        (builder.add_prior, (one, two)),
        (builder.add_and, (1, one, 0.5)),
        (builder.add_or, (1, [2], two)),
        (builder.add_table, (one, two)),
        (builder.add_table, ([1, 2], two)),
        (builder.add_signed, (1, one, two, three)),
        (builder.add_signed, (1, [2, 3], two, [1, 2, 3, 4])),
        (builder.add_signed_and, (1, [2, 3], two, 0.5)),
        (builder.add_signed_factors, ([1], [0, 1], [2], [True], three)),
        (builder.add_clause, (one, two)),
        (builder.add_noisy, (1, [2], three, [1, 2, 3, 4])),
        (builder.add_noisy_or, (1, [2, 3], two)),
        (builder.add_noisy_and, (1, one, [0.5, 0.5])),
        (builder.add_terms, ([1, 2], one, two)),
        (builder.add_terms, ([1, 2], [1.0, 2.0], three)),
        (builder.add_missing_priors, (one,)),
    ):
        attempt(call, *arguments)
    # A variable of a label beyond 2^32 is one, but a table of a billion entries is none that a test should build.
    if builder.factor_count < 50:
        attempt(builder.build)


@many
@given(views(), views())
def test_sessions(one, two):
    bp = BeliefPropagation(GRAPH, backend="cpu", threads=1)
    for call, arguments in (
        (bp.set_evidence, (one,)), (bp.add_evidence, (two,)), (bp.observe, (0, one)), (bp.set_likelihood, (1, two)),
        (bp.set_messages, (one,)), (bp.restore_state, (one,)), (bp.log_score, (two,)), (bp.set_schedule, (one,)),
        (bp.factor_belief, (one,)), (bp.belief, (two,)), (bp.marginal, (one,)), (bp.clear_evidence, (two,)),
        (GRAPH.scope, (one,)), (GRAPH.index, (two,)), (FactorGraph.read, (one,)),
    ):
        # (`read` of a text that is a path of a file is none of these.)
        attempt(call, *arguments)
    bp.set_schedule("PARALL")
    bp.set_evidence(None)
    attempt(bp.run_batch, one, iterations=1)
    bp.run(iterations=1)


@many
@given(views(), views())
def test_runs(one, two):
    bp = BeliefPropagation(GRAPH, backend="cpu", threads=1)
    for name in ("iterations", "tolerance", "max_iterations", "bingo", "max_time", "contradiction", "inference",
                 "damping", "active_threshold", "progress", "warm"):
        options = {"max_iterations": 3, name: one} if name not in ("iterations", "bingo") else {name: one}
        if name == "iterations" and isinstance(one, (int, np.integer)) and one > 100:
            continue
        with warnings.catch_warnings():
            # That the time was up.
            warnings.simplefilter("ignore", fastlbp.FastlbpWarning)
            attempt(bp.run, **options)
    attempt(fastlbp.ExactInference, GRAPH, one)
    attempt(fastlbp.ExactInference, GRAPH, {}, table_limit=two)


def test_native_calls_check_their_arrays():
    """What Python's layer converts is checked once more where it is used."""
    native = BeliefPropagation(GRAPH)._native
    strided = np.zeros(24)[::2]
    for call in (
        lambda: native.set_messages(strided), lambda: native.set_messages(np.zeros(3, np.float32)),
        lambda: native.restore_state(np.zeros((2, 2), np.uint64)), lambda: native.joint_belief([-1]),
        lambda: native.observe((np.zeros(1, np.uint64), np.zeros(2, np.uint64), [])),
        lambda: native.run_batch(np.zeros((2, 3), np.int64), None, None), lambda: native.factor_belief(1 << 63),
    ):
        with pytest.raises(FINE):
            call()


def _resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def test_memory_is_flat():
    """Graphs, sessions, runs, failures and results of them, again and again."""

    def once():
        own = graph()
        bp = BeliefPropagation(own, "SEQFIX", backend="cpu", threads=1)
        bp.set_evidence({0: 1, 1: [1.0, 2.0, 3.0]})
        bp.run(iterations=2, progress=lambda _: None, trace=False)
        kept = bp.marginals(), bp.messages(), bp.save_state(), own.labels, bp.copy()
        for wrong in (lambda: bp.observe(99, 1), lambda: bp.run(damping=2.0), lambda: FactorGraph.read(b"x", format="fg")):
            with pytest.raises(fastlbp.Error):
                wrong()
        del kept

    for _ in range(300):
        once()
    before = _resident()
    for _ in range(SESSIONS):
        once()
    grown = _resident() - before
    # A leak of the smallest of these objects, 64 bytes each time, is more than that.
    assert grown < max(1 << 20, 32 * SESSIONS), f"{grown} bytes for {SESSIONS} sessions"
