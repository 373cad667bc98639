"""Types of keys, times and verdicts, and their conversion for the module in C."""

from __future__ import annotations

import array
import datetime
from typing import Any, Iterable, Optional, Protocol, Union

from . import _everseen
from ._errors import InvalidError


class ArrowArray(Protocol):
    """An array with Arrow's C data interface, as in pyarrow."""

    def __arrow_c_array__(self, requested_schema: Optional[object] = None) -> tuple[object, object]: ...


Key = Union[bytes, str, int]
Keys = Union[Iterable[Key], ArrowArray]
Time = Union[int, float, datetime.datetime]
Times = Union[Time, Iterable[Time]]
Duration = Union[int, float, datetime.timedelta]
#: A numpy array of uint8, or a bytearray where numpy is missing. The type depends on what is installed: hence Any.
Verdicts = Any


def judge(filter: _everseen.Filter, keys: Any, adds: bool, time: Optional[Times]) -> bytearray:
    """Judges keys of any type that Filter.add_many() takes."""
    times = None if time is None else milliseconds(time)
    if isinstance(keys, (list, tuple)):
        return filter.judge_list(keys, adds, times)
    if isinstance(keys, (str, bytes)):
        raise TypeError("one key where many are expected; put it into a list")
    if hasattr(keys, "__arrow_c_array__"):
        schema, values = keys.__arrow_c_array__()
        return filter.judge_arrow(schema, values, adds, times)
    if hasattr(keys, "chunks") and hasattr(keys, "combine_chunks"):  # pyarrow.ChunkedArray
        return judge(filter, keys.combine_chunks(), adds, time)
    if hasattr(keys, "to_numpy"):  # pandas, polars
        keys = keys.to_numpy()
    if hasattr(keys, "__array_interface__"):
        return _judge_numpy(filter, keys, adds, times)
    return filter.judge_list(list(keys), adds, times)


def _judge_numpy(filter: _everseen.Filter, keys: Any, adds: bool, times: Optional[array.array[int]]) -> bytearray:
    kind = keys.dtype.kind
    if kind == "O":
        return filter.judge_list(keys.tolist(), adds, times)
    if kind == "u" and keys.dtype.itemsize == 1 and keys.ndim == 2:
        contiguous = keys if keys.flags.c_contiguous else keys.copy()
        return filter.judge_fixed(contiguous, keys.shape[1], False, adds, times)
    if keys.ndim != 1:
        raise ValueError(f"an array of {keys.ndim} dimensions; keys are in one, or bytes in two")
    if kind in "iu":
        keys = keys.astype("S20")
    elif kind == "U":
        import numpy

        keys = numpy.char.encode(keys, "utf-8")
    elif kind != "S":
        raise TypeError(f"keys of the type {keys.dtype}; convert them to strings, or to integers")
    contiguous = keys if keys.flags.c_contiguous else keys.copy()
    return filter.judge_fixed(contiguous.view("u1"), max(keys.dtype.itemsize, 1), True, adds, times)


def array_of(verdicts: bytearray) -> Verdicts:
    try:
        import numpy
    except ImportError:
        return verdicts
    return numpy.frombuffer(verdicts, dtype=numpy.uint8)


def _millisecond(time: Time) -> int:
    seconds = time.timestamp() if isinstance(time, datetime.datetime) else time
    return int(seconds * 1000)


def milliseconds(time: Times) -> array.array[int]:
    """Times in ms since 1970, as the module in C expects them."""
    if isinstance(time, (int, float, datetime.datetime)):
        return array.array("q", [_millisecond(time)])
    some: Any = time
    if hasattr(some, "to_numpy"):
        some = some.to_numpy()
    if hasattr(some, "dtype") and some.dtype.kind == "M":
        return array.array("q", some.astype("datetime64[ms]").astype("int64").tobytes())
    return array.array("q", [_millisecond(t) for t in some])


def duration(time: Optional[Duration]) -> Optional[int]:
    """A duration in ms."""
    if time is None:
        return None
    seconds = time.total_seconds() if isinstance(time, datetime.timedelta) else time
    in_ms = int(seconds * 1000)
    if in_ms < 1:
        raise InvalidError(f"a duration of {time}; it must be at least a millisecond")
    return in_ms
