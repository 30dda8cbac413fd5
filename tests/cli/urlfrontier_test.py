#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lines of URLFrontier's client, into crawls and out of them."""

import gzip
import json
import random
import signal
import time
import unittest

from command import IS_SANITIZED, SEED, CommandTest

FORMAT = ("--format", "urlfrontier")
CREATED = 1_600_000_000


def item(url, date=0, created=CREATED, **info):
    """A line as `export` writes it; fields of `info` in the order of the protocol."""
    known = {"info": {"url": url, "key": info.get("key") or url.split("/")[2]}}
    if info.get("metadata"):
        known["info"]["metadata"] = {name: {"values": values} if values else {}
                                     for name, values in sorted(info["metadata"].items())}
    known["info"]["crawlID"] = info.get("crawl", "DEFAULT")
    if date:
        known["refetchableFromDate"] = str(date)
    return json.dumps({"known": known, "creationDate": str(created)}, ensure_ascii=False,
                      separators=(",", ":")).encode()


class UrlFrontierTest(CommandTest):
    def load(self, lines, *words, code=0, file="a.crawl"):
        answer = self.run_command("import", file, *FORMAT, *words, "-", "--json",
                                  data=b"".join(line + b"\n" for line in lines))
        self.assertEqual(answer.code, code, answer.err)
        return {name: count for name, count in json.loads(answer.out).items() if count}

    def dump(self, *words, file="a.crawl"):
        return sorted(self.succeed("export", file, *FORMAT, *words).out.splitlines())

    def test_round_trip_is_equal(self):
        soon = int(time.time()) + 1000
        lines = [
            item("http://a.test/due", CREATED + 7, CREATED + 1, metadata={
                "many": ["1", "", "x" * 300, "1"], "none": [], "\u00fc": ["\u2028", "\"\\\x01"]}),
            item("https://a.test/later", soon, key="a.test", metadata={"k": ["v"]}),
            item("http://a.test/completed", 0, CREATED - 5),
            item("http://b.test/\u6f22?q=\U0001f577", 5, key="queue of its own"),
            item("http://b.test/", soon, crawl="second"),
            item("http://b.test/", 0, crawl="third crawl"),
            item("no host but a key", 9, key="k" * 255)]
        self.assertEqual(self.load(lines),
                         {"line_count": 7, "waiting_count": 5, "completed_count": 2,
                          "unparsed_count": 1})
        self.assertEqual(self.dump(), sorted(lines))
        self.assertEqual(self.dump("--crawl", "second"), [lines[4]])
        self.succeed("verify", "a.crawl")
        self.succeed("export", "a.crawl", *FORMAT, "-o", "dump")
        self.succeed("import", "b.crawl", *FORMAT, "dump")
        self.assertEqual(self.dump(file="b.crawl"), sorted(lines))
        # Again: all is so already.
        again = self.load(lines)
        self.assertEqual((again["unchanged_count"], again["completed_count"]), (5, 2))
        self.assertEqual(self.dump(), sorted(lines))

    def test_random_lines_come_back(self):
        rng = random.Random(SEED)
        lines = {}
        for _ in range(2000):
            url = f"http://h{rng.randrange(40)}.test/{rng.randrange(500)}"
            date = rng.choice([0, rng.randrange(1, 2**33)])
            metadata = {"k": [str(date)]} if date else {}  # completed URLs have none
            lines[url] = item(url, date, rng.randrange(1, 2**32), metadata=metadata,
                              crawl=f"c{len(url) % 3}")
        first = list(lines.values())
        self.load(first[:700])
        self.load(first)
        self.assertEqual(self.dump(), sorted(first))

    def test_takes_what_the_client_takes(self):
        begin = int(time.time())
        counts = self.load([
            b'{"known":{"info":{"url":"http://A.test:80/1","other":[{}]},'
            b'"refetchable_from_date":1.23e2},"creation_date":77.0,"ID":"x"}',
            b' {"known": {"info": {"url": "http://a.test/2"}}, "creationDate": "78"}',
            b'{"discovered":{"info":{"url":"http://a.test/3","crawlID":"",'
            b'"metadata":{"k":{"values":["v"]}}}},"known":null,"creationDate":79}',
            b"# a comment", b"", b"\thttp://u@C.test/4 \r", b"http://c.test/4",
            b"http://u@C.test/4",
        ], "--crawl", "plain", code=0)
        self.assertEqual(counts, {"line_count": 8, "discovered_count": 3, "waiting_count": 1,
                                  "completed_count": 1, "unchanged_count": 1, "skipped_count": 2})
        dumped = [json.loads(line) for line in self.dump()]
        urls = {one["known"]["info"]["url"]: one for one in dumped}
        self.assertEqual(urls["http://A.test:80/1"],
                         json.loads(item("http://A.test:80/1", 123, 77, key="a.test")))
        self.assertEqual(urls["http://a.test/2"], json.loads(item("http://a.test/2", 0, 78)))
        third = urls["http://a.test/3"]
        self.assertEqual((third["creationDate"], third["known"]["info"]["metadata"]),
                         ("79", {"k": {"values": ["v"]}}))
        self.assertGreaterEqual(int(third["known"]["refetchableFromDate"]), begin)
        self.assertEqual({(urls[url]["known"]["info"]["key"], urls[url]["known"]["info"]["crawlID"])
                          for url in ("http://u@C.test/4", "http://c.test/4")},
                         {("c.test", "plain")})

    def test_refuses_what_the_service_refuses(self):
        long_url = "http://a.test/" + "x" * 65_486
        bad = [b"{", b"http://a.test/\xff", b"{}", b'{"known":{}}', b"/path",
               b'{"known":{"info":{"url":"http://a.test/"}},"discovered":{}}',
               b'{"known":{"info":{"url":7}}}', item("http:///", 5),
               item("http://a.test/", "x"), item("http://a.test/", -5), item("http://a.test/", 1.5),
               item("http://a.test/", 2**48), item("http://a.test/", 5, key="k" * 256),
               item(long_url + "x", 5), item(long_url, 5, metadata={"k": ["v"]}),
               item("http://a.test/", 5, crawl="i" * 250), item("http://a.test/", 5, crawl="a\n"),
               b'{"known":{"info":{"url":"http://a.test/","metadata":{"k":["v"]}}}}',
               b'{"known":' + b"[" * 5000 + b"]" * 5000 + b"}", b" " * (1 << 20) + b"x"]
        good = [item(long_url, 5)]
        counts = self.load(bad + good, code=1)
        self.assertEqual(counts, {"line_count": len(bad) + 1, "waiting_count": 1,
                                  "refused_count": len(bad)})
        self.assertEqual(self.dump(), good)
        (self.folder / "lines").write_bytes(good[0] + b"\n" + bad[0] + b"\n")
        answer = self.run_command("import", "new.crawl", *FORMAT, "--strict", "lines")
        self.assertEqual(answer.code, 1)
        self.assertIn(b"nothing was imported", answer.err)
        self.assertFalse((self.folder / "new.crawl").exists())

    def test_lists_what_is_no_url(self):
        self.load([b"http://a.test:x/"], "--unparsed", "list")
        self.assertTrue((self.folder / "list").read_bytes().startswith(b"-:1\t"))
        self.assertEqual(len(self.dump()), 1)

    def test_takes_packed_inputs(self):
        lines = [item(f"http://a.test/{i}", i + 1) for i in range(1000)]
        (self.folder / "dump.gz").write_bytes(gzip.compress(b"\n".join(lines)))
        self.succeed("import", "a.crawl", *FORMAT, "dump.gz")
        self.assertEqual(self.dump(), sorted(lines))

    def test_changes_what_waits_and_what_is_completed(self):
        a, b, c = (f"http://a.test/{i}" for i in "abc")
        self.load([item(a, 5), item(b, 6), item(c)])
        counts = self.load([item(a, 7, 1), item(a, 5, 1), item(a, 8, 1), item(b, 0, 1),
                            item(c, 9, 1)])
        self.assertEqual((counts["waiting_count"], counts["completed_count"]), (4, 1))
        self.assertEqual(self.dump(), sorted([item(a, 8), item(b), item(c, 9)]))

    def test_says_what_no_merge_has_brought_to_the_tables(self):
        lines = [item(f"http://a.test/{i}") for i in range(3)] + [item("http://b.test/", 5)]
        self.stop_before_the_merge(lines)
        answer = self.run_command("export", "a.crawl", *FORMAT)
        self.assertEqual((answer.code, answer.out), (1, lines[3] + b"\n"))
        self.assertIn(b"3 changes", answer.err)
        self.assertIn(b"`crawlstore merge a.crawl --drum known:DEFAULT`", answer.err)
        self.succeed("merge", "a.crawl", "--drum", "known:DEFAULT")
        self.assertEqual(self.dump(), sorted(lines))
        self.assertEqual(self.load(lines[:3] + [b"http://a.test/0"]),
                         {"line_count": 4, "completed_count": 3, "unchanged_count": 1})
        self.assertEqual(self.dump(), sorted(lines))

    def stop_before_the_merge(self, lines):
        """An import that a signal ends commits what it has read, and merges nothing."""
        process = self.start("import", "a.crawl", *FORMAT, "-")
        process.stdin.write(b"".join(line + b"\n" for line in lines))
        process.stdin.flush()
        time.sleep(1 if IS_SANITIZED else 0.3)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGINT, error)

    def test_killed_imports_go_on(self):
        lines = [item(f"http://h{i % 997}.test/{i}", (i % 3) * 5_000_000_000 + i % 2, CREATED + i,
                      metadata={"k": [str(i)]} if i % 3 + i % 2 else {}) for i in range(60_000)]
        (self.folder / "dump").write_bytes(b"\n".join(lines))
        rng = random.Random(SEED)
        for _ in range(3):
            process = self.start("import", "a.crawl", *FORMAT, "dump")
            time.sleep(rng.uniform(0.1, 0.7))
            process.kill()
            process.communicate()
            if (self.folder / "a.crawl").exists():
                self.run_command("verify", "a.crawl")
        self.succeed("import", "a.crawl", *FORMAT, "dump")
        self.assertEqual(self.dump(), sorted(lines))
        self.succeed("verify", "a.crawl")

    def test_says_what_it_cannot_do(self):
        self.load([item("http://a.test/", 5)])
        self.refuse(1, "the file has no crawl `b`; there are `DEFAULT`", "export", "a.crawl",
                    *FORMAT, "--crawl", "b")
        self.succeed("create", "empty.crawl")
        self.refuse(1, "no crawl as `crawlstored` makes them", "export", "empty.crawl", *FORMAT)
        for words in (("--database", "pages"), ("--frontier",), ("--raw",), ("--no-merge",),
                      ("--index-gap", "5")):
            self.refuse(2, "do not go with urlfrontier", "import", "a.crawl", *FORMAT, "-", *words)
        self.refuse(2, "--crawl goes with urlfrontier", "import", "a.crawl", "--format", "urls",
                    "-", "--crawl", "c")
        self.refuse(2, "--crawl goes with urlfrontier", "export", "a.crawl", "--format", "csv",
                    "--crawl", "c")
        self.refuse(2, "do not go with urlfrontier", "export", "a.crawl", *FORMAT, "--skip-damaged")
        # A frontier of another kind has this name.
        self.succeed("frontier", "a.crawl", "--frontier", "other", "--put", "-", data=b"g\t1\n")
        self.load([item("http://a.test/", 5, crawl="other")], code=1)


if __name__ == "__main__":
    unittest.main()
