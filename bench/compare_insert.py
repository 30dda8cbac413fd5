# SPDX-License-Identifier: Apache-2.0
"""The URL-seen stream key by key: crawlstore's insert beside peers that are asked and told one key
at a time. All run in turns, each in a process of its own, and medians count; every driver checks
that exactly the fresh keys were new.
"""

import functools
import os
import pathlib
import shutil
import tempfile

import seen_table
from compare_shared import (Failure, build, check_cap, install_packages, keeper, median_of,
                            parse_cap, parse_number, parse_peers, run_line, say)

OURS = "crawlstore"
PACKAGES = {"lmdb": "liblmdb-dev", "sqlite": "libsqlite3-dev", "rocksdb": "librocksdb-dev"}
HEAD = ("store", "requests", "us each", "x ours", "last window us", "CPU us", "B/key in the file",
        "written B/request", "peak MiB", "runs")


def cells(runs, ours):
    def per_request(field):
        return median_of([{"us": line[field] / line["operations"] * 1e6} for line in runs], "us")

    each = per_request("seconds")
    ratio = ""
    if ours:
        ratio = f'{each / (1e6 / median_of(ours, "ops_per_s")):.2f}'
    peak = median_of(runs, "peak_group_bytes") or median_of(runs, "peak_rss_bytes")
    keys = runs[0]["unique"] + runs[0]["stored"]
    return (runs[0]["store"], seen_table.short(runs[0]["operations"]), f"{each:.2f}", ratio,
            f'{1e6 / median_of(runs, "last_window_ops_per_s"):.2f}',
            f'{per_request("cpu_seconds"):.2f}', f'{median_of(runs, "file_bytes") / keys:.1f}',
            f'{median_of(runs, "written_bytes_per_op"):.1f}', f"{peak / 2**20:.0f}", str(len(runs)))


def table(lines):
    """The text for one case."""
    text = [f'Insert, {lines[0]["case"]}']
    stores = {}
    for line in lines:
        if "error" not in line:
            stores.setdefault(line["store"], []).append(line)
    if stores:
        first = next(iter(stores.values()))[0]
        loads = [line["load_before"] for line in lines]
        text += [f'{first["cpu"]}; commit {first["commit"]}; {first["date"][:10]}; load before a '
                 f"run {min(loads):.1f} to {max(loads):.1f}", "",
                 *seen_table.align([HEAD] + [cells(runs, stores.get(OURS))
                                             for runs in stores.values()])]
    text += [f'{line["store"]}: {line["error"]}' for line in lines if "error" in line]
    return "\n".join(text)


def title(options):
    cap = f"{options.cap / 2**20:g} MiB" if options.cap else "no cap"
    return (f"{seen_table.short(options.ops)} requests, {seen_table.short(options.stored)} keys "
            f"before, {cap}")


def run(options, folder, name):
    """One run: its line, or one with an error."""
    path = folder / "store"
    load = round(os.getloadavg()[0], 2)
    words = [str(pathlib.Path(options.build_dir).resolve() / f"bin/insert_{name}"), str(path),
             str(options.ops), "--cap", str(options.cap), "--stored", str(options.stored)]
    words += ["--memory", str(options.memory)] if name == OURS else ["--stop", str(options.stop)]
    line = run_line(words, options.cap, 4 * options.stop + 600, {"store": name})
    line.update(bench="insert", case=title(options), load_before=load)
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    os.sync()
    return line


def insert(options):
    """The verb."""
    check_cap(options.cap)
    if options.install_peers:
        install_packages([PACKAGES[name] for name in options.peers])
    if not options.no_build:
        build(pathlib.Path(options.build_dir).resolve(), "crawlstore_insert")
    names = [OURS, *options.peers]
    missing = [name for name in names
               if not (pathlib.Path(options.build_dir) / f"bin/insert_{name}").exists()]
    if missing:
        raise Failure(f"not built: {', '.join(missing)}; --install-peers, or name others with "
                      "--peers", 3)
    keep, kept = keeper(options.save)
    lines = []
    with tempfile.TemporaryDirectory(prefix="crawlstore-insert-", dir=options.dir) as folder:
        for turn in range(options.runs):
            for name in names:
                line = run(options, pathlib.Path(folder), name)
                found = line.get("error") or f'{1e6 / line["ops_per_s"]:.2f} us'
                say(f"  {turn + 1}: {name}: {found}")
                keep(line)
                lines.append(line)
    print(table(lines) + "\n", flush=True)
    if kept:
        say(f"kept in {kept}")


def add_verb(verbs):
    verb = verbs.add_parser("insert", help="ask and tell one key at a time")
    verb.add_argument("--ops", type=parse_number, default=50 * 10**6, metavar="N",
                      help="requests (default 50M)")
    verb.add_argument("--stored", type=parse_number, default=0, metavar="N",
                      help="keys that are there before the first request (default 0)")
    verb.add_argument("--cap", type=parse_cap, default=0, metavar="SIZE",
                      help="memory, page cache included; needs root (default none)")
    verb.add_argument("--memory", type=int, default=64, metavar="MIB",
                      help="of our arrays (default 64)")
    verb.add_argument("--peers", type=functools.partial(parse_peers, PACKAGES),
                      default=list(PACKAGES), metavar="A,B",
                      help=f"all (default), none, or of: {', '.join(PACKAGES)}")
    verb.add_argument("--runs", type=int, default=3, metavar="N",
                      help="of each, in turns; medians count (default 3)")
    verb.add_argument("--stop", type=int, default=150, metavar="SECONDS",
                      help="a peer gets no new requests after that time (default 150)")
    verb.add_argument("--dir", default=None, metavar="FOLDER",
                      help="where the stores are written (default: the build folder)")
    return verb
