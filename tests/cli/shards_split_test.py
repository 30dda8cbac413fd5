# SPDX-License-Identifier: Apache-2.0
"""shards split: two files of one shard, each with the pages of half of its hosts."""

import json
import random
import resource
import signal
import unittest

import command

HOSTS, PAGES = 24, 400
OUTCOMES = ("gone", "failed", "denied", "duplicate")
# The columns of a page that are kept; depth and linked_from do not cross shards.
KEPT = ("state", "crawl_count", "change_count", "first_crawl_us", "last_crawl_us", "score",
        "content_hash", "http_status", "failure_count")


class SplitTest(command.CommandTest):
    def load(self, name, events, *words):
        self.succeed("import", name, "-", "--format", "jsonl", *words,
                     data="".join(json.dumps(event) + "\n" for event in events).encode())

    def read(self, verb, *words):
        return json.loads(self.succeed(verb, *words, "--json").out)

    def split(self, name, lower, upper, *words):
        return self.read("shards", "split", name, lower, upper, *words)

    def pages(self, name):
        """By URL: each page that is not elsewhere."""
        rows = self.read("pages", name, "--limit", "99999")["pages"]
        return {row["url"]: row for row in rows if row["state"] != "elsewhere"}

    def normalizers(self, name):
        databases = self.read("info", name)["page_databases"]
        return {database["name"]: database["normalizer"] for database in databases}

    def links(self, name):
        lines = self.succeed("export", name, "--format", "edges").out.splitlines()
        return {tuple(line.decode().split("\t")) for line in lines}


class Split(SplitTest):
    def setUp(self):
        super().setUp()
        rng = random.Random(command.SEED)
        self.urls = [f"http://host{rng.randrange(HOSTS)}.test/{page}" for page in range(PAGES)]
        self.events = []
        for url in self.urls[:240]:
            for time in range(1, rng.randrange(2, 5)):
                self.events.append({"kind": "page", "url": url, "time": time, "status": 200,
                                    "score": rng.random(),
                                    "content_hash": f"{rng.randrange(3):02x}",
                                    "links": rng.sample(self.urls, 5)})
        for url in rng.sample(self.urls, 60):
            self.events.append({"kind": rng.choice(OUTCOMES), "url": url, "status": 404})
        for url in self.urls[300:310]:
            self.events.append({"kind": "redirect", "url": url, "links": [rng.choice(self.urls)]})
        for url in rng.sample(self.urls[:240], 30):
            self.events.append({"kind": "linkRemoved", "url": url,
                                "links": rng.sample(self.urls, 9)})
        self.succeed("create", "x.crawl", "--key-seed", "7")
        self.load("x.crawl", self.events)

    def expect_same(self, before, names):
        found, links = {}, set()
        for name in names:
            self.succeed("verify", "--deep", "--strict", name)
            pages = self.pages(name)
            self.assertFalse(pages.keys() & found.keys())
            order = [url for url in before if url in pages]
            self.assertEqual(sorted(pages, key=lambda url: pages[url]["index"]), order)
            found |= pages
            here = self.links(name)
            self.assertFalse(here & links)
            links |= here
        self.assertEqual(found.keys(), before.keys())
        for url, page in before.items():
            self.assertEqual({key: page[key] for key in KEPT},
                             {key: found[url][key] for key in KEPT}, url)
        return links

    def split_twice(self):
        self.split("x.crawl", "0-2.crawl", "1-2.crawl")
        for half in (0, 1):
            self.split(f"{half}-2.crawl", f"{2 * half}.crawl", f"{2 * half + 1}.crawl")
        return [f"{shard}.crawl" for shard in range(4)]

    def test_keeps_all_of_each_page(self):
        whole = (self.folder / "x.crawl").read_bytes()
        before = self.pages("x.crawl")
        self.assertEqual({page["state"] for page in before.values()},
                         {"known", "crawled", "redirect", *OUTCOMES})
        names = self.split_twice()
        links = self.links("x.crawl")
        self.assertEqual(self.expect_same(before, ["0-2.crawl", "1-2.crawl"]), links)
        self.assertEqual(self.expect_same(before, names), links)
        for shard, name in enumerate(names):
            self.assertEqual(self.read("info", name)["shard"], f"{shard}/4")
        self.assertEqual((self.folder / "x.crawl").read_bytes(), whole)
        self.assertEqual(self.read("shards", "info", *names)["page_count"], len(before))

    def test_makes_a_crawl_that_finds_nothing_new(self):
        known = set(self.pages("x.crawl"))
        names = self.split_twice()
        for _ in range(2):
            for name in names:
                self.read("shards", "send", name, "--to", "out")
            for shard, name in enumerate(names):
                messages = sorted(self.folder.glob(f"out/*-{shard}.outbox"))
                taken = self.read("shards", "receive", name, *messages)
                self.assertEqual((taken["new_page_count"], taken["missing_count"]), (0, 3))
                self.assertEqual(taken["refused_input_count"], 0)
        self.assertEqual(set().union(*map(self.pages, names)), known)

    def test_gives_a_page_that_others_led_to_no_depth(self):
        before = self.pages("x.crawl")
        names = self.split_twice()
        urls = {page["index"]: url for url, page in before.items()}
        for name in names:
            pages = self.pages(name)
            for url, page in pages.items():
                linker = urls.get(before[url]["linked_from"])
                self.assertEqual(page["linked_from"],
                                 pages[linker]["index"] if linker in pages else None)
                if linker not in pages:
                    self.assertEqual(page["depth"], 0)

    def test_splits_queues_and_copies_values_and_drums(self):
        self.succeed("queue", "x.crawl", "--insert", "-", data="".join(
            f"{number}\t{url}\n" for number, url in enumerate(self.urls)).encode())
        self.succeed("values", "x.crawl", "mine", "--set", "12")
        self.succeed("seen", "x.crawl", "--drum", "urls",
                     data="".join(f"http://seen.test/{i}\n" for i in range(99)).encode())
        done = self.split("x.crawl", "a", "b")
        queued = len(self.pages("x.crawl"))
        self.assertEqual((done["queued_count"], done["value_count"], done["gone_entry_count"]),
                         (queued, 1, 0))
        lines = [self.succeed("export", name, "--format", "queue").out.splitlines()
                 for name in ("x.crawl", "a", "b")]
        self.assertEqual(sorted(lines[0]), sorted(lines[1] + lines[2]))
        for name, exported in zip("ab", lines[1:]):
            here = self.pages(name)
            self.assertTrue(all(line.split(b"\t")[1].decode() in here for line in exported))
            own = [row for row in self.read("values", name)["values"] if row["name"] != ".shard"]
            self.assertEqual(own, self.read("values", "x.crawl")["values"])
            drums = [[(drum["name"], drum["key_count"]) for drum in self.read("info", of)["drums"]
                      if drum["name"] == "urls"] for of in ("x.crawl", name)]
            self.assertEqual(drums[0], drums[1])
            answer = self.succeed("seen", name, "--check", data=b"http://seen.test/5\nhttp://n/\n")
            self.assertEqual(sorted(verdict for verdict, _ in answer.verdicts),
                             [b"duplicate", b"unique"])

    def test_refuses_a_queue_of_other_numbers(self):
        self.succeed("queue", "x.crawl", "--name", "own", "--insert", "-", data=b"1\t#3\n")
        self.succeed("import", "x.crawl", "-", "--format", "urls", "--database", "img",
                     data=b"http://a.test/\n")
        self.refuse(2, "x.crawl: .*no pages of the database", "shards", "split", "x.crawl", "a",
                    "b", "--database", "img")
        self.assertEqual(self.split("x.crawl", "a", "b")["queued_count"], 1)

    def test_keeps_databases_apart_and_their_rules(self):
        odd = ["HTTP://Odd.test:80/%7e", "no url", "mailto:a@b.test", "http://[/x", "/"]
        self.succeed("import", "x.crawl", "-", "--format", "urls", "--database", "img", "--raw",
                     data="".join(url + "\n" for url in odd).encode())
        self.split("x.crawl", "a", "b")
        found = []
        for name in "ab":
            rows = self.read("pages", name, "--database", "img")["pages"]
            found += [row["url"] for row in rows]
            self.assertEqual(self.normalizers(name), self.normalizers("x.crawl"))
        self.assertEqual(sorted(found), sorted(odd))

    def test_tells_the_others_of_pages_that_nobody_links_to(self):
        self.succeed("create", "0.crawl", "--shard", "0/2", "--key-seed", "7")
        urls = [f"http://other{i}.test/" for i in range(20)]
        self.load("0.crawl", [{"kind": "known", "url": url} for url in urls])
        self.split("0.crawl", "a", "b")
        found = []
        for name in "ab":
            found += [row["url"] for row in self.read("pages", name)["pages"]]
        self.assertEqual(sorted(found), sorted(urls))

    def test_says_that_the_file_is_damaged(self):
        data = bytearray((self.folder / "x.crawl").read_bytes())
        runs = self.read("segments", "x.crawl", "--kind", "page_records")["runs"]
        data[runs[0]["offset_bytes"]] ^= 1
        (self.folder / "x.crawl").write_bytes(data)
        self.refuse(1, "x.crawl: .*damaged", "shards", "split", "x.crawl", "a", "b")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["x.crawl"])

    def test_gives_up_its_scores_only_where_they_come_back(self):
        self.succeed("rank", "x.crawl")
        self.assertEqual(self.split("x.crawl", "a", "b")["left_score_array_count"], 1)
        self.succeed("rank", "x.crawl", "opic")
        self.refuse(1, "--leave scores", "shards", "split", "x.crawl", "c", "d")
        self.assertGreater(self.split("x.crawl", "c", "d", "--leave", "scores")
                           ["left_score_array_count"], 1)

    def test_refuses_what_would_be_lost(self):
        words = ["shards", "split", "x.crawl", "a", "b"]
        self.load("x.crawl", self.events[:3], "--no-merge")
        self.refuse(1, "edits wait in the page database `pages`: .*merge", *words)
        self.succeed("merge", "x.crawl")
        self.succeed("import", "x.crawl", "-", "--format", "edges", "--database", "graph",
                     data=b"#1\t#2\n")
        self.refuse(1, "pages of `graph` have no URLs.*--leave graphs", *words)
        url = self.urls[0]
        self.load("x.crawl", [{"kind": "page", "url": url, "time": 2 + time}
                              for time in range(1005)])
        self.refuse(1, "1 pages have more crawls.*--leave counts", *words, "--leave", "graphs")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["x.crawl"])
        done = self.split("x.crawl", "a", "b", "--leave", "graphs", "--leave", "counts")
        self.assertEqual(done["cut_page_count"], 1)

    def test_refuses_names_that_are_taken(self):
        for name in ("a", "b"):
            (self.folder / name).write_bytes(b"mine")
            self.refuse(1, f"{name}: ", "shards", "split", "x.crawl", "a", "b")
            self.assertEqual((self.folder / name).read_bytes(), b"mine")
            (self.folder / name).unlink()
        self.refuse(2, "one file", "shards", "split", "x.crawl", "a", "./a")
        self.refuse(2, "FILE stays", "shards", "split", "x.crawl", "x.crawl", "a")
        self.refuse(1, "no folder", "shards", "split", "x.crawl", "no/a", "b")
        self.refuse(2, "FILE, LOWER and UPPER", "shards", "split", "x.crawl", "a")
        self.refuse(2, "--leave goes with `split`", "shards", "info", "x.crawl", "--leave",
                    "drums")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["x.crawl"])

    def test_leaves_nothing_where_there_is_no_room(self):
        whole = len((self.folder / "x.crawl").read_bytes())
        for size in (0, 4096, 20 << 10, whole // 4):
            answer = self.run_command(
                "shards", "split", "x.crawl", "a", "b", preexec_fn=lambda n=size:
                resource.setrlimit(resource.RLIMIT_FSIZE, (n, n)))
            self.assertEqual(answer.code, 3, answer.err)
            self.assertRegex(answer.err.decode(), "crawlstore: [ab]: ")
            self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["x.crawl"])

    def test_leaves_nothing_when_it_is_stopped(self):
        lines = "".join(f"http://h{i % 999}.test/{i}\n" for i in range(100_000)).encode()
        self.succeed("import", "x.crawl", "-", "--format", "urls", data=lines)
        process = self.start("shards", "split", "x.crawl", "a", "b")
        command.wait_until(lambda: (self.folder / "b.part").exists())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["x.crawl"])


class Crawl(SplitTest):
    """A crawl of some levels, of two shards that become four on the way."""

    def setUp(self):
        super().setUp()
        rng = random.Random(command.SEED)
        urls = [f"http://host{rng.randrange(HOSTS)}.test/{page}" for page in range(PAGES)]
        self.links_of = {url: rng.sample(urls, 3) for url in urls}
        self.known, self.crawled = {urls[0]}, set()

    def level(self, names, folder):
        new = self.known - self.crawled
        self.crawled |= new
        self.known |= {link for url in new for link in self.links_of[url]}
        for name in names:
            self.load(name, [{"kind": "page", "url": url, "time": 1, "links": self.links_of[url]}
                             for url, page in self.pages(name).items()
                             if page["state"] == "known"])
            self.read("shards", "send", name, "--to", folder)
        for shard, name in enumerate(names):
            self.read("shards", "receive", name, *self.folder.glob(f"{folder}/*-{shard}.outbox"))
        states = {}
        for name in names:
            states |= {url: page["state"] for url, page in self.pages(name).items()}
        self.assertEqual(states.keys(), self.known)
        self.assertEqual({url for url in states if states[url] == "crawled"}, self.crawled)

    def test_goes_on_behind_a_split(self):
        halves = ["0-2.crawl", "1-2.crawl"]
        for shard, name in enumerate(halves):
            self.succeed("create", name, "--shard", f"{shard}/2", "--key-seed", "7")
            self.succeed("import", name, "-", "--format", "urls",
                         data="".join(self.known).encode())
        for _ in range(3):
            self.level(halves, "two")
        for shard, name in enumerate(halves):
            self.split(name, f"{2 * shard}.crawl", f"{2 * shard + 1}.crawl")
        for _ in range(3):
            self.level([f"{shard}.crawl" for shard in range(4)], "four")


class Frontiers(SplitTest):
    def setUp(self):
        super().setUp()
        self.succeed("create", "x.crawl", "--key-seed", "7")
        self.hosts = [f"host{i}.test" for i in range(20)]

    def taken(self, name):
        """Group and body of all that can be taken first."""
        items = self.read("take", name, "--limit", "9999", "--wait", "9s")["items"]
        return {(item["group"], item["body"]) for item in items}

    def test_go_with_their_hosts(self):
        lines = "".join(f"{host}\t{i}\tbody{i}\n" for i in range(2) for host in self.hosts)
        self.succeed("frontier", "x.crawl", "--put", "-", data=lines.encode())
        self.succeed("frontier", "x.crawl", "--group", "host1.test", "--set", "delay=7s")
        self.succeed("take", "x.crawl", "--limit", "3", "--lease", "1h")
        before = self.read("frontier", "x.crawl", "--groups")["groups"]
        done = self.read("shards", "split", "x.crawl", "a", "b")
        self.assertEqual((done["item_count"], done["ended_lease_count"]), (40, 3))
        sums, groups = {}, []
        for name in "ab":
            for group in self.read("frontier", name, "--groups")["groups"]:
                groups.append(group["group"])
                sums[group["group"]] = group["waiting_count"] + group["later_count"]
            self.succeed("verify", "--deep", "--strict", name)
        self.assertEqual(sorted(groups), sorted(self.hosts))
        self.assertEqual(set(sums.values()), {2})
        self.assertEqual(sum(group["leased_count"] for group in before), 3)
        found = self.taken("a") | self.taken("b")
        self.assertLessEqual(found, {(host, "body1") for host in self.hosts})
        self.assertGreaterEqual(len(found), len(self.hosts) - 3)

    def test_of_pages_have_their_indexes(self):
        urls = [f"http://{host}/{page}" for page in range(3) for host in self.hosts]
        self.succeed("import", "x.crawl", "-", "--format", "urls",
                     data="".join(url + "\n" for url in urls).encode())
        self.assertEqual(self.read("schedule", "x.crawl")["put_count"], len(urls))
        done = self.read("shards", "split", "x.crawl", "a", "b")
        self.assertEqual((done["item_count"], done["gone_entry_count"]), (len(urls), 0))
        found = set()
        for name in "ab":
            self.assertEqual(self.read("schedule", name)["put_count"], 0)
            found |= self.taken(name)
        self.assertEqual({group for group, _ in found}, set(self.hosts))
        self.assertLessEqual({url for _, url in found}, set(urls))


    def test_keep_times_and_what_limits_leave(self):
        lines = "".join(f"{host}\t{i}\tbody{i}\n" for i in range(2) for host in self.hosts)
        self.succeed("frontier", "x.crawl", "--put", "-", data=lines.encode())
        slow, full, *_ = self.hosts
        self.succeed("frontier", "x.crawl", "--group", slow, "--set", "delay=1h")
        self.succeed("frontier", "x.crawl", "--group", full, "--set", "limit=3")
        for item in self.read("take", "x.crawl", "--limit", "9999")["items"]:
            if item["group"] in (slow, full):
                self.succeed("done", "x.crawl", data=f"{item['id']}\n".encode())
        self.read("shards", "split", "x.crawl", "a", "b")
        for name in "ab":
            groups = {row["group"] for row in self.read("frontier", name, "--groups")["groups"]}
            if slow in groups:
                (row,) = [row for row in self.read("frontier", name, "--groups")["groups"]
                          if row["group"] == slow]
                self.assertEqual((row["waiting_count"], row["leased_count"]), (1, 0))
                self.assertNotIn(slow, {group for group, _ in self.taken(name)})
            if full in groups:
                answer = self.run_command("frontier", name, "--put", "-", "--json",
                                          data=f"{full}\t1\tx\n{full}\t1\ty\n".encode())
                self.assertEqual(json.loads(answer.out)["refused_count"], 1)


if __name__ == "__main__":
    unittest.main()
