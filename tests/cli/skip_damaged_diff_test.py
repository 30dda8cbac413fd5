# SPDX-License-Identifier: Apache-2.0
"""diff --skip-damaged, with a byte of either state turned at many places: what is shown is what
the whole files show, and nothing is missing of which no gap tells."""

import collections
import json
import random
import shutil
import unittest

import command
import pages_command

PAGE_COUNT = 3000
UNIT_BYTES = 4096
DATA_START = 80 * 1024
ALL = ("--json", "--keys", "--limit", 10**6)


def url(index):
    return f"https://host{index % 97}.example/{index * 2654435761 % 10**9}/page"


def crawl(pages, time, shift):
    """Pages that are crawled, with links to others."""
    lines = []
    for index in pages:
        links = [url((index * 7 + k * k * 31 + shift) % PAGE_COUNT) for k in range(1 + index % 4)]
        lines.append(json.dumps({"kind": "page", "url": url(index), "time": time + index,
                                 "content_hash": f"{index + shift:016x}", "links": links}))
    return "\n".join(lines).encode() + b"\n"


class SkipDamagedDiff(pages_command.PagesTest):
    def setUp(self):
        super().setUp()
        self.load(crawl(range(0, PAGE_COUNT, 2), 1, 0), "jsonl")
        self.load(b"\n".join(url(i).encode() for i in range(900)), "urls", "--drum", "urls")
        self.succeed("rank", "x.crawl")
        self.succeed("queue", "x.crawl", "--fill-from", "pagerank")
        shutil.copy(self.folder / "x.crawl", self.folder / "old.crawl")

    def change(self):
        self.load(crawl(range(0, PAGE_COUNT, 3), 10**6, 5), "jsonl")
        self.load(crawl(range(PAGE_COUNT, PAGE_COUNT + 300), 10**6, 5), "jsonl")
        self.succeed("forget", "x.crawl", "--host", "host11.example")
        self.load(b"\n".join(url(i).encode() for i in range(600, 1500)), "urls", "--drum", "urls")
        self.succeed("queue", "x.crawl", "--trim", "1000")
        self.load(crawl(range(40), 10**7, 9), "jsonl", "--no-merge")

    def diff(self, *words):
        answer = self.run_command("diff", "old.crawl", "x.crawl", *ALL, *words)
        return answer.code, json.loads(answer.out) if answer.out else None, answer.err.decode()

    def index_of(self):
        """Indexes by URL, of either state."""
        found = {}
        for name in ("old.crawl", "x.crawl"):
            found.update((page["url"], page["index"]) for page in self.rows(name=name))
        return found

    def check(self, place, whole, indexes):
        """Returns the parts in which there are gaps. `indexes`: none where pages are known by
        URL, so that gaps of one state hide pages of the other."""
        code, found, told = self.diff("--skip-damaged")
        if found is None:  # the directory
            self.assertEqual(code, 2, (place, told))
            self.assertEqual(self.diff()[0], 2, place)
            return set()
        gaps = found.pop("gaps")
        self.assertEqual(code, 1, place)
        if not gaps:
            found["summary"] = whole["summary"]
            self.assertEqual(found, whole, place)
            return set()
        self.assertIn("left out", told, place)
        left_out = {(gap["kind"], gap["name"]) for gap in gaps if gap["part"] is None}
        for table in ("pages", "edits", "links", "keys", "requests", "buckets", "drums",
                      "scores", "queues"):
            self.check_rows(place, table, found, whole, left_out, gaps)
        missing = ({row["page"] for row in whole["pages"]} -
                   {row["page"] for row in found["pages"]})
        if indexes and ("page_database", "pages") not in left_out:
            lost = {index for gap in gaps if gap["part"] in ("records", "URLs")
                    for index in range(gap["first_page"], gap["end_page"])}
            self.assertLessEqual({indexes[page] for page in missing}, lost, place)
        return {gap["part"] or gap["kind"] for gap in gaps}

    def check_rows(self, place, table, found, whole, left_out, gaps):
        shown = collections.Counter(json.dumps(row) for row in found[table]
                                    if not str(row.get("from", row.get("to"))).startswith("#")
                                    and not str(row.get("to")).startswith("#"))
        known = collections.Counter(json.dumps(row) for row in whole[table])
        self.assertLessEqual(set(shown), set(known), (place, table))
        if shown == known:
            return
        kind = {"keys": "drum", "requests": "drum", "buckets": "drum", "drums": "drum",
                "scores": "scores", "queues": "queue"}.get(table, "page_database")
        if kind == "scores" and ("page_database", "pages") in left_out:
            return  # they go with it
        self.assertIn(kind, {gap["kind"] for gap in gaps} | {it[0] for it in left_out},
                      (place, table))

    def places(self, name, content):
        """Places in two runs of each kind, which the seed chooses; in the long run all."""
        if command.IS_LONG:
            return range(DATA_START + 100, len(content), UNIT_BYTES)
        found = json.loads(self.succeed("segments", name, "--json").out)
        kinds = {one["id"]: one["kind"] for one in found["segments"]}
        by_kind = collections.defaultdict(list)
        for run in found["runs"]:
            by_kind[kinds[run["segment"]]].append(run)
        choice = random.Random(command.SEED)
        places = set()
        for kind in sorted(by_kind):
            for run in choice.sample(by_kind[kind], min(2, len(by_kind[kind]))):
                first, size = run["offset_bytes"], run["payload_bytes"]
                places |= {first + size // 9, first + max(0, size - 20)}
        return sorted(places)

    def check_everywhere(self, whole, indexes):
        parts = set()
        for name in ("old.crawl", "x.crawl"):
            file = self.folder / name
            content = file.read_bytes()
            for place in self.places(name, content):
                spoiled = bytearray(content)
                spoiled[place] ^= 1
                file.write_bytes(spoiled)
                parts |= self.check((name, place), whole, indexes)
            file.write_bytes(content)
        return parts

    def test_of_one_store_counts_nothing_that_a_state_cannot_tell(self):
        self.need_turn(1, 8)
        self.change()
        code, whole, _ = self.diff("--skip-damaged")
        self.assertEqual((code, whole.pop("gaps")), (1, []))
        self.assertEqual(self.diff()[1], whole)
        self.assertGreaterEqual(self.check_everywhere(whole, self.index_of()),
                                {"records", "URLs", "out-links", "drum", "queue"})

    def test_of_two_stores_counts_nothing_that_a_state_cannot_tell(self):
        self.need_turn(2, 8)
        self.load(crawl(range(0, PAGE_COUNT, 3), 10**6, 5), "jsonl", name="new.crawl")
        self.load(b"\n".join(url(i).encode() for i in range(600, 1500)), "urls", "--drum", "urls",
                  name="new.crawl")
        shutil.move(self.folder / "new.crawl", self.folder / "x.crawl")
        code, whole, _ = self.diff("--skip-damaged")
        self.assertEqual((code, whole.pop("gaps")), (1, []))
        self.assertEqual(self.diff()[1], whole)
        self.assertGreaterEqual(self.check_everywhere(whole, None),
                                {"records", "URLs", "keys", "out-links"})

    def test_stops_at_damage_without_the_option_and_names_it(self):
        self.change()
        file = self.folder / "old.crawl"
        segments = json.loads(self.succeed("segments", "old.crawl", "--json").out)
        (records,) = [one["id"] for one in segments["segments"] if one["kind"] == "page_records"]
        run = next(run for run in segments["runs"] if run["segment"] == records)
        spoiled = bytearray(file.read_bytes())
        spoiled[run["offset_bytes"] + 64] ^= 1
        file.write_bytes(spoiled)
        self.refuse(2, "old.crawl: --skip-damaged leaves out", "diff", "old.crawl", "x.crawl")
        answer = self.run_command("diff", "old.crawl", "x.crawl", "--skip-damaged")
        self.assertEqual(answer.code, 1)
        self.assertIn(b"old.crawl: left out: `pages`: records of pages", answer.err)
        self.assertRegex(answer.out.decode(), r"(?m)^summary .*, of what can be read$")


if __name__ == "__main__":
    unittest.main()
