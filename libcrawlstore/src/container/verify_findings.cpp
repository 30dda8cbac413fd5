// SPDX-License-Identifier: Apache-2.0
#include "container/verify_findings.h"

#include <algorithm>
#include <string_view>

#include "base/describe.h"
#include "format/run_end.h"

namespace crawlstore::container {
namespace {

/// A failure to read that is about these bytes of the file, not about the system as a whole.
bool is_about_the_file(const Error& error) {
  return category(error.code) == ErrorCategory::kDamage || error.code == Errc::kIo;
}

/// Advice for damage; empty = that of its code.
std::string_view advice_of(const Finding& finding) {
  const Error& error = finding.error;
  const bool is_end = error.text == std::string_view(format::kRunEndText);
  if (is_end || error.text == std::string_view(kPaddingText)) {
    return "nothing is lost, for the records are whole; `crawlstore recover FILE NEW` makes a file "
           "without this damage";
  }
  const Kind* kind = all_kinds().find(finding.segment_kind);
  return kind == nullptr ? std::string_view() : kind->advice;
}

}  // namespace

void Verification::found(FindingKind kind, Generation generation, const Error& error) {
  const bool must_be_kept = kind == FindingKind::kDamaged && !report.damaged();
  if (report.findings.size() >= kFindingsMax && !must_be_kept) return;
  report.findings.push_back({kind, generation, error, kind_of(error.segment)});
  if (options.sink) options.sink(report.findings.back());
}

SegmentKind Verification::kind_of(SegmentId segment) const {
  if (!segment) return {};
  for (const Directory* directory : directories) {
    const auto* entry = directory->find(segment);
    if (entry != nullptr) return entry->kind;
  }
  return {};
}

Result<void> Verification::found_or_fail(FindingKind kind, Generation generation,
                                         const Error& error) {
  const bool is_new_feature =
      kind == FindingKind::kReducedRedundancy && error.code == Errc::kUnknownFeature;
  if (!is_about_the_file(error) && !is_new_feature) return tl::unexpected<Error>(error);
  found(kind, generation, error);
  return {};
}

Result<void> Verification::advance(std::uint64_t bytes) {
  done_bytes += bytes;
  if (!options.progress || options.progress(done_bytes, std::max(done_bytes, total_bytes))) {
    return {};
  }
  return fail(Errc::kCancelled, "the verification was stopped");
}

}  // namespace crawlstore::container

namespace crawlstore {

bool VerifyReport::damaged() const {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.kind == FindingKind::kDamaged; });
}

bool VerifyReport::whole() const {
  return std::all_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.kind == FindingKind::kUnfinished;
  });
}

std::string describe(const Finding& finding) {
  const Error& error = finding.error;
  if (finding.kind == FindingKind::kUnfinished) {
    // Without the title of the code: nothing is damaged.
    const std::string text =
        describe(error,
                 "nothing: a commit was killed or is under way, and nothing that was acknowledged "
                 "is lost. If both copies of a superblock slot were set back in time, "
                 "`crawlstore rollback --forward` publishes the generation again");
    return text.substr(text.find(error.text));
  }
  if (error.text == std::string_view(container::kGapText)) {
    return describe(error,
                    "nothing is lost, for nothing lies there, but something wrote into the file; "
                    "`crawlstore snapshot` makes a clean copy");
  }
  const bool is_damage = category(error.code) == ErrorCategory::kDamage;
  if (finding.kind == FindingKind::kDamaged || !is_damage) {
    const std::string_view kept = is_damage ? container::advice_of(finding) : std::string_view();
    return kept.empty() ? describe(error) : describe(error, kept);
  }
  return describe(error,
                  "nothing is lost: the newest generation does not need it, and the next writer "
                  "replaces it");
}

}  // namespace crawlstore
