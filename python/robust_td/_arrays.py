"""Prepares arrays for the native part: contiguous, of a plain type, with what is missing marked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._native import Error

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
#: Values, and which of them there are (None: all).
Column = tuple[Any, "Flags | None"]

FLAGS = ("terminated", "truncated")
IDS = ("episode", "cluster", "action", "target_action", "next_action")


def as_array(name: str, values: Any) -> Any:
    """An array or masked array of anything that is one."""
    if isinstance(values, np.ndarray):
        return values
    if hasattr(values, "isna") and hasattr(values, "astype") and getattr(values, "ndim", 0) == 1:
        # What pandas calls missing, of any kind.
        holes = np.asarray(values.isna())
        if holes.any():
            objects = np.asarray(values.astype(object)).copy()
            objects[holes] = None
            return objects
    try:
        return np.asanyarray(values)
    except ValueError as error:
        raise Error(_ragged(name, values) or f"{name}: {_line(error)}") from None
    except Exception as error:
        # Whatever the object's own conversion raises.
        raise Error(f"{name}: {_line(error)}") from None


def _line(error: Exception) -> str:
    """What an error says, in one line."""
    return " ".join(str(error).split()) or type(error).__name__


def _free() -> float:
    """The bytes that may be taken: three quarters of what is free, or no limit where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            free = next(line for line in lines if line.startswith("MemAvailable:"))
        return 0.75 * 1024 * int(free.split()[1])
    except (OSError, StopIteration, ValueError):
        return float("inf")


def _contiguous(name: str, data: Any, kind: Any) -> Any:
    """The same numbers in C order and of one type; a copy must fit, since a few bytes can stand for an array of any shape."""
    needed = data.size * np.dtype(kind).itemsize
    is_plain = data.dtype == kind and data.flags.c_contiguous and data.flags.aligned
    if not is_plain and needed > 2**28 and needed > _free():
        raise Error(f"{name} needs {needed / 1e9:.1f} GB of memory as plain numbers, but only {_free() / 1e9:.1f} GB may be taken")
    try:
        with np.errstate(all="ignore"):
            return np.require(data, kind, ["C_CONTIGUOUS", "ALIGNED"])
    except MemoryError:
        raise Error(f"{name} needs {needed / 1e9:.1f} GB of memory as plain numbers, which the system does not have") from None


def _ragged(name: str, values: Any) -> str | None:
    """What is wrong with rows of different lengths."""
    try:
        lengths = [len(row) for row in values]
    except Exception:
        return None
    for row, length in enumerate(lengths):
        if length != lengths[0]:
            return f"log: row {row + 1}, column {name}: {length} numbers, but row 1 has {lengths[0]}"
    return None


def _missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value is np.ma.masked


def _shown(value: Any) -> str:
    """A value in a message; its own text may be long, or fail."""
    try:
        text = " ".join(repr(value).split())
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."


def _of_objects(name: str, array: Any) -> Any:
    """Numbers out of an array of objects; what is missing is masked."""
    if array.ndim == 1 and any(isinstance(value, (list, tuple, np.ndarray)) for value in array):
        return as_array(name, [np.asarray(value, dtype=object) if _missing(value) else value for value in array])
    numbers = np.zeros(array.shape)
    mask = np.zeros(array.shape, dtype=bool)
    width = array[0].size if array.ndim > 1 and len(array) else 1
    flat, holes = numbers.reshape(-1), mask.reshape(-1)
    for i, value in enumerate(array.reshape(-1)):
        if _missing(value):
            holes[i] = True
            continue
        try:
            if isinstance(value, (str, bytes)):
                raise TypeError
            flat[i] = value
        except Exception:
            raise Error(f"log: row {i // width + 1}, column {name}: {_shown(value)} is not a number") from None
    return np.ma.MaskedArray(numbers, mask) if holes.any() else numbers


def _split(array: Any) -> tuple[Any, Flags | None]:
    """The data of a masked array, and which numbers there are."""
    if not isinstance(array, np.ma.MaskedArray):
        return array, None
    mask = np.ma.getmaskarray(array)
    data = np.where(mask, np.zeros((), dtype=array.dtype), array.data)
    return data, np.ascontiguousarray(~mask).reshape(-1) if mask.any() else None


def floats(name: str, values: Any) -> tuple[Floats, Flags | None]:
    """Numbers in C order; without a copy if they already are."""
    array = as_array(name, values)
    if array.dtype == object:
        array = _of_objects(name, array)
    if array.dtype.kind in "US" and array.size:
        raise Error(f"log: row 1, column {name}: {_shown(array.reshape(-1)[0])} is not a number")
    if array.dtype.kind not in "biuf":
        raise Error(f"log: column {name} has the type {array.dtype}, not a number")
    data, valid = _split(array)
    return _contiguous(name, data, np.float64), valid


def matrix(name: str, values: Any) -> tuple[Floats, Flags | None]:
    """One vector, or one number, per row."""
    data, valid = floats(name, values)
    if data.ndim == 0:
        raise Error(f"{name} is a single number, but must have one row per transition")
    if data.ndim > 2:
        shape = " x ".join(map(str, data.shape[1:]))
        raise Error(f"{name} has rows of shape {shape}; flatten them: {name}.reshape(len({name}), -1)")
    if data.ndim == 2 and data.shape[1] == 0:
        raise Error(f"{name} has no columns")
    return data, valid


def following(name: str, values: Any) -> tuple[Floats, Flags | None]:
    """Next observations; NaN is a missing one, as in tables, which a terminated row may have."""
    data, valid = matrix(name, values)
    if data.size and np.isnan(data.min()):
        there: Flags = ~np.isnan(data).reshape(-1)
        valid = there if valid is None else there & valid
        data = np.nan_to_num(data, nan=0.0, posinf=np.inf, neginf=-np.inf)
    return data, valid


def single(name: str, values: Any) -> Any:
    """One value per row; a column of shape (n, 1) is taken as well."""
    array = as_array(name, values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array.reshape(-1)
    if array.ndim != 1:
        raise Error(f"{name} has the shape {array.shape}, but must have one value per row")
    return array


def flags(name: str, values: Any) -> Column:
    """Flags as 0 and 1."""
    array = single(name, values)
    if array.dtype.kind in "US":
        return [str(value) for value in array], None
    if array.dtype.kind == "b":
        data, valid = _split(array)
        return _contiguous(name, data, np.bool_).view(np.uint8), valid
    return floats(name, array)


def is_text(name: str, values: Any) -> bool:
    """Whether there is one text per row, or none where it is missing."""
    array = as_array(name, values)
    if array.ndim != 1:
        return False
    if array.dtype.kind in "UT":
        return True
    if array.dtype.kind != "O":
        return False
    present = [value for value in array if not _missing(value) and value == value]
    return bool(present) and all(isinstance(value, str) for value in present)


def texts(name: str, values: Any) -> Column:
    """Categories by their texts."""
    array = as_array(name, values)
    return [None if _missing(value) or value != value else str(value) for value in array], None


def _word(name: str, row: int, value: Any) -> str:
    """The name of an episode or cluster."""
    try:
        return value.decode() if isinstance(value, bytes) else str(value)
    except Exception:
        raise Error(f"log: row {row + 1}, column {name}: {_shown(value)} is not a name") from None


def unencodable(name: str, values: Any) -> str | None:
    """Where a column has text that is not Unicode, such as half of a surrogate pair."""
    for row, value in enumerate(values if isinstance(values, list) else ()):
        try:
            (value or "").encode()
        except UnicodeEncodeError:
            return f"log: row {row + 1}, column {ascii(name)[1:-1]}: {_shown(value)} is not valid text"
    return None


def ids(name: str, values: Any) -> Column:
    """Numbers or names of episodes or clusters."""
    array = single(name, values)
    if array.dtype.kind == "O":
        if all(_missing(value) or (isinstance(value, (int, np.integer)) and -(2**63) <= value < 2**63) for value in array):
            present: Flags = np.array([not _missing(value) for value in array], dtype=np.bool_)
            numbers = np.array([0 if _missing(value) else int(value) for value in array], dtype=np.int64)
            return numbers, None if present.all() else present
        return [None if _missing(value) else _word(name, row, value) for row, value in enumerate(array)], None
    if array.dtype.kind in "US":
        return [_word(name, row, value) for row, value in enumerate(array)], None
    if array.dtype.kind in "biu":
        data, valid = _split(array)
        kind = np.uint64 if data.dtype == np.uint64 else np.int64
        return _contiguous(name, data, kind), valid
    return floats(name, array)


def observations(values: Any, inputs: int) -> Floats:
    """Rows of observations to predict; one observation alone is one row."""
    data, valid = floats("obs", values)
    if valid is not None:
        row = int(np.flatnonzero(~valid)[0]) // max(data[0].size if data.ndim > 1 else 1, 1)
        raise Error(f"obs: row {row + 1}: the value is missing")
    if data.ndim == 0 or (data.ndim == 1 and inputs > 1):
        data = data.reshape(1, -1)
    elif data.ndim == 1:
        data = data.reshape(-1, 1)
    if data.ndim != 2:
        raise Error(f"obs has {data.ndim} dimensions, but must have one row per observation")
    if data.shape[1] != inputs:
        found = data.shape[1]
        raise Error(f"the model expects observations of {inputs} numbers, but these have {found}")
    return data
