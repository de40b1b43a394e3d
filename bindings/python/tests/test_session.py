"""Sessions: evidence, runs, results, batches, callbacks, threads, pickling."""

import gc
import pickle
import signal
import threading
import time
import warnings

import numpy as np
import pytest

import fastlbp
from fastlbp import BeliefPropagation, ExactInference, FactorGraph


def grid(side, strength=0.3, seed=7):
    """An Ising grid with cycles."""
    random = np.random.default_rng(seed)
    index = np.arange(side * side).reshape(side, side)
    edges = np.concatenate([np.stack([index[:, :-1].ravel(), index[:, 1:].ravel()], 1),
                            np.stack([index[:-1].ravel(), index[1:].ravel()], 1)])
    tables = np.exp(random.normal(0, strength, (len(edges), 2, 2)))
    return FactorGraph.from_pairwise(np.exp(random.normal(0, strength, (side * side, 2))), edges, tables)


def test_a_tree_is_exact(alarms):
    bp = BeliefPropagation(alarms, "TREE", backend="cpu")
    for evidence in ({}, {20: 1}, {20: 1, 1: [0.5, 1.0]}, {10: 0, 20: 1}):
        bp.set_evidence(evidence)
        assert bp.run().converged
        exact = ExactInference(alarms, evidence)
        np.testing.assert_allclose(bp.marginals(), exact.marginals(), rtol=0, atol=1e-15)
        np.testing.assert_allclose(bp.log_partition(), exact.log_partition(), rtol=0, atol=1e-13)
        bp.run(inference="max-product")
        best = ExactInference(alarms, evidence, inference="max-product")
        assert bp.log_score(bp.find_maximum()) == pytest.approx(best.log_partition(), abs=1e-12)
        assert bp.log_score(best.find_maximum()) == pytest.approx(best.log_partition(), abs=1e-12)


def test_results(mixed):
    bp = BeliefPropagation(mixed)
    with pytest.raises(fastlbp.NoResultError):
        bp.marginals()
    assert bp.report is None
    report = bp.run(tolerance=1e-13)
    assert report == bp.report and report.reason == "converged" and "trace" not in repr(report)
    marginals = bp.marginals()
    assert marginals.shape == (mixed.state_count,) and not marginals.flags.writeable
    assert bp.marginal(50).shape == (3,) and bp.marginal(50).sum() == pytest.approx(1)
    assert bp.marginal(50).base is not None
    last = mixed.factor_count - 1
    belief = bp.factor_belief(last)
    assert belief.shape == (2, 3)  # variables 2 and 50, by label
    np.testing.assert_allclose(belief.sum(axis=0), bp.marginal(50), atol=1e-12)
    np.testing.assert_allclose(belief.T, bp.belief([50, 2]), atol=1e-15)
    for wrong in (lambda: bp.factor_belief(99), lambda: bp.probability(50, 3), lambda: bp.marginal(99)):
        with pytest.raises(fastlbp.OutOfRangeError):
            wrong()
    for wrong in (lambda: bp.belief([50, 1]), lambda: bp.belief([2, 2]), lambda: bp.probabilities()):
        with pytest.raises(fastlbp.Error):
            wrong()


def test_marginals_are_the_library_s_memory_and_stay(alarms):
    bp = BeliefPropagation(alarms, "TREE")
    bp.run()
    first = bp.marginals()
    again = bp.marginals()
    assert np.shares_memory(first, again) and np.shares_memory(first, bp.probabilities())
    kept = first.copy()
    for state in (0, 1, 0, 1):
        bp.observe(20, state)
        bp.run()
        assert (first == kept).all()
        assert not np.shares_memory(first, bp.marginals())
    same = bp.copy()
    assert (same.marginals() == bp.marginals()).all()
    last = bp.marginals()
    values = last.copy()
    del bp, same
    gc.collect()
    assert (last == values).all()
    with pytest.raises(ValueError):
        last.flags.writeable = True


def test_marginals_of_a_million_variables_are_not_copied():
    count = 10**6
    heads = np.arange(count, dtype=np.uint64)
    none = np.zeros(0, np.uint64)
    p = np.linspace(0, 1, count)
    graph = fastlbp.FactorGraph.from_horn_arrays(np.full(count, fastlbp.FactorKind.PRIOR, np.uint8), heads,
                                                 np.zeros(count + 1, np.uint64), none, p, np.zeros(count))
    bp = BeliefPropagation(graph, "TREE", backend="cpu")
    bp.run()
    marginals, again, ones = bp.marginals(), bp.marginals(), bp.probabilities()
    for array in (marginals, again, ones):
        assert not array.flags.owndata
    assert marginals.ctypes.data == again.ctypes.data == ones.ctypes.data - marginals.itemsize
    last = bp.marginal(count - 1)
    assert last.ctypes.data == marginals.ctypes.data + 2 * (count - 1) * marginals.itemsize
    np.testing.assert_allclose(ones, p, atol=1e-15)


def test_evidence(alarms):
    bp = BeliefPropagation(alarms)
    bp.set_evidence([-1, 1, -1, -1, 0])
    assert bp.evidence == {2: 1, 20: 0}
    bp.add_evidence({1: True})
    bp.clear_evidence(2)
    assert bp.evidence == {1: 1, 20: 0}
    bp.set_likelihood(10, (1, 2))
    assert bp.evidence[10].tolist() == [1, 2]
    bp.clear_evidence()
    assert bp.evidence == {}
    bp.observe(1, 0)
    for wrong in ({1: 2}, {1: -1}, {1: "x"}, {99: 0}, {1: [1, 2, 3]}, {1: [-1, 2]}, {1: [0, 0]}, {1: 0.5}, [0, 1],
                  [0, 1, 2, 0, 0], [-2, 0, 0, 0, 0], np.zeros((5, 1)), {1: None}, {2: 1, 1: [np.nan, 1]}, 7, "x"):
        for call in (bp.set_evidence, bp.add_evidence):
            with pytest.raises((fastlbp.Error, TypeError)):
                call(wrong)
        assert bp.evidence == {1: 0}


def test_runs(alarms):
    loopy = grid(5)
    bp = BeliefPropagation(loopy, "PARALL", backend="cpu")
    assert bp.run(iterations=3).iterations == 3
    first = bp.marginals()
    bp.run(iterations=1)
    warm = bp.run(iterations=2, warm=True)
    assert (warm.iterations, warm.total_iterations) == (2, 3) and (bp.marginals() == first).all()
    bingo = bp.run(bingo=fastlbp.Bingo(1e-12, 5, 10, 3))
    assert bingo.iterations <= 11
    assert bp.run(damping=0.5).converged and bp.run(all_beliefs=True).converged
    assert bp.run(active_threshold=0.0).spared_messages >= 0
    with pytest.warns(fastlbp.FastlbpWarning, match="time was up"):
        assert bp.run(max_time=0.0, tolerance=0.0).reason == "time"
    for options in (dict(iterations=-1), dict(iterations=1.5), dict(tolerance=-1.0), dict(damping=1.0),
                    dict(damping=float("nan")), dict(iterations=1, tolerance=1e-9), dict(bingo=(1e-6, 5, 1, 1)),
                    dict(bingo=(1e-6, 1, 5, 0)), dict(contradiction="x"), dict(inference="x"), dict(max_time=-1.0),
                    dict(active_threshold=0.0, damping=0.5), dict(iterations=1 << 64), dict(bingo=(1, 2)),
                    dict(max_time=float("nan"))):
        with pytest.raises((fastlbp.Error, ValueError)):
            bp.run(**options)


def test_schedules(alarms):
    wanted = None
    for name in ("PARALL", "SEQFIX", "SEQRND", "BLOCKS", "TOPO", "FWDBWD", "TREE", "SEQMAX"):
        bp = BeliefPropagation(alarms, name, seed=3, blocks=2)
        assert bp.schedule == name
        bp.run(tolerance=1e-14)
        wanted = bp.marginals() if wanted is None else wanted
        np.testing.assert_allclose(bp.marginals(), wanted, atol=1e-12)
    ranks = np.arange(alarms.edge_count)
    custom = BeliefPropagation(alarms, ranks)
    fixed = BeliefPropagation(alarms, "SEQFIX")
    custom.run(iterations=2)
    fixed.run(iterations=2)
    assert custom.schedule == "CUSTOM" and (custom.marginals() == fixed.marginals()).all()
    assert fixed.level_widths().sum() == alarms.edge_count
    fixed.set_schedule("PARALL")
    assert fixed.level_widths().tolist() == [alarms.edge_count]
    for wrong in ("x", ranks[1:], ranks - 5, ranks.astype(float), [ranks]):
        with pytest.raises(fastlbp.Error):
            BeliefPropagation(alarms, wrong)
    for options in (dict(backend="x"), dict(threads=0), dict(threads=-1), dict(device=-1), dict(device=[]),
                    dict(device=[0, 0]), dict(device=[0, 64]), dict(blocks=-1), dict(seed=1 << 64), dict(threads=1 << 40)):
        with pytest.raises(fastlbp.Error):
            BeliefPropagation(alarms, "BLOCKS", **options).run()
    with pytest.raises(fastlbp.Error):
        BeliefPropagation("graph")


def test_contradictions(alarms):
    bp = BeliefPropagation(alarms, "TREE")
    bp.set_evidence({10: 0, 11: 0, 20: 1})
    with pytest.raises(fastlbp.ContradictionError) as error:
        bp.run()
    assert error.value.status == "CONTRADICTION" and error.value.factor == 4 and "20" in str(error.value) or \
        error.value.label in (10, 11, 20)
    with pytest.raises(fastlbp.ContradictionError):
        pickle.loads(pickle.dumps(error.value)).args and (_ for _ in ()).throw(error.value)
    with pytest.raises(fastlbp.ContradictionError):
        ExactInference(alarms, {10: 0, 11: 0, 20: 1})
    # Deterministic messages that disagree.
    builder = fastlbp.FactorGraphBuilder()
    builder.add_prior(1, 1.0)
    builder.add_prior(1, 0.0)
    bp = BeliefPropagation(builder.build())
    with pytest.raises(fastlbp.ContradictionError):
        bp.run()
    with pytest.warns(fastlbp.FastlbpWarning, match="variable 1"):
        assert bp.run(contradiction="vote").contradictions == 1


def test_batches(alarms):
    bp = BeliefPropagation(alarms, "TREE")
    rows = np.array([[-1, -1, -1, -1, -1], [-1, -1, -1, -1, 1], [0, -1, 1, -1, -1], [-1, 1, -1, -1, 1]])
    bp.observe(1, 1)
    seen = []
    results = bp.run_batch(rows, progress=lambda done, of: seen.append((done, of)))
    assert seen == [(n, 4) for n in range(1, 5)] and bp.evidence == {1: 1} and bp.report is None
    assert results.marginals.shape == (4, alarms.state_count)
    for row, marginals in zip(rows, results.marginals):
        single = BeliefPropagation(alarms, "TREE")
        single.set_evidence(row)
        try:
            single.run()
            assert (single.marginals() == marginals).all()
        except fastlbp.ContradictionError:
            assert np.isnan(marginals).all()
    assert isinstance(results.reports[2], fastlbp.ContradictionError)
    with pytest.raises(fastlbp.ContradictionError):
        results.raise_first()
    dicts = bp.run_batch([{}, {20: 1}, {20: [1, 3]}]).raise_first()
    assert (dicts.marginals[:2] == results.marginals[:2]).all()
    assert bp.run_batch([]).marginals.shape == (0, alarms.state_count)
    ended = bp.run_batch(rows, progress=lambda done, of: False)
    assert isinstance(ended.reports[-1], (fastlbp.NoResultError, fastlbp.RunReport))
    for wrong in (rows[0], rows[:, 1:], rows - 5, rows + 7, rows.astype(float), {20: 1}, [5], np.zeros((2, 2, 2))):
        with pytest.raises((fastlbp.Error, TypeError)):
            bp.run_batch(wrong)
    for options in (dict(warm=True), dict(trace=True)):
        with pytest.raises(fastlbp.Error):
            bp.run_batch(rows, **options)


def test_progress(alarms):
    bp = BeliefPropagation(grid(6), backend="cpu")
    seen = []
    report = bp.run(iterations=5, progress=seen.append)
    assert [one.iterations for one in seen] == [1, 2, 3, 4, 5] and seen[0].max_iterations == 5
    ended = bp.run(iterations=50, progress=lambda progress: progress.iterations < 7)
    assert (ended.iterations, ended.reason) == (7, "cancelled") and report.iterations == 5

    def fails(progress):
        raise KeyError("of the callback")

    with pytest.raises(KeyError, match="of the callback"):
        bp.run(iterations=5, progress=fails)
    with pytest.raises(TypeError):
        bp.run(iterations=5, progress=7)

    def again(progress):
        bp.run()

    with pytest.raises(fastlbp.BusyError):
        bp.run(iterations=5, progress=again)
    assert bp.run(iterations=1).iterations == 1


def test_traces():
    bp = BeliefPropagation(grid(6), backend="cpu")
    bp.run(iterations=4)
    plain = bp.marginals()
    report = bp.run(iterations=4, trace=True)
    assert (bp.marginals() == plain).all()
    trace = report.trace
    assert list(trace["iteration"]) == [1, 2, 3, 4] and (np.diff(trace["seconds"]) >= 0).all()
    assert (np.asarray(trace["largest_change"]) > 0).all() and list(trace["contradictions"]) == [0] * 4
    try:
        import pandas
    except ImportError:
        assert trace.dtype.names[0] == "iteration"
    else:
        assert isinstance(trace, pandas.DataFrame)


def test_sessions_are_pickled():
    graph = grid(6)
    for schedule in ("PARALL", "SEQMAX", "SEQRND", np.arange(graph.edge_count) // 7):
        bp = BeliefPropagation(graph, schedule, backend="cpu", threads=1)
        bp.set_evidence({3: 1, 4: [1.0, 0.25]})
        bp.run(iterations=3, damping=0.25)
        copy = pickle.loads(pickle.dumps(bp))
        assert (copy.messages() == bp.messages()).all() and copy.schedule == bp.schedule
        assert copy.evidence[3] == 1 and copy.evidence[4].tolist() == [1.0, 0.25]
        for session in (bp, copy):
            session.run(iterations=3, damping=0.25, warm=True)
        assert (copy.marginals() == bp.marginals()).all()
    other = BeliefPropagation(grid(5))
    for wrong in (bp.save_state(), bp.save_state()[:3], np.zeros(9), np.array([-1])):
        with pytest.raises(fastlbp.Error):
            other.restore_state(wrong)
    bp.set_messages(np.ones_like(bp.messages()))
    with pytest.raises(fastlbp.InvalidArgumentError):
        bp.set_messages(np.zeros_like(bp.messages()))


def test_threads_run_at_once_and_give_the_same_bits():
    graph = grid(60)
    wanted = BeliefPropagation(graph, backend="cpu", threads=1)
    wanted.run(iterations=30)
    results, failures = [], []

    def work():
        try:
            bp = BeliefPropagation(graph, backend="cpu", threads=1)
            bp.run(iterations=30)
            results.append(bp.marginals())
        except BaseException as error:  # noqa: B036
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and len(results) == 6
    assert all((one == wanted.marginals()).all() for one in results)


def test_other_threads_run_and_are_told_that_a_session_is_busy():
    bp = BeliefPropagation(grid(80), backend="cpu", threads=1)
    started, stop = threading.Event(), threading.Event()

    def progress(_):
        started.set()
        return not stop.is_set()

    worker = threading.Thread(target=lambda: bp.run(tolerance=0.0, max_iterations=10**9, progress=progress))
    worker.start()
    try:
        assert started.wait(60)
        for call in (bp.marginals, bp.reset, lambda: bp.observe(1, 1), bp.save_state, lambda: bp.run(), bp.copy):
            with pytest.raises(fastlbp.BusyError):
                call()
    finally:
        stop.set()
        worker.join()
    assert bp.marginals().shape == (2 * 6400,)


@pytest.fixture
def interruptible():
    """The signal of Ctrl-C raises KeyboardInterrupt, also where whoever started the tests has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_control_c_ends_a_run(interruptible):
    bp = BeliefPropagation(grid(80), backend="cpu", threads=1)
    main = threading.main_thread().ident
    timer = threading.Timer(0.5, lambda: signal.pthread_kill(main, signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        bp.run(tolerance=0.0, max_iterations=10**9)
    assert time.monotonic() - began < 30
    timer.join()
    bp.run(iterations=1)
    rows = np.full((10**4, bp.graph.variable_count), -1)
    timer = threading.Timer(0.5, lambda: signal.pthread_kill(main, signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        bp.run_batch(rows, iterations=10**4)
    timer.join()


def test_devices():
    devices = fastlbp.devices()
    assert bool(devices) == (fastlbp.why_no_device() is None)
    if not devices:
        with pytest.raises(fastlbp.NoDeviceError):
            BeliefPropagation(grid(3), backend="cuda").run()
        with pytest.raises(fastlbp.NoDeviceError):
            fastlbp.start_device()
        with pytest.raises(fastlbp.InvalidArgumentError):
            fastlbp.start_device(1 << 32)
    else:
        fastlbp.start_device()
        with pytest.raises(fastlbp.OutOfRangeError):
            fastlbp.start_device(len(devices))
        cuda, cpu = BeliefPropagation(grid(30), backend="cuda"), BeliefPropagation(grid(30), backend="cpu")
        cuda.run(iterations=20)
        cpu.run(iterations=20)
        assert cuda.backend == "cuda" and (cuda.marginals() == cpu.marginals()).all()


def test_no_warning_where_there_is_nothing_to_be_told(alarms):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BeliefPropagation(alarms, backend="cpu").run()
