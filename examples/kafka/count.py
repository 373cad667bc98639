#!/usr/bin/env python3
"""Counts clicks from a Kafka topic in a database, each click once, whatever crashes.

python3 examples/kafka/count.py localhost:9092 clicks redis://localhost counts.db [--until-end]

A message is JSON: {"id": ..., "site": ...}. The producer may send a click several times, and the consumer may be killed
at any moment. A job gives a click the same verdict until it is settled; the counts and the position from which to
continue are stored in one transaction. So each click counts once.
"""
import json
import sqlite3
import sys

import confluent_kafka as kafka

import everseen


class Counts:
    """Clicks per site, and the counted position of each partition, in one database."""

    def __init__(self, path):
        self.database = sqlite3.connect(path, timeout=60, isolation_level=None)
        self.database.execute("CREATE TABLE IF NOT EXISTS sites (site TEXT PRIMARY KEY, clicks INT)")
        self.database.execute("CREATE TABLE IF NOT EXISTS positions (source TEXT PRIMARY KEY, position INT)")

    def position(self, source):
        row = self.database.execute("SELECT position FROM positions WHERE source = ?", [source]).fetchone()
        return row[0] if row else 0

    def add(self, clicks, source, begin, end):
        self.database.execute("BEGIN IMMEDIATE")
        if self.position(source) != begin:
            sys.exit(f"another process counts {source}, too")
        for click in clicks:
            self.database.execute("INSERT INTO sites VALUES (?, 1) ON CONFLICT DO UPDATE SET clicks = clicks + 1",
                                  [click["site"]])
        self.database.execute("INSERT OR REPLACE INTO positions VALUES (?, ?)", [source, end])
        self.database.execute("COMMIT")


def count(consumer, topic, job, counts, until_end):
    """Counts the messages of the topic; ends at its end, or never."""
    partitions = consumer.list_topics(topic, timeout=30).topics[topic].partitions
    # Positions are ours: the consumer commits none.
    reached = {p: counts.position(f"{topic}/{p}") for p in partitions}
    for partition, position in reached.items():
        job.settle(f"{topic}/{partition}", position)  # a crash may have happened between the two
    consumer.assign([kafka.TopicPartition(topic, partition, position) for partition, position in reached.items()])
    unfinished = set(partitions)
    while unfinished or not until_end:
        batches = {}
        for message in consumer.consume(1000, timeout=0.5):
            if message.error() is None:
                batches.setdefault(message.partition(), []).append(message)
            elif message.error().code() == kafka.KafkaError._PARTITION_EOF:
                unfinished.discard(message.partition())
            else:
                raise kafka.KafkaException(message.error())
        for partition, messages in batches.items():
            source = f"{topic}/{partition}"
            clicks = [json.loads(message.value()) for message in messages]
            verdicts = job.claim(source, [click["id"] for click in clicks], [message.offset() for message in messages])
            fresh = [click for click, verdict in zip(clicks, verdicts) if verdict == everseen.FRESH]
            begin, reached[partition] = reached[partition], messages[-1].offset() + 1
            counts.add(fresh, source, begin, reached[partition])
            job.settle(source, reached[partition])


if __name__ == "__main__":
    brokers, topic, store, path = sys.argv[1:5]
    consumer = kafka.Consumer({"bootstrap.servers": brokers, "group.id": "count", "enable.auto.commit": False,
                               "enable.partition.eof": True, "auto.offset.reset": "earliest"})
    with everseen.open_or_create(store, topic, capacity=10_000_000, error_rate=1e-9) as filter, filter.job("count") as job:
        count(consumer, topic, job, Counts(path), "--until-end" in sys.argv)
    consumer.close()
