#!/usr/bin/env python3
"""Names the files of a build that took longer than SECONDS to compile, slowest first.

usage: slow_files.py BUILD_DIRECTORY [SECONDS]

A file from the compiler cache took no time, so only compiled files count. It never fails: on a busy machine every file is
slow.
"""

import pathlib
import sys


def compiled(log):
    """Seconds by object file, of its last build."""
    seconds = {}
    for line in log.read_text().splitlines()[1:]:
        begin, end, _, output, *_ = line.split("\t")
        if output.endswith((".o", ".gch")):
            seconds[output] = (int(end) - int(begin)) / 1000
    return seconds


def main(build, limit="8"):
    slow = {o: s for o, s in compiled(pathlib.Path(build) / ".ninja_log").items() if s > float(limit)}
    for output, seconds in sorted(slow.items(), key=lambda entry: -entry[1]):
        print(f"{seconds:6.1f} s  {output}")
    print(f"{len(slow)} files took longer than {limit} s to compile")


if __name__ == "__main__":
    main(*sys.argv[1:])
