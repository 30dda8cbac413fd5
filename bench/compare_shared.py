# SPDX-License-Identifier: Apache-2.0
"""What the verbs of bench/compare share: numbers, failures, packages of peers, the build."""

import argparse
import json
import pathlib
import re
import shlex
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
