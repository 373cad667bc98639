"""Real servers for the tests in this folder: everseen serve, and the Redis behind it."""
import base64
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

PROGRAM = sys.argv[1]
MODULE = os.path.join(os.path.dirname(PROGRAM), "everseen.so")  # built beside the program
PRELOAD = os.environ.get("EVERSEEN_MODULE_PRELOAD")  # by a server with a sanitized module
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def until(holds, seconds=60):
    """Waits until a condition holds, and returns whether it does: this may take long on a busy machine."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


class Server:
    """`everseen serve` with HTTP on a free port and the Redis protocol on a Unix socket. A context manager."""

    def __init__(self, *options, store="mem:", http="127.0.0.1:0", environment=None, resp=True):
        self.home = tempfile.TemporaryDirectory()
        self.socket = os.path.join(self.home.name, "s")
        listen = ["--listen", f"unix:{self.socket}"] if resp else []
        self.command = [PROGRAM, "serve", "--store", store, *listen, "--http", http, *options]
        self.environment = {**os.environ, **(environment or {})}

    def __enter__(self):
        self.errors = open(os.path.join(self.home.name, "err"), "w+", encoding="utf-8")
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=self.errors, text=True,
                                        env=self.environment)
        self.lines = []
        for line in self.process.stdout:
            self.lines.append(line)
            if line.startswith("listening for HTTP on "):
                self.address = line.split()[-1]
                self.port = int(self.address.rpartition(":")[2]) if not self.address.startswith("unix:") else 0
                return self
        raise AssertionError(f"the server does not start: {self.said()}")

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.errors.close()
        self.home.cleanup()

    def said(self):
        """The content of standard error."""
        self.errors.flush()
        with open(self.errors.name, encoding="utf-8") as file:
            return file.read()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)

    def raw(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def ask(self, method, path, body=None, token=None, **headers):
        """One request: (status, headers, body), the body decoded where it is JSON."""
        connection = self.connect()
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            content = response.read()
            kind = response.getheader("Content-Type") or ""
            return response.status, response.headers, json.loads(content) if "json" in kind and content else content
        finally:
            connection.close()

    def send(self, *pieces, until_end=True):
        """Sends raw bytes; returns the answer until the server closes the connection."""
        with self.raw() as connection:
            for piece in pieces:
                connection.sendall(piece)
            return receive_all(connection)


def receive_all(connection):
    got = b""
    try:
        while piece := connection.recv(65536):
            got += piece
    except ConnectionResetError:
        pass
    return got


class Redis:
    """A redis-server on a Unix socket. A context manager."""

    def __init__(self, *more):
        self.more = more

    def __enter__(self):
        self.home = tempfile.TemporaryDirectory()
        self.socket = os.path.join(self.home.name, "r")
        sanitizer = {"LD_PRELOAD": PRELOAD, "ASAN_OPTIONS": "detect_leaks=0"} if PRELOAD else {}
        self.process = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", self.socket, "--save", "", "--dir", self.home.name, *self.more],
            stdout=subprocess.DEVNULL, env={**os.environ, **sanitizer})
        if not until(lambda: os.path.exists(self.socket) or self.process.poll() is not None) or self.process.poll() is not None:
            raise AssertionError("redis-server does not start")
        return self

    def url(self, options=""):
        return f"unix:{self.socket}{options}"

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.home.cleanup()


def coded(*keys):
    return [base64.b64encode(key).decode() for key in keys]
