#!/usr/bin/env python3
"""Follows doc/library.md, with an installed package alone: builds and runs each of its programs.

usage: library_test.py LIBRARY_MD PREFIX CXX_COMPILER
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

document, prefix, compiler = sys.argv[1:]
blocks = re.findall(r"^```([^\n]*)\n(.*?)^```$", pathlib.Path(document).read_text(encoding="utf-8"), re.M | re.S)
PKG_CONFIG_PATH = str(next(pathlib.Path(prefix).rglob("everseen.pc")).parent)
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]


def blocks_in(language):
    found = [block for its_language, block in blocks if its_language == language]
    assert found, f"{document} has no block of {language}"
    return found


def program(block):
    """A block that is not a whole program becomes the body of a program."""
    if re.search(r"\bmain\(", block):
        return block
    lines = block.splitlines(keepends=True)
    includes = "".join(line for line in lines if line.startswith("#include"))
    return includes + "int main() {\n" + "".join(line for line in lines if line not in includes) + "}\n"


class Library(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="everseen-library-")
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def run_here(self, *command, **more):
        """Returns standard output and standard error, in this order."""
        environment = os.environ | {"PKG_CONFIG_PATH": PKG_CONFIG_PATH, "CMAKE_PREFIX_PATH": prefix} | more
        done = subprocess.run(command, cwd=self.directory, env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def write(self, name, text):
        (self.directory / name).write_text(text, encoding="utf-8")

    def run_program(self, path, **more):
        shutil.rmtree(self.directory / "filters", ignore_errors=True)
        return self.run_here(path, **more)

    def assert_printed(self, printed, said):
        """What is said beside a statement are its lines, with ", " between them; a final "..." stands for the rest."""
        lines = [line for text in said for line in text.split(", ")]
        self.assertEqual(len(printed.splitlines()), len(lines), f"{printed}{lines}")
        for got, line in zip(printed.splitlines(), lines):
            if line.endswith("..."):
                got = got[: len(line) - 3] + "..."
            self.assertEqual(got, line)

    def test_cpp_programs_print_the_documented_output(self):
        for block in blocks_in("cpp"):
            with self.subTest(block=block):
                self.write("main.cpp", program(block))
                self.run_here("bash", "-c", f'eval "flags=($(pkg-config --cflags --libs everseen))"; '
                              f'{compiler} -std=c++20 {" ".join(WARNINGS)} main.cpp "${{flags[@]}}" -o program')
                said = re.findall(r"'\\n';  // (.*)$", block, re.M)
                self.assert_printed(self.run_program("./program"), said)

    def test_every_statement_that_prints_has_its_output_beside_it(self):
        for block in blocks_in("cpp"):
            self.assertEqual(block.count("<< '\\n'"), len(re.findall(r"'\\n';  // ", block)), block)
        for block in blocks_in("c"):
            self.assertEqual(len(re.findall(r"\bprintf\(", block)), len(re.findall(r"\bprintf\(.*\);  /\* ", block)), block)
            self.assertIn(" printf(", block)

    def test_c_programs_print_the_documented_output_and_leak_nothing(self):
        for block in blocks_in("c"):
            self.write("main.c", block)
            self.run_here("cc", "-std=c11", *WARNINGS, "-fsanitize=address,undefined", "-I", f"{prefix}/include", "main.c",
                          "-L", f"{prefix}/lib", "-leverseen", "-o", "program")
            said = re.findall(r"\bprintf\(.*\);  /\* (.*) \*/$", block, re.M)
            self.assert_printed(self.run_program("./program", LD_LIBRARY_PATH=f"{prefix}/lib"), said)

    def test_cmake_links_each_component(self):
        self.write("main.cpp", program(blocks_in("cpp")[0]))
        self.write("main.c", blocks_in("c")[0])
        for block in blocks_in("cmake"):
            with self.subTest(block=block):
                self.write("CMakeLists.txt", f"cmake_minimum_required(VERSION 3.25)\nproject(clicks)\n{block}")
                self.run_here("cmake", "--fresh", "-S", ".", "-B", "build", "-G", "Ninja",
                              f"-DCMAKE_CXX_COMPILER={compiler}")
                self.run_here("cmake", "--build", "build")
                self.run_program("build/clicks")

    def test_shell_blocks_build_the_program(self):
        self.write("main.cpp", program(blocks_in("cpp")[0]))
        self.write("main.c", blocks_in("c")[0])
        # The blocks are for a prefix without blanks.
        (self.directory / "prefix").symlink_to(prefix)
        path = PKG_CONFIG_PATH.replace(prefix, str(self.directory / "prefix"))
        for line in "".join(blocks_in("sh")).splitlines():
            self.run_here("bash", "-euc", line, PKG_CONFIG_PATH=path)
            self.run_program("./clicks", LD_LIBRARY_PATH=f"{prefix}/lib")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
