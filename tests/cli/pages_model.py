# SPDX-License-Identifier: Apache-2.0
"""A page database as a dictionary: what crawl events make of it, from spec/pages.md alone; and
events at random."""

import random
import struct

from url_model import normalise

KINDS = ("page", "known", "gone", "failed", "linkAdded", "linkRemoved", "unchanged", "redirect",
         "denied", "duplicate")
STATES = ("known", "crawled", "gone", "failed", "redirect", "denied", "duplicate")


class Page:
    def __init__(self, index, url, linked_from, depth, score):
        self.index, self.url, self.linked_from, self.depth = index, url, linked_from, depth
        self.state, self.score, self.hash = "known", score, b""
        self.crawl_count = self.change_count = self.first = self.last = 0
        self.http_status, self.failure_count = None, 0
        self.links = set()


class Pages:
    """Pages by index; URLs are bytes."""

    def __init__(self):
        self.pages = []
        self.by_url = {}

    def name(self, url, linker=None, score=0.0, distance=1):
        key = normalise(url)[0]
        if key not in self.by_url:
            depth = 0 if linker is None else linker.depth + distance
            page = Page(len(self.pages), key, linker and linker.index, depth, score)
            self.pages.append(page)
            self.by_url[key] = page
        return self.by_url[key]

    def apply(self, event):
        page = self.name(event["url"])
        links = sorted(event.get("links", []), key=lambda link: normalise(link[0])[0])
        distance = 0 if event["kind"] == "redirect" else 1
        targets = {self.name(url, page, score, distance).index for url, score in links}
        page.http_status = event.get("status") or page.http_status
        if event["kind"] not in ("failed", "known", "linkAdded", "linkRemoved"):
            page.failure_count = 0
        getattr(self, event["kind"])(page, event, targets)

    def page(self, page, event, targets):
        found = event.get("content_hash", b"")
        if page.crawl_count != 0 and found != page.hash:
            page.change_count += 1
        page.hash = found
        page.score = event.get("score") or page.score
        page.links = targets
        self.unchanged(page, event, targets)

    def unchanged(self, page, event, _):
        time = event["time"]
        if page.crawl_count == 0:
            page.first = page.last = time
        page.first, page.last = min(page.first, time), max(page.last, time)
        page.crawl_count += 1
        page.state = "crawled"

    def known(self, page, event, _):
        if page.crawl_count == 0:
            page.score = event.get("score") or page.score
        if page.state == "gone":
            page.state = "crawled" if page.crawl_count else "known"

    def gone(self, page, _, __):
        page.state, page.links = "gone", set()

    def failed(self, page, _, __):
        page.state = "failed"
        page.failure_count += 1

    def redirect(self, page, _, targets):
        page.state, page.links = "redirect", targets

    def denied(self, page, _, __):
        page.state = "denied"

    def duplicate(self, page, _, __):
        page.state = "duplicate"

    def linkAdded(self, page, _, targets):
        page.links |= targets

    def linkRemoved(self, page, _, targets):
        page.links -= targets

    def edges(self):
        return {(page.index, target) for page in self.pages for target in page.links}


def strange_urls():
    """URLs that break lines, quotes and encodings; those that edges can carry are most of them."""
    return [b"http://a.test/\xff\xfe", b"http://a.test/?q=\"quotes\"&x=<y>", b"no url at all",
            b"http://a.test/a\\b\\x41", b"http://a.test/caf\xc3\xa9", b"http://a.test/,;|'",
            b"\x00\x01\x02", b"http://a.test/\tTAB", b"http://a.test/line\nfeed", b"return\r",
            b"#12", b"#12x", b" ", b"http://a.test/\xef\xbf\xbf\xef\xbf\xbe", b"&amp;&copy;",
            b"http://A.test:80/./x/../y", b"]]>", b"=1+1", b"http://a.test/" + b"x" * 5000,
            b"http://a.test\xff\xfe/", b"http://a.test/%7euser", b"http://b\xc3\xbccher.test/"]


def url_at(number):
    strange = strange_urls()
    if number < len(strange):
        return strange[number]
    return b"http://host%d.test/page/%d" % (number % 7, number)


def score(generator):
    """Exact as a float of 4 bytes."""
    value = generator.choice([0.0, 0.0, 0.5, 1.25, -2.0, 1e30, 1e-30, 0.1, generator.random()])
    return struct.unpack("f", struct.pack("f", value))[0]


def random_events(count, url_count, seed):
    """Events of every kind, as dictionaries with bytes in them."""
    generator = random.Random(seed)

    def url():
        return url_at(min(generator.randrange(url_count), generator.randrange(url_count)))

    for number in range(count):
        kind = generator.choices(KINDS, [8, 2, 1, 2, 2, 2, 1, 1, 1, 1])[0]
        event = {"kind": kind, "url": url(), "time": 10**15 + number * 1_234_567}
        if kind in ("page", "known"):
            event["score"] = score(generator)
        if kind == "page":
            event["content_hash"] = generator.choice([b"", b"\x00", b"\xff" * 64, b"abc"])
        if kind in ("page", "linkAdded", "linkRemoved"):
            event["links"] = [(url(), score(generator)) for _ in range(generator.randrange(9))]
        if kind == "redirect":
            event["links"] = [(url(), score(generator))]
        if generator.random() < 0.3:
            event["status"] = generator.randrange(200, 600)
        yield event
