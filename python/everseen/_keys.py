"""Batches of keys of all types, for the module in C."""

from __future__ import annotations

import array
import sys
from typing import Any, Optional

from . import _everseen
from ._types import Times, choice, milliseconds

#: The last arguments of every function of the module that judges: adds, drops, times.
_Manner = tuple[bool, bool, Optional["array.array[int]"]]


def judge(filter: _everseen.Filter, keys: Any, adds: bool, time: Optional[Times], missing: str) -> bytearray:
    """Judges keys of any type that Filter.add_many() takes."""
    drops = choice("missing", missing, ("fail", "drop")) == 1
    return _judge(filter, keys, (adds, drops, None if time is None else milliseconds(time)))


def _judge(filter: _everseen.Filter, keys: Any, how: _Manner) -> bytearray:
    if isinstance(keys, (list, tuple)):
        return filter.judge_list(keys, *how)
    if isinstance(keys, (str, bytes)):
        raise TypeError("one key where many are expected; put it into a list")
    if hasattr(keys, "__arrow_c_array__"):
        schema, values = keys.__arrow_c_array__()
        return filter.judge_arrow(schema, values, *how)
    dtype = getattr(keys, "dtype", None)
    is_polars = type(keys).__module__.startswith("polars.")
    if is_polars and str(dtype).startswith(("Categorical", "Enum")):  # whose streams some versions cannot make
        keys = keys.cast(sys.modules["polars"].String)
    if hasattr(keys, "__arrow_c_stream__") and (is_polars or not hasattr(keys, "to_numpy") or hasattr(keys, "combine_chunks")):
        return filter.judge_stream(keys.__arrow_c_stream__(), *how)  # not pandas', which would copy
    if hasattr(dtype, "pyarrow_dtype") or getattr(dtype, "storage", "") == "pyarrow":  # pandas' columns that Arrow keeps
        return _judge(filter, getattr(keys, "array", keys).__arrow_array__(), how)
    if hasattr(getattr(keys, "dtype", None), "numpy_dtype") and keys.dtype.kind in "iu":  # pandas' Int64 and the like
        return _judge_integers(filter, keys.to_numpy(keys.dtype.numpy_dtype, na_value=0), keys.isna(), how)
    if hasattr(keys, "to_numpy"):  # pandas, polars
        keys = keys.to_numpy()
    if hasattr(keys, "__array_interface__"):
        return _judge_numpy(filter, keys, how)
    return filter.judge_list(list(keys), *how)


def _judge_numpy(filter: _everseen.Filter, keys: Any, how: _Manner) -> bytearray:
    import numpy

    kind = keys.dtype.kind
    if kind == "O":
        return filter.judge_list(keys.tolist(), *how)  # of a masked array, None
    mask = None
    if isinstance(keys, numpy.ma.MaskedArray):
        mask, keys = keys.mask | numpy.zeros(keys.shape, bool), keys.data  # a mask of one False is for all
    if kind == "u" and keys.dtype.itemsize == 1 and keys.ndim == 2:
        if mask is not None:
            raise TypeError("a mask of bytes in two dimensions; keys can be missing only as a whole")
        return filter.judge_fixed(numpy.ascontiguousarray(keys), None, keys.shape[1], False, *how)
    if keys.ndim != 1:
        raise ValueError(f"an array of {keys.ndim} dimensions; keys are in one, or bytes in two")
    if kind in "iu":
        return _judge_integers(filter, keys, mask, how)
    if kind == "f":
        raise TypeError(f"keys of the type {keys.dtype}; convert them to strings or integers, which in pandas have missing "
                        "values as .astype('Int64')")
    if kind == "U":
        keys = numpy.char.encode(keys, "utf-8")
    elif kind != "S":
        raise TypeError(f"keys of the type {keys.dtype}; convert them to strings, or to integers")
    keys = numpy.ascontiguousarray(keys)
    return filter.judge_fixed(keys.view("u1"), _bytes_of(mask), max(keys.dtype.itemsize, 1), True, *how)


def _judge_integers(filter: _everseen.Filter, keys: Any, mask: Any, how: _Manner) -> bytearray:
    import numpy

    is_signed = keys.dtype.kind == "i"
    keys = numpy.require(keys, "i8" if is_signed else "u8", ["C", "A"])
    return filter.judge_integers(keys, _bytes_of(mask), is_signed, *how)


def _bytes_of(mask: Any) -> Any:
    """A byte for each key, not 0 if it is missing."""
    import numpy

    return None if mask is None else numpy.ascontiguousarray(mask).view("u1")
