# SPDX-License-Identifier: Apache-2.0
"""Help, usage errors, the manual page and the completion."""

import json
import re
import shutil
import subprocess
import unittest

import command

VERBS = ["plan", "create", "info", "segments", "verify", "pins", "dump", "diff", "inspect", "seen",
         "import", "export", "pages", "page", "links", "rank", "top", "queue", "next",
         "frontier", "schedule", "take", "done", "shards", "supersteps", "values", "forget",
         "merge", "compact", "snapshot", "recover", "rollback", "completion"]


WORDS_MAX = 25  # of a sentence


def sentences_of(line):
    """Yields what full stops, semicolons and colons end in a line of help; an option's spelling
    and its description are apart, and an example in backticks or braces is one word."""
    for _ in range(line.count("{")):  # from the inside outwards
        line = re.sub(r"\{[^{}]*\}", "X", line)
    for part in re.split(r"  +", re.sub(r"`[^`]*`", "X", line).strip()):
        yield from re.split(r"(?<=[.!?]) |[;:] ", part)


class Help(command.CommandTest):
    def test_lists_every_verb(self):
        text = self.succeed("--help").out.decode()
        for verb in VERBS:
            self.assertRegex(text, rf"(?m)^  {verb} ")

    def test_is_there_for_every_verb(self):
        for verb in VERBS:
            first = {"plan": "--keys N", "diff": "OLD", "completion": "SHELL",
                     "shards": "ACTION"}.get(verb, "FILE")
            self.assertRegex(self.succeed(verb, "--help").out.decode(), rf"(?m)^  {first}")

    def test_ends_with_the_exit_codes(self):
        lines = self.succeed("--help").out.decode().rstrip().split("\n")
        codes = lines[lines.index("Exit codes:") + 1:]
        self.assertEqual([re.split(r"  +", line.strip())[0] for line in codes],
                         ["0", "1", "2", "3", "4", "129, 130, 143"])
        self.assertNotIn(b"Exit codes:", self.succeed("verify", "--help").out)

    def test_has_sentences_that_are_read_once(self):
        for words in [[], *([verb] for verb in VERBS)]:
            for line in self.succeed(*words, "--help").out.decode().splitlines():
                for sentence in sentences_of(line):
                    count = len(re.findall(r"\S*\w\S*", sentence))
                    self.assertLessEqual(count, WORDS_MAX, (words, sentence))
                    self.assertNotRegex(sentence, r"^(What|Who|Of|As|Which|Whose)\b", words)

    def test_tells_the_version(self):
        self.assertRegex(self.succeed("--version").out.decode(), r"^crawlstore \d+\.\d+\.\d+\n$")


class Usage(command.CommandTest):
    def refuse_usage(self, *words):
        answer = self.run_command(*words)
        self.assertEqual(answer.code, 2, (words, answer.err))
        return answer

    def test_without_a_verb_is_an_error(self):
        self.refuse_usage()

    def test_of_unknown_words_is_an_error(self):
        self.refuse_usage("nonsense")
        for verb in VERBS:
            self.refuse_usage(verb)
            self.refuse_usage(verb, "x.crawl", "--nonsense")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_of_a_mistyped_word_tells_the_nearest(self):
        for words, message in (
                (["pagse"], "no command `pagse`; did you mean `pages`?; `crawlstore --help`"),
                (["nonsense"], "there is no command `nonsense`; `crawlstore --help` lists"),
                (["pages", "x.crawl", "--limt", "3"],
                 "there is no option `--limt`; did you mean `--limit`?; `crawlstore pages --help`"),
                (["pages", "x.crawl", "--limt=3"], "no option `--limt`; did you mean `--limit`?"),
                (["import", "x.crawl", "--fromat", "edges", "e.txt"], "did you mean `--format`?"),
                (["pages", "x.crawl", "y.crawl"], "`y.crawl` is one word too many"),
                (["import", "x.crawl", "--format", "edgs", "e.txt"],
                 "{urls,edges,events,jsonl,urlfrontier}")):
            self.assertIn(message, self.refuse_usage(*words).err.decode())

    def test_takes_counts_as_people_write_them(self):
        for count in ("1e6", "1M", "1,000,000", "1_000_000", "1000k"):
            answer = self.succeed("plan", "--keys", count, "--json")
            self.assertEqual(json.loads(answer.out)["key_count"], 1_000_000)
            self.succeed("create", f"{count}.crawl", "--expect-keys", count)

    def test_of_wrong_values_is_an_error(self):
        for words in (["seen", "x.crawl", "--memory", "12 apples"],
                      ["seen", "x.crawl", "--memory", "1"],
                      ["seen", "x.crawl", "--check", "--update"],
                      ["seen", "x.crawl", "--drum", ""],
                      ["seen", "x.crawl", "--drum", "a\nb"],
                      ["seen", "x.crawl", "--lock-wait", "-1"],
                      ["create", "x.crawl", "--buckets", "0"],
                      ["create", "x.crawl", "--buckets", "65537"],
                      ["create", "x.crawl", "--expect-keys", "0"],
                      ["create", "x.crawl", "--uuid", "12"],
                      ["plan", "--keys", "0"],
                      ["plan", "--keys", "1000", "--memory", "1"],
                      ["plan", "--keys", "1000", "--requests", "999"],
                      ["plan", "--keys", "1,000,000,000", "--memory", "64KiB"],
                      ["plan", "--keys", "1000", "--disk-read", "0"],
                      ["plan", "--keys", "1000", "--pages", "10"],
                      ["plan", "--pages", "10", "--database", "pages"],
                      ["plan", "--pages", "10", "--memory", "1GiB"],
                      ["plan", "--pages", "10", "--key-bytes", "16"],
                      ["plan", "--pages", 2**40 + 1],
                      ["plan", "--pages", "10", "--links", 2**40 + 1],
                      ["verify", "x.crawl", "--quick", "--deep"],
                      ["segments", "x.crawl", "--kind", "page"],
                      ["diff", "x.crawl"],
                      ["diff", "x.crawl", "y.crawl", "--previous"]):
            self.refuse_usage(*words)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_of_a_wrong_source_date_is_an_error(self):
        answer = self.run_command("create", "x.crawl", env={"SOURCE_DATE_EPOCH": "today"})
        self.assertEqual(answer.code, 2)
        self.assertIn(b"SOURCE_DATE_EPOCH", answer.err)


class ManPage(command.CommandTest):
    def test_is_shown_by_man_without_a_warning(self):
        page = self.folder / "crawlstore.1"
        page.write_bytes(self.succeed("--print-man").out)
        if not shutil.which("man"):
            self.skipTest("man is not there")
        result = subprocess.run(["man", "--warnings", "-l", page], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env={"PATH": "/usr/bin:/bin", "MANWIDTH": "100", "LC_ALL": "C"})
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        text = re.sub(".\b", "", result.stdout.decode())
        for word in (*VERBS, "--check-update", "--lock-wait SECONDS", "SOURCE_DATE_EPOCH"):
            self.assertIn(word, text)


class ManExamples(command.CommandTest):
    def test_run_one_after_the_other(self):
        blocks = re.findall(r"(?ms)^\.EX\n(.*?)\n\.EE$", self.succeed("--print-man").out.decode())
        self.assertEqual(len(blocks), 6)
        (self.folder / "crawlstore").symlink_to(command.BINARY)
        (self.folder / "urls.txt").write_text("http://a.test/\n")
        (self.folder / "seeds.txt").write_text("http://b.test/\n")
        (self.folder / "edges.txt").write_text("http://a.test/\thttp://example.org/\n")
        (self.folder / "fetched.jsonl").write_text('{"kind":"page","url":"http://example.org/"}\n')
        shown = b""
        for block in blocks:
            lines = block.replace(r"\-", "-").replace(r"\(aq", "'").replace(r"\(ha", "^")
            result = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", lines], cwd=self.folder,
                                    stdout=subprocess.PIPE, check=True,
                                    env=self.environment(PATH=f"{self.folder}:/usr/bin:/bin"))
            shown += result.stdout
        self.assertIn(b"http://a.test/\n", shown)
        self.assertIn(b"http://example.org/\n", shown)
        self.assertIn(b"http://b.test/\n", self.succeed("pages", "web.crawl", "--tsv").out)
        self.assertTrue((self.folder / "copy.crawl").exists())


class Completion(command.CommandTest):
    def setUp(self):
        super().setUp()
        (self.folder / "x.crawl").touch()
        for shell in ("bash", "zsh", "fish"):
            script = self.succeed("completion", shell).out
            (self.folder / f"completion.{shell}").write_bytes(script)

    def run_shell(self, *words):
        return subprocess.run(words, cwd=self.folder, check=True, stdout=subprocess.PIPE,
                              text=True).stdout.split()

    def complete(self, *words):
        """Returns the words that bash offers for the last word."""
        script = ('source ./completion.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
                  '_crawlstore; printf "%s\\n" "${COMPREPLY[@]}"')
        return self.run_shell("bash", "-c", script, "bash", *words)

    def test_is_of_the_command(self):
        self.assertEqual(self.run_shell("bash", "-c", "source ./completion.bash; complete -p"),
                         ["complete", "-F", "_crawlstore", "crawlstore"])

    def test_offers_verbs_options_and_files(self):
        self.assertEqual(self.complete("crawlstore", "se"), ["segments", "seen"])
        self.assertEqual(self.complete("crawlstore", "seen", "--check"),
                         ["--check", "--check-update"])
        self.assertEqual(self.complete("crawlstore", "seen", "x."), ["x.crawl"])
        self.assertEqual(self.complete("crawlstore", "export", "x.crawl", "-o", "x."), ["x.crawl"])

    def test_offers_what_a_value_can_be(self):
        self.assertEqual(self.complete("crawlstore", "import", "--format", "e"),
                         ["edges", "events"])
        self.assertEqual(self.complete("crawlstore", "import", "--format", "=", "j"), ["jsonl"])
        self.assertEqual(self.complete("crawlstore", "rank", "x.crawl", "h"), ["hits"])
        (self.folder / "fishes").touch()
        self.assertEqual(self.complete("crawlstore", "completion", "f"), ["fish"])
        self.assertEqual(self.complete("crawlstore", "completion", ""), ["bash", "zsh", "fish"])
        self.assertEqual(self.complete("crawlstore", "pages", "--limit", ""), [])
        self.assertEqual(self.complete("crawlstore", "pages", "--sort", "s"),
                         ["state", "score", "score:"])
        (self.folder / "a:b:c.crawl").touch()
        # In pieces, as bash has them.
        self.assertEqual(self.complete("crawlstore", "pages", "--sort", "score", ":", "a"), [])
        self.assertEqual(self.complete("crawlstore", "pages", "a", ":", "b", ":", "c."),
                         ["c.crawl"])
        self.assertEqual(self.complete("crawlstore", "pages", "a", ":"), ["b:c.crawl"])
        self.assertEqual(self.complete("crawlstore", "segments", "--kind", "queue"),
                         ["queue", "queue_entries"])
        self.assertEqual(self.complete("crawlstore", "create", "--url-key", "r"), ["rabin"])

    def test_is_right_for_zsh(self):
        if not shutil.which("zsh"):
            self.skipTest("zsh is not there")
        # _arguments is called outside of a completion: what it is told is printed instead.
        script = ("compdef() { :; }; _arguments() { print -rl -- $@; }; "
                  "_describe() { print -l -- $verbs; }; source ./completion.zsh; "
                  "words=(crawlstore %s ''); CURRENT=%d; _crawlstore")
        verbs = self.run_shell("zsh", "-f", "-c", script % ("", 2))
        self.assertIn("pages:list", verbs)
        options = self.run_shell("zsh", "-f", "-c", script % ("import", 3))
        self.assertIn("events", " ".join(options))
        sorts = self.run_shell("zsh", "-f", "-c", script % ("pages", 3))
        self.assertTrue(any(word == r"score\:)" for word in sorts), sorts)
        self.assertTrue(any(word.startswith("*--format=[the") for word in options), options)
        self.assertTrue(any(":_files" in word for word in options), options)

    def test_is_right_for_fish(self):
        if not shutil.which("fish"):
            self.skipTest("fish is not there")
        def complete(line):
            script = f"source ./completion.fish; complete -C '{line}'"
            return [word.split("\t")[0] for word in subprocess.run(
                ["fish", "--no-config", "-c", script], cwd=self.folder, check=True, text=True,
                stdout=subprocess.PIPE, env=self.environment(HOME=str(self.folder)),
            ).stdout.splitlines()]
        self.assertEqual(complete("crawlstore se"), ["seen", "segments"])
        self.assertEqual(complete("crawlstore import --format e"), ["edges", "events"])
        self.assertEqual(complete("crawlstore seen x."), ["x.crawl"])
        self.assertEqual(complete("crawlstore pages --sort sc"), ["score", "score:"])
        self.assertEqual(complete("crawlstore segments --kind queue_"), ["queue_entries"])
        self.assertIn("hits", complete("crawlstore rank x.crawl h"))


if __name__ == "__main__":
    unittest.main()
