# SPDX-License-Identifier: Apache-2.0
"""The output of the reading commands: JSON documents equal to golden ones, text for people, and
pins.

CRAWLSTORE_UPDATE_GOLDEN=1 writes the golden documents anew."""

import fcntl
import json
import os
import pathlib
import shutil
import signal
import struct
import unittest

import command

GOLDEN = command.SOURCE / "tests/cli/golden"
FIXED = {"SOURCE_DATE_EPOCH": "1700000000"}
IDENTITY = ["--uuid", "00112233-4455-6677-8899-aabbccddeeff", "--key-seed", "1", "--buckets", "2"]
PIN_BASE = 1 << 62


class Fixed(command.CommandTest):
    """A store whose every byte is known."""

    def setUp(self):
        super().setUp()
        self.make_store("x.crawl", *IDENTITY, env=FIXED)
        data = b"".join(b"http://h.test/%d\n" % (i % 300) for i in range(400)) + b"http:// h/\n"
        self.succeed("seen", "x.crawl", data=data, env=FIXED)


class Documents(Fixed):
    def assert_golden(self, name, *words, code=0):
        answer = self.run_command(*words)
        self.assertEqual(answer.code, code, answer.err)
        path = GOLDEN / f"{name}.json"
        if os.environ.get("CRAWLSTORE_UPDATE_GOLDEN"):
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(answer.out)
        self.assertEqual(answer.out.decode(), path.read_text())
        json.loads(answer.out)

    def test_of_info(self):
        self.assert_golden("info", "info", "x.crawl", "--json")

    def test_of_segments(self):
        self.assert_golden("segments", "segments", "x.crawl", "--json")

    def test_of_one_kind_of_segments(self):
        self.assert_golden("segments_drum", "segments", "x.crawl", "--json", "--kind", "drum")

    def test_of_pins(self):
        self.assert_golden("pins", "pins", "x.crawl", "--json")

    def test_of_verify(self):
        self.assert_golden("verify", "verify", "x.crawl", "--json", "--deep")

    def test_of_dump(self):
        self.assert_golden("dump", "dump", "x.crawl", "--json")

    def test_of_dump_of_a_segment(self):
        self.assert_golden("dump_segment", "dump", "x.crawl", "1", "--json")

    def test_of_dump_of_an_offset(self):
        self.assert_golden("dump_offset", "dump", "x.crawl", "16KiB", "--json")

    def test_of_diff_of_two_files(self):
        shutil.copy(self.folder / "x.crawl", self.folder / "old.crawl")
        self.succeed("seen", "x.crawl", env=FIXED,
                     data=b"".join(b"http://h.test/%d\n" % i for i in range(298, 304)))
        words = ["diff", "old.crawl", "x.crawl", "--json", "--keys"]
        self.assert_golden("diff", *words, code=1)
        document = json.loads(self.run_command(*words).out)
        self.assertEqual(len(document["keys"]), 4)
        self.assertEqual({key["change"] for key in document["keys"]}, {"added"})
        self.assertEqual(document["drums"][0]["added_key_count"], 4)
        self.assertEqual(len(json.loads(self.run_command(*words, "--limit", "3").out)["keys"]), 3)
        without = json.loads(self.run_command("diff", "old.crawl", "x.crawl", "--json").out)
        self.assertEqual(without["keys"], [])
        back = json.loads(self.run_command("diff", "x.crawl", "old.crawl", "--json").out)
        self.assertEqual(back["drums"][0]["gone_key_count"], 4)

    def test_of_diff_with_the_previous_generation(self):
        self.assert_golden("diff_previous", "diff", "x.crawl", "--previous", "--json", code=1)

    def test_of_diff_of_equal_states(self):
        self.succeed("snapshot", "x.crawl", "copy.crawl")
        document = json.loads(self.succeed("diff", "x.crawl", "copy.crawl", "--json").out)
        self.assertEqual((document["is_different"], document["is_same_store"]), (False, True))

    def test_of_diff_of_two_stores_compare_what_they_hold(self):
        self.make_store("other.crawl", "--key-seed", "1", "--buckets", "3")
        data = b"".join(b"http://h.test/%d\n" % i for i in range(300)) + b"http:// h/\n"
        self.succeed("seen", "other.crawl", data=data)
        document = json.loads(self.succeed("diff", "x.crawl", "other.crawl", "--json").out)
        self.assertEqual((document["is_different"], document["is_same_store"]), (False, False))
        self.assertEqual(document["drums"][0]["new_key_count"], 301)

    def test_are_the_same_without_a_mapping(self):
        for words in (["info"], ["segments"], ["dump"], ["verify", "--deep"]):
            answer = self.succeed(words[0], "x.crawl", *words[1:], "--json", "--no-mmap")
            expected = self.succeed(words[0], "x.crawl", *words[1:], "--json")
            self.assertEqual(answer.out, expected.out)

    def test_of_merge(self):
        self.assert_golden("merge", "merge", "x.crawl", "--json")

    def test_of_compact(self):
        self.assert_golden("compact", "compact", "x.crawl", "--json")

    def add_pages(self):
        """Crawled, known, gone and failed pages, a URL that is no UTF-8, an edit that waits."""
        events = [{"kind": "page", "url": "http://a.test/", "time": "2026-11-21T10:11:12.5Z",
                   "score": 0.5, "content_hash": "00ff",
                   "links": ["http://b.test/", {"url": "http://c.test/", "score": 2},
                             {"url_hex": b"http://d.test\xff/".hex()}]},
                  {"kind": "page", "url": "http://a.test/", "time": "2026-11-22T10:11:12Z",
                   "links": ["http://c.test/", {"url_hex": b"http://d.test\xff/".hex()}]},
                  {"kind": "linkAdded", "url": "http://c.test/", "links": ["http://a.test/"]},
                  {"kind": "gone", "url": "http://b.test/"},
                  {"kind": "failed", "url": "http://c.test/"}]
        self.succeed("import", "x.crawl", "--format", "jsonl", "-", env=FIXED,
                     data="".join(json.dumps(event) + "\n" for event in events).encode())
        self.succeed("import", "x.crawl", "--format", "edges", "--no-merge", "-", env=FIXED,
                     data=b"http://a.test/\thttp://e.test/\n")

    def test_of_pages_and_links(self):
        self.add_pages()
        self.assert_golden("info_pages", "info", "x.crawl", "--json")
        self.assert_golden("pages", "pages", "x.crawl", "--json", "--sort", "score", "--reverse")
        self.assert_golden("page", "page", "x.crawl", "http://a.test/", "--json")
        self.assert_golden("page_of_odd_bytes", "page", "x.crawl", "#3", "--json")
        self.assert_golden("links", "links", "x.crawl", "http://a.test/", "--json")
        self.assert_golden("links_in", "links", "x.crawl", "#0", "--in", "--json")
        self.assert_golden("segments_pages", "segments", "x.crawl", "--json", "--kind", "pages")
        self.assert_golden("merge_pages", "merge", "x.crawl", "--json")

    def test_of_imports(self):
        answer = self.succeed("import", "y.crawl", "--format", "edges", "-", "--json",
                              data=b"http://a.test/\thttp://b.test/\nhttp://a.test/\tx\n\n")
        self.assertEqual(json.loads(answer.out),
                         {"line_count": 3, "event_count": 1, "skipped_count": 1, "refused_count": 0,
                          "cut_count": 0, "refused_link_count": 0, "refused_input_count": 0,
                          "new_page_count": 3, "page_count": 3, "crawled_count": 0,
                          "link_count": 2, "edit_count": 0, "superstep_count": 1,
                          "collision_count": 0, "unparsed_count": 1})

    def test_of_plan(self):
        words = ["plan", "--keys", "50_000_000", "--memory", "64MiB", "--json"]
        plan = json.loads(self.succeed(*words).out)
        self.assertEqual((plan["key_count"], plan["request_count"]), (50_000_000, 200_000_000))
        self.assertEqual(plan["memory_bytes"], 64 << 20)
        self.assertGreaterEqual(plan["seconds"], plan["submit_seconds"])
        self.assertAlmostEqual(plan["expected_false_duplicates"], 6.8e-5, delta=1e-6)
        for name in ("written_bytes", "read_bytes"):
            self.assertAlmostEqual(plan[name] / 2e8, plan[name + "_per_request"], places=6)
        self.assertTrue(all(reason["why"].endswith(".") for reason in plan["reasons"]))
        given = json.loads(self.succeed(*words, "--buckets", "64").out)
        self.assertEqual(given["bucket_count"], 64)
        never = json.loads(self.succeed("plan", "--keys", "1000", "--json").out)
        self.assertIsNone(never["first_logged_request"])

    def test_hold_what_scripts_rely_on(self):
        info = json.loads(self.succeed("info", "x.crawl", "--json").out)
        self.assertEqual(info["format_version"], 10)
        self.assertEqual(info["uuid"], IDENTITY[1])
        self.assertEqual(info["file_bytes"], (self.folder / "x.crawl").stat().st_size)
        self.assertEqual((info["key_count"], info["drums"][0]["name"]), (301, "urls"))
        self.assertEqual(info["drums"][0]["key_count"], 301)
        self.assertEqual(info["drums"][0]["unparsed_count"], 1)
        self.assertEqual(info["bytes_per_key"], info["drums"][0]["bytes_per_key"])
        self.assertEqual(info["commit_time"], "2023-11-14T22:13:20Z")
        self.assertEqual(info["commit_time_us"], 1700000000000000)
        self.assertEqual(info["health"],
                         "superblocks and directory whole; `verify` reads the rest")
        for name in ("page_count", "crawled_count", "link_count", "bits_per_link",
                     "in_bits_per_link",
                     "bytes_per_page", "edit_count", "collision_count"):
            self.assertEqual(info[name], 0)

    def test_are_the_same_bytes_for_the_same_operations(self):
        first = (self.folder / "x.crawl").read_bytes()
        (self.folder / "x.crawl").unlink()
        Fixed.setUp(self)
        self.assertEqual((self.folder / "x.crawl").read_bytes(), first)


class Text(Fixed):
    def test_of_diff_is_for_people(self):
        self.make_store("empty.crawl")
        answer = self.run_command("diff", "empty.crawl", "x.crawl", "--keys", "--no-mmap")
        self.assertEqual(answer.code, 1)
        self.assertRegex(answer.out.decode(), r"(?m)^is_different +yes$")
        self.assertRegex(answer.out.decode(), r"(?m)^urls +added +0 +301 +301 ")
        self.assertRegex(answer.out.decode(), r"(?m)^urls +added +[0-9a-f]{16} ")

    def test_of_diff_names_the_file_that_is_damaged(self):
        shutil.copy(self.folder / "x.crawl", self.folder / "bad.crawl")
        runs = json.loads(self.succeed("segments", "x.crawl", "--json", "--kind",
                                       "drum").out)["runs"]
        with open(self.folder / "bad.crawl", "r+b") as file:
            file.seek(runs[0]["offset_bytes"] + 9)
            file.write(b"\xa5")
        for words in (["bad.crawl", "x.crawl"], ["x.crawl", "bad.crawl"]):
            self.refuse(2, "bad.crawl: .*chunk", "diff", *words)
        self.refuse(2, "none: no such file", "diff", "x.crawl", "none")
        self.refuse(4, "documents_test.py: ", "diff", "x.crawl", __file__)

    def test_of_info_is_for_people(self):
        text = self.succeed("info", "x.crawl").out.decode()
        self.assertRegex(text, r"(?m)^commit_time_us +2023-11-14T22:13:20Z$")
        self.assertRegex(text, r"(?m)^file_bytes +\d+\.\d KiB$")
        self.assertRegex(text, r"(?m)^key_count +301$")

    def test_of_segments_is_a_table(self):
        rows = self.succeed("segments", "x.crawl").out.decode().splitlines()
        self.assertRegex(rows[0], r"^ *id +kind +storage_class +owner +name")
        self.assertRegex(rows[1], r"^ *1 +drum +blob +- +urls ")

    def test_of_dump_has_offsets(self):
        text = self.succeed("dump", "x.crawl", "0x4000").out.decode()
        self.assertRegex(text, r"(?m)^ *0x40[0-9a-f]{2} +8 +generation ")

    def test_of_plan_says_why(self):
        text = self.succeed("plan", "--keys", "10,000,000", "--memory", "16MiB", "--aux", "60",
                            "--value", "8", "--requests", "20_000_000").out.decode()
        self.assertRegex(text, r"(?m)^request_count +20,000,000$")
        self.assertRegex(text, r"(?m)^resident_bytes +\d+\.\d MiB$")
        self.assertRegex(text, r"(?m)^seconds +\d+\.\d s$")
        self.assertRegex(text, r"(?m)^expected_false_duplicates +0\.00000\d\d$")
        self.assertRegex(text, r"(?m)^ *The disk decides on the time")

    def test_of_plan_says_what_is_too_little(self):
        self.refuse(2, "plan: .*give more memory", "plan", "--keys", 10**9,
                    "--memory", "64KiB")

    def test_has_no_colour_without_a_terminal(self):
        for words in (["verify"], ["info"]):
            self.assertNotIn(b"\x1b", self.succeed(words[0], "x.crawl").out)

    def test_of_dump_knows_what_is_not_there(self):
        self.refuse(1, "no DRUM, segment or consumer of that name|no segment", "dump", "x.crawl",
                    "999")
        self.refuse(2, "PLACE", "dump", "x.crawl", "12x")
        self.refuse(2, "invalid argument", "dump", "x.crawl", "0xffffffffff")

    def test_of_merge_knows_what_is_not_there(self):
        self.refuse(1, "no DRUM", "merge", "x.crawl", "--drum", "nothing")


class Pins(Fixed):
    def pin(self, generation):
        """Holds a generation as a reader does: a shared lock on a byte of its own."""
        file = open(self.folder / "x.crawl", "rb")
        self.addCleanup(file.close)
        lock = struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, PIN_BASE + generation, 1, 0)
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, lock)
        return file

    def test_name_the_holder_and_what_it_keeps(self):
        generation = json.loads(self.succeed("info", "x.crawl", "--json").out)["generation"]
        self.pin(generation)
        for _ in range(3):
            self.succeed("seen", "x.crawl", data=b"".join(b"http://%d.test/\n" % os.getpid()
                                                          for _ in range(3)), env=FIXED)
        pins = json.loads(self.succeed("pins", "x.crawl", "--json").out)["pins"]
        self.assertEqual(len(pins), 1)
        self.assertEqual(pins[0]["generation"], generation)
        self.assertGreater(pins[0]["held_bytes"], 0)
        self.assertEqual(pins[0]["pid"], os.getpid())
        command_name = pathlib.Path("/proc/self/comm").read_text().strip()
        self.assertEqual(pins[0]["command"], command_name)

    def test_of_the_current_generation_have_its_commit_time(self):
        info = json.loads(self.succeed("info", "x.crawl", "--json").out)
        self.pin(info["generation"])
        pins = json.loads(self.succeed("pins", "x.crawl", "--json").out)["pins"]
        self.assertEqual(pins[0]["commit_time"], info["commit_time"])

    def test_of_the_command_itself_are_left_out(self):
        self.assertEqual(json.loads(self.succeed("pins", "x.crawl", "--json").out)["pins"], [])


class Maintenance(Fixed):
    def test_create_never_overwrites(self):
        before = (self.folder / "x.crawl").read_bytes()
        self.refuse(1, "x.crawl: the file exists already", "create", "x.crawl")
        self.assertEqual((self.folder / "x.crawl").read_bytes(), before)

    def test_create_plans_buckets(self):
        def planned(*words):
            return json.loads(self.succeed("plan", *words, "--json").out)["bucket_count"]

        large = ["1,000,000,000", "--memory", "64MiB"]
        for words, buckets in ((["--buckets", "1_000"], 1000),
                               (["--expect-keys", *large], planned("--keys", *large)),
                               (["--expect-keys", "1000"], 1)):
            self.make_store(f"{buckets}.crawl", *words)
            info = json.loads(self.succeed("info", f"{buckets}.crawl", "--json").out)
            self.assertEqual(info["drums"][0]["bucket_count"], buckets)

    def test_an_empty_store_is_small(self):
        size = self.make_store("empty.crawl").stat().st_size
        self.assertLessEqual(size, 96 << 10)
        info = json.loads(self.succeed("info", "empty.crawl", "--json").out)
        self.assertEqual((info["drums"], info["key_count"], info["bytes_per_key"]), ([], 0, 0.0))

    def test_snapshot_copies_and_never_overwrites(self):
        self.succeed("snapshot", "x.crawl", "copy.crawl")
        self.assert_whole("copy.crawl")
        copy = self.succeed("seen", "copy.crawl", "--check", data=b"http://h.test/7\n")
        self.assertEqual(copy.verdicts, [(b"duplicate", b"http://h.test/7")])
        self.refuse(1, "copy.crawl: the file exists already", "snapshot", "x.crawl", "copy.crawl")

    def test_rollback_goes_back_one_generation(self):
        self.succeed("seen", "x.crawl", data=b"http://new.test/\n")
        self.succeed("rollback", "x.crawl")
        answer = self.run_command("seen", "x.crawl", "--check", data=b"http://new.test/\n")
        self.assertIn((b"unique", b"http://new.test/"), answer.verdicts)
        self.assert_whole()

    def test_rollback_stops_while_it_waits_for_a_writer(self):
        writer = self.start("seen", "x.crawl", "--quiet")
        writer.stdin.write(b"http://new.test/\n")
        writer.stdin.flush()
        command.wait_until_read(writer.stdin.fileno())
        process = self.start("rollback", "x.crawl", "--lock-wait", "60")
        command.wait_until_writer(process, self.folder / "x.crawl")
        process.send_signal(signal.SIGINT)
        writer.communicate(timeout=60)
        _, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, errors), (130, b""))
        answer = self.succeed("seen", "x.crawl", "--check", data=b"http://new.test/\n")
        self.assertEqual(answer.verdicts, [(b"duplicate", b"http://new.test/")])

    def test_compact_makes_it_smaller_and_keeps_all(self):
        urls = b"".join(b"http://many.test/%d\n" % i for i in range(50_000))
        self.succeed("seen", "x.crawl", "--memory", "64KiB", data=urls)
        before = (self.folder / "x.crawl").stat().st_size
        self.succeed("compact", "x.crawl")
        self.assertLess((self.folder / "x.crawl").stat().st_size, before)
        self.assert_whole()
        answer = self.succeed("seen", "x.crawl", "--check", data=urls)
        self.assertEqual({verdict for verdict, _ in answer.verdicts}, {b"duplicate"})


if __name__ == "__main__":
    unittest.main()
