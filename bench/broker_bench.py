"""Question: how fast does a job drop the repeats of a topic of a real broker, beside Kafka Streams and a bare consumer?

usage: examples/with_kafka.sh python3 broker_bench.py BUILD [EVENTS [ROUNDS]]    (build/release, 2000000, 2)

Clicks as JSON in 8 partitions by their id, three in ten delivered again; ways in turn, each a process of its own:

- kafka-consumer-perf-test, which throws the events away: what the broker and Kafka's own client can do here;
- everseen stream that counts by ten minutes, site and country, in a Redis with appendfsync always, which is its state:
  clients judge, or the module; or that forwards the fresh events in transactions, with a filter in files;
- KafkaStreamsPeer.java, which counts or forwards the same, with exactly_once_v2.

Counts, and the events that were forwarded, are compared with those of a dictionary before anything is printed. A rate of
everseen is of the whole run, from the start of the process to its exit; the peers' rates are those that they print
themselves, without the start of Java and, of the bare consumer, without joining its group. CPU is that of the process and
of its Redis, not of the broker. State is what remains on the disk or in Redis, and in Kafka's changelogs.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(sys.argv[1]).resolve()
EVENTS = int(sys.argv[2]) if len(sys.argv) > 2 else 2_000_000
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 2
PARTITIONS = 8
BROKERS = os.environ["EVERSEEN_BROKERS"]
SOURCE = pathlib.Path(__file__).resolve().parent
JARS = os.environ.get("KAFKA_JARS", str(SOURCE.parent / "build/peers/kafka"))
TICKS = os.sysconf("SC_CLK_TCK")

Run = collections.namedtuple("Run", "rate cpu seconds state")


def require(condition, message):
    if not condition:
        sys.exit(f"broker_bench.py: {message}")


def timed(command, out):
    """Runs a command with its output in a file.    Returns its seconds and its CPU seconds."""
    began = time.perf_counter()
    with open(out, "wb") as output, open(f"{out}.err", "wb") as errors:
        process = subprocess.Popen([str(word) for word in command], stdout=output, stderr=errors)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    require(process.returncode == 0, f"{command[0]} ended with {process.returncode}: "
            + pathlib.Path(f"{out}.err").read_text()[-2000:])
    return time.perf_counter() - began, used.ru_utime + used.ru_stime


def new_topic(name):
    subprocess.run(["kafka-topics.sh", "--bootstrap-server", BROKERS, "--create", "--topic", name,
                    "--partitions", str(PARTITIONS)], check=True, capture_output=True)


def bytes_of_topics(ending):
    """Bytes that the broker keeps of the topics with such a name."""
    said = subprocess.run(["kafka-log-dirs.sh", "--bootstrap-server", BROKERS, "--describe"], check=True,
                          capture_output=True, text=True).stdout
    logs = json.loads(next(line for line in said.splitlines() if line.startswith("{")))
    return sum(partition["size"] for broker in logs["brokers"] for directory in broker["logDirs"]
               for partition in directory["partitions"] if partition["partition"].rsplit("-", 1)[0].endswith(ending))


def bytes_in(directory):
    return sum(file.stat().st_size for file in pathlib.Path(directory).rglob("*") if file.is_file())


def produce():
    """Fills the topic of clicks.    Returns the exact counts."""
    made = subprocess.Popen([BUILD / "everseen", "gen", "clicks", "--count", str(EVENTS), "--repeats", "30%"],
                            stdout=subprocess.PIPE)
    new_topic("clicks")
    producer = subprocess.Popen(
        ["kafka-console-producer.sh", "--bootstrap-server", BROKERS, "--topic", "clicks", "--property", "parse.key=true",
         "--producer-property", "linger.ms=50", "--producer-property", "batch.size=262144"],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seen, exact = set(), collections.Counter()
    for line in made.stdout:
        event = json.loads(line)
        producer.stdin.write(event["id"].encode() + b"\t" + line)
        if event["id"] not in seen:
            seen.add(event["id"])
            exact[event["time"][:15] + "0:00Z", event["site"], event["country"]] += 1
    producer.stdin.close()
    require(made.wait() == 0 and producer.wait() == 0, "the events were not produced")
    return exact


class Redis:
    """A server that loses nothing that it has acknowledged; its CPU time and memory are those of a job's state."""

    def __init__(self, directory, module):
        self.path = f"{directory}/redis.sock"
        words = ["redis-server", "--port", "0", "--unixsocket", self.path, "--dir", directory, "--save", "",
                 "--appendonly", "yes", "--appendfsync", "always", "--aof-load-truncated", "no"]
        self.process = subprocess.Popen(words + (["--loadmodule", str(BUILD / "everseen.so")] if module else []),
                                        stdout=subprocess.DEVNULL)
        while self.ask("ping") != "PONG\n":
            require(self.process.poll() is None, "redis-server does not start")
            time.sleep(0.05)

    def ask(self, *words):
        return subprocess.run(["redis-cli", "-s", self.path, *words], capture_output=True, text=True).stdout

    def cpu(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory(self):
        return int(next(line for line in self.ask("info", "memory").splitlines() if line.startswith("used_memory:"))[12:])

    def stop(self):
        self.process.kill()
        self.process.wait()


def stream(store, *more):
    return [BUILD / "everseen", "stream", "--quiet", "--from", f"kafka://{BROKERS}/clicks?until=end&group=" + name_of_run(),
            "--store", store, "--filter", "clicks", "--error-rate", "1e-9", "--capacity", EVENTS, "--key-json", "/id", *more]


runs = 0


def name_of_run():
    return f"run-{runs}"


def by_bare_consumer(folder, exact):
    seconds, cpu = timed(["kafka-consumer-perf-test.sh", "--bootstrap-server", BROKERS, "--topic", "clicks",
                          "--messages", EVENTS, "--group", name_of_run()], f"{folder}/out")
    header, values = [line.split(", ") for line in pathlib.Path(f"{folder}/out").read_text().splitlines()[-2:]]
    measured = dict(zip(header, values))
    require(int(measured["data.consumed.in.nMsg"]) == EVENTS, f"the bare consumer got {measured['data.consumed.in.nMsg']}")
    return Run(float(measured["fetch.nMsg.sec"]), cpu, seconds, 0)


def counted(rows):
    return {(time, site, country): int(count) for time, site, country, count in rows}


def counting_in_redis(module):
    def run(folder, exact):
        server = Redis(folder, module)
        try:
            before = server.cpu(), server.memory()
            store = f"unix:{server.path}"
            seconds, cpu = timed(stream(store, "--count", "10m:/time,/site,/country"), f"{folder}/out")
            cpu += server.cpu() - before[0]
            state = server.memory() - before[1]
            said = subprocess.run([BUILD / "everseen", "counts", "clicks", "--store", store, "--format", "csv"], check=True,
                                  capture_output=True, text=True).stdout.splitlines()
            columns = [said[0].split(",").index(name) for name in ("time", "site", "country", "count")]
            require(counted([line.split(",")[column] for column in columns] for line in said[1:]) == exact,
                    "everseen counted wrong")
            return Run(EVENTS / seconds, cpu, seconds, state)
        finally:
            server.stop()
    return run


def forwarded_exactly(topic, exact, folder):
    """Whether each event is once among the committed ones of a topic."""
    with open(f"{folder}/forwarded", "wb") as output:
        subprocess.run(["kafka-console-consumer.sh", "--bootstrap-server", BROKERS, "--topic", topic, "--from-beginning",
                        "--isolation-level", "read_committed", "--timeout-ms", "5000"],
                       stdout=output, stderr=subprocess.DEVNULL)
    ids, counts = set(), collections.Counter()
    with open(f"{folder}/forwarded", "rb") as lines:
        for line in lines:
            event = json.loads(line)
            ids.add(event["id"])
            counts[event["time"][:15] + "0:00Z", event["site"], event["country"]] += 1
    return counts == exact and len(ids) == sum(counts.values())


def forwarding(folder, exact):
    topic = f"out-{runs}"
    new_topic(topic)
    seconds, cpu = timed(stream(f"file:{folder}/store", "--to", f"kafka://{BROKERS}/{topic}"), f"{folder}/out")
    require(forwarded_exactly(topic, exact, folder), "everseen forwarded wrong events")
    return Run(EVENTS / seconds, cpu, seconds, bytes_in(f"{folder}/store"))


def by_kafka_streams(classes, forward):
    def run(folder, exact):
        topic = f"out-{runs}"
        if forward:
            new_topic(topic)
        before = bytes_of_topics("-changelog")
        seconds, cpu = timed(["java", "-Xmx2g", "-cp", f"{classes}:{JARS}/*", "KafkaStreamsPeer", BROKERS, "clicks", EVENTS,
                              f"{folder}/state", *([topic] if forward else [])], f"{folder}/out")
        took, *rows = pathlib.Path(f"{folder}/out").read_text().splitlines()
        require(forwarded_exactly(topic, exact, folder) if forward else counted(row.split(",") for row in rows) == exact,
                "Kafka Streams gave wrong answers")
        return Run(EVENTS / float(took), cpu, seconds, bytes_in(f"{folder}/state") + bytes_of_topics("-changelog") - before)
    return run


def main():
    global runs
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["javac", "-cp", f"{JARS}/*", "-d", f"{folder}/classes", SOURCE / "KafkaStreamsPeer.java"], check=True)
        exact = produce()
        print(f"{EVENTS:,} events in {PARTITIONS} partitions, {sum(exact.values()):,} different, {len(exact):,} counters; "
              f"the fastest of {ROUNDS} rounds", flush=True)
        ways = {"bare consumer": by_bare_consumer,
                "everseen stream, counts, clients judge": counting_in_redis(module=False),
                "everseen stream, counts, the module": counting_in_redis(module=True),
                "Kafka Streams, counts": by_kafka_streams(f"{folder}/classes", forward=False),
                "everseen stream, topic to topic": forwarding,
                "Kafka Streams, topic to topic": by_kafka_streams(f"{folder}/classes", forward=True)}
        best = {}
        for _ in range(ROUNDS):
            for name, way in ways.items():
                runs += 1
                with tempfile.TemporaryDirectory() as place:
                    best[name] = max(way(place, exact), best.get(name, Run(0, 0, 0, 0)))
                print(f"  {name}: {best[name].rate:,.0f}", file=sys.stderr, flush=True)
    print(f"{'':40} {'events/s':>12} {'CPU s':>7} {'wall s':>7} {'state MB':>9} {'x Streams':>10} {'x consumer':>11}")
    for name, run in best.items():
        streams = best["Kafka Streams, topic to topic" if "topic to topic" in name else "Kafka Streams, counts"]
        print(f"{name:40} {run.rate:12,.0f} {run.cpu:7.1f} {run.seconds:7.1f} {run.state / 1e6:9.1f} "
              f"{run.rate / streams.rate:10.2f} {run.rate / best['bare consumer'].rate:11.2f}")


if __name__ == "__main__":
    main()
