"""Factor graphs of PGMax, by its factor groups."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional

import numpy as np

from .errors import UnsupportedError
from .graph import FactorGraph, FactorGraphBuilder
from .session import BeliefPropagation

__all__ = ["from_pgmax", "to_pgmax"]

#: Largest logarithm whose exponential is taken as it is; tables with larger ones are scaled.
_LARGEST = 600.0


def from_pgmax(model: Any, evidence: Optional[Mapping[Any, Any]] = None) -> FactorGraph:
    """The factor graph of a ``pgmax.fgraph.FactorGraph``.

    Parameters
    ----------
    model : pgmax.fgraph.FactorGraph
        Its groups: EnumFactorGroup, PairwiseFactorGroup, ORFactorGroup, ANDFactorGroup, PoolFactorGroup.
    evidence : mapping from variable group to array_like, optional
        Log-potentials of single variables, as ``evidence_updates`` of PGMax: of the group's shape and one dimension
        for states, or a dict for a VarDict. They become tables of one variable.

    Returns
    -------
    FactorGraph
        Variables have the labels 0, 1, ... in the order of the groups.

    Notes
    -----
    Configurations that an enumeration leaves out have the value 0; in PGMax a large negative number stands for that.
    """
    labels: Dict[Any, int] = {}
    builder = FactorGraphBuilder()
    for group in model.variable_groups:
        for variable in group.variables:
            labels[_key(variable)] = len(labels)
            builder.add_variable(labels[_key(variable)], int(variable[1]))
    for group, potentials in (evidence or {}).items():
        _add_evidence(builder, labels, group, potentials)
    for groups in model.factor_groups.values():
        for group in groups:
            add = _GROUPS.get(type(group).__name__)
            if add is None:
                raise UnsupportedError(f"{type(group).__name__}: its factors are not known here")
            scopes = [[labels[_key(variable)] for variable in variables] for variables in group.variables_for_factors]
            add(builder, group, scopes)
    return builder.build()


def to_pgmax(session: BeliefPropagation, model: Any) -> Dict[Any, Any]:
    """Marginals as PGMax's ``get_marginals`` has them: by variable group, of its shape and one dimension for states;
    where the variables of a group have names or different numbers of states, by variable."""
    marginals, graph = session.marginals(), session.graph
    found: Dict[Any, Any] = {}
    first = 0
    for group in model.variable_groups:
        count = len(group.variables)
        own = [marginals[graph._states_of(v)] for v in range(first, first + count)]
        first += count
        names = getattr(group, "variable_names", None)
        if names is not None:
            found[group] = dict(zip(names, own))
        elif len({len(one) for one in own}) == 1:
            found[group] = np.array(own).reshape(*group.shape, -1)
        else:
            found[group] = own
    return found


def _key(variable: Any) -> Any:
    return int(variable[0]), int(variable[1])


def _weights(logarithms: Any) -> np.ndarray:
    values = np.asarray(logarithms, dtype=np.float64)
    largest = values.max()
    return np.exp(values - largest if abs(largest) > _LARGEST else values)


def _add_evidence(builder: FactorGraphBuilder, labels: Dict[Any, int], group: Any, potentials: Any) -> None:
    if isinstance(potentials, Mapping):
        tables: List[Any] = [(group[name], own) for name, own in potentials.items()]
    else:
        rows = np.asarray(potentials, dtype=np.float64)
        states = [int(variable[1]) for variable in group.variables]
        tables = list(zip(group.variables, np.split(rows.ravel(), np.cumsum(states)[:-1])))
    for variable, own in tables:
        builder.add_table([labels[_key(variable)]], _weights(own))


def _add_pairs(builder: FactorGraphBuilder, group: Any, scopes: List[List[int]]) -> None:
    matrices = np.asarray(group.log_potential_matrix, dtype=np.float64)
    for index, scope in enumerate(scopes):
        builder.add_table(scope, _weights(matrices if matrices.ndim == 2 else matrices[index]))


def _add_enumerations(builder: FactorGraphBuilder, group: Any, scopes: List[List[int]]) -> None:
    configurations = np.asarray(group.factor_configs)
    logarithms = np.broadcast_to(np.asarray(group.log_potentials, dtype=np.float64),
                                 (len(scopes), len(configurations)))
    for scope, own in zip(scopes, logarithms):
        builder.add_terms(scope, _weights(own), configurations)


def _add_disjunctions(builder: FactorGraphBuilder, _: Any, scopes: List[List[int]]) -> None:
    for scope in scopes:
        builder.add_or(scope[-1], scope[:-1])


def _add_conjunctions(builder: FactorGraphBuilder, _: Any, scopes: List[List[int]]) -> None:
    for scope in scopes:
        builder.add_and(scope[-1], scope[:-1], 1.0)


def _add_pools(builder: FactorGraphBuilder, _: Any, scopes: List[List[int]]) -> None:
    for scope in scopes:
        choices = len(scope) - 1
        # None of the choices and not the indicator, or the indicator and one of them.
        rows = np.zeros((choices + 1, choices + 1), np.int32)
        rows[1:, :choices] = np.eye(choices, dtype=np.int32)
        rows[1:, choices] = 1
        builder.add_terms(scope, np.ones(choices + 1), rows)


_GROUPS = {
    "PairwiseFactorGroup": _add_pairs,
    "EnumFactorGroup": _add_enumerations,
    "ORFactorGroup": _add_disjunctions,
    "ANDFactorGroup": _add_conjunctions,
    "PoolFactorGroup": _add_pools,
}
