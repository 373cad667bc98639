#!/usr/bin/env python3
"""Collects the promises that tests hold into build/promises.md.

usage: promises.py [--check]

A promise is a comment directly above its test: "Promise: SENTENCE (DOCUMENT, SECTION)." DOCUMENT is a file in doc/ without
its .md, SECTION one of its headings. The comment may have several lines; a test may hold several promises, and several tests the same
one. In a shell script the promise belongs to the whole script. With --check nothing is written. Either way it fails if a promise is
not above a test, or names a section that does not exist.
"""

import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INDEX = ROOT / "build/promises.md"
FIRST = ["guarantees", "dedup", "streams", "redis", "files", "foreign-filters", "operations", "operating-streams"]

OPENING = re.compile(r"\s*(//|#) Promise: ")
PROMISE = re.compile(r"(.+) \(([a-z-]+), (.+)\)\.")
CPP_TEST = re.compile(r"(?:TEST|TEST_F|TEST_P|TYPED_TEST|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)\((\w+),\s*(\w+)")
PYTHON_TEST = re.compile(r"\s*def (test_\w+)\(")


def test_below(path, lines, at):
    """The name of the test that begins at this line, or None."""
    text = "\n".join(lines[at : at + 2])
    if path.suffix == ".sh":
        return path.name
    if path.suffix == ".py":
        named = PYTHON_TEST.match(text)
        return f"{path.stem}.{named[1]}" if named else None
    named = CPP_TEST.match(text)
    return f"{named[1]}.{named[2]}" if named else None


def promises_in(path):
    """Yields sentence, document, section, test; a fault as a string."""
    lines = path.read_text(encoding="utf-8").splitlines() + [""]  # so that a promise at the end is noticed
    texts = []
    for at, line in enumerate(lines):
        opened = OPENING.match(line)
        if opened:
            texts.append(line[opened.end() :])
        elif texts and re.match(r"\s*(//|#) ", line):
            texts[-1] += " " + re.sub(r"^\s*(//|#) ", "", line)
        elif texts:
            test = test_below(path, lines, at)
            for text in texts:
                promise = PROMISE.fullmatch(text)
                if not promise:
                    yield f"{path.relative_to(ROOT)}:{at}: not \"Promise: SENTENCE (DOCUMENT, SECTION).\": {text}"
                elif test is None:
                    yield f"{path.relative_to(ROOT)}:{at}: stands above no test: {text}"
                else:
                    yield *promise.groups(), test
            texts = []


def sections_of(document):
    """Its headings, in order, except those in code."""
    path = ROOT / f"doc/{document}.md"
    if not path.exists():
        return []
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^#+ (.+)$", text, re.MULTILINE)


def anchor(section):
    return re.sub(r"[^\w -]", "", section.lower()).replace(" ", "-")


def index(held):
    """held: document → section → sentence → tests, each a pair of name and path."""
    lines = ["# Promises and the tests that hold them", "",
             "Made by `scripts/promises.py` of the marks in the tests; do not edit. Sections are those of the documents.", ""]
    for document in sorted(held, key=lambda name: (FIRST.index(name) if name in FIRST else len(FIRST), name)):
        lines += [f"## {document}.md", ""]
        for section in sections_of(document):
            if section not in held[document]:
                continue
            lines += [f"### [{section}](../doc/{document}.md#{anchor(section)})", "", "| promise | held by |", "|---|---|"]
            for sentence, tests in sorted(held[document][section].items()):
                named = ", ".join(f"[`{name}`](../{path})" for name, path in sorted(tests))
                lines.append(f"| {sentence} | {named} |")
            lines.append("")
    return "\n".join(lines)


def main():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "test"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.splitlines()
    held = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(set)))
    faults = []
    for name in listed:
        path = ROOT / name
        if path.suffix not in {".cpp", ".hpp", ".py", ".sh"} or not path.exists():
            continue
        for promise in promises_in(path):
            if isinstance(promise, str):
                faults.append(promise)
                continue
            sentence, document, section, test = promise
            if section not in sections_of(document):
                faults.append(f"{name}: doc/{document}.md has no section \"{section}\"")
            held[document][section][sentence].add((test, name))
    if not faults and sys.argv[1:] != ["--check"]:
        INDEX.parent.mkdir(exist_ok=True)
        INDEX.write_text(index(held), encoding="utf-8")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
