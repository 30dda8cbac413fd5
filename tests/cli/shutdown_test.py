# SPDX-License-Identifier: Apache-2.0
"""T8: a file system is shut down under a running verb, as a power cut would do it.

FS_IOC_SHUTDOWN drops all that is not on the disk, and fails each call from then on. The verb is
killed, or has to end by itself. The file system is mounted again; the crawl file is whole, holds
what was acknowledged, and of the verb nothing, all or what a commit of it holds. Repeated, the verb
ends as if nothing had been. Without syncs this test notices that commits are lost.
"""

import collections
import fcntl
import itertools
import json
import os
import random
import signal
import struct
import time

import command
import power_cuts

SHUT_DOWN = 0x8004587D    # FS_IOC_SHUTDOWN
KEEP_NO_LOG = 2           # of it: what the journal has in memory is lost, too
CUTS = 300 if command.IS_LONG else 12
BATCH = 1500
DROP_SYNCS = command.BUILD / "bin/drop_syncs.so"


class Verb:
    """Words and input of a verb; change(model) makes of a model what it shall be afterwards."""

    def __init__(self, words, data=b"", change=lambda model: None):
        self.words, self.data, self.change = words, data, change


NOTHING = Verb(("",))


class Model:
    """The contents of the file: links, what waits and how urgently, URLs in the order of `seen`."""

    def __init__(self):
        self.edges, self.queue, self.seen = set(), {}, []

    def copy(self):
        other = Model()
        other.edges, other.queue, other.seen = set(self.edges), dict(self.queue), list(self.seen)
        return other


class Shutdown(command.CommandTest):
    def setUp(self):
        self.generator = random.Random(command.SEED)
        self.folder = None        # the file system
        self.preload = {}
        self.forget_all()

    def forget_all(self):
        """There is no file, or there shall be none."""
        self.model, self.is_made, self.number, self.generation = Model(), False, 0, 0
        self.seconds, self.codes, self.inside = {}, collections.Counter(), 0

    # Verbs

    def batch(self):
        lines = []
        for number in range(self.number, self.number + BATCH):
            lines += ((b"http://h%d.test/%d" % (number % 7, number), b"http://h%d.test/%d" % (
                self.generator.randrange(7), self.generator.randrange(number + 50)))
                for _ in range(self.generator.randrange(1, 4)))
        return list(dict.fromkeys(lines))

    def import_verb(self):
        lines = self.batch()
        self.number += BATCH
        return Verb(("import", "x.crawl", "--format", "edges", "-", "-q", "--memory", "1MiB"),
                    b"".join(b"%s\t%s\n" % line for line in lines),
                    lambda model: model.edges.update(lines))

    def seen_verb(self):
        first = len(self.model.seen)
        urls = [b"http://s%d.test/%d" % (number % 9, number)
                for number in range(first, first + 900)]
        return Verb(("seen", "x.crawl", "-q", "--ordered", "--flush-every", "150"),
                    b"".join(b"%s\n" % url for url in urls),
                    lambda model: model.seen.extend(urls[len(model.seen) - first:]))

    def queue_verb(self):
        """Pages of host h0, which is not forgotten; no two of one priority."""
        pages = sorted({source for source, _ in self.model.edges
                        if source.startswith(b"http://h0.test/")})
        chosen = self.generator.sample(pages, len(pages) // 2)
        taken = set(self.model.queue.values())
        free = [number for number in range(len(taken) + len(chosen) + 1000) if number not in taken]
        priorities = self.generator.sample(free, len(chosen))
        return Verb(("queue", "x.crawl", "--insert", "-", "-q"),
                    b"".join(b"%d\t%s\n" % pair for pair in zip(priorities, chosen)),
                    lambda model: model.queue.update(zip(chosen, priorities)))

    def next_verb(self):
        count = self.generator.randrange(1, len(self.model.queue) // 3)

        def change(model):
            for url in sorted(model.queue, key=model.queue.get)[-count:]:
                del model.queue[url]
        return Verb(("next", "x.crawl", "-n", count), b"", change)

    def forget_verb(self):
        host = b"http://h%d.test/" % self.generator.randrange(1, 7)

        def change(model):
            model.edges = {edge for edge in model.edges
                           if not edge[0].startswith(host) and not edge[1].startswith(host)}
        return Verb(("forget", "x.crawl", "--prefix", host.decode(), "-q"), b"", change)

    def choose(self):
        if not self.model.edges or self.generator.random() < 0.3:
            return self.import_verb()
        makers = [self.seen_verb, self.seen_verb, self.queue_verb, self.forget_verb]
        if len(self.model.queue) > 5:
            makers += [self.next_verb, self.next_verb]
        plain = [Verb((name, "x.crawl", *more, "-q")) for name, *more in
                 (["rank", "pagerank"], ["merge"], ["compact"])]
        choice = self.generator.randrange(len(makers) + len(plain))
        return plain[choice] if choice < len(plain) else makers[choice - len(plain)]()

    # Cuts

    def run_verb(self, verb):
        """To its end, which acknowledges it."""
        begin = time.monotonic()
        self.succeed(*verb.words, data=verb.data, env=self.preload)
        self.seconds[verb.words[0]] = time.monotonic() - begin
        verb.change(self.model)
        self.is_made = True
        self.check_generation()

    def check_generation(self):
        generation = json.loads(self.succeed("info", "x.crawl", "--json").out)["generation"]
        self.assertGreaterEqual(generation, self.generation)
        self.generation = generation

    def cut(self, verb, around):
        """The file system stops while the verb runs; the URLs that `seen` has answered."""
        source, answers = around / "in", around / "out"
        source.write_bytes(verb.data)
        with open(source, "rb") as given, open(answers, "wb") as out:
            process = self.start(*verb.words, stdin=given, stdout=out, env=self.preload)
            try:
                time.sleep(self.generator.random() * 1.1 * self.seconds.get(verb.words[0], 0.1))
                shut_down(self.folder)
                if self.generator.random() < 0.5:
                    process.kill()
                _, err = process.communicate(timeout=60)
            finally:
                process.kill()
        code = process.returncode
        self.codes[code] += 1
        self.assertIn(code, (0, 3, -signal.SIGKILL), err)
        if code == 0:
            verb.change(self.model)
            self.is_made = True
        return {line.split(b"\t")[1] for line in answers.read_bytes().split(b"\n")[:-1]
                } if verb.words[0] == "seen" else set()

    # The contents of the file.

    def export(self, form):
        answer = self.run_command("export", "x.crawl", "--format", form)
        self.assertIn(answer.code, (0, 1) if form == "queue" else (0,), answer.err)
        lines = answer.out.split(b"\n")
        self.assertEqual(lines.pop(), b"")
        return [tuple(line.split(b"\t")) for line in lines]

    def check(self, verb, answered):
        if not self.is_made and not (self.folder / "x.crawl").exists():
            return
        self.assert_whole()
        self.check_generation()
        after = self.model.copy()
        verb.change(after)
        edges = set(self.export("edges")) if self.generation > 1 else set()
        if edges not in (self.model.edges, after.edges):
            self.assertIn(verb.words[0], ("import", "forget"))
            self.assertEqual(edges, begun(self.model.edges, edges, verb.data)
                             if verb.words[0] == "import" else
                             partly_forgotten(self.model.edges, edges, verb.words[3].encode()))
            self.inside += 1
        queue = {url: int(priority) for priority, url in self.export("queue")
                 } if self.model.queue or after.queue else {}
        self.assertIn(queue, (self.model.queue, after.queue), verb.words)
        self.model.queue = queue  # `next` would take others when it is repeated
        self.check_seen(after.seen, answered)

    def check_seen(self, urls, answered):
        """Those that were answered, and all before them, are known; others may be."""
        if not urls:
            return
        places = {url: place for place, url in enumerate(urls)}
        least = max([len(self.model.seen), *(places[url] + 1 for url in answered)])
        asked = [*self.generator.sample(urls, min(200, len(urls))), *urls[max(least - 1, 0):least],
                 b"http://new.test/"]
        answer = self.succeed("seen", "x.crawl", "--check", "-q",
                              data=b"".join(b"%s\n" % url for url in asked))
        found = {url: verdict for verdict, url in answer.verdicts}  # the last is of this run
        known = [places[url] for url in asked[:-1] if found[url] == b"duplicate"]
        unknown = [places[url] for url in asked[:-1] if found[url] == b"unique"]
        self.assertEqual(len(known) + len(unknown), len(asked) - 1)
        self.assertEqual(found[asked[-1]], b"unique")
        self.assertEqual([place for place in unknown if place < least], [])
        self.assertLess(max(known, default=-1), min(unknown, default=len(urls)))
        self.inside += len(self.model.seen) < least < len(urls)

    # Runs

    def turn(self, image, kind, folder):
        """Some verbs, then one that is cut; what is left is looked at, and used."""
        around = folder.parent
        with power_cuts.mounted(image, kind, folder) as self.folder:
            for _ in range(self.generator.randrange(3)):
                self.run_verb(self.choose())
            verb = self.choose()
            answered = self.cut(verb, around)
        with power_cuts.mounted(image, kind, folder) as self.folder:
            self.check(verb, answered)
            if verb.words[0] != "next" or self.model.queue:
                self.run_verb(verb)
            self.check(NOTHING, set())
            if self.generator.random() < 0.05:
                for path in self.folder.glob("x.crawl*"):
                    path.unlink()
                self.model, self.is_made, self.generation = Model(), False, 0

    def need(self, kind):
        reason = power_cuts.missing(kind, served=False)
        if not reason:
            with power_cuts.private_folder() as folder:
                power_cuts.make_image(folder / "image", kind)
                with power_cuts.mounted(folder / "image", kind, folder / "disk") as root:
                    reason = cannot_shut_down(root)
        if reason:
            print(f"{kind}: no cuts, {reason}")
            self.skipTest(f"{kind}: {reason}")

    def survive(self, kind):
        self.need(kind)
        begin = time.monotonic()
        with power_cuts.private_folder() as folder:
            power_cuts.make_image(folder / "image", kind)
            for number in range(CUTS):
                try:
                    self.turn(folder / "image", kind, folder / "disk")
                except AssertionError as error:
                    self.fail(f"seed {command.SEED}, {kind}, cut {number}: {error}")
        print(f"seed {command.SEED}, {kind}: {CUTS} cuts, {CUTS - self.codes[0]} while a verb ran, "
              f"{self.inside} between two commits of one, exit codes {dict(self.codes)}; "
              f"{time.monotonic() - begin:.1f} s")

    def test_of_ext4_loses_nothing(self):
        self.survive("ext4")

    def test_of_xfs_loses_nothing(self):
        self.survive("xfs")

    def test_of_btrfs_loses_nothing(self):
        self.survive("btrfs")

    def test_without_syncs_is_noticed(self):
        self.need("ext4")
        noticed = 0
        for _ in range(5):
            self.forget_all()
            with power_cuts.private_folder() as folder:
                power_cuts.make_image(folder / "image", "ext4")
                self.preload = {"LD_PRELOAD": str(DROP_SYNCS)}
                try:
                    for _ in range(3):
                        self.turn(folder / "image", "ext4", folder / "disk")
                except AssertionError:
                    noticed += 1
        print(f"seed {command.SEED}: without syncs, {noticed} of 5 times noticed")
        self.assertGreater(noticed, 0)


def begun(edges, found, data):
    """Returns the edges of an import that stopped after the first lines, with `edges`, all of them
    found."""
    lines = [tuple(line.split(b"\t")) for line in data.splitlines()]
    return edges.union(itertools.takewhile(found.__contains__, lines))


def partly_forgotten(edges, found, prefix):
    """Returns the edges that a stopped `forget` leaves of `edges`: all of a page goes in one
    commit."""
    pages = {page for page in itertools.chain(*edges) if page.startswith(prefix)}
    gone = pages.difference(itertools.chain(*found))
    return {edge for edge in edges if gone.isdisjoint(edge)}


def shut_down(folder):
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.ioctl(descriptor, SHUT_DOWN, struct.pack("I", KEEP_NO_LOG))
    finally:
        os.close(descriptor)


def cannot_shut_down(folder):
    """None when it could, and is shut down now."""
    try:
        shut_down(folder)
    except OSError as error:
        return f"the kernel cannot shut it down: {error.strerror}"
    return None


if __name__ == "__main__":
    kinds = [power_cuts.missing(kind, served=False) for kind in power_cuts.MAKE]
    power_cuts.run_tests(kinds[0] if all(kinds) else None)
