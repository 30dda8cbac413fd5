// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Sorted runs of records in the file of an external sort. A record is two lengths of 4 bytes, its
/// bytes, and its payload. Only the process that wrote them reads them.
/// Threads: one at a time.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/storage.h>

namespace crawlstore::io {

/// Opens a file that no path leads to, for writing. Empty `folder`: $TMPDIR, or /tmp.
///   errors  kNotFound, kPermission and the like
[[nodiscard]] Result<std::unique_ptr<Storage>> open_scratch_file(const std::string& folder);

/// Appends records to a file through a buffer.
class RecordRunWriter {
 public:
  /// `file` outlives it, and so does `buffer`, which is not empty.
  RecordRunWriter(Storage& file, std::uint64_t at, std::span<std::byte> buffer)
      : file_(file), begin_(at), at_(at), buffer_(buffer) {}

  Result<void> put(std::string_view record, std::string_view payload);
  /// Writes what the buffer holds; returns the extent of the run.
  Result<Extent> finish();
  [[nodiscard]] std::uint64_t written_bytes() const { return at_ - begin_; }

 private:
  Result<void> put_bytes(std::span<const std::byte> bytes);
  Result<void> flush();

  Storage& file_;
  std::uint64_t begin_;
  std::uint64_t at_;  // of the buffer in the file
  std::span<std::byte> buffer_;
  std::size_t used_ = 0;
};

/// Reads a run forwards.
class RecordRunReader {
 public:
  /// `buffer` has room for the lengths of a record, at least.
  RecordRunReader(Storage& file, Extent run, std::span<std::byte> buffer)
      : file_(&file), at_(run.offset_bytes), end_(run.end_bytes()), buffer_(buffer) {}

  /// Goes to the first or next record. errors  kIo
  Result<void> next();
  /// Whether next() found none.
  [[nodiscard]] bool at_end() const { return at_end_; }
  [[nodiscard]] std::string_view record() const { return record_; }
  [[nodiscard]] std::string_view payload() const { return payload_; }

 private:
  /// Brings unread bytes to the front of the buffer and fills it. Views into it end.
  Result<void> refill();
  Result<void> read(std::span<std::byte> into);
  Result<std::string_view> take(std::size_t bytes);

  Storage* file_;
  std::uint64_t at_;  // of what the buffer lacks
  std::uint64_t end_;
  std::span<std::byte> buffer_;
  std::size_t first_ = 0;  // unread bytes of the buffer
  std::size_t last_ = 0;
  bool at_end_ = false;
  std::string_view record_;
  std::string_view payload_;
  std::string long_;  // a record that is longer than the buffer
};

/// The records of several runs in one order; equal ones in the order of their runs. A tree of
/// losers: each inner node keeps the run that lost there, node 0 the winner of all.
class RecordRunMerge {
 public:
  /// Shares `memory` among the readers.
  RecordRunMerge(Storage& file, std::span<const Extent> runs, std::span<std::byte> memory);

  /// Goes to the first or next record; false at the end.
  Result<bool> next();
  [[nodiscard]] std::string_view record() const { return readers_[losers_[0]].record(); }
  [[nodiscard]] std::string_view payload() const { return readers_[losers_[0]].payload(); }

 private:
  [[nodiscard]] bool comes_first(std::size_t a, std::size_t b) const;
  Result<void> start();
  void replay(std::size_t run);

  std::vector<RecordRunReader> readers_;
  std::vector<std::size_t> losers_;
  bool has_begun_ = false;
};

}  // namespace crawlstore::io
