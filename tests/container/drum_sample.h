// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A whole DRUM made with the codecs alone, to be broken in one place: the input of the tests of
/// deep verification.

#include <functional>

#include "container/container_store.h"
#include "format/key_block.h"
#include "format/partition_index.h"
#include "format/request_run.h"

namespace crawlstore::testing {

/// Two buckets, split at 2^63; values of 2 bytes. Bucket 0 has 1,500 keys, no requests; bucket 1
/// has 700 keys and two key runs, the second with auxiliaries; consumer 3 has a results log.
struct DrumSample {
  struct Segment {
    SegmentId id;
    SegmentKind kind{};
    SegmentId owner;
    std::vector<RunId> run_ids;
    std::vector<Bytes> payloads;
    std::vector<std::uint64_t> record_counts;
  };
  SegmentId id;
  format::DrumTable table;
  std::vector<Segment> segments;  // partition, partition, key log, aux log, results
};

inline constexpr std::size_t kPartition0 = 0;
inline constexpr std::size_t kPartition1 = 1;
inline constexpr std::size_t kKeyLog = 2;
inline constexpr std::size_t kAuxLog = 3;
inline constexpr std::size_t kResults = 4;
inline constexpr std::uint64_t kSplit = std::uint64_t{1} << 63;

/// Keys base, base + step, ...
inline std::vector<std::uint64_t> keys_from(std::uint64_t base, std::uint64_t step,
                                            std::size_t count) {
  std::vector<std::uint64_t> keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = base + i * step;
  return keys;
}

/// A partition of blocks of 512 keys with values of `value_bytes` zeros.
inline Bytes partition_of(std::span<const std::uint64_t> keys, std::int32_t value_bytes) {
  Bytes payload;
  format::PartitionIndex index;
  for (std::size_t begin = 0; begin < keys.size(); begin += format::kBlockKeysMax) {
    const auto block =
        keys.subspan(begin, std::min<std::size_t>(format::kBlockKeysMax, keys.size() - begin));
    index.first_keys.push_back(block.front());
    index.block_offsets.push_back(static_cast<std::uint32_t>(payload.size() / 8));
    const Bytes values(block.size() * static_cast<std::size_t>(value_bytes));
    format::encode_key_block(block, value_bytes, values, {}, payload);
  }
  const std::uint64_t blocks_bytes = payload.size();
  format::encode_partition_tail(index, keys.size(), keys.back(), value_bytes, blocks_bytes,
                                payload);
  return payload;
}

inline Bytes key_run_of(std::span<const std::uint64_t> keys, std::uint64_t first_sequence,
                        ConsumerId consumer = {}, std::int32_t value_bytes = 2) {
  format::KeyRun run;
  const Bytes values(keys.size() * static_cast<std::size_t>(value_bytes));
  run.first_sequence = first_sequence;
  run.value_bytes = value_bytes;
  run.uniform_tag = format::make_tag(format::Operation::kCheckUpdate, consumer);
  run.keys = keys;
  run.values = values;
  Bytes payload;
  format::encode_key_run(run, payload);
  return payload;
}

inline Bytes aux_run_of(std::uint64_t count) {
  const Bytes bytes(count * 3);
  format::AuxRun run{count, 3, {}, bytes};
  Bytes payload;
  format::encode_aux_run(run, payload);
  return payload;
}

inline Bytes result_run_of(std::span<const std::uint64_t> keys, ConsumerId consumer) {
  const auto sequences = keys_from(0, 1, keys.size());
  const std::vector<std::uint16_t> tags(
      keys.size(), format::make_tag(format::Operation::kCheckUpdate, consumer));
  const std::vector<std::uint8_t> verdicts(keys.size(), 1);
  const std::vector<std::uint32_t> aux_lengths(keys.size(), 0);
  const Bytes values(keys.size() * 2);
  format::ResultRun run{2, keys, sequences, tags, verdicts, {}, aux_lengths, values, {}};
  Bytes payload;
  format::encode_result_run(run, payload);
  return payload;
}

inline DrumSample drum_sample(container::Writer& writer) {
  DrumSample sample;
  sample.id = writer.new_segment_id();
  const auto add = [&](SegmentKind kind, std::vector<Bytes> payloads,
                       std::vector<std::uint64_t> counts) {
    sample.segments.push_back(
        {writer.new_segment_id(), kind, sample.id, {}, std::move(payloads), std::move(counts)});
    return sample.segments.back().id;
  };
  auto& table = sample.table;
  table.value_bytes = 2;
  table.next_sequence = 100;
  table.buckets.resize(2);
  table.buckets[1].first_key = kSplit;
  table.buckets[0].key_count = 1500;
  table.buckets[0].partition =
      add(SegmentKind::kDrumPartition, {partition_of(keys_from(5, 1000, 1500), 2)}, {1500});
  table.buckets[1].key_count = 700;
  table.buckets[1].partition =
      add(SegmentKind::kDrumPartition, {partition_of(keys_from(kSplit, 7, 700), 2)}, {700});
  const auto keys = keys_from(kSplit + 3, 1, 10);
  table.buckets[1].pending_count = 20;
  table.buckets[1].key_log =
      add(SegmentKind::kDrumKeyLog, {key_run_of(keys, 40), key_run_of(keys, 60)}, {10, 10});
  table.buckets[1].aux_log = add(SegmentKind::kDrumAuxLog, {aux_run_of(10)}, {10});
  table.consumers.resize(2);
  table.consumers[1] = {{3}, "late", {}, 4};
  table.consumers[1].results =
      add(SegmentKind::kDrumResults, {result_run_of(keys_from(9, 1, 4), {3})}, {4});
  const RunId first = writer.new_run_ids(10);
  const auto run_id = [first](std::uint64_t n) { return RunId{first.value + n}; };
  sample.segments[kPartition0].run_ids = {run_id(0)};
  sample.segments[kPartition1].run_ids = {run_id(1)};
  sample.segments[kKeyLog].run_ids = {run_id(2), run_id(4)};
  sample.segments[kAuxLog].run_ids = {run_id(5)};
  sample.segments[kResults].run_ids = {run_id(6)};
  return sample;
}

/// Brings the sample into the writer's changes.
inline void put_sample(container::Writer& writer, const DrumSample& sample) {
  for (const auto& segment : sample.segments) {
    const auto storage_class =
        segment.kind == SegmentKind::kDrumPartition ? StorageClass::kBlob : StorageClass::kLog;
    format::SegmentEntry entry{segment.id, segment.kind, storage_class, segment.owner, "", {}};
    for (std::size_t i = 0; i < segment.payloads.size(); ++i) {
      entry.runs.push_back(must(container::write_run(
          writer, {segment.id, segment.kind, segment.owner, segment.run_ids[i]},
          segment.payloads[i], segment.record_counts[i])));
    }
    writer.put(std::move(entry));
  }
  const auto run =
      must(container::write_run(writer, {sample.id, SegmentKind::kDrum, {}, writer.new_run_ids(1)},
                                format::encode_drum_table(sample.table), 1));
  writer.put({sample.id, SegmentKind::kDrum, StorageClass::kBlob, {}, "sample", {run}});
}

/// A file with the sample, as `change` leaves it: what no writer of ours writes.
inline Bytes sample_file(const std::function<void(DrumSample&)>& change) {
  const ContainerStore store;
  const auto writer = store.writer();
  auto sample = drum_sample(*writer);
  change(sample);
  put_sample(*writer, sample);
  must(writer->commit());
  return store.bytes();
}

}  // namespace crawlstore::testing
