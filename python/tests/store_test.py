# SPDX-License-Identifier: Apache-2.0
"""Stores, transactions, sets and errors."""

import errno
import os
import pickle

import numpy
import pytest

import pycrawlstore as pc

A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"


@pytest.fixture(name="path")
def fixture_path(tmp_path):
    return tmp_path / "my.crawl"


def test_insert_says_once_that_a_url_is_new(path):
    with pc.open(path) as store:
        seen = store.seen()
        assert [seen.insert(A), seen.insert("HTTP://A.test:80/#top"), seen.insert(A.encode())] == [
            True, False, False]
        assert seen.contains(A) and A in seen and B not in seen
    with pc.open(path, mode="open") as store:
        assert A in store.seen()


def test_insert_many_takes_lists_and_packed_bytes(path):
    packed = (A + B + A).encode(), numpy.cumsum([len(A), len(B), len(A)])
    with pc.open(path) as store:
        seen = store.seen()
        new = seen.insert_many(packed)
        assert new.dtype == bool and new.tolist() == [True, True, False]
        assert seen.insert_many([B, C, C.encode()]).tolist() == [False, True, False]
        assert seen.contains_many([C, "http://d.test/"]).tolist() == [True, False]
        assert seen.insert_many([]).tolist() == []
        assert seen.insert_many([A, B]).tolist() == [False, False]
        seen.merge()
        assert seen.status().key_count == 3


@pytest.mark.parametrize("urls, kind", [
    ((b"abc", [2, 4]), ValueError), ((b"abc", [3, 2]), pc.ArgumentError),
    ((b"abc", [[1], [2]]), ValueError), ("one text", TypeError), ([1], TypeError)])
def test_insert_many_refuses_what_are_no_texts(path, urls, kind):
    with pc.open(path) as store, pytest.raises(kind):
        store.seen().insert_many(urls)


def test_bytes_that_are_no_utf8_come_back_as_they_were(path):
    with pc.open(path) as store:
        frontier = store.frontier()
        frontier.put(b"\xff", b"\x00\xfe")
        item, = frontier.take()
        assert item.group.encode("utf-8", "surrogateescape") == b"\xff"
        assert item.body == b"\x00\xfe"
        assert frontier.drop_group(item.group) == 0


@pytest.mark.parametrize("key_bytes", [8, 16])
def test_keys_are_told_apart_by_all_their_bytes(path, key_bytes):
    first, second = os.urandom(key_bytes), os.urandom(key_bytes)
    last = second[:-1] + bytes([second[-1] ^ 1])
    with pc.open(path) as store:
        keys = store.keys(key_bytes=key_bytes)
        assert keys.insert_many(first + second + first).tolist() == [True, True, False]
        assert keys.contains_many(last + second).tolist() == [False, True]
        keys.add_many(numpy.frombuffer(last, numpy.uint8))
        assert last in keys and not keys.insert(last)
        with pytest.raises(ValueError, match="no multiple"):
            keys.insert_many(first[1:])
        keys.merge()
        assert keys.status()[:2] == (key_bytes, 3)


def test_an_exception_drops_a_transaction_and_its_end_commits_it(path):
    with pc.open(path) as store:
        seen = store.seen()
        with pytest.raises(KeyError), store.transaction():
            seen.insert(A)
            raise KeyError
        assert A not in seen
        with store.transaction() as changes:
            seen.insert(B)
            with pytest.raises(pc.ArgumentError) as failure:
                store.commit()
        assert (failure.value.code, failure.value.name) == (83, "reentrant")
        assert B in seen and changes.generation == store.info().generation


def test_what_has_a_name_is_opened_once(path):
    with pc.open(path) as store:
        assert store.seen() is store.seen() and store.pages() is store.pages()
        assert store.frontier() is store.frontier() is not store.frontier("other")


def test_errors_have_families(path):
    with pytest.raises(pc.SystemFailure) as failure:
        pc.open(path, mode="open")
    assert isinstance(failure.value, OSError) and failure.value.errno == errno.ENOENT
    assert (failure.value.code, failure.value.name) == (63, "not_found")
    copy = pickle.loads(pickle.dumps(failure.value))
    assert (type(copy), str(copy), copy.code) == (pc.SystemFailure, str(failure.value), 63)
    store = pc.open(path)
    seen = store.seen()
    with pytest.raises(pc.LockedError):
        pc.open(path)
    store.close()
    store.close()
    with pytest.raises(pc.ClosedError):
        seen.insert(A)
    with pytest.raises(pc.ClosedError) as failure:
        seen.insert_many([A])
    assert failure.value.answers.tolist() == []
    path.write_bytes(bytes(100000))
    with pytest.raises(pc.CrawlstoreError, match="crawl"):
        pc.open(path)


def test_damage_has_its_place(path):
    with pc.open(path) as store:
        store.seen().insert(A)
    raw = bytearray(path.read_bytes())
    raw[:65536] = bytes(65536)
    raw[:16] = path.read_bytes()[:16]
    path.write_bytes(raw)
    with pytest.raises(pc.DamageError) as failure:
        pc.open(path)
    assert failure.value.offset is not None


def test_a_forked_child_is_told_and_does_no_harm(path):
    with pc.open(path) as store:
        seen = store.seen()
        child = os.fork()
        if child == 0:
            try:
                seen.insert(A)
            except pc.ForkedError:
                os._exit(44)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 44
        assert seen.insert(A)
