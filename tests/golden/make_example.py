#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/golden/make_example.py BUILD: writes spec/example.crawl anew, by the command and the C
library of a build folder, and spec/example.md with it. The same program gives the same bytes.

Two keys of a DRUM and a request that waits, two pages and a link, a queue of one page. The request
is the library's: the command leaves none behind. Its commit is followed by others, whose time is
SOURCE_DATE_EPOCH."""

import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
EPOCH = 1_700_000_000
PAGE = (f'{{"kind": "page", "url": "http://a.test/", "time": {EPOCH * 1_000_000}, "score": 0.5, '
        '"content_hash": "68617368", "status": 200, "links": ["http://a.test/b"]}\n')
WAIT = ("import sys, pycrawlstore\n"
        "with pycrawlstore.open(sys.argv[1]) as store:\n"
        "    assert store.seen().insert('http://a.test/z')\n")
CREATE = ("--uuid", "00112233-4455-4677-8899-aabbccddeeff", "--key-seed", str(0x0123456789abcdef),
          "--buckets", "1")


def make(build, path):
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH),
                   "CRAWLSTORE_C_LIBRARY": f"{build}/capi/libcrawlstore_c.so.0",
                   "PYTHONPATH": str(SOURCE / "python"), "PYTHONDONTWRITEBYTECODE": "1"}

    def run(*words, text=None):
        subprocess.run(words, input=text, env=environment, text=True, check=True,
                       stdout=subprocess.DEVNULL)

    def command(verb, *options, text=None):
        run(f"{build}/bin/crawlstore", verb, path, "--quiet", *options, text=text)

    command("create", *CREATE)
    command("seen", text="http://a.test/x\nhttp://a.test/y\n")
    run(sys.executable, "-c", WAIT, path)
    command("import", "--format", "jsonl", "-", text=PAGE)
    command("queue", "--insert", "-", text="1\thttp://a.test/b\n")
    command("compact")


def main(build):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "example.crawl")
        make(pathlib.Path(build).resolve(), str(path))
        (SOURCE / "spec" / "example.crawl").write_bytes(path.read_bytes())
    subprocess.run([sys.executable, "-B", SOURCE / "spec" / "annotate.py"], check=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else __doc__)
