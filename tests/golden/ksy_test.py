# SPDX-License-Identifier: Apache-2.0
"""spec/crawl.ksy, written from spec/format.md, sees in every golden file what the library sees.

Kaitai's compiler and runtime for JavaScript are npm packages: ./run-tests puts them into build/ksy.
What Kaitai leaves as bytes (bits of variable width, LZ4 blocks) is decoded here."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("CRAWLSTORE_SOURCE_DIR", ".")).resolve()
GOLDEN = SOURCE / "tests" / "golden"
RUNNER = GOLDEN / "ksy" / "crawl_ksy.js"
MODULES = SOURCE / "build" / "ksy" / "node_modules"
sys.path.insert(0, str(SOURCE / "spec"))
sys.path.insert(0, str(GOLDEN))
import golden  # noqa: E402
import ksy_keys  # noqa: E402
import ksy_pages  # noqa: E402
import lz4_block  # noqa: E402

KINDS = [None, "drum", "drum_partition", "drum_key_log", "drum_aux_log", "drum_results",
         "pages", "page_origins", "page_records", "out_links", "in_links", "gone_links",
         "page_events", "fresh_keys"]
CLASSES = [None, "blob", "log", "tiled"]
OPERATIONS = ["check", "update", "check_update"]
# Without checksums the torn copy, whose first fields are whole, looks like the winner.
COPY_TO_FOLLOW = {"copy_0_torn": "slot0_copy1"}
# What has right magics, ranges, zeros and lengths, and breaks a rule that crawl.ksy does not check:
# checksums, the fields of FlatBuffers tables, coded keys, and most of what compares two places.
TAKEN = re.compile(
    r"""aux_block_(cut|gives_more_bytes|offset_.*) | aux_run_(count|of_no_key_run)
    | block_(first_key|key_overflows|lower_bits_unused|upper_bits_missing)
    | chunk_(checksum|of_another_run|payload_byte)
    | directory_(blob_.*|born_in_future|drum_.*|first_segment_id|fresh_keys_.*|generation
        |held_entry_count|held_overlaps_live|held_retired_in_future|ids_descend|kind_14|kind_unknown
        |links_of_origins|log_of_257_runs|name_.*|next_.*|origins_.*|owner_.*|pages_.*
        |partition_of_pages|runs_descend|segment_count|segment_id_not_below_next
        |storage_class_of_another_kind|table_twice|tiled_log|without_feature_bit)
    | drum_(?!not_a_flatbuffer|table_|vtable_|consumer_at_).*
    | event_(?!run_).* | event_run_(count|message_without_events|records)
    | feature_.* | fresh_key_.* | fresh_keys_(?!magic).* | identity_checksum
    | key_run_(base_too_low|check_with_value|consumer|count|key_bits_not_minimal|key_overflows
        |sequence_overflows|unused_bits)
    | link_(below_zero|of_64_bits|over_limit.*)
    | link_block_(degrees.*|gaps_that_are_zero|page_over_limit|plain_numbers_that_are_short)
    | link_run_(blocks_overlap|last_page|link_count|records_of_.*|row_count|target_max)
    | links_.*
    | node_(checksum|child_born_after_it|child_run_id_not_below_its_own|record_.*)
    | origin_(block_compressed_without_codec|.*_wider_than_they_must|linked_from_no_page|log_.*)
    | origin_frame_(?!longer_than_raw|of_a_block_over_262144|over_255_times).*
    | origin_run_(dictionary_without_tables|entry_offset|entry_page|entry_wider_than_it_must
        |first_entry|page_count|pages_overflow|records|url_bytes)
    | page_key_.* | pages_(?!not_a_flatbuffer).*
    | partition_(first_key|index_key|index_tail|key_count|key_range|last_key)
    | record_(?!tile_).* | record_tile_not_full
    | root_checksum | root_end_(?!magic|root_).* | root_payload_empty
    | short_numbers_shorter_than_data | superblock_.* | tombstone_.*
    | tree_(node|run|tile|tiles)_.*""", re.VERBOSE)


def node(*arguments):
    """What crawl_ksy.js prints; it takes 5 s for all files together, and for ever if one hangs."""
    try:
        done = subprocess.run(["node", RUNNER, *arguments], capture_output=True, text=True,
                              timeout=120, env={**os.environ, "NODE_PATH": str(MODULES)},
                              check=False)
    except subprocess.TimeoutExpired as hang:
        lines = (hang.stdout or b"").count(b"\n")
        raise AssertionError(f"hangs behind {lines} lines of {arguments}") from None
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout.splitlines()


def dump(folder, copy_name, files):
    lines = node("dump", folder, copy_name, *files)
    assert len(lines) == len(files)
    return [json.loads(re.sub(r'"u64:(-?\d+)"', r"\1", line)) for line in lines]


def auxiliaries_of(run):
    if "auxiliaries" in run:
        return run["auxiliaries"]
    total, whole = run["total_bytes"], b""
    for block in map(bytes.fromhex, run["blocks"]):
        raw_bytes = min(65536, total - len(whole))
        whole += block if len(block) == raw_bytes else lz4_block.decompress(block, raw_bytes)
    lengths = ([it["length_bytes"] for it in run["lengths"]] if run.get("lengths") else
               [run["uniform_length_bytes"]] * run["record_count"])
    ends = [sum(lengths[:i + 1]) for i in range(len(lengths))]
    return [whole[end - length:end].hex() for end, length in zip(ends, lengths)]


def requests_of(run, aux_run):
    count = run["record_count"]
    tags = run.get("tags") or [run["uniform_tag"]] * count
    steps = run.get("sequences") or range(count)
    auxiliaries = auxiliaries_of(aux_run) if aux_run else [""] * count
    values = run.get("values") or [""] * count
    for key, tag, step, value, aux in zip(ksy_keys.keys_of(run), tags, steps, values, auxiliaries):
        yield {"aux": aux, "consumer": tag["consumer"], "key": key,
               "operation": OPERATIONS[tag["operation"]],
               "sequence": run["first_sequence"] + step, "value": value}


def answers_of(run):
    keys = run["keys"] if "tails" not in run else map(list, zip(run["keys"], run["tails"]))
    values = run.get("values") or [""] * run["record_count"]
    for key, tag, sequence, verdict, value, aux in zip(
            keys, run["tags"], run["sequences"], run["verdicts"], values, run["auxes"]):
        yield {"aux": aux, "duplicate": verdict == 1, "key": key,
               "operation": OPERATIONS[tag["operation"]], "sequence": sequence, "value": value}


def drum_of(segment, runs):
    """runs: of each segment id, its runs."""
    drum = segment["runs"][0]["payload"]
    buckets = []
    for bucket in drum["buckets"]:
        keys, values = [], []
        for run in runs.get(bucket["partition"], []):
            keys, values = ksy_keys.partition_of(run["payload"])
        auxes = {run["run_id"]: run["payload"] for run in runs.get(bucket["aux_log"], [])}
        pending = [request for run in runs.get(bucket["key_log"], [])
                   for request in requests_of(run["payload"], auxes.get(run["run_id"] + 1))]
        shown = {"first_key": bucket["first_key"], "keys": keys, "pending": pending}
        buckets.append({**shown, "values": values} if drum["value_bytes"] else shown)
    consumers = [{"id": it["id"], "name": it["name"], "results": [
        answer for run in runs.get(it["results"], []) for answer in answers_of(run["payload"])]}
        for it in (entry["consumer"] for entry in drum["consumers"])]
    same = ("key_bytes", "key_scheme", "merge_bytes", "merge_count", "merge_requests",
            "next_sequence", "partition_keys_max", "unparsed_count", "value_bytes")
    return {"id": segment["id"], "name": segment["name"], "buckets": buckets,
            "consumers": consumers, **{name: drum[name] for name in same}}


def segment_of(segment):
    names = ("born", "offset_bytes", "payload_bytes", "record_count", "run_id")
    runs = segment["runs"]
    if CLASSES[segment["storage_class"]] == "tiled":
        runs = sorted(sum(ksy_pages.tree_of(runs[0]), []), key=lambda run: run["run_id"])
    return {"id": segment["id"], "kind": KINDS[segment["kind"]], "name": segment["name"],
            "owner": segment["owner"], "storage_class": CLASSES[segment["storage_class"]],
            "runs": [{name: run[name] for name in names} for run in runs]}


def document_of(crawl, copy_name):
    """What golden_json.h describes, but for the findings."""
    copy, identity = crawl[copy_name], crawl["identity"]
    root = copy["root_place"]["directory_root"]
    segments = [entry["segment"] for table in root["tables"]
                for entry in table["segment_table"]["segments"]]
    runs = {segment["id"]: segment["runs"] for segment in segments}
    held = root["held"] + [entry for table in root["held_tables"]
                           for entry in table["held_table"]["entries"]]
    digits = identity["uuid"]
    other = [crawl[f"slot{1 - copy['slot_index']}_copy{i}"] for i in (0, 1)]
    same = ("commit_time_us", "features_compat", "features_incompat", "features_ro_compat",
            "generation")
    return {
        **{name: copy[name] for name in same},
        **{name: identity[name] for name in ("created_us", "format_version", "key_seed")},
        "drums": [drum_of(it, runs) for it in segments if KINDS[it["kind"]] == "drum"],
        "has_previous": any(it["is_plausible"] and it["generation"] == copy["generation"] - 1
                            for it in other),
        "held": sorted(held, key=lambda it: it["offset_bytes"]),
        "high_water_bytes": copy["root_place"]["high_water_bytes"],
        "pages": [ksy_pages.pages_of(it, runs) for it in segments if KINDS[it["kind"]] == "pages"],
        "segments": [segment_of(it) for it in segments],
        "uuid": "-".join([digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]])}


def difference(found, expected, place=""):
    """The place of the first difference, or None: unittest's own diff of documents takes long."""
    if isinstance(found, dict) and isinstance(expected, dict) and found.keys() == expected.keys():
        pairs = ((name, found[name], expected[name]) for name in found)
    elif isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        pairs = ((i, one, other) for i, (one, other) in enumerate(zip(found, expected)))
    else:
        return None if found == expected else f"{place}: {found!r:.200}, not {expected!r:.200}"
    return next(filter(None, (difference(one, other, f"{place}/{name}")
                              for name, one, other in pairs)), None)


class KsyTest(unittest.TestCase):
    """One subtest a file."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="crawlstore-ksy-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        node("compile", SOURCE / "spec" / "crawl.ksy", cls.folder)

    def check_valid(self, copy_name, files):
        for path, found in zip(files, dump(self.folder, copy_name, files)):
            with self.subTest(path.name):
                self.assertEqual(list(found), ["document"], found)
                expected = json.loads(path.with_suffix(".json").read_text())
                del expected["findings"]
                self.assertIsNone(difference(document_of(found["document"], copy_name), expected))

    def test_valid_files_give_their_document(self):
        files = sorted((GOLDEN / "valid").glob("*.crawl"))
        self.assertGreaterEqual(len(files), 30)
        self.check_valid("winner", [it for it in files if it.stem not in COPY_TO_FOLLOW])
        for stem, copy_name in COPY_TO_FOLLOW.items():
            self.check_valid(copy_name, [GOLDEN / "valid" / f"{stem}.crawl"])

    def test_rejected_files_give_an_ordinary_error_or_break_what_is_not_checked(self):
        files = [golden.expand(name, self.folder) for name in golden.rejected_names()]
        self.assertGreaterEqual(len(files), 60)
        for path, found in zip(files, dump(self.folder, "winner", files)):
            with self.subTest(path.name):
                verdict = "document" if TAKEN.fullmatch(path.stem) else "error"
                self.assertEqual(list(found), [verdict], found.get("bug") or found.get("error"))


if __name__ == "__main__":
    if not shutil.which("node"):
        print("skipped: there is no node")
        sys.exit(77)
    if not (MODULES.parent / "installed.json").is_file():
        print("skipped: Kaitai's npm packages are not in build/ksy, where ./run-tests puts them")
        sys.exit(77)
    unittest.main()
