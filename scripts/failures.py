#!/usr/bin/env python3
"""usage: failures.py BUILD_TREE

Repeats, after a run of ctest, what the tests that failed had to say: the lines around each failure, without the output of
the others. So the end of a long log says what is wrong.
"""

import pathlib
import re
import sys
import xml.etree.ElementTree as tree

CONTEXT = 30  # lines from the first one of a failure on
MOST = 100  # lines of one test

# The first line of a failure in googletest, unittest, Node's test runner, a sanitizer's report, and a shell script that
# ends by `exit 1`.
BEGINS = re.compile(r": Failure$|^\[  FAILED  \] .* ms\)$|^(FAIL|ERROR): |^\s*not ok |Traceback \(|ERROR: .*Sanitizer|WARNING: ThreadSanitizer|runtime error: ")


def shown(text: str) -> list[str]:
    lines = text.splitlines()
    wanted: list[int] = []
    for number, line in enumerate(lines):
        if BEGINS.search(line):
            wanted += [at for at in range(number, min(number + CONTEXT, len(lines))) if at not in wanted[-CONTEXT:]]
    return [lines[at] for at in wanted[:MOST]] or lines[-CONTEXT:]


def main() -> None:
    for case in tree.parse(pathlib.Path(sys.argv[1]) / "tests.xml").getroot().iter("testcase"):
        if case.get("status") != "fail":
            continue
        print(f"\n== failed: {case.get('name')}")
        print("\n".join(shown(case.findtext("system-out") or "")))


if __name__ == "__main__":
    main()
