# SPDX-License-Identifier: Apache-2.0
"""install_test.py BUILD_DIR: what `cmake --install` stages can be used by a stranger's project, by
find_package(crawlstore) and by pkg-config, without the source tree."""

import fcntl
import os
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
CONSUMER = pathlib.Path(__file__).resolve().parent / "consumer"
SOURCE = CONSUMER.parents[2]
F_OFD_SETLK = 37
WRITER_LOCK = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 2**62 - 1, 1, 0)

# Calls main() of a shared library, as the program that it is named after would be called.
LOAD = """
import ctypes, os, sys
words = [os.fsencode(word) for word in sys.argv[1:]]
sys.exit(ctypes.CDLL(sys.argv[1]).main(len(words), (ctypes.c_char_p * len(words))(*words)))
"""


def run(*command, **options):
    """Output of a command that must succeed."""
    result = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            **options)
    if result.returncode != 0:
        line = shlex.join(map(str, command))
        raise AssertionError(f"{line}: {result.returncode}\n{result.stdout}")
    return result.stdout


def cache():
    """The build's CMakeCache.txt as a dictionary: the consumer is built with the same flags."""
    text = (BUILD / "CMakeCache.txt").read_text()
    return dict(re.findall(r'^(\w+):\w+=(.*)$', text, re.MULTILINE))


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="crawlstore-install-"))
        cls.prefix = cls.folder / "stage"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        kept = cache()
        cls.compiler = kept["CMAKE_CXX_COMPILER"]
        build_type = kept.get("CMAKE_BUILD_TYPE", "")
        # Takes of the build's own flags only those that change the binary: sanitizers.
        flags = kept.get(f"CMAKE_CXX_FLAGS_{build_type.upper()}", "")
        cls.flags = " ".join(re.findall(r'-fsanitize=\S+', flags))
        libraries = ":".join(map(str, cls.prefix.glob("lib*/**/")))
        cls.environment = {**os.environ, "LD_LIBRARY_PATH": libraries}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def compile(self, source, program):
        """Builds like a stranger would, with the flags of pkg-config, and with all warnings."""
        flags = self.pkg_config("--cflags", "--libs")
        run(self.compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", *self.flags.split(),
            source, "-o", program, *flags.split())

    def pkg_config(self, *options):
        pc = next(self.prefix.rglob("crawlstore.pc"))
        return run("pkg-config", *options, "crawlstore",
                   env={**os.environ, "PKG_CONFIG_PATH": str(pc.parent)})

    def run_consumer(self, program, name, *loader):
        output = run(*loader, program, self.folder / f"{name}.crawl", env=self.environment)
        self.assertEqual(output, "1 unique, 1 duplicate\n")

    def test_find_package(self):
        build = self.folder / "by-cmake"
        run("cmake", "-G", "Ninja", "-S", CONSUMER, "-B", build,
            f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_CXX_COMPILER={self.compiler}",
            f"-DCMAKE_CXX_FLAGS={self.flags}")
        run("cmake", "--build", build)
        self.run_consumer(build / "consumer", "by-cmake")
        self.run_consumer(build / "libplugin.so", "plugin", sys.executable, "-c", LOAD)

    def exported(self):
        """Returns the symbols that a shared library of the staged archive shows, as (type,
        name)."""
        library = self.folder / "libcrawlstore.so"
        run(self.compiler, "-shared", *self.flags.split(), "-o", library, "-Wl,--whole-archive",
            next(self.prefix.rglob("libcrawlstore.a")), "-Wl,--no-whole-archive",
            f"-Wl,--version-script={SOURCE / 'libcrawlstore/crawlstore.map'}",
            *self.pkg_config("--libs-only-l").replace("-lcrawlstore", "").split())
        lines = run("nm", "--dynamic", "--defined-only", "--demangle", library).splitlines()
        return [line.split(" ", 2)[1:] for line in lines]

    def test_a_shared_library_shows_what_public_headers_name(self):
        headers = "".join(path.read_text() for path in
                          (self.prefix / "include/crawlstore").rglob("*.h*"))
        public = set(re.findall(r'\w+', headers))
        declared = "|".join(set(re.findall(r'^ *(?:class|struct) (\w+);', headers, re.MULTILINE)))
        exported = self.exported()
        self.assertIn("crawlstore::Store::commit()", [name for _, name in exported])
        for _, name in exported:
            path = re.match(r'(?:[a-z ]+ for )?(crawlstore(?:::~?\w+)+)', name)
            with self.subTest(name):
                self.assertTrue(path, "not of ours")
                # Names inside a class that headers only declare come with it, or not, by the order
                # of headers in the library's sources.
                shown = re.sub(rf'\b({declared})::.*', r'\1', path[1])
                self.assertLessEqual(set(re.findall(r'\w+', shown)), public)

    def test_pkg_config(self):
        program = self.folder / "by-pkg-config"
        self.compile(CONSUMER / "main.cpp", program)
        self.run_consumer(program, "by-pkg-config")

    def test_programs_of_readme_do_what_it_says(self):
        readme = (SOURCE / "README.md").read_text()
        blocks = re.findall(r'^```cpp\n(.*?)^```\n(.*?\n)\n', readme, re.MULTILINE | re.DOTALL)
        self.assertEqual(len(blocks), readme.count("```cpp"))
        for number, (source, says) in enumerate(blocks):
            with self.subTest(source=source):
                folder = self.folder / f"readme-{number}"
                folder.mkdir()
                (folder / "main.cpp").write_text(source)
                self.compile(folder / "main.cpp", folder / "main")
                self.check_program_of_readme(folder, says)
                # The attached object is destroyed after the DRUM.
                self.assertLess(source.index("NewLinks found;"), source.index("UrlSeen::open("))

    def check_program_of_readme(self, folder, says):
        def answer():
            return subprocess.run([folder / "main"], cwd=folder, env=self.environment, text=True,
                                  capture_output=True, check=False)

        first, again = answer(), answer()
        self.assertEqual((first.returncode, first.stderr), (0, ""))
        self.assertCountEqual(first.stdout.splitlines(), re.findall(r'`(fetch \S+)`', says))
        self.assertEqual((again.returncode, again.stdout, again.stderr), (0, "", ""))
        with open(folder / "my.crawl", "r+b") as file:
            fcntl.fcntl(file, F_OFD_SETLK, WRITER_LOCK)
            locked = answer()
        self.assertEqual(locked.returncode, int(re.search(r'exits with (\d)', says)[1]))
        self.assertEqual(locked.stdout, "")
        self.assertRegex(locked.stderr, r'^another writer has the store open.*\n$')

    def test_the_program_of_the_guide_does_what_it_says(self):
        guide = (SOURCE / "guide/embed.md").read_text()
        pieces = re.findall(r'^```cpp\n(.*?)^```$', guide, re.MULTILINE | re.DOTALL)
        (self.folder / "guide.cpp").write_text("".join(pieces))
        self.compile(self.folder / "guide.cpp", self.folder / "guide")
        output = run(self.folder / "guide", cwd=self.folder, env=self.environment)
        self.assertEqual(output, re.search(r'^```text\n(.*?)^```$', guide, re.M | re.S)[1])
        self.assertNotIn("fetch", run(self.folder / "guide", cwd=self.folder,
                                      env=self.environment))

    def test_installed_headers_are_the_public_ones(self):
        def headers_in(folder):
            return {str(path.relative_to(folder)) for path in folder.rglob("*.h*")}

        installed = headers_in(self.prefix / "include/crawlstore")
        folders = ["libcrawlstore"] + (["capi"] if cache()["CRAWLSTORE_C"] == "ON" else [])
        public = set().union(*(headers_in(SOURCE / folder / "include/crawlstore")
                               for folder in folders))
        self.assertEqual(installed, public)
        self.assertEqual(os.listdir(self.prefix / "include"), ["crawlstore"])

    def test_nothing_installed_names_the_build_or_source_tree(self):
        for path in self.prefix.rglob("*"):
            if path.is_file():
                content = path.read_bytes()
                self.assertNotIn(os.fsencode(SOURCE), content, path)
                self.assertNotIn(os.fsencode(self.prefix), content, path)

    def test_manual_page_and_completion_are_there(self):
        page = (self.prefix / "share/man/man1/crawlstore.1").read_text()
        self.assertRegex(page, r'(?m)^\.TH ')
        completion = self.prefix / "share/bash-completion/completions/crawlstore"
        run("bash", "-n", completion)
        self.assertIn("verify", completion.read_text())
        zsh = self.prefix / "share/zsh/site-functions/_crawlstore"
        self.assertTrue(zsh.read_text().startswith("#compdef crawlstore\n"))
        fish = self.prefix / "share/fish/vendor_completions.d/crawlstore.fish"
        self.assertIn("-a verify", fish.read_text())

    def test_manual_page_of_the_inspector_has_its_options(self):
        page = (self.prefix / "share/man/man1/crawlstore-inspector.1").read_text()
        told = run(self.prefix / "bin/crawlstore-inspector", "--help")
        options = set(re.findall(r'--[a-z-]+', told))
        self.assertIn("--headless", options)
        self.assertEqual(set(re.findall(r'--[a-z-]+', page.replace("\\-", "-"))), options)

    def test_schema_of_events_is_there_and_compiles(self):
        schema = self.prefix / "share/crawlstore/crawl_event.capnp"
        self.assertIn("struct EventBatch", run("capnp", "compile", "-ocapnp", schema))

    def test_command_runs_from_the_stage(self):
        output = run(self.prefix / "bin/crawlstore", "--version")
        self.assertRegex(output, r'\b0\.\d+\.\d+')


if __name__ == "__main__":
    unittest.main()
