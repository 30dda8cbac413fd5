# SPDX-License-Identifier: Apache-2.0
"""Runs the real binary: what the tests of the command share."""

import contextlib
import fcntl
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import termios
import time
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("CRAWLSTORE_BUILD_DIR", SOURCE / "build/release"))
BINARY = pathlib.Path(os.environ.get("CRAWLSTORE_BIN", BUILD / "bin/crawlstore"))
SEED = int(os.environ.get("CRAWLSTORE_TEST_SEED", "1"))
IS_LONG = os.environ.get("CRAWLSTORE_LONG") == "1"
IS_SANITIZED = BINARY.exists() and b"__asan_init" in BINARY.read_bytes()
IS_ROOT = os.getuid() == 0
NOBODY = 65534


def clock_ahead():
    """The environment of a program whose wall clock is ahead by 365 days."""
    sanitizer = ":".join(filter(None, (os.environ.get("ASAN_OPTIONS"), "verify_asan_link_order=0")))
    return {"LD_PRELOAD": str(BUILD / "bin/shift_clock.so"), "ASAN_OPTIONS": sanitizer}


class Answer:
    """The results that a run left: code, out and err (bytes)."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def verdicts(self):
        """[(verdict, url)] of plain output."""
        lines = self.out.split(b"\n")
        assert lines.pop() == b"", "output ends in the middle of a line"
        return [tuple(line.split(b"\t", 1)) for line in lines]


class CommandTest(unittest.TestCase):
    """A folder of its own; self.run_command("verb", ...) runs the binary in it."""

    maxDiff = 4000

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="crawlstore-cli-"))
        self.folder.chmod(0o755)
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def environment(self, **extra):
        kept = {name: value for name, value in os.environ.items()
                if name.startswith(("ASAN_", "UBSAN_", "TSAN_", "LD_", "PATH"))}
        return {**kept, "LC_ALL": "C", **extra}

    def start(self, *words, **options):
        environment = self.environment(**options.pop("env", {}))
        options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
                   "cwd": self.folder, **options}
        return subprocess.Popen([BINARY, *map(str, words)], env=environment, **options)

    def run_command(self, *words, data=b"", **options):
        process = self.start(*words, **options)
        out, err = process.communicate(data, timeout=300)
        return Answer(process.returncode, out, err)

    def succeed(self, *words, **options):
        answer = self.run_command(*words, **options)
        self.assertEqual(answer.code, 0, answer.err.decode(errors="replace"))
        return answer

    def refuse(self, code, message, *words, **options):
        """The run ends with `code`, says `message` on standard error, and nothing else."""
        answer = self.run_command(*words, **options)
        text = answer.err.decode(errors="replace")
        self.assertEqual(answer.code, code, text)
        self.assertRegex(text, message)
        self.assertEqual(answer.out, b"")
        return answer

    def make_store(self, name="x.crawl", *words, **options):
        self.succeed("create", name, *words, **options)
        return self.folder / name

    def assert_whole(self, name="x.crawl"):
        answer = self.run_command("verify", "--deep", name)
        self.assertEqual(answer.code, 0, answer.out + answer.err)

    def setUp_nobody(self):
        if not IS_ROOT:
            self.skipTest("needs root, to become somebody else")


def as_nobody():
    """preexec_fn: gives up root."""
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it did not happen in time")
        time.sleep(0.01)


def wait_until_read(pipe):
    """Until the reader of a pipe has taken everything out of it."""
    def left():
        return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]
    wait_until(lambda: left() == 0)


def wait_until_caught(process, number):
    """Until the process has its own handler of a signal."""
    def is_caught():
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        return int(re.search(r"SigCgt:\s*([0-9a-f]+)", status)[1], 16) >> (number - 1) & 1
    wait_until(is_caught)


def wait_until_writer(process, file):
    """Until the process has opened the file for writing: its next step is the writer's lock."""
    def has_opened():
        for info in pathlib.Path(f"/proc/{process.pid}/fdinfo").iterdir():
            with contextlib.suppress(FileNotFoundError):  # it was closed
                target = os.readlink(info.parent.parent / "fd" / info.name)
                flags = int(re.search(r"flags:\s*([0-7]+)", info.read_text())[1], 8)
                if target == str(file) and flags & os.O_ACCMODE == os.O_RDWR:
                    return True
        return False
    wait_until(has_opened)


def wait_until_filled(pipe):
    """Until a pipe takes no more, and the writer waits."""
    def held():
        return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]
    before = -1
    while held() == 0 or held() != before:
        before = held()
        time.sleep(0.1)


class Mount:
    """A tmpfs of `size` at `folder`, for root only."""

    def __init__(self, folder, size):
        self.folder = folder
        folder.mkdir()
        self.done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder],
                                   stderr=subprocess.DEVNULL).returncode == 0

    def resize(self, size):
        subprocess.run(["mount", "-o", f"remount,size={size}", self.folder], check=True)

    def remove(self):
        if self.done:
            subprocess.run(["umount", "-l", self.folder], check=True)
