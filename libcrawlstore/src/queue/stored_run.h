// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/types.h>

#include "queue/group_neighbours.h"

namespace crawlstore::queue {

/// The place of a run's payload. Threads: any number.
class RunPayload {
 public:
  RunPayload() = default;
  RunPayload(const RunPayload&) = delete;
  RunPayload& operator=(const RunPayload&) = delete;
  virtual ~RunPayload() = default;
  /// Returns bytes that are valid as long as this object. errors  of damage
  [[nodiscard]] virtual Result<std::span<const std::byte>> view(Extent place) const = 0;
  /// Announces that these bytes will be read soon.
  virtual void prefetch(Extent /*place*/) const {}
};

/// A run that is written, and never changes. Threads: any number.
struct StoredRun {
  format::QueueIndex index;
  std::unique_ptr<const RunPayload> bytes;

  [[nodiscard]] std::size_t fragment_count() const { return index.fragments.size(); }
  /// Returns the first fragment that may have entries from `entry` on.
  [[nodiscard]] std::size_t fragment_of(const Entry& entry) const;
  /// No entry of a fragment is above it.
  [[nodiscard]] Entry bound_above(std::size_t fragment) const {
    if (fragment + 1 == fragment_count()) return index.highest;
    return format::lowest_of(index.fragments[fragment + 1]);
  }
  /// Estimates the number of entries that leave after `cut`: those of fragments that begin before
  /// it do not count.
  [[nodiscard]] std::uint64_t count_behind(const Entry& cut) const;
  /// Returns the exact number, for which it reads a fragment. errors  of damage
  [[nodiscard]] Result<std::uint64_t> count_left(const Entry& cut) const;
  /// Appends the entries of a fragment that are above `cut`, and not below `floor`.
  ///   errors  kSegmentInvalid; of damage
  Result<void> read(std::size_t fragment, const Entry& cut, const Entry& floor,
                    std::vector<Entry>& out) const;
};

using StoredRunPtr = std::shared_ptr<const StoredRun>;

/// Takes a payload piece by piece. A writer that was not finished gives its extent back.
class RunOutput {
 public:
  RunOutput() = default;
  RunOutput(const RunOutput&) = delete;
  RunOutput& operator=(const RunOutput&) = delete;
  virtual ~RunOutput() = default;
  virtual Result<void> append(std::span<const std::byte> bytes) = 0;
  virtual Result<std::unique_ptr<const RunPayload>> finish(std::uint64_t entry_count) = 0;
};

/// The destination of new runs. This one takes none: pages leave its queue in memory only.
class RunSink {
 public:
  RunSink() = default;
  RunSink(const RunSink&) = delete;
  RunSink& operator=(const RunSink&) = delete;
  virtual ~RunSink() = default;
  /// errors  kNoSpace and the like
  virtual Result<std::unique_ptr<RunOutput>> start(std::uint64_t /*payload_bytes_max*/) {
    return fail(Errc::kReadOnly, "a queue that is read takes no runs");
  }
};

/// Writes fragments, ascending, as one run.
class RunBuilder {
 public:
  /// Begins a run of at most `entry_count_max` entries. Fragments have at least kFragmentEntries /
  /// 4 in the mean.
  static Result<RunBuilder> start(RunSink& sink, std::uint64_t entry_count_max);
  /// Adds neighbours: none of `entries` is below any that was added before.
  Result<void> add(std::span<const Entry> entries);
  /// Returns nullptr if no entry was added.
  Result<StoredRunPtr> finish();

 private:
  explicit RunBuilder(std::unique_ptr<RunOutput> output) : output_(std::move(output)) {}

  std::unique_ptr<RunOutput> output_;
  format::QueueIndex index_;
  std::vector<std::byte> buffer_;
};

/// Writes entries, at least one, as a run. They come out in another order.
///   room  as of group_neighbours()
Result<StoredRunPtr> store_run(RunSink& sink, std::vector<Entry>& entries,
                               std::vector<Entry>& room);

}  // namespace crawlstore::queue
