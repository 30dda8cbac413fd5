# SPDX-License-Identifier: Apache-2.0
"""Tests that passed before with the same bytes, so that ./run-tests need not run them again.

passed_tests.py choose PRESET TURN    prints a regular expression of their ctest names, and how many
                                      there are on standard error
passed_tests.py keep PRESET           remembers what passed in the run since

A test is the same when the programs that it runs, its scripts, the files that they name, its
command, the presets and the installed packages are. One in eight runs nevertheless, those of the
number TURN, or all, or none: with other random numbers, or because this knows too little. Tests
that install the build folder or read the whole tree always run.

With a number the scripts of the command, which all run in release, take turns in asan, where they
take half of all the time: one in eight runs, whatever has changed.
"""

import hashlib
import json
import os
import pathlib
import re
import sys
import time

import affected_tests
import count_tests

ROOT = affected_tests.ROOT
TURNS = 8
KEEP_DAYS = 30
READ_ALL = ("tidy", "tidy_rules")
VARIABLES = ("ASAN_", "CRAWLSTORE_", "GTEST_", "TSAN_", "UBSAN_")


def memory():
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path(
        os.environ.get("HOME", "/tmp"), ".cache")
    folder = pathlib.Path(cache, "crawlstore-tests")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def digest(*parts):
    total = hashlib.sha256()
    for part in parts:
        total.update(hashlib.sha256(part if isinstance(part, bytes) else part.encode()).digest())
    return total.hexdigest()


def surroundings():
    """The parts that all tests depend on: presets, packages, and the data beside the project by its
    sizes."""
    beside = ROOT.parent / "shared" / "data"
    data = sorted((str(path.relative_to(beside)), path.stat().st_size)
                  for path in beside.rglob("*") if path.is_file())
    packages = pathlib.Path("/var/lib/dpkg/status")
    # A program with GTEST_FILTER has not passed as a whole. Seeds are no part: each commit has
    # another.
    variables = sorted(pair for pair in os.environ.items()
                       if pair[0].startswith(VARIABLES) and not pair[0].endswith("_SEED"))
    return digest((ROOT / "CMakePresets.json").read_bytes(), repr(data), repr(variables),
                  packages.read_bytes() if packages.exists() else b"")


class Keys:
    """The key of each test of a built preset."""

    def __init__(self, preset):
        self.build = affected_tests.Build(preset)
        listed = affected_tests.run("git", "ls-files", "--cached", "--others", "--exclude-standard")
        self.names = [name for name in listed.split("\n") if (ROOT / name).is_file()]
        self.files = affected_tests.Files(ROOT, self.names)
        self.selection = affected_tests.Selection(self.build, self.files, frozenset())
        self.contents = {}
        self.common = surroundings()

    def content(self, path):
        # A test may name a program that no target of its label builds.
        if path not in self.contents:
            there = (ROOT / path).is_file()
            self.contents[path] = digest((ROOT / path).read_bytes()) if there else "absent"
        return self.contents[path]

    def key(self, test):
        own, scripts = self.files.of_command(test)
        programs = self.selection.programs(test, scripts)
        sources = set(scripts)
        if test.is_program:
            for program in programs:
                for name in self.build.objects(program):
                    sources |= self.selection.object_files(name)
        words = self.files.words(own, sources)
        # The bytes of a program say what it is made of; for a script its text does.
        named = scripts | {path for path in self.names if path in words.words or (
            words.name(path) and not (test.is_program and path.endswith((".cpp", ".h"))))}
        paths = sorted(f"{self.build.folder}/{program}" for program in programs) + sorted(named)
        call = [word.replace(str(ROOT), "") for word in (*test.command, *test.environment)]
        return digest(self.common, *call, *(path + self.content(path) for path in paths))

    def all(self):
        return {test.name: self.key(test) for test in self.build.tests()
                if test.name not in READ_ALL and self.build.folder not in test.command}


def kept_keys(preset):
    return ROOT / "build" / preset / "test_keys.json"


def has_turn(name, turn):
    return turn == "all" or (
        turn != "none" and (int(digest(name)[:8], 16) - int(turn)) % TURNS == 0)


def waits_for_turn(preset, name, turn):
    return preset == "asan" and turn != "none" and name.startswith("cli_") and (
        not has_turn(name, turn))


def choose(preset, turn):
    keys = Keys(preset).all()
    kept_keys(preset).write_text(json.dumps(keys))
    waiting = [name for name in keys if waits_for_turn(preset, name, turn)]
    chosen, cases = [], 0
    for name, key in keys.items():
        if name in waiting:
            continue
        mark = memory() / key
        if mark.exists() and not has_turn(name, turn):
            mark.touch()
            chosen.append(name)
            cases += int(mark.read_text() or 0)
    if chosen or waiting:
        print("^(" + "|".join(map(re.escape, chosen + waiting)) + ")$")
    if waiting:
        print(f"{len(waiting)} scripts run in release only, until their turn comes (--again runs "
              "them)", file=sys.stderr)
    if chosen:
        print(f"{len(chosen)} of {len(keys)} tests passed before with the same bytes, {cases} "
              "cases: they are not run again (--again runs them)", file=sys.stderr)


def keep(preset):
    keys = json.loads(kept_keys(preset).read_text())
    for name, passed, failed, _ in count_tests.verdicts(ROOT / "build" / preset)[0]:
        if name in keys and passed and not failed:
            (memory() / keys[name]).write_text(str(passed))
    for mark in memory().iterdir():
        if mark.stat().st_mtime < time.time() - KEEP_DAYS * 86400:
            mark.unlink()


if __name__ == "__main__":
    {"choose": choose, "keep": keep}[sys.argv[1]](*sys.argv[2:])
