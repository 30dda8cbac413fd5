// SPDX-License-Identifier: Apache-2.0
//
// Links both ways against std::map, over supersteps with new, replaced and gone links, merges and
// commits; and what is left when a merge fails.
#include "links/link_log.h"

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "links/link_store.h"
#include "support/recording_storage.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

using links::LinkView;

Result<void> compact_links(container::SegmentWriter& writer, const links::LinkSegments& segments,
                           container::WorkSteps& steps) {
  CRAWLSTORE_TRY(links::compact_out_links(writer, segments, steps));
  CRAWLSTORE_TRY(links::compact_in_links(writer, segments, steps));
  return {};
}

/// The links in maps.
struct LinkModel {
  Rows out;
  std::map<std::uint64_t, std::set<std::uint64_t>> in;

  [[nodiscard]] Rows out_rows(std::uint64_t first = 0) const {
    Rows rows;
    for (const auto& [page, row] : out) {
      if (page >= first && !row.empty()) rows[page] = row;
    }
    return rows;
  }
  [[nodiscard]] Rows in_rows(std::uint64_t first = 0) const {
    Rows rows;
    for (const auto& [page, row] : in) {
      if (page >= first && !row.empty()) rows[page] = {row.begin(), row.end()};
    }
    return rows;
  }
};

/// One superstep: rows of out-links, and what follows from them the other way round.
struct Superstep {
  Rows out;
  Rows in;
  Rows gone;
};

/// Replaces the rows in the model.
Superstep make_step(LinkModel& model, const Rows& rows) {
  Superstep step{rows, {}, {}};
  for (const auto& [page, row] : rows) {
    const auto& old = model.out[page];
    for (const std::uint64_t target : row) {
      if (std::binary_search(old.begin(), old.end(), target)) continue;
      step.in[target].push_back(page);
      model.in[target].insert(page);
    }
    for (const std::uint64_t target : old) {
      if (std::binary_search(row.begin(), row.end(), target)) continue;
      step.gone[target].push_back(page);
      model.in[target].erase(page);
    }
    model.out[page] = row;
  }
  return step;
}

void append_step(container::Writer& writer, const links::LinkSegments& segments,
                 const Superstep& step) {
  append_rows(writer, segments.out, step.out);
  append_rows(writer, segments.gone, step.gone);
  append_rows(writer, segments.in, step.in);
}

void expect_model(LinkView view, const LinkModel& model, SeededRandom& random,
                  std::uint64_t page_count) {
  EXPECT_LE(view.out_runs().size(), links::kFreshRunsMax + 1);
  EXPECT_LE(view.in_runs().size(), links::kFreshRunsMax + 1);
  const std::uint64_t first = random.below(page_count);
  ASSERT_EQ(rows_of(view.out_rows()), model.out_rows());
  ASSERT_EQ(rows_of(view.in_rows()), model.in_rows());
  ASSERT_EQ(rows_of(view.out_rows(first)), model.out_rows(first));
  ASSERT_EQ(rows_of(view.in_rows(first)), model.in_rows(first));
  std::vector<std::uint64_t> links{99};
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t page = random.below(page_count + 5);
    must(view.out(page, links));
    const auto out = model.out.find(page);
    ASSERT_EQ(links, out == model.out.end() ? std::vector<std::uint64_t>{} : out->second);
    must(view.in(page, links));
    const auto in = model.in.find(page);
    const auto expected = in == model.in.end() ? std::set<std::uint64_t>{} : in->second;
    ASSERT_EQ(links, std::vector<std::uint64_t>(expected.begin(), expected.end()));
  }
}

/// Some rows of pages below `page_count`: at times very many, at times rows that lose everything.
Rows random_step(SeededRandom& random, std::uint64_t page_count) {
  const std::uint64_t share = random.one_in(5) ? page_count / 2 : 1 + random.below(40);
  Rows rows = random_rows(random, share, 0, page_count);
  for (auto& [page, row] : rows) {
    if (random.one_in(6)) row.clear();
  }
  return rows;
}

TEST(LinkLog, EqualsAModelAfterEverySuperstep) {
  SeededRandom random;
  for (const std::uint64_t page_count : {3U, 60U, 1'500U}) {
    const ContainerStore store;
    auto writer = store.writer();
    const auto segments = add_link_segments(*writer);
    container::WorkSteps unasked;
    LinkModel model;
    for (int step = 0; step < 120; ++step) {
      append_step(*writer, segments, make_step(model, random_step(random, page_count)));
      must(links::bound_out_runs(*writer, segments, unasked));
      must(links::bound_in_runs(*writer, segments, unasked));
      if (random.one_in(25)) must(compact_links(*writer, segments, unasked));
      ASSERT_NO_FATAL_FAILURE(
          expect_model(must(LinkView::open(*writer, segments)), model, random, page_count));
      if (!random.one_in(3)) continue;
      must(writer->commit());
      const auto reader = store.reader();
      ASSERT_NO_FATAL_FAILURE(
          expect_model(must(LinkView::open(*reader, segments)), model, random, page_count));
      if (random.one_in(4)) writer = nullptr, writer = store.writer();
    }
    must(writer->commit());
    EXPECT_EQ(text_of(store.verified_below_pages()), "");
  }
}

TEST(LinkLog, AddsWhatWasGoneBefore) {
  const ContainerStore store;
  const auto writer = store.writer();
  const auto segments = add_link_segments(*writer);
  append_rows(*writer, segments.in, {{1, {5, 6, 7}}});
  append_rows(*writer, segments.gone, {{1, {5, 6}}, {2, {9}}});
  append_rows(*writer, segments.in, {{1, {6}}, {2, {9}}});
  std::vector<std::uint64_t> links;
  auto view = must(LinkView::open(*writer, segments));
  must(view.in(1, links));
  EXPECT_EQ(links, (std::vector<std::uint64_t>{6, 7}));
  EXPECT_EQ(rows_of(view.in_rows()), (Rows{{1, {6, 7}}, {2, {9}}}));
}

TEST(LinkLog, RefusesPagesThatAreNone) {
  const ContainerStore store;
  const auto writer = store.writer();
  const auto segments = add_link_segments(*writer);
  append_rows(*writer, segments.out, {{1, {5}}, {3, {2}}});
  append_rows(*writer, segments.in, {{7, {1}}});
  const auto view = must(LinkView::open(*writer, segments));
  must(view.check_pages(8));
  for (const std::uint64_t page_count : {7U, 5U, 0U}) {
    const auto verdict = view.check_pages(page_count);
    ASSERT_FALSE(verdict) << page_count;
    EXPECT_EQ(verdict.error().code, Errc::kSegmentInvalid);
  }
}

TEST(LinkLog, LeavesOneBaseEachWayAfterCompaction) {
  const ContainerStore store;
  const auto writer = store.writer();
  const auto segments = add_link_segments(*writer);
  container::WorkSteps unasked;
  LinkModel model;
  append_step(*writer, segments, make_step(model, {{1, {2, 3}}, {4, {}}}));
  append_step(*writer, segments, make_step(model, {{1, {3}}}));
  append_step(*writer, segments, make_step(model, {{4, {4}}, {9, {}}}));
  must(compact_links(*writer, segments, unasked));
  EXPECT_EQ(writer->find(segments.out)->runs.size(), 1u);
  EXPECT_EQ(writer->find(segments.in)->runs.size(), 1u);
  EXPECT_TRUE(writer->find(segments.gone)->runs.empty());
  auto view = must(LinkView::open(*writer, segments));
  EXPECT_EQ(view.out_runs().front().run.footer().row_count, 2u);
  EXPECT_EQ(rows_of(view.out_rows()), (Rows{{1, {3}}, {4, {4}}}));
  EXPECT_EQ(rows_of(view.in_rows()), (Rows{{3, {1}}, {4, {4}}}));
  const auto runs = writer->find(segments.out)->runs;
  must(compact_links(*writer, segments, unasked));
  EXPECT_EQ(writer->find(segments.out)->runs, runs);
}

TEST(LinkLog, LeavesNothingWhenEverythingIsGone) {
  const ContainerStore store;
  const auto writer = store.writer();
  const auto segments = add_link_segments(*writer);
  container::WorkSteps unasked;
  LinkModel model;
  append_step(*writer, segments, make_step(model, {{1, {2, 3}}}));
  append_step(*writer, segments, make_step(model, {{1, {}}}));
  must(compact_links(*writer, segments, unasked));
  for (const SegmentId segment : {segments.out, segments.in, segments.gone}) {
    EXPECT_TRUE(writer->find(segment)->runs.empty());
  }
}

/// Compaction of twelve supersteps while one I/O call fails: the links are what they were.
/// Returns whether it did fail.
bool fails_harmlessly(const FailurePlan& plan) {
  Random random(9);
  const ContainerStore store(16 * kMiB);
  Recorder recorder(store.file());
  const auto writer = ContainerStore::writer_on(recorder.open(OpenMode::kWrite));
  const auto segments = add_link_segments(*writer);
  container::WorkSteps unasked;
  LinkModel model;
  for (int step = 0; step < 12; ++step) {
    append_step(*writer, segments, make_step(model, random_rows(random, 100, 0, 300)));
  }
  must(writer->commit());
  const auto free_before = writer->free_bytes();
  recorder.inject(plan);
  const auto compacted = compact_links(*writer, segments, unasked);
  const bool has_failed = recorder.has_injected();
  recorder.stop_injecting();
  EXPECT_EQ(compacted.has_value(), !has_failed) << plan.nth;
  if (!writer->has_changes()) {
    EXPECT_GE(writer->free_bytes(), free_before) << plan.nth;
  }
  auto view = must(LinkView::open(*writer, segments));
  EXPECT_EQ(rows_of(view.out_rows()), model.out_rows()) << plan.nth;
  EXPECT_EQ(rows_of(view.in_rows()), model.in_rows()) << plan.nth;
  must(writer->commit());
  EXPECT_EQ(text_of(store.verified_below_pages()), "");
  return has_failed;
}

TEST(LinkLog, KeepsTheOldStateWhenAMergeCannotWrite) {
  FailurePlan plan{.calls = calls(CallKind::kWrite, CallKind::kAllocate),
                   .forever = true,
                   .system_errno = ENOSPC};
  while (fails_harmlessly(plan)) ++plan.nth;
  EXPECT_GT(plan.nth, 3U);
}

TEST(LinkLog, KeepsTheOldStateWhenAMergeCannotRead) {
  FailurePlan plan{.calls = calls(CallKind::kView), .system_errno = EIO};
  while (fails_harmlessly(plan)) plan.nth += 1 + plan.nth / 8;
  EXPECT_GT(plan.nth, 100U);
}

}  // namespace
}  // namespace crawlstore::testing
