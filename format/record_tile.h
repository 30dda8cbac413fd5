// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Tiles of page records, columns with random access: spec/pages.md#record-tiles.
///
/// A RecordTile points into the payload that it was parsed from, which must outlive it. The bytes
/// may change meanwhile: each number is bounded when it is used. Any thread.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/types.h>

#include "format/layout.h"

namespace crawlstore::format {

/// The findings of crawls about a page. Times in microseconds since the epoch; both 0 when
/// crawl_count is 0.
struct PageRecord {
  PageState state = PageState::kKnown;
  std::uint32_t crawl_count = 0;
  std::uint32_t change_count = 0;  ///< crawls that found other content than the one before
  std::int64_t first_crawl_us = 0;
  std::int64_t last_crawl_us = 0;
  float score = 0;
  std::uint16_t status = 0;                            ///< of HTTP, given last; 0: none
  std::uint32_t failures = 0;                          ///< fetches in a row that failed
  std::uint8_t hash_bytes = 0;                         ///< length of the content hash
  std::array<std::byte, kContentHashBytesMax> hash{};  ///< zeros behind hash_bytes
  friend bool operator==(const PageRecord&, const PageRecord&) = default;
};

/// nullptr, or the text that names the rule which the record breaks.
const char* check_page_record(const PageRecord& record);

/// Appends the payload of 1 to kTilePagesMax records, each of which keeps the rules. Columns are as
/// narrow as they can be.
void encode_record_tile(std::span<const PageRecord> records, std::vector<std::byte>& out);

/// The columns, in the order of the file.
enum class RecordColumnId : std::uint8_t {
  kState,
  kCrawlCount,
  kChangeCount,
  kFirstCrawl,  ///< 0: never; else 1 more than the time less the base
  kCrawlSpan,   ///< from the first to the last crawl
  kScore,       ///< the bits of a float
  kHashEnd,     ///< where the content hash ends in the hash bytes
  kStatus,
  kFailures,
};

class RecordTile {
 public:
  /// Checks header, lengths and padding, in O(1) of the number of pages.
  ///   errors  kSegmentInvalid, offset relative to the payload
  static Result<RecordTile> parse(std::span<const std::byte> payload);

  [[nodiscard]] std::uint32_t page_count() const { return page_count_; }

  /// Record `index`, below page_count().
  ///   errors  kSegmentInvalid: it breaks a rule
  ///   cost    O(1): one load a column
  [[nodiscard]] Result<PageRecord> record(std::uint32_t index) const;

  /// Looks at every record. errors as record(), and when hash bytes are left over
  [[nodiscard]] Result<void> check() const;

 private:
  struct Column {
    std::uint64_t base = 0;
    std::size_t width_bytes = 0;
    std::size_t offset_bytes = 0;
  };

  [[nodiscard]] const Column& column(RecordColumnId id) const {
    return columns_[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] std::uint64_t stored(RecordColumnId id, std::uint32_t index) const;
  [[nodiscard]] bool add_base(RecordColumnId id, std::uint64_t& value) const;
  [[nodiscard]] const char* load_counts(std::uint32_t index, PageRecord& record) const;
  [[nodiscard]] const char* load_times(std::uint32_t index, PageRecord& record) const;
  [[nodiscard]] const char* load_hash(std::uint32_t index, PageRecord& record) const;
  [[nodiscard]] bool hash_end(std::uint32_t index, std::uint64_t& end) const;

  std::span<const std::byte> payload_;
  std::span<const std::byte> hashes_;
  std::array<Column, std::tuple_size_v<decltype(RecordTileHeader::columns)>> columns_;
  std::uint32_t page_count_ = 0;
};

}  // namespace crawlstore::format
