#!/usr/bin/env python3
"""The files of packaging/: systemd accepts the unit, and Prometheus the metrics, alerts and queries of the dashboard."""
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from serving import PROGRAM, ROOT, Server

# A job ends with its input, so its metrics are read where they are made.
STREAM_METRICS = (ROOT / "everseen/cli/stream/stream_metrics.cpp").read_text(encoding="utf-8")


class Packaging(unittest.TestCase):
    def test_systemd_accepts_the_unit(self):
        if shutil.which("systemd-analyze") is None:
            self.skipTest("there is no systemd-analyze")
        with tempfile.TemporaryDirectory() as home:
            unit = pathlib.Path(home, "everseen.service")
            text = (ROOT / "packaging/everseen.service").read_text(encoding="utf-8")
            unit.write_text(text.replace("/usr/bin/everseen", PROGRAM), encoding="utf-8")
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True, timeout=120)
            self.assertNotIn("everseen.service", done.stderr)
            done = subprocess.run(["systemd-analyze", "security", "--offline=true", str(unit)], capture_output=True, text=True,
                                  timeout=120)
            exposure = re.search(r"exposure level for everseen.service: ([\d.]+)", done.stdout)
            self.assertLess(float(exposure[1]), 3.0, done.stdout)

    def promtool(self, *arguments, text=None):
        if shutil.which("promtool") is None:
            self.skipTest("there is no promtool")
        done = subprocess.run(["promtool", *arguments], input=text, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def test_prometheus_accepts_the_metrics(self):
        with Server() as s:
            s.ask("POST", "/api/v1/filters", {"name": "f"})
            s.ask("POST", "/api/v1/filters/f/add", {"keys": ["a"]})
            metrics = s.ask("GET", "/metrics")[2].decode()
        self.assertEqual(self.promtool("check", "metrics", text=metrics).stderr, "")

    def test_prometheus_accepts_the_alerts(self):
        file = ROOT / "packaging/alerts.yaml"
        rules = file.read_text(encoding="utf-8")
        self.promtool("check", "rules", file)
        with Server() as s:
            s.ask("POST", "/api/v1/filters", {"name": "f"})
            metrics = s.ask("GET", "/metrics")[2].decode()
        for name in set(re.findall(r"everseen_[a-z_]+", rules)):
            self.assertIn(f"\n# TYPE {name.removesuffix('_bucket')} ", metrics)

    def test_the_probes_of_kubernetes_find_a_server_that_serves(self):
        probed = re.findall(r"httpGet: \{path: ([/a-z]+), port: http\}", (ROOT / "packaging/kubernetes.yaml").read_text(encoding="utf-8"))
        self.assertEqual(probed, ["/healthz", "/readyz"])
        with Server() as s:
            self.assertEqual([s.ask("GET", path)[0] for path in probed], [200, 200])

    def test_containers_are_given_options_that_there_are(self):
        text = subprocess.run([PROGRAM, "serve", "--help"], capture_output=True, text=True, timeout=60, check=True).stdout
        for file in ("kubernetes.yaml", "compose.yaml"):
            given = re.findall(r"\bEVERSEEN_([A-Z_]+)\b", (ROOT / "packaging" / file).read_text(encoding="utf-8"))
            self.assertGreaterEqual(len(given), 5)
            for name in given:
                self.assertIn(f" --{name.lower().replace('_', '-')} ", text)

    def test_each_query_of_the_dashboard_asks_for_metrics_that_there_are(self):
        board = json.loads((ROOT / "packaging/grafana.json").read_text(encoding="utf-8"))
        panels = [p for p in board["panels"] if p["type"] != "row"]
        self.assertEqual(len({p["id"] for p in board["panels"]}), len(board["panels"]))
        queries = [t["expr"] for p in panels for t in p["targets"]]
        with Server() as s:
            s.ask("POST", "/api/v1/filters", {"name": "f"})
            s.ask("POST", "/api/v1/filters/f/add", {"keys": ["a"]})
            there = s.ask("GET", "/metrics")[2].decode()
        variables = " ".join(v["query"] for v in board["templating"]["list"])
        for name in set(re.findall(r"(?:everseen|process)_[a-z_]+", " ".join(queries) + variables)):
            if name.startswith("everseen_stream_"):
                self.assertIn(f'"{name.removesuffix("_bucket")}"', STREAM_METRICS)
            else:
                self.assertIn(f"\n# TYPE {name.removesuffix('_bucket')} ", "\n" + there)
        rules = {"groups": [{"name": "board", "rules": [
            {"record": f"query:{i}", "expr": query.replace("$__rate_interval", "5m")} for i, query in enumerate(queries)]}]}
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            json.dump(rules, file)
            file.flush()
            self.promtool("check", "rules", file.name)


if __name__ == "__main__":
    unittest.main(argv=[__file__], verbosity=1)
