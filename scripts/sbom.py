#!/usr/bin/env python3
"""usage: sbom.py BUILD_TREE TARGET... >FILE

The bill of materials of what is shipped, in CycloneDX 1.5: each Debian package whose headers were compiled in or whose
libraries were linked, by what the build itself recorded, and each npm package of the page. Nothing is listed by hand.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent


def output(*command: str, directory: str = ".") -> str:
    return subprocess.run(command, cwd=directory, check=True, capture_output=True, text=True).stdout


def used_files(tree: str, targets: list[str]) -> set[str]:
    """The files of the system that these targets were made from."""
    commands = output("ninja", "-t", "commands", *targets, directory=tree)
    objects = set(re.findall(r" -o (\S+\.o) ", commands))
    files = set(re.findall(r"/usr/\S+?\.(?:a|so[0-9.]*)(?=[\s,'\"]|$)", commands))
    wanted = False
    for line in output("ninja", "-t", "deps", directory=tree).splitlines():
        if not line.startswith(" "):
            wanted = line.split(":")[0] in objects
        elif wanted and line.strip().startswith("/usr/"):
            files.add(line.strip())
    return {os.path.realpath(file) for file in files if os.path.exists(file)}


def debian_packages(files: set[str]) -> list[dict]:
    """dpkg names some files below /lib, where they were before /usr was merged."""
    found = subprocess.run(["dpkg-query", "--search", *sorted(files), *sorted(file.removeprefix("/usr") for file in files)],
                           capture_output=True, text=True).stdout
    names = sorted({line.split(":")[0] for line in found.splitlines() if not line.startswith("diversion")})
    fields = "${Package}\\t${Version}\\t${Architecture}\\t${source:Package}\\t${source:Version}\\n"
    components = []
    for line in output("dpkg-query", "--show", f"--showformat={fields}", *names).splitlines():
        name, version, architecture, source, source_version = line.split("\t")
        components.append({
            "type": "library", "name": name, "version": version,
            "purl": f"pkg:deb/debian/{name}@{urllib.parse.quote(version)}?arch={architecture}",
            "properties": [{"name": "debian:source", "value": f"{source} {source_version}"}],
        })
    return components


def npm_packages() -> list[dict]:
    """Those that the page's sources name, so that are in it; the others make it."""
    sources = "".join(file.read_text() for kind in ("*.ts", "*.tsx", "*.css") for file in (ROOT / "web/src").rglob(kind))
    lock = json.loads((ROOT / "web/package-lock.json").read_text())
    components = []
    for path, package in sorted(lock["packages"].items()):
        name = path.rpartition("node_modules/")[2]
        if name and re.search(rf"""["']{re.escape(name)}["'/]""", sources):
            components.append({"type": "library", "name": name, "version": package["version"],
                               "purl": f"pkg:npm/{urllib.parse.quote(name)}@{package['version']}"})
    return components


def main() -> None:
    tree, *targets = sys.argv[1:]
    if not targets:
        sys.exit(__doc__)
    cache = pathlib.Path(tree, "CMakeCache.txt").read_text()
    version = re.search(r"^CMAKE_PROJECT_VERSION:\w+=(.*)$", cache, re.MULTILINE)[1]
    page = npm_packages() if re.search(r"^EVERSEEN_BUILD_PAGE:\w+=ON$", cache, re.MULTILINE) else []
    json.dump({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"component": {"type": "application", "name": "everseen", "version": version}},
        "components": debian_packages(used_files(tree, targets)) + page,
    }, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
