#!/usr/bin/env python3
"""Runs the console blocks of a document against a redis-server and compares what they print.

usage: format_redis_test.py DOCUMENT PROGRAM [MODULE]
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


def start_redis(directory):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "yes", "--dir", directory]
    for module in modules:
        command += ["--loadmodule", module]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    for _ in range(500):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return server, port
        time.sleep(0.02)
    server.terminate()
    sys.exit("redis-server does not start")


def run(block, port):
    """What a terminal would show: each command behind its prompt, then what it prints."""
    script = f'redis-cli() {{ command redis-cli -p {port} "$@"; }}\n'
    for line in block.splitlines():
        if line.startswith("$ "):
            command = line[2:].replace("localhost:6379", f"localhost:{port}")
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
    server, port = start_redis(directory)
    try:
        if not blocks:
            sys.exit(f"{document} has no console block")
        for block in blocks:
            shown = run(block, port)
            if shown != block:
                sys.exit(f"{document} says\n{block}\nbut this is what happens:\n{shown}")
    finally:
        server.terminate()
        server.wait()
