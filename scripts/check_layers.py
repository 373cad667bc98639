#!/usr/bin/env python3
"""Fails when a dependency points the wrong way between the folders of everseen/, or from module/ beyond the core.

Reads every #include, and the DEPENDS of every everseen_layer() in CMake. Also keeps the core pure (standard library,
hashing and instruction sets only, no input or output) and the lower layers away from the clock.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Layer -> the layers it may include. The public door, everseen/everseen.hpp, is the layer "everseen".
ARROWS = {
    "core": set(),
    "compat": {"core"},
    "store": {"core"},
    "text": {"core"},
    "telemetry": {"core"},
    "wire": {"core"},
    "redis": {"core", "compat", "store", "wire"},
    "filter": {"core", "compat", "store", "redis"},
    "everseen": {"core", "compat", "store", "redis", "filter"},
    "stream": {"core", "compat", "store", "redis", "filter", "everseen"},
    "report": {"core", "compat", "store", "redis", "filter", "text"},
    "server": {"core", "compat", "store", "redis", "filter", "everseen", "wire", "text", "report", "telemetry"},
    "cli": {
        *{"core", "compat", "store", "redis", "filter", "everseen", "wire", "stream", "server"},
        *{"text", "report", "telemetry"},
    },
}

# Rooms: folders inside a layer -> the other rooms of that layer that their files may include. Files directly in the
# layer may include every room.
ROOMS = {
    "redis/wire": set(),
    "redis/script": {"redis/wire"},
    "redis/transport": {"redis/wire", "redis/script"},
    "redis/keyspace": {"redis/wire", "redis/transport", "redis/script"},
    "redis/journal": {"redis/wire", "redis/transport", "redis/script", "redis/keyspace"},
    "redis/served": {"redis/wire", "redis/transport", "redis/script", "redis/keyspace"},
    "redis/ledger": {"redis/wire", "redis/transport", "redis/script", "redis/keyspace", "redis/journal", "redis/served"},
    "redis/filter": {"redis/wire", "redis/transport", "redis/script", "redis/keyspace", "redis/journal", "redis/served",
                     "redis/ledger"},
    "redis/admin": {"redis/wire", "redis/transport", "redis/script", "redis/keyspace", "redis/journal", "redis/served",
                    "redis/ledger", "redis/filter"},
    "redis/attached": {"redis/wire", "redis/transport", "redis/script", "redis/keyspace", "redis/admin"},
}
MOST_FILES_IN_A_ROOM = 25

# The core may include these third-party headers, and standard headers except the impure ones.
CORE_LIBRARIES = {"xxhash.h", "sodium.h", "tl/expected.hpp", "immintrin.h", "arm_neon.h", "cpuid.h"}
IMPURE = {"iostream", "fstream", "ostream", "istream", "sstream", "filesystem", "thread", "future", "random"}
# Libraries that only the .cpp files of some layers may include, and headers named asio_* and rdkafka_* that only these
# files include: they are slow to compile.
HIDDEN_LIBRARIES = {"boost/": {"redis", "server"}, "hiredis/": {"redis"}, "openssl/": {"redis"},
                    "librdkafka/": {"stream"}}
HIDDEN_HEADER = re.compile(r"everseen/\w+/(asio|rdkafka)_\w+\.hpp$")
# Time is passed in, never read, in these layers.
CLOCKLESS = {"core", "compat", "store", "text", "wire", "filter", "report"}
# The production object of a test seam, such as disk::real(): a store gets it when it is created; a test passes another.
THE_CLOCK = pathlib.Path("everseen/store/time_source.cpp")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
CLOCK = re.compile(r"\b\w*clock(_type)?::now\b|\bclock_gettime\b|\bgettimeofday\b|\bstd::time\(")
CMAKE_LAYER = re.compile(r"everseen_layer\(\s*(\w+)([^)]*)\)")


def layer_of(path):
    """The layer of a file below everseen/, given its path relative to everseen/."""
    return path.parts[0] if len(path.parts) > 1 else "everseen"


def hidden_library_fault(path, layer, header):
    """Why the file `path` of `layer` may not include `header`, or None."""
    hides = path.suffix == ".cpp" or path.name.startswith(("asio_", "rdkafka_"))
    if HIDDEN_HEADER.match(header) and not (hides and header.startswith(f"everseen/{layer}/")):
        return f"only the .cpp files of its layer may include {header}"
    for beginning, homes in HIDDEN_LIBRARIES.items():
        if header.startswith(beginning) and not (hides and layer in homes):
            return f"only the .cpp files of {' and '.join(sorted(homes))} may include <{header}>"
    return None


def include_fault(layer, bracket, header):
    """Why `layer` may not include `header`, or None."""
    if header.startswith("everseen/"):
        target = layer_of(pathlib.PurePath(header).relative_to("everseen"))
        if target not in ARROWS:
            return f"{header}: no such layer"
        if target != layer and target not in ARROWS[layer]:
            return f"{layer} may not include {target} ({header})"
    elif bracket == '"':
        return f'write the whole path: "everseen/{layer}/..." instead of "{header}"'
    elif layer == "core" and header not in CORE_LIBRARIES:
        standard = "." not in header and "/" not in header
        if not standard or header in IMPURE:
            return f"core is pure and may not include <{header}>"
    return None


def room_fault(path, header):
    """Why a file of one room may not include `header` of another, or None."""
    room = path.relative_to(ROOT / "everseen").parent.as_posix()
    target = pathlib.PurePath(header).parent.relative_to("everseen").as_posix()
    same_layer = "/" in room and target.split("/")[0] == room.split("/")[0]
    if same_layer and target != room and target not in ROOMS[room]:
        return f"{room} may not include {target} ({header})"
    return None


def room_faults(house):
    for folder in sorted(p for p in house.glob("*/*") if p.is_dir()):
        name = folder.relative_to(house).as_posix()
        if name not in ROOMS:
            yield f"everseen/{name} is not a room that scripts/check_layers.py knows"
        elif len(list(folder.iterdir())) > MOST_FILES_IN_A_ROOM:
            yield f"everseen/{name} has more than {MOST_FILES_IN_A_ROOM} files"


def source_faults(path, layer):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        include = INCLUDE.match(line)
        fault = include and (
            include_fault(layer, *include.groups())
            or hidden_library_fault(path, layer, include.group(2))
            or (include.group(2).startswith("everseen/") and room_fault(path, include.group(2)))
        )
        reads_clock = layer in CLOCKLESS and CLOCK.search(line.split("//")[0])
        if not fault and reads_clock and path.relative_to(ROOT) != THE_CLOCK:
            fault = f"{layer} may not read a clock; take the time as a parameter"
        if fault:
            yield f"{path.relative_to(ROOT)}:{number}: {fault}"


def cmake_faults(path):
    for layer, arguments in CMAKE_LAYER.findall(path.read_text(encoding="utf-8")):
        words = iter(arguments.split())
        for word in words:
            if word == "DEPENDS":
                break
        for word in words:
            if word.isupper():
                break
            if word not in ARROWS.get(layer, set()):
                yield f"{path.relative_to(ROOT)}: {layer} may not depend on {word}"


def faults():
    house = ROOT / "everseen"
    yield from room_faults(house)
    for path in sorted(house.rglob("*")):
        layer = layer_of(path.relative_to(house))
        if path.suffix in {".hpp", ".cpp"}:
            if layer in ARROWS:
                yield from source_faults(path, layer)
            else:
                yield f"{path.relative_to(ROOT)}: {layer} is not a layer that scripts/check_layers.py knows"
        elif path.name == "CMakeLists.txt" and layer != "everseen":
            yield from cmake_faults(path)


def module_faults():
    """The Redis module is the core inside a server, and nothing that a server does not have."""
    for path in sorted((ROOT / "module").glob("*.?pp")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            include = INCLUDE.match(line)
            allowed = ("everseen/core/", "module/") if include and include.group(1) == '"' else ("tl/",)
            if include and "/" in include.group(2) and not include.group(2).startswith(allowed):
                yield f"module/{path.name}:{number}: module may include the core alone ({include.group(2)})"


def main():
    found = [*faults(), *module_faults()]
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
