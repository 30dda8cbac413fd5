# SPDX-License-Identifier: Apache-2.0
"""Arguments that are refused, before anything has changed, and ends of transactions."""

import array
import contextlib
import os
import resource

import numpy
import pytest

import pycrawlstore as pc

A, B = "http://a.test/", "http://b.test/"
WORDS = array.array("I", [1, 2])


@pytest.fixture(name="path")
def fixture_path(tmp_path):
    return tmp_path / "my.crawl"


@pytest.fixture(name="store")
def fixture_store(path):
    with pc.open(path) as store:
        yield store


@pytest.mark.parametrize("texts", [
    [b"x", WORDS], [memoryview(WORDS)], [numpy.zeros(2, numpy.uint32)],
    [numpy.zeros((2, 2), numpy.uint8)], (WORDS, [4]), [None], [5]])
def test_texts_are_items_of_a_byte(store, texts):
    with pytest.raises(TypeError):
        store.seen().insert_many(texts)


def test_buffers_of_bytes_are_texts(store):
    raw = numpy.frombuffer(A.encode(), numpy.uint8)
    texts = [A, raw, bytearray(A.encode()), memoryview(A.encode()), numpy.bytes_(B)]
    assert store.seen().insert_many(texts).tolist() == [True, False, False, False, True]
    assert store.seen().contains_many((raw, [len(raw)])).tolist() == [True]
    store.pages().add(raw, hash=WORDS)
    store.pages().merge()
    assert store.seen().contains(A)


@pytest.mark.parametrize("use, names", [
    (lambda store: pc.open("x.crawl", mode="other"), "open_or_create, open, create"),
    (lambda store: pc.verify("x.crawl", level="other"), "quick, normal, deep"),
    (lambda store: store.frontier().take(order="other"), "best, longest_waiting"),
    (lambda store: store.frontier().take(order=["best"]), "best, longest_waiting"),
    (lambda store: store.pages().add(A, outcome="other"), "page, known, gone")])
def test_an_unknown_choice_is_told_all(store, use, names):
    with pytest.raises(pc.ArgumentError, match=f"there is no .*, but {names}") as failure:
        use(store)
    assert (failure.value.code, failure.value.name) == (80, "invalid_argument")


@pytest.mark.parametrize("use", [pc.open, pc.View, pc.verify])
def test_a_path_has_no_default(use):
    with pytest.raises(TypeError, match="NoneType"):
        use(None)


@pytest.mark.parametrize("count", [0, 2])
def test_one_key_is_not_none_or_two(store, count):
    keys, given = store.keys(), os.urandom(16 * count)
    for ask in (keys.insert, keys.contains):
        with pytest.raises(pc.ArgumentError, match="one key"):
            ask(given)
    assert not keys.contains_many(given).any()


@pytest.mark.parametrize("ids, kind", [
    ([1.9], TypeError), (numpy.ones(1), TypeError), (["1"], TypeError), ([None], TypeError),
    ([-1], pc.ArgumentError), (numpy.array([-1]), pc.ArgumentError),
    ([2**63, -1], pc.ArgumentError), ([2**64], OverflowError)])
def test_ids_are_whole_numbers(store, ids, kind):
    frontier = store.frontier()
    frontier.put("a")
    id = frontier.take()[0].id
    for use in (frontier.finish, frontier.give_back, lambda ids: frontier.extend(ids, 0)):
        with pytest.raises(kind):
            use(ids)
    assert frontier.finish([]).done_count == 0
    assert frontier.finish([2**63, numpy.uint8(id)]) == pc.Done(1, 0, 1)


@pytest.mark.parametrize("field", ["damping", "precision", "max_iterations"])
def test_zero_is_no_default_of_a_rank(store, field):
    with pytest.raises(pc.ArgumentError, match=f"{field} must be above 0"):
        store.rank(**{field: 0})


def test_default_names_are_names(store):
    for use, name in [(store.seen, "urls"), (store.keys, "keys"), (store.pages, "pages"),
                      (store.frontier, "frontier"), (store.queue, "queue")]:
        assert use() is use(name) is use(name.encode()), name


@pytest.mark.parametrize("end", ["commit", "drop"])
def test_a_transaction_that_has_ended_ends_its_with(store, end):
    seen, changes = store.seen(), store.transaction()
    with pytest.raises(pc.ArgumentError, match="has not begun"):
        getattr(changes, end)()
    with changes:
        seen.insert(A)
        getattr(changes, end)()
        # Outside of it, and so not dropped with what follows.
        seen.insert(B)
    assert (A in seen, B in seen) == (end == "commit", True)
    assert (changes.generation is not None) == (end == "commit")
    with pytest.raises(KeyError), changes:
        seen.insert("http://c.test/")
        raise KeyError
    assert "http://c.test/" not in seen and changes.generation is None


@contextlib.contextmanager
def no_file_grows_beyond(byte_count):
    """Limits the length of files, which acts like a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (byte_count, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("has_room", [False, True])
def test_a_commit_that_fails_can_be_tried_again_inside_of_a_with(path, store, has_room):
    frontier = store.frontier(take_commits=False)
    store.commit()
    with contextlib.nullcontext() if has_room else pytest.raises(pc.SystemFailure):
        with contextlib.ExitStack() as limits, store.transaction() as changes:
            limits.enter_context(no_file_grows_beyond(path.stat().st_size))
            frontier.put_many(["a"] * 50, [bytes(60_000)] * 50)
            with pytest.raises(pc.SystemFailure):
                changes.commit()
            assert frontier.status().waiting_count == 50
            if has_room:
                limits.close()
    assert frontier.status().waiting_count == (50 if has_room else 0)
    assert store.commit() == store.info().generation
