# SPDX-License-Identifier: Apache-2.0
"""The last of three imports, whatever is lost of the superblocks: it can be read, or `verify` names
what is gone, and `rollback` brings it back or gives it up."""

import json
import unittest

import command

SLOTS = ((16, 48), (32, 64))    # KiB, of even and odd generations
FIRST, END = 4, 80              # KiB, where superblocks and zeros are


class LostCommit(command.CommandTest):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "x.crawl"
        for step in range(3):
            self.before = self.path.read_bytes() if step else b""
            lines = "".join(f"http://h{i % 7}.test/{i}\thttp://h.test/{i}\n"
                            for i in range(step * 2000, step * 2000 + 2000))
            self.succeed("import", "x.crawl", "--format", "edges", "-", data=lines.encode())
        self.whole = self.path.read_bytes()
        info = self.info()
        self.newest, self.links = info["generation"], self.link_count()
        self.assertEqual(self.links, 6000)

    def info(self):
        return json.loads(self.succeed("info", "--json", "x.crawl").out)

    def link_count(self):
        return len(self.succeed("export", "x.crawl", "--format", "edges").out.splitlines())

    def overwrite(self, ranges, content):
        data = bytearray(self.whole)
        for begin, length in ranges:
            data[begin << 10:(begin + length) << 10] = content[begin << 10:(begin + length) << 10]
        self.path.write_bytes(data)

    def lose_newest_slot(self):
        self.overwrite([(place, 4) for place in SLOTS[self.newest % 2]], bytes(END << 10))

    def test_no_range_of_five_units_takes_it_in_silence(self):
        for name, content in (("zeros", bytes(END << 10)), ("older", self.before)):
            for begin in range(FIRST, END - 20 + 1, 4):
                with self.subTest(f"{name} at {begin} KiB"):
                    self.overwrite([(begin, 20)], content)
                    self.assertEqual(self.info()["generation"], self.newest)
                    self.succeed("verify", "--deep", "x.crawl")
        self.overwrite([], b"")
        self.assertEqual(self.link_count(), self.links)

    def test_with_its_slot_is_named_and_comes_back(self):
        self.lose_newest_slot()
        answer = self.run_command("verify", "--deep", "x.crawl")
        self.assertEqual(answer.code, 1)
        self.assertRegex(answer.out.decode(),
                         f"damaged, generation {self.newest}: .*newer generation")
        for verb in (["seen"], ["merge"], ["compact"],
                     ["import", "x.crawl", "--format", "edges", "-"]):
            words = verb if len(verb) > 1 else [*verb, "x.crawl"]
            self.refuse(1, "a commit newer than what the file shows.*rollback --forward", *words)
        said = self.succeed("rollback", "--forward", "x.crawl").err.decode()
        self.assertIn(f"generation {self.newest} is the newest again", said)
        self.succeed("verify", "--deep", "--strict", "x.crawl")
        self.assertEqual(self.link_count(), self.links)

    def test_is_given_up_by_rollback(self):
        self.lose_newest_slot()
        self.succeed("rollback", "x.crawl")
        self.succeed("verify", "--deep", "--strict", "x.crawl")
        self.assertEqual(self.info()["generation"], self.newest + 1)
        self.succeed("import", "x.crawl", "--format", "edges", "-",
                     data=b"http://new.test/\thttp://h.test/\n")
        self.assertGreater(self.info()["generation"], self.newest + 1)

    def test_is_not_published_with_damage(self):
        root = next(field for field in json.loads(
            self.succeed("dump", "--json", "x.crawl").out)["fields"] if field["name"] == "root")
        data = bytearray(self.whole)
        data[root["offset_bytes"]] ^= 1
        self.whole = bytes(data)
        self.lose_newest_slot()
        before = self.path.read_bytes()
        self.refuse(1, "directory root of the lost generation is not whole",
                    "rollback", "--forward", "x.crawl")
        self.assertEqual(self.path.read_bytes(), before)

    def test_that_was_killed_is_unfinished_and_no_fault(self):
        self.overwrite([(place, 4) for places in SLOTS for place in places], self.before)
        answer = self.succeed("verify", "--deep", "--strict", "x.crawl")
        self.assertRegex(answer.out.decode(), "unfinished, generation .*newer generation")
        self.assertIn(b"whole", answer.out)

    def test_that_is_not_there_changes_nothing(self):
        self.refuse(1, "nothing to roll back or forward to", "rollback", "--forward", "x.crawl")
        self.assertEqual(self.path.read_bytes(), self.whole)

    def test_leaves_copies_whole(self):
        self.succeed("snapshot", "x.crawl", "copy.crawl")
        self.succeed("verify", "--deep", "--strict", "copy.crawl")
        self.succeed("seen", "copy.crawl", data=b"http://new.test/\n")
        self.succeed("verify", "--deep", "--strict", "copy.crawl")


if __name__ == "__main__":
    unittest.main()
