# SPDX-License-Identifier: Apache-2.0
"""Small values."""

import pytest

import pycrawlstore as pc


@pytest.fixture(name="path")
def fixture_path(tmp_path):
    return tmp_path / "my.crawl"


def test_values_are_kept_by_name(path):
    with pc.open(path) as store:
        assert store.get("offset") is None and store.value_names() == []
        store.set("offset", b"1")
        store.set("offset", b"\0two\0")
        store.set("\u00e9tat", memoryview(bytearray(b"x" * 4096)))
        store.set("empty", b"")
        assert store.get("offset") == b"\0two\0"
    with pc.open(path) as store:
        assert store.value_names() == ["empty", "offset", "\u00e9tat"]
        assert store.get("offset") == b"\0two\0"
        assert store.get("\u00e9tat") == b"x" * 4096
        assert store.get("empty") == b""
        assert store.remove("offset") is True and store.remove("offset") is False
        assert store.get("offset") is None


def test_values_belong_to_a_transaction(path):
    with pc.open(path) as store:
        store.set("offset", b"1")
        with pytest.raises(KeyError), store.transaction():
            store.set("offset", b"2")
            store.set("other", b"2")
            raise KeyError
        assert store.get("offset") == b"1" and store.value_names() == ["offset"]
        with store.transaction():
            store.set("offset", b"2")
            assert store.get("offset") == b"2"
        assert store.get("offset") == b"2"


@pytest.mark.parametrize("name, value, kind", [
    ("", b"", pc.ArgumentError), (".a", b"", pc.ArgumentError), ("a\n", b"", pc.ArgumentError),
    ("n" * 256, b"", pc.ArgumentError), ("a", b"x" * 4097, pc.ArgumentError),
    (None, b"", pc.ArgumentError), ("a\0b", b"", ValueError), (1, b"", TypeError),
    ("a", "text", TypeError), ("a", None, TypeError)])
def test_set_refuses_what_is_no_name_or_value(path, name, value, kind):
    with pc.open(path) as store:
        with pytest.raises(kind):
            store.set(name, value)
        assert store.value_names() == []


def test_values_of_a_closed_store_are_gone(path):
    store = pc.open(path)
    store.close()
    for use in (store.get, store.remove, lambda name: store.set(name, b"")):
        with pytest.raises(pc.ClosedError):
            use("a")
    with pytest.raises(pc.ClosedError):
        store.value_names()
