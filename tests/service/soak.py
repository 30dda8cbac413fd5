#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""crawlstored for minutes, under clients of all sorts: soak.py PROGRAM MINUTES

2,000 queues have 200,000 URLs, which go round: two fast clients get them, complete them or put them
back with near dates, and put completed ones again. Beside these clients come and go that are slow,
die in the middle of a stream, read nothing, are stopped with their connection open, wait for less
than a commit takes, or have a thousand streams. Every ten seconds there is a line of what the
service needs. After two minutes, and at the end, all but the fast ones are gone for a while: it
must need then what it needed before. Then it stops, its file is verified, and what was
acknowledged is looked for in it by a new one. `crawlstore` is where PROGRAM is.
"""

import json
import multiprocessing
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).parent
os.environ.setdefault('CRAWLSTORE_SOURCE_DIR', str(HERE.parents[1]))
os.environ['PYTHONPATH'] = str(HERE)  # of the process that clients are forked from

import grpc  # noqa: E402  pylint: disable=wrong-import-position
from frontier_client import (  # noqa: E402  pylint: disable=wrong-import-position
    CALLS, OK, Client, Service, discover, known, pb)

QUEUES, URLS = 2_000, 200_000
FAST_COUNT = 2
OTHER_CRAWL, OTHER_URLS = 'other', 20_000
LEASE_S = 600  # above any minute that a fast client may need
ALL = 10**7
WARM_S, QUIET_S, LINE_S = 110, 15, 10

# The growth that is allowed at the end. The commit loop, one thread a core and those that gRPC
# keeps for a minute or so are threads, and grow with the load of the moment; sockets of killed
# clients may last for some seconds. 32 MiB of the memory are a DRUM's, which fills and is merged,
# of each of two crawls. The allocator keeps what a thousand streams had, in an arena for each
# thread.
THREADS_MORE, FDS_MORE = 8, 4
RSS_MORE, RSS_FACTOR = 64 << 20, 1.15


def url_of(number):
    return f'http://h{number % QUEUES}.test/{number}'


def forever(address, call):
    """Calls call(client, random) until the process is killed; clients of errors go on."""
    client, chance = Client(address), random.Random(os.getpid())
    while True:
        try:
            call(client, chance)
        except grpc.RpcError:
            time.sleep(0.01)


def fast(address, stop, report):
    """Each URL that it puts back has a version, one more than it had."""
    client, chance = Client(address), random.Random(os.getpid())
    versions, completed, counts = {}, [], {'given': 0, 'completed': 0}

    def put_all(dates):
        """Puts URLs of versions, with dates."""
        urls = list(dates)
        items = [known(url, dates[url], n=str(versions[url])) for url in urls]
        statuses = client.put(*items)
        if len(statuses) != len(items) or set(statuses) - {OK}:
            raise AssertionError(f'{len(items)} URLs have {len(statuses)} answers {set(statuses)}')
    while not stop.is_set():
        now = int(time.time())
        given = client.GetURLs(max_urls_per_queue=5, max_queues=200, delay_requestable=LEASE_S,
                               crawlID='', timeout=120)
        counts['given'] += len(given)
        dates = {url: now + chance.randrange(3) for url in completed}
        completed = []
        for url in given:
            if url.url in versions and versions[url.url] > int(url.metadata['n'].values[0]):
                raise AssertionError(f'{url} was {versions[url.url]}')
            versions[url.url] = int(url.metadata['n'].values[0]) + 1
            dates[url.url] = now + chance.randrange(1, 6)
            if chance.random() < 0.2:
                dates[url.url] = 0
                completed.append(url.url)
        for url in completed:
            counts['completed'] += 1
        put_all(dates)
        for url in completed:
            versions[url] += 1
    put_all({url: int(time.time()) for url in completed})
    pathlib.Path(report).write_text(json.dumps([versions, counts]))


def slow(address, _):
    """Reads an answer a second."""
    def call(client, chance):
        for _ in client.PutURLs(discover(url_of(chance.randrange(URLS))) for _ in range(100_000)):
            time.sleep(1)
    forever(address, call)


def dying(address, report):
    """Writes down what was acknowledged, until it dies."""
    with open(report, 'a', buffering=1, encoding='utf-8') as file:
        def call(client, chance):
            def urls():
                while True:
                    number = chance.randrange(OTHER_URLS)
                    yield known(f'http://o{number % 100}.test/{number}', chance.randrange(2),
                                crawl=OTHER_CRAWL)
            client.GetURLs(max_urls_per_queue=2, max_queues=20, delay_requestable=1,
                           crawlID=OTHER_CRAWL)
            for ack in client.PutURLs(urls()):
                if ack.status == OK:
                    file.write(ack.ID + '\n')
        forever(address, call)


def silent(address, _):
    """Sends what it may, and reads nothing."""
    client = Client(address)
    streams = [client.PutURLs(discover(url_of(i % URLS)) for i in range(10**9))]
    for name, fields in (('ListURLs', {'size': ALL}),
                         ('GetURLs', {'delay_requestable': 1, 'crawlID': OTHER_CRAWL})):
        thread = threading.Thread(target=_read_one, args=(client, name, fields, streams))
        thread.start()
    time.sleep(3600)


def _read_one(client, name, fields, streams):
    call = client._calls[name](getattr(pb, CALLS[name][0])(**fields))  # pylint: disable=W0212
    streams.append(call)
    next(call, None)


def stopped(address, _):
    """Is stopped from outside, in the middle of streams."""
    def call(client, chance):
        client.GetURLs(max_queues=100, delay_requestable=1, crawlID=OTHER_CRAWL)
        client.ListURLs(size=20_000)
        client.put(*[discover(url_of(chance.randrange(URLS))) for _ in range(5000)])
    forever(address, call)


def impatient(address, _):
    """Deadlines are shorter than a commit takes."""
    def call(client, chance):
        timeout = chance.choice((0.001, 0.01, 0.05, 0.09))
        kind = chance.randrange(4)
        if kind == 0:
            client.GetURLs(delay_requestable=1, crawlID=OTHER_CRAWL, timeout=timeout)
        elif kind == 1:
            client.CountURLs(crawlID=OTHER_CRAWL, timeout=timeout)
        elif kind == 2:
            client.GetStats(key=f'h{chance.randrange(QUEUES)}.test', timeout=timeout)
        else:
            list(client.PutURLs(iter([discover(url_of(chance.randrange(URLS)))] * 50),
                                timeout=timeout))
    forever(address, call)


def thousand(address, _):
    """A thousand streams at once, over ten connections."""
    clients = [Client(address, options=(('grpc.use_local_subchannel_pool', 1),))
               for _ in range(10)]

    def items(place):
        for i in range(3600):
            yield discover(url_of((place * 7919 + i) % URLS))
            time.sleep(2)
    streams = [clients[i % 10].PutURLs(items(i)) for i in range(1000)]
    while True:
        for stream in streams:
            next(stream)


# Clients of a kind at a time, the seconds for which they live, and those before the next comes.
OTHERS = {slow: (2, 45, 1), dying: (3, 4, 0), silent: (2, 30, 5), stopped: (1, 30, 0),
          impatient: (1, 30, 0), thousand: (1, 25, 45)}


class Others(threading.Thread):
    """Clients that come and go, of a kind."""

    def __init__(self, context, kind, address, report):
        super().__init__()
        self._context, self._kind = context, kind
        self._arguments = address, report
        self._stop_event = threading.Event()
        _, self._life_s, self._pause_s = OTHERS[kind]
        self.count = 0

    def run(self):
        while not self._stop_event.is_set():
            process = self._context.Process(target=self._kind, args=self._arguments, daemon=True)
            process.start()
            self.count += 1
            life = self._life_s * (0.25 + random.random())
            if self._kind is stopped:
                self._stop_event.wait(life / 4)
                os.kill(process.pid, signal.SIGSTOP)
            self._stop_event.wait(life)
            process.kill()
            process.join()
            self._stop_event.wait(self._pause_s)

    def stop(self):
        self._stop_event.set()
        self.join()


class Soak:
    def __init__(self, program, folder):
        self._program, self._folder = program, pathlib.Path(folder)
        self._file = self._folder / 'a.crawl'
        self._context = multiprocessing.get_context('forkserver')
        self._context.set_forkserver_preload(['frontier_client'])
        self._service = Service(program, self._file)
        self._begin = time.monotonic()
        self._latencies = []
        self._died = self._folder / 'died'
        self._died.touch()
        self.counts = {}

    def load(self):
        client = self._service.client
        client.SetDelay(delay_requestable=0)
        client.SetDelay(delay_requestable=0, crawlID=OTHER_CRAWL)
        for first in range(0, URLS, 20_000):
            statuses = client.put(*[discover(url_of(i), n='0')
                                    for i in range(first, first + 20_000)])
            assert set(statuses) == {OK}, 'a URL is not new'

    def needs(self):
        """Returns what the service needs now."""
        process = pathlib.Path(f'/proc/{self._service.pid}')
        status = dict(line.split(':', 1) for line in
                      (process / 'status').read_text().splitlines())
        begin = time.monotonic()
        stats = self._service.client.GetStats(timeout=60)
        latency = time.monotonic() - begin
        self._latencies.append(latency)
        return {'s': round(time.monotonic() - self._begin),
                'rss_bytes': int(status['VmRSS'].split()[0]) * 1024,
                'file_bytes': self._file.stat().st_size, 'threads': int(status['Threads']),
                'fds': len(list((process / 'fd').iterdir())),
                'latency_ms': round(latency * 1000, 1), 'leased': stats.inProcess}

    def watch(self, seconds):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(LINE_S, left))
            print(self.needs(), flush=True)

    def run_others(self, seconds):
        """Under all clients; then what is needed when all but the fast ones are gone."""
        others = [Others(self._context, kind, self._service.address, str(self._died))
                  for kind, (count, *_) in OTHERS.items() for _ in range(count)]
        for one in others:
            one.start()
        self.watch(seconds - QUIET_S)
        for one in others:
            one.stop()
            name = one._kind.__name__  # pylint: disable=protected-access
            self.counts[name] = self.counts.get(name, 0) + one.count
        time.sleep(QUIET_S)
        needs = [self.needs() for _ in range(3)]
        return {name: min(one[name] for one in needs) for name in needs[0]}

    def run(self, minutes):
        self.load()
        stops = [self._context.Event() for _ in range(FAST_COUNT)]
        reports = [self._folder / f'fast{i}' for i in range(FAST_COUNT)]
        clients = [self._context.Process(target=fast, args=(self._service.address, stop, report))
                   for stop, report in zip(stops, reports)]
        for client in clients:
            client.start()
        before = self.run_others(WARM_S + QUIET_S)
        print('after two minutes:', before, flush=True)
        after = self.run_others(minutes * 60 - WARM_S - QUIET_S)
        print('at the end:', after, flush=True)
        for stop in stops:
            stop.set()
        for client in clients:
            client.join(120)
            assert client.exitcode == 0, 'a fast client failed'
        assert self._service.stop() == 0, 'the service does not end well'
        command = pathlib.Path(self._program).with_name('crawlstore')
        subprocess.run([command, 'verify', '-q', '--deep', self._file], check=True,
                       stdout=subprocess.DEVNULL)
        self.expect_all([json.loads(report.read_text()) for report in reports])
        print('clients:', self.counts, 'latency of GetStats, ms: median',
              round(statistics.median(self._latencies) * 1000, 1), 'most',
              round(max(self._latencies) * 1000, 1))
        assert after['threads'] <= before['threads'] + THREADS_MORE, 'there are more threads'
        assert after['fds'] <= before['fds'] + FDS_MORE, 'there are more descriptors'
        assert after['rss_bytes'] <= before['rss_bytes'] * RSS_FACTOR + RSS_MORE, 'it needs more'

    def expect_all(self, reports):
        """All that was acknowledged is there: each URL, in its last version."""
        versions = {url_of(i): 0 for i in range(URLS)}
        for of_client, counts in reports:
            print('a fast client:', counts)
            for url, version in of_client.items():
                versions[url] = max(versions[url], version)
        service = Service(self._program, self._file)
        items = service.client.ListURLs(size=ALL, timeout=300)
        found = {item.known.info.url: int(item.known.info.metadata['n'].values[0])
                 for item in items}
        assert len(items) == URLS, f'there are {len(items)} URLs'
        assert found == versions, 'URLs have other versions'
        # The last line of a client that was killed may be torn, with the first of the next one.
        died = {line for line in self._died.read_text(encoding='utf-8').splitlines()
                if line.startswith('http://o') and line.count('http') == 1}
        others = {item.known.info.url for item in
                  service.client.ListURLs(size=ALL, crawlID=OTHER_CRAWL, timeout=300)}
        lost = {url for url in died - others if int(url.rsplit('/', 1)[1]) < OTHER_URLS}
        assert not lost, f'{len(lost)} URLs are missing'
        print(f'{URLS} URLs are there, of {max(versions.values())} versions at most, and',
              f'{len(died)} of clients that died')
        assert service.stop() == 0, 'the service does not end well'


def main(program, minutes):
    if minutes < 5:
        sys.exit('two minutes are for the beginning: MINUTES is 5 or more')
    with tempfile.TemporaryDirectory(prefix='crawlstored-') as folder:
        Soak(program, folder).run(minutes)


if __name__ == '__main__':
    main(sys.argv[1], float(sys.argv[2]))
