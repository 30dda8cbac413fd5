# SPDX-License-Identifier: Apache-2.0
"""Pages and links on the command line: `import`, `export`, `pages`, `page`, `links`, and what the
other verbs say of them."""

import csv
import io
import json
import math
import os
import re
import signal
import shutil
import subprocess
import sys
import unittest
import unittest.mock
import xml.etree.ElementTree

import pages_model
from command import SEED, SOURCE, wait_until_read
from pages_command import NO_PAGES, PagesTest, json_line, lines_of, named, url_in
from url_model import normalise


class Events(PagesTest):
    def test_that_are_garbage_are_refused_with_file_and_line(self):
        good = b'{"kind":"page","url":"http://a.test/","time":1}\n'
        bad = [(b"nonsense", "no JSON"), (b"[]", "no JSON object"), (b"{}", "`kind` is missing"),
               (b'{"kind":"crawl","url":"x"}', "not known"),
               (b'{"kind":"page"}', "named by one of"),
               (b'{"kind":"page","url":"x","index":1}', "named by one of"),
               (b'{"kind":"page","url":1}', "`url` is no string"),
               (b'{"kind":"page","url_hex":"abc"}', "`url_hex`"),
               (b'{"kind":"page","index":-1}', "`index`"),
               (b'{"kind":"page","url":"x","time":"yesterday"}', "`time`"),
               (b'{"kind":"page","url":"x","time":-5}', "`time`"),
               (b'{"kind":"page","url":"x","time":"2026-02-30T00:00:00Z"}', "`time`"),
               (b'{"kind":"page","url":"x","score":"1"}', "`score`"),
               (b'{"kind":"page","url":"x","score":1e39}', "`score` is too large"),
               (b'{"kind":"page","url":"x","content_hash":"0g"}', "`content_hash`"),
               (b'{"kind":"page","url":"x","content_hash":"' + b"00" * 65 + b'"}', "64 bytes"),
               (b'{"kind":"page","url":"x","links":{}}', "`links` is no list"),
               (b'{"kind":"page","url":"x","links":[true]}', "a link is"),
               (b'{"kind":"page","url":"x","links":[1]}', "by URLs and by indexes"),
               (b'{"kind":"gone","url":"x","links":["y"]}', "has no links"),
               (b'{"kind":"redirect","url":"x"}', "has one link"),
               (b'{"kind":"redirect","url":"x","links":["y","z"]}', "has one link"),
               (b'{"kind":"page","url":"x","status":65536}', "`status`"),
               (b'{"kind":"page","url":"x","status":"404"}', "`status`"),
               (b'{"kind":"page","url":"\xff"}', "bytes that are no UTF-8"),
               (b"[" * 100_000, "no JSON")]
        for line, why in bad:
            with self.subTest(line[:60]):
                answer = self.run_command("import", "x.crawl", "--format", "jsonl", "-",
                                          data=good + line + b"\n" + good)
                self.assertEqual(answer.code, 1)
                self.assertRegex(answer.err.decode(), "-:2: refused: .*" + re.escape(why))
                self.assertEqual(self.counts(answer)["event_count"], 2)

    def test_of_unknown_keys_and_nulls_are_taken(self):
        self.load(b'{"kind":"page","url":"x","title":"?","score":null,"links":null,"time":1}\n',
                  "jsonl")
        self.assertEqual(self.rows()[0]["last_crawl_us"], 1)

    def test_have_times_in_several_forms(self):
        times = {"2026-11-21T10:11:12Z": "2026-11-21T10:11:12Z",
                 "2026-11-21T10:11:12.5Z": "2026-11-21T10:11:12.500000Z",
                 "2026-11-21T10:11:12.345678+01:30": "2026-11-21T08:41:12.345678Z",
                 "2026-11-21": "2026-11-21T00:00:00Z", 1700000000000001:
                 "2023-11-14T22:13:20.000001Z"}
        lines = [{"kind": "page", "url": f"http://a.test/{i}", "time": time}
                 for i, time in enumerate(times)]
        self.load("".join(json.dumps(line) + "\n" for line in lines).encode(), "jsonl")
        self.assertEqual([row["last_crawl"] for row in self.rows()], list(times.values()))

    def test_ahead_of_the_clock_are_named_when_verify_is_strict(self):
        self.load(b'{"kind":"page","url":"http://a.test/","time":"2026-11-21T10:11:12Z"}\n'
                  b'{"kind":"page","url":"http://b.test/","time":"2206-04-05T10:11:12Z"}\n',
                  "jsonl")
        self.succeed("verify", "x.crawl")
        strict = self.run_command("verify", "--strict", "x.crawl")
        self.assertEqual(strict.code, 1)
        self.assertRegex(strict.out, rb"(?m)^time ahead, generation \d+: pages of `pages` that "
                                     rb"were crawled ahead of the clock: 1; the furthest is page "
                                     rb"1 at 2206-04-05")
        answer = self.run_command("verify", "--strict", "--json", "x.crawl")
        self.assertEqual(answer.code, 1)
        [finding] = json.loads(answer.out)["findings"]
        self.assertEqual(finding["kind"], "time_ahead")
        self.load(b'{"kind":"page","url":"http://b.test/"}\n', "jsonl")
        self.succeed("verify", "--strict", "x.crawl")

    def test_without_a_time_are_of_now(self):
        self.load(b'{"kind":"page","url":"http://a.test/"}\n', "jsonl")
        self.assertGreater(self.rows()[0]["first_crawl_us"], 1_700_000_000_000_000)

    def test_by_index_are_taken_where_pages_have_none(self):
        self.load(b'{"kind":"page","index":3,"time":5,"score":2,'
                  b'"links":[1,{"index":0,"score":4}]}\n',
                  "jsonl")
        rows = self.rows()
        self.assertEqual([(row["score"], row["crawl_count"]) for row in rows],
                         [(4, 0), (0, 0), (0, 0), (2, 1)])
        self.assertEqual(self.edges(), {(b"#3", b"#0"), (b"#3", b"#1")})
        answer = self.run_command("import", "x.crawl", "--format", "jsonl", "-",
                                  data=b'{"kind":"page","url":"http://a.test/"}\n')
        self.assertEqual(answer.code, 1)
        self.assertIn(b"-:1: refused: it names pages by URL", answer.err)

    def test_of_a_stream_are_taken_up_to_what_is_wrong(self):
        self.load(b"http://a.test/\thttp://b.test/\n", "edges")
        stream = self.export("events")
        for data in (stream + stream[:-9], stream + b"\xff" * 64):
            (self.folder / "e.bin").write_bytes(data)
            self.refuse(1, r"e.bin: at byte \d+: ", "import", "y.crawl", "--format", "events",
                        "e.bin")
            self.assertEqual(len(self.edges("y.crawl")), 1)

    def test_of_no_input_make_no_database(self):
        for form in ("edges", "jsonl", "events"):
            self.load(b"", form)
        self.refuse(1, NO_PAGES, "pages", "x.crawl")

    def test_that_wait_are_merged_later(self):
        self.load(b'{"kind":"page","url":"http://a.test/","links":["http://b.test/"]}\n', "jsonl",
                  "--no-merge")
        info = self.info()
        self.assertEqual((info["page_count"], info["link_count"], info["edit_count"]), (0, 0, 1))
        merged = json.loads(self.succeed("merge", "x.crawl", "--json").out)
        self.assertEqual(merged["supersteps"][0]["new_page_count"], 2)
        self.assertEqual(merged["supersteps"][0]["added_link_count"], 1)
        info = self.info()
        self.assertEqual((info["page_count"], info["crawled_count"], info["link_count"],
                          info["edit_count"]), (2, 1, 1, 0))
        again = json.loads(self.succeed("merge", "x.crawl", "--json").out)
        self.assertEqual(again["supersteps"][0]["edit_count"], 0)

    def test_have_keys_in_fresh_runs_that_count(self):
        golden = SOURCE / "tests/golden/valid/pages_fresh_keys.crawl"
        (drum,) = self.info(golden)["drums"]
        words = ["segments", golden, "--json", "--kind", "fresh_keys"]
        (fresh,) = json.loads(self.succeed(*words).out)["segments"]
        self.assertEqual(fresh["record_count"], 7)
        self.assertEqual(drum["key_count"], self.info(golden)["page_count"])
        self.assertEqual(drum["partition_bytes"], 8192 + fresh["allocated_bytes"])

    def test_that_wait_are_exported_as_events_and_counted_elsewhere(self):
        self.load(b"http://a.test/\thttp://b.test/\n", "edges")
        self.load(b"http://c.test/\thttp://a.test/\n", "edges", "--no-merge")
        answer = self.succeed("export", "x.crawl", "--format", "edges")
        self.assertIn(b"1 edits wait", answer.err)
        self.assertEqual(answer.out.count(b"\n"), 1)
        self.load(self.export("jsonl"), "jsonl", name="y.crawl")
        self.succeed("merge", "x.crawl")
        self.assertEqual(self.edges(), self.edges("y.crawl"))

    def test_come_back_with_indexes_that_are_not_in_the_order_of_urls(self):
        for link in ("z", "b", "c"):
            self.load(b'{"kind":"linkAdded","url":"http://a.test/","links":["http://%s.test/"]}\n'
                      % link.encode(), "jsonl")
        self.load(self.export("events"), "events", name="y.crawl")
        for name in ("x.crawl", "y.crawl"):
            self.assertEqual("".join(row["url"][7] for row in self.rows(name=name)), "azbc")

    def test_end_cleanly_with_a_signal(self):
        process = self.start("import", "x.crawl", "--format", "edges", "-")
        process.stdin.write(b"http://a.test/\thttp://b.test/\nhttp://b.test/\thttp://a.te")
        process.stdin.flush()
        wait_until_read(process.stdin)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn(b"1 edits wait in the file", errors)
        self.succeed("merge", "x.crawl")
        self.assertEqual(self.edges(), {(b"http://a.test/", b"http://b.test/")})
        self.assert_whole()


def event_in(line):
    """An event of the model, from a line of an export."""
    row = json.loads(line)
    links = [url_in({"url": link} if isinstance(link, str) else link)
             for link in row.get("links", [])]
    return {"kind": row["kind"], "url": url_in(row), "time": 1,
            "links": [(link, 0.0) for link in links]}


class Exports(PagesTest):
    def links_of(self, pages):
        return {page.url: {pages.pages[link].url for link in page.links} for page in pages.pages}

    def assert_loses_nothing(self, before, events):
        """A database takes the events: its links that are there afterwards are there all the time,
        but for those of the page whose events are being told. True: it has these links alone."""
        after = pages_model.Pages()
        for event in events:
            after.apply(event)
        left = self.links_of(after)
        kept = {url: links & left.get(url, set()) for url, links in self.links_of(before).items()}
        self.assertTrue(any(kept.values()))
        led = set()   # away from them, so that their links come when they are told
        for event in events:
            before.apply(event)
            now = self.links_of(before)
            told = before.name(event["url"]).url
            if event["kind"] == "redirect":
                led.add(told)
            for url, links in kept.items():
                self.assertTrue(links <= now[url] or url == told or url in led, (url, event))
        now = self.links_of(before)
        for url, links in left.items():
            self.assertLessEqual(links, now[url], url)
        return now == left

    def test_take_no_link_away_that_they_bring(self):
        for urls in (60, 250):
            events = list(pages_model.random_events(500, urls, SEED))
            name = f"{urls}.crawl"
            self.load(b"".join(map(json_line, events)), "jsonl", name=name)
            for words in ((), ("--host", "host3.test")):
                if words:
                    self.succeed("forget", name, *words)
                export = [event_in(line) for line in self.export("jsonl", name=name).splitlines()]
                for count in (300, 500):
                    before = pages_model.Pages()
                    for event in events[:count]:
                        before.apply(event)
                    is_same = self.assert_loses_nothing(before, export)
                    self.assertTrue(is_same or words or count < len(events))


class RandomCrawls(PagesTest):
    """A few hundred events over few pages, against the model."""

    def setUp(self):
        super().setUp()
        self.model = pages_model.Pages()
        events = list(pages_model.random_events(600, 60, SEED))
        for event in events:
            self.model.apply(event)
        (self.folder / "e.jsonl").write_bytes(b"".join(map(json_line, events)))
        self.succeed("import", "x.crawl", "--format", "jsonl", "e.jsonl")

    def expected_row(self, page):
        def iso(time):
            return None if time == 0 else unittest.mock.ANY
        return {**named(page.url), "index": page.index, "state": page.state, "score": page.score,
                "crawl_count": page.crawl_count, "change_count": page.change_count,
                "first_crawl_us": page.first or None, "first_crawl": iso(page.first),
                "last_crawl_us": page.last or None, "last_crawl": iso(page.last),
                "depth": page.depth, "linked_from": page.linked_from,
                "content_hash": page.hash.hex() or None, "http_status": page.http_status,
                "failure_count": page.failure_count}

    def assert_rows(self, rows, pages):
        """Scores come as few digits: compared as floats of 4 bytes."""
        wanted = [self.expected_row(page) for page in pages]
        for row, other in zip(rows, wanted):
            self.assertEqual(float32(row.pop("score")), other.pop("score"))
        self.assertEqual(rows, wanted)

    # covers: A7
    def test_are_what_the_model_says(self):
        self.assert_rows(self.rows(), self.model.pages)
        self.assert_whole()
        info = self.info()
        self.assertEqual((info["page_count"], info["crawled_count"], info["link_count"]),
                         (len(self.model.pages), sum(p.crawl_count > 0 for p in self.model.pages),
                          len(self.model.edges())))

    def test_are_the_same_in_little_memory_and_pieces(self):
        lines = (self.folder / "e.jsonl").read_bytes().splitlines(keepends=True)
        for first in range(0, len(lines), 100):
            self.load(b"".join(lines[first:first + 100]), "jsonl",
                      *(["--no-merge"] if first % 200 else []), name="y.crawl")
        self.succeed("merge", "y.crawl")
        self.assertEqual(self.export("csv"), self.export("csv", name="y.crawl"))
        self.assertEqual(self.edges(code=1), self.edges("y.crawl", code=1))

    def test_come_back_from_events_and_jsonl(self):
        for form in ("jsonl", "events"):
            data = self.export(form)
            self.load(data, form, "--memory", "1MiB", name=form)
            self.assertEqual(self.export(form, name=form), data)
            self.assertEqual(self.export("csv", name=form), self.export("csv"))
            self.assertEqual(self.export("jsonl", name=form), self.export("jsonl"))
            self.assert_whole(form)

    def test_come_back_from_edges_but_for_what_does_not_fit(self):
        def fits_from(url):
            return not re.search(rb"[\t\r\n]|^ *($|%|#(?!\d)|#?\d+( |$))", url)

        def fits_to(url):
            return not re.search(rb"[\t\r\n]|^$|^ *#?\d+ *$", url)
        urls = [page.url for page in self.model.pages]
        wanted = {(urls[a], urls[b]) for a, b in self.model.edges()}
        fitting = {edge for edge in wanted if fits_from(edge[0]) and fits_to(edge[1])}
        answer = self.run_command("export", "x.crawl", "--format", "edges", "-o", "e.txt")
        self.assertEqual(answer.code, 1)
        self.assertIn(b"%d links left out" % len(wanted - fitting), answer.err)
        self.succeed("import", "y.crawl", "--format", "edges", "e.txt")
        self.assertEqual(self.edges("y.crawl"), fitting)

    def test_have_each_link_in_both_directions(self):
        pages = self.model.pages
        into = {page.index: [] for page in pages}
        for source, target in sorted(self.model.edges()):
            into[target].append(source)
        for page in pages[::5]:
            for option, others in (("--out", sorted(page.links)), ("--in", into[page.index])):
                found = json.loads(self.succeed("links", "x.crawl", f"#{page.index}", option,
                                                "--json").out)
                self.assertEqual(url_in(found), page.url)
                self.assertEqual([(link["index"], url_in(link)) for link in found["links"]],
                                 [(index, pages[index].url) for index in others])

    # covers: A8
    def test_have_pages_with_everything_known_of_them(self):
        for page in self.model.pages[::5]:
            found = json.loads(self.succeed("page", "x.crawl", f"#{page.index}", "--json").out)
            row = self.expected_row(page)
            self.assertEqual(float32(found["score"]), row.pop("score"))
            self.assertEqual({key: found[key] for key in row}, row)
            rate = None
            if page.last > page.first:
                count, changes = page.crawl_count - 1, page.change_count or 0.5
                rate = -count / ((page.last - page.first) / 86_400e6) * math.log(
                    (count - changes + 0.5) / (count + 0.5))
                self.assertAlmostEqual(found["changes_per_day"] / rate, 1)
            else:
                self.assertIsNone(found["changes_per_day"])
            self.assertEqual(found["out_link_count"], len(page.links))
            self.assertEqual(found["in_link_count"],
                             sum(target == page.index for _, target in self.model.edges()))
            self.assertEqual([step["index"] for step in found["path_pages"]], self.path(page))

    def path(self, page):
        path = [page.index]
        while self.model.pages[path[0]].linked_from is not None:
            path.insert(0, self.model.pages[path[0]].linked_from)
        return path

    # covers: A53
    def test_are_found_by_pattern_host_and_order(self):
        pages = self.model.pages
        keys = {"index": lambda p: p.index, "url": lambda p: p.url, "crawl_count":
                lambda p: p.crawl_count, "change_count": lambda p: p.change_count,
                "first_crawl": lambda p: p.first, "last_crawl": lambda p: p.last,
                "score": lambda p: p.score, "depth": lambda p: p.depth,
                "http_status": lambda p: p.http_status or 0,
                "failure_count": lambda p: p.failure_count,
                "state": lambda p: pages_model.STATES.index(p.state)}
        for column, key in keys.items():
            for limit in (None, 0, 1, 7, 1000) if column == "score" else (None, 7):
                for reverse in (False, True):
                    wanted = sorted(pages, key=key, reverse=reverse)[:limit]
                    words = ["--sort", column, *(["--limit", limit] if limit is not None else []),
                             *(["--reverse"] if reverse else [])]
                    with self.subTest(words):
                        self.assert_rows(self.rows(*words), wanted)
        for pattern in (rb"page/1", rb"^http://host[1-3]\.", rb"(2|4)$", rb"\xff", rb"[\"&]", rb""):
            wanted = [page for page in pages if re.search(pattern, page.url)]
            with self.subTest(pattern):
                self.assert_rows(self.rows("--match", pattern.decode("ascii")), wanted)
        for host in ("host3.test", "HOST3.Test", "a.test", "none.test"):
            wanted = [page for page in pages
                      if normalise(page.url)[1] == host.lower().encode()]
            with self.subTest(host):
                self.assert_rows(self.rows("--host", host), wanted)
                self.assert_rows(self.rows("--host", host, "--limit", "2"), wanted[:2])
                both = [page for page in wanted if b"1" in page.url]
                self.assert_rows(self.rows("--host", host, "--match", "1", "--sort", "score",
                                           "--limit", "3"),
                                 sorted(both, key=keys["score"])[:3])

    def test_are_a_table_of_comma_separated_values(self):
        text = self.export("csv").decode("latin-1")
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        self.assertEqual([row["url"].encode("latin-1") for row in rows],
                         [page.url for page in self.model.pages])
        for row, page in zip(rows, self.model.pages):
            self.assertEqual((int(row["index"]), row["state"], int(row["crawl_count"]),
                              int(row["change_count"]), float32(float(row["score"])),
                              row["content_hash"], int(row["out_link_count"]), row["linked_from"],
                              int(row["http_status"] or 0), int(row["failure_count"])),
                             (page.index, page.state, page.crawl_count, page.change_count,
                              page.score, page.hash.hex(), len(page.links),
                              "" if page.linked_from is None else str(page.linked_from),
                              page.http_status or 0, page.failure_count))

    def test_are_graphs_that_programs_read(self):
        root = xml.etree.ElementTree.fromstring(self.export("graphml"))
        space = "{http://graphml.graphdrawing.org/xmlns}"
        nodes = {node.get("id"): node for node in root.iter(space + "node")}
        self.assertEqual(list(nodes), [f"n{page.index}" for page in self.model.pages])
        for page in self.model.pages:
            data = {item.get("key"): item.text or "" for item in nodes[f"n{page.index}"]}
            self.assertEqual((data["url"], data["state"]), (shown(page.url), page.state))
        edges = {(int(edge.get("source")[1:]), int(edge.get("target")[1:]))
                 for edge in root.iter(space + "edge")}
        self.assertEqual(edges, self.model.edges())
        labels, dot_edges = self.read_dot(self.export("dot").decode())
        self.assertEqual(labels, [shown(page.url) for page in self.model.pages])
        self.assertEqual(dot_edges, self.model.edges())

    def read_dot(self, text):
        lines = text.split("\n")
        self.assertEqual((lines[0], lines[-2:]), ("digraph pages {", ["}", ""]))
        labels = re.findall(r'(?m)^  \d+ \[label="((?:[^"\\]|\\.)*)"\];$', text)
        labels = [re.sub(r"\\(.)", r"\1", label).replace("&amp;", "&") for label in labels]
        edges = {(int(a), int(b)) for a, b in re.findall(r"(?m)^  (\d+) -> (\d+);$", text)}
        self.assertEqual(len(labels) + len(edges) + 3, len(lines))
        return labels, edges

    def test_are_drawn_by_graphviz(self):
        if not shutil.which("dot"):
            self.skipTest("graphviz is not there")
        drawn = subprocess.run(["dot", "-Tplain"], input=self.export("dot"), capture_output=True)
        self.assertEqual(drawn.returncode, 0, drawn.stderr)
        self.assertEqual(drawn.stdout.count(b"\nedge "), len(self.model.edges()))

    def test_have_links_between_hosts(self):
        def host(url):
            return normalise(url)[1]
        urls = [page.url for page in self.model.pages]
        wanted = {(a, b) for a, b in self.model.edges() if host(urls[a]) != host(urls[b])}
        self.assertNotIn(len(wanted), (0, len(self.model.edges())))
        _, edges = self.read_dot(self.export("dot", "--other-hosts").decode())
        self.assertEqual(edges, wanted)
        for page in self.model.pages[:20]:
            found = self.succeed("links", "x.crawl", f"#{page.index}", "--other-hosts", "--json")
            links = json.loads(found.out)["links"]
            self.assertEqual({(page.index, link["index"]) for link in links},
                             {edge for edge in wanted if edge[0] == page.index})
        self.refuse(2, "--other-hosts goes with", "export", "x.crawl", "--format", "csv",
                    "--other-hosts")

    def test_stay_what_they_are_when_compacted(self):
        before = [self.export("csv"), self.edges(code=1)]
        self.succeed("compact", "x.crawl")
        self.assertEqual([self.export("csv"), self.edges(code=1)], before)
        self.assert_whole()

    def test_tell_how_long_the_file_was_before_runs_are_joined(self):
        for step in (1, 2, 3):
            self.load(b"".join(b"http://a%d.test/%d\thttp://b.test/%d\n" % (i % 50, i * step, i)
                               for i in range(4000)), "edges", name="y.crawl")
        before = (self.folder / "y.crawl").stat().st_size
        report = json.loads(self.succeed("compact", "y.crawl", "--json").out)
        after = (self.folder / "y.crawl").stat().st_size
        self.assertEqual((report["old_file_bytes"], report["new_file_bytes"]), (before, after))
        self.assertGreater(report["coder_bytes"], 12000 * 8)
        again = json.loads(self.succeed("compact", "y.crawl", "--json").out)
        self.assertEqual(again["coder_bytes"], 0)

    def test_are_tables_for_people(self):
        lines = self.succeed("pages", "x.crawl").out.split(b"\n")
        self.assertEqual(len(lines), len(self.model.pages) + 2)
        self.assertEqual(lines[0].split()[-2:], [b"content_hash", b"url"])
        for line, page in zip(lines[1:-1], self.model.pages):
            if not re.search(rb"[\x00-\x1f\x7f]", page.url):
                shown_hash = page.hash.hex().encode() or b"-"
                self.assertRegex(line, b" " + shown_hash + b" +" + re.escape(page.url) + b"$")
        crawled = next(page for page in self.model.pages if page.crawl_count)
        text = self.succeed("page", "x.crawl", f"#{crawled.index}").out.decode(errors="replace")
        self.assertRegex(text, rf"(?m)^crawl_count +{crawled.crawl_count}$")
        self.assertRegex(text, r"(?m)^path_pages:$")


def float32(number):
    import struct
    return struct.unpack("f", struct.pack("f", number))[0]


def shown(url):
    """Returns a text of DOT and XML: bytes that these cannot hold come as \\xNN."""
    try:
        text = url.decode("utf-8")
    except UnicodeDecodeError:
        text = None
    if text is not None and not re.search("[\x00-\x1f\x7f\ufffe\uffff]", text):
        return text
    out, rest = "", url
    while rest:
        for length in (1, 2, 3, 4):
            try:
                char = rest[:length].decode("utf-8")
            except UnicodeDecodeError:
                continue
            if len(char) == 1:
                break
        else:
            char, length = None, 1
        if char is None or ord(char) < 32 or 127 <= ord(char) < 160 or char in "\ufffe\uffff":
            out += "".join(f"\\x{byte:02x}" for byte in rest[:length])
        else:
            out += "\\\\" if char == "\\" else char
        rest = rest[length:]
    return out


class RealGraphs(PagesTest):
    """Those of ../shared/data."""

    def assert_graph(self, name, label, turn):
        self.need_turn(turn, 3)
        lines = lines_of(f"graphs/{name}.adj.zst")
        if not lines:
            self.skipTest("../shared/data or zstd is not there")
        arcs = [(source, int(target)) for source, row in enumerate(lines[1:int(lines[0]) + 1])
                for target in row.split()]
        text = b"".join(label(a) + b"\t" + label(b) + b"\n" for a, b in arcs)
        self.load(text, "edges", "-q")
        exported = self.export("edges", "-q")
        self.assertEqual(sorted(exported.splitlines()), sorted(text.splitlines()))
        self.assert_in_links(arcs, label)
        self.assert_whole()
        info = self.info()
        self.assertEqual(info["link_count"], len(arcs))
        print(f"{name}: {info['page_count']} pages, {info['link_count']} links, "
              f"{info['bits_per_link']:.3f} bits a link, {info['in_bits_per_link']:.3f} in, "
              f"{info['bytes_per_page']:.1f} bytes a page", file=sys.stderr)

    def assert_in_links(self, arcs, label):
        into = {}
        for source, target in arcs:
            into.setdefault(target, []).append(label(source))
        hubs = sorted(into, key=lambda page: -len(into[page]))
        for page in hubs[:3] + hubs[3::max(1, len(hubs) // 20)]:
            name = label(page).decode()
            found = json.loads(self.succeed("links", "x.crawl", name, "--in", "--json").out)
            names = [b"#%d" % link["index"] if not link["url"] else link["url"].encode()
                     for link in found["links"]]
            self.assertEqual(sorted(names), sorted(into[page]))

    def test_of_indexes_come_back(self):
        self.assert_graph("cnr-2000", lambda page: b"#%d" % page, 0)

    def test_of_urls_come_back(self):
        urls = lines_of("graphs/docs-public.urls.zst")
        self.assert_graph("docs-public", lambda page: urls[page], 1)

    def test_of_real_crawls_come_back(self):
        self.need_turn(2, 3)
        lines = [line for line in lines_of("urls/mscpp.links.zst") if line]
        if not lines:
            self.skipTest("../shared/data or zstd is not there")
        model, page, events = pages_model.Pages(), None, []
        for line in lines:
            if line.startswith(b"\t"):
                page["links"].append((line[1:], 0.0))
            else:
                page = {"kind": "page", "url": line, "time": 10**15 + len(events), "links": []}
                events.append(page)
        for event in events:
            model.apply(event)
        self.load(b"".join(map(json_line, events)), "jsonl")
        self.assertEqual([url_in(row) for row in self.rows()], [page.url for page in model.pages])
        urls = [page.url for page in model.pages]
        self.assertEqual(self.edges(), {(urls[a], urls[b]) for a, b in model.edges()})
        self.load(self.export("events"), "events", "--memory", "2MiB", name="y.crawl")
        self.assertEqual(self.export("csv", name="y.crawl"), self.export("csv"))
        self.assertEqual(self.edges("y.crawl"), self.edges())


if __name__ == "__main__":
    unittest.main()
