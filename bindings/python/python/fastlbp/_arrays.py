"""Arguments as the arrays that the native part takes: one type each, contiguous, without a copy where that is possible."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import InvalidArgumentError


def whole(values: Any, name: str, dtype: Any = np.uint64, dimensions: int = 1) -> np.ndarray:
    """Numbers >= 0 as an array of `dtype`. Signed numbers of 64 bits are looked at, but not copied.

    Raises
    ------
    InvalidArgumentError
        Another number of dimensions; numbers that are negative, too large, or no whole numbers.
    """
    array = _array(values, name)
    if array.ndim != dimensions:
        raise InvalidArgumentError(f"{name} has {array.ndim} dimensions: {dimensions} are needed")
    if array.size == 0 and array.dtype.kind in "fiub":
        return np.zeros(array.shape, dtype)
    if array.dtype.kind not in "iub":
        raise InvalidArgumentError(f"{name} has the type {array.dtype}: whole numbers are needed")
    wanted = np.dtype(dtype)
    if array.dtype == wanted and array.dtype.isnative:
        return np.ascontiguousarray(array)
    limits = np.iinfo(wanted)
    lowest, highest = int(array.min()), int(array.max())
    if lowest < limits.min or highest > limits.max:
        wrong = lowest if lowest < limits.min else highest
        raise InvalidArgumentError(f"{name} has the entry {wrong}: {limits.min} to {limits.max} are possible")
    if array.dtype.itemsize == wanted.itemsize and array.dtype.isnative and array.dtype.kind in "iu":
        return np.ascontiguousarray(array).view(wanted)
    return np.ascontiguousarray(array, dtype=wanted)


def real(values: Any, name: str, dimensions: int = 1) -> np.ndarray:
    """Numbers as an array of `float64`; what they may be is checked by the native part."""
    array = _array(values, name)
    if array.ndim != dimensions:
        raise InvalidArgumentError(f"{name} has {array.ndim} dimensions: {dimensions} are needed")
    return reals(array, name)


def reals(values: Any, name: str) -> np.ndarray:
    """Numbers as an array of `float64` of any shape."""
    array = _array(values, name)
    if array.dtype.kind not in "fiub":
        raise InvalidArgumentError(f"{name} has the type {array.dtype}: real numbers are needed")
    # (`ascontiguousarray` would give an array without dimensions one.)
    return np.asarray(array, dtype=np.float64, order="C")


def flags(values: Any, name: str) -> np.ndarray:
    """Truth values as a one-dimensional array."""
    array = _array(values, name)
    if array.size == 0:
        array = array.astype(bool)
    if array.ndim != 1 or not (array.dtype.kind == "b" or (array.dtype.kind in "iu" and np.isin(array, (0, 1)).all())):
        raise InvalidArgumentError(f"{name}: a list of truth values is needed")
    return np.ascontiguousarray(array, dtype=bool)


def first_fastest(values: Any, arity: int, name: str) -> np.ndarray:
    """Values of a table over `arity` variables: as they are if they are a list, where the first variable changes fastest;
    else of an array with one dimension for each variable."""
    array = reals(values, name)
    if array.ndim == 1:
        return array
    if array.ndim != arity:
        raise InvalidArgumentError(f"{name} has {array.ndim} dimensions: {arity}, one for each variable, or 1 are needed")
    return array.ravel(order="F")


def _array(values: Any, name: str) -> np.ndarray:
    try:
        return np.asarray(values)
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidArgumentError(f"{name}: {error}") from error
