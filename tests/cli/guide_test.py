# SPDX-License-Identifier: Apache-2.0
"""The commands of the guide do what it says: of each page all blocks of `sh` run in one folder, and
the lines of a block of `text` stand in the output of the block before, in this order. Blocks of
`console` are not run: they need a window, another machine, or MPI."""

import os
import re
import subprocess
import unittest

import command

BLOCK = re.compile(r'^```(\w+)\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def words(line):
    return " ".join(line.split())


class Guide(command.CommandTest):
    def follow(self, page):
        """Runs a page's commands."""
        output, ran = None, 0
        for language, text in BLOCK.findall((command.SOURCE / f"guide/{page}.md").read_text()):
            if language == "sh":
                done = subprocess.run(
                    ["bash", "-euo", "pipefail", "-c", text], cwd=self.folder, text=True,
                    capture_output=True, timeout=300, check=False,
                    env=self.environment(PATH=f"{command.BINARY.parent}:{os.environ['PATH']}"))
                self.assertEqual(done.returncode, 0, f"{page}: {text}{done.stdout}{done.stderr}")
                output, ran = done.stdout + done.stderr, ran + 1
            elif language == "text":
                left = iter(words(line) for line in output.splitlines())
                for line in text.splitlines():
                    self.assertTrue(any(words(line) in found for found in left),
                                    f"{page}: no {line!r} in\n{output}")
        self.assertGreater(ran, 4)

    def test_crawl(self):
        self.follow("crawl")

    def test_operate(self):
        self.follow("operate")

    def test_look_inside(self):
        if not (command.BINARY.parent / "crawlstore-inspector").exists():
            self.skipTest("without the inspector")
        self.follow("look-inside")

    def test_many_machines(self):
        self.follow("many-machines")


if __name__ == "__main__":
    unittest.main()
