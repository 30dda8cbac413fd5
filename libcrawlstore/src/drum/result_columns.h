// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include <crawlstore/drum_core.h>

#include "container/run_io.h"
#include "drum/request_columns.h"
#include "format/request_run.h"

namespace crawlstore::drum {

/// Answers that wait for an absent consumer, as columns.
class ResultColumns {
 public:
  void append(const RawAnswer& answer, Shape shape);
  [[nodiscard]] std::uint64_t count() const { return keys_.size(); }
  [[nodiscard]] std::uint64_t memory_bytes() const;
  /// Writes one run of a results log. The caller owns its extent.
  Result<format::RunRef> write(container::SegmentWriter& writer, const format::RunLabel& label,
                               std::int32_t value_bytes) const;

 private:
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint64_t> tails_;  // of 16-byte keys, else empty
  std::vector<std::uint64_t> sequences_;
  std::vector<std::uint16_t> tags_;
  std::vector<std::uint8_t> verdicts_;
  std::vector<std::uint32_t> value_lengths_;
  std::vector<std::uint32_t> aux_lengths_;
  std::vector<std::byte> values_;
  std::vector<std::byte> auxes_;
};

/// Visits the answers of a verified result run, in order.
Result<void> for_each_answer(std::span<const std::byte> payload,
                             const std::function<Result<void>(std::span<const RawAnswer>)>& visit);

}  // namespace crawlstore::drum
