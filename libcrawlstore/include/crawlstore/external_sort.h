// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Sorts byte strings in any number in bounded memory: what does not fit waits in a file without a
/// name.
///
/// Records are ordered as memcmp() orders bytes, a prefix before what it begins. Equal records stay
/// in the order in which they were added. A payload goes with its record and is not compared: the
/// rest of a row, a number, nothing.
///
/// Full memory is sorted and written as one *run*. finish() merges runs of neighbours, `fan_in` at
/// a time, until no more than `fan_in` are left, and next() merges these: a tree of merges, as deep
/// as the runs need and no deeper. Only as many runs are merged early as must be.
///
/// The file lies in a folder of the caller's choice and never has a name that lasts, so that it is
/// gone with the ExternalSort, however the process ends. Its length grows with each merge; the
/// space of what a merge has read is given back at once where the file system can do so.
///
/// Ownership: as in crawlstore.hpp. Threads: one at a time. Fork: as Store (kForked), once a
/// file is there. Errors: kNoSpace and the like, as from a store's file. An error stays: every
/// later call returns it again, so that no record is lost unnoticed.
/// Source: Nutch's WebDB, "How Blocksorting Works"; Knuth, volume 3, 5.4.1 (trees of losers).
///
///   auto sort = ExternalSort::make();
///   for (const auto& url : urls) CRAWLSTORE_TRY(sort->add(url));
///   CRAWLSTORE_TRY(sort->finish());
///   for (;;) {
///     CRAWLSTORE_TRY(const bool is_there, sort->next());
///     if (!is_there) break;
///     std::cout << sort->record() << '\n';
///   }

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <crawlstore/error.h>

#pragma GCC visibility push(default)
namespace crawlstore {

struct ExternalSortOptions {
  /// Bytes that records, with 24 bytes each beside them, and the buffers of merges take. A record
  /// that is longer comes on top: one at a time while they are added, one of each run while runs
  /// are merged. At least 16 KiB. All of it is reserved at once; what no record has reached is not
  /// touched.
  std::uint64_t memory_bytes = std::uint64_t{64} << 20;
  /// Folder of the file, which is made when the memory is full first. Empty: $TMPDIR, or /tmp.
  /// That one may be in memory, and smaller than the disk of the store.
  std::string folder{};
  /// Runs that are merged at a time, 2 to 4096; fewer where memory has no 4 KiB for each.
  std::uint32_t fan_in = 64;
  /// Told inside finish() of bytes that merges have written, of about `total`; false: kCancelled.
  /// The same type as Progress (store.h). What it throws is thrown on, and the sort is kPoisoned.
  std::function<bool(std::uint64_t done, std::uint64_t total)> progress{};
};

/// Counts of a sort up to now.
struct ExternalSortStatus {
  std::uint64_t record_count = 0;   ///< added
  std::uint64_t record_bytes = 0;   ///< of them, with their payloads
  std::uint64_t run_count = 0;      ///< written from memory
  std::uint64_t merge_count = 0;    ///< of runs into a longer one, the last one not counted
  std::uint64_t level_count = 0;    ///< passes over runs, that of next() included; 0: no file
  std::uint64_t written_bytes = 0;  ///< to the file, by runs and merges
};

class ExternalSort {
 public:
  /// Length that a record or a payload may have: 2^30 bytes.
  static constexpr std::size_t kRecordBytesMax = std::size_t{1} << 30;
  static constexpr std::uint64_t kMemoryBytesMin = std::uint64_t{16} << 10;
  static constexpr std::uint32_t kFanInMax = 4096;

  /// Makes a sort without records, and no file yet.
  ///   errors  kInvalidArgument: an option outside its bounds
  [[nodiscard]] static Result<ExternalSort> make(const ExternalSortOptions& options = {});

  ExternalSort(ExternalSort&&) noexcept;
  ExternalSort& operator=(ExternalSort&&) noexcept;
  ~ExternalSort();

  /// Adds a record. The views are not used after the call.
  ///   errors  kTooLarge (nothing was added, others may follow), kInvalidArgument after finish();
  ///           kNoSpace, kFileSizeLimit, kPermission, kNotFound (the folder) and the like
  ///   cost    a copy; when memory is full, sorting it and writing it in sequence
  [[nodiscard]] Result<void> add(std::string_view record, std::string_view payload = {});

  /// Ends adding, and merges runs until next() can merge the rest. Again: no effect.
  ///   errors  as add(), kCancelled
  ///   cost    sorting what is in memory; for each level, reading and writing all records once
  [[nodiscard]] Result<void> finish();

  /// Goes to the next record; false at the end, and from then on.
  ///   errors  kInvalidArgument before finish(); kIo: the file cannot be read or was cut
  ///   cost    log2 of the runs in comparisons; the file is read forwards in each run
  [[nodiscard]] Result<bool> next();

  /// The record that next() went to, and its payload; valid until the next call of next().
  [[nodiscard]] std::string_view record() const;
  [[nodiscard]] std::string_view payload() const;

  [[nodiscard]] ExternalSortStatus status() const;

  struct Impl;

 private:
  explicit ExternalSort(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace crawlstore
#pragma GCC visibility pop
