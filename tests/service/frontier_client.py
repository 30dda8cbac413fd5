# SPDX-License-Identifier: Apache-2.0
"""A client of the protocol for tests: stubs made by protoc, calls by Debian's grpcio."""

import contextlib
import importlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import grpc

PROTO = pathlib.Path(os.environ.get('CRAWLSTORE_SOURCE_DIR', '.')) / 'service/proto'
CALLS = {
    'ListNodes': ('Empty', 'StringList', ''), 'ListCrawls': ('Local', 'StringList', ''),
    'DeleteCrawl': ('DeleteCrawlMessage', 'Long', ''),
    'ListQueues': ('Pagination', 'QueueList', ''),
    'GetURLs': ('GetParams', 'URLInfo', '<'), 'PutURLs': ('URLItem', 'AckMessage', '<>'),
    'PutDiscovered': ('DiscoveredBatch', 'BatchAck', '<>'),
    'GetStats': ('QueueWithinCrawlParams', 'Stats', ''),
    'DeleteQueue': ('QueueWithinCrawlParams', 'Long', ''),
    'BlockQueueUntil': ('BlockQueueParams', 'Empty', ''), 'SetActive': ('Active', 'Empty', ''),
    'GetActive': ('Local', 'Boolean', ''), 'SetDelay': ('QueueDelayParams', 'Empty', ''),
    'SetLogLevel': ('LogLevelParams', 'Empty', ''),
    'SetCrawlLimit': ('CrawlLimitParams', 'Empty', ''),
    'GetURLStatus': ('URLStatusRequest', 'URLItem', ''),
    'ListURLs': ('ListUrlParams', 'URLItem', '<'),
    'CountURLs': ('CountUrlParams', 'Long', ''), 'PurgeURLs': ('PurgeUrlParams', 'Long', ''),
}
OK, SKIPPED, FAIL = 0, 1, 2


def load_messages():
    """The module of the messages, made anew."""
    folder = tempfile.mkdtemp(prefix='urlfrontier-')
    subprocess.run(['protoc', f'--python_out={folder}', '-I', str(PROTO),
                    str(PROTO / 'urlfrontier.proto')], check=True)
    sys.path.insert(0, folder)
    return importlib.import_module('urlfrontier_pb2')


pb = load_messages()


class Client:
    """Each call of the protocol is a method: its fields are arguments."""

    def __init__(self, address, credentials=None, options=None):
        self.channel = (grpc.secure_channel(address, credentials, options) if credentials
                        else grpc.insecure_channel(address, options))
        self._calls = {}
        for name, (request, response, streams) in CALLS.items():
            make = {'': self.channel.unary_unary, '<': self.channel.unary_stream,
                    '<>': self.channel.stream_stream}[streams]
            self._calls[name] = make(f'/urlfrontier.URLFrontier/{name}',
                                     getattr(pb, request).SerializeToString,
                                     getattr(pb, response).FromString)

    def __getattr__(self, name):
        request, _, streams = CALLS[name]
        call = self._calls[name]
        if streams == '<>':
            return call
        if streams == '<':
            return lambda timeout=30, **fields: list(
                call(getattr(pb, request)(**fields), timeout=timeout))
        return lambda timeout=30, **fields: call(getattr(pb, request)(**fields), timeout=timeout)

    def put(self, *items):
        """The statuses of URLs: of discover() and known()."""
        return [ack.status for ack in self.PutURLs(iter(items), timeout=60)]

    def close(self):
        self.channel.close()


def info(url, key='', crawl='', **metadata):
    made = pb.URLInfo(url=url, key=key, crawlID=crawl)
    for name, value in metadata.items():
        made.metadata[name].values.append(value)
    return made


def discover(url, key='', crawl='', **metadata):
    return pb.URLItem(discovered=pb.DiscoveredURLItem(info=info(url, key, crawl, **metadata)))


def known(url, date=0, key='', crawl='', **metadata):
    return pb.URLItem(known=pb.KnownURLItem(info=info(url, key, crawl, **metadata),
                                            refetchable_from_date=date))


def make_certificate(folder):
    """The files of a key and its certificate, which is its own authority, for this computer."""
    key, certificate = pathlib.Path(folder) / 'key.pem', pathlib.Path(folder) / 'certificate.pem'
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1',
                    '-keyout', str(key), '-out', str(certificate), '-subj', '/CN=localhost',
                    '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'], check=True,
                   capture_output=True)
    return key, certificate


class Service:
    """A crawlstored that runs."""

    def __init__(self, program, file, *options, listen='127.0.0.1:0', file_bytes=None):
        limit = [] if file_bytes is None else [
            'env', '--ignore-signal=XFSZ', 'prlimit', f'--fsize={file_bytes}']
        self._log = tempfile.TemporaryFile(mode='w+')
        # Without preexec_fn, which would call fork(): what gRPC then does crashes beside its calls.
        self._process = subprocess.Popen(
            [*limit, program, str(file), '--listen', listen, *options], stderr=self._log)
        self.address = f'127.0.0.1:{self._wait_for_port()}'
        self.client = Client(self.address)

    def log(self):
        self._log.seek(0)
        return self._log.read()

    def _wait_for_port(self):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            for line in self.log().splitlines():
                if 'event=listening' in line:
                    return line.split('port="')[1].split('"')[0]
            if self._process.poll() is not None:
                break
            time.sleep(0.02)
        raise AssertionError(f'the service did not begin: {self.log()}')

    @property
    def pid(self):
        return self._process.pid

    def kill(self):
        self._process.kill()
        self._process.wait()
        self.client.close()
        self._log.close()

    def stop(self):
        """Its exit code."""
        self._process.terminate()
        self.client.close()
        self._log.close()
        return self._process.wait(60)

    def is_running(self):
        return self._process.poll() is None


@contextlib.contextmanager
def running(program, file, *options):
    service = Service(program, file, *options)
    try:
        yield service
    finally:
        if service.is_running():
            service.kill()
