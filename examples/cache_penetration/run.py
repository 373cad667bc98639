#!/usr/bin/env python3
"""Guards a database and its cache with a filter against requests for what does not exist.

examples/with_redis.sh python3 examples/cache_penetration/run.py

A cache holds what exists. So each request for an id that does not exist misses the cache and reaches the database. The
same requests are answered without and with a filter of all ids; the answers must be the same.
"""
import os
import random
import sqlite3
import sys

import redis

import everseen

PRODUCTS, REQUESTS = 20_000, 30_000


class Shop:
    """Products in a database, behind a cache in Redis, behind a filter if there is one."""

    def __init__(self, cache, prefix, ids=None):
        self.cache, self.prefix, self.ids = cache, prefix, ids
        self.database = sqlite3.connect(":memory:")
        self.database.execute("CREATE TABLE products (id TEXT PRIMARY KEY, name TEXT)")
        self.queries = self.empty = 0

    def insert(self, products):
        if self.ids:
            self.ids.add_many([id for id, _ in products])  # before the database has them: never absent by mistake
        self.database.executemany("INSERT INTO products VALUES (?, ?)", products)

    def name_of(self, id):
        if self.ids and id not in self.ids:
            return None  # certain
        name = self.cache.get(self.prefix + id)
        if name is not None:
            return name.decode()
        self.queries += 1
        row = self.database.execute("SELECT name FROM products WHERE id = ?", [id]).fetchone()
        if row is None:
            self.empty += 1
            return None
        self.cache.setex(self.prefix + id, 3600, row[0])
        return row[0]


def main():
    url = os.environ["EVERSEEN_STORE"]
    cache = redis.Redis(unix_socket_path=url.removeprefix("unix:"))
    filter = everseen.open_or_create(url, "product-ids", capacity=PRODUCTS, error_rate=1e-3)
    bare, guarded = Shop(cache, "bare:"), Shop(cache, "guarded:", filter)
    products = [(f"p{i}", f"product {i}") for i in range(PRODUCTS)]
    bare.insert(products)
    guarded.insert(products)

    random.seed(1)
    requests = [f"p{int(random.paretovariate(0.5)) % PRODUCTS}" if random.random() < 0.5 else
                f"p{random.randrange(PRODUCTS, 10**9)}" for _ in range(REQUESTS)]
    different = sum(bare.name_of(id) != guarded.name_of(id) for id in requests)
    print(f"{REQUESTS:,} requests, {bare.empty:,} of them for ids that do not exist")
    print(f"reached the database in vain: without a filter {bare.empty:,}, with one {guarded.empty:,}")
    print(f"reached it at all: without {bare.queries:,}, with {guarded.queries:,}")
    print(f"the filter takes {filter.info()['bytes']:,} bytes")
    print(f"difference {different}")
    # At a rate of one in a thousand, more than twice as many as expected are less likely than one in a million.
    sys.exit(0 if different == 0 and guarded.empty < 2e-3 * bare.empty and
             guarded.queries - guarded.empty == bare.queries - bare.empty else 1)


main()
