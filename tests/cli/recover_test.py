# SPDX-License-Identifier: Apache-2.0
"""crawlstore recover, against an oracle that read the whole file: what the new file has, and what
it names as lost, are together what was there, and nothing else is in it."""

import json
import unittest

import command
import directory_bytes
import pages_command

PAGE_COUNT = 9_000
PIECE_BYTES = 64 * 1024
DATA_START = 80 * 1024
SUPERBLOCKS = (16_384, 32_768, 49_152, 65_536)


def url(index):
    return f"https://host{index % 97}.example/{index * 2654435761 % 10**9}/page"


def events(first, end):
    """Each page is crawled, and links to some that come later and some before."""
    lines = []
    for index in range(first, end):
        links = [url((index * 7 + k * k * 31) % PAGE_COUNT) for k in range(1 + index % 6)]
        lines.append(json.dumps({"kind": "page", "url": url(index), "time": index + 1,
                                 "content_hash": f"{index:016x}", "links": links}))
    return "\n".join(lines).encode() + b"\n"


def frontier_lines():
    """Returns as many bytes as a checkpoint needs, so that items go into a run, and some more."""
    lines = [b"large\t%d\t%d-%s\n" % (i % 5, i, b"b" * 60_000) for i in range(150)]
    return b"".join(lines + [b"small\t%d\tbody %d\n" % (i % 7, i) for i in range(60)])


def frontier_of(test, name):
    """Groups with their times, leases, and items that wait; None where there is no frontier.

    Long bodies are in one run: some of them tell whether it is there."""
    answer = test.run_command("frontier", name, "--groups", "--json")
    if answer.code != 0:
        test.assertIn(b"has no frontier", answer.err)
        return None
    answers = [json.loads(answer.out)]
    keys = {group["group"] for group in answers[0]["groups"]}
    for group, count in (("large", "4"), ("small", "1000")):  # no more of `large` are leased
        items = {} if group not in keys else json.loads(
            test.succeed("frontier", name, "--group", group, "-n", count, "--json").out)
        answers.append({"items": items.get("items", []), "leases": items.get("leases", [])})
    return answers


class Content:
    """All that a file holds."""

    def __init__(self, test, name):
        def table(verb, *words):
            return json.loads(test.succeed(verb, name, "--json", *words).out)

        self.pages = {page["index"]: page for page in table("pages")["pages"]}
        self.info = table("info")
        lines = test.succeed("export", name, "--format", "edges").out.decode().splitlines()
        self.edges = {tuple(line.split("\t")) for line in lines}
        self.scores = {}
        for one in self.info["scores"]:
            text = test.succeed("export", name, "--format", "scores-csv", "--name",
                                one["name"]).out
            rows = [line.split(",") for line in text.decode().splitlines()[1:]]
            self.scores[one["name"]] = [(row[0], row[-1]) for row in rows]
        self.queue = set()
        if self.info["queues"]:
            text = test.succeed("export", name, "--format", "queue").out.decode()
            self.queue = {tuple(line.split("\t")) for line in text.splitlines()}
        self.drums = {drum["name"]: drum for drum in self.info["drums"]}
        self.frontier = frontier_of(test, name)


class Recover(pages_command.PagesTest):
    made = None  # once: the bytes of the file, its contents by generation, its first superblocks

    def setUp(self):
        super().setUp()
        self.file = self.folder / "x.crawl"
        if Recover.made is None:
            self.make_file()
        self.whole, self.contents, self.old_superblocks = Recover.made
        self.content = self.contents[max(self.contents)]
        self.assertEqual(len(self.content.pages), PAGE_COUNT)
        self.index_of = {page["url"]: index for index, page in self.content.pages.items()}
        self.file.write_bytes(self.whole)

    def make_file(self):
        self.contents = {}
        self.succeed("frontier", "x.crawl", "--put", "-", "--default", "delay=none,in-flight=90",
                     data=frontier_lines())
        self.succeed("frontier", "x.crawl", "--group", "large", "--set", "in-flight=4")
        self.succeed("compact", "x.crawl")
        for first in (0, PAGE_COUNT // 2):
            self.load(events(first, first + PAGE_COUNT // 2), "jsonl")
            self.keep_content()
        old_superblocks = self.file.read_bytes()[SUPERBLOCKS[0]:DATA_START]
        lines = b"".join(url(i).encode() + b"\n" for i in range(0, PAGE_COUNT, 3))
        ids = self.take()
        self.succeed("seen", "x.crawl", "--drum", "fresh", data=lines)
        self.keep_content()
        self.end(ids)
        self.succeed("rank", "x.crawl")
        self.keep_content()
        self.succeed("frontier", "x.crawl", "--put", "-", data=b"small\t9\tmore\n")
        self.succeed("queue", "x.crawl", "--fill-from", "pagerank")
        self.keep_content()
        Recover.made = self.file.read_bytes(), self.contents, old_superblocks

    def take(self):
        taken = self.succeed("take", "x.crawl", "-n", "40", "--per-group", "20").out
        return [int(line.split(b"\t")[0]) for line in taken.splitlines()]

    def end(self, ids):
        """Some items are done, one is given back, and one waits for a time."""
        lines = [b"%d\n" % item for item in ids[::3]]
        lines += [b"%d\tfailed\n" % ids[1], b"%d\tretry 2100-01-01\n" % ids[2]]
        self.succeed("done", "x.crawl", data=b"".join(lines))

    def keep_content(self):
        content = Content(self, "x.crawl")
        self.contents[content.info["generation"]] = content

    def recover(self, data):
        self.file.write_bytes(data)
        new = self.folder / "new.crawl"
        new.unlink(missing_ok=True)
        answer = self.run_command("recover", "x.crawl", "new.crawl", "--json")
        self.assertEqual(self.file.read_bytes(), bytes(data))
        if answer.code > 1:
            self.assertFalse(new.exists())
            return answer, None
        found = json.loads(answer.out)
        self.assertEqual(answer.code, 1 if found["losses"] else 0)
        self.succeed("verify", "--deep", "--strict", "new.crawl")
        return answer, found

    @staticmethod
    def lost_pages(found, part):
        return {index for loss in found["losses"] if loss["part"] == part
                for index in range(loss["first_page"], loss["end_page"])}

    def check(self, data, what):
        """Compares the new file with the whole one. Returns the parts that were lost."""
        answer, found = self.recover(data)
        self.assertIsNotNone(found, (what, answer.err))
        parts = {loss["part"] for loss in found["losses"]}
        self.content = self.contents.get(found["generation"])
        if self.content is None:
            return parts  # of a commit between two commands
        frontier = None if "frontier" in parts else self.content.frontier
        if self.is_frontier_cut(found, what):
            frontier = frontier_of(self, "new.crawl")  # an older one: tests/rescue/ compares it
        elif "items" in parts:
            self.check_frontier_part(found, what)
            frontier = frontier_of(self, "new.crawl")
        if "pages" in parts:
            self.assertNotIn("pages", {one["name"] for one in
                                       json.loads(self.succeed("info", "new.crawl", "--json").out)
                                       ["page_databases"]})
            self.assertEqual(frontier_of(self, "new.crawl"), frontier, what)
            return parts
        new = Content(self, "new.crawl")
        self.assertEqual(new.frontier, frontier, what)
        self.check_pages(found, new, what)
        self.check_edges(found, new, what)
        for name, text in self.content.scores.items():
            lost = {loss["name"] for loss in found["losses"] if loss["part"] == "scores"}
            self.assertEqual(new.scores.get(name), None if name in lost else text, what)
        self.assertLessEqual(new.queue, self.content.queue, what)
        missing = {self.index_of[url] for _, url in self.content.queue - new.queue}
        if not parts & {"queue", "queued"}:
            self.assertEqual(missing - self.lost_pages(found, "urls"), set(), what)
        self.check_drums(found, new, what)
        return parts

    def is_frontier_cut(self, found, what):
        """Whether the last steps of the frontier in this generation are lost."""
        cuts = [loss for loss in found["losses"]
                if loss["part"] == "steps" and loss["code"] == "chunk_damaged"]
        for loss in cuts:
            self.assertIn(str(loss["lost_count"]), loss["text"], what)
            self.assertIn("items may be taken again", loss["text"], what)
            self.assertIsNone(loss["end_page"], what)
        return bool(cuts)

    def check_frontier_part(self, found, what):
        """Checks that all of the new frontier was there before, and that what it lacks is told."""
        new, old = frontier_of(self, "new.crawl"), self.content.frontier
        for now, before in zip(new[1:], old[1:]):
            for part in ("items", "leases"):
                known = {item["id"]: item for item in before[part]}
                for item in now[part]:
                    if item["id"] in known:  # else it was behind those that were listed
                        self.assertEqual(item, known[item["id"]], what)
        counts = [sum(group[name] for group in one[0]["groups"] for name in
                      ("waiting_count", "later_count", "leased_count")) for one in (new, old)]
        lost = sum(loss["lost_count"] or 0 for loss in found["losses"] if loss["part"] == "items")
        self.assertEqual(counts[0] + lost, counts[1], what)
        self.assertLessEqual({group["group"] for group in new[0]["groups"]},
                             {group["group"] for group in old[0]["groups"]}, what)

    def check_pages(self, found, new, what):
        no_url = self.lost_pages(found, "urls")
        no_record = self.lost_pages(found, "records")
        self.assertEqual(set(new.pages), set(self.content.pages), what)
        for index, page in new.pages.items():
            old = self.content.pages[index]
            if index in no_url:
                self.assertEqual((page["url"], page["state"]), ("", "gone"), what)
                continue
            self.assertEqual(page["url"], old["url"], what)
            if index in no_record:
                self.assertEqual((page["state"], page["crawl_count"]), ("known", 0), what)
            elif not no_url:  # else depths and linkers may be others
                self.assertEqual(page, old, what)
        for index in (0, PAGE_COUNT // 3, len(new.pages) - 1):
            shown = self.run_command("page", "new.crawl", self.content.pages[index]["url"])
            self.assertEqual(shown.code, 1 if index in no_url else 0, what)

    def check_edges(self, found, new, what):
        no_url = self.lost_pages(found, "urls")
        lost = no_url | self.lost_pages(found, "links")
        self.assertLessEqual(new.edges, self.content.edges, what)
        missing = {pair for pair in self.content.edges - new.edges
                   if self.index_of[pair[0]] not in lost and self.index_of[pair[1]] not in no_url}
        self.assertEqual(missing, set(), what)

    def check_drums(self, found, new, what):
        lost = sum(loss["lost_count"] or 0 for loss in found["losses"]
                   if loss["part"] in ("keys", "requests"))
        if {"drum"} & {loss["part"] for loss in found["losses"]} or \
                "fresh" not in self.content.drums:
            return
        before = self.content.drums["fresh"]
        after = new.drums["fresh"]
        kept = after["key_count"] + after["pending_count"]
        self.assertLessEqual(kept, before["key_count"] + before["pending_count"], what)
        self.assertGreaterEqual(kept + lost, before["key_count"] + before["pending_count"], what)

    def zeroed(self, begin, length):
        data = bytearray(self.whole)
        end = min(len(data), begin + length)
        data[begin:end] = bytes(end - begin)
        return data

    def test_loses_nothing_of_a_whole_file(self):
        answer, found = self.recover(self.whole)
        self.assertEqual((answer.code, found["losses"]), (0, []))
        self.assertEqual(Content(self, "new.crawl").__dict__ | {"info": None},
                         self.content.__dict__ | {"info": None})

    def test_with_each_64_kib_zeroed(self):
        self.need_turn(3, 8)
        seen = set()
        step = PIECE_BYTES * (1 if command.IS_LONG else 11)
        for begin in range(0, len(self.whole), step):
            seen |= self.check(self.zeroed(begin, PIECE_BYTES), hex(begin))
        self.assertLessEqual({"urls", "records"} if command.IS_LONG else set(), seen)

    def test_with_a_byte_turned_in_a_segment_of_each_kind(self):
        segments = json.loads(self.succeed("segments", "x.crawl", "--json").out)
        kinds = {one["id"]: one["kind"] for one in segments["segments"]}
        first_runs = {}
        for run in segments["runs"]:
            key = run["segment"] if command.IS_LONG else kinds[run["segment"]]
            first_runs.setdefault(key, run)
        self.assertGreater(len(first_runs), 10)
        lost = {}
        for run in first_runs.values():
            data = bytearray(self.whole)
            data[run["offset_bytes"]] ^= 1
            lost[kinds[run["segment"]]] = self.check(data, kinds[run["segment"]])
        self.assertIn("frontier", lost["frontier"])
        for part in ("frontier_steps", "frontier_groups", "frontier_items"):
            self.assertTrue(lost[part] & {"items", "steps"}, part)
        self.assertIn("items", lost["frontier_items"])

    def test_without_identity_and_superblocks(self):
        answer, found = self.recover(self.zeroed(0, DATA_START))
        self.assertTrue(found["is_identity_lost"])
        self.assertEqual((answer.code, found["losses"]), (0, []))
        self.assertEqual(Content(self, "new.crawl").pages, self.content.pages)
        self.succeed("page", "new.crawl", url(5))
        for place in SUPERBLOCKS:
            self.check(self.zeroed(place, 4096), place)

    def test_with_superblocks_of_an_older_time(self):
        data = bytearray(self.whole)
        data[SUPERBLOCKS[0]:DATA_START] = self.old_superblocks
        answer, found = self.recover(data)
        self.assertEqual((answer.code, found["losses"]), (0, []))
        self.assertEqual(found["generation"], max(self.contents))

    def test_names_the_commits_that_it_leaves(self):
        fields = json.loads(self.succeed("dump", "x.crawl", "--json").out)["fields"]
        generations, roots = ([int(field["value"], 0) for field in fields if field["name"] == name]
                              for name in ("generation", "root_offset_bytes"))
        root = dict(zip(generations, roots))[max(generations)]
        found = self.recover(self.zeroed(root, 4096))[1]
        self.assertLess(found["generation"], found["newest_generation"])
        losses = {loss["part"]: loss for loss in found["losses"]}
        self.assertIn("commits", losses)
        self.assertIn("after the first", losses["steps"]["text"])
        self.assertIsNone(losses["steps"]["lost_count"])

    def test_empties_the_queue_of_a_lost_database(self):
        """Else the next pages of these numbers would be in it."""
        segments = json.loads(self.succeed("segments", "x.crawl", "--json").out)
        kinds = {one["id"]: one["kind"] for one in segments["segments"]}
        data = bytearray(self.whole)
        for run in segments["runs"]:
            if kinds[run["segment"]] == "pages":
                data[run["offset_bytes"]] ^= 1
        found = self.recover(data)[1]
        lost = {loss["part"] for loss in found["losses"]}
        self.assertIn("pages", lost)
        info = json.loads(self.succeed("info", "new.crawl", "--json").out)
        self.assertEqual((info["scores"], info["queued_count"] or 0), ([], 0))

    def test_leaves_no_frontier_of_a_lost_database(self):
        """Its ids would name the pages that come next."""
        lines = b"".join(b"http://h%d.test/%d\n" % (i % 5, i) for i in range(200))
        self.load(lines, "urls", name="small.crawl")
        self.succeed("schedule", "small.crawl")
        self.succeed("take", "small.crawl", "-n", "3")
        whole = (self.folder / "small.crawl").read_bytes()
        lost = 0
        for block in range(DATA_START, len(whole), 4096):
            damaged = bytearray(whole)
            damaged[block:block + 4096] = bytes(4096)
            (self.folder / "damaged.crawl").write_bytes(damaged)
            (self.folder / "new.crawl").unlink(missing_ok=True)
            answer = self.run_command("recover", "damaged.crawl", "new.crawl", "--json")
            parts = {loss["part"] for loss in json.loads(answer.out)["losses"]}
            if "pages" in parts:
                lost += 1
                self.assertIn("frontier", parts, block)
                self.assertEqual(self.run_command("frontier", "new.crawl").code, 1)
        self.assertGreater(lost, 0)

    def same_content(self, found):
        """All that the file held is there, under the names that it had."""
        new = Content(self, "new.crawl")
        for part in ("pages", "edges", "queue", "frontier"):
            self.assertEqual(getattr(new, part), getattr(self.content, part))
        lost = {loss["name"] for loss in found["losses"] if loss["part"] == "scores"}
        self.assertEqual(new.scores, {name: scores for name, scores in self.content.scores.items()
                                      if not lost})
        return new

    def test_without_the_tables_of_the_directory(self):
        """The tables of all generations are gone; their roots are whole."""
        found = self.recover(directory_bytes.without_tables(self.whole))[1]
        self.assertEqual(found["generation"], max(self.contents))
        new = self.same_content(found)
        names = {loss["name"] for loss in found["losses"] if loss["part"] == "name"}
        self.assertIn("pages", names)
        (fresh,) = [name for name in new.drums if name.startswith("drum-")]
        self.assertLessEqual({fresh}, names)
        for count in ("key_count", "pending_count"):
            self.assertEqual(new.drums[fresh][count], self.content.drums["fresh"][count])
        self.assertLessEqual({loss["part"] for loss in found["losses"]},
                             {"table", "name", "scores"})

    def test_takes_names_from_older_directories(self):
        """The tables of the newest generation are damaged, those before it are not."""
        newest = max(directory_bytes.roots(self.whole),
                     key=lambda root: int.from_bytes(
                         self.whole[root[0] + root[1] - 72:root[0] + root[1] - 64], "little"))
        data = directory_bytes.without(self.whole, {ref.offset_bytes for ref in newest[2]})
        parts = self.check(data, "newest tables")
        self.assertNotIn("pages", parts)

    def test_without_any_root(self):
        for data in (directory_bytes.without_roots(self.whole),
                     directory_bytes.without_tables(
                         directory_bytes.without_roots(self.whole)),
                     # Nor a superblock: the identity page alone is left.
                     directory_bytes.without_roots(self.zeroed(SUPERBLOCKS[0],
                                                               DATA_START - SUPERBLOCKS[0]))):
            answer, found = self.recover(data)
            self.assertIsNotNone(found, answer.err)
            self.same_content(found)

    def test_without_identity_and_roots(self):
        data = directory_bytes.without_roots(self.zeroed(0, DATA_START))
        answer, found = self.recover(data)
        self.assertIsNone(found)
        self.assertIn(b"not a crawlstore file", answer.err)

    def test_says_when_nothing_is_left(self):
        data = bytearray(directory_bytes.without_roots(self.whole))
        for place in directory_bytes.run_ends(data):
            data[place] ^= 1
        answer, found = self.recover(data)
        self.assertIsNone(found)
        self.assertIn(b"no run of the file can be proved", answer.err)
        self.assertNotIn(b"recover FILE NEW", answer.err)

    def check_held(self, what):
        """Nothing is in the new file that the whole one never held."""
        held = list(self.contents.values())
        frontiers = [None, *(one.frontier for one in held)]
        if not json.loads(self.succeed("info", "new.crawl", "--json").out)["page_databases"]:
            self.assertIn(frontier_of(self, "new.crawl"), frontiers, what)
            return
        new = Content(self, "new.crawl")
        for index, page in new.pages.items():
            urls = {content.pages.get(index, {"url": ""})["url"] for content in held}
            self.assertIn(page["url"], urls | {""}, what)
        self.assertLessEqual(new.edges, set().union(*(one.edges for one in held)), what)
        self.assertLessEqual(new.queue, set().union(*(one.queue for one in held)), what)
        self.assertIn(new.frontier, frontiers, what)

    def test_of_a_file_that_was_cut(self):
        """Whatever has a whole table of a part left gives a new file."""
        self.need_turn(3, 8)
        step = PIECE_BYTES * (1 if command.IS_LONG else 13)
        made = 0
        for length in range(len(self.whole) - PIECE_BYTES, 2 * PIECE_BYTES, -step):
            data = self.whole[:length]
            answer, found = self.recover(data)
            if found is None:
                self.assertIn(b"no run of the file can be proved", answer.err)
                continue
            made += 1
            if command.IS_LONG or made % 4 == 1:
                self.check_held(length)
        self.assertGreater(made, 0)

    def test_refuses_what_it_cannot_do(self):
        self.file.write_bytes(self.whole)
        (self.folder / "new.crawl").write_bytes(b"mine")
        self.refuse(3, "exists already", "recover", "x.crawl", "new.crawl")
        self.assertEqual((self.folder / "new.crawl").read_bytes(), b"mine")
        (self.folder / "text").write_bytes(b"a page\n" * 100_000)
        self.refuse(4, "not a crawl", "recover", "text", "other.crawl")
        self.assertFalse((self.folder / "other.crawl").exists())


if __name__ == "__main__":
    unittest.main()
