"""The Python package as its users call it. usage: everseen_test.py STORE-URL"""

import asyncio
import datetime
import enum
import io
import math
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from typing import get_args

import everseen
from arrow import ArrowArray
from everseen import FRESH, LATE, SEEN, UNKNOWN

try:
    import numpy
    import pandas
except ImportError:  # everything else works without
    numpy = pandas = None

URL = sys.argv.pop() if len(sys.argv) > 1 and ":" in sys.argv[-1] else "mem:"
IS_SHARED = not URL.startswith("mem:")


class Filters(unittest.TestCase):
    def made(self, **options):
        self.name = f"f{random.getrandbits(48)}"
        f = everseen.open_or_create(URL, self.name, **options)
        self.addCleanup(f.close)
        return f

    def test_a_key_is_fresh_once_whatever_its_type(self):
        f = self.made()
        self.assertTrue(f.add(b"x"))
        self.assertFalse(f.add("x"))
        self.assertIn("x", f)
        self.assertNotIn("y", f)
        self.assertTrue(f.add(42))
        self.assertFalse(f.add("42"))
        self.assertTrue(f.add("é"))
        self.assertFalse(f.add("é".encode()))
        self.assertTrue(f.add(b""))
        self.assertTrue(f.add(b"a\0"))
        self.assertNotIn(b"a", f)

    def test_a_member_of_a_numeric_enumeration_is_its_number(self):
        class Country(int, enum.Enum):
            FRANCE = 33

        f = self.made()
        self.assertTrue(f.add(33))
        self.assertFalse(f.add(Country.FRANCE))

    def test_batches_answer_as_a_set_would(self):
        f, exact = self.made(capacity=100_000), set()
        random.seed(1)
        for _ in range(20):
            keys = [b"%d" % random.randrange(20_000) for _ in range(3_000)]
            expected = []
            for key in keys:
                expected.append(SEEN if key in exact else FRESH)
                exact.add(key)
            self.assertEqual(list(f.add_many(keys)), expected)
        self.assertTrue(all(v == SEEN for v in f.check_many(list(exact))))

    def test_other_iterables_are_batches_and_a_single_key_is_not(self):
        f = self.made()
        self.assertEqual(list(f.add_many(("a", "b"))), [FRESH, FRESH])
        self.assertEqual(list(f.add_many(c for c in "abc")), [SEEN, SEEN, FRESH])
        self.assertEqual(list(f.add_many([])), [])
        for key in ("abc", b"abc"):
            with self.assertRaisesRegex(TypeError, "put it into a list"):
                f.add_many(key)
        with self.assertRaisesRegex(TypeError, "key 1 is of type float"):
            f.add_many([b"a", 1.5])
        with self.assertRaisesRegex(everseen.InvalidError, "key 0 is missing"):
            f.add(None)

    def test_arrow_arrays_are_read_in_place(self):
        for form in (b"z", b"u", b"Z", b"U"):
            f = self.made()
            self.assertEqual(list(f.add_many(ArrowArray([b"a", b"", b"bc", b"a"], form))), [FRESH, FRESH, FRESH, SEEN])
            self.assertEqual(list(f.check_many(ArrowArray([b"no", b"bc", b"d"], form, offset=1))), [SEEN, FRESH])
            self.assertEqual(list(f.check_many([b"a", b"", b"bc"])), [SEEN] * 3)
        f = self.made()
        self.assertEqual(list(f.add_many(ArrowArray([b"ab", b"cd", b"ab"], b"w:2"))), [FRESH, FRESH, SEEN])
        self.assertIn("cd", f)

    def test_arrow_arrays_of_other_types_are_refused(self):
        f = self.made()
        with self.assertRaisesRegex(everseen.InvalidError, "key 1 is missing"):
            f.add_many(ArrowArray([b"a", b"", b"c"], nulls=[1]))
        with self.assertRaisesRegex(TypeError, "cast them to string"):
            f.add_many(ArrowArray([b"12345678"], b"g"))
        self.assertNotIn("a", f)

    def test_invalid_arrow_arrays_are_refused(self):
        f = self.made()
        for form in (b"w:-1", b"w:", b"w: 2", b"w:2x", b"w:9223372036854775808", b"w:18446744073709551615", None):
            keys = ArrowArray([b"ab"], b"w:2")
            keys.schema.format = form
            with self.assertRaisesRegex(TypeError, "cast them to string"):
                f.add_many(keys)
        for form in (b"w:2", b"z", b"Z"):
            for wrong in ({"length": -1}, {"offset": -1}, {"length": 2**63 - 1, "offset": 1}, {"offset": 2**62},
                          {"n_buffers": 1}, {"n_buffers": 0}, {"buffers": None}, {"release": None}):
                keys = ArrowArray([b"ab"], form)
                for field, value in wrong.items():
                    setattr(keys.array, field, value)
                with self.assertRaisesRegex(ValueError, "an Arrow array", msg=f"{form} {wrong}"):
                    f.add_many(keys)
            keys = ArrowArray([b"ab"], form)
            keys.buffers[1] = None
            with self.assertRaisesRegex(ValueError, "without its buffers"):
                f.add_many(keys)
            keys.array.length = 0
            self.assertEqual(list(f.add_many(keys)), [])
            keys = ArrowArray([b"ab"], form)
            keys.schema.release = None
            with self.assertRaisesRegex(ValueError, "released"):
                f.add_many(keys)
        keys = ArrowArray([b"ab"], b"z")
        keys.buffers[2] = None
        with self.assertRaisesRegex(everseen.InvalidError, "bytes must not be null"):
            f.add_many(keys)
        self.assertNotIn("ab", f)

    def test_numpy_is_not_loaded_for_a_program_that_does_not_use_it(self):
        program = """
import sys, everseen
f = everseen.memory(capacity=1000)
assert f.add_many([b"a", b"b", b"a"]) == bytearray([everseen.FRESH, everseen.FRESH, everseen.SEEN])
assert f.check_many(["a", "c"]) == bytearray([everseen.SEEN, everseen.FRESH])
assert f.fresh(iter(["c", "a"])) == [True, False]
assert "numpy" not in sys.modules
"""
        subprocess.run([sys.executable, "-c", program], check=True)

    @unittest.skipUnless(numpy, "numpy is missing")
    def test_numpy_arrays_of_strings_numbers_and_bytes(self):
        f = self.made()
        verdicts = f.add_many(numpy.array([b"a", b"bcd", b"a"]))
        self.assertEqual(verdicts.dtype, numpy.uint8)
        self.assertEqual(verdicts.tolist(), [FRESH, FRESH, SEEN])
        self.assertEqual(f.add_many(numpy.array(["a", "é"])).tolist(), [SEEN, FRESH])
        self.assertIn("é", f)
        self.assertEqual(f.add_many(numpy.array([1, -2, 2**62])).tolist(), [FRESH] * 3)
        self.assertIn(2**62, f)
        self.assertEqual(f.add_many(numpy.array(["x", 7, b"a"], dtype=object)).tolist(), [FRESH, FRESH, SEEN])
        raw = numpy.frombuffer(b"a\0b\0", dtype=numpy.uint8).reshape(2, 2)
        self.assertEqual(f.add_many(raw).tolist(), [FRESH, FRESH])
        self.assertIn(b"a\0", f)
        strided = numpy.array([b"s0", b"s1", b"s2", b"s3"])[::2]
        self.assertEqual(f.add_many(strided).tolist(), [FRESH, FRESH])
        self.assertNotIn("s1", f)
        self.assertEqual(f.add_many(numpy.array([], dtype="S4")).tolist(), [])
        with self.assertRaisesRegex(TypeError, "float64"):
            f.add_many(numpy.array([1.5]))

    @unittest.skipUnless(pandas, "pandas is missing")
    def test_a_pandas_column_is_deduplicated_by_a_mask(self):
        f = self.made()
        frame = pandas.DataFrame({"url": ["a", "b", "a", "c"], "n": [1, 2, 3, 4]})
        self.assertEqual(frame[f.fresh(frame.url)].n.tolist(), [1, 2, 4])
        self.assertEqual(frame[f.fresh(frame.url)].n.tolist(), [])
        with self.assertRaisesRegex(everseen.InvalidError, "key 1 is missing"):
            f.fresh(pandas.Series(["x", None]))

    def test_a_window_forgets_and_reports_old_keys_as_late(self):
        f = self.made(window=datetime.timedelta(minutes=1))
        now = datetime.datetime(2025, 1, 1, tzinfo=datetime.timezone.utc)
        self.assertTrue(f.add("a", time=now))
        self.assertFalse(f.add("a", time=now.timestamp() + 1))
        later = now + datetime.timedelta(minutes=5)
        self.assertEqual(list(f.add_many(["a", "b", "b"], time=[later, now, later])), [FRESH, LATE, FRESH])
        with self.assertRaisesRegex(everseen.InvalidError, "2 times for 3 keys"):
            f.add_many(["a", "b", "c"], time=[1, 2])

    def test_add_answers_late_otherwise_than_seen(self):
        f = self.made(window=60)
        self.assertIs(f.add("a", time=1_700_000_000), True)
        self.assertIs(f.add("a", time=1_700_000_000), False)
        self.assertIs(f.add("b", time=1_600_000_000), None)
        self.assertEqual(list(f.add_many(["b"], time=1_700_000_000)), [FRESH])

    # Promise: one time more than one slice ahead of the clock changes nothing through any interface (dedup, Times in the future).
    def test_times_ahead_or_of_another_unit_are_refused_and_change_nothing(self):
        f = self.made(window=60)
        now = time.time()
        for wrong, what in ((now + 3600, "too far ahead of the clock"), (now * 1e3, "milliseconds"),
                            (int(now * 1e3), "milliseconds"), (int(now * 1e6), "microseconds"),
                            (time.time_ns(), "nanoseconds"), (10**30, "give a datetime"), (math.inf, "give a datetime"),
                            (math.nan, "give a datetime"), (-now * 1e3, "milliseconds")):
            for times in (wrong, [wrong], [now, wrong]):
                with self.assertRaisesRegex(everseen.InvalidError, what, msg=f"{times}"):
                    f.add_many(["a", "b"][:len(times) if isinstance(times, list) else 2], time=times)
            with self.assertRaisesRegex(everseen.InvalidError, what):
                f.add("a", time=wrong)
            with self.assertRaisesRegex(everseen.InvalidError, what):
                f.check_many(["a"], time=wrong)
            with f.job("count") as job, self.assertRaisesRegex(everseen.InvalidError, what):
                job.claim("clicks/0", ["a"], [1], time=wrong)
        for wrong in ("2025-01-01", b"2025", ["2025-01-01"], [None], datetime.date(2025, 1, 1)):
            with self.assertRaises(TypeError, msg=f"{wrong}"):
                f.add_many(["a"], time=wrong)
        self.assertEqual(list(f.add_many(["a", "b"])), [FRESH, FRESH])

    def test_a_time_is_rounded_to_milliseconds_whatever_its_type(self):
        f = self.made(window=0.002, slices=2)
        moment = datetime.datetime(2025, 1, 1, 0, 0, 0, 123_000, tzinfo=datetime.timezone.utc)
        self.assertIs(f.add("a", time=moment), True)
        self.assertIs(f.add("a", time=moment.timestamp()), False)
        self.assertIs(f.add("a", time=-0.0015), None)

    def test_a_duration_is_rounded_to_milliseconds(self):
        for seconds in (1.001, 4.35, 0.0019999999, 1_000.001):
            self.assertEqual(everseen._types.duration(seconds), round(seconds * 1000))
        self.assertEqual(everseen._types.duration(1.001), 1001)
        self.assertEqual(everseen._types.duration(datetime.timedelta(seconds=4.35)), 4350)

    @unittest.skipUnless(numpy, "numpy is missing")
    def test_times_of_numpy_have_their_units(self):
        f = self.made(window=60)
        seconds = numpy.array([1_700_000_000, 1_700_000_060])
        self.assertEqual(f.add_many(["a", "b"], time=seconds).tolist(), [FRESH, FRESH])
        for unit in ("s", "ms", "us", "ns"):
            same = seconds.astype("datetime64[s]").astype(f"datetime64[{unit}]")
            self.assertEqual(f.add_many(["a", "b"], time=same).tolist(), [SEEN, SEEN], unit)
            self.assertIs(f.add("a", time=same[0]), False)
            self.assertEqual(f.add_many(["a", "b"], time=list(same)).tolist(), [SEEN, SEEN], unit)
        for same in (seconds.astype("u8"), seconds.astype("f8"), seconds[0], seconds.astype("O")):
            self.assertEqual(f.add_many(["a", "a"], time=same).tolist()[0], SEEN)
        for wrong, what in ((seconds * 10**3, "milliseconds"), (seconds * 10**6, "microseconds"),
                            (seconds * 10**9, "nanoseconds"), (seconds[0] * 10**9, "nanoseconds"),
                            (seconds * 1e9, "nanoseconds"), (numpy.array([1.0, numpy.nan]), "seconds"),
                            (numpy.array([2**63 - 1, -2**63]), "seconds"), (numpy.array([2**64 - 1, 0], "u8"), "seconds"),
                            (numpy.array(["2025-01-01", "NaT"], "M8[s]"), "NaT"),
                            (numpy.array([2**62, 0]).astype("M8[s]"), "9999")):
            with self.assertRaisesRegex(everseen.InvalidError, what, msg=f"{wrong}"):
                f.add_many(["x", "y"], time=wrong)
        self.assertEqual(f.add_many(["x", "y"], time=seconds).tolist(), [FRESH, FRESH])

    @unittest.skipUnless(pandas, "pandas is missing")
    def test_times_of_pandas_columns(self):
        f = self.made(window=60)
        moments = pandas.Series(pandas.to_datetime([1_700_000_000_500, 1_700_000_060_500], unit="ms"))
        self.assertEqual(f.add_many(["a", "b"], time=moments).tolist(), [FRESH, FRESH])
        for same in (moments.dt.tz_localize("UTC"), moments.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"), list(moments)):
            self.assertEqual(f.add_many(["a", "b"], time=same).tolist(), [SEEN, SEEN])
        nanoseconds = moments.astype("datetime64[ns]").astype("int64")
        for wrong, what in ((nanoseconds, "nanoseconds"), (moments.where([True, False]), "NaT")):
            with self.assertRaisesRegex(everseen.InvalidError, what):
                f.add_many(["a", "b"], time=wrong)

    def test_a_full_filter_reports_the_keys_without_room(self):
        f = self.made(capacity=100, growth="refuse")
        with self.assertRaisesRegex(everseen.FullError, "full") as caught:
            f.add_many(range(1000))
        verdicts = caught.exception.verdicts
        self.assertEqual(len(verdicts), 1000)
        self.assertEqual(verdicts[0], FRESH)
        self.assertEqual(verdicts[999], UNKNOWN)

    def test_each_kind_of_error_has_a_class(self):
        with self.assertRaisesRegex(everseen.InvalidError, "nowhere"):
            everseen.open_or_create("nowhere:", "f")
        for wrong in ({"capacity": 0}, {"error_rate": 1}, {"growth": "shrink"}, {"window": -1}, {"window": 0.0009},
                      {"window": math.nan}, {"lifetime": math.inf}):
            with self.assertRaises(everseen.InvalidError):
                everseen.open_or_create(URL, "f", **wrong)
        for name, wrong in (("capacity", (-1, 0, 2**48 + 1, 2**64 + 5)), ("slices", (-1, 0, 1001, 2**32 + 10)),
                            ("window", (2.0**64,)), ("lifetime", (2.0**64,))):
            for number in wrong:
                options = {"window": 60, name: number}
                with self.assertRaisesRegex(everseen.InvalidError, f"{name}.*=.*; it must be 1 to", msg=f"{options}"):
                    everseen.open_or_create(URL, "f", **options)
        with self.assertRaisesRegex(everseen.InvalidError, "slices divide a window"):
            everseen.open_or_create(URL, "f", slices=24)
        for wrong in ({"capacity": 1e6}, {"window": "10m"}):
            with self.assertRaises(TypeError):
                everseen.open_or_create(URL, "f", **wrong)
        with self.assertRaises(everseen.BackendError):
            everseen.open_or_create("redis://127.0.0.1:1?retry_for=10ms", "f")

    def test_names_hold_any_bytes(self):
        for name in ["日志", "user:42/a b", r'"\x00\xff"', "x" * 512]:
            with everseen.create(URL, name, capacity=1000) as made:
                self.assertEqual(made.info()["name"], name)
            if IS_SHARED:
                everseen.drop(URL, name)
        for name in ["", '"a', "x" * 1025]:
            with self.assertRaises(everseen.InvalidError):
                everseen.create(URL, name)

    @unittest.skipUnless(IS_SHARED, "in memory there are no names")
    def test_a_filter_with_other_options_is_refused(self):
        name = f"f{random.getrandbits(48)}"
        everseen.open_or_create(URL, name, capacity=5000, error_rate=1e-4).close()
        everseen.open_or_create(URL, name).close()
        everseen.open_or_create(URL, name, capacity=5000).close()
        with self.assertRaisesRegex(everseen.InvalidError, "capacity 5000 instead of 6000"):
            everseen.open_or_create(URL, name, capacity=6000)

    @unittest.skipUnless(IS_SHARED, "in memory there are no names")
    def test_omitted_options_match_any_filter_and_each_default_can_be_requested(self):
        name = f"f{random.getrandbits(48)}"
        everseen.create(URL, name, window=24, slices=24, growth="refuse", hash="siphash").close()
        everseen.open_or_create(URL, name, window=24).close()
        everseen.open_or_create(URL, name, window=24, slices=24, growth="refuse", hash="siphash").close()
        for asked, difference in (({"window": 24, "slices": 10}, "in 24 slices instead of 24000 ms in 10 slices"),
                                  ({"window": 60}, "window 24000 ms in 24 slices instead of 60000 ms"),
                                  ({"growth": "grow"}, "growth refuse instead of grow"),
                                  ({"hash": "xxh3"}, "hash siphash instead of xxh3")):
            with self.assertRaisesRegex(everseen.InvalidError, difference):
                everseen.open_or_create(URL, name, **asked)
        everseen.open_or_create(URL, f"{name} too", growth="grow", hash="xxh3").close()
        everseen.open_or_create(URL, f"{name} too", growth="grow", hash="xxh3").close()

    @unittest.skipUnless(IS_SHARED, "in memory there are no names")
    def test_each_word_of_a_choice_is_that_of_the_filter(self):
        for option, words in (("hash", get_args(everseen._Hash)), ("growth", get_args(everseen._Growth))):
            for word in words:
                name = f"f{random.getrandbits(48)}"
                everseen.create(URL, name, **{option: word}).close()
                everseen.open_or_create(URL, name, **{option: word}).close()
                for other in set(words) - {word}:
                    with self.assertRaisesRegex(everseen.InvalidError, f"{option} {word} instead of {other}"):
                        everseen.open_or_create(URL, name, **{option: other})

    @unittest.skipUnless(IS_SHARED, "in memory there are no names")
    def test_filters_are_found_by_name(self):
        name = f"f{random.getrandbits(48)}"
        with self.assertRaises(everseen.NotFoundError):
            everseen.open(URL, name)
        with everseen.create(URL, name, capacity=5000) as f:
            f.add("a")
            self.assertEqual(f.info()["capacity"], 5000)
            self.assertEqual(f.info()["keys"], 1)
            f.sync()
        with self.assertRaises(ValueError):
            f.add("b")
        with self.assertRaises(everseen.NameTakenError):
            everseen.create(URL, name)
        with everseen.open(URL, name, read_only=True) as f:
            self.assertIn("a", f)
        everseen.drop(URL, name)
        with self.assertRaises(everseen.NotFoundError):
            everseen.drop(URL, name)

    @unittest.skipUnless(IS_SHARED, "in memory there are no names")
    def test_a_mistyped_name_creates_nothing_and_the_error_has_the_nearest(self):
        name = f"clicks-{random.getrandbits(48)}"
        everseen.open_or_create(URL, name).close()
        mistyped = name.replace("clicks", "clikcs")
        for read_only in (False, True):
            with self.assertRaisesRegex(everseen.NotFoundError, f"did you mean '{name}'.*open_or_create"):
                everseen.open(URL, mistyped, read_only=read_only)
        with self.assertRaisesRegex(everseen.NotFoundError, f"did you mean '{name}'"):
            everseen.drop(URL, mistyped)
        with self.assertRaisesRegex(everseen.NotFoundError, "everseen list"):
            everseen.open(URL, "nothing of the kind")
        with self.assertRaisesRegex(TypeError, "capacity"):
            everseen.open(URL, name, capacity=1000)
        with everseen.open(URL, name) as f:
            self.assertTrue(f.add("a"))

    def test_opening_creates_no_store(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(everseen.Error):
                everseen.open(f"file:{folder}/mistyped", "f")
            self.assertEqual(os.listdir(folder), [])
        with self.assertRaises(everseen.NotFoundError):
            everseen.open("mem:", "f")

    def test_a_filter_travels_as_a_file(self):
        f = self.made(capacity=1000)
        f.add_many(range(100))
        file = io.BytesIO()
        f.export(file)
        with self.assertRaisesRegex(ZeroDivisionError, "division"):
            f.export(type("Broken", (), {"write": lambda self, piece: 1 / 0})())
        whole = file.getvalue()
        taken = bytearray()

        class Slow(io.RawIOBase):  # takes a part of what it is given, as a raw file may
            def write(self, piece):
                taken.extend(piece[:100])
                return min(len(piece), 100)

        f.export(Slow())
        self.assertEqual(len(taken), len(whole))
        silent = io.BytesIO()
        f.export(type("Silent", (), {"write": lambda self, piece: silent.write(piece) and None})())
        self.assertEqual(len(silent.getvalue()), len(whole))
        for refused, base, error in ((None, io.RawIOBase, BlockingIOError), (0, object, BlockingIOError),
                                     (-1, object, ValueError), (2**40, object, ValueError), ("5", object, TypeError)):
            with self.assertRaises(error):
                f.export(type("Refusing", (base,), {"write": lambda self, piece, count=refused: count})())
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/clicks.everseen"
            f.export(path)
            self.assertEqual(os.listdir(folder), ["clicks.everseen"])
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
            with self.assertRaises(FileNotFoundError):
                f.export(f"{folder}/none/clicks")
            store = f"file:{folder}/store"
            for damaged in (whole[:-1], whole + b"x", b"", whole[:50] + b"?" + whole[51:]):
                with self.assertRaises(everseen.DamagedError):
                    everseen.import_(store, "copy", io.BytesIO(damaged))
            with self.assertRaises(TypeError):
                everseen.import_(store, "copy", io.StringIO("text"))
            for source in (path, io.BytesIO(whole), io.BytesIO(taken)):
                with everseen.import_(store, "copy", source) as copy:
                    self.assertTrue(all(v == SEEN for v in copy.check_many(range(100))))
                    self.assertTrue(copy.add("another"))
                with self.assertRaises(everseen.NameTakenError):
                    everseen.import_(store, "copy", source if isinstance(source, str) else io.BytesIO(whole))
                everseen.drop(store, "copy")

    def test_siblings_are_merged(self):
        whole = everseen.memory(capacity=1000)
        parts = [whole.sibling(), whole.sibling()]
        parts[0].add_many(range(60))
        parts[1].add_many(range(40, 100))
        for part in parts:
            whole.merge(part)
        self.assertTrue(all(v == SEEN for v in whole.check_many(range(100))))
        self.assertAlmostEqual(whole.info()["keys"], 100, delta=5)
        with self.assertRaisesRegex(everseen.InvalidError, "secret seed"):
            whole.merge(everseen.memory(capacity=1000))
        with self.assertRaises(TypeError):
            whole.merge("part")
        parts[0].close()
        with self.assertRaisesRegex(ValueError, "closed"):
            whole.merge(parts[0])
        full = everseen.memory(capacity=100, growth="refuse")
        for start in (0, 100):
            part = full.sibling()
            part.add_many(range(start, start + 90))
            if start == 0:
                full.merge(part)
        with self.assertRaisesRegex(everseen.FullError, "do not fit"):
            full.merge(part)
        self.assertEqual(full.info()["keys"], 90)

    def test_events_of_a_job_keep_their_verdicts_until_it_settles(self):
        f = self.made()
        keys, positions = ["a", "b", "a"], [10, 11, 15]
        with f.job("count", "counts clicks") as job:
            self.assertEqual(job.settled("clicks/0"), 0)
            self.assertEqual(list(job.claim("clicks/0", keys, positions)), [FRESH, FRESH, SEEN])
        with self.assertRaisesRegex(ValueError, "closed"):
            job.settled("clicks/0")
        with f.job("count") as job:  # as if the process had crashed and another started
            self.assertEqual(list(job.claim("clicks/0", keys, positions)), [FRESH, FRESH, SEEN])
            job.settle("clicks/0", 16)
            self.assertEqual(job.settled("clicks/0"), 16)
            self.assertEqual(list(job.claim("clicks/0", keys, [16, 17, 18])), [SEEN] * 3)
            with self.assertRaisesRegex(ValueError, "2 positions for 3 keys"):
                job.claim("clicks/0", keys, [19, 20])
            with self.assertRaisesRegex(everseen.InvalidError, "must ascend"):
                job.claim("clicks/0", keys, [21, 20, 19])
            with self.assertRaisesRegex(TypeError, "key 0 is of type float"):
                job.claim("clicks/0", [1.5], [21])
            for wrong in (-1, 2**64 - 1, 2**64):
                with self.assertRaisesRegex(everseen.InvalidError, "position=.* 0 to 18446744073709551614"):
                    job.settle("clicks/0", wrong)
            with self.assertRaises(TypeError):
                job.settle("clicks/0", None)
            self.assertEqual(job.settled("clicks/0"), 16)
            with self.assertRaisesRegex(TypeError, "pickled"):
                pickle.dumps(job)
        f.end_job("count")
        with self.assertRaises(everseen.InvalidError):
            f.end_job("count")

    def test_dedup_yields_each_item_once_and_in_order(self):
        self.assertEqual(list(everseen.dedup(["a", "b", "a", "c", "b"])), ["a", "b", "c"])
        rows = [(i % 3000, i) for i in range(10_000)]
        self.assertEqual(list(everseen.dedup(rows, key=lambda row: row[0])), rows[:3000])

    def test_dedup_adds_only_keys_of_requested_items(self):
        f = self.made()
        items = everseen.dedup(iter("abcdef"), filter=f)
        self.assertEqual([next(items), next(items)], ["a", "b"])
        items.close()
        self.assertEqual([c in f for c in "abc"], [True, True, False])

    def test_each_key_is_fresh_in_one_of_many_threads(self):
        f, fresh = self.made(), []
        keys = [b"%d" % i for i in range(20_000)]

        def add_all():
            fresh.append(sum(v == FRESH for start in range(0, len(keys), 500)
                             for v in f.add_many(keys[start:start + 500])))

        threads = [threading.Thread(target=add_all) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertLessEqual(sum(fresh), 20_000)
        self.assertGreater(sum(fresh), 19_990)

    def test_a_list_may_change_while_its_keys_are_judged(self):
        f = self.made()
        keys = [b"%d" % i for i in range(200_000)]
        stop = threading.Event()

        def disturb():
            while not stop.is_set():
                keys[random.randrange(len(keys))] = os.urandom(8)

        thread = threading.Thread(target=disturb)
        thread.start()
        for _ in range(5):
            self.assertEqual(len(f.add_many(keys)), len(keys))
        stop.set()
        thread.join()

    @unittest.skipUnless(URL.startswith("unix:"), "needs a server that can be stopped")
    def test_an_event_loop_continues_while_a_server_does_not_answer(self):
        f = self.made()
        server = int(subprocess.run(["redis-cli", "-s", URL.removeprefix("unix:"), "INFO", "server"], check=True,
                                    capture_output=True, text=True).stdout.split("process_id:")[1].split()[0])

        async def ask():
            adding = asyncio.create_task(asyncio.to_thread(f.add_many, ["a", "b", "a"]))
            for _ in range(50):
                await asyncio.sleep(0.01)
                self.assertFalse(adding.done())
            os.kill(server, signal.SIGCONT)
            return await adding

        os.kill(server, signal.SIGSTOP)
        try:
            verdicts = asyncio.run(ask())
        finally:
            os.kill(server, signal.SIGCONT)
        self.assertEqual(list(verdicts), [FRESH, FRESH, SEEN])

    def test_many_tasks_of_an_event_loop_use_one_filter(self):
        f = self.made(capacity=100_000)

        async def visit():
            batches = [[b"%d" % i for i in range(start, start + 1000)] for start in range(0, 20_000, 500)]
            return await asyncio.gather(*(asyncio.to_thread(f.add_many, batch) for batch in batches))

        fresh = sum(int(v == FRESH) for verdicts in asyncio.run(visit()) for v in verdicts)
        self.assertLessEqual(fresh, 20_500)
        self.assertGreater(fresh, 20_490)

    @unittest.skipUnless(IS_SHARED and not URL.startswith("file:"), "one process writes to files")
    def test_each_key_is_fresh_in_one_of_two_processes(self):
        f = self.made(capacity=100_000)
        program = ("import everseen, sys\n"
                   "f = everseen.open_or_create(sys.argv[1], sys.argv[2])\n"
                   "print(sum(int((v == everseen.FRESH)) for start in range(0, 50_000, 1000)\n"
                   "          for v in f.add_many(range(start, start + 1000))))\n")
        both = [subprocess.Popen([sys.executable, "-c", program, URL, self.name], stdout=subprocess.PIPE)
                for _ in range(2)]
        fresh = [int(p.communicate()[0]) for p in both]
        self.assertEqual([p.returncode for p in both], [0, 0])
        self.assertLessEqual(sum(fresh), 50_000)
        self.assertGreater(sum(fresh), 49_990)
        self.assertTrue(all(v == SEEN for v in f.check_many(range(50_000))))

    def test_a_filter_is_not_pickled_and_not_used_after_a_fork(self):
        f = self.made()
        with self.assertRaisesRegex(TypeError, "open it by its URL and name"):
            pickle.dumps(f)
        child = os.fork()
        if child == 0:
            try:
                f.add("a")
                code = 1
            except RuntimeError as why:
                code = 0 if "open it again" in str(why) else 2
            f.close()
            os._exit(code)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertTrue(f.add("a"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=0)
