# SPDX-License-Identifier: Apache-2.0
"""A damaged queue: what fails says how it is emptied, and what empties it does not read it."""

import json
import shutil
import unittest

import queue_test

KINDS = ("queue", "queue_entries")


class Damaged(queue_test.Crawl):
    """The queue `queue` of x.crawl can be damaged; the queue `other` is whole."""

    def setUp(self):
        super().setUp()
        self.fill()
        self.fill("--name", "other")
        self.waiting = self.peek("other")
        shutil.copyfile(self.folder / "x.crawl", self.folder / "whole.crawl")

    def peek(self, name):
        return self.next("--peek", "-n", "1,000", "--name", name)

    def damage(self, kind):
        """The last byte of each run of the table, or of the entries, which is of a footer.

        There is one segment of another kind than theirs.
        """
        shutil.copyfile(self.folder / "whole.crawl", self.folder / "x.crawl")
        found = json.loads(self.succeed("segments", "x.crawl", "--json").out)
        (table,) = [one["id"] for one in found["segments"] if one["name"] == "queue"]
        (segment,) = [one["id"] for one in found["segments"] if one["kind"] == kind
                      and (kind not in KINDS or table in (one["id"], one["owner"]))]
        with open(self.folder / "x.crawl", "r+b") as file:
            for run in found["runs"]:
                if run["segment"] == segment:
                    file.seek(run["offset_bytes"] + run["payload_bytes"] - 1)
                    byte = file.read(1)[0]
                    file.seek(-1, 1)
                    file.write(bytes([byte ^ 1]))

    def assert_like_new(self):
        """Also the generation before has no damaged queue any more."""
        self.assertEqual(self.peek("other"), self.waiting)
        self.succeed("queue", "x.crawl", "--name", "other", "--trim", "2")
        self.succeed("verify", "--deep", "--strict", "x.crawl")

    def test_says_how_it_is_emptied(self):
        advice = (r"damaged: .* segment(.|\n)*`crawlstore queue x.crawl --name queue --clear` drops"
                  r"(.|\n)*--replace")
        for kind in KINDS:
            self.damage(kind)
            for words in (["queue"], ["next", "--peek"], ["next"], ["export", "--format", "queue"],
                          ["queue", "--insert", "/dev/null"], ["queue", "--fill-from", "pagerank"],
                          ["queue", "--trim", "3"]):
                verb, *rest = words
                self.refuse(1, advice, verb, "x.crawl", *rest, "--name", "queue")
            self.refuse(1, advice, "forget", "x.crawl", "--host", "a.test", "--queue", "queue")

    def test_is_not_blamed_for_pages_that_are_damaged(self):
        """Nor is the list that names them."""
        self.damage("drum_partition")
        self.refuse(1, r"^crawlstore: x\.crawl: .*damaged: .* segment", "queue", "x.crawl",
                    "--name", "other", "--insert", "-", data=b"1\thttp://a.test/\n")

    def test_leaves_the_others_as_they_are(self):
        for kind in KINDS:
            self.damage(kind)
            self.assertEqual(self.peek("other"), self.waiting)
            # The list needs tables alone.
            expected = (1, ["other"]) if kind == "queue" else (0, ["other", "queue"])
            for words in (["queue", "x.crawl", "--name", "other"], ["info", "x.crawl"]):
                answer = self.run_command(*words, "--json")
                found = json.loads(answer.out)
                self.assertEqual((answer.code, [one["name"] for one in found["queues"]]), expected)
                self.assertEqual(b"damaged" in answer.err, kind == "queue")
            self.succeed("export", "x.crawl", "--format", "queue", "--name", "other")
            self.fill("--name", "third")
            self.succeed("queue", "x.crawl", "--name", "other", "--trim", "3")
            taken = self.next("-n", "2", "--name", "other")
            self.assertEqual(taken, self.waiting[:2])

    def test_is_cleared(self):
        for kind, option in zip(KINDS, (["--clear"], ["--trim", "0"]), strict=True):
            self.damage(kind)
            answer = self.succeed("queue", "x.crawl", "--name", "queue", "--json", *option)
            counts = json.loads(answer.out)
            self.assertEqual(counts, {"name": "queue", "removed_count": counts["removed_count"],
                                      "page_count": 0})
            self.assertEqual(counts["removed_count"],
                             None if kind == "queue" else len(self.waiting))
            self.assertIn(b"the queue was damaged: until another commit", answer.err)
            self.assertEqual([(row["name"], row["page_count"]) for row in self.info()["queues"]],
                             [("other", len(self.waiting)), ("queue", 0)])
            self.refuse(1, "the queue `queue` is empty", "next", "x.crawl", "--name", "queue")
            self.insert(b"7\thttp://a.test/3\n", "--name", "queue")
            self.assertEqual(self.peek("queue"), [(7, "http://a.test/3")])
            self.assert_like_new()

    def test_is_replaced(self):
        for kind in KINDS:
            self.damage(kind)
            filled = self.fill("--replace", "--name", "queue", "-n", "5")
            self.assertEqual((filled["inserted_count"], filled["page_count"]), (5, 5))
            self.assertEqual(self.peek("queue"), self.waiting[:5])
            self.assert_like_new()

    def test_is_not_cleared_under_another_name(self):
        self.damage("queue")
        self.refuse(1, "no queue `none`; there are `other`, `queue`", "queue", "x.crawl", "--name",
                    "none", "--clear")


if __name__ == "__main__":
    unittest.main()
