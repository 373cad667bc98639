#!/usr/bin/env python3
"""The unchanged examples for Node.js and curl, on filters in memory, in files and in a Redis."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from serving import ROOT, Redis, Server

WANTED = "alice is new\nbob is new\nalice was here before\n"


class Clients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.TemporaryDirectory()
        cls.node = pathlib.Path(cls.home.name, "node")
        shutil.copytree(ROOT / "examples/node", cls.node, ignore=shutil.ignore_patterns("node_modules"))
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=cls.node, check=True,
                       stdout=subprocess.DEVNULL, timeout=300)

    @classmethod
    def tearDownClass(cls):
        cls.home.cleanup()

    def says(self, *command):
        done = subprocess.run([*command, "alice", "bob", "alice"], capture_output=True, text=True, timeout=60, cwd=self.node)
        self.assertEqual((done.stdout, done.stderr), (WANTED, ""))

    def renames_and_ends(self, socket):
        """RENAME, EXPIRE and a transaction through a client of Node.js, on the filter of the examples."""
        script = """
          import { Redis } from 'ioredis';
          const r = new Redis(process.argv[1]);
          console.log(await r.rename('visitors', 'guests'), await r.renamenx('guests', 'visitors'), await r.exists('guests'));
          console.log(await r.pexpire('visitors', 100000), await r.ttl('visitors') > 0, await r.persist('visitors'));
          const done = await r.multi().call('BF.ADD', 'guests', 'eve').rename('guests', 'friends').del('friends').exec();
          console.log(JSON.stringify(done));
          r.disconnect();"""
        done = subprocess.run(["node", "--input-type=module", "-e", script, socket], capture_output=True, text=True,
                              timeout=60, cwd=self.node)
        self.assertEqual((done.stdout, done.stderr), ('OK 1 0\n1 true 1\n[[null,1],[null,"OK"],[null,1]]\n', ""))

    def satisfies_all(self, store):
        socket = os.path.join(self.home.name, "http")
        with Server(store=store, http=f"unix:{socket}") as s:
            for command in [("node", "redis.js", s.socket), ("node", "ioredis.js", s.socket),
                            (str(ROOT / "examples/curl/first_visit.sh"), socket)]:
                self.says(*command)
                self.renames_and_ends(s.socket)
                subprocess.run(["redis-cli", "-e", "-s", s.socket, "DEL", "visitors"], check=True, stdout=subprocess.DEVNULL)

    def test_filters_in_memory(self):
        self.satisfies_all("mem:")

    def test_filters_in_files(self):
        with tempfile.TemporaryDirectory() as home:
            self.satisfies_all(f"file:{home}")

    def test_filters_in_a_redis_without_modules(self):
        with Redis() as redis:
            self.satisfies_all(redis.url())


if __name__ == "__main__":
    unittest.main(argv=[__file__], verbosity=1)
