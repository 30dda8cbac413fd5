# SPDX-License-Identifier: Apache-2.0
"""values: small values of programs, in one file with what they belong to."""

import json
import shutil
import unittest

import command


class Values(command.CommandTest):
    def setUp(self):
        super().setUp()
        self.succeed("create", "x.crawl")

    def values(self, name="x.crawl"):
        found = json.loads(self.succeed("values", name, "--json").out)
        return {row["name"]: row["text"] for row in found["values"]}

    def set(self, name, text):
        self.succeed("values", "x.crawl", name, "--set", text)

    def diff(self, *words):
        answer = self.run_command("diff", *words, "--json")
        self.assertEqual(answer.code, 1, answer.err)
        found = json.loads(answer.out)
        return found["summary"], [(row["change"], row["name"]) for row in found["small_values"]]

    def test_are_set_shown_and_removed(self):
        self.assertEqual(self.values(), {})
        self.set("spider.position", "17")
        self.set("spider.state", "a = 1, b = 2")
        self.set("spider.position", "")
        self.assertEqual(self.values(), {"spider.position": "", "spider.state": "a = 1, b = 2"})
        self.assertRegex(self.succeed("values", "x.crawl", "spider.state").out,
                         rb"(?m)^spider.state +12 B +a = 1, b = 2$")
        self.succeed("values", "x.crawl", "spider.state", "--remove")
        self.assertEqual(self.values(), {"spider.position": ""})
        self.succeed("values", "x.crawl", "spider.position", "--remove")
        self.assertEqual(self.values(), {})
        self.succeed("verify", "x.crawl", "--deep")

    def test_say_what_is_wrong(self):
        for code, words in ((1, ["absent"]), (1, ["absent", "--remove"]), (2, ["--remove"]),
                            (2, ["--set", "x"]), (2, ["a", "--set", "x", "--remove"])):
            self.assertEqual(self.run_command("values", "x.crawl", *words).code, code, words)
        for name, text, message in ((".own", "x", b"full stop"), ("n" * 256, "x", b"255"),
                                    ("a", "x" * 4097, b"4096 bytes"), ("a\nb", "x", b"x.crawl")):
            answer = self.run_command("values", "x.crawl", name, "--set", text)
            self.assertNotEqual(answer.code, 0)
            self.assertIn(message, answer.err)
        self.assertEqual(self.run_command("values", "none.crawl").code, 1)
        self.assertEqual(self.values(), {})

    def test_are_told_by_diff(self):
        self.set("same", "1")
        self.set("changed", "1")
        self.set("gone", "1")
        shutil.copy(self.folder / "x.crawl", self.folder / "old.crawl")
        self.set("changed", "2")
        self.set("added", "")
        self.succeed("values", "x.crawl", "gone", "--remove")
        self.assertEqual(self.diff("old.crawl", "x.crawl"), (
            "+1 and -1 small values, 1 small value changed",
            [("added", "added"), ("changed", "changed"), ("gone", "gone")]))
        self.assertEqual(self.diff("x.crawl", "--previous"),
                         ("-1 small value", [("gone", "gone")]))

    def test_go_with_the_file(self):
        self.set("counter", "0")
        self.set("kept", "yes" * 1000)
        whole = self.values()
        self.succeed("snapshot", "x.crawl", "copy.crawl")
        self.succeed("compact", "x.crawl")
        self.set("kept", "no")
        self.succeed("rollback", "x.crawl")
        for name in ("x.crawl", "copy.crawl"):
            self.assertEqual(self.values(name), whole)
            self.succeed("verify", name, "--deep")

    def test_come_back_from_a_damaged_file(self):
        self.set("kept", "yes" * 1000)
        self.run_command("import", "x.crawl", "-", "--format", "urls",
                         data=b"".join(b"http://a.test/%d\n" % n for n in range(5000)))
        found = json.loads(self.succeed("segments", "x.crawl", "--runs", "--json").out)
        origins = next(row for row in found["segments"] if row["kind"] == "page_origins")
        run = next(run for run in found["runs"] if run["segment"] == origins["id"])
        data = bytearray((self.folder / "x.crawl").read_bytes())
        begin = run["offset_bytes"]
        data[begin:begin + 64] = bytes(64)
        (self.folder / "x.crawl").write_bytes(data)
        self.run_command("recover", "x.crawl", "new.crawl")
        self.assertEqual(self.values("new.crawl"), {"kept": "yes" * 1000})


if __name__ == "__main__":
    unittest.main()
