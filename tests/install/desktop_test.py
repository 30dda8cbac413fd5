# SPDX-License-Identifier: Apache-2.0
"""desktop_test.py BUILD_DIR: the desktop files that `cmake --install` stages are valid, agree with
each other, and let a desktop and file(1) know a crawl file by its first bytes."""

import configparser
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden"
sys.path.insert(0, str(GOLDEN))
import golden  # noqa: E402  pylint: disable=wrong-import-position

VALID = GOLDEN / "valid" / "empty.crawl"
TYPE = "application/x-crawlstore"
PROGRAM = "crawlstore-inspector"
TOOLS = ("appstreamcli", "desktop-file-validate", "file", "gio", "update-mime-database")
MIME = "{http://www.freedesktop.org/standards/shared-mime-info}"
SVG = "{http://www.w3.org/2000/svg}"


class Desktop(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="crawlstore-desktop-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        subprocess.run(["cmake", "--install", BUILD, "--component", "crawlstore_desktop",
                        "--prefix", cls.folder / "stage"], check=True, stdout=subprocess.DEVNULL)
        cls.share = cls.folder / "stage" / "share"
        cls.entry = cls.share / "applications" / f"{PROGRAM}.desktop"
        cls.metainfo = cls.share / "metainfo" / "io.crawlstore.Inspector.metainfo.xml"
        cls.magic = cls.share / "file" / "magic" / "crawlstore"

    def setUp(self):
        # Without its name, and one byte away from its magic.
        self.nameless = self.folder / "nameless"
        shutil.copy(VALID, self.nameless)
        self.stranger = self.folder / "stranger"
        self.stranger.write_bytes(VALID.read_bytes().replace(b"\x0d\x0a\x1a", b"\x0d\x0a\x1b", 1))

    def run_quietly(self, *command, **environment):
        """Output of a tool that must succeed; a warning counts as output."""
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={**os.environ, "LC_ALL": "C.UTF-8", **environment}, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def test_desktop_entry_is_valid(self):
        self.assertEqual(self.run_quietly("desktop-file-validate", self.entry), "")

    def test_metainfo_is_valid(self):
        self.run_quietly("appstreamcli", "validate", "--no-net", self.metainfo)

    def test_files_agree_on_program_type_and_icon(self):
        entry = configparser.ConfigParser(interpolation=None)
        entry.optionxform = str
        entry.read(self.entry)
        entry = entry["Desktop Entry"]
        self.assertEqual((entry["TryExec"], entry["Exec"]), (PROGRAM, f"{PROGRAM} %f"))
        self.assertEqual(entry["StartupWMClass"], PROGRAM)
        self.assertEqual(entry["MimeType"], f"{TYPE};")
        about = ElementTree.parse(self.metainfo).getroot()
        self.assertEqual(about.find("launchable").text, self.entry.name)
        self.assertEqual(about.find("provides/mediatype").text, TYPE)
        self.assertEqual(about.find("provides/binary").text, PROGRAM)
        kind = ElementTree.parse(self.share / "mime/packages/crawlstore.xml").getroot()[0]
        self.assertEqual(kind.get("type"), TYPE)
        icons = {entry["Icon"], about.find("icon").text, kind.find(f"{MIME}icon").get("name")}
        self.assertEqual(icons, {PROGRAM})

    def test_icon_scales_and_stands_alone(self):
        icon = self.share / "icons/hicolor/scalable/apps" / f"{PROGRAM}.svg"
        root = ElementTree.parse(icon).getroot()
        self.assertEqual(root.tag, f"{SVG}svg")
        self.assertEqual(root.get("viewBox"), "0 0 64 64")
        self.assertEqual([part.tag for part in root.iter() if part.tag in (f"{SVG}image",
                                                                           f"{SVG}text")], [])
        self.assertNotIn("href", icon.read_text())

    def run_in_stage(self, *command):
        """Runs like on a desktop with nothing but the staged files."""
        return self.run_quietly(*command, XDG_DATA_DIRS=str(self.share),
                                XDG_DATA_HOME=str(self.folder / "none"))

    def type_of(self, path):
        output = self.run_in_stage("gio", "info", "-a", "standard::content-type", path)
        return output.split("standard::content-type:")[1].split()[0]

    def test_desktops_know_a_crawl_file_by_name_and_by_magic(self):
        before = self.type_of(self.nameless)
        self.assertEqual(self.run_in_stage("update-mime-database", self.share / "mime"), "")
        self.assertNotEqual(before, TYPE)
        self.assertEqual(self.type_of(VALID), TYPE)
        self.assertEqual(self.type_of(self.nameless), TYPE)
        self.assertNotEqual(self.type_of(self.stranger), TYPE)
        self.assertEqual(self.type_of(self.stranger.rename(self.folder / "known.crawl")), TYPE)

    def file_says(self, path, *options):
        return self.run_quietly("file", "-b", "-m", self.magic, *options, path).strip()

    def test_file_knows_a_crawl_file_and_its_version(self):
        newer = golden.expand("identity_newer_version", self.folder)
        for path in (self.nameless, newer):
            version = int.from_bytes(path.read_bytes()[12:16], "little")
            self.assertEqual(self.file_says(path), f"Crawlstore web crawl store, version {version}")
        self.assertNotEqual(newer.read_bytes()[12:16], self.nameless.read_bytes()[12:16])
        self.assertEqual(self.file_says(self.nameless, "--mime-type"), TYPE)
        self.assertEqual(self.file_says(self.nameless, "--extension"), "crawl")
        self.assertEqual(self.file_says(self.stranger), "data")


if __name__ == "__main__":
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        print(f"skipped: without {', '.join(missing)}; ./run-tests installs the packages")
        sys.exit(77)
    unittest.main()
