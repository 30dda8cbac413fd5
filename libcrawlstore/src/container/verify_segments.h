// SPDX-License-Identifier: Apache-2.0
#pragma once

/// VerifyLevel::kDeep: every rule of the segments of a generation, and that they fit each other.

#include <map>
#include <optional>
#include <set>

#include "container/directory_state.h"
#include "container/run_content.h"
#include "container/verify_findings.h"
#include "container/verify_sequences.h"

namespace crawlstore::container {

/// A run as a directory names it. Two generations share it only when all of this is the same: bytes
/// that are damage under one checksum are whole under another, and what one kind allows another
/// does not. Only `born` says nothing about the bytes.
struct RunKey {
  SegmentId segment;
  SegmentKind kind{};
  std::uint64_t offset_bytes = 0;
  RunId run;
  std::uint64_t payload_bytes = 0;
  std::uint64_t record_count = 0;
  std::uint64_t checksum = 0;
  auto operator<=>(const RunKey&) const = default;

  static RunKey of(const format::SegmentEntry& entry, const format::RunRef& run) {
    return {entry.id,          entry.kind,       run.offset_bytes, run.run_id,
            run.payload_bytes, run.record_count, run.checksum};
  }
};

class SegmentVerifier {
 public:
  /// `damaged_runs`: those whose checksums did not match. Their content is not looked at.
  SegmentVerifier(Verification& verification, std::set<RunKey> damaged_runs)
      : verification_(verification), damaged_runs_(std::move(damaged_runs)) {}

  /// Notes findings of this kind. Content that an earlier call has seen is not read again.
  ///   errors  kCancelled, kOutOfMemory and the like; what is about the file is a finding
  Result<void> verify(const Directory& directory, FindingKind kind);

  /// The content of a run, or nullptr when it is not whole, which has been noted. Of the generation
  /// that was verified last.
  Result<const RunContent*> content_of(const format::SegmentEntry& entry,
                                       const format::RunRef& run);
  /// Did a checksum of the run not match?
  [[nodiscard]] bool is_damaged(const format::SegmentEntry& entry,
                                const format::RunRef& run) const {
    return damaged_runs_.contains(RunKey::of(entry, run));
  }

 private:
  struct Drum;

  Result<void> verify_drum(const format::SegmentEntry& entry);
  Result<void> verify_buckets(const Drum& drum);
  Result<void> verify_consumers(const Drum& drum);
  Result<void> verify_partition(const Drum& drum, std::size_t bucket);
  Result<void> verify_key_log(const Drum& drum, std::size_t bucket);
  Result<void> verify_aux_log(const Drum& drum, std::size_t bucket);
  /// That no two waiting requests have the same sequence number.
  Result<void> verify_sequences();
  Result<void> verify_record_tiles(const format::SegmentEntry& entry);
  void verify_owners();

  /// The segment that a drum names, when it exists and is what the drum takes it for.
  const format::SegmentEntry* member(const Drum& drum, SegmentId id, SegmentKind kind);
  Result<std::optional<RunContent>> read_content(const format::SegmentEntry& entry,
                                                 const format::RunRef& run);
  void verify_keys(const Drum& drum, std::size_t bucket, SegmentId segment,
                   const format::RunRef& run, const RunContent& content);
  void verify_requests(const Drum& drum, SegmentId segment, const format::RunRef& run,
                       const RunContent& content);
  void broken(SegmentId segment, std::uint64_t offset, const char* text);

  Verification& verification_;
  const std::set<RunKey> damaged_runs_;
  std::map<RunKey, std::optional<RunContent>> contents_;  // nothing: not whole, and noted

  // Of the generation being verified.
  const Directory* directory_ = nullptr;
  FindingKind kind_{};
  std::set<SegmentId> members_;         // segments that a drum names
  std::vector<SequenceRun> sequences_;  // of the key logs of the drum being verified
};

}  // namespace crawlstore::container
