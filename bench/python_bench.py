"""What a key costs from Python: everseen beside what Python programs use. Answers are checked first.

usage: PYTHONPATH=build/release/python python_bench.py [KEYS]
"""
import math
import sys
import time
import zlib

import everseen

KEYS = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
REPEATS_FROM = KEYS // 2  # the second half of the input repeats a part of the first


class PureBloom:
    """A Bloom filter as it is written in Python: a bytearray, and two CRCs that are combined."""

    def __init__(self, capacity, error_rate):
        self.bits = math.ceil(-capacity * math.log(error_rate) / math.log(2) ** 2)
        self.probes = round(self.bits / capacity * math.log(2))
        self.bytes = bytearray(self.bits // 8 + 1)

    def add(self, key):
        a, b = zlib.crc32(key), zlib.crc32(key, 0x9E3779B9) | 1
        is_new = False
        for i in range(self.probes):
            bit = (a + i * b) % self.bits
            mask = 1 << (bit & 7)
            if not self.bytes[bit >> 3] & mask:
                is_new = True
                self.bytes[bit >> 3] |= mask
        return is_new


def by_set(keys):
    known = set()
    fresh = 0
    for key in keys:
        if key not in known:
            known.add(key)
            fresh += 1
    return fresh


def by_pure_bloom(keys):
    known = PureBloom(KEYS, 1e-6)
    return sum(known.add(key) for key in keys)


def by_single_keys(keys):
    with everseen.memory(capacity=KEYS) as known:
        return sum(known.add(key) for key in keys)


def by_batches(keys):
    with everseen.memory(capacity=KEYS) as known:
        verdicts = known.add_many(keys)
        return sum(v == everseen.FRESH for v in verdicts) if isinstance(verdicts, bytearray) \
            else int((verdicts == everseen.FRESH).sum())


def main():
    keys = [b"user:%d" % (i if i < REPEATS_FROM else i - REPEATS_FROM) for i in range(KEYS)]
    expected = len(set(keys))
    rows = [("a set, key by key", by_set, keys, KEYS), ("a Bloom filter in Python", by_pure_bloom, keys, KEYS // 20),
            ("everseen, key by key", by_single_keys, keys, KEYS // 4), ("everseen, a list of bytes", by_batches, keys, KEYS)]
    try:
        import numpy
        rows.append(("everseen, a numpy array of S", by_batches, numpy.array(keys), KEYS))
        width = 12
        rows.append(("everseen, bytes in two dimensions", by_batches,
                     numpy.frombuffer(b"".join(k.ljust(width) for k in keys), dtype=numpy.uint8).reshape(-1, width), KEYS))
    except ImportError:
        print("numpy is missing: its arrays are left out", file=sys.stderr)
    first = None
    print(f"{KEYS} keys, {expected} different")
    for name, work, given, count in rows:
        some = given[:count]
        begin = time.perf_counter()
        fresh = work(some)
        seconds = time.perf_counter() - begin
        exact = min(count, expected)
        if not exact - max(10, exact * 1e-4) <= fresh <= exact:
            sys.exit(f"{name}: {fresh} of {exact} different keys were fresh")
        first = first or count / seconds
        print(f"{name:36} {count / seconds / 1e6:8.2f} M keys/s {count / seconds / first:8.2f} times a set")


main()
