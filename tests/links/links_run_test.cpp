// SPDX-License-Identifier: Apache-2.0
// covers: A13
#include "links/links_run.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "links/link_store.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

using links::LinksCursor;
using links::LinksLookup;

/// A run in a store of its own, not committed.
class WrittenRows {
 public:
  explicit WrittenRows(const Rows& rows)
      : writer_(store_.writer()),
        segments_(add_link_segments(*writer_)),
        run_(must(write_rows(*writer_, segments_.out, rows)).value()) {}

  [[nodiscard]] Result<LinksLookup> lookup() const {
    return LinksLookup::open(run_reader(*writer_, segments_.out, run_), segments_.out);
  }
  [[nodiscard]] Result<LinksCursor> cursor(std::uint64_t page = 0) const {
    auto opened = lookup();
    if (!opened) return tl::unexpected<Error>(opened.error());
    return LinksCursor::open(std::move(*opened), page);
  }
  [[nodiscard]] const format::RunRef& run() const { return run_; }
  [[nodiscard]] SegmentId segment() const { return segments_.out; }
  [[nodiscard]] container::Writer& writer() const { return *writer_; }
  [[nodiscard]] Bytes payload() const {
    return read_bytes(writer_->storage(), run_.offset_bytes, run_.payload_bytes);
  }

 private:
  ContainerStore store_;
  std::unique_ptr<container::Writer> writer_;
  links::LinkSegments segments_;
  format::RunRef run_;
};

void expect_every_way(const Rows& rows, SeededRandom& random) {
  const WrittenRows written(rows);
  EXPECT_EQ(rows_of(written.cursor()), rows);
  const auto lookup = must(written.lookup());
  EXPECT_EQ(lookup.footer().row_count, rows.size());
  EXPECT_LE(written.run().payload_bytes, bytes_max(rows));
  format::LinkRows scratch;
  std::size_t row = 0;
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t from = rows.begin()->first;
    const std::uint64_t page = from + random.below(rows.rbegin()->first - from + 3);
    const auto expected = rows.find(page);
    ASSERT_EQ(must(lookup.find(page, scratch, row)), expected != rows.end()) << page;
    if (expected == rows.end()) continue;
    const auto links = scratch.links(row);
    EXPECT_EQ(std::vector<std::uint64_t>(links.begin(), links.end()), expected->second);
  }
  const std::uint64_t middle = std::next(rows.begin(), static_cast<long>(rows.size() / 2))->first;
  for (const std::uint64_t page : {middle, middle + 1, rows.rbegin()->first + 1}) {
    EXPECT_EQ(rows_of(written.cursor(page)), Rows(rows.lower_bound(page), rows.end()));
  }
}

TEST(LinksRun, ReturnsRandomGraphs) {
  SeededRandom random;
  for (const std::uint64_t row_count : {1U, 2U, 50U, 1'024U, 1'025U, 5'000U, 20'000U}) {
    expect_every_way(random_rows(random, row_count, random.below(1000), 2 * row_count + 5), random);
  }
}

TEST(LinksRun, ReturnsPagesOfMoreThan32Bits) {
  SeededRandom random;
  expect_every_way(random_rows(random, 3'000, (std::uint64_t{1} << 39) - 7, 10'000), random);
  Rows rows;
  for (int i = 0; i < 3'000; ++i) {
    auto& links = rows[random.below(format::kPageMax)];
    for (std::uint64_t k = random.below(8); k > 0; --k)
      links.push_back(random.below(format::kPageMax));
    std::sort(links.begin(), links.end());
  }
  expect_every_way(rows, random);
}

TEST(LinksRun, ReturnsRowsOfAMillionLinks) {
  SeededRandom random;
  Rows rows = random_rows(random, 3'000, 0, 4'000);
  for (const std::uint64_t page : {0U, 1'777U, 3'999U}) {
    rows[page].clear();
    for (std::uint64_t link = 3; rows[page].size() < 1'000'000; link += 1 + random.below(100)) {
      rows[page].push_back(link);
    }
  }
  expect_every_way(rows, random);
}

TEST(LinksRun, WritesNoRunWithoutRows) {
  const ContainerStore store;
  const auto writer = store.writer();
  const auto segments = add_link_segments(*writer);
  const auto free_before = writer->free_bytes();
  EXPECT_FALSE(must(write_rows(*writer, segments.out, {})));
  EXPECT_EQ(writer->free_bytes(), free_before);
}

TEST(LinksRun, RefusesToGrowPastWhatWasReserved) {
  const ContainerStore store;
  const auto writer = store.writer();
  const auto segments = add_link_segments(*writer);
  {
    auto run = must(links::LinksWriter::start(*writer, segments.out, writer->new_run_ids(1), 200));
    must(run.append(0, std::vector<std::uint64_t>{1, 2, 3}));
    std::vector<std::uint64_t> many(3'000);
    for (std::size_t i = 0; i < many.size(); ++i) many[i] = i * i;
    must(run.append(1, many));
    EXPECT_EQ(code_of(run.finish()), Errc::kTooLarge);
  }
  must(writer->commit());
  EXPECT_EQ(text_of(store.verified()), "");
}

/// Any change of the payload that keeps its checksums right ends in rows or in kSegmentInvalid with
/// a place inside of the run.
TEST(LinksRun, AnswersHostileBytesWithAPlaceInTheRun) {
  SeededRandom random;
  const Rows rows = random_rows(random, 3'000, 10, 5'000);
  const WrittenRows written(rows);
  const Bytes payload = written.payload();
  std::size_t refused = 0;
  for (int round = 0; round < 300; ++round) {
    Bytes bytes = payload;
    const std::size_t from = round % 3 == 0 ? bytes.size() - 72 - 16 * 4 : 0;
    for (std::uint64_t i = 1 + random.below(4); i > 0; --i) {
      bytes[from + random.below(bytes.size() - from)] = static_cast<std::byte>(random.next());
    }
    const auto run = must(container::write_run(written.writer(), written.segment(),
                                               written.writer().new_run_ids(1), bytes, 1));
    const auto check = [&](const auto& result) {
      if (result) return true;
      ++refused;
      EXPECT_EQ(result.error().code, Errc::kSegmentInvalid);
      EXPECT_EQ(result.error().segment, written.segment());
      EXPECT_GE(result.error().offset, run.offset_bytes);
      EXPECT_LT(result.error().offset, run.offset_bytes + run.payload_bytes);
      return false;
    };
    auto lookup =
        LinksLookup::open(run_reader(written.writer(), written.segment(), run), written.segment());
    if (check(lookup)) {
      format::LinkRows scratch;
      std::size_t row = 0;
      for (int i = 0; i < 20; ++i) check(lookup->find(random.below(6'000), scratch, row));
      auto cursor = LinksCursor::open(*lookup, random.below(2) * 3'000);
      if (check(cursor)) {
        while (!cursor->at_end() && check(cursor->advance())) {
        }
      }
    }
    written.writer().release(run.extent());
  }
  EXPECT_GT(refused, 100U);
}

TEST(LinksRun, ReportsRotAsDamageOfItsChunk) {
  SeededRandom random;
  const WrittenRows written(random_rows(random, 20'000, 0, 30'000));
  const std::uint64_t place = written.run().offset_bytes + format::kChunkBytes + 5;
  Bytes byte = read_bytes(written.writer().storage(), place, 1);
  byte[0] ^= std::byte{1};
  must(written.writer().storage().write(place, byte));
  const auto lookup = must(written.lookup());
  auto cursor = LinksCursor::open(lookup);
  ASSERT_FALSE(cursor);
  EXPECT_EQ(cursor.error().code, Errc::kChunkDamaged);
  EXPECT_EQ(cursor.error().offset, written.run().offset_bytes + format::kChunkBytes);
}

}  // namespace
}  // namespace crawlstore::testing
