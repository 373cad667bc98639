"""Types of keys, times and verdicts, and their conversion for the module in C."""

from __future__ import annotations

import array
import datetime
import math
import sys
from typing import Any, Iterable, Literal, Optional, Protocol, Union

from ._errors import InvalidError


class ArrowArray(Protocol):
    """An array with Arrow's C data interface, as in pyarrow."""

    def __arrow_c_array__(self, requested_schema: Optional[object] = None) -> tuple[object, object]: ...


Key = Union[bytes, str, int]
#: None, NaN and pandas.NA among the keys are missing keys.
Keys = Union[Iterable[Union[Key, float, None]], ArrowArray]
Missing = Literal["fail", "drop"]
MissingOrPass = Literal["fail", "drop", "pass"]
Time = Union[int, float, datetime.datetime]
Times = Union[Time, Iterable[Time]]
Duration = Union[int, float, datetime.timedelta]
#: A numpy array of uint8 where numpy is loaded, else a bytearray, which numpy.asarray() takes later. Hence Any.
Verdicts = Any


def choice(what: str, value: Optional[str], choices: tuple[Optional[str], ...]) -> int:
    """The index of one of several words."""
    if value not in choices:
        raise InvalidError(f"{what}={value!r}; choose one of {', '.join(map(repr, choices))}")
    return choices.index(value)


def array_of(verdicts: bytearray) -> Verdicts:
    numpy = sys.modules.get("numpy")  # importing it takes longer than judging a million keys
    return verdicts if numpy is None else numpy.frombuffer(verdicts, dtype=numpy.uint8)


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
    return round(seconds * 1000)
