#!/usr/bin/env python3
"""Says of each argument whether it is new, in a filter of everseen on a plain Redis, with nothing of everseen here: a
Redis client, a hash, and the script seen.lua. A program in another language does the same.

everseen create visitors --store redis://localhost --judge server --hash siphash --capacity 1M
sudo apt-get install python3-redis
python3 examples/lua/visit.py redis://localhost visitors add alice bob alice
"""
import pathlib
import struct
import sys

import redis

SCRIPT = (pathlib.Path(__file__).parent / "seen.lua").read_text(encoding="utf-8")
WORD = 2**64 - 1


def siphash128(key, data):
    """SipHash-2-4 with 128 bits, as in its paper. Returns the first and the second word of its output."""
    k0, k1 = struct.unpack("<QQ", key)
    a, b, c, d = k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D ^ 0xEE, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573

    def rounds(count):
        nonlocal a, b, c, d
        turn = lambda x, by: (x << by | x >> 64 - by) & WORD
        for _ in range(count):
            a, c = (a + b) & WORD, (c + d) & WORD
            b, d = turn(b, 13) ^ a, turn(d, 16) ^ c
            a, c = (turn(a, 32) + d) & WORD, (c + b) & WORD
            d, b = turn(d, 21) ^ a, turn(b, 17) ^ c
            c = turn(c, 32)

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) % 256])
    for (word,) in struct.iter_unpack("<Q", padded):
        d ^= word
        rounds(2)
        a ^= word
    c ^= 0xEE
    rounds(4)
    low = a ^ b ^ c ^ d
    b ^= 0xDD
    rounds(4)
    return low, a ^ b ^ c ^ d


class Filter:
    """A filter that its servers judge: doc/redis.md, "Without a client of everseen"."""

    def __init__(self, server, name, prefix="everseen"):
        identity = server.hget(f"{prefix}:{{names}}", name)
        if identity is None:
            sys.exit(f"there is no filter {name}")
        self.base = f"{prefix}:{{{identity.hex()}"
        spec, judge, expires, older = server.hmget(self.base + "}", "spec", "judge", "expires_at", "after")
        if judge != b"server" or spec[14] not in (1, 2) or expires or older or server.hexists(f"{prefix}:{{names}}:links", name):
            sys.exit(f"{name} is judged by clients, or expires, or asks another filter, or is not a filter of everseen's own")
        self.by_xxh3, self.seed, (self.partitions,) = spec[14] == 1, spec[32:48], struct.unpack("<I", spec[60:64])
        self.script = server.register_script(SCRIPT)

    def digest(self, key):
        if self.by_xxh3:  # the default; there are also libraries for C, Java, Go, Rust, ...
            import xxhash

            return divmod(xxhash.xxh3_128_intdigest(key, int.from_bytes(self.seed[:8], "little")), 2**64)
        low, high = siphash128(self.seed, key)
        return high, low

    def judge(self, what, keys):
        """what: add or check. Returns a character per key: 0 fresh, 1 seen, 3 not added because the filter is full."""
        answers, partitions = [""] * len(keys), {}
        for place, key in enumerate(keys):
            high, low = self.digest(key)
            partition = (low % 2**32) * self.partitions >> 32
            partitions.setdefault(partition, []).append((place, f"{high:016x}{low:016x}"))
        for partition, own in partitions.items():
            verdicts = self.script(keys=[f"{self.base}/{partition}}}"], args=[what] + [digest for _, digest in own])
            for (place, _), verdict in zip(own, verdicts.decode()):
                answers[place] = verdict
        return answers


if __name__ == "__main__":
    url, name, what, *visitors = sys.argv[1:]
    filter = Filter(redis.Redis.from_url(url.replace("unix:/", "unix:///", 1)), name)
    for visitor, verdict in zip(visitors, filter.judge(what, [visitor.encode() for visitor in visitors])):
        print(visitor, {"0": "is new", "1": "was here before", "3": "finds no room"}[verdict])
