# SPDX-License-Identifier: Apache-2.0
"""URL normalisation, version 1, once more: from the rules of spec/format.md#url-keys alone, with
regular expressions of RFC 3986, appendix A. The model that `seen` is compared with."""

import functools
import ipaddress
import re

UNRESERVED = rb"[A-Za-z0-9\-._~]"
ESCAPE = rb"%[0-9A-Fa-f]{2}"
SUB_DELIMS = rb"[!$&'()*+,;=]"
PCHAR = rb"(?:" + rb"|".join([UNRESERVED, ESCAPE, SUB_DELIMS, rb"[:@]"]) + rb")"
REG_NAME = rb"(?:" + rb"|".join([UNRESERVED, ESCAPE, SUB_DELIMS]) + rb")*"
USER_INFO = rb"(?:" + rb"|".join([UNRESERVED, ESCAPE, SUB_DELIMS, rb":"]) + rb")*"
IP_FUTURE = rb"[vV][0-9A-Fa-f]+\.(?:[A-Za-z0-9\-._~!$&'()*+,;=:])+"

SCHEME = re.compile(rb"([A-Za-z][A-Za-z0-9+\-.]*):", re.DOTALL)
AUTHORITY = re.compile(rb"(?:(" + USER_INFO + rb")@)?(\[[^\]]*\]|" + REG_NAME + rb")(?::([0-9]*))?",
                       re.DOTALL)
SEGMENTS = re.compile(rb"(?:" + PCHAR + rb"|/)*", re.DOTALL)
QUERY = re.compile(rb"(?:" + PCHAR + rb"|[/?])*", re.DOTALL)
DEFAULT_PORTS = {b"http": b"80", b"https": b"443", b"ftp": b"21", b"ws": b"80", b"wss": b"443"}
HEAD_MAX = 4096


def upper_escapes(text):
    return re.sub(ESCAPE, lambda match: match.group().upper(), text)


def lower_but_escapes(text):
    return b"".join(part.upper() if part.startswith(b"%") and len(part) == 3 else part.lower()
                    for part in re.split(rb"(" + ESCAPE + rb")", text))


def is_ip_literal(text):
    if re.fullmatch(IP_FUTURE, text, re.DOTALL):
        return True
    try:
        return b"%" not in text and bool(ipaddress.IPv6Address(text.decode("ascii")))
    except ValueError:
        return False


def without_dots(path):
    """RFC 3986, section 5.2.4, on whole segments; the path is empty or begins with a slash."""
    out = []
    parts = path.split(b"/")[1:]
    for index, part in enumerate(parts):
        is_last = index + 1 == len(parts)
        if part == b".." and out:
            out.pop()
        if part not in (b".", b".."):
            out.append(part)
        elif is_last:
            out.append(b"")
    return b"".join(b"/" + part for part in out)


def split_head(url):
    """(scheme, authority or None, rest); None when there is no scheme or the head is too long."""
    match = SCHEME.match(url)
    if not match:
        return None
    rest = url[match.end():]
    if not rest.startswith(b"//"):
        return None if match.end() > HEAD_MAX else (match.group(1), None, rest)
    end = min((rest.find(c, 2) for c in (b"/", b"?", b"#") if rest.find(c, 2) >= 0),
              default=len(rest))
    if match.end() + end > HEAD_MAX:
        return None
    return match.group(1), rest[2:end], rest[end:]


@functools.lru_cache(maxsize=None)
def normalise(url):
    """(text, parsed) of any bytes."""
    head = split_head(url)
    if head is None:
        return url, False
    scheme, authority, rest = head
    scheme = scheme.lower()
    rest, hash_mark, fragment = rest.partition(b"#")
    path, question, query = rest.partition(b"?")
    if not (SEGMENTS.fullmatch(path) and QUERY.fullmatch(query) and QUERY.fullmatch(fragment)):
        return url, False
    text = scheme + b":"
    if authority is not None:
        match = AUTHORITY.fullmatch(authority)
        if not match:
            return url, False
        user, host, port = match.groups()
        if host.startswith(b"[") and not is_ip_literal(host[1:-1]):
            return url, False
        text += b"//" + (upper_escapes(user) + b"@" if user is not None else b"")
        text += lower_but_escapes(host)
        if port:
            port = port.lstrip(b"0") or b"0"
        if port and port != DEFAULT_PORTS.get(scheme):
            text += b":" + port
        path = without_dots(path)
        if not path and scheme in DEFAULT_PORTS:
            path = b"/"
    elif path.startswith(b"//"):
        return url, False
    return text + upper_escapes(path) + question + upper_escapes(query), True


class Seen:
    """A set of normalised keys: what `seen --check-update` answers, in the order of the input."""

    def __init__(self, raw=False):
        self.keys = set()
        self.raw = raw

    def key(self, url):
        return url if self.raw else normalise(url)[0]

    def check_update(self, url):
        key = self.key(url)
        if key in self.keys:
            return b"duplicate"
        self.keys.add(key)
        return b"unique"

    def check(self, url):
        return b"duplicate" if self.key(url) in self.keys else b"unique"


def by_key(verdicts, model):
    """{key: [(verdict, url)]}: what must agree, whatever the order between keys is."""
    found = {}
    for verdict, url in verdicts:
        found.setdefault(model.key(url), []).append((verdict, url))
    return found
