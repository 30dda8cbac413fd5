# SPDX-License-Identifier: Apache-2.0
"""The declarations of the C headers, for cffi: they are made without macros for that.

To parse them takes a tenth of a second, so the wheel brings them parsed, as _parsed.py.
"""

import re

import cffi

FOR_CXX = re.compile(r'^#ifdef __cplusplus$.*?^#endif$', re.MULTILINE | re.DOTALL)


def declarations(folder):
    """Returns the declarations of the headers, in the order in which crawlstore.h needs them."""
    includes = re.compile(r'^#include <crawlstore/(\w+\.h)>$', re.MULTILINE)
    order = []

    def visit(name):
        text = (folder / name).read_text(encoding="ascii")
        for other in includes.findall(text):
            if other not in order:
                visit(other)
        order.append(name)
        return text

    visit("crawlstore.h")
    texts = (FOR_CXX.sub("", (folder / name).read_text(encoding="ascii")) for name in order)
    return re.sub(r'^#.*$|///?.*$', "", "\n".join(texts), flags=re.MULTILINE)


def parsed(folder, module=None):
    """The cffi.FFI of the headers; `module`: it can emit a module of this name, in ABI mode."""
    ffi = cffi.FFI()
    if module:
        ffi.set_source(module, None)
    ffi.cdef(declarations(folder))
    return ffi
