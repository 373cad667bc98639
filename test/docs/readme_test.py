#!/usr/bin/env python3
"""Follows README.md: runs its shell blocks, compiles and runs its programs, compares its verbs.

usage: readme_test.py README PROGRAM COMPILER [COMPILER_ARGUMENT...]
"""

import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from promised_output import assert_promised, assert_python_promised

readme, program, *compiler = sys.argv[1:]
program = os.path.abspath(program)
is_installed = pathlib.Path(program).parent.name == "bin"
built_package = pathlib.Path(program).parent / "python"
text = pathlib.Path(readme).read_text(encoding="utf-8")
blocks = re.findall(r"^```([^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def blocks_in(language):
    return [block for its_language, block in blocks if its_language == language]


def first_occurrences(lines):
    return list(dict.fromkeys(lines))


class Readme(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="everseen-readme-")
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.environment = os.environ | {
            "PATH": f"{pathlib.Path(program).parent}:{os.environ['PATH']}",
            "EVERSEEN_STORE": f"file:{self.directory}/store",
            "HOME": str(self.directory),
        }

    def run_here(self, *command):
        done = subprocess.run(
            command, cwd=self.directory, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 0, f"{command[-1]}\n{done.stdout}{done.stderr}")
        return done.stdout

    def sh(self, lines):
        return self.run_here("bash", "-euo", "pipefail", "-c", lines)

    def lines_of(self, name):
        return (self.directory / name).read_text(encoding="utf-8").splitlines()

    def assert_each_once(self, got, lines):
        """All first occurrences in order, except the few new lines that may be false positives.

        At the default rate of 1e-6, the largest of its inputs (a million lines) loses 0.2
        lines on average; more than 6 in less than one run of ten million.
        """
        expected = first_occurrences(lines)
        if got == expected:
            return
        rest = iter(expected)
        self.assertTrue(all(line in rest for line in got), "a line is printed twice, or out of order")
        self.assertLessEqual(len(expected) - len(got), 6)

    def start_redis(self):
        """A private server. Returns its port."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(self.directory)]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        for _ in range(15_000):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return port
            time.sleep(0.02)
        return self.fail("redis-server does not start")

    def test_has_no_block_of_an_unknown_kind(self):
        self.assertLessEqual({language for language, _ in blocks}, {"sh", "cpp", "python"})
        self.assertEqual(2 * len(blocks), text.count("```"))

    def test_shell_blocks_have_the_documented_effect(self):
        shared = f"localhost:{self.start_redis()}"
        # Each block runs in its own shell, as a reader may paste any of them.
        for block in blocks_in("sh"):
            assert_promised(self, block, self.sh(block.replace("localhost:6379", shared)))
        self.assert_each_once(self.lines_of("once.txt"), self.lines_of("words.txt"))
        users = [line.split(",")[4] for line in self.lines_of("first-visits.csv")]
        self.assert_each_once(users, [line.split(",")[4] for line in self.lines_of("access.csv")])
        self.assert_each_once(self.lines_of("unique.json"), self.lines_of("events.json"))
        days = self.lines_of("monday.txt") + self.lines_of("tuesday.txt")
        self.assert_each_once(self.lines_of("new-on-monday.txt") + self.lines_of("new-on-tuesday.txt"), days)
        halves = self.lines_of("half.aa") + self.lines_of("half.ab")
        self.assert_each_once(sorted(self.lines_of("once.aa") + self.lines_of("once.ab")), sorted(halves))
        self.assertLess(len(set(halves)), len(halves))

    def test_programs_compile_and_run(self):
        self.assertTrue(blocks_in("cpp"))
        for block in blocks_in("cpp"):
            lines = block.splitlines(keepends=True)
            includes = "".join(line for line in lines if line.startswith("#include"))
            statements = "".join(line for line in lines if not line.startswith("#include"))
            if not re.search(r"\bmain\(", block):
                statements = f"int main() {{\n{statements}}}\n"
            (self.directory / "main.cpp").write_text(includes + statements, encoding="utf-8")
            self.run_here(compiler[0], "-o", "a.out", "main.cpp", *compiler[1:])
            self.run_here("./a.out")

    @unittest.skipUnless(built_package.is_dir() or is_installed, "the Python package was not built")
    @unittest.skipIf(any(word.startswith("-fsanitize") for word in compiler), "the interpreter is not sanitized")
    def test_python_prints_the_documented_output(self):
        if not is_installed:
            self.environment["PYTHONPATH"] = str(built_package)
        shared = f"localhost:{self.start_redis()}"
        for block in blocks_in("python"):
            printed = self.run_here("/usr/bin/python3", "-c", block.replace("localhost:6379", shared))
            assert_python_promised(self, block, printed)

    def test_names_exactly_the_existing_verbs(self):
        table = text[text.index("| verb |") :].split("\n\n")[0].splitlines()[2:]
        named = [verb for row in table for verb in re.findall("`([^`]+)`", row.split("|")[1])]
        listed = self.run_here(program, "--help").split("Verbs:\n")[1].split("\n\n")[0]
        self.assertEqual(sorted(named), sorted(line.split()[0] for line in listed.splitlines()))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
