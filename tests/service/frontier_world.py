# SPDX-License-Identifier: Apache-2.0
"""A service that ends and begins again while its clients call it."""

import collections
import os
import pathlib
import signal
import threading
import time

from frontier_client import Service
from frontier_model import expect


class World:
    """A service that ends now and then, on a file that stays."""

    def __init__(self, program, folder, *options):
        self._arguments = program, pathlib.Path(folder) / 'a.crawl', '--commit', '0', *options
        self._changed = threading.Condition()
        self._ending = None
        self._wrong = None
        self._service = Service(*self._arguments)
        self.epoch = 0
        self.ends = collections.Counter()

    def client(self):
        with self._changed:
            return self._service.client, self.epoch

    def outlive(self, epoch, error):
        """Waits for the service after that of `epoch`; raises `error` if that does not end."""
        with self._changed:
            if self.epoch == epoch and self._ending is None:
                raise error
            self._changed.wait_for(lambda: self.epoch != epoch or self._wrong, timeout=120)
            expect(self.epoch != epoch, 'the service does not begin again', self._wrong)

    def is_ending(self, epoch):
        with self._changed:
            return self.epoch != epoch or self._ending is not None

    def end_soon(self, is_kill, delay):
        with self._changed:
            if self._ending is not None:
                return
            self._ending = threading.Thread(target=self._end, args=(is_kill, delay))
            self._ending.start()

    def _end(self, is_kill, delay):
        try:
            time.sleep(delay)
            service = self._service
            if is_kill:
                service.kill()
            else:
                os.kill(service.pid, signal.SIGTERM)
                while service.is_running():
                    time.sleep(0.001)
                expect(service.stop() == 0, 'the service does not end well')
            self.ends['kill' if is_kill else 'SIGTERM'] += 1
            begun = Service(*self._arguments)
            with self._changed:
                self._service, self._ending = begun, None
                self.epoch += 1
                self._changed.notify_all()
        except (AssertionError, OSError) as error:
            with self._changed:
                self._wrong = error
                self._changed.notify_all()

    def close(self):
        ending = self._ending
        if ending is not None:
            ending.join()
        if self._service.is_running():
            self._service.kill()
