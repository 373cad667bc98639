"""Clients in several languages, each with its library's own functions for BF.*: what they understand of the module's replies.

usage: clients_test.py MODULE
"""
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

MODULE = sys.argv[1]
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CLIENTS = ROOT / "test/peers/clients"
PEERS = ROOT / "build/peers"

UNDERSTOOD = """reserve: OK
again: true
add: true false
madd: true false true
exists: true false
mexists: true false
insert: true true false
info: 1000 1 3 2
card: 3
copy: true false
"""


class Server:
    """A Redis with the module, on a free port of this machine. A context manager, which gives the port."""

    def __init__(self, layout):
        self.layout = layout

    def __enter__(self):
        self.directory = tempfile.TemporaryDirectory()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process = subprocess.Popen(["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", self.directory.name,
                                         "--loadmodule", MODULE, "LAYOUT", self.layout], stdout=subprocess.DEVNULL)
        while subprocess.run(["redis-cli", "-p", str(self.port), "PING"], capture_output=True).stdout != b"PONG\n":
            if self.process.poll() is not None:
                raise AssertionError("the server does not start")
            time.sleep(0.05)
        return self.port

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.directory.cleanup()


class ClientsOfTheModule(unittest.TestCase):
    def understands(self, command, versions=("",), directory=None):
        """On filters of both layouts. The client is told the version of the protocol, if it may choose."""
        for layout in ("everseen", "redisbloom"):
            for version in versions:
                with self.subTest(layout=layout, version=version), Server(layout) as port:
                    done = subprocess.run([*command, str(port), *([version] if version else [])], capture_output=True, text=True,
                                          timeout=300, cwd=directory)
                    self.assertEqual(done.stdout, UNDERSTOOD, done.stderr)

    def need(self, name):
        if (PEERS / name).exists():
            return PEERS / name
        if os.environ.get("EVERSEEN_PEERS_REQUIRED"):
            self.fail(f"there is no build/peers/{name}; ./dev peers brings it")
        self.skipTest(f"there is no build/peers/{name}")

    # Promise: clients of RedisBloom understand the module (module, Filters as keys: BF.*).
    def test_redis_py_of_debian(self):
        self.understands(["/usr/bin/python3", CLIENTS / "redis_py.py"], ["2"])

    def test_newest_redis_py(self):
        self.understands([self.need("python/bin/python"), CLIENTS / "redis_py.py"], ["2", "3"])

    def test_go_redis(self):
        self.understands([self.need("gozero/bloom")], ["2", "3"])

    def test_jedis(self):
        jars = self.need("originals/jedis-6.0.0.jar").parent
        self.understands(["java", "-XX:TieredStopAtLevel=1", "-cp", f"{jars}/*", CLIENTS / "Jedis.java"], ["2", "3"])

    def test_phpredis(self):
        self.understands(["php", CLIENTS / "phpredis.php"])

    def test_node_redis_and_ioredis(self):
        """The versions of examples/node."""
        with tempfile.TemporaryDirectory() as directory:
            for file in (ROOT / "examples/node/package.json", ROOT / "examples/node/package-lock.json", *CLIENTS.glob("*.mjs")):
                shutil.copy(file, directory)
            subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=directory, check=True,
                           stdout=subprocess.DEVNULL, timeout=300)
            for client in ("node_redis.mjs", "ioredis.mjs"):
                self.understands(["node", client], directory=directory)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=0)
