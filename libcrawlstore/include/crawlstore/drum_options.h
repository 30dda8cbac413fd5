// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Options of a DRUM: memory, merges, durability, keys. Plain values. Ownership: as in
/// crawlstore.hpp.

#include <cstdint>
#include <string>

#include <crawlstore/types.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// The events that commits are made for (spec/features.md, Durability).
enum class Durability : std::uint8_t {
  kMerge,     ///< safe: what a merge or an explicit commit has acknowledged
  kInterval,  ///< safe: that, and requests older than `interval_ms` when another one comes
  kRequest,   ///< safe: every request when its submission returns
  /// safe: what an explicit commit() has acknowledged. Merges publish nothing, so after a crash
  /// requests are answered again, under sequences that a dispatcher may have seen for others.
  kNone,
};

/// The buckets that an automatic merge takes (spec/features.md, D9): all, in ascending order
/// (from memory: some at a time, sweep after sweep), or those that are full (from memory: the
/// fullest).
enum class MergeScope : std::uint8_t { kAll, kFull };

/// The content of a merge's commit, beside the buckets that it answered and all that their
/// dispatchers submitted.
enum class MergeCommit : std::uint8_t {
  /// No more than it must: of what was submitted before, here and elsewhere, a crash may lose what
  /// waits, though it keeps what was merged. Requests are logged only when somebody commits them.
  kMerged,
  /// All that was submitted before, to any DRUM or page database of the store. What waits in memory
  /// is logged for it: each request is written and read once more.
  kEverything,
};

/// The fate of a repeat that the recent-keys window knows.
enum class Repeats : std::uint8_t {
  kAnswer,  ///< it is answered in its order, as any duplicate
  kDrop,    ///< it is not queued: nobody is told. Best effort: others are answered
};

/// Everything that can be tuned; the defaults suit a crawler that gives its DRUM 64 MiB. All but
/// bucket_count, expected_keys and what keys are may change at run time (DrumCore::tune) and from
/// open to open. The file has none of them; it only tells, for display, when buckets of the writer
/// call for a merge and split (DrumInfo).
struct DrumOptions {
  /// Buckets of a DRUM that is made now; 1 to 65536, or 0: a rule over expected_keys and
  /// memory_bytes, without auxiliaries (spec/design.md, cost model), chooses a power of two,
  /// about as fast as what `crawlstore plan` finds. Later buckets split by themselves.
  std::uint32_t bucket_count = 0;
  /// Different keys that will come, about; at most 2^40. 0 = not known: memory_bytes alone decides.
  std::uint64_t expected_keys = 0;
  /// Memory for all arrays together, those in flight included; up to 4 KiB a bucket come on top. A
  /// merge from memory takes about a fifth of it beside them, a merge of logs up to two and a half
  /// times as much.
  std::uint64_t memory_bytes = std::uint64_t{64} << 20;
  /// Capacity of each bucket's key array, in requests; 0 = from memory_bytes.
  std::uint64_t array_elements = 0;
  /// Capacity of each bucket's auxiliary array, in bytes; 0 = from memory_bytes.
  std::uint64_t array_aux_bytes = 0;
  /// A bucket with more pending bytes than this (keys or auxiliaries) calls for a merge; 0 = from
  /// memory_bytes: what one bucket's merge can sort in memory.
  std::uint64_t bucket_bytes = 0;
  /// A partition with more keys than this splits at its next merge.
  std::uint64_t partition_keys_max = std::uint64_t{1} << 26;
  /// Merge on its own when a bucket calls for it; false = only merge() merges.
  bool auto_merge = true;
  MergeScope merge_scope = MergeScope::kAll;
  /// For what must be together without a policy for all, there is Transaction.
  MergeCommit merge_commit = MergeCommit::kMerged;
  Durability durability = Durability::kMerge;
  std::uint32_t interval_ms = 1000;
  /// Makes every request durable in its bucket's log before it is merged and dispatched: after a
  /// crash an external dispatcher is asked again, with the same sequences, and can tell. Costs
  /// writing and reading each request once. Without it full arrays are merged from memory, bucket
  /// after bucket, as long as that is cheaper; what no merge has acknowledged is lost in a crash,
  /// and its sequences are not used again.
  bool log_first = false;
  /// Load, sort and merge the next buckets on a second thread while others are dispatched and new
  /// requests come in; encode requests for the log on up to four. The bytes are the same.
  bool parallel = true;
  /// Slots of the recent-keys window, where there are no values: a request whose key is known to be
  /// inserted by one before it that waits in the same array is neither sorted nor merged, and takes
  /// about 3 bytes. Rounded up to a power of two, at most memory_bytes / 256 and 2^24; 16 bytes
  /// each, beside memory_bytes. It rests while few requests repeat. 0 = none.
  std::uint32_t recent_keys = std::uint32_t{1} << 16;
  Repeats repeats = Repeats::kAnswer;
  /// Not kPage. UrlSeen sets it.
  KeyScheme key_scheme = KeyScheme::kOpaque;
  /// Length of every key, 8 or 16; 0 = as the DRUM has it, 8 when it is made now (Drum<> sets it).
  std::uint16_t key_bytes = 0;
  /// The name of the normalizer of URLs; fixed when the DRUM is made (UrlSeen sets it).
  std::string normalizer{};
};

}  // namespace crawlstore
#pragma GCC visibility pop
