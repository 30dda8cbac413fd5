# SPDX-License-Identifier: Apache-2.0
"""The items that a crawl has still to fetch."""

import dataclasses
from typing import List, NamedTuple, Optional, Sequence, Tuple

from .arrays import PackedTexts, Text, Texts, column, numpy, pointer, to_bytes, to_text
from .binding import call, chosen, ffi, lib, name_of, number, opened, struct

ORDERS = {"best": lib.CRWL_TAKE_BEST, "longest_waiting": lib.CRWL_TAKE_LONGEST_WAITING}
NEVER = 2**64 - 1


@dataclasses.dataclass
class Rule:
    """The visits that a group gets: a take of one or more of its items is one."""

    is_active: bool = True
    #: Milliseconds between visits.
    delay_ms: int = 1000
    #: Milliseconds where no other group may be visited; at most delay_ms.
    hard_ms: int = 0
    #: Visits at once after a time without any.
    burst: int = 1
    #: Items that are leased at a time.
    in_flight_max: int = 1
    #: No visit before this time, in milliseconds since 1970.
    blocked_until_ms: int = 0
    #: Items that may ever be put; None: no limit.
    put_max: Optional[int] = None
    #: Nothing is put when so many were finished; None: no limit.
    finished_max: Optional[int] = None
    #: A group whose rule a visit must keep, too.
    parent: Optional[Text] = None


def rule_struct(rule):
    """A crwl_rule, and what must live as long."""
    made = struct("rule")
    call(lib.crwl_rule_init, made)
    parent = to_bytes(rule.parent or b"")
    for field in dataclasses.fields(rule):
        value = getattr(rule, field.name)
        if field.name != "parent" and value is not None:
            setattr(made, field.name, value)
    if rule.parent is not None:
        made.parent, made.parent_bytes = ffi.from_buffer(parent), len(parent)
    return made, parent


class Item(NamedTuple):
    """An item that was taken."""

    id: int
    group: str
    body: bytes
    priority: float
    #: 1 the first time.
    attempts: int


class Done(NamedTuple):
    """Counts of ids by what became of them."""

    done_count: int
    #: Their lease had ended.
    late_count: int
    #: Never taken, or finished before.
    unknown_count: int


class FrontierStatus(NamedTuple):
    """A frontier as it is now, with what has not been committed."""

    waiting_count: int
    leased_count: int
    #: Above all ids that were ever put.
    next_id: int
    now_ms: int
    #: From which there may be something to take, in milliseconds since 1970; None: never.
    next_due_ms: Optional[int]


class Frontier:
    """Items with bodies, such as requests, that wait in groups, such as hosts.

    An item that was taken is leased: it is finished, given back, or comes back when its lease ends.
    Times are milliseconds since 1970. Made by `Store.frontier`.
    """

    def __init__(self, store, name, pages, own_ids, take_commits, default_rule, checkpoint_bytes):
        options = struct("frontier_options", has_own_ids=own_ids, without_commits=not take_commits,
                         checkpoint_bytes=checkpoint_bytes)
        if default_rule is not None:
            rule, _owned = rule_struct(default_rule)
            options.default_rule = rule
        function, names = lib.crwl_frontier_open, name_of(name)
        if pages is not None:
            texts = (names, name_of(pages))
            function = lib.crwl_frontier_open_pages
            names = struct("frontier_names", name=texts[0], pages=texts[1])
        self._handle = opened("frontier", lib.crwl_frontier_free, function, store, names, options)

    def put(self, group: Text, body: bytes = b"", priority: float = 0.0, not_before_ms: int = 0,
            id: Optional[int] = None) -> Optional[int]:
        """Puts one item; returns its id, or None where a limit of its group refuses it."""
        first, refused = self._put([group], [body], [priority], [not_before_ms],
                                   None if id is None else [id])
        return None if refused[0] else first if id is None else id

    def put_many(self, groups: Texts, bodies: Optional[Texts] = None,
                 priorities: Optional[Sequence[float]] = None,
                 not_before_ms: Optional[Sequence[int]] = None,
                 ids: Optional[Sequence[int]] = None) -> Tuple[int, "numpy.ndarray"]:
        """Puts items, given as columns of equal length; None: all have the default.

        groups         the group of each, at most 65,535 bytes
        bodies         of each at most 65,536 bytes
        priorities     the highest of a group leaves first
        not_before_ms  0: at once
        ids            where they are the caller's, below 2^63

        Returns the id of the first that was put, which the others follow, and a bool array that is
        true for those that a limit of their group refused. After an error none was put:
        ArgumentError for a priority, a time, an id or a size that cannot be.
        """
        first, refused = self._put(groups, bodies, priorities, not_before_ms, ids)
        return first, numpy.frombuffer(refused, bool)

    def _put(self, groups, bodies, priorities=None, not_before_ms=None, ids=None):
        """The same without NumPy, where columns are lists: a bytearray of what was refused."""
        packed = PackedTexts(groups)
        count = packed.count
        items = struct("items", groups=packed.value)
        if bodies is not None:
            packed_bodies = PackedTexts(bodies)
            if packed_bodies.count != count:
                raise ValueError("there must be a body for each group")
            items.bodies = packed_bodies.value
        columns = (column(priorities, "float64", count),
                   column(not_before_ms, "uint64", count), column(ids, "uint64", count))
        items.priorities = pointer("double", columns[0])
        items.not_before_ms = pointer("uint64_t", columns[1])
        items.ids = pointer("uint64_t", columns[2])
        first, refused = number(), bytearray(count)
        call(lib.crwl_frontier_put, self._handle, items, first, pointer("uint8_t", refused))
        return first[0], refused

    def take(self, count: int = 1, *, per_group: int = 1, order: str = "best", lease_ms: int = 0,
             now_ms: int = 0) -> List[Item]:
        """Takes the best items of groups that may be visited now, none if there are none.

        Commits, but for `take_commits=False`.

        count      items at most
        per_group  items of one group at most
        order      of groups: "best" or "longest_waiting"
        lease_ms   0: ten minutes
        now_ms     for tests and replays; 0: the time that it is
        """
        options = struct("take_options", order=chosen(ORDERS, order, "order"), count=count,
                         per_group=per_group, lease_ms=lease_ms, now_ms=now_ms)
        taken = opened("taken", lib.crwl_taken_free, lib.crwl_frontier_take, self._handle, options)
        items = struct("items")
        call(lib.crwl_taken_get_items, taken, items)
        groups, bodies = split(items.groups), split(items.bodies)
        return [Item(items.ids[i], to_text(group), bodies[i] if bodies else b"",
                     items.priorities[i], items.attempts[i]) for i, group in enumerate(groups)]

    def finish(self, ids: Sequence[int]) -> Done:
        """Items are done, and go."""
        array = column(ids, "uint64")
        items = struct("leases", count=len(array), ids=pointer("uint64_t", array))
        return self._done(lib.crwl_frontier_finish, items)

    def give_back(self, ids: Sequence[int], not_before_ms: Optional[Sequence[int]] = None,
                  is_failure: Optional[Sequence[bool]] = None) -> Done:
        """Leases end: the items wait again, from `not_before_ms` on.

        is_failure  true: the group is visited less often, until a success
        """
        array = column(ids, "uint64")
        times = column(not_before_ms, "uint64", len(array))
        failures = column(is_failure, "uint8", len(array))
        items = struct("given_back", count=len(array), ids=pointer("uint64_t", array),
                       not_before_ms=pointer("uint64_t", times),
                       is_failure=pointer("uint8_t", failures))
        return self._done(lib.crwl_frontier_give_back, items)

    def _done(self, function, *arguments):
        told = struct("done")
        call(function, self._handle, *arguments, told)
        return Done(told.done_count, told.late_count, told.unknown_count)

    def give_back_all(self) -> int:
        """All leases end, as when the only program that takes was killed; returns how many."""
        count = number()
        call(lib.crwl_frontier_give_back_all, self._handle, count)
        return count[0]

    def extend(self, ids: Sequence[int], until_ms: int) -> Done:
        """Leases end at another time; 0: never."""
        array = column(ids, "uint64")
        items = struct("leases", count=len(array), ids=pointer("uint64_t", array))
        return self._done(lib.crwl_frontier_extend, items, until_ms)

    def set_rule(self, group: Text, rule: Rule) -> None:
        """Sets the rule of a group, which is made if there is none. Raises ArgumentError."""
        made, _owned = rule_struct(rule)
        raw = to_bytes(group)
        call(lib.crwl_frontier_set_rule, self._handle, raw, len(raw), made)

    def drop_group(self, group: Text) -> int:
        """All items of a group that wait are gone, those that are leased stay; returns how many."""
        raw, count = to_bytes(group), number()
        call(lib.crwl_frontier_drop_group, self._handle, raw, len(raw), count)
        return count[0]

    def status(self) -> FrontierStatus:
        """Counts, the time, and when there may be something to take."""
        told = struct("frontier_status")
        call(lib.crwl_frontier_get_status, self._handle, told)
        due = None if told.next_due_ms == NEVER else told.next_due_ms
        return FrontierStatus(told.waiting_count, told.leased_count, told.next_id, told.now_ms, due)


def split(texts):
    """Bytes of each of a crwl_texts."""
    if texts.count == 0:
        return []
    ends = ffi.unpack(texts.ends, texts.count)
    blob = ffi.buffer(texts.bytes, ends[-1])[:] if ends[-1] else b""
    return [blob[begin:end] for begin, end in zip([0, *ends], ends)]
