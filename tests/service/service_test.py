#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""crawlstored, as its clients see it: service_test.py PROGRAM CRAWLSTORE"""

import collections
import json
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

import grpc
from google.protobuf import json_format
import jsonschema

from frontier_client import (
    FAIL, OK, SKIPPED, Client, Service, discover, info, known, make_certificate, pb)

PROGRAM, CRAWLSTORE = sys.argv[1:3]
SOURCE = pathlib.Path(__file__).parents[2]
SCHEMA = json.loads((SOURCE / 'spec/cli.schema.json').read_text())


def status_of(call, **fields):
    with_error = None
    try:
        call(**fields)
    except grpc.RpcError as error:
        with_error = error.code()
    return with_error


class ServiceTest(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory(prefix='crawlstored-')
        self.addCleanup(self._folder.cleanup)
        self.file = pathlib.Path(self._folder.name) / 'a.crawl'
        self.services = []
        self.addCleanup(lambda: [one.kill() for one in self.services if one.is_running()])

    def start(self, *options):
        self.services.append(Service(PROGRAM, self.file, '--commit', '10', *options))
        return self.services[-1]

    def start_beside(self, *options):
        self.services.append(Service(PROGRAM, self.file.with_name('b.crawl'), *options))
        return self.services[-1]

    def expect_whole(self):
        subprocess.run([CRAWLSTORE, 'verify', str(self.file)], check=True,
                       stdout=subprocess.DEVNULL)


class Crawl(ServiceTest):
    def test_gives_out_each_url_once(self):
        client = self.start().client
        self.assertEqual(client.put(discover('http://a.test/1', source='seed'),
                                    discover('http://a.test/1'), discover('http://a.test/2'),
                                    discover('http://b.test/', 'other')),
                         [OK, SKIPPED, OK, OK])
        given = client.GetURLs(max_urls_per_queue=1)
        self.assertEqual({(url.key, url.crawlID) for url in given},
                         {('a.test', 'DEFAULT'), ('other', 'DEFAULT')})
        self.assertEqual(client.GetURLs(max_urls_per_queue=1), [])
        stats = client.GetStats()
        self.assertEqual((stats.size, stats.inProcess, stats.numberOfQueues), (3, 2, 2))
        done = [known(url.url, key=url.key) for url in given]
        self.assertEqual(client.put(*done), [OK, OK])
        self.assertEqual(client.put(*done), [OK, OK])
        stats = client.GetStats(key='a.test')
        self.assertEqual((stats.size, stats.inProcess, dict(stats.counts)),
                         (1, 0, {'completed': 1, 'active_queues': 1}))

    def test_keeps_metadata_dates_and_the_time_of_creation(self):
        client = self.start().client
        begin = int(time.time())
        self.assertEqual(client.put(discover('https://a.test/x', source='seed'),
                                    known('http://a.test/y', begin + 500, tag='t')), [OK, OK])
        item = client.GetURLStatus(url='https://a.test/x')
        self.assertEqual(item.known.info.metadata['source'].values, ['seed'])
        self.assertLessEqual(begin, item.creation_date)
        later = client.GetURLStatus(url='http://a.test/y', key='a.test')
        self.assertEqual(later.known.refetchable_from_date, begin + 500)
        given, = client.GetURLs()
        self.assertEqual((given.url, given.metadata['source'].values),
                         ('https://a.test/x', ['seed']))
        client.put(known(given.url))
        done = client.GetURLStatus(url=given.url)
        self.assertEqual((done.known.refetchable_from_date, done.creation_date),
                         (0, item.creation_date))
        self.assertEqual(status_of(client.GetURLStatus, url='http://a.test/z'),
                         grpc.StatusCode.NOT_FOUND)

    def test_is_exported_and_imported_without_it(self):
        service = self.start()
        now = int(time.time())
        put = [discover('http://a.test/new', source='seed'),
               known('http://a.test/later', now + 900), known('http://a.test/done'),
               known('http://b.test/', 5, 'queue', '\u00fc')]
        put[1].known.info.metadata['many'].values.extend(['', '\u6f22', 'x' * 300])
        put[1].known.info.metadata['none']  # an entry without values
        self.assertEqual(service.client.put(*put), [OK] * 4)
        service.client.GetURLs(key='queue', crawlID='\u00fc')

        def urls(client):
            return sorted((item.SerializeToString(deterministic=True)
                           for crawl in client.ListCrawls().values
                           for item in client.ListURLs(crawlID=crawl)))

        before = urls(service.client)
        self.assertEqual(len(before), 4)
        busy = subprocess.run([CRAWLSTORE, 'import', str(self.file), '--format', 'urlfrontier',
                               '--lock-wait', '0', '-'], input=b'http://a.test/\n',
                              capture_output=True, check=False)
        self.assertEqual(busy.returncode, 3, busy.stderr)
        dump = self.file.with_name('dump')
        subprocess.run([CRAWLSTORE, 'export', str(self.file), '--format', 'urlfrontier', '-o',
                        str(dump)], check=True)
        lines = [json_format.Parse(line, pb.URLItem()) for line in dump.read_bytes().splitlines()]
        self.assertEqual(sorted(line.SerializeToString(deterministic=True) for line in lines),
                         before)
        text = '\n'.join(json_format.MessageToJson(line, indent=None) for line in lines)
        subprocess.run([CRAWLSTORE, 'import', str(self.file.with_name('b.crawl')), '--format',
                        'urlfrontier', '-'], input=text.encode(), check=True,
                       stdout=subprocess.DEVNULL)
        other = self.start_beside().client
        self.assertEqual(urls(other), before)
        self.assertEqual(other.GetStats().counts, service.client.GetStats().counts)

    def test_has_imported_urls_by_priority_and_as_pages(self):
        self.start('--order', 'priority', '--pages').stop()
        lines = [json_format.MessageToJson(item, indent=None) for item in (
            known('http://a.test/low', 5, priority='1'), discover('http://a.test/none'),
            known('http://a.test/high', 9, priority='2.5'))]
        subprocess.run([CRAWLSTORE, 'import', str(self.file), '--format', 'urlfrontier', '-'],
                       input='\n'.join(lines).encode(), check=True, stdout=subprocess.DEVNULL)
        pages = subprocess.run([CRAWLSTORE, 'export', str(self.file), '--format', 'csv'],
                               check=True, capture_output=True).stdout
        self.assertEqual(pages.count(b'http://a.test/'), 3)
        self.assertEqual([url.url for url in self.start().client.GetURLs(key='a.test')],
                         [f'http://a.test/{name}' for name in ('high', 'low', 'none')])

    def test_gives_out_the_oldest_date_first(self):
        client = self.start().client
        now = int(time.time())
        client.put(known('http://a.test/later', now - 5), known('http://a.test/sooner', now - 500))
        self.assertEqual([url.url for url in client.GetURLs(key='a.test', crawlID='DEFAULT')],
                         ['http://a.test/sooner', 'http://a.test/later'])

    def test_gives_out_the_highest_priority_first(self):
        client = self.start('--order', 'priority').client
        now = int(time.time())
        client.put(discover('http://a.test/none'), discover('http://a.test/high', priority='9.5'),
                   known('http://a.test/low', now - 500, priority='-1'),
                   known('http://a.test/later', now + 500, priority='99'))
        self.assertEqual([url.url for url in client.GetURLs(key='a.test', crawlID='DEFAULT')],
                         [f'http://a.test/{name}' for name in ('high', 'none', 'low')])
        dates = [client.GetURLStatus(url=f'http://a.test/{name}').known.refetchable_from_date
                 for name in ('low', 'later')]
        self.assertEqual(dates, [now - 500, now + 500])
        self.assertEqual({item.known.refetchable_from_date for item in client.ListURLs()} -
                         {now, now + 1}, set(dates))
        self.services[0].stop()
        other = subprocess.run([PROGRAM, str(self.file), '--listen', '127.0.0.1:0', '--order',
                                'date'], capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(other.returncode, 1)
        self.assertIn('--order priority', other.stderr)
        self.start().client.put(discover('http://b.test/'))

    def test_makes_pages(self):
        options = '--pages', '--order', 'priority'
        client = self.start(*options).client
        urls = [f'http://a{i % 9}.test/{i}' for i in range(900)]
        self.assertEqual(client.put(*map(discover, urls)), [OK] * 900)
        self.assertEqual(client.put(discover(urls[0]), known('http://z.test/', priority='1e300'),
                                    known(urls[1])), [SKIPPED, OK, OK])
        self.services[-1].kill()
        client = self.start().client
        client.put(discover('http://y.test/'))
        self.services[-1].stop()
        rows = subprocess.run([CRAWLSTORE, 'export', str(self.file), '--format', 'csv'],
                              check=True, capture_output=True, text=True).stdout
        for url in [*urls, 'http://y.test/', 'http://z.test/']:
            self.assertIn(f',{url},', rows)
        self.assertEqual(len(rows.splitlines()), 1 + 902)
        schedule = subprocess.run([CRAWLSTORE, 'schedule', str(self.file), '--frontier', 'own'],
                                  check=False, capture_output=True, text=True)
        self.assertEqual(schedule.returncode, 2)
        self.assertIn('crawlstored', schedule.stderr)
        forget = subprocess.run([CRAWLSTORE, 'forget', str(self.file), '--host', 'a4.test',
                                 '--json'], check=True, capture_output=True, text=True)
        done = json.loads(forget.stdout)
        self.assertEqual((done['page_count'], done['crawl_url_count']), (100, 100))
        self.expect_whole()
        client = self.start().client
        self.assertEqual(client.CountURLs().value, 802)
        self.assertEqual(client.GetStats(key='a4.test').size, 0)
        self.assertEqual(client.put(discover(urls[4]), discover(urls[1])), [OK, SKIPPED])
        self.assertEqual(client.GetURLStatus(url=urls[1]).known.refetchable_from_date, 0)
        self.expect_whole()

    def test_obeys_delays_blocks_limits_and_the_active_state(self):
        client = self.start().client
        client.SetDelay(delay_requestable=0)
        client.put(*[discover(f'http://{host}.test/{i}') for host in 'abc' for i in range(4)])
        client.BlockQueueUntil(key='a.test', time=int(time.time()) + 100)
        client.SetDelay(key='b.test', delay_requestable=100)
        client.SetCrawlLimit(key='c.test', limit=1)
        one = {'max_urls_per_queue': 1}
        of_b, of_c = client.GetURLs(**one)
        self.assertEqual((of_b.key, of_c.key), ('b.test', 'c.test'))
        client.put(known(of_b.url))
        self.assertEqual(client.GetURLs(**one), [])
        client.put(known(of_c.url))
        self.assertEqual(client.GetURLs(**one), [], 'c.test is at its limit')
        client.SetCrawlLimit(key='c.test', limit=0)
        client.BlockQueueUntil(key='a.test', time=0)
        client.SetActive(state=False)
        self.assertEqual(client.GetURLs(**one), [])
        self.assertFalse(client.GetActive().state)
        client.SetActive(state=True)
        self.assertEqual([url.key for url in client.GetURLs(**one)], ['a.test', 'c.test'])
        self.assertEqual(status_of(client.SetCrawlLimit, key='no.test', limit=1),
                         grpc.StatusCode.NOT_FOUND)

    def test_lists_and_counts(self):
        client = self.start().client
        client.put(*[discover(f'http://h{i % 7}.test/Page{i}') for i in range(70)],
                   known('http://done.test/'), known('http://h1.test/later', 2**33))
        self.assertEqual(len(client.ListQueues().values), 7)
        self.assertEqual(len(client.ListQueues(include_inactive=True).values), 8)
        pages = [key for start in (0, 3, 6)
                 for key in client.ListQueues(start=start, size=3, include_inactive=True).values]
        self.assertEqual(len(set(pages)), 8)
        urls = [item.known.info.url for item in client.ListURLs(size=1000)]
        self.assertEqual((len(urls), len(set(urls))), (72, 72))
        self.assertEqual(len(client.ListURLs()), 72)
        self.assertEqual(len(client.ListURLs(size=5, start=70)), 2)
        self.assertEqual(len(client.ListURLs(key='h1.test')), 11)
        self.assertEqual(client.CountURLs().value, 72)
        self.assertEqual(client.CountURLs(filter='page6').value, 0)
        self.assertEqual(client.CountURLs(filter='page6', ignoreCase=True).value, 11)
        self.assertEqual(len(client.ListURLs(filter='Page69')), 1)

    def test_forgets_queues_crawls_and_old_urls(self):
        client = self.start().client
        client.put(discover('http://a.test/1'), discover('http://a.test/2'),
                   known('http://a.test/3'), discover('http://b.test/'),
                   discover('http://a.test/', crawl='other'))
        self.assertEqual(list(client.ListCrawls().values), ['DEFAULT', 'other'])
        client.GetURLs(max_urls_per_queue=1, crawlID='')
        self.assertEqual(client.DeleteQueue(key='a.test').value, 3)
        self.assertEqual(client.GetStats(key='a.test').numberOfQueues, 0)
        self.assertEqual(client.GetStats().numberOfQueues, 1)
        self.assertEqual(client.put(discover('http://a.test/1'), discover('http://b.test/')),
                         [OK, SKIPPED])
        self.assertEqual(client.PurgeURLs(days=1).value, 0)
        time.sleep(1.1)
        self.assertEqual(client.PurgeURLs(days=0, key='b.test').value, 1)
        self.assertEqual(client.PurgeURLs(days=0).value, 1)
        self.assertEqual(client.DeleteCrawl(value='other').value, 1)
        self.assertEqual(client.DeleteCrawl(value='other').value, 0)
        self.assertEqual(list(client.ListCrawls().values), [])
        self.assertEqual(client.put(discover('http://a.test/1')), [OK])

    def test_puts_batches(self):
        client = self.start().client
        batch = pb.DiscoveredBatch(ID='1', items=[info('http://a.test/'), info('http://a.test/'),
                                                  info('no', crawl='other'), info('')])
        acks = list(client.PutDiscovered(iter([batch, batch])))
        self.assertEqual([(ack.ID, list(ack.statuses)) for ack in acks],
                         [('1', [OK, SKIPPED, OK, SKIPPED]),
                          ('1', [SKIPPED, SKIPPED, SKIPPED, SKIPPED])])

    def test_takes_turns_among_crawls(self):
        client = self.start().client
        client.put(discover('http://a.test/', crawl='1'), discover('http://a.test/', crawl='2'))
        first, = client.GetURLs(max_queues=1, anyCrawlID=pb.AnyCrawlID())
        second, = client.GetURLs(max_queues=1)
        self.assertEqual({first.crawlID, second.crawlID}, {'1', '2'})


class Restart(ServiceTest):
    def test_keeps_everything(self):
        service = self.start()
        client = service.client
        now = int(time.time())
        client.SetDelay(delay_requestable=50)
        client.put(discover('http://a.test/1'), discover('http://a.test/2'),
                   known('http://b.test/', now + 500, tag='t'), known('http://c.test/'),
                   discover('http://d.test/'), discover('http://e.test/'))
        client.BlockQueueUntil(key='d.test', time=now + 500)
        client.SetDelay(key='e.test', delay_requestable=0)
        given = client.GetURLs(max_urls_per_queue=1, delay_requestable=300)
        self.assertEqual([url.key for url in given], ['a.test', 'e.test'])
        before = client.GetStats(), client.ListURLs()
        service.kill()
        self.expect_whole()
        client = self.start().client
        self.assertEqual(client.GetStats(), before[0])
        urls = {item.known.info.url: item for item in client.ListURLs()}
        self.assertEqual(urls, {item.known.info.url: item for item in before[1]})
        self.assertEqual(client.GetURLs(), [], 'the delay is not over, and a lease holds')
        client.put(known('http://e.test/'), discover('http://e.test/2'))
        self.assertEqual([url.url for url in client.GetURLs()], ['http://e.test/2'])
        client.SetActive(state=False)
        self.assertEqual(self.services[-1].stop(), 0)
        self.assertFalse(self.start().client.GetActive().state)

    def test_loses_nothing_that_was_acknowledged(self):
        """Kills under load: what was acknowledged is known, and no lease is given out twice."""
        acknowledged, leased = set(), set()
        for turn in range(4):
            service = self.start()
            client = service.client
            if turn == 0:
                client.SetDelay(delay_requestable=0)
            self.expect_known(client, acknowledged)
            stop = threading.Event()

            def put(turn=turn, client=client, stop=stop):
                def urls():
                    for i in range(1_000_000):
                        if stop.is_set():
                            return
                        yield discover(f'http://h{i % 50}.test/{turn}/{i}')
                try:
                    for ack in client.PutURLs(urls()):
                        if ack.status == OK:
                            acknowledged.add(ack.ID)
                except grpc.RpcError:
                    pass

            def get(client=client, stop=stop):
                try:
                    while not stop.is_set():
                        given = client.GetURLs(max_urls_per_queue=1000, delay_requestable=3600)
                        urls = {url.url for url in given}
                        self.assertFalse(urls & leased, 'a lease was given out twice')
                        leased.update(urls)
                except grpc.RpcError:
                    pass

            workers = [threading.Thread(target=put), threading.Thread(target=get)]
            for worker in workers:
                worker.start()
            time.sleep(1 + turn * 0.3)
            service.kill()
            stop.set()
            for worker in workers:
                worker.join()
            self.expect_whole()
        self.assertGreater(len(acknowledged), 100)
        self.assertGreater(len(leased), 100)

    def expect_known(self, client, urls):
        statuses = client.put(*[discover(url) for url in urls])
        self.assertEqual(statuses.count(SKIPPED), len(urls))


class Interval(ServiceTest):
    def test_answers_before_the_commit(self):
        self.services.append(Service(PROGRAM, self.file, '--commit', '60000', '--durability',
                                     'interval'))
        service, = self.services
        client = service.client
        begin = time.monotonic()
        self.assertEqual(client.put(discover('http://a.test/1'), discover('http://a.test/1')),
                         [OK, SKIPPED])
        self.assertEqual(len(client.GetURLs(delay_requestable=300)), 1)
        self.assertLess(time.monotonic() - begin, 30, 'answers wait for no commit')
        self.assertEqual(service.stop(), 0)
        stats = self.start().client.GetStats()
        self.assertEqual((stats.size, stats.inProcess), (1, 1))

    def test_tells_a_full_disk(self):
        """Files may have no more than a MiB: what has no room fails, and the service lives."""
        for options in ((), ('--durability', 'interval')):
            service = Service(PROGRAM, self.file.with_name(f'{len(options)}.crawl'), '--commit',
                              '10', *options, file_bytes=1 << 20)
            self.services.append(service)
            client = service.client
            statuses = [status for turn in range(60) for status in client.put(
                *[discover(f'http://a.test/{turn}/{i}/{"x" * 3000}') for i in range(50)])]
            self.assertEqual(statuses[0], OK)
            if not options:
                self.assertIn(FAIL, statuses)
            self.assertIn('commit-failed', service.log())
            self.assertIn(status_of(client.GetStats), (None, grpc.StatusCode.RESOURCE_EXHAUSTED))
            self.assertTrue(service.is_running())


class BadInput(ServiceTest):
    def test_is_skipped(self):
        client = self.start().client
        big = 'x' * 70_000
        self.assertEqual(
            client.put(discover('http://a.test/', 'k' * 256), discover('http://a.test/' + big),
                       discover('http://a.test/', big=big), discover(''), discover('://'),
                       pb.URLItem(), known('http://a.test/', 2**63),
                       known('http://a.test/', 2**64 - 1),
                       discover('http://a.test/', crawl='a\nb'),
                       discover('http://a.test/', crawl=big),
                       known('http://a.test/1969', 2**64 - 86_400)),
            [SKIPPED] * 11)
        self.assertEqual(client.put(discover('http://a.test/', 'k' * 255),
                                    known('http://a.test/2300', 10_413_792_000)), [OK, OK])

    def test_is_refused_or_without_effect(self):
        client = self.start().client
        self.assertEqual(client.GetURLs(max_urls_per_queue=10**9, max_queues=10**9), [])
        self.assertEqual(client.GetURLs(crawlID='nobody'), [])
        for call in (client.BlockQueueUntil, client.DeleteQueue):
            for key in ('', 'k' * 256):
                self.assertEqual(status_of(call, key=key), grpc.StatusCode.INVALID_ARGUMENT)
        self.assertEqual(client.ListURLs(crawlID='nobody'), [])
        for _ in range(2):  # also after a call that would make the crawl
            self.assertEqual(client.GetStats(crawlID='a\nb').size, 0)
            self.assertEqual(client.GetURLs(crawlID='a\nb'), [])
            self.assertEqual(status_of(client.GetURLStatus, url='http://a.test/', crawlID='a\nb'),
                             grpc.StatusCode.NOT_FOUND)
            self.assertEqual(status_of(client.SetDelay, key='a.test', crawlID='a\nb'),
                             grpc.StatusCode.INVALID_ARGUMENT)
        self.assertEqual(client.DeleteQueue(key='nobody').value, 0)
        client.BlockQueueUntil(key='a.test', time=2**64 - 1)
        client.put(discover('http://a.test/'))
        self.assertEqual(client.GetURLs(), [])

    def test_of_a_client_that_reads_no_answers_is_bounded(self):
        service = self.start()
        lazy = Client(service.address)
        stream = lazy.PutURLs(discover(f'http://a.test/{i}' + 'x' * 1000) for i in range(50_000))
        time.sleep(2)
        self.assertEqual(service.client.put(discover('http://b.test/')), [OK])
        self.assertLess(service.client.GetStats().size, 50_000, 'the stream is read on')
        stream.cancel()
        lazy.close()
        self.assertEqual(service.stop(), 0)
        self.expect_whole()

    def test_of_another_writer(self):
        self.start()
        with self.assertRaisesRegex(AssertionError, 'cannot-open.*another'):
            self.start()

    def test_of_the_command_line(self):
        for arguments in ([], ['a', '--durability', 'never'], ['a', '--tls-key', 'k'],
                          ['a', '--listen', '127.0.0.1:99999'], ['a', '--metrics', 'nowhere']):
            ended = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True,
                                   check=False)
            self.assertEqual(ended.returncode, 2, ended)
        taken = self.start()
        other = pathlib.Path(self._folder.name) / 'b.crawl'
        ended = subprocess.run([PROGRAM, str(other), '--listen', taken.address],
                               capture_output=True, text=True, check=False)
        self.assertEqual(ended.returncode, 1)
        self.assertIn('cannot-listen', ended.stderr)


class Operation(ServiceTest):
    def test_tells_prometheus(self):
        service = self.start('--metrics', '127.0.0.1:0')
        client = service.client
        client.put(discover('http://a.test/1'), discover('http://a.test/1'),
                   discover('http://b.test/'), known('http://a.test/2'), known('', 1))
        client.GetURLs(max_urls_per_queue=1, max_queues=1)
        port = service.log().split('metrics="')[1].split('"')[0]
        with urllib.request.urlopen(f'http://127.0.0.1:{port}/metrics', timeout=30) as page:
            values = dict(line.rsplit(' ', 1) for line in page.read().decode().splitlines()
                          if not line.startswith('#'))
        for name, value in {
                'frontier_getURLs_calls_total': 1, 'frontier_getURLs_total': 1,
                'frontier_getURLs_latency_seconds_count': 1, 'frontier_putURLs_calls_total': 1,
                'frontier_putURLs_total': 5, 'frontier_putURLs_ignored_total': 1,
                'frontier_putURLs_discovered_total{discovered="true"}': 3,
                'frontier_putURLs_completed_total': 1, 'crawlstored_skipped_urls_total': 1,
                'crawlstored_urls{crawl="DEFAULT",state="waiting"}': 1,
                'crawlstored_urls{crawl="DEFAULT",state="leased"}': 1,
                'crawlstored_urls{crawl="DEFAULT",state="completed"}': 1,
                'crawlstored_queues{crawl="DEFAULT",state="active"}': 2}.items():
            self.assertEqual(float(values[name]), value, name)
        self.assertEqual(float(values['crawlstored_file_bytes']), self.file.stat().st_size)

    def test_speaks_tls_and_tells_its_health(self):
        key, certificate = make_certificate(self._folder.name)
        service = self.start('--tls-cert', str(certificate), '--tls-key', str(key))
        self.assertEqual(status_of(service.client.GetStats, timeout=5),
                         grpc.StatusCode.UNAVAILABLE)
        credentials = grpc.ssl_channel_credentials(certificate.read_bytes())
        client = Client(service.address.replace('127.0.0.1', 'localhost'), credentials)
        self.assertEqual(client.put(discover('http://a.test/')), [OK])
        stranger = self.start_beside('--tls-cert', str(certificate), '--tls-key', str(key),
                                     '--tls-client-ca', str(certificate))
        address = stranger.address.replace('127.0.0.1', 'localhost')
        without = Client(address, credentials)
        self.assertEqual(status_of(without.GetStats, timeout=5), grpc.StatusCode.UNAVAILABLE)
        without.close()
        own = Client(address, grpc.ssl_channel_credentials(
            certificate.read_bytes(), key.read_bytes(), certificate.read_bytes()))
        self.assertEqual(own.GetStats().size, 0)
        own.close()
        health = client.channel.unary_unary('/grpc.health.v1.Health/Check')
        self.assertEqual(health(b'', timeout=30), b'\x08\x01')
        client.close()

    def test_replays_storm_crawler(self):
        """One GetURLs in flight, acknowledgements in one stream that lasts, and its other calls."""
        service = self.start()
        client = service.client
        client.SetDelay(delay_requestable=0)
        items, fetched = queue.Queue(), collections.Counter()
        acks = client.PutURLs(iter(items.get, None))
        for i in range(100):
            items.put(discover(f'http://h{i % 20}.test/0/{i}'))
        waiting = 100
        while sum(fetched.values()) < 1000:
            for _ in range(waiting):
                self.assertIn(next(acks).status, (OK, SKIPPED))
            waiting = 0
            for url in client.GetURLs(max_urls_per_queue=10, max_queues=10,
                                      delay_requestable=60, crawlID='DEFAULT'):
                fetched[url.url] += 1
                number = int(url.url.rsplit('/', 1)[1])
                for link in (2 * number, 2 * number + 1):
                    items.put(discover(f'http://h{link % 20}.test/{link % 7}/{link}',
                                       source=url.url))
                date = int(time.time()) + 3600 if number % 5 == 0 else 0
                items.put(known(url.url, date, key=url.key, fetched='200'))
                waiting += 3
            if fetched and sum(fetched.values()) % 3 == 0:
                client.BlockQueueUntil(key='h1.test', time=int(time.time()) - 1)
                client.SetDelay(key='h2.test', delay_requestable=0)
        items.put(None)
        self.assertEqual(set(fetched.values()), {1}, 'no URL is given out twice')
        self.assertEqual(len([ack for ack in acks if ack.status == FAIL]), 0)
        stats = client.GetStats()
        self.assertEqual(stats.inProcess, 0)
        self.assertEqual(stats.size + stats.counts['completed'], client.CountURLs().value)
    def test_is_read_by_the_command(self):
        self.start().client.put(discover('http://a.test/x', source='seed'),
                                discover('ftp://a.test/y', 'other'))
        def frontier(*words):
            return subprocess.run([CRAWLSTORE, 'frontier', str(self.file), *words], check=True,
                                  text=True, capture_output=True).stdout
        (item,) = json.loads(frontier('--group', 'a.test', '--json'))['items']
        self.assertEqual(item['url'], 'http://a.test/x')
        self.assertLess(abs(item['created_us'] / 1e6 - time.time()), 60)
        metadata = info('http://a.test/x', source='seed')
        metadata.ClearField('url')
        self.assertEqual(item['metadata_bytes'], metadata.ByteSize())
        self.assertIn('body_hex', item)
        (item,) = json.loads(frontier('--group', 'other', '--json'))['items']
        self.assertEqual((item['url'], item['metadata_bytes']), ('ftp://a.test/y', 0))
        self.assertRegex(frontier('--group', 'a.test'), r'(?m)^ *\d+ .* http://a\.test/x ')
        self.assertEqual(frontier('--later', '--columns', 'url'), 'url\n')
        jsonschema.Draft202012Validator(SCHEMA).validate(
            {'frontier': json.loads(frontier('--group', 'a.test', '--json'))})


class ManPage(unittest.TestCase):
    PAGE = SOURCE / 'service/crawlstored.8'

    def test_has_the_options_of_the_program_and_no_others(self):
        told = subprocess.run([PROGRAM, '--help'], check=True, text=True, capture_output=True)
        listed = self.PAGE.read_text().replace('\\-', '-').split('\n.SH ')
        options = next(part for part in listed if part.startswith('OPTIONS\n'))
        lines = re.findall(r'^\.TP\n(.*)', options, re.MULTILINE)
        self.assertEqual(set(re.findall(r'--[a-z-]+', ' '.join(lines))),
                         set(re.findall(r'--[a-z-]+', told.stdout)))

    @unittest.skipUnless(shutil.which('man'), 'man is not there')
    def test_is_shown_by_man_without_a_warning(self):
        shown = subprocess.run(['man', '--warnings', '-l', self.PAGE], check=True, text=True,
                               stdin=subprocess.DEVNULL, capture_output=True,
                               env={'PATH': '/usr/bin:/bin', 'MANWIDTH': '100', 'LC_ALL': 'C'})
        self.assertEqual(shown.stderr, '')
        self.assertIn('--durability WHEN', shown.stdout)


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
