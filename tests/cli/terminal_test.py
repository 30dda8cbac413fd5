# SPDX-License-Identifier: Apache-2.0
"""What a file or an input holds is shown on terminals, never obeyed; elsewhere bytes stay bytes."""

import json
import os
import pty
import tty
import unittest

import pages_command

URLS = [b"http://a.test/\x1b]0;title\x07", b"http://a.test/\xc2\x9b2J", b"http://a.test/\xff",
        "http://a.test/gpj\u202e.exe".encode(), b"=cmd|' /C calc'!A0", b"http://a.test/\xc3\xa9"]


class Terminals(pages_command.PagesTest):
    def setUp(self):
        super().setUp()
        lines = [json.dumps({"kind": "page", "time": 5, **pages_command.named(url)}) + "\n"
                 for url in URLS]
        self.load("".join(lines[:1]).encode(), "jsonl", "--raw")
        self.load("".join(lines[1:]).encode(), "jsonl", "--raw")
        (self.folder / "urls").write_bytes(b"\n".join(URLS) + b"\n")

    def on_terminal(self, *words, stream="stdout", **extra):
        """All that the command writes to a terminal."""
        master, slave = pty.openpty()
        tty.setraw(slave)
        process = self.start(*words, **{stream: slave}, env=extra)
        os.close(slave)
        seen = b""
        while True:
            try:
                piece = os.read(master, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            seen += piece
        process.communicate()
        os.close(master)
        return seen

    def assert_harmless(self, seen, words):
        text = seen.decode("utf-8")  # or it fails
        for character in text:
            is_control = ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0
            self.assertFalse((is_control and character not in "\n\t") or character == "\u202e",
                             (words, text))

    def test_show_what_they_would_obey(self):
        for words in (["pages", "x.crawl"], ["pages", "x.crawl", "--tsv"],
                      ["pages", "x.crawl", "--json"], ["page", "x.crawl", "#0"],
                      ["export", "x.crawl", "--format", "csv"],
                      ["export", "x.crawl", "--format", "jsonl"],
                      ["diff", "x.crawl", "--previous", "--keys"],
                      ["seen", "y.crawl", "urls", "--raw"],
                      ["seen", "y.crawl", "urls", "--raw", "--ordered"]):
            seen = self.on_terminal(*words)
            self.assertIn(b"a.test", seen, words)
            self.assert_harmless(seen, words)

    def test_show_it_in_messages_too(self):
        name = "http://a.test/\u202e\x1b[2J"
        seen = self.on_terminal("page", "x.crawl", name, stream="stderr", NO_COLOR="1")
        self.assertIn(rb"\xe2\x80\xae\x1b[2J", seen)
        self.assert_harmless(seen, "page")

    def test_have_colour_all_the_same(self):
        self.assertIn(b"x.crawl: \x1b[1;32mwhole\x1b[0m; ", self.on_terminal("verify", "x.crawl"))
        self.assertIn(b"x.crawl: whole; ", self.on_terminal("verify", "x.crawl", NO_COLOR="1"))

    def test_are_not_what_a_pipe_is(self):
        for url in URLS:
            self.assertIn(url, self.export("csv"))
            self.assertIn(url, self.succeed("pages", "x.crawl", "--tsv").out)

    def test_are_told_of_formulas_by_spreadsheets_unless_they_are_quoted(self):
        self.assertIn(b"\n4,=cmd", self.export("csv"))
        self.assertIn(b"\n4,'=cmd", self.export("csv", "--spreadsheet"))
        self.refuse(2, "--spreadsheet goes with csv", "export", "x.crawl", "--format", "edges",
                    "--spreadsheet")


if __name__ == "__main__":
    unittest.main()
