# SPDX-License-Identifier: Apache-2.0
"""Computing scores, and storing one's own."""

from typing import NamedTuple

from . import errors
from .arrays import column, pointer
from .binding import call, lib, name_of, struct


class RankReport(NamedTuple):
    """The end of a computation; of "hits" that of authorities, of "opic" that of cash."""

    #: False: precision was not reached, and nothing was stored.
    converged: bool
    page_count: int
    link_count: int
    iteration_count: int
    residual: float


def rank(store, method, name, numbers):
    """Does what Store.rank says."""
    for field in ("damping", "precision", "max_iterations"):
        if numbers[field] == 0:
            # The C interface takes it for the default.
            raise errors.argument(f"{field} must be above 0")
    owned = name_of(name)
    options, report = struct("rank_options", name=owned, **numbers), struct("rank_report")
    call(lib.crwl_store_rank, store, name_of(method), options, report)
    return RankReport(bool(report.converged), report.page_count, report.link_count,
                      report.iteration_count, report.residual)


def store_scores(store, view, name, values):
    """Does what Store.store_scores says."""
    array = column(values, "float32", view.page_count)
    call(lib.crwl_scores_store, store, view._handle, name_of(name), pointer("float", array))
