// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The views of the cache and of the disk after a prefix of an operation log.
///
/// The fault model is of spec/features.md, T1:
///   - An operation is `pending` until a successful sync: it may have reached the disk in part, not
///     at all, or before an earlier one.
///   - A failed sync makes the pending data `doubtful`: its pages stay readable and are clean. No
///     later sync writes them, so they are on disk only if they got there by luck before. Changes
///     of the length, of the allocation and punched holes stay pending: the next sync covers them.
///   - A later write to a lost page makes the whole page dirty again, so that it carries the lost
///     bytes beside it along.
///   - An evicted lost page shows the disk, and with that it is settled that it never got there.

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "support/operation_log.h"

namespace crawlstore::testing {

inline constexpr std::uint64_t kPageBytes = 4096;

/// Bytes at a place of the file.
struct Piece {
  std::uint64_t offset_bytes = 0;
  std::vector<std::byte> bytes;
  [[nodiscard]] std::uint64_t end_bytes() const { return offset_bytes + bytes.size(); }
};

/// Something that may or may not have reached the disk. Effects apply in the order of the log.
struct Effect {
  enum class Kind : std::uint8_t {
    kData,      ///< pieces; the file grows to size_bytes when it is shorter and size_bytes not 0
    kGrow,      ///< the file grows to size_bytes when it is shorter
    kTruncate,  ///< the file shrinks to size_bytes when it is longer
    kPunch,     ///< the extent becomes zero
  };
  Kind kind = Kind::kData;
  std::size_t operation_index = 0;
  std::vector<Piece> pieces;
  std::uint64_t size_bytes = 0;
  Extent extent;
};

class DiskModel {
 public:
  explicit DiskModel(std::span<const std::byte> initial);

  /// Moves on by one operation of the log. `operation_index` is its place there.
  void apply(const Operation& operation, std::size_t operation_index);

  /// The bytes that every sync so far has made durable.
  [[nodiscard]] const std::vector<std::byte>& disk() const { return disk_; }
  /// The bytes that a read returns.
  [[nodiscard]] const std::vector<std::byte>& cache() const { return cache_; }
  /// The bytes that syncs last wrote at each place, even if they were cut off or punched since:
  /// what a file system without order can show again.
  [[nodiscard]] const std::vector<std::byte>& stale() const { return stale_; }
  /// Pending and doubtful effects, in the order of the log.
  [[nodiscard]] std::vector<Effect> unsynced() const;
  /// Numbers of the pages that are clean in the cache and not on disk.
  [[nodiscard]] const std::set<std::uint64_t>& lost_pages() const { return lost_pages_; }

 private:
  void write(const Operation& operation, std::size_t operation_index);
  void truncate(std::uint64_t size_bytes, std::size_t operation_index);
  void punch(Extent extent, std::size_t operation_index);
  void sync();
  void lose_pending();
  void evict();
  void forget_lost(std::uint64_t from, std::uint64_t to);
  /// Takes [from, to) out of doubtful effects of operations before `before`.
  void clip_doubtful(std::uint64_t from, std::uint64_t to, std::size_t before);

  std::vector<std::byte> disk_;
  std::vector<std::byte> cache_;
  std::vector<std::byte> stale_;
  std::vector<Effect> pending_;
  std::vector<Effect> doubtful_;
  std::set<std::uint64_t> lost_pages_;
};

}  // namespace crawlstore::testing
