// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <crawlstore/drum_view.h>

#include "base/inside.h"
#include "drum/drum_view_impl.h"
#include "drum/request_columns.h"
#include "format/drum_table.h"

namespace crawlstore {

namespace {

/// Returns the map's value for `id`, or puts the result of make() there and returns it. Holds no
/// lock during make(), which may read.
template <class Map, class Make>
Result<typename Map::mapped_type> kept(std::mutex& mutex, Map& map, typename Map::key_type id,
                                       const Make& make) {
  {
    const std::lock_guard lock(mutex);
    if (const auto known = map.find(id); known != map.end()) return known->second;
  }
  CRAWLSTORE_TRY(auto made, make());
  const std::lock_guard lock(mutex);
  return map.emplace(id, std::move(made)).first->second;
}

std::uint64_t allocated_bytes(const container::Directory& directory, SegmentId id) {
  const auto* entry = directory.find(id);
  if (entry == nullptr) return 0;
  std::uint64_t bytes = 0;
  for (const auto& run : entry->runs) bytes += run.extent().length_bytes;
  return bytes;
}

DrumInfo info_of(const container::Directory& directory, const format::SegmentEntry& entry,
                 const format::DrumTable& table) {
  DrumInfo info;
  info.id = entry.id;
  info.name = entry.name;
  info.key_bytes = table.key_bytes;
  info.key_scheme = table.key_scheme;
  info.value_bytes = table.value_bytes;
  info.bucket_count = table.buckets.size();
  info.merge_count = table.merge_count;
  info.unparsed_count = table.unparsed_count;
  info.normalizer = table.normalizer;
  info.next_sequence = table.next_sequence;
  info.merge_bytes = table.merge_bytes;
  info.merge_requests = table.merge_requests;
  info.partition_keys_max = table.partition_keys_max;
  for (const auto& bucket : table.buckets) {
    info.key_count += bucket.key_count;
    info.pending_count += bucket.pending_count;
    info.partition_bytes += allocated_bytes(directory, bucket.partition);
    info.pending_bytes +=
        allocated_bytes(directory, bucket.key_log) + allocated_bytes(directory, bucket.aux_log);
  }
  for (const auto& consumer : table.consumers) info.result_count += consumer.result_count;
  return info;
}

/// Reads the table of a DRUM.
Result<format::DrumTable> read_table(const Snapshot& snapshot, const format::SegmentEntry& entry) {
  CRAWLSTORE_TRY(const auto payload, snapshot.read_run(entry.id, entry.runs.front().run_id));
  auto table = format::parse_drum_table(payload);
  if (table) return std::move(*table);
  return fail(table.error().code, table.error().text, entry.runs.front().offset_bytes, entry.id);
}

}  // namespace

std::size_t DrumView::Impl::bucket_of(std::uint64_t head) const {
  const auto after =
      std::upper_bound(buckets.begin(), buckets.end(), head,
                       [](std::uint64_t wanted, const Bucket& b) { return wanted < b.first_key; });
  return static_cast<std::size_t>(after - buckets.begin()) - 1;
}

std::uint64_t DrumView::Impl::last_head(std::size_t bucket) const {
  return bucket + 1 < buckets.size() ? buckets[bucket + 1].first_key - 1 : ~std::uint64_t{0};
}

Result<const format::SegmentEntry*> DrumView::Impl::log(SegmentId id) const {
  const auto* entry = Inside::of(snapshot).directory().find(id);
  if (entry != nullptr) return entry;
  return fail(Errc::kSegmentInvalid, "a DRUM refers to a segment that is not there",
              Error::kNoOffset, info.id);
}

Result<const format::SegmentEntry*> DrumView::Impl::segment(SegmentId id) const {
  const auto entry = log(id);
  if (!entry || !(*entry)->runs.empty()) return entry;
  return fail(Errc::kSegmentInvalid, "a DRUM refers to a segment without a run", Error::kNoOffset,
              id);
}

Result<std::shared_ptr<const drum::PartitionLookup>> DrumView::Impl::partition(SegmentId id) {
  return kept(mutex_, lookups_, id, [&]() -> Result<std::shared_ptr<const drum::PartitionLookup>> {
    CRAWLSTORE_TRY(const auto entry, segment(id));
    return drum::PartitionLookup::open(Inside::of(snapshot).run_reader(id, entry->runs.front()),
                                       shape());
  });
}

Result<std::shared_ptr<const drum::PartitionRows>> DrumView::Impl::rows(const Bucket& bucket) {
  const auto id = bucket.partition;
  return kept(mutex_, rows_, id, [&]() -> Result<std::shared_ptr<const drum::PartitionRows>> {
    CRAWLSTORE_TRY(const auto lookup, partition(id));
    if (lookup->footer().key_count != bucket.key_count) {
      return fail(Errc::kSegmentInvalid, "a partition has another number of keys than its bucket",
                  lookup->reader().run().offset_bytes, id);
    }
    return drum::PartitionRows::open(lookup);
  });
}

Result<std::shared_ptr<const drum::PendingRun>> DrumView::Impl::pending_run(
    const Bucket& bucket, const format::RunRef& run) {
  {
    const std::lock_guard lock(mutex_);
    if (pending_run_ != nullptr && pending_run_->id() == run.run_id) return pending_run_;
  }
  const format::SegmentEntry* auxes = nullptr;
  if (bucket.aux_log) {
    CRAWLSTORE_TRY(const auto entry, log(bucket.aux_log));
    auxes = entry;
  }
  auto made = drum::PendingRun::read(Inside::of(snapshot), bucket.key_log, run, auxes);
  if (!made) return made;
  const std::lock_guard lock(mutex_);
  pending_run_ = *made;
  return made;
}

Result<bool> DrumView::Impl::inserts(SegmentId key_log, RunId run, Key16 key) {
  const auto keys =
      kept(mutex_, inserted_keys_, run, [&]() -> Result<std::shared_ptr<const drum::InsertedKeys>> {
        CRAWLSTORE_TRY(const auto payload, snapshot.read_run(key_log, run));
        CRAWLSTORE_TRY(auto made, drum::InsertedKeys::of_run(payload));
        return std::make_shared<const drum::InsertedKeys>(std::move(made));
      });
  if (!keys) return tl::unexpected<Error>(keys.error());
  return (*keys)->contains(key);
}

double DrumInfo::bytes_per_key() const {
  return key_count == 0 ? 0.0
                        : static_cast<double>(partition_bytes) / static_cast<double>(key_count);
}

Result<std::vector<DrumInfo>> list_drums(const Snapshot& snapshot) {
  const container::Directory& directory = Inside::of(snapshot).directory();
  std::vector<DrumInfo> all;
  Result<void> done;
  directory.for_each_segment([&](const format::SegmentEntry& entry) {
    if (!done || entry.kind != SegmentKind::kDrum) return;
    const auto table = read_table(snapshot, entry);
    if (table) all.push_back(info_of(directory, entry, *table));
    if (!table) done = tl::unexpected<Error>(table.error());
  });
  CRAWLSTORE_TRY(done);
  return all;
}

DrumView::DrumView(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<DrumView> DrumView::open(const Snapshot& snapshot, std::string_view name) {
  const container::Directory& directory = Inside::of(snapshot).directory();
  const auto* entry = directory.find_named(SegmentKind::kDrum, name);
  if (entry == nullptr) return fail(Errc::kUnknownName, "the store has no DRUM of this name");
  CRAWLSTORE_TRY(const auto table, read_table(snapshot, *entry));
  auto impl = std::make_shared<Impl>(snapshot);
  impl->info = info_of(directory, *entry, table);
  std::uint64_t row = 0;
  for (const auto& bucket : table.buckets) {
    impl->first_rows.push_back(row);
    if (bucket.key_count > ~row) {
      return fail(Errc::kSegmentInvalid, "the key counts of a DRUM overflow",
                  entry->runs.front().offset_bytes, entry->id);
    }
    row += bucket.key_count;
    impl->buckets.push_back({bucket.first_key, bucket.key_count, bucket.pending_count,
                             bucket.partition, bucket.key_log, bucket.aux_log});
  }
  impl->first_rows.push_back(row);
  return DrumView(std::move(impl));
}

const std::vector<DrumView::Bucket>& DrumView::buckets() const {
  return impl_->buckets;
}
const DrumInfo& DrumView::info() const {
  return impl_->info;
}

Result<std::optional<std::vector<std::byte>>> DrumView::lookup(Key16 key) const {
  CRAWLSTORE_TRY(Inside::of(impl_->snapshot).storage()->check_process());
  const Bucket& bucket = impl_->buckets[impl_->bucket_of(key.head)];
  if (!bucket.partition) return std::optional<std::vector<std::byte>>{};
  CRAWLSTORE_TRY(const auto partition, impl_->partition(bucket.partition));
  return partition->find(key);
}

Result<bool> DrumView::contains(Key16 key) const {
  if (key.tail != 0 && !impl_->shape().is_wide()) return false;
  CRAWLSTORE_TRY(const auto stored, lookup(key));
  const Bucket& bucket = impl_->buckets[impl_->bucket_of(key.head)];
  if (stored.has_value() || !bucket.key_log) return stored.has_value();
  CRAWLSTORE_TRY(const auto log, impl_->segment(bucket.key_log));
  for (const auto& run : log->runs) {
    const auto found = impl_->inserts(bucket.key_log, run.run_id, key);
    if (!found || *found) return found;
  }
  return false;
}

Result<void> DrumView::for_each_key(
    const std::function<bool(Key16, std::span<const std::byte>)>& visit, Key16 from) const {
  format::BlockNumbers keys{};
  format::BlockNumbers tails{};
  std::optional<Key16> last;
  for (const Bucket& bucket : impl_->buckets) {
    if (!bucket.partition) continue;
    CRAWLSTORE_TRY(const auto partition, impl_->partition(bucket.partition));
    if (partition->footer().last_key < from.head) continue;
    Result<std::uint64_t> first_block = std::uint64_t{0};
    if (partition->footer().first_key <= from.head) first_block = partition->find_block(from);
    if (!first_block) return tl::unexpected<Error>(first_block.error());
    for (std::uint64_t i = *first_block; i < partition->block_count(); ++i) {
      CRAWLSTORE_TRY(const auto block, partition->block(i));
      CRAWLSTORE_TRY(format::decode_keys(block, keys, tails));
      if (keys[0] < bucket.first_key || (last && Key16{keys[0], tails[0]} <= *last)) {
        return fail(Errc::kSegmentInvalid, "the keys of a partition do not ascend");
      }
      last = Key16{keys[block.key_count - 1], tails[block.key_count - 1]};
      std::size_t value_begin = 0;
      for (std::uint32_t k = 0; k < block.key_count; ++k) {
        const auto value = impl_->info.value_bytes < 0
                               ? format::variable_value(block, k, value_begin)
                               : format::value_at(block, k, impl_->info.value_bytes);
        value_begin += value.size();
        const Key16 key{keys[k], tails[k]};
        if (key >= from && !visit(key, value)) return {};
      }
    }
  }
  return {};
}

Result<void> DrumView::for_each_pending(
    const std::function<bool(std::uint64_t, const RawRequest&, std::uint64_t)>& visit) const {
  for (std::size_t b = 0; b < impl_->buckets.size(); ++b) {
    const Bucket& bucket = impl_->buckets[b];
    if (!bucket.key_log) continue;
    CRAWLSTORE_TRY(const auto keys, impl_->segment(bucket.key_log));
    const auto* auxes =
        bucket.aux_log ? Inside::of(impl_->snapshot).directory().find(bucket.aux_log) : nullptr;
    for (const auto& run : keys->runs) {
      CRAWLSTORE_TRY(const auto key_payload, impl_->snapshot.read_run(bucket.key_log, run.run_id));
      Result<std::vector<std::byte>> aux_payload{};
      const RunId aux_id{run.run_id.value + 1};
      if (auxes != nullptr &&
          std::any_of(auxes->runs.begin(), auxes->runs.end(),
                      [aux_id](const auto& candidate) { return candidate.run_id == aux_id; })) {
        aux_payload = impl_->snapshot.read_run(bucket.aux_log, aux_id);
        if (!aux_payload) return tl::unexpected<Error>(aux_payload.error());
      }
      bool go_on = true;
      CRAWLSTORE_TRY(drum::for_each_request(key_payload, *aux_payload,
                                            [&](const RawRequest& request, std::uint64_t sequence) {
                                              go_on = go_on && visit(b, request, sequence);
                                            }));
      if (!go_on) return {};
    }
  }
  return {};
}

}  // namespace crawlstore
