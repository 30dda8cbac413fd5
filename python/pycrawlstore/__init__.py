# SPDX-License-Identifier: Apache-2.0
"""Crawl files for programs in Python: one crash-safe file for everything a web crawler remembers.

    import pycrawlstore as pc

    with pc.open("my.crawl") as store:
        seen, pages = store.seen(), store.pages()
        with store.transaction():            # an exception drops it
            new = seen.insert_many(links)    # a bool array
            pages.add(url, links=links)
    view = pc.View("my.crawl")               # pinned, beside a writer
    view.scores()                            # a NumPy array over the mapped file
    view.links()                             # a scipy.sparse.csr_array

Calls raise CrawlstoreError and its families, and let other threads of Python go on.
"""

from .errors import (ArgumentError, ClosedError, CrawlstoreError, DamageError, ForkedError,
                     LockedError, SystemFailure)
from .arrow import ArrowColumns
from .binding import ffi as _ffi, lib as _lib
from .frontier import Done, Frontier, FrontierStatus, Item, Rule
from .pages import OUTCOMES, Pages, PagesStatus
from .queue import Queue
from .ranking import RankReport
from .sets import Keys, Seen, SetStatus
from .store import Store, StoreInfo, Transaction, open  # pylint: disable=redefined-builtin
from .upkeep import CompactReport, Finding, Verification, verify
from .view import STATES, ScoresInfo, View, ViewInfo

#: Version of the library.
__version__: str = _ffi.string(_lib.crwl_version()).decode()

__all__ = ["ArgumentError", "ArrowColumns", "ClosedError", "CompactReport", "CrawlstoreError",
           "DamageError", "Done", "Finding", "ForkedError", "Frontier", "FrontierStatus", "Item",
           "Keys", "LockedError", "OUTCOMES", "Pages", "PagesStatus", "Queue", "RankReport", "Rule",
           "STATES", "ScoresInfo", "Seen", "SetStatus", "Store", "StoreInfo", "SystemFailure",
           "Transaction", "Verification", "View", "ViewInfo", "open", "verify"]
