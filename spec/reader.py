# SPDX-License-Identifier: Apache-2.0
"""A verifying reader of crawl files: python3 reader.py [--no-pin] FILE

Prints one JSON document, or "class: message" on standard error and exits with 1.
It knows the bits 0 to 8 of features_incompat.
"""
import json
import os
import struct
import sys
import uuid

import drum as drums
import frontier
import frontier_replay
import pages
import queue_runs
import scores
import small_values
from container import ALONE, CLASSES, DRUM, FRONTIER, KINDS, PAGES, QUEUE, QUEUE_ENTRIES, REDUCED, \
    SCORE_ARRAY, VALUES, CrawlError, CrawlFile, Finding, all_runs, demand, extents_not_kept, \
    payload_runs
from drum import OPERATIONS, check_drum

PARSERS = {**drums.PARSERS, **pages.PARSERS, **frontier.PARSERS,
           FRONTIER: frontier.parse_frontier, SCORE_ARRAY: scores.parse_score_array,
           QUEUE: queue_runs.parse_queue_table, QUEUE_ENTRIES: queue_runs.parse_queue_run,
           VALUES: small_values.parse_values}


def load_segments(file, directory, seen):
    """(the parsed runs of every segment, the content of every page database and the state of every
    frontier), by segment id; seen holds runs that were verified."""
    parsed = {}
    for segment in directory.segments:
        parsed[segment.id] = []
        for run in payload_runs(segment):
            key = (segment.id, segment.kind, run)
            if key not in seen:
                payload = file.load_run(segment, run)
                count = None if segment.kind in ALONE else run.record_count
                seen[key] = PARSERS[segment.kind](payload, count)
            parsed[segment.id].append(seen[key])
        if segment.kind in pages.CHECKS:
            pages.CHECKS[segment.kind](parsed[segment.id])
    segments = {s.id: s for s in directory.segments}
    for segment in directory.segments:
        if segment.kind == DRUM:
            check_drum(segment, parsed[segment.id][0], segments, parsed)
    contents = {segment.id: pages.check_pages(segment, segments, parsed, file.identity.key_seed)
                for segment in directory.segments if segment.kind == PAGES}
    pages.check_key_drums(segments, parsed)
    for segment in directory.segments:
        if segment.kind == QUEUE:
            queue_runs.check_queue(segment, segments, parsed)
    queue_runs.check_logs(segments, parsed)
    for segment in directory.segments:
        if segment.kind == FRONTIER:
            contents[segment.id] = frontier.check_frontier(segment, segments, parsed)
    frontier.check_logs(segments, parsed)
    for segment in directory.segments:
        if segment.kind == SCORE_ARRAY:
            scores.check_score_array(parsed[segment.id][0], parsed[segment.owner][0],
                                     directory.superblock.generation)
        if segment.kind == VALUES:
            small_values.check_values(segment)
    return parsed, contents


def key_json(owner, key):
    """A number, or of 16-byte keys head and tail. The owner is a drum or a partition."""
    return key if owner.key_bytes == 8 else list(divmod(key, 1 << 64))


def request_json(drum, request, aux):
    return {'aux': aux.hex(), 'consumer': request.tag // 4, 'key': key_json(drum, request.key),
            'operation': OPERATIONS[request.tag % 4], 'sequence': request.sequence,
            'value': request.value.hex()}


def bucket_json(drum, bucket, segments, parsed):
    keys = [pair for p in parsed.get(bucket.partition, []) for pair in p.keys]
    auxes = {}
    if bucket.aux_log:
        auxes = dict(zip((r.run_id for r in segments[bucket.aux_log].runs),
                         parsed[bucket.aux_log]))
    pending = []
    if bucket.key_log:
        for run, content in zip(segments[bucket.key_log].runs, parsed[bucket.key_log]):
            of_run = auxes.get(run.run_id + 1, [b''] * len(content.requests))
            pending += [request_json(drum, *pair) for pair in zip(content.requests, of_run)]
    answer = {'first_key': bucket.first_key, 'keys': [key_json(drum, key) for key, _ in keys],
              'pending': pending}
    if drum.value_bytes:
        answer['values'] = [value.hex() for _, value in keys]
    return answer


def consumer_json(drum, consumer, parsed):
    return {'id': consumer.id, 'name': consumer.name.decode(), 'results': [
        {'aux': a.aux.hex(), 'duplicate': a.verdict == 1, 'key': key_json(drum, a.key),
         'operation': OPERATIONS[a.tag % 4], 'sequence': a.sequence, 'value': a.value.hex()}
        for run in parsed.get(consumer.results, []) for a in run.answers]}


def drum_json(segment, segments, parsed):
    drum = parsed[segment.id][0]
    return {'buckets': [bucket_json(drum, b, segments, parsed) for b in drum.buckets],
            'consumers': [consumer_json(drum, c, parsed) for c in drum.consumers],
            'id': segment.id, 'key_bytes': drum.key_bytes, 'key_scheme': drum.key_scheme,
            'merge_bytes': drum.merge_bytes, 'merge_count': drum.merge_count,
            'merge_requests': drum.merge_requests, 'name': segment.name.decode(),
            'normalizer': drum.normalizer.decode(),
            'next_sequence': drum.next_sequence, 'partition_keys_max': drum.partition_keys_max,
            'unparsed_count': drum.unparsed_count, 'value_bytes': drum.value_bytes}


def score_of(record):
    return struct.unpack('<f', struct.pack('<I', record.score))[0]


def page_json(index, record, origin):
    """Times are 0 where there was no crawl. Without URLs a page has no linker, and depth 0."""
    return {'by_redirect': origin.by_redirect, 'change_count': record.change_count,
            'content_hash': record.content_hash.hex(),
            'crawl_count': record.crawl_count, 'depth': origin.depth,
            'failure_count': record.failures,
            'first_crawl_us': record.first_crawl or 0, 'http_status': record.status, 'index': index,
            'last_crawl_us': record.last_crawl or 0, 'linked_from': origin.linked_from,
            'score': score_of(record), 'state': pages.STATES[record.state],
            'url': origin.url.hex()}


def event_json(event):
    return {'content_hash': event.content_hash.hex(), 'http_status': event.http_status,
            'index': event.index,
            'kind': pages.EVENTS[event.kind], 'links': [
                {'index': link.index, 'score': link.score, 'url': link.url.hex()}
                for link in event.links],
            'score': event.score, 'time_us': event.time_us, 'url': event.url.hex()}


def links_json(rows):
    return [{'links': sorted(links), 'page': page} for page, links in sorted(rows.items()) if links]


def fresh_json(run):
    return {'keys': [key_json(run, key) for key, _ in run.keys],
            'values': [value.hex() for _, value in run.keys]}


def scores_json(segment, array):
    shown = ('page_count', 'link_count', 'superstep_count', 'generation', 'time_us', 'damping',
             'precision', 'residual', 'sum', 'flags')
    return {'name': segment.name.decode(), 'scorer': array.footer.scorer, 'subject': array.subject,
            **{name: getattr(array.footer, name) for name in shown},
            'values': list(array.values), 'first_pages': list(array.first_pages),
            'residuals': list(array.residuals)}


def contents_json(fields, parsed):
    """Reads the index of a page database with an index of contents."""
    if not fields.flags & 2:
        return {}
    return {'contents': [[key_json(run, key) for key, _ in run.keys]
                         for run in parsed.get(fields.contents, [])]}


def page_database_json(segment, segments, parsed, content):
    """Describes the pages with a URL, a state other than known, or a score other than 0."""
    fields = parsed[segment.id][0]
    same = ('crawled_count', 'link_count', 'superstep_count', 'collision_count', 'unparsed_count')
    origins = content.origins or [pages.Origin(b'', None, 0, False)] * fields.page_count
    shown = [(i, r, o) for i, (r, o) in enumerate(zip(content.records, origins))
             if o.url or r.state or score_of(r)]
    return {'id': segment.id, 'name': segment.name.decode(), 'has_urls': fields.flags & 1 == 1,
            'normalizer': fields.normalizer.decode(),
            **{name: getattr(fields, name) for name in same}, **contents_json(fields, parsed),
            'events': [event_json(event) for event in content.events],
            'fresh_keys': [fresh_json(run) for run in parsed.get(fields.fresh_keys, [])],
            'in_links': links_json(content.in_links), 'out_links': links_json(content.out_links),
            'pages': [page_json(*page) for page in shown],
            'scores': [scores_json(s, parsed[s.id][0]) for s in segments.values()
                       if s.kind == SCORE_ARRAY and s.owner == segment.id]}


def queue_json(segment, segments, parsed):
    """Describes the first hundred entries, and sums of all."""
    table = parsed[segment.id][0]
    there = queue_runs.pages_there(table, queue_runs.runs_of(table, segments, parsed))
    return {'changes': table.changes, 'entry_count': table.entry_count,
            'first': [list(entry) for entry in there[:100]],
            'id': segment.id, 'name': segment.name.decode(),
            'order_sum': sum(order for order, _ in there) % (1 << 64),
            'page_count': len(there), 'page_sum': sum(page for _, page in there),
            'runs': [list(cut) for cut in table.cuts]}


def frontier_json(segment, segments, parsed, state):
    """Describes its table, the number of entries by run, and the state if it is judged."""
    table = parsed[segment.id][0]
    groups, items, steps = (frontier.runs_of(log, segments, parsed)
                            for log in (table.groups, table.items, table.steps))
    return {'id': segment.id, 'name': segment.name.decode(),
            'group_count': table.group_count, 'waiting_count': table.waiting_count,
            'leased_count': table.leased_count, 'next_id': table.next_id,
            'step_count': table.step_count, 'clock_ms': table.clock_ms,
            'rule': [table.soft_ms, table.hard_ms, table.burst, table.in_flight_max],
            'pieces': list(table.pieces), 'pages': table.pages.decode(),
            'groups': [len(run.keys) for run in groups.values()],
            'items': [sum(map(len, blocks)) for blocks in items.values()],
            'steps': [[run.is_piece, run.first_step, len(run.steps)] for run in steps.values()],
            **({'state': frontier_replay.state_json(state)} if state else {})}


def segment_json(segment):
    """The runs of a tiled segment are its tiles and nodes."""
    runs = sorted(all_runs(segment), key=lambda run: run.run_id)
    names = ('born', 'offset_bytes', 'payload_bytes', 'record_count', 'run_id')
    return {'id': segment.id, 'kind': KINDS[segment.kind][0], 'name': segment.name.decode(),
            'owner': segment.owner, 'storage_class': CLASSES[segment.storage_class],
            'runs': [{name: getattr(run, name) for name in names} for run in runs]}


def document_of(file):
    winner, previous, findings = file.open()
    file.check_features(winner)
    for finding in findings:
        demand(finding.kind != 'damaged', 'a superblock slot is lost', finding.error,
               finding.offset)
    directory, seen = file.load_directory(winner), {}
    parsed, contents = load_segments(file, directory, seen)
    file.check_zeros()
    if previous:
        try:
            older = file.load_directory(previous, False)
            findings += [Finding('directory_invalid', REDUCED, offset)
                         for offset, _ in extents_not_kept(directory, older)]
            load_segments(file, older, seen)
        except CrawlError as error:
            findings.append(Finding(error.name, REDUCED, error.offset))
        except OSError:
            findings.append(Finding('io', REDUCED, None))
    findings += [Finding('superblock_damaged', 'unfinished', end)
                 for end in file.newer_roots(directory)[:1]]
    segments = {s.id: s for s in directory.segments}
    frontiers = [frontier_json(s, segments, parsed, contents[s.id]) for s in directory.segments
                 if s.kind == FRONTIER]
    return {
        'uuid': str(uuid.UUID(bytes=file.identity.uuid)),
        'format_version': file.identity.format_version,
        'key_seed': file.identity.key_seed,
        'created_us': file.identity.created_us,
        'generation': winner.generation,
        'commit_time_us': winner.commit_time_us,
        'features_compat': winner.features_compat,
        'features_ro_compat': winner.features_ro_compat,
        'features_incompat': winner.features_incompat,
        'high_water_bytes': winner.high_water_bytes,
        'has_previous': previous is not None,
        'findings': [{'error': f.error, 'kind': f.kind} for f in findings],
        'held': [h._asdict() for h in sorted(directory.held)],
        'segments': [segment_json(s) for s in directory.segments],
        'drums': [drum_json(s, segments, parsed) for s in directory.segments if s.kind == DRUM],
        'pages': [page_database_json(s, segments, parsed, contents[s.id])
                  for s in directory.segments if s.kind == PAGES],
        'queues': [queue_json(s, segments, parsed) for s in directory.segments
                   if s.kind == QUEUE],
        **({'frontiers': frontiers} if frontiers else {}),
        **small_values.values_json(directory.segments, parsed),
    }


def main(arguments):
    pin = '--no-pin' not in arguments
    paths = [argument for argument in arguments if argument != '--no-pin']
    if len(paths) != 1:
        sys.exit(__doc__)
    try:
        with CrawlFile(paths[0], pin) as file:
            document = document_of(file)
    except CrawlError as error:
        place = '' if error.offset is None else ' (at %d)' % error.offset
        sys.exit('%s: %s%s' % (error.name, error.message, place))
    except OSError as error:
        names = {FileNotFoundError: 'not_found', PermissionError: 'permission'}
        sys.exit('%s: %s' % (names.get(type(error), 'io'), error))
    try:
        print(json.dumps(document, indent=1, sort_keys=True), flush=True)
    except BrokenPipeError:  # ... | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == '__main__':
    main(sys.argv[1:])
