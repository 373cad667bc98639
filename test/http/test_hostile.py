#!/usr/bin/env python3
"""Requests of attackers, of browsers on foreign pages and of broken programs: they disturb nobody and change nothing."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

from serving import Redis, Server, receive_all, until

# Whether memory is measured of a program that retains some for a sanitizer.
SANITIZED = "SANITIZED" in os.environ

CREATE = b'{"name":"f","capacity":1000,"error_rate":1e-12}'


def request(method, path, body=b"", headers=(), host="localhost", close=True):
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", *headers]
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    if close:
        lines.append("Connection: close")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def resident_kb(server):
    with open(f"/proc/{server.process.pid}/status", encoding="utf-8") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1])


def peak_kb(server):
    with open(f"/proc/{server.process.pid}/status", encoding="utf-8") as file:
        return int(re.search(r"VmHWM:\s+(\d+)", file.read())[1])


def statuses(answer):
    return [int(s) for s in re.findall(rb"HTTP/1\.1 (\d+) ", answer)]


class Protocol(unittest.TestCase):
    def test_pipelined_requests_are_answered_in_order(self):
        with Server() as s:
            pipeline = request("POST", "/api/v1/filters", CREATE, close=False)
            for i in range(50):
                pipeline += request("POST", "/api/v1/filters/f/add", b'{"keys":["%d"]}' % (i // 2), close=i == 49)
            answer = s.send(pipeline)
            self.assertEqual(statuses(answer), [201] + [200] * 50)
            self.assertEqual(re.findall(rb'verdicts":\["(\w+)"', answer), [b"fresh", b"seen"] * 25)

    def test_a_request_may_come_byte_by_byte(self):
        with Server() as s:
            bytes_ = request("POST", "/api/v1/filters", CREATE)
            self.assertEqual(statuses(s.send(*(bytes_[i:i + 1] for i in range(len(bytes_))))), [201])

    def test_a_body_may_be_chunked_or_wait_for_continue(self):
        with Server() as s:
            head = "POST /api/v1/filters HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            chunks = b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in (CREATE[:7], CREATE[7:])) + b"0\r\n\r\n"
            got = s.send((head + "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n").encode() + chunks)
            self.assertEqual(statuses(got), [201])
            with s.raw() as c:
                c.sendall((head + f"Expect: 100-continue\r\nConnection: close\r\nContent-Length: {len(CREATE)}\r\n\r\n").encode())
                self.assertEqual(c.recv(100), b"HTTP/1.1 100 Continue\r\n\r\n")
                c.sendall(CREATE)
                self.assertEqual(statuses(receive_all(c)), [409])

    def test_head_has_the_headers_of_get_without_its_body(self):
        with Server() as s:
            got = s.send(request("HEAD", "/openapi.json"))
            self.assertTrue(got.endswith(b"\r\n\r\n"))
            length = int(re.search(rb"Content-Length: (\d+)", got)[1])
            self.assertEqual(length, len(s.send(request("GET", "/openapi.json")).partition(b"\r\n\r\n")[2]))

    def test_other_methods_are_refused_with_the_allowed_ones(self):
        with Server() as s:
            for method, path, allowed in [("PUT", "/api/v1/filters", "GET, HEAD, POST"), ("POST", "/metrics", "GET, HEAD"),
                                          ("GET", "/api/v1/filters/f/add", "POST"), ("PATCH", "/healthz", "GET, HEAD")]:
                status, headers, answer = s.ask(method, path)
                self.assertEqual((status, headers["Allow"], answer["reason"]), (405, allowed, "method_not_allowed"))
            self.assertEqual(s.ask("GET", "/api/v2")[0], 404)

    def test_a_connection_is_kept_and_closed_as_requested(self):
        with Server() as s:
            connection = s.connect()
            for _ in range(3):
                connection.request("GET", "/healthz")
                self.assertEqual(connection.getresponse().read(), b'{"status":"serving"}\n')
            self.assertEqual(s.ask("GET", "/api/v1/stats")[2]["connections"]["accepted"], 2)
            connection.close()
            old = s.send(b"GET /healthz HTTP/1.0\r\n\r\n")
            self.assertEqual(statuses(old), [200])


class Hostility(unittest.TestCase):
    def test_invalid_http_is_answered_with_an_error_and_cut_off(self):
        with Server() as s:
            for garbage in [b"\x00" * 100, b"*1\r\n$4\r\nPING\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET  HTTP/1.1\r\n\r\n",
                            b"GET /healthz HTTP/1.1\r\nContent-Length: -5\r\n\r\n", os.urandom(5000) + b"\r\n\r\n",
                            b"GET /healthz HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
                            b"GET /healthz HTTP/1.1\r\n\r\n", b"GET /%zz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"]:
                answer = s.send(garbage)
                self.assertIn(statuses(answer), ([400], [404]), garbage)
            self.assertEqual(s.ask("GET", "/healthz")[0], 200)

    def test_ambiguous_requests_are_refused_and_cut_off(self):
        with Server() as s:
            hidden = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
            length = b"Content-Length: %d\r\n" % len(hidden)
            for head in [b"Host: localhost\r\nHost: evil.example\r\n", b"Host: localhost\r\nTransfer-Encoding: identity\r\n" + length,
                         b"Host: localhost\r\nTransfer-Encoding: chunked, identity\r\n" + length,
                         b"Host: localhost\r\nTransfer-Encoding: xchunked\r\n" + length,
                         b"Host: localhost\r\nTransfer-Encoding: chunked, identity\r\n"]:
                answer = s.send(b"GET /healthz HTTP/1.1\r\n" + head + b"\r\n" + hidden)
                self.assertEqual(statuses(answer), [400], head)
            old = b"GET /healthz HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
            self.assertEqual(statuses(s.send(old + hidden)), [400])

    @unittest.skipIf(SANITIZED, "a sanitizer takes memory of its own")
    def test_a_body_of_many_values_costs_little(self):
        with Server() as s:
            body = b'{"keys":[' + b"0," * 30_000_000 + b"0]}"
            for _ in range(2):
                self.assertEqual(s.ask("POST", "/api/v1/filters/f/check", body)[0], 400)
            self.assertLess(peak_kb(s), 400_000)

    def test_oversized_heads_and_bodies_are_refused_unread(self):
        with Server("--max-request", "1Mi") as s:
            long = s.send(request("GET", "/healthz", headers=[f"X: {'x' * 20_000}"]))
            self.assertEqual(statuses(long), [431])
            with s.raw() as c:
                c.sendall(b"POST /api/v1/filters HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                          b"Content-Length: 99999999999\r\n\r\n")
                self.assertEqual(statuses(receive_all(c)), [413])
            chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
            with s.raw() as c:
                c.sendall(b"POST /api/v1/filters HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                          b"Transfer-Encoding: chunked\r\n\r\n")
                try:
                    for _ in range(64):
                        c.sendall(chunk)
                except OSError:
                    pass
                self.assertIn(statuses(receive_all(c)), ([413], []))

    def test_lines_and_fields_without_an_end_are_refused(self):
        with Server("--request-timeout", "5s") as s:
            head = b"POST /api/v1/filters HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            chunked = head + b"Transfer-Encoding: chunked\r\n\r\n"
            many = b"x" * 60_000
            for begin in [chunked + b"0" * 60_000, chunked + b"2;" + many, chunked + b"2\r\n{}\r\n0;" + many,
                          chunked + b"2\r\n{}\r\n0\r\nX: " + many, chunked + b"2\r\n{}\r\n0\r\n" + b"X: y\r\n" * 10_000]:
                self.assertEqual(statuses(s.send(begin)), [431], begin[120:160])
            with s.raw() as c:  # the server reads each piece by itself, up to the first byte of the next field
                c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                c.sendall(head + b"X")
                try:
                    for _ in range(40):
                        time.sleep(0.02)
                        c.sendall(b": %s\r\nX" % (b"x" * 1000))
                except OSError:
                    pass
                self.assertEqual(statuses(receive_all(c)), [431])

    def test_strangers_send_only_small_bodies(self):
        with Server("--password", "secret", "--request-timeout", "5s") as s:
            for path in ["/healthz", "/readyz", "/openapi.json"]:
                head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n".encode()
                self.assertEqual(statuses(s.send(head + b"Content-Length: 65536\r\n\r\n" + b"x" * 65536)), [200])
                self.assertEqual(statuses(s.send(head + b"Content-Length: 65537\r\n\r\n")), [413])
                with s.raw() as c:
                    c.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n")
                    try:
                        for _ in range(17):
                            c.sendall(b"1000\r\n" + b"x" * 4096 + b"\r\n")
                    except OSError:
                        pass
                    self.assertEqual(statuses(receive_all(c)), [413])

    def test_an_announced_length_costs_nothing(self):
        with Server() as s:
            clients = [s.raw() for _ in range(200)]
            for c in clients:
                c.sendall(b"POST /api/v1/filters HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                          b"Content-Length: 60000000\r\n\r\n{")
            self.assertEqual(s.ask("GET", "/healthz")[0], 200)
            self.assertLess(resident_kb(s), 300_000)
            for c in clients:
                c.close()

    @unittest.skipIf(SANITIZED, "a sanitizer takes memory of its own")
    def test_an_idle_connection_costs_little(self):
        with Server() as s:
            s.ask("POST", "/api/v1/filters", {"name": "f", "capacity": 1000})
            body = json.dumps({"keys": [str(i) * 10 for i in range(2000)]}).encode()
            busy = request("POST", "/api/v1/filters/f/check", body, close=False)
            before, clients = 0, []
            for i in range(600):
                if i == 200:  # threads have allocated their own memory by now
                    before = resident_kb(s)
                clients.append(s.raw())
                clients[-1].sendall(busy)
                answer = b""
                while b'"unknown":' not in answer:
                    answer += clients[-1].recv(65536)
            self.assertLess((resident_kb(s) - before) / 400, 40)
            for c in clients:
                c.close()

    def test_a_slow_sender_is_cut_off_and_delays_nobody(self):
        with Server("--request-timeout", "5s", "--idle-timeout", "5s") as s:
            slow = [s.raw() for _ in range(100)]
            began = time.monotonic()
            for c in slow:
                c.sendall(b"GET /healthz HT")
            silent = s.raw()
            while time.monotonic() - began < 2:
                self.assertEqual(s.ask("GET", "/healthz")[0], 200)
                for c in slow:
                    c.sendall(b"T")
                time.sleep(0.1)
            for c in slow:
                self.assertEqual(statuses(receive_all(c)), [408])
                c.close()
            self.assertEqual(receive_all(silent), b"")
            silent.close()
            self.assertLess(time.monotonic() - began, 60)

    def test_a_client_that_reads_nothing_is_cut_off(self):
        with Server("--write-timeout", "1s") as s:
            s.ask("POST", "/api/v1/filters", {"name": "f", "capacity": 10_000_000, "partitions": 4096})
            s.ask("POST", "/api/v1/filters/f/add", {"keys": [str(i) for i in range(50_000)]})
            lazy = socket.socket()
            lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            lazy.connect(("127.0.0.1", s.port))
            try:
                lazy.settimeout(2)
                for _ in range(500):
                    lazy.sendall(request("GET", "/api/v1/filters/f", close=False))
            except OSError:
                pass
            lazy.settimeout(30)
            self.assertEqual(lazy.recv(1), b"H")
            # Once suffices: a request sent right after it may still find the connection of the previous one.
            self.assertTrue(until(lambda: s.ask("GET", "/api/v1/stats")[2]["connections"]["open"] == 1))
            lazy.close()

    def test_connections_over_the_limit_are_refused(self):
        with Server("--max-connections", "5") as s:
            kept = [s.raw() for _ in range(5)]
            # A connection counts from the start of its thread.
            self.assertTrue(until(lambda: statuses(s.send(request("GET", "/healthz"))) == [503]))
            for c in kept:
                c.close()
            self.assertIn("connection_refused", s.said())


class Sites(unittest.TestCase):
    def test_pages_of_other_sites_change_nothing(self):
        with Server() as s:
            for headers in [["Origin: http://evil.example"], ["Origin: null"], ["Sec-Fetch-Site: cross-site"],
                            ["Sec-Fetch-Site: same-site"], [f"Origin: http://localhost:{s.port + 1}"]]:
                answer = s.send(request("POST", "/api/v1/filters", CREATE, headers, host=f"localhost:{s.port}"))
                self.assertEqual(statuses(answer), [403], headers)
                answer = s.send(request("DELETE", "/api/v1/filters/f", b"", headers, host=f"localhost:{s.port}"))
                self.assertEqual(statuses(answer), [403], headers)
            own = [f"Origin: http://localhost:{s.port}", "Sec-Fetch-Site: same-origin"]
            self.assertEqual(statuses(s.send(request("POST", "/api/v1/filters", CREATE, own, host=f"localhost:{s.port}"))), [201])
            for answer in (s.send(request("OPTIONS", "/api/v1/filters", b"", own)), s.send(request("GET", "/api/v1/stats"))):
                self.assertNotIn(b"Access-Control", answer)

    def test_foreign_host_names_are_refused(self):
        with Server("--http-host", "Filters.example", "--open-to-strangers") as s:
            for host, status in [("evil.example", 421), ("evil.example:80", 421), ("127.0.0.1.evil.example", 421),
                                 ("[::1].evil.example", 421), ("[::1]evil.example:80", 421), ("localhost:80.evil.example", 421),
                                 ("127.0.0.1:evil.example", 421), ("[::1", 421), ("[::1]", 200),
                                 ("localhost", 200), ("127.0.0.1:99", 200), ("[::1]:8080", 200), ("filters.example", 200)]:
                self.assertEqual(statuses(s.send(request("GET", "/healthz", host=host))), [status], host)

    def test_a_password_is_required_beyond_this_machine(self):
        from subprocess import run
        from serving import PROGRAM
        result = run([PROGRAM, "serve", "--store", "mem:", "--listen", "127.0.0.1:0", "--http", "0.0.0.0:0",
                      "--open-to-strangers"], capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 2)
        self.assertIn("--password", result.stderr)
        with Server("--password", "secret", http="0.0.0.0:0") as s:
            self.assertEqual(s.ask("GET", "/api/v1/stats")[0], 401)
            self.assertEqual(s.ask("GET", "/api/v1/stats", token="secret")[0], 200)


class Ends(unittest.TestCase):
    def test_acknowledged_keys_survive_a_kill(self):
        with tempfile.TemporaryDirectory() as home:
            with Server(store=f"file:{home}") as s:
                s.ask("POST", "/api/v1/filters", {"name": "f", "capacity": 100_000, "error_rate": 1e-12})
                acknowledged = []

                def add():
                    for i in range(100_000):
                        try:
                            if s.ask("POST", "/api/v1/filters/f/add", {"keys": [f"k{i}"]})[0] == 200:
                                acknowledged.append(f"k{i}")
                        except (OSError, http.client.HTTPException):
                            return

                adder = threading.Thread(target=add)
                adder.start()
                time.sleep(1)
                some = until(lambda: len(acknowledged) > 10)
                s.process.kill()
                adder.join()
                self.assertTrue(some)
            with Server(store=f"file:{home}") as s:
                answer = s.ask("POST", "/api/v1/filters/f/check", {"keys": acknowledged})[2]
                self.assertEqual(answer["seen"], len(acknowledged))

    def test_sigterm_answers_running_requests(self):
        with Server("--log-level", "info", "--log-format", "logfmt") as s:
            s.ask("POST", "/api/v1/filters", {"name": "f", "capacity": 2_000_000, "error_rate": 1e-12})
            body = json.dumps({"keys": [str(i) for i in range(500_000)]}).encode()
            with s.raw() as c:
                c.sendall(request("POST", "/api/v1/filters/f/add", body, close=False))
                while b"http|add" not in subprocess.run(["redis-cli", "-e", "-s", s.socket, "CLIENT", "LIST"], check=True,
                                                        capture_output=True).stdout:
                    pass
                s.process.send_signal(signal.SIGTERM)
                answer = receive_all(c)
            self.assertEqual(answer.count(b'"fresh"'), 500_001)
            self.assertEqual(s.process.wait(30), 0)
            for event in ("serving", "listening", "stopping", "stopped"):
                self.assertRegex(s.said(), f"time=[-0-9T:.Z]+ level=info event={event}")

    def test_sigterm_also_ends_it_in_an_outage(self):
        with Redis() as redis, Server("--store-threads", "1", store=redis.url("?retry_for=2s&timeout=1s")) as s:
            redis.process.kill()
            redis.process.wait()
            asking = [subprocess.Popen(["redis-cli", "-s", s.socket, "BF.RESERVE", f"f{i}", "0.01", "10"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for i in range(30)]
            time.sleep(1)
            began = time.monotonic()
            s.process.send_signal(signal.SIGTERM)
            s.process.wait(60)
            self.assertLess(time.monotonic() - began, 20)
            for each in asking:
                each.wait(30)

    def test_the_log_never_contains_keys_or_passwords(self):
        with Server("--log-level", "debug", "--password", "hush-hush") as s:
            s.ask("POST", "/api/v1/filters", {"name": "f"}, token="hush-hush")
            s.ask("POST", "/api/v1/filters/f/add", {"keys": ["private-key"]}, token="hush-hush")
            s.ask("GET", "/api/v1/stats", token="hush-guess")
            subprocess.run(["redis-cli", "-s", s.socket, "AUTH", "hush-guess"], check=False, capture_output=True)
            s.stop()
            self.assertRegex(s.said(), "token_refused from=127.0.0.1:")
            self.assertIn("password_refused", s.said())
            self.assertNotIn("hush", s.said())
            self.assertNotIn("private-key", s.said())


if __name__ == "__main__":
    unittest.main(argv=[__file__], verbosity=1)
