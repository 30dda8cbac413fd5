# SPDX-License-Identifier: Apache-2.0
"""Names in anonymous namespaces. The quick start compiles several sources of a target as one, where
two of them cannot give one name to two things."""

import re

from source import Finding

# The folders of a target, whose sources may be compiled as one.
TARGETS = (("format/",), ("libcrawlstore/",), ("capi/",), ("model/",), ("cli/",), ("inspector/",))
OPENS = re.compile(r'namespace (?:(\w[\w:]*) )?\{$')
NAMES = re.compile(
    r'(?:struct|class|enum(?: class)?|union) (?:alignas\(\w+\) )?(\w+)(?=[^;]*(?:\{|$))'
    r'|using (\w+) ='
    r'|(?:inline |constexpr |const )+[^=({;]*?\b(k[A-Z]\w*)')
FUNCTION = re.compile(r'\w[^()]*?[ &*](\w+\([^()]*\)) \{$')


def names(text):
    """(line, namespace, is_anonymous, name, statement) of types and constants in a file, and of the
    functions of its anonymous namespace with their parameters."""
    scopes = []
    for number, line in enumerate(text.split("\n"), 1):
        opened = OPENS.match(line)
        if opened:
            scopes.append(opened.group(1))
        elif line.startswith("}  // namespace"):
            del scopes[-1:]
        elif scopes and line[:1].isalpha():
            is_anonymous = scopes[-1] is None
            found = NAMES.match(line) or (FUNCTION.match(line) if is_anonymous else None)
            if found:
                yield (number, "::".join(filter(None, scopes)), is_anonymous,
                       next(filter(None, found.groups())), line)


def check_own_names(tree):
    """A name of an anonymous namespace is that of no other thing in the same target."""
    for folders in TARGETS:
        places = {}
        for path, text in tree.cxx(*folders):
            for line, scope, is_anonymous, name, statement in names(text):
                places.setdefault((scope, name), []).append((path, line, is_anonymous, statement))
        for (scope, name), found in places.items():
            first, *others = sorted(found, key=lambda place: place[2])
            for path, line, is_anonymous, statement in others:
                # Two aliases of one type are no two things.
                is_alias = statement.startswith("using ") and statement == first[3]
                if is_anonymous and path != first[0] and not is_alias:
                    yield Finding(path, line, f"{name} is also in {first[0]}, in the same "
                                  "namespace: the quick start compiles both as one source")


RULES = [check_own_names]
