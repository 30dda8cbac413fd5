#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""crawlstored through gRPC against a server that keeps nothing: service_grpc.py BIN_DIR [COUNT]

Puts COUNT URLs (default 200,000) into each in turns, three times; prints medians of processor and
wall time a URL."""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

TICKS = os.sysconf('SC_CLK_TCK')


def processor_seconds(pid):
    fields = pathlib.Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def measure(load, address, count, server):
    process = subprocess.Popen(server, stderr=subprocess.DEVNULL)
    try:
        time.sleep(1)
        before = processor_seconds(process.pid)
        wall = float(subprocess.run([load, 'load', address, str(count)], check=True,
                                    capture_output=True, text=True).stdout)
        return processor_seconds(process.pid) - before, wall
    finally:
        process.terminate()
        process.wait()


def main():
    bin_dir = pathlib.Path(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 200_000
    load, address = str(bin_dir / 'service_grpc'), '127.0.0.1:17071'
    runs = {'empty': [], 'crawlstored': []}
    for _ in range(3):
        runs['empty'].append(measure(load, address, count, [load, 'empty', address]))
        with tempfile.TemporaryDirectory(prefix='service-') as folder:
            runs['crawlstored'].append(measure(load, address, count, [
                str(bin_dir / 'crawlstored'), f'{folder}/a.crawl', '--listen', address]))
    medians = {name: [statistics.median(column) / count * 1e6 for column in zip(*rows)]
               for name, rows in runs.items()}
    for name, (processor, wall) in medians.items():
        print(f'{name:12} {processor:7.1f} us of processor time a URL, {wall:7.1f} us of wall time')
    (empty, empty_wall), (ours, ours_wall) = medians['empty'], medians['crawlstored']
    print(f'rate: {empty / ours:.2f} of the empty server by processor time, '
          f'{empty_wall / ours_wall:.2f} by wall time')


if __name__ == '__main__':
    main()
