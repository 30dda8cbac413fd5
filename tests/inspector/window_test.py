# SPDX-License-Identifier: Apache-2.0
"""The inspector in a real window under Xvfb, driven by xdotool as a person would.

acceptance: 7, 19, 22"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import xdnd
except ImportError:
    xdnd = None

SOURCE = pathlib.Path(os.environ.get("CRAWLSTORE_SOURCE_DIR", ".")).resolve()
BUILD = pathlib.Path(os.environ.get("CRAWLSTORE_BUILD_DIR", "build/release")).resolve()
PROGRAM = BUILD / "bin/crawlstore-inspector"
FILE = SOURCE / "tests/golden/valid/keys_and_pending.crawl"
PAGES = SOURCE / "tests/golden/valid/pages.crawl"
WAIT_SECONDS = 60


def wait_for(condition, what):
    """Polls; a busy machine is slow, not wrong."""
    end = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < end:
        answer = condition()
        if answer:
            return answer
        time.sleep(0.05)
    raise AssertionError(f"waited {WAIT_SECONDS} s for {what}")


class Window(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="crawlstore-window-"))
        self.addCleanup(shutil.rmtree, self.folder)
        read, write = os.pipe()
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24", "-nolisten", "tcp",
             "-noreset"],  # else it is away for a moment after the last client has left
            pass_fds=[write], stderr=subprocess.DEVNULL)
        self.addCleanup(self.server.wait)
        self.addCleanup(self.server.terminate)
        os.close(write)
        with os.fdopen(read) as numbers:
            display = numbers.readline().strip()
        self.environment = dict(os.environ, DISPLAY=f":{display}", HOME=str(self.folder),
                                LIBGL_ALWAYS_SOFTWARE="1")
        self.environment.pop("XDG_CONFIG_HOME", None)
        self.environment.pop("WAYLAND_DISPLAY", None)
        self.probe = self.folder / "probe.txt"

    def start(self, *words):
        program = subprocess.Popen([PROGRAM, *words, "--probe", self.probe], cwd=self.folder,
                                   env=self.environment)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        return program

    def items(self):
        """(x, y, label, text) of what is on the screen."""
        if not self.probe.exists():
            return []
        rows = []
        for line in self.probe.read_text(errors="replace").split("\n"):
            parts = line.split("\t")
            if len(parts) == 3:
                x, y = parts[0].split()
                rows.append((int(x), int(y), parts[1], parts[2]))
        return rows

    def wait_for_text(self, text):
        wait_for(lambda: any(text in item[3] for item in self.items()), text)

    def place_of(self, label):
        return wait_for(lambda: next((item for item in self.items() if item[2] == label), None),
                        label)[:2]

    def do(self, *words):
        subprocess.run(["xdotool", *map(str, words)], env=self.environment, check=True)

    def click(self, label):
        self.do("mousemove", *self.place_of(label), "click", 1)

    def test_opens_a_file_and_takes_mouse_and_keys(self):
        program = self.start(f"{FILE}#segments")
        self.wait_for_text("drum_partition")
        self.click("segments.filter")
        self.do("type", "--delay", 40, "kind:log")
        self.wait_for_text("2 of 5")
        self.click("navigator.buckets")
        self.wait_for_text("10 keys of 8 bytes")
        self.do("key", "ctrl+p")
        self.wait_for_text("Generations")
        self.do("type", "--delay", 40, "offset/0x4000")
        self.do("key", "Return")
        self.wait_for_text("superblock")
        self.do("key", "alt+Left")
        self.wait_for_text("10 keys of 8 bytes")
        self.do("key", "F12")
        picture = self.folder / "crawlstore-inspector.png"
        wait_for(picture.exists, "the picture")
        self.assertGreater(picture.stat().st_size, 10_000)
        self.do("key", "ctrl+q")
        self.assertEqual(program.wait(WAIT_SECONDS), 0)
        self.assertIn(str(FILE), (self.folder / ".config/crawlstore/inspector.json").read_text())

    def test_expands_a_node_of_a_graph_that_is_double_clicked(self):
        self.start(f"{PAGES}#graph/page/2")
        self.wait_for_text("2 pages, 1 edge")
        self.click("graph.links.out")
        self.wait_for_text("1 page, 0 edges")
        self.click("graph.links.both")
        self.wait_for_text("2 pages, 1 edge")
        self.do("mousemove", *self.place_of("graph.node[0]"))
        self.do("click", "--repeat", 2, "--delay", 60, 1)
        self.wait_for_text("3 pages, 2 edges")

    def size_of(self, window):
        lines = subprocess.run(["xdotool", "getwindowgeometry", "--shell", window], text=True,
                               env=self.environment, check=True, stdout=subprocess.PIPE).stdout
        fields = dict(line.split("=") for line in lines.split())
        return int(fields["WIDTH"]), int(fields["HEIGHT"])

    def find_window(self):
        """Number of the window of the class that the desktop entry names."""
        entry = (SOURCE / "inspector/desktop/crawlstore-inspector.desktop").read_text()
        name = re.search("^StartupWMClass=(.+)$", entry, re.MULTILINE)[1]

        def search():
            return subprocess.run(["xdotool", "search", "--class", f"^{name}$"], text=True,
                                  env=self.environment, stdout=subprocess.PIPE,
                                  check=False).stdout.split()
        return wait_for(search, f"a window of the class {name}")[0]

    def test_comes_back_in_the_size_in_which_it_was_left(self):
        program = self.start(FILE)
        self.wait_for_text("Health")
        window = self.find_window()
        self.assertEqual(self.size_of(window), (1280, 800))
        low = self.place_of("status.problems")[1]
        self.do("windowsize", window, 900, 600)
        # Drawn anew although nobody touches it.
        wait_for(lambda: self.place_of("status.problems")[1] < low, "the smaller window")
        self.do("key", "--window", window, "ctrl+q")
        self.assertEqual(program.wait(WAIT_SECONDS), 0)
        self.start(FILE)
        self.assertEqual(self.size_of(self.find_window()), (900, 600))

    @unittest.skipIf(shutil.which("xprop") is None, "x11-utils is not installed")
    def test_has_the_icon_in_the_sizes_that_task_bars_ask_for(self):
        self.start(FILE)
        self.wait_for_text("Health")
        answer = subprocess.run(
            ["xprop", "-id", self.find_window(), "-notype", "-len", str(1 << 20),
             "-f", "_NET_WM_ICON", "32c", "=$0+\n", "_NET_WM_ICON"],
            env=self.environment, check=True, text=True, stdout=subprocess.PIPE).stdout
        words = [int(word) for word in answer.split("=")[1].split(",")]
        sizes = []
        while words:
            width, height = words[:2]
            sizes.append((width, height))
            # This is the colour of the first segment, opaque: 0xAARRGGBB.
            self.assertEqual(words[2 + 10 * height // 64 * width + 20 * width // 64], 0xff1f6fb2)
            words = words[2 + width * height:]
        self.assertEqual(sizes, [(side, side) for side in (16, 32, 48, 64, 128)])

    @unittest.skipIf(xdnd is None, "python3-xlib is not installed")
    def test_opens_a_file_that_is_dropped_on_it(self):
        self.start()
        self.wait_for_text("Open a crawl file")
        dropped = self.folder / "dropped \u65e5\u672c 100%.crawl"
        shutil.copy(FILE, dropped)
        xdnd.drop(self.environment["DISPLAY"], dropped, (600, 400), WAIT_SECONDS)
        self.wait_for_text("Health")
        self.wait_for_text(dropped.name)

    def test_draws_nothing_when_nothing_happens(self):
        self.start(FILE)
        self.wait_for_text("no problems")  # the check at the start has ended
        last = [0]

        def is_settled():
            before, last[0] = last[0], self.probe.stat().st_mtime_ns
            time.sleep(1)
            return before == last[0]
        wait_for(is_settled, "the last frame")
        time.sleep(2)
        self.assertEqual(self.probe.stat().st_mtime_ns, last[0], "a frame was drawn")


class NoDisplay(unittest.TestCase):
    def run_without_display(self, *words):
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
        return subprocess.run([PROGRAM, *words], env=environment, capture_output=True, check=False,
                              timeout=WAIT_SECONDS)

    def test_is_said_with_what_to_do(self):
        answer = self.run_without_display(FILE)
        self.assertEqual(answer.returncode, 3)
        self.assertIn(b"--headless", answer.stderr)

    def test_is_no_matter_for_pictures(self):
        with tempfile.TemporaryDirectory() as folder:
            picture = pathlib.Path(folder, "a.png")
            answer = self.run_without_display("--headless", "--screenshot", picture, FILE)
            self.assertEqual((answer.returncode, answer.stderr), (0, b""))
            self.assertEqual(picture.read_bytes()[:4], b"\x89PNG")

    def test_of_a_damaged_file_gives_a_picture_all_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            damaged = pathlib.Path(folder, "damaged.crawl")
            damaged.write_bytes(FILE.read_bytes()[:90_000])
            picture = pathlib.Path(folder, "a.png")
            answer = self.run_without_display("--headless", "--labels", "--screenshot", picture,
                                              damaged)
            self.assertEqual(answer.returncode, 0)
            self.assertTrue(picture.exists())
            self.assertIn(b"DAMAGED", answer.stdout)

    def test_is_said_when_a_picture_cannot_be_written(self):
        answer = self.run_without_display("--headless", "--screenshot", "/nonexistent/a.png", FILE)
        self.assertEqual(answer.returncode, 3)
        self.assertIn(b"/nonexistent/a.png", answer.stderr)

    def test_and_wrong_words_are_an_error(self):
        for words in (["--nonsense"], ["--screenshot", "a.png"], ["--headless", "--theme", "pink"]):
            self.assertEqual(self.run_without_display(*words).returncode, 2)


if __name__ == "__main__":
    for tool in ("Xvfb", "xdotool"):
        if shutil.which(tool) is None:
            print(f"skipped: {tool} is not installed")
            sys.exit(77)
    unittest.main(verbosity=2)
