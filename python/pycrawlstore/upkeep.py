# SPDX-License-Identifier: Apache-2.0
"""Verification of files."""

import os
from typing import Callable, List, NamedTuple, Optional, Union

from .binding import NULL, call, chosen, ffi, lib, path_of, struct
from .errors import NO_OFFSET
from .progress import with_progress

LEVELS = {"quick": lib.CRWL_VERIFY_QUICK, "normal": lib.CRWL_VERIFY_NORMAL,
          "deep": lib.CRWL_VERIFY_DEEP}
#: Kinds of findings, by number.
FINDINGS = ("damaged", "reduced_redundancy", "unfinished")
CAPACITY = 1000


class Finding(NamedTuple):
    """One thing that is not as it must be.

    kind  "damaged": the file is not whole; "reduced_redundancy": a spare copy is not, as a crash
          may leave it; "unfinished": nothing is wrong, but a commit did not end
    """

    kind: str
    #: The number of an error.
    code: int
    #: 0: the file as a whole.
    generation: int
    segment: int
    #: Bytes from the start of the file; None: does not apply.
    offset: Optional[int]
    #: A sentence for people, with advice.
    message: str


class Verification(NamedTuple):
    """The result of a verification."""

    is_damaged: bool
    #: Also of those for which there was no room.
    finding_count: int
    checked_bytes: int
    #: The first thousand.
    findings: List[Finding]


class CompactReport(NamedTuple):
    """The file before and after a compaction."""

    bytes_before: int
    bytes_after: int
    moved_bytes: int
    commit_count: int


def verify(path: Union[str, os.PathLike], level: str = "normal",
           progress: Optional[Callable[[int, int], None]] = None) -> Verification:
    """Proves a file whole, or says what is not and where. Reads only, beside a writer, too.

    level     "quick": superblocks and directories; "normal": every checksum; "deep": every rule
    progress  told of bytes, done and total; what it raises stops the work

    Damage is a finding, not an error. Raises SystemFailure, and CrawlstoreError for a file that is
    no crawl file.
    """
    number = chosen(LEVELS, level, "level")
    findings = ffi.new("crwl_finding[]", CAPACITY)
    report = struct("verify_report")

    def work(told):
        options = struct("verify_options", level=number, progress=told, findings=findings,
                         capacity=CAPACITY, stride_bytes=ffi.sizeof("crwl_finding"))
        call(lib.crwl_verify, path_of(path), options, report)

    with_progress(progress, work)
    found = [finding_of(findings[i]) for i in range(min(report.finding_count, CAPACITY))]
    return Verification(bool(report.is_damaged), report.finding_count, report.checked_bytes, found)


def finding_of(told):
    """A Finding of a crwl_finding."""
    return Finding(FINDINGS[told.kind], told.code, told.generation, told.segment,
                   None if told.offset == NO_OFFSET else told.offset,
                   ffi.string(told.message).decode("utf-8", "replace"))


def compact(store, progress):
    """Does what Store.compact says."""
    report = struct("compact_report")
    with_progress(progress, lambda told: call(lib.crwl_store_compact, store, told, NULL, report))
    return CompactReport(report.bytes_before, report.bytes_after, report.moved_bytes,
                         report.commit_count)
