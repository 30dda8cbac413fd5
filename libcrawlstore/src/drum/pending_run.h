// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include <crawlstore/drum_cursor.h>

#include "container/reader.h"
#include "format/request_run.h"

namespace crawlstore::drum {

/// Where something of each length begins, when all stand one behind the other: a sum in each so
/// many. The lengths stay where they are.
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

/// A key run with its auxiliaries, verified and parsed: any request of it at once. Threads: any.
class PendingRun {
 public:
  /// The log's run; `auxes`: the auxiliary log of its bucket, or nullptr.
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
  /// Request number `index` < count(), with so many bytes of its value and its auxiliary. Its `row`
  /// is not set.
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
  format::KeyRun keys_;  // spans of the two
  LengthSums values_;
  std::vector<std::byte> aux_payload_;
  format::AuxRun auxes_;  // spans of that
  LengthSums aux_lengths_;
  LengthSums aux_blocks_;
};

}  // namespace crawlstore::drum
