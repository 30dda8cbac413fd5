# SPDX-License-Identifier: Apache-2.0
"""fuzz/replay: every input is run, no seeds is a failure, and a canary that lives is one too; and
fuzz/seeds.py, which reads and writes the inputs."""

import pathlib
import subprocess
import sys
import unittest

from sandbox import SOURCE, Sandbox

sys.path.insert(0, str(SOURCE / "fuzz"))
import seeds  # noqa: E402  pylint: disable=wrong-import-position

INPUTS = {"crashes/three": b"3\n", "one": b"", "two": b"\0\xff"}
TEXT = "crashes/three 330a\none\ntwo 00ff\n"


class Replay(unittest.TestCase):
    def setUp(self):
        self.sandbox = Sandbox(["fuzz/replay", "fuzz/seeds.py"])
        self.addCleanup(self.sandbox.remove)
        self.corpus = self.sandbox.folder / "corpus.txt"
        self.corpus.write_text(TEXT)

    def replay(self, body, *options, corpus="corpus.txt"):
        self.sandbox.stand_in("target", body)
        return self.sandbox.run("bash", "fuzz/replay", "target", corpus, *options)

    def test_runs_every_input(self):
        code, output = self.replay("exit 0")
        self.assertEqual(code, 0, output)
        self.assertEqual([pathlib.Path(word).name for word in
                          self.sandbox.calls("target")[0].split()[1:]], ["three", "one", "two"])

    def test_gives_each_input_its_bytes(self):
        _, output = self.replay('while read -r -n1 -d "" x; do printf "<%s>" "$x"; done <"$1"')
        self.assertIn("<3>", output)

    def test_passes_on_a_failure(self):
        self.assertEqual(self.replay("exit 77")[0], 77)

    def test_fails_without_seeds(self):
        (self.sandbox.folder / "empty.txt").write_text("")
        code, output = self.replay("exit 0", corpus="empty.txt")
        self.assertEqual(code, 1)
        self.assertIn("no inputs", output)

    def test_fails_on_a_corpus_that_is_none(self):
        for text in ("two 00\none 00\n", "one 0\n", "one\none\n", "../one 00\n", "one 00 00\n"):
            self.corpus.write_text(text)
            code, output = self.replay("exit 0")
            self.assertEqual(code, 1, output)
            self.assertIn("is no input, or not sorted", output)
        self.assertEqual(self.replay("exit 0", corpus="none.txt")[0], 1)

    def test_accepts_a_canary_that_dies(self):
        for death in ("exit 1", "exit 77", "kill -ABRT $$"):
            self.assertEqual(self.replay(death, "--must-fail")[0], 0)

    def test_fails_when_the_canary_lives_or_never_ran(self):
        for life in ("exit 0", "exit 2", "exit 127"):
            self.assertEqual(self.replay(life, "--must-fail")[0], 1)


class Seeds(unittest.TestCase):
    def test_gives_back_what_it_wrote(self):
        self.assertEqual(seeds.encode(INPUTS), TEXT)
        self.assertEqual(seeds.decode(TEXT), INPUTS)

    def test_adds_files_and_unpacks_them(self):
        sandbox = Sandbox([])
        self.addCleanup(sandbox.remove)
        file, unpacked = sandbox.folder / "x.txt", sandbox.folder / "unpacked"
        for name, content in INPUTS.items():
            path = sandbox.folder / pathlib.Path(name).name
            path.write_bytes(content)
            command = "add-crash" if name.startswith("crashes/") else "add"
            subprocess.run([sys.executable, SOURCE / "fuzz/seeds.py", command, file, path],
                           check=True)
        self.assertEqual(file.read_text(), TEXT)
        seeds.unpack(file, unpacked)
        self.assertEqual({name: (unpacked / name).read_bytes() for name in INPUTS}, INPUTS)


if __name__ == "__main__":
    unittest.main()
