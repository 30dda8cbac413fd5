# SPDX-License-Identifier: Apache-2.0
"""Registered domains on the command line: `pages --domain`, `pages --by`, `forget --domain`."""

import json
import unittest

from pages_command import PagesTest

# Host, its registered domain; "uk" and "co.uk" are public suffixes.
HOSTS = {"example.co.uk": "example.co.uk", "www.example.co.uk": "example.co.uk",
         "a.b.example.co.uk": "example.co.uk", "notexample.co.uk": "notexample.co.uk",
         "example.org": "example.org", "co.uk": "co.uk", "192.0.2.1": "192.0.2.1"}


class Domains(PagesTest):
    def setUp(self):
        super().setUp()
        self.urls = [f"http://{host}/{n}" for n in range(5) for host in HOSTS]
        self.urls += ["http://www.example.co.uk:8080/port", "mailto:x@example.co.uk"]
        self.load(b"".join(b'{"kind":"%s","url":"%s"}\n'
                           % (b"page" if n % 2 else b"known", url.encode())
                           for n, url in enumerate(self.urls)), "jsonl")

    def urls_of(self, domain):
        hosts = [host for host, other in HOSTS.items() if other == domain]
        return [url for url in self.urls
                if any(url.startswith((f"http://{host}/", f"http://{host}:")) for host in hosts)]

    def test_choose_pages_of_all_their_hosts(self):
        for domain in set(HOSTS.values()):
            with self.subTest(domain):
                rows = self.rows("--domain", domain.upper())
                self.assertEqual([row["url"] for row in rows], self.urls_of(domain))
        self.assertEqual(self.rows("--domain", "none.test"), [])
        rows = self.rows("--domain", "example.co.uk", "--match", "8080|/4", "--sort", "url",
                         "--reverse", "--limit", 2)
        self.assertEqual([row["url"] for row in rows],
                         ["http://www.example.co.uk:8080/port", "http://www.example.co.uk/4"])

    def test_are_refused_where_they_are_hosts(self):
        self.refuse(2, "www.example.co.uk is a host of the registered domain example.co.uk",
                    "pages", "x.crawl", "--domain", "www.example.co.uk")
        for words in (["--domain", "a.test:80"], ["--domain", ""],
                      ["--domain", "a.test", "--host", "a.test"], ["--by", "colour"],
                      ["--by", "host", "--sort", "url"], ["--by", "host", "--match", "x"],
                      ["--by", "domain", "--host", "a.test"]):
            self.refuse(2, "--(domain|by)", "pages", "x.crawl", *words)
        self.load(b"#0\t#1\n", "edges", "--database", "graph")
        for words in (["--domain", "a.test"], ["--by", "domain"]):
            self.refuse(2, "have no URLs", "pages", "x.crawl", "--database", "graph", *words)

    def test_group_hosts(self):
        words = ["pages", "x.crawl", "--json", "--by"]
        hosts = json.loads(self.succeed(*words, "host").out)["hosts"]
        self.assertEqual({row["host"]: row["domain"] for row in hosts}, {**HOSTS, "": ""})
        self.assertEqual((hosts[0]["host"], hosts[0]["page_count"]), ("www.example.co.uk", 6))
        domains = json.loads(self.succeed(*words, "domain").out)["domains"]
        self.assertEqual(sum(row["page_count"] for row in domains), len(self.urls))
        self.assertEqual(domains[0], {
            "domain": "example.co.uk", "host_count": 3, "page_count": 16,
            "crawled_count": sum(self.urls.index(url) % 2
                                 for url in self.urls_of("example.co.uk")),
            "crawled_share": domains[0]["crawled_count"] / 16, "gone_count": 0,
            "failed_count": 0})
        one = json.loads(self.succeed(*words, "host", "--domain", "example.co.uk", "--limit",
                                      2).out)["hosts"]
        self.assertEqual([(row["domain"], row["page_count"]) for row in one],
                         [("example.co.uk", 6), ("example.co.uk", 5)])
        self.assertRegex(self.succeed("pages", "x.crawl", "--by", "domain").out.decode(),
                         r"(?m)^example.co.uk +3 +16 ")

    def test_are_forgotten(self):
        report = json.loads(self.succeed("forget", "x.crawl", "--domain", "example.co.uk",
                                         "--json").out)
        self.assertEqual(report["page_count"], 16)
        self.assertEqual(self.rows("--domain", "example.co.uk"), [])
        self.assertEqual(len(self.rows("--domain", "notexample.co.uk")), 5)
        self.refuse(2, "is a host of", "forget", "x.crawl", "--domain", "www.example.org")
        self.assert_whole()


if __name__ == "__main__":
    unittest.main()
