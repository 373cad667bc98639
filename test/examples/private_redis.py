"""A private Redis server, which ends with the test."""

import contextlib
import pathlib
import subprocess
import tempfile
import time

import redis


@contextlib.contextmanager
def private_redis():
    """Returns the path of the server's socket."""
    with tempfile.TemporaryDirectory(prefix="everseen-example-") as folder:
        socket = pathlib.Path(folder) / "redis"
        server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", str(socket), "--save", "",
                                   "--appendonly", "yes", "--dir", folder, "--logfile", f"{folder}/log"])
        try:
            for _ in range(15_000):
                if socket.exists():  # it listens from then on
                    break
                time.sleep(0.02)
            redis.Redis(unix_socket_path=str(socket)).ping()
            yield socket
        finally:
            server.terminate()
            server.wait()
