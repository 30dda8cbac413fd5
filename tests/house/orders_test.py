# SPDX-License-Identifier: Apache-2.0
"""The commands of the README and CONTRIBUTING in any order in one clone: whichever configured the
build folder, the next one finds all that it builds. CMake configures, ninja builds nothing (-n)."""

import os
import re
import shutil
import subprocess
import unittest

from sandbox import SOURCE, Sandbox

# Builds dry; what quickstart runs afterwards is there already.
CMAKE = """
if [[ $1 == --build ]]; then
  [[ $* == *' -- '* ]] || set -- "$@" --
  exec /usr/bin/cmake "$@" -n
fi
exec /usr/bin/cmake "$@"
"""
# Shows the tests of the build folder, and runs none.
CTEST = """
[[ $* != *--show-only* ]] || exec /usr/bin/ctest "$@"
while [[ $1 != --output-junit ]]; do shift; done
echo '<testsuite time="0"><testcase name="a" status="run"/></testsuite>' >"$2"
"""
NOT_COPIED = shutil.ignore_patterns("build", ".git", "*.crawl", "*.png")
# The options that somebody may have chosen for a folder of their own.
OWN = "cmake --preset release -DBUILD_SHARED_LIBS=ON " + " ".join(
    f"-DCRAWLSTORE_{name}=OFF" for name in "BENCH CLI EXAMPLES FUZZ INSPECTOR TESTS".split())


def readme_cmake_lines():
    """The commands that configure and build in README.md, without their comments."""
    text = (SOURCE / "README.md").read_text()
    lines = [line.split("#")[0].strip() for line in text.splitlines()]
    return [line for line in lines if re.match(r'cmake --(preset|build) ', line)]


COMMANDS = {
    "quickstart": ["./quickstart"],
    "quickstart --package": ["./quickstart --package"],
    "run-tests": ["./run-tests --preset release"],
    "run-tests --changed": ["./run-tests --since HEAD"],
    "README's cmake lines": readme_cmake_lines(),
    "cmake --workflow": ["cmake --preset release", "cmake --build --preset release",
                         "ctest --preset release --show-only"],
    "own options": [OWN],
}


def tests_after(*commands):
    """Whether the release folder builds tests then; a quick start leaves that as it is."""
    own = [name for name in commands if not name.startswith("quickstart")]
    return bool(own) and own[-1] not in ("own options", "README's cmake lines")


class Orders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sandbox = Sandbox([])
        cls.addClassCleanup(cls.sandbox.remove)
        cls.folder = cls.sandbox.folder
        cls.saved = cls.folder / "build/saved"
        shutil.copytree(SOURCE, cls.folder, ignore=NOT_COPIED, dirs_exist_ok=True)
        (cls.folder / "tests/tidy/tidy_test.py").write_text("")  # it takes its time elsewhere
        for name, body in {
            "cmake": CMAKE, "ctest": CTEST, "nproc": "echo 1", "npm": "exit 0",
            "dpkg-query": 'shift; printf "installed %s\\n" "$@"',
            "cpack": 'mkdir -p "$4" && touch "$4/x.deb"',
        }.items():
            cls.sandbox.stand_in(name, body)
        for command in ("init -q", "add .", "-c user.name=t -c user.email=t@t commit -q -m t"):
            subprocess.run(["git", *command.split()], cwd=cls.folder, check=True,
                           stdout=subprocess.DEVNULL)
        with open(cls.folder / "cli/main.cpp", "a") as changed:
            changed.write("// changed\n")
        for package in ("fp-docs-3.2.2", "pike8.0-doc"):
            (cls.folder / "build/quickstart" / package).mkdir(parents=True)
            (cls.folder / "build/quickstart" / f"{package}.deb").touch()

    def go(self, name):
        for program in ("doc_crawl", "crawlstore", "crawlstore-inspector"):
            path = self.folder / "build/release/bin" / program
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text('#!/bin/bash\n[[ ${0##*/} != doc_crawl ]] || touch "$1"\n')
            path.chmod(0o755)
        for command in COMMANDS[name]:
            code, output = self.sandbox.run(
                *command.split(), PATH=f"{self.sandbox.bin}:{os.environ['PATH']}",
                CCACHE_DISABLE="1")
            self.assertEqual(code, 0, f"{command}\n{output}")
            self.assertNotIn("Total Tests: 0", output)

    def has_tests(self):
        """Whether the release folder is configured to build tests."""
        cache = (self.folder / "build/release/CMakeCache.txt").read_text()
        return re.search(r'^CRAWLSTORE_TESTS:\w+=(\w+)$', cache, re.MULTILINE).group(1) == "ON"

    def test_each_command_goes_after_each_other(self):
        build = self.folder / "build/release"
        for first in COMMANDS:
            shutil.rmtree(build, ignore_errors=True)
            self.go(first)
            self.assertEqual(self.has_tests(), tests_after(first), first)
            shutil.rmtree(self.saved, ignore_errors=True)
            shutil.copytree(build, self.saved)
            for second in COMMANDS.keys() - {first, "own options"}:
                with self.subTest(first=first, second=second):
                    shutil.rmtree(build)
                    shutil.copytree(self.saved, build)
                    self.go(second)
                    self.assertEqual(self.has_tests(), tests_after(first, second))

    def test_the_readme_has_lines_to_configure_and_to_build(self):
        self.assertEqual(len(readme_cmake_lines()), 2)


if __name__ == "__main__":
    unittest.main()
