"""Models of other packages; each test is skipped where its package is not installed."""

import dataclasses
import types

import numpy as np
import pytest

import fastlbp
from fastlbp import BeliefPropagation, ExactInference


def test_bayesian_networks_of_pgmpy():
    pytest.importorskip("pgmpy")
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.inference import VariableElimination
    from pgmpy.models import DiscreteBayesianNetwork

    model = DiscreteBayesianNetwork([("rain", "wet"), ("sprinkler", "wet")])
    model.add_cpds(
        TabularCPD("rain", 3, [[0.2], [0.5], [0.3]], state_names={"rain": ["no", "some", "much"]}),
        TabularCPD("sprinkler", 2, [[0.6], [0.4]], state_names={"sprinkler": ["off", "on"]}),
        TabularCPD("wet", 2, [[0.9, 0.5, 0.2, 0.4, 0.1, 0.05], [0.1, 0.5, 0.8, 0.6, 0.9, 0.95]], ["sprinkler", "rain"],
                   [2, 3], state_names={"wet": ["no", "yes"], "sprinkler": ["off", "on"],
                                        "rain": ["no", "some", "much"]}))
    graph = fastlbp.from_pgmpy(model)
    assert set(graph.names) == {"rain", "sprinkler", "wet"} and graph.state_names[graph.index("rain")][2] == "much"
    exact = VariableElimination(model)
    for evidence in ({}, {"wet": "yes"}, {"rain": "some", "wet": "no"}):
        bp = BeliefPropagation(graph, "TREE")
        bp.set_evidence(evidence)
        bp.run()
        for name in set(graph.names) - set(evidence):
            wanted = exact.query([name], evidence=evidence, show_progress=False)
            np.testing.assert_allclose(bp.marginal(name), wanted.values, atol=1e-12)
            assert fastlbp.to_pgmpy(bp, name) == wanted
            assert fastlbp.to_pgmpy(ExactInference(graph, evidence), [name]) == wanted
    both = fastlbp.to_pgmpy(bp, ["wet", "rain"])
    assert both.variables == ["wet", "rain"] and both.values.shape == (2, 3)
    assert both.get_value(wet="no", rain="some") == pytest.approx(1)
    with pytest.raises(fastlbp.InvalidArgumentError):
        fastlbp.from_pgmpy(object())


def test_markov_networks_of_pgmpy():
    pytest.importorskip("pgmpy")
    from pgmpy.factors.discrete import DiscreteFactor
    from pgmpy.inference import VariableElimination
    from pgmpy.models import DiscreteMarkovNetwork

    random = np.random.default_rng(3)
    model = DiscreteMarkovNetwork([("a", "b"), ("b", "c")])
    model.add_factors(DiscreteFactor(["b", "a"], [3, 2], random.random(6) + 0.1),
                      DiscreteFactor(["b", "c"], [3, 4], random.random(12) + 0.1))
    graph = fastlbp.from_pgmpy(model)
    bp = BeliefPropagation(graph, "TREE")
    bp.run()
    exact = VariableElimination(model)
    for name in "abc":
        wanted = exact.query([name], show_progress=False).values
        np.testing.assert_allclose(bp.marginal(name), wanted / wanted.sum(), atol=1e-12)


def test_models_of_pyagrum():
    gum = pytest.importorskip("pyagrum")
    network = gum.fastBN("a[3]->b[2]<-c[4]->d[5]")
    graph = fastlbp.from_pyagrum(network)
    assert set(graph.names) == set("abcd")
    exact = gum.LazyPropagation(network)
    bp = BeliefPropagation(graph, "TREE")
    for evidence in ({}, {"b": 1, "d": 2}):
        exact.setEvidence(evidence)
        exact.makeInference()
        bp.set_evidence(evidence)
        bp.run()
        for name in "abcd":
            np.testing.assert_allclose(bp.marginal(name), exact.posterior(name).tolist(), atol=1e-12)
        tensor = fastlbp.to_pyagrum(bp, network, "c")
        np.testing.assert_allclose(tensor.tolist(), bp.marginal("c"))
        assert tensor.variable(0).name() == "c"
    field = gum.MarkovRandomField.fromBN(network)
    same = ExactInference(fastlbp.from_pyagrum(field))
    for name in "abcd":
        np.testing.assert_allclose(same.marginal(name), ExactInference(graph).marginal(name), atol=1e-12)
    with pytest.raises((fastlbp.Error, AttributeError)):
        fastlbp.from_pyagrum(object())


@dataclasses.dataclass(eq=False)
class _Group:
    """What `from_pgmax` asks of variable and factor groups; the names of the latter are those of PGMax."""

    variables_for_factors: list = dataclasses.field(default_factory=list)
    factor_configs: object = None
    log_potentials: object = None
    log_potential_matrix: object = None
    variables: list = dataclasses.field(default_factory=list)
    shape: tuple = ()


def _named(name, **fields):
    return type(name, (_Group,), {})(**fields)


def test_groups_as_pgmax_has_them():
    """The meaning of every group of factors, by its definition in PGMax, over all joint states."""
    variables = _Group(variables=[(17 + i, 2) for i in range(4)], shape=(2, 2))
    a, b, c, d = variables.variables
    pairs = np.log([[1.0, 2.0], [3.0, 5.0]])
    configurations = np.array([[0, 0, 1], [1, 1, 0]])
    unary = np.log([[1.0, 2.0], [3.0, 1.0], [1.0, 1.5], [2.0, 1.0]]).reshape(2, 2, 2)

    def tables(states):
        x = dict(zip((a, b, c, d), states))
        parents = [x[a], x[b]]
        return {
            "PairwiseFactorGroup": np.exp(pairs[x[a], x[d]]),
            "EnumFactorGroup": {(0, 0, 1): 2.0, (1, 1, 0): 3.0}.get((x[a], x[b], x[c]), 0.0),
            "ORFactorGroup": float(x[c] == max(parents)),
            "ANDFactorGroup": float(x[c] == min(parents)),
            "PoolFactorGroup": float(sum(parents) == x[c]),
        }

    groups = [
        _named("PairwiseFactorGroup", variables_for_factors=[[a, d]], log_potential_matrix=pairs),
        _named("EnumFactorGroup", variables_for_factors=[[a, b, c]], factor_configs=configurations,
               log_potentials=np.log([2.0, 3.0])),
        _named("ORFactorGroup", variables_for_factors=[[a, b, c]]),
        _named("ANDFactorGroup", variables_for_factors=[[a, b, c]]),
        _named("PoolFactorGroup", variables_for_factors=[[a, b, c]]),
    ]
    for group in groups:
        model = type("Model", (), {"variable_groups": [variables], "factor_groups": {0: [group]}})
        graph = fastlbp.from_pgmax(model, {variables: unary})
        weights = {}
        for index in range(16):
            states = tuple(index >> bit & 1 for bit in range(4))
            own = np.exp([row[x] for row, x in zip(unary.reshape(4, 2), states)]).prod()
            weights[states] = own * tables(states)[type(group).__name__]
        total = sum(weights.values())
        exact = ExactInference(graph)
        assert exact.log_partition() == pytest.approx(np.log(total), abs=1e-12)
        for v in range(4):
            wanted = sum(weight for states, weight in weights.items() if states[v]) / total
            assert exact.marginal(v)[1] == pytest.approx(wanted, abs=1e-12)
        bp = BeliefPropagation(graph)
        bp.run(contradiction="vote")
        assert fastlbp.to_pgmax(bp, model)[variables].shape == (2, 2, 2)
    unknown = type("Model", (), {"variable_groups": [variables], "factor_groups": {0: [_named("Other")]}})
    with pytest.raises(fastlbp.UnsupportedError):
        fastlbp.from_pgmax(unknown)


def test_models_of_pgmax(monkeypatch):
    pytest.importorskip("pgmax")
    backend = pytest.importorskip("jax.extend.backend")
    # PGMax 0.6.1 asks for a module that newer versions of JAX have elsewhere.
    monkeypatch.setattr("jax.lib.xla_bridge", types.SimpleNamespace(get_backend=backend.get_backend), raising=False)
    from pgmax import fgraph, fgroup, infer, vgroup

    random = np.random.default_rng(5)
    group = vgroup.NDVarArray(num_states=3, shape=(5,))
    model = fgraph.FactorGraph(variable_groups=group)
    matrices = random.normal(size=(4, 3, 3))
    model.add_factors(fgroup.PairwiseFactorGroup(variables_for_factors=[[group[i], group[i + 1]] for i in range(4)],
                                                 log_potential_matrix=matrices))
    unary = random.normal(size=(5, 3))
    bp = BeliefPropagation(fastlbp.from_pgmax(model, {group: unary}), "TREE")
    bp.run()
    inferer = infer.build_inferer(model.bp_state, backend="bp")
    arrays = inferer.run(inferer.init(evidence_updates={group: unary}), num_iters=20, damping=0.0, temperature=1.0)
    wanted = np.asarray(infer.get_marginals(inferer.get_beliefs(arrays))[group])
    np.testing.assert_allclose(fastlbp.to_pgmax(bp, model)[group], wanted, atol=1e-5)


def test_plots(alarms):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from fastlbp import plot

    bp = BeliefPropagation(alarms, backend="cpu")
    report = bp.run(trace=True)
    assert len(plot.trace(report).lines) == 2
    axes = plot.marginals(bp, [1, 20])
    assert len(axes.patches) == 4 and axes is plot.marginals(bp, axes=axes)
    with pytest.raises(ValueError):
        plot.trace(bp.run())
