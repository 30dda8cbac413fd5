# SPDX-License-Identifier: Apache-2.0
"""frontier --put that ends early, and a wall clock that was once ahead."""

import json
import os
import random
import resource
import signal
import unittest

import command

YEAR = 365 * 86_400  # by which that clock is ahead


def lines_of(count):
    """Returns lines whose bodies cannot be packed."""
    dice = random.Random(1)
    return [b"g%d\t1\t%s\n" % (i % 9, dice.randbytes(20).hex().encode()) for i in range(count)]


class EndsTest(command.CommandTest):
    def put(self, data, *words, name="x.crawl", **options):
        return self.run_command("frontier", name, "--put", "-", "--json", *words, data=data,
                                **options)

    def info(self, *words):
        return json.loads(self.succeed("frontier", "x.crawl", "--json", *words).out)


class Put(EndsTest):
    def limited(self, lines, size):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        return self.put(b"".join(lines), preexec_fn=limit)

    def test_says_where_to_go_on(self):
        lines = lines_of(200_000)
        self.put(b"".join(lines[:100_000]), name="y.crawl")
        answer = self.limited(lines, os.path.getsize(self.folder / "y.crawl") + (1 << 20))
        self.assertEqual(answer.code, 3, answer.err)
        self.assertIn(b"-: committed up to line 100000; `tail -n +100001` gives the lines after it",
                      answer.err)
        self.assertEqual(self.info()["waiting_count"], 100_000)
        self.assertEqual(self.put(b"".join(lines[100_000:])).code, 0)
        self.assertEqual(self.info()["waiting_count"], 200_000)

    def test_leaves_no_frontier_without_a_line(self):
        answer = self.limited(lines_of(50_000), 300 << 10)
        self.assertEqual(answer.code, 3, answer.err)
        self.assertIn(b"-: no line was committed: give all of them again", answer.err)
        answer = self.put(b"a\t1\t\n", "--default", "delay=7s")
        self.assertEqual(answer.code, 0, answer.err)
        self.assertIn("delay=7s", self.info()["default_rule"])

    def test_says_it_after_a_signal(self):
        put = self.start("frontier", "x.crawl", "--put", "-", "--json")
        put.stdin.write(b"a\t1\t\n\nb\t1\t\n")
        put.stdin.flush()
        command.wait_until_read(put.stdin.fileno())
        put.send_signal(signal.SIGTERM)
        out, err = put.communicate(timeout=60)
        self.assertEqual((put.returncode, json.loads(out)["line_count"]), (143, 3))
        self.assertIn(b"committed up to line 3; `tail -n +4`", err)

    def test_makes_nothing_by_a_signal(self):
        put = self.start("frontier", "x.crawl", "--put", "-")
        command.wait_until_caught(put, signal.SIGTERM)
        put.send_signal(signal.SIGTERM)
        out, err = put.communicate(timeout=60)
        self.assertEqual((put.returncode, out), (143, b""))
        self.assertIn(b"no line was committed", err)
        self.assertFalse((self.folder / "x.crawl").exists())

    def test_names_what_is_no_number(self):
        self.refuse(2, "line 2 has `nan` as its PRIORITY: give a number", "frontier", "x.crawl",
                    "--put", "-", data=b"a\t1\t\na\tnan\t\n")


class Clock(EndsTest):
    def test_that_was_ahead_stops_no_crawl(self):
        self.put(b"a\t2\tx\na\t1\ty\n", "--default", "delay=2s,in-flight=9",
                 env=command.clock_ahead())
        taken = self.succeed("take", "x.crawl", "--lease", "none", env=command.clock_ahead()).out
        self.assertTrue(taken.endswith(b"\ta\tx\n"), taken)
        self.refuse(1, "nothing is due .* in [12]", "take", "x.crawl")
        self.assertAlmostEqual(self.info()["clock_ahead_seconds"], YEAR, delta=300)
        self.assertRegex(self.succeed("frontier", "x.crawl").out, rb"clock_ahead_seconds +87\d\d h")
        taken = self.succeed("take", "x.crawl", "--wait", "1min").out
        self.assertTrue(taken.endswith(b"\ta\ty\n"), taken)
        self.assert_whole()

    def test_that_is_right_is_not_ahead(self):
        self.put(b"a\t1\tx\n")
        self.succeed("take", "x.crawl")
        self.assertNotIn("clock_ahead_seconds", self.info())


if __name__ == "__main__":
    unittest.main()
