"""Calls everything in the Python package many times, including failures, and compares memory and references."""

import array
import gc
import io
import os
import sys
import threading
import time
import unittest

import everseen
from arrow import ArrowArray

try:
    import numpy
except ImportError:
    numpy = None

KEYS = [b"key %d" % i for i in range(1000)]
NUMBERS = list(range(10**6, 10**6 + 1000))


def resident():
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * 4096


def fails(function, *arguments, **named):
    try:
        function(*arguments, **named)
    except Exception as error:
        return error
    raise AssertionError(f"{function} did not fail")


def use_everything(f, full):
    f.add_many(KEYS)
    f.check_many(tuple(KEYS))
    f.add_many(NUMBERS)
    f.add_many("text %d" % i for i in range(100))
    f.add_many(ArrowArray(KEYS[:100]))
    f.add_many(KEYS, time=[1.0] * len(KEYS))
    f.add_many([1, None, "a", float("nan"), 2**70], missing="drop")
    f.add_many([1, None, 2] * 10, missing="drop", time=list(range(30)))
    f.add_many(ArrowArray(KEYS[:100], nulls=[1, 50]), missing="drop")
    f.add("a")
    "a" in f
    if numpy:
        f.add_many(numpy.array(KEYS))
        f.add_many(numpy.array(NUMBERS))
        f.add_many(numpy.ma.array(NUMBERS, mask=[i % 7 == 0 for i in NUMBERS]), missing="drop")
        f.add_many([numpy.int64(7), numpy.float64("nan")], missing="drop")
        f.fresh(numpy.frombuffer(b"ab" * 100, dtype=numpy.uint8).reshape(-1, 2))
    f.info()
    f.sync()
    full.export(io.BytesIO())
    fails(full.export, io.StringIO())
    fails(everseen.import_, "mem:", "f", io.BytesIO(b"damaged"))
    fails(f.add_many, KEYS + [1.5])
    fails(f.add_many, ArrowArray(KEYS, nulls=[1]))
    fails(f.add_many, ArrowArray([b"12345678"], b"g"))
    fails(f.add_many, ArrowArray([b"12345678"], b"w:-1"))
    fails(everseen.memory, capacity=2**64)
    fails(f.add_many, KEYS, time=[1, 2])
    fails(f.add_many, ["\udc80"])
    fails(full.add_many, NUMBERS)
    fails(full.add_many, [*NUMBERS, None], missing="drop")
    fails(f.add_many, [1, None])
    fails(f.add_many, [1, None], missing="drop", time=[1, 2, 3])
    fails(f.add_many, "a", missing="skip")
    fails(everseen.open, "nowhere:", "f")
    fails(everseen.open, "mem:", "f")
    with everseen.memory(capacity=100) as another:
        another.add_many(KEYS[:10])
        with another.job("count") as job:
            job.claim("clicks/0", KEYS[:10], range(10))
            fails(job.claim, "clicks/0", KEYS[:10], [11])
            fails(job.claim, "clicks/0", [1.5], [11])
            fails(job.settle, "clicks/0", -1)
            job.settle("clicks/0", 10)
            job.settled("clicks/0")
        another.end_job("count")
        fails(another.end_job, "count")
    fails(another.add, "b")
    list(everseen.dedup(KEYS[:100]))


class Memory(unittest.TestCase):
    @unittest.skipIf("libasan" in os.environ.get("LD_PRELOAD", ""), "a sanitizer keeps freed memory for a while")
    def test_repeated_calls_need_no_more_memory(self):
        f, full = everseen.memory(capacity=100_000), everseen.memory(capacity=100, growth="refuse")
        for _ in range(100):
            use_everything(f, full)
        gc.collect()
        before = resident()
        for _ in range(400):
            use_everything(f, full)
        gc.collect()
        self.assertLess(resident() - before, 2 << 20)  # a retained key in each round is 20 MB

    def test_references_to_keys_and_buffers_are_released(self):
        f, full = everseen.memory(capacity=100_000), everseen.memory(capacity=100, growth="refuse")
        times = array.array("q", [0])
        watched = [KEYS, KEYS[0], NUMBERS, NUMBERS[-1], everseen.FullError, everseen.InvalidError]
        use_everything(f, full)
        before = [sys.getrefcount(each) for each in watched]
        for _ in range(20):
            use_everything(f, full)
            f._filter.judge_list(KEYS, True, False, times)
        gc.collect()
        self.assertEqual([sys.getrefcount(each) for each in watched], before)
        times.append(1)  # BufferError if it were still exported

    def test_threads_that_open_use_and_close_filters_concurrently(self):
        shared, failures = everseen.memory(capacity=10_000), []
        full = everseen.memory(capacity=100, growth="refuse")

        def work():
            try:
                for _ in range(30):
                    use_everything(shared, full)
            except Exception as error:  # not raised where the test would see it
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertTrue(all(v == everseen.SEEN for v in shared.check_many(KEYS)))

    def test_a_filter_in_use_is_not_closed(self):
        f = everseen.memory(capacity=10_000)
        keys = [b"%d" % i for i in range(200_000)]

        def add():
            try:
                for _ in range(5):
                    f.add_many(keys)
            except ValueError:  # it is closed
                pass

        threads = [threading.Thread(target=add) for _ in range(4)]
        for thread in threads:
            thread.start()
        while True:
            try:
                f.close()
                break
            except RuntimeError as error:
                self.assertIn("another thread", str(error))
                time.sleep(0.001)
        for thread in threads:
            thread.join()
        self.assertRaises(ValueError, f.add, "a")


if __name__ == "__main__":
    unittest.main(verbosity=0)
