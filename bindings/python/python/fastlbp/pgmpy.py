"""Models of pgmpy, and results as its factors.

pgmpy need not be there to read a model: what is asked of one are its ``get_cpds`` or ``get_factors``.
"""

from __future__ import annotations

from typing import Any, Dict, List, Sequence, Union

import numpy as np

from ._arrays import reals
from .errors import InvalidArgumentError
from .exact import ExactInference
from .graph import FactorGraph, FactorGraphBuilder
from .session import BeliefPropagation

__all__ = ["from_pgmpy", "to_pgmpy"]


def from_pgmpy(model: Any) -> FactorGraph:
    """The factor graph of a model of pgmpy.

    Parameters
    ----------
    model : pgmpy.models.DiscreteBayesianNetwork, DiscreteMarkovNetwork, FactorGraph or JunctionTree
        A model whose factors are tables.

    Returns
    -------
    FactorGraph
        With the names of variables and states as texts. Variables are in the order in which the factors name them, and
        factors in the model's.

    Examples
    --------
    >>> import fastlbp
    >>> from pgmpy.models import DiscreteBayesianNetwork  # doctest: +SKIP
    >>> fastlbp.from_pgmpy(DiscreteBayesianNetwork.load("asia.bif"))  # doctest: +SKIP
    <FactorGraph: 8 variables, 8 factors, 18 edges>
    """
    if hasattr(model, "get_cpds"):
        factors = list(model.get_cpds())
    elif hasattr(model, "get_factors"):
        factors = list(model.get_factors())
    else:
        raise InvalidArgumentError(f"{type(model).__name__}: a model with get_cpds or get_factors is needed")
    labels: Dict[Any, int] = {}
    states: List[Sequence[str]] = []
    builder = FactorGraphBuilder()
    for factor in factors:
        shape = np.shape(factor.values)
        for variable, cardinality in zip(factor.variables, shape):
            if variable not in labels:
                labels[variable] = len(labels)
                states.append(_state_names(factor, variable, cardinality))
                builder.add_variable(labels[variable], cardinality)
        # Tensors of PyTorch are arrays, too.
        values = reals(np.asarray(factor.values, dtype=np.float64), f"values of {factor.variables}")
        if values.ndim != len(factor.variables):
            raise InvalidArgumentError(f"factor over {factor.variables}: its values have {values.ndim} dimensions")
        builder.add_table([labels[variable] for variable in factor.variables], values)
    return builder.build().with_names([str(variable) for variable in labels], states)


def _state_names(factor: Any, variable: Any, cardinality: int) -> Sequence[str]:
    known = (getattr(factor, "state_names", None) or {}).get(variable)
    names = [str(name) for name in known] if known is not None else []
    # Names that are no longer different as texts, such as 1 and "1", would not name one state.
    return names if len(set(names)) == cardinality else [str(state) for state in range(cardinality)]


def to_pgmpy(results: Union[BeliefPropagation, ExactInference], variables: Union[str, Sequence[str]]) -> Any:
    """A belief as a ``pgmpy.factors.discrete.DiscreteFactor``.

    Parameters
    ----------
    results : BeliefPropagation or ExactInference
        Results of a graph with names.
    variables : str or sequence of str
        A variable, or several that share a factor (or, of exact results, a clique).

    Returns
    -------
    pgmpy.factors.discrete.DiscreteFactor
    """
    from pgmpy.factors.discrete import DiscreteFactor

    names = [variables] if isinstance(variables, str) else list(variables)
    values = results.belief(names)
    graph = results.graph
    states = graph.state_names
    named = None if states is None else {name: list(states[graph.index(name)]) for name in names}
    return DiscreteFactor(names, values.shape, values.ravel(), state_names=named)
