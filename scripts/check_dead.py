#!/usr/bin/env python3
"""Fails when everseen/ or module/ declares what no code there uses: left over, or used by tests alone.

Each name that a header declares, of a function, type or constant, must occur a second time in a file that can see the
header, besides the definition of a function in a .cpp file. (Of what only one .cpp file can see, the compiler warns.) This
looks at names, not at calls: one of two functions of the same name is not found, nor are functions that only call each
other. What overrides a virtual function is called through its base.
"""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("everseen", "module")

# Why each of these is there.
ALLOWED = {
    ("everseen/filter/deduplicator.hpp", "of"): "for users of the library",
    ("everseen/cli/verb/foreign_words.hpp", "foreign_verbs"): "a table, of which a test checks each word",
    ("everseen/cli/verb/foreign_words.hpp", "foreign_options"): "a table, of which a test checks each word",
}

NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"', re.DOTALL)
INCLUDED = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
# A type and a name that opens a parameter list; a type of its own; a constant.
DECLARED = (re.compile(r"(?:[\w>\]]|[\w>][&*]{1,2}) (?!return\b|operator\b|alignas\b)(\w+)\("),
            re.compile(r"\b(?:struct|enum class|class|concept|using) (?!class\b|enum\b|namespace\b)(\w+)\b(?! ?\()"),
            re.compile(r"\bconstexpr [^(]*?(\w+)(?:\[\w*\])? ?[={]"))
NO_TYPE = re.compile(r"\b(?:return|else|co_return|throw|new|delete|not|and|or)$")
# Parameters may have {} as their default.
OVERRIDES = re.compile(r"\((?:[^;{]|\{\})*\b(?:override|final)\b")
# At the beginning of a line, as clang-format puts it.
DEFINED = re.compile(r"^(?![ #}])[^\n;=]*?[ *&:](\w+)\(", re.MULTILINE)


class source:
    def __init__(self, path):
        text = path.read_text(encoding="utf-8")
        code = NOT_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
        self.includes = INCLUDED.findall(text)
        self.uses = collections.Counter(re.findall(r"\w+", code))
        self.declared = list(declarations(code)) if path.suffix == ".hpp" else []
        self.uses.subtract(name for name, _ in self.declared)
        if path.suffix == ".cpp":
            self.uses.subtract(DEFINED.findall(code))


def declarations(code):
    """(name, line), once for each place: a class that is declared before it is defined has two."""
    places = {found.start(1): found[1] for pattern in DECLARED for found in pattern.finditer(code)
              if not NO_TYPE.search(code[max(0, found.start(1) - 20):found.start(1)].rstrip())
              and not OVERRIDES.match(code, found.end(1))}
    return [(name, code.count("\n", 0, place) + 1) for place, name in sorted(places.items())]


def readers(header, sources):
    """The header, and all files that include it, directly or by others."""
    found, fresh = set(), {header}
    while fresh:
        found |= fresh
        fresh = {file for file, read in sources.items() if not fresh.isdisjoint(read.includes)} - found
    return found


def main():
    sources = {str(path.relative_to(ROOT)): source(path)
               for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.[ch]pp"))}
    unused, allowed = [], set()
    for header, of_header in sources.items():
        files = readers(header, sources) if of_header.declared else ()
        for name, line in of_header.declared:
            if any(sources[file].uses[name] > 0 for file in files):
                continue
            if (header, name) in ALLOWED:
                allowed.add((header, name))
            else:
                unused.append(f"{header}:{line}: nothing uses {name}")
    unused += [f"{header}: {name} is used, or gone: it needs no exception in check_dead.py"
               for header, name in ALLOWED.keys() - allowed]
    for fault in unused:
        print(fault, file=sys.stderr)
    return 1 if unused else 0


if __name__ == "__main__":
    sys.exit(main())
