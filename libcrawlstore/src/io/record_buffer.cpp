// SPDX-License-Identifier: Apache-2.0
//
// Invariants:
// - Each record takes at least a byte, so that offsets grow with the order of adding.
// - Records of one range of a sort agree in all bytes before its depth.
#include "io/record_buffer.h"

#include <algorithm>
#include <vector>

#include "format/endian.h"

namespace crawlstore::io {
namespace {

constexpr std::size_t kWordBytes = 8;
/// Entries of a range that are compared as a whole.
constexpr std::size_t kFewRecords = 12;

/// The 8 bytes of a record from `depth` on as a number, zeros behind its end.
std::uint64_t word_at(std::string_view record, std::size_t depth) {
  if (record.size() >= depth + kWordBytes) {
    const auto bytes = std::as_bytes(std::span(record));
    return __builtin_bswap64(format::load<std::uint64_t>(bytes.data() + depth));
  }
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < kWordBytes; ++i) {
    const std::size_t at = depth + i;
    word = word << 8 | (at < record.size() ? static_cast<unsigned char>(record[at]) : 0U);
  }
  return word;
}

/// Bytes of a record that its word has.
std::size_t bytes_in_word(std::size_t record_bytes, std::size_t depth) {
  return record_bytes <= depth ? 0 : std::min(kWordBytes, record_bytes - depth);
}

}  // namespace

RecordBuffer::RecordBuffer(std::size_t memory_bytes)
    : entry_count_(memory_bytes / sizeof(Entry)),
      block_(std::make_unique_for_overwrite<Entry[]>(entry_count_)),
      first_entry_(entry_count_) {}

std::string_view RecordBuffer::text_at(std::uint64_t at, std::size_t length) const {
  const auto bytes = std::as_bytes(std::span(block_.get(), entry_count_)).subspan(at, length);
  return {format::numbers<char>(bytes).data(), length};
}

std::span<std::byte> RecordBuffer::block() {
  return std::as_writable_bytes(std::span(block_.get(), entry_count_));
}

void RecordBuffer::clear() {
  first_entry_ = entry_count_;
  used_bytes_ = 0;
}

bool RecordBuffer::add(std::string_view record, std::string_view payload) {
  const std::size_t taken = std::max<std::size_t>(1, record.size() + payload.size());
  const std::size_t room = first_entry_ * sizeof(Entry) - used_bytes_;
  if (taken > room || room - taken < sizeof(Entry)) return false;
  const auto to = block().subspan(used_bytes_);
  std::ranges::copy(std::as_bytes(std::span(record)), to.begin());
  std::ranges::copy(std::as_bytes(std::span(payload)), to.subspan(record.size()).begin());
  block_[--first_entry_] = {0, used_bytes_, static_cast<std::uint32_t>(record.size()),
                            static_cast<std::uint32_t>(payload.size())};
  used_bytes_ += taken;
  return true;
}

std::string_view RecordBuffer::record(std::size_t i) const {
  return record_of(block_[first_entry_ + i]);
}

std::string_view RecordBuffer::payload(std::size_t i) const {
  const Entry& entry = block_[first_entry_ + i];
  return text_at(entry.at + entry.record_bytes, entry.payload_bytes);
}

/// Bytes that all records of a range begin with, as those of one site do; `depth` is known.
std::size_t RecordBuffer::common_prefix(std::span<const Entry> entries, std::size_t depth) const {
  std::string_view common = record_of(entries.front());
  for (const Entry& entry : entries.subspan(1)) {
    const std::string_view record = record_of(entry).substr(0, common.size());
    const auto from = static_cast<std::ptrdiff_t>(depth);
    const auto differs =
        std::mismatch(common.begin() + from, common.end(), record.begin() + from, record.end());
    common = common.substr(0, static_cast<std::size_t>(differs.first - common.begin()));
    if (common.size() == depth) break;
  }
  return common.size();
}

/// Sorts a small range by what follows `depth`.
void RecordBuffer::sort_from(std::span<Entry> entries, std::size_t depth) {
  std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
    const int order = record_of(a).substr(depth).compare(record_of(b).substr(depth));
    return order != 0 ? order < 0 : a.at < b.at;
  });
}

void RecordBuffer::sort() {
  struct Range {
    std::span<Entry> entries;
    std::size_t depth;
  };
  const std::span<Entry> all(block_.get() + first_entry_, size());
  if (all.size() < 2) return;
  std::vector<Range> ranges{{all, 0}};
  while (!ranges.empty()) {
    const std::span<Entry> entries = ranges.back().entries;
    const std::size_t agreed = ranges.back().depth;
    ranges.pop_back();
    if (entries.size() <= kFewRecords) {
      sort_from(entries, agreed);
      continue;
    }
    const std::size_t depth = common_prefix(entries, agreed);
    for (Entry& entry : entries) entry.word = word_at(record_of(entry), depth);
    const auto rest = [depth](const Entry& entry) {
      return bytes_in_word(entry.record_bytes, depth);
    };
    std::sort(entries.begin(), entries.end(), [&rest](const Entry& a, const Entry& b) {
      if (a.word != b.word) return a.word < b.word;
      return rest(a) != rest(b) ? rest(a) < rest(b) : a.at < b.at;
    });
    for (std::size_t begin = 0; begin < entries.size();) {
      const Entry& first = entries[begin];
      std::size_t end = begin + 1;
      while (end < entries.size() && entries[end].word == first.word &&
             rest(entries[end]) == rest(first)) {
        ++end;
      }
      if (end - begin > 1 && rest(first) == kWordBytes) {
        ranges.push_back({entries.subspan(begin, end - begin), depth + kWordBytes});
      }
      begin = end;
    }
  }
}

}  // namespace crawlstore::io
