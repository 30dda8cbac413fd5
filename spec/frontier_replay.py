# SPDX-License-Identifier: Apache-2.0
"""Makes the state of a frontier from its pieces and journals, step by step: rule 8 of Frontier
tables, rule 9 of Item runs, rule 12 of Step runs.

Frontiers with joined runs or pieces of different steps are not judged: the format allows that."""
# pylint: disable=redefined-builtin
import heapq
from collections import Counter
from dataclasses import dataclass, field

from drum import demand
from frontier_items import TIME_MAX
from queue_runs import order_of

FAILURES_MAX = 6      # an interval is doubled so often
COUNT_MAX = 2**32 - 1  # of items that were put, or finished
NO_LIMIT = 2**64 - 1
NOT_JUDGED = {'stored', 'joined'}


def possible(condition, text):
    demand(condition, f'Step runs rule 12: {text}')


@dataclass(eq=False)
class Item:
    """One that waits, or is leased."""
    group: int
    id: int
    order: int
    time: int                 # before which it is not taken; 0: its time has come
    attempt: int              # so many times it was taken
    body: bytes
    place: tuple = None       # its run and number there; None: it is in no run
    until: int = 0            # of its lease; 0: for ever


@dataclass(eq=False)
class Group:
    """Times are 0 before the first visit."""
    key: bytes
    rule: dict
    has_rule: bool = False
    soft_time: int = 0
    hard_time: int = 0
    failures: int = 0
    put_max: int = NO_LIMIT
    finished_max: int = NO_LIMIT
    put_count: int = 0
    finished_count: int = 0
    parent: int = None        # the number of a group
    waiting: set = field(default_factory=set)      # of Item


def limited(time):
    return min(time, TIME_MAX)


def leaving_order(item):
    """The key by which the items of a group that may be taken are sorted."""
    return (item.attempt == 0, item.order, item.id, item.place is not None, item.place or ())


def later_order(item):
    return item.time, item.group, item.order, item.id


def may_be_taken(group):
    """In the order in which they leave."""
    return sorted((item for item in group.waiting if not item.time), key=leaving_order)


def intervals(group):
    """(name of a time, interval) of both, doubled by failures."""
    by = 1 << min(group.failures, FAILURES_MAX)
    return [('soft_time', limited(group.rule['soft_ms'] * by)),
            ('hard_time', limited(group.rule['hard_ms'] * by))]


class State:
    """The state that steps have made of a frontier. `groups` are the keys of those in runs, `runs`
    the items of each run of items, by its id: (item, body) in their order."""

    def __init__(self, table, groups, runs):
        self.clock, self.until, self.next_id = 0, 0, 0
        self.default_rule = {'soft_ms': table.soft_ms, 'hard_ms': table.hard_ms,
                             'burst': table.burst, 'in_flight_max': table.in_flight_max,
                             'blocked_until': 0, 'is_active': 1}
        self.default_limits = table.put_max, table.finished_max
        self.groups, self.keys = [], set()
        for key in groups:
            self.on_group(key)
        self.leases, self.again = {}, {}     # Items that were taken, by id
        self.later = []                      # a heap; some have left already
        self.runs = {run_id: [self.stored(run_id, number, *pair)
                              for number, pair in enumerate(items)]
                     for run_id, items in runs.items()}
        self.in_group = {}                   # Items of runs by group, by run and group
        for run_id, run in self.runs.items():
            for item in run if not run[0].time else ():
                self.in_group.setdefault((run_id, item.group), []).append(item)

    def stored(self, run_id, number, item, body):
        demand(item.group < len(self.groups), 'Item runs rule 9: a group that is none')
        waiting = Item(item.group, item.id, item.order, item.time, 0, body, (run_id, number))
        self.add(waiting)
        return waiting

    # The items that wait.

    def group(self, number):
        possible(number < len(self.groups), 'a group that is none')
        return self.groups[number]

    def add(self, item):
        self.groups[item.group].waiting.add(item)
        self.next_id = max(self.next_id, item.id + 1)
        if item.attempt:
            self.again[item.id] = item
        if item.time:
            heapq.heappush(self.later, (item.time, id(item), item))

    def remove(self, item):
        self.groups[item.group].waiting.remove(item)
        if item.attempt:
            del self.again[item.id]

    def waits(self, item):
        return item in self.groups[item.group].waiting

    def wait(self, item, time):
        """It comes to wait, in no run, until a time."""
        item.time, item.place = (time if time > self.clock else 0), None
        self.add(item)

    def held(self, group, number):
        return [item for item in self.group(group).waiting
                if item.id == number and item.place is None]

    def take_held(self, group, number):
        """Takes the item of this id that waits in no run; of several the first to leave."""
        found = self.held(group, number)
        possible(found, 'an item that does not wait, or is in a run')
        item = min(found, key=lambda it: (it.time, leaving_order(it)))
        self.remove(item)
        return item

    # The items that are leased.

    def leased(self, number):
        possible(number in self.leases, 'an item that is not leased')
        return self.leases[number]

    def end_lease(self, item, time):
        del self.leases[item.id]
        self.wait(item, time)

    def due(self):
        """Yields the items whose time has come by the clock, which wait until another time."""
        while self.later and self.later[0][0] <= self.clock:
            time, _, item = heapq.heappop(self.later)
            if self.waits(item) and item.time == time:
                yield item

    def begin(self, time):
        """The clock of a piece: items of runs by time whose time has come by then have left."""
        possible(time >= self.clock, 'the clock goes back')
        self.clock = time
        for item in self.due():
            self.remove(item)

    # Steps, by their names.

    def on_clock(self, time):
        possible(time >= self.clock, 'the clock goes back')
        self.clock = time
        ended = [it for it in self.leases.values() if it.until and it.until <= time]
        for item in sorted(ended, key=lambda it: (it.until, it.id)):
            self.end_lease(item, 0)
        for item in self.due():
            item.time, item.place = 0, None

    def on_group(self, key):
        possible(key not in self.keys, 'two groups of one key')
        self.keys.add(key)
        put_max, finished_max = self.default_limits
        self.groups.append(Group(key, dict(self.default_rule), put_max=put_max,
                                 finished_max=finished_max))

    def on_put(self, group, id, priority, time, body):
        of = self.group(group)
        possible(of.put_count < of.put_max and of.finished_count < of.finished_max,
                 'an item is put beyond a limit')
        of.put_count = min(of.put_count + 1, COUNT_MAX)
        self.wait(Item(group, id, order_of(priority), 0, 0, body), time)

    def put_of_piece(self, group, id, priority, time, body):
        self.group(group)
        self.wait(Item(group, id, order_of(priority), 0, 0, body), time)

    def on_lease(self, until):
        self.until = until

    def on_visit(self, group, count, check):
        of, taken = self.group(group), []
        for item in may_be_taken(of):
            if len(taken) == count:
                break
            self.remove(item)
            # An item that is left out here waited twice.
            if item.id not in self.leases and item.id not in self.again:
                item.attempt, item.until, item.place = item.attempt + 1, self.until, None
                self.leases[item.id] = item
                taken.append(item.id)
        possible(len(taken) == count, 'a visit takes more than waits')
        possible(sum(taken) % 65536 == check, 'a visit takes other items')
        self.charge(of)
        if of.parent is not None:
            self.charge(self.groups[of.parent])

    def charge(self, of):
        for name, interval in intervals(of):
            time = limited(max(getattr(of, name), self.clock) + interval)
            furthest = limited(self.clock + of.rule['burst'] * interval)
            setattr(of, name, min(time, furthest))

    def on_finish(self, ids):
        for number in ids:
            if number in self.leases:
                item = self.leases.pop(number)
            else:
                possible(number in self.again, 'an item is finished that was not taken')
                item = self.again[number]
                self.remove(item)
            of = self.groups[item.group]
            of.failures, of.finished_count = 0, min(of.finished_count + 1, COUNT_MAX)

    def on_back(self, id, time, is_failure):
        item = self.leased(id)
        of = self.groups[item.group]
        if is_failure:
            of.failures += of.failures < FAILURES_MAX
            for name, interval in intervals(of):
                setattr(of, name, max(getattr(of, name), limited(self.clock + interval)))
        self.end_lease(item, time)

    def on_extend(self, id, until):
        item = self.leased(id)
        item.until = until
        if until and until <= self.clock:
            self.end_lease(item, 0)

    def on_remove(self, group, id):
        self.take_held(group, id)

    def on_update(self, group, id, priority, time, body):
        attempt = 0
        if body is None or self.held(group, id):   # else it was in a run, and is gone there
            item = self.take_held(group, id)
            attempt, body = item.attempt, item.body if body is None else body
        self.wait(Item(group, id, order_of(priority), 0, attempt, body), time)

    def on_rule(self, group, rule):
        of = self.group(group)
        of.has_rule = True
        of.rule.update({name: value or 0 for name, value in rule.items() if name in of.rule})
        for name in {'put_max', 'finished_max'} & set(rule):
            setattr(of, name, NO_LIMIT if rule[name] is None else rule[name])
        if 'parent' in rule:
            self.set_parent(group, rule['parent'])
        possible(of.rule['hard_ms'] <= of.rule['soft_ms'], 'hard_ms is above soft_ms')

    def set_parent(self, group, parent):
        if parent is not None:
            possible(parent != group and self.group(parent).parent is None and
                     all(other.parent != group for other in self.groups),
                     'a parent that has a parent')
        self.groups[group].parent = parent

    def on_counts(self, group, put_count, finished_count):
        of = self.group(group)
        of.put_count, of.finished_count = put_count, finished_count

    def on_drop(self, group):
        for item in list(self.group(group).waiting):
            self.remove(item)

    def on_times(self, group, soft_time, hard_time, failures):
        of = self.group(group)
        of.soft_time, of.hard_time, of.failures = soft_time, hard_time, failures

    def on_left(self, group, runs):
        for run_id, count in runs:
            here = self.in_group.get((run_id, group), [])
            first = next((i for i, item in enumerate(here) if self.waits(item)), len(here))
            possible(first + count <= len(here), 'more items have left a run than it has')
            for item in filter(self.waits, here[first:first + count]):
                self.remove(item)

    def on_leased(self, group, id, priority, until, attempt, body):
        self.group(group)
        possible(id not in self.leases and id not in self.again, 'an item is taken twice')
        self.leases[id] = Item(group, id, order_of(priority), 0, attempt, body, None, until)
        self.next_id = max(self.next_id, id + 1)

    def on_again(self, group, id, priority, time, attempt, body):
        self.group(group)
        possible(id not in self.leases and id not in self.again, 'an item is taken twice')
        self.wait(Item(group, id, order_of(priority), 0, attempt, body), time)

    def on_gone(self, group, run_id, number):
        run = self.runs.get(run_id, [])
        possible(number < len(run) and run[number].group == group and run[number].place and
                 self.waits(run[number]), 'an item is gone that does not wait in this run')
        self.remove(run[number])

    def apply(self, step, is_in_piece=False):
        if is_in_piece and step.kind == 'clock':
            self.begin(**step.values)
        elif is_in_piece and step.kind == 'put':
            self.put_of_piece(**step.values)
        else:
            getattr(self, f'on_{step.kind}')(**step.values)


def is_judged(table, pieces, runs):
    """Whether this reader knows all that the frontier has."""
    steps = [step for run in runs for step in run.steps]
    of_pieces = {piece.first_step for piece in pieces}
    return (all(span.last_step == 0 and span.first_step <= max(of_pieces, default=0)
                for span in table.runs) and len(of_pieces) <= 1 and
            not any(step.kind in NOT_JUDGED for step in steps))


def replay(table, groups, items, steps):
    """The State; None: it is not judged.
      groups  the keys of those in runs
      items   by the ids of their runs: (item, body) in their order
      steps   the parsed runs of steps, by their ids"""
    pieces = [steps[piece] for piece in table.pieces]
    journals = [run for run in steps.values() if not run.is_piece]
    if not is_judged(table, pieces, steps.values()):
        return None
    state = State(table, groups, items)
    for piece in pieces:
        for step in piece.steps:
            state.apply(step, is_in_piece=True)
    last_step = pieces[0].first_step if pieces else 0
    for journal in journals:
        for number, step in enumerate(journal.steps, journal.first_step):
            if number > last_step:
                state.apply(step)
    for name, count in (('group_count', len(state.groups)),
                        ('waiting_count', sum(len(group.waiting) for group in state.groups)),
                        ('leased_count', len(state.leases)), ('clock_ms', state.clock)):
        demand(getattr(table, name) == count, f'Frontier tables rule 8: {name}')
    demand(state.next_id <= table.next_id, 'Frontier tables rule 8: next_id')
    return state


def item_json(item):
    return {'id': item.id, 'order': item.order, 'time': item.time, 'attempt': item.attempt,
            'body': item.body.hex()}


def group_json(group, leased_count):
    later = sorted((item for item in group.waiting if item.time), key=later_order)
    return {'key': group.key.hex(), 'soft_time': group.soft_time, 'hard_time': group.hard_time,
            'failures': group.failures, 'rule': group.rule if group.has_rule else None,
            'waiting': [item_json(item) for item in may_be_taken(group) + later],
            'leased_count': leased_count}


def state_json(state):
    """Items of a group in the order in which they leave, then those whose time has not come."""
    leases = sorted(state.leases.values(), key=lambda it: (it.until == 0, it.until, it.id))
    leased = Counter(item.group for item in leases)
    return {'groups': [group_json(group, leased[i]) for i, group in enumerate(state.groups)],
            'leases': [{**item_json(item), 'until': item.until,
                        'group': state.groups[item.group].key.hex()} for item in leases]}
