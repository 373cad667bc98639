#!/usr/bin/env python3
"""Runs each block of Python of a document, and compares what it prints with the document.

usage: python_blocks_test.py DOCUMENT PROGRAM
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from promised_output import assert_python_promised

document, program = sys.argv[1:]
blocks = re.findall(r"^```python\n(.*?)^```$", pathlib.Path(document).read_text(encoding="utf-8"), re.M | re.S)


class PythonBlocks(unittest.TestCase):
    def test_each_block_prints_what_is_beside_it(self):
        self.assertTrue(blocks)
        package = pathlib.Path(program).resolve().parent / "python"
        with tempfile.TemporaryDirectory(prefix="everseen-python-") as directory:
            for block in blocks:
                done = subprocess.run(["/usr/bin/python3", "-c", block], cwd=directory, capture_output=True, text=True,
                                      env=os.environ | {"PYTHONPATH": str(package)})
                self.assertEqual(done.returncode, 0, f"{block}{done.stderr}")
                assert_python_promised(self, block, done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
