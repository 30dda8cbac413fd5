# SPDX-License-Identifier: Apache-2.0
"""--skip-damaged, with a byte of the file turned at many places: what is shown is what the whole
file shows, and what is missing is what the gaps name."""

import json
import unittest

import command
import pages_command

PAGE_COUNT = 20_000
UNIT_BYTES = 4096
DATA_START = 80 * 1024


def url(index):
    return f"https://host{index % 97}.example/{index * 2654435761 % 10**9}/page"


def events():
    """Each page is crawled, and links to some that come later and some before."""
    lines = []
    for index in range(PAGE_COUNT):
        links = [url((index * 7 + k * k * 31) % PAGE_COUNT) for k in range(1 + index % 6)]
        lines.append(json.dumps({"kind": "page", "url": url(index), "time": index + 1,
                                 "content_hash": f"{index:016x}", "links": links}))
    return "\n".join(lines).encode() + b"\n"


class SkipDamaged(pages_command.PagesTest):
    def setUp(self):
        super().setUp()
        self.load(events(), "jsonl")
        self.file = self.folder / "x.crawl"
        self.whole = self.file.read_bytes()
        self.pages = {page["index"]: page for page in self.ask("pages")[1]["pages"]}
        self.index_of = {page["url"]: index for index, page in self.pages.items()}
        self.edges = self.read_edges()[1]
        self.assertEqual(len(self.pages), PAGE_COUNT)

    def ask(self, verb, *words):
        answer = self.run_command(verb, "x.crawl", "--json", *words)
        return answer.code, json.loads(answer.out) if answer.out else None

    def read_edges(self, *words):
        answer = self.run_command("export", "x.crawl", "--format", "edges", *words)
        edges = {tuple(line.split("\t")) for line in answer.out.decode().splitlines()}
        return answer.code, edges, answer.err.decode()

    def damage(self, place):
        spoiled = bytearray(self.whole)
        spoiled[place] ^= 1
        self.file.write_bytes(spoiled)

    def lost(self, gaps, part):
        return {index for gap in gaps if gap["part"] == part
                for index in range(gap["first_page"], gap["end_page"])}

    def check_pages(self, place):
        code, found = self.ask("pages", "--skip-damaged")
        if found is None:  # the directory, or the table of the pages
            self.assertNotEqual(self.ask("pages")[0], 0, place)
            return None
        gaps = found["page_gaps"]
        shown = {page["index"]: page for page in found["pages"]}
        self.assertIsNone(found["error"])
        self.assertEqual(code, 1 if gaps else 0, place)
        for index, page in shown.items():
            self.assertEqual(page, self.pages[index], place)
        missing = self.lost(gaps, "records") | self.lost(gaps, "URLs")
        self.assertEqual(set(self.pages) - set(shown), missing, place)
        if missing:
            self.assertEqual(self.ask("pages")[0], 2 if code == 2 else 1, place)
        return gaps

    def check_edges(self, place, gaps):
        """Returns the pages of which an edge is missing, but for those whose URL is lost."""
        code, shown, told = self.read_edges("--skip-damaged")
        self.assertLessEqual(shown, self.edges, place)
        no_url = self.lost(gaps, "URLs")
        missing = {self.index_of[source] for source, target in self.edges - shown
                   if not no_url & {self.index_of[source], self.index_of[target]}}
        if self.edges != shown:
            self.assertEqual(code, 1, place)
            self.assertIn("left out", told, place)
        if missing:
            self.assertIn("out-links of page", told, place)
        return missing

    def test_tells_exactly_what_is_lost(self):
        self.need_turn(3, 8)
        stride = UNIT_BYTES * (1 if command.IS_LONG else 13)
        seen = set()
        least_missing = PAGE_COUNT
        for place in range(DATA_START + 100, len(self.whole), stride):
            self.damage(place)
            gaps = self.check_pages(place)
            if gaps is None:
                continue
            seen |= {gap["part"] for gap in gaps}
            if missing := self.check_edges(place, gaps):
                least_missing = min(least_missing, len(missing))
        self.assertLessEqual({"records", "URLs"}, seen)
        self.assertLess(least_missing, 0.6 * PAGE_COUNT)  # those of a chunk

    def test_is_silent_about_a_whole_file(self):
        code, found = self.ask("pages", "--skip-damaged")
        self.assertEqual((code, found["page_gaps"]), (0, []))
        self.assertEqual(self.read_edges("--skip-damaged")[:2], (0, self.edges))
        self.refuse(2, "--by", "pages", "x.crawl", "--skip-damaged", "--by", "host")
        self.refuse(2, "scores", "export", "x.crawl", "--format", "scores-csv", "--skip-damaged")

    def test_exports_pages_that_another_file_takes(self):
        """Records of one tile are lost: their pages, and no others, are not crawled there."""
        segments = json.loads(self.succeed("segments", "x.crawl", "--json").out)
        (records,) = [one["id"] for one in segments["segments"] if one["kind"] == "page_records"]
        run = next(run for run in segments["runs"] if run["segment"] == records)
        self.damage(run["offset_bytes"] + 64)
        gaps = self.check_pages(run["offset_bytes"])
        lost = self.lost(gaps, "records")
        self.refuse(1, "--skip-damaged leaves out", "export", "x.crawl", "--format", "jsonl")
        answer = self.run_command("export", "x.crawl", "--format", "jsonl", "--skip-damaged")
        self.assertEqual(answer.code, 1)
        self.load(answer.out, "jsonl", name="y.crawl")
        again = json.loads(self.succeed("pages", "y.crawl", "--json").out)["pages"]
        crawled = {page["url"] for page in again if page["crawl_count"] != 0}
        self.assertEqual(crawled, {page["url"] for index, page in self.pages.items()
                                   if index not in lost})


class SkipDamagedQueue(pages_command.PagesTest):
    """Runs of entries that came one after the other, and changes of priorities."""

    def setUp(self):
        super().setUp()
        self.load(b"".join(b"http://a.test/%d\n" % index for index in range(45_000)), "urls")
        self.file = self.folder / "x.crawl"
        self.put("--insert", {index: index * 7919 % 65537 for index in range(30_000)})
        self.put("--insert", {index: index * 104729 % 65537 for index in range(30_000, 45_000)})

    def put(self, option, priorities):
        lines = "".join(f"{priority}\t#{index}\n" for index, priority in priorities.items())
        self.succeed("queue", "x.crawl", option, "-", data=lines.encode())

    def peek(self, *words, count=10**6):
        answer = self.run_command("next", "x.crawl", "--peek", "-n", count, "--json", *words)
        return answer.code, json.loads(answer.out) if answer.out else None, answer.err.decode()

    def shown(self, *words, count=10**6):
        return [(page["index"], page["priority"])
                for page in self.peek(*words, count=count)[1]["pages"]]

    def runs(self, kind):
        found = json.loads(self.succeed("segments", "x.crawl", "--json").out)
        kinds = {one["id"]: one["kind"] for one in found["segments"]}
        return [run for run in found["runs"] if kinds[run["segment"]] == kind]

    def check(self, content, place, whole):
        spoiled = bytearray(content)
        spoiled[place] ^= 1
        self.file.write_bytes(spoiled)
        code, found, told = self.peek("--skip-damaged")
        gaps = found["queue_gaps"]
        pages = [(page["index"], page["priority"]) for page in found["pages"]]
        self.assertEqual(code, 1 if gaps or found["page_gaps"] else 0, (place, told))
        self.assertIsNone(found["error"])
        left = iter(whole)
        self.assertTrue(all(page in left for page in pages), place)  # in their order
        missing = set(whole) - set(pages)
        ranges = [gap for gap in gaps if gap["entry_count"] is not None]
        if len(ranges) == len(gaps):
            self.assertLessEqual(len(missing), sum(gap["entry_count"] for gap in gaps), place)
            for _, priority in missing:
                self.assertTrue(any(gap["last_priority"] <= priority <= gap["first_priority"]
                                    for gap in gaps), place)
        for gap in gaps:
            self.assertIn(f"of the queue at {gap['offset_bytes']:#x}: ", told)
            self.assertGreater(gap["length_bytes"], 0)
        if gaps:
            code, _, told = self.peek()
            self.assertEqual(code, 1)
            self.assertIn("--skip-damaged leaves out", told)
        return gaps, pages

    def check_runs(self, whole, kind, places):
        """Yields what is left out and shown for a damaged byte of each run, and of each place."""
        content = self.file.read_bytes()
        for run in self.runs(kind):
            for place in places:
                yield self.check(content, run["offset_bytes"] + int(
                    (run["payload_bytes"] - 1) * place), whole)
        self.file.write_bytes(content)

    def test_shows_what_other_fragments_and_runs_have(self):
        self.succeed("next", "x.crawl", "-n", "1000")
        whole = self.shown()
        self.assertEqual(len(whole), 44_000)
        self.assertEqual(self.peek("--skip-damaged")[1]["queue_gaps"], [])
        self.assertEqual(self.shown("--skip-damaged"), whole)
        self.assertEqual(self.shown("--skip-damaged", count=77), whole[:77])
        fragments = runs = 0
        for gaps, pages in self.check_runs(whole, "queue_entries", (0.1, 0.4, 0.6, 1)):
            self.assertEqual(len(gaps), 1)
            self.assertGreater(len(pages), 10_000)
            fragments += gaps[0]["entry_count"] is not None
            runs += gaps[0]["entry_count"] is None
        self.assertGreater(min(fragments, runs), 1)

    def test_shows_nothing_where_changes_or_the_table_are_lost(self):
        self.put("--update", {index: index * 31 % 65537 for index in range(0, 45_000, 9)})
        whole = self.shown()
        self.assertEqual(self.shown("--skip-damaged"), whole)
        hidden = 0
        for _gaps, pages in self.check_runs(whole, "queue_entries", (0.5, 1)):
            hidden += not pages
        self.assertEqual(hidden, 2)  # that of the changes
        for gaps, pages in self.check_runs(whole, "queue", (0.5,)):
            self.assertEqual((pages, len(gaps)), ([], 1))
            self.assertTrue(gaps[0]["is_whole_queue"])


if __name__ == "__main__":
    unittest.main()
