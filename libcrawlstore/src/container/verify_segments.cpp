// SPDX-License-Identifier: Apache-2.0
//
// Invariants: the bytes of a run are looked at only when its checksums matched; they are read
// through the mapping and may change meanwhile, which costs a wrong verdict at worst. A drum's own
// payload, which is a FlatBuffer, is copied first.
#include "container/verify_segments.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "container/run_io.h"
#include "container/tile_tree.h"
#include "format/drum_table.h"
#include "format/layout.h"
#include "format/superblock.h"

namespace crawlstore::container {
namespace {

/// More than a drum with the most buckets and consumers, all with the longest names, needs.
constexpr std::uint64_t kDrumBytesMax = 16 * 1024 * 1024;
/// How much of a run is fetched ahead of its check.
constexpr std::uint64_t kFetchBytes = 16 * 1024 * 1024;

SequenceRun sequences_of(SegmentId segment, const format::RunRef& run, const RunContent& content) {
  const std::uint64_t column = content.sequence_column_bytes;
  return {segment,
          run.offset_bytes,
          content.sequence_min,
          content.sequence_max,
          content.record_count,
          column == 0 ? 0 : run.offset_bytes + column};
}

}  // namespace

struct SegmentVerifier::Drum {
  const format::SegmentEntry& entry;
  std::uint64_t offset_bytes = 0;
  format::DrumTable table;

  [[nodiscard]] bool has_consumer(std::uint16_t id) const {
    return std::binary_search(table.consumers.begin(), table.consumers.end(), id, Before{});
  }

 private:
  struct Before {
    bool operator()(const format::DrumConsumer& a, std::uint16_t b) const { return a.id < b; }
    bool operator()(std::uint16_t a, const format::DrumConsumer& b) const { return a < b.id; }
  };
};

void SegmentVerifier::broken(SegmentId segment, std::uint64_t offset, const char* text) {
  verification_.found(kind_, directory_->generation(),
                      {Errc::kSegmentInvalid, 0, segment.value, offset, text});
}

Result<void> SegmentVerifier::verify(const Directory& directory, FindingKind kind) {
  directory_ = &directory;
  kind_ = kind;
  members_.clear();
  for (const auto& table : directory.tables) {
    for (const auto& entry : table->segments) {
      if (entry.kind == SegmentKind::kDrum) CRAWLSTORE_TRY(verify_drum(entry));
      if (entry.kind == SegmentKind::kPageRecords) CRAWLSTORE_TRY(verify_record_tiles(entry));
    }
  }
  verify_owners();
  return {};
}

/// All tiles are full but the last. The nodes were checked with the directory.
Result<void> SegmentVerifier::verify_record_tiles(const format::SegmentEntry& entry) {
  const std::uint64_t count = tile_count(entry);
  for (std::uint64_t tile = 0; tile < count; ++tile) {
    const format::RunRef& run = tile_ref(entry, tile);
    CRAWLSTORE_TRY(content_of(entry, run));
    if (tile + 1 < count && run.record_count != format::kTilePagesMax) {
      broken(entry.id, run.offset_bytes, "a record tile is not full, and not the last");
    }
  }
  return {};
}

/// Every segment that is no drum belongs to one that names it.
void SegmentVerifier::verify_owners() {
  directory_->for_each_segment([&](const format::SegmentEntry& entry) {
    if (format::feature_of(entry.kind) != format::kDrumFeature) return;
    if (entry.kind == SegmentKind::kDrum || members_.contains(entry.id)) return;
    const std::uint64_t offset =
        entry.runs.empty() ? Error::kNoOffset : entry.runs.front().offset_bytes;
    const auto* drum = directory_->find(entry.owner);
    CRAWLSTORE_ASSERT(drum != nullptr);  // a rule of the directory
    if (!contents_.contains(RunKey::of(*drum, drum->runs.front()))) {
      return;  // the drum is not whole: what it names is not known
    }
    broken(entry.id, offset, "no drum names this segment");
  });
}

Result<void> SegmentVerifier::verify_drum(const format::SegmentEntry& entry) {
  const format::RunRef& run = entry.runs.front();
  const RunKey key = RunKey::of(entry, run);
  if (damaged_runs_.contains(key)) return {};
  if (run.payload_bytes > kDrumBytesMax) {
    broken(entry.id, run.offset_bytes, "a drum is too long");
    return {};
  }
  std::vector<std::byte> payload;
  const auto name = run_name(verification_.identity, entry.id, run.run_id);
  const auto read = read_run(verification_.storage, name, run, payload);
  if (!read) {
    return verification_.found_or_fail(kind_, directory_->generation(), read.error());
  }
  auto table = format::parse_drum_table(payload);
  if (!table) {
    broken(entry.id, run.offset_bytes, table.error().text);
    return {};
  }
  contents_.emplace(key, RunContent{});
  CRAWLSTORE_TRY(verification_.advance(payload.size()));
  const Drum drum{entry, run.offset_bytes, std::move(*table)};
  CRAWLSTORE_TRY(verify_buckets(drum));
  return verify_consumers(drum);
}

Result<void> SegmentVerifier::verify_buckets(const Drum& drum) {
  for (std::size_t bucket = 0; bucket < drum.table.buckets.size(); ++bucket) {
    CRAWLSTORE_TRY(verify_partition(drum, bucket));
    CRAWLSTORE_TRY(verify_key_log(drum, bucket));
    CRAWLSTORE_TRY(verify_aux_log(drum, bucket));
  }
  return verify_sequences();
}

Result<void> SegmentVerifier::verify_sequences() {
  const auto shared = find_shared_sequences(verification_, std::exchange(sequences_, {}));
  if (!shared) {
    return verification_.found_or_fail(kind_, directory_->generation(), shared.error());
  }
  for (const SequenceRun& run : *shared) {
    broken(run.segment, run.offset_bytes, "two waiting requests have the same sequence number");
  }
  return {};
}

const format::SegmentEntry* SegmentVerifier::member(const Drum& drum, SegmentId id,
                                                    SegmentKind kind) {
  if (!id) return nullptr;
  const auto* entry = directory_->find(id);
  if (entry == nullptr) {
    broken(drum.entry.id, drum.offset_bytes, "a drum names a segment that does not exist");
    return nullptr;
  }
  members_.insert(id);
  if (entry->kind != kind) {
    broken(id, drum.offset_bytes, "a segment is of another kind than its drum takes it for");
    return nullptr;
  }
  if (entry->owner != drum.entry.id) {
    broken(id, drum.offset_bytes, "a segment belongs to another drum than the one that names it");
    return nullptr;
  }
  return entry;
}

Result<const RunContent*> SegmentVerifier::content_of(const format::SegmentEntry& entry,
                                                      const format::RunRef& run) {
  const RunKey key = RunKey::of(entry, run);
  auto place = contents_.find(key);
  if (place == contents_.end()) {
    CRAWLSTORE_TRY(auto content, read_content(entry, run));
    place = contents_.emplace(key, std::move(content)).first;
  }
  return place->second ? &*place->second : nullptr;
}

Result<std::optional<RunContent>> SegmentVerifier::read_content(const format::SegmentEntry& entry,
                                                                const format::RunRef& run) {
  if (damaged_runs_.contains(RunKey::of(entry, run))) return std::optional<RunContent>{};
  std::uint64_t checked = 0;
  std::uint64_t fetched = 0;
  const auto fetch = [&](std::uint64_t bytes) {
    checked += bytes;
    if (fetched == run.payload_bytes || checked + kFetchBytes / 2 < fetched) return;
    const std::uint64_t end = std::min(run.payload_bytes, checked + kFetchBytes);
    verification_.storage.prefetch({run.offset_bytes + fetched, end - fetched});
    fetched = end;
  };
  fetch(0);
  const auto in_file = [&run](Extent extent) {
    return Extent{run.offset_bytes + extent.offset_bytes, extent.length_bytes};
  };
  Storage& storage = verification_.storage;
  const PayloadSource payload{run.payload_bytes,
                              [&](Extent extent) { return storage.view(in_file(extent)); },
                              [&](Extent extent) { storage.forget(in_file(extent)); }};
  auto content = check_run_content(entry.kind, payload, [&](std::uint64_t bytes) {
    fetch(bytes);
    return verification_.advance(bytes);
  });
  storage.forget(run.extent());
  if (!content) {
    Error error = content.error();
    if (error.code != Errc::kSegmentInvalid) {  // of the storage, not of what it holds
      CRAWLSTORE_TRY(verification_.found_or_fail(kind_, directory_->generation(), error));
      return std::optional<RunContent>{};
    }
    error.offset = run.offset_bytes + (error.offset == Error::kNoOffset ? 0 : error.offset);
    error.segment = entry.id.value;
    verification_.found(kind_, directory_->generation(), error);
    return std::optional<RunContent>{};
  }
  if (content->record_count != run.record_count) {
    broken(entry.id, run.offset_bytes,
           "a run holds another number of records than the directory says");
    return std::optional<RunContent>{};
  }
  return std::optional<RunContent>(std::move(*content));
}

/// Keys and values as the bucket and the drum ask for.
void SegmentVerifier::verify_keys(const Drum& drum, std::size_t bucket, SegmentId segment,
                                  const format::RunRef& run, const RunContent& content) {
  const auto& buckets = drum.table.buckets;
  const bool is_last = bucket + 1 == buckets.size();
  if (content.key_min < buckets[bucket].first_key ||
      (!is_last && content.key_max >= buckets[bucket + 1].first_key)) {
    broken(segment, run.offset_bytes, "a key lies outside the range of its bucket");
  }
  if (content.key_bytes != drum.table.key_bytes) {
    broken(segment, run.offset_bytes, "keys have another length than the drum says");
  }
  if (content.value_bytes != drum.table.value_bytes) {
    broken(segment, run.offset_bytes, "values have another length than the drum says");
  }
}

/// Sequence numbers and consumers as the drum asks for.
void SegmentVerifier::verify_requests(const Drum& drum, SegmentId segment,
                                      const format::RunRef& run, const RunContent& content) {
  if (content.sequence_max >= drum.table.next_sequence) {
    broken(segment, run.offset_bytes, "a sequence number is not below next_sequence");
  }
  for (const std::uint16_t consumer : content.consumers) {
    if (drum.has_consumer(consumer)) continue;
    broken(segment, run.offset_bytes, "a request names a consumer that the drum does not have");
    return;
  }
}

Result<void> SegmentVerifier::verify_partition(const Drum& drum, std::size_t bucket) {
  const auto& expected = drum.table.buckets[bucket];
  const auto* entry = member(drum, expected.partition, SegmentKind::kDrumPartition);
  if (entry == nullptr) return {};
  const auto& run = entry->runs.front();
  CRAWLSTORE_TRY(const auto content, content_of(*entry, run));
  if (run.record_count != expected.key_count) {
    broken(entry->id, run.offset_bytes, "a partition has another number of keys than its bucket");
  }
  if (content != nullptr) verify_keys(drum, bucket, entry->id, run, *content);
  return {};
}

Result<void> SegmentVerifier::verify_key_log(const Drum& drum, std::size_t bucket) {
  const auto& expected = drum.table.buckets[bucket];
  const auto* entry = member(drum, expected.key_log, SegmentKind::kDrumKeyLog);
  if (entry == nullptr) return {};
  std::uint64_t record_count = 0;
  std::uint64_t sequence_end = 0;
  for (const auto& run : entry->runs) {
    record_count += run.record_count;
    CRAWLSTORE_TRY(const auto content, content_of(*entry, run));
    if (content == nullptr) continue;
    if (content->sequence_min < sequence_end) {
      broken(entry->id, run.offset_bytes, "sequence numbers do not ascend from run to run");
    }
    sequence_end = content->sequence_max + 1;
    sequences_.push_back(sequences_of(entry->id, run, *content));
    verify_keys(drum, bucket, entry->id, run, *content);
    verify_requests(drum, entry->id, run, *content);
  }
  if (record_count != expected.pending_count) {
    broken(entry->id, drum.offset_bytes,
           "a key log has another number of requests than its bucket says");
  }
  return {};
}

/// Each auxiliary run goes with the key run whose id is one lower.
Result<void> SegmentVerifier::verify_aux_log(const Drum& drum, std::size_t bucket) {
  const auto& expected = drum.table.buckets[bucket];
  const auto* entry = member(drum, expected.aux_log, SegmentKind::kDrumAuxLog);
  if (entry == nullptr) return {};
  const auto* key_log = directory_->find(expected.key_log);
  for (const auto& run : entry->runs) {
    CRAWLSTORE_TRY(content_of(*entry, run));
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

Result<void> SegmentVerifier::verify_consumers(const Drum& drum) {
  for (const auto& consumer : drum.table.consumers) {
    const auto* entry = member(drum, consumer.results, SegmentKind::kDrumResults);
    if (entry == nullptr) continue;
    std::uint64_t record_count = 0;
    for (const auto& run : entry->runs) {
      record_count += run.record_count;
      CRAWLSTORE_TRY(const auto content, content_of(*entry, run));
      if (content == nullptr) continue;
      verify_requests(drum, entry->id, run, *content);
      if (content->consumers != std::vector{consumer.id}) {
        broken(entry->id, run.offset_bytes, "a results log holds answers for another consumer");
      }
      if (content->key_bytes != drum.table.key_bytes) {
        broken(entry->id, run.offset_bytes, "keys have another length than the drum says");
      }
      if (content->value_bytes != drum.table.value_bytes) {
        broken(entry->id, run.offset_bytes, "values have another length than the drum says");
      }
    }
    if (record_count != consumer.result_count) {
      broken(entry->id, drum.offset_bytes,
             "a results log has another number of records than its consumer");
    }
  }
  return {};
}

}  // namespace crawlstore::container
