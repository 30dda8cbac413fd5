# SPDX-License-Identifier: Apache-2.0
"""The errors that calls raise. The numbers and names of codes are those of spec/registry.md."""

from typing import Any, Optional


class CrawlstoreError(Exception):
    """A call that failed; the classes below say by whose doing. Others: the file is of another
    format or version, or was replaced, or the work was cancelled."""

    #: The number of the error, such as 24.
    code: int = 0
    #: Its name, such as "chunk_damaged".
    name: str = ""
    #: Bytes from the start of the file; None: does not apply.
    offset: Optional[int] = None
    #: The segment of the file that is concerned; 0: none.
    segment: int = 0
    #: By how much the file was to grow, in bytes; 0: not known, or another error.
    needed_bytes: int = 0
    #: Of `*_many`: the answers for what comes before the error, which stands (a bool array).
    answers: Any = None


class DamageError(CrawlstoreError):
    """The bytes of the file are not what was written."""


class LockedError(CrawlstoreError):
    """Another writer has the file open."""


class ClosedError(CrawlstoreError):
    """The store was closed."""


class ForkedError(CrawlstoreError):
    """A child process used what its parent had opened: open the file again."""


class ArgumentError(CrawlstoreError, ValueError):
    """The call cannot be made so, now, or with this value."""


class SystemFailure(CrawlstoreError, OSError):
    """The system said no: space, permissions, memory. `errno` is the system's, or None."""


BY_CODE = {40: LockedError, 44: ForkedError, 81: ClosedError, 82: SystemFailure,
           89: CrawlstoreError}
BY_CATEGORY = {1: DamageError, 3: SystemFailure, 4: ArgumentError}
NO_OFFSET = 2**64 - 1


def argument(message) -> ArgumentError:
    """The exception for a call that is refused before it reaches the library."""
    error = ArgumentError(message)
    error.code, error.name = 80, "invalid_argument"
    return error


def of(told, ffi) -> CrawlstoreError:
    """The exception for a crwl_error."""
    kind = BY_CODE.get(told.code) or BY_CATEGORY.get(told.category, CrawlstoreError)
    message = ffi.string(told.message).decode("utf-8", "replace")
    has_errno = kind is SystemFailure and told.system_errno != 0
    # OSError would choose a class of its own by errno, if it were asked for one itself.
    error = kind(told.system_errno, message) if has_errno else kind(message)
    error.code = told.code
    error.name = ffi.string(told.name).decode()
    error.offset = None if told.offset == NO_OFFSET else told.offset
    error.segment = told.segment
    error.needed_bytes = told.needed_bytes
    return error
