# SPDX-License-Identifier: Apache-2.0
"""The bytes of a file or an input are shown on terminals, never obeyed; elsewhere bytes stay
bytes."""

import fcntl
import json
import os
import pty
import struct
import termios
import time
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

    def on_terminal(self, *words, stream="stdout", columns=0, slow=(), **extra):
        """All that the command writes to a terminal; it reads the pieces of `slow` one by one."""
        master, slave = pty.openpty()
        tty.setraw(slave)
        if columns:
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
        process = self.start(*words, **{stream: slave}, env=extra)
        os.close(slave)
        for piece in slow:
            process.stdin.write(piece)
            process.stdin.flush()
            time.sleep(0.05)
        process.stdin.close()
        seen = b""
        while True:
            try:
                piece = os.read(master, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            seen += piece
        process.wait()
        for pipe in filter(None, (process.stdout, process.stderr)):
            pipe.close()
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

    def progress_on_terminal(self, **options):
        """Checks the progress that a run of more than a second shows on standard error."""
        slow = [b"http://a.test/\thttp://b.test/\n" * 1024] * 30
        return self.on_terminal("import", "y.crawl", "--format", "edges", "-", stream="stderr",
                                slow=slow, **options).decode()

    def assert_drawn(self, seen, columns):
        """Lines over one another, none of which wraps."""
        self.assertTrue(seen.startswith("\rimport: ") and seen.endswith("\r\x1b[K"), seen)
        self.assertNotIn("\n", seen)
        widths = [len(line.removesuffix("\x1b[K")) for line in seen.split("\r")[1:]]
        self.assertGreater(len(widths), 2)
        self.assertEqual(max(widths), columns - 1, seen)

    def test_are_measured_for_progress(self):
        self.assert_drawn(self.progress_on_terminal(columns=20), 20)
        self.assert_drawn(self.progress_on_terminal(columns=20, COLUMNS="15"), 15)
        self.assert_drawn(self.progress_on_terminal(columns=15, COLUMNS="wide"), 15)
        self.assertIn(" lines, ", self.progress_on_terminal(columns=60))

    def test_that_are_dumb_get_no_escapes(self):
        self.assertNotIn("\x1b", self.progress_on_terminal(TERM="dumb"))
        self.assertNotIn(b"\x1b", self.on_terminal("verify", "x.crawl", TERM="dumb"))

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
