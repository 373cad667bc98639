#!/usr/bin/env python3
"""Fails when a document names a path or a section that does not exist, or a ./dev word that ./dev does not know; and when a
comment names a source that does not exist, or has a phrase that reads as a translation; and when a text of the HTTP interface's document has no Chinese.

Looks at relative links and at `backticked` words of every Markdown file. A backticked word is a path when it has a
slash and either begins with a folder of this repository or ends like a source or text file.
"""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

LINK = re.compile(r"\]\(([^)\s]+)\)")
BACKTICKED = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
DEV_WORD = re.compile(r"\./dev ([a-z]+)")
PATH_WORD = re.compile(r"\.?[A-Za-z0-9_][A-Za-z0-9_.+-]*(/[A-Za-z0-9_.+-]+)*/?")
TEXT_SUFFIXES = {".cmake", ".cpp", ".hpp", ".in", ".json", ".md", ".py", ".sh", ".toml", ".ts", ".tsx", ".txt"}
# Created by a build, so absent from a clean clone.
GENERATED = {"build"}
# A changelog may name removed paths.
UNCHECKED = {"CHANGELOG.md"}

# A source that a comment names; foo.cpp is any.
SOURCE = re.compile(r"(?<![\w./*>$}-])(?!foo\.)((?:\w+/)*\w+\.(?:cpp|hpp))\b")

OPENAPI = ROOT / "everseen/serve/api/openapi.json"
OPENAPI_ZH = ROOT / "web/src/text/openapi_zh.json"

COMMENTED = ("bench", "cmake", "dev", "everseen", "examples", "fuzz", "java", "module", "packaging", "python", "scripts", "test")
COMMENT = re.compile(r"(?:^|\s)(?://|#|\"\"\")(.*)")
# A process is "it"; for the others there are "this many", "immediately" or "together", "indefinitely", "has ended", "except".
FOREIGN = re.compile(r"\b(so many|at once|for ever|for once|is over|but for|who(?:m)?ever|somebody|he|him|his)\b", re.IGNORECASE)


def files(*patterns):
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
                            cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return [ROOT / name for name in listed if name not in UNCHECKED and (ROOT / name).exists()]


def foreign_phrases(path):
    """Yields the number of each line whose comment has such a phrase, and the phrase."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        comment = COMMENT.search(line)
        found = comment and FOREIGN.search(comment[1])
        if found:
            yield number, found[0]


def missing_sources(path, known):
    """Yields the number of each line whose comment names a source file that does not exist, and the name."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        for name in SOURCE.findall(line.partition("//")[2]):
            if not any(each.endswith(f"/{name}") for each in known):
                yield number, name


def looks_like_path(word):
    if "/" not in word or not PATH_WORD.fullmatch(word):
        return False
    first = word.split("/")[0]
    if first in GENERATED:
        return False
    return (ROOT / first).exists() or pathlib.PurePath(word).suffix in TEXT_SUFFIXES


def exists(word, document):
    # A document about the layers may write core/hash/digest.hpp.
    bases = (ROOT, document.parent, ROOT / "everseen")
    return any((base / word).exists() for base in bases)


def anchors(document):
    """The anchors that a link may have after its #, as GitHub derives them from the headings."""
    headings = HEADING.findall(FENCE.sub("", document.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def faults(document, dev_words):
    text = document.read_text(encoding="utf-8")
    prose = FENCE.sub("", text)
    paths = {word.removeprefix("./") for word in BACKTICKED.findall(prose)}
    named = {path for path in paths if looks_like_path(path)}
    for target in LINK.findall(prose):
        path, _, section = target.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        if path:
            named.add(path)
        linked = document.parent / path if path else document
        if section and linked.exists() and section not in anchors(linked):
            yield f"{path} has no section #{section}"
    for path in sorted(named):
        if not exists(path, document):
            yield f"{path} does not exist"
    for word in sorted(set(DEV_WORD.findall(text)) - dev_words):
        yield f"./dev has no word '{word}'"


def texts_in(part):
    """The texts for people in a part of openapi.json."""
    if isinstance(part, dict):
        for name, value in part.items():
            if name in ("summary", "description", "cause", "remedy") and isinstance(value, str):
                yield value
            else:
                yield from texts_in(value)
    elif isinstance(part, list):
        for value in part:
            yield from texts_in(value)


def untranslated():
    """Yields what the Chinese texts of the HTTP interface lack, or have in vain."""
    texts = set(texts_in(json.loads(OPENAPI.read_text(encoding="utf-8"))))
    chinese = json.loads(OPENAPI_ZH.read_text(encoding="utf-8"))
    for text in sorted(texts - chinese.keys()):
        yield f"no Chinese for: {text}"
    for text in sorted(chinese.keys() - texts):
        yield f"openapi.json no longer has: {text}"
    for text in sorted(texts & chinese.keys()):
        if sorted(BACKTICKED.findall(text)) != sorted(BACKTICKED.findall(chinese[text])):
            yield f"the Chinese has other words in backticks: {text}"


def main():
    usage = subprocess.run([ROOT / "dev", "help"], check=True, capture_output=True, text=True).stdout
    dev_words = set(re.findall(r"^  ([a-z]+)", usage, re.MULTILINE))
    failed = False
    for document in files("*.md"):
        for fault in faults(document, dev_words):
            print(f"{document.relative_to(ROOT)}: {fault}", file=sys.stderr)
            failed = True
    known = [f"/{path.relative_to(ROOT)}" for path in files("*.cpp", "*.hpp", "*.cpp.in")]
    for path in files("*.cpp", "*.hpp"):
        for number, name in missing_sources(path, known):
            print(f"{path.relative_to(ROOT)}:{number}: a comment names {name}, which does not exist", file=sys.stderr)
            failed = True
    for path in files(*COMMENTED):
        if path.suffix in TEXT_SUFFIXES or path.name == "dev":
            for number, phrase in foreign_phrases(path):
                print(f"{path.relative_to(ROOT)}:{number}: a comment says '{phrase}'", file=sys.stderr)
                failed = True
    for fault in untranslated():
        print(f"{OPENAPI_ZH.relative_to(ROOT)}: {fault}", file=sys.stderr)
        failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
