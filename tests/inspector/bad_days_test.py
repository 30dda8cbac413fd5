# SPDX-License-Identifier: Apache-2.0
"""The inspector where something is missing, or is not what it seems: it says so, in words, with an
exit code that tells why, and never hangs.

acceptance: 19"""

import fcntl
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(os.environ.get("CRAWLSTORE_SOURCE_DIR", ".")).resolve()
BUILD = pathlib.Path(os.environ.get("CRAWLSTORE_BUILD_DIR", "build/release")).resolve()
sys.path.insert(0, str(SOURCE / "tests/golden"))
import golden  # noqa: E402  pylint: disable=wrong-import-position

PROGRAM = BUILD / "bin/crawlstore-inspector"
FILE = SOURCE / "tests/golden/valid/keys_and_pending.crawl"
WAIT_SECONDS = 60
F_OFD_GETLK = 36
F_OFD_SETLK = 37
FLOCK = "hhqqi4x"
WRITER_LOCK_BYTE = 2**62 - 1

# With a file system of its own to change, as root or not.
UNSHARE = ["unshare", "--user", "--map-root-user", "--mount"]
CAN_UNSHARE = shutil.which("unshare") is not None and subprocess.run(
    [*UNSHARE, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True,
    check=False).returncode == 0


def has_writer(path):
    """Asks for the writer's lock without taking it."""
    with open(path, "rb") as file:
        wanted = struct.pack(FLOCK, fcntl.F_WRLCK, 0, WRITER_LOCK_BYTE, 1, 0)
        lock_type, *_ = struct.unpack(FLOCK, fcntl.fcntl(file, F_OFD_GETLK, wanted))
    return lock_type != fcntl.F_UNLCK


def run(*words, **options):
    """Its exit code, and what it printed to standard output and standard error."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    environment.update(options.pop("environment", {}))
    answer = subprocess.run(list(map(str, words)), env=environment, capture_output=True,
                            check=False, timeout=WAIT_SECONDS, **options)
    return answer.returncode, answer.stdout.decode(), answer.stderr.decode()


class Test(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="crawlstore-bad-days-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.file = self.folder / "a.crawl"
        shutil.copy(FILE, self.file)

    def labels(self, path):
        return run(PROGRAM, "--headless", "--labels", path)

    def assert_refused(self, answer, code, *texts):
        self.assertEqual((answer[0], answer[1]), (code, ""))
        for text in texts:
            self.assertIn(text, answer[2])
        self.assertNotIn("terminate called", answer[2])


class Files(Test):
    def test_that_are_not_there_are_an_error(self):
        self.assert_refused(self.labels("/nonexistent/a.crawl"), 3, "/nonexistent/a.crawl")

    def test_of_a_newer_version_are_named_so(self):
        path = golden.expand("identity_newer_version", self.folder)
        self.assert_refused(self.labels(path), 4, path.name, "newer")

    def test_that_are_no_crawl_files_are_named_so(self):
        text = self.folder / "text.crawl"
        text.write_text("not a crawl file")
        for path in (text, self.folder, "/dev/null", "/dev/zero"):
            self.assert_refused(self.labels(path), 4, str(path), "not a crawlstore file")

    def test_on_pipes_are_refused_without_waiting(self):
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        self.assert_refused(self.labels(fifo), 4, str(fifo), "not a crawlstore file")
        answer = run(PROGRAM, "--headless", "--labels", "/dev/stdin", input=FILE.read_bytes())
        self.assert_refused(answer, 4, "/dev/stdin", "not a crawlstore file")

    def test_that_a_writer_has_open_are_followed(self):
        command = BUILD / "bin/crawlstore"
        live = self.folder / "live.crawl"
        with subprocess.Popen([command, "seen", "--memory", "16MiB", live], stdin=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as writer:
            writer.stdin.write(b"http://example.com/\n")  # no input, no file
            writer.stdin.flush()
            end = time.monotonic() + WAIT_SECONDS
            while not live.exists() or not has_writer(live):
                self.assertIsNone(writer.poll())
                self.assertLess(time.monotonic(), end)
                time.sleep(0.01)
            code, shown, said = self.labels(live)
            self.assertEqual((code, said), (0, ""))
            self.assertIn("FOLLOWING", shown)
            writer.stdin.close()

    def test_that_somebody_locks_as_a_whole_are_said_to_be_locked(self):
        with open(self.file, "r+b") as file:
            fcntl.fcntl(file, F_OFD_SETLK, struct.pack(FLOCK, fcntl.F_WRLCK, 0, 0, 0, 0))
            code, shown, said = self.labels(self.file)
        self.assertEqual((code, said), (0, ""))
        self.assertIn("LOCKED", shown)
        self.assertNotIn("DAMAGED", shown)

    @unittest.skipUnless(CAN_UNSHARE, "needs a mount namespace")
    def test_that_nobody_may_write_are_shown(self):
        script = ('mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && ! touch "$1/x" && '
                  'exec "$2" --headless --labels "$1/a.crawl"')
        code, shown, said = run(*UNSHARE, "bash", "-c", script, "bash", self.folder, PROGRAM)
        self.assertIn("Read-only file system", said)
        self.assertEqual(code, 0)
        self.assertIn("Health", shown)
        self.assertIn("FOLLOWING", shown)


class Machine(Test):
    @unittest.skipUnless(CAN_UNSHARE, "needs a mount namespace")
    def test_without_fonts_gets_plain_letters_and_is_told(self):
        picture = self.folder / "a.png"
        script = ('mount -t tmpfs none /usr/share/fonts && '
                  'exec "$1" --headless --labels --screenshot "$3" "$2#log"')
        code, shown, said = run(*UNSHARE, "bash", "-c", script, "bash", PROGRAM, self.file, picture)
        self.assertEqual((code, said), (0, ""))
        self.assertIn("fonts-dejavu-core", shown)
        self.assertGreater(picture.stat().st_size, 10_000)

    def test_with_fonts_is_told_nothing(self):
        self.assertNotIn("fonts-dejavu-core", self.labels(f"{self.file}#log")[1])

    def test_without_a_display_is_told_what_to_do(self):
        for display in ({}, {"DISPLAY": ":4711"}):
            answer = run(PROGRAM, self.file, environment=display)
            self.assert_refused(answer, 3, "no display", "--headless")

    @unittest.skipIf(shutil.which("Xvfb") is None, "Xvfb is not installed")
    def test_without_opengl_is_told_what_to_do(self):
        read, write = os.pipe()
        with subprocess.Popen(["Xvfb", "-displayfd", str(write), "-extension", "GLX",
                               "-nolisten", "tcp"], pass_fds=[write],
                              stderr=subprocess.DEVNULL) as server:
            os.close(write)
            with os.fdopen(read) as numbers:
                display = numbers.readline().strip()
            answer = run(PROGRAM, self.file, environment={"DISPLAY": f":{display}"})
            server.terminate()
        self.assert_refused(answer, 3, "no window", "GLX", "--headless")


if __name__ == "__main__":
    if not PROGRAM.exists():
        print(f"skipped: {PROGRAM} is not built")
        sys.exit(77)
    unittest.main(verbosity=2)
