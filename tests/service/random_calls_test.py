#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random calls through gRPC, beside a model: random_calls_test.py PROGRAM

A call counts as one; each URL of a stream that puts URLs counts as one, too, as its answer is
compared with the model by itself. URLs that are given out or listed are compared one by one, and
do not count. CRAWLSTORE_TEST_SEED chooses the calls of half of the runs, chance those of the rest.

Now and then the service ends, by SIGTERM or kill -9, while calls are under way, and begins again.
A call without an answer is made again: all that change anything say what is so afterwards, so that
making them twice is no harm. GetURLs is the exception, for which the model has two bounds.
"""

import collections
import contextlib
import os
import random
import sys
import tempfile
import threading
import time
import unittest

import grpc

from frontier_client import FAIL, OK, SKIPPED, info, pb
from frontier_model import CrawlModel, Request, Wrong, expect, seconds
from frontier_world import World

PROGRAM = sys.argv[1]
SEED = int(os.environ.get('CRAWLSTORE_TEST_SEED', '1'))
IS_LONG = os.environ.get('CRAWLSTORE_LONG') == '1'
CALL_COUNT = 1_000_000
RUNS = 4
SECONDS_OF_A_RUN = 2  # without CRAWLSTORE_LONG

QUEUES, URLS = 8, 24
SLACK_MS = 3  # between the clocks of the service and of this program
ALL = 10**6
HOSTILE = ('', '\0', 'a b', '\n\r\t', '\u00fc\u6f22\U0001f980', '"\\\'', '%00', '../..', '\ufeff',
           '-', '<&>;', 'x' * 200, '\u202e')
CRAWLS = '', '', 'second', '\u00fc \u6f22'
PRIORITIES = (('1', 1), ('-2.5', -2.5), ('7', 7), ('7', 7), ('nan', 0), ('1e999', 0), (' 5', 0),
              ('', 0), ('5x', 0))


def now_ms():
    return time.time_ns() // 1_000_000


class Asked:
    """An answer, or the code of an error, and the time of the last attempt and of all."""

    def __init__(self, answer, now, whole, was_repeated):
        self.answer, self.now, self.whole = answer, now, whole
        self.was_repeated = was_repeated


Name = collections.namedtuple('Name', 'url given_key key')


class Caller:
    """Random calls of one client. In `crawl`, if given, it has the queues with `tag` alone."""

    def __init__(self, world, seed, by_priority, crawl=None, tag=''):
        self.random = random.Random(seed)
        self._world = world
        self._by_priority = by_priority
        self._crawl, self._tag = crawl, tag
        self._models = {}
        self._is_active = True
        self._epoch = 0
        self._given = []
        self.calls = 0
        self.counts = collections.Counter()
        self.lines = collections.deque(maxlen=40)
        self._kinds = {self.put: 26, self.put_batches: 5, self.get: 26, self.get_in_part: 1,
                       self.stats: 12, self.status: 12, self.list_queues: 5, self.set_delay: 4,
                       self.block: 3, self.limit: 3, self.delete_queue: 2, self.purge: 1,
                       self.list_urls: 1, self.count_urls: 1, self.refused: 1}
        if crawl is None:
            self._kinds |= {self.set_active: 2, self.delete_crawl: 0.3, self.list_crawls: 2}

    # Names.

    def some_crawl(self):
        return self._crawl or self.random.choice(CRAWLS)

    def model(self, crawl):
        return self._models.setdefault(crawl or 'DEFAULT', CrawlModel(self._by_priority))

    def name(self, queue, url):
        """Some have the key of their host, some another one."""
        text = HOSTILE[(url * 5 + queue) % len(HOSTILE)]
        if queue % 2 == 0:
            key = f'{self._tag}h{queue}.test'
            host = (key, key.upper(), f'{key}:8080', f'u:p@{key}')[url % 4]
            return Name(f'{("http", "https", "ftp")[url % 3]}://{host}/{self._tag}{url}{text}', '',
                        key)
        key = f'{self._tag}{HOSTILE[queue % len(HOSTILE)]}{queue}'
        form = ('http://' + key, 'https://' + key, 'http://same.test', '\u00fc')[url % 4]
        return Name(f'{form}/{self._tag}{url}{text}', key, key)

    def some_name(self):
        return self.name(self.random.randrange(QUEUES), self.random.randrange(URLS))

    def some_key(self):
        return self.some_name().key

    def key_or_all(self):
        """A key, or '' for all queues, unless others have some of them."""
        return self.some_key() if self._crawl or self.random.random() < 0.4 else ''

    def some_metadata(self):
        """Returns arguments of info(), and the values in them that the model knows."""
        metadata = {}
        for _ in range(self.random.choice((0, 0, 1, 3))):
            metadata[f'm{self.random.choice(HOSTILE)}'] = self.random.choice(HOSTILE)
        priority = 0
        if self._by_priority and self.random.random() < 0.8:
            metadata['priority'], priority = self.random.choice(PRIORITIES)
        if self.random.random() < 0.002:
            metadata['big'] = 'x' * self.random.randrange(60_000)
        return metadata, ({name: (value,) for name, value in metadata.items()}, priority)

    # Calls.

    def ask(self, name, on_doubt=None, **fields):
        """Calls until there is an answer. on_doubt(time): an attempt had none."""
        first = now_ms()
        was_repeated = False
        self.lines.append(f'{name} {fields}')
        while True:
            client, epoch = self._world.client()
            begin = now_ms()
            try:
                answer = getattr(client, name)(**fields)
            except (grpc.RpcError, ValueError) as error:
                code = error.code() if isinstance(error, grpc.RpcError) else None
                if code in (grpc.StatusCode.NOT_FOUND, grpc.StatusCode.INVALID_ARGUMENT):
                    answer = code
                else:
                    self._world.outlive(epoch, error)
                    if on_doubt:
                        on_doubt((begin - SLACK_MS, now_ms() + SLACK_MS))
                    was_repeated = True
                    self.counts['repeated'] += 1
                    continue
            self.calls += 1
            end = now_ms() + SLACK_MS
            return Asked(answer, (begin - SLACK_MS, end), (first - SLACK_MS, end), was_repeated)

    def some_item(self):
        """A request, and what it does to the model: a function of the time."""
        metadata, said = self.some_metadata()
        crawl = self.some_crawl()
        name = self.some_name()
        if self._given and self.random.random() < 0.7:
            crawl, name = self._given.pop(self.random.randrange(len(self._given)))
        model = self.model(crawl)
        made = info(name.url, name.given_key, crawl, **metadata)
        kind = self.random.random()
        if kind < 0.04:
            return self.hostile_item(name, crawl), lambda now: (SKIPPED,)
        if kind < 0.5:
            def discover(now):
                return (OK,) if model.discover(name.key, name.url, said, now) else (SKIPPED,)
            return pb.URLItem(discovered=pb.DiscoveredURLItem(info=made)), discover
        date = self.random.choice((0, 0, 0, self.random.randrange(1, 10**9),
                                   now_ms() // 1000 + self.random.randrange(4),
                                   now_ms() // 1000 + self.random.randrange(4),
                                   now_ms() // 1000 + 10**6, 2**48 // 1000))

        def update(now):
            model.update(name.key, name.url, said, date, now)
            return (OK,)
        return pb.URLItem(known=pb.KnownURLItem(info=made, refetchable_from_date=date)), update

    def hostile_item(self, name, crawl):
        """One that is skipped: something of it is too long, or missing."""
        kinds = (
            info('', name.key, crawl), info('://', '', crawl), info(name.url, 'k' * 256, crawl),
            info(name.url, '\u00fc' * 128, crawl), info(name.url, name.key, 'a\nb'),
            info(name.url, name.key, 'c' * 250), info('http://' + 'h' * 256 + '/', '', crawl),
            info('u' * 65_501, name.key, crawl), info('u' * 65_300, name.key, crawl, m='x' * 250))
        made = self.random.choice(kinds)
        choice = self.random.randrange(4)
        if choice == 0:
            return pb.URLItem()
        if choice == 1:
            return pb.URLItem(known=pb.KnownURLItem(
                info=info(name.url, name.key, crawl),
                refetchable_from_date=self.random.choice((2**48 // 1000 + 1, 2**64 - 1))))
        if choice == 2:
            return pb.URLItem(known=pb.KnownURLItem(info=made))
        return pb.URLItem(discovered=pb.DiscoveredURLItem(info=made))

    def some_count(self):
        return self.random.choice((1, 1, 5, 20, 60, 200 if IS_LONG else 100))

    def put(self):
        items = [self.some_item() for _ in range(self.some_count())]
        for i, (item, _) in enumerate(items):
            if self.random.random() < 0.5:
                item.ID = f'{i}{self.random.choice(HOSTILE)}'

        def check(one, ack, now, was_repeated):
            item, apply = one
            of = item.discovered if item.HasField('discovered') else item.known
            expect(ack.ID == (item.ID or of.info.url), 'answers', repr(ack.ID))
            self.check_status(item, apply, ack.status, now, was_repeated)
        self.stream('PutURLs', items, check, lambda ack: ack.status == FAIL)

    def check_status(self, item, apply, status, now, was_repeated):
        """A URL whose attempt had no answer may be there."""
        expected = apply(now)
        if was_repeated and OK in expected:
            expected = OK, SKIPPED
        self.counts[f'status {status}'] += 1
        expect(status in expected, 'status', status, 'not', expected, item)
        self.calls += 1

    def put_batches(self):
        batches = []
        for i in range(self.random.randrange(1, 4)):
            batch, applies = pb.DiscoveredBatch(ID=f'{i}'), []
            for _ in range(self.some_count() - 1):
                item, apply = self.some_item()
                if item.HasField('discovered'):
                    batch.items.append(item.discovered.info)
                    applies.append(apply)
            batches.append((batch, applies))

        def check(one, ack, now, was_repeated):
            batch, applies = one
            expect(ack.ID == batch.ID and len(ack.statuses) == len(applies), 'answers', ack)
            for url, apply, status in zip(batch.items, applies, ack.statuses):
                self.check_status(url, apply, status, now, was_repeated)
        self.stream('PutDiscovered', batches, check, lambda ack: FAIL in ack.statuses)

    def stream(self, name, items, check, has_failed):
        """Those without an answer are sent again, in their order, as are those that failed."""
        begin = now_ms() - SLACK_MS
        was_repeated = False
        self.lines.append(f'{name} {[str(item)[:300] for item, _ in items]}')
        while items:
            client, epoch = self._world.client()
            first = begin if was_repeated else now_ms() - SLACK_MS
            answered, again = 0, []
            error = Wrong('answers are missing')
            try:
                for ack in getattr(client, name)((item for item, _ in items), timeout=60):
                    one = items[answered]
                    answered += 1
                    if has_failed(ack) and self._world.is_ending(epoch):
                        again.append(one)
                        continue
                    check(one, ack, (first, now_ms() + SLACK_MS), was_repeated)
            except (grpc.RpcError, ValueError) as ended:
                error = ended
            items = again + items[answered:]
            if items:
                self._world.outlive(epoch, error)
                was_repeated = True
                self.counts['repeated'] += 1

    def get(self):
        is_any = self._crawl is None and self.random.random() < 0.3
        crawl = self.some_crawl()
        request = Request(self.key_or_all(), self.random.choice((0, 1, 2, 5)),
                          self.random.choice((0, 0, 1, 3)), self.random.choice((0, 1, 1, 2)))
        fields = {'key': request.key, 'max_urls_per_queue': request.per_queue % 2**32,
                  'max_queues': request.queues_max % 2**32,
                  'delay_requestable': request.lease_ms // 1000}
        if is_any:
            models = dict(self._models)
        else:
            models = {crawl or 'DEFAULT': self.model(crawl)}
            fields['crawlID'] = crawl

        def doubt(now):
            for model in models.values():
                model.take_perhaps(request, now)
        asked = self.ask('GetURLs', doubt, **fields)
        self.take(models, request, asked)

    def take(self, models, request, asked):
        if not self._is_active:
            expect(not asked.answer, 'gives out URLs while it is not active')
            return
        by_crawl = {}
        for url in asked.answer:
            expect(url.crawlID in models, 'gives out a URL of the crawl', url.crawlID)
            by_crawl.setdefault(url.crawlID, []).append(url)
            self._given.append((url.crawlID, Name(url.url, url.key, url.key)))
        self.counts['given'] += len(asked.answer)
        if not self.random.randrange(10):
            del self._given[:-50]
        left = request.queues_max - len({(url.crawlID, url.key) for url in asked.answer})
        expect(left >= 0, 'gives out URLs of too many queues', asked.answer)
        one = request.queues_max
        for place, crawl in enumerate([*by_crawl, *sorted(set(models) - set(by_crawl))]):
            # With several crawls, the last one that gives URLs may be cut short, or all after it.
            is_cut = len(models) > 1 and left == 0 and place >= len(by_crawl) - 1
            request.queues_max = None if is_cut else one if len(models) == 1 else ALL
            if is_cut and crawl not in by_crawl:
                continue
            models[crawl].take(request, by_crawl.get(crawl, []), asked.now)

    def get_in_part(self):
        """The call is cancelled when some URLs have come."""
        crawl = self.some_crawl()
        request = Request(self.key_or_all(), lease_s=1)
        client, epoch = self._world.client()
        self.lines.append(f'GetURLs in part {request.key!r} {crawl!r}')
        begin = now_ms() - SLACK_MS
        try:
            stream = client._calls['GetURLs'](pb.GetParams(  # pylint: disable=protected-access
                key=request.key, delay_requestable=1, crawlID=crawl), timeout=60)
            for _ in zip(range(self.random.randrange(3)), stream):
                pass
            stream.cancel()
        except (grpc.RpcError, ValueError) as error:
            self._world.outlive(epoch, error)
        # Ended when the calls are answered that come after it.
        self.ask('GetStats', crawlID=crawl)
        if self._is_active:
            self.model(crawl).take_perhaps(request, (begin, now_ms() + 50))

    def stats(self):
        crawl, key = self.some_crawl(), self.key_or_all()
        asked = self.ask('GetStats', crawlID=crawl, key=key)
        expect(asked.answer.crawlID == (crawl or 'DEFAULT'), 'stats of', asked.answer.crawlID)
        self.model(crawl).expect_stats(key, asked.answer, asked.now)

    def status(self):
        crawl, name = self.some_crawl(), self.some_name()
        self.expect_status(crawl, name, self.model(crawl).find(name.key, name.url))

    def expect_status(self, crawl, name, url):
        answer = self.ask('GetURLStatus', url=name.url, key=name.given_key, crawlID=crawl).answer
        if url is None:
            expect(answer == grpc.StatusCode.NOT_FOUND, name, 'is known', answer)
            return
        expect(isinstance(answer, pb.URLItem), name, 'is not known', answer)
        made = answer.known.info
        expect((made.url, made.key, made.crawlID) == (name.url, name.key, crawl or 'DEFAULT'),
               name, 'is', made)
        url.see(name, answer)

    def list_queues(self):
        crawl, with_inactive = self.some_crawl(), self.random.random() < 0.5
        start, size = ((0, ALL) if self._crawl else
                       self.random.choice(((0, ALL), (0, 0), (0, 3), (2, 3), (5, 100))))
        asked = self.ask('ListQueues', crawlID=crawl, start=start, size=size,
                         include_inactive=with_inactive)
        listed = [key for key in asked.answer.values if key.startswith(self._tag)]
        surely, perhaps = self.model(crawl).keys(with_inactive, asked.now)
        if size != ALL:
            if surely == perhaps:
                perhaps = surely = perhaps[start:start + (size or 100)]
            else:
                surely = []
        expect(set(surely) <= set(listed), 'does not list', set(surely) - set(listed))
        expect([key for key in perhaps if key in listed] == listed, listed, 'not', perhaps)

    def list_crawls(self):
        listed = list(self.ask('ListCrawls').answer.values)
        there = {crawl for crawl, model in self._models.items() if model.urls()}
        expect(len(listed) == len(there) and set(listed) == there, 'crawls', listed, there)

    def set_delay(self):
        self.set_delay_to(self.some_crawl(), self.key_or_all(),
                          self.random.choice((0, 0, 0, 0, 0, 1, 2)))

    def set_delay_to(self, crawl, key, delay):
        self.ask('SetDelay', key=key, delay_requestable=delay, crawlID=crawl)
        self.model(crawl).set_delay(key, delay)

    def block(self):
        crawl, key = self.some_crawl(), self.some_key()
        end = self.random.choice((0, 0, 1, now_ms() // 1000 + self.random.randrange(3), 2**64 - 1))
        self.ask('BlockQueueUntil', key=key, time=end, crawlID=crawl)
        self.model(crawl).block_until(key, end)

    def limit(self):
        crawl, key = self.some_crawl(), self.some_key()
        limit = self.random.choice((0, 0, 1, self.random.randrange(URLS)))
        answer = self.ask('SetCrawlLimit', key=key, limit=limit, crawlID=crawl).answer
        is_there = self.model(crawl).set_limit(key, limit)
        expect((answer != grpc.StatusCode.NOT_FOUND) == is_there, key, 'gets a limit', answer)

    def set_active(self):
        self._is_active = not self._is_active or self.random.random() < 0.5
        self.ask('SetActive', state=self._is_active)
        expect(self.ask('GetActive').answer.state == self._is_active, 'active', self._is_active)

    def expect_count(self, asked, count):
        """An attempt without an answer may have had the URLs."""
        found = asked.answer.value
        expect(found == count or asked.was_repeated and found < count, 'forgets', found, count)

    def delete_queue(self):
        crawl, key = self.some_crawl(), self.some_key()
        asked = self.ask('DeleteQueue', key=key, crawlID=crawl)
        self.expect_count(asked, self.model(crawl).forget_queue(key))

    def delete_crawl(self):
        crawl = self.some_crawl()
        asked = self.ask('DeleteCrawl', value=crawl)
        self.expect_count(asked, len(self._models.pop(crawl or 'DEFAULT', CrawlModel(0)).urls()))

    def purge(self):
        """By days, of which none has passed yet but the first, or all from this second on."""
        crawl, key = self.some_crawl(), self.key_or_all()
        days = self.random.choice((0, 1, 2**32 - 1))
        model = self.model(crawl)
        asked = self.ask('PurgeURLs', key=key, days=days, crawlID=crawl)
        if days != 0:
            # With as many days as there are seconds, before 1970.
            expect(asked.answer.value == 0, 'purges', asked.answer)
            return
        surely, perhaps = model.forget_before(key, seconds(asked.now))
        for own, text in perhaps:
            item = self.ask('GetURLStatus', url=text, key=own, crawlID=crawl).answer
            if item == grpc.StatusCode.NOT_FOUND:
                del model.queues[own].urls[text]
                surely += 1
            else:
                model.find(own, text).see(text, item)
        self.expect_count(asked, surely)

    def list_urls(self):
        self.list_urls_of(self.some_crawl(), self.key_or_all())
        crawl, key = self.some_crawl(), self.some_key()
        start, size = self.random.choice(((0, 0), (3, 4), (URLS - 5, 2)))
        items = self.ask('ListURLs', crawlID=crawl, key=key, start=start, size=size).answer
        model = self.model(crawl)
        count = len(model.urls(key))
        expect(len(items) == max(0, min(count - start, size or 100)), 'a part has', len(items))
        expect(len({item.known.info.url for item in items}) == len(items), 'lists a URL twice')
        for item in items:
            url = model.find(key, item.known.info.url)
            expect(url is not None, 'lists', item)
            url.see(key, item)

    def list_urls_of(self, crawl, key):
        fields = {'filter': self._tag} if self._tag else {}
        items = self.ask('ListURLs', crawlID=crawl, key=key, size=ALL, **fields).answer
        self.model(crawl).expect_urls(key, items)

    def count_urls(self):
        crawl, key = self.some_crawl(), self.key_or_all()
        text = self.random.choice((self._tag, *HOSTILE, 'H2.tEsT'))
        if self._crawl and not key and not text.startswith(self._tag):
            text = self._tag
        ignores, lower = self.random.random() < 0.5, str.maketrans(
            'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')
        counted = self.ask('CountURLs', crawlID=crawl, key=key, filter=text, ignoreCase=ignores)

        def has(url):
            return text.translate(lower) in url.translate(lower) if ignores else text in url
        count = sum(has(url) for _, url in self.model(crawl).urls(key))
        expect(counted.answer.value == count, 'counts', counted.answer, 'not', count, repr(text))

    def refused(self):
        key, crawl = self.random.choice(('', 'k' * 256)), self.some_crawl()
        call = self.random.choice(('BlockQueueUntil', 'DeleteQueue'))
        answer = self.ask(call, key=key, crawlID=crawl).answer
        expect(answer == grpc.StatusCode.INVALID_ARGUMENT, call, 'answers', answer)
        hostile = self.random.choice(('a\nb', 'c' * 250, 'nobody'))
        expect(self.ask('GetStats', crawlID=hostile).answer.size == 0, 'there is', hostile)
        expect(self.ask('GetURLs', crawlID=hostile).answer == [], 'gives out', hostile)

    # A run.

    def compare_all(self):
        for crawl in list(self._models):
            self.list_urls_of(crawl, '')
            for key in [self.name(queue, 0).key for queue in range(QUEUES)] + (
                    [] if self._crawl else ['']):
                asked = self.ask('GetStats', crawlID=crawl, key=key)
                self.model(crawl).expect_stats(key, asked.answer, asked.now)

    def run(self, is_enough):
        kinds, weights = list(self._kinds), list(self._kinds.values())
        compared = 0
        if self._crawl is None:
            for crawl in CRAWLS:
                self.set_delay_to(crawl, '', 0)
        for queue in range(QUEUES):
            self.set_delay_to(self.some_crawl(), self.name(queue, 0).key, 0)
        while not is_enough(self):
            kind, = self.random.choices(kinds, weights)
            self.counts[kind.__name__] += 1
            kind()
            epoch = self._world.epoch
            if epoch != self._epoch or self.calls > compared + 20_000:
                self._epoch, compared = epoch, self.calls
                self.compare_all()
        self.compare_all()


class RandomCalls(unittest.TestCase):
    def run_callers(self, seed, options, make_callers, calls):
        with tempfile.TemporaryDirectory(prefix='crawlstored-') as folder, \
                contextlib.closing(World(PROGRAM, folder, *options)) as world:
            callers = make_callers(world)
            wrong = []
            end = time.monotonic() + SECONDS_OF_A_RUN

            def is_enough(caller):
                if wrong or caller.calls >= calls / len(callers):
                    return True
                late = 0 if IS_LONG else time.monotonic() - end
                has_given = caller.counts['given'] > 60 / len(callers)
                has_all = has_given and sum(world.ends.values()) > 0
                return late > 60 or late > 0 and has_all

            def run(caller):
                try:
                    caller.run(is_enough)
                except Exception as error:  # pylint: disable=broad-except
                    wrong.append((error, list(caller.lines)))
            threads = [threading.Thread(target=run, args=(caller,)) for caller in callers]
            for thread in threads:
                thread.start()
            chance = random.Random(seed)
            while any(thread.is_alive() for thread in threads):
                due = time.monotonic() + chance.random() * (10 if IS_LONG else 1.5)
                for thread in threads:
                    thread.join(max(0, due - time.monotonic()))
                if not wrong and any(thread.is_alive() for thread in threads):
                    world.end_soon(chance.random() < 0.7, chance.random() / 20)
            for error, lines in wrong[:1]:
                raise AssertionError('\n'.join(lines) + f'\nCRAWLSTORE_TEST_SEED={seed}') from error
            total = sum((caller.counts for caller in callers), collections.Counter())
            print(f'seed {seed}: {sum(caller.calls for caller in callers)} calls,', dict(total),
                  dict(world.ends), flush=True)
            self.assertGreater(total['given'], 50)
            self.assertGreater(sum(world.ends.values()), 0)

    def run_seeds(self, options, make_callers):
        for seed in (SEED, random.SystemRandom().randrange(10**9)):
            self.run_callers(seed, options, lambda world, seed=seed: make_callers(world, seed),
                             CALL_COUNT // RUNS)

    def test_of_one_client(self):
        self.run_seeds((), lambda world, seed: [Caller(world, seed, by_priority=False)])

    def test_of_four_clients_by_priority(self):
        self.run_seeds(('--order', 'priority'), lambda world, seed: [
            Caller(world, f'{seed} {i}', True, 'shared', f't{i}-') for i in range(4)])


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
