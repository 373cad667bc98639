#!/usr/bin/env python3
"""How much of each decoder the seeds of its fuzzers reach; fails if that is less than 95 % of its lines.

usage: fuzz_coverage.py [--lines] [--corpus DIRECTORY] BUILD [FUZZER...]

A fuzzer names its decoders in the comment at its top: `// Decodes: PATH, PATH`, over as many lines as it takes. Every
FUZZER of BUILD (a build of the preset fuzz) runs its seeds once. A line counts as reached if any fuzzer that names its
file reaches it. --lines lists those that none does; --corpus adds what ./dev fuzz found. Fuzzers of a whole server or
library name no decoder, and are not run.
"""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEAST = 95.0  # per cent


def decoders_of(source):
    """The files that a fuzzer names."""
    head = re.match(r"(//.*\n)*", source.read_text(encoding="utf-8"))[0]
    named = re.search(r"^// Decodes: ((?:.*,\n//)*.*)$", head, re.M)
    return re.findall(r"[\w/]+\.cpp", named[1]) if named else []


def inputs_of(name, corpus):
    folders = [ROOT / "fuzz/seeds" / name, *([pathlib.Path(corpus, name)] if corpus else [])]
    return [folder for folder in folders if folder.is_dir()]


def objects_of(program, build):
    """A program and the libraries of this build that it loads: they hold code, too."""
    loaded = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return [str(program), *(f"--object={path}" for path in re.findall(r"=> (\S+)", loaded) if pathlib.Path(path).is_relative_to(build))]


def reached_by(name, build, corpus, files):
    """For each line with code in some files, whether a run over all inputs reaches it: {path: {line: bool}}."""
    program = build / name
    with tempfile.TemporaryDirectory() as home:
        raw = os.path.join(home, "%p.profraw")
        ran = subprocess.run([program, "-runs=0", *inputs_of(name, corpus)], cwd=home, capture_output=True, text=True, check=False,
                             env={**os.environ, "LLVM_PROFILE_FILE": raw})
        if ran.returncode != 0:
            sys.exit(f"{name} fails over its own inputs:\n{ran.stderr[-4000:]}")
        merged = os.path.join(home, "merged")
        subprocess.run(["llvm-profdata-14", "merge", "-o", merged, *map(str, pathlib.Path(home).glob("*.profraw"))], check=True)
        told = subprocess.run(["llvm-cov-14", "export", "-format=lcov", f"-instr-profile={merged}", *objects_of(program, build)],
                              capture_output=True, text=True, check=True).stdout
    reached = collections.defaultdict(dict)
    path = None
    for line in told.splitlines():
        if line.startswith("SF:"):  # no object has the path of the checkout
            found = re.search(r"(?:^|/)((?:everseen|module)/.*)$", line[3:])
            path = found[1] if found and found[1] in files else None
        elif path and line.startswith("DA:"):
            number, count = line[3:].split(",")[:2]
            reached[path][int(number)] = reached[path].get(int(number), False) or int(count) > 0
    return reached


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--lines", action="store_true")
    parser.add_argument("--corpus")
    parser.add_argument("build")
    parser.add_argument("fuzzers", nargs="*")
    wanted = parser.parse_args()
    build = pathlib.Path(wanted.build).resolve()
    every = {source.stem: decoders_of(source) for source in sorted((ROOT / "fuzz").glob("*_fuzz.cpp"))}
    missing = [file for files in every.values() for file in files if not (ROOT / file).exists()]
    if missing:
        sys.exit(f"decoders that do not exist: {missing}")
    names = wanted.fuzzers or [name for name, files in every.items() if files]
    reached = collections.defaultdict(dict)
    for name in names:
        for path, lines in reached_by(name, build, wanted.corpus, every[name]).items():
            for line, is_reached in lines.items():
                reached[path][line] = reached[path].get(line, False) or is_reached
    low = []
    for path in sorted({file for name in names for file in every[name]}):
        lines = reached[path]
        share = 100 * sum(lines.values()) / len(lines) if lines else 0.0
        if share < LEAST:
            low.append(path)
        print(f"{share:5.1f} % of {len(lines):4} lines  {path}")
        if wanted.lines and share < 100:
            print("        not", *(line for line in sorted(lines) if not lines[line]))
    if low:
        sys.exit(f"less than {LEAST:.0f} %: {' '.join(low)}")


if __name__ == "__main__":
    main()
