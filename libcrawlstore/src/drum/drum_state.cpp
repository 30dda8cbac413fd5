// SPDX-License-Identifier: Apache-2.0
//
// Invariants: a run with born 0 is written but not published, and owned by this DRUM; every other
// run is in the writer's directory.
#include "drum/drum_state.h"

#include <algorithm>
#include <iterator>

#include "base/assert.h"
#include "container/run_io.h"
#include "drum/partition.h"
#include "format/endian.h"
#include "format/layout.h"

namespace crawlstore::drum {
namespace {

/// Runs of both lists, ascending: in the order in which they were written.
std::vector<format::RunRef> in_order(const std::vector<format::RunRef>& a,
                                     const std::vector<format::RunRef>& b) {
  std::vector<format::RunRef> all;
  all.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all),
             [](const auto& left, const auto& right) { return left.run_id < right.run_id; });
  return all;
}

/// An entry without runs is a log that is no longer there; without an id, one that never was.
void put_log(container::SegmentWriter& writer, format::SegmentEntry entry) {
  if (!entry.id) return;
  const auto* old = writer.find(entry.id);
  if (entry.runs.empty()) {
    if (old != nullptr) writer.remove(entry.id);
  } else if (old == nullptr || old->runs != entry.runs) {
    writer.put(std::move(entry));
  }
}

void put_partition(container::SegmentWriter& writer, SegmentId owner, const Bucket& bucket) {
  if (!bucket.partition_run) return;
  const auto* old = writer.find(bucket.partition);
  if (old != nullptr && old->runs.front() == *bucket.partition_run) return;
  writer.put({bucket.partition,
              SegmentKind::kDrumPartition,
              StorageClass::kBlob,
              owner,
              {},
              {*bucket.partition_run}});
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

Result<void> load_logs(container::Writer& writer, SegmentId owner, const format::DrumBucket& stored,
                       Shape shape, Bucket& bucket) {
  if (stored.key_log) {
    CRAWLSTORE_TRY(const auto log,
                   segment(writer, stored.key_log, SegmentKind::kDrumKeyLog, owner));
    for (const auto& run : log->runs) {
      CRAWLSTORE_TRY(check_request_count(run, shape));
      bucket.pending.add(RequestColumns::Runs{run, {}});
    }
  }
  if (stored.aux_log) {
    CRAWLSTORE_TRY(const auto log,
                   segment(writer, stored.aux_log, SegmentKind::kDrumAuxLog, owner));
    bucket.pending.auxes = log->runs;
    for (const auto& run : log->runs) bucket.pending.aux_bytes += run.payload_bytes;
  }
  if (bucket.pending.request_count != stored.pending_count) {
    return fail(Errc::kSegmentInvalid, "a bucket has another number of requests than its DRUM says",
                Error::kNoOffset, owner);
  }
  return {};
}

Result<Bucket> load_bucket(container::Writer& writer, SegmentId owner,
                           const format::DrumBucket& stored, Shape shape) {
  Bucket bucket;
  bucket.first_key = stored.first_key;
  bucket.key_count = stored.key_count;
  bucket.partition = stored.partition;
  bucket.key_log = stored.key_log;
  bucket.aux_log = stored.aux_log;
  if (stored.partition) {
    CRAWLSTORE_TRY(const auto entry,
                   segment(writer, stored.partition, SegmentKind::kDrumPartition, owner));
    bucket.partition_run = entry->runs.front();
    CRAWLSTORE_TRY(check_partition_count(*bucket.partition_run, stored.key_count, shape));
  }
  CRAWLSTORE_TRY(load_logs(writer, owner, stored, shape, bucket));
  return bucket;
}

void refresh_log(const container::Writer& writer, SegmentId id, std::vector<format::RunRef>& runs) {
  if (const auto* entry = id ? writer.find(id) : nullptr) runs = entry->runs;
}

}  // namespace

void LogRuns::add(const RequestColumns::Runs& runs) {
  keys.push_back(runs.keys);
  request_count += runs.keys.record_count;
  key_bytes += runs.keys.payload_bytes;
  if (runs.auxes.payload_bytes == 0) return;
  auxes.push_back(runs.auxes);
  aux_bytes += runs.auxes.payload_bytes;
}

void LogRuns::add(const LogRuns& other) {
  keys = in_order(keys, other.keys);
  auxes = in_order(auxes, other.auxes);
  request_count += other.request_count;
  key_bytes += other.key_bytes;
  aux_bytes += other.aux_bytes;
}

void LogRuns::drop_front(std::size_t key_run_count) {
  CRAWLSTORE_ASSERT(key_run_count <= keys.size());
  for (std::size_t i = 0; i < key_run_count; ++i) {
    request_count -= keys[i].record_count;
    key_bytes -= keys[i].payload_bytes;
    if (!auxes.empty() && auxes.front().run_id.value == keys[i].run_id.value + 1) {
      aux_bytes -= auxes.front().payload_bytes;
      auxes.erase(auxes.begin());
    }
  }
  keys.erase(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(key_run_count));
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
  state.table_run = entry.runs.front();
  for (const auto& stored : table->buckets) {
    CRAWLSTORE_TRY(auto bucket, load_bucket(writer, entry.id, stored, state.shape()));
    state.buckets.push_back(std::move(bucket));
  }
  for (const auto& stored : table->consumers) {
    Consumer consumer{stored.id, stored.name, stored.results, {}, stored.result_count};
    if (stored.results) {
      CRAWLSTORE_TRY(const auto log,
                     segment(writer, stored.results, SegmentKind::kDrumResults, entry.id));
      consumer.runs = log->runs;
    }
    state.consumers.push_back(std::move(consumer));
  }
  return state;
}

Result<format::RunRef> put_state(container::SegmentWriter& writer, const DrumState& state,
                                 const Thresholds& thresholds) {
  format::DrumTable table = table_of(state);
  table.merge_bytes = thresholds.merge.bytes;
  table.merge_requests = thresholds.merge.requests;
  table.partition_keys_max = thresholds.partition_keys_max;
  const auto payload = format::encode_drum_table(table);
  auto run = container::write_run(writer, state.id, writer.new_run_ids(1), payload, 1);
  if (!run) return run;
  for (const Bucket& bucket : state.buckets) {
    put_partition(writer, state.id, bucket);
    put_log(writer, {bucket.key_log,
                     SegmentKind::kDrumKeyLog,
                     StorageClass::kLog,
                     state.id,
                     {},
                     in_order(bucket.pending.keys, bucket.tentative.keys)});
    put_log(writer, {bucket.aux_log,
                     SegmentKind::kDrumAuxLog,
                     StorageClass::kLog,
                     state.id,
                     {},
                     in_order(bucket.pending.auxes, bucket.tentative.auxes)});
  }
  for (const Consumer& consumer : state.consumers) {
    put_log(writer, {consumer.results,
                     SegmentKind::kDrumResults,
                     StorageClass::kLog,
                     state.id,
                     {},
                     consumer.runs});
  }
  writer.put({state.id, SegmentKind::kDrum, StorageClass::kBlob, {}, state.name, {*run}});
  return run;
}

void refresh_state(const container::Writer& writer, DrumState& state) {
  for (Bucket& bucket : state.buckets) {
    bucket.pending.add(bucket.tentative);
    bucket.tentative = {};
    if (bucket.pending.keys.empty()) bucket.key_log = {};
    if (bucket.pending.auxes.empty()) bucket.aux_log = {};
    refresh_log(writer, bucket.key_log, bucket.pending.keys);
    refresh_log(writer, bucket.aux_log, bucket.pending.auxes);
    if (bucket.partition_run) bucket.partition_run = writer.find(bucket.partition)->runs.front();
  }
  for (Consumer& consumer : state.consumers) {
    if (consumer.runs.empty()) consumer.results = {};
    refresh_log(writer, consumer.results, consumer.runs);
  }
  state.table_run = writer.find(state.id)->runs.front();
}

void note_moved(DrumState& state, const std::map<RunId, format::RunRef>& moved) {
  const auto note = [&moved](format::RunRef& run) {
    const auto found = moved.find(run.run_id);
    if (found != moved.end()) run = found->second;
  };
  for (Bucket& bucket : state.buckets) {
    if (bucket.partition_run) note(*bucket.partition_run);
    for (LogRuns* log : {&bucket.pending, &bucket.tentative}) {
      std::for_each(log->keys.begin(), log->keys.end(), note);
      std::for_each(log->auxes.begin(), log->auxes.end(), note);
    }
  }
  for (Consumer& consumer : state.consumers) {
    std::for_each(consumer.runs.begin(), consumer.runs.end(), note);
  }
  if (state.table_run) note(*state.table_run);
}

void release_unpublished(container::SegmentWriter& writer,
                         std::span<const format::RunRef> runs) noexcept {
  for (const auto& run : runs) {
    if (run.born.value == 0 && run.payload_bytes != 0) writer.release(run.extent());
  }
}

}  // namespace crawlstore::drum
