# SPDX-License-Identifier: Apache-2.0
"""events_test.py BIN_DIR: crawl events made by a JavaScript program are what the library reads, and
the other way round; and a reader of a few dozen lines of Python, written from spec/events.md alone,
reads them too.

The JavaScript is made of spec/crawl_event.capnp by capnp-es, an npm package: ./run-tests puts it
into build/events. Debian's capnp drives its generator."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("CRAWLSTORE_SOURCE_DIR", ".")).resolve()
TOOL = pathlib.Path(sys.argv.pop(1)).resolve() / "event_stream_json"
MODULES = SOURCE / "build" / "events" / "node_modules"
SEED = os.environ.get("CRAWLSTORE_TEST_SEED", "1")
sys.path.insert(0, str(SOURCE / "spec"))
import crawl_events  # noqa: E402


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, timeout=300, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stderr.decode()}")
    return done.stdout


def lines_of(output):
    return [json.loads(line) for line in output.splitlines()]


class Streams(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="crawlstore-events-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.stream = cls.folder / "stream"

    def written_here(self):
        """Returns the library's account of the events that it has written into the stream."""
        return lines_of(run(TOOL, "write", self.stream, SEED))

    def read_here(self):
        with open(self.stream, "rb") as file:
            return lines_of(run(TOOL, "read", stdin=file))

    def assert_same(self, found, expected):
        self.assertEqual(len(found), len(expected))
        for index, (one, other) in enumerate(zip(found, expected)):
            self.assertEqual(one, other, f"event {index}, seed {SEED}")


class Python(Streams):
    def test_reads_what_the_library_writes(self):
        expected = self.written_here()
        self.assertGreater(len(expected), 2000)
        self.assert_same(list(crawl_events.events_of(self.stream.read_bytes())), expected)
        self.assert_same(self.read_here(), expected)

    def test_reads_the_run_of_the_specification(self):
        text = (SOURCE / "spec" / "vectors.md").read_text()
        payload = bytes.fromhex(re.search(r'^\| event run: .*`([0-9a-f ]+)` \|$', text, re.M)[1])
        page, gone = crawl_events.events_of(payload[24:])
        self.assertEqual(payload[:16], b"CEVNTRN1" + bytes([2, 0, 0, 0, 0, 0, 0, 0]))
        link = {"url": b"b:".hex(), "index": "0", "score": 0.25}
        self.assertEqual(page, {"kind": "page", "url": b"a:".hex(), "index": "0", "timeUs": "7",
                                "score": 0.5, "contentHash": b"hash".hex(), "httpStatus": 0,
                                "links": [link]})
        self.assertEqual((gone["kind"], gone["index"], gone["timeUs"]), ("gone", "9", "8"))

    def test_cut_streams_give_the_events_before_and_an_error(self):
        self.written_here()
        whole = self.stream.read_bytes()
        self.stream.write_bytes(whole[:-1])
        with open(self.stream, "rb") as file:
            done = subprocess.run([TOOL, "read"], stdin=file, capture_output=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"ends inside a message", done.stderr)
        self.assertGreater(len(done.stdout.splitlines()), 1000)


class JavaScript(Streams):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not shutil.which("node") or not (MODULES.parent / "installed.json").is_file():
            raise unittest.SkipTest("no node, or no npm packages in build/events (./run-tests)")
        (cls.folder / "node_modules").symlink_to(MODULES)
        for name in ("events.mjs", "package.json"):
            shutil.copy(SOURCE / "tests" / "events" / name, cls.folder)
        generator = cls.folder / "capnpc-js"
        generator.write_text(
            '#!/bin/sh\nexec node node_modules/capnp-es/dist/compiler/capnpc-js.mjs "$@"\n')
        generator.chmod(0o755)
        run("capnp", "compile", f"-o{generator}:{cls.folder}", f"--src-prefix={SOURCE / 'spec'}",
            SOURCE / "spec" / "crawl_event.capnp", cwd=cls.folder)

    def node(self, mode):
        return lines_of(run("node", "events.mjs", mode, self.stream, cwd=self.folder))

    def test_reads_what_the_library_writes(self):
        expected = self.written_here()
        self.assert_same(self.node("read"), expected)

    def test_writes_what_the_library_reads(self):
        expected = self.node("write")
        self.assertEqual({event["kind"] for event in expected}, set(crawl_events.KINDS))
        self.assert_same(self.read_here(), expected)
        self.assert_same(self.node("read"), expected)


if __name__ == "__main__":
    unittest.main()
