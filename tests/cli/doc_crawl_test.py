# SPDX-License-Identifier: Apache-2.0
"""examples/doc_crawl.cpp: what it finds in folders of HTML files, and that a kill loses nothing."""

import random
import subprocess
import time
import unittest

import command
from pages_command import PagesTest

BINARY = command.BUILD / "bin/doc_crawl"
KILLS = 40 if command.IS_LONG else 8
MANY = 5000  # pages: some rounds
DEEP = 100_000
ROOT = "https://docs.test/"


class DocCrawl(PagesTest):
    def setUp(self):
        super().setUp()
        if not BINARY.exists():
            self.skipTest("built without examples")

    def write(self, name, html=""):
        path = self.folder / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(html if isinstance(html, bytes) else html.encode())

    def start_crawl(self, name="x.crawl", sites=(ROOT, "site")):
        return subprocess.Popen([BINARY, name, *sites], cwd=self.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def crawl(self, code=0, **options):
        process = self.start_crawl(**options)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, code, out + err)
        return err.decode()

    def states(self, name="x.crawl"):
        """{URL without the root: its state}"""
        return {row["url"].removeprefix(ROOT): row["state"] for row in self.rows(name=name)}

    def links_of(self, html):
        """The URLs that the crawl found in a page, in their order."""
        self.write("index.html", html)
        self.crawl()
        return [row["url"].removeprefix(ROOT) for row in self.rows()][1:]

    def test_crawls_what_links_lead_to_and_leaves_other_sites_alone(self):
        self.write("index.html", "<a href='a%20b.html#x'>x</a><a href=deep/>x</a><a href=gone.html>"
                   "<a href=picture.png><a href=//other.test/><a href='..%2f..%2fx.html'>")
        self.write("a b.html", "<a href=index.html>")
        self.write("deep/index.html", "<a href=\"p%C3%A4ge.htm?query\">")
        self.write("deep/p\u00e4ge.htm")
        self.write("not-linked/below/index.html")
        self.crawl()
        self.assertEqual(self.states(), {
            "index.html": "crawled", "a%20b.html": "crawled", "deep/index.html": "crawled",
            "deep/": "crawled", "gone.html": "failed", "picture.png": "known",
            "https://other.test/": "known", "..%2F..%2Fx.html": "known",
            "deep/p%C3%A4ge.htm?query": "crawled"})
        self.assert_whole()

    def test_fetches_nothing_a_second_time(self):
        self.write("index.html", "<a href=a.html>")
        self.crawl()
        first = self.rows()
        self.assertEqual(self.crawl(), "")
        self.assertEqual(self.rows(), first)

    def test_crawls_a_site_that_it_is_told_of_later(self):
        self.write("index.html", "<a href=https://other.test/index.html><a href=deep/a.html>")
        self.write("deep/a.html", "<a href=b.html>")
        self.write("deep/b.html")
        self.write("../other/index.html")
        self.crawl()
        other = {"https://other.test/index.html": "known"}
        self.assertLessEqual(other.items(), self.states().items())
        self.assertIn("1 pages fetched, 0 wait",
                      self.crawl(sites=(ROOT, "site", "HTTPS://Other.test", "other")))
        self.assertEqual(set(self.states().values()), {"crawled"})

    def test_names_a_site_that_is_none(self):
        self.write("index.html")
        self.assertIn("ftp://docs.test/ is no URL of HTTP",
                      self.crawl(code=2, sites=("ftp://docs.test/", "site")))

    def test_names_a_folder_without_pages(self):
        self.write("readme.txt")
        self.assertIn("site has no HTML pages to begin with", self.crawl(code=2))
        for form in ("events", "jsonl", "edges"):
            self.assertEqual(self.export(form), b"")

    def test_names_a_folder_that_is_not_there(self):
        self.assertRegex(self.crawl(code=3), r"^doc_crawl: .*No such file or directory \[site\]")

    def test_reads_tags_as_browsers_do(self):
        self.assertEqual(self.links_of(
            "<!doctype html><!-- <a href=no1> --><!--> <A class='a>b' HREF = \"1?a&amp;b\">"
            "<script>'<a href=no2>'</script ><title><a href=no3></title><a href=2 href=no4>"
            "<abbr href=no5><a data-href=no6><a\nhref\n=\n'&#x33;'><a href=&#8364;&eacute;&#;&>"
            "</a href=no7><area href=no8>< a href=no9><a/href=/5><base href=/base/><a href=6>"
            "<a href=https://docs.test/long/enough/to/be/kept/elsewhere>"
            "<style></styl<a href=no10></style><p <a href=no11>7</p><a href='7"),
            ["%E2%82%AC&eacute;&", "1?a&b", "2", "3", "5", "base/6",
             "long/enough/to/be/kept/elsewhere"])

    def test_takes_elements_that_are_nested_deep(self):
        tags = {name: f"<{name}>" * DEEP for name in ("div", "b", "a", "table", "svg")}
        tags["font"] = "".join(f"<font id={i}><p>" for i in range(DEEP))
        for name, html in tags.items():
            self.write(f"{name}.html", html + f"<a href=below-{name}>")
        self.write("unclosed.html", "<a href=" + "&" * (4 << 20) + " ><script></" * DEEP)
        self.write("comment.html", "<!--" * (1 << 20))
        self.crawl()
        self.assertLessEqual({f"below-{name}" for name in tags}, self.states().keys())

    def test_loses_nothing_when_it_is_killed(self):
        generator = random.Random(command.SEED)
        for page in range(MANY):
            links = [2 * page + 1, 2 * page + 2, generator.randrange(2 * MANY)]
            self.write(f"pages/{page}.html", "".join(f"<a href={link}.html>" for link in links))
        self.write("index.html", "<a href=pages/0.html>")
        begin = time.monotonic()
        self.crawl(name="whole.crawl")
        seconds = time.monotonic() - begin
        commits = 0
        for _ in range(KILLS):
            process = self.start_crawl()
            time.sleep(generator.uniform(0, seconds / 2))
            process.kill()
            _, err = process.communicate()
            commits += b"pages fetched" in err
        self.crawl()
        self.assert_whole()
        self.assertGreater(commits, 0)
        self.assertEqual(self.states(), self.states("whole.crawl"))
        self.assertEqual(self.edges(), self.edges("whole.crawl"))
        self.assertEqual({row["crawl_count"] for row in self.rows()}, {0, 1})


if __name__ == "__main__":
    unittest.main()
