#!/usr/bin/env python3
"""Counts click events by ten minutes, site and country, each id once, with a set of all ids; and compares.

usage: exact.py EVENTS COUNTS   (JSON lines; the CSV of `everseen counts --format csv`)
"""

import collections
import csv
import json
import sys


def exact_counts(path):
    seen = set()
    counts = collections.Counter()
    with open(path, encoding="utf-8") as events:
        for line in events:
            event = json.loads(line)
            if event["id"] in seen:
                continue
            seen.add(event["id"])
            ten_minutes = event["time"][:15] + "0:00Z"
            counts[ten_minutes, event["site"], event["country"]] += 1
    return counts


def reported_counts(path):
    with open(path, encoding="utf-8", newline="") as rows:
        return {(row["time"], row["site"], row["country"]): int(row["count"]) for row in csv.DictReader(rows)}


def main(events, counts):
    exact = exact_counts(events)
    reported = reported_counts(counts)
    difference = sum(abs(exact.get(key, 0) - reported.get(key, 0)) for key in exact.keys() | reported.keys())
    print(f"exact: {sum(exact.values()):,} clicks in {len(exact):,} rows; difference {difference}")
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
