# SPDX-License-Identifier: Apache-2.0
"""`diff` and `info` of frontiers: what became of items and groups between two states."""

import json
import shutil
import unittest

import command

FREE = "delay=none,in-flight=1000000"  # a group that may be visited at any time


class FrontierDiff(command.CommandTest):
    def put(self, items, *words, name="x.crawl"):
        """items: [(group, priority, body)]."""
        lines = b"".join(b"%s\t%r\t%s\n" % (group.encode(), priority, body.encode())
                         for group, priority, body in items)
        self.succeed("frontier", name, "--put", "-", *words, data=lines)

    def take(self, count, name="x.crawl"):
        answer = self.run_command("take", name, "-n", count, "--per-group", count)
        return [line.split(b"\t")[0].decode() for line in answer.out.splitlines()]

    def done(self, text, name="x.crawl"):
        self.succeed("done", name, data=text.encode())

    def keep(self):
        shutil.copy(self.folder / "x.crawl", self.folder / "old.crawl")

    def diff(self, *words, code=1):
        answer = self.run_command("diff", *(words or ("old.crawl", "x.crawl")), "--json")
        self.assertEqual(answer.code, code, answer.err)
        return json.loads(answer.out)

    def items(self, document):
        return [(row["change"], row["body"], row["fields"]) for row in document["frontier_items"]]

    def test_tells_what_became_of_items(self):
        self.put([("a", 9, "kept"), ("a", 8, "done"), ("a", 7, "leased"), ("b", 6, "again")],
                 "--default", FREE)
        leased = self.take(1)
        self.done(f"{leased[0]}\tretry\n")
        first, second = self.take(2)
        self.keep()
        self.assertFalse(self.diff("x.crawl", "x.crawl", code=0)["is_different"])
        self.done(f"{second}\n{first}\tfailed\n")
        self.take(1)
        self.take(1)
        self.put([("c", 1, "new")])
        found = self.diff()
        (row,) = found["frontiers"]
        self.assertEqual((row["name"], row["change"], row["is_by_body"]),
                         ("frontier", "changed", False))
        self.assertEqual(
            [row[f"{change}_item_count"] for change in ("added", "gone", "leased", "changed")],
            [1, 1, 1, 1])
        self.assertEqual((row["old_leased_count"], row["new_leased_count"]), (2, 2))
        self.assertEqual((row["added_group_count"], row["changed_group_count"]), (1, 1))
        self.assertEqual(sorted(self.items(found)),
                         [("added", "new", ""), ("changed", "kept", "attempt time"),
                          ("gone", "done", ""), ("leased", "leased", "attempt")])
        self.assertEqual([(row["change"], row["group"], row["new_failure_count"])
                          for row in found["frontier_groups"]],
                         [("changed", "a", 1), ("added", "c", 0)])
        self.assertEqual(found["summary"],
                         "+1 and -1 frontier items, 1 item came to be leased, 1 item changed, "
                         "+1 group, 1 group changed, 1 group slowed")
        text = self.run_command("diff", "old.crawl", "x.crawl").out.decode()
        self.assertRegex(text, r"(?m)^frontier +gone +\d+ +leased .* done$")

    def test_tells_what_came_back_and_rules(self):
        self.put([("a", 9, "kept"), ("b", 8, "back")], "--default", FREE)
        ids = self.take(2)
        self.keep()
        self.done(f"{ids[1]}\tretry\n")
        self.succeed("frontier", "x.crawl", "--group", "a", "--set", "delay=7s")
        found = self.diff()
        self.assertEqual(self.items(found), [("returned", "back", "")])
        row = found["frontier_groups"][0]
        self.assertEqual((row["group"], row["old_rule"]), ("a", None))
        self.assertIn("delay=7s", row["new_rule"])

    def test_of_a_whole_frontier_says_added_or_gone(self):
        self.put([("a", 1, "one"), ("b", 2, "two")])
        self.keep()
        self.put([("a", 1, "three")], "--frontier", "other")
        for change, *words in ("added", "old.crawl", "x.crawl"), ("gone", "x.crawl", "old.crawl"):
            found = self.diff(*words)
            self.assertEqual([(row["name"], row["change"]) for row in found["frontiers"]],
                             [("frontier", "equal"), ("other", change)])
            self.assertEqual(self.items(found), [(change, "three", "")])

    def test_of_two_stores_goes_by_body(self):
        items = [(f"g{n % 7}", n, f"http://g{n % 7}/{n}") for n in range(200)]
        self.put(items, name="old.crawl")
        self.put(items[::-1][:150] + [("g1", 1, "http://g1/new"), ("h", 1, "http://h/")])
        found = self.diff()
        (row,) = found["frontiers"]
        self.assertEqual((row["is_by_body"], row["added_item_count"], row["gone_item_count"],
                          row["changed_item_count"], row["added_group_count"]),
                         (True, 2, 50, 0, 1))
        self.put(items, name="same.crawl")
        self.assertFalse(self.diff("old.crawl", "same.crawl", code=0)["is_different"])

    def test_lists_as_many_items_as_are_wanted(self):
        self.put([("a", n, f"{n}") for n in range(50)])
        self.keep()
        self.put([("b", n, f"{n}") for n in range(50)])
        for limit in (0, 7):
            found = self.diff("old.crawl", "x.crawl", "--limit", limit)
            self.assertEqual(found["frontiers"][0]["added_item_count"], 50)
            self.assertEqual(len(found["frontier_items"]), limit)

    def test_leaves_out_what_is_damaged(self):
        self.put([("a", 1, "one")], "--frontier", "one")
        self.put([("a", 1, "a-body")], "--frontier", "two")
        self.keep()
        self.put([("b", 1, "more")], "--frontier", "two")  # what is the same is not read
        content = bytearray((self.folder / "x.crawl").read_bytes())
        at = content.rindex(b"a-body")  # in a journal
        content[at] ^= 1
        (self.folder / "x.crawl").write_bytes(content)
        answer = self.run_command("diff", "old.crawl", "x.crawl")
        self.assertEqual(answer.code, 2, answer.out)
        self.assertIn(b"x.crawl", answer.err)
        found = self.diff("old.crawl", "x.crawl", "--skip-damaged")
        self.assertEqual([row["name"] for row in found["frontiers"]], ["one"])
        self.assertEqual([(row["state"], row["kind"], row["name"]) for row in found["gaps"]],
                         [("new", "frontier", "two")])

    def test_info_tells_frontiers(self):
        self.put([("a", 1, "one"), ("b", 1, "two")], "--default", FREE)
        self.take(1)
        (row,) = json.loads(self.succeed("info", "x.crawl", "--json").out)["frontiers"]
        self.assertEqual((row["name"], row["group_count"], row["waiting_count"],
                          row["leased_count"], row["item_run_count"]), ("frontier", 2, 1, 1, 0))
        self.assertGreater(row["clock_us"], 0)
        self.assertEqual(row["next_due_us"], row["clock_us"])
        self.assertEqual(row["bytes_per_item"], row["allocated_bytes"] / 2)
        text = self.succeed("info", "x.crawl").out.decode()
        self.assertRegex(text, r"(?m)^frontier +\d+ +2 +1 +1 ")


if __name__ == "__main__":
    unittest.main()
