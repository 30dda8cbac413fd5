# SPDX-License-Identifier: Apache-2.0
"""Adding pages and links."""

import datetime
from typing import Callable, NamedTuple, Optional, Sequence, Union

from .arrays import PackedTexts, Text, Texts, column, pointer, to_bytes, to_us
from .binding import NULL, call, chosen, ffi, lib, name_of, opened, struct
from .progress import with_progress

#: What may have happened to a page, by the number of the event.
OUTCOMES = ("page", "known", "gone", "failed", "link_added", "link_removed", "unchanged",
            "redirect", "denied", "duplicate")
NUMBER_OF = {name: number for number, name in enumerate(OUTCOMES)}


class PagesStatus(NamedTuple):
    """Counts, but for the edits as of the last merge."""

    has_urls: bool
    #: Edits that wait.
    edit_count: int
    #: Of what waits.
    memory_bytes: int
    page_count: int
    #: Pages that were fetched at least once.
    crawled_count: int
    #: Distinct pairs of pages.
    link_count: int


class Pages:
    """The pages of a store, and the links between them. Made by `Store.pages`.

    Edits wait until a merge, which comes by itself when they have taken their memory, or when the
    store is told to `merge`; a commit keeps those that wait. A `View` sees what was merged.
    """

    def __init__(self, store, name, with_urls, memory_bytes):
        options = struct("pages_options", without_urls=not with_urls, memory_bytes=memory_bytes)
        self._handle = opened("pages", lib.crwl_pages_free, lib.crwl_pages_open, store,
                              name_of(name), options)
        self._has_urls = self.status().has_urls

    def add(self, url: Union[Text, int], *, outcome: str = "page",
            links: Union[Texts, Sequence[int]] = (), hash: Optional[bytes] = None,
            time: Union[datetime.datetime, int, None] = None, status: int = 0, score: float = 0.0,
            link_scores: Optional[Sequence[float]] = None) -> None:
        """Says what happened to one page.

        url          the page; its index where pages have no URLs
        outcome      one of OUTCOMES; "page": it was fetched, and `links` are all that it has now
        links        targets, as `url` has them; of "redirect" the one it leads to
        hash         of the content, at most 64 bytes
        time         when; a datetime with a time zone, or microseconds since 1970; None: now
        status       what the HTTP server answered; 0: not known
        score        what the page is worth, finite; 0: no opinion
        link_scores  for each link what its target is worth

        Raises ArgumentError for what cannot be. SystemFailure comes from a merge for which memory
        was full: the edit was taken all the same.
        """
        event = struct("event", kind=chosen(NUMBER_OF, outcome, "outcome"), http_status=status,
                       score=score, time_us=to_us(time))
        if self._has_urls:
            raw = ffi.from_buffer(to_bytes(url))
            targets = PackedTexts(links)
            event.url, event.url_bytes = raw, len(raw)
            event.links = targets.value
            count = targets.count
        else:
            targets = column(links, "uint64")
            count = len(targets)
            event.index, event.link_count = url, count
            event.link_indexes = pointer("uint64_t", targets)
        scores = column(link_scores, "float32", count)
        event.link_scores = pointer("float", scores)
        if hash is not None:
            raw_hash = ffi.from_buffer(hash)
            event.content_hash, event.content_hash_bytes = raw_hash, len(raw_hash)
        call(lib.crwl_pages_add, self._handle, event)

    def merge(self, progress: Optional[Callable[[int, int], None]] = None) -> None:
        """Makes pages and links of all edits, and commits. Pages get indexes 0, 1, 2 ...

        `progress(done, total)` is told about long work; what it raises stops the work, and the
        edits still wait. It must not use the store.
        """
        with_progress(progress, lambda told: call(lib.crwl_pages_merge, self._handle, told, NULL))

    def compact(self, progress: Optional[Callable[[int, int], None]] = None) -> None:
        """Joins what merges wrote: smaller, and faster to read. Merges first."""
        with_progress(progress, lambda told: call(lib.crwl_pages_compact, self._handle, told, NULL))

    def status(self) -> PagesStatus:
        """Counts of the pages."""
        told = struct("pages_status")
        call(lib.crwl_pages_get_status, self._handle, told)
        return PagesStatus(bool(told.has_urls), told.edit_count, told.memory_bytes,
                           told.page_count, told.crawled_count, told.link_count)
