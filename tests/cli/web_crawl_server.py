#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server of this machine that stands for some hundred hosts, for examples/web_crawl.

It notes each request from its arrival until before its last bytes. A model of the sites finds out
which pages are there to be fetched.

  tests/cli/web_crawl_server.py --port 8080
  web_crawl c.crawl http://host0.test/page0.html --resolve-all 127.0.0.1:8080 --user-agent test
"""

import argparse
import collections
import http.server
import math
import random
import socket
import threading
import time
from urllib.parse import urljoin

import command

HOSTS = 1500 if command.IS_LONG else 300
PAGES = 6  # of a host
DELAY = 0.05
TIMEOUT = 5
SLOW, HANGING = 0.3, 2 * TIMEOUT
STATES = {200: "crawled", 404: "gone", 410: "gone"}  # of pages, by the answer
HUGE = b"<a href=/only-in-huge>" + b"x" * (9 << 20)

Answer = collections.namedtuple("Answer", "status headers body seconds links state")


def answer(links=(), status=200, seconds=0.0, type="text/html; charset=utf-8", **more):
    body = more.get("body", "<!doctype html><title>t</title>" + "".join(
        f"<p><a href='{link}'>x</a>" for link in links))
    headers = {"Content-Type": type, **more.get("headers", {})}
    state = STATES.get(status, "redirect" if status < 400 else "failed")
    if seconds > TIMEOUT or len(body) > 8 << 20:
        state = "failed"
    found = more.get("found", links if state in ("crawled", "redirect") else [])
    return Answer(status, headers, body if isinstance(body, bytes) else body.encode(), seconds,
                  found, state)


def url(host, page):
    return f"http://host{host}.test/page{page}.html"


class Sites:
    """{URL: Answer}. Links lead from host to host, as in a binary tree, and here and there."""

    def __init__(self, generator, has_hanging=False):
        self.pages, self.denied = {}, set()
        for host in range(HOSTS):
            for page in range(PAGES):
                links = [f"page{(page + 1) % PAGES}.html#there", f"/missing{page % 2}"]
                links += [url(generator.randrange(HOSTS), generator.randrange(PAGES))
                          for _ in range(8)]
                if page == 0:
                    links += [url(child, 0) for child in (2 * host + 1, 2 * host + 2)
                              if child < HOSTS]
                seconds = SLOW if generator.random() < 0.02 else 0
                self.pages[url(host, page)] = answer(links, seconds=seconds)
        special = {
            "/from": answer(status=302, headers={"Location": "/to?a=b"}, found=["/to?a=b"]),
            "/to?a=b": answer(["/behind"]),
            "/behind": answer(),
            "/huge": answer(body=HUGE),
            "/text": answer(["/only-in-text"], type="text/plain", found=[]),
            "/base": answer(body="<base href='/deep/down/'><a href=a>x</a>",
                            found=["/deep/down/a"]),
            "/deep/down/a": answer(["mailto:a@b.test", "ftp://files.test/"], found=[]),
        }
        if has_hanging:
            special["/hanging"] = answer(["/only-in-hanging"], seconds=HANGING)
        first = "http://special.test"
        self.pages.update({first + path: page for path, page in special.items()})
        linked = [path for path in special if path != "/to?a=b"]
        self.pages[first + "/"] = answer(linked + ["HTTP://Special.TEST:80/from#again"],
                                         found=linked)
        self.seeds = [url(0, 0), first + "/"]

    def find(self, url):
        return self.pages.get(url) or answer(status=404)

    def reachable(self):
        """{URL: the state that its page gets}"""
        found, waiting = {}, list(self.seeds)
        while waiting:
            page = waiting.pop()
            if page in self.denied:
                found[page] = "denied"
            elif page not in found:
                found[page] = self.find(page).state
                waiting += [urljoin(page, link).split("#")[0] for link in self.find(page).links]
        return found


class Request:
    def __init__(self, host, path):
        self.host, self.path, self.begin, self.end = host, path, time.monotonic(), math.inf
        self.modified_since = None


class Server(http.server.ThreadingHTTPServer):
    daemon_threads, block_on_close = True, False
    request_queue_size = 512

    def __init__(self, sites, port=0, address="127.0.0.1"):
        self.address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
        super().__init__((address, port), Handler)
        self.sites, self.requests, self.lock = sites, [], threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        """Clients that were killed, or had no time left."""

    def stop(self):
        self.shutdown()
        self.server_close()
        with self.lock:
            return list(self.requests)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self):
        request = Request(self.headers["Host"], self.path)
        with self.server.lock:
            self.server.requests.append(request)
        page = self.server.sites.find(f"http://{request.host}{request.path}")
        request.modified_since = self.headers["If-Modified-Since"]
        # Without a time of its own a page is as it was.
        if request.modified_since and page.status == 200 and "Last-Modified" not in page.headers:
            page = answer(status=304)
        time.sleep(page.seconds)
        self.send_response_only(page.status)
        for name, value in {**page.headers, "Content-Length": len(page.body)}.items():
            self.send_header(name, value)
        self.end_headers()
        request.end = time.monotonic()
        self.wfile.write(page.body)


def main():
    parser = argparse.ArgumentParser(description="pages of some hundred hosts, until Ctrl-C")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--seed", type=int, default=1, help="of the links")
    options = parser.parse_args()
    sites = Sites(random.Random(options.seed), has_hanging=True)
    server = Server(sites, options.port)
    states = collections.Counter(sites.reachable().values())
    print(f"127.0.0.1:{options.port}: {HOSTS + 1} hosts, from {' and '.join(sites.seeds)}; "
          f"by state {dict(states)}", flush=True)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        print(f"{len(server.stop())} requests")


if __name__ == "__main__":
    main()
