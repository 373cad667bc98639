"""Filters and jobs."""

from __future__ import annotations

import array
import io
import json
import os
import tempfile
from typing import Any, BinaryIO, Callable, Iterable, NoReturn, Optional, Union

from . import _everseen
from ._keys import judge
from ._types import Key, Keys, Missing, MissingOrPass, Time, Times, Verdicts, array_of, milliseconds

#: Verdicts, one byte for each key of a batch.
FRESH, SEEN, LATE, UNKNOWN, MISSING = 0, 1, 2, 3, 4
_ANSWERS = {FRESH: True, SEEN: False, LATE: None}


def which_are_fresh(verdicts: bytearray, missing: str) -> Any:
    """Which keys a caller goes on with."""
    chosen = array_of(verdicts)
    if isinstance(chosen, bytearray):
        return [v == FRESH or (v == MISSING and missing == "pass") for v in chosen]
    return (chosen == FRESH) | (chosen == MISSING) if missing == "pass" else chosen == FRESH


def _write_of_raw(file: BinaryIO) -> Callable[[bytes], int]:
    """A raw file that does not block writes nothing and returns None; other files return what they like."""
    return lambda piece: file.write(piece) or 0


class Filter:
    """A filter, made by open(), open_or_create(), create() or memory().

    Threads: any number may use one filter concurrently. Processes: each opens its own, also after fork().
    As a context manager it closes itself.
    """

    def __init__(self, opened: _everseen.Filter, url: str, name: str) -> None:
        self._filter = opened
        self._process = os.getpid()
        self.url = url
        self.name = name

    def add(self, key: Key, *, time: Optional[Time] = None) -> Optional[bool]:
        """Adds a key. True: it was certainly not added before; False: it probably was; None: it is late, that is, older
        than the filter's window, so it was neither judged nor added."""
        times = None if time is None else milliseconds(time)
        return _ANSWERS[self._own().judge_list((key,), True, False, times)[0]]

    def __contains__(self, key: Key) -> bool:
        """Whether a key was probably added before. False is certain. Adds nothing."""
        return self._own().judge_list((key,), False, False, None)[0] == SEEN

    def add_many(self, keys: Keys, *, time: Optional[Times] = None, missing: Missing = "fail") -> Verdicts:
        """Adds keys and returns a verdict for each: FRESH, SEEN, LATE or MISSING. If a key occurs twice, its first
        occurrence is the fresh one.

        keys: a list or another iterable; a numpy array of fixed-width strings (S, U), integers, objects, or bytes in
        two dimensions; a Series of pandas or polars; or anything with __arrow_c_array__ or __arrow_c_stream__, as arrays
        and chunked arrays of pyarrow: strings, binary, views, integers, and dictionaries of texts. The texts of Arrow
        and of S, and integers of 64 bits in one piece, are not copied.
        time: for filters with a window: one time for all keys or one for each, as datetime or seconds since 1970, or an
        array or Series of them or of datetime64; the current time if it is left out. A datetime without a zone is of
        this machine's zone, and datetime64 of UTC, as everywhere in Python and numpy. InvalidError: a number is not in
        seconds, or a time is more than one slice ahead of the clock; no key is judged then.
        missing: of keys that are None, NaN, pandas.NA or NaT, null or masked. "fail": they are an InvalidError that has
        the index of the first one, and no key is added; "drop": they are left out, and their verdict is MISSING.

        Returns a numpy array of uint8 if the program has imported numpy (pandas does), else a bytearray. Raises Error;
        see Error.verdicts.
        """
        return array_of(judge(self._own(), keys, True, time, missing))

    def check_many(self, keys: Keys, *, time: Optional[Times] = None, missing: Missing = "fail") -> Verdicts:
        """As add_many(), but adds nothing."""
        return array_of(judge(self._own(), keys, False, time, missing))

    def fresh(self, keys: Keys, *, time: Optional[Times] = None, missing: MissingOrPass = "fail") -> Any:
        """Adds keys and returns which were fresh: a numpy array of bool if the program has imported numpy, else a list.
        Late keys are not among them; where they matter, see add_many().

            frame[seen_urls.fresh(frame.url)]

        missing: as in add_many(): "drop": they are not fresh; "pass": they are, each of them, as of
        `everseen dedup --missing-key pass`.
        """
        return which_are_fresh(judge(self._own(), keys, True, time, "drop" if missing == "pass" else missing), missing)

    def info(self) -> dict[str, Any]:
        """The filter's properties and fill: name, capacity, error_rate, keys, bytes, error_rate_now,
        expected_false_seen, layers, segments, partitions, window_ms (0: none). doc/operations.md of everseen, "Figures
        of a filter", says what they are."""
        properties: dict[str, Any] = json.loads(self._own().info())
        return properties

    def export(self, file: Union[str, os.PathLike[str], BinaryIO]) -> None:
        """Writes the filter as one stream of bytes, for import_() and `everseen import`: its properties, its secret
        seed, and all bits, with checksums. It has every key that was added before the call.

        file: a path, whose file is then readable by its owner only, and appears or is replaced once it is complete; or
        a file that is open for writing bytes. A raw file is given the rest of what it did not take; if it takes
        nothing, as a pipe that does not block, this raises BlockingIOError.
        """
        if not isinstance(file, (str, os.PathLike)):
            self._own().export(_write_of_raw(file) if isinstance(file, io.RawIOBase) else file.write)
            return
        path = os.path.realpath(file)
        descriptor, written = tempfile.mkstemp(prefix=".everseen-", dir=os.path.dirname(path))
        try:
            with os.fdopen(descriptor, "wb") as into:
                self._own().export(into.write)
                into.flush()
                os.fsync(into.fileno())
            os.replace(written, path)
        except BaseException:
            os.unlink(written)
            raise

    def sibling(self, url: str = "mem:", name: str = "sibling") -> "Filter":
        """Creates a filter with the same properties and the same secret seed, empty, in any store: the two can be merged.

            part = seen_urls.sibling()          # in a worker's memory
            part.add_many(urls)
            seen_urls.merge(part)

        Raises InvalidError if this filter belongs to another program, or its server does not show the seed to this
        user; and as create().
        """
        return Filter(self._own().sibling(url, name), url, name)

    def merge(self, sibling: "Filter") -> None:
        """Adds all keys of a sibling, which does not change: one made by sibling(), or from an export of this filter.

        Merging again adds what an interrupted call has left out, and what the sibling has got since. Raises
        InvalidError if they are no siblings, or this filter was opened for reading;
        FullError if together they have more keys than the error rate allows: nothing was added then.
        """
        if not isinstance(sibling, Filter):
            raise TypeError("merge() takes a filter")
        self._own().merge(sibling._own())

    def job(self, name: str, description: str = "") -> "Job":
        """Opens a job of this filter, or creates it."""
        return Job(self._own().open_job(name, description), self._process)

    def end_job(self, name: str) -> None:
        """Removes a job; the keys that it added stay. Raises InvalidError if there is none."""
        self._own().end_job(name)

    def sync(self) -> None:
        """Returns once everything acknowledged so far survives a power loss. On Redis, its configuration decides."""
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

    def __reduce__(self) -> NoReturn:
        raise TypeError("a filter cannot be pickled, since it has connections or open files; open it by its URL and "
                        "name in the other process")

    def _own(self) -> _everseen.Filter:
        if self._process != os.getpid():
            raise RuntimeError("this filter was opened before a fork(); open it again in this process")
        return self._filter


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

    def __init__(self, opened: _everseen.Job, process: int) -> None:
        self._job: Optional[_everseen.Job] = opened
        self._process = process

    def claim(self, source: str, keys: Iterable[Key], positions: Iterable[int], *,
              time: Optional[Times] = None) -> Verdicts:
        """Claims events in ascending order of position. Returns a verdict for each, as Filter.add_many(): have the
        effects of those that are FRESH. After an error, claim the same events again before later ones."""
        times = None if time is None else milliseconds(time)
        return array_of(_everseen.claim(self._own(), source, keys, array.array("Q", positions), times))

    def settle(self, source: str, position: int) -> None:
        """Declares that the effects of all events of the source before this position are durable."""
        _everseen.settle(self._own(), source, position)

    def settled(self, source: str) -> int:
        """The position up to which a source is settled; 0 if nothing is settled yet."""
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

    def __reduce__(self) -> NoReturn:
        raise TypeError("a job cannot be pickled; open it by its name in the other process")

    def _own(self) -> _everseen.Job:
        if self._job is None:
            raise ValueError("the job is closed")
        if self._process != os.getpid():
            raise RuntimeError("this job was opened before a fork(); open it again in this process")
        return self._job
