// SPDX-License-Identifier: Apache-2.0
//
// Invariants: a key is kept when its block and all that leads to it is whole; a request when its
// run and that of its auxiliaries are. Sequences, consumers and thresholds stay.
#include <algorithm>
#include <utility>

#include "drum/drum_state.h"
#include "drum/partition.h"
#include "format/drum_table.h"
#include "rescue/patient.h"

namespace crawlstore::rescue {
namespace {

/// The blocks of a partition that can be read, and the ranges of keys between them.
class PartitionRescue {
 public:
  PartitionRescue(Patient& patient, const drum::DrumState& state, drum::Bucket& bucket)
      : patient_(patient), state_(state), bucket_(bucket), run_(bucket.partition_run->ref()) {}

  /// Gives the bucket a new partition of what can be read, or none.
  Result<void> rescue() {
    auto opened = drum::PartitionLookup::open(bucket_.partition_run->reader(), state_.shape());
    if (!opened) {
      lose_all(opened.error());
      return {};
    }
    CRAWLSTORE_TRY(const auto piece, write(**opened));
    if (piece.key_count == 0) {
      lose_all(damage_of(run_, bucket_.partition));
      return {};
    }
    const std::uint64_t lost = bucket_.key_count - piece.key_count;
    for (auto& gap : gaps_) gap.count = gaps_.size() == 1 ? lost : gap.count;
    patient_.losses.insert(patient_.losses.end(), gaps_.begin(), gaps_.end());
    bucket_.partition_run = patient_.writer.runs->add(bucket_.partition, piece.run);
    bucket_.lookup = nullptr;
    bucket_.key_count = piece.key_count;
    return {};
  }

 private:
  void lose_all(const Error& error) {
    std::uint64_t last = state_.last_key(state_.bucket_of(bucket_.first_key));
    patient_.lose(
        {LostPart::kKeys, state_.name, bucket_.first_key, last, bucket_.key_count, error});
    patient_.writer.remove(bucket_.partition);
    bucket_.partition = {};
    bucket_.partition_run = nullptr;
    bucket_.lookup = nullptr;
    bucket_.key_count = 0;
  }

  Result<drum::PartitionPiece> write(const drum::PartitionLookup& lookup) {
    const format::RunLabel label{bucket_.partition, SegmentKind::kDrumPartition, state_.id,
                                 patient_.writer.new_run_ids(1)};
    // Blocks are cut where they were cut, or later.
    CRAWLSTORE_TRY(auto run, container::RunWriter::start(patient_.writer, label,
                                                         run_.payload_bytes + kMoreBytes));
    drum::PartitionWriter writer(std::move(run), state_.shape());
    for (std::uint64_t i = 0; i < lookup.block_count(); ++i) {
      const auto copied = copy_block(lookup, i, writer);
      if (copied) continue;
      if (category(copied.error().code) != ErrorCategory::kDamage) {
        return tl::unexpected<Error>(copied.error());
      }
      note_gap(lookup, i, copied.error());
    }
    if (writer.key_count() == 0) return drum::PartitionPiece{};
    CRAWLSTORE_TRY(const auto piece, writer.finish());
    writer.give_back();
    return piece;
  }

  /// Decodes the whole block before it adds a key.
  Result<void> copy_block(const drum::PartitionLookup& lookup, std::uint64_t index,
                          drum::PartitionWriter& writer) {
    CRAWLSTORE_TRY(const auto block, lookup.block(index));
    format::BlockNumbers heads{};
    format::BlockNumbers tails{};
    CRAWLSTORE_TRY(decode(block, heads, tails));
    std::size_t value_begin = 0;
    for (std::uint32_t k = 0; k < block.key_count; ++k) {
      std::span<const std::byte> value;
      if (state_.value_bytes > 0) value = format::value_at(block, k, state_.value_bytes);
      if (state_.value_bytes < 0) {
        value = format::variable_value(block, k, value_begin);
        value_begin += value.size();
      }
      CRAWLSTORE_TRY(writer.append({heads[k], tails[k]}, value));
    }
    return patient_.advance(0);
  }

  Result<void> decode(const format::KeyBlock& block, format::BlockNumbers& heads,
                      format::BlockNumbers& tails) const {
    if (!format::decode_keys(block, heads, tails)) {
      return fail(Errc::kSegmentInvalid, "the keys of a block do not ascend", run_.offset_bytes,
                  bucket_.partition);
    }
    return {};
  }

  void note_gap(const drum::PartitionLookup& lookup, std::uint64_t index, const Error& error) {
    const auto first = lookup.first_key(index);
    std::uint64_t end = state_.last_key(state_.bucket_of(bucket_.first_key));
    if (index + 1 < lookup.block_count()) {
      if (const auto next = lookup.first_key(index + 1)) end = next->head;
    }
    const std::uint64_t begin = first ? first->head : bucket_.first_key;
    if (!gaps_.empty() && gaps_.back().end >= begin) {
      gaps_.back().end = end;
      gaps_.back().count += format::kBlockKeysMax;
      return;
    }
    gaps_.push_back({LostPart::kKeys, state_.name, begin, end, format::kBlockKeysMax, error});
  }

  static constexpr std::uint64_t kMoreBytes = 1024;

  Patient& patient_;
  const drum::DrumState& state_;
  drum::Bucket& bucket_;
  const format::RunRef run_;
  std::vector<Loss> gaps_;
};

/// Takes out the requests whose runs are damaged.
void rescue_requests(Patient& patient, const drum::DrumState& state, drum::Bucket& bucket) {
  drum::LogRuns kept;
  for (const auto& keys : bucket.pending.keys) {
    const auto aux = std::ranges::find_if(bucket.pending.auxes, [&](const auto& run) {
      return run->ref().run_id.value == keys->ref().run_id.value + 1;
    });
    const bool has_auxes = aux != bucket.pending.auxes.end();
    const bool is_lost =
        patient.is_damaged(keys->ref()) || (has_auxes && patient.is_damaged((*aux)->ref()));
    if (is_lost) {
      patient.lose({LostPart::kRequests, state.name, 0, 0, keys->ref().record_count,
                    damage_of(keys->ref(), bucket.key_log)});
    } else {
      kept.add({keys, has_auxes ? *aux : container::RunPtr()});
    }
  }
  if (kept.keys.size() == bucket.pending.keys.size()) return;
  if (kept.empty()) {
    for (SegmentId* log : {&bucket.key_log, &bucket.aux_log}) {
      if (*log && patient.writer.find(*log) != nullptr) patient.writer.remove(*log);
      *log = {};
    }
  }
  bucket.pending = std::move(kept);
}

void rescue_answers(Patient& patient, const drum::DrumState& state, drum::Consumer& consumer) {
  std::erase_if(consumer.runs, [&](const container::RunPtr& run) {
    if (!patient.is_damaged(run->ref())) return false;
    patient.lose({LostPart::kAnswers, state.name, 0, 0, run->ref().record_count,
                  damage_of(run->ref(), consumer.results)});
    consumer.result_count -= run->ref().record_count;
    return true;
  });
  if (!consumer.runs.empty() || !consumer.results) return;
  patient.writer.remove(consumer.results);
  consumer.results = {};
}

Result<void> repair_drum(Patient& patient, const format::SegmentEntry& entry) {
  auto state = drum::load_state(patient.writer, entry);
  std::vector<std::byte> payload;
  const auto& run = entry.runs.front();
  const auto name = container::run_name(patient.writer.identity(), entry.id, run.run_id);
  const auto read = container::read_run(patient.copy, name, run, payload);
  const auto table = format::parse_drum_table(payload);
  if (!state || !read || !table) {
    const Error error = !read ? read.error() : damage_of(run, entry.id);
    patient.lose({LostPart::kDrum, entry.name, 0, 0, 0, error});
    patient.remove(entry);
    CRAWLSTORE_TRY(patient.writer.commit());
    return {};
  }
  for (auto& bucket : state->buckets) {
    if (bucket.partition_run != nullptr && patient.is_damaged(bucket.partition_run->ref())) {
      CRAWLSTORE_TRY(PartitionRescue(patient, *state, bucket).rescue());
    }
    rescue_requests(patient, *state, bucket);
  }
  for (auto& consumer : state->consumers) rescue_answers(patient, *state, consumer);
  CRAWLSTORE_TRY(
      drum::put_state(patient.writer, *patient.writer.runs, *state,
                      {{table->merge_bytes, table->merge_requests}, table->partition_keys_max}));
  CRAWLSTORE_TRY(patient.writer.commit());  // before the runs go with the state
  return {};
}

}  // namespace

Result<void> repair_drums(Patient& patient) {
  for (const auto& entry : patient.segments(SegmentKind::kDrum)) {
    // Those of page databases are made from URLs.
    const bool is_of_pages =
        patient.writer.directory()->find_named(SegmentKind::kPages, entry.name) != nullptr;
    if (is_of_pages || !patient.has_damage(entry)) continue;
    CRAWLSTORE_TRY(repair_drum(patient, entry));
  }
  return {};
}

}  // namespace crawlstore::rescue
