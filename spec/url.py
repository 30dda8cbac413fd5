# SPDX-License-Identifier: Apache-2.0
"""URL keys and Page keys: the normalised text of a URL, its host, and what is hashed of them."""
import re
from collections import namedtuple

from xxh3 import xxh3_64, xxh3_128

HEAD_MAX = 4096
PORTS = {b'http': b'80', b'https': b'443', b'ftp': b'21', b'ws': b'80', b'wss': b'443'}

PageKey = namedtuple('PageKey', 'head tail witness')

# RFC 3986, appendix A.
_HEX = rb'[0-9A-Fa-f]'
_ESCAPE = rb'%' + _HEX + _HEX
_UNRESERVED_OR_SUB = rb"A-Za-z0-9._~!$&'()*+,;=-"


def _any_of(characters):
    return rb'(?:[' + characters + _UNRESERVED_OR_SUB + rb']|' + _ESCAPE + rb')'


_PCHAR, _QUERY, _REGISTERED, _USER = map(_any_of, (rb':@', rb':@/?', rb'', rb':'))
_OCTET = rb'(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9][0-9]|[0-9])'
_H16 = _HEX + rb'{1,4}'
_LS32 = rb'(?:' + _H16 + rb':' + _H16 + rb'|' + rb'\.'.join([_OCTET] * 4) + rb')'


def _ipv6(before, after):
    """At most `before` groups and one before the "::", `after` of them behind it, then LS32."""
    front = b'' if before is None else rb'(?:(?:%s:){0,%d}%s)?' % (_H16, before, _H16)
    return front + rb'::' + after


_IPV6 = rb'(?:' + rb'|'.join([
    rb'(?:' + _H16 + rb':){6}' + _LS32,
    _ipv6(None, rb'(?:' + _H16 + rb':){5}' + _LS32),
    _ipv6(0, rb'(?:' + _H16 + rb':){4}' + _LS32),
    _ipv6(1, rb'(?:' + _H16 + rb':){3}' + _LS32),
    _ipv6(2, rb'(?:' + _H16 + rb':){2}' + _LS32),
    _ipv6(3, _H16 + rb':' + _LS32),
    _ipv6(4, _LS32),
    _ipv6(5, _H16),
    _ipv6(6, b'')]) + rb')'
_LITERAL = rb'\[(?:' + _IPV6 + rb'|[vV]' + _HEX + rb'+\.[:' + _UNRESERVED_OR_SUB + rb']+)\]'
_AUTHORITY = re.compile(rb'(?:(?P<user>' + _USER + rb'*)@)?(?P<host>' + _LITERAL + rb'|' +
                        _REGISTERED + rb'*)(?::(?P<port>[0-9]*))?')
_SCHEME = re.compile(rb'([A-Za-z][A-Za-z0-9+.-]*):')
_PATH = re.compile(rb'(?:' + _PCHAR + rb'|/)*')
_QUERY_OR_FRAGMENT = re.compile(_QUERY + rb'*')

Parts = namedtuple('Parts', 'scheme user host port path query')   # absent: None; no fragment


def parse(url):
    """The components of a URL that is parsed (URL keys rule 2), else None."""
    found = _SCHEME.match(url)
    if not found:
        return None
    scheme, rest = found[1], url[found.end():]
    rest, _, fragment = rest.partition(b'#')
    before, mark, query = rest.partition(b'?')
    query = query if mark else None
    authority = None
    if before.startswith(b'//'):
        end = before.find(b'/', 2)
        authority, path = (before[2:], b'') if end < 0 else (before[2:end], before[end:])
    else:
        path = before
    if found.end() + (0 if authority is None else 2 + len(authority)) > HEAD_MAX:
        return None
    if not (_PATH.fullmatch(path) and _QUERY_OR_FRAGMENT.fullmatch(query or b'') and
            _QUERY_OR_FRAGMENT.fullmatch(fragment)):
        return None
    if authority is None:
        return Parts(scheme, None, None, None, path, query)
    found = _AUTHORITY.fullmatch(authority)
    return found and Parts(scheme, found['user'], found['host'], found['port'], path, query)


def _upper_escapes(text):
    return re.sub(_ESCAPE, lambda escape: escape[0].upper(), text)


def remove_dot_segments(path):
    """RFC 3986, 5.2.4, of a path that is empty or begins with "/"."""
    out = []
    segments = path.split(b'/')[1:]
    for segment in segments:
        if segment == b'..':
            del out[-1:]
        elif segment != b'.':
            out.append(segment)
    if segments and segments[-1] in (b'.', b'..'):
        out.append(b'')
    return b''.join(b'/' + segment for segment in out)


def normalise(url):
    """(normalised text, host, whether it was parsed): URL keys rules 1 to 11, Page keys rule 1."""
    parts = parse(url)
    if parts is None:
        return url, b'', False
    scheme = parts.scheme.lower()
    text, host, path = scheme + b':', b'', _upper_escapes(parts.path)
    if parts.host is not None:
        host, port = _upper_escapes(parts.host.lower()), parts.port
        text += b'//'
        if parts.user is not None:
            text += _upper_escapes(parts.user) + b'@'
        text += host
        port = port and (port.lstrip(b'0') or b'0')
        if port and port != PORTS.get(scheme):
            text += b':' + port
        path = remove_dot_segments(path)
        if not path and scheme in PORTS:
            path = b'/'
    text += path
    if parts.query is not None:
        text += b'?' + _upper_escapes(parts.query)
    return text, host, True


def page_key(url, seed):
    """Page keys rules 1 to 4."""
    text, host, _ = normalise(url)
    high, low = xxh3_128(text, seed)
    return PageKey(xxh3_64(host, seed), low, high >> 32)
