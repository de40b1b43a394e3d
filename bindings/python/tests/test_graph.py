"""Graphs: building, reading, writing, contents, pickling."""

import gzip
import io
import pickle

import numpy as np
import pytest
from conftest import DATA

import fastlbp
from fastlbp import FactorGraph, FactorGraphBuilder, FactorKind

TWO = dict(cardinalities=[2, 3], scope_offsets=[0, 1, 3], scopes=[0, 1, 0], value_offsets=[0, 2, 8],
           values=[0.25, 0.75, 1, 2, 3, 4, 5, 6])


def test_from_arrays_is_the_builder_s_graph():
    graph = FactorGraph.from_arrays(**TWO)
    builder = FactorGraphBuilder()
    builder.add_variables([0, 1], [2, 3])
    builder.add_table([0], [0.25, 0.75])
    builder.add_table([1, 0], np.array([[1, 4], [2, 5], [3, 6]]))
    assert graph == builder.build()
    assert graph.scope(1) == ((0, 1), None)
    assert graph.state_offsets.tolist() == [0, 2, 5]
    assert graph.factor_offsets.tolist() == [0, 1, 3]
    assert graph.edge_factors.tolist() == [0, 1, 1] and graph.edge_variables.tolist() == [0, 0, 1]


def test_every_type_of_numbers_gives_the_same_graph():
    wanted = FactorGraph.from_arrays(**TWO)
    for whole in (np.int8, np.uint8, np.int32, np.int64, np.uint64, ">i4", ">u8"):
        for real in (np.float16, np.float32, np.float64, ">f8"):
            arrays = {name: np.array(values, real if name == "values" else whole) for name, values in TWO.items()}
            assert FactorGraph.from_arrays(**arrays) == wanted
    strided = {name: np.repeat(np.array(values), 3)[::3] for name, values in TWO.items()}
    reversed_ = {name: np.array(values)[::-1].copy()[::-1] for name, values in TWO.items()}
    assert FactorGraph.from_arrays(**strided) == wanted == FactorGraph.from_arrays(**reversed_)


@pytest.mark.parametrize("name, value, error", [
    ("scopes", [0, 2, 0], fastlbp.OutOfRangeError),
    ("scopes", [0, -1, 0], fastlbp.InvalidArgumentError),
    ("scopes", [0.0, 1.0, 0.0], fastlbp.InvalidArgumentError),
    ("scopes", [0, 0, 0], fastlbp.InvalidArgumentError),
    ("scopes", [[0, 1, 0]], fastlbp.InvalidArgumentError),
    ("scopes", ["a", "b", "c"], fastlbp.InvalidArgumentError),
    ("scope_offsets", [0, 1], fastlbp.InvalidArgumentError),
    ("scope_offsets", [], fastlbp.InvalidArgumentError),
    ("scope_offsets", [0, 3, 1], fastlbp.InvalidArgumentError),
    ("value_offsets", [0, 2, 2**63], fastlbp.InvalidArgumentError),
    ("values", [0.25, 0.75, 1, 2, 3, 4, 5, np.nan], fastlbp.InvalidArgumentError),
    ("values", [0.25, 0.75, 1, 2, 3, 4, 5, -1.0], fastlbp.InvalidArgumentError),
    ("values", [0.0, 0.0, 1, 2, 3, 4, 5, 6], fastlbp.InvalidArgumentError),
    ("values", 1.0, fastlbp.InvalidArgumentError),
    ("values", [1j] * 8, fastlbp.InvalidArgumentError),
    ("cardinalities", [2, 0], fastlbp.InvalidArgumentError),
    ("cardinalities", [2, 2**40], fastlbp.LimitExceededError),
    ("cardinalities", [[1], [2, 3]], fastlbp.InvalidArgumentError),
])
def test_wrong_arrays_are_refused(name, value, error):
    with pytest.raises(error):
        FactorGraph.from_arrays(**{**TWO, name: value})


def test_pairwise_tables_are_not_transposed():
    table = np.array([[1, 2], [3, 4]])
    graph = FactorGraph.from_pairwise(np.ones((3, 2)), [[2, 0], [0, 1]], table)
    builder = FactorGraphBuilder()
    builder.add_variables([0, 1, 2], [2, 2, 2])
    for variable in range(3):
        builder.add_table([variable], [1, 1])
    builder.add_table([2, 0], table)
    builder.add_table([0, 1], table)
    assert graph == builder.build()
    assert graph == FactorGraph.from_pairwise(np.ones((3, 2)), [[2, 0], [0, 1]], [table, table])
    with pytest.raises(fastlbp.InvalidArgumentError, match="shape"):
        FactorGraph.from_pairwise(np.ones((3, 2)), [[2, 0]], np.ones((3, 3)))


def test_a_call_that_fails_adds_nothing(mixed):
    builder = FactorGraphBuilder(mixed)
    before = builder.factor_count
    for wrong in (
        lambda: builder.add_prior(1, 1.5),
        lambda: builder.add_table([1, 2], [1, 2, 3, float("inf")]),
        lambda: builder.add_tables([0, 1, 2], [1, 2], [0, 2, 4], [1, 1, 0, 0]),
        lambda: builder.add_signed(1, [2], [True, False], [1, 1, 1, 1]),
        lambda: builder.add_signed_factors([1], [0, 1], [2], [True], [[1, 1]]),
        lambda: builder.add_noisy(1, [2], np.ones((1, 2, 3)), [1, 1, 1, 1]),
        lambda: builder.add_noisy_or(1, [2, 3], [0.5]),
        lambda: builder.add_terms([1], [1.0], [[0, 1]]),
        lambda: builder.add_clause([], []),
        lambda: builder.add_horn_factors([FactorKind.TERMS], [1], [0, 0], [], [0.5], [0.5]),
        lambda: builder.add_horn_factors([77], [1], [0, 0], [], [0.5], [0.5]),
        lambda: builder.add_prior(-1, 0.5),
        lambda: builder.add_noisy_or(1 << 64, [2], [0.5]),
    ):
        with pytest.raises((fastlbp.Error, TypeError)):
            wrong()
        assert builder.factor_count == before
    assert builder.build() == mixed


def test_graphs_are_pickled(mixed, alarms):
    names = FactorGraph.read(DATA / "graphs" / "bif" / "cancer.bif") if (DATA / "graphs/bif/cancer.bif").exists() else alarms
    for graph in (mixed, alarms, names, alarms.with_names([f"v{label}" for label in alarms.labels])):
        copy = pickle.loads(pickle.dumps(graph))
        assert copy == graph and copy is not graph and hash(copy) == hash(graph)
    assert mixed != alarms and mixed != "graph"
    assert set(mixed.factor_kinds.tolist()) == {0, 1, 2, 3, 4, 5, 6}


def test_parts_that_do_not_belong_together_are_refused(mixed):
    labels, cards, kinds, heads, scopes, floats, integers = mixed._native.parts()
    native = type(mixed._native)
    none = (np.zeros(0), np.zeros(0, np.uint64))
    for parts in (
        (labels, cards, kinds, heads[:1], scopes, floats, integers),
        (labels, cards, kinds + 100, heads, scopes, floats, integers),
        (labels, cards, kinds, heads - 100, scopes, floats, integers),
        (labels, cards, kinds, heads + 100, scopes, floats, integers),
        (labels, cards, kinds, heads, scopes, none, integers),
        (labels, cards, kinds, heads, (scopes[0], scopes[1][::-1].copy()), floats, integers),
        (labels, cards, kinds, heads, scopes, (floats[0], floats[1] + np.uint64(1)), integers),
        (labels, cards, kinds, heads, scopes, floats, (integers[0] + 2**40, integers[1])),
    ):
        with pytest.raises((fastlbp.Error, TypeError)):
            native.from_parts(*parts)


@pytest.mark.parametrize("suffix", ["causal_fg", "fg", "uai"])
def test_files_are_read_and_written(alarms, tmp_path, suffix):
    graph = FactorGraph.read(alarms.to_bytes(suffix), format=suffix)
    for name in (f"graph.{suffix}", f"graph.{suffix}.gz"):
        path = tmp_path / name
        graph.write(path)
        assert FactorGraph.read(path) == FactorGraph.read(str(path)) == graph
        with open(path, "rb") as file:
            assert FactorGraph.read(file) == graph
        assert FactorGraph.read(path.read_bytes(), format=suffix) == graph
    text = graph.to_bytes(suffix)
    assert FactorGraph.read(io.BytesIO(text), format=suffix) == graph
    assert FactorGraph.read(io.StringIO(text.decode()), format=suffix) == graph
    assert FactorGraph.read(io.BytesIO(gzip.compress(text)), format=suffix) == graph
    target = io.BytesIO()
    graph.write(target, format=suffix)
    assert target.getvalue() == text


def test_errors_of_files_say_which(tmp_path, alarms):
    missing = tmp_path / "none.fg"
    with pytest.raises(FileNotFoundError) as error:
        FactorGraph.read(missing)
    assert isinstance(error.value, fastlbp.FileError) and error.value.status == "IO"
    assert error.value.filename == str(missing) and error.value.errno == 2
    with pytest.raises(fastlbp.FileError):
        FactorGraph.read(tmp_path / "directory.fg" if (tmp_path / "directory.fg").mkdir() else tmp_path / "directory.fg")
    with pytest.raises(fastlbp.ParseError, match="memory:1"):
        FactorGraph.read(b"x", format="fg")
    with pytest.raises(fastlbp.ParseError):
        FactorGraph.read(b"\x1f\x8bnonsense", format="fg")
    with pytest.raises(fastlbp.InvalidArgumentError, match="suffix"):
        FactorGraph.read(tmp_path / "graph.txt")
    for wrong in (lambda: FactorGraph.read(b"", format="xml"), lambda: FactorGraph.read(b""),
                  lambda: FactorGraph.read(7), lambda: alarms.write(tmp_path / "a.fg", format="fg"),
                  lambda: alarms.to_bytes("xml")):
        with pytest.raises(fastlbp.InvalidArgumentError):
            wrong()
    with pytest.raises(fastlbp.UnsupportedError):
        alarms.write(tmp_path / "graph.bif")


def test_other_files_are_read(alarms, tmp_path):
    assert alarms.read_evidence(b"10 true\n20 0\n") == {10: 1, 20: 0}
    assert alarms.read_evidence(b"1 0 1", format="evid") == {1: 1}
    assert alarms.read_evidence(io.BytesIO(b"10 1")) == {10: 1}
    assert alarms.read_soft_evidence(b"10 1 3\n")[10].tolist() == [1, 3]
    alarms.write_evidence({10: 1}, tmp_path / "written.obs")
    assert alarms.read_evidence(tmp_path / "written.obs") == {10: 1}
    with pytest.raises(fastlbp.OutOfRangeError, match="77"):
        alarms.read_evidence(b"77 1")
    with pytest.warns(fastlbp.FastlbpWarning, match="1 observed variables .* 77, line 2"):
        assert alarms.read_evidence(b"10 1\n77 1\n", unknown="skip") == {10: 1}
    with pytest.raises(fastlbp.InvalidArgumentError, match="ignore"):
        alarms.read_evidence(b"10 1", unknown="ignore")
    with pytest.raises(fastlbp.ParseError):
        alarms.read_evidence(b"10 2")
    with pytest.raises(fastlbp.InvalidArgumentError):
        alarms.write_evidence({10: [1, 2]}, tmp_path / "x.obs")
    assert alarms.read_marked(b"10 one 1\n20\n") == [(10, "one", True), (20, None, None)]
    ranks = alarms.read_ranks(b"".join(b"%d %d %d\n" % (factor, alarms.labels[variable], factor)
                                       for factor, variable in zip(alarms.edge_factors, alarms.edge_variables)))
    assert ranks.tolist() == alarms.edge_factors.tolist()


def test_arrays_of_a_graph_are_not_writeable_and_outlive_it(mixed):
    labels = mixed.labels
    assert labels.base is not None and not labels.flags.writeable
    with pytest.raises(ValueError):
        labels[0] = 3
    with pytest.raises(ValueError):
        labels.flags.writeable = True
    copy = labels.tolist()
    del mixed
    assert labels.tolist() == copy


def test_names(alarms):
    names = ["first", "second", "a", "b", "alarm"]
    graph = alarms.with_names(names, [["no", "yes"]] * 5)
    assert graph.index("alarm") == graph.index(20) == 4 and graph.state(4, "yes") == 1
    bp = fastlbp.BeliefPropagation(graph, "TREE")
    bp.observe("alarm", "yes")
    assert bp.evidence == {20: 1}
    bp.run()
    assert bp.probability("first", "yes") == bp.probability(1)
    for wrong in (lambda: graph.index("none"), lambda: graph.index(77), lambda: graph.index(-1),
                  lambda: graph.state(4, "maybe"), lambda: graph.index(1 << 70), lambda: alarms.index("alarm")):
        with pytest.raises(fastlbp.OutOfRangeError):
            wrong()
    for wrong in (lambda: alarms.with_names(names[1:]), lambda: alarms.with_names(["x"] * 5),
                  lambda: alarms.with_names(names, [["no"]] * 5), lambda: alarms.index(1.5)):
        with pytest.raises(fastlbp.InvalidArgumentError):
            wrong()
