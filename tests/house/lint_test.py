# SPDX-License-Identifier: Apache-2.0
"""cmake/lint.sh: a source is looked at again when anything that it is made of changed, newest
first; a mark of the quick checks does not count for all of them."""

import json
import pathlib
import sys
import unittest

from sandbox import SOURCE, Sandbox

sys.path.insert(0, str(SOURCE / "cmake"))
import include_closure  # noqa: E402 (needs the path above)

TREE = {
    ".clang-tidy": "Checks: '*'",
    "format/a.h": '#include "b.h"\n#include "x_generated.h"\n',
    "format/b.h": "// b",
    "format/b.cpp": '#include "format/b.h"\n',
    "format/x.fbs": "table X {}",
    "libcrawlstore/include/crawlstore/c.h": '#  include <crawlstore/d.h>\n#include <vector>\n',
    "libcrawlstore/include/crawlstore/d.h": "// d",
    "libcrawlstore/src/io/e.h": "// e",
    "libcrawlstore/src/io/e.cpp": '#include "io/e.h"\n\n#include <crawlstore/c.h>\n',
    "spec/y.capnp": "# y",
    "tests/support/f.h": '#include "support/f.h"\n#include "y.capnp.h"\n',
    "tests/io/e_test.cpp": '#include "io/e.h"\n#include "support/f.h"\n#include "format/a.h"\n',
}
SOURCES = sorted(name for name in TREE if name.endswith(".cpp"))


class Lint(unittest.TestCase):
    def setUp(self):
        self.sandbox = Sandbox(["cmake/lint.sh", "cmake/packages.sh", "cmake/include_closure.py"])
        self.addCleanup(self.sandbox.remove)
        for tool in ("awk", "date", "git", "xargs", "wc"):
            self.sandbox.tool(tool)
        self.sandbox.stand_in("dpkg-query", 'shift; printf "installed %s\\n" "$@"')
        self.sandbox.stand_in("cmake", "exit 0")
        self.sandbox.stand_in("nproc", "echo 1")
        self.sandbox.stand_in("clang-format-14", "exit 0")
        self.tidy_finds("nothing at all")
        for name, text in TREE.items():
            self.write(name, text)
        self.flags("-O1")
        self.git("init", "--quiet")
        for name in ("*.clang-tidy", *SOURCES, "*"):
            self.git("add", "--", name)
            self.git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "--quiet",
                     "--message", name)

    def git(self, *words):
        code, output = self.sandbox.run("git", *words)
        self.assertEqual(code, 0, output)

    def write(self, name, text):
        path = self.sandbox.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def flags(self, flags):
        folder = self.sandbox.folder
        self.write("build/fuzz/compile_commands.json", json.dumps([
            {"file": f"{folder}/{name}", "command": f"clang {flags} -I{folder} {folder}/{name}"}
            for name in SOURCES]))

    def tidy_finds(self, what, version="14.0.6"):
        """clang-tidy fails for sources that contain `what`."""
        self.sandbox.stand_in(
            "clang-tidy-14", f'''
if [[ $1 == --version ]]; then echo "LLVM version {version}" && exit; fi
! grep "{what}" "${{@: -1}}"''')

    def lint(self, *arguments, code=0):
        """(sources that clang-tidy was called for, everything printed)"""
        before = len(self.sandbox.calls("clang-tidy-14"))
        got, output = self.sandbox.run("bash", "cmake/lint.sh", "--all", *arguments)
        self.assertEqual(got, code, output)
        calls = self.sandbox.calls("clang-tidy-14")[before:]
        return [call.split()[-1] for call in calls if "--version" not in call], output

    def test_looks_again_only_at_what_includes_a_changed_file(self):
        self.assertEqual(sorted(self.lint()[0]), SOURCES)
        self.assertEqual(self.lint()[0], [])
        e, test = "libcrawlstore/src/io/e.cpp", "tests/io/e_test.cpp"
        for changed, expected in (
                ("format/b.cpp", ["format/b.cpp"]),
                ("format/b.h", ["format/b.cpp", test]),
                ("format/x.fbs", [test]),
                ("spec/y.capnp", [test]),
                ("tests/support/f.h", [test]),
                ("libcrawlstore/src/io/e.h", [e, test]),
                ("libcrawlstore/include/crawlstore/d.h", [e]),
                ("tests/.clang-tidy", SOURCES)):
            with self.subTest(changed=changed):
                self.write(changed, TREE.get(changed, "") + "\n// changed\n")
                self.assertEqual(sorted(self.lint()[0]), expected)

    def test_looks_again_when_a_new_header_may_be_meant(self):
        self.lint()
        self.write("tests/io/e.h", "// before io/e.h of the library")
        self.assertIn("tests/io/e_test.cpp", self.lint()[0])

    def test_looks_again_with_other_flags_or_another_clang_tidy(self):
        self.lint()
        self.flags("-O2")
        self.assertEqual(sorted(self.lint()[0]), SOURCES)
        self.tidy_finds("nothing at all", version="14.0.7")
        self.assertEqual(sorted(self.lint()[0]), SOURCES)

    def test_looks_again_at_a_source_with_findings(self):
        self.tidy_finds("crawlstore/c.h")
        _, output = self.lint(code=1)
        self.assertIn("3 of 3 sources, 1 with findings, 0 left", output)
        self.assertEqual(self.lint(code=1)[0], ["libcrawlstore/src/io/e.cpp"])

    def test_a_quick_mark_does_not_count_for_all_checks(self):
        self.assertEqual(sorted(self.lint("--quick")[0]), SOURCES)
        self.assertIn("--checks=-clang-analyzer-*", self.sandbox.calls("clang-tidy-14")[-1])
        self.assertEqual(self.lint("--quick")[0], [])
        self.assertEqual(sorted(self.lint()[0]), SOURCES)
        self.assertNotIn("--checks", self.sandbox.calls("clang-tidy-14")[-1])

    def test_a_mark_of_all_checks_counts_for_the_quick_ones(self):
        self.lint()
        self.assertEqual(self.lint("--quick")[0], [])

    def test_begins_with_what_was_made_of_the_newest_file(self):
        self.assertEqual(self.lint()[0][0], "tests/io/e_test.cpp")
        self.write("libcrawlstore/include/crawlstore/d.h", "// newer")
        self.write(".clang-tidy", "# newer")
        self.assertEqual(self.lint()[0][0], "libcrawlstore/src/io/e.cpp")

    def test_names_what_it_did_not_reach(self):
        called, output = self.lint("--seconds", "0")
        self.assertEqual(called, [])
        self.assertIn("0 of 3 sources, 0 with findings, 3 left", output)
        self.assertIn("not reached: 3 sources, first of them ", output)

    def test_refuses_an_include_that_it_cannot_follow(self):
        self.write("format/b.cpp", "#include HEADER\n")
        called, output = self.lint(code=1)
        self.assertEqual(called, [])
        self.assertIn("format/b.cpp includes by a macro", output)


class Closure(unittest.TestCase):
    def test_keys_do_not_depend_on_the_folder_of_the_clone(self):
        found = set()
        for _ in range(2):
            sandbox = Sandbox([])
            self.addCleanup(sandbox.remove)
            (sandbox.folder / "a.cpp").write_text("int a;")
            commands = pathlib.Path(sandbox.folder, "commands.json")
            commands.write_text(json.dumps([{"file": f"{sandbox.folder}/a.cpp",
                                             "command": f"clang -I{sandbox.folder}/tests"}]))
            found.update(include_closure.keys(
                include_closure.Project(sandbox.folder),
                include_closure.read_commands(commands, str(sandbox.folder)), "", ["a.cpp"]))
        self.assertEqual(len(found), 1)


if __name__ == "__main__":
    unittest.main()
