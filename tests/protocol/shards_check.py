#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks at all states of an exchange between shards (spec/shards.md, Steps): small crawls of two
and three shards, in which commits of all of them come in every order, any one is cut short,
messages are kept back, come twice, and in every order, and a shard is brought back once from a copy
of any commit.

Invariants: whenever no shard has more to do and no message is under way, each page that a shard
linked to is known to its owner, and, if no page changed, each shard has what one file has; from
every state that can be reached the end can be; without losses shards are one step apart at most.
Each fault of FAULTS must break one of them."""

import dataclasses
import sys
import unittest
from typing import NamedTuple


class Shard(NamedTuple):
    """The contents of the file of a shard, after a commit."""
    pages: tuple = ()                 # by index
    crawled: frozenset = frozenset()
    has_crawled: bool = False         # in this step: a note of the program
    step: int = 1
    has_ended: bool = False
    ends: tuple = ()
    notes: frozenset = frozenset()    # shards whose outboxes came; itself: sent


class Message(NamedTuple):
    sender: int
    receiver: int
    step: int
    urls: tuple
    was_taken: bool = False


class State(NamedTuple):
    shards: tuple
    messages: frozenset
    copy: tuple = ()        # (shard, its file), to come back to
    losses: int = 0         # times that a shard may still come back
    has_changed: bool = False


@dataclasses.dataclass(frozen=True)
class Crawl:
    """links: of each page, and after the change, if there is one. Page p is of shard owners[p]."""
    owners: tuple
    links: dict
    changed_links: dict = None
    steps: int = 2
    losses: int = 0


FAULTS = {
    "takes messages of a step that has not ended here",
    "begins the next step before its outbox was sent",
    "notes a message before its pages",
    "leaves out stale messages",
    "notes that the outbox was sent before it was",
    "sends pages by the number that there are now",
}


class Checker:
    def __init__(self, crawl, fault=None):
        assert fault is None or fault in FAULTS
        self.crawl, self.fault = crawl, fault
        self.count = max(crawl.owners) + 1

    def is_fault(self, name):
        assert name in FAULTS
        return self.fault == name

    # The actions of a shard, each in one commit.

    def links_of(self, page, state):
        links = self.crawl.changed_links if state.has_changed else self.crawl.links
        return links.get(page, ())

    def crawl_all(self, me, shard, state):
        known = [page for page in shard.pages
                 if self.crawl.owners[page] == me and page not in shard.crawled]
        pages = shard.pages
        for page in known:
            pages += tuple(link for link in self.links_of(page, state) if link not in pages)
        return shard._replace(pages=pages, crawled=shard.crawled | set(known), has_crawled=True)

    def note(self, me, shard, other):
        """With the last outbox the next step begins."""
        shard = shard._replace(notes=shard.notes | {other})
        notes = shard.notes
        if self.is_fault("begins the next step before its outbox was sent"):
            notes |= {me}
        if not shard.has_ended or len(notes) < self.count:
            return shard
        return shard._replace(step=shard.step + 1, has_ended=False, has_crawled=False,
                              notes=frozenset())

    @staticmethod
    def end(shard):
        return shard._replace(has_ended=True, ends=shard.ends + (len(shard.pages),))

    def outbox(self, me, shard, step):
        begin = shard.ends[step - 2] if step > 1 else 0
        end = shard.ends[step - 1]
        if self.is_fault("sends pages by the number that there are now"):
            begin, end = end, len(shard.pages)
        new = shard.pages[begin:end]
        return [Message(me, to, step, tuple(page for page in new if self.crawl.owners[page] == to))
                for to in range(self.count) if to != me]

    def take(self, shard, message, is_cut):
        """None: it is refused. Cut short, some pages are there and no note, or the other way."""
        newest_end = shard.step if shard.has_ended else shard.step - 1
        is_early = message.step > newest_end
        if is_early and not (self.is_fault("takes messages of a step that has not ended here") and
                             message.step == shard.step):
            return None
        is_stale = message.step < shard.step
        if is_stale and self.is_fault("leaves out stale messages"):
            return shard
        new = tuple(url for url in message.urls if url not in shard.pages)
        if is_cut and self.is_fault("notes a message before its pages"):
            return shard if is_stale else self.note(message.receiver, shard, message.sender)
        if is_cut:
            return shard._replace(pages=shard.pages + new[:1])
        shard = shard._replace(pages=shard.pages + new)
        return shard if is_stale else self.note(message.receiver, shard, message.sender)

    # Returns the actions that may come next.

    def moves(self, state):
        for me, shard in enumerate(state.shards):
            yield from self.own_moves(me, shard, state)
        for message in state.messages:
            receiver = state.shards[message.receiver]
            for is_cut in (False, True):
                taken = self.take(receiver, message, is_cut)
                if taken is None:
                    continue
                rest = state.messages - {message}
                is_whole = not is_cut or self.is_fault("notes a message before its pages")
                yield self.with_shard(state, message.receiver, taken)._replace(
                    messages=rest | {message._replace(
                        was_taken=message.was_taken or is_whole)})
        if state.copy and state.losses:
            lost, file = state.copy
            yield self.with_shard(state, lost, file)._replace(
                losses=state.losses - 1, copy=(),
                has_changed=self.crawl.changed_links is not None)

    def own_moves(self, me, shard, state):
        if state.losses and not state.copy:
            yield state._replace(copy=(me, shard))
        if shard.step <= self.crawl.steps and not shard.has_ended:
            if not shard.has_crawled:
                yield self.with_shard(state, me, self.crawl_all(me, shard, state))
            else:
                yield self.with_shard(state, me, self.end(shard))
        is_unsent = shard.has_ended and me not in shard.notes
        if is_unsent:
            messages = state.messages
            for message in self.outbox(me, shard, shard.step):
                if message._replace(was_taken=True) not in messages:
                    messages |= {message}
            noted = self.with_shard(state, me, self.note(me, shard, me))
            if self.is_fault("notes that the outbox was sent before it was"):
                yield noted
            else:
                yield state._replace(messages=messages)
                yield noted._replace(messages=messages)

    @staticmethod
    def with_shard(state, me, shard):
        shards = list(state.shards)
        shards[me] = shard
        return state._replace(shards=tuple(shards))

    # Invariants.

    def is_end(self, state):
        return (all(shard.step > self.crawl.steps for shard in state.shards) and
                all(message.was_taken for message in state.messages))

    def of_one_file(self):
        known, crawled = {0}, set()
        for _ in range(self.crawl.steps):
            new = known - crawled
            crawled |= new
            known |= {link for page in new for link in self.crawl.links.get(page, ())}
        return known, crawled

    def wrong_end(self, state):
        own = [{page for page in shard.pages if self.crawl.owners[page] == me}
               for me, shard in enumerate(state.shards)]
        for shard in state.shards:
            for page in shard.pages:
                if page not in own[self.crawl.owners[page]]:
                    return f"page {page} is not known where it is"
        if not state.has_changed:
            known = set().union(*own)
            crawled = set().union(*(shard.crawled for shard in state.shards))
            if (known, crawled) != self.of_one_file():
                return f"known and crawled are {known, crawled}, of one file {self.of_one_file()}"
        return None

    def run(self):
        """(what is wrong, or None; the number of states)"""
        first = Shard(pages=(0,))
        begin = State(tuple(first for _ in range(self.count)), frozenset(),
                      losses=self.crawl.losses)
        before, waiting, ends = {begin: []}, [begin], []
        while waiting:
            state = waiting.pop()
            steps = [shard.step for shard in state.shards]
            if not self.crawl.losses and max(steps) > min(steps) + 1:
                return f"steps {steps}", len(before)
            if self.is_end(state):
                wrong = self.wrong_end(state)
                if wrong:
                    return wrong, len(before)
                ends.append(state)
            for follows in self.moves(state):
                if follows not in before:
                    before[follows] = []
                    waiting.append(follows)
                before[follows].append(state)
        reaches, waiting = set(ends), ends
        while waiting:
            for state in before[waiting.pop()]:
                if state not in reaches:
                    reaches.add(state)
                    waiting.append(state)
        if len(reaches) < len(before):
            return f"{len(before) - len(reaches)} states without a way to the end", len(before)
        return None, len(before)


# Page 0 is the seed. Links go to and fro, and to one page from two shards.
TWO = Crawl((0, 1, 0, 1, 1), {0: (1, 2), 1: (2, 3), 2: (3, 4), 3: (0,)}, steps=3)
THREE = Crawl((0, 1, 2, 0, 1), {0: (1, 2), 1: (2, 3), 2: (3, 4), 3: (4,)})
LOST = Crawl((0, 1, 0, 1), {0: (1, 2), 1: (2, 3), 2: (3,)}, losses=1)
LOST_AND_CHANGED = dataclasses.replace(LOST, owners=(0, 1, 0, 1, 1),
                                       changed_links={0: (1, 4), 1: (2, 3), 2: (1, 3)})
CRAWLS = {"two": TWO, "three": THREE, "lost": LOST, "lost and changed": LOST_AND_CHANGED}


class Shards(unittest.TestCase):
    def test_have_together_what_one_file_has(self):
        for name, crawl in CRAWLS.items():
            with self.subTest(name):
                wrong, state_count = Checker(crawl).run()
                print(f"{name}: {state_count} states", file=sys.stderr)
                self.assertIsNone(wrong)
                self.assertGreater(state_count, 100)

    def test_would_not_with_a_fault(self):
        for fault in sorted(FAULTS):
            found = {name: Checker(crawl, fault).run()[0] for name, crawl in CRAWLS.items()}
            print(f"{fault}: {found}", file=sys.stderr)
            self.assertTrue(any(found.values()), fault)


if __name__ == "__main__":
    unittest.main()
