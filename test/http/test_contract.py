#!/usr/bin/env python3
"""Gets every operation and status of openapi.json from a real server, and checks every answer against its schema."""
import http.client
import json
import os
import pathlib
import re
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.parse

import jsonschema

from serving import MODULE, PROGRAM, ROOT, Redis, Server, coded, until

DOCUMENT = json.loads((ROOT / "everseen/serve/api/openapi.json").read_text(encoding="utf-8"))
# The kinds of problems, as the API page describes them.
REASONS = DOCUMENT["components"]["schemas"]["problem"]["x-reasons"]
had = set()


def operation_of(method, path):
    """The path in the document that matches a path."""
    words = path.partition("?")[0].split("/")
    for pattern in DOCUMENT["paths"]:
        wanted = pattern.split("/")
        if len(wanted) == len(words) and all(w in ("{name}", "{key}") or w == word for w, word in zip(wanted, words)):
            return pattern, DOCUMENT["paths"][pattern].get(method.lower())
    raise AssertionError(f"openapi.json has no {method} {path}")


def check(server, method, path, status, body=None, token=None, reason=None, **headers):
    """Sends a request, and checks the answer against the document."""
    got, answer_headers, answer = server.ask(method, path, body, token, **headers)
    assert got == status, f"{method} {path}: {got} where {status} was expected: {answer}"
    pattern, operation = operation_of(method, path)
    promised = operation["responses"].get(str(got))
    assert promised is not None, f"{method} {pattern}: {got} is not in openapi.json"
    had.add((pattern, method.lower(), str(got)))
    if "content" not in promised:
        assert answer == b"", answer
        return answer
    kind = answer_headers["Content-Type"].partition(";")[0]
    assert kind in promised["content"], f"{method} {pattern}: {kind}"
    if "json" in kind:
        schema = {**promised["content"][kind]["schema"], "components": DOCUMENT["components"]}
        jsonschema.validate(answer, schema)
    if kind == "application/problem+json":
        explained = REASONS[answer["reason"]]
        assert (answer["type"], answer["status"]) == ("/docs#" + answer["reason"], explained["status"]), answer
    if reason:
        assert answer["reason"] == reason, answer
    return answer


FILTERS = "/api/v1/filters"


def metric(server, name):
    """A number of /metrics, which must appear soon. Those of a filter are there once the store has answered."""
    found = []

    def has_appeared():
        began = time.monotonic()
        lines = check(server, "GET", "/metrics", 200).decode().splitlines()
        assert time.monotonic() - began < 2.5
        found.extend(line for line in lines if line.startswith(name + " "))
        return found

    assert until(has_appeared), name
    return float(found[0].split()[-1])


def is_ready(server):
    """Whether the store has answered in time, which it may not do on a busy machine."""
    try:
        check(server, "GET", "/readyz", 200)
    except AssertionError:
        return False
    return True


def redis_cli(server, *words):
    subprocess.run(["redis-cli", "-e", "-s", server.socket, *words], check=True, stdout=subprocess.DEVNULL, timeout=60)


# Routes that need to identify the client.
EVERYTHING = [("GET", FILTERS, None), ("POST", FILTERS, {"name": "f", "capacity": 10}), ("GET", FILTERS + "/f", None),
              ("DELETE", FILTERS + "/f", None), ("POST", FILTERS + "/f/add", {"keys": ["a"]}),
              ("POST", FILTERS + "/f/check", {"keys": ["a"]}), ("POST", FILTERS + "/f/explain", {"key": "a"}),
              ("GET", FILTERS + "/f/keys/a", None), ("POST", FILTERS + "/f/rename", {"to": "f"}),
              ("POST", FILTERS + "/f/expire", {"expire": None}),
              ("GET", "/api/v1/plan?keys=1000&error_rate=0.01", None), ("GET", "/api/v1/stats", None), ("GET", "/metrics", None)]


class Contract(unittest.TestCase):
    def test_filters_live_from_creation_to_drop(self):
        with Server() as s:
            check(s, "GET", FILTERS, 200)
            made = check(s, "POST", FILTERS, 201, {"name": "clicks", "capacity": 1000, "error_rate": 1e-12})
            self.assertEqual((made["name"], made["keys"], made["url"]), ("clicks", 0, FILTERS + "/clicks"))
            added = check(s, "POST", FILTERS + "/clicks/add", 200, {"keys": ["a", "b", "a"]})
            self.assertEqual(added, {"verdicts": ["fresh", "fresh", "seen"], "fresh": 2, "seen": 1, "late": 0,
                                     "unknown": 0})
            asked = check(s, "POST", FILTERS + "/clicks/check", 200, {"keys": coded(b"a", b"\xff"), "encoding": "base64"})
            self.assertEqual(asked["verdicts"], ["seen", "fresh"])
            told = check(s, "GET", FILTERS + "/clicks", 200)
            self.assertEqual((told["keys"], told["layers"], told["slices"]), (2, 1, 1))
            self.assertGreater(told["error_rate_now"], 0)
            self.assertEqual(sum(p["keys"] for p in told["partition_list"]), 2)
            why = check(s, "POST", FILTERS + "/clicks/explain", 200, {"key": "a"})
            self.assertEqual(why["verdict"], "seen")
            self.assertTrue(all(bit["set"] for bit in why["segments"][0]["key_bits"]))
            listed = check(s, "GET", FILTERS, 200)
            self.assertEqual([f["name"] for f in listed["filters"]], ["clicks"])
            check(s, "DELETE", FILTERS + "/clicks", 204)
            check(s, "DELETE", FILTERS + "/clicks", 404, reason="no_filter")
            for method, path, body in [("GET", "/clicks", None), ("POST", "/clicks/add", {"keys": ["a"]}),
                                       ("POST", "/clicks/check", {"keys": ["a"]}), ("POST", "/clicks/explain", {"key": "a"}),
                                       ("GET", "/clicks/keys/a", None), ("POST", "/clicks/rename", {"to": "b"}),
                                       ("POST", "/clicks/expire", {"expire": 9})]:
                check(s, method, FILTERS + path, 404, body, reason="no_filter")

    def test_a_key_is_looked_up_by_its_address(self):
        with Server() as s:
            check(s, "POST", FILTERS, 201, {"name": "f", "capacity": 1000, "error_rate": 1e-12})
            keys = ["a", "http://x/?y=1&z#", "a b", "100%", "日志", "."]
            check(s, "POST", FILTERS + "/f/add", 200, {"keys": keys})
            check(s, "POST", FILTERS + "/f/add", 200, {"keys": coded(b"\xff\x00\n"), "encoding": "base64"})
            for key in [*keys, b"\xff\x00\n"]:
                answer = check(s, "GET", FILTERS + "/f/keys/" + urllib.parse.quote(key, safe=""), 200)
                self.assertEqual(answer, {"verdict": "seen"})
            self.assertEqual(check(s, "GET", FILTERS + "/f/keys/b", 200), {"verdict": "fresh"})
            self.assertEqual(s.ask("HEAD", FILTERS + "/f/keys/b")[0], 200)
            self.assertEqual(s.ask("GET", FILTERS + "/f/keys/")[0], 404)
            self.assertEqual(s.ask("GET", FILTERS + "/f/keys/a/b")[0], 404)
            check(s, "GET", FILTERS + "/f/keys/%zz", 400, reason="bad_request")
            check(s, "GET", FILTERS + "/f/keys/a?time=5", 400, reason="unknown_parameter")
            check(s, "POST", FILTERS, 201, {"name": "g", "as": "guava64", "funnel": "long", "capacity": 100})
            check(s, "GET", FILTERS + "/g/keys/word", 422, reason="key_refused")
            check(s, "POST", FILTERS, 201, {"name": "w", "window": "10m"})
            check(s, "POST", FILTERS + "/w/add", 200, {"keys": ["a"], "time_ms": 1700000000000})
            for when, verdict in [(1700000000000, "seen"), (1, "late")]:
                self.assertEqual(check(s, "GET", FILTERS + f"/w/keys/a?time_ms={when}", 200)["verdict"], verdict)

    # Promise: one time more than one slice ahead of the clock changes nothing through any interface (dedup, Times in the future).
    def test_times_far_ahead_are_refused(self):
        with Server() as s:
            check(s, "POST", FILTERS, 201, {"name": "w", "window": "10m"})
            for path in ["/w/add", "/w/check"]:
                told = check(s, "POST", FILTERS + path, 400, {"keys": ["a"], "time_ms": 2524608000000}, reason="bad_parameter")
                self.assertIn("2050-01-01T00:00:00.000Z is too far ahead of the clock", told["detail"])
                check(s, "POST", FILTERS + path + "?time_ms=2524608000000", 400, "a\n", reason="bad_parameter", Content_Type="text/plain")
            check(s, "GET", FILTERS + "/w/keys/a?time_ms=2524608000000", 400, reason="bad_parameter")
            self.assertEqual(check(s, "POST", FILTERS + "/w/add", 200, {"keys": ["a"]})["verdicts"], ["fresh"])

    def test_times_in_seconds_and_for_filters_without_a_window_are_refused(self):
        with Server() as s:
            check(s, "POST", FILTERS, 201, {"name": "w", "window": "10m"})
            check(s, "POST", FILTERS, 201, {"name": "f"})
            seconds = int(time.time())
            told = check(s, "POST", FILTERS + "/w/add", 400, {"keys": ["a"], "time_ms": seconds}, reason="bad_parameter")
            self.assertIn(f"{seconds} seems to be in seconds", told["detail"])
            for path in ["/f/add", "/f/check"]:
                told = check(s, "POST", FILTERS + path, 400, {"keys": ["a"], "time_ms": 1000 * seconds}, reason="bad_parameter")
                self.assertIn("is for a filter with a window", told["detail"])
            check(s, "GET", FILTERS + f"/f/keys/a?time_ms={1000 * seconds}", 400, reason="bad_parameter")
            self.assertEqual(check(s, "POST", FILTERS + "/f/add", 200, {"keys": ["a"]})["verdicts"], ["fresh"])

    def test_keys_may_be_sent_one_per_line(self):
        def lines(s, path, status, text, kind="text/plain", **more):
            return check(s, "POST", FILTERS + path, status, text, Content_Type=kind, **more)
        with Server() as s:
            check(s, "POST", FILTERS, 201, {"name": "f", "capacity": 1000, "error_rate": 1e-12})
            self.assertEqual(lines(s, "/f/add", 200, b"a\nb\n\xff\r\n\na")["verdicts"], ["fresh", "fresh", "fresh", "fresh", "seen"])
            asked = check(s, "POST", FILTERS + "/f/check", 200, {"keys": coded(b"a", b"b", b"\xff\r", b"", b"\xff"), "encoding": "base64"})
            self.assertEqual(asked["verdicts"], ["seen", "seen", "seen", "seen", "fresh"])
            self.assertEqual(lines(s, "/f/check", 200, '"a"\n{}\n', "Text/Plain; charset=utf-8")["fresh"], 2)
            for path in ["/f/add", "/f/check"]:
                lines(s, path, 400, "", reason="bad_parameter")
                lines(s, path + "?encoding=base64", 400, "a", reason="unknown_parameter")
                check(s, "POST", FILTERS + path + "?time_ms=5", 400, {"keys": ["a"]}, reason="unknown_parameter")
            check(s, "POST", FILTERS, 201, {"name": "w", "window": "10m"})
            self.assertEqual(lines(s, "/w/add?time_ms=1700000000000", 200, "a\n")["fresh"], 1)
            self.assertEqual(lines(s, "/w/check?time_ms=1", 200, "a")["late"], 1)
            lines(s, "/w/check?time_ms=soon", 400, "a", reason="bad_parameter")
            many = lines(s, "/f/add", 200, "".join(f"{i}\n" for i in range(100_000)))
            self.assertEqual((many["fresh"], len(many["verdicts"])), (100_000, 100_000))
            self.assertIn("lines", lines(s, "/f/add", 400, "\n" * 1_100_000)["detail"])

    def test_a_filter_is_renamed(self):
        with Server() as s:
            for name in ["old", "taken"]:
                check(s, "POST", FILTERS, 201, {"name": name, "capacity": 1000, "error_rate": 1e-12})
                check(s, "POST", FILTERS + f"/{name}/add", 200, {"keys": [name]})
            status, headers, answer = s.ask("POST", FILTERS + "/old/rename", {"to": "new/1"})
            self.assertEqual((status, headers["Location"], answer["name"]), (200, FILTERS + "/new%2F1", "new/1"))
            self.assertEqual(check(s, "GET", FILTERS + "/new%2F1/keys/old", 200)["verdict"], "seen")
            check(s, "POST", FILTERS + "/old/rename", 404, {"to": "x"}, reason="no_filter")
            check(s, "POST", FILTERS + "/new%2F1/rename", 409, {"to": "taken"}, reason="name_taken")
            check(s, "POST", FILTERS + "/new%2F1/rename", 200, {"to": "taken", "replace": True})
            self.assertEqual(check(s, "GET", FILTERS + "/taken/keys/old", 200)["verdict"], "seen")
            self.assertEqual(check(s, "GET", FILTERS + "/taken/keys/taken", 200)["verdict"], "fresh")
            self.assertEqual([f["name"] for f in check(s, "GET", FILTERS, 200)["filters"]], ["taken"])
            for body in [{}, {"to": ""}, {"to": 7}, {"to": "x" * 1025}, {"to": "x", "replace": "yes"}, {"to": "x", "name": "y"},
                         {"to": '"x'}]:
                check(s, "POST", FILTERS + "/taken/rename", 400, body)

    def test_a_filter_gets_another_end(self):
        with Server() as s:
            check(s, "POST", FILTERS, 201, {"name": "f", "capacity": 1000})
            for body, ends_in in [({"expire": "1d"}, 86_400), ({"expire": 90}, 90), ({"expires_at_ms": (int(time.time()) + 50) * 1000}, 50)]:
                told = check(s, "POST", FILTERS + "/f/expire", 200, body)
                self.assertAlmostEqual(told["expires_at_ms"] / 1000 - time.time(), ends_in, delta=20)
            for body in [{"expire": None}, {"expire": 90}, {"expires_at_ms": None}]:
                told = check(s, "POST", FILTERS + "/f/expire", 200, body)
            self.assertIsNone(told["expires_at_ms"])
            for body in [{}, {"expire": 0}, {"expire": "soon"}, {"expires_at_ms": 1}, {"expire": 9, "expires_at_ms": None}, {"expires": 9}]:
                check(s, "POST", FILTERS + "/f/expire", 400, body)
            check(s, "POST", FILTERS + "/f/expire", 200, {"expire": 0.5})
            time.sleep(1)
            check(s, "GET", FILTERS + "/f", 404, reason="no_filter")

    def test_an_unknown_name_is_answered_with_a_suggestion(self):
        with Redis() as redis:
            for store in ["mem:", redis.url()]:
                with Server(store=store) as s:
                    check(s, "POST", FILTERS, 201, {"name": "clicks"})
                    for path in ["/clikcs", "/click", "/clicks2"]:
                        self.assertIn("did you mean 'clicks'?", check(s, "GET", FILTERS + path, 404)["detail"])
                    self.assertIn("POST /api/v1/filters", check(s, "GET", FILTERS + "/views", 404)["detail"])
                    self.assertIn("did you mean", check(s, "POST", FILTERS + "/clikcs/add", 404, {"keys": ["a"]})["detail"])

    def test_names_are_any_bytes_and_the_same_everywhere(self):
        names = [b"user:42", b"a b", "日志/2026".encode(), b"\n", b"\x00", b"\xff", b'"a"', b"..", b".", b"../../etc/passwd", b"-rf",
                 b"$(touch x)", b"\x1b[2J", b"x" * 512, b"\xfe" * 512]
        with tempfile.TemporaryDirectory() as home, Redis() as redis:
            for store in [f"file:{home}/filters", redis.url()]:
                with Server(store=store) as s:
                    for name in names:
                        for key in ["a", "b"]:
                            encoded = "".join(f"\\x{byte:02x}" for byte in name)
                            subprocess.run(["redis-cli", "-e", "-s", s.socket], input=f'BF.ADD "{encoded}" {key}\n', text=True, check=True,
                                           stdout=subprocess.DEVNULL, timeout=60)
                    for name in ["", "x" * 1025]:
                        redis_cli(s, "BF.EXISTS", name, "a")
                        self.assertRaises(subprocess.CalledProcessError, redis_cli, s, "BF.ADD", name, "a")
                    listed = check(s, "GET", FILTERS, 200)
                    self.assertEqual(listed["total"], len(names))
                    for f in listed["filters"]:
                        self.assertTrue(f["name"].isprintable())
                        self.assertEqual(check(s, "GET", f["url"], 200)["name"], f["name"])
                        by_name = urllib.parse.quote(f["name"], safe="")
                        if f["name"] not in (".", ".."):
                            self.assertEqual(check(s, "GET", FILTERS + f"/{by_name}/keys/a", 200)["verdict"], "seen")
                    metrics = check(s, "GET", "/metrics", 200).decode()
                    self.assertIn('{filter="\\"\\\\n\\"",', metrics)
                    shown = {f["name"] for f in listed["filters"]}
                    self.assertEqual(s.stop(), 0)
                printed = subprocess.run([PROGRAM, "list", "--names", "--store", store], capture_output=True, text=True, check=True).stdout
                self.assertEqual(set(printed.splitlines()), shown)
                for name in shown:
                    done = subprocess.run([PROGRAM, "check", name, "a", "--store", store, "--quiet"], capture_output=True, text=True)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    done = subprocess.run([PROGRAM, "drop", name, "--yes", "--store", store], capture_output=True, text=True)
                    self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(sorted(os.listdir(home)), ["filters"])
            self.assertEqual([f for f in os.listdir(home + "/filters") if not f.startswith(".")], [])

    def test_lists_are_paged(self):
        with Server() as s:
            for name in ["c", "a", "user:1", "b"]:
                check(s, "POST", FILTERS, 201, {"name": name, "capacity": 10})
            first = check(s, "GET", FILTERS + "?limit=3", 200)
            self.assertEqual([f["name"] for f in first["filters"]], ["a", "b", "c"])
            rest = check(s, "GET", FILTERS + f"?after={first['next']}", 200)
            self.assertEqual([f["name"] for f in rest["filters"]], ["user:1"])
            self.assertIsNone(rest["next"])
            check(s, "GET", rest["filters"][0]["url"], 200)

    def test_paging_continues_after_names_of_any_bytes(self):
        with Server() as s:
            names = ["%80", "%ff", "%ff%fe", "a%2541", "b", "user%3A1"]
            for name in names:
                redis_cli(s, "BF.ADD", urllib.parse.unquote_to_bytes(name), "x")
            seen, after = [], ""
            for _ in range(len(names) + 1):
                page = check(s, "GET", FILTERS + f"?limit=1{after}", 200)
                seen += [f["url"].rpartition("/")[2] for f in page["filters"]]
                if page["next"] is None:
                    break
                after = "&after=" + urllib.parse.quote(page["next"], safe="")
            self.assertEqual(seen, ["a%2541", "b", "user%3A1", "%22%5Cx80%22", "%22%5Cxff%22", "%22%5Cxff%5Cxfe%22"])
            check(s, "GET", FILTERS + "?after=%22a", 400, reason="bad_parameter")

    def test_explicit_options_override_the_defaults(self):
        with Server("--redisbloom") as s:
            self.assertEqual(check(s, "POST", FILTERS, 201, {"name": "open"})["layout"], "redisbloom")
            for wanted in [{"as": "guava64"}, {"layout": "line-8x64"}, {"layout": "classic", "probes": 3}]:
                name = wanted.get("as") or wanted["layout"]
                made = check(s, "POST", FILTERS, 201, {"name": name, **wanted})
                self.assertEqual(made["layout"], name)
            self.assertEqual(check(s, "POST", FILTERS, 201, {"name": "h", "hash": "siphash"})["hash"], "siphash")

    def test_filters_are_hashed_by_siphash_behind_a_proxy(self):
        with Server("--http-host", "filters.example", "--password", "secret") as s:
            made = check(s, "POST", FILTERS, 201, {"name": "f"}, token="secret")
            self.assertEqual(made["hash"], "siphash")
            self.assertEqual(check(s, "POST", FILTERS, 201, {"name": "g", "hash": "xxh3"}, token="secret")["hash"], "xxh3")
            self.assertEqual(check(s, "POST", FILTERS, 201, {"name": "h", "as": "guava64"}, token="secret")["hash"], "murmur3")

    def test_a_restart_reserves_no_more_room_than_filters_have(self):
        small_disk = 'mount -t tmpfs -o size=40m none "$0" && exec "$@"'
        with tempfile.TemporaryDirectory() as home:
            apart = ["unshare", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"]), "--mount", "sh", "-c", small_disk, home]
            if subprocess.run([*apart, "true"], stderr=subprocess.DEVNULL).returncode != 0:
                self.skipTest("nobody may mount here")
            # Both servers must have the disk to themselves: one shell starts them one after the other.
            script = f"""
                everseen() {{ "{PROGRAM}" serve --store file:{home} --listen unix:{home}/s --quiet & until redis-cli -s {home}/s PING; do sleep .1; done; }}
                everseen; redis-cli -e -s {home}/s BF.RESERVE f 1e-6 8000000; redis-cli -s {home}/s BF.MADD f $(seq 2000) | tail -1; redis-cli -s {home}/s SHUTDOWN; wait
                fallocate -l 3M {home}/other
                everseen; sleep 1; redis-cli -s {home}/s BF.EXISTS f 7; sleep 1; redis-cli -s {home}/s BF.ADD f b; redis-cli -s {home}/s SHUTDOWN; wait"""
            done = subprocess.run([*apart, "sh", "-c", script], capture_output=True, text=True, timeout=120)
            self.assertEqual([line for line in done.stdout.split() if line in "0123456789"], ["1", "1", "1"], done.stdout + done.stderr)

    def test_looking_at_a_filter_reserves_no_room(self):
        with tempfile.TemporaryDirectory() as home:
            with Server(store=f"file:{home}") as s:
                for name in ["a", "b", "c"]:
                    check(s, "POST", FILTERS, 201, {"name": name, "capacity": 300_000, "error_rate": 1e-6})
                self.assertEqual(s.stop(), 0)
            with Server("--maxmemory", "3Mi", store=f"file:{home}") as s:
                self.assertEqual(len(check(s, "GET", FILTERS, 200)["filters"]), 3)
                for name in ["b", "c"]:
                    check(s, "GET", FILTERS + "/" + name, 200)
                    redis_cli(s, "BF.INFO", name)
                    redis_cli(s, "BF.CARD", name)
                time.sleep(0.5)
                check(s, "POST", FILTERS + "/a/add", 200, {"keys": ["x"]})

    def test_a_choice_has_the_words_that_the_document_lists(self):
        words = {name: one["enum"] for name, one in DOCUMENT["components"]["schemas"]["new_filter"]["properties"].items()
                 if "enum" in one}
        self.assertTrue({"layout", "hash", "growth", "as", "funnel"} <= set(words))
        with Server() as s:
            for name, known in words.items():
                refused = check(s, "POST", FILTERS, 400, {"name": "f", name: "other"}, reason="bad_parameter")
                self.assertTrue(refused["detail"].endswith(f"it must be one of {', '.join(known)}"), refused)

    def test_every_creation_option_takes_effect(self):
        with Server() as s:
            made = check(s, "POST", FILTERS, 201, {"name": "w", "window": "10m", "slices": 5, "hash": "siphash",
                                                   "layout": "classic", "probes": 4, "partitions": 2, "growth": "refuse"})
            self.assertEqual((made["window_ms"], made["window_slices"], made["hash"], made["layout"], made["probes"],
                              made["partitions"], made["growth"]), (600000, 5, "siphash", "classic", 4, 2, "refuse"))
            late = check(s, "POST", FILTERS + "/w/add", 200, {"keys": ["a"], "time_ms": 1700000000000})
            self.assertEqual(late["fresh"], 1)
            late = check(s, "POST", FILTERS + "/w/check", 200, {"keys": ["a"], "time_ms": 1})
            self.assertEqual(late["verdicts"], ["late"])
            check(s, "POST", FILTERS + "/w/explain", 200, {"key": "YQ==", "encoding": "base64", "time_ms": 1700000000000})
            check(s, "POST", FILTERS, 201, {"name": "g", "as": "guava64", "funnel": "long", "capacity": 100})
            check(s, "POST", FILTERS + "/g/add", 422, {"keys": ["word"]}, reason="key_refused")
            check(s, "POST", FILTERS + "/g/check", 422, {"keys": ["word"]}, reason="key_refused")
            check(s, "POST", FILTERS + "/g/explain", 422, {"key": "word"}, reason="key_refused")
            some = check(s, "POST", FILTERS + "/g/add", 200, {"keys": ["1", "word"]})
            self.assertEqual(some["verdicts"], ["fresh", "unknown"])
            self.assertIn("word", some["fault"])
            ends = check(s, "POST", FILTERS, 201, {"name": "e", "as": "redisbloom", "expansion": 4, "expire": 90})
            self.assertGreater(ends["expires_at_ms"], 0)

    def test_invalid_requests_are_refused_with_an_explanation(self):
        with Server() as s:
            check(s, "POST", FILTERS, 201, {"name": "f", "capacity": 10})
            for body, reason in [("{", "bad_json"), ("[]", "bad_json"), ('{"name":"x","name":"y"}', "bad_json"),
                                 ("[" * 100_000, "bad_json"), (b'{"name":"\xff"}', "bad_json"),
                                 ('{"name":"x","capacity":0}', "bad_parameter"), ("{}", "bad_parameter"),
                                 ('{"name":"x","error_rate":2}', "bad_parameter"), ('{"name":7}', "bad_parameter"),
                                 ('{"name":"x","window":"soon"}', "bad_parameter"),
                                 ('{"name":"x","slices":3}', "bad_parameter"), ('{"name":"x","funnel":"int"}', "bad_parameter"),
                                 ('{"name":"x","as":"guava64","probes":3}', "bad_parameter"),
                                 (json.dumps({"name": "x" * 1025}), "bad_parameter"), (json.dumps({"name": '"x'}), "bad_parameter"),
                                 ('{"name":"x","capacty":5}', "unknown_field")]:
                refused = check(s, "POST", FILTERS, 400, body, reason=reason)
            self.assertIn("did you mean capacity?", refused["detail"])
            for body in ["{", '{"keys":[]}', '{"keys":[1]}', '{"keys":"a"}', '{"keys":["a"],"encoding":"hex"}',
                         '{"keys":["?"],"encoding":"base64"}', '{"keys":["a"],"extra":1}']:
                check(s, "POST", FILTERS + "/f/add", 400, body)
                check(s, "POST", FILTERS + "/f/check", 400, body)
            check(s, "POST", FILTERS + "/f/explain", 400, {}, reason="bad_parameter")
            check(s, "POST", FILTERS + "/f/explain", 400, {"key": "a", "keys": ["a"]}, reason="unknown_field")
            check(s, "GET", FILTERS + "?limit=0", 400, reason="bad_parameter")
            wrong = check(s, "GET", FILTERS + "?limt=5", 400, reason="unknown_parameter")
            self.assertIn("did you mean limit?", wrong["detail"])
            taken = check(s, "POST", FILTERS, 409, {"name": "f"}, reason="name_taken")
            self.assertIn("DELETE /api/v1/filters/f", taken["detail"])
            which = check(s, "POST", FILTERS + "/f/add", 400, {"keys": ["a", "b", 7]}, reason="bad_parameter")
            self.assertIn("keys[2] is a number", which["detail"])
            check(s, "GET", FILTERS + "/" + "x" * 1025, 404, reason="no_filter")
            check(s, "GET", FILTERS + "/%22x", 400, reason="bad_request")
            for path, body in [("", {"name": "x"}), ("/f/add", {"keys": ["a"]}), ("/f/check", {"keys": ["a"]}),
                               ("/f/explain", {"key": "a"}), ("/f/rename", {"to": "x"}), ("/f/expire", {"expire": 9})]:
                for kind in ["text/html", *([] if path in ("/f/add", "/f/check") else ["text/plain"])]:
                    check(s, "POST", FILTERS + path, 415, json.dumps(body), Content_Type=kind, reason="unsupported_media_type")

    def test_quantities_are_those_of_the_command_line(self):
        with Server() as s:
            for capacity, rate in [("10k", "0.1%"), ("1e4", "1e-3"), (1e4, 0.001), ("10,000", "0.001")]:
                name = f"{capacity} {rate}"
                made = check(s, "POST", FILTERS, 201, json.dumps({"name": name, "capacity": capacity, "error_rate": rate}))
                self.assertEqual((made["name"], made["capacity"], made["error_rate"]), (name, 10_000, 0.001))
            for capacity in ["0", "many", "-1", 1.5, "1e30", True]:
                check(s, "POST", FILTERS, 400, {"name": "x", "capacity": capacity}, reason="bad_parameter")
            for rate in ["0", "200%", "often", 1, None]:
                check(s, "POST", FILTERS, 400, {"name": "x", "error_rate": rate}, reason="bad_parameter")

    def test_a_full_filter_and_full_memory_are_reported(self):
        with Server("--maxmemory", "64Ki") as s:
            check(s, "POST", FILTERS, 201, {"name": "f", "capacity": 2, "growth": "refuse", "error_rate": 1e-12})
            check(s, "POST", FILTERS + "/f/add", 200, {"keys": ["a", "b"]})
            check(s, "POST", FILTERS + "/f/add", 409, {"keys": ["c"]}, reason="full")
            some = check(s, "POST", FILTERS + "/f/add", 200, {"keys": ["a", "c"]})
            self.assertEqual(some["verdicts"], ["seen", "unknown"])
            check(s, "POST", FILTERS, 507, {"name": "big", "capacity": 100_000_000}, reason="no_room")
            check(s, "POST", FILTERS, 201, {"name": "grows", "capacity": 2000, "error_rate": 1e-6})
            for i in range(2000):
                status, _, answer = s.ask("POST", FILTERS + "/grows/add", {"keys": [f"{i}-{j}" for j in range(1000)]})
                if status == 507:
                    break
            self.assertEqual((status, answer["reason"]), (507, "no_room"))
            check(s, "POST", FILTERS + "/grows/add", 507, {"keys": ["x"]}, reason="no_room")

    def test_bytes_over_the_limit_are_not_read(self):
        with Server("--max-request", "10k") as s:
            check(s, "POST", FILTERS, 201, {"name": "f"})
            long = {"keys": ["x" * 20_000]}
            check(s, "POST", FILTERS, 413, long, reason="too_large")
            check(s, "POST", FILTERS + "/f/add", 413, long, reason="too_large")
            check(s, "POST", FILTERS + "/f/check", 413, long, reason="too_large")
            check(s, "POST", FILTERS + "/f/explain", 413, long, reason="too_large")
            check(s, "POST", FILTERS + "/f/rename", 413, long, reason="too_large")
            check(s, "POST", FILTERS + "/f/expire", 413, long, reason="too_large")

    def test_users_have_their_rights_and_no_others(self):
        with Server("--user", "reader:look:read", "--user", "writer:touch:write", "--user", "keeper:keep:admin") as s:
            body = {"name": "f", "capacity": 10}
            check(s, "POST", FILTERS, 201, body, token="touch")
            for method, path, data in EVERYTHING:
                check(s, method, path, 401, data, reason="unauthorized")
                check(s, method, path, 401, data, token="wrong", reason="unauthorized")
            for method, path, data in [("POST", FILTERS, body), ("DELETE", FILTERS + "/f", None),
                                       ("POST", FILTERS + "/f/add", {"keys": ["a"]}), ("POST", FILTERS + "/f/rename", {"to": "g"}),
                                       ("POST", FILTERS + "/f/expire", {"expire": 9})]:
                check(s, method, path, 403, data, token="look", reason="forbidden")
                check(s, method, path, 403, data, token="touch", reason="cross_site", Origin="http://evil.example")
            check(s, "POST", FILTERS + "/f/check", 200, {"keys": ["a"]}, token="look")
            check(s, "POST", FILTERS + "/f/check", 403, {"keys": ["a"]}, token="look", Sec_Fetch_Site="cross-site")
            for path in ["/api/v1/plan?keys=1000&error_rate=0.01", "/api/v1/stats", "/metrics"]:
                check(s, "GET", path, 200, token="look")
            for path in ["/healthz", "/readyz", "/openapi.json"]:
                check(s, "GET", path, 200)

    def test_only_administrators_see_how_a_key_is_hashed(self):
        with Server("--user", "reader:look:read", "--user", "writer:touch:write", "--user", "keeper:keep:admin") as s:
            check(s, "POST", FILTERS, 201, {"name": "f", "partitions": 64}, token="touch")
            told = check(s, "POST", FILTERS + "/f/explain", 200, {"key": "a"}, token="keep")
            self.assertEqual(len(told["digest"]), 32)
            for token in ["look", "touch"]:
                check(s, "POST", FILTERS + "/f/explain", 403, {"key": "a"}, token=token, reason="forbidden")
            # A key in a path would appear in the logs of proxies.
            self.assertEqual(s.ask("GET", FILTERS + "/f/explain?key=a", token="keep")[0], 405)

    def test_an_address_that_guesses_passwords_has_to_wait_and_others_do_not(self):
        def guess(path, method="GET", data=None):
            """Until no more passwords are checked."""
            for i in range(10_000):
                status, headers, answer = s.ask(method, path, data, token=f"guess {i}")
                if status == 429:
                    return int(headers["Retry-After"]), answer
            raise AssertionError(f"{method} {path}: every guess was checked")

        def status_of(connection):
            connection.request("GET", "/api/v1/stats", headers={"Authorization": "Bearer look"})
            answer = connection.getresponse()
            answer.read()
            return answer.status

        with Server("--user", "reader:look:read") as s:
            here_before = s.connect()
            self.assertEqual(status_of(here_before), 200)
            for method, path, data in EVERYTHING:
                wait, answer = guess(path, method, data)
                self.assertEqual((wait, answer["reason"]), (1, "too_many_guesses"))
                jsonschema.validate(answer, {**DOCUMENT["components"]["schemas"]["problem"], "components": DOCUMENT["components"]})
                had.add((operation_of(method, path)[0], method.lower(), "429"))
            self.assertEqual(status_of(here_before), 200)
            elsewhere = http.client.HTTPConnection("127.0.0.1", s.port, timeout=30, source_address=("127.0.0.2", 0))
            self.assertEqual(status_of(elsewhere), 200)
            here_before.close()
            elsewhere.close()

    def test_plans_match_the_planner(self):
        with Server() as s:
            plan = check(s, "GET", "/api/v1/plan?keys=10000000&error_rate=1e-6&values=100000000", 200)
            self.assertEqual(plan["picked"], "two-line-8x64")
            row = next(r for r in plan["structures"] if r["structure"] == plan["picked"])
            self.assertLessEqual(row["error_rate"], 1e-6)
            rates = [p["error_rate"] for p in row["curve"]]
            self.assertEqual(rates, sorted(rates))
            self.assertEqual(row["curve"][-1]["keys"], 20_000_000)
            chosen = check(s, "GET", "/api/v1/plan?keys=1000&bits_per_key=10&layout=classic&probes=3", 200)
            self.assertIn("--layout classic --probes 3", chosen["command"])
            for query in ["", "?keys=0&error_rate=0.1", "?keys=5&error_rate=0.9", "?error_rate=0.1&bits_per_key=3",
                          "?keys=5&bytes=64&bits=512", "?keys=1M&error_rate=1%25&bits=1M", "?keys=5&bytes=63",
                          "?keys=1M&error_rate=1%25&bits=10M&probes=5",
                          "?keys=5&error_rate=0.1&layout=guava64", "?keys=5&error_rate=0.1&redis=true", "?keys=%zz",
                          "?keys=5&keys=6&error_rate=0.1", "?keys=5&error_rate=nan", "?keys=5&bits_per_key=1e9"]:
                check(s, "GET", "/api/v1/plan" + query, 400)

    def test_keys_or_memory_alone_are_planned_for_the_default_rate(self):
        with Server() as s:
            for query in ["keys=1M", "bytes=1Mi"]:
                plan = check(s, "GET", "/api/v1/plan?" + query, 200)
                self.assertEqual(plan, check(s, "GET", f"/api/v1/plan?{query}&error_rate=1e-6", 200))
                self.assertIn("--error-rate 1e-6", plan["command"])

    def test_any_three_of_keys_memory_rate_and_probes_plan_the_fourth(self):
        def classic(query):
            plan = check(s, "GET", "/api/v1/plan?layout=classic&" + query, 200)
            return next(r for r in plan["structures"] if r["structure"] == "classic")

        with Server() as s:
            size = classic("keys=1M&error_rate=1%25&probes=5")["bytes"]
            self.assertEqual(size, classic(f"keys=1M&bytes={size}&probes=5")["bytes"])
            self.assertLessEqual(classic(f"keys=1M&bits={8 * size}&probes=5")["error_rate"], 0.01)
            self.assertAlmostEqual(classic(f"bytes={size}&error_rate=1%25&probes=5")["keys"] / 1e6, 1, places=3)
            self.assertEqual(classic(f"keys=1M&bits={8 * size}&error_rate=1%25")["probes"], 5)

    def test_every_kind_of_problem_is_explained(self):
        self.assertEqual(list(REASONS), DOCUMENT["components"]["schemas"]["problem"]["properties"]["reason"]["enum"])
        for reason, said in REASONS.items():
            self.assertTrue(said["cause"].endswith(".") and said["remedy"].endswith("."), reason)

    def test_numbers_are_limited_as_documented(self):
        schemas = DOCUMENT["components"]["schemas"]
        beside = {"window": {"slices": 1}, "slices": {"window": "10m"}, "expansion": {"as": "redisbloom"},
                  "probes": {"layout": "classic"}, "partitions": {"capacity": 10_000_000}}
        with Server() as s:
            for schema, path, always in [("new_filter", FILTERS, {"name": "new"}), ("expiry", FILTERS + "/f/expire", {})]:
                for field, described in schemas[schema]["properties"].items():
                    kinds = [kind for kind in described.get("oneOf", [described]) if re.search("number|integer", str(kind["type"]))]
                    if not kinds or field == "expires_at_ms":  # limited by the clock
                        continue
                    least, most = kinds[0]["minimum"], kinds[0]["maximum"]
                    for value in [least, most]:
                        s.ask("DELETE", FILTERS + "/f")  # it may expire in a millisecond
                        s.ask("POST", FILTERS, {"name": "f"})
                        answer = s.ask("POST", path, {**always, **beside.get(field, {}), field: value})
                        self.assertIn(answer[0], (200, 201, 507), (field, value, answer[2]))
                        s.ask("DELETE", FILTERS + "/new")
                    for value in [0.99 * least if isinstance(least, float) else least - 1, 2 * most]:
                        s.ask("POST", FILTERS, {"name": "f"})
                        check(s, "POST", path, 400, {**always, **beside.get(field, {}), field: value}, reason="bad_parameter")

    def test_plans_take_quantities_as_the_command_line_does(self):
        with Server() as s:
            plan = check(s, "GET", "/api/v1/plan?keys=10M&error_rate=0.0001%25&values=1e9", 200)
            self.assertEqual(plan, check(s, "GET", "/api/v1/plan?keys=10000000&error_rate=1e-6&values=1000000000", 200))
            self.assertIn("--error-rate 1e-6", plan["command"])
            for query, reason, words in [("?key=10&error_rate=0.1", "unknown_parameter", "did you mean keys?"),
                                         ("?keys=10&error_rate=0.1&colour=red", "unknown_parameter", "bits_per_key"),
                                         ("?keys=many&error_rate=0.1", "bad_parameter", "many"),
                                         ("?error_rate=0.1", "bad_parameter", "keys is missing"),
                                         ("?keys=10&error_rate=0.1&layout=round", "bad_parameter", "two-line-8x64")]:
                self.assertIn(words, check(s, "GET", "/api/v1/plan" + query, 400, reason=reason)["detail"])

    def test_the_rate_of_an_empty_filter_is_zero(self):
        with Server() as s:
            check(s, "POST", FILTERS, 201, {"name": "f"})
            self.assertNotIn("-0.0", json.dumps([check(s, "GET", FILTERS, 200), check(s, "GET", FILTERS + "/f", 200)]))

    def test_only_bearer_authorization_is_accepted(self):
        with Server("--user", "reader:look:read") as s:
            basic = check(s, "GET", "/api/v1/stats", 401, Authorization="Basic cmVhZGVyOmxvb2s=")
            self.assertIn("Bearer", basic["detail"])
            check(s, "GET", "/api/v1/stats", 200, token="look")

    def test_statistics_count(self):
        with Server() as s:
            check(s, "POST", FILTERS, 201, {"name": "f", "capacity": 1000, "error_rate": 1e-12})
            check(s, "POST", FILTERS + "/f/add", 200, {"keys": ["a", "b", "a"]})
            check(s, "POST", FILTERS + "/f/check", 200, {"keys": ["a", "z"]})
            stats = check(s, "GET", "/api/v1/stats", 200)
            self.assertEqual(stats["redis_addresses"], [f"unix:{s.socket}"])
            f = stats["filters"][0]
            self.assertEqual((f["adds"], f["checks"], f["batches"], f["keys"]), (3, 2, 2, 2))
            self.assertEqual(f["verdicts"]["add"], {"fresh": 2, "seen": 1, "late": 0, "unknown": 0})
            self.assertEqual(f["verdicts"]["check"], {"fresh": 1, "seen": 1, "late": 0, "unknown": 0})
            self.assertEqual((stats["store"], stats["keys_added"], stats["keys_checked"]), ("memory", 3, 2))

    def test_keys_without_a_verdict_are_not_counted_as_added(self):
        with Server() as s:
            check(s, "POST", FILTERS, 201, {"name": "f", "capacity": 2, "growth": "refuse", "error_rate": 1e-12})
            check(s, "POST", FILTERS, 201, {"name": "g", "as": "guava64", "funnel": "long", "capacity": 100})
            check(s, "POST", FILTERS + "/f/add", 200, {"keys": ["a", "b", "c"]})
            check(s, "POST", FILTERS + "/g/add", 200, {"keys": ["1", "word"]})
            redis_cli(s, "BF.MADD", "f", "a", "d")
            redis_cli(s, "EVERSEEN.ADD", "f", "ITEMS", "a", "d", "e")
            check(s, "POST", FILTERS + "/g/check", 200, {"keys": ["1", "word"]})
            stats = check(s, "GET", "/api/v1/stats", 200)
            self.assertEqual((stats["keys_added"], stats["keys_checked"]), (5, 1))
            told = subprocess.run(["redis-cli", "-e", "-s", s.socket, "INFO"], capture_output=True, text=True, check=True).stdout
            self.assertIn("keys_added:5", told)

    def test_damage_is_reported_and_hides_nothing_else(self):
        with tempfile.TemporaryDirectory() as home:
            with Server(store=f"file:{home}") as s:
                check(s, "POST", FILTERS, 201, {"name": "bad", "capacity": 1000})
                check(s, "POST", FILTERS, 201, {"name": "good", "capacity": 1000})
                self.assertEqual(s.stop(), 0)
            for file in pathlib.Path(home, "bad").iterdir():
                if file.is_file():
                    file.write_bytes(b"x" * 100)
            with Server(store=f"file:{home}") as s:
                check(s, "GET", FILTERS + "/bad", 500, reason="damaged")
                check(s, "POST", FILTERS + "/bad/add", 500, {"keys": ["a"]}, reason="damaged")
                check(s, "POST", FILTERS + "/bad/check", 500, {"keys": ["a"]}, reason="damaged")
                check(s, "POST", FILTERS + "/bad/explain", 500, {"key": "a"}, reason="damaged")
                check(s, "GET", FILTERS + "/bad/keys/a", 500, reason="damaged")
                check(s, "POST", FILTERS + "/bad/rename", 500, {"to": "x"}, reason="damaged")
                check(s, "POST", FILTERS + "/bad/expire", 500, {"expire": 9}, reason="damaged")
                listed = check(s, "GET", FILTERS, 200)
                self.assertEqual([f["name"] for f in listed["filters"]], ["good"])
                self.assertEqual([f["name"] for f in listed["damaged"]], ["bad"])

    def test_an_outage_of_the_store_is_reported(self):
        with Redis("--loadmodule", MODULE) as redis, Server("--log-format", "json", store=redis.url("?retry_for=100ms&timeout=1s")) as s:
            check(s, "POST", FILTERS, 201, {"name": "f", "capacity": 1000})
            check(s, "POST", FILTERS + "/f/add", 200, {"keys": ["a"]})
            self.assertTrue(until(lambda: is_ready(s)))
            redis.process.kill()
            redis.process.wait()
            for method, path, body in [("GET", "", None), ("POST", "", {"name": "x"}), ("GET", "/f", None),
                                       ("POST", "/f/add", {"keys": ["a"]}), ("POST", "/f/check", {"keys": ["a"]}),
                                       ("POST", "/f/explain", {"key": "a"}), ("GET", "/f/keys/a", None),
                                       ("POST", "/f/rename", {"to": "g"}), ("POST", "/f/expire", {"expire": 9}), ("DELETE", "/f", None)]:
                check(s, method, FILTERS + path, 503, body, reason="outage")
            check(s, "GET", "/readyz", 503, reason="outage")
            check(s, "GET", "/api/v1/stats", 200)
            check(s, "GET", "/healthz", 200)
            events = [json.loads(line) for line in s.said().splitlines()]
            self.assertIn("store_outage", [event["event"] for event in events])

    def test_in_an_outage_metrics_continue_and_count_it(self):
        with Redis() as redis, Server(store=redis.url("?retry_for=3s&timeout=1s")) as s:
            for name in ["f", "g", "h"]:
                check(s, "POST", FILTERS, 201, {"name": name, "capacity": 1000})
                check(s, "POST", FILTERS + f"/{name}/add", 200, {"keys": ["a"]})
            self.assertEqual(metric(s, 'everseen_filter_keys{filter="f"}'), 1)
            redis.process.kill()
            redis.process.wait()
            check(s, "POST", FILTERS + "/f/add", 503, {"keys": ["b"]}, reason="outage")
            counted = metric(s, "everseen_store_outages_total")
            self.assertGreaterEqual(counted, 1)
            self.assertEqual(metric(s, 'everseen_filter_outages_total{filter="f"}'), 1)
            self.assertEqual(metric(s, 'everseen_filter_verdicts_total{filter="f",question="add",verdict="fresh"}'), 1)
            check(s, "POST", FILTERS + "/f/add", 503, {"keys": ["b"]}, reason="outage")
            self.assertGreater(metric(s, "everseen_store_outages_total"), counted)

    def test_an_outage_delays_only_requests_that_need_the_store(self):
        with Redis() as redis, Server(store=redis.url("?retry_for=4s&timeout=1s")) as s:
            check(s, "POST", FILTERS, 201, {"name": "f", "capacity": 1000})
            redis.process.kill()
            redis.process.wait()
            check(s, "POST", FILTERS + "/f/check", 503, {"keys": ["b"]}, reason="outage")
            began = time.monotonic()
            askers = [threading.Thread(target=s.ask, args=("POST", FILTERS + "/f/check", {"keys": ["b"]})) for _ in range(20)]
            for asker in askers:
                asker.start()
            time.sleep(0.5)
            for path, status in [("/metrics", 200), ("/api/v1/stats", 200), ("/readyz", 503),
                                 ("/api/v1/plan?keys=10&error_rate=0.1", 200)]:
                asked = time.monotonic()
                check(s, "GET", path, status)
                self.assertLess(time.monotonic() - asked, 2.5, path)
            for asker in askers:
                asker.join()
            self.assertLess(time.monotonic() - began, 20)

    def test_an_ended_filter_is_not_an_outage(self):
        with Redis() as redis, Server(store=redis.url("?retry_for=100ms")) as s:
            check(s, "POST", FILTERS, 201, {"name": "e", "capacity": 1000, "expire": 4})
            check(s, "POST", FILTERS + "/e/add", 200, {"keys": ["a"]})
            time.sleep(4.5)
            check(s, "POST", FILTERS + "/e/add", 404, {"keys": ["a"]}, reason="no_filter")
            self.assertEqual(metric(s, "everseen_store_outages_total"), 0)
            self.assertNotIn("outage", s.said())

    def test_readiness_asks_the_store_whatever_filters_are_called(self):
        with Redis() as redis, Server(store=redis.url("?retry_for=100ms")) as s:
            for name in [".", "nobody", "@3"]:
                redis_cli(s, "BF.ADD", name, "x")
            self.assertTrue(until(lambda: is_ready(s)))
            redis.process.kill()
            redis.process.wait()
            check(s, "GET", "/readyz", 503, reason="outage")

    def test_metrics_are_in_prometheus_format(self):
        with Server() as s:
            check(s, "POST", FILTERS, 201, {"name": "f", "capacity": 1000, "error_rate": 1e-12})
            check(s, "POST", FILTERS + "/f/add", 200, {"keys": ["a", "a"]})
            text = check(s, "GET", "/metrics", 200).decode()
            self.assertIn('everseen_filter_verdicts_total{filter="f",question="add",verdict="fresh"} 1', text)
            self.assertIn('everseen_batch_duration_seconds_count{question="add"} 1', text)
            for line in text.splitlines():
                self.assertRegex(line, r'^(# (HELP|TYPE) .+|[a-z_]+(\{([a-z]+="([^"\\]|\\.)*",?)+\})? [-+0-9.einfaN]+)$')

    def test_requests_are_counted_by_route_and_status(self):
        with Server() as s:
            check(s, "POST", FILTERS, 201, {"name": "f", "capacity": 1000})
            for name in ["f", "g", "h"]:
                s.ask("GET", FILTERS + "/" + name)
            s.ask("HEAD", FILTERS + "/f")
            s.ask("POST", FILTERS + "/f/add", "{")
            s.ask("POST", FILTERS + "/f/add", "a", Content_Type="text/html")
            s.ask("PUT", FILTERS + "/f")
            s.ask("GET", "/nothing/" + "x" * 100)
            s.ask("GET", "/nothing/else")
            name = "/api/v1/filters/{name}"
            for route, method, status, count in [(FILTERS, "POST", 201, 1), (name, "GET", 200, 1), (name, "GET", 404, 2), (name, "HEAD", 200, 1),
                                                 (name + "/add", "POST", 400, 1), (name + "/add", "POST", 415, 1), ("", "", 405, 1),
                                                 ("", "GET", 404, 2)]:
                counted = metric(s, f'everseen_http_requests_total{{route="{route}",method="{method}",status="{status}"}}')
                self.assertEqual(counted, count, (route, method, status))

    @classmethod
    def tearDownClass(cls):
        promised = {(path, method, status) for path, item in DOCUMENT["paths"].items()
                    for method, operation in item.items() if method != "parameters"
                    for status in operation["responses"]}
        assert promised == had, f"promised and never had: {sorted(promised - had)}"


if __name__ == "__main__":
    unittest.main(argv=[__file__], verbosity=1)
