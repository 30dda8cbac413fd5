// SPDX-License-Identifier: Apache-2.0
#include "links/dense_run.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "container/description.h"
#include "links/link_content.h"
#include "links/written_run.h"

namespace crawlstore::testing {
namespace {

using links::LinksCursor;
using links::LinksLookup;

links::DenseSurvey& surveyed(links::DenseSurvey& survey, const Rows& rows) {
  for (const auto& [page, row] : rows) must(survey.append(page, row));
  must(survey.finish());
  return survey;
}

bool is_worth_it(const Rows& rows) {
  links::DenseSurvey survey;
  return surveyed(survey, rows).is_worth_it();
}

WrittenRun written_dense(const Rows& rows) {
  return WrittenRun([&rows](container::Writer& writer, SegmentId segment) {
    links::DenseSurvey survey;
    const auto model = surveyed(survey, rows).model();
    const std::uint64_t span = rows.rbegin()->first - rows.begin()->first;
    auto run = must(links::DenseWriter::start(writer, container::new_run(writer, segment),
                                              2 * bytes_max(rows) + span / 50 + 4096, model));
    for (const auto& [page, row] : rows) must(run.append(page, row));
    const auto written = must(run.finish()).value();
    run.give_back();
    return written;
  });
}

std::string verdict(const Bytes& payload) {
  const Bytes exact(payload.begin(), payload.end());
  const auto content = links::check_link_run(container::payload_in_memory(exact),
                                             [](std::uint64_t) { return Result<void>{}; });
  return content ? "accepted" : content.error().text;
}

/// Cursors, look-ups and deep verification see the rows that have links.
void expect_every_way(Rows rows, SeededRandom& random) {
  if (rows.begin()->second.empty()) rows.begin()->second = {7};  // a run has links
  const WrittenRun written = written_dense(rows);
  std::erase_if(rows, [](const auto& row) { return row.second.empty(); });
  EXPECT_TRUE(must(written.lookup()).is_dense());
  EXPECT_EQ(verdict(written.payload()), "accepted");
  expect_reads(written, rows, random);
}

TEST(DenseRun, ReturnsRandomGraphs) {
  SeededRandom random;
  for (const std::uint64_t row_count : {1U, 2U, 50U, 5'000U, 40'000U}) {
    expect_every_way(random_rows(random, row_count, random.below(1000), 2 * row_count + 5), random);
  }
}

TEST(DenseRun, ReturnsPagesOfMoreThan32Bits) {
  SeededRandom random;
  expect_every_way(random_rows(random, 3'000, format::kPageMax - 10'000, 10'000), random);
}

TEST(DenseRun, ReturnsRowsThatAreFarApart) {
  SeededRandom random;
  Rows rows;
  for (std::uint64_t page = 7; rows.size() < 3'000;
       page += 1 + (random.next() >> 32 >> random.below(32)) % 20'000) {
    rows[page] = {page / 2, page, page + 1 + random.below(3)};
  }
  expect_every_way(rows, random);
}

TEST(DenseRun, ReturnsRowsOfAMillionLinks) {
  SeededRandom random;
  Rows rows = random_rows(random, 3'000, 0, 4'000);
  // One of each length about a piece's; more than a group of the index can hold, twice in a row.
  std::uint64_t page = 100;
  for (const std::uint64_t length :
       {2'048U, 2'049U, 8'191U, 8'192U, 8'193U, 16'384U, 1'100'000U, 600'000U}) {
    auto& row = rows[page++];
    row.clear();
    for (std::uint64_t link = 3; row.size() < length; link += 1 + random.below(100)) {
      row.push_back(link);
    }
  }
  rows[4'100] = rows[106];  // the run ends with blocks that go on with a row
  expect_every_way(rows, random);
}

TEST(DenseRun, IsWorthItForManyLinksThatAreNotTooFarApart) {
  Rows rows;
  for (std::uint64_t page = 0; page < links::kDenseLinksMin; ++page) rows[page] = {page + 1};
  EXPECT_TRUE(is_worth_it(rows));
  rows.erase(5);
  EXPECT_FALSE(is_worth_it(rows));
  rows[std::uint64_t{1} << 39] = {5};
  EXPECT_FALSE(is_worth_it(rows));
  Rows hubs;  // a page in 500 has links, many
  for (std::uint64_t page = 0; page < 40'000; page += 500) {
    for (std::uint64_t link = 0; link < 200; ++link) hubs[page].push_back(3 * link);
  }
  EXPECT_TRUE(is_worth_it(hubs));
  Rows row{{0, std::vector<std::uint64_t>(format::kDenseRowLinksMax + 1)}};
  std::iota(row[0].begin(), row[0].end(), 0);
  EXPECT_FALSE(is_worth_it(row));
}

/// Any change of the payload that keeps its checksums right ends in rows or in kSegmentInvalid.
TEST(DenseRun, IsShownDownToTheNumbersOfARow) {
  Rows rows{{3, {4, 5, 9}}, {5, {4, 5, 9}}};
  for (std::uint64_t page = 100; page < 200; ++page) rows[page] = {page, page + 7};
  const WrittenRun written = written_dense(rows);
  const format::SegmentEntry entry{
      written.segment(), SegmentKind::kOutLinks, StorageClass::kLog, {}, "", {written.run()}};
  const container::RunSource source(written.writer().storage(), written.writer().identity().uuid,
                                    entry, written.run());
  container::Description shown{DescribeOptions{}};
  container::describe_run_at(shown, source, container::all_kinds().of(entry),
                             written.run().offset_bytes);
  std::vector<std::string> lines;
  for (const FieldInfo& field : shown.take()) {
    EXPECT_EQ(field.problem, "") << field.name;
    const bool is_number = field.type == "bits";
    lines.push_back(field.name + " " +
                    field.value.substr(0, is_number ? field.value.find(',') : field.value.npos));
  }
  const auto row = std::find(lines.begin(), lines.end(), "row[3] 3 links, plain");
  ASSERT_LT(row - lines.begin(), std::ssize(lines) - 9);
  const std::vector<std::string> expected{"type 1",        "links_less_1 2",
                                          "first_extra 2", "first_gap 0",
                                          "gap 3",         "row[5] 3 links, equals the one 1 back",
                                          "type 0",        "empty_pages_less_1 0",
                                          "type 49"};
  EXPECT_EQ(std::vector<std::string>(row + 1, row + 10), expected);
}

TEST(DenseRun, AnswersHostileBytes) {
  SeededRandom random;
  const WrittenRun written = written_dense(random_rows(random, 3'000, 10, 5'000));
  const Bytes payload = written.payload();
  const std::size_t tail = payload.size() - 72 - 208 * 3 - format::kDenseModelBytes;
  std::size_t refused = 0;
  for (int round = 0; round < 300; ++round) {
    Bytes bytes = payload;
    const std::size_t from = round % 3 == 0 ? 0 : tail;
    for (std::uint64_t i = 1 + random.below(4); i > 0; --i) {
      bytes[from + random.below(bytes.size() - from)] ^=
          static_cast<std::byte>(1 + random.below(255));
    }
    const ContainerStore store;
    const auto writer = store.writer();
    const auto segments = add_link_segments(*writer);
    const auto run =
        must(container::write_run(*writer, container::new_run(*writer, segments.out), bytes, 1));
    const auto lookup = LinksLookup::open(run_reader(*writer, segments.out, run), segments.out);
    const bool is_refused = verdict(bytes) != "accepted";
    refused += is_refused ? 1 : 0;
    if (!lookup) {
      EXPECT_TRUE(is_refused);
      continue;
    }
    format::LinkRows rows;
    std::size_t row = 0;
    for (int i = 0; i < 50; ++i) {
      const auto found = lookup->find(10 + random.below(5'000), rows, row);
      EXPECT_TRUE(found || found.error().code == Errc::kSegmentInvalid);
    }
    auto cursor = LinksCursor::open(*lookup);
    while (cursor && !cursor->at_end()) {
      const auto advanced = cursor->advance();
      if (!advanced) cursor = tl::unexpected<Error>(advanced.error());
    }
    EXPECT_TRUE(cursor || cursor.error().code == Errc::kSegmentInvalid);
    EXPECT_TRUE(cursor || is_refused);
  }
  EXPECT_GT(refused, 250u);
}

}  // namespace
}  // namespace crawlstore::testing
