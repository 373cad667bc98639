#!/usr/bin/env python3
"""Sells a small stock to many users, each of whom may buy once, in many processes at the same time.

examples/with_redis.sh python3 examples/flash_sale/run.py
"""
import collections
import multiprocessing
import os
import random
import sys

import redis

import everseen

STOCK, USERS, REQUESTS, PROCESSES = 500, 5_000, 40_000, 8
URL = os.environ["EVERSEEN_STORE"]


def serve(process):
    """Takes requests as they arrive: users press the button repeatedly, on every server."""
    shop = redis.Redis(unix_socket_path=URL.removeprefix("unix:"))
    users = everseen.open_or_create(URL, "sale", capacity=10 * USERS, error_rate=1e-9, hash="siphash")
    chance, first = random.Random(process), 0
    for _ in range(REQUESTS // PROCESSES):
        user = f"user {chance.randrange(USERS)}"
        if not users.add(user):
            continue  # a repeat: it costs the shop nothing
        first += 1
        if shop.decr("stock") >= 0:
            shop.rpush("orders", user)
    users.close()
    return first


def main():
    shop = redis.Redis(unix_socket_path=URL.removeprefix("unix:"))
    shop.set("stock", STOCK)
    everseen.create(URL, "sale", capacity=10 * USERS, error_rate=1e-9, hash="siphash").close()
    with multiprocessing.Pool(PROCESSES) as pool:
        first = sum(pool.map(serve, range(PROCESSES), chunksize=1))

    came = {f"user {chance.randrange(USERS)}" for chance in map(random.Random, range(PROCESSES))
            for _ in range(REQUESTS // PROCESSES)}
    orders = collections.Counter(order.decode() for order in shop.lrange("orders", 0, -1))
    twice = sum(count - 1 for count in orders.values())
    print(f"{REQUESTS:,} requests of {len(came):,} users in {PROCESSES} processes; {first:,} were a user's first")
    print(f"sold {sum(orders.values())} of {STOCK}, to {len(orders)} users; bought twice: {twice}")
    difference = abs(first - len(came)) + abs(sum(orders.values()) - STOCK) + twice + len(orders.keys() - came)
    print(f"difference {difference}")
    sys.exit(0 if difference == 0 else 1)


if __name__ == "__main__":
    main()
