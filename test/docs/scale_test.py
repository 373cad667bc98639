#!/usr/bin/env python3
"""Compares the tables of doc/scale.md with the results of `everseen plan`.

usage: scale_test.py DOCUMENT PROGRAM [--write]

A table is between `<!-- table NAME -->` and `<!-- end -->`; a block of kind `console` is a command and its output.
With --write the document is updated instead.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

document, program, *wishes = sys.argv[1:]
path = pathlib.Path(document)
text = path.read_text(encoding="utf-8")

KEYS = ["1e9", "1e10", "1e12"]
EVENTS = ["1e5", "1e6", "1e7", "1e8"]
POWERS = {"1e5": "10⁵", "1e6": "10⁶", "1e7": "10⁷", "1e8": "10⁸", "1e9": "10⁹", "1e10": "10¹⁰", "1e12": "10¹²"}
# Maps the text of why_not to the wording of the tables.
LIMITS = {"would keep": "memory of a client", "cores": "cores of a client", "its network": "network of a client",
          "journal": "order of a journal", "servers": "number of servers", "cannot read": "events of a client"}


def plan(*options):
    done = subprocess.run([program, "plan", "--store", "redis", "--module", "--json", *options], capture_output=True, text=True)
    if done.returncode > 1:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def design(name, *options):
    return next(d for d in plan(*options)["designs"] if d["design"] == name)


def limit(d):
    return next(short for words, short in LIMITS.items() if words in d["why_not"])


def millions(count):
    return f"{count / 1e6:,.2g} million" if count < 1e8 else f"{count / 1e6:,.0f} million"


def rows(head, body):
    lines = ["| " + " | ".join(row) + " |" for row in [head, *body]]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def servers(d):
    return f"{d['servers']:,.0f}" if d["possible"] else f"no: {limit(d)}"


def picks():
    body = []
    for keys in KEYS:
        for events in EVENTS:
            row = [POWERS[keys], POWERS[events]]
            for judge in (["--judge", "client"], []):
                p = plan("--keys", keys, "--per-second", events, *judge)
                best = next((d for d in p["designs"] if d["design"] == p["picked"]), None)
                row.append(f"{best['design']}, {best['servers']:,.0f}" if best else "none")
            body.append([*row[:2], f"{p['clients']:.0f}", *row[2:]])
    return rows(["keys", "events/s", "clients", "without the module", "with it"], body)


def repeats():
    body = []
    for share_of_fresh in ("1", "0.5", "0.05", "0.01"):
        row = [f"{100 * float(share_of_fresh):g} %"]
        for events in ("1e6", "1e7"):
            p = plan("--keys", "1e9", "--per-second", events, "--fresh-share", share_of_fresh)
            row += [servers(d) for d in p["designs"] if d["design"] in ("client", "module")]
        body.append(row)
    return rows(["fresh", "10⁶/s: judged by clients", "by the module", "10⁷/s: judged by clients", "by the module"], body)


def most_events(wanted, *options):
    """The largest number of events a second, to three digits, for which the plan for clients that judge satisfies `wanted`."""
    def holds(events):
        return wanted(design("client", "--keys", "1e9", "--per-second", str(events), *options))
    low, high = 1, 10**10
    while high / low > 1.001:
        middle = int((low * high) ** 0.5) + 1
        low, high = (middle, high) if holds(middle) else (low, middle)
    # The first limit above, where there is one.
    return low, design("client", "--keys", "1e9", "--per-second", str(int(low * 1.002) + 1), *options)


def clients():
    body = []
    for number in ("2", "4", "8", "16", "32", "64", "128"):
        one, _ = most_events(lambda d: d["possible"] and d["servers"] == 1, "--clients", number)
        most, beyond = most_events(lambda d: d["possible"], "--clients", number)
        million = plan("--keys", "1e9", "--per-second", "1e6", "--clients", number)["designs"]
        by = [servers(d) for d in million if d["design"] in ("client", "module")]
        body.append([number, millions(one), millions(most), limit(beyond), *by])
    return rows(["clients", "one server does", "any number of servers do", "then ends the", "servers for 10⁶/s", "by the module"], body)


def batches():
    """At 10⁹ keys, all fresh, on one server, where nothing else has a cost: the limit by the order of a partition."""
    body = []
    with tempfile.NamedTemporaryFile("w+", suffix=".json") as file:
        for batch in (1, 100, 1000, 50_000):
            row = [f"{batch:,}"]
            for round_trip in (16, 250, 1000):
                given = {name: 1e-9 for name in plan("--keys", "1", "--per-second", "1")["constants"] if name.startswith(("client_", "call_"))}
                given |= {"batch_keys": batch, "round_trip_us": round_trip, "client_cores": 1, "client_events": 1e9}
                file.seek(0)
                file.truncate()
                json.dump({"constants": given}, file)
                file.flush()
                most, _ = most_events(lambda d: d["possible"] and d["servers"] == 1, "--clients", "8", "--constants", file.name)
                row.append(millions(most))
            body.append(row)
    return rows(["keys a batch", "16 µs", "250 µs", "1 ms"], body)


def constants():
    """The rows of the document, with the values of the program."""
    values = plan("--keys", "1e9", "--per-second", "1e6")["constants"]
    written = re.search("<!-- table constants -->.*?<!-- end -->", text, flags=re.DOTALL)[0]
    told = re.findall(r"^\| `(\w+)` \| [^|]* \| (.*) \| (.*) \|$", written, flags=re.MULTILINE)
    if sorted(name for name, *_ in told) != sorted(values):
        sys.exit(f"{document} must explain the constants {sorted(values)}")
    return rows(["name", "value", "what it is", "from"],
                [[f"`{name}`", f"{values[name]:,.0f}" if values[name] >= 1000 else f"{values[name]:g}", *more] for name, *more in told])


TABLES = {"picks": picks, "repeats": repeats, "clients": clients, "batches": batches, "constants": constants}


def console(block):
    command = block.splitlines()[0].removeprefix("$ everseen ")
    done = subprocess.run([program, *command.split()], capture_output=True, text=True)
    return f"```console\n$ everseen {command}\n" + "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines()) + "```"


named = re.findall(r"<!-- table (\w+) -->", text)
if sorted(named) != sorted(TABLES):
    sys.exit(f"{document} has the tables {sorted(named)}; there are {sorted(TABLES)}")
now = re.sub(r"<!-- table (\w+) -->\n.*?<!-- end -->", lambda m: f"<!-- table {m[1]} -->\n{TABLES[m[1]]()}\n<!-- end -->", text,
             flags=re.DOTALL)
now = re.sub(r"^```console\n(.*?)^```", lambda m: console(m[1]), now, flags=re.DOTALL | re.MULTILINE)
if wishes == ["--write"]:
    path.write_text(now, encoding="utf-8")
elif now != text:
    for was, is_now in zip(text.splitlines(), now.splitlines()):
        if was != is_now:
            print(f"{document} says\n{was}\nbut everseen plan computes:\n{is_now}", file=sys.stderr)
    sys.exit(f"bring it up to date by {sys.argv[0]} {document} PROGRAM --write")
