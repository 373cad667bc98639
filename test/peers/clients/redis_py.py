"""The Bloom commands by redis-py, on a server at PORT, with the given version of the protocol: redis_py.py PORT 2|3"""
import sys

import redis

port, protocol = sys.argv[1:]
client = redis.Redis(port=int(port), **({"protocol": 3} if protocol == "3" else {}))  # older ones know only 2
bf = client.bf()


def line(name, *values):
    print(name + ":", *(str(bool(each)).lower() for each in values))


print("reserve:", "OK" if bf.create("visitors", 0.001, 1000) else "no")
try:
    bf.create("visitors", 0.001, 1000)
except redis.ResponseError as refusal:
    line("again", "item exists" in str(refusal))
line("add", bf.add("visitors", "alice"), bf.add("visitors", "alice"))
line("madd", *bf.madd("visitors", "bob", "alice", "carol"))
line("exists", bf.exists("visitors", "bob"), bf.exists("visitors", "nobody"))
line("mexists", *bf.mexists("visitors", "carol", "nobody"))
line("insert", *bf.insert("urls", ["a", "b", "a"], capacity=500, error=0.01))
info = bf.info("visitors")
print("info:", *(info[b] if isinstance(info, dict) else getattr(info, a)
                 for a, b in (("capacity", b"Capacity"), ("filterNum", b"Number of filters"),
                              ("insertedNum", b"Number of items inserted"), ("expansionRate", b"Expansion rate"))))
print("card:", client.execute_command("BF.CARD", "visitors"))
iterator, chunk = bf.scandump("visitors", 0)
while iterator:
    bf.loadchunk("copy", iterator, chunk)
    iterator, chunk = bf.scandump("visitors", iterator)
line("copy", bf.exists("copy", "alice"), bf.exists("copy", "nobody"))
