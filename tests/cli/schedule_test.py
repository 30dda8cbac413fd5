# SPDX-License-Identifier: Apache-2.0
"""schedule: pages of a file as the items of a frontier, for a crawl by a shell."""

import json
import random
import unittest

import command
from schedule_command import ScheduleTest


class Schedule(ScheduleTest):
    @staticmethod
    def page(url, links):
        return {"kind": "page", "time": 1, "url": url, "links": links}

    def test_says_what_to_do_where_there_are_no_pages(self):
        self.succeed("create", "x.crawl")
        answer = self.run_command("schedule", "x.crawl")
        self.assertEqual(answer.code, 1)
        self.assertIn(b"import FILE --format urls", answer.err)
        self.assertEqual(self.run_command("schedule", "none.crawl").code, 1)

    def test_puts_what_is_new_by_host_and_depth(self):
        self.add([self.page("http://a.test/",
                            ["http://b.test/", "mailto:c@d.test", "http://a.test/2"])])
        self.assertEqual(self.schedule("--default", "delay=none"),
                         {"name": "frontier", "page_count": 4, "put_count": 2,
                          "left_out_count": 2, "refused_count": 0, "waiting_count": 2,
                          "leased_count": 0})
        self.assertEqual(self.schedule()["put_count"], 0)
        taken = self.take()
        self.assertEqual({url: host for url, (_, host) in taken.items()},
                         {"http://b.test/": "b.test", "http://a.test/2": "a.test"})
        self.assertIn(b"pages", self.succeed("frontier", "x.crawl").out)

    def test_leaves_out_what_is_too_deep(self):
        self.add([self.page("http://a.test/", ["http://b.test/"]),
                  self.page("http://b.test/", ["http://c.test/"])])
        done = self.schedule("--depth-max", "1")
        self.assertEqual((done["put_count"], done["left_out_count"]), (0, 3))
        self.assertEqual(self.schedule()["put_count"], 1)

    def test_refuses_a_frontier_of_lines(self):
        self.add([self.page("http://a.test/", [])])
        self.run_checked("frontier", "x.crawl", "--put", "-", data=b"a\t1\tb\n")
        answer = self.run_command("schedule", "x.crawl")
        self.assertEqual(answer.code, 2, answer.err)
        self.assertIn(b"--frontier NAME makes one", answer.err)

    def seed(self, *urls, words=()):
        """Imports URLs as seeds; returns what it printed as JSON."""
        data = "".join(url + "\n" for url in urls).encode()
        return json.loads(self.run_checked("import", "x.crawl", "-", "--format", "urls", "--json",
                                           *words, data=data).out)

    def refuse(self, code, message, *words):
        answer = self.run_command("schedule", "x.crawl", *words)
        self.assertEqual(answer.code, code, answer.err)
        self.assertIn(message, answer.err)

    def test_rescores_what_waits_by_rank(self):
        first, second, third = (f"http://{host}.test/" for host in "abc")
        self.add([self.page("http://s.test/", [first]),
                  self.page("http://t.test/", [second, third]),
                  self.page("http://u.test/", [third]), self.page("http://v.test/", [third])])
        self.schedule("--default", "delay=none")
        self.run_checked("rank", "x.crawl")
        self.seed("http://d.test/")
        self.schedule()
        self.assertEqual(self.schedule("--rescore", "pagerank"),
                         {"name": "frontier", "scores": "pagerank", "changed_count": 3,
                          "unscored_count": 1, "waiting_count": 4, "leased_count": 0})
        ranked = [row["url"] for row in
                  json.loads(self.succeed("top", "x.crawl", "--json").out)["pages"]]
        expected = [url for url in ranked if url in (first, second, third)]
        self.assertEqual(expected, [third, first, second])
        self.assertEqual(self.schedule("--rescore", "pagerank")["changed_count"], 0)
        for url in expected:
            self.assertEqual(list(self.take("-n", "1")), [url])
        # The page without a score keeps its priority, the one of a seed, which is 0.
        self.assertEqual(list(self.take()), ["http://d.test/"])
        self.assert_whole()

    def test_rescores_by_scores_of_these_pages_alone(self):
        self.seed("http://a.test/")
        self.refuse(1, b"the store has no frontier", "--rescore", "pagerank")
        self.schedule()
        self.refuse(1, b"no scores `pagerank`; `crawlstore rank", "--rescore", "pagerank")
        self.run_checked("rank", "x.crawl", "--by", "host")
        self.refuse(1, b"of hosts or domains, not of pages", "--rescore", "pagerank_by_host")
        self.refuse(1, b"there are `pagerank_by_host`: --rescore chooses", "--rescore", "other")
        self.seed("http://b.test/", words=["--database", "others"])
        self.run_checked("rank", "x.crawl", "--database", "others")
        self.refuse(2, b"are not the pages of `others`", "--rescore", "pagerank", "--database",
                    "others")
        for words in (["--due", "1h"], ["--depth-max", "1"], ["--default", "delay=1s"]):
            self.refuse(2, b"excludes", "--rescore", "pagerank", *words)

    def test_says_what_comes(self):
        self.seed(*(f"http://a.test/{n}" for n in range(100)), "http://b.test/")
        self.schedule("--default", "delay=10s")
        before = (self.folder / "x.crawl").read_bytes()
        found = self.schedule("--due", "1min")
        self.assertRegex(found.pop("end"), r"^20\d\d-")
        self.assertGreater(found.pop("end_us"), 0)
        self.assertEqual(found, {"name": "frontier", "group_count": 2, "waiting_count": 101,
                                 "leased_count": 0, "visitable_group_count": 2,
                                 "takeable_count": 8, "due_item_count": 0,
                                 "ending_lease_count": 0})
        self.assertEqual((self.folder / "x.crawl").read_bytes(), before)
        taken = self.take("-n", "2", "--lease", "2h")
        item = taken["http://b.test/"][0]
        self.run_checked("done", "x.crawl", "-", data=f"{item}\tretry 30min\n".encode())
        found = self.schedule("--due", "1h")
        self.assertEqual((found["visitable_group_count"], found["takeable_count"],
                          found["due_item_count"], found["ending_lease_count"]), (0, 1, 1, 0))
        self.assertEqual(self.schedule("--due", "3h")["ending_lease_count"], 1)
        self.assertIn(b"takeable_count", self.succeed("schedule", "x.crawl", "--due", "3h").out)
        self.refuse(2, b"excludes", "--due", "1h", "--database", "pages")

    def test_says_what_waits_of_each_state(self):
        self.seed(*(f"http://a.test/{n}" for n in range(8)))
        self.schedule("--default", "delay=none,in-flight=9")
        taken = [item for item, _ in self.take("-n", "4", "--per-group", "4").values()]
        self.run_checked("done", "x.crawl", "-", data=(
            f"{taken[0]}\n{taken[1]}\tgone\n{taken[2]}\tretry 3h\n").encode())
        self.seed("http://b.test/")
        before = (self.folder / "x.crawl").read_bytes()
        found = self.schedule("--states")
        self.assertEqual((found["name"], found["page_count"]), ("frontier", 9))
        counts = {row.pop("state"): tuple(row.values()) for row in found["states"]}
        # Pages, those that wait, that wait for their time, that are taken, that are in no frontier.
        self.assertEqual(counts.pop("gone"), (1, 0, 0, 0, 1))
        known, failed = counts.pop("known"), counts.pop("failed")
        self.assertEqual(tuple(map(sum, zip(known, failed))), (8, 4, 1, 1, 2))
        self.assertEqual({sum(row) for row in counts.values()}, {0})
        self.assertEqual((self.folder / "x.crawl").read_bytes(), before)
        self.assertRegex(self.succeed("schedule", "x.crawl", "--states").out, rb"(?m)^gone +1 ")
        for words in (["--due", "1h"], ["--init"], ["--rescore", "pagerank"]):
            self.refuse(2, b"excludes", "--states", *words)
        self.seed("http://c.test/", words=["--database", "others"])
        self.refuse(2, b"are not the pages of `others`", "--states", "--database", "others")

    def test_is_done_by_import(self):
        urls = [f"http://h{n}.test/" for n in range(3)]
        done = self.seed(*urls[:2], words=["--frontier"])
        self.assertEqual((done["put_count"], done["left_out_count"], done["over_limit_count"]),
                         (2, 0, 0))
        self.assertEqual(sorted(self.take()), urls[:2])
        self.assertEqual(self.seed(*urls, "mailto:x", words=["--frontier=frontier"])["put_count"],
                         1)
        self.assertEqual(list(self.take()), urls[2:])
        self.assertEqual(self.seed(words=["--frontier"])["put_count"], 0)
        self.assertEqual(self.seed("http://z.test/", words=["--frontier", "two"])["put_count"], 4)
        self.assertEqual(len(self.take("--frontier", "two")), 4)
        self.assert_whole()

    def test_is_refused_by_import_before_it_reads(self):
        self.run_checked("frontier", "x.crawl", "--put", "-", data=b"a\t1\tb\n")
        (self.folder / "a.txt").write_text("http://a.test/\n")
        for words, message in ((["--frontier"], b"--frontier NAME makes one"),
                               (["--frontier", "a.txt"], b"--frontier comes after all inputs"),
                               (["--frontier", "new", "--no-merge"], b"excludes")):
            answer = self.run_command("import", "x.crawl", "a.txt", "--format", "urls", *words)
            self.assertEqual(answer.code, 2, answer.err)
            self.assertIn(message, answer.err)
        self.assertEqual(self.run_command("pages", "x.crawl").code, 1)

    def test_crawls_a_whole_site_by_shell(self):
        """Every page that can be reached is fetched once, by take, import, done and schedule."""
        dice = random.Random(command.SEED)
        urls = [f"http://h{n % 7}.test/{n}" for n in range(60)]
        links = {url: dice.sample(urls, 3) for url in urls}
        reachable, waiting = set(), [urls[0]]
        while waiting:
            url = waiting.pop()
            if url not in reachable:
                reachable.add(url)
                waiting += links[url]
        self.run_checked("import", "x.crawl", "-", "--format", "urls", data=urls[0].encode())
        fetched = []
        for _ in range(100):
            self.schedule("--default", "delay=none")
            taken = self.take("--per-group", "1")
            if not taken:
                break
            fetched += taken
            self.add([self.page(url, links[url]) for url in taken])
            ids = "".join(f"{item}\n" for item, _ in taken.values())
            self.run_checked("done", "x.crawl", "-", data=ids.encode())
        self.assertEqual(sorted(fetched), sorted(reachable))
        self.assert_whole()


if __name__ == "__main__":
    unittest.main()
