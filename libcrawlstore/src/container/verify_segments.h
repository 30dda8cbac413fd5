// SPDX-License-Identifier: Apache-2.0
#pragma once

/// VerifyLevel::kDeep: every rule of the segments of a generation, and that they fit each other.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "container/directory_state.h"
#include "container/kind.h"
#include "container/verify_findings.h"

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

/// The means of Kind::verify.
class SegmentVerifier {
 public:
  /// Makes a verifier. `is_passed_over` says whether the content of a run is not checked, as its
  /// checksums do not match or the caller has not asked for it.
  SegmentVerifier(Verification& verification, std::function<bool(const RunKey& key)> is_passed_over)
      : verification_(verification), is_passed_over_(std::move(is_passed_over)) {}

  /// Notes findings of this kind. Content that the call before has seen is not read again.
  ///   errors  kCancelled, kOutOfMemory and the like; what is about the file is a finding
  Result<void> verify(const Directory& directory, FindingKind kind);

  [[nodiscard]] Verification& verification() const { return verification_; }
  /// Returns the directory of the generation being verified.
  [[nodiscard]] const Directory& directory() const { return *directory_; }

  /// Notes that a rule is broken.
  void broken(SegmentId segment, std::uint64_t offset, const char* text);
  /// Notes a finding if the failed reading is about the file, else returns the error.
  Result<void> failed(const Error& error);

  /// Returns the payload of the one run of a table, copied; nothing if it is not whole, as noted.
  ///   too_long  the finding about one with more than `bytes_max`
  Result<std::optional<std::vector<std::byte>>> read_table(const format::SegmentEntry& entry,
                                                           std::uint64_t bytes_max,
                                                           const char* too_long);

  /// Returns the content of a run, or nullptr if it is not whole, which has been noted.
  ///   Content  the type that the check of the segment's kind returns
  template <class Content = RunContent>
  Result<const Content*> content_of(const format::SegmentEntry& entry, const format::RunRef& run) {
    CRAWLSTORE_TRY(const RunContent* const content, checked(entry, run));
    if (content == nullptr) return nullptr;
    const auto* const typed = dynamic_cast<const Content*>(content);
    CRAWLSTORE_ASSERT(typed != nullptr);
    return typed;
  }

  /// Notes that a segment of the kind `owner` names the segment.
  void name(SegmentKind owner, SegmentId segment) { named_.emplace(owner, segment); }
  [[nodiscard]] bool is_named(SegmentKind owner, SegmentId segment) const {
    return named_.contains({owner, segment});
  }
  /// Whether all segments of the kind could be read, so that all that they name is known.
  [[nodiscard]] bool all_read(SegmentKind owner) const;

 private:
  /// Verifies the owners of the kind, and that each segment which belongs to one is named by it.
  Result<void> verify_kind(const Kind& kind);
  void verify_named(const Kind& owner);
  Result<const RunContent*> checked(const format::SegmentEntry& entry, const format::RunRef& run);
  Result<RunContentPtr> read_content(const format::SegmentEntry& entry, const format::RunRef& run);

  Verification& verification_;
  const std::function<bool(const RunKey& key)> is_passed_over_;
  std::map<RunKey, RunContentPtr> known_;  // checked by the call before
  std::map<RunKey, RunContentPtr> contents_;

  // The members below belong to the generation being verified.
  const Directory* directory_ = nullptr;
  FindingKind kind_{};
  std::set<std::pair<SegmentKind, SegmentId>> named_;
  std::set<SegmentId> unread_;  // owners that could not be read
};

}  // namespace crawlstore::container
