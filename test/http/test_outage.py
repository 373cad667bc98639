#!/usr/bin/env python3
"""An unavailable store: what the server answers meanwhile, and which requests wait."""
import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

from serving import PROGRAM, ROOT, Redis, Server, receive_all, until  # noqa: F401


class LaterRedis(Redis):
    """A redis-server that is down at first, and may be restarted with the same socket."""

    def __enter__(self):
        self.home = tempfile.TemporaryDirectory()
        self.socket = os.path.join(self.home.name, "r")
        self.process = None
        return self

    def start(self, *options):
        self.process = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", self.socket, "--save", "",
                                         "--dir", self.home.name, *options], stdout=subprocess.DEVNULL)
        if not until(lambda: os.path.exists(self.socket)):
            raise AssertionError("redis-server does not start")

    def __exit__(self, *_):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self.home.cleanup()


def starts_and_ends(*options):
    """A server that must refuse to start."""
    return subprocess.run([PROGRAM, "serve", "--listen", "127.0.0.1:0", *options], capture_output=True, text=True, timeout=60)


def in_parallel(work, count):
    results = [None] * count

    def one(i):
        results[i] = work(i)

    threads = [threading.Thread(target=one, args=(i,)) for i in range(count)]
    for each in threads:
        each.start()
    return threads, results


def clients_waiting_for(server, command):
    """How many have sent this as their last command."""
    listed = subprocess.run(["redis-cli", "-e", "-s", server.socket, "CLIENT", "LIST"], capture_output=True, text=True,
                            check=True, timeout=60).stdout
    return listed.count(f" cmd={command} ")


class Start(unittest.TestCase):
    def test_it_serves_while_redis_is_down_and_recovers(self):
        with LaterRedis() as redis:
            with Server("--log-level", "info", "--log-format", "logfmt", store=redis.url("?retry_for=200ms")) as s:
                self.assertEqual(s.ask("GET", "/healthz")[0], 200)
                self.assertEqual(s.ask("GET", "/readyz")[0], 503)
                status, _, answer = s.ask("POST", "/api/v1/filters", {"name": "f"})
                self.assertEqual((status, answer["reason"]), (503, "outage"))
                said = subprocess.run(["redis-cli", "-s", s.socket, "BF.ADD", "f", "a"], capture_output=True, text=True,
                                      check=False, timeout=30).stdout
                self.assertTrue(said.startswith("OUTAGE "), said)
                self.assertIn("event=store_outage", s.said())
                redis.start("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
                self.assertTrue(until(lambda: s.ask("GET", "/readyz")[0] == 200))
                self.assertTrue(until(lambda: "event=store_is_back" in s.said()))
                self.assertIn("event=store_warning", s.said())  # as if it had been there at the start
                self.assertEqual(s.ask("POST", "/api/v1/filters", {"name": "f"})[0], 201)

    def test_permanent_errors_end_it_immediately(self):
        with LaterRedis() as redis:
            redis.start("--requirepass", "secret")
            for url, code, word in [(redis.url("?password=wrong"), 3, "WRONGPASS"), ("redsi://h", 2, "redsi"),
                                    ("redis://h:port", 2, "port"), (redis.url("?retry_for=soon"), 2, "retry_for")]:
                began = time.monotonic()
                result = starts_and_ends("--store", url)
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertIn(word, result.stderr)
                self.assertLess(time.monotonic() - began, 20)


class Waiting(unittest.TestCase):
    def test_many_requests_for_many_filters_do_not_wait_in_sequence(self):
        with LaterRedis() as redis, Server("--store-threads", "4", store=redis.url("?retry_for=2s")) as s:
            began = time.monotonic()
            threads, answers = in_parallel(lambda i: s.ask("POST", f"/api/v1/filters/f{i}/add", {"keys": ["a"]}), 100)
            for each in threads:
                each.join()
            self.assertEqual({a[0] for a in answers}, {503})
            self.assertLess(time.monotonic() - began, 25)  # four at a time: 50 s

    def test_keys_of_many_clients_share_batches(self):
        with Redis() as redis, Server(store=redis.url()) as s:
            s.ask("POST", "/api/v1/filters", {"name": "f", "capacity": 10_000, "error_rate": 1e-12})
            os.kill(redis.process.pid, signal.SIGSTOP)
            threads, answers = in_parallel(
                lambda i: s.ask("POST", "/api/v1/filters/f/add", {"keys": [f"of-{i}", "of-all"]}), 60)
            self.assertTrue(until(lambda: clients_waiting_for(s, "http|add") == 60))
            os.kill(redis.process.pid, signal.SIGCONT)
            for each in threads:
                each.join()
            self.assertEqual([a[0] for a in answers], [200] * 60)
            self.assertEqual([a[2]["verdicts"][0] for a in answers], ["fresh"] * 60)
            self.assertEqual(sum(a[2]["verdicts"][1] == "fresh" for a in answers), 1)
            self.assertLess(s.ask("GET", "/api/v1/stats")[2]["filters"][0]["batches"], 30)

    def test_times_of_clients_are_kept_apart(self):
        with Redis() as redis, Server(store=redis.url()) as s:
            s.ask("POST", "/api/v1/filters", {"name": "f", "window": "1h", "slices": 4, "error_rate": 1e-12})
            now = int(time.time() * 1000)
            s.ask("POST", "/api/v1/filters/f/add", {"keys": ["first"], "time_ms": now})
            os.kill(redis.process.pid, signal.SIGSTOP)
            threads, answers = in_parallel(
                lambda i: s.ask("POST", "/api/v1/filters/f/add",
                                {"keys": [f"k{i}"], "time_ms": now - (i % 2) * 10 * 3_600_000}), 20)
            time.sleep(1)
            os.kill(redis.process.pid, signal.SIGCONT)
            for each in threads:
                each.join()
            self.assertEqual([a[2]["verdicts"][0] for a in answers], ["fresh", "late"] * 10)


class End(unittest.TestCase):
    def test_sigterm_answers_requests_that_wait_for_a_dead_server(self):
        with LaterRedis() as redis, Server(store=redis.url("?retry_for=120s")) as s:
            asking = subprocess.Popen(["redis-cli", "-s", s.socket, "BF.ADD", "g", "a"], stdout=subprocess.PIPE, text=True)
            threads, answers = in_parallel(lambda i: s.ask("POST", "/api/v1/filters/f/add", {"keys": ["a"]}), 5)
            self.assertTrue(until(lambda: clients_waiting_for(s, "http|add") == 5 and clients_waiting_for(s, "bf.add") == 1))
            began = time.monotonic()
            self.assertEqual(s.stop(), 0)
            self.assertLess(time.monotonic() - began, 10)
            for each in threads:
                each.join()
            self.assertEqual([a[0] for a in answers], [503] * 5)
            self.assertTrue(asking.communicate(timeout=30)[0].startswith("OUTAGE "))


class OneServer(unittest.TestCase):
    def test_a_second_server_on_the_same_files_is_refused(self):
        with tempfile.TemporaryDirectory() as home:
            with Server(store=f"file:{home}/filters") as s:
                s.ask("POST", "/api/v1/filters", {"name": "f"})
                second = starts_and_ends("--store", f"file:{home}/filters/")
                self.assertEqual(second.returncode, 3)
                for word in (f"{home}/filters", f"process {s.process.pid}", "--store"):
                    self.assertIn(word, second.stderr)
                self.assertEqual(starts_and_ends("--store", f"file:{home}/filters", "--check-config").returncode, 0)
                reader = subprocess.run([PROGRAM, "info", "f", "--store", f"file:{home}/filters"], capture_output=True,
                                        text=True, timeout=30, check=True)
                self.assertIn("capacity", reader.stdout)
                s.process.kill()
            with Server(store=f"file:{home}/filters") as s:  # the kernel has released it
                self.assertEqual(s.ask("GET", "/api/v1/filters/f")[0], 200)


class Bodies(unittest.TestCase):
    def test_bodies_of_all_clients_have_a_budget(self):
        with Server("--max-request", "1Mi", "--max-bodies", "2Mi") as s:
            s.ask("POST", "/api/v1/filters", {"name": "f"})
            head = (b"POST /api/v1/filters/f/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    b"Content-Length: 900000\r\n\r\n")
            greedy = [s.raw(), s.raw()]
            for each in greedy:
                each.sendall(head + b" " * 800_000)
            body = {"keys": ["x" * 600_000]}
            self.assertTrue(until(lambda: b"everseen_requests_bytes 1600000" in s.ask("GET", "/metrics")[2]))
            status, headers, answer = s.ask("POST", "/api/v1/filters/f/check", body)
            self.assertEqual((status, answer["reason"], headers["Retry-After"]), (503, "busy", "1"))
            self.assertEqual(s.ask("POST", "/api/v1/filters/f/check", {"keys": ["small"]})[0], 200)
            for each in greedy:
                each.close()
            self.assertTrue(until(lambda: s.ask("POST", "/api/v1/filters/f/check", body)[0] == 200))

    def test_requests_of_both_protocols_share_the_budget(self):
        with Server("--max-request", "1Mi", "--max-bodies", "2Mi") as s:
            def held():
                return float(re.search(rb"\neverseen_requests_bytes (\S+)", s.ask("GET", "/metrics")[2])[1])

            long = b"*2\r\n$4\r\nECHO\r\n$1000000\r\n" + b"x" * 1_000_000 + b"\r\n"
            greedy, other = [redis_client(s), redis_client(s)], redis_client(s)
            for each in greedy:
                each.sendall(long[:900_000])
            self.assertTrue(until(lambda: held() >= 1_800_000))
            self.assertTrue(send_and_receive(other, long).startswith(b"-OOM the requests of all clients"))
            self.assertEqual(s.ask("POST", "/api/v1/filters/f/check", {"keys": ["x" * 600_000]})[0], 503)
            small = redis_client(s)
            small.sendall(b"PING\r\n")
            self.assertEqual(small.recv(100), b"+PONG\r\n")
            for each in greedy:
                each.sendall(long[900_000:])
                self.assertTrue(receive_exactly(each, 10 + 1_000_000 + 2) == long[14:])
            self.assertTrue(until(lambda: held() == 0))
            for each in (*greedy, other, small):
                each.close()

    def test_queued_transactions_share_the_budget(self):
        with Server("--max-request", "1Mi", "--max-bodies", "2Mi") as s:
            long = b"*2\r\n$4\r\nECHO\r\n$800000\r\n" + b"x" * 800_000 + b"\r\n"
            one, other = redis_client(s), redis_client(s)
            one.sendall(b"MULTI\r\n" + long)
            self.assertEqual(receive_exactly(one, 14), b"+OK\r\n+QUEUED\r\n")
            # The server reads up to EXEC or, without room for the last bytes of the request, ends the
            # connection.
            got = send_and_receive(other, b"MULTI\r\n" + long + long + b"EXEC\r\nQUIT\r\n")
            self.assertTrue(b"-OOM the requests of all clients" in got)
            self.assertFalse(b"*2\r\n" in got)
            one.sendall(b"EXEC\r\n")
            self.assertEqual(receive_exactly(one, 4 + 9), b"*1\r\n$800000\r\n")
            one.close()
            again = redis_client(s)
            again.sendall(b"MULTI\r\n" + long + b"DISCARD\r\nQUIT\r\n")
            self.assertEqual(receive_all(again), b"+OK\r\n+QUEUED\r\n+OK\r\n+OK\r\n")


def redis_client(server):
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(30)
    client.connect(server.socket)
    return client


def send_and_receive(client, request):
    """The answer until the server closes the connection, which it may do before it has read everything."""
    try:
        client.sendall(request)
    except OSError:
        pass
    return receive_all(client)


def receive_exactly(client, count):
    got = b""
    while len(got) < count and (piece := client.recv(count - len(got))):
        got += piece
    return got


if __name__ == "__main__":
    unittest.main(argv=[__file__], verbosity=1)
