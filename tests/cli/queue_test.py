# SPDX-License-Identifier: Apache-2.0
"""queue and next: what waits, in its order; and nothing that was not written leaves."""

import itertools
import json
import os
import random
import shutil
import signal
import unittest

import command
import pages_command
from interrupt_test import InterruptTest

GOLDEN = command.SOURCE / "tests/golden/valid"


class QueueTest(InterruptTest):
    """x.crawl has queues of pages, and no page database."""

    def setUp(self):
        super().setUp()
        self.fresh()
        self.waiting = self.peek()

    def fresh(self):
        shutil.copyfile(GOLDEN / "queues.crawl", self.folder / "x.crawl")

    def next(self, *words):
        """[(priority, page)], as they come."""
        lines = self.succeed("next", "x.crawl", "--format", "tsv", *words).out.splitlines()
        return [(float(priority), page.decode()) for priority, page in
                (line.split(b"\t") for line in lines)]

    def peek(self, *words):
        """All that waits, and none of it leaves."""
        return self.next("--peek", "-n", "100,000", *words)


class Next(QueueTest):
    def test_takes_the_first_ones_until_there_is_none(self):
        count = len(self.waiting)
        queue = json.loads((GOLDEN / "queues.json").read_text())["queues"][0]
        self.assertEqual(count, queue["page_count"])
        self.assertEqual([page for _, page in self.waiting][:len(queue["first"])],
                         [f"#{page}" for _, page in queue["first"]])
        self.assertEqual([priority for priority, _ in self.waiting],
                         sorted((priority for priority, _ in self.waiting), reverse=True))
        self.assertEqual(self.next(), self.waiting[:1])
        self.assertEqual(self.next("-n", "1,000"), self.waiting[1:1001])
        self.assertEqual(self.peek(), self.waiting[1001:])
        self.assertEqual(self.succeed("next", "x.crawl").out,
                         self.waiting[1001][1].encode() + b"\n")
        self.assertEqual(self.next("-n", count), self.waiting[1002:])
        self.refuse(1, "x.crawl: the queue `queue` is empty", "next", "x.crawl")
        self.refuse(1, "the queue `queue` is empty", "next", "x.crawl", "--peek", "--json")
        self.succeed("verify", "--deep", "--strict", "x.crawl")

    def test_does_not_write_over_the_file(self):
        with open(self.folder / "x.crawl", "r+b") as file:
            process = self.start("next", "x.crawl", stdout=file)
            _, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 2)
        self.assertIn(b"the output is the crawl file itself", err)
        self.assertEqual(self.peek(), self.waiting)

    def test_refuses_what_cannot_be(self):
        self.refuse(2, "from 1 to 100000000", "next", "x.crawl", "-n", "0")
        self.refuse(2, "excludes", "next", "x.crawl", "--json", "--format", "tsv")
        self.refuse(2, "csv", "next", "x.crawl", "--format", "csv")
        self.refuse(1, "no queue `none`; there are `empty`, `queue`: --name NAME", "next",
                    "x.crawl", "--name", "none")
        self.refuse(1, "no such file|No such file", "next", "y.crawl")
        self.make_store("y.crawl")
        for words in (["next", "y.crawl"], ["next", "y.crawl", "--peek"], ["queue", "y.crawl"]):
            self.refuse(1, "y.crawl: the store has no queue; `crawlstore queue y.crawl", *words)
        self.assertEqual(self.peek(), self.waiting)

    def test_has_a_document(self):
        pages = json.loads(self.succeed("next", "x.crawl", "-n", "3", "--json").out)["pages"]
        self.assertEqual(pages, [{"index": int(page[1:]), "priority": priority,
                                  "priority_text": f"{priority:g}", "url": None}
                                 for priority, page in self.waiting[:3]])
        self.assertEqual(self.peek(), self.waiting[3:])

    def test_peeks_beside_a_writer(self):
        writer = self.start("seen", "x.crawl", "--quiet")
        writer.stdin.write(b"http://a.test/\n")
        writer.stdin.flush()
        command.wait_until_read(writer.stdin.fileno())
        self.refuse(3, "another writer has the store open", "next", "x.crawl")
        self.assertEqual(self.next("--peek", "-n", "2"), self.waiting[:2])
        self.succeed("queue", "x.crawl")
        writer.communicate(timeout=60)
        self.assertEqual(self.peek(), self.waiting)


class LosesNothing(QueueTest):
    """Pages that were not written, or of whose taking there is no commit, come again."""

    def assert_untouched(self, before):
        self.assertEqual((self.folder / "x.crawl").read_bytes(), before)
        self.assertEqual(self.peek(), self.waiting)

    def test_when_the_output_fails(self):
        before = (self.folder / "x.crawl").read_bytes()
        reader, writer = os.pipe()
        os.close(reader)
        answer = self.run_command("next", "x.crawl", "-n", "5", stdout=writer)
        os.close(writer)
        self.assertEqual(answer.code, -signal.SIGPIPE)
        self.assert_untouched(before)
        with open("/dev/full", "wb") as full:
            for words in ([], ["--json"]):
                answer = self.run_command("next", "x.crawl", "-n", "5", *words, stdout=full)
                self.assertEqual(answer.code, 3, answer.err)
        self.assert_untouched(before)

    def test_when_the_reader_dies(self):
        """The part that it has read is more than a pipe holds."""
        self.succeed("queue", "x.crawl", "--name", "queue", "--insert", "-",
                     data=b"".join(b"1\t#%d\n" % page for page in range(10_000, 40_000)))
        self.waiting = self.peek()
        before = (self.folder / "x.crawl").read_bytes()
        process = self.start("next", "x.crawl", "-n", "100,000", "--format", "tsv")
        self.assertEqual(len(process.stdout.read(1000)), 1000)
        process.stdout.close()
        self.assertEqual(process.wait(60), -signal.SIGPIPE)
        process.stdin.close()
        process.stderr.close()
        self.assert_untouched(before)

    def test_when_it_is_killed_between_the_output_and_the_commit(self):
        words = ["next", "x.crawl", "-n", "10", "--format", "tsv"]
        count, _ = self.calls(*words)
        self.assertGreater(count, 2)
        states = set()
        for at in range(1, count + 1):
            self.fresh()
            answer = self.signalled(*words, SIGNAL=signal.SIGKILL, SIGNAL_AT_PWRITE=at)
            self.assertEqual(answer.code, -signal.SIGKILL)
            shown, left = len(answer.out.splitlines()), self.peek()
            self.assertIn((shown, left), [(0, self.waiting), (10, self.waiting),
                                          (10, self.waiting[10:])])
            states.add((shown, len(left)))
            self.assert_whole()
        self.assertIn((10, len(self.waiting)), states)


class Shown(QueueTest):
    def test_all_queues_and_the_first_pages_of_one(self):
        found = json.loads(self.succeed("queue", "x.crawl", "--json").out)
        self.assertEqual((found["name"], found["page_count"], found["first_priority"]),
                         ("queue", len(self.waiting), self.waiting[0][0]))
        self.assertEqual([(row["priority"], f"#{row['index']}") for row in found["pages"]],
                         self.waiting[:10])
        queues = {row["name"]: row for row in found["queues"]}
        self.assertEqual(list(queues), ["empty", "queue"])
        self.assertEqual(queues["queue"]["page_count"], len(self.waiting))
        self.assertAlmostEqual(queues["queue"]["bytes_per_page"],
                               queues["queue"]["allocated_bytes"] / len(self.waiting))
        empty = json.loads(self.succeed("queue", "x.crawl", "--name", "empty", "--json").out)
        self.assertEqual((empty["page_count"], empty["first_priority"],
                          empty["first_priority_text"], empty["pages"]), (0, None, None, []))
        self.assertRegex(self.succeed("queue", "x.crawl", "-n", "1").out,
                         rb"(?m)^first_priority +1010\.5\n")
        self.refuse(2, "from 1", "queue", "x.crawl", "-n", "0")
        self.refuse(1, "no queue `none`", "queue", "x.crawl", "--name", "none")


class Crawl(InterruptTest):
    """Pages of all states, and their PageRank."""

    def setUp(self):
        super().setUp()
        rng = random.Random(command.SEED)
        events = [{"kind": "page", "url": f"http://a.test/{page}", "time": 1,
                   "links": [f"http://a.test/{rng.randrange(100)}" for _ in range(3)]}
                  for page in range(50)]
        events += [{"kind": kind, "url": f"http://a.test/{page}"}
                   for kind, page in (("gone", 3), ("gone", 60), ("failed", 61))]
        self.load("".join(json.dumps(event) + "\n" for event in events).encode(), "jsonl")
        self.succeed("rank", "x.crawl")
        self.ranked = self.rows("--sort", "score:pagerank")

    def fill(self, *words):
        return json.loads(self.succeed("queue", "x.crawl", "--fill-from", "pagerank", "--json",
                                       *words).out)

    def change(self, option, data, *words):
        """The document, and what was said beside it."""
        answer = self.run_command("queue", "x.crawl", option, "-", "--json", *words, data=data)
        counts = json.loads(answer.out)
        self.assertEqual(answer.code, 1 if counts["malformed_count"] else 0, answer.err)
        return counts, answer.err.decode().splitlines()

    def insert(self, data, *words):
        return self.change("--insert", data, *words)

    def next(self, *words):
        lines = self.succeed("next", "x.crawl", "--format", "tsv", *words).out.decode().split("\n")
        self.assertEqual(lines.pop(), "")
        return [(float(priority), url) for priority, url in (line.split("\t") for line in lines)]

    def expected(self, *states):
        """In the order of scores, as `pages` has it."""
        return [(row["score:pagerank"], row["url"]) for row in self.ranked
                if row["state"] in states]


class Fill(Crawl):
    def test_by_scores(self):
        expected = self.expected("known", "crawled", "failed")
        self.assertEqual(len(expected), len(self.ranked) - 2)
        self.assertEqual(self.fill(), {"name": "queue", "removed_count": 0,
                                       "inserted_count": len(expected), "updated_count": 0,
                                       "unscored_count": 0, "page_count": len(expected)})
        self.assertEqual(self.next("--peek", "-n", "1,000"), expected)
        self.assertEqual(self.next("-n", "7") + self.next("-n", "1,000"), expected)
        self.fill("-n", "5")
        self.assertEqual(self.next("-n", "1,000"), expected[:5])
        self.succeed("verify", "--deep", "--strict", "x.crawl")

    def test_with_pages_that_were_never_fetched(self):
        expected = self.expected("known")
        self.assertLess(len(expected), 60)
        self.fill("--unfetched")
        self.assertEqual(self.next("-n", "1,000"), expected)
        self.fill("--unfetched", "--limit", "4", "--name", "other")
        self.assertEqual(self.next("-n", "1,000", "--name", "other"), expected[:4])

    def test_refuses_a_queue_in_which_pages_wait(self):
        self.insert(b"7\thttp://a.test/3\n")
        self.refuse(1, "1 page in the queue `queue` already; --add .* --replace", "queue",
                    "x.crawl", "--fill-from", "pagerank")
        self.assertEqual(self.next("--peek", "-n", "1,000"), [(7, "http://a.test/3")])
        self.assertEqual(self.fill("--add")["page_count"], len(self.ranked) - 1)
        self.assertEqual(self.next("-n", "1,000"),
                         [(7, "http://a.test/3"), *self.expected("known", "crawled", "failed")])

    def test_again_updates_or_replaces_what_waits(self):
        expected = self.expected("known", "crawled", "failed")
        lines = b"".join(b"7\t%s\n" % url.encode() for url in
                         ("http://a.test/3", expected[4][1], expected[5][1]))
        self.insert(lines)
        added = self.fill("--add")
        self.assertEqual((added["removed_count"], added["inserted_count"], added["updated_count"]),
                         (0, len(expected) - 2, 2))
        self.assertEqual(self.next("--peek", "-n", "1,000"), [(7, "http://a.test/3"), *expected])
        replaced = self.fill("--replace", "-n", "20")
        self.assertEqual((replaced["removed_count"], replaced["inserted_count"],
                          replaced["updated_count"], replaced["page_count"]),
                         (len(expected) + 1, 20, 0, 20))
        self.assertEqual(self.next("-n", "1,000"), expected[:20])
        self.succeed("verify", "--deep", "--strict", "x.crawl")

    def test_leaves_out_what_came_since(self):
        self.load(b"http://new.test/\thttp://a.test/1\n", "edges")
        answer = self.succeed("queue", "x.crawl", "--fill-from", "pagerank", "--json")
        self.assertIn(b"have changed since", answer.err)
        self.assertEqual(json.loads(answer.out)["unscored_count"], 1)
        self.assertNotIn("http://new.test/", [url for _, url in self.next("-n", "1,000")])

    def test_says_what_is_not_there(self):
        self.refuse(1, "no scores `none`; there are `pagerank`: --fill-from SCORE", "queue",
                    "x.crawl", "--fill-from", "none")
        self.succeed("rank", "x.crawl", "--by", "host")
        self.refuse(1, "of hosts or domains", "queue", "x.crawl", "--fill-from",
                    "pagerank_by_host")
        self.make_store("y.crawl")
        self.refuse(1, pages_command.NO_PAGES, "queue", "y.crawl", "--fill-from", "pagerank")
        for words in (["--add"], ["--replace"], ["--unfetched"], ["--strict"],
                      ["--fill-from", ""], ["--remove", ""], ["--insert", "-", "-n", "1"],
                      ["--clear", "-n", "1"], ["--insert", "-", "--add"], ["--clear", "--strict"],
                      ["--fill-from", "x", "--add", "--replace"],
                      ["--fill-from", "x", "--strict"],
                      *itertools.permutations(["--fill-from=x", "--insert=-", "--update=-",
                                               "--remove=-", "--clear", "--trim=1"], 2)):
            self.refuse(2, "queue|excludes|empty", "queue", "x.crawl", *words)
        self.refuse(1, "the store has no queue", "queue", "x.crawl")

    def test_is_one_commit(self):
        """Also where it replaces."""
        words = ["queue", "x.crawl", "--fill-from", "pagerank", "--replace"]
        self.insert(b"7\thttp://a.test/3\n")
        waiting = self.next("--peek", "-n", "1,000")
        shutil.copyfile(self.folder / "x.crawl", self.folder / "before.crawl")
        count, _ = self.calls(*words)
        filled = self.next("--peek", "-n", "1,000")
        for at in range(1, count + 1):
            self.copy("before.crawl")
            answer = self.signalled(*words, SIGNAL=signal.SIGKILL, SIGNAL_AT_PWRITE=at)
            self.assertEqual(answer.code, -signal.SIGKILL)
            self.assert_whole()
            self.assertIn(self.next("--peek", "-n", "1,000"), (waiting, filled))
        self.assertGreater(count, 2)

    def test_of_pages_without_urls(self):
        self.load(b"#0\t#2\n#1\t#2\n#2\t#0\n", "edges", name="n.crawl")
        self.succeed("rank", "n.crawl")
        self.succeed("queue", "n.crawl", "--fill-from", "pagerank")
        self.assertEqual(self.succeed("next", "n.crawl", "-n", "9").out, b"#2\n#0\n#1\n")


class Insert(Crawl):
    def test_stops_when_a_signal_comes_late(self):
        """All lines were read; only the lock was waited for."""
        self.insert(b"7\thttp://a.test/3\n")
        waiting = self.next("--peek")
        writer = self.start("seen", "x.crawl", "--quiet")
        writer.stdin.write(b"http://a.test/\n")
        writer.stdin.flush()
        command.wait_until_read(writer.stdin.fileno())
        (self.folder / "lines").write_bytes(b"8\thttp://a.test/4\n")
        process = self.start("queue", "x.crawl", "--insert", "lines", "--lock-wait", "60")
        command.wait_until_writer(process, self.folder / "x.crawl")
        process.send_signal(signal.SIGINT)
        writer.communicate(timeout=60)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (130, b""), err)
        self.assertIn(b"stopped; the queue is as it was", err)
        self.assertEqual(self.next("--peek"), waiting)

    def test_in_the_order_of_priorities(self):
        self.fill()
        lines = b"1e3\thttp://a.test/60\n-2.5\tHTTP://A.test:80/61\r\n\ninf\t#0\n"
        counts, notes = self.insert(lines)
        self.assertEqual((counts["inserted_count"], counts["updated_count"], notes), (1, 2, []))
        first, second, *_, last = self.next("-n", "1,000")
        url = next(row["url"] for row in self.ranked if row["index"] == 0)
        self.assertEqual((first, second, last), ((float("inf"), url), (1e3, "http://a.test/60"),
                                                 (-2.5, "http://a.test/61")))

    def test_tells_broken_lines_from_unknown_pages(self):
        lines = (b"1\thttp://a.test/1\nnan\thttp://a.test/1\n1 http://a.test/1\nhttp://a.test/1\n"
                 b"\t#1\n1\tno url\n2\thttp://none.test/\n3\t#999\n2\thttp://a.test/2\n")
        (self.folder / "lines").write_bytes(lines)
        answer = self.refuse(1, "--strict: nothing was changed", "queue", "x.crawl", "--insert",
                             "lines", "--strict")
        self.assertIn(b"lines: line 2 is no PRIORITY TAB URL or #INDEX, nor are 4 other lines",
                      answer.err)
        self.refuse(1, "the store has no queue", "queue", "x.crawl")
        counts, notes = self.insert(lines)
        self.assertEqual(counts, {"name": "queue", "inserted_count": 2, "updated_count": 0,
                                  "unknown_count": 2, "malformed_count": 5, "cut_count": 0,
                                  "page_count": 2})
        self.assertEqual(notes[1], "crawlstore: -: 2 pages not in the database, left out; "
                                   "the first: http://none.test/")
        self.assertEqual(self.next("-n", "9"), [(2, "http://a.test/2"), (1, "http://a.test/1")])
        self.insert(b"5\t#1\n", "--strict")
        self.refuse(1, "none: the list of pages: No such file", "queue", "x.crawl", "--insert",
                    "none")

    def test_takes_back_what_next_has_written(self):
        self.fill()
        before = self.next("--peek", "-n", "1,000")
        taken = self.succeed("next", "x.crawl", "-n", "30", "--format", "tsv").out
        self.assertEqual(self.insert(taken)[0]["inserted_count"], 30)
        self.assertEqual(self.next("-n", "1,000"), before)

    def test_of_both_infinities(self):
        self.insert(b"inf\t#0\n-inf\t#1\n-1.5e300\t#2\n")
        for words in (["queue"], ["next", "-n", "9"]):
            found = json.loads(self.succeed(*words, "x.crawl", "--json").out)
            self.assertEqual([(row["priority"], row["priority_text"]) for row in found["pages"]],
                             [(None, "inf"), (-1.5e300, "-1.5e+300"), (None, "-inf")])
            self.assertEqual(found.get("first_priority_text", "inf"), "inf")

    def test_of_a_url_that_is_no_utf8(self):
        self.load(b'{"kind": "page", "url_hex": "687474703a2f2f612e74657374ff2f"}\n', "jsonl")
        (page,) = self.rows("--match", r"test\xff/")
        self.insert(b"9\t#%d\n" % page["index"])
        self.assertEqual(json.loads(self.succeed("next", "x.crawl", "--json").out)["pages"],
                         [{"index": page["index"], "priority": 9, "priority_text": "9",
                           "url_hex": page["url_hex"]}])

    def test_into_a_store_without_pages(self):
        self.make_store("y.crawl")
        self.succeed("queue", "y.crawl", "--insert", "-", data=b"1\t#5\n2\t#6\n")
        self.assertEqual(self.succeed("next", "y.crawl", "-n", "5").out, b"#6\n#5\n")

    @unittest.skipIf(command.IS_SANITIZED, "a million pages")
    def test_keeps_to_its_memory(self):
        lines = b"".join(b"%d\t#%d\n" % (page * 7919 % 1_000_003, page)
                         for page in range(1_000_000))
        run_counts, first = [], []
        for memory in ("32MiB", "1GiB"):
            self.make_store(memory)
            self.succeed("queue", memory, "--insert", "-", "--memory", memory, data=lines)
            (queue,) = json.loads(self.succeed("queue", memory, "--json").out)["queues"]
            run_counts.append(queue["run_count"])
            first.append(self.succeed("next", memory, "-n", "10,000", "--memory", memory).out)
        self.assertGreater(*run_counts)
        self.assertEqual(*first)
        self.refuse(2, "--memory: at least 32.0 MiB", "next", "1GiB", "--memory", "1MiB")


class Update(Crawl):
    def test_of_pages_that_wait_alone(self):
        self.refuse(1, "the store has no queue", "queue", "x.crawl", "--update", "-")
        self.fill()
        before = self.next("--peek", "-n", "1,000")
        lines = b"50\t%s\n1\thttp://a.test/3\n7\t#999\n7\t#%d\nno line\n2\thttp://none.test/\n" % (
            before[9][1].encode(), 1 << 40)
        self.refuse(1, "nothing was changed", "queue", "x.crawl", "--update", "-", "--strict",
                    data=lines)
        counts, _ = self.change("--update", lines)
        self.assertEqual(counts, {"name": "queue", "updated_count": 1, "absent_count": 1,
                                  "unknown_count": 3, "malformed_count": 1, "cut_count": 0,
                                  "page_count": len(before)})
        self.assertEqual(self.next("-n", "1,000"),
                         [(50, before[9][1]), *before[:9], *before[10:]])
        self.succeed("verify", "--deep", "--strict", "x.crawl")


class Remove(Crawl):
    def test_of_pages_by_url_and_index(self):
        self.refuse(1, "the store has no queue", "queue", "x.crawl", "--remove", "-")
        self.fill()
        before = self.next("--peek", "-n", "1,000")
        index = next(row["index"] for row in self.ranked if row["url"] == before[20][1])
        lines = b"%s\n#%d\n#%d\nhttp://a.test/3\nhttp://none.test/\n" % (
            before[5][1].encode(), index, index)
        self.refuse(1, "nothing was changed", "queue", "x.crawl", "--remove", "-", "--strict",
                    data=lines)
        self.assertEqual(self.next("--peek", "-n", "1,000"), before)
        counts, _ = self.change("--remove", lines)
        self.assertEqual(counts, {"name": "queue", "removed_count": 2, "absent_count": 2,
                                  "unknown_count": 1, "malformed_count": 0, "cut_count": 0,
                                  "page_count": len(before) - 2})
        del before[20], before[5]
        self.assertEqual(self.next("-n", "1,000"), before)

    def test_of_pages_that_were_forgotten(self):
        self.fill()
        self.fill("--name", "mine")
        (_, url), = self.next("--peek", "--name", "mine")
        best = next(row for row in self.ranked if row["url"] == url)
        self.succeed("forget", "x.crawl", "--match", url + "$", "--queue", "queue")
        self.assertNotEqual(self.next("--peek", "--name", "queue"), [])
        self.assertEqual(self.next("--peek", "--name", "mine")[0][1], f"#{best['index']}")
        line = b"9\t#%d\n" % best["index"]
        self.assertEqual(self.insert(line, "--name", "mine")[0]["unknown_count"], 1)
        self.change("--remove", b"#%d\n" % best["index"], "--name", "mine")
        self.assertEqual(self.next("-n", "1,000", "--name", "mine"),
                         self.next("-n", "1,000", "--name", "queue"))

    def test_of_all(self):
        self.refuse(1, "the store has no queue", "queue", "x.crawl", "--clear")
        count = self.fill()["page_count"]
        cleared = json.loads(self.succeed("queue", "x.crawl", "--clear", "--json").out)
        self.assertEqual(cleared, {"name": "queue", "removed_count": count, "page_count": 0})
        self.refuse(1, "the queue `queue` is empty", "next", "x.crawl")
        self.assertEqual(self.fill()["page_count"], count)

    def test_of_those_that_would_leave_last(self):
        count = self.fill()["page_count"]
        first = self.next("--peek", "-n", "3")
        trimmed = json.loads(self.succeed("queue", "x.crawl", "--trim", "3", "--json").out)
        self.assertEqual(trimmed, {"name": "queue", "removed_count": count - 3, "page_count": 3})
        self.assertEqual(self.next("--peek", "-n", "1,000"), first)
        trimmed = json.loads(self.succeed("queue", "x.crawl", "--trim", "4", "--json").out)
        self.assertEqual(trimmed["removed_count"], 0)
        self.succeed("verify", "x.crawl", "--deep")
        self.succeed("queue", "x.crawl", "--trim", "0")
        self.refuse(1, "the queue `queue` is empty", "next", "x.crawl")


class Forget(Crawl):
    def setUp(self):
        super().setUp()
        self.load(b"http://b.test/1\thttp://b.test/2\n", "edges")
        self.succeed("rank", "x.crawl")

    def forget(self, *words):
        return json.loads(self.succeed("forget", "x.crawl", "--json", *words).out)

    def hosts(self, name):
        return {url.split("/")[2] for _, url in self.next("--peek", "-n", "999", "--name", name,
                                                            "--database", "pages")}

    def test_takes_pages_out_of_all_queues(self):
        self.fill()
        self.fill("--name", "mine")
        self.assertEqual(self.hosts("mine"), {"a.test", "b.test"})
        self.assertEqual(self.forget("--host", "b.test")["queued_count"], 4)
        for name in ("queue", "mine"):
            self.assertEqual(self.hosts(name), {"a.test"})
        self.succeed("verify", "--deep", "--strict", "x.crawl")

    def test_asks_of_which_of_several_databases_the_pages_are(self):
        self.fill()
        self.load(b"http://c.test/1\thttp://c.test/2\n", "edges", "--database", "other")
        for words in (["next"], ["queue"], ["export", "--format", "queue"]):
            self.refuse(2, "several page databases", words[0], "x.crawl", *words[1:])
        (_, url), = self.next("--database", "pages", "--peek")
        self.assertEqual(url, self.expected("known", "crawled", "failed")[0][1])

    def test_takes_pages_of_one_of_several_databases_out_of_queues_that_are_named(self):
        self.load(b"http://c.test/1\thttp://c.test/2\n", "edges", "--database", "other")
        self.fill()
        self.fill("--name", "mine")
        self.refuse(1, "no queue `none`", "forget", "x.crawl", "--host", "a.test", "--queue",
                    "mine", "--queue", "none")
        self.assertEqual(self.forget("--host", "c.test", "--database", "other")["queued_count"], 0)
        self.assertEqual(self.forget("--host", "b.test")["queued_count"], 2)
        self.assertEqual(self.hosts("queue"), {"a.test"})
        self.assertEqual(self.forget("--queue", "mine", "--queue", "queue", "--prefix",
                                     "http://a.test/1")["queued_count"],
                         2 * sum(url.startswith("http://a.test/1")
                                 for _, url in self.expected("known", "crawled", "failed")))


class Carried(Crawl):
    """Other changes of queues."""

    def setUp(self):
        super().setUp()
        self.fill()
        self.next("-n", "20")
        self.insert(b"9\thttp://a.test/1\n")
        self.waiting = self.next("--peek", "-n", "1,000")
        self.assertGreater(len(self.waiting), 20)

    def peek(self, name):
        lines = self.succeed("next", name, "--peek", "-n", "1,000", "--format", "tsv").out
        return [(float(priority), url) for priority, url in
                (line.split("\t") for line in lines.decode().splitlines())]

    def test_copies_by_snapshot_have_them(self):
        self.succeed("snapshot", "x.crawl", "copy.crawl")
        self.next("-n", "3")
        self.assertEqual(self.peek("copy.crawl"), self.waiting)
        self.assertEqual(self.peek("x.crawl"), self.waiting[3:])
        self.succeed("verify", "--deep", "--strict", "copy.crawl")

    def test_compact_keeps_them(self):
        self.succeed("compact", "x.crawl")
        self.assertEqual(self.peek("x.crawl"), self.waiting)
        self.succeed("verify", "--deep", "--strict", "x.crawl")

    def test_info_has_a_table_of_them(self):
        self.fill("--name", "other", "-n", "4")
        rows = self.info()["queues"]
        self.assertEqual([(row["name"], row["page_count"]) for row in rows],
                         [("other", 4), ("queue", len(self.waiting))])
        self.assertEqual(self.info()["queued_count"], 4 + len(self.waiting))
        shown = self.succeed("queue", "x.crawl", "--name", "queue", "--json")
        self.assertEqual(rows, json.loads(shown.out)["queues"])

    def test_diff_counts_their_pages(self):
        self.succeed("snapshot", "x.crawl", "old.crawl")
        self.next("-n", "3")
        self.fill("--name", "other", "-n", "4")

        def difference(*words, code):
            answer = self.run_command("diff", *words, "--json")
            self.assertEqual(answer.code, code, answer.err)
            found = json.loads(answer.out)
            self.assertEqual(found["is_different"], code == 1)
            return [(row["name"], row["old_page_count"], row["new_page_count"])
                    for row in found["queues"]]

        count = len(self.waiting)
        self.assertEqual(difference("old.crawl", "x.crawl", code=1),
                         [("other", None, 4), ("queue", count, count - 3)])
        self.assertEqual(difference("x.crawl", "--previous", code=1)[0], ("other", None, 4))
        self.assertEqual(difference("x.crawl", "x.crawl", code=0)[0], ("other", 4, 4))
        for name, pages in (("y.crawl", 2), ("z.crawl", 3)):
            self.make_store(name)
            self.succeed("queue", name, "--insert", "-",
                         data=b"".join(b"1\t#%d\n" % page for page in range(pages)))
        self.assertEqual(difference("y.crawl", "z.crawl", code=1), [("queue", 2, 3)])

    def test_exported_lines_are_inserted_again(self):
        lines = self.export("queue")
        self.assertEqual(lines, self.succeed("next", "x.crawl", "--peek", "-n", "1,000",
                                             "--format", "tsv").out)
        self.insert(lines, "--name", "again")
        self.assertEqual(self.export("queue", "--name", "again"), lines)
        self.succeed("export", "x.crawl", "--format", "queue", "--name", "queue", "-o", "lines")
        self.assertEqual((self.folder / "lines").read_bytes(), lines)
        self.refuse(1, "there are `again`, `queue`; |no queue `none`", "export", "x.crawl",
                    "--format", "queue", "--name", "none")

    def test_exported_pages_whose_url_no_line_can_name_go_by_index(self):
        urls = [b"HTTP://R.test:80/", b"http://r test/", b"http://r.test\xff/", b"#7"]
        self.load(b"".join(json.dumps({"kind": "page", "url_hex": url.hex()}).encode() + b"\n"
                           for url in urls), "jsonl", "--raw", name="raw.crawl")
        self.succeed("queue", "raw.crawl", "--insert", "-", data=b"4\t#0\n3\t#1\n2\t#2\n1\t#3\n")
        lines = self.export("queue", name="raw.crawl")
        self.assertEqual(lines, b"4\t#0\n3\t%s\n2\t%s\n1\t#3\n" % tuple(urls[1:3]))
        self.succeed("queue", "raw.crawl", "--clear")
        self.succeed("queue", "raw.crawl", "--insert", "-", "--strict", data=lines)
        self.assertEqual(self.export("queue", name="raw.crawl"), lines)


if __name__ == "__main__":
    unittest.main()
