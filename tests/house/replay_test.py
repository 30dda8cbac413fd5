# SPDX-License-Identifier: Apache-2.0
"""fuzz/replay: every input is run, no seeds is a failure, and a canary that lives is one too."""

import unittest

from sandbox import Sandbox


class Replay(unittest.TestCase):
    def setUp(self):
        self.sandbox = Sandbox(["fuzz/replay"])
        self.addCleanup(self.sandbox.remove)
        for name in ("corpus/one", "corpus/two", "corpus.crashes/three"):
            path = self.sandbox.folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(name)

    def replay(self, body, *options, corpus="corpus"):
        self.sandbox.stand_in("target", body)
        return self.sandbox.run("bash", "fuzz/replay", "target", corpus, *options)

    def test_runs_every_input(self):
        code, output = self.replay("exit 0")
        self.assertEqual(code, 0, output)
        self.assertEqual(self.sandbox.calls("target"),
                         ["target corpus.crashes/three corpus/one corpus/two"])

    def test_passes_on_a_failure(self):
        self.assertEqual(self.replay("exit 77")[0], 77)

    def test_fails_without_seeds(self):
        (self.sandbox.folder / "empty").mkdir()
        code, output = self.replay("exit 0", corpus="empty")
        self.assertEqual(code, 1)
        self.assertIn("no inputs", output)

    def test_accepts_a_canary_that_dies(self):
        for death in ("exit 1", "exit 77", "kill -ABRT $$"):
            self.assertEqual(self.replay(death, "--must-fail")[0], 0)

    def test_fails_when_the_canary_lives_or_never_ran(self):
        for life in ("exit 0", "exit 2", "exit 127"):
            self.assertEqual(self.replay(life, "--must-fail")[0], 1)


if __name__ == "__main__":
    unittest.main()
