# SPDX-License-Identifier: Apache-2.0
"""A spider that writes down each page that it is done with."""

import os

import scrapy


class Pages(scrapy.Spider):
    """Follows all links from `start`; appends the path of a page, or of an error, to `log`."""

    name = "pages"

    def __init__(self, start, log, *arguments, **others):
        super().__init__(*arguments, **others)
        self._start = start
        self._log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)

    def start_requests(self):
        """The first page, once: without dont_filter it does not come again at each start."""
        yield scrapy.Request(self._start, errback=self.failed)

    def parse(self, response, **others):
        """Follows the links of a page."""
        yield from response.follow_all(css="a", errback=self.failed)
        self.write_down(response.request)

    def failed(self, failure):
        """Writes down a page that is an error."""
        self.write_down(failure.request)

    def write_down(self, request):
        """Appends the URL that was linked, before redirects. Survives kill -9."""
        url = request.meta.get("redirect_urls", [request.url])[0]
        os.write(self._log, f"{url}\n".encode())
