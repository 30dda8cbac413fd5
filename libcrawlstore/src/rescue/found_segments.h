// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The runs that a segment had at one time, among all of it that are still in a file.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "rescue/run_search.h"

namespace crawlstore::rescue {

/// A segment, as the table of its owner names it.
struct PartName {
  SegmentId id;
  SegmentKind kind{};
  SegmentId owner;
};

/// Found runs by their segments. Threads: one.
class FoundSegments {
 public:
  using Runs = std::vector<const FoundRun*>;  // ascending ids

  FoundSegments(Storage& storage, std::vector<FoundRun> runs);
  FoundSegments(const FoundSegments&) = delete;
  FoundSegments& operator=(const FoundSegments&) = delete;

  [[nodiscard]] const std::vector<FoundRun>& all() const { return runs_; }
  /// The run of this id, or nullptr. O(log n).
  [[nodiscard]] const FoundRun* find(const PartName& part, RunId id) const;
  /// Those whose ends say that they are of this segment.
  [[nodiscard]] Runs of(const PartName& part) const;

  /// The newest runs that together have at most `count` records, below `table`: of logs from whose
  /// front records are taken.
  [[nodiscard]] std::vector<format::RunRef> newest(const PartName& part, RunId table,
                                                   std::uint64_t count) const;
  /// The runs of links when `table` was written: those of `part` that no run took the place of.
  ///   other  of in-links the segment of gone links, and the other way round: a run that was
  ///          joined from both takes the places of both
  [[nodiscard]] std::vector<format::RunRef> not_replaced(const PartName& part,
                                                         const PartName& other, RunId table) const;
  /// The newest runs of the numbers from `begin` on, below `end`, each number once: the pages of
  /// origins, the groups of group runs, the steps of journals.
  [[nodiscard]] std::vector<format::RunRef> covering(const PartName& part, std::uint64_t begin,
                                                     std::uint64_t end) const;
  /// The bytes at `place` in the payload of the run, as a struct; zeros where it cannot be read.
  template <class T>
  [[nodiscard]] T load(const FoundRun& run, std::uint64_t place) const {
    T value{};
    read(run, place, std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }

 private:
  [[nodiscard]] std::optional<Extent> numbers_of(const FoundRun& run) const;
  void read(const FoundRun& run, std::uint64_t place, std::span<std::byte> into) const;

  Storage& storage_;
  const std::vector<FoundRun> runs_;  // ascending ids
  std::map<SegmentId, Runs> by_segment_;
};

}  // namespace crawlstore::rescue
