# SPDX-License-Identifier: Apache-2.0
"""The shared parts of bench/compare's verbs: numbers, failures, packages of peers, the build,
runs."""

import argparse
import functools
import json
import os
import pathlib
import re
import shlex
import signal
import statistics
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[1]
FACTORS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


class Failure(Exception):
    """Printed without a traceback. code 2: usage; 3: the system said no."""

    def __init__(self, text, code=1):
        super().__init__(text)
        self.code = code


def parse_number(text):
    """50M, 256MiB, 4096."""
    match = re.fullmatch(r"(\d+)([A-Za-z]*)", text)
    if not match or match.group(2) not in FACTORS:
        raise argparse.ArgumentTypeError(f"not a number: {text}")
    return int(match.group(1)) * FACTORS[match.group(2)]


def parse_cap(text):
    return 0 if text == "none" else parse_number(text)


def add_run_options(verb, packages, things):
    """Adds the options of every comparison of stores; `things` are what they write."""
    verb.add_argument("--peers", type=functools.partial(parse_peers, packages),
                      default=list(packages), metavar="A,B",
                      help=f"all (default), none, or of: {', '.join(packages)}")
    verb.add_argument("--runs", type=int, default=3, metavar="N",
                      help="of each, in turns; medians count (default 3)")
    verb.add_argument("--limit", type=int, default=900, metavar="SECONDS",
                      help="a run that takes longer is ended (default 900)")
    verb.add_argument("--dir", default=None, metavar="FOLDER",
                      help=f"where the {things} are written (default: the build folder)")


def parse_peers(packages, text):
    """all, none, or some of the names of `packages`, with commas."""
    names = [] if text == "none" else list(packages) if text == "all" else text.split(",")
    for name in names:
        if name not in packages:
            raise argparse.ArgumentTypeError(
                f"no such peer: {name}; there are all, none, {', '.join(packages)}")
    return names


def median_of(lines, field):
    found = [line[field] for line in lines if field in line]
    return statistics.median(found) if found else None


def say(text):
    print(text, file=sys.stderr, flush=True)


def install_packages(packages):
    script = "set -Eeuo pipefail; source cmake/packages.sh; crawlstore_install_packages \"$@\""
    if subprocess.run(["bash", "-c", script, "compare", *packages], cwd=SOURCE,
                      stdout=sys.stderr).returncode != 0:
        raise Failure("the packages of the peers could not be installed", 3)


def build(folder, target):
    """Configures and builds the drivers; a fresh configuration sees new packages."""
    say("building the drivers ...")
    preset = ["cmake", "--preset", "release", "--log-level=WARNING", "-B", str(folder),
              "-DCRAWLSTORE_BENCH=ON"]
    for command in (preset, ["cmake", "--build", str(folder), "--target", target]):
        done = subprocess.run(command, cwd=SOURCE, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise Failure(f"{done.stdout}\n{shlex.join(command)}: failed", 3)


def keeper(name):
    """A function that appends a line to bench/results/NAME.jsonl; without a name it does nothing.
    And the path, or None."""
    if not name:
        return lambda line: None, None
    kept = SOURCE / f"bench/results/{name}.jsonl"
    kept.parent.mkdir(exist_ok=True)

    def keep(line):
        with open(kept, "a", encoding="ascii") as file:
            file.write(json.dumps(line) + "\n")

    return keep, kept


def check_cap(cap):
    if cap and os.geteuid() != 0:
        raise Failure("a memory cap needs root; run as root, or with --cap none", 3)


def stop_group(process):
    """Ends a run that did not end by itself; with-memory-cap then removes its group."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        os.killpg(process.pid, how)
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            pass


def explain(code, errors):
    """Returns the reason that a failed run is told to have."""
    text = re.sub(r"peak memory of the group.*", "", errors).strip().split("\n")[-1]
    if code in (137, -signal.SIGKILL):
        text = "killed; under a memory cap that means: it needs more memory"
    return f"exit code {code}: {text[-200:]}"


def run_line(words, cap, limit, on_error):
    """Runs a driver, under a cap of so many bytes where that is not 0: its line, or `on_error` with
    an error; and the peak memory of the group."""
    if cap:
        words = [str(SOURCE / "bench/with-memory-cap"), str(cap), *words]
    process = subprocess.Popen(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               start_new_session=True)
    try:
        output, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        errors = None
    finally:
        stop_group(process)
    if errors is None:
        return {**on_error, "error": f"no answer within {limit} s"}
    if process.returncode == 0:
        line = json.loads(output)
    else:
        line = {**on_error, "error": explain(process.returncode, errors)}
    peak = re.search(r"peak memory of the group: (\d+) bytes", errors)
    if peak:
        line["peak_group_bytes"] = int(peak.group(1))
    return line
