# SPDX-License-Identifier: Apache-2.0
"""Runs Scrapy's own tests of schedulers, filters and the engine with those of pycrawlstore.

    python3 run_scrapy_tests.py FOLDER [--scheduler-only] [ARGUMENT...]

FOLDER holds Scrapy's source, at tag 2.8.0; pytest gets the arguments. This is a plugin of pytest,
too: it puts the classes in the places of Scrapy's, gives an engine of the tests the requests in
progress, which the scheduler needs, and each crawl without JOBDIR a file of its own.

Two tests are to fail: test_migration demands that a crawl cannot go on with another
SCHEDULER_PRIORITY_QUEUE, which it can from a crawl file, and test_seenreq_newlines, which passes
with --scheduler-only, reads the text file of Scrapy's filter. After the first one the test that
comes next in its file fails, too: it finds the timer of a scheduler that was not closed.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import types

HERE = pathlib.Path(__file__).resolve()
FILES = ("closespider", "crawl", "dupefilters", "engine", "engine_stop_download_bytes",
         "engine_stop_download_headers", "request_cb_kwargs", "scheduler", "scheduler_base")
SCHEDULER_ONLY = "CRAWLSTORE_SCHEDULER_ONLY"


def pytest_configure():
    """Puts the classes in place before a test imports those of Scrapy."""
    # pylint: disable=import-outside-toplevel
    import scrapy.core.scheduler
    import scrapy.dupefilters
    from pycrawlstore import scrapy as ours

    def path_of(crawler, given=ours.path_of):
        is_kept = crawler.settings.get("CRAWLSTORE_FILE") or crawler.settings.get("JOBDIR")
        return given(crawler) if is_kept else f"{tempfile.mkdtemp()}/test.crawl"

    # Crawls without JOBDIR are to begin anew.
    ours.path_of = path_of
    scrapy.core.scheduler.Scheduler = ours.Scheduler
    if not os.environ.get(SCHEDULER_ONLY):
        scrapy.dupefilters.RFPDupeFilter = ours.DupeFilter


def pytest_collection_modifyitems(items):
    """Gives engines of the tests a slot."""
    for module in {item.module for item in items}:
        made = getattr(module, "MockEngine", None)
        if made is not None:
            module.MockEngine = lambda downloader: types.SimpleNamespace(
                downloader=downloader, slot=types.SimpleNamespace(inprogress=set()))


def main(folder, *arguments):
    environment = dict(os.environ)
    if "--scheduler-only" in arguments:
        arguments = [each for each in arguments if each != "--scheduler-only"]
        environment[SCHEDULER_ONLY] = "1"
    folder = pathlib.Path(folder).resolve()
    # Servers of the tests are modules of theirs, run in other folders.
    environment["PYTHONPATH"] = os.pathsep.join(
        [str(folder), str(HERE.parent), environment.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-B", "-m", "pytest", "-q", "-o", "addopts=", "-p", HERE.stem,
         "-p", "no:cacheprovider", *(f"tests/test_{name}.py" for name in FILES), *arguments],
        cwd=folder, env=environment, check=False).returncode


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
