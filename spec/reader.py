#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Reads a whole crawl file by spec/format.md and prints it as JSON: reader.py FILE [--summary].

A verifying reader in the sense of the spec, independent of the library and of its language. Slow
and plain on purpose. A broken rule ends the program with "class: text" on stderr and exit code 1,
or 4 when the file is none that this version reads. --summary counts keys and requests instead of
listing them.
"""

import json
import struct
import sys
import uuid

from crawl_file import (CLASSES, KINDS, OPERATIONS, U64_MAX, Broken, Buffer, Columns, File, cut,
                        need, up)

NOT_OURS = ("not_a_crawl_file", "newer_version", "older_version", "unknown_feature")
BAD = "segment_invalid"


def check_lengths(lengths, limit):
    need(all(length <= limit for length in lengths), BAD, "a length is over its limit")


def read_key_block(block, value_bytes):
    """Keys and values of a block, which must fill `block` exactly."""
    need(len(block) >= 16, BAD, "a block is shorter than its header")
    first, count, words, low_bits = struct.unpack_from("<QHHB", block)
    need(1 <= count <= 512 and low_bits <= 63 and words <= 64 and not any(block[13:16]), BAD,
         "header of a block")
    columns = Columns(block, 16)
    upper = int.from_bytes(columns.take("B", 8 * words), "little")
    need(upper.bit_length() > 64 * (words - 1), BAD, "upper_words is not minimal")
    need(bin(upper).count("1") == count - 1, BAD, "number of upper bits")
    lower = int.from_bytes(columns.take("B", up((count - 1) * low_bits, 64) // 8), "little")
    need(lower >> (count - 1) * low_bits == 0, BAD, "unused lower bits are not zero")
    keys, place = [first], -1
    for i in range(count - 1):
        place += 1
        while not upper >> place & 1:
            place += 1
        low = lower >> i * low_bits & (1 << low_bits) - 1
        distance = (place - i << low_bits) + low
        need(distance <= U64_MAX and first + distance <= U64_MAX, BAD, "a key overflows")
        keys.append(first + distance)
    need(all(a < b for a, b in zip(keys, keys[1:])), BAD, "keys of a block do not ascend")
    lengths = [value_bytes] * count
    if value_bytes == -1:
        lengths = columns.take("I", count)
        check_lengths(lengths, 2**24)
    values = cut(columns.take("B", sum(lengths)), lengths)
    columns.finish()
    return keys, values


def read_partition(payload):
    """(keys, values, value_bytes)."""
    need(len(payload) >= 64 and len(payload) % 8 == 0, BAD, "length of a partition")
    (count, blocks, index, first_key, last_key, key_bytes, codec, value_bytes, reserved,
     magic) = struct.unpack_from("<QQQQQHHiQ8s", payload, len(payload) - 64)
    need((key_bytes, codec, reserved, magic) == (8, 1, 0, b"CRYPART1") and
         -1 <= value_bytes <= 2**24, BAD, "footer of a partition")
    need(1 <= blocks <= len(payload) and blocks <= count <= 512 * blocks, BAD, "counts")
    need(index == len(payload) - 64 - 8 * blocks - up(4 * blocks, 8) and index >= 16 * blocks,
         BAD, "index_offset_bytes")
    need(count - 1 <= last_key - first_key and (count > 1 or first_key == last_key), BAD,
         "first and last key")
    columns = Columns(payload[:-64], index)
    firsts = columns.take("Q", blocks)
    offsets = [8 * offset for offset in columns.take("I", blocks)] + [index]
    columns.finish()
    need(offsets[0] == 0 and all(a < b for a, b in zip(offsets, offsets[1:])), BAD, "offsets")
    keys, values = [], []
    for i in range(blocks):
        block_keys, block_values = read_key_block(payload[offsets[i]:offsets[i + 1]], value_bytes)
        need(block_keys[0] == firsts[i] and (not keys or keys[-1] < block_keys[0]), BAD,
             "a block does not match the index")
        keys += block_keys
        values += block_values
    need((len(keys), keys[0], keys[-1]) == (count, first_key, last_key), BAD,
         "a footer does not match the blocks")
    return keys, values, value_bytes


def check_tags(tags):
    need(all(tag & 3 <= 2 for tag in tags), BAD, "an operation is unknown")


def read_key_run(payload):
    """([request without aux], value_bytes)."""
    need(len(payload) >= 40, BAD, "length of a key run")
    magic, count, first, flags, value_bytes, tag = struct.unpack_from("<8sQQIiH", payload)
    need(magic == b"CKEYRUN1" and flags <= 3 and not any(payload[34:40]) and
         -1 <= value_bytes <= 2**24 and 1 <= count <= len(payload), BAD, "header of a key run")
    columns = Columns(payload, 40)
    keys = columns.take("Q", count)
    need(not flags & 1 or tag == 0, BAD, "uniform_tag beside a column of tags")
    tags = columns.take("H", count) if flags & 1 else [tag] * count
    check_tags(tags)
    offsets = columns.take("I", count) if flags & 2 else range(count)
    need(all(a < b for a, b in zip(offsets, offsets[1:])), BAD, "sequences do not ascend")
    need(first + offsets[-1] <= U64_MAX, BAD, "a sequence number overflows")
    lengths = [value_bytes] * count
    if value_bytes == -1:
        lengths = columns.take("I", count)
        check_lengths(lengths, 2**24)
        need(all(length == 0 for length, tag in zip(lengths, tags) if tag & 3 == 0), BAD,
             "a check has a value")
    values = cut(columns.take("B", sum(lengths)), lengths)
    columns.finish()
    return [{"key": key, "operation": OPERATIONS[tag & 3], "consumer": tag >> 2,
             "sequence": first + offset, "value": value.hex(), "aux": ""}
            for key, tag, offset, value in zip(keys, tags, offsets, values)], value_bytes


def read_aux_run(payload):
    """The auxiliaries."""
    need(len(payload) >= 24, BAD, "length of an auxiliary run")
    magic, count, flags, uniform = struct.unpack_from("<8sQII", payload)
    need(magic == b"CAUXRUN1" and flags <= 1 and 1 <= count <= len(payload), BAD,
         "header of an auxiliary run")
    need(1 <= uniform <= 2**26 if flags else uniform == 0, BAD, "uniform_length_bytes")
    columns = Columns(payload, 24)
    lengths = [uniform] * count if flags else columns.take("I", count)
    check_lengths(lengths, 2**26)
    auxes = cut(columns.take("B", sum(lengths)), lengths)
    columns.finish()
    return auxes


def read_result_run(payload):
    """([answer], value_bytes)."""
    need(len(payload) >= 24, BAD, "length of a result run")
    magic, count, value_bytes, reserved = struct.unpack_from("<8sQiI", payload)
    need(magic == b"CRESRUN1" and reserved == 0 and -1 <= value_bytes <= 2**24 and
         1 <= count <= len(payload), BAD, "header of a result run")
    columns = Columns(payload, 24)
    keys, sequences = columns.take("Q", count), columns.take("Q", count)
    tags, verdicts = columns.take("H", count), columns.take("B", count)
    check_tags(tags)
    need(max(verdicts) <= 1, BAD, "a verdict is neither 0 nor 1")
    value_lengths = columns.take("I", count) if value_bytes == -1 else [value_bytes] * count
    aux_lengths = columns.take("I", count)
    check_lengths(value_lengths, 2**24)
    check_lengths(aux_lengths, 2**26)
    values = cut(columns.take("B", sum(value_lengths)), value_lengths)
    auxes = cut(columns.take("B", sum(aux_lengths)), aux_lengths)
    columns.finish()
    return [{"key": key, "operation": OPERATIONS[tag & 3], "consumer": tag >> 2,
             "sequence": sequence, "duplicate": verdict == 1, "value": value.hex(),
             "aux": aux.hex()} for key, tag, sequence, verdict, value, aux in
            zip(keys, tags, sequences, verdicts, values, auxes)], value_bytes


def read_drum_table(payload):
    """The Drum FlatBuffer as a dict, its own rules checked."""
    root = Buffer.root(payload, BAD)
    table = {"key_bytes": root.number(0, "H"), "key_scheme": root.number(1, "H"),
             "value_bytes": root.number(2, "i"), "next_sequence": root.number(3, "Q"),
             "merge_count": root.number(4, "Q"), "unparsed_count": root.number(5, "Q")}
    names = ("first_key", "partition", "key_log", "aux_log", "key_count", "pending_count")
    table["buckets"] = [dict(zip(names, entry)) for entry in root.structs(6, "QQQQQQ")]
    table["consumers"] = [{"id": entry.number(0, "H"), "name": entry.name(1),
                           "results": entry.number(2, "Q"), "result_count": entry.number(3, "Q")}
                          for entry in root.tables(7)]
    need(table["key_bytes"] == 8 and table["key_scheme"] <= 1 and
         -1 <= table["value_bytes"] <= 2**24, BAD, "types of a drum")
    firsts = [bucket["first_key"] for bucket in table["buckets"]]
    need(1 <= len(firsts) <= 65536 and firsts[0] == 0 and
         all(a < b for a, b in zip(firsts, firsts[1:])), BAD, "buckets of a drum")
    for bucket in table["buckets"]:
        need((bucket["partition"] == 0) == (bucket["key_count"] == 0) and
             (bucket["key_log"] == 0) == (bucket["pending_count"] == 0) and
             (bucket["aux_log"] == 0 or bucket["key_log"] != 0), BAD, "segments of a bucket")
    ids = [consumer["id"] for consumer in table["consumers"]]
    need(ids and ids[0] == 0 and ids[-1] <= 16383 and all(a < b for a, b in zip(ids, ids[1:])),
         BAD, "ids of consumers")
    consumer_names = [consumer["name"] for consumer in table["consumers"]]
    need(len(set(consumer_names)) == len(ids), BAD, "names of consumers")
    need(all((c["results"] == 0) == (c["result_count"] == 0) for c in table["consumers"]), BAD,
         "results of a consumer")
    named = [bucket[field] for bucket in table["buckets"]
             for field in ("partition", "key_log", "aux_log") if bucket[field]]
    named += [consumer["results"] for consumer in table["consumers"] if consumer["results"]]
    need(len(set(named)) == len(named), BAD, "a segment is named twice")
    table["named"] = set(named)
    return table


class Drum:
    """One drum with all it names."""

    def __init__(self, contents, directory, segment):
        self.contents, self.directory, self.id = contents, directory, segment["id"]
        self.table = contents[segment["id"]][0]
        owned = {s["id"] for s in directory.segments if s["owner"] == self.id}
        need(owned == self.table["named"], BAD, "segments that are owned, and those that are named")
        self.consumers = {consumer["id"] for consumer in self.table["consumers"]}

    def runs(self, segment_id, kind):
        """[(run, content)] of a segment; none for id 0."""
        if segment_id == 0:
            return []
        segment = self.directory.by_id.get(segment_id)
        need(segment is not None and segment["kind"] == kind, BAD, "a segment of another kind")
        return list(zip(segment["runs"], self.contents[segment_id]))

    def check_value_bytes(self, value_bytes):
        need(value_bytes == self.table["value_bytes"], BAD, "values of another size")

    def bucket(self, number):
        bucket = self.table["buckets"][number]
        following = self.table["buckets"][number + 1:number + 2]
        low, high = bucket["first_key"], following[0]["first_key"] - 1 if following else U64_MAX
        keys, values = [], []
        for _, (keys, values, value_bytes) in self.runs(bucket["partition"], 2):
            self.check_value_bytes(value_bytes)
            need(low <= keys[0] and keys[-1] <= high, BAD, "a key outside its bucket")
        need(len(keys) == bucket["key_count"], BAD, "key_count")
        result = {"first_key": low, "keys": keys, "pending": self.pending(bucket, low, high)}
        if self.table["value_bytes"] != 0:
            result["values"] = [value.hex() for value in values]
        return result

    def pending(self, bucket, low, high):
        auxes = {run["run_id"]: content for run, content in self.runs(bucket["aux_log"], 4)}
        pending = []
        for run, (requests, value_bytes) in self.runs(bucket["key_log"], 3):
            self.check_value_bytes(value_bytes)
            aux = auxes.pop(run["run_id"] + 1, None)
            if aux is not None:
                need(len(aux) == len(requests), BAD, "count of an auxiliary run")
                for request, text in zip(requests, aux):
                    request["aux"] = text.hex()
            pending += requests
        need(not auxes, BAD, "an auxiliary run without its key run")
        need(len(pending) == bucket["pending_count"], BAD, "pending_count")
        sequences = [-1] + [request["sequence"] for request in pending]
        need(all(a < b for a, b in zip(sequences, sequences[1:])) and
             sequences[-1] < self.table["next_sequence"], BAD, "sequence numbers")
        for request in pending:
            need(low <= request["key"] <= high, BAD, "a request outside its bucket")
            need(request["consumer"] in self.consumers, BAD, "an unknown consumer")
        return pending

    def results(self, consumer):
        answers = []
        for _, (more, value_bytes) in self.runs(consumer["results"], 5):
            self.check_value_bytes(value_bytes)
            answers += more
        need(len(answers) == consumer["result_count"], BAD, "result_count")
        for answer in answers:
            need(answer.pop("consumer") == consumer["id"], BAD, "an answer of another consumer")
            need(answer["sequence"] < self.table["next_sequence"], BAD, "sequence numbers")
        return answers

    def document(self):
        buckets = [self.bucket(i) for i in range(len(self.table["buckets"]))]
        waiting = [request["sequence"] for bucket in buckets for request in bucket["pending"]]
        need(len(set(waiting)) == len(waiting), BAD, "a sequence number waits twice")
        consumers = [{"id": c["id"], "name": c["name"], "results": self.results(c)}
                     for c in self.table["consumers"]]
        kept = ("key_scheme", "value_bytes", "next_sequence", "merge_count", "unparsed_count")
        return {**{name: self.table[name] for name in kept}, "id": self.id,
                "name": self.directory.by_id[self.id]["name"], "buckets": buckets,
                "consumers": consumers}


READERS = {1: read_drum_table, 2: read_partition, 3: read_key_run, 4: read_aux_run,
           5: read_result_run}


def read_generation(file, block):
    """Everything that one generation refers to: (directory, drums)."""
    directory = file.directory(block)
    contents = {}
    for segment in directory.segments:
        read, counted = READERS[segment["kind"]], segment["kind"] != 1
        contents[segment["id"]] = []
        for run in segment["runs"]:
            content = read(file.payload(segment, run))
            count = len(content if segment["kind"] == 4 else content[0]) if counted else 0
            need(not counted or count == run["record_count"], BAD, "record_count")
            contents[segment["id"]].append(content)
    return directory, [Drum(contents, directory, segment).document()
                       for segment in directory.segments if segment["kind"] == 1]


def summary_of(document):
    """Lists of keys, requests and answers become counts."""
    def count(entries):
        return {"count": len(entries), "first": entries[:1], "last": entries[-1:]}
    for drum in document["drums"]:
        for bucket in drum["buckets"]:
            for name in ("keys", "values", "pending"):
                if name in bucket:
                    bucket[name] = count(bucket[name])
        for consumer in drum["consumers"]:
            consumer["results"] = count(consumer["results"])
    return document


def read_document(data):
    """The whole document of a file's newest generation."""
    file = File(data)
    winner, previous = file.choose()
    directory, drums = read_generation(file, winner)
    if previous is not None:
        try:
            read_generation(file, previous)
        except Broken as broken:
            file.reduced(*broken.args)
    for segment in directory.segments:
        segment["kind"] = KINDS[segment["kind"]][0]
        segment["storage_class"] = CLASSES[segment["storage_class"]]
        for run in segment["runs"]:
            del run["checksum"]
    kept = ("generation", "commit_time_us", "features_compat", "features_ro_compat",
            "features_incompat", "high_water_bytes")
    return {**{name: winner[name] for name in kept}, "format_version": 1,
            "uuid": str(uuid.UUID(bytes=bytes(file.uuid))), "key_seed": file.key_seed,
            "created_us": file.created_us, "has_previous": previous is not None,
            "segments": directory.segments,
            "held": sorted(directory.held, key=lambda entry: entry["offset_bytes"]),
            "drums": drums, "findings": file.findings}


def main(arguments):
    """Reads the file named by the arguments."""
    if not 1 <= len(arguments) <= 2 or (len(arguments) == 2 and arguments[1] != "--summary"):
        print("usage: reader.py FILE [--summary]", file=sys.stderr)
        return 2
    try:
        with open(arguments[0], "rb") as stream:
            document = read_document(stream.read())
    except OSError as error:
        print(error, file=sys.stderr)
        return 3
    except Broken as broken:
        print(f"{broken.args[0]}: {broken.args[1]}", file=sys.stderr)
        return 4 if broken.args[0] in NOT_OURS else 1
    if len(arguments) == 2:
        document = summary_of(document)
    print(json.dumps(document, indent=1, sort_keys=True))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
