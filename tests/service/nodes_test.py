#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Several crawlstored that share crawls: nodes_test.py PROGRAM"""

import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import grpc

from frontier_client import (
    FAIL, OK, SKIPPED, Client, Service, discover, info, known, make_certificate, pb)

PROGRAM = sys.argv[1]
sys.path.append(str(pathlib.Path(os.environ.get('CRAWLSTORE_SOURCE_DIR', '.')) / 'spec'))
from xxh3 import xxh3_64  # noqa: E402  pylint: disable=wrong-import-position

HOSTS = [f'h{i}.test' for i in range(60)]
URLS = [f'http://{host}/{i}' for host in HOSTS for i in range(3)]


def free_addresses(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(('127.0.0.1', 0))
    addresses = [f'127.0.0.1:{one.getsockname()[1]}' for one in sockets]
    for one in sockets:
        one.close()
    return addresses


def owner_of(key, count=3):
    return (xxh3_64(key.encode(), 0) * count) >> 64


def put_urls(client, urls):
    """The statuses of URLs, which come in any order."""
    acks = {ack.ID: ack.status for ack in client.PutURLs(map(discover, urls), timeout=60)}
    return [acks[url] for url in urls]


def status_of(call, **fields):
    try:
        call(**fields)
    except grpc.RpcError as error:
        return error.code()
    return None


class NodesTest(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory(prefix='crawlstored-')
        self.addCleanup(self._folder.cleanup)
        self.addresses = free_addresses(3)
        self.services = [self.start(node) for node in range(3)]
        self.addCleanup(lambda: [one.kill() for one in self.services if one.is_running()])
        self.clients = [one.client for one in self.services]

    def start(self, node, nodes=None, *options):  # pylint: disable=keyword-arg-before-vararg
        file = pathlib.Path(self._folder.name) / f'{node}.crawl'
        return Service(PROGRAM, file, '--commit', '10', '--nodes',
                       ','.join(nodes or self.addresses), *options, listen=self.addresses[node])

    def put_all(self, client):
        self.assertEqual(client.put(*map(discover, URLS)), [OK] * len(URLS))

    def test_have_the_queues_that_are_theirs(self):
        self.put_all(self.clients[0])
        for node, client in enumerate(self.clients):
            self.assertEqual(list(client.ListNodes().values), self.addresses)
            keys = client.ListQueues(local=True, size=1000).values
            self.assertEqual(set(keys), {host for host in HOSTS if owner_of(host) == node})
            own = client.GetStats(local=True)
            self.assertEqual((own.numberOfQueues, own.size), (len(keys), 3 * len(keys)))
            whole = client.GetStats()
            self.assertEqual((whole.numberOfQueues, whole.size, whole.crawlID),
                             (60, 180, 'DEFAULT'))
        self.assertEqual(self.clients[1].put(*map(discover, URLS)), [SKIPPED] * len(URLS))

    def test_send_batches_on(self):
        batches = [pb.DiscoveredBatch(ID=str(i), items=[info(url) for url in URLS[i::4]])
                   for i in range(4)]
        batches.append(pb.DiscoveredBatch(ID='4', items=[info('/'), info(HOSTS[0], HOSTS[0])]))
        batches.append(pb.DiscoveredBatch(ID='5'))
        acks = {ack.ID: list(ack.statuses)
                for ack in self.clients[2].PutDiscovered(iter(batches), timeout=60)}
        for i in range(4):
            self.assertEqual(acks[str(i)], [OK] * 45)
        self.assertEqual((acks['4'], acks['5']), ([SKIPPED, OK], []))
        self.assertEqual(self.clients[0].CountURLs().value, 181)

    def test_answer_as_one(self):
        first, second, third = self.clients
        self.put_all(first)
        given = [url for client in self.clients for url in client.GetURLs(max_urls_per_queue=1)]
        self.assertEqual({url.key for url in given}, set(HOSTS))
        self.assertEqual(second.put(*[known(url.url) for url in given]), [OK] * 60)
        stats = third.GetStats()
        self.assertEqual((stats.size, stats.inProcess, dict(stats.counts)),
                         (120, 0, {'completed': 60, 'active_queues': 60}))
        self.assertEqual(first.CountURLs(filter='h1').value, 33)
        listed = [item.known.info.url for item in second.ListURLs(size=1000)]
        self.assertEqual(sorted(listed), sorted(URLS))
        parts = [item.known.info.url for start in range(0, 180, 50)
                 for item in third.ListURLs(start=start, size=50)]
        self.assertEqual(sorted(parts), sorted(URLS))
        pages = [key for start in range(0, 60, 7)
                 for key in first.ListQueues(start=start, size=7).values]
        self.assertEqual(sorted(pages), sorted(HOSTS))
        self.assertEqual(list(first.ListCrawls().values), ['DEFAULT'])
        self.assertEqual(second.PurgeURLs(days=1, key=HOSTS[0]).value, 0)
        first.SetActive(state=False)
        self.assertFalse(third.GetActive(local=True).state)
        second.SetActive(state=True, local=True)
        self.assertFalse(third.GetActive().state, 'two of them are not')
        self.assertTrue(second.GetActive(local=True).state)
        second.SetActive(state=True)
        self.assertTrue(third.GetActive().state)
        self.assertEqual(third.DeleteCrawl(value='DEFAULT').value, 180)
        self.assertEqual(list(second.ListCrawls().values), [])

    def test_do_for_a_queue_what_its_node_does(self):
        self.put_all(self.clients[0])
        for host in HOSTS[:9]:
            for client in self.clients:
                client.BlockQueueUntil(key=host, time=2**33)
                self.assertEqual(len(client.ListURLs(key=host)), 3)
                self.assertEqual(client.GetStats(key=host).size, 3)
                self.assertEqual(client.CountURLs(key=host).value, 3)
                status = client.GetURLStatus(url=f'http://{host}/1')
                self.assertEqual(status.known.info.key, host)
                self.assertEqual(status_of(client.GetURLStatus, url=f'http://{host}/none'),
                                 grpc.StatusCode.NOT_FOUND)
                self.assertEqual(client.GetURLs(key=host), [])
                client.BlockQueueUntil(key=host, time=0)
                client.SetDelay(key=host, delay_requestable=0)
            self.assertEqual(len(self.clients[0].GetURLs(key=host, max_urls_per_queue=1)), 1)
            self.assertEqual(len(self.clients[1].GetURLs(key=host, max_urls_per_queue=2)), 1)
            self.clients[2].SetCrawlLimit(key=host, limit=1)
            self.clients[0].put(known(f'http://{host}/0'))
            self.assertEqual(self.clients[1].GetURLs(key=host), [])
            self.assertEqual(self.clients[2].DeleteQueue(key=host).value, 3)
        for client in self.clients:
            self.assertEqual(status_of(client.BlockQueueUntil, time=1),
                             grpc.StatusCode.INVALID_ARGUMENT)

    def test_fail_for_a_node_that_has_gone(self):
        self.services[1].kill()
        statuses = put_urls(self.clients[0], URLS)
        expected = [FAIL if owner_of(url.split('/')[2]) == 1 else OK for url in URLS]
        self.assertEqual(statuses, expected)
        self.assertEqual(status_of(self.clients[2].GetStats), grpc.StatusCode.UNAVAILABLE)
        self.assertIsNone(status_of(self.clients[2].GetStats, local=True))
        foreign = next(host for host in HOSTS if owner_of(host) == 1)
        self.assertEqual(status_of(self.clients[0].GetURLs, key=foreign),
                         grpc.StatusCode.UNAVAILABLE)
        self.services[1] = self.start(1)
        end = time.monotonic() + 40
        failed = [discover(url) for url, status in zip(URLS, expected) if status == FAIL]
        while time.monotonic() < end:
            statuses = self.clients[0].put(*failed)
            if FAIL not in statuses:
                break
            time.sleep(0.2)
        self.assertEqual(set(statuses) - {SKIPPED}, {OK})
        self.assertEqual(self.clients[0].CountURLs().value, 180)

    def test_wait_for_a_node_no_longer_than_it_is_silent(self):
        os.kill(self.services[1].pid, signal.SIGSTOP)
        begin = time.monotonic()
        statuses = put_urls(self.clients[0], URLS)
        os.kill(self.services[1].pid, signal.SIGCONT)
        self.assertEqual(statuses.count(OK), sum(owner_of(host) != 1 for host in HOSTS) * 3)
        self.assertLess(time.monotonic() - begin, 60)

    def test_refuse_each_other_where_lists_differ(self):
        self.services[1].kill()
        self.services[1] = self.start(1, self.addresses[:2])
        statuses = put_urls(self.clients[0], URLS)
        expected = [FAIL if owner_of(url.split('/')[2]) == 1 else OK for url in URLS]
        self.assertEqual(statuses, expected)
        self.assertEqual(status_of(self.clients[0].SetActive, state=True),
                         grpc.StatusCode.FAILED_PRECONDITION)

    def test_refuse_files_of_other_nodes(self):
        self.put_all(self.clients[0])
        for service in self.services:
            service.stop()
        folder = pathlib.Path(self._folder.name)
        for file, nodes in (('1.crawl', None), ('2.crawl', 'a:1,b:1,c:1'), ('0.crawl', 'a:1,b:1')):
            options = ['--nodes', nodes, '--node', 'a:1'] if nodes else []
            ran = subprocess.run([PROGRAM, folder / file, '--listen', '127.0.0.1:0', *options],
                                 check=False, capture_output=True, text=True, timeout=60)
            self.assertEqual(ran.returncode, 1, file)
            self.assertIn('--nodes', ran.stderr)
        self.services = [self.start(node) for node in range(3)]
        self.assertEqual(self.services[0].client.CountURLs().value, 180)

    def test_refuse_a_service_that_is_listed_twice(self):
        self.services[0].kill()
        port = self.addresses[0].rsplit(':', 1)[1]
        self.services[0] = self.start(0, [self.addresses[0], f'localhost:{port}'])
        statuses = put_urls(self.services[0].client, URLS)
        self.assertEqual(set(statuses), {OK, FAIL})
        self.assertEqual(status_of(self.services[0].client.GetStats),
                         grpc.StatusCode.FAILED_PRECONDITION)

    def test_speak_tls_with_each_other(self):
        key, certificate = make_certificate(self._folder.name)
        for service in self.services:
            service.stop()
        tls = ['--tls-cert', str(certificate), '--tls-key', str(key), '--tls-client-ca',
               str(certificate)]
        self.services = [self.start(node, None, *tls) for node in range(3)]
        client = Client(self.addresses[0], grpc.ssl_channel_credentials(
            certificate.read_bytes(), key.read_bytes(), certificate.read_bytes()))
        self.put_all(client)
        self.assertEqual(client.GetStats().size, 180)
        client.close()

    def test_lose_nothing_under_load(self):
        """Streams at all nodes, with the same URLs, while one is killed and comes back."""
        acknowledged = set()

        def put(number):
            client = Client(self.addresses[number % 3])
            for part in range(12):
                urls = [f'http://h{i % 60}.test/{part}/{i}' for i in range(number, 1200, 3)]
                try:
                    statuses = put_urls(client, urls)
                except grpc.RpcError:
                    continue
                acknowledged.update(url for url, status in zip(urls, statuses) if status != FAIL)
            client.close()

        threads = [threading.Thread(target=put, args=(i,)) for i in range(6)]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        self.services[2].kill()
        self.services[2] = self.start(2)
        for thread in threads:
            thread.join()
        listed = {item.known.info.url for item in self.services[2].client.ListURLs(size=100_000)}
        self.assertEqual(acknowledged - listed, set())
        self.assertGreater(len(acknowledged), 3000)


class CommandLine(unittest.TestCase):
    def test_says_what_is_wrong(self):
        for options, text in ((['--nodes', 'a:1,b:2'], '--node ADDRESS'),
                              (['--nodes', 'a:1,a:1', '--node', 'a:1'], 'twice'),
                              (['--nodes', 'a'], 'HOST:PORT'), (['--node', 'a:1'], '--nodes')):
            ran = subprocess.run([PROGRAM, 'none.crawl', *options], check=False,
                                 capture_output=True, text=True)
            self.assertEqual(ran.returncode, 2, options)
            self.assertIn(text, ran.stderr)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
