"""fastlbp: belief propagation with any update schedule, exact parallelism and reproducible bits, on CPUs and CUDA devices.

A :class:`FactorGraph` is made from arrays, by a :class:`FactorGraphBuilder`, or read from a file; a
:class:`BeliefPropagation` is a session on it; :class:`ExactInference` has the same results exactly, for graphs of small
treewidth. :class:`Inspection` and :func:`locate` rank alarms and suspects. Models of other packages are converted by
:mod:`fastlbp.pgmpy`, :mod:`fastlbp.pyagrum` and :mod:`fastlbp.pgmax`; :mod:`fastlbp.plot` draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Optional, Tuple

from . import _native
from ._run import Bingo, Progress, RunReport
from .errors import (
    BusyError, ContradictionError, DeviceError, Error, FastlbpWarning, FileError, InvalidArgumentError,
    LimitExceededError, NoDeviceError, NoResultError, OutOfMemoryError, OutOfRangeError, ParseError, UnsupportedError,
)
from .exact import ExactInference
from .graph import WILDCARD, FactorGraph, FactorGraphBuilder, FactorKind, Scope
from .pgmax import from_pgmax, to_pgmax
from .pgmpy import from_pgmpy, to_pgmpy
from .pyagrum import from_pyagrum, to_pyagrum
from .ranking import Derivation, Inspection, Quality, RankedAlarm, Suspect, Suspects, locate, rank
from .session import BatchResults, BeliefPropagation, _number

__version__ = "0.1.0"

__all__ = [
    "BatchResults", "BeliefPropagation", "Bingo", "BusyError", "ContradictionError", "Derivation", "Device",
    "DeviceError", "Error", "ExactInference", "FactorGraph", "FactorGraphBuilder", "FactorKind", "FastlbpWarning",
    "FileError", "Inspection", "InvalidArgumentError", "LimitExceededError", "NoDeviceError", "NoResultError",
    "OutOfMemoryError", "OutOfRangeError", "ParseError", "Progress", "Quality", "RankedAlarm", "RunReport", "Scope",
    "Suspect", "Suspects", "UnsupportedError", "WILDCARD", "__version__", "devices",
    "from_pgmax", "from_pgmpy", "from_pyagrum", "locate", "rank", "start_device", "to_pgmax", "to_pgmpy", "to_pyagrum",
    "why_no_device",
]


@dataclass(frozen=True)
class Device:
    """A CUDA device."""

    #: By which `device` of :class:`BeliefPropagation` names it.
    index: int
    name: str
    #: Bytes.
    total_memory: int
    compute_capability: Tuple[int, int]
    multiprocessors: int


def devices() -> List[Device]:
    """The CUDA devices of this machine; none is no error, see :func:`why_no_device`."""
    return [Device(*fields) for fields in _native.devices()[0]]


def why_no_device() -> Optional[str]:
    """Why there is no CUDA device; None if there is one."""
    return _native.devices()[1]


def start_device(device: Optional[int] = None) -> None:
    """Starts the driver on a CUDA device, for which the first session on it would wait 0.2 seconds.

    A thread can do that while another one reads the graph. None is for the device of the environment variable
    FASTLBP_DEVICE. Where nothing else in the process uses CUDA, CUDA_DEVICE_MAX_CONNECTIONS=1 in the environment halves
    the time that the context takes.

    Raises :class:`NoDeviceError` if CUDA cannot be used, :class:`OutOfRangeError` if there is no device of this number,
    :class:`DeviceError` if it does not work.
    """
    _native.start_device(_number(device, "device", 1 << 32))
