"""Models of pyAgrum, and results as its tensors."""

from __future__ import annotations

from typing import Any, Union

import numpy as np

from .errors import InvalidArgumentError
from .exact import ExactInference
from .graph import FactorGraph, FactorGraphBuilder
from .session import BeliefPropagation

__all__ = ["from_pyagrum", "to_pyagrum"]


def from_pyagrum(model: Any) -> FactorGraph:
    """The factor graph of a ``BayesNet`` or a ``MarkovRandomField`` of pyAgrum.

    Returns
    -------
    FactorGraph
        With the names and labels of pyAgrum's variables as names. Variables have the labels 0, 1, ... by ascending
        node, and so have the factors of a Bayesian network.
    """
    nodes = sorted(model.nodes())
    labels = {model.variable(node).name(): label for label, node in enumerate(nodes)}
    builder = FactorGraphBuilder()
    for label, node in enumerate(nodes):
        builder.add_variable(label, model.variable(node).domainSize())
    if hasattr(model, "cpt"):
        tensors = [model.cpt(node) for node in nodes]
    elif hasattr(model, "factors"):
        tensors = [model.factor(scope) for scope in sorted(model.factors(), key=sorted)]
    else:
        raise InvalidArgumentError(f"{type(model).__name__}: a BayesNet or MarkovRandomField is needed")
    for tensor in tensors:
        # In `tolist` and `toarray` the last variable of a tensor comes first.
        names = [tensor.variable(index).name() for index in range(tensor.nbrDim())]
        builder.add_table([labels[name] for name in names], np.asarray(tensor.toarray(), dtype=np.float64).ravel())
    states = [model.variable(node).labels() for node in nodes]
    return builder.build().with_names(list(labels), states)


def to_pyagrum(results: Union[BeliefPropagation, ExactInference], model: Any, variable: str) -> Any:
    """The marginal of a variable as a tensor of pyAgrum over the model's variable."""
    import pyagrum

    own = model.variable(variable)
    tensor: Any = pyagrum.Tensor()
    return tensor.add(own).fillWith(results.marginal(own.name()).tolist())
