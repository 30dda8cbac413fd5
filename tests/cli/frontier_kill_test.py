# SPDX-License-Identifier: Apache-2.0
"""T7: kill -9 of frontier --put, take and done.

Before each of their writes, before a random one, and at random times. Afterwards the file is whole;
what take printed is leased, and nobody gets it before its lease ends; what done has told is gone;
each line that was put waits, is leased or is done.
"""

import collections
import random
import shutil
import signal
import time
import unittest

import command
from frontier_test import FREE, FrontierTest

KILLS = 600 if command.IS_LONG else 30
SIGNALLER = command.BUILD / "bin/signal_at_write.so"
LARGE_COUNT = 150  # whose bodies have as many bytes as a checkpoint needs: they go into a run
MANY = ("-n", "100000")
HOUR_US = 3_600_000_000


def large_lines():
    return [b"large\t%d\t%d-%s" % (i % 5, i, b"b" * 60_000) for i in range(LARGE_COUNT)]


def body_of(line):
    """All of it, or of a long one what tells it from others."""
    return line.split(b"\t", 2)[2].split(b"-b")[0]


def now_us():
    return time.time_ns() // 1000


class KillTest(FrontierTest):
    def setUp(self):
        super().setUp()
        self.generator = random.Random(command.SEED)
        self.bodies = {}  # of all items that were ever put, by id
        self.items = {}   # until when an item is leased, or 0, by id

    def table(self, *words):
        answer = self.succeed("frontier", "x.crawl", "--tsv", *MANY, *words)
        return [line.split(b"\t") for line in answer.out.splitlines()[1:]]

    def look(self):
        """Until when each item is leased, by id; 0: it waits."""
        if self.run_command("frontier", "x.crawl").code != 0:
            self.assertEqual(self.items, {})
            return {}, {}
        leases = self.table("--leases", "--columns", "id,until_us")
        found = {int(item): int(until) for item, until in leases}
        shown = {}
        groups = [row[0].decode() for row in self.table("--groups", "--columns", "group")]
        for group in groups:
            columns = "id" if group == "large" else "id,body"
            for item, *body in self.table("--group", group, "--columns", columns):
                self.assertNotIn(int(item), found, "it waits twice, or is leased")
                found[int(item)] = 0
                shown.update({int(item): one for one in body})
        for item in shown.keys() & self.bodies.keys():
            self.assertEqual(shown[item], self.bodies[item])
        return found, shown

    def signalled(self, at, *words, data=b""):
        """Killed before the pwrite() of this number."""
        return self.run_command(*words, data=data, env={
            "LD_PRELOAD": str(SIGNALLER), "SIGNAL": str(int(signal.SIGKILL)),
            "SIGNAL_AT_PWRITE": str(at)})

    def writes(self, *words, data=b""):
        """The number of calls of pwrite() when nobody is killed; the file is as before."""
        shutil.copyfile(self.folder / "x.crawl", self.folder / "before.crawl")
        counts = self.folder / "counts"
        self.succeed(*words, data=data, env={"LD_PRELOAD": str(SIGNALLER),
                                             "WRITES_COUNTED": str(counts)})
        self.after = self.look()[0]
        self.restore()
        return int(counts.read_text().split()[0])

    def restore(self):
        shutil.copyfile(self.folder / "before.crawl", self.folder / "x.crawl")

    def put_large(self):
        """A frontier with a run of items, and short ones in a journal."""
        lines = large_lines()
        self.succeed("frontier", "x.crawl", "--put", "-", "--default", FREE,
                     data=b"\n".join(lines))
        self.succeed("compact", "x.crawl")
        short = [b"%s\t%d\tshort %d" % (group, i % 9, i) for i in range(20)
                 for group in (b"a", b"b")]
        self.succeed("frontier", "x.crawl", "--put", "-", data=b"\n".join(short))
        self.bodies = dict(enumerate(body_of(line) for line in lines + short))
        self.items = self.look()[0]
        self.assertEqual(self.items, dict.fromkeys(self.bodies, 0))


class EachWrite(KillTest):
    def kill_at_each_write(self, *words, data):
        """The file is as before, or as if nobody had been killed; both happen."""
        seen = set()
        for at in range(1, self.writes(*words, data=data) + 1):
            self.restore()
            self.assertEqual(self.signalled(at, *words, data=data).code, -signal.SIGKILL)
            found = self.look()[0]
            self.assertIn(found, (self.items, self.after))
            seen.add(len(found))
            self.assert_whole()
        self.assertEqual(len(seen), 2)

    def test_of_a_put_leaves_all_or_nothing(self):
        """It writes a checkpoint: groups, a run of items, pieces."""
        self.put_large()
        self.kill_at_each_write("frontier", "x.crawl", "--put", "-",
                                data=b"\n".join(large_lines()))

    def test_of_a_take_leaves_what_it_printed_leased(self):
        self.put_large()
        words = ("take", "x.crawl", "-n", "30", "--per-group", "10", "--lease", "1h")
        seen = set()
        for at in range(1, self.writes(*words) + 1):
            self.restore()
            answer = self.signalled(at, *words)
            self.assertEqual(answer.code, -signal.SIGKILL)
            printed = {int(line.split(b"\t")[0]) for line in answer.out.splitlines()}
            leased = {item for item, until in self.look()[0].items() if until}
            self.assertLessEqual(printed, leased)
            self.assertIn(len(leased), (0, 30))
            seen.add(len(leased))
            self.assertFalse(leased & set(self.ids("-n", "30", "--per-group", "10")))
            self.assert_whole()
        self.assertEqual(seen, {0, 30})

    def test_of_a_done_ends_all_or_nothing(self):
        self.put_large()
        ids = self.ids("-n", "30", "--per-group", "10", "--lease", "1h")
        self.items = self.look()[0]
        data = b"".join(b"%d%s\n" % (item, b"\tretry" * (item % 3 == 0)) for item in ids)
        self.kill_at_each_write("done", "x.crawl", data=data)


class AtRandom(KillTest):
    def setUp(self):
        super().setUp()
        self.kills = collections.Counter()
        self.line_count = 0
        self.done_count = 0

    def kill(self, *words, data=b""):
        """(whether it was killed, whole lines that it printed)"""
        if self.generator.random() < 0.5:
            answer = self.signalled(self.generator.randrange(1, 12), *words, data=data)
            code, out = answer.code, answer.out
        else:
            process = self.start(*words)
            process.stdin.write(data)
            process.stdin.close()
            process.stdin = None
            time.sleep(self.generator.random() * (0.3 if command.IS_SANITIZED else 0.03))
            process.kill()
            out, _ = process.communicate()
            code = process.returncode
        # Exit code 1 of a take: nothing is due.
        self.assertIn(code, (0, -signal.SIGKILL, 1 if words[0] == "take" else 0))
        self.kills[words[0]] += code == -signal.SIGKILL
        return code == -signal.SIGKILL, [line[:-1] for line in out.splitlines(True)
                                         if line.endswith(b"\n")]

    def expect_same(self, found, ids):
        """These items are as before, but that leases may have ended."""
        for item in ids:
            self.assertIn(item, found, "a line is lost")
            if found[item] != self.items[item]:
                self.assertEqual(found[item], 0, "an item is leased that nobody took")
                self.assertLessEqual(self.items[item], now_us(), "a lease has ended too early")

    def put_some(self):
        lines = []
        for _ in range(self.generator.randrange(1, 200)):
            self.line_count += 1
            lines.append(b"%s\t%d\tline %d" % (self.generator.choice([b"a", b"b"]),
                                               self.generator.randrange(9), self.line_count))
        words = ("frontier", "x.crawl", "--put", "-", "--default", FREE) if not self.bodies else (
            "frontier", "x.crawl", "--put", "-")
        was_killed, _ = self.kill(*words, data=b"\n".join(lines))
        self.check_put(lines, not was_killed)
        rest = lines[len(self.items.keys() - self.before):]
        if rest:
            self.succeed(*words, data=b"\n".join(rest))
            self.check_put(rest, True)

    def check_put(self, lines, is_acknowledged):
        """The first lines are there, in their order; all of them if that was told."""
        found, shown = self.look()
        self.before = set(self.items)
        self.expect_same(found, self.items)
        new = sorted(found.keys() - self.before)
        first = len(self.bodies)
        self.assertEqual(new, list(range(first, first + len(new))))
        self.assertEqual([shown[item] for item in new],
                         [body_of(line) for line in lines[:len(new)]])
        if is_acknowledged:
            self.assertEqual(len(new), len(lines))
        self.bodies.update((item, shown[item]) for item in new)
        self.items = found

    def take_some(self):
        lease_us = self.generator.choice([HOUR_US, HOUR_US, 500_000])
        words = ("take", "x.crawl", "-n", self.generator.randrange(1, 60), "--per-group", "25",
                 "--lease", f"{lease_us // 1000}ms")
        begin = now_us()
        other = self.start(*words) if self.generator.random() < 0.3 else None
        was_killed, printed = self.kill(*words)
        if other:
            printed += other.communicate(timeout=60)[0].splitlines()
            self.assertIn(other.returncode, (0, 1))
        ids = [int(line.split(b"\t")[0]) for line in printed]
        for item, line in zip(ids, printed):
            self.assertEqual(body_of(line), self.bodies[item])
        found, _ = self.look()
        self.assertEqual(found.keys(), self.items.keys(), "a take loses or makes an item")
        taken = {item for item, until in found.items() if until > self.items[item]}
        for item in taken:
            self.assertLessEqual(self.items[item], now_us(), "it was leased already")
            self.assertGreaterEqual(found[item], begin // 1000 * 1000 + lease_us - 1000)
        self.expect_same(found, found.keys() - taken)
        self.assertEqual(len(set(ids)), len(ids), "an item was handed out twice")
        self.assertLessEqual(set(ids), taken, "an item was printed that is not leased")
        if not was_killed:
            self.assertEqual(set(ids), taken)
        self.items = found

    def end_some(self):
        leased = [item for item, until in self.items.items() if until > now_us() + HOUR_US // 10]
        ended = self.generator.sample(leased, len(leased) * 2 // 3)
        retried = {item for item in ended if item % 4 == 0}
        data = [b"%d%s\n" % (item, b"\tretry" * (item in retried)) for item in ended]
        was_killed, _ = self.kill("done", "x.crawl", data=b"".join(data))
        found, _ = self.look()
        rest = [item for item in ended if item in found and found[item]]
        self.assertEqual(rest, ended[len(ended) - len(rest):], "not the first lines are done")
        if not was_killed:
            self.assertEqual(rest, [])
        if rest:
            self.succeed("done", "x.crawl", data=b"".join(data[-len(rest):]))
            found, _ = self.look()
        self.assertEqual({item for item in ended if item in found}, retried)
        self.assertEqual({found[item] for item in retried} | {0}, {0})
        self.expect_same(found, self.items.keys() - set(ended))
        self.assertLessEqual(found.keys(), self.items.keys(), "an item came from nowhere")
        self.done_count += len(ended) - len(retried)
        self.items = found

    def test_loses_no_line_and_hands_none_out_twice(self):
        if self.generator.random() < 0.5:
            self.put_large()
        while self.kills.total() < KILLS:
            waiting = sum(until == 0 for until in self.items.values())
            verbs = [self.put_some, self.take_some, self.end_some, self.end_some]
            verb = self.generator.choice(verbs[1:] if waiting > 600 else verbs)
            (verb if self.items else self.put_some)()
            self.assert_whole()
        print(f"seed {command.SEED}: kills {dict(self.kills)}, {len(self.bodies)} lines put, "
              f"{self.done_count} done, {len(self.items)} left")
        self.assertEqual(len(self.bodies), self.done_count + len(self.items))


class Pages(KillTest):
    """done on a frontier of pages: an item has ended if and only if its page was told."""

    OUTCOMES = {"gone": "gone", "denied": "denied", "duplicate": "duplicate", "failed": "failed",
                "not_modified": "crawled", "redirect http://b.test/": "redirect"}

    def states(self):
        """{ID: state} of pages, once what waits in the file is merged; the file stays as it is."""
        shutil.copyfile(self.folder / "x.crawl", self.folder / "copy.crawl")
        self.succeed("merge", "copy.crawl")
        rows = self.succeed("pages", "copy.crawl", "--tsv", "--columns", "index,state").out
        return {int(item): state.decode() for item, state in
                (row.split(b"\t") for row in rows.splitlines()[1:])}

    def leased(self):
        rows = self.table("--leases", "--columns", "id,until_us")
        return {int(item) for item, _ in rows}

    def check(self):
        states, leased = self.states(), self.leased()
        for item, outcome in self.told.items():
            wanted = "known" if item in leased else self.OUTCOMES[outcome]
            self.assertEqual(states[item], wanted, (item, outcome))
        self.assertEqual({states[item] for item in self.taken - self.told.keys()} | {"known"},
                         {"known"})
        return leased

    def lines(self, items):
        self.told.update((item, self.generator.choice([*self.OUTCOMES])) for item in items)
        return b"".join(b"%d\t%s\n" % (item, self.told[item].encode()) for item in items)

    def setUp(self):
        super().setUp()
        self.told = {}
        self.succeed("import", "x.crawl", "-", "--format", "urls",
                     data=b"".join(b"http://h%d.test/%d\n" % (n % 9, n) for n in range(3000)))
        self.succeed("schedule", "x.crawl", "--default", FREE)
        self.taken = set(self.ids("-n", "3000", "--per-group", "3000", "--lease", "10h"))
        self.assertEqual(len(self.taken), 3000)

    def test_at_each_write_are_told_what_ended(self):
        data = self.lines(sorted(self.taken)[:60])
        seen = set()
        for at in range(1, self.writes("done", "x.crawl", data=data) + 1):
            self.restore()
            self.assertEqual(self.signalled(at, "done", "x.crawl", data=data).code,
                             -signal.SIGKILL)
            seen.add(len(self.check()))
            self.assert_whole()
        self.assertEqual(seen, {2940, 3000})

    def test_at_random_are_told_what_ended(self):
        begin = time.monotonic()
        self.succeed("done", "x.crawl", data=self.lines(sorted(self.taken)[:100]))
        usual = time.monotonic() - begin
        rest, kills = sorted(self.check()), 0
        while rest and kills < KILLS // 3:
            data = self.lines(rest[:self.generator.randrange(1, 200)])
            process = self.start("done", "x.crawl", "--quiet")
            process.stdin.write(data)
            process.stdin.close()
            process.stdin = None
            time.sleep(self.generator.random() * usual * 1.5)
            process.kill()
            process.communicate()
            kills += process.returncode == -signal.SIGKILL
            rest = sorted(self.check())
        self.assert_whole()
        print(f"{kills} kills, {3000 - len(rest)} pages told")


if __name__ == "__main__":
    unittest.main()
