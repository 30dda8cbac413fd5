# SPDX-License-Identifier: Apache-2.0
"""Signals and other code between the steps of a call."""

import signal
import sys
import threading
import time

import pytest

import pycrawlstore as pc
from pycrawlstore import binding

A, B = "http://a.test/", "http://b.test/"


class Alarm(Exception):
    """Raised by a handler."""


@pytest.fixture(name="path")
def fixture_path(tmp_path):
    return tmp_path / "my.crawl"


@pytest.fixture(name="alarm")
def fixture_alarm():
    def ring(*_):
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def between_lines(function, work, use):
    """Does `work`, and `use` before each line of `function`."""
    def line(*_):
        use()
        return line

    before = sys.gettrace()
    sys.settrace(lambda frame, *_: line if frame.f_code is function.__code__ else None)
    try:
        return work()
    finally:
        sys.settrace(before)


def test_a_handler_that_raises_while_a_transaction_waits_ends_it(path, alarm):
    with pc.open(path) as store:
        seen, has_begun = store.seen(), threading.Event()

        def hold():
            with store.transaction():
                has_begun.set()
                time.sleep(0.2)

        holder = threading.Thread(target=hold)
        holder.start()
        has_begun.wait()
        alarm(0.05)
        with pytest.raises(Alarm):
            with store.transaction():
                pytest.fail("the handler comes first")
        with store.transaction():
            assert seen.insert(A)
        store.commit()
        holder.join()


def test_a_handle_is_freed_before_what_interrupts_its_making_is_raised(path):
    def interrupted(*arguments):
        assert binding.lib.crwl_store_open(*arguments) == 0
        raise KeyboardInterrupt

    options = binding.struct("store_options")
    with pytest.raises(KeyboardInterrupt) as failure:
        binding.opened("store", binding.lib.crwl_store_free, interrupted, binding.path_of(path),
                       options)
    # The traceback still names all that was made.
    assert failure.tb is not None
    pc.open(path, mode="open").close()


@pytest.mark.parametrize("name", ["insert", "contains"])
def test_an_answer_is_that_of_its_call_whatever_comes_between(path, name):
    with pc.open(path) as store:
        seen, other = store.seen(), store.seen("other")
        other.insert(A)
        ask = getattr(seen, name)
        seen.insert(B)
        url, expected = (A, True) if name == "insert" else (B, True)
        told = between_lines(getattr(pc.Seen, name), lambda: ask(url),
                             lambda: (other.insert(A), other.contains("http://c.test/")))
        assert told is expected


def test_an_error_is_that_of_its_call_whatever_comes_between(path):
    with pc.open(path) as store:
        def fail():
            with pytest.raises(pc.ArgumentError):
                store.set(".a", b"")

        with store.transaction(), pytest.raises(pc.ArgumentError) as failure:
            between_lines(binding.call, store.commit, fail)
        assert failure.value.name == "reentrant"


def test_a_name_is_opened_once_by_many_threads(path):
    with pc.open(path) as store:
        start, opened = threading.Barrier(8), []

        def use():
            start.wait()
            opened.append(store.frontier())

        threads = [threading.Thread(target=use) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(opened) == 8 and set(opened) == {store.frontier("frontier")}


def test_a_thread_in_a_transaction_does_not_wait_for_one_that_opens(path):
    with pc.open(path) as store:
        with store.transaction():
            opener = threading.Thread(target=store.frontier)
            opener.start()
            # It has the lock soon, and waits for the end of the transaction.
            time.sleep(0.1)
            with pytest.raises(pc.ArgumentError) as failure:
                store.keys()
        opener.join()
        assert failure.value.name == "reentrant" and store.keys().status().key_count == 0
