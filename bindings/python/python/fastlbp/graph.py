"""Factor graphs: building them, reading and writing them, what they consist of."""

from __future__ import annotations

import enum
import gzip
import os
import tempfile
import warnings
from pathlib import Path
from typing import IO, Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _native
from ._arrays import first_fastest, flags, real, reals, whole
from .errors import FastlbpWarning, InvalidArgumentError, OutOfRangeError

__all__ = ["FactorGraph", "FactorGraphBuilder", "FactorKind", "Scope", "Source", "Variable", "WILDCARD"]

#: In the indicators of terms: any state.
WILDCARD = -1

#: A variable: its label, or its name.
Variable = Union[int, str]

#: What a graph or evidence is read from: a path, a file object, or the text.
Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, IO[Any]]

_FORMATS = ("causal_fg", "fg", "uai", "bif")


class FactorKind(enum.IntEnum):
    """Kinds of factors."""

    #: A dense table.
    TABLE = 0
    #: f(1) = p, f(0) = 1 - p.
    PRIOR = 1
    #: P(head = 1) = p if the whole body is true, q otherwise.
    AND = 2
    #: P(head = 0) = p if the whole body is false, q otherwise.
    OR = 3
    #: Values that depend on the head and on whether all of some signed literals hold.
    SIGNED = 4
    #: As SIGNED, with literals that hold with a probability.
    NOISY = 5
    #: A sum of weighted terms.
    TERMS = 6


class Scope(NamedTuple):
    """The variables of a factor."""

    #: Indices of the variables, ascending.
    variables: Tuple[int, ...]
    #: Index of the head, where the kind has one.
    head: Optional[int]


class FactorGraph:
    """A discrete factor graph: immutable, shared by all sessions on it.

    Variables have a label, a whole number; those of some files and of other packages also have names. They are numbered
    from 0 by ascending label: this is the index by which arrays are ordered. Factors are numbered in the order in which
    they were added, and edges, pairs of a factor and a variable, factor by factor and within a factor by ascending
    variable. Arguments that stand for one variable are labels or names.

    Graphs are made by :meth:`from_arrays` and its relatives, by a :class:`FactorGraphBuilder`, by :meth:`read`, or from
    a model of another package, see :mod:`fastlbp.pgmpy`, :mod:`fastlbp.pyagrum` and :mod:`fastlbp.pgmax`.

    Examples
    --------
    >>> import fastlbp
    >>> graph = fastlbp.FactorGraph.from_arrays(
    ...     cardinalities=[2, 2],
    ...     scope_offsets=[0, 1, 3], scopes=[0, 0, 1],
    ...     value_offsets=[0, 2, 6], values=[0.7, 0.3, 0.9, 0.1, 0.1, 0.9])
    >>> graph
    <FactorGraph: 2 variables, 2 factors, 3 edges>
    """

    __slots__ = ("_native", "_names", "_states", "_index", "_offsets", "__weakref__")

    def __init__(self, native: "_native.Graph", names: Optional[Sequence[str]] = None,
                 states: Optional[Sequence[Sequence[str]]] = None) -> None:
        if not isinstance(native, _native.Graph):
            raise TypeError("a graph is made by from_arrays, read, or a FactorGraphBuilder")
        given = native.names()
        if given is not None:
            names, states = given
        self._native = native
        self._names = None if names is None else tuple(names)
        self._states = None if states is None else tuple(tuple(own) for own in states)
        self._index: Dict[str, int] = {}
        self._offsets: Optional[np.ndarray] = None
        if self._names is not None:
            self._index = {name: index for index, name in enumerate(self._names)}
            if len(self._names) != native.variable_count or len(self._index) != len(self._names):
                raise InvalidArgumentError(f"{len(self._index)} different names: one for each of the "
                                           f"{native.variable_count} variables is needed")

    # --- Making graphs

    @classmethod
    def from_arrays(cls, cardinalities: Any, scope_offsets: Any, scopes: Any, value_offsets: Any,
                    values: Any) -> "FactorGraph":
        """A graph of dense tables in compressed rows.

        Parameters
        ----------
        cardinalities : array_like, shape (variables,)
            Numbers of states. Variables have the labels 0, 1, 2, ...
        scope_offsets : array_like, shape (factors + 1,)
            Where the variables of each factor begin in `scopes`, and where those of the last one end.
        scopes : array_like, shape (scope_offsets[-1],)
            Variables of all factors.
        value_offsets : array_like, shape (factors + 1,)
            The same for `values`.
        values : array_like, shape (value_offsets[-1],)
            Values of all factors: finite, >= 0, not all of a factor 0. The first variable of a scope changes fastest.

        Returns
        -------
        FactorGraph

        Notes
        -----
        Whole numbers of 64 bits, signed or not, and ``float64`` are read where they are, others are converted first.

        Examples
        --------
        >>> import fastlbp
        >>> fastlbp.FactorGraph.from_arrays([3], [0, 1], [0], [0, 3], [1, 2, 1]).cardinalities
        array([3], dtype=uint32)
        """
        builder = FactorGraphBuilder()
        cards = whole(cardinalities, "cardinalities")
        builder.add_variables(np.arange(len(cards), dtype=np.uint64), cards)
        members = whole(scopes, "scopes")
        _check_known(members, len(cards))
        builder.add_tables(scope_offsets, members, value_offsets, values)
        return builder.build()

    @classmethod
    def from_horn_arrays(cls, kinds: Any, heads: Any, body_offsets: Any, bodies: Any, p: Any, q: Any,
                         *, missing_prior: Optional[float] = None) -> "FactorGraph":
        """A graph of priors, noisy conjunctions and noisy disjunctions in compressed rows.

        Parameters
        ----------
        kinds : array_like, shape (factors,)
            :attr:`FactorKind.PRIOR`, :attr:`FactorKind.AND` or :attr:`FactorKind.OR` for each factor.
        heads : array_like, shape (factors,)
            Labels of the heads.
        body_offsets : array_like, shape (factors + 1,)
            Where the body of each factor begins in `bodies`, and where that of the last one ends.
        bodies : array_like, shape (body_offsets[-1],)
            Labels of all bodies.
        p, q : array_like, shape (factors,)
            Probabilities; see :class:`FactorKind`.
        missing_prior : float, optional
            Prior of variables that head no factor; none unless given.

        Returns
        -------
        FactorGraph

        Examples
        --------
        >>> import fastlbp
        >>> kinds = [fastlbp.FactorKind.PRIOR, fastlbp.FactorKind.AND]
        >>> fastlbp.FactorGraph.from_horn_arrays(kinds, [1, 2], [0, 0, 1], [1], [0.3, 0.9], [0, 0.1])
        <FactorGraph: 2 variables, 2 factors, 3 edges>
        """
        builder = FactorGraphBuilder()
        builder.add_horn_factors(kinds, heads, body_offsets, bodies, p, q)
        if missing_prior is not None:
            builder.add_missing_priors(missing_prior)
        return builder.build()

    @classmethod
    def from_pairwise(cls, unary: Any, edges: Any, pairwise: Any) -> "FactorGraph":
        """A pairwise Markov random field over variables with the same number of states.

        Parameters
        ----------
        unary : array_like, shape (variables, states)
            A table for each variable.
        edges : array_like, shape (edges, 2)
            Pairs of variables.
        pairwise : array_like, shape (states, states) or (edges, states, states)
            A table for all edges, or one for each: ``[x, y]`` is the value at state x of the first variable and y of
            the second.

        Returns
        -------
        FactorGraph

        Examples
        --------
        >>> import fastlbp
        >>> fastlbp.FactorGraph.from_pairwise([[1, 2], [1, 1]], [[0, 1]], [[2, 1], [1, 2]])
        <FactorGraph: 2 variables, 3 factors, 4 edges>
        """
        own = real(unary, "unary", 2)
        pairs = whole(edges, "edges", dimensions=2)
        if pairs.shape[1] != 2:
            raise InvalidArgumentError(f"edges of shape {pairs.shape}: (edges, 2) is needed")
        variables, states = own.shape
        tables = reals(pairwise, "pairwise")
        try:
            tables = np.broadcast_to(tables, (len(pairs), states, states))
        except ValueError:
            raise InvalidArgumentError(f"pairwise of shape {tables.shape}: ({states}, {states}) or ({len(pairs)}, "
                                       f"{states}, {states}) is needed") from None
        scopes = np.concatenate([np.arange(variables, dtype=np.uint64), pairs.ravel()])
        values = np.concatenate([own.ravel(), tables.transpose(0, 2, 1).ravel()])
        first = np.arange(variables + 1, dtype=np.uint64)
        then = np.arange(1, len(pairs) + 1, dtype=np.uint64)
        scope_offsets = np.concatenate([first, variables + np.uint64(2) * then])
        value_offsets = np.concatenate([first * np.uint64(states),
                                        np.uint64(variables * states) + np.uint64(states * states) * then])
        cards = np.full(variables, states, np.uint64)
        return cls.from_arrays(cards, scope_offsets.astype(np.uint64), scopes, value_offsets, values)

    # --- Files

    @classmethod
    def read(cls, source: Source, *, format: Optional[str] = None) -> "FactorGraph":
        """Reads a graph.

        Parameters
        ----------
        source : path, file object or bytes
            A path's suffix tells the format, a final ``.gz`` set aside. Compressed content is recognised.
        format : {"causal_fg", "fg", "uai", "bif"}, optional
            Needed for bytes, and for file objects without a name that tells it.

        Returns
        -------
        FactorGraph

        Examples
        --------
        >>> import fastlbp
        >>> fastlbp.FactorGraph.read(b"1\\n\\n1\\n7\\n2\\n2\\n0 0.4\\n1 0.6\\n", format="fg").labels
        array([7], dtype=uint64)
        """
        if isinstance(source, (str, os.PathLike)) and format is None:
            return cls(_native.Graph.read(os.fspath(source)))
        text, name = _content(source)
        suffix = _format_of(name) if format is None else _known_format(format)
        return cls(_native.Graph.read_bytes(text, name, suffix))

    def write(self, target: Union[str, "os.PathLike[str]", IO[Any]], *, format: Optional[str] = None) -> None:
        """Writes the graph. A file appears when it is complete.

        Parameters
        ----------
        target : path or binary file object
            The suffix of a path tells the format, and ``.gz`` whether to compress.
        format : {"causal_fg", "fg", "uai"}, optional
            Needed for file objects without a name that tells it.
        """
        if isinstance(target, (str, os.PathLike)):
            if format is not None:
                raise InvalidArgumentError("the suffix of a path tells the format: 'format' is for file objects")
            self._native.write(os.fspath(target))
        else:
            suffix = _format_of(_name_of(target)) if format is None else _known_format(format)
            target.write(self._native.write_bytes(suffix))

    def to_bytes(self, format: str) -> bytes:
        """The graph as the uncompressed text of a format."""
        return self._native.write_bytes(_known_format(format))

    def read_evidence(self, source: Source, *, format: str = "obs", unknown: str = "error") -> Dict[int, int]:
        """Reads observations.

        Parameters
        ----------
        source : path, file object or bytes
            ``.obs``, a line ``label value`` each, or ``.evid``, the format of the UAI competitions.
        format : {"obs", "evid"}
            Of file objects and bytes; a path has a suffix.
        unknown : {"error", "skip"}
            What happens to variables that the graph does not have. SmartFL's files have some; "skip" leaves them out with a
            warning, as ``fastlbp infer`` does.

        Returns
        -------
        dict of int to int
            The state of each observed variable, by its label.

        Raises
        ------
        OutOfRangeError
            A variable that the graph does not have, with ``unknown="error"``.
        """
        if unknown not in ("error", "skip"):
            raise InvalidArgumentError(f"unknown '{unknown}': error or skip is needed")
        if format not in ("obs", "evid"):
            raise InvalidArgumentError(f"format '{format}': obs or evid is needed")
        with _as_path(source, "." + format) as path:
            variables, states, left_out = self._native.read_evidence(path)
        if unknown == "error" or not left_out:
            _check_all_known(left_out)
        else:
            warnings.warn(f"{len(left_out)} observed variables are not in the graph (the first is {left_out[0][0]}, line "
                          f"{left_out[0][1]}): they are left out", FastlbpWarning, stacklevel=2)
        return dict(zip(self.labels[variables].tolist(), states.tolist()))

    def read_soft_evidence(self, source: Source) -> Dict[int, np.ndarray]:
        """Reads likelihoods, a line of a variable and its weights each; as for :meth:`read_evidence`."""
        with _as_path(source, ".soft") as path:
            likelihoods, unknown = self._native.read_soft_evidence(path)
        _check_all_known(unknown)
        return {int(self.labels[variable]): weights for variable, weights in likelihoods}

    def write_evidence(self, evidence: Any, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes observations to a file ``.obs`` or ``.evid``; see :meth:`BeliefPropagation.set_evidence`."""
        from ._evidence import given

        variables, states, likelihoods = given(self, evidence)
        if likelihoods:
            raise InvalidArgumentError("evidence with likelihoods: files have observations only")
        self._native.write_evidence(os.fspath(path), variables, states)

    def read_dictionary(self, source: Source) -> Dict[int, str]:
        """Reads names of variables, a line ``label: name`` each. Gives names by label."""
        with _as_path(source, ".dict") as path:
            return {int(self.labels[variable]): name for variable, name in self._native.read_dictionary(path)}

    def read_marked(self, source: Source, *, dictionary: Optional[Source] = None
                    ) -> List[Tuple[int, Optional[str], Optional[bool]]]:
        """Reads a list of alarms or candidates: label, name and mark of each."""
        with _as_path(source, ".alarms") as path:
            if dictionary is None:
                marked = self._native.read_marked(path, None)
            else:
                with _as_path(dictionary, ".dict") as names:
                    marked = self._native.read_marked(path, names)
        return [(int(self.labels[variable]), name, mark) for variable, name, mark in marked]

    def read_ranks(self, source: Source) -> np.ndarray:
        """Reads an order of messages: the rank of each edge, shape (edges,), to be given to :class:`BeliefPropagation` as
        its schedule."""
        with _as_path(source, ".ranks") as path:
            return self._native.read_ranks(path)

    def write_marginals(self, path: Union[str, "os.PathLike[str]"], marginals: Any) -> None:
        """Writes marginals, as :meth:`BeliefPropagation.marginals` has them, as ``fastlbp infer`` does."""
        self._native.write_marginals(os.fspath(path), real(marginals, "marginals"))

    # --- Contents

    @property
    def variable_count(self) -> int:
        """Number of variables."""
        return self._native.variable_count

    @property
    def factor_count(self) -> int:
        """Number of factors."""
        return self._native.factor_count

    @property
    def edge_count(self) -> int:
        """Number of edges."""
        return self._native.edge_count

    @property
    def state_count(self) -> int:
        """Sum of all cardinalities."""
        return self._native.state_count

    @property
    def all_binary(self) -> bool:
        """Whether every variable has two states."""
        return self._native.all_binary

    @property
    def memory_bytes(self) -> int:
        """Bytes held by the graph."""
        return self._native.memory_bytes

    @property
    def labels(self) -> np.ndarray:
        """Labels by index, ascending: shape (variables,), ``uint64``, not writeable and not a copy."""
        return self._native.labels

    @property
    def cardinalities(self) -> np.ndarray:
        """Numbers of states by index: shape (variables,), ``uint32``, not writeable and not a copy."""
        return self._native.cardinalities

    @property
    def state_offsets(self) -> np.ndarray:
        """Where the states of each variable begin in arrays of all states, and the end: shape (variables + 1,)."""
        if self._offsets is None:
            self._offsets = self._native.state_offsets()
        return self._offsets

    def _states_of(self, index: int) -> slice:
        """Where the states of a variable, by index, are in arrays of all states."""
        if self.all_binary:
            return slice(2 * index, 2 * index + 2)
        return slice(int(self.state_offsets[index]), int(self.state_offsets[index + 1]))

    @property
    def factor_offsets(self) -> np.ndarray:
        """Where the edges of each factor begin, and the end: shape (factors + 1,)."""
        return self._native.factor_offsets()

    @property
    def edge_variables(self) -> np.ndarray:
        """Index of the variable of each edge: shape (edges,), not writeable and not a copy."""
        return self._native.edge_variables

    @property
    def edge_factors(self) -> np.ndarray:
        """Factor of each edge: shape (edges,), not writeable and not a copy."""
        return self._native.edge_factors

    @property
    def factor_kinds(self) -> np.ndarray:
        """Kind of each factor, see :class:`FactorKind`: shape (factors,), ``uint8``."""
        return self._native.kinds()

    @property
    def names(self) -> Optional[Tuple[str, ...]]:
        """Names of the variables by index, or None."""
        return self._names

    @property
    def state_names(self) -> Optional[Tuple[Tuple[str, ...], ...]]:
        """Names of the states of all variables by index, or None."""
        return self._states

    def scope(self, factor: int) -> Scope:
        """The variables of a factor, by index."""
        variables, head = self._native.scope(_as_index(factor, "factor"))
        return Scope(tuple(variables), None if head is None else variables[head])

    def index(self, variable: Variable) -> int:
        """The index of a variable.

        Parameters
        ----------
        variable : int or str
            Its label or its name.

        Raises
        ------
        OutOfRangeError
            There is no such variable.
        """
        if isinstance(variable, str):
            found = self._index.get(variable)
        else:
            label = _as_index(variable, "variable")
            found = self._native.find(label) if label < 1 << 64 else None
        if found is None:
            raise OutOfRangeError(f"variable {variable!r}: the graph has no such variable")
        return found

    def describe(self, index: int) -> str:
        """The name of a variable (by index), or its label."""
        return str(self.labels[index]) if self._names is None else self._names[index]

    def state(self, index: int, state: Union[int, str, bool]) -> int:
        """The number of a state of a variable (by index), which is given by number or name."""
        if isinstance(state, str):
            if self._states is None or state not in self._states[index]:
                raise OutOfRangeError(f"state {state!r} of variable {self.describe(index)}: it has no such state")
            return self._states[index].index(state)
        return _as_index(state, f"state of variable {self.describe(index)}")

    def with_names(self, names: Sequence[str], states: Optional[Sequence[Sequence[str]]] = None) -> "FactorGraph":
        """The same graph with names of its variables by index, and of their states."""
        if states is not None:
            sizes = [len(own) for own in states]
            if sizes != self.cardinalities.tolist():
                raise InvalidArgumentError("names of states: one for each state of each variable is needed")
        plain = _native.Graph.from_parts(*self._native.parts()) if self._native.names() else self._native
        return FactorGraph(plain, names, states)

    def __repr__(self) -> str:
        return (f"<FactorGraph: {self.variable_count} variables, {self.factor_count} factors, "
                f"{self.edge_count} edges>")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FactorGraph):
            return NotImplemented
        return (self._native.has_equal_parts(other._native) and self._names == other._names
                and self._states == other._states)

    def __hash__(self) -> int:
        return hash((self.variable_count, self.factor_count, self.edge_count))

    def __reduce__(self) -> Tuple[Any, ...]:
        return _from_parts, (self._native.parts(), self._names, self._states)


def _from_parts(parts: Tuple[Any, ...], names: Optional[Sequence[str]],
                states: Optional[Sequence[Sequence[str]]]) -> FactorGraph:
    return FactorGraph(_native.Graph.from_parts(*parts), names, states)


class FactorGraphBuilder:
    """Collects variables and factors over labels, and builds a :class:`FactorGraph`.

    A variable need not be declared: a label that :meth:`add_variable` does not name has two states. A call that raises
    an exception adds nothing.

    Parameters
    ----------
    graph : FactorGraph, optional
        A graph to begin with.

    Examples
    --------
    >>> import fastlbp
    >>> builder = fastlbp.FactorGraphBuilder()
    >>> builder.add_prior(1, 0.25)
    >>> builder.add_and(10, [1], 0.9)
    >>> builder.build()
    <FactorGraph: 2 variables, 2 factors, 3 edges>
    """

    __slots__ = ("_native",)

    def __init__(self, graph: Optional[FactorGraph] = None) -> None:
        self._native = _native.Builder() if graph is None else graph._native.builder()

    @property
    def factor_count(self) -> int:
        """Number of factors added so far."""
        return self._native.factor_count()

    def add_variable(self, label: int, cardinality: int) -> None:
        """Declares a variable with so many states, at least 1."""
        self.add_variables([label], [cardinality])

    def add_variables(self, labels: Any, cardinalities: Any) -> None:
        """Declares many variables: labels and cardinalities of shape (variables,)."""
        self._native.add_variables(whole(labels, "labels"), whole(cardinalities, "cardinalities"))

    def add_prior(self, label: int, p: float) -> None:
        """Adds f(1) = p, f(0) = 1 - p."""
        self._add_rule(FactorKind.PRIOR, label, (), p, 0.0)

    def add_and(self, head: int, body: Any, p: float, q: float = 0.0) -> None:
        """Adds a noisy conjunction: P(head = 1) = p if all of `body`, labels of shape (n,), is true, q otherwise."""
        self._add_rule(FactorKind.AND, head, body, p, q)

    def add_or(self, head: int, body: Any, p: float = 1.0, q: float = 0.0) -> None:
        """Adds a noisy disjunction: P(head = 0) = p if all of `body`, labels of shape (n,), is false, q otherwise."""
        self._add_rule(FactorKind.OR, head, body, p, q)

    def _add_rule(self, kind: FactorKind, head: int, body: Any, p: float, q: float) -> None:
        members = whole(body, "body")
        self.add_horn_factors([kind], [head], [0, len(members)], members, [p], [q])

    def add_horn_factors(self, kinds: Any, heads: Any, body_offsets: Any, bodies: Any, p: Any, q: Any) -> None:
        """Adds many priors, conjunctions and disjunctions; see :meth:`FactorGraph.from_horn_arrays`."""
        self._native.add_horn(
            whole(kinds, "kinds", np.uint8), whole(heads, "heads"), whole(body_offsets, "body_offsets"),
            whole(bodies, "bodies"), real(p, "p"), real(q, "q"))

    def add_table(self, scope: Any, values: Any) -> None:
        """Adds a dense table.

        Parameters
        ----------
        scope : array_like, shape (arity,)
            Labels, all different.
        values : array_like
            Of the shape of the cardinalities: ``values[x, y, ...]``; or all in one dimension, the first variable of the
            scope fastest. Finite, >= 0, not all 0.
        """
        members = whole(scope, "scope")
        entries = first_fastest(values, len(members), "values")
        self.add_tables([0, len(members)], members, [0, len(entries)], entries)

    def add_tables(self, scope_offsets: Any, scopes: Any, value_offsets: Any, values: Any) -> None:
        """Adds many dense tables over labels; see :meth:`FactorGraph.from_arrays`."""
        self._native.add_tables(whole(scope_offsets, "scope_offsets"), whole(scopes, "scopes"),
                                whole(value_offsets, "value_offsets"), real(values, "values"))

    def add_signed(self, head: int, body: Any, negated: Any, values: Any) -> None:
        """Adds a factor decided by a conjunction of signed literals.

        Parameters
        ----------
        head : int
            Label of the head.
        body : array_like, shape (n,)
            Labels.
        negated : array_like of bool, shape (n,)
            Whether each literal is x = 0 instead of x = 1.
        values : array_like, shape (4,)
            f(head=1 | all hold), f(head=0 | all hold), f(head=1 | one fails), f(head=0 | one fails).
        """
        members = whole(body, "body")
        self.add_signed_factors([head], [0, len(members)], members, negated, [reals(values, "values")])

    def add_signed_factors(self, heads: Any, body_offsets: Any, bodies: Any, negated: Any, values: Any) -> None:
        """Adds many signed conjunctions: bodies and their signs in compressed rows, values of shape (factors, 4)."""
        self._native.add_signed(whole(heads, "heads"), whole(body_offsets, "body_offsets"), whole(bodies, "bodies"),
                                flags(negated, "negated"), real(values, "values", 2))

    def add_signed_and(self, head: int, body: Any, negated: Any, p: float, q: float = 0.0) -> None:
        """Adds an AND with signs: P(head = 1) = p if all literals hold, q otherwise. `body` and `negated`, of shape (n,), are
        as for :meth:`add_signed`."""
        self._add_signed_rule(head, body, negated, p, q, False)

    def add_signed_or(self, head: int, body: Any, negated: Any, p: float = 1.0, q: float = 0.0) -> None:
        """Adds an OR with signs: P(head = 0) = p if no literal holds, q otherwise. `body` and `negated`, of shape (n,), are
        as for :meth:`add_signed`."""
        self._add_signed_rule(head, body, negated, p, q, True)

    def _add_signed_rule(self, head: int, body: Any, negated: Any, p: float, q: float, is_or: bool) -> None:
        self._native.add_signed_rule(_as_label(head), whole(body, "body"), flags(negated, "negated"), p, q, is_or)

    def add_clause(self, variables: Any, negated: Any, satisfied: float = 1.0, violated: float = 0.0) -> None:
        """Adds a clause: the factor is `satisfied` where one of the literals holds, `violated` where none does. `variables`
        are labels, `negated` says which literals are x = 0 instead of x = 1, both of shape (n,)."""
        self._native.add_clause(whole(variables, "variables"), flags(negated, "negated"), satisfied, violated)

    def add_noisy(self, head: int, body: Any, literals: Any, values: Any) -> None:
        """Adds a factor decided by a conjunction of literals that hold with a probability.

        Parameters
        ----------
        head : int
            Label of the head.
        body : array_like, shape (n,)
            Labels, all different.
        literals : array_like, shape (n, 2, 2)
            ``[i, x, 0]`` is the probability that literal i holds at state x of its variable, ``[i, x, 1]`` that it fails.
        values : array_like, shape (4,)
            As for :meth:`add_signed`.
        """
        self._native.add_noisy(_as_label(head), whole(body, "body"), real(literals, "literals", 3), real(values, "values"))

    def add_noisy_or(self, head: int, body: Any, links: Any, leak: float = 0.0) -> None:
        """Adds a noisy-OR: P(head = 0 | x) = (1 - leak) * the product of 1 - links[i] over all i with body[i] = 1. `body`
        has labels, `links` probabilities, both of shape (n,)."""
        self._native.add_noisy_rule(_as_label(head), whole(body, "body"), real(links, "links"), leak, False)

    def add_noisy_and(self, head: int, body: Any, links: Any, p: float = 1.0) -> None:
        """Adds a noisy-AND: P(head = 1 | x) = p * the product of links[i] over all i with body[i] = 0. `body` has labels,
        `links` probabilities, both of shape (n,)."""
        self._native.add_noisy_rule(_as_label(head), whole(body, "body"), real(links, "links"), p, True)

    def add_terms(self, scope: Any, weights: Any, indicators: Any) -> None:
        """Adds a sum of weighted terms.

        Parameters
        ----------
        scope : array_like, shape (arity,)
            Labels, all different.
        weights : array_like, shape (terms,)
            Weights; may be negative as long as no value of the factor is.
        indicators : array_like, shape (terms, arity)
            The state in which each variable must be for a term, or :data:`WILDCARD`.
        """
        members, own = whole(scope, "scope"), real(weights, "weights")
        rows = whole(indicators, "indicators", np.int32, 2)
        if rows.shape != (len(own), len(members)):
            raise InvalidArgumentError(f"indicators of shape {rows.shape}: ({len(own)}, {len(members)}) is needed")
        self._native.add_terms(whole([0, len(members)], "offsets"), members, whole([0, len(own)], "offsets"), own,
                               rows.ravel())

    def add_missing_priors(self, p: float = 0.5) -> None:
        """Gives the prior p to every variable that occurs but heads no factor."""
        self._native.add_missing_priors(p)

    def build(self) -> FactorGraph:
        """Checks everything and builds the graph; other threads run meanwhile."""
        return FactorGraph(self._native.build())


def _as_index(value: Any, name: str) -> int:
    try:
        number = int(value.__index__())
    except (AttributeError, TypeError):
        raise InvalidArgumentError(f"{name} {value!r}: a whole number is needed") from None
    if number < 0:
        raise OutOfRangeError(f"{name} {number}: a number >= 0 is needed")
    return number


def _as_label(value: Any) -> int:
    label = _as_index(value, "label")
    if label >= 1 << 64:
        raise InvalidArgumentError(f"label {label}: labels have 64 bits")
    return label


def _check_known(members: np.ndarray, variables: int) -> None:
    if len(members) and int(members.max()) >= variables:
        raise OutOfRangeError(f"scopes has the variable {int(members.max())}: there are {variables}, counted from 0")


def _check_all_known(unknown: List[Tuple[str, int]]) -> None:
    if unknown:
        name, line = unknown[0]
        raise OutOfRangeError(f"line {line}: variable {name}: the graph has no such variable")


# --- Sources


def _known_format(format: str) -> str:
    if format not in _FORMATS:
        raise InvalidArgumentError(f"format {format!r}: causal_fg, fg, uai or bif is needed")
    return format


def _format_of(name: str) -> str:
    stem = name[:-3] if name.endswith(".gz") else name
    suffix = stem.rpartition(".")[2]
    if suffix not in _FORMATS:
        raise InvalidArgumentError(f"{name}: format 'causal_fg', 'fg', 'uai' or 'bif' must be given")
    return suffix


def _name_of(source: Any) -> str:
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "memory"


def _content(source: Source) -> Tuple[bytes, str]:
    """The uncompressed content of a source, and what errors call it."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        text, name = bytes(source), "memory"
    elif isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        text = Path(name).read_bytes()
    elif hasattr(source, "read"):
        content, name = source.read(), _name_of(source)
        text = content.encode() if isinstance(content, str) else bytes(content)
    else:
        raise InvalidArgumentError(f"{type(source).__name__}: a path, a file object or bytes is needed")
    if text[:2] == b"\x1f\x8b":
        try:
            text = gzip.decompress(text)
        except (OSError, EOFError) as error:
            from .errors import ParseError

            raise ParseError(f"{name}: {error}") from error
    return text, name


class _as_path:
    """A path of a source: its own, or that of a temporary file with its content."""

    def __init__(self, source: Source, suffix: str) -> None:
        self._source, self._suffix = source, suffix
        self._made: Optional[str] = None

    def __enter__(self) -> str:
        if isinstance(self._source, (str, os.PathLike)):
            return os.fspath(self._source)
        text, _ = _content(self._source)
        handle, self._made = tempfile.mkstemp(suffix=self._suffix)
        with os.fdopen(handle, "wb") as file:
            file.write(text)
        return self._made

    def __exit__(self, *_: Any) -> None:
        if self._made is not None:
            os.unlink(self._made)


