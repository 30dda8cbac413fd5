# SPDX-License-Identifier: Apache-2.0
"""frontier, take and done: a crawl by lines of text.

Invariants: an item is never with two takers; the best items come first, of groups that may be
visited; what is not told done comes again; neither side of a pipe keeps the other out."""

import json
import os
import random
import signal
import time
import unittest

import command

FREE = "delay=none,in-flight=1000000"  # a group that may be visited at any time


class FrontierTest(command.CommandTest):
    def put(self, items, *words, code=0):
        """items: [(group, priority, body)]."""
        lines = b"".join(b"%s\t%r\t%s\n" % (group.encode(), priority, body)
                         for group, priority, body in items)
        answer = self.run_command("frontier", "x.crawl", "--put", "-", "--json", *words, data=lines)
        self.assertEqual(answer.code, code, answer.err)
        return json.loads(answer.out)

    def set_rule(self, group, rule):
        return self.succeed("frontier", "x.crawl", "--group", group, "--set", rule)

    def take(self, *words):
        """[(id, group, body)]; none where nothing is due."""
        answer = self.run_command("take", "x.crawl", *words)
        self.assertEqual(answer.code, 0 if answer.out else 1, answer.err)
        lines = [line.split(b"\t", 2) for line in answer.out.splitlines()]
        return [(int(item), group.decode(), body) for item, group, body in lines]

    def ids(self, *words):
        return [item for item, *_ in self.take(*words)]

    def done(self, text, code=0, *words):
        answer = self.run_command("done", "x.crawl", "--json", *words, data=text.encode())
        self.assertEqual(answer.code, code, answer.err)
        return {name.removesuffix("_count"): count
                for name, count in json.loads(answer.out).items() if count}

    def info(self, *words):
        return json.loads(self.succeed("frontier", "x.crawl", "--json", *words).out)

    def counts(self):
        info = self.info()
        return info["waiting_count"], info["leased_count"]


class Crawl(FrontierTest):
    def test_follows_an_oracle(self):
        """Each group's items by priority, ties by id; the group with the best item first."""
        dice = random.Random(command.SEED)
        waiting = {}  # id: (group, priority, body)
        next_id = None
        leased = {}
        self.put([], "--default", FREE)
        for _ in range(12):
            items = [(f"g{dice.randrange(9)}", dice.randrange(50) / 4, b"body\t%d" % i)
                     for i in range(dice.randrange(40))]
            self.put(items)
            if items and next_id is None:
                next_id = min(row["id"] for key in {group for group, *_ in items}
                              for row in self.info("--group", key)["items"])
            for item in items:
                waiting[next_id] = item
                next_id += 1
            count = dice.randrange(1, 30)
            expected = []
            best = {}  # group: its first item
            for item in sorted(waiting, key=lambda item: (-waiting[item][1], item)):
                best.setdefault(waiting[item][0], item)
            for item in list(best.values())[:count]:
                leased[item] = waiting.pop(item)
                expected.append((item, leased[item][0], leased[item][2]))
            self.assertEqual(self.take("-n", str(count)), expected)
            ended = dice.sample(sorted(leased), len(leased) // 2)
            self.assertEqual(self.done("".join(f"{item}\n" for item in ended)).get("finished", 0),
                             len(ended))
            for item in ended:
                del leased[item]
            self.assertEqual(self.counts(), (len(waiting), len(leased)))
        self.assert_whole()

    def test_takes_one_of_a_group_or_as_many_as_is_said(self):
        self.put([("a", 1 + i, b"%d" % i) for i in range(5)] + [("b", 9, b"b")])
        self.assertEqual([body for *_, body in self.take()], [b"b", b"4"])
        self.assertEqual(self.take("--per-group", "3"), [])
        self.put([("c", 1 + i, b"%d" % i) for i in range(4)])
        self.set_rule("c", FREE)
        self.assertEqual([body for *_, body in self.take("--per-group", "3")], [b"3", b"2", b"1"])
        self.assertEqual([body for *_, body in self.take()], [b"0"])

    def test_takes_of_the_group_that_waits_longest(self):
        self.put([(group, priority, b"") for group in "abc" for priority in (1, 2)] +
                 [("c", 9, b"")], "--default", FREE)
        def order(*words):
            return [group for _, group, _ in self.take("-n", "1", *words)]
        self.assertEqual(order("--order", "best"), ["c"])
        for groups in "abc":
            self.assertEqual(order("--order", "waiting"), [groups])
        self.refuse(2, "`best` or `waiting`", "take", "x.crawl", "--order", "worst")

    def test_keeps_the_delay_of_a_group(self):
        self.put([("a", 1, b"%d" % i) for i in range(3)], "--default", "delay=300ms")
        start = time.monotonic()
        for _ in range(3):
            (item,) = self.ids("--wait", "30s")
            self.done(f"{item}\n")
        self.assertGreater(time.monotonic() - start, 0.6)
        self.assertEqual(self.take("--wait", "50ms"), [])

    def test_blocks_a_group(self):
        self.put([("a", 1, b"")])
        self.set_rule("a", "active=no")
        self.refuse(1, "nothing will be", "take", "x.crawl")
        self.set_rule("a", "active=yes,until=2100-01-01T00:00:00Z")
        self.refuse(1, "nothing is due.* before 2100-01-01T00:00:00Z", "take", "x.crawl")
        self.set_rule("a", "until=none")
        self.assertEqual(len(self.take()), 1)

    def test_refuses_what_is_beyond_a_limit(self):
        self.put([], "--default", FREE + ",limit=2")
        self.set_rule("b", "limit=none,finished-limit=1")
        put = self.put([(group, 1, b"") for group in "aaabbb"], code=1)
        self.assertEqual((put["line_count"], put["put_count"], put["refused_count"]), (6, 5, 1))
        self.done("".join(f"{item}\n" for item in self.ids("--per-group", "9")))
        answer = self.run_command("frontier", "x.crawl", "--put", "-", data=b"a\t1\t\nb\t1\t\n")
        self.assertRegex(answer.out, rb"refused\D+2\b")
        self.assertEqual(answer.code, 1)
        self.assertEqual([(row["put_count"], row["finished_count"])
                          for row in self.info("--groups")["groups"]], [(3, 3), (2, 2)])
        self.assert_whole()

    def test_asks_the_parent_of_a_group(self):
        self.put([(group, 1, b"") for group in "abc"], "--default", FREE)
        self.set_rule("10.0.0.1", FREE + ",in-flight=2")
        for group in "abc":
            self.set_rule(group, "parent=10.0.0.1")
        self.assertTrue(self.info("--group", "a")["rule"].endswith(",parent=10.0.0.1"))
        items = self.ids()
        self.assertEqual(len(items), 2)
        self.assertEqual(self.take(), [])
        group = self.info("--group", "c")
        self.assertRegex(group["why"], "^parent 10.0.0.1: in-flight limit of 2 reached, a lease")
        self.assertLess(0, group["due_in_seconds"])
        self.done(f"{items[0]}\n")
        group = self.info("--group", "c")
        self.assertEqual((group["due_in_seconds"], group["why"]), (0, ""))
        self.assertEqual(len(self.take()), 1)
        for group, parent, why in (("10.0.0.1", "d", "--set: the group is a parent .*none, first$"),
                                   ("d", "a", "has a parent itself.*name that one"),
                                   ("a", "a", "cannot be its own parent")):
            self.refuse(2, why, "frontier", "x.crawl", "--group", group, "--set",
                        f"parent={parent}")
        self.set_rule("a", "parent=none")
        self.assert_whole()

    def test_gives_back(self):
        self.put([(group, 1, group.encode()) for group in "abcd"], "--default", FREE)
        a, b, c, d = self.ids()
        self.assertEqual(self.done(f"{a}\tretry\n{b}\tretry 300ms\n{c}\tfailed\n{d}\tgone\n"),
                         {"line": 4, "finished": 1, "retried": 2, "failed": 1})
        self.assertEqual(self.info("--later")["items"][0]["id"], b)
        self.assertEqual(set(self.ids()) | set(self.ids("--wait", "10s")), {a, b, c})
        self.done(f"{a}\tretry 2100-01-01\n")
        self.assertEqual(self.info("--later")["items"][0]["not_before"], "2100-01-01T00:00:00Z")
        row = self.info("--leases")["leases"][-1]
        self.assertEqual((row["attempt_count"], row["priority"], row["priority_text"]),
                         (2, 1, "1"))

    def test_visits_a_group_that_fails_less_often(self):
        self.put([("a", 1, b"")], "--default", "delay=200ms")
        for failures in range(1, 3):
            (item,) = self.ids("--wait", "20s")
            self.done(f"{item}\tfailed\n")
            self.assertEqual(self.info("--group", "a")["failure_count"], failures)
        start = time.monotonic()
        self.ids("--wait", "20s")
        self.assertGreater(time.monotonic() - start, 0.3)


class Leases(FrontierTest):
    def test_end(self):
        self.put([("a", 1, b"1"), ("a", 2, b"2")], "--default", "delay=none")
        (item,) = self.ids("--lease", "200ms")
        self.assertEqual(self.ids("--wait", "20s", "--lease", "none"), [item])
        self.refuse(1, "nothing will be: 1 item leased for ever", "take", "x.crawl")
        self.assertEqual(self.info("--leases")["leases"][0]["until_us"], None)

    def test_that_ended_are_late(self):
        self.put([(group, 1, b"") for group in "ab"], "--default", "delay=none")
        a, b = self.ids("--lease", "1ms")
        self.put([("c", 1, b"")])
        time.sleep(0.05)
        (again, _, c) = self.ids("-n", "3")
        self.assertEqual(again, a)
        self.done(f"{b}\n{c}\n")
        self.put([("b", 2, b"")])
        (b,) = self.ids("--lease", "1ms")
        time.sleep(0.05)
        self.put([("d", 1, b"")])
        self.assertEqual(self.done(f"{b}\tretry 1h\n", 1), {"line": 1, "late": 1})
        self.assertEqual(self.done(f"{b}\n", 1), {"line": 1, "late": 1})
        self.assertEqual(self.done(f"{b}\n99\n{a}\n", 1), {"line": 3, "unknown": 2, "finished": 1})

    def test_survive_a_kill(self):
        self.put([(f"g{i}", 1, b"") for i in range(9)], "--default", "delay=none")
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        while True:
            try:
                os.write(writer, bytes(4096))
            except BlockingIOError:
                break
        os.set_blocking(writer, True)
        taker = self.start("take", "x.crawl", "-n", "5", "--lease", "2s", stdout=writer)
        command.wait_until(lambda: self.counts() == (4, 5))
        self.assertEqual(len(self.ids("-n", "1", "--lock-wait", "0")), 1)  # it holds no lock
        taker.send_signal(signal.SIGKILL)
        taker.communicate()
        os.close(reader), os.close(writer)
        found = self.ids()
        command.wait_until(lambda: found.extend(self.ids()) or len(found) == 8)
        self.assertEqual(len(set(found)), 8)
        self.assert_whole()


class Sides(FrontierTest):
    def test_two_takers_get_different_items(self):
        self.put([(f"g{i}", 1, b"") for i in range(200)])
        takers = [self.start("take", "x.crawl", "-n", "50") for _ in range(4)]
        ids = [line.split(b"\t")[0] for taker in takers
               for line in taker.communicate(timeout=100)[0].splitlines()]
        self.assertEqual((len(ids), len(set(ids))), (200, 200))

    def test_wait_for_each_other(self):
        self.put([("a", 1, b"")])
        writer = self.start("seen", "x.crawl", "--quiet")
        writer.stdin.write(b"http://a.test/\n")
        writer.stdin.flush()
        command.wait_until_read(writer.stdin.fileno())
        self.refuse(3, "another writer", "take", "x.crawl", "--lock-wait", "0")
        answer = self.run_command("done", "x.crawl", "--lock-wait", "0", data=b"5\n6\tfailed\n")
        self.assertEqual(answer.code, 3)
        self.assertIn(b"\n5\n6\tfailed\n", answer.err)
        self.assertIn(b"2 lines: 2 without effect", answer.err)
        taker = self.start("take", "x.crawl")
        command.wait_until_writer(taker, self.folder / "x.crawl")
        writer.communicate(timeout=60)
        self.assertRegex(taker.communicate(timeout=60)[0], rb"^\d+\ta\t\n$")

    def test_done_commits_while_the_input_goes_on(self):
        self.put([(f"g{i}", 1, b"") for i in range(3)])
        first, *others = self.ids()
        done = self.start("done", "x.crawl")
        done.stdin.write(b"%d\n" % first)
        done.stdin.flush()
        command.wait_until(lambda: self.counts() == (0, 2))
        command.wait_until(lambda: self.run_command("take", "x.crawl", "--lock-wait",
                                                    "0").code == 1)
        out, err = done.communicate(b"".join(b"%d\n" % item for item in others), timeout=60)
        self.assertEqual((done.returncode, out, self.counts()), (0, b"", (0, 0)))
        self.assertIn(b"3 lines: 3 finished", err)

    def test_put_commits_while_the_input_goes_on(self):
        put = self.start("frontier", "x.crawl", "--put", "-")
        put.stdin.write(b"a\t1\t\n")
        put.stdin.flush()
        command.wait_until(lambda: (self.folder / "x.crawl").exists() and
                           self.run_command("take", "x.crawl").code == 0)
        put.communicate(b"b\t1\t\n", timeout=60)
        self.assertEqual((put.returncode, self.counts()), (0, (1, 1)))

    def test_put_that_is_killed_leaves_whole_commits(self):
        self.put([])
        put = self.start("frontier", "x.crawl", "--put", "-")
        put.stdin.write(b"".join(b"g%d\t1\t\n" % i for i in range(150_000)))
        command.wait_until(lambda: self.counts()[0] > 0)
        put.kill()
        put.communicate()
        self.assertIn(self.counts(), ((100_000, 0), (150_000, 0)))
        self.assert_whole()

    def test_done_takes_more_lines_than_a_batch(self):
        self.put([("a", 1, b"")] * 25_000, "--default", FREE)
        ids = self.ids("-n", "1e6", "--per-group", "1e6")
        self.assertEqual(self.done("".join(f"{item}\n" for item in ids)),
                         {"line": 25_000, "finished": 25_000})

    def test_done_keeps_what_came_before_a_signal(self):
        self.put([("a", 1, b"")])
        (item,) = self.ids()
        done = self.start("done", "x.crawl")
        done.stdin.write(b"%d\n" % item)
        done.stdin.flush()
        command.wait_until_read(done.stdin.fileno())
        done.send_signal(signal.SIGTERM)
        self.assertIn(b"1 line: 1 finished", done.communicate(timeout=60)[1])
        self.assertEqual((done.returncode, self.counts()), (143, (0, 0)))

    def test_ends_on_a_signal(self):
        self.put([])
        taker = self.start("take", "x.crawl", "--wait", "1h")
        command.wait_until_caught(taker, signal.SIGINT)
        taker.send_signal(signal.SIGINT)
        self.assertEqual((taker.communicate(timeout=60)[0], taker.returncode), (b"", 130))

    def test_waits_for_what_is_put(self):
        self.put([])
        taker = self.start("take", "x.crawl", "--wait", "1h")
        time.sleep(0.3)
        self.put([("a", 1, b"body")])
        self.assertRegex(taker.communicate(timeout=60)[0], rb"^\d+\ta\tbody\n$")


class Lines(FrontierTest):
    def test_of_an_input_that_are_none_end_it(self):
        for line, why in ((b"a", "is no GROUP TAB PRIORITY TAB BODY"),
                          (b"a\tx\ty", "is no GROUP TAB.*"), (b"a\tnan\ty", "has `nan` as.*"),
                          (b"a\t1 \ty", "is no GROUP TAB.*"),
                          (b"a" * 65_536 + b"\t1\ty", "has a group of more than 65,535 bytes"),
                          (b"a\t1\t" + b"y" * 65_537, "has a body of more than 65,536 bytes")):
            self.refuse(2, f"-: line 1 {why}; nothing was put", "frontier", "x.crawl", "--put", "-",
                        data=line + b"\nb\t1\t\n")
            self.assertFalse((self.folder / "x.crawl").exists())
        self.refuse(2, "-: line 3 is no .*; the lines before it were put", "frontier", "x.crawl",
                    "--put", "-", data=b"a\t1\t\n\nb\nc\t1\t\n")
        self.assertEqual(self.counts(), (1, 0))

    def test_of_done_that_are_none_are_refused(self):
        self.put([(group, 1, b"") for group in "ab"])
        a, b = self.ids()
        text = f"{a}\tdone\nx\n-1\n{a} gone\n{a}\tretry soon\n{a}\n\n{b}\tgone\n"
        self.assertEqual(self.done(text, 2), {"line": 7, "refused": 5, "finished": 2})
        self.refuse(2, "line 2 refused: it has another word after the ID than `retry`, `failed`",
                    "done", "x.crawl", data=b"\n4\tok\n")
        self.refuse(1, "2 lines: 2 unknown", "done", "x.crawl", data=b"4\n77\tretry")

    def test_show_what_they_cannot_hold(self):
        self.put([("a", 3, b"")])
        self.succeed("frontier", "x.crawl", "--put", "-",
                     data=b"b\xff\t2\tx\ty\nc\t1\t\xff\nd\x01\t0\t\x01\n")
        answer = self.succeed("take", "x.crawl", "--lease", "1ms")
        self.assertEqual([line.split(b"\t", 1)[1] for line in answer.out.splitlines()],
                         [b"a\t", b"-\tx\ty", b"c\t-", b"-\t-"])
        time.sleep(1.1)
        answer = json.loads(self.succeed("take", "x.crawl", "--json", "--wait", "9s").out)
        rows = [{name: value for name, value in row.items() if name[:4] in ("body", "grou")}
                for row in answer["items"]]
        self.assertEqual(rows, [{"group": "a", "body": ""}, {"group_hex": "62ff", "body": "x\ty"},
                                {"group": "c", "body_hex": "ff"},
                                {"group": "d\x01", "body": "\x01"}])

    def test_may_be_none(self):
        self.assertEqual(self.put([])["put_count"], 0)
        self.assertEqual(self.done(""), {})
        self.assertEqual(json.loads(self.run_command("take", "x.crawl", "--json").out),
                         {"name": "frontier", "next_due_us": None, "next_due": None, "items": []})
        self.succeed("done", "none.crawl")
        self.assertFalse((self.folder / "none.crawl").exists())
        self.refuse(1, "[Nn]o such file", "take", "none.crawl", "--wait", "1h")
        self.refuse(1, "[Nn]o such file", "frontier", "x.crawl", "--put", "none.txt")


class Options(FrontierTest):
    def test_refuse_what_cannot_be(self):
        self.put([("a", 1, b"")])
        for words, why in ((["frontier", "--set", "delay=2s"], "--set goes with --group KEY"),
                           (["frontier", "--default", "delay=2s"], "--default goes with --put"),
                           (["frontier", "--groups", "--later"], "excludes"),
                           (["frontier", "--put", "-", "--groups"], "excludes"),
                           (["frontier", "--put", "-", "-n", "1"], "go with lists"),
                           (["frontier", "--put", "-", "--default", "delay=2s"], "keeps the def"),
                           (["take", "-n", "0"], "from 1"), (["take", "--lease", "0s"], "at least"),
                           (["take", "--lease", "200000d"], "up to 106751d"),
                           (["take", "--per-group", "0"], "from 1"),
                           (["take", "--wait", "5"], "a time such as 500ms, 2s, 10min")):
            self.refuse(2, why, words[0], "x.crawl", *words[1:])
        self.refuse(1, "the frontier `frontier` has no group `b`; --groups", "frontier", "x.crawl",
                    "--group", "b")
        self.make_store("y.crawl")
        for verb, data in (("frontier", b""), ("take", b"")):
            self.refuse(1, "the store has no frontier; `crawlstore frontier y.crawl --put", verb,
                        "y.crawl", data=data)
        self.assertEqual(self.run_command("done", "y.crawl", data=b"1\n").code, 3)

    def test_of_rules(self):
        self.put([("a", 1, b"")], "--default", "delay=4s,hard=1s")
        for rule, why in (("speed=2", "no `speed`, it has delay, hard, burst, in-flight, until"),
                          ("delay", "a time such as"), ("delay=2", "a time such as"),
                          ("burst=0", "a number from 1 to"), ("active=1", "yes or no"),
                          ("limit=x", "a number from 0"),
                          ("until=soon", "a time such as 2026"), ("", "no ``"),
                          ("hard=5s", "hard=5s is above delay=4s")):
            self.refuse(2, why, "frontier", "x.crawl", "--group", "a", "--set", rule)
        self.assertEqual(self.info("--group", "a")["rule"], None)
        for rule, whole in (("burst=2", "delay=4s,hard=1s,burst=2,in-flight=1"),
                            ("delay=1m", "delay=1min,hard=1min,burst=2,in-flight=1"),
                            ("hard=none", "delay=1min,hard=none,burst=2,in-flight=1"),
                            ("none,in-flight=3,active=no,until=2100-01-01",
                             "delay=none,hard=none,burst=2,in-flight=3,until=2100-01-01T00:00:00Z,"
                             "active=no"),
                            ("limit=7,finished-limit=5",
                             "delay=none,hard=none,burst=2,in-flight=3,until=2100-01-01T00:00:00Z,"
                             "limit=7,finished-limit=5,active=no")):
            self.set_rule("a", rule)
            self.assertEqual(self.info("--group", "a")["rule"], whole)
            self.set_rule("b", whole)
        self.assertEqual([(row["group"], row["rule"]) for row in self.info("--groups")["groups"]],
                         [("a", whole), ("b", whole)])

    def test_choose_a_frontier(self):
        self.put([("a", 1, b"")], "--frontier", "one")
        self.assertEqual(self.info()["name"], "one")
        self.put([("b", 1, b"")], "--frontier", "two")
        self.assertEqual([row["name"] for row in self.info()["frontiers"]], ["one", "two"])
        for words in (["take"], ["frontier", "--groups"], ["frontier", "--put", "-"]):
            self.refuse(1, "there are `one`, `two`: --frontier NAME chooses", words[0], "x.crawl",
                        *words[1:], data=b"c\t1\t\n")
        ((item, group, _),) = self.take("--frontier", "two")
        self.assertEqual(group, "b")
        self.done(f"{item}\n", 0, "--frontier", "two")

    def test_bound_lists(self):
        self.put([(f"g{i}", i, b"") for i in range(120)])
        self.assertEqual(len(self.info("--groups")["groups"]), 100)
        self.assertEqual(len(self.info("--groups", "-n", "7")["groups"]), 7)
        self.ids("-n", "5")
        answer = self.succeed("frontier", "x.crawl", "--leases", "--tsv", "--columns", "group")
        self.assertEqual(answer.out.splitlines()[0], b"group")
        self.assertEqual(set(answer.out.split()[1:]), {b"g%d" % i for i in range(115, 120)})


if __name__ == "__main__":
    unittest.main()
