# SPDX-License-Identifier: Apache-2.0
"""Adding pages."""

import datetime

import pytest

import pycrawlstore as pc

A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"


@pytest.fixture(name="store")
def fixture_store(tmp_path):
    with pc.open(tmp_path / "my.crawl") as store:
        yield store


def test_pages_have_links_and_outcomes(store):
    pages = store.pages()
    pages.add(A, links=[B, C], hash=b"12345678", status=200, link_scores=[1, 0.5],
              time=datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc))
    pages.add(B, outcome="redirect", links=[C], status=301)
    pages.add(C.encode(), outcome="failed", status=503, time=1)
    assert pages.status()[:2] == (True, 3)
    told = []
    pages.merge(progress=lambda done, total: told.append((done, total)))
    assert pages.status().page_count == 3 and pages.status().link_count == 3
    pages.compact()


def test_refuses_what_cannot_be(store):
    pages = store.pages()
    with pytest.raises(pc.ArgumentError):
        pages.add(A, hash=bytes(65))
    with pytest.raises(pc.ArgumentError):
        pages.add(A, outcome="lost")
    with pytest.raises(ValueError, match="time zone"):
        pages.add(A, time=datetime.datetime(2026, 1, 2))
    with pytest.raises(ValueError, match="shape"):
        pages.add(A, links=[B], link_scores=[1, 2])


def test_pages_without_urls_have_indexes(store):
    pages = store.pages(with_urls=False)
    pages.add(2, links=[0, 1])
    pages.merge()
    assert pages.status()[:1] == (False,) and pages.status().page_count == 3
