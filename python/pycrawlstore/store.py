# SPDX-License-Identifier: Apache-2.0
"""Crawl files that are open for writing, and transactions."""

import contextlib
import os
import threading
from typing import Callable, List, NamedTuple, Optional, Sequence, Union

from . import errors
from .binding import call, chosen, lib, number, opened, path_of, struct
from .frontier import Frontier, Rule
from .pages import Pages
from .queue import Queue
from .ranking import RankReport, rank, store_scores
from .sets import Keys, Seen
from .upkeep import CompactReport, compact
from .values import get_value, remove_value, set_value, value_names
from .view import View

DEFAULT_NAMES = {Seen: "urls", Keys: "keys", Pages: "pages", Frontier: "frontier", Queue: "queue"}
MODES = {"open_or_create": lib.CRWL_OPEN_OR_CREATE, "open": lib.CRWL_OPEN,
         "create": lib.CRWL_CREATE}


class StoreInfo(NamedTuple):
    """A store as it is now, with what has not been committed."""

    generation: int
    file_bytes: int
    #: Inside the file, for what comes next.
    free_bytes: int
    #: Names the store for its whole life.
    uuid: bytes


class Transaction:
    """Changes that are committed together, or not at all: those of the thread that enters it.

    For `with`: its end commits, unless the transaction has ended before; an exception drops the
    changes, also one of the commit at the end. Where a full disk must lose nothing, `commit`
    inside, and again after a SystemFailure. Nothing is opened, merged or compacted inside. Made by
    `Store.transaction`.
    """

    def __init__(self, store, threads):
        self._store = store
        self._handle = None
        # The threads of the store that are in a transaction, and that of this one until its end.
        self._threads = threads
        self._thread = None
        #: The number of the commit; None until then.
        self.generation: Optional[int] = None

    def __enter__(self) -> "Transaction":
        self._handle = opened("transaction", lib.crwl_transaction_free, lib.crwl_transaction_begin,
                              self._store)
        self._thread, self.generation = threading.get_ident(), None
        self._threads.add(self._thread)
        return self

    def __exit__(self, kind, value, trace) -> None:
        if self._thread is None:
            return
        try:
            if kind is None:
                self.commit()
        finally:
            self.drop()

    def _begun(self):
        if self._handle is None:
            raise errors.argument("the transaction has not begun: `with` enters it")
        return self._handle

    def _end(self):
        self._threads.discard(self._thread)
        self._thread = None

    def commit(self) -> int:
        """Commits, ends it, and returns the number of the commit.

        After a SystemFailure it goes on: make room and try again, or drop.
        """
        generation = number()
        call(lib.crwl_transaction_commit, self._begun(), generation)
        self.generation = generation[0]
        self._end()
        return self.generation

    def drop(self) -> None:
        """Forgets its changes and ends it. After a commit: no effect."""
        call(lib.crwl_transaction_drop, self._begun())
        self._end()


class Store:
    """A crawl file that is open for writing, by one process at a time. Made by `open`.

    A part that is asked for by name is opened once; the same object is returned later. All of them
    may be used by any thread, and give ClosedError when the store was closed.
    """

    def __init__(self, path, mode, lock_wait_ms):
        self._opened, self._opening, self._in_transaction = {}, threading.RLock(), set()
        options = struct("store_options", mode=chosen(MODES, mode, "mode"),
                         lock_wait_ms=lock_wait_ms)
        self._handle = opened("store", lib.crwl_store_free, lib.crwl_store_open, path_of(path),
                              options)

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, kind, value, trace) -> None:
        self.close()

    def close(self) -> None:
        """Commits and closes. Again: no effect. After a SystemFailure it is still open."""
        call(lib.crwl_store_close, self._handle)

    def commit(self) -> int:
        """Publishes all that waits, durably, and returns the number of the commit."""
        generation = number()
        call(lib.crwl_store_commit, self._handle, generation)
        return generation[0]

    def transaction(self) -> Transaction:
        """A transaction, which begins where `with` enters it."""
        return Transaction(self._handle, self._in_transaction)

    def _once(self, make, name, *arguments):
        key = make, os.fsencode(DEFAULT_NAMES[make] if name is None else name)
        # Opening waits for transactions: a thread in one, which is refused, must not wait for it.
        is_refused = threading.get_ident() in self._in_transaction
        if key not in self._opened:
            with contextlib.nullcontext() if is_refused else self._opening:
                if key not in self._opened:
                    self._opened[key] = make(self._handle, name, *arguments)
        return self._opened[key]

    def seen(self, name: Optional[str] = None, *, wide_keys: bool = False, with_pages: bool = True,
             memory_bytes: int = 0) -> Seen:
        """The set of URLs `name` ("urls"), which is made if there is none.

        wide_keys     of a set that is made now: 16 bytes a key; with 8, n URLs expect n^2 / 2^65
                      that wrongly count as seen
        with_pages    URLs of pages count as seen, too
        memory_bytes  of what waits; 0: 64 MiB
        """
        return self._once(Seen, name, wide_keys, with_pages, memory_bytes)

    def keys(self, name: Optional[str] = None, *, key_bytes: int = 16,
             memory_bytes: int = 0) -> Keys:
        """The set of keys `name` ("keys"), which is made if there is none.

        key_bytes     8 or 16, as the set has them
        memory_bytes  of what waits; 0: 64 MiB
        """
        return self._once(Keys, name, key_bytes, memory_bytes)

    def pages(self, name: Optional[str] = None, *, with_urls: bool = True,
              memory_bytes: int = 0) -> Pages:
        """The pages `name` ("pages"), which are made if there are none.

        with_urls     False: pages that are made now have indexes only
        memory_bytes  of edits that wait and their merge; 0: 256 MiB
        """
        return self._once(Pages, name, with_urls, memory_bytes)

    def frontier(self, name: Optional[str] = None, *, pages: Optional[str] = None,
                 own_ids: bool = False, take_commits: bool = True,
                 default_rule: Optional[Rule] = None, checkpoint_bytes: int = 0) -> Frontier:
        """The frontier `name` ("frontier"), which is made if there is none.

        pages             the pages of which it is, such as "pages": the caller's ids are their
                          indexes, groups hosts, bodies empty, and `crawlstore take` prints URLs
        own_ids           of a frontier that is made now: ids are the caller's
        take_commits      False: for callers who commit themselves, as in a transaction
        default_rule      of groups without one, in a frontier that is made now
        checkpoint_bytes  of steps, after which the state is written anew; 0: 8 MiB

        Raises ArgumentError where it is there, and not of these pages.
        """
        return self._once(Frontier, name, pages, own_ids, take_commits, default_rule,
                          checkpoint_bytes)

    def queue(self, name: Optional[str] = None, *, memory_bytes: int = 0) -> Queue:
        """The queue `name` ("queue"), which is made if there is none.

        memory_bytes  at least 32 MiB, of which as much is taken as is needed; 0: 1 GiB
        """
        return self._once(Queue, name, memory_bytes)

    def rank(self, method: str = "pagerank", name: Optional[str] = None, *, damping: float = 0.85,
             precision: float = 1e-6, max_iterations: int = 300, thread_count: int = 0,
             memory_bytes: int = 0) -> RankReport:
        """Computes scores and stores them, in a commit of its own.

        method          "pagerank", "hits" (stores "authorities" and "hubs"), or "opic"
                        ("opic_cash", "opic_history", "opic_crawls")
        name            of the array that "pagerank" stores; None: "pagerank"
        damping         of "pagerank", above 0
        precision       the change of an iteration that is small enough, above 0
        max_iterations  after which nothing is stored, above 0
        thread_count    0: all cores; the result is the same
        memory_bytes    0: three quarters of the machine's

        Inside a transaction it belongs to that. Raises ArgumentError.
        """
        return rank(self._handle, method, name, {
            "damping": damping, "precision": precision, "max_iterations": max_iterations,
            "thread_count": thread_count, "memory_bytes": memory_bytes})

    def store_scores(self, view: View, name: str, values: Sequence[float]) -> None:
        """Stores scores of one's own for the pages of `view`, in a commit of its own.

        values  one for each page, finite and not negative; stored as float32

        Raises ArgumentError: the view is of another file, or pages were forgotten since.
        """
        store_scores(self._handle, view, name, values)

    def compact(self, progress: Optional[Callable[[int, int], None]] = None) -> CompactReport:
        """Moves everything to the front of the file and gives the rest back, in several commits.

        Other threads go on. `progress(done, total)` is told of the work; what it raises stops it.
        Raises ArgumentError inside a transaction and while another thread compacts.
        """
        return compact(self._handle, progress)

    def set(self, name: str, value: bytes) -> None:
        """Keeps a small value under a name, such as how far the input was read; in place of the one
        before. It waits for a commit, or is part of the transaction.

        name   1 to 255 bytes of UTF-8 without control characters or a full stop before them
        value  bytes, or what has them as a buffer: at most 4,096

        Raises ArgumentError for another name or size, and for a 1,025th value.
        """
        set_value(self._handle, name, value)

    def get(self, name: str) -> Optional[bytes]:
        """The small value as it was set last, committed or not; None: there is none."""
        return get_value(self._handle, name)

    def remove(self, name: str) -> bool:
        """Takes a small value away, as `set` sets one. False: there was none."""
        return remove_value(self._handle, name)

    def value_names(self) -> List[str]:
        """The names of all small values, sorted by their bytes."""
        return value_names(self._handle)

    def info(self) -> StoreInfo:
        """Counts of the file."""
        told = struct("store_info")
        call(lib.crwl_store_get_info, self._handle, told)
        return StoreInfo(told.generation, told.file_bytes, told.free_bytes, bytes(told.uuid))


def open(path: Union[str, os.PathLike], *, mode: str = "open_or_create",
         lock_wait_ms: int = 0) -> Store:
    """Opens a crawl file for writing; for `with`, whose end commits and closes it.

    mode          "open_or_create", "open" or "create"
    lock_wait_ms  milliseconds to wait for another writer

    Raises LockedError while another process writes it, SystemFailure if there is none, or is one,
    DamageError, and CrawlstoreError for a file that is no crawl file.
    """
    return Store(path, mode, lock_wait_ms)
