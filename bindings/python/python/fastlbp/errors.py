"""What goes wrong, as exceptions, and what there is to know, as warnings.

All exceptions of the library are an :class:`Error`, and also what Python calls such a thing: a wrong value is a
``ValueError``, a missing file a ``FileNotFoundError``. The attribute ``status`` has the name that the C interface gives
it, such as ``"INVALID_ARGUMENT"``.
"""

from __future__ import annotations

from typing import Dict, Optional, Tuple, Type

__all__ = [
    "BusyError",
    "ContradictionError",
    "DeviceError",
    "Error",
    "FastlbpWarning",
    "FileError",
    "InvalidArgumentError",
    "LimitExceededError",
    "NoDeviceError",
    "NoResultError",
    "OutOfMemoryError",
    "OutOfRangeError",
    "ParseError",
    "UnsupportedError",
]


class FastlbpWarning(UserWarning):
    """Something that is no error: where a run was made and why, or how contradictions were decided."""


class Error(Exception):
    """Base of all exceptions of this library."""

    #: The name of the status in the C interface.
    status: str = "PANIC"


class InvalidArgumentError(Error, ValueError):
    """A value is not one that the call accepts."""

    status = "INVALID_ARGUMENT"


class OutOfRangeError(Error, IndexError):
    """An index, label, name or state names nothing in the graph."""

    status = "OUT_OF_RANGE"


class ParseError(Error, ValueError):
    """A text does not follow its format; says file and line."""

    status = "PARSE"


class FileError(Error, OSError):
    """A file could not be opened, read or written."""

    status = "IO"


class MissingFileError(FileError, FileNotFoundError):
    """There is no such file."""


class ContradictionError(Error):
    """The evidence and the factors contradict each other.

    Attributes
    ----------
    label : int
        Label of the lowest contradictory variable.
    variable : int
        Index of that variable.
    factor : int or None
        The factor that is zero at the observed states of its variables, where that is the contradiction.
    iteration : int
        The iteration, counted from 1; 0 with a factor, and in exact inference.
    count : int
        Number of contradictory places in that iteration, or of such factors.
    """

    status = "CONTRADICTION"

    def __init__(self, text: str, place: Tuple[int, int, Optional[int], int, int]) -> None:
        super().__init__(text, place)
        self.label, self.variable, self.factor, self.iteration, self.count = place

    def __str__(self) -> str:
        return str(self.args[0])


class NoResultError(Error):
    """Results were asked for before there were any."""

    status = "NO_RESULT"


class BusyError(Error, RuntimeError):
    """Another call is running on this session, on another thread or further up on this one."""

    status = "BUSY"


class OutOfMemoryError(Error, MemoryError):
    """Memory could not be had."""

    status = "OUT_OF_MEMORY"


class LimitExceededError(Error, ValueError):
    """Something is larger than the library's 32-bit indices or its limits allow."""

    status = "LIMIT_EXCEEDED"


class UnsupportedError(Error, ValueError):
    """The request is well-formed, but nothing here does it."""

    status = "UNSUPPORTED"


class NoDeviceError(Error, RuntimeError):
    """There is no usable CUDA device; says why."""

    status = "NO_DEVICE"


class DeviceError(Error, RuntimeError):
    """A CUDA device failed, or computed wrongly."""

    status = "DEVICE_FAILED"


def _file_error(code: Optional[int], reason: str, path: str, text: str) -> FileError:
    if code is None:
        return FileError(text)
    missing = isinstance(OSError(code, reason), FileNotFoundError)
    return (MissingFileError if missing else FileError)(code, reason, path)


_CLASSES: Tuple[Type[Error], ...] = (
    Error,
    InvalidArgumentError,
    OutOfRangeError,
    ParseError,
    ContradictionError,
    NoResultError,
    BusyError,
    OutOfMemoryError,
    LimitExceededError,
    UnsupportedError,
    NoDeviceError,
    DeviceError,
)

#: What makes an exception, by the name of its status: for the native part.
of_status: Dict[str, object] = {"IO": _file_error, **{one.status: one for one in _CLASSES}}
