# SPDX-License-Identifier: Apache-2.0
"""A block device whose writes are recorded: a loop device over a file that this program serves.

The file is served to the kernel over /dev/fuse, as the only one of a file system. The loop device
hands on each write of a block, and each flush as an fsync; both are written to a log in the order
in which they come, and a flush is answered after all writes before it. dm-log-writes would do the
same, where a kernel has it. Bytes that are written into the file `mark` are logged too.
"""

import ctypes
import errno
import os
import pathlib
import signal
import stat
import struct
import sys

WRITE, FLUSH, MARK = b"W", b"F", b"M"
RECORD = struct.Struct("<cQQ")  # kind, offset, length; the bytes follow

LIBC = ctypes.CDLL(None, use_errno=True)
NEW_MOUNTS = 0x00020000  # CLONE_NEWNS
PRIVATE_BELOW = 0x00044000  # MS_REC | MS_PRIVATE
DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG

ROOT, DISK, MARKS = 1, 2, 3
REQUEST = struct.Struct("<IIQQIIII")
REQUEST_BYTES = 1 << 20  # at most so much in a write
BIG_WRITES, MAX_PAGES = 1 << 5, 1 << 22
LOOKUP, FORGET, GETATTR, SETATTR, OPEN, READ, WRITE_FILE = 1, 2, 3, 4, 14, 15, 16
STATFS, RELEASE = 17, 18
FSYNC, FLUSH_FILE, INIT, INTERRUPT, DESTROY, BATCH_FORGET = 20, 25, 26, 36, 38, 42


def call(name, *words):
    """A system call of libc; OSError when it fails."""
    if getattr(LIBC, name)(*words) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def leave_mounts():
    """Mounts that this process makes from now on, no other sees; they are gone when the last one
    ends."""
    call("unshare", NEW_MOUNTS)
    call("mount", b"none", b"/", None, ctypes.c_ulong(PRIVATE_BELOW), None)


def records(log):
    """(kind, offset, bytes) of a log, in order."""
    with open(log, "rb") as file:
        while head := file.read(RECORD.size):
            kind, offset, length = RECORD.unpack(head)
            yield kind, offset, file.read(length)


class Server:
    """Answers the kernel until the file system is unmounted."""

    def __init__(self, device, image, log):
        self.device = device
        self.image = os.open(image, os.O_RDWR)
        self.log = open(log, "wb", buffering=0)
        self.answers = {
            INIT: self.init, LOOKUP: self.lookup, GETATTR: self.attributes_of,
            SETATTR: self.attributes_of, OPEN: self.open, READ: self.read, WRITE_FILE: self.write,
            STATFS: lambda node, body: bytes(80), RELEASE: lambda node, body: b"",
            FLUSH_FILE: lambda node, body: b"", FSYNC: self.flush}

    def serve(self):
        while True:
            try:
                request = os.read(self.device, REQUEST_BYTES + 4096)
            except OSError as error:
                if error.errno == errno.ENODEV:  # unmounted
                    return
                if error.errno in (errno.EINTR, errno.EAGAIN, errno.ENOENT):
                    continue
                raise
            _, code, number, node, *_ = REQUEST.unpack_from(request)
            if code in (FORGET, BATCH_FORGET, INTERRUPT):  # these want no answer
                continue
            try:
                answer, failure = self.answers[code](node, request[REQUEST.size:]), 0
            except KeyError:
                answer, failure = b"", -errno.ENOSYS
            except OSError as error:
                answer, failure = b"", -error.errno
            os.write(self.device, struct.pack("<IiQ", 16 + len(answer), failure, number) + answer)

    def record(self, kind, offset, data):
        self.log.write(RECORD.pack(kind, offset, len(data)) + data)

    def init(self, _, body):
        ahead = struct.unpack_from("<I", body, 8)[0]
        return struct.pack("<IIIIHHIIHHI28x", 7, 31, ahead, BIG_WRITES | MAX_PAGES, 64, 48,
                           REQUEST_BYTES, 1, REQUEST_BYTES // 4096, 0, 0)

    def attributes(self, node):
        size = os.fstat(self.image).st_size if node == DISK else 0
        mode = stat.S_IFDIR | 0o700 if node == ROOT else stat.S_IFREG | 0o600
        return struct.pack("<6Q10I", node, size, size // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0,
                           4096, 0)

    def attributes_of(self, node, _):
        return struct.pack("<QII", 3600, 0, 0) + self.attributes(node)

    def lookup(self, _, body):
        node = {b"disk": DISK, b"mark": MARKS}.get(body.rstrip(b"\0"))
        if node is None:
            raise OSError(errno.ENOENT, "no such file")
        return struct.pack("<QQQQII", node, 0, 3600, 3600, 0, 0) + self.attributes(node)

    def open(self, _, __):
        return struct.pack("<QII", 0, 1, 0)  # direct: nothing of it is cached

    def read(self, _, body):
        offset, size = struct.unpack_from("<QI", body, 8)
        return os.pread(self.image, size, offset)

    def write(self, node, body):
        offset, size = struct.unpack_from("<QI", body, 8)
        data = body[40:40 + size]
        if node == DISK:
            os.pwrite(self.image, data, offset)
        self.record(WRITE if node == DISK else MARK, offset, data)
        return struct.pack("<II", size, 0)

    def flush(self, node, _):
        if node == DISK:
            self.record(FLUSH, 0, b"")
        return b""


def main():
    image, log, folder = sys.argv[1:]
    call("prctl", DEATH_SIGNAL, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the test, which unmounts, ends this
    device = os.open("/dev/fuse", os.O_RDWR)
    pathlib.Path(folder).mkdir()
    call("mount", b"recorded", os.fsencode(folder), b"fuse", ctypes.c_ulong(0),
         b"fd=%d,rootmode=40000,user_id=0,group_id=0" % device)
    print("mounted", flush=True)
    Server(device, image, log).serve()


if __name__ == "__main__":
    main()
