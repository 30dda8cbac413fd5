# SPDX-License-Identifier: Apache-2.0
"""queue and next: what waits, in its order; and nothing that was not written leaves."""

import json
import os
import shutil
import signal
import unittest

import command
from interrupt_test import InterruptTest

GOLDEN = command.SOURCE / "tests/golden/valid"


class QueueTest(InterruptTest):
    """x.crawl has queues of pages, and no page database."""

    def setUp(self):
        super().setUp()
        self.fresh()
        self.waiting = self.peek()

    def fresh(self):
        shutil.copyfile(GOLDEN / "queues.crawl", self.folder / "x.crawl")

    def next(self, *words):
        """[(priority, page)], as they come."""
        lines = self.succeed("next", "x.crawl", "--format", "tsv", *words).out.splitlines()
        return [(float(priority), page.decode()) for priority, page in
                (line.split(b"\t") for line in lines)]

    def peek(self, *words):
        """All that waits, and none of it leaves."""
        return self.next("--peek", "-n", "100,000", *words)


class Next(QueueTest):
    def test_takes_the_first_ones_until_there_is_none(self):
        count = len(self.waiting)
        queue = json.loads((GOLDEN / "queues.json").read_text())["queues"][0]
        self.assertEqual(count, queue["entry_count"])
        self.assertEqual([page for _, page in self.waiting][:len(queue["first"])],
                         [f"#{page}" for _, page in queue["first"]])
        self.assertEqual([priority for priority, _ in self.waiting],
                         sorted((priority for priority, _ in self.waiting), reverse=True))
        self.assertEqual(self.next(), self.waiting[:1])
        self.assertEqual(self.next("-n", "1,000"), self.waiting[1:1001])
        self.assertEqual(self.peek(), self.waiting[1001:])
        self.assertEqual(self.succeed("next", "x.crawl").out,
                         self.waiting[1001][1].encode() + b"\n")
        self.assertEqual(self.next("-n", count), self.waiting[1002:])
        self.refuse(1, "x.crawl: the queue `queue` is empty", "next", "x.crawl")
        self.refuse(1, "the queue `queue` is empty", "next", "x.crawl", "--peek", "--json")
        self.succeed("verify", "--deep", "--strict", "x.crawl")

    def test_refuses_what_cannot_be(self):
        self.refuse(2, "from 1 to 100000000", "next", "x.crawl", "-n", "0")
        self.refuse(2, "excludes", "next", "x.crawl", "--json", "--format", "tsv")
        self.refuse(2, "csv", "next", "x.crawl", "--format", "csv")
        self.refuse(1, "no queue `none`; there are `empty`, `queue`: --name NAME", "next",
                    "x.crawl", "--name", "none")
        self.refuse(1, "no such file|No such file", "next", "y.crawl")
        self.make_store("y.crawl")
        for words in (["next", "y.crawl"], ["next", "y.crawl", "--peek"], ["queue", "y.crawl"]):
            self.refuse(1, "y.crawl: the store has no queue; `crawlstore queue y.crawl", *words)
        self.assertEqual(self.peek(), self.waiting)

    def test_has_a_document(self):
        pages = json.loads(self.succeed("next", "x.crawl", "-n", "3", "--json").out)["pages"]
        self.assertEqual(pages, [{"index": int(page[1:]), "priority": priority, "url": None}
                                 for priority, page in self.waiting[:3]])
        self.assertEqual(self.peek(), self.waiting[3:])

    def test_peeks_beside_a_writer(self):
        writer = self.start("seen", "x.crawl", "--quiet")
        writer.stdin.write(b"http://a.test/\n")
        writer.stdin.flush()
        command.wait_until_read(writer.stdin.fileno())
        self.refuse(3, "another writer has the store open", "next", "x.crawl")
        self.assertEqual(self.next("--peek", "-n", "2"), self.waiting[:2])
        self.succeed("queue", "x.crawl")
        writer.communicate(timeout=60)
        self.assertEqual(self.peek(), self.waiting)


class LosesNothing(QueueTest):
    """Pages that were not written, or of whose taking there is no commit, come again."""

    def assert_untouched(self, before):
        self.assertEqual((self.folder / "x.crawl").read_bytes(), before)
        self.assertEqual(self.peek(), self.waiting)

    def test_when_the_output_fails(self):
        before = (self.folder / "x.crawl").read_bytes()
        reader, writer = os.pipe()
        os.close(reader)
        answer = self.run_command("next", "x.crawl", "-n", "5", stdout=writer)
        os.close(writer)
        self.assertEqual(answer.code, -signal.SIGPIPE)
        self.assert_untouched(before)
        with open("/dev/full", "wb") as full:
            for words in ([], ["--json"]):
                answer = self.run_command("next", "x.crawl", "-n", "5", *words, stdout=full)
                self.assertEqual(answer.code, 3, answer.err)
        self.assert_untouched(before)

    def test_when_the_reader_dies(self):
        """What it has read of is more than a pipe holds."""
        before = (self.folder / "x.crawl").read_bytes()
        process = self.start("next", "x.crawl", "-n", "100,000", "--format", "tsv")
        self.assertEqual(len(process.stdout.read(1000)), 1000)
        process.stdout.close()
        self.assertEqual(process.wait(60), -signal.SIGPIPE)
        process.stdin.close()
        process.stderr.close()
        self.assert_untouched(before)

    def test_when_it_is_killed_between_the_output_and_the_commit(self):
        words = ["next", "x.crawl", "-n", "10", "--format", "tsv"]
        count, _ = self.calls(*words)
        self.assertGreater(count, 2)
        states = set()
        for at in range(1, count + 1):
            self.fresh()
            answer = self.signalled(*words, SIGNAL=signal.SIGKILL, SIGNAL_AT_PWRITE=at)
            self.assertEqual(answer.code, -signal.SIGKILL)
            shown, left = len(answer.out.splitlines()), self.peek()
            self.assertIn((shown, left), [(0, self.waiting), (10, self.waiting),
                                          (10, self.waiting[10:])])
            states.add((shown, len(left)))
            self.assert_whole()
        self.assertIn((10, len(self.waiting)), states)


class Shown(QueueTest):
    def test_all_queues_and_the_first_pages_of_one(self):
        found = json.loads(self.succeed("queue", "x.crawl", "--json").out)
        self.assertEqual((found["name"], found["page_count"], found["first_priority"]),
                         ("queue", len(self.waiting), self.waiting[0][0]))
        self.assertEqual([(row["priority"], f"#{row['index']}") for row in found["pages"]],
                         self.waiting[:10])
        queues = {row["name"]: row for row in found["queues"]}
        self.assertEqual(list(queues), ["empty", "queue"])
        self.assertEqual(queues["queue"]["page_count"], len(self.waiting))
        self.assertAlmostEqual(queues["queue"]["bytes_per_page"],
                               queues["queue"]["allocated_bytes"] / len(self.waiting))
        empty = json.loads(self.succeed("queue", "x.crawl", "--name", "empty", "--json").out)
        self.assertEqual((empty["page_count"], empty["first_priority"], empty["pages"]),
                         (0, None, []))
        self.assertRegex(self.succeed("queue", "x.crawl", "-n", "1").out,
                         rb"(?m)^first_priority +1019\.5\n")
        self.refuse(2, "from 1", "queue", "x.crawl", "-n", "0")
        self.refuse(1, "no queue `none`", "queue", "x.crawl", "--name", "none")


if __name__ == "__main__":
    unittest.main()
