// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <crawlstore/drum_core.h>

#include "container/run_io.h"
#include "format/request_run.h"

namespace crawlstore::drum {

/// Requests of one bucket in arrival order, as columns. Columns that would hold one number over and
/// over stay empty. Appending allocates only while a column grows for the first time.
class RequestColumns {
 public:
  /// value_bytes as in the DRUM: 0 none, -1 any length. A missing value of fixed size is zeros.
  void append(std::uint16_t tag, std::uint64_t key, std::int32_t value_bytes,
              std::span<const std::byte> value, std::span<const std::byte> aux);
  /// A key alone: no value (the DRUM has none), no auxiliary.
  void append_key(std::uint16_t tag, std::uint64_t key) {
    if (keys_.empty()) uniform_tag_ = tag;
    if (tag != uniform_tag_ || !tags_.empty()) expand_tags(tag);
    keys_.push_back(key);
    if (!auxes_.empty()) append_aux({});
  }
  /// Sets the sequence of the request appended last; either all have one or none.
  void append_sequence(std::uint64_t sequence) { sequences_.push_back(sequence); }
  /// Sequences are written as 32-bit offsets: may this one stand behind the first one?
  [[nodiscard]] bool can_hold(std::uint64_t sequence) const {
    return sequences_.empty() || sequence - sequences_.front() <= 0xFFFFFFFF;
  }
  /// There must be one.
  [[nodiscard]] std::uint64_t last_sequence() const { return sequences_.back(); }

  void reserve(std::uint64_t count, std::uint64_t aux_bytes);
  void clear();

  [[nodiscard]] std::uint64_t count() const { return keys_.size(); }
  [[nodiscard]] std::uint64_t aux_bytes() const { return auxes_.size(); }
  [[nodiscard]] std::uint64_t value_bytes() const { return values_.size(); }
  [[nodiscard]] std::uint64_t memory_bytes() const;

  /// Where runs go: a bucket's logs; key run `id`, auxiliary run `id` + 1.
  struct Place {
    SegmentId key_log;
    SegmentId aux_log;
    RunId id;
  };
  /// The runs that hold these requests (auxes.payload_bytes 0: all auxiliaries are empty).
  struct Runs {
    format::RunRef keys;
    format::RunRef auxes;
  };
  /// Writes them; the caller owns the extents. first_sequence counts where no request has its own.
  Result<Runs> write(container::Writer& writer, Place place, std::uint64_t first_sequence,
                     std::int32_t value_bytes, std::vector<std::byte>& scratch) const;

 private:
  void expand_tags(std::uint16_t tag);
  void append_aux(std::span<const std::byte> aux);

  std::vector<std::uint64_t> keys_;
  std::uint16_t uniform_tag_ = 0;
  std::vector<std::uint16_t> tags_;  // empty: all uniform_tag_
  std::vector<std::uint64_t> sequences_;
  std::vector<std::uint32_t> value_lengths_;
  std::vector<std::byte> values_;
  std::uint32_t uniform_aux_bytes_ = 0;
  std::vector<std::uint32_t> aux_lengths_;  // empty: all uniform_aux_bytes_
  std::vector<std::byte> auxes_;
};

/// Visits the requests of a key run and of its auxiliary run (empty: none), in arrival order.
///   errors  kSegmentInvalid
Result<void> for_each_request(std::span<const std::byte> key_payload,
                              std::span<const std::byte> aux_payload,
                              const std::function<void(const RawRequest&, std::uint64_t)>& visit);

}  // namespace crawlstore::drum
