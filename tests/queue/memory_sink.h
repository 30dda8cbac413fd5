// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "queue/stored_run.h"

namespace crawlstore::testing {

/// Runs in memory. From a time on nothing is taken, as on a full disk, or a view fails, as when it
/// is damaged.
class MemorySink final : public queue::RunSink {
 public:
  Result<std::unique_ptr<queue::RunOutput>> start(std::uint64_t payload_bytes_max) override {
    return std::unique_ptr<queue::RunOutput>(std::make_unique<Output>(*this, payload_bytes_max));
  }

  std::uint64_t written_bytes = 0;
  std::optional<std::uint64_t> room_bytes;
  bool is_damaged = false;
  bool was_too_long = false;

 private:
  class Memory final : public queue::RunPayload {
   public:
    Memory(const MemorySink& sink, std::vector<std::byte> payload)
        : sink_(&sink), payload_(std::move(payload)) {}
    [[nodiscard]] Result<std::span<const std::byte>> view(Extent place) const override {
      if (sink_->is_damaged) return fail(Errc::kChunkDamaged, "damaged");
      return std::span(payload_).subspan(place.offset_bytes, place.length_bytes);
    }

   private:
    const MemorySink* sink_;
    std::vector<std::byte> payload_;
  };

  class Output final : public queue::RunOutput {
   public:
    Output(MemorySink& sink, std::uint64_t bytes_max) : sink_(&sink), bytes_max_(bytes_max) {}
    Result<void> append(std::span<const std::byte> bytes) override {
      if (sink_->room_bytes && *sink_->room_bytes < bytes.size()) {
        return fail(Errc::kNoSpace, "full");
      }
      if (sink_->room_bytes) *sink_->room_bytes -= bytes.size();
      payload_.insert(payload_.end(), bytes.begin(), bytes.end());
      return {};
    }
    Result<std::unique_ptr<const queue::RunPayload>> finish(
        std::uint64_t /*entry_count*/) override {
      sink_->written_bytes += payload_.size();
      sink_->was_too_long |= payload_.size() > bytes_max_ || payload_.size() % 8 != 0;
      return std::unique_ptr<const queue::RunPayload>(
          std::make_unique<Memory>(*sink_, std::move(payload_)));
    }

   private:
    MemorySink* sink_;
    std::uint64_t bytes_max_;
    std::vector<std::byte> payload_;
  };
};

}  // namespace crawlstore::testing
