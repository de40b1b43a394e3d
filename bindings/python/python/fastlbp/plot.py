"""Pictures with matplotlib: the extra ``plot``."""

from __future__ import annotations

from typing import Any, Optional, Sequence

import numpy as np

from ._run import RunReport
from .graph import Variable
from .session import BeliefPropagation

__all__ = ["marginals", "trace"]


def trace(report: RunReport, axes: Any = None) -> Any:
    """Draws the largest change and the share of unconverged variables by iteration.

    Parameters
    ----------
    report : RunReport
        Of a run with ``trace=True``.
    axes : matplotlib.axes.Axes, optional
        Where to draw; new ones unless given.

    Returns
    -------
    matplotlib.axes.Axes
    """
    if report.trace is None:
        raise ValueError("this run has no trace: run with trace=True")
    axes = _axes(axes)
    iterations = np.asarray(report.trace["iteration"])
    for column, text in (("largest_change", "largest change"), ("unconverged", "share of unconverged variables")):
        values = np.asarray(report.trace[column], dtype=float)
        axes.plot(iterations, np.where(np.isfinite(values) & (values > 0), values, np.nan), label=text)
    axes.set(xlabel="iteration", yscale="log")
    axes.legend()
    return axes


def marginals(session: BeliefPropagation, variables: Optional[Sequence[Variable]] = None, axes: Any = None) -> Any:
    """Draws marginals of variables, by label or name, as bars; of all unless given.

    Returns
    -------
    matplotlib.axes.Axes
    """
    graph = session.graph
    wanted = graph.labels.tolist() if variables is None else list(variables)
    axes = _axes(axes)
    beliefs = [session.marginal(variable) for variable in wanted]
    places = np.arange(len(wanted))
    below = np.zeros(len(wanted))
    for state in range(max((len(belief) for belief in beliefs), default=0)):
        heights = np.array([belief[state] if state < len(belief) else 0.0 for belief in beliefs])
        axes.bar(places, heights, bottom=below, label=f"state {state}")
        below += heights
    axes.set_xticks(places, [graph.describe(graph.index(variable)) for variable in wanted], rotation=90)
    axes.set(ylabel="probability", ylim=(0, 1))
    axes.legend()
    return axes


def _axes(axes: Any) -> Any:
    if axes is not None:
        return axes
    from matplotlib import pyplot

    return pyplot.subplots()[1]
