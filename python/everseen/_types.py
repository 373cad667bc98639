"""Types of keys, times and verdicts, and their conversion for the module in C."""

from __future__ import annotations

import array
import datetime
import math
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


#: Seconds since 1970 of the years that a datetime can have: a number outside of them has another unit.
_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799


def _refusal(seconds: object) -> InvalidError:
    unit = ""
    for name, per_second in (("milliseconds", 1e3), ("microseconds", 1e6), ("nanoseconds", 1e9)):
        if abs(float(seconds)) <= _LAST_SECOND * per_second and not unit:  # type: ignore[arg-type]
            unit = f"; is it in {name}? divide by {per_second:,.0f}, or"
    return InvalidError(f"the time {seconds} is not in seconds since 1970{unit or ';'} give a datetime, or "
                        "numpy.datetime64, which has its unit")


def _millisecond(time: Time) -> int:
    if isinstance(time, (str, bytes)):
        raise TypeError(f"the time {time!r} is a text; convert it, as by datetime.datetime.fromisoformat()")
    if isinstance(time, datetime.datetime):
        seconds = time.timestamp()
    elif getattr(getattr(time, "dtype", None), "kind", "") == "M":  # numpy.datetime64
        return milliseconds(time)[0]
    elif hasattr(time, "__float__"):  # also numpy's numbers
        seconds = float(time)
    else:
        raise TypeError(f"a time of type {type(time).__name__}; give seconds since 1970, or a datetime")
    if not _FIRST_SECOND <= seconds <= _LAST_SECOND:
        raise _refusal(time)
    return round(seconds * 1000)


def milliseconds(time: Times) -> array.array[int]:
    """Times in ms since 1970, as the module in C expects them."""
    if isinstance(time, (str, bytes, int, float, datetime.datetime)):
        return array.array("q", [_millisecond(time)])  # type: ignore[arg-type]
    some: Any = time
    if hasattr(some, "to_numpy"):
        some = some.to_numpy()
    if not hasattr(some, "dtype") or some.dtype.kind not in "Miuf":
        return array.array("q", [_millisecond(t) for t in some])
    import numpy

    if some.dtype.kind == "M":
        years = some.astype("datetime64[Y]").astype("int64") + 1970
        if numpy.isnat(some).any() or ((years < 1) | (years > 9999)).any():
            raise InvalidError("a time of these is missing (NaT), or not of the years 1 to 9999")
        in_ms = some.astype("datetime64[ms]").astype("int64")
    else:
        wrong = ~((some >= _FIRST_SECOND) & (some <= _LAST_SECOND))  # also NaN
        if wrong.any():
            raise _refusal(some[wrong].flat[0] if some.ndim else some)
        exact = some.astype("float64" if some.dtype.kind == "f" else "int64") * 1000
        in_ms = numpy.rint(exact).astype("int64")
    return array.array("q", in_ms.tobytes())


def duration(time: Optional[Duration]) -> Optional[int]:
    """A duration in ms."""
    if time is None:
        return None
    if isinstance(time, (str, bytes)):
        raise TypeError(f"the duration {time!r} is a text; give seconds, or a datetime.timedelta")
    seconds = time.total_seconds() if isinstance(time, datetime.timedelta) else time
    if not 0.001 <= seconds < math.inf:
        raise InvalidError(f"a duration of {time}; it must be at least a millisecond")
    return int(seconds * 1000)
