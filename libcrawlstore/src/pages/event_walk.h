// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The edits that wait in a log of events, one after another.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "format/directory.h"
#include "format/event_run.h"

namespace crawlstore::pages {

/// Memory: a run. Threads: one.
class EventWalk {
 public:
  /// Gives the payload of a run whose checksums are right.
  using Read = std::function<Result<void>(const format::RunRef& run, std::vector<std::byte>& into)>;

  /// Makes a walk over these runs of the log `segment`.
  EventWalk(SegmentId segment, std::vector<format::RunRef> runs, Read read)
      : segment_(segment), runs_(std::move(runs)), read_(std::move(read)) {}
  /// Before anything else.
  Result<void> start() { return settle(); }
  [[nodiscard]] bool at_end() const { return is_at_end_; }
  /// Valid until the next advance().
  [[nodiscard]] const CrawlEvent& event() const { return events_.events()[place_]; }
  Result<void> advance() {
    ++place_;
    return settle();
  }
  /// The error, which counts from the beginning of a run's payload, as one of the run being read.
  [[nodiscard]] tl::unexpected<Error> damaged(const Error& error) const;

 private:
  Result<void> settle();
  Result<void> open_run();

  SegmentId segment_;
  std::vector<format::RunRef> runs_;
  Read read_;
  std::size_t next_run_ = 0;
  std::vector<std::byte> payload_;
  std::optional<format::EventRunReader> reader_;
  format::EventBatch events_;
  std::size_t place_ = 0;
  bool is_at_end_ = false;
};

}  // namespace crawlstore::pages
