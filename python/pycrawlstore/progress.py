# SPDX-License-Identifier: Apache-2.0
"""Telling Python about long work of the library."""

from . import errors
from .binding import NULL, ffi

CANCELLED = 89


def with_progress(progress, work):
    """Does `work(callback)`; what `progress(done, total)` raises stops it and is raised here."""
    if progress is None:
        return work(NULL)
    raised = []

    @ffi.callback("crwl_progress")
    def tell(_, done, total):
        try:
            progress(done, total)
        except BaseException as failure:  # A KeyboardInterrupt, too, must reach the caller.
            raised.append(failure)
            return 1
        return 0

    try:
        return work(tell)
    except errors.CrawlstoreError as failure:
        if failure.code == CANCELLED and raised:
            raise raised[0] from None
        raise
