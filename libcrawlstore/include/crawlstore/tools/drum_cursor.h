// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Windows into a DRUM: so many keys from row r on, the row of a key, the requests that wait in a
/// bucket. What a table on a screen asks for: nothing here passes over the whole DRUM.
///
/// Rows count from 0. A key's row counts the keys of all buckets, ascending; a request's row counts
/// the requests of its bucket's log, in arrival order. Both stand still as long as the view does.
/// What a live writer keeps in its arrays and in its window of recent keys is in its memory, not in
/// the file: no call here sees it before a commit has logged or merged it.
/// Ownership: as in crawlstore.hpp. Threads: any number; a call that reads makes no other one wait.
/// Errors: damage, with segment and offset. The bytes are in spec/drum.md#partition and
/// #request-runs.
///
///   auto screen = keys_at(*view, *row_of(*view, key), 50);   // 50 keys from this one on

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <crawlstore/drum_view.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// Bytes of a value or an auxiliary that a row holds at most where nothing else is said; its full
/// length stands beside it. The whole value of a key: DrumView::lookup().
inline constexpr std::size_t kRowBytesMax = 4096;

/// A key of the repository.
struct KeyRow {
  std::uint64_t row = 0;
  Key16 key;
  std::vector<std::byte> value;          ///< its first bytes
  std::uint64_t value_bytes = 0;         ///< how many it has
  SegmentId partition;                   ///< that holds it
  std::uint64_t block_offset_bytes = 0;  ///< of the key block that holds it, in the file
};

/// The keys from `first_row` on: `count_max` of them, or as many as there are.
///   cost    the blocks that hold them (512 keys each), and of each partition that is touched for
///           the first time the last block. Where that does not tell how many keys the others hold
///           (values of more than 32 KiB on average), the headers of all blocks of that partition
[[nodiscard]] Result<std::vector<KeyRow>> keys_at(const DrumView& view, std::uint64_t first_row,
                                                  std::size_t count_max);

/// The row of the first key that is not below `key`; behind the last key the number of keys.
///   cost    as a lookup, and as keys_at() of a partition that is touched for the first time
[[nodiscard]] Result<std::uint64_t> row_of(const DrumView& view, Key16 key);

/// A request that waits for a merge.
struct PendingRow {
  std::uint64_t row = 0;
  std::uint64_t sequence = 0;
  DrumOperation operation{};
  ConsumerId consumer{};  ///< 0 always exists
  Key16 key;
  std::vector<std::byte> value;        ///< its first bytes; none for kCheck
  std::uint64_t value_bytes = 0;       ///< how many it has
  std::vector<std::byte> aux;          ///< its first bytes
  std::uint64_t aux_bytes = 0;         ///< how many it has
  RunId run;                           ///< that holds it
  std::uint64_t index = 0;             ///< in that run, from 0
  std::uint64_t run_offset_bytes = 0;  ///< of the run, in the file
};

/// The requests in the log of bucket number `bucket` from `first_row` on, in arrival order.
///   cost    reads the runs that hold them whole; the view keeps the one read last, with its
///           auxiliaries, so that the next window costs nothing
///   bytes_max  what a row holds of its value and its auxiliary; SIZE_MAX = all, 64 MiB at most
///   errors  kInvalidArgument: there is no such bucket; of damage
[[nodiscard]] Result<std::vector<PendingRow>> pending_at(const DrumView& view, std::uint64_t bucket,
                                                         std::uint64_t first_row,
                                                         std::size_t count_max,
                                                         std::size_t bytes_max = kRowBytesMax);

/// The places of a key: in its bucket's partition, in its log, in both, or nowhere.
struct KeyPlace {
  std::uint64_t bucket = 0;           ///< that it belongs to, wherever it is
  std::optional<KeyRow> stored;       ///< in the partition
  std::optional<PendingRow> pending;  ///< the first request of it that waits
  std::uint64_t pending_count = 0;    ///< how many wait
};

/// cost    a lookup, and one pass over the keys in the log of one bucket
[[nodiscard]] Result<KeyPlace> find_key(const DrumView& view, Key16 key);

}  // namespace crawlstore
#pragma GCC visibility pop
