#!/usr/bin/env python3
"""Tests examples/python/asyncio_visits.py. usage: asyncio_test.py SOURCE_FOLDER"""

import asyncio
import pathlib
import subprocess
import sys
import unittest

import everseen

source = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(source / "examples/python"))
from asyncio_visits import Gathered  # noqa: E402


class Counting:
    """A filter that counts calls, and fails on request."""

    def __init__(self, **options):
        self.filter, self.calls, self.fails = everseen.memory(**options), 0, False

    def add_many(self, keys):
        self.calls += 1
        if self.fails:
            raise everseen.BackendError("the server does not answer")
        return self.filter.add_many(keys)


class Visits(unittest.TestCase):
    def test_each_key_is_fresh_for_one_task_and_tasks_share_calls(self):
        counting = Counting(capacity=10_000)

        async def run():
            visits = Gathered(counting)

            async def visit(i):
                await asyncio.sleep(0.0001 * (i % 100))
                return await visits.add(f"visitor {i % 2000}")

            return await asyncio.gather(*(visit(i) for i in range(10_000)))

        answers = asyncio.run(run())
        self.assertLessEqual(answers.count(True), 2000)
        self.assertGreater(answers.count(True), 1995)
        self.assertLess(counting.calls, 1000)

    def test_a_failure_reaches_the_tasks_of_its_batch_alone(self):
        counting = Counting()

        async def run():
            visits = Gathered(counting)
            counting.fails = True
            first = await asyncio.gather(visits.add("a"), visits.add("b"), return_exceptions=True)
            counting.fails = False
            return first, await visits.add("a")

        failed, answer = asyncio.run(run())
        self.assertEqual([type(error) for error in failed], [everseen.BackendError] * 2)
        self.assertTrue(answer)

    def test_keys_without_room_fail_and_others_get_their_answers(self):
        counting = Counting(capacity=100, growth="refuse")

        async def run():
            visits = Gathered(counting)
            return await asyncio.gather(*(visits.add(str(i)) for i in range(200)), return_exceptions=True)

        answers = asyncio.run(run())
        self.assertEqual(answers[0], True)
        self.assertIsInstance(answers[199], everseen.FullError)

    def test_a_cancelled_task_disturbs_no_other(self):
        counting = Counting()

        async def run():
            visits = Gathered(counting)
            cancelled, other = asyncio.create_task(visits.add("a")), asyncio.create_task(visits.add("b"))
            await asyncio.sleep(0)
            cancelled.cancel()
            return await other, await visits.add("a")

        self.assertEqual(asyncio.run(run()), (True, False))  # the batch was judged nevertheless

    def test_the_program_reports_new_users(self):
        run = subprocess.run([sys.executable, source / "examples/python/asyncio_visits.py", "mem:", "alice", "bob", "alice"],
                             capture_output=True, text=True, check=True)
        self.assertEqual(run.stdout, "alice is new\nbob is new\nalice was here before\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
