# SPDX-License-Identifier: Apache-2.0
"""Help, usage errors, the manual page and the completion."""

import re
import shutil
import subprocess
import unittest

import command

VERBS = ["plan", "create", "info", "segments", "verify", "pins", "dump", "diff", "inspect", "seen",
         "import", "export", "pages", "page", "links", "rank", "top", "queue", "next", "forget",
         "merge", "compact", "snapshot", "rollback"]


class Help(command.CommandTest):
    def test_lists_every_verb(self):
        text = self.succeed("--help").out.decode()
        for verb in VERBS:
            self.assertRegex(text, rf"(?m)^  {verb} ")

    def test_is_there_for_every_verb(self):
        for verb in VERBS:
            first = {"plan": "--keys N", "diff": "OLD"}.get(verb, "FILE")
            self.assertRegex(self.succeed(verb, "--help").out.decode(), rf"(?m)^  {first}")

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


class Completion(command.CommandTest):
    def complete(self, *words):
        """What the completion offers for the last word."""
        (self.folder / "completion.bash").write_bytes(
            self.succeed("--print-completion", "bash").out)
        script = ('source ./completion.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
                  '_crawlstore; printf "%s\\n" "${COMPREPLY[@]}"')
        result = subprocess.run(["bash", "-c", script, "bash", *words], cwd=self.folder, check=True,
                                stdout=subprocess.PIPE, text=True)
        return result.stdout.split()

    def test_offers_verbs_options_and_files(self):
        (self.folder / "x.crawl").touch()
        self.assertEqual(self.complete("crawlstore", "se"), ["segments", "seen"])
        self.assertEqual(self.complete("crawlstore", "seen", "--check"),
                         ["--check", "--check-update"])
        self.assertEqual(self.complete("crawlstore", "seen", "x."), ["x.crawl"])


if __name__ == "__main__":
    unittest.main()
