# SPDX-License-Identifier: Apache-2.0
"""forget: by host, prefix and expression, through pages, links, waiting edits and seen keys; and
every host of real crawls, with all that may come after it."""

import collections
import json
import shutil
import unittest

import command
import pages_command

EDGES = b"".join(b"http://%s\thttp://%s\n" % pair for pair in (
    (b"a.test/1", b"b.test/1"), (b"a.test/1", b"a.test/2"), (b"b.test/1", b"a.test/2"),
    (b"b.test/1", b"c.test/"), (b"c.test/", b"b.test/2")))


def forgotten(pages, links):
    return {"page_count": pages, "link_count": links, "seen_count": 0,
            "score_array_count": 0, "queued_count": 0, "scheduled_count": 0}


class Forget(pages_command.PagesTest):
    def setUp(self):
        super().setUp()
        self.load(EDGES, "edges")

    def forget(self, *words):
        return json.loads(self.succeed("forget", "x.crawl", "--json", *words).out)

    def urls(self):
        return [row["url"] for row in self.rows() if row["url"]]

    def test_takes_a_host(self):
        self.assertEqual(self.forget("--host", "B.test"), forgotten(2, 4))
        self.assertEqual(self.urls(), ["http://a.test/1", "http://a.test/2", "http://c.test/"])
        self.assertEqual(self.edges(), {(b"http://a.test/1", b"http://a.test/2")})
        self.assertEqual(self.run_command("page", "x.crawl", "http://b.test/1").code, 1)
        self.succeed("verify", "--deep", "x.crawl")
        self.assertEqual(self.forget("--host", "b.test"), forgotten(0, 0))

    def test_says_that_the_file_grew_and_what_to_do(self):
        self.load(b"".join(b"http://h%d.test/%d\thttp://h%d.test/%d\n" % (i % 7, i, j % 7, j)
                           for i in range(5000) for j in {i // 2, i // 3}), "edges")
        self.succeed("compact", "x.crawl")
        before = (self.folder / "x.crawl").stat().st_size
        answer = self.succeed("forget", "x.crawl", "--host", "h3.test")
        after = (self.folder / "x.crawl").stat().st_size
        self.assertGreater(after, before)
        self.assertRegex(answer.err.decode(), "x.crawl grew from .* to .*; "
                                              "`crawlstore compact x.crawl` gives back")
        self.assertEqual(self.succeed("forget", "x.crawl", "--host", "h3.test").err, b"")
        self.assertEqual(self.succeed("forget", "x.crawl", "-q", "--host", "h4.test").err, b"")

    def test_takes_what_all_options_mean(self):
        self.assertEqual(self.forget("--prefix", "http://a.", "--match", "2$")["page_count"], 1)
        self.assertEqual(len(self.urls()), 4)

    def test_takes_edits_that_wait(self):
        self.load(b"http://b.test/3\thttp://a.test/1\n", "edges", "--no-merge")
        self.assertEqual(self.forget("--host", "b.test"), forgotten(3, 5))

    def test_takes_the_keys_out_of_all_that_was_seen(self):
        urls = b"http://a.test/1\nhttp://b.test/1\n"
        self.succeed("seen", "x.crawl", data=urls)
        self.succeed("seen", "x.crawl", "--drum", "other", data=urls)
        self.assertEqual(self.forget("--host", "a.test")["seen_count"], 2)
        for drum in ("urls", "other"):
            answer = self.succeed("seen", "x.crawl", "--drum", drum, data=urls)
            self.assertEqual(set(answer.verdicts),
                             {(b"unique", b"http://a.test/1"), (b"duplicate", b"http://b.test/1")})

    def test_takes_seen_keys_of_one_drum_when_asked_to(self):
        urls = b"http://a.test/1\nhttp://b.test/1\n"
        for drum in ("urls", "other"):
            self.succeed("seen", "x.crawl", "--drum", drum, data=urls)
        self.assertEqual(self.forget("--host", "a.test", "--seen", "urls")["seen_count"], 1)
        answer = self.succeed("seen", "x.crawl", "--drum", "other", data=urls)
        self.assertEqual(set(answer.verdicts),
                         {(b"duplicate", b"http://a.test/1"), (b"duplicate", b"http://b.test/1")})

    def test_leaves_pages_that_an_export_makes_anew(self):
        self.load(b"".join(b"http://%s.test/%d\thttp://%s.test/%d\n" % (
            b"abc"[i % 3:][:1], i, b"abc"[(i + 1) % 3:][:1], i * 7 % 60) for i in range(60)),
                  "edges")
        self.forget("--host", "b.test")

        def rows(name):
            """With linkers by their URLs: indexes close up."""
            found = self.rows(name=name)
            return [{**row, "index": None, "linked_from": None if row["linked_from"] is None else
                     found[row["linked_from"]]["url"]} for row in found if row["url"]]

        self.load(self.export("events"), "events", name="y.crawl")
        self.assertGreater(max(row["depth"] for row in rows("x.crawl")), 0)
        self.assertEqual(rows("y.crawl"), rows("x.crawl"))

    def test_explains_what_is_missing(self):
        self.assertEqual(self.run_command("forget", "x.crawl").code, 2)
        for words in (["--prefix", ""], ["--match", ""], ["--match", ".*"]):
            self.assertEqual(self.run_command("forget", "x.crawl", *words).code, 2)
        self.assertEqual(len(self.urls()), 5)
        self.assertEqual(self.run_command("forget", "x.crawl", "--match", "(").code, 2)
        answer = self.run_command("forget", "x.crawl", "--host", "a.test", "--database", "none")
        self.assertEqual(answer.code, 1)
        self.assertIn(b"no page database `none`", answer.err)
        self.load(b"#0\t#1\n", "edges", "--database", "graph")
        self.refuse(2, "pages of `graph` have no URLs to choose by", "forget", "x.crawl",
                    "--host", "a.test", "--database", "graph")
        answer = self.run_command("forget", "x.crawl", "--host", "a.test", "--seen", "none")
        self.assertEqual(answer.code, 1)
        self.assertEqual(len(self.urls()), 5)


def edges_of_two_hosts():
    """The pages of a.test fill blocks of URLs, those of b.test ask for a dictionary."""
    lines = (b"http://%s/%d\thttp://%s/%d\n" % (host, i, host, i)
             for host, count in ((b"a.test", 300), (b"b.test", 40_000)) for i in range(count))
    return b"".join(lines)


class ForgetAtSize(pages_command.PagesTest):
    """At sizes at which URLs get a dictionary."""

    def forget_host(self, host, name="y.crawl"):
        """On a copy: forget, verify, compact, import more, export."""
        shutil.copy(self.folder / "x.crawl", self.folder / name)
        report = json.loads(self.succeed("forget", name, "--host", host, "--json").out)
        self.succeed("verify", "--deep", name)
        left = self.edges(name)
        self.assertEqual([edge for edge in left for url in edge
                          if url.split(b"/")[2].lower() == host.encode()], [])
        for step in range(3):
            self.load(b"http://new.test/%d\thttp://new.test/%d\n" % (step, step + 1), "edges",
                      name=name)
        self.succeed("compact", name)
        self.succeed("verify", "--deep", name)
        self.assertEqual(len(self.edges(name)), len(left) + 3)
        return report

    def test_pages_that_fill_blocks(self):
        self.load(edges_of_two_hosts(), "edges")
        self.assertEqual(self.forget_host("a.test"), forgotten(300, 300))
        self.assertEqual(self.forget_host("b.test"), forgotten(40_000, 40_000))

    def forget_each_host(self, urls, edges):
        """All hosts of a real crawl, or the largest and some others."""
        if not urls:
            self.skipTest("../shared/data or zstd is not there")
        self.load(edges, "edges", "--raw")
        pages = collections.Counter(url.split(b"/")[2].decode("latin-1") for url in urls)
        hosts = [host for host, _ in pages.most_common()]
        if not command.IS_LONG:
            hosts = hosts[:4] + hosts[4 + command.SEED % 16::16]
        for host in hosts:
            with self.subTest(host=host):
                self.assertEqual(self.forget_host(host)["page_count"], pages[host])

    def test_hosts_of_documentation(self):
        self.need_turn(0, 2)
        urls = pages_command.lines_of("graphs/docs-public.urls.zst")[:-1]
        rows = pages_command.lines_of("graphs/docs-public.adj.zst")[1:-1]
        self.forget_each_host(urls, b"".join(
            b"%s\t%s\n" % (urls[source], urls[int(target)])
            for source, row in enumerate(rows) for target in [source, *row.split()]))

    def test_hosts_of_a_site(self):
        self.need_turn(1, 2)
        urls, edges, page = set(), [], b""
        for line in filter(None, pages_command.lines_of("urls/mscpp.links.zst")):
            if not line.startswith(b"\t"):
                page = line
                edges.append(b"%s\t%s\n" % (page, page))
            else:
                edges.append(b"%s\t%s\n" % (page, line[1:]))
            urls.add(line.lstrip(b"\t"))
        self.forget_each_host(urls, b"".join(edges))


if __name__ == "__main__":
    unittest.main()
