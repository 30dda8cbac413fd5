# SPDX-License-Identifier: Apache-2.0
"""Frontiers."""

import pytest

import pycrawlstore as pc


@pytest.fixture(name="frontier")
def fixture_frontier(tmp_path):
    with pc.open(tmp_path / "my.crawl") as store:
        rule = pc.Rule(delay_ms=0, in_flight_max=8)
        yield store.frontier(default_rule=rule)


def test_items_leave_by_priority_and_are_finished(frontier):
    first, refused = frontier.put_many(["a", "a", "b"], [b"1", b"2", b""], priorities=[1, 2, 0])
    assert refused.tolist() == [False] * 3
    taken = frontier.take(3, per_group=2)
    assert taken == [pc.Item(first + 1, "a", b"2", 2.0, 1), pc.Item(first, "a", b"1", 1.0, 1),
                     pc.Item(first + 2, "b", b"", 0.0, 1)]
    assert frontier.status()[:3] == (0, 3, first + 3)
    assert frontier.finish([item.id for item in taken] + [77]) == pc.Done(3, 0, 1)
    assert frontier.take() == [] and frontier.status().next_due_ms is None


def test_items_that_are_given_back_wait_again(frontier):
    id = frontier.put("a", b"body", priority=0.5)
    now = frontier.status().now_ms
    assert [item.id for item in frontier.take()] == [id]
    assert frontier.give_back([id], [now + 60_000], [True]).done_count == 1
    assert frontier.take() == [] and frontier.status().next_due_ms == now + 60_000
    again, = frontier.take(now_ms=now + 120_000)
    assert (again.id, again.body, again.attempts) == (id, b"body", 2)
    frontier.extend([id], now + 900_000)
    assert frontier.give_back_all() == 1


def test_groups_keep_their_rules(frontier):
    frontier.set_rule("a", pc.Rule(put_max=1, delay_ms=5000))
    frontier.set_rule("b", pc.Rule(is_active=False, parent="a"))
    assert frontier.put("a") is not None and frontier.put("a") is None
    frontier.put("b")
    assert [item.group for item in frontier.take(9)] == ["a"]
    assert frontier.drop_group("b") == 1
    with pytest.raises(pc.ArgumentError):
        frontier.set_rule("a", pc.Rule(delay_ms=1, hard_ms=2))
    with pytest.raises(ValueError, match="shape"):
        frontier.put_many(["a"], priorities=[1, 2])


def test_ids_of_the_caller(tmp_path):
    with pc.open(tmp_path / "own.crawl") as store:
        frontier = store.frontier(own_ids=True, take_commits=False)
        with store.transaction():
            assert frontier.put("a", id=41) == 41
            assert frontier.take()[0].id == 41


def test_frontiers_of_pages(tmp_path):
    path = tmp_path / "pages.crawl"
    with pc.open(path) as store:
        frontier = store.frontier("next", pages="pages")
        with pytest.raises(pc.ArgumentError):
            frontier.put("a.test")
        assert frontier.put("a.test", id=7) == 7
    with pc.open(path) as store:
        with pytest.raises(pc.ArgumentError, match="not of these pages"):
            store.frontier("next", pages="others")
        item, = store.frontier("next", pages="pages").take()
        assert (item.id, item.group, item.body) == (7, "a.test", b"")
