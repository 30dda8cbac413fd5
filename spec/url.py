# SPDX-License-Identifier: Apache-2.0
"""URL keys and Page keys: the normalised text of a URL, its host, and what is hashed of them.

Only hosts beyond ASCII need more than Python: Debian's package python3-idna.
"""
import ipaddress
import re
import unicodedata
from collections import namedtuple
from urllib.parse import unquote_to_bytes

from xxh3 import xxh3_64, xxh3_128

TEXT_MAX, HOST_MAX = 16777216, 4096
PORTS = {b'http': 80, b'https': 443, b'ws': 80, b'wss': 443, b'ftp': 21, b'file': None}

PageKey = namedtuple('PageKey', 'head tail witness')


class Refused(Exception):
    """An input is not parsed (URL keys rule 2)."""


def demand(condition):
    if not condition:
        raise Refused


def any_of(characters):
    return re.compile(b'[' + re.escape(characters) + b']')


C0_BYTES = bytes([*range(0x20), *range(0x7F, 0x100)])
QUERY_BYTES = C0_BYTES + b' "#<>'
PATH_BYTES = QUERY_BYTES + b'?^`{}'
C0, QUERY, SPECIAL_QUERY, PATH, USER = map(any_of, (
    C0_BYTES, QUERY_BYTES, QUERY_BYTES + b"'", PATH_BYTES, PATH_BYTES + b'/:;=@[\\]|'))
FORBIDDEN_IN_NAME = b'\x00\t\n\r #/:<>?@[\\]^|'
FORBIDDEN = any_of(FORBIDDEN_IN_NAME)
FORBIDDEN_IN_SPECIAL = any_of(FORBIDDEN_IN_NAME + b'%\x7F' + bytes(range(0x20)))

SCHEME = re.compile(rb'([A-Za-z][A-Za-z0-9+.-]*):')
# An escape; or a "%" that is none and, if one stands where it may not be decoded, an escape.
PERCENT = re.compile(rb'%(?:([0-9A-Fa-f]{2})|[0-9A-Fa-f]?%[0-9A-Fa-f]{2})?')
UNRESERVED = re.compile(rb'[A-Za-z0-9._~-]')
PORT_COLON = re.compile(rb'\[[^\]]*\]?|(:)')
DRIVE = re.compile(rb'[A-Za-z][:|]')
LAST_NUMBER = re.compile(rb'[0-9]+|0x[0-9a-f]*')
ZEROS = re.compile(r'\b0(?::0)+\b')


def plain(text):
    """Rule 11: escapes of unreserved bytes decoded, digits of the others in upper case."""
    def one(found):
        if found[1]:
            byte = bytes.fromhex(found[1].decode())
            if UNRESERVED.match(byte):
                return byte
        return found[0][:-3] + found[0][-3:].upper()
    return PERCENT.sub(one, text)


def escape(text, escaped):
    return escaped.sub(lambda found: b'%%%02X' % ord(found[0]), plain(text))


# Hosts beyond ASCII

# The mapping by ToASCII of Unicode 16 of characters of Unicode 14, where Unicode 14 refuses them
# (or, U+1E9E, maps them to "ss"); an empty text stands for a character that is ignored.
UNICODE_16 = {
    '\u04C0': '\u04CF', '\u1E9E': '\xDF', '\u2132': '\u214E',
    '\u2183': '\u2184', '\U0002F868': '\u36FC', '\U0002F874': '\u5F53',
    '\U0002F91F': '\U000243AB', '\U0002F95F': '\u7AEE', '\U0002F9BF': '\u45D7',
    **{chr(0x10A0 + i): chr(0x2D00 + i) for i in range(0x26)},
    **{chr(i): '' for i in (
        0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, *range(0x2061, 0x2064), *range(0x206A, 0x2070),
        0x3164, 0xFFA0, *range(0x1D173, 0x1D17B))}}


def mapped(idna, text):
    """The mapping of each character by UTS 46, section 5, in NFC; 'Cn' is not in Unicode 14.0, and
    U+1806 is refused by all data before Unicode 16."""
    out = []
    for character in text:
        demand(unicodedata.category(character) != 'Cn' and character != '\u1806')
        changed = UNICODE_16.get(character)
        out.append(idna.uts46_remap(character, False) if changed is None else changed)
    return unicodedata.normalize('NFC', ''.join(out))


def decoded(label):
    """A label as Unicode: what Punycode behind "xn--" stands for."""
    if not label.startswith('xn--'):
        return label
    punycode = label[4:].encode('ascii')
    label = punycode.decode('punycode')
    demand(not label.isascii() and label.encode('punycode') == punycode)
    return label


def check_label(idna, label):
    """UTS 46, section 4.1, without CheckBidi."""
    demand(not label.startswith('xn--') and '.' not in label and mapped(idna, label) == label)
    demand(unicodedata.category(label[0])[0] != 'M')
    for i, character in enumerate(label):
        demand(character not in '\u200C\u200D' or idna.valid_contextj(label, i))


def import_idna():
    """The package idna, which may know a younger Unicode than 14.0, but Python may not."""
    try:
        import idna  # pylint: disable=import-outside-toplevel
    except ImportError:
        raise ImportError('a URL with a host beyond ASCII needs the package python3-idna') from None
    if unicodedata.unidata_version != '14.0.0':
        raise ImportError('a URL with a host beyond ASCII needs a Python with Unicode 14.0 (3.11)')
    return idna


def to_ascii(name):
    """ToASCII of UTS 46 with the options of rule 7: str to bytes."""
    idna = import_idna()
    try:
        labels = [decoded(label) for label in mapped(idna, name).split('.')]
        demand(len(name) <= 1000 and sum(map(len, labels)) + len(labels) - 1 <= 1000)
        for label in filter(None, labels):
            check_label(idna, label)
        if any(unicodedata.bidirectional(c) in ('R', 'AL', 'AN') for c in ''.join(labels)):
            for label in filter(None, labels):
                idna.check_bidi(label, True)
    except (idna.IDNAError, ValueError):          # UnicodeError is a ValueError
        raise Refused from None
    return b'.'.join(label.encode('ascii') if label.isascii() else
                     b'xn--' + label.encode('punycode') for label in labels)


# Rules 5 to 7: what stands between "//" and the path


def number(label):
    for pattern, base in ((rb'0x([0-9a-f]*)', 16), (rb'0([0-7]*)', 8), (rb'([1-9][0-9]*)', 10)):
        found = re.fullmatch(pattern, label)
        if found:
            return int(found[1] or b'0', base)
    raise Refused


def ipv4(name):
    """Four decimal numbers, if the last label of `name` is a number, else `name`."""
    labels = name.split(b'.')
    if len(labels) > 1 and not labels[-1]:
        labels.pop()
    if not LAST_NUMBER.fullmatch(labels[-1]):
        return name
    demand(len(labels) <= 4)
    *front, last = map(number, labels)
    demand(all(n <= 255 for n in front) and last < 256 ** (4 - len(front)))
    return b'.'.join(b'%d' % n for n in [*front, *last.to_bytes(4 - len(front), 'big')])


def ipv6(literal):
    demand(literal.endswith(b']') and b'%' not in literal)
    try:
        packed = ipaddress.IPv6Address(literal[1:-1].decode('ascii')).packed
    except ValueError:
        raise Refused from None
    text = ':'.join('%x' % int.from_bytes(packed[i:i + 2], 'big') for i in range(0, 16, 2))
    zeros = max(ZEROS.finditer(text), key=lambda run: len(run[0]), default=None)
    if zeros:
        text = (text[:zeros.start()] or ':') + (text[zeros.end():] or ':')
    return b'[' + text.encode() + b']'


def normal_host(host, special):
    demand(len(host) <= HOST_MAX)
    if host.startswith(b'['):
        return ipv6(host)
    if special:
        host = unquote_to_bytes(host)
        try:
            host = host.lower() if host.isascii() else to_ascii(host.decode('utf-8'))
        except UnicodeDecodeError:
            raise Refused from None
        demand(host and not FORBIDDEN_IN_SPECIAL.search(host))
        host = ipv4(host)
    else:
        demand(not FORBIDDEN.search(host))
        host = escape(host, C0)
    demand(len(host) <= HOST_MAX)
    return host


def normal_authority(authority, scheme):
    """(its text, the host in it)"""
    user, at, place = authority.rpartition(b'@')
    demand(place or not at)
    name, _, password = (escape(part, USER) for part in user.partition(b':'))
    colon = next((found.start() for found in PORT_COLON.finditer(place) if found[1]), None)
    host, port = (place, b'') if colon is None else (place[:colon], place[colon + 1:])
    demand(host or scheme not in PORTS and colon is None)
    host = normal_host(host, scheme in PORTS)
    text = (name + (b':' + password if password else b'') + b'@' if name or password else b'')
    text += host
    if port:
        port = port.lstrip(b'0') or b'0'
        demand(port.isdigit() and len(port) <= 5 and int(port) <= 65535)
        text += b':' + port if int(port) != PORTS.get(scheme) else b''
    return text, host


# Rules 8 and 9: paths


def cut_at_slash(text):
    at = text.find(b'/')
    return (text, b'') if at < 0 else (text[:at], text[at:])


def without_dots(path, is_file):
    """`path` is empty or begins with "/"."""
    out = []
    segments = path.split(b'/')[1:]
    for segment in segments:
        if segment == b'..':
            if not (is_file and len(out) == 1 and DRIVE.fullmatch(out[0])):
                del out[-1:]
        elif segment != b'.':
            if is_file and not out and DRIVE.fullmatch(segment):
                segment = segment[:1] + b':'
            out.append(segment)
    if segments and segments[-1] in (b'.', b'..'):
        out.append(b'')
    return b''.join(b'/' + segment for segment in out)


def opaque(path):
    path = escape(path, C0)
    return path[:-1] + b'%20' if path.endswith(b' ') else path


def normal_file(rest):
    """Rule 9: (authority, path), the path not yet normal."""
    host, path = cut_at_slash(rest[2:]) if rest.startswith(b'//') else (b'', rest)
    if DRIVE.fullmatch(host):
        host, path = b'', b'/' + host + path
    host = host and normal_host(host, True)
    return (b'' if host == b'localhost' else host), path if path.startswith(b'/') else b'/' + path


def normal_form(url):
    """(text, host) of what is parsed, else Refused."""
    url = url.strip(bytes(range(0x21))).translate(None, b'\t\n\r')
    found = SCHEME.match(url)
    demand(found)
    scheme = found[1].lower()
    rest, mark, query = url[found.end():].partition(b'#')[0].partition(b'?')
    authority = host = None
    if scheme in PORTS:
        rest = rest.replace(b'\\', b'/')
    if scheme == b'file':
        authority, path = normal_file(rest)
        host = authority
    elif scheme in PORTS or rest.startswith(b'//'):
        authority, path = cut_at_slash(rest.lstrip(b'/') if scheme in PORTS else rest[2:])
        authority, host = normal_authority(authority, scheme)
    else:
        path = rest
    if authority is None and not path.startswith(b'/'):
        path = opaque(path)
    else:
        path = without_dots(escape(path, PATH), scheme == b'file')
        if not path and scheme in PORTS:
            path = b'/'
    if authority is not None:
        path = b'//' + authority + path
    elif path.startswith(b'//'):
        path = b'/.' + path
    query = mark + escape(query, SPECIAL_QUERY if scheme in PORTS else QUERY)
    return scheme + b':' + path + query, host or b''


def normalise(url):
    """(normalised text, host, whether it was parsed): URL keys rules 1 to 11, Page keys rule 1."""
    try:
        text, host = normal_form(url)
        demand(len(text) <= TEXT_MAX)
    except Refused:
        return url, b'', False
    return text, host, True


def rabin_fingerprint(text):
    """URL keys rule 12, of key_scheme 2."""
    rest = int.from_bytes(text, 'big')
    while rest >> 64:
        rest ^= 0x1000000000000001B << rest.bit_length() - 65
    return rest


def page_key(text, seed):
    """Page keys rules 1 to 4."""
    high, low = xxh3_128(text, seed)
    return PageKey(xxh3_64(normalise(text)[1], seed), low, high >> 32)
