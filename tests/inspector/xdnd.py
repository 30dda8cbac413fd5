# SPDX-License-Identifier: Apache-2.0
"""Drops a file on a window as a file manager does, by the XDND protocol:
https://freedesktop.org/wiki/Specifications/XDND"""

import pathlib
import time
import urllib.parse

from Xlib import X, Xatom, display
from Xlib.protocol import event

VERSION = 5
URI_LIST = "text/uri-list"


class Source:
    """The window that something is dragged from; what is dragged is one file."""

    def __init__(self, name, path):
        self.display = display.Display(name)
        self.uris = f"file://{urllib.parse.quote(bytes(pathlib.Path(path)))}\r\n".encode()
        root = self.display.screen().root
        self.window = root.create_window(0, 0, 1, 1, 0, X.CopyFromParent)
        self.window.set_selection_owner(self.atom("XdndSelection"), X.CurrentTime)
        self.window.change_property(self.atom("XdndTypeList"), Xatom.ATOM, 32,
                                    [self.atom(URI_LIST)])

    def atom(self, name):
        return self.display.intern_atom(name)

    def find_target(self, window=None):
        """The first window that says it takes drops; with a window manager it is deeper down."""
        window = window or self.display.screen().root
        for child in window.query_tree().children:
            if child.get_full_property(self.atom("XdndAware"), X.AnyPropertyType):
                return child
            found = self.find_target(child)
            if found:
                return found
        return None

    def send(self, target, name, *words):
        data = [self.window.id, *words]
        data += [0] * (5 - len(data))
        message = event.ClientMessage(window=target, client_type=self.atom(name),
                                      data=(32, [word & 0xFFFFFFFF for word in data]))
        target.send_event(message)
        self.display.flush()

    def answer(self, request):
        """The target asks for the data: of the one type that was offered."""
        taken = request.property if request.target == self.atom(URI_LIST) else X.NONE
        if taken:
            request.requestor.change_property(taken, request.target, 8, self.uris)
        request.requestor.send_event(event.SelectionNotify(
            time=request.time, requestor=request.requestor, selection=request.selection,
            target=request.target, property=taken))
        self.display.flush()

    def wait_for(self, name, seconds):
        """The target's message of that name: its words. Answers requests for the data meanwhile."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if not self.display.pending_events():
                time.sleep(0.01)
                continue
            happened = self.display.next_event()
            if happened.type == X.SelectionRequest:
                self.answer(happened)
            if happened.type == X.ClientMessage and happened.client_type == self.atom(name):
                return list(happened.data[1])
        raise AssertionError(f"waited {seconds} s for {name}")


def drop(display_name, path, place, seconds):
    """Drags `path` over the place on the screen, and lets it go. AssertionError: nobody took it."""
    source = Source(display_name, path)
    target = source.find_target()
    assert target is not None, "no window takes drops"
    source.send(target, "XdndEnter", VERSION << 24, source.atom(URI_LIST))
    source.send(target, "XdndPosition", 0, place[0] << 16 | place[1], X.CurrentTime,
                source.atom("XdndActionCopy"))
    is_taken = source.wait_for("XdndStatus", seconds)[1] & 1
    assert is_taken, "the window refuses the drop"
    source.send(target, "XdndDrop", 0, X.CurrentTime)
    # Bit 0 says so; GLFW 3.3 puts the number of bytes that it read there.
    is_done = source.wait_for("XdndFinished", seconds)[1] != 0
    source.display.close()
    assert is_done, "the window did not take the drop"
