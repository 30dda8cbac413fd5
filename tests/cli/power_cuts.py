# SPDX-License-Identifier: Apache-2.0
"""The possible contents of a disk after a power cut, made from those that recorded_disk.py has
logged.

Invariants: all that was written before the last flush is there. Any of the writes since then are
there, in whole or in any of their sectors: a disk promises no order between flushes.
"""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import recorded_disk

SECTOR = 512
# The least that mkfs.xfs and mkfs.btrfs make, nearly.
IMAGE_BYTES = {"ext4": 64 << 20, "xfs": 300 << 20, "btrfs": 160 << 20}
MAKE = {"ext4": ["mkfs.ext4", "-q", "-F"], "xfs": ["mkfs.xfs", "-q", "-f"],
        "btrfs": ["mkfs.btrfs", "-q", "-f"]}
KINDS = ("none", "prefix", "subset", "torn")


def missing(kind, served=True):
    """Why there can be no images of this file system here; None when there can.

    Those that recorded_disk.py serves need more than a loop device.
    """
    if os.getuid() != 0:
        return "needs root, to mount file systems"
    for path in ("/dev/loop-control", "/dev/fuse")[:1 + served]:
        if not os.path.exists(path):
            return f"no {path}"
    for name in ("losetup", "mount", "umount", MAKE[kind][0]):
        if not shutil.which(name):
            return f"no {name}"
    known = pathlib.Path("/proc/filesystems").read_text().split()
    for name in (kind, "fuse")[:1 + served]:
        if name not in known and not is_module(name):
            return f"the kernel has no file system {name}"
    return None


def is_module(name):
    return shutil.which("modprobe") and subprocess.run(
        ["modprobe", "-qn", name], check=False).returncode == 0


def run(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        raise OSError(f"{' '.join(map(str, words))}: {done.stdout.decode(errors='replace')}")
    return done.stdout.decode().strip()


def unmount(folder):
    """Again while something that just ended still has it."""
    for attempt in range(50):
        with contextlib.suppress(OSError):
            return run("umount", folder)
        time.sleep(0.02 * attempt)
    return run("umount", folder)


@contextlib.contextmanager
def private_folder():
    """In memory, and seen by this process and its children only: see leave_mounts()."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="crawlstore-power-"))
    try:
        run("mount", "-t", "tmpfs", "-o", "size=4G", "tmpfs", folder)
        try:
            yield folder
        finally:
            unmount(folder)
    finally:
        folder.rmdir()


@contextlib.contextmanager
def mounted(image, kind, folder):
    """The image as a file system at `folder`; its loop device goes when it is unmounted."""
    folder.mkdir(exist_ok=True)
    device = run("losetup", "--find", "--show", image)
    try:
        run("mount", "-t", kind, "-o", "noatime", device, folder)
    finally:
        run("losetup", "--detach", device)
    try:
        yield folder
    finally:
        unmount(folder)


def make_image(path, kind):
    """An empty file system."""
    path.touch()
    os.truncate(path, IMAGE_BYTES[kind])
    run(*MAKE[kind], path)


@contextlib.contextmanager
def recording(folder, kind):
    """(folder on a recorded disk, mark): mark(bytes) notes in the log what was acknowledged."""
    image, served = folder / "image", folder / "served"
    make_image(image, kind)
    shutil.copyfile(image, folder / "base")
    server = subprocess.Popen(
        [sys.executable, "-B", recorded_disk.__file__, image, folder / "log", served],
        stdout=subprocess.PIPE, start_new_session=True)
    try:
        if server.stdout.readline() != b"mounted\n":
            raise OSError("no file system of our own can be mounted")
        try:
            with mounted(served / "disk", kind, folder / "recorded") as root:
                yield root, (served / "mark").write_bytes
        finally:
            unmount(served)
    finally:
        server.kill()
        server.communicate()


class Cut:
    """All that came before epoch `first` is there, and of the writes since then those that are
    `kept`."""

    def __init__(self, name, first, kept, mark):
        self.name, self.first, self.kept, self.mark = name, first, kept, mark


class Recording:
    """Epochs, each between two flushes: their writes, and the last mark until their end."""

    def __init__(self, log):
        self.epochs = [[]]
        for kind, offset, data in recorded_disk.records(log):
            if kind == recorded_disk.FLUSH:
                self.epochs.append([])
            else:
                self.epochs[-1].append((kind, offset, data))
        self.flushes = len(self.epochs) - 1

    def writes(self, epoch):
        return [(offset, data) for kind, offset, data in self.epochs[epoch]
                if kind == recorded_disk.WRITE]

    def mark_before(self, epoch, position):
        """The last mark in front of a record; None where there is none yet."""
        for records in (self.epochs[epoch][:position], *reversed(self.epochs[:epoch])):
            for kind, _, data in reversed(records):
                if kind == recorded_disk.MARK:
                    return data
        return None

    def cuts(self, generator, per_epoch, most=None, lies=0):
        """In the order of time; `most` of them come from all marks alike.

        A disk that `lies` answers so many flushes before it obeys.
        """
        after = {}
        for epoch in range(lies, len(self.epochs)):
            if self.writes(epoch):
                after.setdefault(self.mark_before(epoch, 0), []).append(epoch)
        ranked = []
        for epochs in after.values():
            generator.shuffle(epochs)
            ranked += ((rank, generator.random(), epoch) for rank, epoch in enumerate(epochs))
        for epoch in sorted(epoch for _, _, epoch in sorted(ranked)[:most]):
            others = generator.choices(KINDS[1:], k=per_epoch)
            for kind in ["none", *others][:per_epoch] if per_epoch > 1 else [
                    generator.choice(KINDS)]:
                yield self.cut(generator, epoch, kind, lies)

    def cut(self, generator, epoch, kind, lies=0):
        position = len(self.epochs[epoch])
        if kind == "prefix":
            position = generator.randrange(position + 1)
        mark = self.mark_before(epoch, position)
        records = [*(record for before in range(epoch - lies, epoch)
                     for record in self.epochs[before]), *self.epochs[epoch][:position]]
        writes = [record[1:] for record in records if record[0] == recorded_disk.WRITE]
        name = f"epoch {epoch} of {len(self.epochs)}, {kind} of {len(writes)} writes"
        return Cut(name, epoch - lies, list(keep(generator, kind, writes)), mark)


def keep(generator, kind, writes):
    """Those of the writes that reached the disk."""
    share = {"none": 0, "prefix": 1}.get(kind) or generator.choice((0.25, 0.5, 0.75, 0.9))
    if kind == "none":
        return
    for offset, data in writes:
        if kind == "torn" and generator.random() < 0.5:
            for begin in range(0, len(data), SECTOR):
                if generator.random() < share:
                    yield offset + begin, data[begin:begin + SECTOR]
        elif generator.random() < share:
            yield offset, data


class Images:
    """Makes the image of one cut after another, in the order of time."""

    def __init__(self, folder, record):
        self.durable, self.image, self.record = folder / "durable", folder / "cut", record
        shutil.copyfile(folder / "base", self.durable)
        self.epoch = 0

    def make(self, cut):
        for epoch in range(self.epoch, cut.first):
            overwrite(self.durable, self.record.writes(epoch))
        self.epoch = cut.first
        run("cp", "--sparse=always", self.durable, self.image)
        overwrite(self.image, cut.kept)
        return self.image


def overwrite(path, writes):
    with open(path, "r+b", buffering=0) as file:
        for offset, data in writes:
            os.pwrite(file.fileno(), data, offset)


def run_tests(reason):
    """The main() of a test that mounts: skipped when there is a reason to."""
    try:
        if not reason:
            recorded_disk.leave_mounts()
    except OSError as error:
        reason = str(error)
    if reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that nothing stays mounted
    unittest.main()
