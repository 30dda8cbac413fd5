# SPDX-License-Identifier: Apache-2.0
"""Text in and out: the same links as edges and as lines of JSON beside events, and `seen` on their
targets; beside `sort -u` and `sqlite3 .import` of the edges, and, on request, a former crawlstore.
All run in turns, and medians of processor time count: that of a program and of what it started.
"""

import datetime
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

import seen_table
from compare_shared import (SOURCE, Failure, build, install_packages, keeper, median_of,
                            parse_number, say)

FORMATS = ("events", "edges", "jsonl")
MEMORY = ("--memory", "1GiB", "-q")
HEAD = ("task", "program", "CPU s", "of that user", "x events", "x former", "seconds",
        "input or output MB", "runs")


def import_words(program, form, folder, store):
    return [program, "import", store, folder / form, "--format", form, *MEMORY]


def tasks(program, folder):
    """The measured forms of crawlstore: name, words, the file of text."""
    for form in FORMATS:
        yield f"import {form}", import_words(program, form, folder, folder / "new"), folder / form
    for form in FORMATS:
        yield (f"export {form}", [program, "export", folder / "store", "--format", form, "-q", "-o",
                                  folder / "new"], folder / form)
    yield "seen", [program, "seen", folder / "new", folder / "urls", *MEMORY], folder / "urls"


def peer_tasks(folder):
    edges = folder / "edges"
    yield "sort -u", ["sort", "-u", "-T", folder, "-o", folder / "new", edges], edges
    yield ("sqlite3 .import",
           ["sqlite3", folder / "new", "PRAGMA journal_mode=OFF", "PRAGMA synchronous=OFF",
            "CREATE TABLE edges(source TEXT, target TEXT)", ".mode tabs",
            f".import {edges} edges"], edges)


def run(words, environment=None):
    """Seconds by the clock, of processors, and of these in user mode."""
    start = time.monotonic()
    process = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, env=environment)
    errors = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Failure(f"{words[0]}: exit code {process.returncode}: {errors[-200:]}", 3)
    return {"seconds": round(time.monotonic() - start, 3),
            "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 3),
            "user_seconds": round(usage.ru_utime, 3)}


def machine():
    found = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    commit = subprocess.run(["git", "describe", "--always", "--dirty", "--exclude=*"], cwd=SOURCE,
                            text=True, stdout=subprocess.PIPE, check=False).stdout.strip()
    return {"cpu": found.group(1) if found else "unknown", "commit": commit or "unknown",
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")}


def cells(runs, events, former):
    def ratio(others):
        own = median_of(runs, "cpu_seconds")
        return f'{own / median_of(others, "cpu_seconds"):.2f}' if others else ""

    return (runs[0]["task"], runs[0]["program"], f'{median_of(runs, "cpu_seconds"):.2f}',
            f'{median_of(runs, "user_seconds"):.2f}', ratio(events), ratio(former),
            f'{median_of(runs, "seconds"):.2f}', f'{runs[0]["bytes"] / 1e6:.0f}', str(len(runs)))


def table(lines):
    """The text for one case."""
    loads = [line["load_before"] for line in lines]
    runs = {}
    for line in lines:
        runs.setdefault((line["task"], line["program"]), []).append(line)
    rows = [HEAD]
    for (task, program), those in runs.items():
        direction, _, form = task.partition(" ")
        is_ours = form in FORMATS
        events = runs.get((f"{direction} events", program)) if is_ours else None
        former = runs.get((task, "former")) if program != "former" else None
        rows.append(cells(those, events, former))
    return "\n".join([f'Text, {lines[0]["case"]}',
                      f'{lines[0]["cpu"]}; commit {lines[0]["commit"]}; {lines[0]["date"][:10]}; '
                      f"load before a run {min(loads):.1f} to {max(loads):.1f}", "",
                      *seen_table.align(rows)])


def make_inputs(options, binaries, folder):
    """The links in each format, their targets and a store of them; the number of links."""
    program, store = binaries / "crawlstore", folder / "store"
    if options.edges:
        run([program, "import", store, options.edges, "--format", "edges", *MEMORY])
    else:
        run([binaries / "pages_crawlstore", store, options.pages, "--lookups", 1])
    for form in FORMATS:
        run([program, "export", store, "--format", form, "-q", "-o", folder / form])
    count = 0
    with open(folder / "edges", "rb") as edges, open(folder / "urls", "wb") as urls:
        for line in edges:
            urls.write(line.partition(b"\t")[2])
            count += 1
    return count


def text(options):
    """The verb."""
    binaries = pathlib.Path(options.build_dir).resolve() / "bin"
    if options.install_peers:
        install_packages(["sqlite3"])
    if not options.no_build:
        build(binaries.parent, "crawlstore_cli")
        build(binaries.parent, "pages_crawlstore")
    if not shutil.which("sqlite3"):
        raise Failure("sqlite3 is missing; --install-peers", 3)
    keep, kept = keeper(options.save)
    lines = []
    with tempfile.TemporaryDirectory(prefix="crawlstore-text-", dir=options.dir) as name:
        folder = pathlib.Path(name)
        links = make_inputs(options, binaries, folder)
        case = (f"{links:,} links of " +
                (pathlib.Path(options.edges).name if options.edges else "the made-up crawl"))
        programs = [("crawlstore", tasks(binaries / "crawlstore", folder))]
        if options.former:
            programs.append(("former", tasks(pathlib.Path(options.former).resolve(), folder)))
        todo = [(task, program, *words) for program, all_tasks in programs
                for task, *words in all_tasks]
        todo += [(task, "peer", *words) for task, *words in peer_tasks(folder)]
        todo.sort(key=lambda entry: entry[0])
        for turn in range(options.runs):
            for task, program, words, file in todo:
                (folder / "new").unlink(missing_ok=True)
                load = round(os.getloadavg()[0], 2)
                times = run(words, {**os.environ, "LC_ALL": "C"})
                line = {"bench": "text", "case": case, "task": task, "program": program,
                        **times, "bytes": file.stat().st_size, "links": links, "load_before": load,
                        **machine()}
                say(f'  {turn + 1}: {task}: {program}: {times["cpu_seconds"]:.2f} s')
                keep(line)
                lines.append(line)
    print(table(lines) + "\n", flush=True)
    if kept:
        say(f"kept in {kept}")


def add_verb(verbs):
    verb = verbs.add_parser("text", help="import, export and seen, by format")
    verb.add_argument("--pages", type=parse_number, default=300_000, metavar="N",
                      help="crawled pages of the made-up crawl, of ten links (default 300k)")
    verb.add_argument("--edges", metavar="FILE",
                      help="links of URLs, FROM TAB TO a line, in the place of the made-up ones")
    verb.add_argument("--former", metavar="CRAWLSTORE", help="another binary, run in turns")
    verb.add_argument("--runs", type=int, default=3, metavar="N",
                      help="of each, in turns; medians count (default 3)")
    verb.add_argument("--dir", default=None, metavar="FOLDER",
                      help="where the files are written (default: the build folder)")
    return verb
