// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Looking into a DRUM without its writer: any process, any generation that can be pinned.
///
/// Ownership: as in crawlstore.hpp. The view must outlive each call on it, visitors included.
/// Threads: any number, of one view too: none waits while another one reads. Damage is reported
/// with segment and offset, at the first touch of a chunk. What is pending is not in the repository
/// yet: for_each_pending() shows it, lookup() does not.
///
///   auto snapshot = Snapshot::open("my.crawl");
///   auto urls = DrumView::open(*snapshot, "urls");
///   bool seen = urls->lookup(key)->has_value();      // as of that generation's last merge

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/drum_core.h>
#include <crawlstore/drum_traits.h>
#include <crawlstore/snapshot.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// Sizes and counts of a DRUM in one generation.
struct DrumInfo {
  SegmentId id;
  std::string name;
  KeyScheme key_scheme = KeyScheme::kOpaque;
  std::uint16_t key_bytes = 8;   ///< 8 or 16
  std::int32_t value_bytes = 0;  ///< -1 = any length
  std::uint64_t bucket_count = 0;
  std::uint64_t key_count = 0;        ///< unique keys in the repository
  std::uint64_t pending_count = 0;    ///< requests that wait for a merge
  std::uint64_t result_count = 0;     ///< answers that wait for their consumer
  std::uint64_t merge_count = 0;      ///< since the DRUM was made
  std::uint64_t unparsed_count = 0;   ///< URLs keyed as they were
  std::string normalizer;             ///< of URLs: UrlNormalizer::name()
  std::uint64_t next_sequence = 0;    ///< of the next request that reaches the disk
  std::uint64_t partition_bytes = 0;  ///< allocated, index and checksums included
  std::uint64_t pending_bytes = 0;    ///< allocated for both logs
  /// When buckets of the writer that wrote the DRUM last call for a merge: with more bytes in one
  /// of their logs, or with more requests after the next run. Either of them is 0, as that writer
  /// goes by the other. For display: bucket_fill() in tools/drum_statistics.h.
  std::uint64_t merge_bytes = 0;
  std::uint64_t merge_requests = 0;
  std::uint64_t partition_keys_max = 0;  ///< more keys split at the next merge; 0 = not stated
  /// The keys are hashes of URLs: a UrlSeen can open the DRUM.
  [[nodiscard]] bool has_url_keys() const {
    return key_scheme == KeyScheme::kUrl || key_scheme == KeyScheme::kUrlRabin;
  }
  /// partition_bytes over key_count; 0 without keys.
  [[nodiscard]] double bytes_per_key() const;
};

/// All DRUMs of the snapshot's generation; ascending id. errors kSegmentInvalid, kChunkDamaged
[[nodiscard]] Result<std::vector<DrumInfo>> list_drums(const Snapshot& snapshot);

/// A DRUM as one generation holds it. Threads: any number. Keeps the snapshot.
class DrumView {
 public:
  /// The DRUM `name` of the snapshot's generation.
  ///   errors  kUnknownName, kChunkDamaged, kSegmentInvalid
  ///   cost    reads the DRUM's table: 48 bytes a bucket
  [[nodiscard]] static Result<DrumView> open(const Snapshot& snapshot, std::string_view name);

  /// The value's bytes, copied; nullopt = absent. Touches O(1) blocks: a few chunks of the index,
  /// one block. errors of damage
  [[nodiscard]] Result<std::optional<std::vector<std::byte>>> lookup(Key16 key) const;

  /// Whether the key is there, or will be once the requests that this generation holds are merged.
  ///   cost  a lookup, and for each pending run of the key's bucket a search in a sorted list of
  ///         its keys, which is made when it is first asked for (8 or 16 bytes a key)
  ///   errors  of damage
  [[nodiscard]] Result<bool> contains(Key16 key) const;

  /// All keys from `first` on, ascending, each once, with their values, until the visitor returns
  /// false. cost: one pass over the partitions from there, through the mapping
  [[nodiscard]] Result<void> for_each_key(
      const std::function<bool(Key16 key, std::span<const std::byte> value)>& visit,
      Key16 first = {}) const;

  /// All pending requests, bucket by bucket in arrival order, until the visitor returns false.
  [[nodiscard]] Result<void> for_each_pending(
      const std::function<bool(std::uint64_t bucket, const RawRequest& request,
                               std::uint64_t sequence)>& visit) const;

  /// A range of keys, up to the next bucket's first key. Segment ids are 0 when there is none.
  struct Bucket {
    std::uint64_t first_key = 0;
    std::uint64_t key_count = 0;
    std::uint64_t pending_count = 0;
    SegmentId partition;
    SegmentId key_log;
    SegmentId aux_log;
  };
  /// Ascending first key; the first begins at 0.
  [[nodiscard]] const std::vector<Bucket>& buckets() const;
  /// Counts and sizes of this DRUM in this generation.
  [[nodiscard]] const DrumInfo& info() const;

  struct Impl;

 private:
  explicit DrumView(std::shared_ptr<Impl> impl);
  friend struct Inside;
  std::shared_ptr<Impl> impl_;
};

/// A value that was looked up, typed.
template <class Value>
[[nodiscard]] Result<std::optional<Value>> typed_value(
    const Result<std::optional<std::vector<std::byte>>>& found) {
  if (!found) return tl::unexpected<Error>(found.error());
  if (!*found) return std::optional<Value>{};
  return std::optional<Value>(ValueTraits<Value>::load(**found));
}

/// The value of a key, typed, as of the generation's last merge; nullopt = absent.
///   Key, Value  as of the DRUM: a value of another size comes back as Value{}
///   cost        as DrumView::lookup
///   errors      of damage
template <class Key, class Value>
[[nodiscard]] Result<std::optional<Value>> lookup(const DrumView& view, const Key& key) {
  return typed_value<Value>(view.lookup(KeyTraits<Key>::to_bits(key)));
}

}  // namespace crawlstore
#pragma GCC visibility pop
