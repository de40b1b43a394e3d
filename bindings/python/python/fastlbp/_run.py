"""What runs are asked to do and what they report."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from typing import Any, Callable, NamedTuple, Optional, Tuple

import numpy as np

from . import _native
from .errors import FastlbpWarning, InvalidArgumentError

__all__ = ["Bingo", "Progress", "RunReport"]


class Bingo(NamedTuple):
    """BINGO's rule for the end of a run: at the tolerance, or, between the two numbers of iterations, when few variables
    and factors still move. Without convergence the results are the means of the last `history` beliefs."""

    tolerance: float = 1e-6
    min_iterations: int = 500
    max_iterations: int = 1000
    history: int = 100


class Progress(NamedTuple):
    """The state of a run after an iteration, for callbacks."""

    #: Iterations done in this run.
    iterations: int
    #: Largest number of iterations that this run can make.
    max_iterations: int
    #: Largest change in the last iteration; infinite where the rule does not measure it.
    max_diff: float
    #: Share of variables and factors that moved by more than the tolerance, by BINGO's rule; else 1.
    active_fraction: float
    #: Share of variables that changed by more than the tolerance, where it is measured (``trace=True``).
    unconverged: Optional[float]
    #: Number of contradictory places, where they are counted (``trace=True``).
    contradictions: Optional[int]


@dataclass(frozen=True)
class RunReport:
    """What a run did."""

    #: Iterations of this run.
    iterations: int
    #: Iterations since the messages were uniform.
    total_iterations: int
    #: Why it ended: "converged", "iterations", "share", "time" or "cancelled".
    reason: str
    #: Whether the changes fell to the tolerance; False for a fixed number of iterations.
    converged: bool
    #: Largest change in the last iteration.
    max_diff: float
    #: Share of variables and factors that moved by more than the tolerance in the last iteration (BINGO's rule).
    active_fraction: float
    #: Largest number of contradictory places in any one iteration.
    contradictions: int
    #: Index of the lowest contradictory variable in the first iteration that had one.
    first_contradiction: Optional[int]
    #: Number of messages that a run with an active set left out on the CPU, which depends on what was faster; 0 on devices.
    spared_messages: int
    #: With ``trace=True``, a row for each iteration: a ``pandas.DataFrame`` where pandas is there, else a structured
    #: array, with the columns iteration, largest_change, unconverged, contradictions and seconds.
    trace: Any = field(default=None, compare=False, repr=False)


def request(
    *, iterations: Optional[int] = None, tolerance: Optional[float] = None, max_iterations: Optional[int] = None,
    bingo: Optional[Tuple[float, int, int, int]] = None, all_beliefs: bool = False, warm: bool = False,
    max_time: Optional[float] = None, contradiction: str = "error", inference: str = "sum-product",
    damping: float = 0.0, active_threshold: Optional[float] = None, trace: bool = False,
) -> "_native.Request":
    """A request by the keywords of :meth:`BeliefPropagation.run`."""
    if iterations is not None and not (tolerance is None and max_iterations is None and bingo is None):
        raise InvalidArgumentError("iterations makes exactly so many: no tolerance, max_iterations or bingo beside it")
    if bingo is not None and not (tolerance is None and max_iterations is None):
        raise InvalidArgumentError("bingo has a tolerance and numbers of iterations of its own")
    least, history = 0, 1
    if iterations is not None:
        rule, tolerance, most = "iterations", 0.0, iterations
    elif bingo is not None:
        rule = "bingo"
        tolerance, least, most, history = bingo
    else:
        rule = "all-beliefs" if all_beliefs else "tolerance"
        tolerance = 1e-9 if tolerance is None else tolerance
        most = 1000 if max_iterations is None else max_iterations
    for name, number in (("iterations", most), ("min_iterations", least), ("history", history)):
        if not isinstance(number, (int, np.integer)) or not 0 <= number < 1 << 64:
            raise InvalidArgumentError(f"{name} {number!r}: a whole number >= 0 is needed")
    if max_time is not None and math.isinf(max_time) and max_time > 0:
        max_time = None
    return _native.Request(rule, tolerance, least, most, history, "warm" if warm else "fresh", max_time, contradiction,
                           inference, damping, active_threshold, trace)


def heard(progress: Optional[Callable[[Progress], Any]]) -> Optional[Callable[..., Any]]:
    """A callback as the native part calls it."""
    if progress is None:
        return None
    callback = progress
    return lambda *fields: callback(Progress(*fields))


def report(fields: _native._Report, trace: Optional[Tuple[np.ndarray, ...]] = None) -> RunReport:
    """A report from what the native part gives."""
    return RunReport(*fields, trace=None if trace is None else _table(trace))


def warn(notes: Any, done: Optional[RunReport], describe: Callable[[int], str], depth: int = 3) -> None:
    """Warns of what there is to know about a run."""
    for note in notes:
        warnings.warn(note, FastlbpWarning, stacklevel=depth)
    if done is not None and done.first_contradiction is not None:
        warnings.warn(
            f"deterministic messages that disagree met at variable {describe(done.first_contradiction)} "
            f"({done.contradictions} such places in an iteration): the state backed by more of them won",
            FastlbpWarning, stacklevel=depth)
    if done is not None and done.reason == "time":
        warnings.warn(f"the time was up after {done.iterations} iterations", FastlbpWarning, stacklevel=depth)


_COLUMNS = ("iteration", "largest_change", "unconverged", "contradictions", "seconds")


def _table(columns: Tuple[np.ndarray, ...]) -> Any:
    try:
        import pandas
    except ImportError:
        return np.rec.fromarrays(columns, names=",".join(_COLUMNS))
    return pandas.DataFrame(dict(zip(_COLUMNS, columns)))
