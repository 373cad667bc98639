#!/usr/bin/env python3
"""Compares examples/lua with the documents, and with everseen over the same filters.

usage: lua_test.py SOURCE_FOLDER PROGRAM
"""

import concurrent.futures
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import unittest

import redis

from private_redis import private_redis

source, program = pathlib.Path(sys.argv[1]), sys.argv[2]
sys.path.insert(0, str(source / "examples/lua"))
import visit  # noqa: E402

SCRIPT = (source / "examples/lua/seen.lua").read_text(encoding="utf-8")


def keys_of(numbers):
    return [b"key %d" % i for i in numbers]


class Script(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        socket = cls.enterClassContext(private_redis())
        cls.url = f"unix:{socket}"
        cls.server = redis.Redis(unix_socket_path=str(socket))

    def everseen(self, verb, *arguments, keys=()):
        done = subprocess.run([program, verb, *arguments], input=b"".join(key + b"\n" for key in keys),
                              env=os.environ | {"EVERSEEN_STORE": self.url}, capture_output=True)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return done.stdout.decode().splitlines()

    def made(self, name, *options):
        self.everseen("create", name, *([] if "--judge" in options else ["--judge", "server"]), *options)
        return name

    def verdicts(self, name, keys):
        """The verdicts of everseen, in the form of the script."""
        lines = self.everseen("check", name, keys=keys)
        self.assertEqual(len(lines), len(keys))
        return ["1" if line.startswith("seen") else "0" for line in lines]

    def test_the_document_has_this_text_and_this_hash(self):
        document = (source / "doc/redis.md").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"^```lua\n(.*?)^```$", document, re.MULTILINE | re.DOTALL), [SCRIPT])
        self.assertIn(f"`{hashlib.sha1(SCRIPT.encode()).hexdigest()}`", document)

    # Promise: the script computes the positions of the worked example (hashing, Worked example).
    def test_positions_are_those_of_the_worked_example(self):
        document = (source / "doc/hashing.md").read_text(encoding="utf-8")
        low, high = (re.search(rf"{name}\s*= 0x([0-9A-F]{{16}})", document)[1] for name in ("low", "high"))
        expected = re.search(r"classic, 7 probes\n.*\n\s*position = ([0-9, ]+)", document)[1]
        functions = SCRIPT[:SCRIPT.index("-- The call.")]
        asked = functions + """
            local all = {}
            positions(ARGV[1], tonumber(ARGV[2]), 7, function(bit) all[#all + 1] = string.format('%.0f', bit) end)
            return table.concat(all, ', ')"""
        self.assertEqual(self.server.eval(asked, 0, high + low, 512000).decode(), expected)

    def test_siphash_is_that_of_everseen(self):
        key = bytes(range(16))
        self.assertEqual(visit.siphash128(key, b""), (0xE6A825BA047F81A3, 0x930255C71472F66D))
        self.assertEqual(visit.siphash128(key, b"x" * 300), (0x8E6F44EE760056B1, 0x47BC7659BFDF2036))

    def both_ways(self, name, options, everseens, scripts):
        self.made(name, *options)
        self.everseen("add", name, keys=keys_of(everseens))
        f = visit.Filter(self.server, name)
        added = f.judge("add", keys_of(scripts))
        expected = ["1" if key in everseens else "0" for key in scripts]
        self.assertEqual(added, expected)
        both = keys_of([*everseens, *scripts])
        self.assertEqual(self.verdicts(name, both), ["1"] * len(both))
        others = keys_of(range(10**6, 10**6 + 3000))
        self.assertEqual(f.judge("check", others), self.verdicts(name, others))
        self.assertEqual(f.judge("check", both), ["1"] * len(both))
        self.assertEqual(f.judge("add", both), ["1"] * len(both))
        return f

    # Promise: keys that the script adds are seen by everseen, and the other way round (redis, Without a client of everseen).
    def test_it_agrees_with_everseen_both_ways(self):
        self.both_ways("sip", ["--hash", "siphash", "--partitions", "1", "--capacity", "10k"], range(100), range(50, 1000))
        self.both_ways("xxh3", ["--partitions", "1", "--capacity", "10k"], range(100), range(50, 1000))
        self.both_ways("parts", ["--partitions", "8", "--capacity", "100k"], range(1000), range(500, 2000))
        self.both_ways("loose", ["--partitions", "1", "--capacity", "10k", "--error-rate", "1e-9"], range(1), range(1000))

    def test_it_agrees_in_filters_that_have_grown(self):
        f = self.both_ways("grown", ["--partitions", "1", "--capacity", "1000"], range(5000), range(4000, 5500))
        self.assertGreater(len(self.server.keys(f.base + "/0}:0.*")), 2)

    def test_it_checks_without_writing(self):
        self.made("checked", "--partitions", "1")
        self.everseen("add", "checked", keys=keys_of([0]))
        f = visit.Filter(self.server, "checked")
        digests = ["%016x%016x" % f.digest(key) for key in keys_of([0, 1])]
        self.assertEqual(self.server.execute_command("EVAL_RO", SCRIPT, 1, f.base + "/0}", "check", *digests), b"10")

    def test_it_counts_the_keys_that_it_adds(self):
        self.made("counted", "--partitions", "1", "--capacity", "1000")
        self.everseen("add", "counted", keys=keys_of(range(10)))
        visit.Filter(self.server, "counted").judge("add", keys_of(range(30)))
        self.assertIn("keys 30", " ".join(" ".join(self.everseen("info", "counted")).split()))

    def test_everseen_gives_a_full_filter_more_room(self):
        self.made("full", "--partitions", "1", "--capacity", "100", "--error-rate", "1e-9")
        self.everseen("add", "full", keys=keys_of([0]))
        f = visit.Filter(self.server, "full")
        self.assertEqual(f.judge("add", keys_of(range(101))), ["1"] + ["0"] * 99 + ["3"])
        self.everseen("add", "full", keys=keys_of([100]))
        self.assertEqual(f.judge("add", keys_of(range(102))), ["1"] * 101 + ["0"])

    def test_an_overfilled_filter_takes_more(self):
        self.made("over", "--partitions", "1", "--capacity", "100", "--error-rate", "1e-9", "--growth", "overfill")
        self.everseen("add", "over", keys=keys_of([0]))
        self.assertEqual(visit.Filter(self.server, "over").judge("add", keys_of(range(150))).count("3"), 0)

    def test_each_key_is_fresh_once_for_concurrent_clients(self):
        self.made("race", "--partitions", "1", "--capacity", "100k")
        self.everseen("add", "race", keys=[b"first"])
        keys = keys_of(range(3000))

        def by_script(_):
            f = visit.Filter(redis.Redis(unix_socket_path=self.url.removeprefix("unix:")), "race")
            return sum(f.judge("add", keys[i:i + 50]).count("0") for i in range(0, len(keys), 50))

        def by_everseen(_):
            fresh, = re.findall(r"^(\d+) fresh", "\n".join(self.everseen("add", "race", keys=keys)))
            return int(fresh)

        with concurrent.futures.ThreadPoolExecutor() as pool:
            fresh = [*pool.map(by_script, range(3)), *pool.map(by_everseen, range(3))]
        self.assertLessEqual(sum(fresh), 3000)
        self.assertGreater(sum(fresh), 2990)

    def test_unsupported_calls_are_refused_and_change_nothing(self):
        self.made("good", "--partitions", "1")
        self.everseen("add", "good", keys=keys_of([0]))
        base = visit.Filter(self.server, "good").base
        state, digest = base + "/0}", "0" * 32
        before = {key: self.server.dump(key) for key in self.server.keys("*")}
        for arguments in (["set", digest], ["add", digest, "0"], ["add", digest, "z" * 32]):
            with self.assertRaisesRegex(redis.ResponseError, "EVERSEEN"):
                self.server.eval(SCRIPT, 1, state, *arguments)
        with self.assertRaisesRegex(redis.ResponseError, "no such filter"):
            self.server.eval(SCRIPT, 1, "nowhere", "add", digest)
        self.assertEqual({key: self.server.dump(key) for key in self.server.keys("*")}, before)
        for name, options, why in (("windowed", ["--window", "1h"], "window"), ("line", ["--layout", "line-8x64"], "layout")):
            self.made(name, "--partitions", "1", *options)
            self.everseen("add", name, keys=keys_of([0]))
            with self.assertRaisesRegex(redis.ResponseError, why):
                visit.Filter(self.server, name).judge("add", keys_of([1]))
        self.made("empty", "--partitions", "1")
        with self.assertRaisesRegex(redis.ResponseError, "first key"):
            visit.Filter(self.server, "empty").judge("add", keys_of([1]))
        self.assertEqual(visit.Filter(self.server, "empty").judge("check", keys_of(range(3))), ["0"] * 3)
        self.server.append(base + "/0}:0.0", b"\0")
        with self.assertRaisesRegex(redis.ResponseError, "damaged"):
            visit.Filter(self.server, "good").judge("add", keys_of([1]))
        for name, options in (("clients", ["--judge", "client"]), ("ends", ["--expire", "1h"])):
            self.made(name, *options)
            with self.assertRaises(SystemExit):
                visit.Filter(self.server, name)

    def test_the_readme_has_the_documented_output(self):
        readme = (source / "examples/lua/README.md").read_text(encoding="utf-8")
        block, = re.findall(r"^```sh\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
        block = block.replace("redis://localhost", self.url).replace("python3", sys.executable)
        path = f"{pathlib.Path(program).resolve().parent}:{os.environ['PATH']}"
        run = subprocess.run(["bash", "-c", block], cwd=source, env=os.environ | {"PATH": path}, capture_output=True, text=True)
        self.assertEqual(run.returncode, 1, run.stderr)  # as carol is fresh
        self.assertIn("alice is new\nbob is new\nalice was here before\nseen\talice\nfresh\tcarol\n", run.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
