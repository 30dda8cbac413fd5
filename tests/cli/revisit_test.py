# SPDX-License-Identifier: Apache-2.0
"""schedule --init, --revisit and --rules: pages that come back."""

import time
import unittest

from schedule_command import ScheduleTest

DAY = 86_400


class Revisits(ScheduleTest):
    def crawled(self, url, days_ago, links=(), content=b"a"):
        """A page that was crawled so long ago."""
        return {"kind": "page", "time": int((time.time() - days_ago * DAY) * 1e6), "url": url,
                "content_hash": content.hex(), "links": list(links)}

    def later(self):
        """{URL: days until it may be taken}"""
        found = {}
        for item in self.json("frontier", "x.crawl", "--later")["items"]:
            page = self.json("page", "x.crawl", f"#{item['id']}")
            found[page["url"]] = (item["not_before_us"] / 1e6 - time.time()) / DAY
        return found

    def test_come_when_a_week_is_over(self):
        self.add([self.crawled("http://a.test/", 8), self.crawled("http://b.test/", 6)])
        done = self.schedule("--revisit", "100")
        self.assertEqual({key: done[key] for key in ("new_count", "revisit_count", "due_count",
                                                     "held_count", "left_out_count")},
                         {"new_count": 0, "revisit_count": 2, "due_count": 1, "held_count": 0,
                          "left_out_count": 0})
        self.assertEqual(set(self.take("-n", "9")), {"http://a.test/"})
        self.assertAlmostEqual(self.later()["http://b.test/"], 1, delta=0.01)
        self.assertEqual(self.schedule("--revisit", "100")["held_count"], 2)

    def test_count_what_a_limit_refuses_once(self):
        self.add([self.crawled(f"http://a.test/{i}", 9, [f"http://a.test/new{i}"])
                  for i in range(5)])
        done = self.schedule("--revisit", "100", "--default", "limit=4", code=1)
        self.assertEqual(done["new_count"] + done["revisit_count"], 4)
        self.assertEqual((done["refused_count"], done["waiting_count"]), (6, 4))
        self.assertEqual(done["due_count"], done["revisit_count"])

    def test_of_a_page_that_was_crawled_in_the_future_count_from_now(self):
        self.add([self.crawled("http://a.test/", -1000)])
        self.schedule("--revisit", "100")
        self.assertAlmostEqual(self.later()["http://a.test/"], 7, delta=0.01)

    def test_end_when_a_page_was_crawled_meanwhile(self):
        self.add([self.crawled("http://a.test/", 8)])
        self.schedule("--revisit", "100")
        self.add([self.crawled("http://a.test/", 1)])
        self.assertEqual(self.take("-n", "9"), {})
        self.assertEqual(self.schedule("--revisit", "adaptive", "--first", "2d")["due_count"], 0)

    def test_go_by_rules_the_first_that_matches(self):
        names = ("news", "news/old", "half", "never", "else")
        self.add([self.crawled(f"http://a.test/{name}", 0) for name in names])
        rules = (b"# of the site\n\n/old$\t30d\n/news\t12h\nhalf\tx0.5\n"
                 b"[n]ever\tnever\n/never\t1h\n")
        (self.folder / "rules").write_bytes(rules)
        done = self.schedule("--revisit", "adaptive", "--rules", self.folder / "rules")
        self.assertEqual((done["revisit_count"], done["left_out_count"]), (4, 1))
        found = {url.removeprefix("http://a.test/"): days for url, days in self.later().items()}
        for name, days in (("news", 0.5), ("news/old", 30), ("half", 3.5), ("else", 7)):
            self.assertAlmostEqual(found[name], days, delta=0.01)

    def test_refuse_rules_that_are_none(self):
        self.add([self.crawled("http://a.test/", 0)])
        for rules, text in ((b"a\t1d\na(\t1d\n", "line 2: no regular expression: missing )"),
                            (b"a 1d\n", "line 1: a line is REGEX TAB INTERVAL"),
                            (b"a\tx-1\n", "line 1: a line is REGEX TAB INTERVAL")):
            answer = self.run_command("schedule", "x.crawl", "--revisit", "9", "--rules", "-",
                                      data=rules)
            self.assertEqual((answer.code, answer.out), (2, b""))
            self.assertIn(text.encode(), answer.err)
        for words, text in ((("--rules", "x"), "--revisit"), (("--revisit", "0"), "from 1"),
                            (("--revisit", "9", "--shortest", "9d", "--longest", "1d"),
                             "--shortest is longer than --longest"),
                            (("--revisit", "9", "--init"), "--init"),
                            (("--due", "1h", "--init"), "--init"),
                            (("--rescore", "pagerank", "--revisit", "9"), "--revisit")):
            answer = self.run_command("schedule", "x.crawl", *words)
            self.assertEqual(answer.code, 2, answer.err)
            self.assertIn(text.encode(), answer.err)
        self.assertEqual(self.json("info", "x.crawl")["frontiers"], [])

    def test_end_with_pages_that_are_forgotten_leased_ones_too(self):
        self.add([{"kind": "known", "url": f"http://{host}.test/{i}"}
                  for host in "ab" for i in range(3)])
        self.schedule("--default", "delay=none,in-flight=9")
        self.take("-n", "2")
        done = self.json("forget", "x.crawl", "--host", "a.test")
        self.assertEqual((done["page_count"], done["scheduled_count"]), (3, 3))
        found = self.json("frontier", "x.crawl")
        self.assertEqual((found["waiting_count"], found["leased_count"]), (2, 1))

    def test_init_puts_what_was_left_out(self):
        self.add([self.crawled("http://a.test/", 0, ["http://a.test/1", "http://a.test/2"])])
        self.assertEqual(self.schedule("--depth-max", "0")["put_count"], 0)
        self.add([{"kind": "known", "url": "http://b.test/"}])
        self.assertEqual(self.schedule()["put_count"], 3)
        first = self.take("-n", "9")
        self.assertEqual(self.schedule("--init")["held_count"], 3)
        ids = "".join(f"{item}\n" for item, _ in first.values())
        self.assertEqual(self.run_command("done", "x.crawl", data=ids.encode()).code, 0)
        done = self.schedule("--init")
        self.assertEqual((done["new_count"], done["held_count"]), (2, 1))


if __name__ == "__main__":
    unittest.main()
