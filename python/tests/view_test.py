# SPDX-License-Identifier: Apache-2.0
"""Views: columns, links and scores, beside a writer."""

import gc
import pathlib
import subprocess
import threading
import time

import numpy
import pandas
import pytest

import pycrawlstore as pc

A, B, C, OTHER = "http://a.test/", "http://b.test/", "http://c.test/", "http://\u00fc.test/\u00e4"
CNR = pathlib.Path(__file__).resolve().parents[3] / "shared/data/graphs/cnr-2000.adj.zst"


@pytest.fixture(name="path")
def fixture_path(tmp_path):
    """Three pages: A links to both others, and C to A; with PageRank."""
    path = tmp_path / "my.crawl"
    with pc.open(path) as store:
        pages = store.pages()
        pages.add(A, links=[B, C], status=200, time=1_000_000, score=2.5)
        pages.add(C, links=[A], status=200, time=2_000_000)
        pages.add(B, outcome="failed", status=503, time=3_000_000)
        pages.merge()
        assert store.rank().converged
    return path


def test_columns_make_a_frame(path):
    view = pc.View(path)
    frame = pandas.DataFrame(view.columns("url", "state", "last_crawl", "score", "linked_from"))
    assert frame.url.tolist() == [A, B, C]
    assert [pc.STATES[state] for state in frame.state] == ["crawled", "failed", "crawled"]
    assert frame.last_crawl.isna().tolist() == [False, True, False]
    assert frame.last_crawl[2] == pandas.Timestamp("1970-01-01 00:00:02")
    assert frame.score.tolist() == [2.5, 0, 0] and frame.linked_from.tolist() == [-1, 0, 0]
    assert view.columns("depth", first=1, count=9)["depth"].tolist() == [1, 1]
    assert view.columns("url", first=3)["url"].tolist() == []
    with pytest.raises(KeyError):
        view.columns("colour")


def test_pages_are_found_by_any_spelling(path):
    with pc.View(path) as view:
        assert len(view) == view.page_count == 3
        assert view.find("HTTP://C.test:80") == 2 and view.find("http://d.test/") is None
        page = view.page(1)
        assert (page["url"], page["http_status"], page["failure_count"]) == (B, 503, 1)
        with pytest.raises(IndexError):
            view.page(3)
    with pytest.raises(pc.ClosedError):
        view.find(A)
    with pytest.raises(pc.ClosedError):
        view.scores()


def test_urls_come_back_however_many_and_long(tmp_path):
    urls = [f"http://host.test/{i:05}" for i in range(70_000)]
    urls.append("http://host.test/" + "x" * (9 << 20))
    with pc.open(tmp_path / "my.crawl") as store:
        for url in urls:
            store.pages().add(url, outcome="known")
        store.pages().add(OTHER, outcome="known")
        store.pages().merge()
    view = pc.View(tmp_path / "my.crawl")
    told = view.columns("url", "state")["url"]
    assert told[:-1].tolist() == urls
    assert view.find(told[-1]) == view.find(OTHER) == len(urls)


def test_links_are_sparse_matrices(path):
    view = pc.View(path)
    links = view.links()
    assert links.toarray().tolist() == [[0, 1, 1], [0, 0, 0], [1, 0, 0]]
    assert links.indices.dtype == links.indptr.dtype == numpy.int32
    assert (view.links(incoming=True).toarray() == links.toarray().T).all()
    assert view.links(values=bool).dtype == bool


def test_scores_are_mapped_and_cannot_be_written(path):
    scores = pc.View(path).scores()
    assert scores.dtype == numpy.float32 and len(scores) == 3
    assert scores.sum() == pytest.approx(1, rel=1e-3)
    with pytest.raises(ValueError, match="read-only"):
        scores[0] = 1
    for array in (scores, scores[1:], scores.view(numpy.uint32), scores.reshape(3, 1)):
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True


def test_a_slice_of_scores_outlives_its_view_and_pins_its_generation(tmp_path):
    count, path = 1_000_000, tmp_path / "my.crawl"
    with pc.open(path) as store:
        store.pages(with_urls=False).add(count - 1, outcome="known")
        store.pages().merge()
        view = pc.View(path)
        store.store_scores(view, "mine", numpy.arange(count))
        view.refresh()
        part = view.scores("mine")[1:]
        view.close()
        del view
        gc.collect()
        for number in range(3):
            store.store_scores(pc.View(path), "mine", numpy.full(count, number))
            store.compact()
        assert (part == numpy.arange(1, count)).all()
        del part
        gc.collect()
        pinned_bytes = store.info().file_bytes
        assert store.compact().bytes_after <= pinned_bytes - 4 * count
    assert (pc.View(path).scores("mine") == 2).all()


def test_scores_say_where_they_came_from(path):
    with pc.open(path) as store:
        view = pc.View(path)
        store.store_scores(view, "mine", numpy.array([3.0, 2.0, 1.0]))
        assert view.scores_info().iteration_count > 1
        with pytest.raises(pc.ArgumentError) as failure:
            view.scores("mine")
        assert failure.value.name == "unknown_name"
        assert view.refresh() and not view.refresh()
        assert view.scores("mine").tolist() == [3, 2, 1] and not view.scores_info("mine").is_stale
        assert store.rank("hits").converged
        with pytest.raises(ValueError, match="shape"):
            store.store_scores(view, "mine", [1])
        with pytest.raises(pc.ArgumentError):
            store.rank("pagerank", damping=2)


def test_the_second_call_for_ten_million_scores_takes_no_millisecond(tmp_path):
    count = 10_000_000
    path = tmp_path / "large.crawl"
    with pc.open(path) as store:
        pages = store.pages(with_urls=False)
        pages.add(count - 1, outcome="known")
        pages.merge()
        view = pc.View(path)
        assert len(view) == count
        store.store_scores(view, "mine", numpy.arange(count))
    view.refresh()
    assert view.scores("mine")[-1] == count - 1
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        scores = view.scores("mine")
        times.append(time.perf_counter() - begin)
    assert len(scores) == count and min(times) <= 1e-3


def test_other_threads_go_on_meanwhile(path):
    view = pc.View(path)
    results = []

    def read():
        results.append([view.find(A), view.links().nnz, len(view.scores())])

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[0, 3, 3]] * 8


@pytest.mark.skipif(not CNR.exists(), reason="the graph cnr-2000 is not beside the project")
def test_links_of_cnr_2000_are_those_of_its_list(tmp_path):
    adjacency = subprocess.run(["zstd", "-dc", CNR], check=True, stdout=subprocess.PIPE).stdout
    rows = [numpy.array(line.split(), numpy.uint64) for line in adjacency.splitlines()[1:]]
    with pc.open(tmp_path / "cnr.crawl") as store:
        pages = store.pages(with_urls=False)
        for page, targets in enumerate(rows):
            pages.add(page, links=targets)
        pages.merge()
    view = pc.View(tmp_path / "cnr.crawl")
    links = view.links()
    assert (numpy.diff(links.indptr) == [len(row) for row in rows]).all()
    assert (links.indices == numpy.concatenate([numpy.sort(row) for row in rows])).all()
    incoming, transposed = view.links(incoming=True), links.T.tocsr()
    assert (incoming.indptr == transposed.indptr).all()
    assert (incoming.indices == transposed.indices).all()
