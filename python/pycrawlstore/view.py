# SPDX-License-Identifier: Apache-2.0
"""Reading pages, links and scores of one generation."""

import os
from typing import TYPE_CHECKING, Any, Dict, NamedTuple, Optional, Union

from . import errors
from .arrays import Text, numpy, pointer, to_bytes, to_text
from .arrow import ArrowColumns
from .binding import call, ffi, lib, name_of, number, opened, path_of, struct

if TYPE_CHECKING:
    import scipy.sparse

#: States of pages, by number: pandas.Categorical.from_codes(codes, pc.STATES) names them.
STATES = ("known", "crawled", "gone", "failed", "redirect", "denied", "duplicate", "elsewhere")
NO_PAGE = 2**64 - 1
TOO_LARGE = 85
URL_BUFFER_BYTES = 1 << 23

# Columns: the field of the C struct, the type there, and the type for the caller.
COLUMNS = {
    "linked_from": ("linked_from", "uint64", "int64"),
    "depth": ("depth", "uint32", "uint32"),
    "state": ("state", "uint8", "uint8"),
    "http_status": ("http_status", "uint16", "uint16"),
    "crawl_count": ("crawl_count", "uint32", "uint32"),
    "change_count": ("change_count", "uint32", "uint32"),
    "failure_count": ("failure_count", "uint32", "uint32"),
    "first_crawl": ("first_crawl_us", "int64", "datetime64[us]"),
    "last_crawl": ("last_crawl_us", "int64", "datetime64[us]"),
    "score": ("score", "float32", "float32"),
}
C_TYPES = {"uint64": "uint64_t", "uint32": "uint32_t", "uint8": "uint8_t",
           "uint16": "uint16_t", "int64": "int64_t", "float32": "float"}


class ViewInfo(NamedTuple):
    """The view and its pages as a whole."""

    generation: int
    #: Page indexes are below it.
    page_count: int
    #: Pages that were fetched at least once.
    crawled_count: int
    #: Distinct pairs of pages.
    link_count: int
    #: Edits that wait in the file, and are not seen.
    event_count: int
    has_urls: bool
    #: Names the store for its whole life.
    uuid: bytes


class ScoresInfo(NamedTuple):
    """An array of scores, and the computation that it came from."""

    value_count: int
    #: Else its numbers are float32.
    has_doubles: bool
    #: The generation that was read to compute them.
    generation: int
    #: Microseconds since 1970.
    time_us: int
    sum: float
    #: The change of the last iteration, summed.
    residual: float
    iteration_count: int
    #: Pages or links have changed since.
    is_stale: bool


class Mapped:
    """Scores as they are mapped from the file. NumPy arrays over it keep it, and so its handle and
    generation; as it is no buffer, they cannot be made writable."""

    def __init__(self, handle):
        self._handle = handle
        told = struct("scores_info")
        call(lib.crwl_scores_get_info, handle, told)
        self.info = ScoresInfo(told.value_count, bool(told.has_doubles), told.generation,
                               told.time_us, told.sum, told.residual, told.iteration_count,
                               bool(told.is_stale))
        kind, read = (("double", lib.crwl_scores_doubles) if self.info.has_doubles else
                      ("float", lib.crwl_scores_floats))
        values = ffi.new(f"const {kind}**")
        count = number()
        call(read, handle, values, count)
        self.__array_interface__ = {
            "version": 3, "shape": (count[0],),
            "typestr": "<f8" if self.info.has_doubles else "<f4",
            "data": (int(ffi.cast("uintptr_t", values[0])), True)}


class View:
    """The pages of one generation, for reading, beside a writer in any process.

    It shows the newest generation of when it was opened, which stays as it is until `refresh`, and
    of pages what a merge made. For `with`, or until nothing names it. Any number of threads may
    read.
    """

    def __init__(self, path: Union[str, os.PathLike], name: Optional[str] = None):
        """Opens the pages `name` ("pages") of a file.

        Raises SystemFailure if there is no file, ArgumentError if it has no such pages,
        DamageError, and CrawlstoreError for a file that is no crawl file.
        """
        self._owned = opened("view", lib.crwl_view_free, lib.crwl_view_open, path_of(path),
                             name_of(name))
        self._scores = {}

    def __enter__(self) -> "View":
        return self

    def __exit__(self, kind, value, trace) -> None:
        self.close()

    def close(self) -> None:
        """Unpins the generation, once no array of scores and no other thread needs it."""
        self._owned = None
        self._scores = {}

    @property
    def _handle(self):
        # A thread that is inside a call keeps the handle, whatever others close.
        handle = self._owned
        if handle is None:
            raise errors.ClosedError("the view was closed")
        return handle

    def refresh(self) -> bool:
        """Goes on to the newest generation; returns whether there was one.

        No other thread may use the view meanwhile. Arrays of scores keep the generation they have.
        Raises CrawlstoreError if another file is at the path.
        """
        changed = ffi.new("int*")
        call(lib.crwl_view_refresh, self._handle, changed)
        if changed[0]:
            self._scores = {}
        return bool(changed[0])

    def info(self) -> ViewInfo:
        """Counts of the generation; nothing is read."""
        told = struct("view_info")
        call(lib.crwl_view_get_info, self._handle, told)
        return ViewInfo(told.generation, told.page_count, told.crawled_count, told.link_count,
                        told.event_count, bool(told.has_urls), bytes(told.uuid))

    @property
    def page_count(self) -> int:
        """Pages; their indexes are below it."""
        return self.info().page_count

    def __len__(self) -> int:
        return self.page_count

    def find(self, url: Text) -> Optional[int]:
        """The index of the page with the URL, in any of its spellings; None if there is none."""
        raw, index = to_bytes(url), number()
        call(lib.crwl_view_find, self._handle, raw, len(raw), index)
        return None if index[0] == NO_PAGE else index[0]

    def page(self, index: int) -> Dict[str, Any]:
        """All columns of one page, as `columns` names them. Raises IndexError."""
        info = self.info()
        if not 0 <= index < info.page_count:
            raise IndexError(f"there are {info.page_count} pages, none with the index {index}")
        names = (*(("url",) if info.has_urls else ()), *COLUMNS)
        return {name: values[0] for name, values in
                self.columns(*names, first=index, count=1).items()}

    def columns(self, *names: str, first: int = 0,
                count: Optional[int] = None) -> Dict[str, "numpy.ndarray"]:
        """Columns of pages for pandas.DataFrame: arrays of `count` entries, from page `first` on.

        url                        str, one object for each page
        linked_from                int64: the page that linked to it first; -1: a seed
        depth                      uint32: links from a seed
        state                      uint8, named by STATES
        http_status                uint16; 0: not known
        crawl_count, change_count, failure_count   uint32
        first_crawl, last_crawl    datetime64[us] in UTC; NaT: never
        score                      float32

        Reads the URLs and records of these pages once. Raises KeyError for another name.
        """
        rest = max(0, self.page_count - first)
        count = rest if count is None else min(count, rest)
        arrays = {name: numpy.empty(count, COLUMNS[name][1]) for name in names if name != "url"}
        wants_urls = "url" in names
        urls = numpy.empty(count, object)
        buffer_bytes, done = URL_BUFFER_BYTES, 0
        while done < count:
            rows = min(count - done, 1 << 16) if wants_urls else count
            columns = struct("page_columns", first_page=first + done, capacity=rows)
            for name, array in arrays.items():
                field, kind, _ = COLUMNS[name]
                setattr(columns, field, pointer(C_TYPES[kind], array[done:]))
            if wants_urls:
                text, ends = numpy.empty(buffer_bytes, numpy.uint8), numpy.empty(rows, numpy.uint64)
                columns.urls, columns.url_capacity = pointer("char", text), buffer_bytes
                columns.url_ends = pointer("uint64_t", ends)
            try:
                call(lib.crwl_view_get_columns, self._handle, columns)
            except errors.ArgumentError as failure:
                if failure.code != TOO_LARGE:
                    raise
                buffer_bytes *= 2
                continue
            if wants_urls:
                urls[done:done + columns.row_count] = split_urls(text, ends[:columns.row_count])
            done += columns.row_count
        return {name: urls if name == "url" else as_told(arrays[name], COLUMNS[name][2])
                for name in names}

    def arrow(self, *names: str) -> ArrowColumns:
        """The same columns, and `index`, for libraries that take Arrow streams: polars.DataFrame,
        pyarrow.table, duckdb. Without a name all. Nothing is read but by batches of the stream.

        Columns come in the order of the C interface, however they are named. URLs are large binary,
        as they may be bytes; null are `linked_from` of seeds, and `first_crawl` and `last_crawl` of
        pages that were never fetched. It keeps the view open, and its streams the generation that
        the view shows when they begin. Raises ArgumentError for another name.
        """
        return ArrowColumns(self._handle, names)

    def links(self, incoming: bool = False,
              values: Any = "float32") -> "scipy.sparse.csr_array":
        """The links as a scipy.sparse.csr_array of page_count rows and columns.

        Row i has a 1 of the type `values` at each page that page i links to, or with `incoming` at
        each that links to it; columns ascend. Indices are int32 below 2^31 pages and links, else
        int64. Reads all links once, some 100 million a second.
        """
        from scipy import sparse  # pylint: disable=import-outside-toplevel

        info = self.info()
        is_small = max(info.page_count, info.link_count) < 2**31 - 1
        kind = numpy.int32 if is_small else numpy.int64
        indptr = numpy.empty(info.page_count + 1, kind)
        indices = numpy.empty(info.link_count, kind)
        links = struct("links", incoming=incoming, index_bytes=indptr.itemsize,
                       indptr=ffi.from_buffer(indptr), indices=ffi.from_buffer(indices),
                       capacity=len(indices))
        call(lib.crwl_view_get_links, self._handle, links)
        indices = indices[:links.link_count]
        matrix = sparse.csr_array((numpy.ones(len(indices), values), indices, indptr),
                                  shape=(info.page_count, info.page_count), copy=False)
        matrix.has_canonical_format = True
        return matrix

    def _mapped(self, name):
        # Two threads may both open it; either is right.
        if name not in self._scores:
            handle = opened("scores", lib.crwl_scores_free, lib.crwl_scores_open, self._handle,
                            name_of(name))
            self._scores[name] = Mapped(handle)
        return self._scores[name]

    def scores(self, name: Optional[str] = None) -> "numpy.ndarray":
        """The array of scores `name` ("pagerank") by page index, as it is mapped from the file.

        float32, or float64 where it was stored so; pages that came later have no entry. It is
        read-only and cannot be made writable, outlives the view, and keeps the generation pinned;
        so do slices. The first call verifies it, later ones cost nothing.

        Raises ArgumentError if there is none, or it is of hosts, and DamageError.
        """
        self._handle  # Raises if it was closed.  # pylint: disable=pointless-statement
        return numpy.asarray(self._mapped(name))

    def scores_info(self, name: Optional[str] = None) -> ScoresInfo:
        """The computation that the array `name` came from."""
        self._handle  # pylint: disable=pointless-statement
        return self._mapped(name).info


def split_urls(text, ends):
    """A list of URLs from bytes and the end of each."""
    stops = ends.tolist()
    blob = text[:stops[-1] if stops else 0].tobytes()
    if blob.isascii():
        whole = blob.decode("ascii")
        return [whole[begin:end] for begin, end in zip([0, *stops], stops)]
    return [to_text(blob[begin:end]) for begin, end in zip([0, *stops], stops)]


def as_told(array, kind):
    """A column in the type for the caller: no page is -1, no time is NaT."""
    if kind != "datetime64[us]":
        return array.view(kind)
    times = array.view(kind)
    times[array == 0] = numpy.datetime64("NaT")
    return times
