# SPDX-License-Identifier: Apache-2.0
"""Queues, verification and compaction."""

import pytest

import pycrawlstore as pc


def test_pages_leave_a_queue_by_priority(tmp_path):
    with pc.open(tmp_path / "my.crawl") as store:
        queue = store.queue()
        queue.push([5, 6, 7, 8], [1, 3, 3, 2])
        queue.push([5], [9])
        assert len(queue) == 4 and queue.remove([8, 99]) == 1
        pages, priorities = queue.pop(2)
        assert (pages.tolist(), priorities.tolist()) == ([5, 6], [9, 3])
        assert queue.pop(10)[0].tolist() == [7] and queue.pop(1)[0].tolist() == []
        with pytest.raises(pc.ArgumentError):
            queue.push([1], [float("nan")])


def test_verification_finds_what_is_not_whole(tmp_path):
    path = tmp_path / "my.crawl"
    with pc.open(path) as store:
        store.seen().insert("http://a.test/")
    told = []
    result = pc.verify(path, "deep", progress=lambda done, total: told.append(done))
    assert not result.is_damaged and result.checked_bytes > 0
    raw = bytearray(path.read_bytes())
    raw[4096:] = bytes(len(raw) - 4096)
    path.write_bytes(raw)
    result = pc.verify(path)
    assert result.is_damaged and result.findings[0].kind == "damaged"
    assert result.finding_count == len(result.findings) and result.findings[0].message


def test_compaction_gives_room_back_and_can_be_stopped(tmp_path):
    class Enough(Exception):
        pass

    def stop(done, total):
        raise Enough

    with pc.open(tmp_path / "my.crawl") as store:
        seen = store.seen()
        for part in range(4):
            seen.insert_many([f"http://a.test/{part}/{i}" for i in range(20_000)])
            seen.merge()
        with pytest.raises(Enough):
            store.compact(stop)
        report = store.compact()
        assert report.bytes_after <= report.bytes_before
        assert report.bytes_after == store.info().file_bytes
