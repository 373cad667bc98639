#!/usr/bin/env python3
"""Fails when a dependency points the wrong way between the folders of everseen/ and module/.

usage: check_layers.py [--map|--rooms]

Reads every #include, and the DEPENDS of every everseen_layer() in CMake. Also keeps the core pure (standard library,
hashing and instruction sets only, no input or output) and the lower layers away from the clock. With --map it
prints the layers and the arrows; ARCHITECTURE.md must have the same map. With --rooms it prints the rooms of each
layer, what each is for, and which others of its layer it may include.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# The trunk, which is what `everseen dedup` and a shared filter need: layer -> the layers it may include.
TRUNK = {
    "core": set(),
    "text": {"core"},
    "telemetry": {"core"},
    "wire": {"core"},
    "store": {"core"},
    "redis": {"core", "store", "wire"},
    "filter": {"core", "store"},
    "dedup": {"core", "store", "filter"},
    "report": {"core", "store", "redis", "filter", "text"},
}
# Leaves, which may include the trunk and never each other, so nobody needs one to understand another. Two layers join
# them: "everseen" is everseen.hpp and open_store.cpp, which knows all stores, and cli is the program. The Redis module
# is the core inside a server and may use nothing that a server does not have.
LEAVES = {
    "client": {"core", "store", "wire", "redis"},
    "foreign": {"core", "store", "redis", "filter"},
    "jobs": {"core", "store", "redis", "filter", "dedup"},
    "serve": {"core", "store", "filter", "report", "text", "telemetry", "wire"},
    "module": {"core"},
    "static": set(),
}
ARROWS = {
    **TRUNK,
    **LEAVES,
    "everseen": {"core", "store", "redis", "filter", "client", "foreign"},
    "embedded": {"core", "store", "filter", "everseen"},
    "capi": {"core", "store", "filter", "everseen"},
    "cli": {*TRUNK, "everseen", "foreign", "jobs", "serve"},
}

# Rooms: folders inside a layer -> the other rooms of that layer that their files may include. Files directly in the
# layer may include every room, and no room includes them. A layer of more files than a room may have needs rooms.
ROOMS = {
    "core/base": set(),
    "core/hash": {"core/base"},
    "core/layout": {"core/base", "core/hash"},
    "core/kernel": {"core/base", "core/hash", "core/layout"},
    "core/spec": {"core/base", "core/hash", "core/layout"},
    "core/partition": {"core/base", "core/hash", "core/layout", "core/kernel", "core/spec"},
    "core/format": {"core/base", "core/layout", "core/spec", "core/partition"},
    "core/redisbloom": {"core/base", "core/hash", "core/layout", "core/spec", "core/partition", "core/format"},
    "core/commands": {"core/base", "core/hash", "core/layout", "core/spec", "core/redisbloom"},
    "store/port": set(),
    "store/link": {"store/port"},
    "store/embedded": {"store/port"},
    "store/memory": {"store/port", "store/link", "store/embedded"},
    "store/disk": {"store/port"},
    "store/job_log": {"store/port", "store/embedded", "store/disk"},
    "store/file": {"store/port", "store/link", "store/embedded", "store/disk", "store/job_log"},
    "dedup/time": set(),
    "dedup/record": {"dedup/time"},
    "jobs/port": set(),
    "jobs/file": {"jobs/port"},
    "jobs/kafka": {"jobs/port"},
    "jobs/redis": {"jobs/port"},
    "foreign/bitmap": {"foreign/guava"},
    "foreign/guava": set(),
    "foreign/attached": {"foreign/bitmap", "foreign/guava"},
    "serve/base": set(),
    "serve/registry": {"serve/base"},
    "serve/service": {"serve/base", "serve/registry"},
    "serve/net": {"serve/base", "serve/service"},
    "serve/resp": {"serve/base", "serve/registry", "serve/service", "serve/net"},
    "serve/commands": {"serve/base", "serve/registry", "serve/service", "serve/resp"},
    "serve/own": {"serve/base", "serve/registry", "serve/service", "serve/resp", "serve/commands"},
    "serve/http": {"serve/base", "serve/registry", "serve/service", "serve/net"},
    "serve/api": {"serve/base", "serve/registry", "serve/service", "serve/http"},
    "cli/terminal": set(),
    "cli/verb": {"cli/terminal"},
    "cli/help": {"cli/terminal", "cli/verb"},
    "cli/keys": {"cli/terminal", "cli/verb"},
    "cli/filters": {"cli/terminal", "cli/verb", "cli/keys"},
    "cli/planning": {"cli/terminal", "cli/verb"},
    "cli/serve": {"cli/terminal", "cli/verb"},
    "cli/long_run": {"cli/terminal", "cli/verb"},
    "cli/dedup": {"cli/terminal", "cli/verb", "cli/long_run"},
    "cli/stream": {"cli/terminal", "cli/verb", "cli/long_run"},
    "cli/program": {"cli/terminal", "cli/verb", "cli/help", "cli/stream"},
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
    "module/server": set(),
    "module/value": {"module/server"},
    "module/commands": {"module/server", "module/value"},
}
# Room -> what it is for.
PURPOSES = {
    "core/base": "errors, verdicts, bytes, checksums, assertions",
    "core/hash": "keys to digests: our hashes, and those of other systems' filters",
    "core/layout": "how a digest becomes bits of a segment, and what that costs: sizes and rates",
    "core/kernel": "the inner loops over one segment, one file for each kind of CPU",
    "core/spec": "what a filter was created with, and what follows from it: growth, windows, which keys it takes",
    "core/partition": "verdicts of one partition over the port `segments`; its rates, journal records, predictions",
    "core/format": "doc/format.md in code: images, streams, records, names of keys in Redis",
    "core/redisbloom": "RedisBloom's filter: its requests, positions, its dump, and a chain as a spec",
    "core/commands": "the words and figures of EVERSEEN.*, which the module and `serve` speak",
    "store/port": "the ports `stored_filter`, `filter_admin`, `store`, `ledger`; time, retries, common helpers",
    "store/link": "a filter that asks an older one first, of any store",
    "store/embedded": "filters and ledgers whose bits are in this process",
    "store/memory": "filters in memory: `mem:`",
    "store/disk": "files as the operating system gives them: opened, locked, mapped, replaced as a whole",
    "store/job_log": "jobs of a filter in files",
    "store/file": "filters in a directory: `file:DIRECTORY`",
    "dedup/time": "times as they are written, in any form and zone",
    "dedup/record": "records, and what is read from them: keys, times, properties to count by",
    "jobs/port": "the ports `source` and `sink`, and what those behind them share",
    "jobs/file": "files and pipes as source and sink",
    "jobs/kafka": "topics of Kafka as source and sink",
    "jobs/redis": "streams of Redis as source and sink",
    "foreign/bitmap": "families of hashes, and filters that are an ordinary string of Redis: go-zero, C, PHP, Redisson",
    "foreign/guava": "Guava's filter: sizes, positions, its stream",
    "foreign/attached": "filters on Redis that another program keeps, by that program's rules",
    "serve/base": "options, commands as data, counters, threads for work that waits",
    "serve/registry": "filters, each opened once for all clients; batches of keys on their way to them",
    "serve/service": "what all connections share: clients, guesses of passwords, filters that arrive in chunks, outages",
    "serve/net": "sockets: loops, listeners, TLS",
    "serve/resp": "a conversation in the Redis protocol",
    "serve/commands": "the commands of the Redis protocol, one file a family",
    "serve/own": "the commands of the Redis protocol that are everseen's own",
    "serve/http": "a conversation in HTTP: messages, problems, rights, routes",
    "serve/api": "what can be asked over HTTP: filters, keys, plans, metrics, the page",
    "cli/terminal": "output, files, signals, progress",
    "cli/verb": "what a verb is, the list of all, and what they share: options, stores",
    "cli/help": "help, manual pages and completion, from the descriptions of the verbs",
    "cli/keys": "verbs that ask about keys",
    "cli/filters": "verbs that create, show, copy and change filters",
    "cli/planning": "what a filter costs, and records to try it with: plan, bench, gen",
    "cli/serve": "the verb serve",
    "cli/long_run": "what dedup and stream share: the options and the loading of their filter, outages",
    "cli/dedup": "the verb dedup",
    "cli/stream": "the verbs stream, jobs and counts",
    "cli/program": "from the command line, the environment and a file to the verb; from an error to the exit code",
    "redis/wire": "URLs, commands, replies, slots",
    "redis/script": "a script, its hash and its calls; numbers of batches, and how long their answers are kept",
    "redis/transport": "connections, clusters, outages, replicas",
    "redis/keyspace": "every name and field; names and ids, headers, ends, links; keys written in pieces; which server is which",
    "redis/journal": "what clients judge by: mirrors, journals, checkpoints",
    "redis/served": "what servers judge by: values, packed keys",
    "redis/ledger": "the jobs of a filter, for both judges",
    "redis/filter": "a filter by its id, for both judges; from a sealed filter to its successor",
    "redis/admin": "create, find, rename, rebuild, restore, link, drop",
    "module/server": "what a Redis server offers a module: its functions, its values, free memory, settings",
    "module/value": "a filter as one value of a key: its memory, its two types, its image in an RDB and an AOF",
    "module/commands": "the commands, as data, and what their arguments mean",
}
MOST_FILES_IN_A_ROOM = 25

# The core may include these third-party headers, and standard headers except the impure ones.
CORE_LIBRARIES = {"xxhash.h", "sodium.h", "tl/expected.hpp", "immintrin.h", "arm_neon.h", "cpuid.h"}
IMPURE = {"iostream", "fstream", "ostream", "istream", "sstream", "filesystem", "thread", "future", "random"}
# Libraries that only the .cpp files of some layers may include, and headers named asio_* and rdkafka_* that only these
# files include: they are slow to compile.
HIDDEN_LIBRARIES = {"boost/": {"redis", "serve"}, "hiredis/": {"redis"}, "openssl/": {"redis", "serve"},
                    "librdkafka/": {"jobs"}}
HIDDEN_HEADER = re.compile(r"everseen/\w+/(?:\w+/)?(?:asio|rdkafka)_\w+\.hpp$")
# Time is passed in, never read, in these layers.
CLOCKLESS = {"core", "store", "text", "wire", "filter", "report"}
# The production object of a test seam, such as disk::real(): a store gets it when it is created; a test passes another.
THE_CLOCK = pathlib.Path("everseen/store/port/time_source.cpp")

OWN = ("everseen/", "module/")
MAP = re.compile(r"^<!-- map of layers -->\n```\n(.*?)\n```\n<!-- end of map -->$", re.MULTILINE | re.DOTALL)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
CLOCK = re.compile(r"\b\w*clock(_type)?::now\b|\bclock_gettime\b|\bgettimeofday\b|\bstd::time\(")
CMAKE_LAYER = re.compile(r"everseen_layer\(\s*(\w+)([^)]*)\)")


def name_of(path):
    """The layer or room of a folder, given its path relative to the root of the repository."""
    inside = path.parts[1:] if path.parts[0] == "everseen" else path.parts
    return "/".join(inside) or "everseen"


def layer_of(path):
    """The layer of a file or header, given its path relative to the root of the repository."""
    return name_of(path.parent).split("/")[0]


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
    if header.startswith(OWN):
        target = layer_of(pathlib.PurePath(header))
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
    room = name_of(path.relative_to(ROOT).parent)
    target = name_of(pathlib.PurePath(header).parent)
    same_layer = "/" in room and target.split("/")[0] == room.split("/")[0]
    if same_layer and target != room and target not in ROOMS.get(room, ()):
        return f"{room} may not include {target} ({header})"
    return None


def house():
    """The folders of shipped code."""
    for home in OWN:
        yield ROOT / home
        yield from sorted(p for p in (ROOT / home).rglob("*") if p.is_dir())


def room_faults():
    names = set()
    for folder in house():
        name = name_of(folder.relative_to(ROOT))
        names.add(name)
        if "/" in name and name not in ROOMS:
            yield f"{name} is not a room that scripts/check_layers.py knows"
        if sum(p.is_file() for p in folder.iterdir()) > MOST_FILES_IN_A_ROOM:
            yield f"{name} has more than {MOST_FILES_IN_A_ROOM} files; give them rooms"
    for name in sorted(ROOMS.keys() ^ PURPOSES.keys()):
        yield f"scripts/check_layers.py does not say what the room {name} is for"
    for name in sorted(ROOMS.keys() - names):
        yield f"scripts/check_layers.py knows a room that does not exist: {name}"
    for folder in sorted({p.parent for p in (ROOT / "test").glob("*/*/*_test.cpp")}):
        name = folder.relative_to(ROOT / "test").as_posix()
        if name.split("/")[0] in ARROWS and name not in ROOMS:
            yield f"test/{name} is not the folder of a room"


def highest_first(arrows):
    """The names, each before all that it may include."""
    heights = {}

    def height(name, above=()):
        if name in above:
            raise ValueError(f"scripts/check_layers.py: the arrows of {name} lead back to it")
        if name not in heights:
            heights[name] = 1 + max((height(below, (*above, name)) for below in arrows.get(name, ())), default=0)
        return heights[name]

    return sorted(arrows, key=lambda name: (-height(name), name))


def map_of_the_house():
    """Layers, each followed by those it may include: the trunk, the leaves, and what joins them. Arrows point down."""
    order = highest_first(ARROWS)
    groups = {"the trunk": TRUNK, "leaves": LEAVES, "what joins them": ARROWS.keys() - TRUNK.keys() - LEAVES.keys()}
    lines = []
    for heading, layers in groups.items():
        lines += ["", f"{heading}:"]
        for layer in (each for each in order if each in layers):
            lines.append(f"  {layer:<12} {' '.join(sorted(ARROWS[layer], key=order.index))}".rstrip())
    return "\n".join(lines[1:])


def trunk_faults():
    """The trunk needs no leaf, and no leaf another one."""
    for layer, below in {**TRUNK, **LEAVES}.items():
        for other in sorted(below - TRUNK.keys()):
            yield f"scripts/check_layers.py: {layer} may include the trunk alone, not {other}"


def map_of_the_rooms():
    """Rooms, highest first within their layer: purpose, and the rooms below that they may include."""
    order = highest_first(ROOMS)
    lines = []
    for layer in highest_first(ARROWS):
        for room in order:
            if room.startswith(f"{layer}/"):
                below = ", ".join(name.split("/")[1] for name in sorted(ROOMS[room], key=order.index))
                lines.append(f"{room:<18} {PURPOSES[room]}" + (f"  <- {below}" if below else ""))
    return "\n".join(lines)


def map_faults():
    """Compares the map in ARCHITECTURE.md with the generated one."""
    drawn = MAP.search((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))
    try:
        map_of_now = map_of_the_house()
    except ValueError as fault:
        yield str(fault)
        return
    if not drawn:
        yield "ARCHITECTURE.md: the marks around the map are missing"
    elif drawn[1] != map_of_now:
        yield "ARCHITECTURE.md: the map of layers is stale; scripts/check_layers.py --map makes it"


def source_faults(path, layer):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        include = INCLUDE.match(line)
        fault = include and (
            include_fault(layer, *include.groups())
            or hidden_library_fault(path, layer, include.group(2))
            or (include.group(2).startswith(OWN) and room_fault(path, include.group(2)))
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
    yield from trunk_faults()
    yield from room_faults()
    for folder in house():
        for path in sorted(p for p in folder.iterdir() if p.is_file()):
            layer = layer_of(path.relative_to(ROOT))
            if path.suffix in {".hpp", ".cpp"}:
                if layer in ARROWS:
                    yield from source_faults(path, layer)
                else:
                    yield f"{path.relative_to(ROOT)}: {layer} is not a layer that scripts/check_layers.py knows"
            elif path.name == "CMakeLists.txt" and layer != "everseen":
                yield from cmake_faults(path)


def main():
    if sys.argv[1:] == ["--map"]:
        print(map_of_the_house())
        return 0
    if sys.argv[1:] == ["--rooms"]:
        print(map_of_the_rooms())
        return 0
    found = [*faults(), *map_faults()]
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
