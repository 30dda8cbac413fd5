# SPDX-License-Identifier: Apache-2.0
"""The model that `seen` is compared with: a set of URLs, normalised by spec/url.py."""

import functools
import sys

from command import SOURCE

sys.path.insert(0, str(SOURCE / "spec"))
import url as url_spec  # noqa: E402  pylint: disable=wrong-import-position


@functools.lru_cache(maxsize=None)
def normalise(url):
    """(text, host, parsed) of any bytes."""
    return url_spec.normalise(url)


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
