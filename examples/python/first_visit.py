#!/usr/bin/env python3
"""Says of each argument whether it comes for the first time, by redis-py.

everseen serve --listen unix:/tmp/s &
sudo apt-get install python3-redis    # or: pip install redis
python3 examples/python/first_visit.py /tmp/s alice bob alice
"""
import sys

import redis

filters = redis.Redis(port=6380) if len(sys.argv) < 2 else redis.Redis(unix_socket_path=sys.argv[1])
for visitor, is_new in zip(sys.argv[2:], filters.bf().madd("visitors", *sys.argv[2:])):
    print(visitor, "is new" if is_new else "was here before")
