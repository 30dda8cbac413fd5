// SPDX-License-Identifier: Apache-2.0
//
// Invariants: the first version is what the current generation holds (a table that was never
// committed: no keys). No bucket has requests: no log is ever made.
#include "drum/key_table.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "container/run_io.h"

namespace crawlstore::drum {
namespace {

/// Growth of a partition from which keys go, as it is packed anew: a part of its bytes, and some.
constexpr std::uint64_t kShrunkPartMore = 32;
constexpr std::uint64_t kShrunkBytesMore = 4096;

/// Walks the keys of a bucket along with the edits up to its last head, and hands on the keys to
/// keep.
template <class Emit>
Result<void> merge_keys(PartitionCursor& old, KeySource& edits, std::uint64_t last_head,
                        const Emit& emit) {
  const auto take_edit = [&]() -> Result<void> {
    const KeyEdit& edit = edits.edit();
    if (!edit.removes) CRAWLSTORE_TRY(emit(edit.key, edit.value));
    return edits.advance();
  };
  while (!old.at_end()) {
    while (!edits.at_end() && edits.key() < old.key()) CRAWLSTORE_TRY(take_edit());
    if (!edits.at_end() && edits.key() == old.key()) {
      CRAWLSTORE_TRY(take_edit());
    } else {
      CRAWLSTORE_TRY(emit(old.key(), old.value()));
    }
    CRAWLSTORE_TRY(old.advance());
  }
  while (!edits.at_end() && edits.key().head <= last_head) CRAWLSTORE_TRY(take_edit());
  return old.finish();
}

std::uint64_t bytes_of(const Bucket& bucket) {
  return bucket.partition_run != nullptr ? bucket.partition_run->ref().payload_bytes : 0;
}

}  // namespace

Result<KeyTable> KeyTable::open(container::Writer& writer, std::string_view name,
                                const KeyTableOptions& options) {
  const Shape shape{format::kWideKeyBytes, options.value_bytes};
  const auto* entry = writer.directory()->find_named(SegmentKind::kDrum, name);
  if (entry == nullptr) {
    DrumState state = make_state(writer.new_segment_id(), name, shape, options.bucket_count);
    state.key_scheme = KeyScheme::kPage;
    return KeyTable(writer, std::move(state), options);
  }
  CRAWLSTORE_TRY(auto state, load_state(writer, *entry));
  if (state.key_scheme != KeyScheme::kPage || state.shape() != shape) {
    return fail(Errc::kTypeMismatch, "the DRUM of this name does not hold the keys of pages",
                Error::kNoOffset, entry->id);
  }
  return KeyTable(writer, std::move(state), options);
}

Result<KeyTable> KeyTable::open_seen(container::Writer& writer, std::string_view name) {
  const auto* entry = writer.directory()->find_named(SegmentKind::kDrum, name);
  if (entry == nullptr) return fail(Errc::kUnknownName, "the store has no DRUM of this name");
  CRAWLSTORE_TRY(auto state, load_state(writer, *entry));
  const bool has_url_keys =
      state.key_scheme == KeyScheme::kUrl || state.key_scheme == KeyScheme::kUrlRabin;
  if (!has_url_keys || state.value_bytes < 0) {
    return fail(Errc::kTypeMismatch, "the DRUM does not hold seen URLs", Error::kNoOffset,
                entry->id);
  }
  if (state.pending_count() != 0) {
    return fail(Errc::kInvalidArgument, "requests wait in the DRUM; merge it first",
                Error::kNoOffset, entry->id);
  }
  KeyTableOptions options;
  options.value_bytes = state.value_bytes;
  options.partition_keys_max = ~std::uint64_t{0};  // nothing splits when keys go
  return KeyTable(writer, std::move(state), options);
}

Result<void> KeyTable::find_sorted(std::span<const Key16> keys, const VisitFound& visit) {
  std::size_t place = 0;
  while (place < keys.size()) {
    const std::size_t index = state().bucket_of(keys[place].head);
    Bucket& bucket = versions_.back().buckets[index];
    const std::uint64_t last_head = state().last_key(index);
    std::size_t end = place;
    while (end < keys.size() && keys[end].head <= last_head) ++end;
    if (bucket.partition_run != nullptr) {
      if (bucket.lookup == nullptr) {
        CRAWLSTORE_TRY(bucket.lookup,
                       PartitionLookup::open(bucket.partition_run->reader(), state().shape()));
      }
      CRAWLSTORE_TRY(drum::find_sorted(bucket.lookup, keys, place, end, visit));
    }
    place = end;
  }
  return {};
}

/// Writes the keys of one bucket anew, in as many pieces as partition_keys_max asks for.
Result<void> KeyTable::rewrite(std::size_t index, std::uint64_t edit_count, KeySource& edits,
                               container::WorkSteps& steps, std::vector<Bucket>& replacements) {
  const Bucket& bucket = state().buckets[index];
  std::optional<format::RunRef> old_run;
  if (bucket.partition_run) old_run = bucket.partition_run->ref();
  const std::uint64_t keys_max = bucket.key_count + edit_count;
  const std::uint64_t piece_count = (keys_max - 1) / options_.partition_keys_max + 1;
  const std::uint64_t piece_keys = (keys_max + piece_count - 1) / piece_count;
  const auto value_bytes = static_cast<std::uint64_t>(options_.value_bytes);

  PartitionCursor old(writer_->storage(),
                      container::run_name(writer_->identity(), bucket.partition,
                                          old_run ? old_run->run_id : RunId{}),
                      old_run, bucket.key_count, state().shape());
  CRAWLSTORE_TRY(old.start(bucket.first_key, state().last_key(index)));

  std::optional<PartitionWriter> piece;
  SegmentId segment;
  RunId run;
  std::uint64_t left = keys_max;  // keys that may still come
  const auto begin_piece = [&](std::uint64_t first_key) -> Result<void> {
    segment =
        replacements.empty() && bucket.partition ? bucket.partition : writer_->new_segment_id();
    run = writer_->new_run_ids(1);
    // The last piece may get more keys than it should, when many share their head.
    std::uint64_t bytes = partition_bytes_max(left, state().last_key(index) - first_key,
                                              left * value_bytes, state().shape().is_wide());
    if (only_shrinks_ && old_run) {
      const std::uint64_t now = old_run->payload_bytes;
      bytes = std::min(bytes, now + now / kShrunkPartMore + kShrunkBytesMore);
    }
    CRAWLSTORE_TRY(auto started,
                   container::RunWriter::start(
                       *writer_, {segment, SegmentKind::kDrumPartition, state().id, run}, bytes));
    piece.emplace(std::move(started), state().shape());
    Bucket added;
    added.first_key = replacements.empty() ? bucket.first_key : first_key;
    replacements.push_back(added);
    return {};
  };
  const auto end_piece = [&]() -> Result<void> {
    CRAWLSTORE_TRY(const auto done, piece->finish());
    Bucket& added = replacements.back();
    added.partition = segment;
    added.partition_run = writer_->runs->add(segment, done.run);
    added.key_count = done.key_count;
    piece->give_back();
    piece.reset();
    return {};
  };
  const auto keep = [&](Key16 key, std::span<const std::byte> value) {
    const bool is_full = piece && piece->key_count() >= piece_keys;
    if (is_full && piece->last_head() != key.head) {
      if (auto ended = end_piece(); !ended) return ended;
    }
    if (!piece) {
      if (auto begun = begin_piece(key.head); !begun) return begun;
    }
    --left;
    if (auto counted = steps.add(1); !counted) return counted;
    return piece->append(key, value);
  };
  CRAWLSTORE_TRY(merge_keys(old, edits, state().last_key(index), keep));
  if (piece) return end_piece();
  Bucket empty;
  empty.first_key = bucket.first_key;
  replacements.push_back(empty);
  return {};
}

Result<void> KeyTable::apply(container::SegmentWriter& target, KeySource& edits,
                             container::WorkSteps& steps) {
  DrumState next = state();
  std::vector<SegmentId> emptied;
  std::vector<Bucket> old = std::exchange(next.buckets, {});
  for (std::size_t i = 0; i < old.size(); ++i) {
    CRAWLSTORE_TRY(const auto edit_count, edits.count_to(state().last_key(i)));
    if (edit_count == 0) {
      CRAWLSTORE_TRY(steps.add(old[i].key_count));
      next.buckets.push_back(std::move(old[i]));
      continue;
    }
    std::vector<Bucket> replacements;
    CRAWLSTORE_TRY(rewrite(i, edit_count, edits, steps, replacements));
    if (old[i].partition && !replacements.front().partition) emptied.push_back(old[i].partition);
    next.buckets.insert(next.buckets.end(), replacements.begin(), replacements.end());
  }
  if (next.buckets.size() > format::kBucketsMax) {
    return fail(Errc::kTooLarge, "the keys of pages would need more than 65536 buckets");
  }
  ++next.merge_count;
  CRAWLSTORE_TRY(put_state(target, *writer_->runs, next, {}));
  for (const SegmentId id : emptied) target.remove(id);
  versions_.push_back(std::move(next));
  return {};
}

std::span<const KeyEdit> KeyTable::choose_edits(std::span<const KeyEdit> edits,
                                                std::uint64_t bytes_max) const {
  struct Touched {
    std::size_t first;
    std::size_t end;
    std::uint64_t bytes;
  };
  std::vector<Touched> touched;  // a bucket each
  for (std::size_t i = 0; i < edits.size();) {
    const std::size_t index = state().bucket_of(edits[i].key.head);
    Touched bucket{i, i, bytes_of(state().buckets[index])};
    while (i < edits.size() && edits[i].key.head <= state().last_key(index)) ++i;
    bucket.end = i;
    touched.push_back(bucket);
  }
  if (touched.empty()) return {};
  auto end = std::max_element(touched.begin(), touched.end(),
                              [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  const std::size_t first = end->first;
  std::uint64_t bytes = end->bytes;
  for (++end; end != touched.end() && bytes + end->bytes <= bytes_max; ++end) bytes += end->bytes;
  return edits.subspan(first, std::prev(end)->end - first);
}

Result<void> KeyTable::remove(container::SegmentWriter& target, std::span<const KeyEdit> edits,
                              container::WorkSteps& steps) {
  const auto try_in = [&](bool only_shrinks) {
    only_shrinks_ = only_shrinks;
    EditKeys source(edits);
    auto applied = apply(target, source, steps);
    only_shrinks_ = false;
    return applied;
  };
  auto removed = try_in(true);
  if (!removed && removed.error().code == Errc::kTooLarge) removed = try_in(false);
  return removed;
}

std::uint64_t KeyTable::partition_bytes() const {
  std::uint64_t bytes = 0;
  for (const Bucket& bucket : state().buckets) bytes += bytes_of(bucket);
  return bytes;
}

std::uint64_t KeyTable::longest_partition_bytes() const {
  std::uint64_t bytes = 0;
  for (const Bucket& bucket : state().buckets) bytes = std::max(bytes, bytes_of(bucket));
  return bytes;
}

void KeyTable::committed() {
  versions_.erase(versions_.begin(), std::prev(versions_.end()));
}

void KeyTable::dropped() {
  versions_.erase(std::next(versions_.begin()), versions_.end());
}

}  // namespace crawlstore::drum
