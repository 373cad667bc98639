#!/usr/bin/env python3
"""Runs the console blocks of a document against a redis-server and compares their output. A block that names
localhost:8080 gets an everseen server there.

usage: console_test.py DOCUMENT PROGRAM [MODULE]
"""

import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

document, program, *modules = sys.argv[1:]
text = pathlib.Path(document).read_text(encoding="utf-8")
blocks = re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def start(command_at):
    """A server on a free port, and the port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(command_at(port), stdout=subprocess.DEVNULL)
    for _ in range(15_000):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return server, port
        time.sleep(0.02)
    server.terminate()
    sys.exit("a server does not start")


def redis_at(directory):
    loads = [word for module in modules for word in ("--loadmodule", module)]
    return lambda port: ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "yes",
                         "--dir", directory, *loads]


def everseen_at(port):
    return [program, "serve", "--store", "mem:", "--listen", "", "--http", f"127.0.0.1:{port}"]


def run(block, ports):
    """The content of a terminal: each command after its prompt, then its output."""
    script = f'redis-cli() {{ command redis-cli -p {ports["localhost:6379"]} "$@"; }}\n'
    for line in block.splitlines():
        if line.startswith("$ "):
            command = line[2:]
            for written, port in ports.items():
                command = command.replace(written, f"localhost:{port}")
            script += f"cat <<'THE END'\n{line}\nTHE END\n{command}\n"
    path = f"{pathlib.Path(program).resolve().parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script],
        env=os.environ | {"PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return "".join(line.rstrip() + "\n" for line in done.stdout.splitlines())


with tempfile.TemporaryDirectory(prefix="everseen-format-") as directory:
    servers, ports = [], {}
    try:
        if not blocks:
            sys.exit(f"{document} has no console block")
        for written, command_at in [("localhost:6379", redis_at(directory)), ("localhost:8080", everseen_at)]:
            if written == "localhost:6379" or written in text:
                server, ports[written] = start(command_at)
                servers.append(server)
        for block in blocks:
            shown = run(block, ports)
            if shown != block:
                sys.exit(f"{document} says\n{block}\nbut this is what happens:\n{shown}")
    finally:
        for server in servers:
            server.terminate()
            server.wait()
