# SPDX-License-Identifier: Apache-2.0
"""PageRank from a crawl file, beside igraph and the plain power iteration on the same graph.

Each graph is made once. Then all run in turns, each in a process of its own: igraph first, since
its scores are the reference for the others. Medians count.
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import seen_table
from compare_shared import Failure, build, install_packages, keeper, median_of, say

OURS, PLAIN, IGRAPH = "crawlstore", "plain", "igraph"
PACKAGE = "libigraph-dev"
HEAD = ("store", "threads", "read s", "solve s", "total s", "x total", "iterations", "s each",
        "L1 distance", "top 1000", "RSS MiB", "runs")


def by_driver(lines):
    """{(store, threads): its runs}, in the order in which they appear."""
    found = {}
    for line in lines:
        if "error" not in line:
            found.setdefault((line["store"], line["threads"]), []).append(line)
    return found


def ours_best(drivers):
    """Our median total on the most threads; None without a run."""
    ours = [key for key in drivers if key[0] == OURS]
    return median_of(drivers[max(ours)], "total_seconds") if ours else None


def cells(key, runs, ours):
    def number(field, form):
        value = median_of(runs, field)
        return "" if value is None else form.format(value)

    total = median_of(runs, "total_seconds")
    return (key[0], str(key[1]), number("read_seconds", "{:.3f}"),
            number("solve_seconds", "{:.3f}"), f"{total:.3f}",
            f"{total / ours:.2f}" if ours else "", number("iterations", "{:.0f}"),
            number("iteration_seconds", "{:.4f}"), number("l1_distance", "{:.1e}"),
            number("top_error", "{:.1e}"), f'{median_of(runs, "peak_rss_bytes") / 2**20:.0f}',
            str(len(runs)))


def closing_lines(drivers):
    """The ratios, in words."""
    for (store, threads), runs in drivers.items():
        if store != OURS:
            continue
        total = median_of(runs, "total_seconds")
        igraph = next((others for (peer, count), others in drivers.items()
                       if peer.startswith(IGRAPH) and count == threads), None)
        if igraph:
            ratio = median_of(igraph, "total_seconds") / total
            yield f'{threads} thread(s): igraph takes {ratio:.1f} x our total'
        plain = next((others for (peer, count), others in drivers.items()
                      if peer.startswith(PLAIN) and count == threads), None)
        if plain:
            ratio = (median_of(runs, "iteration_seconds") /
                     median_of(plain, "iteration_seconds"))
            yield f"{threads} thread(s): an iteration takes {ratio:.2f} x the plain one"


def table(lines):
    """The text for one graph."""
    text = [f'PageRank, {lines[0]["case"]}']
    drivers = by_driver(lines)
    if drivers:
        first = next(iter(drivers.values()))[0]
        loads = [line["load_before"] for line in lines if "load_before" in line]
        text.append(f'{first["cpu"]}; commit {first["commit"]}; {first["date"][:10]}; load before '
                    f'a run {min(loads):.1f} to {max(loads):.1f}')
        ours = ours_best(drivers)
        rows = [cells(key, runs, ours) for key, runs in drivers.items()]
        text += ["", *seen_table.align([HEAD] + rows), *closing_lines(drivers)]
    text += [f'{line["store"]}: {line["error"]}' for line in lines if "error" in line]
    return "\n".join(text)


class Machine:
    """Where the drivers are, and the folder with the graph."""

    def __init__(self, build_dir, folder):
        self.build, self.folder = pathlib.Path(build_dir).resolve(), pathlib.Path(folder)

    def call(self, name, *words, threads=1):
        # PRPACK's threads wait busily: where others run, its default is twenty times slower.
        done = subprocess.run([self.build / f"bin/rank_{name}", self.folder, *words], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**os.environ, "OMP_NUM_THREADS": str(threads)})
        if done.returncode != 0:
            raise Failure(f"exit code {done.returncode}: {done.stderr.strip()[-200:]}")
        return json.loads(done.stdout)

    def check(self, peers):
        missing = [name for name in ("make", OURS, PLAIN)
                   if not (self.build / f"bin/rank_{name}").exists()]
        if missing:
            raise Failure(f"{self.build}/bin/rank_{missing[0]} is missing; leave --no-build out", 3)
        if peers == IGRAPH and not (self.build / f"bin/rank_{IGRAPH}").exists():
            raise Failure("not built for lack of a package: igraph\n"
                          f"  apt-get install --no-install-recommends {PACKAGE}\n"
                          "or --install-peers, or --peers none", 3)

    def clean(self):
        for path in self.folder.iterdir():
            path.unlink()


def drivers_of(options):
    """(program, threads) of a turn."""
    names = (IGRAPH, OURS, PLAIN) if options.peers == IGRAPH else (OURS, PLAIN)
    return [(name, threads) for name in names for threads in options.threads]


def run_graph(machine, options, words, keep):
    """All runs over one graph; their lines."""
    say(f"making the graph: {' '.join(words)} ...")
    made = machine.call("make", *words)
    case = (f'{pathlib.Path(words[0]).name}, {made["pages"]} pages, {made["links"]} links, file '
            f'of {made["file_bytes"] / 1e6:.0f} MB')
    lines = []
    for turn in range(options.runs):
        for name, threads in drivers_of(options):
            load = round(os.getloadavg()[0], 2)
            try:
                line = machine.call(name, str(threads), threads=threads)
                say(f'  {turn + 1}: {name} {threads}: {line["total_seconds"]:.3f} s')
            except Failure as failure:
                line = {"bench": "rank", "store": name, "threads": threads, "error": str(failure)}
                say(f"  {turn + 1}: {name} {threads}: {failure}")
            line.update(case=case, load_before=load)
            keep(line)
            lines.append(line)
    return lines


def rank(options):
    """The verb."""
    if options.graph and shutil.which("zstd") is None:
        raise Failure("graphs of others need zstd: apt-get install zstd", 3)
    if options.install_peers:
        install_packages([PACKAGE])
    if not options.no_build:
        build(pathlib.Path(options.build_dir).resolve(), "crawlstore_rank")
    orders = ("shuffled", "own") if options.order == "both" else (options.order,)
    graphs = ([[graph] for graph in options.graph] or
              [[order, str(options.pages), str(options.links)] for order in orders])
    keep, kept = keeper(options.save)
    with tempfile.TemporaryDirectory(prefix="crawlstore-rank-", dir=options.dir) as folder:
        machine = Machine(options.build_dir, folder)
        machine.check(options.peers)
        if os.getloadavg()[0] > 0.5:
            say(f"warning: the load is {os.getloadavg()[0]:.1f} already; something else runs here")
        for words in graphs:
            print(table(run_graph(machine, options, words, keep)) + "\n", flush=True)
            machine.clean()
    if kept:
        say(f"kept in {kept}")


def add_verb(verbs, parse_number):
    verb = verbs.add_parser("rank", help="run PageRank, from a crawl file to its commit")
    verb.add_argument("--pages", type=parse_number, default=10**6, metavar="N",
                      help="of the made graph (default 1M; the goals are about 10M)")
    verb.add_argument("--links", type=float, default=9.05, metavar="N",
                      help="a page (default 9.05)")
    verb.add_argument("--order", choices=("shuffled", "own", "both"), default="both",
                      help="of the pages: at random, near links near, each (default both)")
    verb.add_argument("--graph", action="append", default=[], metavar="FILE",
                      help="links by page, text compressed by zstd, instead of a made graph")
    verb.add_argument("--threads", default="1,2", metavar="A,B",
                      type=lambda text: [int(count) for count in text.split(",")],
                      help="ours and those of the plain iteration (default 1,2)")
    verb.add_argument("--peers", choices=(IGRAPH, "none"), default=IGRAPH,
                      help="without igraph nobody says how exact the scores are")
    verb.add_argument("--runs", type=int, default=3, metavar="N",
                      help="of each, in turns; medians count (default 3)")
    verb.add_argument("--dir", default=None, metavar="FOLDER",
                      help="where the graph is written (default: the build folder)")
    return verb
