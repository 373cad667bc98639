#!/usr/bin/env python3
"""Uses redis-py like a program, on the server with the given Unix socket. Exits with 0 on success."""
import sys

import redis

r = redis.Redis(unix_socket_path=sys.argv[1])
bf = r.bf()


def expect(got, wanted):
    assert got == wanted, f"{got!r} where {wanted!r} was expected"


def expect_error(call, text):
    try:
        call()
    except redis.ResponseError as error:
        assert text in str(error), f"{error} where {text!r} was expected"
    else:
        raise AssertionError(f"no error where {text!r} was expected")


expect(r.ping(), True)
expect(bf.create("clicks", 0.001, 1000), True)
expect_error(lambda: bf.create("clicks", 0.001, 1000), "item exists")
expect(bf.add("clicks", "alice"), 1)
expect(bf.add("clicks", "alice"), 0)
expect(bf.madd("clicks", "bob", "alice", "carol"), [1, 0, 1])
expect(bf.exists("clicks", "bob"), 1)
expect(bf.mexists("clicks", "carol", "nobody"), [1, 0])
info = bf.info("clicks")
expect(info.insertedNum, 3)
expect(info.capacity, 1000)
expect(info.expansionRate, 2)
expect(info.filterNum, 1)

expect(bf.insert("urls", ["a", "b", "a"], capacity=500, error=0.01), [1, 1, 0])
expect_error(lambda: bf.insert("nowhere", ["a"], noCreate=True), "not found")
expect(bf.create("small", 0.0001, 2, noScale=True), True)
expect(bf.madd("small", "a", "b"), [1, 1])
expect_error(lambda: bf.add("small", "c"), "non scaling filter is full")

expect(r.execute_command("BF.CARD", "urls"), 2)
expect(sorted(r.keys("*")), [b"clicks", b"small", b"urls"])
expect(sorted(r.scan_iter(count=1)), [b"clicks", b"small", b"urls"])
expect(r.exists("clicks", "nowhere"), 1)
expect(r.type("clicks"), b"MBbloom--")

pipeline = r.pipeline(transaction=False)
for i in range(1000):
    pipeline.execute_command("BF.ADD", "many", i % 500)
expect(pipeline.execute().count(1) in range(480, 501), True)

transaction = r.pipeline(transaction=True)
transaction.execute_command("BF.ADD", "clicks", "dave")
transaction.execute_command("BF.EXISTS", "clicks", "dave")
expect(transaction.execute(), [1, 1])

expect(bf.add("draft", "erin"), 1)
expect(r.rename("draft", "final"), True)
expect(bf.exists("final", "erin"), 1)
expect_error(lambda: r.rename("draft", "final"), "no such key")
expect(r.renamenx("final", "clicks"), False)
expect(r.expire("final", 100), True)
expect(r.ttl("final"), 100)
expect(r.persist("final"), True)
expect(r.ttl("final"), -1)
expect(r.pexpire("final", 1), True)
while r.exists("final"):
    pass
expect(r.ttl("final"), -2)

expect(r.execute_command("EVERSEEN.RESERVE", "window", 0.01, 1000, "WINDOW", 60000), b"OK")
expect(r.execute_command("EVERSEEN.ADD", "window", "ITEMS", "x", "x"), [b"fresh", b"seen"])

expect(r.memory_usage("window") > 1000, True)
expect(r.acl_whoami(), "default")
expect(r.command_count(), len(r.command()))
me = r.client_info()
expect(me["id"], r.client_id())
expect((me["db"], me["multi"], me["user"]), (0, -1, "default"))
expect(sorted(me) <= sorted(r.client_list()[0]), True)
expect_error(lambda: r.eval("return 1", 0), "unknown command 'EVAL'")

with r.pipeline() as pipeline:  # in MULTI and EXEC
    pipeline.execute_command("EVERSEEN.ADD", "window", "ITEMS", "y")
    pipeline.execute_command("BF.CARD", "window")
    expect(pipeline.execute(), [[b"fresh"], 2])

expect(r.client_setname("tester"), True)
expect(r.client_getname(), "tester")
expect(r.info("server")["redis_mode"], "standalone")
expect(r.delete("clicks", "small", "urls", "many", "window"), 5)
expect(r.dbsize(), 0)
