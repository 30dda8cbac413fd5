# SPDX-License-Identifier: Apache-2.0
"""A throw-away copy of the scripts, with stand-ins for the programs that they call."""

import os
import pathlib
import shutil
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]

# All that the scripts may call beside the stand-ins: so no sudo, no compiler, no network.
TOOLS = """bash cat chmod cmp comm cp dirname dpkg-deb dpkg-query env find flock grep id ls mkdir
mktemp mv printf rm rmdir sed sh sleep sort tee touch tar gzip xz zstd true""".split()


class Sandbox:
    """folder: a tree with the scripts; every stand-in appends its command line to calls()."""

    def __init__(self, scripts):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="crawlstore-house-"))
        self.bin = self.folder / "stand-ins"
        self.bin.mkdir()
        for tool in TOOLS:
            self.tool(tool)
        for script in scripts:
            target = self.folder / script
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / script, target)

    def remove(self):
        shutil.rmtree(self.folder)

    def tool(self, name):
        """Lets the scripts call a program of the system."""
        path = shutil.which(name)
        if path:
            (self.bin / name).symlink_to(path)

    def stand_in(self, name, body):
        """Puts a bash script in the place of a program."""
        path = self.bin / name
        path.unlink(missing_ok=True)
        log = self.folder / "calls"
        path.write_text(f'#!/bin/bash\necho "{name} $*" >>"{log}"\n{body}\n')
        path.chmod(0o755)

    def calls(self, name):
        """The command lines with which a stand-in was called so far."""
        log = self.folder / "calls"
        lines = log.read_text().splitlines() if log.exists() else []
        return [line for line in lines if line.split()[0] == name]

    def environment(self, **extra):
        return {"PATH": str(self.bin), "HOME": str(self.folder), "LC_ALL": "C", **extra}

    def start(self, *command, **extra):
        return subprocess.Popen(
            command, cwd=self.folder, env=self.environment(**extra), text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True)

    def run(self, *command, **extra):
        """(exit code, everything printed)"""
        process = self.start(*command, **extra)
        output, _ = process.communicate(timeout=120)
        return process.returncode, output

    def make_package(self, name, files):
        """A real .deb, built with dpkg-deb, that holds the given {path: text}."""
        root = self.folder / "packages" / name
        (root / "DEBIAN").mkdir(parents=True)
        (root / "DEBIAN" / "control").write_text(
            f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: tests <t@example.org>\n"
            "Description: a package made by a test\n")
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        deb = self.folder / "packages" / f"{name}_1_all.deb"
        subprocess.run(["dpkg-deb", "--root-owner-group", "-b", root, deb], check=True,
                       stdout=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C"})
        return deb
