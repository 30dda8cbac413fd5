# SPDX-License-Identifier: Apache-2.0
"""Queues of pages by priority."""

from typing import Optional, Sequence, Tuple

from .arrays import column, numpy, pointer
from .binding import call, lib, name_of, number, opened, struct


class Queue:
    """A set of pages with priorities: the highest leaves first, and of equal ones the lowest page.

    Pushes and pops wait for the next commit. Made by `Store.queue`.
    """

    def __init__(self, store, name, memory_bytes):
        options = struct("queue_options", memory_bytes=memory_bytes)
        self._handle = opened("queue", lib.crwl_queue_free, lib.crwl_queue_open, store,
                              name_of(name), options)

    def push(self, pages: Sequence[int], priorities: Optional[Sequence[float]] = None) -> None:
        """Pushes page indexes, of which those that wait already get the new priority.

        priorities  one for each; None: all are 0

        Raises ArgumentError, and pushes none, for a priority that is no number or a page of 2^40.
        """
        array = column(pages, "uint64")
        ranks = column(priorities, "float64", len(array))
        call(lib.crwl_queue_push, self._handle, pointer("uint64_t", array),
             pointer("double", ranks), len(array))

    def pop(self, count: int) -> Tuple["numpy.ndarray", "numpy.ndarray"]:
        """Takes up to `count` pages: their indexes, uint64, and priorities, float64, in order."""
        count = min(count, len(self))
        pages, priorities = numpy.empty(count, numpy.uint64), numpy.empty(count, numpy.float64)
        taken = number(count)
        call(lib.crwl_queue_pop, self._handle, pointer("uint64_t", pages),
             pointer("double", priorities), taken)
        return pages[:taken[0]], priorities[:taken[0]]

    def remove(self, pages: Sequence[int]) -> int:
        """The pages wait no more; returns how many did."""
        array, removed = column(pages, "uint64"), number()
        call(lib.crwl_queue_remove, self._handle, pointer("uint64_t", array), len(array), removed)
        return removed[0]

    def __len__(self) -> int:
        """Pages that wait, also those that no commit has."""
        count = number()
        call(lib.crwl_queue_get_count, self._handle, count)
        return count[0]
