// SPDX-License-Identifier: Apache-2.0
#include "format/record_tile.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/assert.h"
#include "format/endian.h"
#include "format/invalid.h"

namespace crawlstore::format {
namespace {

constexpr std::size_t kColumns = std::tuple_size_v<decltype(RecordTileHeader::columns)>;
/// The numbers of one column before they are packed.
using ColumnNumbers = std::vector<std::uint64_t>;

constexpr std::size_t at(RecordColumnId id) {
  return static_cast<std::size_t>(id);
}

std::uint8_t width_of(std::uint64_t number) {
  return static_cast<std::uint8_t>((std::bit_width(number) + 7) / 8);
}

/// Turns numbers into differences to a base, the lowest of them. Where 0 has a meaning of its own
/// it stays 0, and the lowest other number becomes 1.
RecordColumn pack(bool keeps_zero, ColumnNumbers& numbers) {
  const auto is_packed = [keeps_zero](std::uint64_t number) { return !keeps_zero || number != 0; };
  std::uint64_t lowest = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t number : numbers) {
    if (is_packed(number)) lowest = std::min(lowest, number);
  }
  RecordColumn column{};
  if (std::none_of(numbers.begin(), numbers.end(), is_packed)) return column;
  column.base = keeps_zero ? lowest - 1 : lowest;
  for (std::uint64_t& number : numbers) {
    if (is_packed(number)) number -= column.base;
  }
  column.width_bytes = width_of(*std::max_element(numbers.begin(), numbers.end()));
  return column;
}

/// First crawls one later than they were: 0 says that there was none.
std::array<ColumnNumbers, kColumns> columns_of(std::span<const PageRecord> records) {
  std::array<ColumnNumbers, kColumns> columns;
  const auto add = [&columns](RecordColumnId id, std::uint64_t number) {
    columns[at(id)].push_back(number);
  };
  std::uint64_t hash_end = 0;
  for (const PageRecord& record : records) {
    hash_end += record.hash_bytes;
    const auto first = static_cast<std::uint64_t>(record.first_crawl_us);
    add(RecordColumnId::kState, static_cast<std::uint64_t>(record.state));
    add(RecordColumnId::kCrawlCount, record.crawl_count);
    add(RecordColumnId::kChangeCount, record.change_count);
    add(RecordColumnId::kFirstCrawl, record.crawl_count == 0 ? 0 : first + 1);
    add(RecordColumnId::kCrawlSpan, static_cast<std::uint64_t>(record.last_crawl_us) - first);
    add(RecordColumnId::kScore, std::bit_cast<std::uint32_t>(record.score));
    add(RecordColumnId::kHashEnd, hash_end);
    add(RecordColumnId::kStatus, record.status);
    add(RecordColumnId::kFailures, record.failures);
  }
  return columns;
}

Result<RecordTileHeader> parse_header(std::span<const std::byte> payload) {
  if (payload.size() < sizeof(RecordTileHeader)) return invalid("a record tile is cut short");
  const auto header = load_struct<RecordTileHeader>(payload.data());
  if (header.magic != kRecordTileMagic)
    return invalid("the magic number of a record tile is wrong");
  if (header.page_count == 0 || header.page_count > kTilePagesMax) {
    return invalid("the page count of a record tile is out of range",
                   offsetof(RecordTileHeader, page_count));
  }
  for (std::size_t i = 0; i < kColumns; ++i) {
    const RecordColumn& column = header.columns[i];
    if (column.width_bytes > 8 || !is_zero(std::as_bytes(std::span(column.reserved)))) {
      return invalid("a column of a record tile is described wrongly",
                     offsetof(RecordTileHeader, columns) + i * sizeof(RecordColumn));
    }
  }
  return header;
}

const char* check_uncrawled(const PageRecord& record) {
  if (record.state == PageState::kCrawled) return "a crawled page was never crawled";
  if (record.first_crawl_us != 0 || record.last_crawl_us != 0 || record.hash_bytes != 0 ||
      record.change_count != 0) {
    return "a page that was never crawled has results of a crawl";
  }
  return nullptr;
}

const char* check_crawled(const PageRecord& record) {
  if (record.state == PageState::kKnown) return "a page that is only known was crawled";
  if (record.state == PageState::kElsewhere) return "a page of another shard was crawled";
  if (record.first_crawl_us < 0 || record.last_crawl_us < record.first_crawl_us) {
    return "the time of a crawl is out of range";
  }
  if (record.change_count >= record.crawl_count) {
    return "a page changed at its first crawl, or more often than it was crawled";
  }
  return nullptr;
}

}  // namespace

const char* check_page_record(const PageRecord& record) {
  if (static_cast<std::size_t>(record.state) >= kPageStateCount) {
    return "the state of a page is unknown";
  }
  if ((record.failures != 0) != (record.state == PageState::kFailed)) {
    return "a page failed without a failure, or the other way round";
  }
  if (!std::isfinite(record.score)) return "the score of a page is not finite";
  if (record.hash_bytes > kContentHashBytesMax) return "the content hash of a page is too long";
  return record.crawl_count == 0 ? check_uncrawled(record) : check_crawled(record);
}

void encode_record_tile(std::span<const PageRecord> records, std::vector<std::byte>& out) {
  CRAWLSTORE_ASSERT(!records.empty() && records.size() <= kTilePagesMax);
  for (const PageRecord& record : records) CRAWLSTORE_ASSERT(check_page_record(record) == nullptr);
  auto columns = columns_of(records);
  RecordTileHeader header{};
  header.magic = kRecordTileMagic;
  header.page_count = static_cast<std::uint32_t>(records.size());
  header.hash_bytes = static_cast<std::uint32_t>(columns[at(RecordColumnId::kHashEnd)].back());
  std::uint64_t used = sizeof header;
  for (std::size_t i = 0; i < kColumns; ++i) {
    header.columns[i] = pack(i == at(RecordColumnId::kFirstCrawl), columns[i]);
    used += records.size() * header.columns[i].width_bytes;
  }
  const std::size_t begin = out.size();
  out.resize(begin + round_up(used + header.hash_bytes, 8));
  std::byte* place = out.data() + begin;
  store_struct(place, header);
  place += sizeof header;
  for (std::size_t i = 0; i < kColumns; ++i) {
    for (const std::uint64_t number : columns[i]) {
      store_narrow(place, number, header.columns[i].width_bytes);
      place += header.columns[i].width_bytes;
    }
  }
  for (const PageRecord& record : records) {
    place = std::copy_n(record.hash.begin(), record.hash_bytes, place);
  }
}

Result<RecordTile> RecordTile::parse(std::span<const std::byte> payload) {
  const auto header = parse_header(payload);
  if (!header) return tl::unexpected<Error>(header.error());
  RecordTile tile;
  tile.payload_ = payload;
  tile.page_count_ = header->page_count;
  std::size_t end = sizeof(RecordTileHeader);
  for (std::size_t i = 0; i < kColumns; ++i) {
    const RecordColumn& column = header->columns[i];
    tile.columns_[i] = {column.base, column.width_bytes, end};
    end += std::size_t{header->page_count} * column.width_bytes;
  }
  if (payload.size() != round_up(std::uint64_t{end} + header->hash_bytes, 8)) {
    return invalid("the length of a record tile does not fit its header");
  }
  tile.hashes_ = payload.subspan(end, header->hash_bytes);
  if (!is_zero(payload.subspan(end + header->hash_bytes))) {
    return invalid("padding of a record tile is not zero", end + header->hash_bytes);
  }
  return tile;
}

std::uint64_t RecordTile::stored(RecordColumnId id, std::uint32_t index) const {
  const Column& from = column(id);
  const std::size_t offset = from.offset_bytes + index * from.width_bytes;
  if (offset + 8 > payload_.size()) return load_narrow(payload_.data() + offset, from.width_bytes);
  const auto bytes = load<std::uint64_t>(payload_.data() + offset);
  return from.width_bytes == 8 ? bytes : bytes & ((std::uint64_t{1} << from.width_bytes * 8) - 1);
}

/// Returns false if the sum is no number of 64 bits.
bool RecordTile::add_base(RecordColumnId id, std::uint64_t& value) const {
  return !__builtin_add_overflow(value, column(id).base, &value);
}

const char* RecordTile::load_counts(std::uint32_t index, PageRecord& record) const {
  std::uint64_t state = stored(RecordColumnId::kState, index);
  std::uint64_t crawls = stored(RecordColumnId::kCrawlCount, index);
  std::uint64_t changes = stored(RecordColumnId::kChangeCount, index);
  std::uint64_t score = stored(RecordColumnId::kScore, index);
  std::uint64_t status = stored(RecordColumnId::kStatus, index);
  std::uint64_t failures = stored(RecordColumnId::kFailures, index);
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint32_t>::max();
  if (!add_base(RecordColumnId::kState, state) || state > 0xFF ||
      !add_base(RecordColumnId::kCrawlCount, crawls) || crawls > kMax ||
      !add_base(RecordColumnId::kChangeCount, changes) || changes > kMax ||
      !add_base(RecordColumnId::kScore, score) || score > kMax ||
      !add_base(RecordColumnId::kStatus, status) || status > 0xFFFF ||
      !add_base(RecordColumnId::kFailures, failures) || failures > kMax) {
    return "a number of a page record is out of range";
  }
  record.state = static_cast<PageState>(state);
  record.crawl_count = static_cast<std::uint32_t>(crawls);
  record.change_count = static_cast<std::uint32_t>(changes);
  record.score = std::bit_cast<float>(static_cast<std::uint32_t>(score));
  record.status = static_cast<std::uint16_t>(status);
  record.failures = static_cast<std::uint32_t>(failures);
  return nullptr;
}

const char* RecordTile::load_times(std::uint32_t index, PageRecord& record) const {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  std::uint64_t first = stored(RecordColumnId::kFirstCrawl, index);
  if ((first == 0) != (record.crawl_count == 0)) {
    return "a page has a first crawl without a crawl, or the other way round";
  }
  if (first != 0 && (!add_base(RecordColumnId::kFirstCrawl, --first) || first > kMax)) {
    return "the time of a crawl is out of range";
  }
  std::uint64_t span = stored(RecordColumnId::kCrawlSpan, index);
  if (!add_base(RecordColumnId::kCrawlSpan, span) || span > kMax - first) {
    return "the time of a crawl is out of range";
  }
  record.first_crawl_us = static_cast<std::int64_t>(first);
  record.last_crawl_us = static_cast<std::int64_t>(first + span);
  return nullptr;
}

bool RecordTile::hash_end(std::uint32_t index, std::uint64_t& end) const {
  end = stored(RecordColumnId::kHashEnd, index);
  return add_base(RecordColumnId::kHashEnd, end) && end <= hashes_.size();
}

const char* RecordTile::load_hash(std::uint32_t index, PageRecord& record) const {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  if ((index != 0 && !hash_end(index - 1, begin)) || !hash_end(index, end) || end < begin ||
      end - begin > kContentHashBytesMax) {
    return "the content hash of a page lies outside the hash bytes, or is too long";
  }
  record.hash_bytes = static_cast<std::uint8_t>(end - begin);
  std::copy_n(hashes_.begin() + static_cast<std::ptrdiff_t>(begin), record.hash_bytes,
              record.hash.begin());
  return nullptr;
}

Result<PageRecord> RecordTile::record(std::uint32_t index) const {
  CRAWLSTORE_ASSERT(index < page_count_);
  PageRecord record;
  const char* broken = load_counts(index, record);
  if (broken == nullptr) broken = load_times(index, record);
  if (broken == nullptr) broken = load_hash(index, record);
  if (broken == nullptr) broken = check_page_record(record);
  if (broken != nullptr) return invalid(broken);
  return record;
}

Result<void> RecordTile::check() const {
  for (std::uint32_t i = 0; i < page_count_; ++i) {
    const auto found = record(i);
    if (!found) return tl::unexpected<Error>(found.error());
  }
  std::uint64_t end = 0;
  if (!hash_end(page_count_ - 1, end) || end != hashes_.size()) {
    return invalid("hash bytes of a record tile belong to no page");
  }
  return {};
}

}  // namespace crawlstore::format
