# SPDX-License-Identifier: Apache-2.0
"""spec/zstd_frame.py, written from RFC 8878, agrees with the zstd command."""

import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("CRAWLSTORE_SOURCE_DIR", "."))
sys.path.insert(0, str(SOURCE / "spec"))
import zstd_frame  # noqa: E402  pylint: disable=wrong-import-position


def urls(seed, length):
    """URLs of some sites, as the tests of origin runs make them."""
    rng, parts = random.Random(seed), []
    while sum(map(len, parts)) < length:
        parts.append(b"http://site%d.test/section%d/page%d.html" % (
            rng.randrange(9), rng.randrange(30), rng.randrange(100000)))
    return b"".join(parts)[:length]


def inputs():
    """(name, bytes): what takes each way through the format."""
    rng = random.Random(5)
    yield "empty", b""
    yield "one byte", b"a"
    yield "zeros", bytes(300000)
    yield "noise", rng.randbytes(140000)
    yield "all bytes", bytes(range(256)) * 3
    for length in (5, 63, 255, 256, 257, 1000, 1023, 65535, 65792, 131072, 131073):
        yield "urls %d" % length, urls(length, length)
    for limit in (2, 3, 17, 128, 200, 256):  # Huffman trees of all sizes
        yield "letters %d" % limit, bytes(min(int(rng.expovariate(8 / limit)), limit - 1)
                                          for _ in range(20000))
    yield "mixed", b"".join(rng.choice((urls(i, 300), rng.randbytes(200), bytes(500)))
                            for i in range(400))
    yield "far repeats", (half := rng.randbytes(30000)) + urls(3, 9000) + half
    yield "python", pathlib.Path(zstd_frame.__file__).read_bytes()


class ZstdFrameTest(unittest.TestCase):
    """Frames of the command zstd, read by zstd_frame.py."""

    @classmethod
    def setUpClass(cls):
        if shutil.which("zstd") is None:
            raise unittest.SkipTest("no zstd command")
        # pylint: disable=consider-using-with
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.trained = cls.train()

    @classmethod
    def train(cls):
        folder = pathlib.Path(cls.folder.name)
        for i in range(400):
            (folder / ("%d.sample" % i)).write_bytes(urls(i, 2000))
        samples = map(str, sorted(folder.glob("*.sample")))
        subprocess.run(["zstd", "-q", "--train", *samples, "--maxdict=8192", "-o",
                        folder / "dictionary"], check=True, capture_output=True)
        return folder / "dictionary"

    def compress(self, raw, *options, dictionary=None):
        extra = ["-D", str(dictionary)] if dictionary else []
        path = pathlib.Path(self.folder.name) / "raw"
        path.write_bytes(raw)
        return subprocess.run(["zstd", "-q", "-c", *options, *extra, path], check=True,
                              capture_output=True).stdout

    def test_frames_of_all_levels_are_read(self):
        for name, raw in inputs():
            for level in ("-1", "-3", "-6", "-12", "-19", "--fast=5"):
                with self.subTest(name, level=level):
                    frame = self.compress(raw, level)
                    self.assertEqual(zstd_frame.decompress(frame), raw)

    def test_frames_of_all_headers_are_read(self):
        raw = urls(1, 70000)
        for options in (["--no-check"], ["--no-content-size"], ["--long=27"], ["--no-dictID"]):
            with self.subTest(options):
                self.assertEqual(zstd_frame.decompress(self.compress(raw, *options)), raw)

    def test_frames_with_a_dictionary_are_read(self):
        content = pathlib.Path(self.folder.name) / "content"
        content.write_bytes(urls(77, 5000))
        for path in (self.trained, content):
            dictionary = path.read_bytes()
            is_trained = dictionary.startswith(b"\x37\xa4\x30\xec")
            self.assertEqual(is_trained, path == self.trained)
            for seed, length in ((1, 10), (2, 300), (3, 5000), (4, 200000)):
                for level in ("-1", "-6", "-19"):
                    with self.subTest(path.name, length=length, level=level):
                        raw = urls(seed, length)
                        frame = self.compress(raw, level, "--no-check", dictionary=path)
                        self.assertEqual(zstd_frame.decompress(frame, dictionary), raw)
                        self.assertLess(len(frame), len(raw) + 20)

    def test_hostile_frames_are_refused_or_read(self):
        """Nothing but Broken comes out; where the command reads a frame too, it reads the same."""
        rng = random.Random(9)
        dictionary = self.trained.read_bytes()
        raw = urls(5, 2500)
        frame = self.compress(raw, "-6", "--no-check", dictionary=self.trained)
        refused = compared = 0
        for i in range(1500):
            bad = bytearray(frame)
            for _ in range(rng.randrange(1, 4)):
                bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
            if i % 10 == 0:
                del bad[rng.randrange(len(bad)):]
            try:
                found = zstd_frame.decompress(bad, dictionary, 1 << 20)
            except zstd_frame.Broken:
                refused += 1
                continue
            done = subprocess.run(["zstd", "-q", "-dc", "-D", self.trained], input=bytes(bad),
                                  capture_output=True, check=False)
            if done.returncode == 0:
                compared += 1
                self.assertEqual(found, done.stdout)
        self.assertGreater(refused, 500)
        self.assertGreater(compared, 20)
        for length in range(len(frame)):
            with self.assertRaises(zstd_frame.Broken):
                zstd_frame.decompress(frame[:length], dictionary)

    def test_hostile_dictionaries_are_refused_or_read(self):
        rng = random.Random(10)
        dictionary = self.trained.read_bytes()
        frame = self.compress(urls(5, 500), "-6", "--no-check", dictionary=self.trained)
        for _ in range(300):
            bad = bytearray(dictionary)
            bad[4 + rng.randrange(150)] ^= 1 << rng.randrange(8)
            try:
                zstd_frame.decompress(frame, bad, 1 << 20)
            except zstd_frame.Broken:
                pass

    def test_the_subset_of_origin_runs_is_told_from_the_rest(self):
        raw = urls(6, 4000)
        good = self.compress(raw, "-6", "--no-check")
        zstd_frame.check_subset(good, len(raw))
        for bad, length in ((good, len(raw) - 1),
                            (self.compress(raw, "-6"), len(raw)),
                            (self.compress(raw, "--no-check", dictionary=self.trained), len(raw)),
                            (self.compress(raw, "--no-check", "--no-content-size"), len(raw))):
            with self.assertRaises(zstd_frame.Broken):
                zstd_frame.check_subset(bad, length)


if __name__ == "__main__":
    unittest.main()
