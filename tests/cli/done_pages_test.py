# SPDX-License-Identifier: Apache-2.0
"""done on a frontier of pages: what became of an item reaches its page."""

import json
import unittest

from schedule_command import ScheduleTest

FREE = "delay=none,in-flight=1000"
OUTCOMES = {  # URL: (what `done` is told, state, status, failures)
    "http://a.test/fetched": ("", "known", None, 0),
    "http://a.test/gone": ("gone\t410", "gone", 410, 0),
    "http://a.test/gone-as-before": ("gone", "gone", None, 0),
    "http://a.test/failed": ("failed\t503", "failed", 503, 1),
    "http://a.test/retried": ("retry 1h", "known", None, 0),
    "http://a.test/same": ("not_modified\t304", "crawled", 304, 0),
    "http://a.test/moved": ("redirect HTTP://B.test:80/to?a b#c\t301", "redirect", 301, 0),
    "http://a.test/denied": ("denied", "denied", None, 0),
    "http://a.test/copy": ("duplicate\t200", "duplicate", 200, 0),
}
TARGET = "http://b.test/to?a%20b"


class DonePages(ScheduleTest):
    def take_all(self):
        """{URL: ID}"""
        taken = self.take("-n", "1000", "--per-group", "1000")
        return {url: item for url, (item, _) in taken.items()}

    def done(self, text, code=0):
        answer = self.run_command("done", "x.crawl", "--json", data=text.encode())
        self.assertEqual(answer.code, code, answer.err)
        return {name.removesuffix("_count"): count
                for name, count in json.loads(answer.out).items() if count}

    def start_crawl(self, urls=tuple(OUTCOMES)):
        """All are linked to by a page that was crawled, which has index 0."""
        event = {"kind": "page", "time": 1, "url": "http://root.test/", "links": list(urls)}
        self.add([event])
        self.schedule("--default", FREE)
        return self.take_all()

    def pages(self):
        return {row["url"]: row for row in self.rows()}

    def edit_count(self):
        return self.info()["edit_count"]

    def test_tells_them_every_outcome(self):
        items = self.start_crawl()
        lines = [f"{items[url]}\t{outcome}\n" for url, (outcome, *_) in OUTCOMES.items()]
        self.assertEqual(self.done("".join(lines)),
                         {"line": 9, "finished": 7, "retried": 1, "failed": 1})
        self.assertEqual(self.edit_count(), 7)
        self.succeed("merge", "x.crawl")
        pages = self.pages()
        target = pages.pop(TARGET)
        del pages["http://root.test/"]
        self.assertEqual({url: (row["state"], row["http_status"], row["failure_count"])
                          for url, row in pages.items()},
                         {url: tuple(wanted) for url, (_, *wanted) in OUTCOMES.items()})
        self.assertGreater(pages["http://a.test/same"]["last_crawl_us"], 0)
        self.assertEqual((target["state"], target["depth"]), ("known", 1))
        moved = self.json("page", "x.crawl", "http://a.test/moved")
        self.assertEqual((moved["state"], moved["depth"], moved["index"]),
                         ("redirect", 1, target["linked_from"]))
        self.assertEqual({to for source, to in self.edges() if source != b"http://root.test/"},
                         {TARGET.encode()})
        self.assert_whole()
        self.assertEqual(self.schedule()["put_count"], 1)
        self.assertEqual(set(self.take_all()), {"http://a.test/failed", TARGET})

    def test_tells_no_page_twice_and_none_of_what_is_unknown(self):
        """A late failure, a line that is given again, a page that was never taken."""
        items = self.start_crawl([f"http://a.test/{n}" for n in range(4)])
        a, b, c, d = items.values()
        text = f"{a}\tfailed\n{b}\tdenied\n"
        self.assertEqual(self.done(text), {"line": 2, "finished": 1, "failed": 1})
        self.assertEqual(self.done(text + "0\tgone\n", 1), {"line": 3, "late": 1, "unknown": 2})
        self.assertEqual(self.edit_count(), 2)
        self.done(f"{c}\tretry\n")
        self.assertEqual(self.done(f"{c}\tgone\n{c}\tgone\n", 1),
                         {"line": 2, "late": 1, "unknown": 1})
        self.assertEqual(self.edit_count(), 3)
        self.succeed("merge", "x.crawl")
        self.assertEqual([self.pages()[f"http://a.test/{n}"]["failure_count"] for n in range(4)],
                         [int(item == a) for item in sorted(items.values(), key=int)])

    def test_knows_no_items_of_pages_that_were_forgotten(self):
        items = self.start_crawl(["http://a.test/", "http://b.test/"])
        self.succeed("forget", "x.crawl", "--host", "a.test")
        text = "".join(f"{item}\tgone\n" for item in items.values())
        self.assertEqual(self.done(text, 1), {"line": 2, "finished": 1, "unknown": 1})
        self.assertEqual(self.edit_count(), 1)

    def test_takes_outcomes_of_pages_for_nothing_else(self):
        self.succeed("frontier", "x.crawl", "--put", "-", "--default", FREE, data=b"a\t1\t\n" * 9)
        self.assertEqual(len(self.take_all()), 1)  # all have one body
        text = "0\tgone\n1\tfailed\n2\tdenied\n3\tgone\t410\n\n4\n5\tredirect http://a.test/\n"
        self.assertEqual(self.done(text, 2), {"line": 6, "refused": 3, "finished": 2, "failed": 1})
        self.refuse(2, "-: line 2 refused: it has an outcome or a status of a page, but the items",
                    "done", "x.crawl", data=b"\n6\tnot_modified\n")
        segments = self.json("segments", "x.crawl")["segments"]
        self.assertNotIn("pages", [row["name"] for row in segments])

    def test_refuses_what_no_page_can_be_told(self):
        item = next(iter(self.start_crawl(["http://a.test/"]).values()))
        for text, why in (("gone\t99", "third column"), ("gone\t600", "third column"),
                          ("gone\t", "third column"), ("gone\t404\t", "third column"),
                          ("redirect", "without an absolute URL"),
                          ("redirect /there", "without an absolute URL"),
                          ("\t200", "no outcome that a page database is told"),
                          ("retry\t503", "no outcome that a page database is told"),
                          ("denied ", "another word"), ("unchanged", "another word")):
            self.refuse(2, f"line 1 refused: it has .*{why}", "done", "x.crawl",
                        data=f"{item}\t{text}\n".encode())
        self.assertEqual(self.done(f"{item}\tredirect http://a.test/\n"),
                         {"line": 1, "finished": 1})

    def test_tells_the_database_of_the_frontier(self):
        self.load(b"http://a.test/\nhttp://a.test/2", "urls", "--database", "other")
        self.schedule("--database", "other", "--default", FREE)
        a, b = self.take_all().values()
        self.assertEqual(self.done(f"{a}\tgone\n{b}\n"), {"line": 2, "finished": 2})
        self.succeed("merge", "x.crawl")
        self.assertEqual({row["url"]: row["state"] for row in self.rows("--database", "other")},
                         {"http://a.test/": "gone", "http://a.test/2": "known"})

    def test_makes_pages_of_edits_that_take_much_memory(self):
        items = self.start_crawl([f"http://a.test/{n}" for n in range(5)])
        self.done("".join(f"{item}\tredirect http://b.test/{item}{'x' * (14 << 20)}\n"
                          for item in items.values()))
        self.assertEqual(self.edit_count(), 0)
        self.assertEqual(sum(row["state"] == "redirect" for row in self.pages().values()), 5)


if __name__ == "__main__":
    unittest.main()
