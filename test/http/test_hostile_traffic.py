#!/usr/bin/env python3
"""Requests of all kinds, right and wrong, one after the other: to `everseen serve`, and to a Redis with the module.

Beside them, a client that stays connected gets right answers, and memory does not grow after a warm-up. Half of the
requests go to each server; EVERSEEN_HOSTILE_REQUESTS is how many, as the servers count them.
"""
import os
import random
import re
import select
import socket
import unittest

from serving import MODULE, PRELOAD, ROOT, Redis, Server, coded

REQUESTS = int(os.environ.get("EVERSEEN_HOSTILE_REQUESTS") or 50_000)
SANITIZED = "SANITIZED" in os.environ
SEED = int(os.environ.get("EVERSEEN_HOSTILE_SEED") or 1)
PIPELINE = 500  # requests on a connection
ATTACKER = "stranger"

# Filters with these names come and go.
NAMES = [b"a:%d" % i for i in range(12)]
WORDS = [*NAMES, *NAMES, b"", b"x", b"key", b"\xff\x00", b"\r\n", b"*3", b"$-1", "日志".encode(), b"k" * 300, b"0", b"1", b"-1", b"2", b"3", b"17",
         b"1000", b"0.01", b"0.5", b"1e-6", b"1e999", b"nan", b"-0", b"9223372036854775807", b"9223372036854775808", b"18446744073709551616",
         b"ITEMS", b"TIME", b"CAPACITY", b"ERROR", b"EXPANSION", b"NONSCALING", b"NOCREATE", b"WINDOW", b"SLICES", b"SIPHASH", b"XXH3",
         b"MATCH", b"COUNT", b"*", b"a:*", b"EX", b"PX", b"NX", b"XX", b"GT", b"(nil)", b"+OK"]
# What filters are for; the rest of the commands get random words alone.
SHAPES = ["BF.RESERVE {name} {rate} {size}", "BF.RESERVE {name} {rate} {size} EXPANSION 2", "BF.ADD {name} {key}", "BF.MADD {name} {key} {key} {key}",
          "BF.EXISTS {name} {key}", "BF.MEXISTS {name} {key} {key}", "BF.INSERT {name} CAPACITY {size} ITEMS {key} {key}", "BF.INFO {name}",
          "BF.CARD {name}", "BF.SCANDUMP {name} 0", "EVERSEEN.RESERVE {name} {rate} {size} WINDOW 60000 SLICES 3",
          "EVERSEEN.ADD {name} ITEMS {key} {key}", "EVERSEEN.CHECK {name} ITEMS {key}", "EVERSEEN.INFO {name}", "DEL {name}", "EXPIRE {name} 1",
          "RENAME {name} {name}", "TYPE {name}", "MULTI", "EXEC", "PING"]
ROUTES = [("GET", "/api/v1/filters?limit=5&after={name}", ""), ("GET", "/api/v1/filters/{name}", ""), ("DELETE", "/api/v1/filters/{name}", ""),
          ("POST", "/api/v1/filters", '{"name":"{name}","capacity":{size},"error_rate":{rate}}'),
          ("POST", "/api/v1/filters", '{"name":"{name}","window":"10m","slices":3}'), ("POST", "/api/v1/filters/{name}/add", '{"keys":["{key}","{key}"]}'),
          ("POST", "/api/v1/filters/{name}/check", '{"keys":["{key}"],"encoding":"base64"}'), ("POST", "/api/v1/filters/{name}/explain", '{"key":"{key}"}'),
          ("POST", "/api/v1/filters/{name}/rename", '{"to":"{name}","replace":true}'), ("POST", "/api/v1/filters/{name}/expire", '{"expire":{size}}'),
          ("GET", "/api/v1/filters/{name}/keys/{key}?time_ms={size}", ""), ("GET", "/api/v1/plan?keys={size}&error_rate={rate}", ""),
          ("HEAD", "/api/v1/stats", ""), ("GET", "/healthz", ""), ("PUT", "/metrics", "")]


def seeds_of(fuzzer):
    return [file.read_bytes() for file in sorted((ROOT / "fuzz/seeds" / fuzzer).iterdir())]


def command(*words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def mutated(random_, bytes_):
    """A few bytes changed, removed, doubled or added."""
    changed = bytearray(bytes_ or b"x")
    for _ in range(random_.randint(1, 4)):
        at = random_.randrange(len(changed) + 1)
        deed = random_.randrange(4)
        if deed == 0:
            changed[at:at + 1] = bytes([random_.randrange(256)])
        elif deed == 1 and len(changed) > 1:
            del changed[at:at + random_.randint(1, 8)]
        elif deed == 2:
            changed[at:at] = changed[at:at + random_.randint(1, 16)]
        else:
            changed[at:at] = random_.choice(WORDS)
    return bytes(changed)


class Generator:
    """Requests of one protocol. Those of a pool are combined at random, and one after the other replaced."""

    def __init__(self, random_):
        self.random = random_
        self.pool = [self.whole() for _ in range(2000)]
        self.broken = [self.torn() for _ in range(500)]

    def filled(self, shape):
        def part(found):
            return {"name": lambda: self.random.choice(NAMES).decode(), "key": lambda: f"k{self.random.randrange(10_000)}",
                    "size": lambda: self.random.choice(["0", "1", "10", "1000", "5000", "1e3", "99999999999999"]),
                    "rate": lambda: self.random.choice(["0.5", "0.01", "0.001", "1e-9", "2", "-1"])}[found[1]]()
        return re.sub("{(name|key|size|rate)}", part, shape).encode()

    def pipeline(self):
        """Requests whose ends the server finds; every other time, one last that may be anything."""
        for _ in range(8):
            self.pool[self.random.randrange(len(self.pool))] = self.whole()
            self.broken[self.random.randrange(len(self.broken))] = self.torn()
        last = [self.random.choice(self.broken)] * self.random.randrange(2)
        return b"".join([self.begin, *self.random.choices(self.pool, k=PIPELINE), *last])


class Commands(Generator):
    def __init__(self, random_, names, begin, seeds):
        self.names, self.begin, self.seeds = names, begin, seeds
        super().__init__(random_)

    def whole(self):
        kind = self.random.randrange(4)
        if kind == 0:
            return command(self.random.choice(self.names), *self.random.choices(WORDS, k=self.random.randrange(6)))
        words = self.filled(self.random.choice(SHAPES)).split(b" ")
        if kind == 1:
            at = self.random.randrange(len(words))
            words[at] = mutated(self.random, words[at])
        return command(*words)

    def torn(self):
        return mutated(self.random, self.random.choice([self.whole(), self.random.choice(self.seeds), self.whole() + b"PING a b\r\n"]))


class Http(Generator):
    begin = b""

    def __init__(self, random_, token):
        self.token = token
        super().__init__(random_)

    def whole(self):
        method, target, body = self.random.choice(ROUTES)
        target, body = self.filled(target), self.filled(body)
        if self.random.randrange(3) == 0:
            body = mutated(self.random, body) if body else body
            target = b"/" + re.sub(rb"[\x00-\x20\x7f-\xff]", b"%", mutated(self.random, target))
        head = b"%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n" % (method.encode(), target, self.token)
        if body:
            head += b"Content-Type: %s\r\nContent-Length: %d\r\n" % (self.random.choice([b"application/json", b"application/json", b"text/plain"]), len(body))
        return head + b"\r\n" + body

    def torn(self):
        return mutated(self.random, self.whole())


def answers_to(connection, bytes_):
    """Sends everything, and returns what is answered until the server ends the connection."""
    connection.setblocking(False)
    rest, got = memoryview(bytes_), []
    while True:
        readable, writable, _ = select.select([connection], [connection] if rest else [], [], 60)
        if not readable and not writable:
            raise AssertionError("the server neither takes requests nor answers")
        try:
            if writable:
                rest = rest[connection.send(rest):]
                if not rest:
                    connection.shutdown(socket.SHUT_WR)
            if readable:
                got.append(connection.recv(1 << 18))
                if not got[-1]:
                    return b"".join(got)
        except (ConnectionResetError, BrokenPipeError):  # it refused a request and did not read those after it
            return b"".join(got)


def connected(path):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(60)
    connection.connect(path)
    return connection


class Control:
    """A client that stays connected, and the filter that it alone knows."""

    def __init__(self, path, password):
        self.connection = connected(path)
        self.file = self.connection.makefile("rb")
        self.name = b"mine-%d" % random.SystemRandom().getrandbits(64)
        self.count = 0
        assert self.ask(b"AUTH", b"default", password) == b"OK"
        assert self.ask(b"BF.RESERVE", self.name, b"1e-12", b"100000") == b"OK"

    def ask(self, *words):
        self.connection.sendall(command(*words))
        return self.reply()

    def reply(self):
        kind, rest = (line := self.file.readline())[:1], line[1:-2]
        if kind == b"-":
            raise AssertionError(line)
        if kind == b"$":
            return self.file.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self.reply() for _ in range(int(rest))]
        return int(rest) if kind == b":" else rest

    def check(self):
        """A new key is fresh once, and keys of long ago are seen."""
        self.count += 1
        new = b"key %d" % self.count
        assert self.ask(b"BF.EXISTS", self.name, new) == 0
        assert self.ask(b"BF.ADD", self.name, new) == 1
        assert self.ask(b"BF.MEXISTS", self.name, b"key 1", new, b"key %d" % -self.count) == [1, 1, 0]

    def drop_others(self):
        """All that the requests made, also under names that are misspelt."""
        for key in self.ask(b"KEYS", b"*"):
            if key != self.name:
                self.ask(b"DEL", key)

    def close(self):
        self.file.close()
        self.connection.close()


def resident_kb(process):
    with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1])


class HostileTraffic(unittest.TestCase):
    def besiege(self, process, control, attack, done):
        """Attacks until `done` says that a server has had its requests."""
        warm = None
        while (share := done() / (REQUESTS / 2)) < 1:
            for _ in range(5):
                for _ in range(4):
                    attack()
                control.check()
            control.drop_others()
            if warm is None and share > 0.25:
                warm = resident_kb(process)
        self.assertIsNone(process.poll())
        if not SANITIZED:
            print(f"resident after a warm-up: {warm} kB; in the end: {resident_kb(process)} kB", flush=True)
            self.assertLess(resident_kb(process), 1.1 * warm + 8192)

    def test_a_server_lives_on(self):
        with Server("--user", "default:master:admin", "--user", f"{ATTACKER}:word:write", "--maxmemory", "64Mi", "--max-request", "1Mi") as s:
            control = Control(s.socket, b"master")
            random_ = random.Random(SEED)
            names = [each[0] for each in control.ask(b"COMMAND")]
            resp = Commands(random_, names, command(b"AUTH", ATTACKER.encode(), b"word"), [*seeds_of("session_fuzz"), *seeds_of("request_parser_fuzz")])
            http = Http(random_, b"word")

            def attack():
                with connected(s.socket) as connection:
                    self.assertNotIn(b"this is a bug", answers_to(connection, resp.pipeline()))
                with s.raw() as connection:
                    got = answers_to(connection, http.pipeline())
                self.assertNotIn(b"this is a bug", got)
                self.assertEqual({int(status) for status in re.findall(rb"HTTP/1\.1 (\d+) ", got)} - {
                    200, 201, 204, 400, 401, 403, 404, 405, 408, 409, 413, 415, 421, 422, 431, 507}, set())

            def done():
                told = s.ask("GET", "/api/v1/stats", token="master")[2]
                return told["commands"] + told["requests"]

            self.besiege(s.process, control, attack, done)
            self.assertEqual(s.ask("POST", f"/api/v1/filters/{control.name.decode()}/check", {"keys": coded(b"key 1", b"no key"), "encoding": "base64"},
                                   "master")[2]["verdicts"], ["seen", "fresh"])
            control.close()
            self.assertEqual(s.stop(), 0)
            self.assertNotRegex(s.said(), "bug|assert")

    @unittest.skipIf(SANITIZED and not PRELOAD, "redis-server loads no module under ThreadSanitizer")
    def test_a_redis_with_the_module_lives_on(self):
        with Redis("--loadmodule", MODULE, "--requirepass", "master", "--maxmemory", "256mb") as r:
            control = Control(r.socket, b"master")
            names = control.ask(b"COMMAND", b"LIST", b"FILTERBY", b"MODULE", b"everseen") + b"DEL EXISTS TYPE RENAME COPY DUMP RESTORE MULTI EXEC".split()
            rights = [b"+" + name.lower() for name in [*names, b"PING", b"EXPIRE"]]
            self.assertEqual(control.ask(b"ACL", b"SETUSER", ATTACKER.encode(), b"on", b">word", b"~*", b"-@all", *rights), b"OK")
            resp = Commands(random.Random(SEED), names, command(b"AUTH", ATTACKER.encode(), b"word"),
                            [*seeds_of("session_fuzz"), *seeds_of("request_parser_fuzz")])

            def attack():
                with connected(r.socket) as connection:
                    answers_to(connection, resp.pipeline())

            def done():
                return int(re.search(rb"total_commands_processed:(\d+)", control.ask(b"INFO", b"stats"))[1])

            self.besiege(r.process, control, attack, done)
            control.close()


if __name__ == "__main__":
    unittest.main(argv=[__file__], verbosity=1)
