// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include <crawlstore/tools/drum_cursor.h>

#include "container/reader.h"
#include "format/request_run.h"

namespace crawlstore::drum {

/// Offsets of things of the given lengths in their concatenation, from the sum before every
/// kStep-th. The lengths outlive this.
class LengthSums {
 public:
  LengthSums() = default;
  explicit LengthSums(std::span<const std::uint32_t> lengths);
  [[nodiscard]] std::uint64_t begin_of(std::size_t index) const;

 private:
  static constexpr std::size_t kStep = 256;
  std::span<const std::uint32_t> lengths_;
  std::vector<std::uint64_t> begins_;  // of every kStep-th
};

/// A key run with its auxiliaries, verified and parsed, for random access. Threads: any.
class PendingRun {
 public:
  /// Reads a run of the log. `auxes` is the auxiliary log of its bucket, or nullptr.
  static Result<std::shared_ptr<const PendingRun>> read(container::Reader& reader,
                                                        SegmentId key_log,
                                                        const format::RunRef& run,
                                                        const format::SegmentEntry* auxes);

  [[nodiscard]] RunId id() const { return run_.run_id; }
  [[nodiscard]] std::size_t count() const { return keys_.keys.size(); }
  [[nodiscard]] Key16 key(std::size_t index) const {
    return {keys_.keys[index], keys_.tails.empty() ? 0 : keys_.tails[index]};
  }
  [[nodiscard]] std::uint64_t sequence(std::size_t index) const {
    return keys_.first_sequence + (keys_.sequences.empty() ? index : keys_.sequences[index]);
  }
  /// Returns request number `index` < count(), with at most `bytes_max` bytes of its value and of
  /// its auxiliary. Its `row` is not set.
  Result<PendingRow> request(std::size_t index, std::size_t bytes_max) const;

 private:
  Result<void> read_keys(container::Reader& reader, const format::RunRef& run);
  Result<void> read_auxes(container::Reader& reader, SegmentId log, const format::RunRef& run);
  void put_value(std::size_t index, std::size_t bytes_max, PendingRow& row) const;
  Result<void> put_aux(std::size_t index, std::size_t bytes_max, PendingRow& row) const;

  SegmentId key_log_;
  format::RunRef run_;
  std::vector<std::byte> key_payload_;
  std::vector<std::uint64_t> unpacked_;
  format::KeyRun keys_;  // points into the two members before it
  LengthSums values_;
  std::vector<std::byte> aux_payload_;
  format::AuxRun auxes_;  // points into aux_payload_
  LengthSums aux_lengths_;
  LengthSums aux_blocks_;
};

}  // namespace crawlstore::drum
