# SPDX-License-Identifier: Apache-2.0
"""A crawl as spec/service.md describes it: a dict that is looked through at each call.

The service does a call at a time between two readings of the clock, so all that depends on the
time has two bounds: a pair, the earliest and the latest. Facts that no answer tells, as when a call
had none, widen these. Times of leases and visits are in milliseconds, dates in seconds.
"""

DONE = (0, 0)
NO_LIMIT = 2**32
SAYS_NOTHING = ({}, 0)
TIME_MAX_S = (2**48 - 1) // 1000


class Wrong(AssertionError):
    """The service does what the model does not."""


def expect(is_so, *words):
    if not is_so:
        raise Wrong(' '.join(str(word) for word in words))


def seconds(span):
    return span[0] // 1000, span[1] // 1000


def after(span, ms):
    return span[0] + ms, span[1] + ms


class Url:
    __slots__ = 'created', 'date', 'metadata', 'priority', 'lease_end', 'was_taken'

    def __init__(self, created, date, metadata, priority):
        self.created, self.date = created, date
        self.metadata, self.priority = metadata, priority
        self.lease_end = (0, 0)
        self.was_taken = (False, False)  # surely, perhaps

    def is_leased(self, now):
        """Surely, perhaps."""
        return self.lease_end[0] > now[1], self.lease_end[1] > now[0]

    def waits(self, now):
        """Whether it may be given out: surely, perhaps."""
        if self.date == DONE:
            return False, False
        surely, perhaps = self.is_leased(now)
        due = self.date[0] * 1000
        return not perhaps and due <= now[0], not surely and due <= now[1]

    def place(self, by_priority):
        """The earliest and the latest place in its queue. URLs that were given out go first."""
        dates = (-self.priority,) * 2 if by_priority else self.date
        return (not self.was_taken[1], dates[0]), (not self.was_taken[0], dates[1])

    def see(self, name, item):
        """An answer tells of it: what had two bounds has one."""
        date, created = item.known.refetchable_from_date, item.creation_date
        expect(self.date[0] <= date <= self.date[1], name, 'has the date', date, self.date)
        expect(self.created[0] <= created <= self.created[1], name, 'is of', created, self.created)
        metadata = metadata_of(item.known.info)
        expect(metadata == self.metadata, name, 'has', metadata, 'not', self.metadata)
        self.date, self.created = (date,) * 2, (created,) * 2


class Queue:
    def __init__(self, number, delay):
        self.number = number  # in the order in which they came
        self.next_visit = (0, 0)
        self.urls = {}
        self.reset(delay)

    def reset(self, delay):
        self.delay, self.blocked, self.limit = delay, 0, 0

    def visit(self):
        return tuple(max(time, self.blocked * 1000) for time in self.next_visit)

    def completed(self):
        return sum(url.date == DONE for url in self.urls.values())

    def room(self, per_queue, now):
        """URLs that a request gets of it: surely, at most."""
        visit = self.visit()
        if visit[0] > now[1] or (self.limit and self.completed() >= self.limit):
            return 0, 0
        leased = [url.is_leased(now) for url in self.urls.values() if url.date != DONE]
        waits = [url.waits(now) for url in self.urls.values()]
        surely, perhaps = (max(0, per_queue - sum(one[bound] for one in leased))
                           for bound in (1, 0))
        surely = min(surely, sum(one[0] for one in waits)) if visit[1] <= now[0] else 0
        return surely, min(perhaps, sum(one[1] for one in waits))


class Request:
    """The request of a call; key '': of any queue."""

    def __init__(self, key='', per_queue=0, queues_max=0, lease_s=0):
        self.key = key
        self.per_queue, self.queues_max = per_queue or NO_LIMIT, queues_max or NO_LIMIT
        self.lease_ms = (lease_s or 30) * 1000


class CrawlModel:
    def __init__(self, by_priority):
        self.by_priority = by_priority
        self.queues = {}
        self.default_delay = 1

    def queue(self, key):
        if key not in self.queues:
            self.queues[key] = Queue(len(self.queues), self.default_delay)
        return self.queues[key]

    def chosen(self, key):
        """One queue, or with '' all."""
        if key:
            return {key: self.queues[key]} if key in self.queues else {}
        return self.queues

    def urls(self, key=''):
        return {(own, text): url for own, queue in self.chosen(key).items()
                for text, url in queue.urls.items()}

    def find(self, key, text):
        queue = self.queues.get(key)
        return queue.urls.get(text) if queue else None

    # Changes.

    def discover(self, key, text, said, now):
        """Whether it is new. said: metadata and priority."""
        urls = self.queue(key).urls
        is_new = text not in urls
        if is_new:
            urls[text] = Url(seconds(now), seconds(now), *said)
        return is_new

    def update(self, key, text, said, date, now):
        urls = self.queue(key).urls
        created = urls[text].created if text in urls else seconds(now)
        metadata, priority = said if date else SAYS_NOTHING
        urls[text] = Url(created, (date, date), metadata, priority)

    def set_delay(self, key, delay):
        if key:
            if (self.queues[key].delay if key in self.queues else self.default_delay) != delay:
                self.queue(key).delay = delay
            return
        for queue in self.queues.values():
            if queue.delay == self.default_delay:
                queue.delay = delay
        self.default_delay = delay

    def block_until(self, key, time_s):
        time_s = min(time_s, TIME_MAX_S)
        if (self.queues[key].blocked if key in self.queues else 0) != time_s:
            self.queue(key).blocked = time_s

    def set_limit(self, key, limit):
        queue = self.queues.get(key)
        if queue is None or not queue.urls:
            return False
        queue.limit = limit
        return True

    def forget_queue(self, key):
        queue = self.queues.get(key)
        if queue is None:
            return 0
        count = len(queue.urls)
        queue.urls = {}
        queue.reset(self.default_delay)
        return count

    def forget_before(self, key, time_s):
        """Those that surely, and those that perhaps, were added before a time with two bounds."""
        surely, perhaps = 0, []
        for (own, text), url in self.urls(key).items():
            if url.created[1] < time_s[0]:
                del self.queues[own].urls[text]
                surely += 1
            elif url.created[0] < time_s[1]:
                perhaps.append((own, text))
        return surely, perhaps

    # URLs that are given out.

    def take_perhaps(self, request, now):
        """A call had no answer."""
        for queue in self.chosen(request.key).values():
            if not queue.room(request.per_queue, now)[1]:
                continue
            visit = after(now, queue.delay * 1000)[1]
            queue.next_visit = queue.next_visit[0], max(queue.next_visit[1], visit)
            for url in queue.urls.values():
                if url.waits(now)[1]:
                    end = now[1] + request.lease_ms
                    url.lease_end = url.lease_end[0], max(url.lease_end[1], end)
                    url.was_taken = url.was_taken[0], True

    def take(self, request, given, now):
        """given: URLInfo. request.queues_max is None if more queues may have gone without."""
        by_queue = {}
        for info in given:
            by_queue.setdefault(info.key, []).append(info)
        rooms = {key: queue.room(request.per_queue, now)
                 for key, queue in self.chosen(request.key).items()}
        for key, infos in by_queue.items():
            texts = [info.url for info in infos]
            expect(len(set(texts)) == len(texts), key, 'gives a URL twice', texts)
            for info in infos:
                self._expect_may_leave(info, now)
            expect(len(texts) <= rooms[key][1], key, 'has room for', rooms[key], 'gives', texts)
            expect(len(texts) >= rooms[key][0], key, 'should give', rooms[key], 'gives', texts)
            self._expect_order(self.queues[key], texts, now)
        self._expect_queues(request, set(by_queue), rooms)
        for key, infos in by_queue.items():
            queue = self.queues[key]
            queue.next_visit = after(now, queue.delay * 1000)
            for info in infos:
                url = queue.urls[info.url]
                url.lease_end, url.was_taken = after(now, request.lease_ms), (True, True)

    def _expect_may_leave(self, info, now):
        name = info.key, info.url
        url = self.find(*name)
        expect(url is not None, name, 'is given out, and not known')
        expect(url.date != DONE, name, 'is given out, and completed')
        expect(not url.is_leased(now)[0], name, 'is given out, and leased')
        expect(url.waits(now)[1], name, 'is given out, and not due', url.date)
        expect(metadata_of(info) == url.metadata, name, 'has', metadata_of(info), url.metadata)

    def _expect_order(self, queue, texts, now):
        places = [queue.urls[text].place(self.by_priority) for text in texts]
        for i, place in enumerate(places[1:]):
            expect(places[i][0] <= place[1], texts[i + 1], 'is given out after', texts[i])
        last = max(place[0] for place in places)
        for text, url in queue.urls.items():
            if text not in texts and url.waits(now)[0]:
                expect(url.place(self.by_priority)[1] >= last, text, 'should have come first')

    def _expect_queues(self, request, given, rooms):
        missing = [self.queues[key] for key, room in rooms.items() if room[0] and key not in given]
        if request.queues_max is not None and len(given) < request.queues_max:
            expect(not missing, 'queues are missing', [queue.number for queue in missing])
        longest = min((queue.visit()[1] for queue in missing), default=None)
        for key in given:
            expect(longest is None or self.queues[key].visit()[0] <= longest,
                   'another queue waits longer than', key)

    # The answers.

    def leased(self, key, now):
        """How many are: surely, at most."""
        leased = [url.is_leased(now) for url in self.urls(key).values() if url.date != DONE]
        return tuple(sum(one[bound] for one in leased) for bound in (0, 1))

    def expect_stats(self, key, stats, now):
        queues = [queue for queue in self.chosen(key).values() if queue.urls]
        urls = self.urls(key)
        completed = sum(queue.completed() for queue in queues)
        active = sum(queue.completed() < len(queue.urls) for queue in queues)
        found = stats.size, stats.numberOfQueues, dict(stats.counts)
        expect(found == (len(urls) - completed, len(queues),
                         {'completed': completed, 'active_queues': active}),
               'stats of', key, found, 'of', len(urls), 'URLs', completed, active)
        least, most = self.leased(key, now)
        expect(least <= stats.inProcess <= most, key, stats.inProcess, 'leased', least, most)

    def keys(self, with_inactive, now):
        """The keys that are surely listed, and perhaps, in the order in which queues came."""
        surely, perhaps = [], []
        for key, queue in sorted(self.queues.items(), key=lambda one: one[1].number):
            is_active = queue.completed() < len(queue.urls)
            if with_inactive:
                bounds = (bool(queue.urls),) * 2
            else:
                bounds = tuple(is_active and queue.blocked * 1000 <= time for time in now)
            for to, is_one in zip((surely, perhaps), bounds):
                if is_one:
                    to.append(key)
        return surely, perhaps

    def expect_urls(self, key, items):
        """items: all that there are."""
        urls = self.urls(key)
        names = [(item.known.info.key, item.known.info.url) for item in items]
        expect(len(set(names)) == len(names), 'URLs are listed twice', names)
        expect(set(names) == set(urls), 'lists', set(names) ^ set(urls), 'too much or too little')
        for name, item in zip(names, items):
            urls[name].see(name, item)


def metadata_of(info):
    return {name: tuple(values.values) for name, values in info.metadata.items()}
