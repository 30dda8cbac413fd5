# SPDX-License-Identifier: Apache-2.0
"""Page databases as spec/crawl.ksy shows them: what golden_json.h says of them. Frames of zstd,
messages of Cap'n Proto and dense blocks, which Kaitai leaves as bytes, are decoded with the readers
of spec/."""

import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "spec"))
import crawl_events  # noqa: E402
import dense_links  # noqa: E402
import ksy_keys  # noqa: E402
import zstd_frame  # noqa: E402

STATES = ["known", "crawled", "gone", "failed", "redirect", "denied", "duplicate", "elsewhere"]
COLUMNS = ["state", "crawl_count", "change_count", "first_crawl", "crawl_span", "score",
           "hash_end", "status", "failures"]

SCORE_ARRAY = 14
SUBJECTS = [None, "page", "host", "domain"]


def tree_of(run):
    """Tiles in their order, then the nodes above them."""
    tiles, nodes = [], [run]
    for node in nodes:
        for child in node["payload"]["children"]:
            (nodes if child["tile"] is None else tiles).append(child)
    return tiles, nodes


def records_of(tile):
    count, columns = tile["page_count"], {}
    for name, column in zip(COLUMNS, tile["columns"]):
        stored = [it["value"] for it in tile[name].get("numbers") or [{"value": 0}] * count]
        columns[name] = [0 if name == "first_crawl" and not it else
                         column["base"] + it - (name == "first_crawl") for it in stored]
    hashes, begin = bytes.fromhex(tile["hashes"]), 0
    for values in zip(*(columns[name] for name in COLUMNS)):
        state, crawls, changes, first, span, score, end, status, failures = values
        yield {"state": STATES[state], "crawl_count": crawls, "change_count": changes,
               "first_crawl_us": first, "last_crawl_us": first + span,
               "score": struct.unpack("<f", struct.pack("<I", score))[0],
               "content_hash": hashes[begin:end].hex(), "http_status": status,
               "failure_count": failures}
        begin = end


def urls_of(block, dictionary):
    if "raw" in block:
        return block["raw"]["urls"]
    raw = zstd_frame.decompress(bytes.fromhex(block["frame"]), dictionary)
    size, count = block["length_bytes"], block["page_count"]
    urls, at = [], size * count
    for i in range(count):
        length = int.from_bytes(raw[size * i:size * (i + 1)], "little")
        urls.append(raw[at:at + length].hex())
        at += length
    return urls


def origins_of(run):
    dictionary = bytes.fromhex(run["dictionary"])
    page = run["footer"]["first_page"]
    for block in run["blocks"]["blocks"]:
        numbers = [[it["value"] for it in block[name]] for name in ("distances", "depths")]
        for url, distance, depth in zip(urls_of(block, dictionary), *numbers):
            yield {"index": page, "url": url, "depth": depth // 2, "by_redirect": depth % 2 == 1,
                   "linked_from": page - distance if distance else None}
            page += 1


def dense_blocks_of(group):
    page, count = group["first_page"], group["block_count"]
    for page_count, block in zip(group["page_counts"][:count], group["blocks"]["blocks"]):
        yield page, page_count, bytes.fromhex(block)
        page += page_count


def rows_of(run):
    if run["footer"]["codec"] == 2:
        yield from dense_links.rows_of(
            dense_links.parse_model(bytes.fromhex(run["model"])),
            (block for group in run["groups"] for block in dense_blocks_of(group)))
        return
    for block in (it["block"] for it in run["blocks"]):
        numbers = block.get("short_numbers") or block["plain_numbers"]
        value = (lambda it: it["value"]) if "short_numbers" in block else (lambda it: it)
        gaps = [0] + ([value(it) for it in numbers["gaps"]] or [0] * block["row_count"])
        links, page = iter(numbers["link_numbers"]), block["first_page"]
        for i, degree in enumerate(map(value, numbers["degrees"])):
            page += (1 if i else 0) + gaps[i]
            row = []
            for _ in range(degree):
                number = value(next(links))
                row.append(row[-1] + 1 + number if row else
                           page + (-(number + 1) // 2 if number % 2 else number // 2))
            yield page, row


def combined(logs):
    """logs: pairs of runs and what a row of them does to the links that the page has so far."""
    links = {}
    for run, take in sorted(((run, take) for runs, take in logs for run in runs),
                            key=lambda it: it[0]["run_id"]):
        for page, row in rows_of(run["payload"]):
            links[page] = take(links.get(page, set()), set(row))
    return [{"page": page, "links": sorted(row)} for page, row in sorted(links.items()) if row]


def event_of(it):
    return {"kind": it["kind"], "url": it["url"], "index": int(it["index"]),
            "time_us": int(it["timeUs"]), "score": it["score"],
            "content_hash": it["contentHash"], "http_status": it["httpStatus"],
            "links": [{**link, "index": int(link["index"])} for link in it["links"]]}


def events_of(run):
    messages = b"".join(struct.pack("<II", it["segments_less_one"], it["segment_words"]) +
                        bytes.fromhex(it["segment"]) for it in run["messages"])
    return map(event_of, crawl_events.events_of(messages))


def scores_of(segment):
    array = segment["runs"][0]["payload"]
    footer = array["footer"]
    same = ("scorer", "page_count", "link_count", "superstep_count", "generation", "time_us",
            "damping", "precision", "residual", "sum", "flags")
    return {"name": segment["name"], "subject": SUBJECTS[footer["subject"]],
            **{name: footer[name] for name in same},
            "values": array["floats"] if footer["codec"] == 1 else array["doubles"],
            "first_pages": array["first_pages"], "residuals": array["residuals"]}


def pages_of(segment, runs, segments):
    """runs: of each segment id, its runs."""
    table = segment["runs"][0]["payload"]
    log = {name: runs.get(table[name], []) for name in
           ("origins", "records", "out_links", "in_links", "gone_links", "events", "fresh_keys",
            "contents")}
    records = [it for run in log["records"] for tile in tree_of(run)[0]
               for it in records_of(tile["tile"])]
    origins = [it for run in log["origins"] for it in origins_of(run["payload"])]
    if not origins:
        origins = [{"index": i, "url": "", "depth": 0, "by_redirect": False, "linked_from": None}
                   for i in range(len(records))]
    pages = [{**origin, **record} for origin, record in zip(origins, records)]
    same = ("crawled_count", "link_count", "superstep_count", "collision_count", "normalizer",
            "unparsed_count")
    contents = [ksy_keys.partition_of(run["payload"])[0] for run in log["contents"]]
    return {"id": segment["id"], "name": segment["name"], "has_urls": table["flags"] & 1 == 1,
            **{name: table[name] for name in same},
            **({"contents": contents} if table["flags"] & 2 else {}),
            "pages": [it for it in pages if it["url"] or it["state"] != "known" or it["score"]],
            "out_links": combined([(log["out_links"], lambda _, row: row)]),
            "in_links": combined([(log["in_links"], set.union),
                                  (log["gone_links"], set.difference)]),
            "events": [it for run in log["events"] for it in events_of(run["payload"])],
            "fresh_keys": [dict(zip(("keys", "values"), ksy_keys.partition_of(run["payload"])))
                           for run in log["fresh_keys"]],
            "scores": [scores_of(it) for it in segments
                       if it["kind"] == SCORE_ARRAY and it["owner"] == segment["id"]]}
