# SPDX-License-Identifier: Apache-2.0
"""T7: kill -9 of every verb that writes pages, on a crawl of some hundred thousand links.

At random times, and before a random write (support/signal_at_write.cpp). Afterwards the file is
whole, and shows what was there before the verb, or a part of what it adds that is made of whole
pages, or all of it; repeated, the verb ends as if nothing had been. Often others export meanwhile.
"""

import random
import signal
import time
import unittest

import command
from pages_command import PagesTest

HOSTS = 40
BATCHES = 8
BATCH_PAGES = 20_000 if command.IS_LONG else 4000
KILLS = 300 if command.IS_LONG else 10
SIGNALLER = command.BUILD / "bin/signal_at_write.so"


def url(number):
    return b"http://host%d.example/section-%d/an-article-of-some-length-%d.html" % (
        number * number % HOSTS, number % 97, number)


class Crawl:
    """Batches of pages, each of which links to pages before it and some behind it."""

    def __init__(self, generator):
        self.batches = []
        for first in range(0, BATCHES * BATCH_PAGES, BATCH_PAGES):
            edges = set()
            for number in range(first, first + BATCH_PAGES):
                for _ in range(generator.randrange(2, 14)):
                    target = int((number + 200) * generator.random() ** 0.5)
                    edges.add((url(number), url(target)))
            self.batches.append(edges)


class Kill(PagesTest):
    def setUp(self):
        super().setUp()
        self.generator = random.Random(command.SEED)
        self.crawl = Crawl(self.generator)
        self.edges_now = set()
        self.next_batch = 0
        self.kills = 0

    def choose(self):
        """(words of a verb, its input, what all links are afterwards)"""
        verbs = ["import", "import", "import", "forget", "compact", "merge"]
        verb = self.generator.choice(verbs) if self.next_batch > 1 else "import"
        if verb == "import":
            batch = sorted(self.crawl.batches[self.next_batch % BATCHES])
            self.next_batch += 1
            data = b"".join(b"%s\t%s\n" % edge for edge in batch)
            return (("import", "x.crawl", "--format", "edges", "-", "--memory",
                     self.generator.choice(["1MiB", "64MiB"]), "--quiet"), data,
                    self.edges_now.union(batch))
        if verb == "forget":
            host = b"http://host%d.example/" % self.generator.randrange(HOSTS)
            words = ("forget", "x.crawl", "--prefix", host.decode(), "--quiet")
            return words, b"", {(source, target) for source, target in self.edges_now
                                if not source.startswith(host) and not target.startswith(host)}
        return (verb, "x.crawl", "--quiet"), b"", set(self.edges_now)

    def run_and_kill(self, words, data):
        """True when the kill came before the end."""
        if self.generator.random() < 0.5:
            at = int(2 ** (self.generator.random() * 9))
            process = self.start(*words, env={
                "LD_PRELOAD": str(SIGNALLER), "SIGNAL": str(int(signal.SIGKILL)),
                "SIGNAL_AT_PWRITE": str(at)})
            process.communicate(data)
        else:
            path = self.folder / "input"
            path.write_bytes(data)
            with open(path, "rb") as source:
                process = self.start(*words, stdin=source)
                time.sleep(self.generator.random() ** 2 * 0.8)
                process.kill()
                process.communicate()
        self.assertIn(process.returncode, (0, -signal.SIGKILL))
        return process.returncode != 0

    def test_loses_no_page_and_no_link(self):
        largest = 0
        while self.kills < KILLS:
            words, data, after = self.choose()
            reader = self.start("export", "x.crawl", "--format", "edges") if (
                self.edges_now and self.generator.random() < 0.5) else None
            self.kills += self.run_and_kill(words, data)
            if reader:
                out, err = reader.communicate()
                self.assertEqual(reader.returncode, 0, err)
                seen = {tuple(line.split(b"\t")) for line in out.splitlines()}
                self.assert_between(seen, after, words)
            if (self.folder / "x.crawl").exists():
                self.assert_whole()
                if self.info().get("pages"):
                    self.assert_between(self.edges(), after, words)
            self.succeed(*words, data=data)
            self.edges_now = after
            self.assertEqual(self.edges(), after, words)
            largest = max(largest, (self.folder / "x.crawl").stat().st_size)
        print(f"seed {command.SEED}: {self.kills} kills, {len(self.edges_now)} links at the end, "
              f"{self.next_batch} imports, the file at most {largest >> 20} MiB")
        self.succeed("compact", "x.crawl", "--quiet")
        self.assert_whole()
        self.assertEqual(self.edges(), self.edges_now)

    def assert_between(self, found, after, words):
        """Checks that the edges are those before or after, or in an import also those that some of
        its pages bring."""
        if words[0] != "import":
            self.assertIn(found, (self.edges_now, after), words)
            return
        self.assertLessEqual(self.edges_now, found, words)
        self.assertLessEqual(found, after, words)


if __name__ == "__main__":
    unittest.main()
