# SPDX-License-Identifier: Apache-2.0
"""spec/crawl.ksy, written from spec/format.md, shows of every valid golden file what the library
sees. It is a view: which files are to be rejected is for the library and spec/reader.py.

Kaitai's compiler and runtime for JavaScript are npm packages: ./run-tests puts them into build/ksy.
The parts that Kaitai leaves as bytes (bits of variable width, LZ4 blocks) are decoded here."""

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
import ksy_keys  # noqa: E402
import ksy_pages  # noqa: E402
import lz4_block  # noqa: E402

KINDS = [None, "drum", "drum_partition", "drum_key_log", "drum_aux_log", "drum_results",
         "pages", "page_origins", "page_records", "out_links", "in_links", "gone_links",
         "page_events", "fresh_keys", "score_array", "queue", "queue_entries", "frontier",
         "frontier_groups", "frontier_items", "frontier_steps", "values", "page_contents"]
CLASSES = [None, "blob", "log", "tiled"]
OPERATIONS = ["check", "update", "check_update"]
# Without checksums the torn copy, whose first fields are whole, looks like the winner.
COPY_TO_FOLLOW = {"copy_0_torn": "slot0_copy1"}


def node(*arguments):
    """The lines that crawl_ksy.js prints."""
    done = subprocess.run(["node", RUNNER, *arguments], capture_output=True, text=True,
                          env={**os.environ, "NODE_PATH": str(MODULES)}, check=False)
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
            "next_sequence", "normalizer", "partition_keys_max", "unparsed_count", "value_bytes")
    return {"id": segment["id"], "name": segment["name"], "buckets": buckets,
            "consumers": consumers, **{name: drum[name] for name in same}}


def queue_entries_of(run):
    """In the order of the fragments."""
    data, at = bytes.fromhex(run["entries"]), 0
    for it in run["index"]:
        for _ in range(it["entry_count"]):
            middle = at + it["order_bytes"]
            end = middle + it["page_bytes"]
            yield [it["lowest_order"] +
                   (int.from_bytes(data[at:middle], "little") << it["order_shift"]),
                   it["first_page"] + int.from_bytes(data[middle:end], "little")]
            at = end


def queue_of(segment, runs):
    """runs: of each segment id, its runs."""
    table = segment["runs"][0]["payload"]
    cuts = [[it["run_id"], it["cut_order"], it["cut_page"]] for it in table.get("runs", [])]
    changes = table.get("change_runs", [])
    by_id = {it["run_id"]: list(queue_entries_of(it["payload"]))
             for it in runs.get(table["entries"], [])}
    orders = {page: order for run in changes for order, page in by_id[run]}
    there = [entry for run, *cut in cuts for entry in by_id[run] if entry > cut]
    pages = sorted({(order, page) for order, page in there if orders.get(page, order) == order})
    return {"id": segment["id"], "name": segment["name"], "entry_count": len(there),
            "page_count": len(pages), "first": [list(entry) for entry in pages[:100]],
            "order_sum": sum(order for order, _ in pages) % (1 << 64),
            "page_sum": sum(page for _, page in pages), "runs": cuts, "changes": changes}


def segment_of(segment):
    names = ("born", "offset_bytes", "payload_bytes", "record_count", "run_id")
    runs = segment["runs"]
    if CLASSES[segment["storage_class"]] == "tiled":
        runs = sorted(sum(ksy_pages.tree_of(runs[0]), []), key=lambda run: run["run_id"])
    return {"id": segment["id"], "kind": KINDS[segment["kind"]], "name": segment["name"],
            "owner": segment["owner"], "storage_class": CLASSES[segment["storage_class"]],
            "runs": [{name: run[name] for name in names} for run in runs]}


def values_of(payloads):
    found = {it["name"]: it.get("bytes", "") for payload in payloads for it in payload["values"]}
    return {"values": found} if found else {}


def document_of(crawl, copy_name):
    """The content that golden_json.h describes, but for the findings."""
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
        "pages": [ksy_pages.pages_of(it, runs, segments)
                  for it in segments if KINDS[it["kind"]] == "pages"],
        "queues": [queue_of(it, runs) for it in segments if KINDS[it["kind"]] == "queue"],
        **values_of(runs[it["id"]][0]["payload"] for it in segments
                    if KINDS[it["kind"]] == "values"),
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
                expected.pop("frontiers", None)  # the ksy file has their headers alone
                self.assertIsNone(difference(document_of(found["document"], copy_name), expected))

    def test_valid_files_give_their_document(self):
        files = sorted((GOLDEN / "valid").glob("*.crawl"))
        self.assertGreaterEqual(len(files), 30)
        self.check_valid("winner", [it for it in files if it.stem not in COPY_TO_FOLLOW])
        for stem, copy_name in COPY_TO_FOLLOW.items():
            self.check_valid(copy_name, [GOLDEN / "valid" / f"{stem}.crawl"])


if __name__ == "__main__":
    if not shutil.which("node"):
        print("skipped: there is no node")
        sys.exit(77)
    if not (MODULES.parent / "installed.json").is_file():
        print("skipped: Kaitai's npm packages are not in build/ksy, where ./run-tests puts them")
        sys.exit(77)
    unittest.main()
