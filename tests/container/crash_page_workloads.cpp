// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <stdexcept>

#include <crawlstore/ranking.h>
#include <crawlstore/scores.h>
#include <crawlstore/tools/link_runs.h>
#include <crawlstore/transaction.h>

#include "container/crash_workloads.h"
#include "drum/memory_store.h"
#include "pages/page_model.h"
#include "support/another_thread.h"

namespace crawlstore::testing {
namespace {

PagesOptions page_options() {
  PagesOptions options;
  options.memory_bytes = 1 << 20;
  options.bucket_count = 2;
  options.bucket_keys_max = 60;
  return options;
}

/// Starts the record with the file as it is.
void record_from_here(Scenario& scenario) {
  scenario.begin_with_bytes(contents(*scenario.file()));
}

void add_some(PageDb& pages, RandomCrawl& crawl, int count) {
  for (int i = 0; i < count; ++i) {
    must(crawl.next().as_event([&](const CrawlEvent& event) { return pages.add(event); }));
  }
}

/// Any store of pages after a crash: finishes what waits, takes more, and is whole in depth.
void use_pages(std::unique_ptr<Storage> storage) {
  auto store = open_store(std::move(storage));
  auto pages = must(PageDb::open(store, "pages", page_options()));
  RandomCrawl crawl(99);
  add_some(pages, crawl, 30);
  must(pages.merge());
  const auto view = must(PageView::open(must(store.snapshot())));
  std::uint64_t links = 0;
  for (std::uint64_t page = 0; page < view.info().page_count; ++page) {
    const std::string url = must(view.url(page));
    if (!url.empty() && must(view.find_text(url)) != page) {
      throw std::runtime_error("a page has lost its key");
    }
    links += must(view.in_links(page)).size();
  }
  if (links != view.info().link_count) throw std::runtime_error("links were lost");
  must(pages.close());
  must(store.close());
}

/// Edits that wait in the file, supersteps over them, and more of both.
void record_supersteps(Scenario& scenario) {
  RandomCrawl crawl(1);
  {
    auto store = open_store(scenario.recorder().open(OpenMode::kWrite));
    auto pages = must(PageDb::open(store, "pages", page_options()));
    add_some(pages, crawl, 60);
    must(pages.merge());
  }
  record_from_here(scenario);
  auto store = open_store(scenario.recorder().open(OpenMode::kWrite));
  auto pages = must(PageDb::open(store, "pages", page_options()));
  for (int step = 0; step < 3; ++step) {
    add_some(pages, crawl, 40);
    if (step == 1) {
      must(store.commit());
      scenario.acknowledge();
    }
    must(pages.merge());
    scenario.acknowledge();
  }
}

/// Supersteps that memory calls for, on a thread of their own, commits over them, and a merge.
void record_flights(Scenario& scenario) {
  constexpr std::size_t kPadding = 20'000;
  RandomCrawl crawl(3);
  record_from_here(scenario);
  auto store = open_store(scenario.recorder().open(OpenMode::kWrite));
  auto pages = must(PageDb::open(store, "pages", page_options()));
  for (int edit = 0; edit < 24; ++edit) {
    must(padded(crawl.next(), kPadding).as_event([&](const CrawlEvent& event) {
      return pages.add(event);
    }));
    if (edit % 9 != 8) continue;
    must(store.commit());
    scenario.acknowledge();
  }
  must(pages.merge());
  scenario.acknowledge();
}

/// Records so many supersteps that the runs of links are merged, then compaction, then rollback.
void record_compaction(Scenario& scenario) {
  RandomCrawl crawl(2);
  {
    auto store = open_store(scenario.recorder().open(OpenMode::kWrite));
    auto pages = must(PageDb::open(store, "pages", page_options()));
    for (int step = 0; step < 11; ++step) {
      add_some(pages, crawl, 30);
      must(pages.merge());
    }
  }
  record_from_here(scenario);
  auto store = open_store(scenario.recorder().open(OpenMode::kWrite));
  {
    auto pages = must(PageDb::open(store, "pages", page_options()));
    add_some(pages, crawl, 30);
    must(pages.merge());
    scenario.acknowledge();
    must(pages.compact());
    scenario.acknowledge();
  }
  must(store.compact());
  scenario.acknowledge();
  must(store.rollback());
  scenario.acknowledge();
}

/// Pages that link to almost all others, so that few pages have links enough for dense runs.
constexpr std::uint64_t kLinkedPages = 72;

std::string linked_url(std::uint64_t page) {
  return "http://dense.test/" + std::to_string(page);
}

/// Crawls a page whose links leave out each `gap`th page.
void add_linked(PageDb& pages, std::uint64_t page, std::uint64_t gap) {
  CrawledPage crawled(linked_url(page), kFixedTimeUs);
  for (std::uint64_t target = 0; target < kLinkedPages; ++target) {
    if ((target + page) % gap != 0) crawled.add_link(linked_url(target));
  }
  must(pages.add(crawled));
}

/// Out-links and in-links are one dense run each.
void check_dense(const Store& store) {
  const auto runs = link_runs(must(PageView::open(must(store.snapshot()))));
  if (runs.size() != 2 || !std::ranges::all_of(runs, &LinkRunInfo::is_dense)) {
    throw std::runtime_error("links are not dense");
  }
}

/// Compaction that makes dense runs; fresh ones that change and remove links of these; both joined.
void record_dense_links(Scenario& scenario) {
  {
    auto store = open_store(scenario.recorder().open(OpenMode::kWrite));
    auto pages = must(PageDb::open(store, "pages", page_options()));
    for (std::uint64_t page = 0; page < kLinkedPages; ++page) add_linked(pages, page, 13);
    must(pages.merge());
  }
  record_from_here(scenario);
  auto store = open_store(scenario.recorder().open(OpenMode::kWrite));
  auto pages = must(PageDb::open(store, "pages", page_options()));
  must(pages.compact());
  scenario.acknowledge();
  check_dense(store);
  for (std::uint64_t page = 0; page < kLinkedPages; page += 9) add_linked(pages, page, 11);
  must(pages.merge());
  scenario.acknowledge();
  const auto runs = link_runs(must(PageView::open(must(store.snapshot()))));
  if (runs.size() != 5) throw std::runtime_error("no fresh runs beside dense ones");
  must(pages.compact());
  scenario.acknowledge();
  check_dense(store);
}

/// Compaction, between the steps of which a page database and a DRUM take more, merge and commit.
void record_compaction_beside(Scenario& scenario) {
  RandomCrawl crawl(6);
  std::uint64_t number = 0;
  const auto add_numbers = [&number](Drum<std::uint64_t>& drum, int count) {
    for (int i = 0; i < count; ++i) must(drum.check_update(++number * 0x9E3779B97F4A7C15));
  };
  DrumOptions drum_options;
  drum_options.bucket_count = 2;
  {
    auto store = open_store(scenario.recorder().open(OpenMode::kWrite));
    auto pages = must(PageDb::open(store, "pages", page_options()));
    auto drum = must(Drum<std::uint64_t>::open(store, "numbers", drum_options));
    for (int step = 0; step < 3; ++step) {
      add_some(pages, crawl, 20);
      add_numbers(drum, 400);
      must(pages.merge());
      must(drum.merge());
    }
  }
  record_from_here(scenario);
  auto store = open_store(scenario.recorder().open(OpenMode::kWrite));
  auto pages = must(PageDb::open(store, "pages", page_options()));
  auto drum = must(Drum<std::uint64_t>::open(store, "numbers", drum_options));
  int look = 0;
  const auto go_on = [&] {
    if (++look == 2) add_some(pages, crawl, 10);
    if (look == 4) must(pages.merge());
    if (look == 5) add_numbers(drum, 100);
    if (look == 7) must(drum.merge());
    if (look % 3 != 2 || look > 9) return;
    must(store.commit());
    scenario.acknowledge();
  };
  must(store.compact([&](auto, auto) {
    on_another_thread(go_on);
    return true;
  }));
  scenario.acknowledge();
}

/// Hosts whose pages fill blocks are forgotten, beside more URLs than a dictionary begins with;
/// then more supersteps and compaction.
void record_forgetting(Scenario& scenario) {
  constexpr std::size_t kPadding = 4000;
  const auto add_host = [](PageDb& pages, const std::string& host, int count) {
    for (int i = 0; i < count; ++i) {
      std::string url = "http://" + host + "/" + std::to_string(i) + "/";
      CrawledPage page(url.append(kPadding, static_cast<char>('a' + i % 26)), kFixedTimeUs);
      page.add_link("http://" + host + "/");
      page.add_link("http://c.test/");
      must(pages.add(page));
    }
  };
  const auto forget = [](PageDb& pages, const std::string& host) {
    must(pages.forget([&](std::string_view url) { return url.starts_with("http://" + host); }));
  };
  {
    auto store = open_store(scenario.recorder().open(OpenMode::kWrite));
    auto pages = must(PageDb::open(store, "pages", page_options()));
    add_host(pages, "a.test", 130);
    add_host(pages, "b.test", 150);
    must(pages.merge());
  }
  record_from_here(scenario);
  auto store = open_store(scenario.recorder().open(OpenMode::kWrite));
  auto pages = must(PageDb::open(store, "pages", page_options()));
  forget(pages, "a.test");
  scenario.acknowledge();
  add_host(pages, "c.test", 5);
  must(store.commit());
  scenario.acknowledge();
  forget(pages, "c.test");
  scenario.acknowledge();
  must(pages.compact());
  scenario.acknowledge();
}

/// Score arrays come, are replaced while edits wait, and go: alone, in a transaction, forgotten.
void record_scores(Scenario& scenario) {
  RandomCrawl crawl(7);
  {
    auto store = open_store(scenario.recorder().open(OpenMode::kWrite));
    auto pages = must(PageDb::open(store, "pages", page_options()));
    add_some(pages, crawl, 40);
    must(pages.merge());
  }
  record_from_here(scenario);
  auto store = open_store(scenario.recorder().open(OpenMode::kWrite));
  auto pages = must(PageDb::open(store, "pages", page_options()));
  RankOptions rank;
  rank.thread_count = 1;
  must(rank_pages(store, rank));
  scenario.acknowledge();
  add_some(pages, crawl, 20);
  must(rank_pages(store, rank));
  scenario.acknowledge();
  must(pages.merge());
  scenario.acknowledge();
  auto both = must(Transaction::begin(store));
  const auto view = must(PageView::open(must(store.snapshot())));
  const std::vector<float> worth(view.info().page_count, 1.0F);
  must(store_scores(store, "own", view, worth));
  must(remove_scores(store, rank.name));
  add_some(pages, crawl, 5);
  must(both.commit());
  scenario.acknowledge();
  const auto forgotten = must(pages.forget([](std::string_view) { return true; }));
  if (forgotten.score_array_count != 1) throw std::runtime_error("an array stayed");
  scenario.acknowledge();
}

/// Pages that a dispatcher adds are in the commit of its merge.
void record_dispatched(Scenario& scenario) {
  using Seen = Drum<std::uint64_t, NoValue, std::string>;
  struct Known {
    PageDb& pages;
    void unique_key_update(const Seen::AnswerType& answer) {
      must(pages.add(CrawledPage(answer.aux, kFixedTimeUs)));
    }
  };
  DrumOptions options;
  options.bucket_count = 2;
  options.memory_bytes = 1 << 20;
  options.auto_merge = false;
  options.parallel = false;
  {
    auto store = open_store(scenario.recorder().open(OpenMode::kWrite));
    auto seen = must(Seen::open(store, "seen", options));
    auto pages = must(PageDb::open(store, "pages", page_options()));
  }
  record_from_here(scenario);
  auto store = open_store(scenario.recorder().open(OpenMode::kWrite));
  auto seen = must(Seen::open(store, "seen", options));
  auto pages = must(PageDb::open(store, "pages", page_options()));
  for (std::uint64_t step = 0; step < 2; ++step) {
    for (std::uint64_t i = 0; i < 20; ++i) {
      const std::uint64_t number = step * 15 + i;
      must(seen.check_update(number << 58 | number, {}, "http://h/" + std::to_string(number)));
    }
    Known known{pages};
    must(seen.merge(known));
    scenario.acknowledge();
  }
  must(pages.merge());
  scenario.acknowledge();
}

}  // namespace

std::span<const CrashWorkload> page_workloads() {
  static constexpr auto kWorkloads = std::to_array<CrashWorkload>({
      {"supersteps", record_supersteps, use_pages},
      {"supersteps that merge links, compact, rollback", record_compaction, use_pages},
      {"pages forgotten by the block", record_forgetting, use_pages, true},
      {"scores of pages", record_scores, use_pages, true},
      {"pages from a dispatcher", record_dispatched, use_pages},
      {"supersteps in flight", record_flights, use_pages},
      {"dense links", record_dense_links, use_pages},
      {"compaction beside a crawl", record_compaction_beside, use_pages},
  });
  return kWorkloads;
}

}  // namespace crawlstore::testing
