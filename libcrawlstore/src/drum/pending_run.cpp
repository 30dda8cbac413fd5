// SPDX-License-Identifier: Apache-2.0
//
// Invariant: the payloads are copies that never change, so that the proofs of parse_*() hold.
#include "drum/pending_run.h"

#include <algorithm>

namespace crawlstore::drum {
namespace {

/// Returns the error of a codec about a payload, with its place in the file.
tl::unexpected<Error> invalid(const Error& error, SegmentId segment, const format::RunRef& run) {
  const std::uint64_t begin = error.offset == Error::kNoOffset ? 0 : error.offset;
  return fail(error.code, error.text, run.offset_bytes + begin, segment);
}

std::vector<std::byte> first_bytes(std::span<const std::byte> bytes, std::size_t bytes_max) {
  const auto kept = bytes.first(std::min(bytes.size(), bytes_max));
  return {kept.begin(), kept.end()};
}

}  // namespace

LengthSums::LengthSums(std::span<const std::uint32_t> lengths) : lengths_(lengths) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (i % kStep == 0) begins_.push_back(sum);
    sum += lengths[i];
  }
}

std::uint64_t LengthSums::begin_of(std::size_t index) const {
  std::uint64_t sum = begins_[index / kStep];
  for (std::size_t i = index / kStep * kStep; i < index; ++i) sum += lengths_[i];
  return sum;
}

Result<std::shared_ptr<const PendingRun>> PendingRun::read(container::Reader& reader,
                                                           SegmentId key_log,
                                                           const format::RunRef& run,
                                                           const format::SegmentEntry* auxes) {
  auto made = std::make_shared<PendingRun>();
  made->key_log_ = key_log;
  CRAWLSTORE_TRY(made->read_keys(reader, run));
  if (auxes == nullptr) return made;
  const RunId wanted{run.run_id.value + 1};
  const auto found = std::find_if(auxes->runs.begin(), auxes->runs.end(),
                                  [wanted](const auto& aux) { return aux.run_id == wanted; });
  if (found != auxes->runs.end()) CRAWLSTORE_TRY(made->read_auxes(reader, auxes->id, *found));
  return made;
}

Result<void> PendingRun::read_keys(container::Reader& reader, const format::RunRef& run) {
  run_ = run;
  const auto name = container::run_name(reader.identity(), key_log_, run.run_id);
  CRAWLSTORE_TRY(container::read_run(*reader.storage(), name, run, key_payload_));
  const auto parsed = format::parse_key_run(key_payload_, unpacked_);
  if (!parsed) return invalid(parsed.error(), key_log_, run);
  keys_ = *parsed;
  values_ = LengthSums(keys_.lengths);
  if (keys_.keys.size() == run.record_count) return {};
  return fail(Errc::kSegmentInvalid, "a key run has another count than the directory says",
              run.offset_bytes, key_log_);
}

Result<void> PendingRun::read_auxes(container::Reader& reader, SegmentId log,
                                    const format::RunRef& run) {
  const auto name = container::run_name(reader.identity(), log, run.run_id);
  CRAWLSTORE_TRY(container::read_run(*reader.storage(), name, run, aux_payload_));
  const auto parsed = format::parse_aux_run(aux_payload_);
  if (!parsed) return invalid(parsed.error(), log, run);
  auxes_ = *parsed;
  aux_lengths_ = LengthSums(auxes_.lengths);
  aux_blocks_ = LengthSums(auxes_.blocks.lengths);
  if (auxes_.record_count == count()) return {};
  return fail(Errc::kSegmentInvalid, "an auxiliary run has another count than its key run",
              run.offset_bytes, log);
}

void PendingRun::put_value(std::size_t index, std::size_t bytes_max, PendingRow& row) const {
  if (row.operation == DrumOperation::kCheck) return;
  const bool is_fixed = keys_.value_bytes >= 0;
  row.value_bytes = is_fixed ? static_cast<std::uint64_t>(keys_.value_bytes) : keys_.lengths[index];
  const std::uint64_t begin = is_fixed ? index * row.value_bytes : values_.begin_of(index);
  row.value = first_bytes(keys_.values.subspan(begin, row.value_bytes), bytes_max);
}

/// Puts the auxiliary, and reads only the compressed blocks in which its first bytes lie.
Result<void> PendingRun::put_aux(std::size_t index, std::size_t bytes_max, PendingRow& row) const {
  if (auxes_.record_count == 0) return {};
  const bool is_uniform = auxes_.lengths.empty();
  row.aux_bytes = is_uniform ? auxes_.uniform_length_bytes : auxes_.lengths[index];
  const std::uint64_t begin = is_uniform ? index * row.aux_bytes : aux_lengths_.begin_of(index);
  const auto& blocks = auxes_.blocks;
  if (blocks.lengths.empty()) {
    row.aux = first_bytes(auxes_.bytes.subspan(begin, row.aux_bytes), bytes_max);
    return {};
  }
  const std::uint64_t block = begin / format::kAuxBlockBytes;
  if (row.aux_bytes == 0 || block >= blocks.lengths.size()) return {};
  format::AuxReader reader(
      {}, {blocks.raw_bytes - block * format::kAuxBlockBytes, blocks.lengths.subspan(block),
           blocks.bytes.subspan(aux_blocks_.begin_of(block))});
  CRAWLSTORE_TRY(reader.next(begin % format::kAuxBlockBytes));
  CRAWLSTORE_TRY(const auto bytes, reader.next(std::min<std::uint64_t>(row.aux_bytes, bytes_max)));
  row.aux = first_bytes(bytes, bytes_max);
  return {};
}

Result<PendingRow> PendingRun::request(std::size_t index, std::size_t bytes_max) const {
  const auto tag = keys_.tags.empty() ? keys_.uniform_tag : keys_.tags[index];
  PendingRow row;
  row.sequence = sequence(index);
  row.operation = static_cast<DrumOperation>(format::operation_of(tag));
  row.consumer = format::consumer_of(tag);
  row.key = key(index);
  row.run = run_.run_id;
  row.index = index;
  row.run_offset_bytes = run_.offset_bytes;
  put_value(index, bytes_max, row);
  CRAWLSTORE_TRY(put_aux(index, bytes_max, row));
  return row;
}

}  // namespace crawlstore::drum
