"""A program that type checkers must accept; without `type: ignore` they must refuse the lines that have it (mypy --strict)."""

import datetime
import io
from typing import Iterator, Optional, assert_type

import everseen

clicks = everseen.open_or_create("mem:", "clicks", capacity=10_000, window=datetime.timedelta(minutes=1), growth="refuse")
assert_type(clicks, everseen.Filter)
assert_type(clicks.add("event 1", time=datetime.datetime.now()), Optional[bool])
assert_type("event 1" in clicks, bool)
verdicts: everseen.Verdicts = clicks.add_many(["a", b"b", 3], time=[1.5, 2, 3])
print(sum(v == everseen.FRESH for v in verdicts))
keys: everseen.Keys = (str(i) for i in range(10))
clicks.check_many(keys)

clicks.export("clicks.everseen")
assert_type(everseen.import_("mem:", "copy", io.BytesIO(b"")), everseen.Filter)

rows: Iterator[tuple[int, str]] = everseen.dedup([(1, "a"), (2, "a")], key=lambda row: row[1])
assert_type(next(rows), tuple[int, str])

with clicks.job("count") as job:
    assert_type(job, everseen.Job)
    assert_type(job.settled("clicks/0"), int)

try:
    everseen.open("mem:", "none", read_only=True)
except everseen.NotFoundError as error:
    assert_type(error.verdicts, Optional[bytearray])

everseen.open_or_create("mem:", "f", growth="shrink")  # type: ignore[arg-type]
everseen.open_or_create("mem:", "f", capacitty=1)  # type: ignore[call-arg]
clicks.add(1.5)  # type: ignore[arg-type]
clicks.add_many(5)  # type: ignore[arg-type]
job.claim("clicks/0", ["a"], ["1"])  # type: ignore[list-item]
