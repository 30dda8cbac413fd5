// SPDX-License-Identifier: Apache-2.0
#include "drum/drum_state.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "container/run_io.h"
#include "format/endian.h"
#include "format/layout.h"

namespace crawlstore::drum {
namespace {

/// Adds ascending items to ascending ones: both in the order in which they were written.
template <class Item, class IdOf>
void merge_in(std::vector<Item>& items, const std::vector<Item>& more, IdOf id_of) {
  const auto count = static_cast<std::ptrdiff_t>(items.size());
  items.insert(items.end(), more.begin(), more.end());
  std::ranges::inplace_merge(items, items.begin() + count, {}, id_of);
}

RunId id_of(const container::RunPtr& run) {
  return run->ref().run_id;
}

/// Puts a log; without runs it is removed, and without an id it never was there.
void put_log(container::SegmentWriter& writer, format::SegmentEntry entry,
             const std::vector<container::RunPtr>& runs,
             const std::vector<container::RunPtr>& tentative = {}) {
  if (!entry.id) return;
  entry.runs = refs_of(runs);
  merge_in(entry.runs, refs_of(tentative), &format::RunRef::run_id);
  const auto* old = writer.find(entry.id);
  if (entry.runs.empty()) {
    if (old != nullptr) writer.remove(entry.id);
  } else if (old == nullptr || old->runs != entry.runs) {
    writer.put(std::move(entry));
  }
}

void put_partition(container::SegmentWriter& writer, SegmentId owner, const Bucket& bucket) {
  if (!bucket.partition) return;
  const auto* old = writer.find(bucket.partition);
  if (!bucket.partition_run) {
    if (old != nullptr) writer.remove(bucket.partition);
    return;
  }
  if (old != nullptr && old->runs.front() == bucket.partition_run->ref()) return;
  writer.put({bucket.partition,
              SegmentKind::kDrumPartition,
              StorageClass::kBlob,
              owner,
              {},
              {bucket.partition_run->ref()}});
}

format::DrumTable table_of(const DrumState& state) {
  format::DrumTable table;
  table.key_bytes = state.key_bytes;
  table.key_scheme = state.key_scheme;
  table.value_bytes = state.value_bytes;
  table.next_sequence = std::max(state.next_sequence, state.sequence_limit);
  table.merge_count = state.merge_count;
  table.unparsed_count = state.unparsed_count;
  table.normalizer = state.normalizer;
  for (const Bucket& bucket : state.buckets) {
    const auto pending = bucket.pending.request_count + bucket.tentative.request_count;
    const bool has_auxes = !bucket.pending.auxes.empty() || !bucket.tentative.auxes.empty();
    table.buckets.push_back({bucket.first_key,
                             bucket.partition_run ? bucket.partition : SegmentId{},
                             pending != 0 ? bucket.key_log : SegmentId{},
                             has_auxes ? bucket.aux_log : SegmentId{}, bucket.key_count, pending});
  }
  for (const Consumer& consumer : state.consumers) {
    table.consumers.push_back({consumer.id, consumer.name,
                               consumer.runs.empty() ? SegmentId{} : consumer.results,
                               consumer.result_count});
  }
  return table;
}

Result<const format::SegmentEntry*> segment(container::Writer& writer, SegmentId id,
                                            SegmentKind kind, SegmentId owner) {
  const auto* entry = writer.find(id);
  if (entry == nullptr || entry->kind != kind || entry->owner != owner) {
    return fail(Errc::kSegmentInvalid, "a DRUM refers to a segment that is not its own",
                Error::kNoOffset, owner);
  }
  return entry;
}

std::vector<container::RunPtr> add_all(container::Writer& writer, const format::SegmentEntry& log) {
  std::vector<container::RunPtr> runs;
  runs.reserve(log.runs.size());
  for (const auto& run : log.runs) runs.push_back(writer.runs->add(log.id, run));
  return runs;
}

Result<void> load_logs(container::Writer& writer, SegmentId owner, const format::DrumBucket& stored,
                       Shape shape, Bucket& bucket) {
  if (stored.key_log) {
    CRAWLSTORE_TRY(const auto log,
                   segment(writer, stored.key_log, SegmentKind::kDrumKeyLog, owner));
    for (const auto& run : log->runs) {
      CRAWLSTORE_TRY(check_request_count(run, shape));
      bucket.pending.add({writer.runs->add(log->id, run), {}});
    }
  }
  if (stored.aux_log) {
    CRAWLSTORE_TRY(const auto log,
                   segment(writer, stored.aux_log, SegmentKind::kDrumAuxLog, owner));
    bucket.pending.auxes = add_all(writer, *log);
    for (const auto& run : log->runs) bucket.pending.aux_bytes += run.payload_bytes;
  }
  if (bucket.pending.request_count != stored.pending_count) {
    return fail(Errc::kSegmentInvalid, "a bucket has another number of requests than its DRUM says",
                Error::kNoOffset, owner);
  }
  return {};
}

Result<void> load_bucket(container::Writer& writer, SegmentId owner,
                         const format::DrumBucket& stored, Shape shape, Bucket& bucket) {
  bucket.first_key = stored.first_key;
  bucket.key_count = stored.key_count;
  bucket.partition = stored.partition;
  bucket.key_log = stored.key_log;
  bucket.aux_log = stored.aux_log;
  if (stored.partition) {
    CRAWLSTORE_TRY(const auto entry,
                   segment(writer, stored.partition, SegmentKind::kDrumPartition, owner));
    CRAWLSTORE_TRY(check_partition_count(entry->runs.front(), stored.key_count, shape));
    bucket.partition_run = writer.runs->add(entry->id, entry->runs.front());
  }
  return load_logs(writer, owner, stored, shape, bucket);
}

}  // namespace

std::vector<format::RunRef> refs_of(std::span<const container::RunPtr> runs) {
  std::vector<format::RunRef> refs;
  refs.reserve(runs.size());
  for (const auto& run : runs) refs.push_back(run->ref());
  return refs;
}

void LogRuns::add(RequestRuns runs) {
  request_count += runs.keys->ref().record_count;
  key_bytes += runs.keys->ref().payload_bytes;
  keys.push_back(std::move(runs.keys));
  if (runs.auxes == nullptr) return;
  aux_bytes += runs.auxes->ref().payload_bytes;
  auxes.push_back(std::move(runs.auxes));
}

void LogRuns::add(const LogRuns& other) {
  merge_in(keys, other.keys, id_of);
  merge_in(auxes, other.auxes, id_of);
  request_count += other.request_count;
  key_bytes += other.key_bytes;
  aux_bytes += other.aux_bytes;
}

LogSize LogRuns::size_after(std::size_t key_run_count) const {
  LogSize rest{.run_count = keys.size() - key_run_count,
               .request_count = request_count,
               .newest_run_requests = keys.back()->ref().record_count,
               .key_bytes = key_bytes,
               .aux_bytes = aux_bytes};
  for (const auto& run : std::span(keys).first(key_run_count)) {
    rest.key_bytes -= run->ref().payload_bytes;
    rest.request_count -= run->ref().record_count;
  }
  for (const auto& run : auxes) {
    if (keys[key_run_count]->ref().run_id < run->ref().run_id) break;
    rest.aux_bytes -= run->ref().payload_bytes;
  }
  return rest;
}

void LogRuns::drop_front(std::size_t key_run_count) {
  CRAWLSTORE_ASSERT(key_run_count <= keys.size());
  for (std::size_t i = 0; i < key_run_count; ++i) {
    const format::RunRef& run = keys[i]->ref();
    request_count -= run.record_count;
    key_bytes -= run.payload_bytes;
    if (!auxes.empty() && auxes.front()->ref().run_id.value == run.run_id.value + 1) {
      aux_bytes -= auxes.front()->ref().payload_bytes;
      auxes.erase(auxes.begin());
    }
  }
  keys.erase(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(key_run_count));
}

void Bucket::keep_tentative() {
  if (!tentative.empty()) pending.add(std::exchange(tentative, {}));
}

std::size_t DrumState::bucket_of(std::uint64_t key) const {
  const auto after =
      std::upper_bound(buckets.begin(), buckets.end(), key,
                       [](std::uint64_t wanted, const Bucket& b) { return wanted < b.first_key; });
  return static_cast<std::size_t>(after - buckets.begin()) - 1;
}

std::uint64_t DrumState::last_key(std::size_t bucket) const {
  return bucket + 1 < buckets.size() ? buckets[bucket + 1].first_key - 1 : ~std::uint64_t{0};
}

Consumer* DrumState::find_consumer(ConsumerId wanted) {
  const auto found = std::ranges::lower_bound(consumers, wanted, {}, &Consumer::id);
  return found != consumers.end() && found->id == wanted ? &*found : nullptr;
}

std::uint64_t DrumState::pending_count() const {
  std::uint64_t count = 0;
  for (const Bucket& bucket : buckets) count += bucket.pending.request_count;
  return count;
}

std::uint64_t DrumState::key_count() const {
  std::uint64_t count = 0;
  for (const Bucket& bucket : buckets) count += bucket.key_count;
  return count;
}

void DrumState::published() {
  for (auto& bucket : buckets) {
    bucket.keep_tentative();
    if (bucket.pending.keys.empty()) bucket.key_log = {};
    if (bucket.pending.auxes.empty()) bucket.aux_log = {};
    if (!bucket.partition_run) bucket.partition = {};
  }
  for (auto& consumer : consumers) {
    if (consumer.runs.empty()) consumer.results = {};
  }
  table_run.reset();
}

void DrumState::release_runs() {
  for (auto& bucket : buckets) {
    for (auto* log : {&bucket.pending, &bucket.tentative}) log->keys = log->auxes = {};
    bucket.partition_run.reset();
  }
  for (auto& consumer : consumers) consumer.runs.clear();
}

DrumState make_state(SegmentId id, std::string_view name, Shape shape, std::uint32_t bucket_count) {
  DrumState state;
  state.id = id;
  state.name = name;
  state.key_bytes = shape.key_bytes;
  state.value_bytes = shape.value_bytes;
  state.consumers.push_back({});
  // Equal ranges: bucket i begins at ceil(i * 2^64 / n); for powers of two these are the top bits.
  using Wide = unsigned __int128;
  for (std::uint32_t i = 0; i < bucket_count; ++i) {
    const Wide start = ((Wide{i} << 64) + bucket_count - 1) / bucket_count;
    state.buckets.emplace_back().first_key = static_cast<std::uint64_t>(start);
  }
  return state;
}

Result<DrumState> load_state(container::Writer& writer, const format::SegmentEntry& entry) {
  std::vector<std::byte> payload;
  CRAWLSTORE_TRY(container::read_run(
      writer.storage(), container::run_name(writer.identity(), entry.id, entry.runs.front().run_id),
      entry.runs.front(), payload));
  const auto table = format::parse_drum_table(payload);
  if (!table) {
    return fail(table.error().code, table.error().text, entry.runs.front().offset_bytes, entry.id);
  }
  DrumState state;
  state.id = entry.id;
  state.name = entry.name;
  state.key_bytes = table->key_bytes;
  state.value_bytes = table->value_bytes;
  state.key_scheme = table->key_scheme;
  state.next_sequence = table->next_sequence;
  state.merge_count = table->merge_count;
  state.unparsed_count = table->unparsed_count;
  state.normalizer = table->normalizer;
  state.buckets.reserve(table->buckets.size());
  for (const auto& stored : table->buckets) {
    CRAWLSTORE_TRY(
        load_bucket(writer, entry.id, stored, state.shape(), state.buckets.emplace_back()));
  }
  for (const auto& stored : table->consumers) {
    Consumer consumer{stored.id, stored.name, stored.results, {}, stored.result_count};
    if (stored.results) {
      CRAWLSTORE_TRY(const auto log,
                     segment(writer, stored.results, SegmentKind::kDrumResults, entry.id));
      consumer.runs = add_all(writer, *log);
    }
    state.consumers.push_back(std::move(consumer));
  }
  return state;
}

Result<void> put_state(container::SegmentWriter& writer, container::Runs& runs, DrumState& state,
                       const Thresholds& thresholds) {
  format::DrumTable table = table_of(state);
  table.merge_bytes = thresholds.merge.bytes;
  table.merge_requests = thresholds.merge.requests;
  table.partition_keys_max = thresholds.partition_keys_max;
  const auto payload = format::encode_drum_table(table);
  CRAWLSTORE_TRY(
      const auto run,
      container::write_run(writer, {state.id, SegmentKind::kDrum, {}, writer.new_run_ids(1)},
                           payload, 1));
  state.table_run = runs.add(state.id, run);
  const auto log = [&state](SegmentId id, SegmentKind kind) {
    return format::SegmentEntry{id, kind, StorageClass::kLog, state.id, {}, {}};
  };
  for (const Bucket& bucket : state.buckets) {
    put_partition(writer, state.id, bucket);
    put_log(writer, log(bucket.key_log, SegmentKind::kDrumKeyLog), bucket.pending.keys,
            bucket.tentative.keys);
    put_log(writer, log(bucket.aux_log, SegmentKind::kDrumAuxLog), bucket.pending.auxes,
            bucket.tentative.auxes);
  }
  for (const Consumer& consumer : state.consumers) {
    put_log(writer, log(consumer.results, SegmentKind::kDrumResults), consumer.runs);
  }
  writer.put({state.id, SegmentKind::kDrum, StorageClass::kBlob, {}, state.name, {run}});
  return {};
}

}  // namespace crawlstore::drum
