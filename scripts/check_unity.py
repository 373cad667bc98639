#!/usr/bin/env python3
"""Parses the sources of each target as one file: their names must not collide in a unity build.

usage: check_unity.py BUILD_DIRECTORY [TARGET_REGEX]

Which files are compiled together changes whenever a file is added, so a name in an unnamed namespace must be unique in
its whole target, and not only in its batch. The build directory is one whose preset compiles file by file.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMPILER = re.compile(r"(\+\+|gcc|clang)(-[\d.]+)?$")
# Benchmarks and fuzzers are never compiled together, and generated sources are a file each.
FOLDERS = ("everseen", "module", "test")


def units(commands):
    """(target, command of the compiler, sources). Sources with options of their own are units of their own."""
    found = collections.defaultdict(list)
    for entry in commands:
        source = pathlib.Path(entry["file"])
        if source.suffix != ".cpp" or not any(source.is_relative_to(ROOT / folder) for folder in FOLDERS):
            continue
        words = shlex.split(entry["command"])
        compiler = next(i for i, word in enumerate(words) if COMPILER.search(word))  # behind a launcher
        output = words.index("-o")
        target = re.search(r"CMakeFiles/([^/]+)\.dir/", words[output + 1]).group(1)
        found[target, tuple(words[compiler:output])].append(source)
    return [(target, command, sources) for (target, command), sources in found.items() if len(sources) > 1]


def parse(unit, scratch):
    """The errors of the compiler; empty if there are none."""
    target, command, sources = unit
    file = pathlib.Path(scratch) / f"{target}-{abs(hash(command))}.cpp"
    file.write_text("".join(f'#include "{source}"\n' for source in sorted(sources)))
    done = subprocess.run([*command, "-w", "-fsyntax-only", str(file)], capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C"}, check=False)
    return done.stderr.replace(f"{ROOT}/", "") if done.returncode else ""


def main(build, targets=""):
    commands = json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
    chosen = [unit for unit in units(commands) if re.search(targets, unit[0])]
    if not chosen:
        sys.exit(f"check_unity: {build} compiles no target '{targets}'")
    collisions = 0
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for unit, errors in zip(chosen, pool.map(lambda unit: parse(unit, scratch), chosen)):
            if errors:
                collisions += 1
                print(f"{unit[0]}: names that two files share get longer names:\n{errors}", file=sys.stderr)
    print(f"{len(chosen)} targets parsed as one file each")
    sys.exit(1 if collisions else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
