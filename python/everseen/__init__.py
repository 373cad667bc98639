"""Has this key ever been seen? Bloom filters in memory, in files, and shared through Redis.

    import everseen

    clicks = everseen.open("redis://localhost", "clicks", capacity=10_000_000)
    if clicks.add(event_id):                 # True: certainly not added before, by any process
        count(event)
    frame = frame[clicks.fresh(frame.url)]   # pandas: the rows whose url is new
    for line in everseen.dedup(open("words.txt")):
        ...

Keys are bytes, str (as UTF-8) or int (as decimal digits, as Redis clients send them). Batches are many times faster
than single keys, and run without the GIL. In asyncio: await asyncio.to_thread(clicks.add_many, keys).
"""

from __future__ import annotations

import array
import datetime
import json
import os
from typing import Any, Callable, Iterable, Iterator, Optional, Sequence, TypeVar, Union

from . import _everseen

__all__ = [
    "open", "open_existing", "create", "drop", "memory", "dedup", "Filter", "Job",
    "FRESH", "SEEN", "LATE", "UNKNOWN",
    "Error", "InvalidError", "NotFoundError", "NameTakenError", "FullError", "StorageError", "BackendError",
    "DamagedError",
]
__version__: str = _everseen.version

#: Verdicts, one byte for each key of a batch.
FRESH, SEEN, LATE, UNKNOWN = 0, 1, 2, 3

Key = Union[bytes, str, int]
Time = Union[int, float, datetime.datetime]
Item = TypeVar("Item")


class Error(Exception):
    """What can go wrong with a filter. After a failed batch, `verdicts` has an UNKNOWN for each key without an answer;
    adding those keys again is safe."""

    verdicts: Optional[bytearray] = None


class InvalidError(Error, ValueError):
    """A name, number or URL is invalid, or the filter can never take a key."""


class NotFoundError(Error, LookupError):
    """No filter has this name, or it has expired."""


class NameTakenError(Error):
    """A filter of this name exists."""


class FullError(Error):
    """The filter was created with growth="refuse" and is full."""


class StorageError(Error, OSError):
    """A file cannot be read or written, or another process is writing to it."""


class BackendError(Error, ConnectionError):
    """A server does not answer, or refuses."""


class DamagedError(Error):
    """Stored or received bytes are damaged."""


_everseen.set_errors((Error, InvalidError, NotFoundError, NameTakenError, FullError, StorageError, BackendError,
                      DamagedError, MemoryError, Error))


class Filter:
    """A filter, made by open(), open_existing(), create() or memory().

    Threads: any number may use one filter at once. Processes: each opens its own, also after fork().
    As a context manager it closes itself.
    """

    def __init__(self, opened: Any, url: str, name: str) -> None:
        self._filter = opened
        self._process = os.getpid()
        self.url = url
        self.name = name

    def add(self, key: Key, *, time: Optional[Time] = None) -> bool:
        """Adds a key. True: it was certainly not added before; False: it probably was, or is too late for the window."""
        return self._judge([key], True, time)[0] == FRESH

    def __contains__(self, key: Key) -> bool:
        """Whether a key was probably added before. False is certain. Adds nothing."""
        return self._judge([key], False, None)[0] == SEEN

    def add_many(self, keys: Any, *, time: Any = None) -> Any:
        """Adds keys and returns a verdict for each: FRESH, SEEN or LATE. If a key occurs twice, its first occurrence
        is the fresh one.

        keys: a list or another iterable; a numpy array of fixed-width strings (S, U), integers, objects, or bytes in
        two dimensions; a pandas Series; or anything with __arrow_c_array__ (pyarrow, polars). Arrow and S arrays are
        not copied.
        time: for filters with a window: one time for all keys or one for each, as datetime or seconds since 1970; the
        current time if it is left out.

        Returns a numpy array of uint8, or a bytearray where numpy is missing. Raises Error; see Error.verdicts.
        """
        return _array(self._judge(keys, True, time))

    def check_many(self, keys: Any, *, time: Any = None) -> Any:
        """As add_many(), but adds nothing."""
        return _array(self._judge(keys, False, time))

    def fresh(self, keys: Any, *, time: Any = None) -> Any:
        """Adds keys and returns which were fresh: a numpy array of bool, or a list where numpy is missing.

            frame[seen_urls.fresh(frame.url)]
        """
        verdicts = self.add_many(keys, time=time)
        return [v == FRESH for v in verdicts] if isinstance(verdicts, bytearray) else verdicts == FRESH

    def info(self) -> dict[str, Any]:
        """The filter's properties and fill: name, capacity, error_rate, keys, bytes, error_rate_now, layers,
        window_ms."""
        return json.loads(self._own().info())

    def job(self, name: str, description: str = "") -> "Job":
        """Opens a job of this filter, or creates it."""
        return Job(self._own().open_job(name, description), self._process)

    def end_job(self, name: str) -> None:
        """Removes a job; the keys that it added stay. Raises InvalidError if there is none."""
        self._own().end_job(name)

    def sync(self) -> None:
        """Makes everything acknowledged so far survive a power loss. Redis does that by its own configuration."""
        self._own().sync()

    def close(self) -> None:
        """Closes the filter, which stays in its store. Closing it again does nothing."""
        if self._process == os.getpid():
            self._filter.close()
        else:
            self._filter.abandon()

    def __enter__(self) -> "Filter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_filter", None) is not None and self._process != os.getpid():
            self._filter.abandon()  # it is the parent's

    def __repr__(self) -> str:
        return f"<everseen.Filter {self.name!r}>"

    def __reduce__(self) -> Any:
        raise TypeError("a filter cannot be pickled, as it has connections or open files; open it by its URL and name "
                        "in the other process")

    def _own(self) -> Any:
        if self._process != os.getpid():
            raise RuntimeError("this filter was opened before a fork(); open it again in this process")
        return self._filter

    def _judge(self, keys: Any, adds: bool, time: Any) -> bytearray:
        mine = self._own()
        times = None if time is None else _milliseconds(time)
        if isinstance(keys, (list, tuple)):
            return mine.judge_list(keys, adds, times)
        if isinstance(keys, (str, bytes)):
            raise TypeError("one key where many are expected; put it into a list")
        if hasattr(keys, "__arrow_c_array__"):
            return mine.judge_arrow(*keys.__arrow_c_array__(), adds, times)
        if hasattr(keys, "chunks") and hasattr(keys, "combine_chunks"):  # pyarrow.ChunkedArray
            return self._judge(keys.combine_chunks(), adds, time)
        if hasattr(keys, "to_numpy"):  # pandas, polars
            keys = keys.to_numpy()
        if hasattr(keys, "__array_interface__"):
            return _judge_numpy(mine, keys, adds, times)
        return mine.judge_list(list(keys), adds, times)


class Job:
    """A job, made by Filter.job(): events of it take effect once, whatever crashes.

    An event has a source, such as "clicks/3", and a position in it, which ascends. Until it settles, a job gives an
    event the verdict of its first claim, also after a crash:

        with clicks.job("count") as job:
            start = job.settled("clicks/3")
            for batch in read_from("clicks/3", start):       # [(position, key, event), ...]
                verdicts = job.claim("clicks/3", [key for _, key, _ in batch], [p for p, _, _ in batch])
                store(event for (_, _, event), v in zip(batch, verdicts) if v == everseen.FRESH)
                job.settle("clicks/3", batch[-1][0] + 1)

    What store() does may be repeated after a crash, unless it is stored together with the position from which to
    continue. Threads: any number, but claims of one source one at a time.
    """

    def __init__(self, opened: Any, process: int) -> None:
        self._job = opened
        self._process = process

    def claim(self, source: str, keys: Iterable[Key], positions: Iterable[int], *, time: Any = None) -> Any:
        """Claims events in ascending order of position. Returns a verdict for each, as Filter.add_many(): have the
        effects of those that are FRESH. After an error, claim the same events again before later ones."""
        times = None if time is None else _milliseconds(time)
        return _array(_everseen.claim(self._own(), source, keys, array.array("Q", positions), times))

    def settle(self, source: str, position: int) -> None:
        """All events of the source before this position have had their effects durably."""
        _everseen.settle(self._own(), source, position)

    def settled(self, source: str) -> int:
        """The position up to which a source is settled; 0 if nothing of it is."""
        return _everseen.settled(self._own(), source)

    def close(self) -> None:
        """Closes the job, which stays with its filter. Closing it again does nothing."""
        if self._job is not None and self._process != os.getpid():
            _everseen.abandon_job(self._job)
        self._job = None

    def __enter__(self) -> "Job":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError("a job cannot be pickled; open it by its name in the other process")

    def _own(self) -> Any:
        if self._job is None:
            raise ValueError("the job is closed")
        if self._process != os.getpid():
            raise RuntimeError("this job was opened before a fork(); open it again in this process")
        return self._job


def _judge_numpy(mine: Any, keys: Any, adds: bool, times: Any) -> bytearray:
    kind = keys.dtype.kind
    if kind == "O":
        return mine.judge_list(keys.tolist(), adds, times)
    if kind == "u" and keys.dtype.itemsize == 1 and keys.ndim == 2:
        contiguous = keys if keys.flags.c_contiguous else keys.copy()
        return mine.judge_fixed(contiguous, keys.shape[1], False, adds, times)
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
    return mine.judge_fixed(contiguous.view("u1"), max(keys.dtype.itemsize, 1), True, adds, times)


def _array(verdicts: bytearray) -> Any:
    try:
        import numpy
    except ImportError:
        return verdicts
    return numpy.frombuffer(verdicts, dtype=numpy.uint8)


def _millisecond(time: Time) -> int:
    seconds = time.timestamp() if isinstance(time, datetime.datetime) else time
    return int(seconds * 1000)


def _milliseconds(time: Any) -> array.array[int]:
    if isinstance(time, (int, float, datetime.datetime)):
        return array.array("q", [_millisecond(time)])
    if hasattr(time, "to_numpy"):
        time = time.to_numpy()
    if hasattr(time, "dtype") and time.dtype.kind == "M":
        return array.array("q", time.astype("datetime64[ms]").astype("int64").tobytes())
    return array.array("q", [_millisecond(t) for t in time])


def _duration(duration: Union[None, int, float, datetime.timedelta]) -> int:
    if duration is None:
        return 0
    seconds = duration.total_seconds() if isinstance(duration, datetime.timedelta) else duration
    milliseconds = int(seconds * 1000)
    if milliseconds < 1:
        raise InvalidError(f"a duration of {duration}; it must be at least a millisecond")
    return milliseconds


def _choice(what: str, value: str, choices: Sequence[str]) -> int:
    if value not in choices:
        raise InvalidError(f"{what}={value!r}; choose one of {', '.join(map(repr, choices))}")
    return choices.index(value)


def _made(how: str, url: str, name: str, capacity: int = 1_000_000, error_rate: float = 1e-6,
          window: Union[None, float, datetime.timedelta] = None, slices: int = 10, growth: str = "grow",
          hash: str = "xxh3", judge: str = "default",
          lifetime: Union[None, float, datetime.timedelta] = None) -> Filter:
    if capacity < 1:
        raise InvalidError(f"capacity={capacity}; it must be at least 1")
    if not 0 < error_rate < 1:
        raise InvalidError(f"error_rate={error_rate}; it must be between 0 and 1")
    opened = _everseen.open(how, url, name, capacity, error_rate, _duration(window), slices,
                            _choice("growth", growth, ("grow", "refuse", "overfill")),
                            _choice("hash", hash, ("xxh3", "siphash")),
                            _choice("judge", judge, ("default", "server", "client")), _duration(lifetime))
    return Filter(opened, url, name)


def open(url: str, name: str, **options: Any) -> Filter:
    """Opens the filter of this name, or creates it. Processes that do so at once all get the same filter.

    url: "file:DIRECTORY", "redis://HOST:PORT", "redis+cluster://HOST:PORT", "unix:/PATH"; see everseen's README.
    options, for a filter that does not exist yet:
        capacity    expected number of different keys; with a window, within it (1,000,000)
        error_rate  the share of new keys that may be called seen (1e-6)
        window      forget keys after this time: timedelta or seconds (never)
        slices      parts of the window; a key is forgotten up to one part later (10)
        growth      when the capacity is reached: "grow", "refuse" or "overfill"
        hash        "xxh3", or "siphash" if keys come from strangers
        judge       on Redis: "server", or "client" (each process holds the bits); "default" chooses
        lifetime    the whole filter expires after this time (never)
    """
    return _made("open_or_create", url, name, **options)


def create(url: str, name: str, **options: Any) -> Filter:
    """Creates a filter, with the options of open(). Raises NameTakenError if there is one."""
    return _made("create", url, name, **options)


def open_existing(url: str, name: str, *, read_only: bool = False) -> Filter:
    """Opens a filter. Raises NotFoundError if there is none. A file store has any number of readers beside its
    writer."""
    return _made("read" if read_only else "open", url, name)


def memory(**options: Any) -> Filter:
    """A filter in this process's memory, with the options of open()."""
    return _made("create", "mem:", "memory", **options)


def drop(url: str, name: str) -> None:
    """Removes a filter and all its keys. Raises NotFoundError if there is none."""
    _everseen.drop(url, name)


def dedup(items: Iterable[Item], key: Optional[Callable[[Item], Key]] = None, *, filter: Optional[Filter] = None,
          batch: Optional[int] = None, **options: Any) -> Iterator[Item]:
    """Yields each item the first time that its key occurs, in order.

    key: the key of an item; by default the item itself.
    filter: remembers the keys, across runs and processes; by default a new one in memory, with the options of open().
    batch: how many items are read ahead and judged together; by default 1 with a filter, so that only keys of items
        that were asked for are added, and 1024 without. On a server, larger batches are many times faster.
    """
    own = filter is None
    judge = memory(**options) if filter is None else filter
    size = batch or (1024 if own else 1)
    iterator = iter(items)
    try:
        while True:
            block = [item for _, item in zip(range(size), iterator)]
            if not block:
                return
            verdicts = judge._judge([key(item) for item in block] if key else block, True, None)
            for item, verdict in zip(block, verdicts):
                if verdict == FRESH:
                    yield item
    finally:
        if own:
            judge.close()
