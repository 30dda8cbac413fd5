# SPDX-License-Identifier: Apache-2.0
"""Pages by content: page and links --content, pages --by content, with and without an index."""

import collections
import json
import random
import unittest

import pages_command


def event(page, content, links):
    return json.dumps({"kind": "page", "url": f"http://s{page % 5}.test/{page}",
                       "content_hash": content.hex(), "links": links}).encode() + b"\n"


class Contents(pages_command.PagesTest):
    # covers: W2, W3, W5, W7, W28
    def load_crawl(self, seed):
        """60 pages with 12 contents, some of them crawled again with another one."""
        chance = random.Random(seed)
        contents = [chance.randbytes(chance.choice((1, 8, 16, 64))) for _ in range(12)]
        self.pages = {}
        for _ in range(3):
            lines = []
            for page in chance.sample(range(60), 40):
                links = [f"http://s{to % 5}.test/{to}" for to in chance.sample(range(60), 3)]
                self.pages[page] = chance.choice(contents), links
                lines.append(event(page, *self.pages[page]))
            self.load(b"".join(lines), "jsonl")
        self.by_content = collections.defaultdict(list)
        for page, (content, _) in self.pages.items():
            self.by_content[content.hex()].append(f"http://s{page % 5}.test/{page}")

    def json_of(self, *words):
        return json.loads(self.succeed(*words, "--json").out)

    def expect_contents(self):
        for content, urls in self.by_content.items():
            found = self.json_of("page", "x.crawl", "--content", content)["pages"]
            self.assertEqual(sorted(it["url"] for it in found), sorted(urls))
            self.assertEqual({it["content_hash"] for it in found}, {content})
            targets = {to for has, links in self.pages.values() for to in links
                       if has.hex() == content}
            found = self.json_of("links", "x.crawl", "--content", content.upper())
            self.assertEqual({it["url"] for it in found["links"]}, targets)
            self.assertEqual(len(found["links"]), len(targets))
        groups = self.json_of("pages", "x.crawl", "--by", "content")["contents"]
        self.assertEqual({it["content_hash"]: it["page_count"] for it in groups},
                         {content: len(urls) for content, urls in self.by_content.items()})
        counts = [it["page_count"] for it in groups]
        self.assertEqual(counts, sorted(counts, reverse=True))

    def test_are_found_with_and_without_an_index(self):
        for seed in (1, 2):
            self.load_crawl(seed)
            self.expect_contents()
            self.succeed("compact", "x.crawl", "--content-index")
            self.expect_contents()
            self.succeed("verify", "x.crawl", "--deep")
            (self.folder / "x.crawl").unlink()
            self.succeed("create", "x.crawl", "--content-index")
            self.load_crawl(seed)
            self.expect_contents()
            databases = self.json_of("info", "x.crawl")["page_databases"]
            self.assertGreater(databases[0]["content_bytes"], 0)
            self.succeed("verify", "x.crawl", "--deep")
            (self.folder / "x.crawl").unlink()

    def test_are_dumped_without_a_broken_rule(self):
        self.succeed("create", "x.crawl", "--content-index")
        lines = b"".join(event(page, page.to_bytes(4, "little"), []) for page in range(2000))
        self.load(lines, "jsonl")
        kinds = set()
        for segment in self.json_of("segments", "x.crawl")["segments"]:
            kinds.add(segment["kind"])
            shown = self.succeed("dump", "x.crawl", segment["id"]).out
            self.assertNotIn(b" ! ", shown, segment)
        self.assertLessEqual({"page_contents", "drum_partition"}, kinds)

    def test_are_named_by_an_even_number_of_digits(self):
        self.load_crawl(3)
        for verb in ("page", "links"):
            for bad in ("", "0", "0f1", "xy", "00" * 65):
                answer = self.run_command(verb, "x.crawl", "--content", bad)
                self.assertEqual(answer.code, 2, (verb, bad))
                self.assertIn(b"2 to 128 hexadecimal digits", answer.err)
            answer = self.run_command(verb, "x.crawl", "--content", "00" * 64)
            self.assertEqual((answer.code, answer.out), (1, b""))
            self.assertIn(b"no page has this content", answer.err)
            self.assertEqual(self.run_command(verb, "x.crawl").code, 2)
            self.assertEqual(self.run_command(verb, "x.crawl", "#0", "--content", "00").code, 2)

    def test_are_listed_as_many_as_asked_for(self):
        self.load_crawl(4)
        table = self.succeed("pages", "x.crawl", "--by", "content", "--limit", 2, "--tsv").out
        rows = [line.split(b"\t") for line in table.splitlines()]
        self.assertEqual((rows[0], len(rows)),
                         ([b"content_hash", b"page_count", b"first_page", b"url"], 3))
        self.assertEqual(self.run_command("pages", "x.crawl", "--by", "content", "--domain",
                                          "s1.test").code, 2)


if __name__ == "__main__":
    unittest.main()
