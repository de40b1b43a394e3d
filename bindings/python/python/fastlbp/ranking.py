"""Rankings: which alarm to inspect next, and which candidate is the most suspicious."""

from __future__ import annotations

import os
from typing import Any, Callable, Iterable, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _native
from ._run import Bingo, Progress, RunReport, heard, report, request, warn
from .errors import OutOfRangeError
from .graph import FactorGraph, Variable
from .session import BeliefPropagation

__all__ = ["Derivation", "Inspection", "Quality", "RankedAlarm", "Suspect", "Suspects", "locate", "rank"]


class RankedAlarm(NamedTuple):
    """An alarm that was not inspected yet."""

    #: Label of its variable.
    label: int
    #: Its name, if it has one.
    name: Optional[str]
    #: The probability that it is a true one.
    probability: float


class Derivation(NamedTuple):
    """A way to derive a variable."""

    #: Label of the variable that stands for it, if one does.
    label: Optional[int]
    #: The probability of that variable; else, if it can be had, that the derived variable and all premises are true.
    probability: Optional[float]
    #: The probability of the conclusion where all premises hold, if a rule says so.
    strength: Optional[float]
    #: Labels of the premises with their probabilities, the least probable first.
    premises: Tuple[Tuple[int, float], ...]


class Quality(NamedTuple):
    """What a sequence of answers was worth."""

    #: Number of true alarms found.
    found: int
    #: Over all false alarms, the number of true ones inspected later, summed.
    inversions: int
    #: Number of answers until all true alarms were found (Rank-100%-T).
    rank_all: Optional[int]
    #: Number of answers until 90 % of them were found (Rank-90%-T).
    rank_ninety_percent: Optional[int]

    @classmethod
    def of(cls, answers: Iterable[bool], all_true: int) -> "Quality":
        """The quality of answers, True for a true alarm, where there are so many true alarms in all.

        Examples
        --------
        >>> import fastlbp
        >>> fastlbp.Quality.of([True, False, True], 2)
        Quality(found=2, inversions=1, rank_all=3, rank_ninety_percent=3)
        """
        return cls(*_native.quality([bool(answer) for answer in answers], all_true))


class Inspection:
    """The loop of BINGO: the most probable alarm is inspected, its answer is observed, the others are ranked again.

    Parameters
    ----------
    session : BeliefPropagation
        Its graph, schedule, options and evidence are those of the inspection; it stays as it is.
    alarms : sequence of label, name of a variable, or (variable, name)
        Binary variables, in state 1 if the alarm is a true one. Names order alarms of equal probability.
    journal : path, optional
        A file that keeps the answers: with the same one, an inspection goes on where it was left.
    exact_ties : bool
        Whether probabilities are compared with all digits; with six, as BINGO does, unless asked for.
    progress : callable, optional
        As for :meth:`BeliefPropagation.run`, for all runs.
    **options
        Those of :meth:`BeliefPropagation.run`; by default those of BINGO's driver: its rule, and ``vote``.

    Examples
    --------
    >>> import fastlbp
    >>> builder = fastlbp.FactorGraphBuilder()
    >>> builder.add_prior(1, 0.6)
    >>> builder.add_prior(2, 0.5)
    >>> for alarm, cause, p in [(10, 1, 0.9), (11, 1, 0.8), (12, 2, 0.9)]:
    ...     builder.add_and(alarm, [cause], p)
    >>> inspection = fastlbp.Inspection(fastlbp.BeliefPropagation(builder.build(), "SEQFIX"), [10, 11, 12])
    >>> [alarm.label for alarm in inspection.order()]
    [10, 11, 12]
    >>> _ = inspection.answer(10, False)
    >>> [alarm.label for alarm in inspection.order()]
    [12, 11]
    """

    def __init__(
        self, session: BeliefPropagation, alarms: Sequence[Union[Variable, Tuple[Variable, Optional[str]]]], *,
        journal: Optional[Union[str, "os.PathLike[str]"]] = None, exact_ties: bool = False,
        progress: Optional[Callable[[Progress], Any]] = None, **options: Any,
    ) -> None:
        self._graph = session.graph
        named = [_named(self._graph, alarm) for alarm in alarms]
        self._alarms = [(int(self._graph.labels[index]), name) for index, name in named]
        self._places = {label: place for place, (label, _) in enumerate(self._alarms)}
        self._callback = heard(progress)
        if not {"iterations", "tolerance", "max_iterations", "bingo"} & set(options):
            options["bingo"] = Bingo()
        options.setdefault("contradiction", "vote")
        self._native = _native.Inspection(session._native, named, request(**options), exact_ties)
        self.report: RunReport = self._told(self._native.begin(None if journal is None else os.fspath(journal),
                                                              self._callback))

    def _told(self, fields: _native._Report) -> RunReport:
        self.report = report(fields)
        warn(self._native.take_notes(), self.report, self._graph.describe, 4)
        return self.report

    @property
    def graph(self) -> FactorGraph:
        """The graph."""
        return self._graph

    def order(self) -> List[RankedAlarm]:
        """The alarms that are left, the most probable first."""
        return [RankedAlarm(*self._alarms[place], probability) for place, probability in self._native.order()]

    def answer(self, alarm: Variable, is_true: bool) -> RunReport:
        """Says of an alarm, by label or name of its variable, whether it is a true one, and ranks the others again."""
        label = int(self._graph.labels[self._graph.index(alarm)])
        place = self._places.get(label)
        if place is None:
            raise OutOfRangeError(f"variable {alarm!r} is none of the alarms")
        return self._told(self._native.answer(place, bool(is_true), self._callback))

    def undo(self) -> Optional[Tuple[int, bool]]:
        """Takes the last answer back: its label and what it was; None if there is none."""
        undone = self._native.undo(self._callback)
        if undone is None:
            return None
        place, is_true, fields = undone
        self._told(fields)
        return self._alarms[place][0], is_true

    def answers(self) -> List[Tuple[int, bool]]:
        """The answers so far: label, and whether the alarm is a true one."""
        return [(self._alarms[place][0], is_true) for place, is_true in self._native.answers()]

    def marginals(self) -> np.ndarray:
        """Marginals of all variables from the last run; see :meth:`BeliefPropagation.marginals`."""
        return self._native.marginals()

    def explain(self, variable: Variable) -> List[Derivation]:
        """The derivations of a variable and their probabilities, the most probable first."""
        labels = self._graph.labels
        derivations = self._native.explain(self._graph.index(variable))
        return [Derivation(None if of is None else int(labels[of]), probability, strength,
                           tuple((int(labels[premise]), p) for premise, p in premises))
                for of, probability, strength, premises in derivations]


def rank(
    session: BeliefPropagation, alarms: Sequence[Any], truth: Union[Callable[[int], bool], Sequence[bool]], *,
    until_found: bool = True, **options: Any,
) -> Tuple[List[Tuple[int, bool, float]], Quality]:
    """Inspects alarms whose truth is known, or asked of a function, as ``fastlbp rank --answers`` does.

    Parameters
    ----------
    session, alarms, **options
        As for :class:`Inspection`.
    truth : sequence of bool, or callable
        Whether each alarm is a true one, in the order of `alarms`; or a function of the label.
    until_found : bool
        Whether to end when all true alarms are found; needs a sequence.

    Returns
    -------
    answers : list of (label, is_true, probability)
        Each with the probability that the alarm had when it was inspected.
    quality : Quality
    """
    inspection = Inspection(session, alarms, **options)
    known = None if callable(truth) else {label: bool(is_true) for (label, _), is_true in zip(inspection._alarms, truth)}
    all_true = None if known is None else sum(known.values())
    answers: List[Tuple[int, bool, float]] = []
    while inspection.order():
        if until_found and all_true is not None and sum(one[1] for one in answers) == all_true:
            break
        first = inspection.order()[0]
        is_true = bool(truth(first.label)) if callable(truth) else known[first.label]  # type: ignore[index]
        inspection.answer(first.label, is_true)
        answers.append((first.label, is_true, first.probability))
    found = sum(is_true for _, is_true, _ in answers)
    return answers, Quality.of([one[1] for one in answers], found if all_true is None else all_true)


class Suspect(NamedTuple):
    """A ranked candidate. Candidates of one probability share their ranks."""

    #: Label of its variable.
    label: int
    #: The probability that it is at fault.
    probability: float
    #: Its rank, from 1, if it came first among those of its probability.
    best: int
    #: Its rank if it came last among them.
    worst: int

    @property
    def average(self) -> float:
        """The mean of the two."""
        return (self.best + self.worst) / 2


class Suspects(List[Suspect]):
    """Candidates, the most suspicious first.

    Attributes
    ----------
    first_average, first_worst : float or None
        Mean and last rank of the first candidate that is at fault, where that is known.
    report : RunReport
        What the run did.
    """

    first_average: Optional[float] = None
    first_worst: Optional[int] = None
    report: RunReport


def locate(
    session: BeliefPropagation, candidates: Sequence[Variable], *, at_fault: Optional[Iterable[Variable]] = None,
    fault_state: int = 0, **options: Any,
) -> Suspects:
    """Runs and ranks candidates by the probability that they are at fault, as ``fastlbp locate`` does.

    Parameters
    ----------
    session : BeliefPropagation
        Graph, schedule and evidence; its results are those of the run afterwards.
    candidates : sequence of label or name
        Variables.
    at_fault : iterable of label or name, optional
        Those that are at fault, where that is known.
    fault_state : int
        The state in which a candidate is at fault.
    **options
        Those of :meth:`BeliefPropagation.run`; by default those of SmartFL: tolerance 1e-8, at most 500 iterations,
        ``vote``.

    Returns
    -------
    Suspects
    """
    graph = session.graph
    if not {"iterations", "tolerance", "max_iterations", "bingo"} & set(options):
        options.update(tolerance=1e-8, max_iterations=500)
    options.setdefault("contradiction", "vote")
    indices = [graph.index(candidate) for candidate in candidates]
    faulty = {graph.index(candidate) for candidate in at_fault or ()}
    done = session.run(**options)
    ranked, first = _native.suspects(session._native, indices, fault_state, [index in faulty for index in indices])
    suspects = Suspects(Suspect(int(graph.labels[indices[place]]), probability, best, worst)
                        for place, probability, best, worst in ranked)
    suspects.report = done
    if first is not None:
        suspects.first_average, suspects.first_worst = first
    return suspects


def _named(graph: FactorGraph, alarm: Any) -> Tuple[int, Optional[str]]:
    if isinstance(alarm, tuple):
        variable, name = alarm
        return graph.index(variable), name
    index = graph.index(alarm)
    return index, None if graph.names is None else graph.names[index]
