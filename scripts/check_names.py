#!/usr/bin/env python3
"""Fails when a variable, parameter or member of everseen/, module/ or test/ is called after no thing: `with`, `by`,
`at`, `said`, `now`, `to`, `how`, `of`, `what`. Names are nouns: what it is, not how the sentence around it continues.

Functions may have such names, since a call reads as a sentence: `at(place)`, `why.what()`.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["everseen", "module", "test"]
NAMES = "(?:with|by|at|said|now|to|how|of|what)_?"
# A type ends in a word, `>`, or an attached `&` or `*`; operators have blanks on both sides.
DECLARATION = re.compile(rf"(\w+|[\w>][&*]{{1,2}}|\w>+) ({NAMES})(?= ?[,)=;{{]| :|\[|$)")
# Further names of one declaration, and variables that are constructed by parentheses.
ANOTHER = re.compile(rf"^\s*(?:const )?[\w:<>]+[&*]? \w+(?: = [^,]+)?, ({NAMES})(?= =|[,;])")
CONSTRUCTED = re.compile(rf"^\s+(?!return)(?:const )?[\w:<>]+ ({NAMES})\(.*\);$")
BINDING = re.compile(rf"\bauto&{{0,2}} \[(?:[^\]]*\W)?({NAMES})(?=[,\]])")
NO_TYPE = {"return", "throw", "case", "new", "delete", "else", "goto", "co_return", "operator", "typename", "not", "and", "or"}
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def code_of(text):
    """The text with comments and strings blanked; lines stay where they are."""
    return NOT_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def faults(path):
    for number, line in enumerate(code_of(path.read_text(encoding="utf-8")).splitlines(), 1):
        if line.lstrip().startswith("#"):
            continue
        named = [found[2] for found in DECLARATION.finditer(line) if found[1] not in NO_TYPE]
        constructed = CONSTRUCTED.findall(line) if path.suffix == ".cpp" else []
        for name in named + ANOTHER.findall(line) + constructed + BINDING.findall(line):
            yield f"{path.relative_to(ROOT)}:{number}: call it after what it is, not `{name}`"


def main():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *FOLDERS], cwd=ROOT,
                            check=True, capture_output=True, text=True).stdout.splitlines()
    found = [fault for name in listed if name.endswith((".cpp", ".hpp")) and (ROOT / name).exists()
             for fault in faults(ROOT / name)]
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
