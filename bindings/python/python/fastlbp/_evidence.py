"""Evidence as the native part takes it: indices of observed variables, their states, and likelihoods by index."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Tuple

import numpy as np

from ._arrays import real, whole
from .errors import InvalidArgumentError
from .graph import FactorGraph

Given = Tuple[np.ndarray, np.ndarray, List[Tuple[int, np.ndarray]]]


def given(graph: FactorGraph, evidence: Any) -> Given:
    """Evidence that is None, a mapping by label or name, or an array of a state for each variable, -1 for none."""
    if evidence is None:
        return _arrays([], []) + ([],)
    if not isinstance(evidence, Mapping):
        states = whole(evidence, "evidence", np.int64)
        if len(states) != graph.variable_count:
            raise InvalidArgumentError(f"evidence of shape {states.shape}: ({graph.variable_count},) is needed, "
                                       "or a dict")
        if len(states) and int(states.min()) < -1:
            raise InvalidArgumentError(f"evidence has the entry {int(states.min())}: -1 is for variables that are "
                                       "not observed")
        known = np.flatnonzero(states >= 0)
        return _arrays(known, states[known]) + ([],)
    variables: List[int] = []
    states_of: List[int] = []
    likelihoods: List[Tuple[int, np.ndarray]] = []
    for variable, value in evidence.items():
        index = graph.index(variable)
        if isinstance(value, (str, bool)) or np.ndim(value) == 0:
            variables.append(index)
            states_of.append(graph.state(index, value))
        else:
            likelihoods.append((index, real(value, f"likelihood of variable {graph.describe(index)}")))
    return _arrays(variables, states_of) + (likelihoods,)


def batch(graph: FactorGraph, entries: Any) -> Any:
    """Entries of a batch: an array of two dimensions, or a sequence of what :func:`given` takes."""
    if isinstance(entries, (Mapping, str)):
        raise InvalidArgumentError("evidence of a batch: an array of two dimensions or a list of dicts is needed")
    if isinstance(entries, np.ndarray):
        return whole(entries, "evidence", np.int64, 2)
    return [given(graph, entry) for entry in entries]


def taken(graph: FactorGraph, evidence: Given) -> Dict[int, Any]:
    """Evidence as a dict by label."""
    variables, states, likelihoods = evidence
    labels = graph.labels
    known: Dict[int, Any] = dict(zip(labels[variables].tolist(), states.tolist()))
    known.update((int(labels[variable]), weights) for variable, weights in likelihoods)
    return known


def _arrays(variables: Any, states: Any) -> Tuple[np.ndarray, np.ndarray]:
    return whole(variables, "variables"), whole(states, "states")
