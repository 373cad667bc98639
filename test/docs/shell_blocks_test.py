#!/usr/bin/env python3
"""Runs the shell blocks of a document, each in a folder of its own, and compares what they promise to print.

usage: shell_blocks_test.py DOCUMENT PROGRAM
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from promised_output import assert_promised, promised_in

document, program = sys.argv[1:]
blocks = re.findall(r"^```sh\n(.*?)^```$", pathlib.Path(document).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)

without_settings = {name: value for name, value in os.environ.items() if not name.startswith(("EVERSEEN_", "XDG_"))}


class ShellBlocks(unittest.TestCase):
    def test_print_what_they_promise(self):
        self.assertTrue(any(map(promised_in, blocks)), f"{document} promises nothing")
        for block in blocks:
            with self.subTest(block=block), tempfile.TemporaryDirectory(prefix="everseen-docs-") as directory:
                path = f"{pathlib.Path(program).resolve().parent}:{os.environ['PATH']}"
                done = subprocess.run(
                    ["bash", "-euo", "pipefail", "-c", block],
                    cwd=directory,
                    env=without_settings | {"PATH": path, "HOME": directory},
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    text=True,
                    timeout=60,
                )
                self.assertEqual(done.returncode, 0, done.stderr)
                assert_promised(self, block, done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
