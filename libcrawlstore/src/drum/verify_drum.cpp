// SPDX-License-Identifier: Apache-2.0
#include "drum/verify_drum.h"

#include <algorithm>
#include <utility>

#include "drum/drum_content.h"
#include "drum/verify_sequences.h"
#include "format/drum_table.h"

namespace crawlstore::drum {
namespace {

SequenceRun sequences_of(SegmentId segment, const format::RunRef& run,
                         const RequestContent& content) {
  const std::uint64_t column = content.sequence_column_bytes;
  return {segment,
          run.offset_bytes,
          content.sequence_min,
          content.sequence_max,
          content.record_count,
          column == 0 ? 0 : run.offset_bytes + column};
}

/// Verifies one drum.
class DrumVerifier {
 public:
  DrumVerifier(container::SegmentVerifier& segments, const format::SegmentEntry& entry,
               format::DrumTable table)
      : segments_(segments), entry_(entry), table_(std::move(table)) {}

  Result<void> verify() {
    for (std::size_t bucket = 0; bucket < table_.buckets.size(); ++bucket) {
      CRAWLSTORE_TRY(verify_partition(bucket));
      CRAWLSTORE_TRY(verify_key_log(bucket));
      CRAWLSTORE_TRY(verify_aux_log(bucket));
    }
    CRAWLSTORE_TRY(verify_sequences());
    return verify_consumers();
  }

 private:
  Result<void> verify_partition(std::size_t bucket);
  Result<void> verify_key_log(std::size_t bucket);
  Result<void> verify_aux_log(std::size_t bucket);
  /// Checks that no two waiting requests have one sequence number.
  Result<void> verify_sequences();
  Result<void> verify_consumers();
  /// Checks keys and values against the bucket and the drum.
  void verify_keys(std::size_t bucket, SegmentId segment, const format::RunRef& run,
                   const KeyContent& content);
  void verify_shape(SegmentId segment, const format::RunRef& run, const KeyContent& content);
  /// Checks sequence numbers and consumers against the drum.
  void verify_requests(SegmentId segment, const format::RunRef& run, const RequestContent& content);

  /// Finds the segment that the drum names, and checks that it has the kind that the drum needs.
  const format::SegmentEntry* member(SegmentId id, SegmentKind kind);
  [[nodiscard]] bool has_consumer(ConsumerId id) const {
    return std::ranges::binary_search(table_.consumers, id, {}, &format::DrumConsumer::id);
  }
  [[nodiscard]] std::uint64_t offset_bytes() const { return entry_.runs.front().offset_bytes; }
  void broken(SegmentId segment, std::uint64_t offset, const char* text) {
    segments_.broken(segment, offset, text);
  }

  container::SegmentVerifier& segments_;
  const format::SegmentEntry& entry_;
  const format::DrumTable table_;
  std::vector<SequenceRun> sequences_;  // of the key logs
};

Result<void> DrumVerifier::verify_sequences() {
  const auto shared =
      find_shared_sequences(segments_.verification(), std::exchange(sequences_, {}));
  if (!shared) {
    return segments_.failed(shared.error());
  }
  for (const SequenceRun& run : *shared) {
    broken(run.segment, run.offset_bytes, "two waiting requests have the same sequence number");
  }
  return {};
}

const format::SegmentEntry* DrumVerifier::member(SegmentId id, SegmentKind kind) {
  if (!id) return nullptr;
  const auto* entry = segments_.directory().find(id);
  if (entry == nullptr) {
    broken(entry_.id, offset_bytes(), "a drum names a segment that does not exist");
    return nullptr;
  }
  segments_.name(SegmentKind::kDrum, id);
  if (entry->kind != kind) {
    broken(id, offset_bytes(), "a segment is of another kind than its drum takes it for");
    return nullptr;
  }
  if (entry->owner != entry_.id) {
    broken(id, offset_bytes(), "a segment belongs to another drum than the one that names it");
    return nullptr;
  }
  return entry;
}

void DrumVerifier::verify_keys(std::size_t bucket, SegmentId segment, const format::RunRef& run,
                               const KeyContent& content) {
  const auto& buckets = table_.buckets;
  const bool is_last = bucket + 1 == buckets.size();
  if (content.key_min < buckets[bucket].first_key ||
      (!is_last && content.key_max >= buckets[bucket + 1].first_key)) {
    broken(segment, run.offset_bytes, "a key lies outside the range of its bucket");
  }
  verify_shape(segment, run, content);
}

void DrumVerifier::verify_shape(SegmentId segment, const format::RunRef& run,
                                const KeyContent& content) {
  if (content.key_bytes != table_.key_bytes) {
    broken(segment, run.offset_bytes, "keys have another length than the drum says");
  }
  if (content.value_bytes != table_.value_bytes) {
    broken(segment, run.offset_bytes, "values have another length than the drum says");
  }
}

void DrumVerifier::verify_requests(SegmentId segment, const format::RunRef& run,
                                   const RequestContent& content) {
  if (content.sequence_max >= table_.next_sequence) {
    broken(segment, run.offset_bytes, "a sequence number is not below next_sequence");
  }
  for (const ConsumerId consumer : content.consumers) {
    if (has_consumer(consumer)) continue;
    broken(segment, run.offset_bytes, "a request names a consumer that the drum does not have");
    return;
  }
}

Result<void> DrumVerifier::verify_partition(std::size_t bucket) {
  const auto& expected = table_.buckets[bucket];
  const auto* entry = member(expected.partition, SegmentKind::kDrumPartition);
  if (entry == nullptr) return {};
  const auto& run = entry->runs.front();
  CRAWLSTORE_TRY(const auto content, segments_.content_of<KeyContent>(*entry, run));
  if (run.record_count != expected.key_count) {
    broken(entry->id, run.offset_bytes, "a partition has another number of keys than its bucket");
  }
  if (content != nullptr) verify_keys(bucket, entry->id, run, *content);
  return {};
}

Result<void> DrumVerifier::verify_key_log(std::size_t bucket) {
  const auto& expected = table_.buckets[bucket];
  const auto* entry = member(expected.key_log, SegmentKind::kDrumKeyLog);
  if (entry == nullptr) return {};
  std::uint64_t record_count = 0;
  std::uint64_t sequence_end = 0;
  for (const auto& run : entry->runs) {
    record_count += run.record_count;
    CRAWLSTORE_TRY(const auto content, segments_.content_of<RequestContent>(*entry, run));
    if (content == nullptr) continue;
    if (content->sequence_min < sequence_end) {
      broken(entry->id, run.offset_bytes, "sequence numbers do not ascend from run to run");
    }
    sequence_end = content->sequence_max + 1;
    sequences_.push_back(sequences_of(entry->id, run, *content));
    verify_keys(bucket, entry->id, run, *content);
    verify_requests(entry->id, run, *content);
  }
  if (record_count != expected.pending_count) {
    broken(entry->id, offset_bytes(),
           "a key log has another number of requests than its bucket says");
  }
  return {};
}

/// Checks that each auxiliary run belongs to a key run whose id is one lower.
Result<void> DrumVerifier::verify_aux_log(std::size_t bucket) {
  const auto& expected = table_.buckets[bucket];
  const auto* entry = member(expected.aux_log, SegmentKind::kDrumAuxLog);
  if (entry == nullptr) return {};
  const auto* key_log = segments_.directory().find(expected.key_log);
  for (const auto& run : entry->runs) {
    CRAWLSTORE_TRY(segments_.content_of(*entry, run));
    if (key_log == nullptr) continue;
    const auto key_run = std::find_if(
        key_log->runs.begin(), key_log->runs.end(),
        [&run](const auto& other) { return other.run_id.value + 1 == run.run_id.value; });
    if (key_run == key_log->runs.end()) {
      broken(entry->id, run.offset_bytes, "an auxiliary run has no key run");
    } else if (key_run->record_count != run.record_count) {
      broken(entry->id, run.offset_bytes,
             "an auxiliary run has another number of records than its key run");
    }
  }
  return {};
}

Result<void> DrumVerifier::verify_consumers() {
  for (const auto& consumer : table_.consumers) {
    const auto* entry = member(consumer.results, SegmentKind::kDrumResults);
    if (entry == nullptr) continue;
    std::uint64_t record_count = 0;
    for (const auto& run : entry->runs) {
      record_count += run.record_count;
      CRAWLSTORE_TRY(const auto content, segments_.content_of<RequestContent>(*entry, run));
      if (content == nullptr) continue;
      verify_requests(entry->id, run, *content);
      if (content->consumers != std::vector{consumer.id}) {
        broken(entry->id, run.offset_bytes, "a results log holds answers for another consumer");
      }
      verify_shape(entry->id, run, *content);
    }
    if (record_count != consumer.result_count) {
      broken(entry->id, offset_bytes(),
             "a results log has another number of records than its consumer");
    }
  }
  return {};
}

}  // namespace

Result<bool> verify_drum(container::SegmentVerifier& segments, const format::SegmentEntry& entry) {
  CRAWLSTORE_TRY(const auto payload,
                 segments.read_table(entry, kDrumBytesMax, "a drum is too long"));
  if (!payload) return false;
  auto table = format::parse_drum_table(*payload);
  if (!table) {
    segments.broken(entry.id, entry.runs.front().offset_bytes, table.error().text);
    return false;
  }
  CRAWLSTORE_TRY(segments.verification().advance(payload->size()));
  CRAWLSTORE_TRY(DrumVerifier(segments, entry, std::move(*table)).verify());
  return true;
}

}  // namespace crawlstore::drum
