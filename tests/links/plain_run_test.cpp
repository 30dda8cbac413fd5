// SPDX-License-Identifier: Apache-2.0
// covers: A13
#include "links/plain_run.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "links/written_run.h"

namespace crawlstore::testing {
namespace {

using links::LinksCursor;
using links::LinksLookup;

WrittenRun written_rows(const Rows& rows) {
  return WrittenRun([&rows](container::Writer& writer, SegmentId segment) {
    return must(write_rows(writer, segment, rows)).value();
  });
}

void expect_every_way(const Rows& rows, SeededRandom& random) {
  const WrittenRun written = written_rows(rows);
  EXPECT_LE(written.run().payload_bytes, bytes_max(rows));
  expect_reads(written, rows, random);
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
    auto run =
        must(links::LinksWriter::start(*writer, container::new_run(*writer, segments.out), 200));
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
  const WrittenRun written = written_rows(rows);
  const Bytes payload = written.payload();
  std::size_t refused = 0;
  for (int round = 0; round < 300; ++round) {
    Bytes bytes = payload;
    const std::size_t from = round % 3 == 0 ? bytes.size() - 72 - 16 * 4 : 0;
    for (std::uint64_t i = 1 + random.below(4); i > 0; --i) {
      bytes[from + random.below(bytes.size() - from)] = static_cast<std::byte>(random.next());
    }
    const auto run = must(container::write_run(
        written.writer(), container::new_run(written.writer(), written.segment()), bytes, 1));
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
  const WrittenRun written = written_rows(random_rows(random, 20'000, 0, 30'000));
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
