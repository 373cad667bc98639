#!/usr/bin/env python3
"""Fails on invisible blanks: at the end of a line, tabs (except in Go), carriage returns, a missing newline at the end of a file.

usage: check_blanks.py FILE...    Files that are not UTF-8 text are skipped.
"""

import pathlib
import sys


def faults(text, may_have_tabs):
    for number, line in enumerate(text.split("\n"), 1):
        if line != line.rstrip():
            yield f"{number}: blank at the end of the line"
        elif line.startswith("\t") and not may_have_tabs:
            yield f"{number}: tab as indentation"
    if text and not text.endswith("\n"):
        yield "no newline at the end"
    elif text.endswith("\n\n"):
        yield "empty line at the end"


def main():
    failed = False
    for name in sys.argv[1:]:
        path = pathlib.Path(name)
        # A file deleted but not yet committed is still listed by git.
        if not path.is_file():
            continue
        try:
            text = path.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            continue
        if "\0" in text:
            continue
        for fault in faults(text, path.suffix == ".go" or path.name == "go.mod"):
            print(f"{name}:{fault}", file=sys.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
