// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Differences between two states: generations of one store, a store and an older copy of it,
/// or two stores.
///
/// Segments are compared between states of one store (the uuid says which): their numbers mean
/// nothing elsewhere. DRUMs are compared by name, and in them keys, values, and the requests that
/// wait. Partitions and logs whose runs are the same are skipped, so the cost follows the change.
/// The keys of pages are left out: for pages there is diff_pages() (pages_diff.h).
/// Ownership: as in crawlstore.hpp. Threads: none kept; sinks are called on
/// the caller's thread. Memory: a buffer of 1 MiB a side, and 24 bytes for each request that waits
/// in one bucket. The bytes are in spec/drum.md#drum.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/snapshot.h>
#include <crawlstore/types.h>

#pragma GCC visibility push(default)
namespace crawlstore {

enum class Change : std::uint8_t {
  kAdded,    ///< only the newer state has it
  kGone,     ///< only the older state has it
  kChanged,  ///< both have it, and not alike
};

/// `added`, `gone`, `changed`.
std::string_view name_of(Change change);

/// A segment that is not in both states with the same runs. Where a run lies does not matter.
struct SegmentDiff {
  Change change{};
  SegmentId id;
  SegmentKind kind{};
  SegmentId owner;
  std::string_view name;          ///< of a DRUM; else empty
  std::vector<RunId> added_runs;  ///< ascending
  std::vector<RunId> gone_runs;   ///< ascending; one that has other content is in both
  std::uint64_t old_bytes = 0;    ///< allocated
  std::uint64_t new_bytes = 0;
};

/// A key that is not in both states with the same value.
struct KeyDiff {
  std::string_view drum;  ///< its name
  Change change{};
  bool is_wide = false;  ///< keys have 16 bytes
  Key16 key;
  std::span<const std::byte> old_value;  ///< none for kAdded
  std::span<const std::byte> new_value;  ///< none for kGone
};

/// A request that waits in one state only. kGone: it was merged, most likely.
struct RequestDiff {
  std::string_view drum;
  Change change{};
  bool is_wide = false;        ///< keys have 16 bytes
  std::uint64_t sequence = 0;  ///< unique in one store
  Key16 key;
};

/// The requests of one bucket; where buckets were split since, of all that the older bucket became.
struct BucketDiff {
  std::string_view drum;
  std::uint64_t first_key = 0;  ///< of keys of 16 bytes the head
  std::uint64_t added_count = 0;
  std::uint64_t gone_count = 0;
};

/// A DRUM that one state has, or both.
struct DrumDiff {
  std::string name;
  bool in_old = false;
  bool in_new = false;
  bool shape_differs = false;  ///< keys or values have other lengths: nothing in it was compared
  /// Keys are hashes of URLs, and the two stores have other seeds: nothing in it was compared.
  bool seed_differs = false;
  std::uint64_t old_key_count = 0;
  std::uint64_t new_key_count = 0;
  std::uint64_t added_key_count = 0;  ///< KeyDiff of that kind, and so on
  std::uint64_t gone_key_count = 0;
  std::uint64_t changed_value_count = 0;
  std::uint64_t added_request_count = 0;
  std::uint64_t gone_request_count = 0;
  std::uint64_t old_result_count = 0;  ///< answers that wait for their consumer
  std::uint64_t new_result_count = 0;
  /// Past damage: why nothing of the DRUM was compared, nor counted.
  std::optional<Error> old_error;
  std::optional<Error> new_error;
  /// Whether the DRUM differs between the states, in any of the above.
  [[nodiscard]] bool differs() const;
};

/// Told while the states are compared: segments by id; then drum by drum, buckets ascending, their
/// keys ascending and their requests by sequence. Empty functions are not called.
struct DiffSink {
  std::function<void(const SegmentDiff&)> segment;
  std::function<void(const KeyDiff&)> key;
  /// Requests that came and those that went, each by sequence.
  std::function<void(const RequestDiff&)> request;
  /// After its requests.
  std::function<void(const BucketDiff&)> bucket;
  /// Right before diff() returns an error of one of the states: of which.
  std::function<void(bool in_new)> failed;
};

struct DiffOptions {
  /// Called now and then with keys and requests done and all that must be looked at; false stops
  /// with kCancelled.
  std::function<bool(std::uint64_t done, std::uint64_t total)> progress;
  /// Leaves out a DRUM of which one state cannot be read, as a whole, and says why in its DrumDiff.
  /// Each DRUM is read twice, so that the sink is told only of those that can be.
  bool past_damage = false;
};

struct DiffReport {
  bool is_same_store = false;  ///< else no segments were compared
  std::uint64_t added_segment_count = 0;
  std::uint64_t gone_segment_count = 0;
  std::uint64_t changed_segment_count = 0;
  std::vector<DrumDiff> drums;  ///< all but those of keys of pages, by name
  /// Whether the states differ, in anything that was compared.
  [[nodiscard]] bool differs() const;
};

/// Compares an older state with a newer one. What a sink was told of a partition is to be believed
/// only when diff() succeeds: the checksums of what was streamed are compared at its end.
///   errors  of damage, in either state; kCancelled
[[nodiscard]] Result<DiffReport> diff(const Snapshot& older, const Snapshot& newer,
                                      const DiffSink& sink = {}, const DiffOptions& options = {});

}  // namespace crawlstore
#pragma GCC visibility pop
