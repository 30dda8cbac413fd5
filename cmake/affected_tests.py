# SPDX-License-Identifier: Apache-2.0
"""affected_tests.py SECONDS PRESET... <FILES: tests that depend on changed files, for `--changed`.

FILES are changed files of the project, a line each. Prints for each configured preset a line
"PRESET;TARGET...;REGEX": what to build, and the ctest names to run. The last preset runs the
scripts, and the programs that no preset before it runs, but these only for a change in the tests.
The last line, ";FILE...;TEST...", names the files that chose no test, or no program although it is
built by them, and the tests that are left to `./run-tests`.

The tests that run for a file are those that depend on it and whose names have most words of its
path, and then the shortest ones of the others, until all together took SECONDS when ctest last ran
them.

A program depends on what its sources include and on those sources of its libraries that the linker
takes: nm tells which while the objects are newer than what did not change, otherwise it is all. A
script depends on what it imports and on programs that a string names. Both depend on files that a
string names.
"""

import ast
import collections
import functools
import json
import os
import pathlib
import posixpath
import re
import subprocess
import sys

from include_closure import INCLUDE, Project, reached

ROOT = pathlib.Path(__file__).resolve().parents[1]
PUBLIC = "libcrawlstore/include/crawlstore/"
SOURCES = (".cpp", ".h", ".py", ".fbs", ".capnp")
CMAKE = re.compile(r'(^|/)CMakeLists\.txt$|\.cmake$|^CMakePresets\.json$')
# The targets that `cmake --install` installs; the tests that call it are given the build folder.
INSTALLED = "crawlstore crawlstore_c crawlstore_cli crawlstore_inspector".split()
WORDS = re.compile(r'[\w.+-]+(?:/[\w.+-]+)*')

Test = collections.namedtuple("Test", "name command is_program environment")
# targets: what to build for a test; reasons: changed files that it depends on.
Choice = collections.namedtuple("Choice", "preset name targets reasons seconds")


def run(*command, folder=ROOT):
    return subprocess.run(command, cwd=folder, check=True, text=True, stdout=subprocess.PIPE).stdout


@functools.lru_cache(maxsize=None)
def written(path):
    """When a file was written."""
    return os.stat(ROOT / path).st_mtime_ns


class Files:
    """The names that files of the project include, import and use."""

    def __init__(self, root, names):
        self.project = Project(root)
        self.modules = collections.defaultdict(set)
        for name in names:
            if name.endswith(".py"):
                self.modules[posixpath.basename(name)].add(name)

    @functools.lru_cache(maxsize=None)
    def closure(self, source):
        return frozenset(self.project.closure(source))

    @functools.lru_cache(maxsize=None)
    def strings(self, path):
        """The string literals of a C++ or Python file."""
        text = (self.project.read(path) or b"").decode(errors="replace")
        if path.endswith(".py"):
            return frozenset(node.value for node in ast.walk(ast.parse(text))
                             if isinstance(node, ast.Constant) and isinstance(node.value, str))
        return frozenset(re.findall(r'"((?:\\.|[^"\\\n])*)"', INCLUDE.sub("", text)))

    @functools.lru_cache(maxsize=None)
    def imports(self, path):
        """The Python files of the project that one imports, or names in a string."""
        names = set()
        for node in ast.walk(ast.parse(self.project.read(path))):
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module)
        found = {name.split(".")[0] + ".py" for name in names}
        found.update(posixpath.basename(word) for text in self.strings(path)
                     for word in WORDS.findall(text) if word.endswith(".py"))
        return frozenset().union(*(self.modules[name] for name in found if name in self.modules))

    def scripts(self, path):
        """A Python file with all that it imports or names, directly or not."""
        return reached(path, self.imports)

    def of_command(self, test):
        """(words of the command of a test, scripts that it runs)"""
        own = {word for word in test.command if not word.startswith("build/")}
        return own, set().union(*(self.scripts(word) for word in own if word.endswith(".py")))

    def words(self, own, made_of):
        """The words of a command and of the tests among files: what they test names no files."""
        tests = (path for path in made_of if path.endswith(".py") or (
            path.endswith((".cpp", ".h")) and path.startswith(("tests/", "fuzz/"))))
        return Words(own.union(*map(self.strings, tests)))


class Words:
    """The words of string literals, which may name files."""

    def __init__(self, strings):
        self.words = {word for text in strings for word in WORDS.findall(text)}
        self.bases = {posixpath.basename(word) for word in self.words}
        self.folders = {word.strip("./") for word in self.words if "/" in word}

    def name(self, path):
        """True when a word names the file or a folder that it is in."""
        *folders, base = path.split("/")
        # A name like "run" is a common word, unless its folder is named too.
        if path in self.words or base in self.bases and (
                "." in base or "/".join(folders) in self.words):
            return True
        slices = ("/".join(folders[i:j]) for i in range(len(folders))
                  for j in range(i + 1, len(folders) + 1))
        return any(part in self.folders for part in slices) or (
            not path.endswith(SOURCES) and any(word in self.words for word in folders[1:]))


class Build:
    """The targets of a configured preset, as ninja knows them."""

    def __init__(self, preset):
        self.preset = preset
        self.folder = f"build/{preset}"
        self.sources = {}
        for entry in json.loads((ROOT / self.folder / "compile_commands.json").read_text()):
            if entry["file"].startswith(f"{ROOT}/"):
                output = re.search(r' -o (\S+)', entry["command"]).group(1)
                if output.endswith(".o"):
                    self.sources[output] = self.compiled(entry["file"])
        self.programs = [line.split(":")[0] for line in self.ninja("targets", "all")
                         if line.startswith("bin/")]
        self.inputs = self.query(self.programs)
        self.inputs.update(self.query(sorted(
            {name for names in self.inputs.values() for name in names if name.endswith(".a")
             and not name.startswith("/")})))

    @staticmethod
    def compiled(path):
        """The sources of one that is compiled: a unity build includes several in one of its own."""
        text = pathlib.Path(path).read_text(errors="replace") if "/Unity/" in path else ""
        paths = [match.group(2) for match in INCLUDE.finditer(text)] or [path]
        return [name.removeprefix(f"{ROOT}/") for name in paths]

    def ninja(self, *words):
        return run("ninja", "-C", self.folder, "-t", *words).splitlines()

    def query(self, targets):
        """target -> what it is linked from"""
        found, current = {}, None
        for line in self.ninja("query", *targets) if targets else []:
            if not line.startswith(" "):
                current = found[line.rstrip(":")] = []
                is_input = False
            elif not line.startswith("    "):
                is_input = line.strip().startswith("input:")
            elif is_input and not line.strip().startswith("||"):
                current.append(line.strip().lstrip("| "))
        return found

    def objects(self, target):
        return {name for name in self.inputs[target] if name in self.sources}

    def linked(self, program):
        """The objects of the libraries of a program."""
        return {name for library in self.inputs[program] if library in self.inputs
                for name in self.objects(library)}

    @functools.cached_property
    def symbols(self):
        """object -> (defined symbols, undefined symbols), of all objects that are there"""
        there = [name for name in self.sources if (ROOT / self.folder / name).exists()]
        found = {name: (set(), set()) for name in there}
        lines = run("nm", "-A", "-P", "-g", *there, folder=ROOT / self.folder) if there else ""
        for line in lines.splitlines():
            words = line.split()
            if len(words) > 2:
                found[words[0].rstrip(":")][words[2] == "U"].add(words[1])
        return found

    def taken(self, program):
        """The objects of its libraries that the linker takes for a program, and unknown ones."""
        left = self.linked(program)
        taken = {name for name in left if name not in self.symbols}
        new = self.objects(program)
        wanted = {"main"}
        while new:
            left -= new
            wanted.update(*(self.symbols[name][1] for name in new if name in self.symbols))
            new = {name for name in left if name in self.symbols and wanted & self.symbols[name][0]}
            taken |= new
        return taken

    def tests(self):
        shown = json.loads(run("ctest", "--preset", self.preset, "--show-only=json-v1"))
        for test in shown["tests"]:
            name = test["name"]
            # ctest tells no command for a program that is not built yet.
            program = "bin/" + re.sub(r'\.\d+of\d+$', "", name)
            command = test.get("command") or [f"{ROOT}/{self.folder}/{program}"]
            environment = [word for entry in test.get("properties", ())
                           if entry["name"] == "ENVIRONMENT" for word in entry["value"]]
            yield Test(name, [word[len(f"{ROOT}/"):] if word.startswith(f"{ROOT}/") else word
                              for word in command],
                       not any(word.endswith(".py") for word in command),
                       environment)


    def seconds(self):
        """test -> what it took when ctest last ran it"""
        costs = ROOT / self.folder / "Testing/Temporary/CTestCostData.txt"
        lines = costs.read_text().splitlines() if costs.exists() else ()
        rows = (line.split() for line in lines)
        return {row[0]: float(row[2]) for row in rows if len(row) == 3}


class Selection:
    """The tests of one preset that depend on changed files."""

    def __init__(self, build, files, changed):
        self.build, self.files, self.changed = build, files, changed
        self.parts = {}
        # Code of a source that is gone may be in any other now.
        self.deleted = any(name.endswith(".cpp") and not (ROOT / name).exists() for name in changed)

    def object_files(self, name):
        """The files that an object is compiled from."""
        return set().union(*map(self.files.closure, self.build.sources[name]))

    @functools.lru_cache(maxsize=None)
    def is_known(self, name):
        """True when an object tells what the linker does, or when it is changed itself."""
        made_of = self.object_files(name)
        if made_of & self.changed:
            return True
        return name in self.build.symbols and all(
            written(path) <= written(f"{self.build.folder}/{name}") for path in made_of)

    def program_files(self, program):
        if program not in self.parts:
            own, linked = self.build.objects(program), self.build.linked(program)
            if not self.deleted and all(map(self.is_known, own | linked)):
                linked = self.build.taken(program)
            self.parts[program] = set().union(*map(self.object_files, own | linked))
        return self.parts[program]

    def programs(self, test, scripts):
        """The programs that a test runs."""
        texts = {text for path in scripts for text in self.files.strings(path)}
        found = {program for program in self.build.programs
                 if f"{self.build.folder}/{program}" in test.command
                 or posixpath.basename(program) in texts
                 or any(text.endswith(program) for text in texts)}
        if self.build.folder in test.command:
            found.update(*(set(self.build.programs) & set(names)
                           for names in self.build.query(INSTALLED).values()))
        return found

    def reasons(self, test):
        """(changed files that the test depends on, programs that it runs)"""
        own, scripts = self.files.of_command(test)
        programs = self.programs(test, scripts)
        made_of = own | scripts
        for program in programs:
            made_of |= self.program_files(program)
        words = self.files.words(own, scripts or made_of)
        return {path for path in self.changed if path in made_of or words.name(path)}, programs


def words_in_common(name, path):
    return len(set(re.split(r'[\W_]+', name)) & set(re.split(r'[\W_]+', path)) - {"tests"})


def within(seconds, choices, changed):
    """The choices nearest to each changed file, and the shortest others that fit into the time."""
    near = set()
    for path in changed:
        common = {choice: words_in_common(choice.name, path)
                  for choice in choices if path in choice.reasons}
        most = max(common.values(), default=0)
        near.update(choice for choice, count in common.items() if count == most > 0)
    taken = []
    for choice in sorted(choices, key=lambda choice: (choice not in near, choice.seconds)):
        seconds -= choice.seconds
        if choice in near or seconds >= 0:
            taken.append(choice)
    return taken


def main():
    changed = {name for name in sys.stdin.read().split("\n") if name}
    names = run("git", "ls-files", "--cached", "--others", "--exclude-standard").split("\n")
    files = Files(ROOT, [name for name in names if (ROOT / name).is_file()])
    seconds, *presets = sys.argv[1:]
    seen, choices, left = set(), [], []
    unknown = set(changed)
    for preset in presets:
        build = Build(preset)
        selection = Selection(build, files, changed)
        took = build.seconds()
        for test in build.tests():
            if test.name == "tidy" or (not test.is_program and preset != presets[-1]) or (
                    test.is_program and test.name in seen):
                continue
            seen.add(test.name)
            reasons, programs = selection.reasons(test)
            unknown -= reasons
            if test.is_program and preset == presets[-1] and reasons and not any(
                    path.startswith("tests/") for path in reasons):
                left.append(test.name)
            elif reasons:
                targets = programs | set(INSTALLED if build.folder in test.command else ())
                choices.append(Choice(preset, test.name, frozenset(targets), frozenset(reasons),
                                      took.get(test.name, 0.0)))
    taken = within(float(seconds), choices, changed)
    left += (choice.name for choice in choices if choice not in taken)
    for preset in presets:
        chosen = [choice for choice in choices if choice.preset == preset and choice in taken]
        targets = set().union(*(choice.targets for choice in chosen))
        if preset == presets[-1] and any(name.startswith(PUBLIC) for name in changed):
            targets.add("all_verify_interface_header_sets")
        regex = "|".join(re.escape(choice.name) for choice in chosen)
        print(preset, " ".join(sorted(targets)), regex and f"^({regex})$", sep=";")
    unknown |= {name for name in changed if CMAKE.search(name)}
    print("", " ".join(sorted(unknown)), " ".join(left), sep=";")


if __name__ == "__main__":
    main()
