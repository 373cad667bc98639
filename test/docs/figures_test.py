#!/usr/bin/env python3
"""A figure of a filter has one name in all interfaces: the one in the document's table.

usage: PYTHONPATH=PACKAGE figures_test.py DOCUMENT PROGRAM
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

import everseen

document, program = sys.argv[1:]
section = pathlib.Path(document).read_text(encoding="utf-8").split("## Figures of a filter\n")[1].split("\n## ")[0]
rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if line.startswith("| `")]
figures = {row[0].split("`")[1]: row for row in rows}
# What is no figure: what a filter is called, how it was created, and its parts.
OTHERS = {
    "program": {"name", "store", "spec", "slices", "parts", "warnings"},
    "spec": {"layout", "probes", "hash", "growth", "slices"},
    "http": {"name", "url", "layout", "probes", "hash", "growth", "window_slices", "slices", "expires_at_ms", "attached",
             "asks_first", "instances", "partition_list"},
    "command": {"name", "layout", "hash", "growth", "slices", "probes", "judge", "expires_at", "expires_at_ms"},
    "library": {"name"},
}


def marked(column):
    return {figure for figure, row in figures.items() if row[column]}


class Figures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="everseen-figures-")
        self.addCleanup(folder.cleanup)
        self.socket, self.http = f"{folder.name}/serve", f"{folder.name}/http"
        server = subprocess.Popen([program, "serve", "--store", "mem:", "--listen", f"unix:{self.socket}", "--http",
                                   f"unix:{self.http}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        for _ in range(15_000):
            if pathlib.Path(self.socket).exists() and pathlib.Path(self.http).exists():
                break
            time.sleep(0.02)
        self.url = f"everseen+unix:{self.socket}"
        self.filter = everseen.create(self.url, "clicks", capacity=1000, window=3600)
        self.addCleanup(self.filter.close)
        self.filter.add_many(range(500))

    def output_of(self, *command):
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def http_of(self, path):
        return self.output_of("curl", "-sS", "--fail", "--unix-socket", self.http, f"http://localhost{path}")

    def test_every_interface_has_the_names_of_the_table(self):
        self.assertTrue(figures)
        library = self.filter.info()
        self.assertEqual(set(library) - OTHERS["library"], marked(2))

        told = json.loads(self.output_of(program, "info", "clicks", "--json", "--store", self.url))
        self.assertLessEqual(set(told["spec"]) - OTHERS["spec"], set(figures))
        starred = {figure for figure, row in figures.items() if row[0].endswith("\\*")}
        self.assertEqual(set(told["spec"]) - OTHERS["spec"], starred)
        self.assertEqual(set(told) - OTHERS["program"], set(figures) - starred)

        http = json.loads(self.http_of("/api/v1/filters/clicks"))
        self.assertEqual(set(http) - OTHERS["http"], set(figures))

        told_by_command = self.output_of("redis-cli", "-s", self.socket, "EVERSEEN.INFO", "clicks").splitlines()[::2]
        self.assertEqual(set(told_by_command) - OTHERS["command"], marked(3))

        for _ in range(100):  # figures that cost round trips are read at most once a second
            metrics = set(re.findall(r"^(everseen_filter_\w+){", self.http_of("/metrics"), re.M))
            if "everseen_filter_keys" in metrics:
                break
            time.sleep(0.1)
        self.assertEqual({name for name in metrics if not name.endswith("_total")},
                         {row[4].strip("`") for row in rows if row[4]})

        for figure in set(library) & set(http) - {"name"}:
            self.assertAlmostEqual(library[figure], http[figure], msg=figure)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
