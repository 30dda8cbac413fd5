# SPDX-License-Identifier: Apache-2.0
"""create --shard: files of one crawl, each with the pages of some hosts."""

import json
import random
import subprocess
import unittest
import urllib.parse

import jsonschema

import command

HOSTS, PAGES, COUNT = 12, 300, 3
SCHEMA = json.loads((command.SOURCE / "spec/cli.schema.json").read_text())


class Shards(command.CommandTest):
    def setUp(self):
        super().setUp()
        rng = random.Random(command.SEED)
        urls = [f"http://host{rng.randrange(HOSTS)}.test/{page}" for page in range(PAGES)]
        self.links = {url: rng.sample(urls, 5) for url in urls[:200]}
        events = [{"kind": "page", "url": url, "time": 1, "links": links}
                  for url, links in self.links.items()]
        self.lines = "".join(json.dumps(event) + "\n" for event in events).encode()
        self.load("one.crawl")
        self.names = [f"{index}-{COUNT}.crawl" for index in range(COUNT)]
        self.counts = []
        for index, name in enumerate(self.names):
            self.succeed("create", name, "--shard", f"{index}/{COUNT}", "--key-seed", "7")
            self.counts.append(self.load(name))

    def load(self, name):
        return json.loads(self.succeed("import", name, "-", "--format", "jsonl", "--json",
                                       data=self.lines).out)

    def pages(self, name):
        rows = json.loads(self.succeed("pages", name, "--limit", "9999", "--json").out)["pages"]
        return {row["url"]: row["state"] for row in rows}

    def info(self, name):
        return json.loads(self.succeed("info", name, "--json").out)

    def test_have_each_page_once(self):
        whole, own = self.pages("one.crawl"), {}
        for name, counts in zip(self.names, self.counts):
            pages = self.pages(name)
            here = {url: state for url, state in pages.items() if state != "elsewhere"}
            self.assertFalse(own.keys() & here.keys())
            hosts = {urllib.parse.urlsplit(url).hostname for url in here}
            for url in pages.keys() - here.keys():
                self.assertNotIn(urllib.parse.urlsplit(url).hostname, hosts)
            self.assertEqual(counts["elsewhere_count"], len(pages) - len(here))
            self.assertEqual(counts["elsewhere_event_count"], len(self.links.keys() - here.keys()))
            own |= here
        self.assertEqual({url for url, state in own.items() if state == "crawled"},
                         set(self.links))
        self.assertLessEqual(own.items(), whole.items())
        self.assertEqual(sum(self.info(name)["link_count"] for name in self.names),
                         self.info("one.crawl")["link_count"])

    def test_say_which_they_are(self):
        for index, name in enumerate(self.names):
            self.succeed("compact", name)
            for verb in ("snapshot", "recover"):
                self.succeed(verb, name, f"{verb}-{name}")
            for copy in (name, f"snapshot-{name}", f"recover-{name}"):
                self.assertEqual(self.info(copy)["shard"], f"{index}/{COUNT}")
                self.succeed("verify", "--deep", "--strict", copy)
        self.assertNotIn("shard", self.info("one.crawl"))
        self.assertNotIn("elsewhere_count", self.info("one.crawl"))

    def test_fetch_and_list_what_is_theirs_alone(self):
        for name in self.names:
            pages = self.pages(name)
            known = {url for url, state in pages.items() if state == "known"}
            put = json.loads(self.succeed("schedule", name, "--json").out)["put_count"]
            self.assertEqual(put, len(known))
            taken = json.loads(self.succeed("take", name, "--limit", "9999",
                                            "--json").out)["items"]
            self.assertLessEqual({item["body"] for item in taken}, known)
            rows = json.loads(self.succeed("pages", name, "--by", "host", "--json").out)["hosts"]
            self.assertEqual(sum(row["page_count"] for row in rows),
                             sum(state != "elsewhere" for state in pages.values()))

    def test_queue_what_is_theirs_alone(self):
        pages = self.pages(self.names[0])
        urls = [next(url for url, state in pages.items() if state == wanted)
                for wanted in ("known", "elsewhere")]
        counts = json.loads(self.succeed("queue", self.names[0], "--insert", "-", "--json",
                                         data="".join(f"1\t{url}\n" for url in urls).encode()).out)
        self.assertEqual((counts["inserted_count"], counts["unknown_count"]), (1, 1))

    def test_are_not_ranked_alone(self):
        for words in ([], ["--by", "host"], ["hits"], ["opic"]):
            self.refuse(2, "one shard of several", "rank", self.names[0], *words)

    def test_are_refused_where_they_cannot_be(self):
        self.refuse(2, "--shard needs --key-seed", "create", "x.crawl", "--shard", "0/2")
        for text in ("2/2", "0/0", "1", "-1/2", "01/2", "0/4097"):
            self.refuse(2, "I/N", "create", "x.crawl", f"--shard={text}", "--key-seed", "1")
        self.refuse(2, "reserved", "values", self.names[0], ".shard", "--set", "0/3")
        self.assertFalse((self.folder / "x.crawl").exists())

    def test_that_are_alone_are_as_others(self):
        for name, words in (("a.crawl", []), ("b.crawl", ["--shard", "0/1"])):
            self.succeed("create", name, "--uuid", "0" * 32, "--key-seed", "1", *words,
                         env={"SOURCE_DATE_EPOCH": "1"})
        self.assertEqual((self.folder / "a.crawl").read_bytes(),
                         (self.folder / "b.crawl").read_bytes())


class ShardsCrawl(command.CommandTest):
    """A crawl of some levels, in which shards tell each other what they found by files."""

    def setUp(self):
        super().setUp()
        rng = random.Random(command.SEED)
        urls = [f"http://host{rng.randrange(HOSTS)}.test/{page}" for page in range(PAGES)]
        self.links = {url: rng.sample(urls, 3) for url in urls}
        self.seed = urls[0]
        self.names = [f"{index}.crawl" for index in range(COUNT)]
        for index, name in enumerate(self.names):
            self.succeed("create", name, "--shard", f"{index}/{COUNT}", "--key-seed", "7")
            self.succeed("import", name, "-", "--format", "urls", data=self.seed.encode())

    def pages(self, name):
        rows = json.loads(self.succeed("pages", name, "--limit", "9999", "--json").out)["pages"]
        return {row["url"]: row["state"] for row in rows if row["state"] != "elsewhere"}

    def shards(self, *words):
        return json.loads(self.succeed("shards", *words, "--json").out)

    def crawl(self, name):
        events = [{"kind": "page", "url": url, "time": 1, "links": self.links[url]}
                  for url, state in self.pages(name).items() if state == "known"]
        self.succeed("import", name, "-", "--format", "jsonl",
                     data="".join(json.dumps(event) + "\n" for event in events).encode())

    def outbox(self, receiver):
        return sorted(self.folder.glob(f"out/*-{receiver}.outbox"))

    def step(self):
        """One level, of which all tell each other."""
        for name in self.names:
            self.crawl(name)
            self.shards("send", name, "--to", "out")
        for index, name in enumerate(self.names):
            self.shards("receive", name, *self.outbox(index))


class Exchange(ShardsCrawl):
    def expect_refused(self, message, *words):
        answer = self.run_command("shards", "receive", *words, "--json")
        self.assertEqual(answer.code, 1)
        self.assertRegex(answer.err.decode(), message)
        self.assertEqual(json.loads(answer.out)["refused_input_count"], 1)

    def test_makes_the_crawl_of_one_file(self):
        known, crawled = {self.seed}, set()
        for level in range(1, 5):
            new = known - crawled
            crawled |= new
            known |= {link for url in new for link in self.links[url]}
            for name in self.names:
                self.crawl(name)
                sent = self.shards("send", name, "--to", "out")
                self.assertEqual((sent["step"], sent["message_count"]), (level, COUNT - 1))
                self.assertEqual(self.shards("send", name, "--to", "out"), sent)
            for index, name in enumerate(self.names):
                # All that were ever sent; the older ones are stale.
                taken = self.shards("receive", name, *self.outbox(index))
                self.assertEqual((taken["step"], taken["missing_count"]), (level + 1, COUNT - 1))
                self.assertEqual(taken["stale_count"], (level - 1) * (COUNT - 1))
            self.assertEqual(self.shards("info", *self.names)["page_count"], len(known))
        found = {}
        for name in self.names:
            found |= self.pages(name)
            self.succeed("verify", "--deep", "--strict", name)
        self.assertEqual(set(found), known)
        self.assertEqual({url for url, state in found.items() if state == "crawled"}, crawled)

    def test_leaves_out_what_comes_too_early(self):
        first, *others = self.names
        for name in self.names:
            self.crawl(name)
            self.shards("send", name, "--to", "a/out")
        for index, name in enumerate(others, 1):
            messages = sorted(self.folder.glob(f"a/out/*-{index}.outbox"))
            self.assertEqual(self.shards("receive", name, *messages)["step"], 2)
            self.crawl(name)
            self.assertEqual(self.shards("send", name, "--to", "a/out", "--step", "2")["step"], 2)
        # In an order in which the later step comes first.
        messages = sorted(self.folder.glob("a/out/*-0.outbox"), reverse=True)
        self.assertEqual(messages[0].name, "2.2-0.outbox")
        taken = self.shards("receive", first, *messages)
        self.assertEqual((taken["step"], taken["early_count"], taken["stale_count"]),
                         (2, len(others), 0))
        for _ in range(2):
            self.assertEqual(self.shards("send", first, "--to", "a/out", "--step", "2")["step"], 2)
        self.assertEqual(self.shards("receive", first, *messages)["step"], 3)

    def test_goes_on_behind_what_is_damaged(self):
        for name in self.names:
            self.crawl(name)
            self.shards("send", name, "--to", "out")
        (self.folder / "out" / "0-0.outbox").write_bytes(b"")
        answer = self.run_command("shards", "receive", "0.crawl", "0.crawl", *self.outbox(0),
                                  "--json")
        self.assertEqual(answer.code, 1)
        self.assertRegex(answer.err.decode(), "0-0.outbox: .*there is no message")
        taken = json.loads(answer.out)
        self.assertEqual((taken["refused_input_count"], taken["message_count"], taken["step"]),
                         (2, COUNT - 1, 2))

    def test_tells_databases_apart(self):
        for name in self.names[:2]:
            self.succeed("import", name, "-", "--format", "urls", "--database", "img",
                         data=self.seed.encode())
        self.shards("send", "0.crawl", "--to", "out")
        self.shards("send", "0.crawl", "--to", "out", "--database", "img")
        self.shards("send", "1.crawl", "--to", "out")
        self.assertTrue((self.folder / "out/img.1.0-1.outbox").exists())
        answer = self.run_command("shards", "receive", "1.crawl", "out/img.1.0-1.outbox")
        self.assertEqual(answer.code, 1)
        self.assertRegex(answer.err.decode(), "page database")
        self.refuse(1, "no page database of that name", "shards", "send", "1.crawl",
                    "--database", "nosuch")

    def test_refuses_words_that_make_no_sense_together(self):
        for words, message in ((["info", "0.crawl", "--step", "1"], "--step goes with `send`"),
                               (["receive", "0.crawl", "x", "--to", "y"], "--to goes with `send`"),
                               (["send", *self.names], "one FILE"),
                               (["receive", "0.crawl"], "FILE and messages"),
                               (["find", "0.crawl"], "`find` needs --url"),
                               (["top", "0.crawl", "--url", "x"], "--url goes with `find`"),
                               (["verify", "0.crawl", "-n", "3"], "--limit goes with `top`"),
                               (["info", "0.crawl", "--name", "x"], "--name goes with `top`")):
            self.refuse(2, message, "shards", *words)

    def test_refuses_what_is_not_for_it(self):
        for name in self.names:
            self.crawl(name)
            self.succeed("shards", "send", name, "--to", "out")
        message = self.folder / "out" / "1.0-1.outbox"
        self.expect_refused("out/1.0-1.outbox.*to another shard", "2.crawl",
                            message.relative_to(self.folder))
        whole = message.read_bytes()
        for data, text in ((whole[:-1], "ends before its last block"), (whole[:9], "ends before"),
                           (whole[:-1] + bytes([whole[-1] ^ 1]), "checksum"),
                           (b"text" * 99, "outbox block")):
            message.write_bytes(data)
            self.expect_refused(text, "1.crawl", message)
        self.assertEqual(self.shards("info", *self.names)["shards"][1]["missing_count"], COUNT - 1)
        message.write_bytes(whole)
        self.assertEqual(self.shards("receive", "1.crawl", message)["missing_count"], COUNT - 2)
        self.refuse(2, "has not ended", "shards", "send", "1.crawl", "--step", "2")
        self.succeed("create", "alone.crawl")
        for words in (["send", "alone.crawl"], ["receive", "alone.crawl", message],
                      ["info", "alone.crawl"]):
            self.refuse(2, "no shard", "shards", *words)
        answer = self.run_command("import", "0.crawl", "-", "--format", "edges", "--database",
                                  "graph", data=b"1\t2\n")
        self.assertEqual(answer.code, 1)
        self.assertRegex(answer.err.decode(), "pages of a shard have URLs")

    def test_says_what_is_not_whole(self):
        for words, message in ((self.names[:2], "1 of 3 shards missing: 2"),
                               ([*self.names, "0.crawl"], "shard 0 is 0.crawl already")):
            answer = self.run_command("shards", "info", *words)
            self.assertEqual(answer.code, 1)
            self.assertRegex(answer.err.decode(), message)
        self.succeed("create", "seed.crawl", "--shard", "2/3", "--key-seed", "8")
        answer = self.run_command("shards", "info", *self.names[:2], "seed.crawl")
        self.assertRegex(answer.err.decode(), "another key seed")
        self.succeed("create", "count.crawl", "--shard", "2/4", "--key-seed", "7")
        for name in self.names:
            self.crawl(name)
            self.shards("send", name, "--to", "out")
        (self.folder / "copy.crawl").write_bytes((self.folder / "2.crawl").read_bytes())
        self.succeed("create", "old.crawl", "--shard", "2/3", "--key-seed", "7")
        for index, name in enumerate(self.names):
            self.shards("receive", name, *self.outbox(index))
        self.shards("info", *self.names)
        self.shards("info", *self.names[:2], "copy.crawl")
        answer = self.run_command("shards", "info", *self.names[:2], "old.crawl")
        self.assertEqual(answer.code, 1)
        self.assertRegex(answer.err.decode(), "old.crawl: in step 1, .*send FILE --step 1")
        answer = self.run_command("shards", "info", *self.names[:2], "count.crawl")
        self.assertRegex(answer.err.decode(), "of 4 shards, but 0.crawl is of 3")


class Set(ShardsCrawl):
    """All shards of a crawl, read as one."""

    def setUp(self):
        super().setUp()
        self.succeed("create", "one.crawl")
        self.succeed("import", "one.crawl", "-", "--format", "urls", data=self.seed.encode())
        for _ in range(3):
            self.step()
            self.crawl("one.crawl")

    def verify(self, *names, code=1):
        answer = self.run_command("shards", "verify", *names, "--json")
        self.assertEqual(answer.code, code, answer.err)
        document = json.loads(answer.out)
        jsonschema.Draft202012Validator(SCHEMA).validate({"shards": document})
        return document, answer.err.decode()

    def store_scores(self, name, array, residual):
        subprocess.run([command.BUILD / "bin/store_own_scores", name, array, str(residual)],
                       cwd=self.folder, check=True)

    def test_finds_what_one_file_has(self):
        whole = self.pages("one.crawl")
        names = self.names[::-1]
        for url in sorted(whole)[::5]:
            found = self.shards("find", *names, "--url", url)
            expected = json.loads(self.succeed("page", "one.crawl", url, "--json").out)
            self.assertEqual(found["path"], f"{found['shard'].split('/')[0]}.crawl")
            for field in ("url", "state", "crawl_count", "in_link_count", "out_link_count"):
                self.assertEqual(found[field], expected[field], (url, field))
            self.assertEqual(self.pages(found["path"])[url], expected["state"])
        self.refuse(1, "no page http://nosuch.test/ in any shard", "shards", "find", *names,
                    "--url", "http://nosuch.test/")

    def test_says_who_knows_a_page_that_its_shard_does_not(self):
        before = set(self.pages("one.crawl"))
        for name in ("one.crawl", *self.names):
            self.crawl(name)
        new = set(self.pages("one.crawl")) - before
        new -= {url for name in self.names for url in self.pages(name)}
        self.assertTrue(new)
        self.refuse(1, r"no page .* in its own shard yet: \d/3", "shards", "find", *self.names,
                    "--url", min(new))

    def test_has_the_best_pages_of_all(self):
        for name in ("one.crawl", *self.names):
            self.store_scores(name, "own", 0.5)
            self.store_scores(name, "other", 0.25 if name == "1.crawl" else 0.5)
        best = self.shards("top", *self.names, "--name", "own", "--limit", "9999")
        jsonschema.Draft202012Validator(SCHEMA).validate({"shards": best})
        rows = best["pages"]
        self.assertEqual(rows, sorted(rows, key=lambda row: (-row["score"], row["shard"],
                                                             row["index"])))
        one = json.loads(self.succeed("top", "one.crawl", "--name", "own", "--limit", "9999",
                                      "--json").out)["pages"]
        self.assertEqual({(row["url"], row["score"], row["state"]) for row in rows},
                         {(row["url"], row["score"], row["state"]) for row in one})
        self.assertEqual(len(rows), len(one))
        self.assertEqual([row["rank"] for row in rows], list(range(1, len(rows) + 1)))
        self.assertEqual(self.shards("top", *self.names, "--name", "own")["pages"], rows[:10])
        self.refuse(2, "of shards 1 are of another computation .*compute them together again",
                    "shards", "top", *self.names, "--name", "other")
        self.refuse(1, "0.crawl: no scores `pagerank`", "shards", "top", *self.names)
        self.crawl("2.crawl")
        self.assertIn(b"2/3 have changed since", self.succeed(
            "shards", "top", *self.names, "--name", "own").err)

    def test_is_whole(self):
        document, _ = self.verify(*self.names, code=0)
        self.assertEqual((document["health"], document["unknown_count"]), ("whole", 0))
        self.assertEqual(document["page_count"], len(self.pages("one.crawl")))
        self.assertGreater(document["told_count"], 0)
        self.assertEqual([(row["path"], row["shard"], row["step"], row["health"])
                          for row in document["shards"]],
                         [(name, f"{index}/3", 4, "whole")
                          for index, name in enumerate(self.names)])
        self.verify("one.crawl", code=0)

    def test_is_not_whole_without_all_of_its_files(self):
        document, message = self.verify(*self.names[1:])
        self.assertIn("1 of 3 shards missing: 0", message)
        self.assertIsNone(document["told_count"])
        document, message = self.verify(*self.names, "one.crawl")
        self.assertIn("one.crawl: no shard", message)
        for words in (["find", "--url", self.seed], ["top"]):
            self.refuse(2, "1 of 3 shards missing: 0", "shards", *words, *self.names[1:])
        self.refuse(1, "no page database", "shards", "verify", *self.names, "--database", "nosuch")
        self.refuse(1, "nosuch.crawl: ", "shards", "find", "--url", "x", "nosuch.crawl")

    def test_is_damaged_with_one_of_its_files(self):
        data = bytearray((self.folder / "1.crawl").read_bytes())
        run = json.loads(self.succeed("segments", "1.crawl", "--json").out)["runs"][0]
        data[run["offset_bytes"]] ^= 1
        (self.folder / "1.crawl").write_bytes(data)
        document, message = self.verify(*self.names)
        self.assertIn("a file is damaged", message)
        self.assertEqual([row["health"] for row in document["shards"]],
                         ["whole", "damaged", "whole"])
        self.assertEqual({row["path"] for row in document["findings"]}, {"1.crawl"})

    def test_says_which_pages_are_not_known_where_they_were_told(self):
        rows = json.loads(self.succeed("pages", "0.crawl", "--limit", "9999", "--json").out)
        told = [row["url"] for row in rows["pages"] if row["state"] == "elsewhere"]
        host = urllib.parse.urlsplit(told[0]).hostname
        for name in self.names[1:]:
            if told[0] in self.pages(name):
                self.succeed("forget", name, "--host", host)
        document, message = self.verify(*self.names)
        self.assertIn("What to do: send the outboxes of all steps again", message)
        self.assertIn(told[0], [row["url"] for row in document["unknown_pages"]])
        self.assertEqual(document["unknown_count"], len(document["unknown_pages"]))
        self.assertEqual(sum(row["unknown_count"] for row in document["shards"]),
                         document["unknown_count"])
        self.assertEqual({urllib.parse.urlsplit(row["url"]).hostname
                          for row in document["unknown_pages"]}, {host})
        # An edit that waits, as where a shard was killed after it took a message.
        unknown = sorted({row["url"] for row in document["unknown_pages"]})
        self.assertIn(told[0], unknown)
        for name in self.names:
            self.succeed("import", name, "-", "--format", "urls", "--no-merge",
                         data="".join(url + "\n" for url in unknown).encode())
        rows = self.shards("info", *self.names)["shards"]
        self.assertTrue(any(row["edit_count"] for row in rows))
        self.assertEqual(self.verify(*self.names, code=0)[0]["unknown_count"], 0)

    def test_is_not_whole_with_an_older_copy(self):
        data = (self.folder / "2.crawl").read_bytes()
        for _ in range(2):
            self.step()
        (self.folder / "2.crawl").write_bytes(data)
        document, message = self.verify(*self.names)
        self.assertRegex(message, "2.crawl: in step 4, but .* is in step 6; .*send FILE --step 4")
        self.assertEqual(document["unknown_count"], 0)


if __name__ == "__main__":
    unittest.main()
