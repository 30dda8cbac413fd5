# SPDX-License-Identifier: Apache-2.0
"""From outside: a window that is left alone beside a real writer keeps what it shows, and a file
with damaged chunks is called damaged wherever its health is told."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import time
import unittest

SOURCE = pathlib.Path(os.environ.get("CRAWLSTORE_SOURCE_DIR", ".")).resolve()
BUILD = pathlib.Path(os.environ.get("CRAWLSTORE_BUILD_DIR", "build/release")).resolve()
INSPECTOR = BUILD / "bin/crawlstore-inspector"
COMMAND = BUILD / "bin/crawlstore"
WAIT_SECONDS = 120
# A place, and what its panel shows of the file.
PLACES = {"pages": "pages[0].url", "page/1": "page.out_links",
          "links": "link_directions[0].direction",
          "scores": "top[0].url", "queue": "first[0].url", "graph/page/0": "graph.state",
          "events": "events[0].url", "hosts": "hosts[0].host", "buckets": "keys[0].key",
          "overview": "overview.next"}


def command(*words, data=b"", codes=(0,)):
    answer = subprocess.run([COMMAND, *map(str, words)], input=data, capture_output=True,
                            check=False, timeout=WAIT_SECONDS)
    assert answer.returncode in codes, (words, answer.stderr)
    return answer.stdout


def lines_of(first, count):
    """A web of three hosts, in the format `jsonl` of the command."""
    rows = []
    for i in range(first, first + count):
        host = "abc"[i % 3]
        links = [{"url": f"http://{host}.test/{(i * 7 + k) % 5000}"} for k in range(1, 5)]
        rows.append(json.dumps({"kind": "page", "url": f"http://{host}.test/{i}",
                                "time": 1_767_225_600 + i, "links": links}))
    return ("\n".join(rows) + "\n").encode()


class Writer(threading.Thread):
    """Commits edits of pages, which wait, as fast as it can, until it is told to stop."""

    def __init__(self, file):
        super().__init__()
        self.file = file
        self.commits = 0
        self.must_stop = threading.Event()

    def run(self):
        while not self.must_stop.is_set():
            command("import", self.file, "-", "--format", "jsonl", "--no-merge",
                    "-q",
                    data=lines_of(10_000 + self.commits, 1))
            self.commits += 1


class Test(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="crawlstore-outside-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.file = self.folder / "a.crawl"
        command("import", self.file, "-", "--format", "jsonl", "-q", data=lines_of(0, 6000))
        command("rank", self.file, "-q")
        command("queue", self.file, "--fill-from", "pagerank", "-q")

    def robot(self, *steps, file=None):
        """Does the steps; returns the labels of the end, and keeps the texts."""
        script = self.folder / "a.script"
        script.write_text("\n".join(["size 1280 900", f"open {file or self.file}", *steps]) + "\n")
        environment = dict(os.environ, HOME=str(self.folder))
        answer = subprocess.run([INSPECTOR, "--headless", "--labels", "--run", script],
                                capture_output=True, check=False, timeout=WAIT_SECONDS,
                                env=environment)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.texts = []
        labels = {}
        for line in answer.stdout.decode().split("\n"):
            label, _, text = line.partition("\t")
            labels.setdefault(label, text)
            self.texts.append(text)
        return labels

    def test_a_window_left_alone_beside_a_writer_keeps_what_it_shows(self):
        command("import", self.file, "-", "--format", "jsonl", "--no-merge", "-q",
                data=lines_of(9000, 1))
        writer = Writer(self.file)
        writer.start()
        try:
            while writer.commits < 2:
                time.sleep(0.01)
            for place, label in PLACES.items():
                before = writer.commits
                # Three times a minute and more without a hand on the window.
                shown = self.robot(f"goto {place}", *["advance 70"] * 3)
                self.assertIn(label, shown, place)
                self.assertIn("FOLLOWING", self.texts)
                while writer.commits == before:
                    time.sleep(0.01)
        finally:
            writer.must_stop.set()
            writer.join()
        self.assertGreater(writer.commits, len(PLACES))
        pins = json.loads(command("pins", self.file, "--json"))
        self.assertEqual(pins["pins"], [], "no inspector left one behind")

    def damage(self, *kinds):
        """A copy of the file in which the longest run of each kind has a byte flipped."""
        listed = json.loads(command("segments", self.file, "--runs", "--json"))
        kind_of = {segment["id"]: segment["kind"] for segment in listed["segments"]}
        bytes_of = bytearray(self.file.read_bytes())
        for kind in kinds:
            run = max((run for run in listed["runs"] if kind_of[run["segment"]] == kind),
                      key=lambda run: run["length_bytes"])
            bytes_of[run["offset_bytes"] + run["payload_bytes"] // 2] ^= 0x55
        copy = self.folder / "damaged.crawl"
        copy.write_bytes(bytes_of)
        return copy

    def test_damaged_chunks_are_told_of_wherever_health_is(self):
        file = self.damage("page_records", "score_array", "queue_entries", "page_origins",
                           "out_links")
        seen = self.robot("goto pages", "goto overview", file=file)
        self.assertIn("problem", seen["status.problems"])
        self.assertNotIn("no problems", seen["status.problems"])
        self.assertIn("DAMAGED", self.texts)
        checked = self.robot("goto pages", "goto scores", "goto queue", "command verify",
                             file=file)
        found = json.loads(command("verify", file, "--json", codes=(1,)))
        self.assertEqual(len(found["findings"]), 5)
        self.assertEqual(checked["status.problems"], "5 problems")


if __name__ == "__main__":
    unittest.main()
