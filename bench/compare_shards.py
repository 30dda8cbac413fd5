# SPDX-License-Identifier: Apache-2.0
"""A crawl over shards, and PageRank of it, beside the same in one file.

Shards are threads of one process (shards_run.cpp); each number of them has a process of its own.
They run in turns, one file first, since its pages, links and scores are the reference; medians
count. A number of shards that has other pages or links is an error, and so is the comparison.
"""

import os
import pathlib
import shutil
import statistics
import tempfile

import seen_table
from compare_shared import (SOURCE, Failure, build, keeper, median_of, parse_number, run_line, say)

GRAPHS = SOURCE.parent / "shared/data/graphs"
WEBS = {"docs": ("docs-public", True), "california": ("california", False)}
SAME = ("pages", "crawled", "links", "page_hash", "link_hash")
PHASES = (("making the files, seeds", "open"), ("reading new pages", "read"),
          ("adding fetched pages", "add"), ("superstep over these", "merge"),
          ("superstep over URLs received", "merge_received"),
          ("exchange_step() without it", "exchange"),
          ("of it end of the step, outbox", "outbox"), ("of it looking up what comes", "receive"),
          ("of it the note of what was sent", "note"), ("of it the transport", "carry"))


def ratio_of(runs, ones, field):
    """The median over turns of the ratio to one file: both of a turn run beside each other."""
    by_turn = {line["turn"]: line[field] for line in ones}
    found = [line[field] / by_turn[line["turn"]] for line in runs if by_turn.get(line["turn"])]
    return statistics.median(found) if found else None


def flat(line):
    """The line with what follows from it."""
    found = dict(line)
    for _, phase in PHASES:
        found[f"{phase} ms"] = line[f"{phase}_cpu_seconds"] * 1e3
    found["waits ms"] = 1e3 * (line["crawl_cpu_seconds"] - sum(
        line[f"{phase}_cpu_seconds"] for _, phase in PHASES[:6]))
    found["iteration ms"] = line["iteration_cpu_seconds"] * 1e3
    if line["shards"] == 1:
        return found
    found["cross %"] = 100 * line["crossing"] / line["links"]
    found["exchange %"] = 100 * line["exchange_cpu_seconds"] / line["crawl_cpu_seconds"]
    found["bytes a URL"] = line["bytes_sent"] / max(line["urls_sent"], 1)
    found["bytes a link"] = line["bytes_sent"] / line["links"]
    found["crossing bytes a link"] = line["crossing_raw_bytes"] / line["links"]
    found["quotient"] = line["crossing_raw_bytes"] / max(line["bytes_sent"], 1)
    found["packed quotient"] = line["crossing_bytes"] / max(line["bytes_sent"], 1)
    found["raw quotient"] = line["crossing_raw_bytes"] / max(line["elsewhere_raw_bytes"], 1)
    found["values a link"] = line["iteration_bytes"] / line["links"]
    return found


# (what it is, field, how it is written). A field with "x " in front is a ratio to one file.
ROWS = (("crawl, s of the processor", "crawl_cpu_seconds", "{:.3f}"),
        ("x one file", "x crawl_cpu_seconds", "{:.2f}"),
        *((f"{name}, ms", f"{phase} ms", "{:.1f}") for name, phase in PHASES),
        ("rest: threads, waiting, ms", "waits ms", "{:.1f}"),
        ("exchange_step() without merges, %", "exchange %", "{:.1f}"),
        ("levels", "levels", "{:.0f}"), ("pages", "pages", "{:.0f}"), ("links", "links", "{:.0f}"),
        ("links that cross, %", "cross %", "{:.1f}"), ("URLs sent", "urls_sent", "{:.0f}"),
        ("of them new to the owner", "urls_new", "{:.0f}"),
        ("bytes sent", "bytes_sent", "{:.0f}"), ("bytes a URL", "bytes a URL", "{:.1f}"),
        ("bytes a link", "bytes a link", "{:.2f}"),
        ("URLs of all crossing links, bytes a link", "crossing bytes a link", "{:.2f}"),
        ("these / sent", "quotient", "{:.1f}"),
        ("both packed", "packed quotient", "{:.1f}"),
        ("neither packed", "raw quotient", "{:.1f}"),
        ("files, bytes", "file_bytes", "{:.0f}"),
        ("PageRank, iterations", "iterations", "{:.0f}"),
        ("an iteration, ms of the processor", "iteration ms", "{:.3f}"),
        ("x one file", "x iteration_cpu_seconds", "{:.2f}"),
        ("bytes an iteration", "iteration_bytes", "{:.0f}"),
        ("bytes an iteration and link", "values a link", "{:.3f}"),
        ("L1 distance to one file", "l1_distance", "{:.1e}"),
        ("peak resident, MiB", "rss", "{:.0f}"))


def table(lines):
    """The text for all runs of a web."""
    counts = {}
    for line in lines:
        if "error" not in line:
            counts.setdefault(line["shards"], []).append(
                flat({**line, "rss": line["peak_rss_bytes"] / 2**20}))
    text = [f'Shards, {lines[0]["case"]}']
    if counts:
        first = next(iter(counts.values()))[0]
        loads = [line["load_before"] for line in lines]
        text.append(f'{first["cpu"]}; commit {first["commit"]}; {first["date"][:10]}; load before '
                    f"a run {min(loads):.1f} to {max(loads):.1f}; {first['hosts']} hosts")
        rows = [("", *(f"P = {count}" for count in counts))]
        for name, field, form in ROWS:
            cells = [name]
            for runs in counts.values():
                found = (ratio_of(runs, counts.get(1, []), field[2:]) if field.startswith("x ") else
                         median_of(runs, field))
                cells.append("" if found is None else form.format(found))
            rows.append(tuple(cells))
        text += seen_table.align(rows)
    text += [f'{line["store"]}: {line["error"]}' for line in lines if "error" in line]
    return "\n".join(text)


def webs_of(options):
    """(what it is called, words for the driver) of each web."""
    if options.pages:
        return [("made", [str(options.pages)])]
    missing = [name for name, _ in WEBS.values() if not (GRAPHS / f"{name}.adj.zst").exists()]
    if missing:
        options.pages = 50_000
        say(f"{GRAPHS} has no {missing[0]}: crawling {options.pages} made pages instead")
        return [("made", [str(options.pages)])]
    if shutil.which("zstd") is None:
        raise Failure("real graphs need zstd: apt-get install zstd", 3)
    return [(name, [str(GRAPHS / WEBS[name][0])] + ["folders"] * WEBS[name][1])
            for name in options.webs]


def words_for(words, count):
    """The driver's, behind its folder: the web, the number of shards, what hosts are."""
    return [words[0], str(count), *words[1:]]


def run(options, folder, words, count):
    """One run: its line, or one with an error."""
    driver = str(pathlib.Path(options.build_dir).resolve() / "bin/shards_run")
    load = round(os.getloadavg()[0], 2)
    line = run_line([driver, str(folder), *words_for(words, count)], 0, options.limit,
                    {"bench": "shards", "store": f"crawlstore, {count} shards", "shards": count})
    for path in folder.glob("*.crawl*"):
        path.unlink()
    os.sync()
    line["load_before"] = load
    return line


def check_same(line, one):
    """A crawl over shards finds what one file finds."""
    if "error" in line or "error" in one:
        return
    other = [field for field in SAME if line[field] != one[field]]
    if other:
        line["error"] = f'other than in one file: {", ".join(other)}'


def run_web(options, folder, web, keep):
    """All runs over one web; their lines."""
    name, words = web
    case = (f"{options.pages} made pages" if name == "made" else
            f'{name}, a host a folder' if words[1:] else name)
    if options.waiting:
        words = [*words, "waiting"]
        case += ", URLs received fetched while they wait"
    lines = []
    for turn in range(options.runs):
        one = None
        for count in (1, *options.shards):
            line = run(options, folder, words, count)
            one = one or line
            check_same(line, one)
            line.update(case=case, turn=turn)
            found = line.get("error") or f'{line["crawl_cpu_seconds"]:.3f} s of the processor'
            say(f"  {turn + 1}: {name}, P = {count}: {found}")
            keep(line)
            lines.append(line)
    return lines


def shards(options):
    """The verb."""
    if not options.no_build:
        build(pathlib.Path(options.build_dir).resolve(), "shards_run")
    if not (pathlib.Path(options.build_dir) / "bin/shards_run").exists():
        raise Failure(f"{options.build_dir}/bin/shards_run is missing; leave --no-build out", 3)
    keep, kept = keeper(options.save)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="crawlstore-shards-", dir=options.dir) as folder:
        for web in webs_of(options):
            lines = run_web(options, pathlib.Path(folder), web, keep)
            failed += sum("error" in line for line in lines)
            print(table(lines) + "\n", flush=True)
    if kept:
        say(f"kept in {kept}")
    if failed:
        raise Failure(f"{failed} runs failed, or have other pages or links than one file")


def parse_counts(text):
    return [int(count) for count in text.split(",")]


def add_verb(verbs):
    verb = verbs.add_parser("shards", help="a crawl over shards, and PageRank, beside one file")
    verb.add_argument("--webs", type=lambda text: text.split(","), default=list(WEBS),
                      metavar="A,B", help=f"of {', '.join(WEBS)} in ../shared (default: all)")
    verb.add_argument("--pages", type=parse_number, default=0, metavar="N",
                      help="crawl so many made pages instead; 50,000 where ../shared is missing")
    verb.add_argument("--shards", type=parse_counts, default=[2, 4], metavar="A,B",
                      help="beside one file (default 2,4)")
    verb.add_argument("--waiting", action="store_true",
                      help="fetch URLs that others sent before they are pages")
    verb.add_argument("--runs", type=int, default=5, metavar="N",
                      help="of each, in turns; medians count (default 5)")
    verb.add_argument("--limit", type=int, default=900, metavar="SECONDS",
                      help="a run that takes longer is ended (default 900)")
    verb.add_argument("--dir", default=None, metavar="FOLDER",
                      help="where the files are written (default: the build folder)")
    return verb
