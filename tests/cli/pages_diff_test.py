# SPDX-License-Identifier: Apache-2.0
"""`diff` of page databases: generations of one store, two stores, databases without URLs."""

import json
import random
import shutil
import unittest

from pages_command import PagesTest


class PagesDiff(PagesTest):
    def diff(self, *words, code=1):
        answer = self.run_command("diff", *words, "--json", "--keys", "--limit", 10**6)
        self.assertEqual(answer.code, code, answer.err)
        return json.loads(answer.out)

    def database(self, document):
        return {name: value for name, value in document["page_databases"][0].items() if value}

    def links(self, document, change):
        return {(row["from"], row["to"]) for row in document["links"] if row["change"] == change}

    def load_edges(self, edges, name="x.crawl"):
        self.load(b"".join(b"%s\t%s\n" % edge for edge in edges), "edges", name=name)

    def test_of_generations_tells_pages_and_links(self):
        self.load(b"http://a.test/\thttp://b.test/\n", "edges")
        shutil.copy(self.folder / "x.crawl", self.folder / "old.crawl")
        self.load(b'{"kind":"page","url":"http://b.test/","time":7,"links":["http://c.test/"]}\n'
                  b'{"kind":"gone","url":"http://a.test/"}\n', "jsonl")
        found = self.diff("old.crawl", "x.crawl")
        self.assertEqual(self.database(found), {
            "name": "pages", "change": "changed", "old_page_count": 2, "new_page_count": 3,
            "added_page_count": 1, "gone_page_count": 1, "changed_page_count": 1,
            "fetched_page_count": 1,
            "old_link_count": 1, "new_link_count": 1, "added_link_count": 1, "gone_link_count": 1})
        # + and - are what came and went: what became gone is still there.
        self.assertEqual(found["summary"],
                         "+1 page, 1 became gone, 1 changed, 1 fetched, +1 and -1 links")
        self.assertEqual([(row["change"], row["page"], row["fields"]) for row in found["pages"]], [
            ("gone", "http://a.test/", "state"),
            ("changed", "http://b.test/", "state crawl_count first_crawl_us last_crawl_us"),
            ("added", "http://c.test/", "")])
        self.assertEqual(self.links(found, "added"), {("http://b.test/", "http://c.test/")})
        self.assertEqual(self.links(found, "gone"), {("http://a.test/", "http://b.test/")})
        text = self.run_command("diff", "old.crawl", "x.crawl").out.decode()
        self.assertRegex(text, r"(?m)^pages +added .* http://c.test/$")

    def test_lists_hosts_by_how_much_they_grew(self):
        self.load(b"http://a.test/\thttp://b.test/\n", "edges")
        shutil.copy(self.folder / "x.crawl", self.folder / "old.crawl")
        self.load(b"http://a.test/1\thttp://a.test/2\nhttp://b.test/1\thttp://c.test/\n", "edges")
        self.succeed("forget", "x.crawl", "--host", "b.test")
        self.assertEqual([(row["host"], row["page_delta"]) for row in
                          self.diff("old.crawl", "x.crawl")["hosts"]],
                         [("a.test", 2), ("c.test", 1), ("b.test", -1)])
        text = self.run_command("diff", "old.crawl", "x.crawl").out.decode()
        self.assertRegex(text, r"(?m)^summary +\+3 and -1 pages")

    def test_of_a_forgotten_page_says_gone(self):
        self.load(b"http://a.test/\thttp://b.test/\n", "edges")
        self.succeed("forget", "x.crawl", "--host", "b.test")
        found = self.diff("x.crawl", "--previous")
        self.assertEqual(found["page_databases"][0]["forgotten_page_count"], 1)
        self.assertEqual([(row["change"], row["page"], row["new_state"])
                          for row in found["pages"]], [("gone", "http://b.test/", None)])

    def test_of_two_stores_goes_by_url(self):
        urls = [b"http://h%d.test/%d" % (n % 5, n) for n in range(60)]
        dice = random.Random(5)
        older = {(dice.choice(urls), dice.choice(urls)) for _ in range(300)}
        newer = {edge for edge in older if dice.random() < .9} | {
            (dice.choice(urls), dice.choice(urls + [b"http://new.test/"])) for _ in range(30)}
        self.load_edges(sorted(older), name="old.crawl")
        self.load_edges(sorted(newer, reverse=True))
        found = self.diff("old.crawl", "x.crawl")
        self.assertEqual((found["is_same_store"], found["page_databases"][0]["is_by_url"]),
                         (False, True))
        as_text = lambda edges: {(a.decode(), b.decode()) for a, b in edges}
        self.assertEqual(self.links(found, "added"), as_text(newer - older))
        self.assertEqual(self.links(found, "gone"), as_text(older - newer))
        self.assertEqual(found["drums"], [])
        self.load_edges(sorted(newer), name="same.crawl")
        self.assertFalse(self.diff("same.crawl", "x.crawl", code=0)["is_different"])

    def test_tells_scores_apart(self):
        self.load(b"#0\t#1\n#1\t#0\n#1\t#2\n#2\t#0\n", "edges")
        self.succeed("rank", "x.crawl")
        shutil.copy(self.folder / "x.crawl", self.folder / "old.crawl")
        self.succeed("rank", "x.crawl", "--damping", "0.5")
        self.succeed("rank", "x.crawl", "hits")
        before, after = ({row["index"]: row["score"] for row in json.loads(
            self.succeed("top", name, "--json").out)["pages"]} for name in ("old.crawl", "x.crawl"))
        changes = {page: after[page] - before[page] for page in before}
        most = max(changes, key=lambda page: abs(changes[page]))
        found = self.diff("old.crawl", "x.crawl")
        self.assertTrue(found["is_different"])
        self.assertEqual([(row["name"], row["change"]) for row in found["scores"]],
                         [("authorities", "added"), ("hubs", "added"), ("pagerank", "changed")])
        row = found["scores"][2]
        self.assertEqual((row["changed_score_count"], row["changed_most"]), (3, f"#{most}"))
        self.assertEqual((row["added_score_count"], row["gone_score_count"]), (0, 0))
        self.assertEqual(found["summary"], "+2 score arrays, 3 scores changed")
        self.assertAlmostEqual(row["l1_distance"], sum(map(abs, changes.values())), 9)
        self.assertAlmostEqual(row["score_change_max"], changes[most], 9)
        self.assertFalse(self.diff("x.crawl", "x.crawl", code=0)["is_different"])
        self.assertRegex(self.run_command("diff", "x.crawl", "--previous").out.decode(),
                         r"(?m)^pages +hubs +added ")

    def test_tells_the_host_whose_score_changed_most(self):
        self.load(b"http://a.test/\thttp://b.test/\nhttp://b.test/\thttp://a.test/\n", "edges")
        self.succeed("rank", "x.crawl", "--by", "host")
        shutil.copy(self.folder / "x.crawl", self.folder / "old.crawl")
        self.load(b"http://c.test/\thttp://b.test/\n", "edges")
        self.succeed("rank", "x.crawl", "--by", "host")
        (row,) = self.diff("old.crawl", "x.crawl")["scores"]
        self.assertNotIn("page", row)
        self.assertRegex(row["changed_most"], r"^[abc]\.test$")
        self.assertEqual((row["changed_score_count"], row["added_score_count"]), (2, 1))

    def test_of_compacted_databases_is_none(self):
        for n in range(3):
            self.load(b"http://a.test/%d\thttp://b.test/%d\n" % (n, n), "edges")
        shutil.copy(self.folder / "x.crawl", self.folder / "old.crawl")
        self.succeed("compact", "x.crawl")
        found = self.diff("old.crawl", "x.crawl")  # segments were written anew
        self.assertEqual(found["page_databases"][0]["change"], "equal")
        self.assertEqual(found["drums"], [])
        self.assertEqual(found["pages"] + found["page_links"] + found["links"], [])

    def test_of_pages_without_urls_goes_by_index(self):
        self.load(b"#1\t#2\n", "edges", name="old.crawl")
        self.load(b"#1\t#3\n", "edges")
        found = self.diff("old.crawl", "x.crawl")
        self.assertEqual(self.links(found, "added"), {("#1", "#3")})
        self.assertEqual(self.links(found, "gone"), {("#1", "#2")})
        self.assertEqual([(row["change"], row["page"]) for row in found["pages"]],
                         [("added", "#3")])


if __name__ == "__main__":
    unittest.main()
