# SPDX-License-Identifier: Apache-2.0
"""Scrapy crawls that are kept in a crawl file, and go on after `kill -9` where they were.

    SCHEDULER = "pycrawlstore.scrapy.Scheduler"
    DUPEFILTER_CLASS = "pycrawlstore.scrapy.DupeFilter"

    CRAWLSTORE_FILE             the crawl file; default: "<name of the spider>.crawl" in JOBDIR, or
                                in the working directory without one
    CRAWLSTORE_COMMIT_SECONDS   between commits; default: 1
    CRAWLSTORE_COMMIT_REQUESTS  changes of what waits, or was seen, after which a commit does not
                                wait for its time; default: 1000
    CRAWLSTORE_MEMORY           bytes for what waits to be merged; default: 64 MiB

Fingerprints, requests, their order and what is in flight are committed together: after a crash a
crawl goes on as of the last commit, and fetches again what it has taken since, and what was in
flight. A request is done when the engine has let go of it, after all its items.

The order is Scrapy's: the highest priority first, of one priority the newest, or the oldest with a
SCHEDULER_DISK_QUEUE that is FIFO. Three things differ. A request that was in flight at a crash
comes before all else of its download slot, whatever its priority. Priorities of 131,072 and beyond
keep their order, as far as floats can tell them apart, but those of one priority may change places.
And with scrapy.pqueues.DownloaderAwarePriorityQueue, priorities hold inside a download slot, and of
the slots that comes which has waited for the longest time.

Requests are pickled as with JOBDIR: use crawl files that you trust. Those that cannot be, have more
than 64 KiB, or NaN for a priority, stay in memory, are lost in a crash, and counted in the stat
crawlstore/in_memory. A crawl that cannot write its file any more, as when it was deleted, ends as
"crawlstore_error".
"""

import contextlib
import hashlib
import logging
import os
import pathlib
import pickle
import weakref

from queuelib.queue import FifoDiskQueue
from scrapy.core import scheduler as scrapy_scheduler
from scrapy.dupefilters import RFPDupeFilter
from scrapy.pqueues import DownloaderAwarePriorityQueue
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.job import job_dir
from scrapy.utils.misc import load_object
from scrapy.utils.request import RequestFingerprinter, request_from_dict
from twisted.internet.task import LoopingCall

from . import store as crawl_store
from .errors import CrawlstoreError
from .frontier import Rule

logger = logging.getLogger(__name__)

KEY_BYTES = 16
SLOT_BATCH = 64
BODY_BYTES_MAX = 65536
MEMORY_BYTES = 64 << 20
FOREVER_MS = 2**64 - 1
# The downloader has delays of its own.
NO_DELAYS = Rule(delay_ms=0, in_flight_max=2**32 - 1)
# A priority in the file is that of the request times PRIORITY_STEP, and a place among its equals,
# which is an id, or minus one. Start requests of newer versions come after all other places.
ID_LIMIT = 2**34
PRIORITY_STEP = 4.0 * ID_LIMIT
# Priorities beyond it count as it: integers of Python may have no float.
PRIORITY_MAX = 1e290


class CrawlFile:
    """The crawl file of a crawler, which its scheduler and its filter share while either is open.

    A transaction is open from commit to commit. An error drops it and closes the spider.
    """

    _of_crawlers = weakref.WeakKeyDictionary()

    def __init__(self, crawler):
        settings = crawler.settings
        self.crawler = weakref.proxy(crawler)
        self.stats = crawler.stats
        self.has_failed = False
        #: Called before each commit, for what has to be in it.
        self.before_commit = lambda: None
        self.keys = self.frontier = None
        self._path = path_of(crawler)
        self._seconds = settings.getfloat("CRAWLSTORE_COMMIT_SECONDS", 1.0)
        self._change_max = settings.getint("CRAWLSTORE_COMMIT_REQUESTS", 1000)
        self._memory_bytes = settings.getint("CRAWLSTORE_MEMORY", MEMORY_BYTES)
        self._change_count = self._user_count = 0
        self._store = self._transaction = self._timer = None

    @classmethod
    def of(cls, crawler):
        """The one of a crawler."""
        found = cls._of_crawlers.get(crawler)
        if found is None:
            found = cls._of_crawlers[crawler] = cls(crawler)
        return found

    def attach(self):
        """Opens the file for one more user."""
        self._user_count += 1
        if self._user_count > 1:
            return
        self.has_failed = False
        self._store = crawl_store.open(self._path)
        # Half of the memory is for the steps of the frontier and what it holds of their items.
        self.keys = self._store.keys("requests.seen", key_bytes=KEY_BYTES,
                                     memory_bytes=max(self._memory_bytes // 2, 1 << 20))
        self.frontier = self._store.frontier("requests", take_commits=False, default_rule=NO_DELAYS,
                                             checkpoint_bytes=max(self._memory_bytes // 8, 1 << 16))
        self._begin()
        self._timer = LoopingCall(self._tick)
        self._timer.start(self._seconds, now=False)

    def detach(self):
        """Commits; the last user closes the file."""
        self._user_count -= 1
        try:
            if not self.has_failed:
                self.commit()
        finally:
            if self._user_count == 0:
                self._close()

    def _close(self):
        self._timer.stop()
        self._transaction.drop()
        with contextlib.suppress(CrawlstoreError) if self.has_failed else contextlib.nullcontext():
            self._store.close()
        self.keys = self.frontier = self._store = None

    def _begin(self):
        self._change_count = 0
        self._transaction = self._store.transaction().__enter__()

    def changed(self):
        """Counts a change towards the next commit."""
        self._change_count += 1

    def commit(self):
        """Publishes what has changed; no effect without a change."""
        self.before_commit()
        if self._change_count == 0:
            return
        self._transaction.commit()
        self.stats.inc_value("crawlstore/commits")
        # Inside transactions nothing is merged; two such halves are a full memory.
        if self.keys.status().pending_count * 2 * KEY_BYTES > self._memory_bytes // 4:
            self.keys.merge()
        self._begin()

    def commit_if_due(self):
        """Commits after CRAWLSTORE_COMMIT_REQUESTS changes. Not between the fingerprint of a
        request and the request itself."""
        if self._change_count >= self._change_max and not self.has_failed:
            with self.failing():
                self.commit()

    def _tick(self):
        if not self.has_failed:
            with self.failing():
                self.commit()

    @contextlib.contextmanager
    def failing(self):
        """An error of the file inside ends the crawl, as of the last commit."""
        try:
            yield
        except CrawlstoreError as error:
            self.fail(error)

    def fail(self, error):
        """Ends the crawl, as of the last commit."""
        self.has_failed = True
        with contextlib.suppress(CrawlstoreError):
            self._transaction.drop()
        logger.error("Closing the spider: %s cannot be written: %s (%s); a new start goes on "
                     "from its last commit", self._path, error, error.name or error.code)
        # The engine may be in the middle of a request.
        from twisted.internet import reactor  # pylint: disable=import-outside-toplevel
        reactor.callLater(0, self._close_spider)

    def _close_spider(self):
        if self.crawler.engine is not None and self.crawler.spider is not None:
            self.crawler.engine.close_spider(self.crawler.spider, "crawlstore_error")


def path_of(crawler):
    """The path of the crawl file of a crawler."""
    given = crawler.settings.get("CRAWLSTORE_FILE")
    if given:
        return os.fspath(given)
    name = getattr(crawler.spider or crawler.spidercls, "name", None) or "spider"
    return str(pathlib.Path(job_dir(crawler.settings) or "") / f"{name.replace('/', '_')}.crawl")


def slot_of(engine):
    """The requests that the engine holds of the spider, with those in progress; None: there is
    none."""
    if engine is None:
        return None
    for name in ("slot", "_slot"):  # The second one from Scrapy 2.13 on.
        slot = getattr(engine, name, None)
        if hasattr(slot, "inprogress"):
            return slot
    raise RuntimeError("pycrawlstore.scrapy does not know this version of Scrapy: "
                       "its engine has neither slot.inprogress nor _slot.inprogress")


class RequestQueue:
    """The requests that wait in the file, as the `dqs` of a scheduler of Scrapy, and those that
    were taken from it and are in progress."""

    def __init__(self, crawler, spider, sign, is_by_slot):
        self._file = CrawlFile.of(crawler)
        self._crawler = weakref.proxy(crawler)
        slot_of(crawler.engine)
        self._spider, self._sign = spider, sign
        # One of each slot is taken at once: of visits in one millisecond none is the longest ago.
        self._order = {"order": "longest_waiting", "count": SLOT_BATCH} if is_by_slot else {}
        start_queue = crawler.settings.get("SCHEDULER_START_DISK_QUEUE")
        self._start_sign = place_sign(load_object(start_queue)) if start_queue else None
        self._is_logged = False
        self._taken = []
        self._in_progress = {}
        self._groups, self._bodies, self._ranks = [], [], []
        self._file.attach()
        self._file.frontier.give_back_all()
        status = self._file.frontier.status()
        self._next_id, self._count = status.next_id, status.waiting_count
        self._file.before_commit = self._prepare_commit
        if self._count:
            logger.info("Resuming crawl (%d requests scheduled)", self._count)

    def __len__(self):
        return 0 if self._file.has_failed else self._count

    def push(self, request):
        """Puts a request; ValueError where it cannot be."""
        try:
            body, group = body_of(request, self._spider), group_of(request)
            rank = self._rank(request)
        except ValueError as error:
            self._file.stats.inc_value("crawlstore/in_memory")
            if not self._is_logged:
                logger.warning("%s stays in memory, where a crash loses it: %s; others that do are "
                               "only counted, in crawlstore/in_memory", request, error)
                self._is_logged = True
            raise
        # Put all at once before the next take: most callbacks yield many.
        self._groups.append(group)
        self._bodies.append(body)
        self._ranks.append(rank)
        self._next_id += 1
        self._count += 1
        self._file.changed()
        self._file.stats.inc_value("crawlstore/enqueued")

    def _rank(self, request):
        """The priority in the file; ValueError: it has none."""
        if request.priority != request.priority:
            raise ValueError("its priority is NaN")
        priority = float(max(-PRIORITY_MAX, min(request.priority, PRIORITY_MAX)))
        place = float(self._next_id % ID_LIMIT)
        if self._start_sign is not None and request.meta.get("is_start_request"):
            place = self._start_sign * place - 2.0 * ID_LIMIT
        else:
            place *= self._sign
        return priority * PRIORITY_STEP + place

    def pop(self):
        """Takes the next request; None: there is none."""
        while len(self) > 0:
            if not self._taken:
                try:
                    self._put_waiting()
                    self._taken = self._file.frontier.take(lease_ms=FOREVER_MS, **self._order)[::-1]
                except CrawlstoreError as error:
                    self._file.fail(error)
                self._file.changed()
            if not self._taken:
                return None
            item = self._taken.pop()
            self._count -= 1
            request = self._request_of(item)
            if request is not None:
                self._in_progress[item.id] = request
                self._file.stats.inc_value("crawlstore/dequeued")
                return request
        return None

    def _request_of(self, item):
        """The request of an item; None: it stays leased, and comes again at the next start."""
        try:
            return request_from_dict(pickle.loads(item.body), spider=self._spider)
        except Exception:  # pickle and the classes of requests raise what they like.
            self._file.stats.inc_value("crawlstore/unreadable")
            logger.error("A request that this spider cannot read stays in the file", exc_info=True)
            return None

    def _put_waiting(self):
        if self._bodies:
            # The same as put_many, without a need of NumPy.
            self._file.frontier._put(  # pylint: disable=protected-access
                self._groups, self._bodies, self._ranks)
            self._groups, self._bodies, self._ranks = [], [], []

    def _prepare_commit(self):
        self._put_waiting()
        slot = slot_of(self._crawler.engine)
        done = [] if slot is None else [id for id, request in self._in_progress.items()
                                        if request not in slot.inprogress]
        if done:
            self._file.frontier.finish(done)
            self._file.changed()
            for id in done:
                del self._in_progress[id]

    def close(self):
        """Commits, and lets go of the file."""
        try:
            self._file.detach()
        finally:
            self._file.before_commit = lambda: None


def body_of(request, spider):
    """A request as it stands in the file; ValueError: it cannot."""
    try:
        body = pickle.dumps(dict_of(request, spider), protocol=4)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(str(error)) from error
    if len(body) > BODY_BYTES_MAX:
        raise ValueError(f"it has {len(body)} bytes, and at most {BODY_BYTES_MAX} can be kept")
    return body


def dict_of(request, spider):
    """Request.to_dict, which looks for each callback among all that the spider has: that takes
    longer than the rest, so methods that have the name they say they have are named before."""
    given = request.callback, request.errback
    try:
        request.callback, request.errback = (named(each, spider) for each in given)
        return request.to_dict(spider=spider)
    finally:
        request.callback, request.errback = given


def named(callback, spider):
    """The name of a callback if it is a method that the spider has by its own name, or itself."""
    if getattr(callback, "__self__", None) is not spider:
        return callback
    name = getattr(callback, "__name__", "")
    return name if getattr(spider, name, None) == callback else callback


def group_of(request):
    """The download slot of a request, as it is where none is set by IP address."""
    slot = request.meta.get("download_slot")
    return str(slot) if slot is not None else urlparse_cached(request).hostname or ""


def place_sign(queue_class):
    """-1 for queues where the oldest comes first, 1 for others."""
    return -1.0 if issubclass(queue_class, FifoDiskQueue) else 1.0


class Scheduler(scrapy_scheduler.Scheduler):
    """Scrapy's scheduler with its requests in a crawl file instead of JOBDIR."""

    def __init__(self, dupefilter, jobdir=None, **others):
        super().__init__(dupefilter, None, **others)
        self._file = CrawlFile.of(self.crawler)
        self.dqs = None

    def open(self, spider):
        """Opens the queue in memory, the filter, and the crawl file."""
        opened = super().open(spider)
        self.dqs = RequestQueue(self.crawler, spider, place_sign(self.dqclass),
                                issubclass(self.pqclass, DownloaderAwarePriorityQueue))
        return opened

    def close(self, reason):
        """Commits, and closes."""
        try:
            if self.dqs is not None:
                self.dqs.close()
        finally:
            closed = self.df.close(reason)
        return closed

    def enqueue_request(self, request):
        """Whether the request was taken: it was not seen before."""
        self._file.commit_if_due()
        return not self._file.has_failed and super().enqueue_request(request)

    def next_request(self):
        """The next request, or None."""
        self._file.commit_if_due()
        return None if self._file.has_failed else super().next_request()

    def has_pending_requests(self):
        """Whether a request waits."""
        return not self._file.has_failed and len(self) > 0


class DupeFilter(RFPDupeFilter):
    """Scrapy's filter with its fingerprints in the crawl file.

    A key is the fingerprint cut to 16 bytes. For a fingerprinter other than Scrapy's own, whose
    bytes may not be spread evenly, it is a hash of all of it.
    """

    def __init__(self, path=None, debug=False, *, fingerprinter=None):
        super().__init__(None, debug, fingerprinter=fingerprinter)
        self._file = None
        self._is_open = self._is_cut = False

    @classmethod
    def from_crawler(cls, crawler):
        """Makes the one of a crawler."""
        made = super().from_crawler(crawler)
        made._file = CrawlFile.of(crawler)
        return made

    def open(self):
        """Opens the crawl file."""
        self._is_cut = (type(self.fingerprinter) is RequestFingerprinter and
                        type(self).request_fingerprint is RFPDupeFilter.request_fingerprint)
        if not self._is_open:
            self._file.attach()
            self._is_open = True

    def close(self, reason):
        """Commits, and closes."""
        if self._is_open:
            self._is_open = False
            self._file.detach()

    def _key(self, request):
        if self._is_cut:
            return self.fingerprinter.fingerprint(request)[:KEY_BYTES]
        text = self.request_fingerprint(request)
        return hashlib.blake2b(text.encode(), digest_size=KEY_BYTES).digest()

    def request_seen(self, request):
        """Whether the request was seen; it is remembered in the same step."""
        try:
            is_new = self._file.keys.insert(self._key(request))
        except CrawlstoreError as error:
            self._file.fail(error)
            return True
        self._file.changed()
        return not is_new
