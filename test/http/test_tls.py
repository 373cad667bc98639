#!/usr/bin/env python3
"""Both protocols over TLS: answers arrive, certificates are required, and an end differs from a cut."""
import os
import ssl
import subprocess
import tempfile
import unittest

from serving import Server, receive_all


class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.TemporaryDirectory()
        cls.cert, cls.key = (os.path.join(cls.home.name, name) for name in ("cert", "key"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-keyout", cls.key, "-out", cls.cert, "-days", "2", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, capture_output=True)

    @classmethod
    def tearDownClass(cls):
        cls.home.cleanup()

    def exchange(self, server, port, request, own=None):
        """The answer until the server announces the end of the connection; a mere cut is an error."""
        context = ssl.create_default_context(cafile=self.cert)
        if own:
            context.load_cert_chain(self.cert, self.key)
        server.port = port
        with context.wrap_socket(server.raw(), server_hostname="localhost", suppress_ragged_eofs=False) as connection:
            connection.sendall(request)
            got = b""
            while piece := connection.recv(65536):
                got += piece
            return got

    def serve(self, *more):
        return Server("--tls-cert", self.cert, "--tls-key", self.key, *more, http="tls:127.0.0.1:0")

    def test_http_is_answered_and_ends_in_order(self):
        with self.serve() as s:
            answer = self.exchange(s, s.port, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            self.assertTrue(answer.endswith(b'{"status":"serving"}\n'))
            large = self.exchange(s, s.port, b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20 +
                                  b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            self.assertEqual(large.count(b"HTTP/1.1 200 OK"), 21)

    def test_redis_clients_are_notified_of_the_end(self):
        with self.serve("--listen", "tls:127.0.0.1:0") as s:
            port = next(int(line.rpartition(":")[2]) for line in s.lines if line.startswith("listening on tls:"))
            self.assertEqual(self.exchange(s, port, b"PING\r\nQUIT\r\n"), b"+PONG\r\n+OK\r\n")

    def test_a_client_with_a_certificate_may_resume_its_session(self):
        request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            with self.serve("--tls-ca", self.cert) as s:
                context = ssl.create_default_context(cafile=self.cert)
                context.load_cert_chain(self.cert, self.key)
                context.minimum_version = context.maximum_version = version
                session = None
                for _ in range(2):
                    with context.wrap_socket(s.raw(), server_hostname="localhost", session=session) as connection:
                        connection.sendall(request)
                        self.assertIn(b"200 OK", receive_all(connection))
                        self.assertEqual(connection.session_reused, session is not None)
                        session = connection.session

    def test_clients_without_a_certificate_are_not_served(self):
        with self.serve("--tls-ca", self.cert) as s:
            request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            with self.assertRaises(OSError):
                self.exchange(s, s.port, request)
            self.assertIn(b"200 OK", self.exchange(s, s.port, request, own=True))

    def test_invalid_tls_disturbs_nobody(self):
        with self.serve() as s:
            self.assertNotIn(b"HTTP", s.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"))
            self.assertIn(b"200 OK", self.exchange(s, s.port, b"GET /healthz HTTP/1.0\r\n\r\n"))


if __name__ == "__main__":
    unittest.main(argv=[__file__], verbosity=1)
