# SPDX-License-Identifier: Apache-2.0
"""./quickstart: nothing is done twice, an interrupted run is taken up, no network is an answer."""

import os
import shutil
import signal
import time
import unittest

from sandbox import Sandbox

FP = ("fp-docs-3.2.2", "usr/share/doc/fp-docs/3.2.2/fpctoc.html")
PIKE = ("pike8.0-doc", "usr/share/doc/pike8.0-doc/html/reference/index.html")

# The last argument of `apt-get ... download PACKAGE` is the package.
DOWNLOAD = '[[ " $* " != *" download "* ]] || cp "$PACKAGES/${@: -1}"_*.deb .'
BUILD = """
if [[ $1 == --preset ]]; then
  mkdir -p build/release/bin && touch build/release/build.ninja
elif [[ $1 == --build ]]; then
  for program in doc_crawl crawlstore crawlstore-inspector; do
    [[ -x build/release/bin/$program ]] || cp "$PROGRAMS/$program" build/release/bin/
  done
fi"""


class Quickstart(unittest.TestCase):
    def setUp(self):
        self.sandbox = Sandbox(["quickstart", "cmake/packages.sh", "inspector/screenshots"])
        self.addCleanup(self.sandbox.remove)
        for name, path in (FP, PIKE):
            self.sandbox.make_package(name, {path: "<a href=x.html>"})
        self.sandbox.stand_in("doc_crawl", 'ls "$3" "$5" >/dev/null && echo crawled >"$1"')
        self.crawlstore(in_links=10)
        self.sandbox.stand_in("crawlstore-inspector", "true")
        self.sandbox.stand_in("cmake", BUILD)
        self.sandbox.stand_in("apt-get", DOWNLOAD)
        # Every package counts as installed.
        self.sandbox.stand_in("dpkg-query", 'shift; printf "installed %s\\n" "$@"')

    def crawlstore(self, in_links):
        """Stands in for the command; that many pages link to the first one."""
        self.sandbox.stand_in("crawlstore", '[[ $(cat "$2") == crawled ]] || exit\n'
                              f'[[ $1 != page ]] || printf "{{\\n  \\"url\\": \\"\\",\\n  '
                              f'\\"in_link_count\\": {in_links},\\n}}\\n"')

    def start(self, **extra):
        return self.sandbox.start("./quickstart", PACKAGES=str(self.sandbox.folder / "packages"),
                                  PROGRAMS=str(self.sandbox.bin), **extra)

    def run_quickstart(self, **extra):
        process = self.start(**extra)
        output, _ = process.communicate(timeout=120)
        return process.returncode, output

    def exists(self, path):
        return (self.sandbox.folder / "build" / path).exists()

    def test_goes_from_nothing_to_a_verified_crawl(self):
        code, output = self.run_quickstart()
        self.assertEqual(code, 0, output)
        self.assertTrue(self.exists("quickstart.crawl"))
        self.assertEqual(self.sandbox.calls("crawlstore"), [
            "crawlstore compact build/quickstart.crawl",
            "crawlstore verify build/quickstart.crawl", "crawlstore info build/quickstart.crawl",
            "crawlstore pages build/quickstart.crawl --limit 5",
            "crawlstore links build/quickstart.crawl #0 --in --limit 10",
            "crawlstore page build/quickstart.crawl #0 --json",
            "crawlstore rank build/quickstart.crawl", "crawlstore top build/quickstart.crawl",
            "crawlstore queue build/quickstart.crawl --fill-from pagerank --replace",
            "crawlstore next build/quickstart.crawl -n 5 --peek"])
        crawl = self.sandbox.calls("doc_crawl")[0].split()
        self.assertEqual(crawl[2::2], ["https://www.freepascal.org/docs-html/3.2.2/",
                                       "https://pike.lysator.liu.se/generated/"])

    def test_says_how_many_links_it_does_not_show(self):
        self.assertNotIn("more", self.run_quickstart()[1])
        self.crawlstore(in_links=730)
        shutil.rmtree(self.sandbox.folder / "build/release")
        self.assertIn("\n... and 720 more\n", self.run_quickstart()[1])

    def test_makes_packages_and_crawls_nothing(self):
        self.sandbox.stand_in("cpack", 'mkdir -p "$4" && touch "$4/crawlstore_0.1.0_amd64.deb"')
        code, output = self.sandbox.run("./quickstart", "--package",
                                        PROGRAMS=str(self.sandbox.bin))
        self.assertEqual(code, 0, output)
        self.assertIn("apt-get install ./build/crawlstore_0.1.0_amd64.deb", output)
        self.assertTrue(self.exists("crawlstore_0.1.0_amd64.deb"))
        self.assertEqual(self.sandbox.calls("doc_crawl"), [])

    def test_makes_the_site_and_crawls_nothing(self):
        code, output = self.sandbox.run("./quickstart", "--site", PROGRAMS=str(self.sandbox.bin))
        self.assertEqual(code, 0, output)
        self.assertIn("build/release/site/index.html", output)
        self.assertIn("--target site", self.sandbox.calls("cmake")[-1])
        self.assertEqual(self.sandbox.calls("doc_crawl"), [])

    def test_refuses_other_arguments(self):
        code, output = self.sandbox.run("./quickstart", "--packages")
        self.assertEqual((code, self.sandbox.calls("cmake")), (2, []), output)

    def test_takes_pictures_where_there_is_no_display(self):
        code, output = self.run_quickstart()
        self.assertEqual(code, 0, output)
        pictures = self.sandbox.calls("crawlstore-inspector")
        self.assertEqual(len(pictures), 4)
        self.assertIn("--headless", pictures[0])
        self.assertIn("build/quickstart-pictures/overview.png build/quickstart.crawl#overview",
                      pictures[0])

    def test_opens_a_window_where_there_is_a_display(self):
        code, output = self.run_quickstart(DISPLAY=":77")
        self.assertEqual(code, 0, output)
        # It is left running, so it may begin after the script has ended.
        deadline = time.monotonic() + 60
        while not self.sandbox.calls("crawlstore-inspector") and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertEqual(self.sandbox.calls("crawlstore-inspector"),
                         ["crawlstore-inspector build/quickstart.crawl"])

    def test_downloads_and_crawls_once(self):
        self.run_quickstart()
        code, output = self.run_quickstart()
        self.assertEqual(code, 0, output)
        self.assertIn("is there already", output)
        self.assertEqual(len(self.sandbox.calls("apt-get")), 2)
        self.assertEqual(len(self.sandbox.calls("doc_crawl")), 1)

    def test_crawls_again_with_a_newer_program(self):
        self.run_quickstart()
        later = time.time() + 10
        os.utime(self.sandbox.folder / "build/release/bin/doc_crawl", (later, later))
        self.run_quickstart()
        self.assertEqual(len(self.sandbox.calls("doc_crawl")), 2)

    def test_goes_on_with_a_crawl_that_was_interrupted(self):
        self.sandbox.stand_in("doc_crawl", 'echo half >>"$1"; mapfile -t lines <"$1"; '
                              '((${#lines[@]} == 2)) && echo crawled >"$1"')
        self.assertEqual(self.run_quickstart()[0], 1)
        self.assertFalse(self.exists("quickstart.crawl"))
        code, output = self.run_quickstart()
        self.assertEqual(code, 0, output)
        self.assertTrue(self.exists("quickstart.crawl"))

    def test_reports_no_network(self):
        self.sandbox.stand_in("apt-get", "exit 100")
        code, output = self.run_quickstart()
        self.assertEqual(code, 3, output)
        self.assertIn("fp-docs-3.2.2 could not be downloaded. Is there a network", output)

    def test_keeps_what_was_downloaded_before_the_network_went(self):
        self.sandbox.stand_in("apt-get", f'[[ $* == *pike* ]] && exit 100\n{DOWNLOAD}')
        self.assertEqual(self.run_quickstart()[0], 3)
        self.sandbox.stand_in("apt-get", DOWNLOAD)
        code, output = self.run_quickstart()
        self.assertEqual(code, 0, output)
        fetched = [call for call in self.sandbox.calls("apt-get") if "download fp-docs" in call]
        self.assertEqual(len(fetched), 1)

    def test_asks_for_new_package_lists_when_a_download_fails(self):
        marker = self.sandbox.folder / "updated"
        self.sandbox.stand_in("apt-get", f'[[ $* != *update* ]] || touch "{marker}"\n'
                              f'[[ -e "{marker}" ]] || exit 100\n{DOWNLOAD}')
        code, output = self.run_quickstart()
        self.assertEqual(code, 0, output)

    def interrupt(self, program, body, signum):
        """Runs with `program` replaced by one that says it is there, then hangs, and is killed."""
        flag = self.sandbox.folder / "reached"
        # Without a child: the shell goes on after a signal that came while one ended by itself.
        self.sandbox.stand_in(program, f'{body}\n: >"{flag}"; sleep 60')
        # A later stand-in replaces the built program only if that is not there yet.
        shutil.rmtree(self.sandbox.folder / "build/release", ignore_errors=True)
        process = self.start()
        deadline = time.monotonic() + 60
        while not flag.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        os.killpg(process.pid, signum)
        output, _ = process.communicate(timeout=60)
        self.assertTrue(flag.exists(), output)
        return process.returncode, output

    def finish_after(self, program, body):
        self.sandbox.stand_in(program, body)
        shutil.rmtree(self.sandbox.folder / "build/release", ignore_errors=True)
        code, output = self.run_quickstart()
        self.assertEqual(code, 0, output)
        self.assertTrue(self.exists("quickstart.crawl"))

    def test_resumes_after_a_kill_in_the_download(self):
        self.interrupt("apt-get", "echo half >half_1_all.deb", signal.SIGKILL)
        self.assertFalse(self.exists("quickstart/fp-docs-3.2.2.deb"))
        self.finish_after("apt-get", DOWNLOAD)

    def test_resumes_after_a_kill_while_unpacking(self):
        real = shutil.which("dpkg-deb")
        self.interrupt("dpkg-deb", 'mkdir -p "$3/usr"', signal.SIGKILL)
        self.assertFalse(self.exists("quickstart/fp-docs-3.2.2"))
        self.finish_after("dpkg-deb", f'exec {real} "$@"')

    def test_resumes_after_ctrl_c_in_the_crawl(self):
        body = 'echo crawled >"$1"'
        code, output = self.interrupt("doc_crawl", 'echo half >"$1"', signal.SIGINT)
        self.assertEqual(code, 130, output)
        self.assertIn("interrupted. Started again, it goes on there", output)
        self.assertFalse(self.exists("quickstart.crawl"))
        self.finish_after("doc_crawl", body)

    def test_reports_a_second_one_in_the_same_folder(self):
        flag = self.sandbox.folder / "reached"
        self.sandbox.stand_in("apt-get", f'touch "{flag}"; sleep 60')
        first = self.start()
        while not flag.exists():
            time.sleep(0.02)
        code, output = self.run_quickstart()
        os.killpg(first.pid, signal.SIGKILL)
        first.communicate(timeout=60)
        self.assertEqual(code, 3, output)
        self.assertIn("another ./quickstart is running", output)

    def test_passes_on_the_failure_of_a_step(self):
        self.sandbox.stand_in("doc_crawl", "exit 5")
        code, output = self.run_quickstart()
        self.assertEqual(code, 5, output)
        self.assertIn("failed with exit code 5", output)
        self.assertFalse(self.exists("quickstart.crawl"))


if __name__ == "__main__":
    unittest.main()
