# SPDX-License-Identifier: Apache-2.0
"""Scrapy crawls in a crawl file."""

import importlib
import json
import os
import pathlib
import subprocess
import sys
import textwrap
import types

import pytest

import pycrawlstore as pc

# pylint: disable=wrong-import-position
pytest.importorskip("scrapy")

from scrapy import Request, Spider  # noqa: E402
from scrapy.utils.test import get_crawler  # noqa: E402

from pycrawlstore.scrapy import DupeFilter, Scheduler, dict_of  # noqa: E402

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples/scrapy"
CLASSES = {"SCHEDULER": Scheduler, "DUPEFILTER_CLASS": DupeFilter}
A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"


class Named(Spider):
    """Has callbacks."""

    name = "named"

    def parse(self, response, **others):
        """Never called."""

    def __hide(self, response):
        """Has another name than it says."""

    hidden = __hide


class Crawl:
    """A scheduler without an engine: what is taken is in progress until it is `finish`ed."""

    def __init__(self, **settings):
        everything = {"REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7", "DUPEFILTER_CLASS": DupeFilter}
        self.crawler = get_crawler(Named, {**everything, **settings})
        self.spider = self.crawler.spider = self.crawler._create_spider()
        self.slot = types.SimpleNamespace(inprogress=set())
        downloader = types.SimpleNamespace(slots={})
        self.crawler.engine = types.SimpleNamespace(slot=self.slot, downloader=downloader)
        self.scheduler = Scheduler.from_crawler(self.crawler)
        self.scheduler.open(self.spider)

    def put(self, *urls, **values):
        """Whether each was taken."""
        return [self.scheduler.enqueue_request(Request(url, **values)) for url in urls]

    def take(self):
        """The next request, which is in progress then."""
        request = self.scheduler.next_request()
        self.slot.inprogress.add(request)
        return request

    def take_all(self):
        """The URLs of all that wait."""
        urls = []
        while self.scheduler.has_pending_requests():
            urls.append(self.take().url)
        return urls

    def close(self):
        """Commits and closes."""
        self.scheduler.close("finished")

    def stat(self, name):
        """A count of ours."""
        return self.crawler.stats.get_value(f"crawlstore/{name}")


@pytest.fixture(autouse=True)
def fixture_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_the_file_is_named_after_the_spider_or_by_settings():
    for settings, path in [({}, "named.crawl"), ({"JOBDIR": "job"}, "job/named.crawl"),
                           ({"JOBDIR": "job", "CRAWLSTORE_FILE": "x.crawl"}, "x.crawl")]:
        assert not os.path.exists(path)
        Crawl(**settings).close()
        assert os.path.exists(path)
    assert os.listdir("job") == ["named.crawl"]


@pytest.mark.parametrize("reopens", [False, True])
@pytest.mark.parametrize("queue, expected", [("Lifo", [C, A + "2", B, A, A + "3"]),
                                             ("Fifo", [C, A, B, A + "2", A + "3"])])
def test_requests_leave_in_the_order_of_scrapy(queue, expected, reopens):
    settings = {"SCHEDULER_DISK_QUEUE": f"scrapy.squeues.Pickle{queue}DiskQueue"}
    crawl = Crawl(**settings)
    assert all(crawl.put(A, B, A + "2") + crawl.put(C, priority=2) +
               crawl.put(A + "3", priority=-1))
    if reopens:
        crawl.close()
        crawl = Crawl(**settings)
    assert len(crawl.scheduler) == 5 and crawl.take_all() == expected
    crawl.close()


def test_start_requests_of_newer_versions_are_first_in_first_out():
    crawl = Crawl(SCHEDULER_START_DISK_QUEUE="scrapy.squeues.PickleFifoDiskQueue")
    crawl.put(A, B, meta={"is_start_request": True})
    crawl.put(C, C + "2")
    assert crawl.take_all() == [C + "2", C, A, B]
    crawl.close()


def test_slots_take_turns_where_the_queue_is_aware_of_them():
    queue = "scrapy.pqueues.DownloaderAwarePriorityQueue"
    crawl = Crawl(SCHEDULER_PRIORITY_QUEUE=queue, CONCURRENT_REQUESTS_PER_IP=0)
    crawl.put(A, A + "2", A + "3", B, meta={"download_slot": "one"})
    crawl.put(B + "2", B + "3", meta={"download_slot": "two"})
    slots = [crawl.take().meta["download_slot"] for _ in range(4)]
    assert slots == ["one", "two"] * 2
    crawl.close()


def test_requests_are_what_they_were():
    crawl = Crawl()
    request = Request(A, crawl.spider.parse, "POST", {"X": "1"}, b"\xff", meta={"depth": 3},
                      cb_kwargs={"k": [1]}, flags=["f"])
    assert crawl.scheduler.enqueue_request(request)
    crawl.close()
    crawl = Crawl()
    again = crawl.take()
    assert again.to_dict(spider=crawl.spider) == request.to_dict(spider=request.callback.__self__)
    crawl.close()


def test_the_filter_knows_what_it_has_seen():
    crawl = Crawl()
    assert crawl.put(A, A, B) == [True, False, True] and crawl.put(A, dont_filter=True) == [True]
    crawl.close()
    crawl = Crawl(CRAWLSTORE_MEMORY=1 << 20)
    assert crawl.put(A, B, C) == [False, False, True] and len(crawl.scheduler) == 4
    crawl.close()
    crawl = Crawl(DUPEFILTER_CLASS="scrapy.dupefilters.BaseDupeFilter")
    assert crawl.put(A, A) == [True, True] and len(crawl.scheduler) == 6
    crawl.close()


def test_fingerprints_of_others_count_as_a_whole():
    class ByUrl:
        """Its first 16 bytes are equal for many."""

        def fingerprint(self, request):
            """The URL."""
            return request.url.encode()

    crawl = Crawl(REQUEST_FINGERPRINTER_CLASS=ByUrl)
    assert crawl.put("http://a.test/page/1", "http://a.test/page/2") == [True, True]
    crawl.close()


def test_what_is_in_progress_comes_again_and_what_is_done_does_not():
    crawl = Crawl()
    crawl.put(A, B)
    assert crawl.take().url == B
    done = crawl.take()
    crawl.slot.inprogress.remove(done)
    crawl.close()
    crawl = Crawl()
    assert crawl.take_all() == [B]
    crawl.close()
    assert (crawl.stat("enqueued"), crawl.stat("dequeued"), crawl.stat("commits")) == (None, 1, 1)


def test_without_an_engine_nothing_is_done():
    crawl = Crawl()
    crawl.put(A)
    crawl.crawler.engine = None
    assert crawl.scheduler.next_request().url == A
    crawl.close()
    crawl = Crawl()
    assert crawl.take_all() == [A]
    crawl.close()


def test_commits_come_after_so_many_requests():
    crawl = Crawl(CRAWLSTORE_COMMIT_REQUESTS=10)
    # A request and its fingerprint are two changes.
    crawl.put(*(f"{A}{i}" for i in range(20)))
    assert crawl.stat("enqueued") == 20 and crawl.stat("commits") == 3
    crawl.close()


def test_many_fingerprints_are_merged_between_transactions():
    crawl = Crawl(CRAWLSTORE_MEMORY=1 << 20, CRAWLSTORE_COMMIT_REQUESTS=5000)
    urls = [f"{A}{i}" for i in range(20_000)]
    assert all(crawl.put(*urls)) and not any(crawl.put(*urls[::100]))
    crawl.close()
    with pc.open("named.crawl") as store:
        assert store.keys("requests.seen").status().key_count > 5000


def test_callbacks_are_named_as_scrapy_names_them():
    spider = Named()
    for callback, errback in [(spider.parse, None), (None, spider.hidden), ("parse", "hidden")]:
        request = Request(A, callback=spider.parse)
        request.callback, request.errback = callback, errback
        assert dict_of(request, spider) == request.to_dict(spider=spider)
        assert (request.callback, request.errback) == (callback, errback)
    hidden, spider.parse = Request(A, callback=spider.parse), print
    with pytest.raises(ValueError, match="parse"):
        dict_of(hidden, spider)


def test_requests_that_cannot_be_pickled_stay_in_memory(caplog):
    crawl = Crawl()
    crawl.put(A, callback=lambda response: None)
    crawl.put(B, method="POST", body=b"x" * 70_000)
    assert crawl.stat("in_memory") == 2 and len(crawl.scheduler) == 2
    assert caplog.text.count("stays in memory") == 1
    assert sorted(crawl.take_all()) == [A, B] and crawl.stat("dequeued") is None
    crawl.close()


def test_priorities_that_have_no_float_keep_their_order():
    crawl = Crawl()
    for url, priority in [(A, 10**400), (B, -10**400), (C, 0)]:
        crawl.put(url, priority=priority)
    assert len(crawl.scheduler.dqs) == 3 and crawl.take_all() == [A, C, B]
    crawl.put(A + "2", B + "2")
    request = Request(C + "2")
    request.priority = float("nan")
    assert crawl.scheduler.enqueue_request(request) and crawl.stat("in_memory") == 1
    request = Request(C + "3")
    request.priority = "high"
    with pytest.raises(TypeError):
        crawl.scheduler.enqueue_request(request)
    # Columns have kept their equal lengths.
    assert sorted(crawl.take_all()) == [A + "2", B + "2", C + "2"]
    crawl.close()


def test_what_was_in_flight_comes_first_whatever_its_priority():
    crawl = Crawl()
    crawl.put(A, priority=-10)
    assert crawl.take().url == A
    crawl.put(A + "2", priority=10)
    crawl.close()
    crawl = Crawl()
    assert crawl.take_all() == [A, A + "2"]
    crawl.close()


def test_requests_for_a_callback_that_is_gone_stay_in_the_file(monkeypatch):
    crawl = Crawl()
    crawl.put(A, callback=crawl.spider.parse)
    crawl.close()
    with monkeypatch.context() as patch:
        patch.setattr(Named, "parse", property())
        crawl = Crawl()
        assert crawl.scheduler.next_request() is None and crawl.stat("unreadable") == 1
        assert not crawl.scheduler.has_pending_requests()
        crawl.close()
    crawl = Crawl()
    assert crawl.take_all() == [A]
    crawl.close()


def test_an_engine_of_another_kind_is_refused():
    crawl = Crawl()
    crawl.close()
    crawl.crawler.engine = types.SimpleNamespace(_slot=crawl.slot)
    scheduler = Scheduler.from_crawler(crawl.crawler)
    scheduler.open(crawl.spider)
    scheduler.close("finished")
    crawl.crawler.engine = types.SimpleNamespace(slots=[])
    scheduler = Scheduler.from_crawler(crawl.crawler)
    with pytest.raises(RuntimeError, match="_slot"):
        scheduler.open(crawl.spider)
    scheduler.close("finished")


def test_a_file_that_was_deleted_closes_the_spider(tmp_path):
    # A timer finds it: nothing is put or taken any more.
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent("""
        import json, os, sys
        from scrapy import Request, Spider
        from scrapy.crawler import CrawlerProcess
        from twisted.internet import reactor
        from twisted.internet.defer import Deferred

        class Deleting(Spider):
            name = "deleting"
            start_urls = ["data:,a"]

            def parse(self, response, **others):
                os.remove("deleting.crawl")
                yield Request("data:,b", self.wait)

            async def wait(self, response, **others):
                waiting = Deferred()
                reactor.callLater(0.5, waiting.callback, None)
                await waiting

        process = CrawlerProcess(json.loads(sys.argv[1]))
        crawler = process.create_crawler(Deleting)
        process.crawl(crawler)
        process.start()
        print(json.dumps(crawler.stats.get_stats(), default=str))
        """), encoding="ascii")
    settings = {"SCHEDULER": "pycrawlstore.scrapy.Scheduler", "CRAWLSTORE_COMMIT_SECONDS": 0.1,
                "DUPEFILTER_CLASS": "pycrawlstore.scrapy.DupeFilter",
                "TELNETCONSOLE_ENABLED": False, "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7"}
    ran = subprocess.run([sys.executable, "-B", script, json.dumps(settings)], text=True,
                         capture_output=True, check=True, timeout=60)
    assert json.loads(ran.stdout)["finish_reason"] == "crawlstore_error"
    assert "Closing the spider" in ran.stderr and "Traceback" not in ran.stderr
    assert not os.path.exists("deleting.crawl")


def test_a_crawl_that_is_killed_loses_no_page(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLE)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    kill = importlib.import_module("kill_and_resume")
    site = kill.Site(200)
    commit_requests = 60
    killed, lost, repeated = kill.crawl_with_kills(
        site, tmp_path, 7, 3, {"CRAWLSTORE_COMMIT_REQUESTS": commit_requests})
    site.close()
    assert (killed, lost) == (3, 0)
    assert repeated <= killed * (commit_requests + kill.CONCURRENT_REQUESTS)
