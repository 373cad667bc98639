#!/usr/bin/env python3
"""Options from the command line, the environment and a file: the same names, in this order of precedence."""
import os
import pathlib
import socket
import subprocess
import tempfile
import unittest

from serving import PROGRAM, ROOT, Server


class Configuration(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory()
        self.addCleanup(self.home.cleanup)

    def write(self, text, name="everseen.toml"):
        path = pathlib.Path(self.home.name, name)
        path.write_text(text, encoding="utf-8")
        return str(path)

    def check(self, *options, **environment):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("EVERSEEN_")}
        return subprocess.run([PROGRAM, "serve", "--check-config", *options], capture_output=True, text=True, timeout=60,
                              env={**clean, "HOME": self.home.name, **environment})

    def in_force(self, *options, **environment):
        result = self.check(*options, **environment)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = [line.partition("  # ") for line in result.stdout.splitlines()[1:] if not line.startswith("#")]
        return {name: (value, source) for setting, _, source in lines for name, _, value in [setting.partition(" = ")]}

    def refusal(self, *options, **environment):
        result = self.check(*options, **environment)
        self.assertEqual(result.returncode, 2, result.stdout)
        return result.stderr

    def test_typed_options_precede_the_environment_and_that_precedes_the_file(self):
        file = self.write('[serve]\nmax-connections = 1\nthreads = 1\nstore-threads = 1\n')
        found = self.in_force("--config", file, "--max-connections", "3", EVERSEEN_MAX_CONNECTIONS="2", EVERSEEN_THREADS="2")
        self.assertEqual(found["max-connections"], ('"3"', "command line"))
        self.assertEqual(found["threads"], ('"2"', "$EVERSEEN_THREADS"))
        self.assertEqual(found["store-threads"], ('"1"', f"{file}:4"))

    def test_the_environment_may_name_the_file(self):
        file = self.write("[serve]\nthreads = 7\n")
        self.assertEqual(self.in_force(EVERSEEN_CONFIG=file)["threads"], ('"7"', f"{file}:2"))

    def test_every_kind_of_value_can_be_written(self):
        file = self.write('[serve]\nlisten = ["127.0.0.1:1", "unix:/tmp/x"]\nmaxmemory = "4Gi"\nredisbloom = true\n'
                          'quiet = false\nidle-timeout = "90s"\n[create]\ncapacity = 5\n')
        found = self.in_force("--config", file)
        self.assertEqual(found["listen"][0], '["127.0.0.1:1", "unix:/tmp/x"]')
        self.assertEqual((found["maxmemory"][0], found["redisbloom"][0], found["idle-timeout"][0]), ('"4Gi"', "true", '"90s"'))
        self.assertEqual(found["quiet"][0], "false")
        found = self.in_force(EVERSEEN_LISTEN="127.0.0.1:1 127.0.0.1:2", EVERSEEN_REDISBLOOM="1", EVERSEEN_QUIET="0")
        self.assertEqual((found["listen"][0], found["redisbloom"][0]), ('["127.0.0.1:1", "127.0.0.1:2"]', "true"))
        self.assertEqual(found["quiet"], ("false", "$EVERSEEN_QUIET"))

    def test_off_precedes_options_that_contradict_it(self):
        file = self.write('[serve]\nopen-to-strangers = true\nlisten = "0.0.0.0:1"\n')
        self.assertIn("--open-to-strangers", self.refusal("--config", file, EVERSEEN_OPEN_TO_STRANGERS="0"))
        self.in_force("--config", file)
        nowhere = self.write('[serve]\nlisten = []\n', "nowhere.toml")
        self.assertIn("nothing to listen on", self.refusal("--config", nowhere))
        self.assertIn("not a switch", self.refusal("--config", self.write("[serve]\nthreads = false\n", "no_switch.toml")))
        with Server("--config", nowhere, resp=False) as s:
            self.assertEqual([line.split()[1] for line in s.lines], ["for"])

    def test_mistyped_options_are_refused_whatever_else_is_given(self):
        file = self.write("[serve]\nthreads = 1\n")
        for typo in [("--pasword", "secret"), ("--typo",), ("--password",), ("--max-connections", "many"), ("word",)]:
            for environment in [{}, {"EVERSEEN_THREADS": "1"}, {"EVERSEEN_STORE": "mem:", "EVERSEEN_CONFIG": file}]:
                self.refusal("--listen", "127.0.0.1:0", "--config", file, *typo, **environment)

    def test_an_empty_password_means_none(self):
        for options in [("--password", ""), ("--user", "a::admin"), ("--config", self.write('[serve]\npassword = ""\n'))]:
            self.assertIn("password", self.refusal("--listen", "0.0.0.0:0", *options))

    def test_the_printed_configuration_reads_back_the_same(self):
        first = self.check("--http", "127.0.0.1:8080", "--max-connections", "12", "--log-format", "json")
        again = self.in_force("--config", self.write(first.stdout, "printed.toml"))
        self.assertEqual({name: value for name, (value, _) in again.items()},
                         {"http": '"127.0.0.1:8080"', "max-connections": '"12"', "log-format": '"json"'})

    def test_passwords_are_not_printed(self):
        for url, shown in [("redis://me:hush@host:1/", "redis://host:1?password=***"),
                           ("redis://host:1/?password=hush", "redis://host:1?password=***"),
                           ("unix:/run/r.sock?timeout=1s&password=hush", "unix:/run/r.sock?timeout=1000ms&password=***")]:
            result = self.check("--password", "hush", "--user", "a:hush:read", "--store", url)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotIn("hush", result.stdout)
            self.assertIn(shown, result.stdout)
        self.assertNotIn("hush", self.refusal("--store", "redsi://me:hush@host"))
        self.assertNotIn("hush", self.refusal("--store", "redis://me:hush@hush@host"))

    def test_an_unknown_name_is_refused_with_a_suggestion(self):
        file = self.write("[serve]\n\nmax-conections = 5\n")
        self.assertIn(f"{file}:3: everseen serve has no option 'max-conections'; did you mean 'max-connections'?",
                      self.refusal("--config", file))
        self.assertIn("$EVERSEEN_MAX_CONECTIONS is not an option; did you mean $EVERSEEN_MAX_CONNECTIONS?",
                      self.refusal(EVERSEEN_MAX_CONECTIONS="5"))
        self.assertIn("did you mean --max-connections?", self.refusal("--max-conections", "5"))
        self.assertIn("did you mean 'serve'?", self.refusal("--config", self.write("[serv]\nthreads = 5\n")))
        self.assertIn("put it under [serve]", self.refusal("--config", self.write("threads = 5\n")))

    def test_variables_of_others_are_ignored(self):
        self.in_force(EVERSEEN_PORT_6380_TCP_ADDR="10.0.0.1", EVERSEEN_SERVICE_HOST="10.0.0.1")

    def test_invalid_values_are_refused_with_their_place(self):
        for text, why in [("threads = 0", "2: --threads"), ('threads = "many"', "2: --threads"), ("threads = [1, 2]", "twice"),
                          ("threads = 1979-05-27", "neither a text"), ("threads = ", ":2"), ("config = 'x'", "no option"),
                          ('log-format = "xml"', "use text, json, logfmt")]:
            file = self.write(f"[serve]\n{text}\n")
            answer = self.refusal("--config", file)
            self.assertIn(file, answer)
            self.assertIn(why, answer)
        self.assertIn("$EVERSEEN_THREADS: --threads", self.refusal(EVERSEEN_THREADS="-1"))
        self.assertIn("$EVERSEEN_QUIET", self.refusal(EVERSEEN_QUIET="maybe"))
        self.assertIn("cannot be read", self.refusal("--config", self.home.name + "/none"))
        self.assertIn("--password", self.refusal("--http", "0.0.0.0:80"))

    def test_the_check_refuses_configurations_that_could_not_start(self):
        self.assertIn("redsi", self.refusal("--store", "redsi://x"))
        self.assertIn("no directory", self.refusal("--listen", f"unix:{self.home.name}/none/s"))
        self.assertIn("--tls-cert", self.refusal("--listen", "tls:127.0.0.1:0"))
        for listen in ("tls:127.0.0.1:0", "127.0.0.1:0"):
            self.assertIn("certificate /none", self.refusal("--listen", listen, "--tls-cert", "/none", "--tls-key", "/none"))
        self.assertIn("--tls-key", self.refusal("--tls-cert", "/none"))
        self.assertIn("--tls-cert", self.refusal("--tls-ca", "/none"))
        self.assertIn("/none", self.refusal("--user-file", "/none"))
        self.assertIn("--max-bodies", self.refusal("--max-bodies", "1Mi"))
        self.assertEqual(os.listdir(self.home.name), [])

    def test_each_user_has_a_name_and_over_http_a_password(self):
        self.assertIn("two users named 'a'", self.refusal("--user", "a:x:read", "--user", "a:y:admin"))
        self.assertIn("two users named 'default'", self.refusal("--password", "x", "--user", "default:y:read"))
        same = ("--user", "a:sesame:read", "--user", "b:sesame:admin")
        self.in_force(*same)
        answer = self.refusal("--http", "127.0.0.1:0", *same)
        self.assertIn("'a' and 'b' have the same password", answer)
        self.assertNotIn("sesame", answer)

    def test_a_server_behind_a_proxy_needs_users(self):
        proxied = ("--http", "127.0.0.1:0", "--http-host", "filters.example")
        self.assertIn("--password", self.refusal(*proxied))
        self.in_force(*proxied, "--password", "x")
        self.in_force(*proxied, "--open-to-strangers")

    def test_users_may_be_listed_in_a_file(self):
        users = self.write("# who may what\ndefault:hush:admin\n\nlooker:look:read\n", "users")
        with Server("--user-file", users) as s:
            self.assertEqual(s.ask("POST", "/api/v1/filters", {"name": "f"}, token="look")[0], 403)
            self.assertEqual(s.ask("POST", "/api/v1/filters", {"name": "f"}, token="hush")[0], 201)
        bad = self.write("default:hush:admin\nsomebody\n", "bad")
        answer = self.refusal("--user-file", bad)
        self.assertIn(f"{bad}:2", answer)
        self.assertNotIn("hush", answer)

    def test_the_example_is_a_configuration(self):
        found = self.in_force("--config", str(ROOT / "packaging/everseen.toml"), "--user-file",
                              self.write("default:hush:admin\n", "users"))
        self.assertIn("http", found)

    def test_the_supervisor_is_notified_when_the_server_is_ready(self):
        path = os.path.join(self.home.name, "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supervisor:
            supervisor.bind(path)
            supervisor.settimeout(30)
            with Server(environment={"NOTIFY_SOCKET": path}) as s:
                self.assertEqual(supervisor.recv(100), b"READY=1")
                s.stop()
                self.assertEqual(supervisor.recv(100), b"STOPPING=1")


if __name__ == "__main__":
    unittest.main(argv=[__file__], verbosity=1)
