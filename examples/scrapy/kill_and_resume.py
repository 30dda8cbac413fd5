# SPDX-License-Identifier: Apache-2.0
"""Crawls a local site with Scrapy, kills it with SIGKILL, starts it again, and prints what was lost
and what was fetched twice.

    python3 kill_and_resume.py --pages 2000 --kills 3
"""

import argparse
import collections
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading

from site_of_pages import Site

PROJECT = pathlib.Path(__file__).resolve().parent
CONCURRENT_REQUESTS = 16


class Crawl:
    """A crawl of a site, in as many processes as it takes. Its files are in `folder`."""

    def __init__(self, site, folder, settings):
        self._site = site
        self.log = pathlib.Path(folder, "pages.log")
        everything = {"CRAWLSTORE_FILE": pathlib.Path(folder, "pages.crawl"),
                      "CONCURRENT_REQUESTS": CONCURRENT_REQUESTS, "RETRY_TIMES": 2,
                      "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENT_REQUESTS, **settings}
        self._command = [sys.executable, "-m", "scrapy", "crawl", "pages",
                         "-a", f"start={site.url()}", "-a", f"log={self.log}",
                         "--logfile", str(pathlib.Path(folder, "scrapy.log"))]
        for name, value in everything.items():
            self._command += ["-s", f"{name}={value}"]

    def run(self, answers_to_kill=None):
        """Runs until it has finished or was killed, after so many answers; returns which."""
        ripe = threading.Event()
        last = None if answers_to_kill is None else self._site.served.total() + answers_to_kill
        self._site.on_answer = lambda count: last is not None and count >= last and ripe.set()
        environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "local_site.settings"}
        process = subprocess.Popen(self._command, cwd=PROJECT, env=environment)
        threading.Thread(target=lambda: (process.wait(), ripe.set()), daemon=True).start()
        ripe.wait()
        if process.poll() is None and last is not None:
            process.send_signal(signal.SIGKILL)
        status = process.wait()
        if status not in (0, -signal.SIGKILL):
            raise RuntimeError(f"scrapy ended with {status}; see {self.log.parent}/scrapy.log")
        return status != 0

    def counts(self):
        """Pages that were lost, and repeats of others."""
        done = collections.Counter(self.log.read_text(encoding="ascii").split())
        return len(self._site.urls() - set(done)), done.total() - len(done)


def crawl_with_kills(site, folder, seed, kill_count, settings):
    """Kills a crawl `kill_count` times, lets it finish, and returns its kills, and its counts."""
    choose = random.Random(seed)
    crawl = Crawl(site, folder, settings)
    killed = sum(crawl.run(choose.randrange(1, max(2, site.page_count // (kill_count + 1))))
                 for _ in range(kill_count))
    crawl.run()
    return killed, *crawl.counts()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE",
                        help="a setting of Scrapy; again for more")
    given = parser.parse_args()
    site = Site(given.pages)
    with tempfile.TemporaryDirectory() as folder:
        killed, lost, repeated = crawl_with_kills(site, folder, given.seed, given.kills,
                                                  dict(each.split("=", 1) for each in given.set))
        size = sum(path.stat().st_size for path in pathlib.Path(folder).glob("*.crawl"))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"seed {given.seed}: {len(site.urls())} pages, {killed} kills: {lost} lost, "
          f"{repeated} fetched again; {used.ru_utime + used.ru_stime:.1f} s of processor time, "
          f"{size} bytes")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
