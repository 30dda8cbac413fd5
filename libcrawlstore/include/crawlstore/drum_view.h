// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Looking into a DRUM without its writer: any process, any generation that can be pinned.
///
/// Ownership: a view shares its snapshot, so the pin lasts as long as the view. Spans handed to
/// visitors live until the visitor returns.
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
#include <string_view>
#include <vector>

#include <crawlstore/drum_core.h>
#include <crawlstore/drum_traits.h>
#include <crawlstore/snapshot.h>

namespace crawlstore {

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

  /// Is the key there, or will it be when the requests that wait in this generation are merged?
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

  /// The inside, for the parts of the library.
  struct Impl;
  [[nodiscard]] Impl& inside() const { return *impl_; }

 private:
  explicit DrumView(std::shared_ptr<Impl> impl);
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
