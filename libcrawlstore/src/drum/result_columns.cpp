// SPDX-License-Identifier: Apache-2.0
#include "drum/result_columns.h"

namespace crawlstore::drum {

void ResultColumns::append(const RawAnswer& answer, Shape shape) {
  const std::int32_t value_bytes = shape.value_bytes;
  keys_.push_back(answer.key);
  if (shape.is_wide()) tails_.push_back(answer.key_tail);
  sequences_.push_back(answer.sequence);
  tags_.push_back(
      format::make_tag(static_cast<format::Operation>(answer.operation), answer.consumer));
  verdicts_.push_back(answer.duplicate ? 1 : 0);
  values_.insert(values_.end(), answer.value.begin(), answer.value.end());
  if (value_bytes < 0) {
    value_lengths_.push_back(static_cast<std::uint32_t>(answer.value.size()));
  } else {
    values_.resize(keys_.size() * static_cast<std::size_t>(value_bytes));
  }
  aux_lengths_.push_back(static_cast<std::uint32_t>(answer.aux.size()));
  auxes_.insert(auxes_.end(), answer.aux.begin(), answer.aux.end());
}

std::uint64_t ResultColumns::memory_bytes() const {
  return count() * (8 + 8 + 2 + 1 + 4) + tails_.size() * 8 + value_lengths_.size() * 4 +
         values_.size() + auxes_.size();
}

Result<format::RunRef> ResultColumns::write(container::SegmentWriter& writer,
                                            const format::RunLabel& label,
                                            std::int32_t value_bytes) const {
  format::ResultRun run;
  run.value_bytes = value_bytes;
  run.keys = keys_;
  run.tails = tails_;
  run.sequences = sequences_;
  run.tags = tags_;
  run.verdicts = verdicts_;
  run.value_lengths = value_lengths_;
  run.aux_lengths = aux_lengths_;
  run.values = values_;
  run.auxes = auxes_;
  std::vector<std::byte> payload;
  format::encode_result_run(run, payload);
  return container::write_run(writer, label, payload, count());
}

Result<void> for_each_answer(std::span<const std::byte> payload,
                             const std::function<Result<void>(std::span<const RawAnswer>)>& visit) {
  CRAWLSTORE_TRY(const auto run, format::parse_result_run(payload));
  constexpr std::size_t kBatch = 1024;
  std::vector<RawAnswer> batch;
  batch.reserve(kBatch);
  std::size_t value_begin = 0;
  std::size_t aux_begin = 0;
  for (std::size_t i = 0; i < run.keys.size(); ++i) {
    const std::size_t value_length =
        run.value_bytes < 0 ? run.value_lengths[i] : static_cast<std::size_t>(run.value_bytes);
    const std::size_t aux_length = run.aux_lengths[i];
    const auto operation = static_cast<DrumOperation>(format::operation_of(run.tags[i]));
    // A unique check has no value, as when it is dispatched at once: its column holds padding.
    const bool has_value = operation != DrumOperation::kCheck || run.verdicts[i] != 0;
    batch.push_back({run.keys[i], run.sequences[i],
                     run.values.subspan(value_begin, has_value ? value_length : 0),
                     run.auxes.subspan(aux_begin, aux_length), format::consumer_of(run.tags[i]),
                     operation, run.verdicts[i] != 0, run.tails.empty() ? 0 : run.tails[i]});
    value_begin += value_length;
    aux_begin += aux_length;
    if (batch.size() < kBatch && i + 1 < run.keys.size()) continue;
    CRAWLSTORE_TRY(visit(batch));
    batch.clear();
  }
  return {};
}

}  // namespace crawlstore::drum
