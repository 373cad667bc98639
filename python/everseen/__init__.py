"""Has this key ever been seen? Bloom filters in memory, in files, and shared through Redis.

    import everseen

    clicks = everseen.open_or_create("redis://localhost", "clicks", capacity=10_000_000)
    if clicks.add(event_id):                 # True: certainly not added before, by any process
        count(event)
    frame = frame[clicks.fresh(frame.url)]   # pandas: the rows whose url is new
    for line in everseen.dedup(sys.stdin):
        ...

To get a Filter: open_or_create(), open(), create(), memory(). To use it: add(), add_many(), fresh(), `key in filter`,
check_many(). For events that take effect once, even across crashes: Filter.job(). Without a named filter: dedup().

Keys are bytes, str (as UTF-8) or int (as decimal digits, as Redis clients send them: 42 and "42" are one key; also as
arrays of numpy and Arrow). Batches are many times faster
than single keys, and run without the GIL: use threads for several at the same time.

asyncio: await asyncio.to_thread(clicks.add_many, keys). The event loop continues while a server is asked, or
retried. If the task is cancelled, the batch is still added.

multiprocessing: open the filter in each process. A filter that was opened before a fork() raises RuntimeError.

Errors are subclasses of everseen.Error. While a Redis server is unavailable, a call retries for `retry_for` of the
URL (10 s), as in "redis://localhost?retry_for=1s", and then raises BackendError.
"""

from __future__ import annotations

import io
import os
from typing import Any, BinaryIO, Callable, Iterable, Iterator, Literal, Optional, TypeVar, Union, get_args

from . import _everseen
from ._errors import (BackendError, DamagedError, Error, FullError, InvalidError, NameTakenError, NotFoundError,
                      StorageError)
from ._filter import FRESH, LATE, MISSING, SEEN, UNKNOWN, Filter, Job
from ._types import (ArrowArray as ArrowArray, Duration as Duration, Key as Key, Keys as Keys,
                     Missing as Missing, MissingOrPass as MissingOrPass, Time as Time, Times as Times,
                     Verdicts as Verdicts, choice as _choice, duration as _duration)

__all__ = [
    "open", "open_or_create", "create", "import_", "drop", "memory", "dedup", "Filter", "Job",
    "FRESH", "SEEN", "LATE", "UNKNOWN", "MISSING",
    "Error", "InvalidError", "NotFoundError", "NameTakenError", "FullError", "StorageError", "BackendError",
    "DamagedError",
]
__version__: str = _everseen.version

_Item = TypeVar("_Item")
# The numbers of everseen.h follow from the order of these words.
_Growth = Literal["grow", "refuse", "overfill"]
_Hash = Literal["xxh3", "siphash"]
_Judge = Literal["default", "server", "client"]


def open(url: str, name: str, *, read_only: bool = False) -> Filter:
    """Opens a filter that exists. Raises NotFoundError, with the nearest name, if there is none of this name.

    url: "file:DIRECTORY", "redis://HOST:PORT", "redis+cluster://HOST:PORT", "rediss://..." for TLS, "unix:/PATH", or
    "everseen://HOST:PORT". doc/redis.md and doc/operations.md of everseen have all forms and their options.

    name: up to 1024 bytes. If it begins with a double quote, it must also end with one, and may contain the escapes
    that `everseen list` shows; in this form a name can have any bytes. The same applies to names of jobs.

    read_only: only for checks. A filter in files may have any number of readers besides its one writer.

    Raises InvalidError, NotFoundError, StorageError, BackendError, DamagedError.
    """
    try:
        return _made("read" if read_only else "open", url, name)
    except NotFoundError as error:
        raise NotFoundError(f"{error} (open_or_create() would create it)") from None


def open_or_create(url: str, name: str, *, capacity: Optional[int] = None, error_rate: Optional[float] = None,
                   window: Optional[Duration] = None, slices: Optional[int] = None,
                   growth: Optional[_Growth] = None, hash: Optional[_Hash] = None,
                   judge: _Judge = "default", lifetime: Optional[Duration] = None) -> Filter:
    """Opens the filter of this name, or creates it. Processes that call this at the same time all get the same filter.

    url, name: as in open(). "mem:" is a new store for each call.

    The other parameters are the properties of a new filter. An existing filter must have the given ones, except for
    lifetime and judge; InvalidError names each difference:
        capacity    expected number of different keys; with a window, within it; None: 1,000,000 or any
        error_rate  the share of new keys that may be called seen; None: 1e-6 or any
        window      forget keys after this time: timedelta or seconds; None: never, or any
        slices      parts of the window, if there is one; a key is forgotten up to one part later; None: 10 or any
        growth      when the capacity is reached: "grow" and keep the error rate, "refuse" further keys (FullError), or
                    "overfill": accept them with more errors; None: "grow" or any
        hash        "xxh3", or "siphash" for keys from untrusted sources, which may attack the hash; None: "xxh3",
                    where clients judge of 64 bits, through everseen:// "siphash", or any
        judge       on Redis: "server" (with everseen's module alone), or "client" (each process holds the bits);
                    "default": the servers if all of them have the module, else the clients
        lifetime    the whole filter expires after this time, used or not; None: never

    Raises InvalidError, StorageError, BackendError, DamagedError.
    """
    return _made("open_or_create", url, name, capacity, error_rate, window, slices, growth, hash, judge, lifetime)


def create(url: str, name: str, *, capacity: int = 1_000_000, error_rate: float = 1e-6,
           window: Optional[Duration] = None, slices: Optional[int] = None,
           growth: Optional[_Growth] = None, hash: Optional[_Hash] = None,
           judge: _Judge = "default", lifetime: Optional[Duration] = None) -> Filter:
    """Creates a filter, with the parameters of open_or_create(). Raises NameTakenError if there is one, and as
    open_or_create()."""
    return _made("create", url, name, capacity, error_rate, window, slices, growth, hash, judge, lifetime)


def memory(*, capacity: int = 1_000_000, error_rate: float = 1e-6, window: Optional[Duration] = None,
           slices: Optional[int] = None, growth: Optional[_Growth] = None, hash: Optional[_Hash] = None) -> Filter:
    """Creates a filter in this process's memory, with the parameters of open_or_create()."""
    return _made("create", "mem:", "memory", capacity, error_rate, window, slices, growth, hash)


def import_(url: str, name: str, file: Union[str, os.PathLike[str], BinaryIO]) -> Filter:
    """Creates a filter from what Filter.export() or `everseen export` wrote, and opens it. Nothing is created before the
    whole file has been read and verified.

    file: a path, or a file that is open for reading bytes, which is read to its end.

    Raises NameTakenError, DamagedError, and as create().
    """
    if isinstance(file, (str, os.PathLike)):
        with io.open(file, "rb") as opened:
            _everseen.import_(url, name, opened.read)
    else:
        _everseen.import_(url, name, file.read)
    return _made("open", url, name)


def drop(url: str, name: str) -> None:
    """Removes a filter and all its keys. Raises NotFoundError if there is none, and as open()."""
    _everseen.drop(url, name)


def dedup(items: Iterable[_Item], key: Optional[Callable[[_Item], Key]] = None, *, filter: Optional[Filter] = None,
          batch: Optional[int] = None, missing: MissingOrPass = "fail", capacity: int = 1_000_000,
          error_rate: float = 1e-6) -> Iterator[_Item]:
    """Yields each item the first time that its key occurs, in order.

    key: the key of an item; by default the item itself.
    filter: remembers the keys, across runs and processes; by default a new one in memory.
    batch: how many items are read ahead and judged together; by default 1 with a filter, so that only keys of
        requested items are added, and 1024 without. On a server, larger batches are many times faster.
    missing: of keys that are None, NaN or pandas.NA: "fail": an InvalidError; "drop": their items are left out; "pass":
        their items are yielded, each of them.
    capacity, error_rate: of the new filter; it grows when it is full.
    """
    own = filter is None
    opened = memory(capacity=capacity, error_rate=error_rate) if filter is None else filter
    size = batch or (1024 if own else 1)
    iterator = iter(items)
    try:
        while True:
            block = [item for _, item in zip(range(size), iterator)]
            if not block:
                return
            keys: list[Any] = [key(item) for item in block] if key else list(block)
            for item, is_fresh in zip(block, opened.fresh(keys, missing=missing)):
                if is_fresh:
                    yield item
    finally:
        if own:
            opened.close()


def _made(how: str, url: str, name: str, capacity: Optional[int] = None, error_rate: Optional[float] = None,
          window: Optional[Duration] = None, slices: Optional[int] = None, growth: Optional[str] = None,
          hash: Optional[str] = None, judge: str = "default", lifetime: Optional[Duration] = None) -> Filter:
    if error_rate is not None and not 0 < error_rate < 1:
        raise InvalidError(f"error_rate={error_rate}; it must be between 0 and 1")
    opened = _everseen.open(how, url, name, capacity, error_rate or 0.0, _duration(window), slices,
                            _choice("growth", growth, (None, *get_args(_Growth))),
                            _choice("hash", hash, (None, *get_args(_Hash))),
                            _choice("judge", judge, get_args(_Judge)), _duration(lifetime))
    return Filter(opened, url, name)


for _public in (ArrowArray, Filter, Job, Error, InvalidError, NotFoundError, NameTakenError, FullError, StorageError,
                BackendError, DamagedError):
    _public.__module__ = "everseen"  # where users find them: in help(), tracebacks and pickles
del _public
