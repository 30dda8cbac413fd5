# SPDX-License-Identifier: Apache-2.0
"""forget: by host, prefix and expression, through pages, links, waiting edits and seen keys."""

import json
import unittest

import pages_command

EDGES = b"".join(b"http://%s\thttp://%s\n" % pair for pair in (
    (b"a.test/1", b"b.test/1"), (b"a.test/1", b"a.test/2"), (b"b.test/1", b"a.test/2"),
    (b"b.test/1", b"c.test/"), (b"c.test/", b"b.test/2")))


class Forget(pages_command.PagesTest):
    def setUp(self):
        super().setUp()
        self.load(EDGES, "edges")

    def forget(self, *words):
        return json.loads(self.succeed("forget", "x.crawl", "--json", *words).out)

    def urls(self):
        return [row["url"] for row in self.rows() if row["url"]]

    def test_takes_a_host(self):
        self.assertEqual(self.forget("--host", "B.test"), {"pages": 2, "links": 4, "seen": 0})
        self.assertEqual(self.urls(), ["http://a.test/1", "http://a.test/2", "http://c.test/"])
        self.assertEqual(self.edges(), {(b"http://a.test/1", b"http://a.test/2")})
        self.assertEqual(self.run_command("page", "x.crawl", "http://b.test/1").code, 1)
        self.succeed("verify", "--deep", "x.crawl")
        self.assertEqual(self.forget("--host", "b.test"), {"pages": 0, "links": 0, "seen": 0})

    def test_takes_what_all_options_mean(self):
        self.assertEqual(self.forget("--prefix", "http://a.", "--match", "2$")["pages"], 1)
        self.assertEqual(len(self.urls()), 4)

    def test_takes_edits_that_wait(self):
        self.load(b"http://b.test/3\thttp://a.test/1\n", "edges", "--no-merge")
        self.assertEqual(self.forget("--host", "b.test"), {"pages": 3, "links": 5, "seen": 0})

    def test_takes_seen_keys_when_asked_to(self):
        urls = b"http://a.test/1\nhttp://b.test/1\n"
        self.succeed("seen", "x.crawl", data=urls)
        self.assertEqual(self.forget("--host", "a.test", "--seen", "urls")["seen"], 1)
        self.assertEqual(set(self.succeed("seen", "x.crawl", data=urls).verdicts),
                         {(b"unique", b"http://a.test/1"), (b"duplicate", b"http://b.test/1")})

    def test_explains_what_is_missing(self):
        self.assertEqual(self.run_command("forget", "x.crawl").code, 2)
        self.assertEqual(self.run_command("forget", "x.crawl", "--match", "(").code, 2)
        answer = self.run_command("forget", "x.crawl", "--host", "a.test", "--database", "none")
        self.assertEqual(answer.code, 1)
        self.assertIn(b"no page database `none`", answer.err)
        answer = self.run_command("forget", "x.crawl", "--host", "a.test", "--seen", "none")
        self.assertEqual(answer.code, 1)
        self.assertEqual(len(self.urls()), 5)


if __name__ == "__main__":
    unittest.main()
