# SPDX-License-Identifier: Apache-2.0
"""inserts.py [--count N] [--commit-each N] [--runs N] [--stream PROGRAM]: which of N URLs are new,
half of them known, asked one by one and in batches: crawlstore beside sqlite3, py-lmdb and a set in
memory, and with PROGRAM, build/release/bin/url_stream, beside C++. All run in turns; medians count.

Each N URLs are committed, and durable then; a batch is as many. URLs of peers are their keys, as
they are: crawlstore makes spellings of one URL equal, they do not."""

import argparse
import json
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

import pycrawlstore as pc

try:
    import lmdb
except ImportError:
    lmdb = None

BATCH = 10_000
MAP_BYTES = 1 << 34


def made_urls(count):
    """Half as many URLs as `count`, each twice, in random order."""
    urls = [f"http://host{i % 4999}.example/folder/{i * 2654435761 % 2**32:08x}/page.html".encode()
            for i in range(count // 2)] * 2
    random.Random(1).shuffle(urls)
    return urls


def batches(urls, commit_each):
    size = commit_each or BATCH
    return (urls[begin:begin + size] for begin in range(0, len(urls), size))


def crawlstore(path, urls, commit_each, insert):
    """New URLs by `insert`, which gets the set and a batch."""
    with pc.open(path) as store:
        seen, new = store.seen(with_pages=False), 0
        for batch in batches(urls, commit_each):
            new += insert(seen, batch)
            if commit_each:
                store.commit()
        seen.merge()
    return new


def crawlstore_single(path, urls, commit_each):
    return crawlstore(path, urls, commit_each,
                      lambda seen, batch: sum(seen.insert(url) for url in batch))


def crawlstore_list(path, urls, commit_each):
    return crawlstore(path, urls, commit_each,
                      lambda seen, batch: int(seen.insert_many(batch).sum()))


def crawlstore_packed(path, packed, commit_each):
    return crawlstore(path, packed, commit_each,
                      lambda seen, batch: int(seen.insert_many(batch).sum()))


class Packed:
    """URLs as bytes and ends, of which slices are batches."""

    def __init__(self, urls):
        self.blob = b"".join(urls)
        self.ends = numpy.cumsum([len(url) for url in urls], dtype=numpy.uint64)

    def __len__(self):
        return len(self.ends)

    def __getitem__(self, part):
        ends = self.ends[part]
        begin = int(self.ends[part.start - 1]) if part.start else 0
        return memoryview(self.blob)[begin:int(ends[-1])], ends - numpy.uint64(begin)


def sqlite(path, urls, commit_each, insert):
    base = sqlite3.connect(path, isolation_level=None)
    base.execute("PRAGMA journal_mode=WAL")
    base.execute("PRAGMA synchronous=NORMAL")
    base.execute("CREATE TABLE seen (url BLOB PRIMARY KEY) WITHOUT ROWID")
    new = 0
    for batch in batches(urls, commit_each or len(urls)):
        base.execute("BEGIN")
        new += insert(base, batch)
        base.execute("COMMIT")
    base.close()
    return new


INSERT = "INSERT OR IGNORE INTO seen VALUES (?)"


def sqlite_single(path, urls, commit_each):
    return sqlite(path, urls, commit_each, lambda base, batch: sum(
        base.execute(INSERT, (url,)).rowcount for url in batch))


def sqlite_list(path, urls, commit_each):
    return sqlite(path, urls, commit_each, lambda base, batch: base.executemany(
        INSERT, [(url,) for url in batch]).rowcount)


def lmdb_by(path, urls, commit_each, insert):
    with lmdb.open(path, subdir=False, map_size=MAP_BYTES) as base:
        new = 0
        for batch in batches(urls, commit_each or len(urls)):
            with base.begin(write=True) as changes:
                new += insert(changes, batch)
    return new


def lmdb_single(path, urls, commit_each):
    return lmdb_by(path, urls, commit_each, lambda changes, batch: sum(
        changes.put(url, b"", overwrite=False) for url in batch))


def lmdb_list(path, urls, commit_each):
    return lmdb_by(path, urls, commit_each, lambda changes, batch: changes.cursor().putmulti(
        [(url, b"") for url in batch], overwrite=False)[1])


def plain_set(_path, urls, _commit_each):
    known, new = set(), 0
    for url in urls:
        if url not in known:
            known.add(url)
            new += 1
    return new


def seconds_of(ask, urls, commit_each):
    """How long it takes to ask about all, in a new file."""
    with tempfile.TemporaryDirectory(prefix="crawlstore-inserts-") as folder:
        begin = time.perf_counter()
        new = ask(os.path.join(folder, "file"), urls, commit_each)
        took = time.perf_counter() - begin
    if new != len(urls) // 2:
        sys.exit(f"{ask.__name__}: {new} of {len(urls)} were new")
    return took


def seconds_of_stream(program, urls, commit_each):
    """How long C++ takes for the same, one by one."""
    with tempfile.TemporaryDirectory(prefix="crawlstore-inserts-") as folder:
        told = subprocess.run([program, os.path.join(folder, "file"), "--insert", "1",
                               "--memory", "64", "--commit-each", str(commit_each)],
                              input=b"\n".join(urls), check=True, stdout=subprocess.PIPE).stdout
    return json.loads(told)["seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":", maxsplit=1)[0])
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--commit-each", type=int, default=BATCH)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--stream")
    options = parser.parse_args()
    urls = made_urls(options.count)
    packed = Packed(urls)
    rows = {"crawlstore, one by one": (crawlstore_single, urls),
            "crawlstore, lists": (crawlstore_list, urls),
            "crawlstore, packed": (crawlstore_packed, packed),
            "sqlite3, one by one": (sqlite_single, urls), "sqlite3, lists": (sqlite_list, urls)}
    if lmdb is None:
        print("py-lmdb is left out: it needs python3-lmdb")
    else:
        rows["py-lmdb, one by one"] = lmdb_single, urls
        rows["py-lmdb, lists"] = lmdb_list, urls
    rows["set of bytes, nothing kept"] = plain_set, urls
    took = {name: [] for name in rows}
    if options.stream:
        took["C++, one by one"] = []
    for _ in range(options.runs):
        for name, (ask, asked) in rows.items():
            took[name].append(seconds_of(ask, asked, options.commit_each))
        if options.stream:
            took["C++, one by one"].append(
                seconds_of_stream(options.stream, urls, options.commit_each))
    print(f"{len(urls)} URLs, half known, a commit each {options.commit_each}: M/s")
    for name, seconds in took.items():
        print(f"{name:28} {len(urls) / statistics.median(seconds) / 1e6:.2f}")


if __name__ == "__main__":
    main()
