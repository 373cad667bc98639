#!/usr/bin/env python3
"""Runs each block of Java of a document, and compares what it prints with the document.

usage: java_blocks_test.py DOCUMENT JAR
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from promised_output import assert_promised, promised_in

document, jar = sys.argv[1:]
blocks = re.findall(r"^```java\n(.*?)^```$", pathlib.Path(document).read_text(encoding="utf-8"), re.M | re.S)


class JavaBlocks(unittest.TestCase):
    def test_each_block_prints_what_is_beside_it(self):
        self.assertTrue(blocks)
        for block in blocks:
            promises = block.replace(" // ", " # ")
            self.assertTrue(promised_in(promises), f"{document} promises nothing")
            imports = re.findall(r"^import .*\n", block, re.M)
            body = re.sub(r"^import .*\n", "", block, flags=re.M)
            with tempfile.TemporaryDirectory(prefix="everseen-java-") as directory:
                program = pathlib.Path(directory, "Block.java")
                program.write_text(f"{''.join(imports)}class Block {{ public static void main(String[] words) throws Exception {{"
                                   f"\n{body}}} }}", encoding="utf-8")
                done = subprocess.run(["java", "-cp", str(pathlib.Path(jar).resolve()), "Block.java"], cwd=directory,
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, f"{block}{done.stderr}")
                assert_promised(self, promises, done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
