# SPDX-License-Identifier: Apache-2.0
"""The payload of a frontier, and what it says of its logs. Steps: frontier_replay.py."""
from collections import namedtuple

from container import FRONTIER_GROUPS, FRONTIER_ITEMS, FRONTIER_STEPS, CrawlError, valid_name
from drum import ascends, demand
from flatbuf import Buffer, Malformed
from frontier_items import ID_MAX, TIME_MAX, parse_item_run
from frontier_replay import replay
from frontier_steps import parse_group_run, parse_step_run

OWN_IDS, RUNS_MAX, TABLE_BYTES_MAX, NO_LIMIT = 1, 256, 65536, (1 << 64) - 1
# In the order of the schema: name, form, default.
SCALARS = (('flags', 'I', 0), ('groups', 'Q', 0), ('items', 'Q', 0), ('steps', 'Q', 0),
           ('group_count', 'I', 0), ('waiting_count', 'Q', 0), ('leased_count', 'Q', 0),
           ('next_id', 'Q', 0), ('step_count', 'Q', 0), ('clock_ms', 'Q', 0), ('soft_ms', 'Q', 0),
           ('hard_ms', 'Q', 0), ('burst', 'I', 1), ('in_flight_max', 'I', 1),
           ('put_max', 'Q', NO_LIMIT), ('finished_max', 'Q', NO_LIMIT))
LOGS = (('groups', FRONTIER_GROUPS), ('items', FRONTIER_ITEMS), ('steps', FRONTIER_STEPS))
PARSERS = {FRONTIER_GROUPS: parse_group_run, FRONTIER_ITEMS: parse_item_run,
           FRONTIER_STEPS: parse_step_run}

ItemRunSpan = namedtuple('ItemRunSpan', 'run_id first_step last_step')
Frontier = namedtuple('Frontier', [name for name, _, _ in SCALARS] + ['runs', 'pieces', 'pages'])


def parse_frontier(payload, _record_count=None):
    try:
        demand(len(payload) % 8 == 0 and len(payload) <= TABLE_BYTES_MAX,
               'Frontier tables rule 1: length')
        root = Buffer(payload).root()
        table = Frontier(*(root.scalar(n, form, default)
                           for n, (_, form, default) in enumerate(SCALARS)),
                         [ItemRunSpan(*span) for span in root.structs(len(SCALARS), 'QQQ')],
                         [piece for piece, in root.structs(len(SCALARS) + 1, 'Q')],
                         root.string(len(SCALARS) + 2))
    except Malformed as error:
        raise CrawlError('segment_invalid', 'Frontier tables rule 1: %s' % error) from None
    demand(table.flags <= OWN_IDS and len(table.runs) <= RUNS_MAX and
           len(table.pieces) <= RUNS_MAX, 'Frontier tables rule 1')
    demand((table.steps == 0) == (table.step_count == 0) and
           (table.items == 0) == (not table.runs), 'Frontier tables rule 2')
    demand(table.steps or not (table.groups or table.items or table.pieces),
           'Frontier tables rule 2: without steps')
    named = [i for i in (table.groups, table.items, table.steps) if i]
    demand(len(set(named)) == len(named), 'Frontier tables rule 2: twice')
    counts = (table.waiting_count, table.leased_count)
    demand(max(counts) <= ID_MAX and (table.group_count or counts == (0, 0)) and
           table.next_id <= ID_MAX + 1 and table.clock_ms <= TIME_MAX, 'Frontier tables rule 3')
    demand(table.hard_ms <= table.soft_ms <= TIME_MAX and table.burst >= 1 and
           table.in_flight_max >= 1, 'Frontier tables rule 4')
    demand(ascends([0] + [span.run_id for span in table.runs]) and
           all(1 <= span.first_step <= table.step_count and
               (span.last_step == 0 or span.first_step < span.last_step <= table.step_count)
               for span in table.runs), 'Frontier tables rule 5')
    demand(valid_name(table.pages) and (table.flags & OWN_IDS or not table.pages),
           'Frontier tables rule 9')
    demand(0 not in table.pieces and len(set(table.pieces)) == len(table.pieces),
           'Frontier tables rule 6')
    return table


def runs_of(log, segments, parsed):
    """The parsed runs of a log by run id; 0: there is no log."""
    return {run.run_id: content for run, content in zip(segments[log].runs, parsed[log])} \
        if log else {}


def check_groups(table, runs):
    """The keys of the groups in runs."""
    keys = []
    for run in runs:
        demand(run.first_group == len(keys), 'Group runs rule 5: a gap')
        keys += run.keys
    demand(len(set(keys)) == len(keys), 'Group runs rule 5: a key twice')
    demand(len(keys) <= table.group_count, 'Frontier tables rule 8: group_count')
    return keys


def check_steps(table, runs, group_count):
    """Pieces lie in the order of their groups; journals go on without a gap to the last step."""
    demand(all(piece in runs and runs[piece].is_piece for piece in table.pieces) and
           sum(run.is_piece for run in runs.values()) == len(table.pieces),
           'Frontier tables rule 7: pieces are not those of the log')
    pieces = [runs[piece] for piece in table.pieces]
    ends = [piece.end_group for piece in pieces]
    demand([piece.first_group for piece in pieces] == [0, *ends][:len(pieces)],
           'Frontier tables rule 7: pieces do not follow each other')
    demand(max(ends, default=0) <= group_count and
           all(piece.first_step <= table.step_count for piece in pieces),
           'Frontier tables rule 7: the groups or steps of pieces')
    journals = [run for run in runs.values() if not run.is_piece]
    # A piece is of all steps up to its own: those after the oldest one are in journals.
    oldest = min((piece.first_step for piece in pieces), default=0)
    following = min(journals[0].first_step, oldest + 1) if journals else oldest + 1
    for journal in journals:
        demand(journal.first_step == following, 'Frontier tables rule 7: a gap between journals')
        following += len(journal.steps)
    demand(following == table.step_count + 1, 'Frontier tables rule 7: another last step')


def check_frontier(segment, segments, parsed):
    """The frontier's state; None: this reader does not judge it."""
    table = parsed[segment.id][0]
    for name, kind in LOGS:
        log = segments.get(getattr(table, name))
        demand(getattr(table, name) == 0 or log and log.kind == kind and
               log.owner == segment.id, f'Frontier tables rule 7: the log of {name}')
    items = runs_of(table.items, segments, parsed)
    demand(list(items) == [span.run_id for span in table.runs],
           'Frontier tables rule 7: item runs')
    groups = check_groups(table, runs_of(table.groups, segments, parsed).values())
    steps = runs_of(table.steps, segments, parsed)
    check_steps(table, steps, len(groups))
    return replay(table, groups, {run_id: [pair for block in blocks for pair in block]
                                  for run_id, blocks in items.items()}, steps)


def check_logs(segments, parsed):
    """Every log is named by its frontier."""
    names = {kind: name for name, kind in LOGS}
    for segment in segments.values():
        if segment.kind in names:
            table = parsed[segment.owner][0]
            demand(getattr(table, names[segment.kind]) == segment.id,
                   'Frontier tables rule 7: a log that no frontier names')
