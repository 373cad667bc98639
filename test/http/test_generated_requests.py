#!/usr/bin/env python3
"""Thousands of requests that schemathesis makes of openapi.json, valid and invalid, and what it says of the answers.

Skipped without the schemathesis of ./dev peers. EVERSEEN_GENERATED_REQUESTS is the number of requests that it may make
up for an operation, beside those at every limit of the document.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from serving import ROOT, Server

# As a module: the scripts of an environment name the folder that it was made in.
PYTHON = ROOT / "build/peers/python/bin/python"
DOCUMENT = ROOT / "everseen/serve/api/openapi.json"
REQUESTS = os.environ.get("EVERSEEN_GENERATED_REQUESTS") or "10"


def with_filters(server):
    """Filters of all kinds, one of them full, under the names that schemathesis.toml lists."""
    for filter_ in [{"name": "clicks"}, {"name": "window", "window": "10m"},
                    {"name": "guava", "as": "guava64", "funnel": "long", "capacity": 100},
                    {"name": "full", "growth": "refuse", "capacity": 1}]:
        assert server.ask("POST", "/api/v1/filters", filter_)[0] == 201
    server.ask("POST", "/api/v1/filters/full/add", {"keys": ["a", "b", "c"]})


def judged(server, document, home, *options):
    """Whether schemathesis finds nothing wrong, what it says, and the operations it tested."""
    report = pathlib.Path(home, "report.json")
    run = subprocess.run([PYTHON, "-m", "schemathesis.cli", "--no-color", "--config-file", ROOT / "test/http/schemathesis.toml",
                          "run", document, "--url", f"http://127.0.0.1:{server.port}", "--seed", "1", "--report-json-path", report, *options],
                         cwd=home, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return run.returncode == 0, run.stdout, json.loads(report.read_text(encoding="utf-8"))


class GeneratedRequests(unittest.TestCase):
    def test_every_answer_is_one_that_the_document_promises(self):
        with Server() as server, tempfile.TemporaryDirectory() as home:
            with_filters(server)
            is_right, said, report = judged(server, DOCUMENT, home, "--max-examples", REQUESTS)
            self.assertTrue(is_right, said)
            operations = sum(method != "parameters" for path in json.loads(DOCUMENT.read_text(encoding="utf-8"))["paths"].values() for method in path)
            self.assertEqual((report["complete"], report["operations"]["tested"]), (True, operations), said)
            self.assertEqual({phase["status"] for phase in report["phases"].values()}, {"success"}, said)
            self.assertGreater(report["test_cases"]["generated"], 500, said)
            self.assertEqual(server.ask("GET", "/healthz")[0], 200)
            self.assertEqual(server.stop(), 0)

    def test_an_answer_that_the_document_does_not_have_is_found(self):
        document = json.loads(DOCUMENT.read_text(encoding="utf-8"))
        del document["paths"]["/api/v1/filters/{name}"]["get"]["responses"]["404"]
        with Server() as server, tempfile.TemporaryDirectory() as home:
            wrong = pathlib.Path(home, "wrong.json")
            wrong.write_text(json.dumps(document), encoding="utf-8")
            is_right, said, report = judged(server, wrong, home, "--max-examples", "5", "--phases", "fuzzing", "--include-operation-id", "describeFilter")
            self.assertFalse(is_right, said)
            self.assertEqual([failure["title"] for failure in report["failures"]], ["Undocumented status code"], said)


if __name__ == "__main__":
    if not PYTHON.exists():
        print("skipped: ./dev peers brings schemathesis")
        sys.exit(1 if os.environ.get("EVERSEEN_PEERS_REQUIRED") else 77)
    unittest.main(argv=[__file__], verbosity=1)
