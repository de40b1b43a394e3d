"""Sessions of belief propagation."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _native
from ._arrays import real, whole
from ._evidence import batch, given, taken
from ._run import Progress, RunReport, heard, report, request, warn
from .errors import Error, InvalidArgumentError, UnsupportedError
from .graph import FactorGraph, Variable, _as_index

__all__ = ["BatchResults", "BeliefPropagation"]

#: A schedule as the native part takes it: name, ranks, seed, blocks, whether residuals are of logarithms.
_Schedule = Tuple[str, Optional[np.ndarray], int, int, bool]


class BatchResults:
    """Results of :meth:`BeliefPropagation.run_batch`.

    Attributes
    ----------
    marginals : ndarray, shape (entries, states of all variables)
        As :meth:`BeliefPropagation.marginals` for each entry; NaN where there are no results.
    reports : list of RunReport or Error
        What each run did, or why it has no results.
    """

    __slots__ = ("marginals", "reports")

    def __init__(self, marginals: np.ndarray, reports: List[Union[RunReport, Error]]) -> None:
        self.marginals = marginals
        self.reports = reports

    def raise_first(self) -> "BatchResults":
        """Raises the exception of the first entry that has one; else gives these results."""
        for one in self.reports:
            if isinstance(one, Error):
                raise one
        return self


class BeliefPropagation:
    """Belief propagation on one graph: a schedule, evidence that changes, messages, and the results of the last run.

    A session may be used by any thread, by one at a time: a call while another is running raises
    :class:`BusyError`. Calls that take long let other threads run, so that several sessions, also on one graph, run at
    once.

    Parameters
    ----------
    graph : FactorGraph
        The graph, which is shared.
    schedule : str or array_like of int, shape (edges,)
        The order in which messages are updated: "PARALL", "SEQFIX", "SEQRND", "BLOCKS", "TOPO", "FWDBWD", "TREE" or
        "SEQMAX"; or a rank for each edge, those of equal rank at once.
    backend : {"auto", "cpu", "cuda"}
        Where iterations run. Results do not depend on it.
    device : int or sequence of int, optional
        Number of the CUDA device; that of the environment variable ``FASTLBP_DEVICE`` unless given, else 0. Batches are
        spread over several; unless some are given, over all. A single run uses the lowest.
    threads : int, optional
        Number of CPU threads; one for each physical core unless given. Results do not depend on it.
    seed, blocks : int
        Seed of SEQRND and BLOCKS, and the number of blocks of the latter.
    log_domain : bool
        Whether SEQMAX compares logarithms.
    compile_tables : bool
        Whether tables with local structure run as what they are; results differ by rounding only.

    Examples
    --------
    >>> import fastlbp
    >>> builder = fastlbp.FactorGraphBuilder()
    >>> builder.add_prior(1, 0.25)
    >>> builder.add_prior(2, 0.5)
    >>> builder.add_or(3, [1, 2])
    >>> bp = fastlbp.BeliefPropagation(builder.build(), schedule="TREE")
    >>> bp.run().converged
    True
    >>> bp.marginal(3)
    array([0.375, 0.625])
    >>> bp.observe(3, 1)
    >>> _ = bp.run()
    >>> bp.probability(1)
    0.4
    """

    def __init__(
        self, graph: FactorGraph, schedule: Any = "PARALL", *, backend: str = "auto", device: Union[int, Sequence[int], None] = None,
        threads: Optional[int] = None, seed: int = 1, blocks: int = 8, log_domain: bool = False,
        compile_tables: bool = True,
    ) -> None:
        if not isinstance(graph, FactorGraph):
            raise InvalidArgumentError(f"{type(graph).__name__}: a FactorGraph is needed")
        self._graph = graph
        devices = _devices(device)
        # As they are given, since pickled sessions are made of them.
        self._options: Dict[str, Any] = {"backend": backend, "device": devices or None,
                                         "threads": _number(threads, "threads", 1 << 32), "compile_tables": compile_tables}
        self._schedule = _schedule(schedule, seed, blocks, log_domain)
        self._native = _native.Session(graph._native, *self._schedule, backend, self._options["threads"],
                                       devices, compile_tables)

    @property
    def graph(self) -> FactorGraph:
        """The graph."""
        return self._graph

    @property
    def schedule(self) -> str:
        """Name of the schedule; CUSTOM for ranks."""
        return self._native.schedule()

    @property
    def backend(self) -> str:
        """Where the last run was made, or the next one will most likely be: "cpu" or "cuda"."""
        return self._native.backend()

    @property
    def threads(self) -> int:
        """Number of CPU threads that iterations run on."""
        return self._native.threads()

    def level_widths(self) -> np.ndarray:
        """Numbers of edges whose messages are updated at once: shape (levels,)."""
        return self._native.level_widths()

    def set_schedule(self, schedule: Any, *, seed: int = 1, blocks: int = 8, log_domain: bool = False) -> None:
        """Replaces the schedule. Messages, evidence and results stay."""
        chosen = _schedule(schedule, seed, blocks, log_domain)
        self._native.set_schedule(self._graph._native, *chosen)
        self._schedule = chosen

    def copy(self) -> "BeliefPropagation":
        """An independent session in the same state."""
        other = object.__new__(BeliefPropagation)
        other._graph, other._options, other._schedule = self._graph, self._options, self._schedule
        other._native = self._native.copy()
        return other

    __copy__ = copy

    # --- Evidence

    def observe(self, variable: Variable, state: Union[int, str]) -> None:
        """Observes a variable, by label or name, in a state, by number or name."""
        self.add_evidence({variable: state})

    def set_likelihood(self, variable: Variable, likelihood: Any) -> None:
        """Sets soft evidence: a weight >= 0 for each state of a variable, shape (states,)."""
        self.add_evidence({variable: real(likelihood, "likelihood")})

    def add_evidence(self, evidence: Any) -> None:
        """Adds evidence, as :meth:`set_evidence` takes it; that about other variables stays."""
        self._native.observe(given(self._graph, evidence))

    def set_evidence(self, evidence: Any) -> None:
        """Replaces all evidence.

        Parameters
        ----------
        evidence : dict, array_like of int, or None
            By label or name, the number or name of a state, or a likelihood of shape (states,). Or for all variables by
            index the number of a state, -1 for those that are not observed: shape (variables,).

        Examples
        --------
        >>> import fastlbp
        >>> graph = fastlbp.FactorGraph.from_pairwise([[1, 1], [1, 1]], [[0, 1]], [[2, 1], [1, 2]])
        >>> bp = fastlbp.BeliefPropagation(graph)
        >>> bp.set_evidence({0: 1, 1: [0.5, 1.0]})
        >>> bp.set_evidence([1, -1])
        >>> bp.evidence
        {0: 1}
        """
        self._native.set_evidence(given(self._graph, evidence))

    def clear_evidence(self, variable: Optional[Variable] = None) -> None:
        """Forgets the evidence of a variable, or all."""
        if variable is None:
            self.set_evidence(None)
        else:
            self._native.clear_evidence(self._graph.index(variable))

    @property
    def evidence(self) -> Dict[int, Any]:
        """What is known, by label: the number of a state, or a likelihood."""
        return taken(self._graph, self._native.evidence())

    # --- Runs

    def run(
        self, *, iterations: Optional[int] = None, tolerance: Optional[float] = None,
        max_iterations: Optional[int] = None, bingo: Optional[Tuple[float, int, int, int]] = None,
        all_beliefs: bool = False, warm: bool = False, max_time: Optional[float] = None, contradiction: str = "error",
        inference: str = "sum-product", damping: float = 0.0, active_threshold: Optional[float] = None,
        trace: bool = False, progress: Optional[Callable[[Progress], Any]] = None,
    ) -> RunReport:
        """Runs iterations. Other threads of Python run meanwhile, and Ctrl-C ends the run.

        Parameters
        ----------
        iterations : int, optional
            Make exactly so many.
        tolerance : float
            Else stop when no probability has changed by more than this in an iteration; 1e-9 unless given.
        max_iterations : int
            Most iterations to wait for the tolerance; 1000 unless given.
        bingo : Bingo or tuple, optional
            BINGO's rule in place of these: tolerance, min_iterations, max_iterations, history.
        all_beliefs : bool
            Whether the tolerance is also for the beliefs of factors, as in libDAI.
        warm : bool
            Start from the messages as they are, not from uniform ones.
        max_time : float, optional
            Seconds after which no further iteration begins.
        contradiction : {"error", "vote"}
            What happens where deterministic messages disagree.
        inference : {"sum-product", "max-product"}
            Marginals, or max-marginals for :meth:`find_maximum`.
        damping : float
            d in [0, 1): a message becomes old^d * new^(1-d).
        active_threshold : float, optional
            Compute a message again only if one that it reads has changed by more than this, in log-odds.
        trace : bool
            Measure everything after each iteration, for :attr:`RunReport.trace`.
        progress : callable, optional
            Is called with a :class:`Progress` after each iteration. If it returns False, the run ends; so it does if it
            raises an exception, which the caller then gets.

        Returns
        -------
        RunReport

        Raises
        ------
        ContradictionError
            Deterministic messages disagree, with ``contradiction="error"``.
        """
        wanted = request(
            iterations=iterations, tolerance=tolerance, max_iterations=max_iterations, bingo=bingo,
            all_beliefs=all_beliefs, warm=warm, max_time=max_time, contradiction=contradiction, inference=inference,
            damping=damping, active_threshold=active_threshold, trace=trace)
        done = None
        try:
            done = report(*self._native.run(wanted, heard(progress)))
        finally:
            warn(self._take_notes(), done, self._graph.describe)
        return done

    def _take_notes(self) -> List[str]:
        try:
            return self._native.take_notes()
        except Error:
            # Another thread is using the session, and will be told.
            return []

    def prepare(self, **options: Any) -> None:
        """Makes what a run with such options, those of :meth:`run`, needs, so that it begins at once."""
        self._native.prepare(request(**options))

    def run_batch(
        self, evidence: Any, *, progress: Optional[Callable[[int, int], Any]] = None, **options: Any,
    ) -> BatchResults:
        """Runs many sets of evidence, each as a fresh run of its own with exactly that evidence, several at once.

        Parameters
        ----------
        evidence : ndarray of int, shape (entries, variables), or sequence
            A row of states by index for each entry, -1 for variables that are not observed; or a sequence of what
            :meth:`set_evidence` takes.
        progress : callable, optional
            Is called with the numbers of finished entries and of all after each entry; False ends the batch.
        **options
            Those of :meth:`run`, but for `warm` and `trace`.

        Returns
        -------
        BatchResults
            Marginals of shape (entries, states of all variables). The session's own state stays as it is.

        Examples
        --------
        >>> import fastlbp, numpy as np
        >>> graph = fastlbp.FactorGraph.from_pairwise([[1, 1], [1, 1]], [[0, 1]], [[2, 1], [1, 2]])
        >>> bp = fastlbp.BeliefPropagation(graph, "TREE")
        >>> bp.run_batch(np.array([[-1, -1], [-1, 0]])).marginals.shape
        (2, 4)
        """
        if options.get("trace"):
            raise InvalidArgumentError("trace of a batch: traces are those of single runs")
        entries = batch(self._graph, evidence)
        marginals, outcomes = self._native.run_batch(entries, request(**options), progress)
        warn(self._take_notes(), None, self._graph.describe)
        reports = [one if isinstance(one, Error) else report(one) for one in outcomes]
        return BatchResults(marginals.reshape(len(reports), self._graph.state_count), reports)

    def reset(self) -> None:
        """Makes all messages uniform. Evidence, schedule and results stay."""
        self._native.reset()

    # --- Results

    @property
    def report(self) -> Optional[RunReport]:
        """What the last run did that ended without an exception, or None."""
        fields = self._native.report()
        return None if fields is None else report(fields)

    def marginals(self) -> np.ndarray:
        """Marginals of all variables from the last run.

        Returns
        -------
        ndarray, shape (states of all variables,)
            The probabilities of the states of variable 0 (by index), then those of variable 1, and so on:
            ``graph.state_offsets`` says where each begins. Where all variables have k states, ``.reshape(-1, k)`` has a
            row for each. The array is the library's own memory, not a copy, and not writeable; later runs leave it as
            it is.
        """
        return self._native.marginals()

    def marginal(self, variable: Variable) -> np.ndarray:
        """Marginal of a variable, by label or name: shape (states,), a view of :meth:`marginals`."""
        return self.marginals()[self._graph._states_of(self._graph.index(variable))]

    def probabilities(self) -> np.ndarray:
        """P(x = 1) of all variables, for graphs of binary ones: shape (variables,), a view of :meth:`marginals`."""
        if not self._graph.all_binary:
            raise UnsupportedError("P(x = 1) of all variables is there for graphs of binary variables: "
                                   "marginals() has all states")
        return self.marginals()[1::2]

    def probability(self, variable: Variable, state: Union[int, str] = 1) -> float:
        """The probability of a state of a variable."""
        own = self.marginal(variable)
        number = self._graph.state(self._graph.index(variable), state)
        if number >= len(own):
            from .errors import OutOfRangeError

            raise OutOfRangeError(f"state {number} of variable {variable}: it has {len(own)} states")
        return float(own[number])

    def factor_belief(self, factor: int) -> np.ndarray:
        """Belief of a factor from the current messages: shape (cardinalities of its variables, by ascending index)."""
        belief = self._native.factor_belief(_as_index(factor, "factor"))
        return _shaped(self._graph, belief, self._graph.scope(factor).variables)

    def belief(self, variables: Sequence[Variable]) -> np.ndarray:
        """Joint belief of variables that share a factor: shape (cardinality of each, in the order given)."""
        indices = [self._graph.index(variable) for variable in variables]
        return _shaped(self._graph, self._native.joint_belief(indices), indices)

    def log_partition(self) -> float:
        """Natural logarithm of the partition function, by the Bethe approximation; exact on trees."""
        return self._native.log_partition()

    def find_maximum(self) -> np.ndarray:
        """A most probable joint state, decoded after a run with ``inference="max-product"``: shape (variables,), by
        index."""
        return self._native.find_maximum()

    def log_score(self, states: Any) -> float:
        """Natural logarithm of the product of all factors at a joint state, shape (variables,)."""
        return self._native.log_score(whole(states, "states"))

    # --- Messages

    def messages(self) -> np.ndarray:
        """All messages from factors to variables, edge by edge, a probability for each state of the edge's variable: shape
        (sum of the cardinalities of all edges' variables,)."""
        return self._native.messages()

    def set_messages(self, messages: Any) -> None:
        """Replaces all messages, in the layout of :meth:`messages`; the next warm run starts from them."""
        self._native.set_messages(real(messages, "messages"))

    def save_state(self) -> np.ndarray:
        """The exact state of the messages, ``uint64``, of a shape (words,) of its own: after :meth:`restore_state` on an
        equal graph, a warm run goes on with the same bits."""
        return self._native.save_state()

    def restore_state(self, state: Any) -> None:
        """Goes back to a state of :meth:`save_state`; evidence, schedule and results are not part of it."""
        self._native.restore_state(whole(state, "state"))

    # --- Pickling

    def __reduce__(self) -> Tuple[Any, ...]:
        state = (self._graph, self._schedule, self._options, self._native.evidence(), self._native.save_state())
        return _restored, state

    def __repr__(self) -> str:
        return f"<BeliefPropagation: {self.schedule} on {self._graph!r}>"


def _restored(graph: FactorGraph, schedule: _Schedule, options: Dict[str, Any], evidence: Any,
              state: np.ndarray) -> BeliefPropagation:
    name, ranks, seed, blocks, log_domain = schedule
    session = BeliefPropagation(graph, name if ranks is None else ranks, seed=seed, blocks=blocks, log_domain=log_domain,
                                **options)
    session._native.set_evidence(evidence)
    session._native.restore_state(state)
    return session


def _schedule(schedule: Any, seed: int, blocks: int, log_domain: bool) -> _Schedule:
    """A schedule as the native part takes it: name, ranks, and what some names need."""
    seed, blocks = _as_index(seed, "seed"), _as_index(blocks, "blocks")
    if seed >= 1 << 64 or blocks >= 1 << 32:
        raise InvalidArgumentError(f"seed {seed}, blocks {blocks}: at most 64 and 32 bits are possible")
    if isinstance(schedule, str):
        return schedule, None, seed, blocks, bool(log_domain)
    return "CUSTOM", whole(schedule, "schedule"), seed, blocks, bool(log_domain)


def _devices(value: Union[int, Sequence[int], None]) -> List[int]:
    """The numbers of devices; none for the default."""
    if value is None:
        return []
    several = [value] if isinstance(value, (int, np.integer)) else list(value)
    if not several:
        raise InvalidArgumentError("device: an empty sequence; None is for the default")
    return [_number(number, "device", 1 << 32) or 0 for number in several]


def _number(value: Optional[int], name: str, limit: int) -> Optional[int]:
    if value is None:
        return None
    number = _as_index(value, name)
    if number >= limit:
        raise InvalidArgumentError(f"{name} {number}: less than {limit} is needed")
    return number


def _shaped(graph: FactorGraph, belief: np.ndarray, variables: Sequence[int]) -> np.ndarray:
    return belief.reshape([int(graph.cardinalities[variable]) for variable in variables], order="F")
