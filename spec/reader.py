# SPDX-License-Identifier: Apache-2.0
"""A verifying reader of crawl files: python3 reader.py [--no-pin] FILE

Prints one JSON document, or "class: message" on standard error and exits with 1.
It knows bit 0 of features_incompat.
"""
import json
import os
import sys
import uuid

from container import CLASSES, KINDS, CrawlError, CrawlFile
from drum import OPERATIONS, PARSERS, check_drum


def load_segments(file, directory, seen):
    """The parsed runs of every segment, by segment id; seen holds runs that were verified."""
    parsed = {}
    for segment in directory.segments:
        parsed[segment.id] = []
        for run in segment.runs:
            key = (segment.id, segment.kind, run)
            if key not in seen:
                payload = file.load_run(segment, run)
                count = None if segment.kind == 1 else run.record_count
                seen[key] = PARSERS[segment.kind](payload, count)
            parsed[segment.id].append(seen[key])
    segments = {s.id: s for s in directory.segments}
    for segment in directory.segments:
        if segment.kind == 1:
            check_drum(segment, parsed[segment.id][0], segments, parsed)
    return parsed


def key_json(drum, key):
    """A number, or of 16-byte keys head and tail."""
    return key if drum.key_bytes == 8 else list(divmod(key, 1 << 64))


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
            'next_sequence': drum.next_sequence, 'partition_keys_max': drum.partition_keys_max,
            'unparsed_count': drum.unparsed_count, 'value_bytes': drum.value_bytes}


def segment_json(segment):
    names = ('born', 'offset_bytes', 'payload_bytes', 'record_count', 'run_id')
    return {'id': segment.id, 'kind': KINDS[segment.kind][0], 'name': segment.name.decode(),
            'owner': segment.owner, 'storage_class': CLASSES[segment.storage_class],
            'runs': [{name: getattr(run, name) for name in names} for run in segment.runs]}


def read(path, pin=True):
    file = CrawlFile(path, pin)
    winner, previous, findings = file.open()
    directory, seen = file.load_directory(winner), {}
    parsed = load_segments(file, directory, seen)
    file.check_zeros()
    if previous:
        try:
            load_segments(file, file.load_directory(previous, False), seen)
        except CrawlError as error:
            findings.append(error.name)
    segments = {s.id: s for s in directory.segments}
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
        'findings': [{'error': name, 'kind': 'reduced_redundancy'} for name in findings],
        'held': [h._asdict() for h in sorted(directory.held)],
        'segments': [segment_json(s) for s in directory.segments],
        'drums': [drum_json(s, segments, parsed) for s in directory.segments if s.kind == 1],
    }


def main(arguments):
    pin = '--no-pin' not in arguments
    paths = [argument for argument in arguments if argument != '--no-pin']
    if len(paths) != 1:
        sys.exit(__doc__)
    try:
        document = read(paths[0], pin)
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
