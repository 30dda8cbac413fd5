# SPDX-License-Identifier: Apache-2.0
"""The contents of the panels of pages are those of the command, shown and exported: all pages,
those of a host, those that match, the best; of single pages the fields, the path, and links in both
directions; of two states what differs, in a sentence and in tables.

acceptance: 21"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("CRAWLSTORE_SOURCE_DIR", ".")).resolve()
BUILD = pathlib.Path(os.environ.get("CRAWLSTORE_BUILD_DIR", "build/release")).resolve()
INSPECTOR = BUILD / "bin/crawlstore-inspector"
COMMAND = BUILD / "bin/crawlstore"
FILES = [SOURCE / f"tests/golden/valid/{name}.crawl"
         for name in ("pages", "pages_compacted", "pages_forgotten", "pages_of_sites")]
SHARED = ["index", "url", "url_hex", "state", "score", "depth", "linked_from", "crawl_count",
          "change_count", "http_status", "failure_count", "first_crawl_us", "last_crawl_us"]
WAIT_SECONDS = 120


def command(*words, codes=(0,)):
    answer = subprocess.run([COMMAND, *map(str, words), "--json"], capture_output=True,
                            check=False, timeout=WAIT_SECONDS)
    assert answer.returncode in codes, answer.stderr
    return json.loads(answer.stdout)


def indexes(rows):
    return [row["index"] for row in rows]


class Test(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="crawlstore-equal-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def robot(self, file, *steps):
        """Does the steps; the labels of the end, and what `export NAME` wrote."""
        names = [step.split()[1] for step in steps if step.startswith("export ")]
        lines = [f"command export {self.folder}/{step.split()[1]}.jsonl"
                 if step.startswith("export ") else step for step in steps]
        script = self.folder / "a.script"
        script.write_text("\n".join(["size 1900 1200", f"open {file}", *lines]) + "\n")
        environment = dict(os.environ, HOME=str(self.folder))
        answer = subprocess.run([INSPECTOR, "--headless", "--labels", "--run", script],
                                capture_output=True, check=True, timeout=WAIT_SECONDS,
                                env=environment)
        labels = {}
        for line in answer.stdout.decode().split("\n"):
            label, _, text = line.partition("\t")
            labels.setdefault(label, text)
        rows = {name: [json.loads(line) for line in
                       (self.folder / f"{name}.jsonl").read_text().split("\n") if line]
                for name in names}
        return labels, rows

    def test_pages_are_those_of_the_command(self):
        for file in FILES:
            expected = command("pages", file)["pages"]
            _, rows = self.robot(file, "goto pages", "export all", "click pages.top", "export top")
            self.assertEqual([[row.get(name) for name in SHARED] for row in rows["all"]],
                             [[row.get(name) for name in SHARED] for row in expected])
            best = sorted(expected, key=lambda row: (-row["score"], row["index"]))[:1000]
            self.assertEqual(indexes(rows["top"]), indexes(best))

    def test_pages_of_a_host_and_of_an_expression_are_those_of_the_command(self):
        file = FILES[-1]
        _, rows = self.robot(file, "goto pages/host/www.site2.test", "export host",
                             "goto pages/page/0", "click pages.filter",
                             "type url~/page-[13]..html$/", "export match")
        # One in the order of keys, the other in that of indexes.
        self.assertEqual(sorted(indexes(rows["host"])),
                         indexes(command("pages", file, "--host", "www.site2.test")["pages"]))
        self.assertEqual(indexes(rows["match"]),
                         indexes(command("pages", file, "--match", "page-[13]..html$")["pages"]))
        self.assertGreater(len(rows["match"]), 3)

    def test_a_page_its_path_and_its_links_are_those_of_the_command(self):
        for file in FILES:
            count = len(command("pages", file)["pages"])
            for index in range(0, count, max(1, count // 9)):
                page = command("page", file, f"#{index}")
                labels, rows = self.robot(file, f"goto page/{index}", "click page.path",
                                          "export path", "click page.out_links", "export out",
                                          "click page.in_links", "export in")
                for name in ("index", "state", "depth", "crawl_count", "change_count",
                             "out_link_count", "in_link_count", "linked_from"):
                    text = labels[f"page.{name}"].replace(",", "")
                    self.assertEqual(text, "-" if page[name] is None else str(page[name]), name)
                self.assertEqual(indexes(rows["path"]), indexes(page["path_pages"]))
                self.assertEqual(indexes(rows["out"]),
                                 indexes(command("links", file, f"#{index}")["links"]))
                self.assertEqual(indexes(rows["in"]),
                                 indexes(command("links", file, f"#{index}", "--in")["links"]))

    def test_what_differs_is_what_the_command_says(self):
        valid = SOURCE / "tests/golden/valid"
        pairs = [(FILES[0], FILES[1]), (FILES[0], FILES[2]), (FILES[1], FILES[3]),
                 (valid / "queues.crawl", FILES[0]), (valid / "graph_of_scores.crawl", FILES[0]),
                 (valid / "keys_and_pending.crawl", valid / "unicode.crawl"),
                 (FILES[0], FILES[0])]
        for older, newer in (pair for pair in pairs if all(path.exists() for path in pair)):
            expected = command("diff", older, newer, "--keys", "--limit", 100_000,
                               codes=(0, 1))
            labels, _ = self.robot(newer, "goto diff", "click diff.older", f"type {older}",
                                   "click diff.compare")
            self.assertEqual(labels["diff.sentence"], expected["summary"])
            for table in ("pages", "hosts", "links", "page_links", "edits", "scores", "queues",
                          "keys", "requests", "segments", "buckets", "page_databases", "drums"):
                count = len(expected[table])
                shown = labels.get(f"diff.{table}", "0").rsplit(" ", 1)[-1].replace(",", "")
                self.assertEqual(int(shown), count, table)

    def test_a_url_leads_to_its_page(self):
        file = FILES[-1]
        url = command("page", file, "#300")["url"]
        labels, _ = self.robot(file, f"command go_to {url}")
        self.assertEqual(labels["page.index"], str(command("page", file, url)["index"]))

    def test_counts_are_those_of_the_command(self):
        for file in FILES:
            info = command("info", file)
            pages = f"{info['page_count']:,} page" + ("" if info["page_count"] == 1 else "s")
            self.robot(file, "goto pages",
                       f"expect {pages}, {info['crawled_count']:,} crawled; "
                       f"{info['link_count']:,} link")


if __name__ == "__main__":
    unittest.main()
