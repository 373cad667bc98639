#!/usr/bin/env python3
"""Kills count.py again and again while it counts, and compares its counts with the exact ones. The broker is the mock
cluster of Kafka's client library, in this process.

examples/with_redis.sh python3 examples/kafka/run.py
"""
import collections
import contextlib
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

import confluent_kafka as kafka

CLICKS, KILLS, TOPIC = 30_000, 5, "clicks"


def produce(producer):
    """Sends clicks, one in four of them again, near or far.    Returns the exact counts."""
    random.seed(1)
    ids, exact = {}, collections.Counter()
    for i in range(CLICKS):
        id = random.randrange(i) if i and random.random() < 0.25 else i
        if id not in ids:
            ids[id] = random.choice(["home", "shop", "help"])
            exact[ids[id]] += 1
        # A key decides the partition, as with any producer: all copies of a click are in one partition, in order.
        producer.produce(TOPIC, json.dumps({"id": id, "site": ids[id]}), key=str(id))
        producer.poll(0)
    producer.flush()
    return exact


def counted(database):
    """How many messages are counted, and the clicks of each site."""
    try:
        with contextlib.closing(sqlite3.connect(database, timeout=60)) as counts:
            position, = counts.execute("SELECT coalesce(sum(position), 0) FROM positions").fetchone()
            return position, dict(counts.execute("SELECT site, clicks FROM sites"))
    except sqlite3.OperationalError:  # count.py has not made its tables yet
        return 0, {}


def run_and_kill(command, database):
    """Runs count.py until it has counted more than before, and kills it.    Returns False if it was done before that."""
    before, _ = counted(database)
    counting = subprocess.Popen(command)
    while counting.poll() is None and counted(database)[0] == before:
        time.sleep(0.01)
    time.sleep(random.uniform(0, 0.03))
    counting.kill()
    if counting.wait() not in (0, -signal.SIGKILL):
        sys.exit(f"count.py ended with {counting.returncode}")
    return counting.returncode != 0


def main():
    producer = kafka.Producer({"test.mock.num.brokers": 1, "queue.buffering.max.messages": 10**6, "log_level": 4})
    brokers = ",".join(f"{broker.host}:{broker.port}" for broker in producer.list_topics(timeout=30).brokers.values())
    exact = produce(producer)
    with tempfile.TemporaryDirectory() as folder:
        database, kills = f"{folder}/counts.db", 0
        counter = pathlib.Path(__file__).with_name("count.py")
        command = [sys.executable, counter, brokers, TOPIC, os.environ["EVERSEEN_STORE"], database, "--until-end"]
        while kills < KILLS and run_and_kill(command, database):
            kills += 1
        subprocess.run(command, check=True)
        messages, sites = counted(database)
    difference = sum(abs(exact[site] - sites.get(site, 0)) for site in exact.keys() | sites.keys())
    print(f"{messages:,} messages, {sum(exact.values()):,} different clicks, killed {kills} times while it counted: {sites}")
    print(f"difference {difference}")
    sys.exit(0 if difference == 0 and messages == CLICKS and kills > 0 else 1)


if __name__ == "__main__":
    main()
