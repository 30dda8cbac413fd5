# SPDX-License-Identifier: Apache-2.0
"""T8: the power goes while a crawl is written to a real file system on a disk that is recorded.

Each image is mounted, so that the file system repairs itself; then the crawl file is whole, of the
generation that was acknowledged last or a later one, and holds what that one held. A writer goes on
from there. A disk that answers flushes without obeying is noticed, or this test would see nothing.
"""

import contextlib
import hashlib
import json
import random
import time

import command
import power_cuts

IMAGES = 36                # of each file system, in the short run
PER_EPOCH = 2              # in the long run: of each time between flushes
ROUNDS = 4 if command.IS_LONG else 2
LIES = 24                  # flushes that a lying disk is behind
CONTENT = ("page_count", "crawled_count", "link_count", "queued_count", "jsonl", "edges", "queue")
FIELDS = (*CONTENT[:4], "uuid", "commit_time_us", "key_count", "edit_count", "segment_count",
          "live_bytes")


def edges(generator, first, count):
    return b"".join(b"http://h%d.test/%d\thttp://h%d.test/%d\n" % (
        number % 7, number, generator.randrange(7), generator.randrange(number + 50))
        for number in range(first, first + count))


class Step:
    """A verb that ended with success, and what the files held then."""

    def __init__(self, words, states, urls, copied):
        self.words, self.states, self.urls, self.copied = words, states, list(urls), copied


class PowerCut(command.CommandTest):
    def setUp(self):
        self.folder = None  # the disk that is written, or the image that is looked at
        self.generator = random.Random(command.SEED)
        self.urls = []

    def state(self, name):
        """(generation, what it holds)"""
        info = json.loads(self.succeed("info", name, "--json").out)
        held = {field: info[field] for field in FIELDS}
        for form in ("jsonl", "edges", "queue"):
            answer = self.run_command("export", name, "--format", form)
            held[form] = answer.code, hashlib.sha256(answer.out).hexdigest()
        return info["generation"], held

    def verbs(self, turn):
        """(words, input) of what a crawler and its owner do."""
        lines = edges(self.generator, turn * 2000, 2000)
        seen = b"".join(b"http://s%d.test/%d/%d\n" % (number % 9, turn, number)
                        for number in range(600))
        queue = b"".join(b"%d\t%s\n" % (self.generator.randrange(99), line.split(b"\t")[0])
                         for line in lines.splitlines()[::4])
        yield ("seen", "x.crawl", "-q"), seen
        yield ("import", "x.crawl", "--format", "edges", "-", "-q"), lines
        yield ("import", "x.crawl", "--format", "edges", "-", "-q", "--no-merge"), edges(
            self.generator, turn * 2000, 300)
        yield ("queue", "x.crawl", "--insert", "-", "-q"), queue
        yield ("next", "x.crawl", "-n", "50"), b""
        yield ("snapshot", "x.crawl", f"copy{turn}.crawl", "-q"), b""
        yield ("rank", "x.crawl", "pagerank", "-q"), b""
        yield ("rollback", "x.crawl"), b""
        yield ("merge", "x.crawl", "-q"), b""
        yield ("forget", "x.crawl", "--host", f"h{turn}.test", "-q"), b""
        yield ("compact", "x.crawl", "-q"), b""

    def crawl(self, mark):
        """[Step], each of which stands in the log of the disk by its number."""
        steps, copied = [], {}
        verbs = [(("create", "x.crawl", "-q"), b"")]
        for turn in range(ROUNDS):
            verbs += self.verbs(turn)
        for words, data in verbs:
            self.succeed(*words, data=data)
            mark(b"%d" % len(steps))
            if words[0] == "seen":
                self.urls += data.splitlines()
            if words[0] == "snapshot":
                copied = {**copied, words[2]: self.state(words[2])}
            steps.append(Step(words, self.state("x.crawl"), self.urls, copied))
        return steps

    @contextlib.contextmanager
    def recorded(self, kind):
        """(folder, Recording, steps)"""
        with power_cuts.private_folder() as folder:
            with power_cuts.recording(folder, kind) as (self.folder, mark):
                steps = self.crawl(mark)
            yield folder, power_cuts.Recording(folder / "log"), steps

    def check(self, cut, steps):
        """Checks what is in self.folder after a cut; True when it is a generation between two
        steps."""
        if cut.mark is None and not (self.folder / "x.crawl").exists():
            return False
        before = int(cut.mark or 0)
        later = steps[before:before + 2] if cut.mark else steps[:1]
        self.assert_whole()
        generation, held = self.state("x.crawl")
        self.assertGreaterEqual(generation, steps[before].states[0] if cut.mark else 1)
        self.assertLessEqual(generation, later[-1].states[0])
        known = [step.states[1] for step in later if step.states[0] == generation]
        if known:
            self.assertIn(held, known)
        for field in CONTENT:
            self.assertIn(held[field], [step.states[1][field] for step in later],
                          (later[-1].words, field))
        for name, state in (steps[before].copied if cut.mark else {}).items():
            self.assert_whole(name)
            self.assertEqual(self.state(name), state)
        self.go_on(steps[before].urls if cut.mark else [], later[-1].urls)
        return not known

    def go_on(self, before, later):
        """The next writer: it knows what was acknowledged, and answers what was cut off too."""
        sample = self.generator.sample(before, min(100, len(before)))
        answer = self.succeed("seen", "x.crawl", "-q", data=b"".join(
            b"%s\n" % url for url in [*sample, b"http://new.test/"]))
        asked = {url: b"duplicate" for url in sample} | {b"http://new.test/": b"unique"}
        unasked = {url for _, url in answer.verdicts if url not in asked}
        self.assertEqual({url: verdict for verdict, url in answer.verdicts if url in asked}, asked)
        self.assertLessEqual(unasked, set(later[len(before):]))
        self.assert_whole()

    def check_cuts(self, cuts, kind, folder, record, steps):
        """[(cut, complaint or None, whether between two steps)]"""
        found, images = [], power_cuts.Images(folder, record)
        for cut in cuts:
            complaint = between = None
            try:
                with power_cuts.mounted(images.make(cut), kind, folder / "cut_mount") as root:
                    self.folder = root
                    between = self.check(cut, steps)
            except (AssertionError, OSError) as error:
                complaint = f"{cut.name}, after step {cut.mark}: {error}"
            found.append((cut, complaint, between))
        return found

    def survive(self, kind, images=IMAGES):
        self.need(kind)
        start = time.monotonic()
        with self.recorded(kind) as (folder, record, steps):
            recorded = time.monotonic() - start
            cuts = record.cuts(self.generator, PER_EPOCH if command.IS_LONG else 1,
                               None if command.IS_LONG else images)
            found = self.check_cuts(cuts, kind, folder, record, steps)
        print(f"seed {command.SEED}, {kind}: {len(found)} images, {record.flushes} flushes, "
              f"{sum(len(record.writes(epoch)) for epoch in range(len(record.epochs)))} writes, "
              f"{len(steps)} verbs, {steps[-1].states[0]} generations; "
              f"{sum(bool(between) for _, _, between in found)} images inside a verb; "
              f"{recorded:.1f} + {time.monotonic() - start - recorded:.1f} s")
        self.assertEqual([complaint for _, complaint, _ in found if complaint], [])
        self.assertGreaterEqual(len(found), images)

    def need(self, kind):
        if reason := power_cuts.missing(kind):
            self.skipTest(f"{kind}: {reason}")

    def test_of_ext4_loses_nothing(self):
        self.survive("ext4")

    def test_of_xfs_loses_nothing(self):
        self.survive("xfs")

    def test_of_btrfs_loses_nothing(self):
        self.survive("btrfs", IMAGES // 3)

    def test_on_a_disk_that_lies_is_noticed(self):
        self.need("ext4")
        with self.recorded("ext4") as (folder, record, steps):
            cuts = record.cuts(self.generator, 1, 12, lies=LIES)
            found = self.check_cuts(cuts, "ext4", folder, record, steps)
        complaints = [complaint for _, complaint, _ in found if complaint]
        print(f"seed {command.SEED}: {len(complaints)} of {len(found)} lies noticed")
        self.assertGreater(len(complaints), len(found) // 4)


if __name__ == "__main__":
    power_cuts.run_tests(power_cuts.missing("ext4"))
