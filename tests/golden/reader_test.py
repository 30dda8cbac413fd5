# SPDX-License-Identifier: Apache-2.0
"""spec/reader.py, written from spec/format.md, agrees with the library on every golden file.

One process reads them all; the command reads some, which CRAWLSTORE_TEST_SEED chooses.
"""

import contextlib
import functools
import io
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

# The sections whose rules the bytes of a file can break, and which rules. Links, rules 1, 3 and 4
# bind writers: bytes show only what comes of them, by rule 2. Page keys, rule 1: a key of another
# host has another head, rule 2.
RULES = {
    "Feature bits": range(3, 4),
    "Directory": range(1, 17),
    "Segments": range(1, 2),
    "Drum": range(1, 15),
    "Partition": range(1, 9),
    "Key block": range(9, 14),
    "Request runs": range(1, 9),
    "Result runs": range(1, 6),
    "Event runs": range(1, 7),
    "Link runs": range(1, 8),
    "Dense link runs": range(1, 7),
    "Dense model": range(7, 8),
    "Dense block": range(8, 12),
    "Short numbers": range(1, 3),
    "Link block": range(1, 9),
    "Links": range(2, 3),
    "Origin runs": range(1, 13),
    "Tiled segments": range(1, 8),
    "Record tiles": range(1, 10),
    "Page keys": range(2, 5),
    "Pages": range(1, 12),
    "Score arrays": range(1, 14),
    "Frontier tables": range(1, 9),
    "Group runs": range(1, 6),
    "Item runs": range(1, 10),
    "Step runs": range(1, 13),
}
SOURCE = pathlib.Path(os.environ.get("CRAWLSTORE_SOURCE_DIR", "."))
GOLDEN = SOURCE / "tests" / "golden"
VALID = sorted((GOLDEN / "valid").glob("*.crawl"))

sys.path[:0] = [str(SOURCE / "spec"), str(GOLDEN)]
import golden  # noqa: E402  pylint: disable=wrong-import-position
import reader  # noqa: E402  pylint: disable=wrong-import-position

SEED = os.environ.get("CRAWLSTORE_TEST_SEED", "1")


def read(*arguments):
    """Returns the output of the command: (standard output, message)."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            reader.main(list(map(str, arguments)))
    except SystemExit as end:
        return printed.getvalue(), end.code
    return printed.getvalue(), ""


@functools.cache
def rejections():
    """[(name, message)] of the rejected files."""
    with tempfile.TemporaryDirectory() as folder:
        return [(name, read(golden.expand(name, folder))[1]) for name in golden.rejected_names()]


def run_command(*arguments):
    return subprocess.run([sys.executable, "-B", SOURCE / "spec" / "reader.py", *arguments],
                          capture_output=True, text=True, check=False)


class ReaderTest(unittest.TestCase):
    """One subtest a file."""

    def test_valid_files_give_their_document(self):
        self.assertGreaterEqual(len(VALID), 30)
        for path in VALID:
            with self.subTest(path.name):
                printed, message = read(path)
                self.assertEqual(message, "")
                expected = json.loads(path.with_suffix(".json").read_text())
                found = json.loads(printed)
                for finding in found["findings"]:
                    finding.pop("text", None)
                keep = [{key: finding[key] for key in ("kind", "error")}
                        for finding in found["findings"]]
                self.assertEqual({**found, "findings": keep}, expected)

    def test_rejected_files_give_their_class_and_rule(self):
        self.assertGreaterEqual(len(rejections()), 60)
        for name, message in rejections():
            with self.subTest(name):
                file = golden.rejected(name)
                self.assertEqual((message.split(":")[0], golden.rule_of(message)),
                                 (file.error, file.rule))

    def test_patches_hold_nothing_else(self):
        head = "base: empty\nerror: a\nrule: b\nplace: c\ntext: d\n"
        self.assertEqual(golden.decode(head).content, golden.valid("empty"))
        for line in ("text: twice", "0 89 -> 8a", "0+0 89", "0+0 88 -> 8a", "0+0 89 -> 8a8b",
                     "0+0 89 - 8a", "0+0 89 -> 8", "0+0 zero", "0+0 zero 9999999",
                     "9999999+0 89 -> 8a", "0+0 89 -> 8a behind", "length: 1x"):
            with self.subTest(line), self.assertRaises(ValueError):
                golden.decode(f"{head}{line}\n")
        with self.assertRaises(ValueError):
            golden.decode("base: empty\nrule: b\n")

    def test_each_rule_is_the_first_that_some_rejected_file_breaks(self):
        broken = set()
        for _, message in rejections():
            for section, rule in re.findall(r"([A-Z][a-z ]+) rule (\d+)", golden.rule_of(message)):
                broken.add((section, int(rule)))
        wanted = {(section, rule) for section, rules in RULES.items() for rule in rules}
        self.assertEqual(wanted - broken, set())


class CommandTest(unittest.TestCase):
    """python3 spec/reader.py as a process: exit code, standard output, standard error."""

    def assert_fails(self, done, start):
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertTrue(done.stderr.startswith(start), done.stderr)

    def test_prints_what_the_module_tells_of_a_file(self):
        dice = random.Random(SEED)
        folder = self.enterContext(tempfile.TemporaryDirectory())
        for path in dice.sample(VALID, 4) + [
                golden.expand(name, folder) for name in dice.sample(golden.rejected_names(), 8)]:
            for options in ([], ["--no-pin"]):
                with self.subTest(f"{path.name} {options} CRAWLSTORE_TEST_SEED={SEED}"):
                    printed, message = read(*options, path)
                    done = run_command(*options, path)
                    self.assertEqual(done.returncode, 1 if message else 0)
                    self.assertEqual(done.stdout, printed)
                    self.assertEqual(done.stderr, message and message + "\n")

    def test_wants_one_file(self):
        for arguments in ([], ["--no-pin"], ["a", "b"]):
            with self.subTest(arguments):
                self.assert_fails(run_command(*arguments), reader.__doc__)

    def test_says_why_a_file_cannot_be_read(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assert_fails(run_command(folder), "io: ")
            path = pathlib.Path(folder, "a.crawl")
            self.assert_fails(run_command(path), "not_found: ")
            path.touch(mode=0)
            wanted = "permission: " if os.geteuid() else "not_a_crawl_file: "
            self.assert_fails(run_command(path), wanted)

    def test_ends_quietly_when_nobody_reads_on(self):
        unread, closed = os.pipe()
        os.close(unread)
        with os.fdopen(closed, "wb") as output:
            done = subprocess.run([sys.executable, "-B", SOURCE / "spec" / "reader.py",
                                   VALID[0]], stdout=output, stderr=subprocess.PIPE,
                                  check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))


if __name__ == "__main__":
    unittest.main()
