"""Exact inference."""

from __future__ import annotations

from typing import Any, Optional, Sequence

import numpy as np

from . import _native
from ._evidence import given
from .graph import FactorGraph, Variable
from .session import _shaped

__all__ = ["ExactInference"]


class ExactInference:
    """Exact results of a graph with evidence, by a junction tree: for graphs of small treewidth.

    Parameters
    ----------
    graph : FactorGraph
        The graph.
    evidence : dict or array_like, optional
        As :meth:`BeliefPropagation.set_evidence` takes it.
    inference : {"sum-product", "max-product"}
        Sums, or maxima.
    table_limit : int, optional
        Most entries of all tables together, of 16 bytes each; 2^24 unless given.

    Raises
    ------
    LimitExceededError
        The tables would be larger.
    ContradictionError
        No joint state is possible.

    Examples
    --------
    >>> import fastlbp
    >>> graph = fastlbp.FactorGraph.from_pairwise([[1, 3], [1, 1]], [[0, 1]], [[2, 1], [1, 2]])
    >>> fastlbp.ExactInference(graph).marginal(0)
    array([0.25, 0.75])
    """

    def __init__(self, graph: FactorGraph, evidence: Any = None, *, inference: str = "sum-product",
                 table_limit: Optional[int] = None) -> None:
        self._graph = graph
        self._native = _native.Exact(graph._native, given(graph, evidence), inference, table_limit)

    @property
    def graph(self) -> FactorGraph:
        """The graph."""
        return self._graph

    @property
    def width(self) -> int:
        """Variables of the largest clique, less one."""
        return self._native.width()

    @property
    def table_entries(self) -> int:
        """Entries of all tables."""
        return self._native.table_entries()

    def marginals(self) -> np.ndarray:
        """Marginals of all variables, as :meth:`BeliefPropagation.marginals`; not a copy."""
        return self._native.marginals()

    def marginal(self, variable: Variable) -> np.ndarray:
        """Marginal of a variable, by label or name: shape (states,)."""
        return self.marginals()[self._graph._states_of(self._graph.index(variable))]

    def log_partition(self) -> float:
        """Natural logarithm of the sum (or maximum) over all joint states."""
        return self._native.log_partition()

    def belief(self, variables: Sequence[Variable]) -> np.ndarray:
        """Joint probabilities of variables that are in one clique: shape (cardinality of each, in the order given)."""
        indices = [self._graph.index(variable) for variable in variables]
        return _shaped(self._graph, self._native.belief(indices), indices)

    def find_maximum(self) -> np.ndarray:
        """A most probable joint state, with ``inference="max-product"``: shape (variables,), by index."""
        return self._native.find_maximum()
