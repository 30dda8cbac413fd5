// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Records of an external sort in one block of memory: their bytes from its front, their entries
/// from its end, until these meet.
/// Threads: one at a time.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace crawlstore::io {

class RecordBuffer {
 public:
  explicit RecordBuffer(std::size_t memory_bytes);

  /// Adds a record, unless there is no room for it: then returns false.
  bool add(std::string_view record, std::string_view payload);
  /// Sorts by record, equal ones in the order of adding.
  ///   cost  bytes of records that share their beginning, a word at a time; no recursion
  void sort();
  void clear();

  [[nodiscard]] std::size_t size() const { return entry_count_ - first_entry_; }
  [[nodiscard]] std::string_view record(std::size_t i) const;
  [[nodiscard]] std::string_view payload(std::size_t i) const;

  /// The whole block, for other uses while it is empty.
  [[nodiscard]] std::span<std::byte> block();

 private:
  struct Entry {
    std::uint64_t
        word;          // 8 bytes of the record from the depth being sorted, most significant first
    std::uint64_t at;  // offset of the record; its payload follows
    std::uint32_t record_bytes;
    std::uint32_t payload_bytes;
  };

  [[nodiscard]] std::string_view text_at(std::uint64_t at, std::size_t length) const;
  [[nodiscard]] std::string_view record_of(const Entry& entry) const {
    return text_at(entry.at, entry.record_bytes);
  }
  [[nodiscard]] std::size_t common_prefix(std::span<const Entry> entries, std::size_t depth) const;
  void sort_from(std::span<Entry> entries, std::size_t depth);

  std::size_t entry_count_;  // that the block could hold
  std::unique_ptr<Entry[]> block_;
  std::size_t first_entry_;
  std::size_t used_bytes_ = 0;
};

}  // namespace crawlstore::io
