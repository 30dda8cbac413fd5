// SPDX-License-Identifier: Apache-2.0
#include "format/record_tile.h"

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "format/format_samples.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

constexpr std::int64_t kLatest = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

PageRecord crawled(std::uint32_t crawls, std::int64_t first, std::int64_t last, float score,
                   std::size_t hash_bytes) {
  PageRecord record;
  record.state = PageState::kCrawled;
  record.crawl_count = crawls;
  record.change_count = crawls / 2;
  record.first_crawl_us = first;
  record.last_crawl_us = last;
  record.score = score;
  record.hash_bytes = static_cast<std::uint8_t>(hash_bytes);
  const Bytes hash = pattern(hash_bytes);
  std::copy(hash.begin(), hash.end(), record.hash.begin());
  return record;
}

Bytes encoded(std::span<const PageRecord> records) {
  Bytes bytes;
  encode_record_tile(records, bytes);
  return bytes;
}

/// The records of the tile, or the rule that it breaks.
Result<std::vector<PageRecord>> decoded(const Bytes& bytes) {
  const auto tile = RecordTile::parse(bytes);
  if (!tile) return tl::unexpected<Error>(tile.error());
  CRAWLSTORE_TRY(tile->check());
  std::vector<PageRecord> records;
  for (std::uint32_t i = 0; i < tile->page_count(); ++i) {
    const auto record = tile->record(i);
    if (!record) return tl::unexpected<Error>(record.error());
    records.push_back(*record);
  }
  return records;
}

std::string verdict(const Bytes& bytes) {
  return text_of(decoded(bytes));
}

/// A page of every state.
std::vector<PageRecord> sample() {
  std::vector<PageRecord> records{
      {},
      crawled(3, kSampleTimeUs, kSampleTimeUs + 70'000, 0.5F, 16),
      crawled(1, kSampleTimeUs + 5, kSampleTimeUs + 5, -2.0F, 0),
      {},
      crawled(2, kSampleTimeUs + 9, kSampleTimeUs + 10, 1e-30F, 64),
  };
  records[2].state = PageState::kFailed;
  records[2].status = 500;
  records[2].failures = 70'000;
  records[3].state = PageState::kGone;
  return records;
}

/// The place where a column of the sample is described.
constexpr std::size_t column(RecordColumnId id) {
  return 16 + 16 * static_cast<std::size_t>(id);
}

std::size_t column_bytes(const Bytes& bytes, RecordColumnId id) {
  std::size_t begin = sizeof(RecordTileHeader);
  for (std::size_t i = 0; i < static_cast<std::size_t>(id); ++i) {
    begin += 5 * std::to_integer<std::size_t>(bytes[16 + 16 * i + 8]);
  }
  return begin;
}

TEST(RecordTile, ReturnsWhatWasEncoded) {
  const auto records = decoded(encoded(sample()));
  ASSERT_TRUE(records) << records.error().text;
  EXPECT_EQ(*records, sample());
}

TEST(RecordTile, ReturnsExtremes) {
  std::vector<PageRecord> records{
      crawled(std::numeric_limits<std::uint32_t>::max(), 0, kLatest,
              std::numeric_limits<float>::max(), 64),
      crawled(1, kLatest, kLatest, -std::numeric_limits<float>::max(), 1),
      crawled(1, 0, 0, std::numeric_limits<float>::denorm_min(), 64),
  };
  records[0].change_count = records[0].crawl_count - 1;
  records[1].state = PageState::kFailed;
  records[1].failures = std::numeric_limits<std::uint32_t>::max();
  records[2].status = std::numeric_limits<std::uint16_t>::max();
  EXPECT_EQ(decoded(encoded(records)).value(), records);
  for (const PageRecord& record : records) {
    EXPECT_EQ(decoded(encoded(std::span(&record, 1))).value(), std::vector{record});
  }
}

TEST(RecordTile, ReturnsRandomRecords) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 60; ++round) {
    std::vector<PageRecord> records(1 + below(random, round % 5 == 0 ? kTilePagesMax : 300));
    const unsigned shift = below(random, 63);
    for (PageRecord& record : records) {
      if (random() % 3 == 0) continue;
      const auto first = static_cast<std::int64_t>(random() >> 1 >> shift);
      const std::int64_t last =
          first + static_cast<std::int64_t>(random() %
                                            (static_cast<std::uint64_t>(kLatest - first) / 2 + 1));
      record = crawled(1 + below(random, 1ull << below(random, 32)), first, last,
                       static_cast<float>(random() % 1000) / 8, below(random, 65));
    }
    const auto found = decoded(encoded(records));
    ASSERT_TRUE(found) << found.error().text;
    ASSERT_EQ(*found, records);
  }
}

TEST(RecordTile, StoresWhatAllPagesShareOnce) {
  const std::vector<PageRecord> records(kTilePagesMax, crawled(5, 77, 99, 0.25F, 0));
  // A byte says of each page that it was crawled at all.
  EXPECT_EQ(encoded(records).size(), sizeof(RecordTileHeader) + kTilePagesMax);
  EXPECT_EQ(encoded(std::vector<PageRecord>(kTilePagesMax)).size(), sizeof(RecordTileHeader));
}

TEST(RecordTile, TakesTheFewestBytesThatSuffice) {
  std::vector<PageRecord> records(2, crawled(1, 1'000'000, 1'000'000, 0, 0));
  for (unsigned bytes = 1; bytes <= 7; ++bytes) {
    records[1].first_crawl_us = 1'000'000 + (std::int64_t{1} << (8 * bytes)) - 2;
    records[1].last_crawl_us = records[1].first_crawl_us;
    EXPECT_EQ(std::to_integer<unsigned>(encoded(records)[column(RecordColumnId::kFirstCrawl) + 8]),
              bytes);
    ++records[1].first_crawl_us;
    records[1].last_crawl_us = records[1].first_crawl_us;
    EXPECT_EQ(std::to_integer<unsigned>(encoded(records)[column(RecordColumnId::kFirstCrawl) + 8]),
              bytes + 1);
  }
}

// spec: pages.md#record-tiles rule 1
TEST(RecordTile, RejectsEveryOtherLength) {
  Bytes bytes = encoded(sample());
  const std::size_t right = bytes.size();
  bytes.resize(right + 64);
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    EXPECT_EQ(RecordTile::parse(std::span(bytes).first(length)).has_value(), length == right);
  }
}

// spec: pages.md#record-tiles rule 1
TEST(RecordTile, RejectsPaddingThatIsNotZero) {
  const std::vector<PageRecord> records{crawled(1, 5, 5, 0, 13)};
  const Bytes bytes = encoded(records);
  for (std::size_t i = bytes.size() - 2; i < bytes.size(); ++i) {
    EXPECT_EQ(verdict(with(bytes, i, std::uint8_t{1})), "padding of a record tile is not zero");
  }
}

// spec: pages.md#record-tiles rule 2
TEST(RecordTile, RejectsAWrongHeader) {
  const Bytes bytes = encoded(sample());
  EXPECT_EQ(verdict(with(bytes, 0, std::uint8_t{'X'})),
            "the magic number of a record tile is wrong");
  for (const std::uint32_t count : {0u, 8193u, 0xFFFFFFFFu}) {
    EXPECT_EQ(verdict(with(bytes, 8, count)), "the page count of a record tile is out of range");
  }
  for (std::size_t i = 0; i < 9; ++i) {
    const std::string wrong = "a column of a record tile is described wrongly";
    EXPECT_EQ(verdict(with(bytes, 16 + 16 * i + 8, std::uint8_t{9})), wrong);
    for (std::size_t reserved = 9; reserved < 16; ++reserved) {
      EXPECT_EQ(verdict(with(bytes, 16 + 16 * i + reserved, std::uint8_t{1})), wrong);
    }
  }
  EXPECT_EQ(verdict(with(bytes, 12, std::uint32_t{0xFFFFFFFF})),
            "the length of a record tile does not fit its header");
}

// spec: pages.md#record-tiles rule 3
TEST(RecordTile, RejectsValuesOutOfRange) {
  const Bytes bytes = encoded(sample());
  EXPECT_EQ(verdict(with(bytes, column_bytes(bytes, RecordColumnId::kState), std::uint8_t{8})),
            "the state of a page is unknown");
  for (const auto id :
       {RecordColumnId::kState, RecordColumnId::kCrawlCount, RecordColumnId::kChangeCount,
        RecordColumnId::kScore, RecordColumnId::kStatus, RecordColumnId::kFailures}) {
    for (const std::uint64_t base : {std::uint64_t{1} << 32, kMost}) {
      EXPECT_EQ(verdict(with(bytes, column(id), base)),
                "a number of a page record is out of range");
    }
  }
  EXPECT_EQ(verdict(with(bytes, column(RecordColumnId::kStatus), std::uint64_t{0xFFFF})),
            "a number of a page record is out of range");
  for (const auto id : {RecordColumnId::kFirstCrawl, RecordColumnId::kCrawlSpan}) {
    for (const std::uint64_t base : {std::uint64_t{1} << 63, kMost}) {
      EXPECT_NE(verdict(with(bytes, column(id), base)), "accepted");
    }
  }
}

// spec: pages.md#record-tiles rule 4
TEST(RecordTile, RejectsALastCrawlBehindTheEndOfTime) {
  const std::vector<PageRecord> records{crawled(1, kLatest, kLatest, 0, 0)};
  EXPECT_EQ(verdict(with(encoded(records), column(RecordColumnId::kCrawlSpan), std::uint64_t{1})),
            "the time of a crawl is out of range");
}

/// The rule that a record breaks when `change` was made to it.
std::string rule(PageRecord record, const std::function<void(PageRecord&)>& change) {
  change(record);
  const char* broken = check_page_record(record);
  return broken == nullptr ? "accepted" : broken;
}

// spec: pages.md#record-tiles rule 5
TEST(RecordTile, RejectsResultsOfCrawlsThatNeverWere) {
  const std::string results = "a page that was never crawled has results of a crawl";
  EXPECT_EQ(rule({}, [](PageRecord& page) { page.state = PageState::kCrawled; }),
            "a crawled page was never crawled");
  EXPECT_EQ(rule({}, [](PageRecord& page) { page.change_count = 1; }), results);
  EXPECT_EQ(rule({}, [](PageRecord& page) { page.first_crawl_us = 1; }), results);
  EXPECT_EQ(rule({}, [](PageRecord& page) { page.last_crawl_us = 1; }), results);
  EXPECT_EQ(rule({}, [](PageRecord& page) { page.hash_bytes = 1; }), results);
  for (const auto state : {PageState::kGone, PageState::kRedirect, PageState::kDenied,
                           PageState::kDuplicate, PageState::kElsewhere}) {
    EXPECT_EQ(rule({}, [state](PageRecord& page) { page.state = state; }), "accepted");
  }
  EXPECT_EQ(rule({}, [](PageRecord& page) { page.status = 404; }), "accepted");
  EXPECT_EQ(rule({}, [](PageRecord& page) { page.score = 3; }), "accepted");
  const Bytes bytes = encoded(sample());
  const auto first = column_bytes(bytes, RecordColumnId::kFirstCrawl);
  EXPECT_EQ(verdict(with(bytes, first, std::uint8_t{1})),
            "a page has a first crawl without a crawl, or the other way round");
}

// spec: pages.md#record-tiles rule 6
TEST(RecordTile, RejectsCrawlsWithoutResults) {
  const PageRecord page = crawled(4, 10, 20, 0, 8);
  EXPECT_EQ(rule(page, [](PageRecord&) {}), "accepted");
  EXPECT_EQ(rule(page, [](PageRecord& it) { it.state = PageState::kKnown; }),
            "a page that is only known was crawled");
  EXPECT_EQ(rule(page, [](PageRecord& it) { it.change_count = 4; }),
            "a page changed at its first crawl, or more often than it was crawled");
  EXPECT_EQ(rule(page, [](PageRecord& it) { it.last_crawl_us = 9; }),
            "the time of a crawl is out of range");
  EXPECT_EQ(rule(page, [](PageRecord& it) { it.first_crawl_us = -1; }),
            "the time of a crawl is out of range");
  EXPECT_EQ(rule(page, [](PageRecord& it) { it.state = PageState::kElsewhere; }),
            "a page of another shard was crawled");
  EXPECT_EQ(rule(page, [](PageRecord& it) { it.state = PageState{8}; }),
            "the state of a page is unknown");
  const Bytes bytes = encoded(sample());
  const auto first = column_bytes(bytes, RecordColumnId::kFirstCrawl);
  EXPECT_EQ(verdict(with(bytes, first + 1, std::uint8_t{0})),
            "a page has a first crawl without a crawl, or the other way round");
}

// spec: pages.md#record-tiles rule 10
TEST(RecordTile, RejectsFailuresOfPagesThatDidNotFail) {
  const std::string wrong = "a page failed without a failure, or the other way round";
  PageRecord page = crawled(4, 10, 20, 0, 8);
  EXPECT_EQ(rule(page, [](PageRecord& it) { it.failures = 1; }), wrong);
  EXPECT_EQ(rule(page, [](PageRecord& it) { it.state = PageState::kFailed; }), wrong);
  page.failures = 1;
  EXPECT_EQ(rule(page, [](PageRecord& it) { it.state = PageState::kFailed; }), "accepted");
  EXPECT_EQ(rule({}, [](PageRecord& it) { it.failures = 1; }), wrong);
}

// spec: pages.md#record-tiles rule 7
TEST(RecordTile, RejectsScoresThatAreNoNumbers) {
  for (const float score : {std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity(), std::nanf("1")}) {
    EXPECT_EQ(rule({}, [score](PageRecord& page) { page.score = score; }),
              "the score of a page is not finite");
    const Bytes bytes = encoded(std::vector<PageRecord>(3));
    EXPECT_EQ(verdict(with(bytes, column(RecordColumnId::kScore),
                           std::uint64_t{std::bit_cast<std::uint32_t>(score)})),
              "the score of a page is not finite");
  }
}

// spec: pages.md#record-tiles rule 8
TEST(RecordTile, RejectsHashesOutsideTheHashBytes) {
  EXPECT_EQ(rule(crawled(1, 0, 0, 0, 0), [](PageRecord& page) { page.hash_bytes = 65; }),
            "the content hash of a page is too long");
  const Bytes bytes = encoded(sample());  // ends 0, 16, 16, 16, 80
  const auto ends = column_bytes(bytes, RecordColumnId::kHashEnd);
  const std::string outside =
      "the content hash of a page lies outside the hash bytes, or is too long";
  EXPECT_EQ(verdict(with(bytes, ends + 4, std::uint8_t{81})), outside);
  EXPECT_EQ(verdict(with(bytes, ends + 4, std::uint8_t{15})), outside);
  EXPECT_EQ(verdict(with(bytes, ends + 1, std::uint8_t{65})), outside);
  EXPECT_EQ(verdict(with(bytes, ends + 4, std::uint8_t{79})),
            "hash bytes of a record tile belong to no page");
  EXPECT_EQ(verdict(with(bytes, column(RecordColumnId::kHashEnd), kMost)), outside);
  EXPECT_EQ(verdict(with(bytes, column(RecordColumnId::kHashEnd), std::uint64_t{1})),
            "a page that was never crawled has results of a crawl");
}

TEST(RecordTile, SurvivesRandomBytes) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 20'000; ++i) {
    Bytes bytes = encoded(sample());
    for (int change = 0; change < 3; ++change) {
      bytes[below<std::size_t>(random, bytes.size())] = static_cast<std::byte>(random());
    }
    const auto records = decoded(bytes);
    if (!records) continue;
    for (const PageRecord& record : *records) EXPECT_EQ(check_page_record(record), nullptr);
    EXPECT_EQ(decoded(encoded(*records)).value(), *records);
  }
}

TEST(RecordTile, StaysInsideBytesThatChangeUnderIt) {
  std::mt19937_64 random(4);
  Bytes bytes = encoded(sample());
  const Bytes whole = bytes;
  const auto tile = RecordTile::parse(bytes);
  ASSERT_TRUE(tile);
  for (int i = 0; i < 20'000; ++i) {
    bytes = whole;
    for (int change = 0; change < 8; ++change) {
      bytes[below<std::size_t>(random, bytes.size())] = static_cast<std::byte>(random());
    }
    for (std::uint32_t page = 0; page < tile->page_count(); ++page) {
      const auto record = tile->record(page);
      EXPECT_EQ(record ? check_page_record(*record) : nullptr, nullptr);
    }
  }
}

}  // namespace
}  // namespace crawlstore::format
