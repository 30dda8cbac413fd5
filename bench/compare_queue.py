# SPDX-License-Identifier: Apache-2.0
"""Queues of pages: crawlstore's beside heaps in RAM and sorted stores on disk, on the same work.

All run in turns, each in a process of its own, and medians count. Drivers add up which pages left
in which order; a comparison in which one is not like the others fails.
"""

import os
import pathlib
import shutil
import tempfile

import seen_table
from compare_shared import (Failure, add_run_options, build, check_cap, install_packages, keeper,
                            median_of, parse_cap, parse_number, run_line, say)

OURS = "crawlstore"
PACKAGES = {
    "std": None,
    "quickheap": None,
    "boost": "libboost-dev",
    "stxxl": "libstxxl-dev",
    "rocksdb": "librocksdb-dev",
    "lmdb": "liblmdb-dev",
}
IN_RAM = ("std", "quickheap", "boost")
IN_RAM_BYTES = 32  # an entry: 16, in a vector that grows to twice its size
INPUTS = ("random", "equal", "ascending", "descending", "above", "ties", "crawl")
NEW_FOR_ONE = 10  # pages that a crawl inserts for each that it took
COMMITS = ("million", "cycle")
HEAD = ("store", "build s", "cycles s", "total s", "x cycles", "x total", "worst s", "CPU s",
        "cycles CPU s", "x cycles CPU", "M pairs/s", "written MB", "file MB", "RSS MiB", "runs")


COMMIT_HEAD = ("store", "cycles", "ms a cycle", "worst ms", "CPU ms a cycle",
               "KB written a cycle", "file MB", "RSS MiB", "runs")


def commit_cells(runs):
    def number(field, unit, form="{:.2f}"):
        return form.format(median_of(runs, field) / unit)

    cycles = runs[0]["cycle_count"]
    return (runs[0]["store"], str(cycles), number("cycle_seconds", cycles / 1e3),
            number("worst_cycle_seconds", 1 / 1e3), number("cycle_cpu_seconds", cycles / 1e3),
            number("cycle_written_bytes", cycles * 1e3, "{:.1f}"),
            number("file_bytes", 1e6, "{:.0f}"), number("peak_rss_bytes", 2**20, "{:.0f}"),
            str(len(runs)))


def cells(runs, ours):
    def number(field, form="{:.2f}", unit=1):
        found = median_of(runs, field)
        return "" if found is None else form.format(found / unit)

    def ratio(field):
        of = median_of(ours, field) if ours else None
        return f"{median_of(runs, field) / of:.2f}" if of else ""

    return (runs[0]["store"], number("build_seconds"), number("cycle_seconds"),
            number("total_seconds"), ratio("cycle_seconds"), ratio("total_seconds"),
            number("worst_cycle_seconds", "{:.3f}"), number("cpu_seconds"),
            number("cycle_cpu_seconds"), ratio("cycle_cpu_seconds"),
            number("pairs_per_s", "{:.3f}", 1e6),
            number("written_bytes", "{:.0f}", 1e6), number("file_bytes", "{:.0f}", 1e6),
            number("peak_rss_bytes", "{:.0f}", 2**20),
            str(len(runs)))


def table(lines):
    """The text for one case."""
    text = [f'Queue, {lines[0]["case"]}']
    stores = {}
    for line in lines:
        if "error" not in line:
            stores.setdefault(line["store"], []).append(line)
    if stores:
        first = next(iter(stores.values()))[0]
        loads = [line["load_before"] for line in lines]
        ours = next((runs for store, runs in stores.items() if store.startswith(OURS)), None)
        text += [f'{first["cpu"]}; commit {first["commit"]}; {first["date"][:10]}; load before a '
                 f"run {min(loads):.1f} to {max(loads):.1f}", ""]
        if first.get("commit_each") == "cycle":
            rows = [COMMIT_HEAD] + [commit_cells(runs) for runs in stores.values()]
        else:
            rows = [HEAD] + [cells(runs, ours) for runs in stores.values()]
        text += seen_table.align(rows)
    text += [f'{line["store"]}: {line["error"]}' for line in lines if "error" in line]
    return "\n".join(text)


def check_sums(lines):
    """All must have taken the same pages in the same order."""
    sums = {line["store"]: line["sum"] for line in lines if "sum" in line}
    if len(set(sums.values())) > 1:
        raise Failure("not all took the same pages: " +
                      ", ".join(f"{store} {found}" for store, found in sums.items()))


class Machine:
    """Where the drivers are, and the folder for their files."""

    def __init__(self, options, folder):
        self.build, self.folder = pathlib.Path(options.build_dir).resolve(), pathlib.Path(folder)
        self.options = options

    def check(self):
        missing = [name for name in (OURS, *self.options.peers)
                   if not (self.build / f"bin/queue_{name}").exists()]
        packages = " ".join(PACKAGES[name] for name in missing if PACKAGES.get(name))
        if missing:
            raise Failure(f"not built: {', '.join(missing)}\n" +
                          (f"  apt-get install --no-install-recommends {packages}\n"
                           "or --install-peers, or name others with --peers" if packages else
                           "leave --no-build out"), 3)

    def run(self, name, batch):
        """One run: its line, or one with an error."""
        options, path = self.options, self.folder / "queue"
        load = round(os.getloadavg()[0], 2)
        words = [str(self.build / f"bin/queue_{name}"), str(path), str(options.entries),
                 str(options.take), str(batch), options.input,
                 str(options.memory or options.cap // 2), options.commit]
        line = run_line(words, options.cap, options.limit, {"bench": "queue", "store": name})
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        os.sync()
        line.update(case=title(options, batch), load_before=load)
        return line


def title(options, batch):
    cap = f"{options.cap / 2**20:g} MiB" if options.cap else "no cap"
    cycle = "taken" if options.input == "crawl" else "taken and inserted"
    commits = ", a commit each cycle" if options.commit == "cycle" else ""
    return (f"{seen_table.short(options.entries)} entries, {seen_table.short(options.take)} "
            f"{cycle}, {batch} at once, {options.input}, {cap}{commits}")


def fitting(options):
    """Our driver and those of the peers that have room under the cap."""
    entries = options.entries + (NEW_FOR_ONE * options.take if options.input == "crawl" else 0)
    is_too_large = options.cap and entries * IN_RAM_BYTES > options.cap
    return [OURS] + [name for name in options.peers if not (is_too_large and name in IN_RAM)]


def run_case(machine, options, batch, keep):
    """All runs of one case; their lines."""
    lines = []
    for turn in range(options.runs):
        for name in fitting(options):
            line = machine.run(name, batch)
            found = line.get("error") or f'{line["total_seconds"]:.3f} s'
            say(f"  {turn + 1}: {name}, {batch} at once: {found}")
            keep(line)
            lines.append(line)
    return lines


def queue(options):
    """The verb."""
    if options.commit == "cycle":
        options.peers = []  # they commit nothing
    check_cap(options.cap)
    if options.install_peers:
        install_packages([PACKAGES[name] for name in options.peers if PACKAGES[name]])
    if not options.no_build:
        build(pathlib.Path(options.build_dir).resolve(), "crawlstore_queue")
    keep, kept = keeper(options.save)
    with tempfile.TemporaryDirectory(prefix="crawlstore-queue-", dir=options.dir) as folder:
        machine = Machine(options, folder)
        machine.check()
        if os.getloadavg()[0] > 0.5:
            say(f"warning: the load is {os.getloadavg()[0]:.1f} already; something else runs here")
        for batch in options.batch:
            lines = run_case(machine, options, batch, keep)
            print(table(lines) + "\n", flush=True)
            check_sums(lines)
    if kept:
        say(f"kept in {kept}")


def add_verb(verbs):
    verb = verbs.add_parser("queue", help="take the first pages of a queue, and put them back")
    verb.add_argument("--entries", type=parse_number, default=10**7, metavar="N",
                      help="pages in the queue (default 10M)")
    verb.add_argument("--take", type=parse_number, default=2 * 10**6, metavar="N",
                      help="pages taken in all (default 2M)")
    verb.add_argument("--batch", default="1000,100000", metavar="A,B",
                      type=lambda text: [parse_number(count) for count in text.split(",")],
                      help="pages taken, and then inserted, at once: a table each (default "
                           "1000,100000)")
    verb.add_argument("--input", choices=INPUTS, default="random",
                      help="what priorities are like; crawl: ten new pages for each taken, and "
                           "updates")
    verb.add_argument("--commit", choices=COMMITS, default="million",
                      help="crawlstore's: each 2^20 pages that were inserted, or, without peers, "
                           "each cycle (default million)")
    verb.add_argument("--cap", type=parse_cap, default=0, metavar="SIZE",
                      help="memory, page cache included; needs root; peers in RAM are left out "
                           "where they do not fit (default none)")
    verb.add_argument("--memory", type=parse_number, default=0, metavar="SIZE",
                      help="for queues that want to know (default: half of the cap)")
    add_run_options(verb, PACKAGES, "queues")
    return verb
