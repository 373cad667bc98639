#!/usr/bin/env python3
"""Says of each argument whether it is new, each in an asyncio task of its own, as requests of a web server are.

A task adds one key, and a batch costs a server little more than a key. So keys are judged together: while one batch is
judged in a thread, the next one gathers.

sudo apt-get install redis-server
python3 examples/python/asyncio_visits.py redis://localhost alice bob alice
"""
import asyncio
import sys

import everseen


class Gathered:
    """A filter for many tasks of one event loop."""

    def __init__(self, filter):
        self.filter = filter
        self.waiting = []
        self.judging = None

    async def add(self, key):
        """Adds a key. True: it was certainly not added before. False: it probably was. None: it is older than the window."""
        answer = asyncio.get_running_loop().create_future()
        self.waiting.append((key, answer))
        if self.judging is None:
            self.judging = asyncio.create_task(self.judge())
        return await answer

    async def judge(self):
        while self.waiting:
            batch, self.waiting = self.waiting, []
            failure = None
            try:
                verdicts = await asyncio.to_thread(self.filter.add_many, [key for key, _ in batch])
            except Exception as error:
                failure, verdicts = error, getattr(error, "verdicts", None) or [everseen.UNKNOWN] * len(batch)
            for (_, answer), verdict in zip(batch, verdicts):
                if answer.done():  # its task was cancelled
                    continue
                if verdict == everseen.UNKNOWN:
                    answer.set_exception(failure)
                else:
                    answer.set_result(None if verdict == everseen.LATE else verdict == everseen.FRESH)
        self.judging = None


async def main(url, *visitors):
    with everseen.open_or_create(url, "visitors") as filter:
        visits = Gathered(filter)
        answers = await asyncio.gather(*map(visits.add, visitors))
    for visitor, is_new in zip(visitors, answers):
        print(visitor, "is new" if is_new else "was here before")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
