# SPDX-License-Identifier: Apache-2.0
"""A local web site with redirects, pages that fail at first, and errors."""

import collections
import http.server
import threading

LINK_COUNT = 8


class Site:
    """Pages /0 to /<page_count - 1> on a port of this machine.

    The fourth of ten pages is a redirect, and the sixth answers 503 when it is asked for the first
    time. One page in 50 links to one that is gone, one to one that is always broken.
    """

    def __init__(self, page_count):
        self.page_count = page_count
        self.served = collections.Counter()
        #: Called with the count of all answers, after each.
        self.on_answer = lambda count: None
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            """Answers from the site."""

            protocol_version = "HTTP/1.1"

            def do_GET(self):  # pylint: disable=invalid-name
                """Answers a request."""
                status, headers, body = site.answer(self.path)
                self.send_response(status)
                for name, value in {**headers, "Content-Length": len(body)}.items():
                    self.send_header(name, str(value))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):  # pylint: disable=arguments-differ
                """Says nothing."""

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.handle_error = lambda *_: None  # A client that was killed is no error.
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def url(self, path="/0"):
        """The URL of a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}{path}"

    def urls(self):
        """All URLs that are linked: those which a crawl must have asked for."""
        numbers = range(self.page_count)
        return {self.url(path) for number in numbers for path in links(number, self.page_count)}

    def answer(self, path):
        """The status, the headers and the body for a path."""
        self.served[path] += 1
        self.on_answer(self.served.total())
        kind, number = path.strip("/0123456789"), int(path.rpartition("/")[2])
        if kind in ("gone", "broken"):
            return (404 if kind == "gone" else 500), {}, b""
        if kind == "" and number % 10 == 3:
            return 302, {"Location": f"/moved/{number}"}, b""
        if number % 10 == 5 and self.served[path] == 1:
            return 503, {}, b""
        anchors = "".join(f'<a href="{to}">{to}</a>' for to in links(number, self.page_count))
        return 200, {"Content-Type": "text/html"}, f"<html>{anchors}</html>".encode()

    def close(self):
        """Ends the server."""
        self._server.shutdown()
        self._server.server_close()


def links(number, page_count):
    """The paths that a page links to; all pages are reached from the first one."""
    numbers = [0, 2 * number + 1, 2 * number + 2]
    numbers += [(number * 31 + i * 977 + 1) % page_count for i in range(LINK_COUNT - 3)]
    paths = [f"/{to}" for to in numbers if to < page_count]
    if number % 50 == 8:
        paths.append(f"/gone/{number}")
    if number % 50 == 9:
        paths.append(f"/broken/{number}")
    return paths
