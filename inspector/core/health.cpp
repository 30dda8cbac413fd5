// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/health.h"

#include <algorithm>
#include <utility>

#include "model/format_text.h"

namespace crawlstore::inspector {
namespace {

/// Panels meet a problem in every frame, and a file may have thousands.
constexpr std::size_t kMetMax = 10'000;

bool tells_of_bytes(const Error& error) {
  switch (error.code) {
    case Errc::kIdentityDamaged:
    case Errc::kSuperblockDamaged:
    case Errc::kDirectoryDamaged:
    case Errc::kDirectoryInvalid:
    case Errc::kChunkDamaged:
    case Errc::kSegmentInvalid:
    case Errc::kTruncated:
    case Errc::kIo:
      return true;
    default:
      return false;
  }
}

/// Whether a whole check of that level would have found it.
bool is_looked_at(const Error& error, VerifyLevel level) {
  switch (error.code) {
    case Errc::kIdentityDamaged:
    case Errc::kSuperblockDamaged:
    case Errc::kDirectoryDamaged:
    case Errc::kDirectoryInvalid:
      return true;
    case Errc::kSegmentInvalid:
      return level == VerifyLevel::kDeep;
    default:
      return level != VerifyLevel::kQuick;
  }
}

/// The bytes are the key if they are known, for a check may say more of them than a panel.
using Key = std::tuple<Errc, std::uint64_t, std::uint64_t, std::string>;

Key key_of(const Error& error) {
  const bool is_placed = error.offset != Error::kNoOffset;
  return {error.code, error.segment.value, error.offset, is_placed ? "" : describe(error)};
}

}  // namespace

void Health::take(Checked checked) {
  if (!checked.is_partial) {
    std::erase_if(met_, [&](const Error& met) { return is_looked_at(met, checked.level); });
  }
  checked_ = std::move(checked);
  checked_generation_ = generation_;
  collect();
}

void Health::look(const model::FileView& view) {
  seen_.clear();
  for (const auto* problem :
       {&view.problem, &view.drums_problem, &view.pages_problem, &view.queues_problem,
        &view.frontiers_problem, &view.scores_problem}) {
    if (*problem && tells_of_bytes(**problem)) seen_.push_back(**problem);
  }
  lost_.reset();
  const bool is_held = view.problem && view.problem->code == Errc::kLocked;
  if (view.problem && !is_held && !tells_of_bytes(*view.problem)) lost_ = view.problem;
  if (checked_ && view.snapshot && view.info.generation >= checked_generation_.next().next()) {
    std::erase_if(checked_->report.findings, [](const Finding& finding) {
      return finding.kind == FindingKind::kReducedRedundancy;
    });
  }
  generation_ = view.info.generation;
  bytes_in_use_ = view.info.file_bytes - std::min(view.info.free_bytes, view.info.file_bytes);
  if (view.snapshot) {
    std::erase_if(met_, [&](const Error& met) {
      return met.segment &&
             std::ranges::find(view.segments, met.segment, &SegmentInfo::id) == view.segments.end();
    });
  }
  collect();
}

bool Health::meet(const Error& error) {
  if (!tells_of_bytes(error) || met_.size() == kMetMax || !keys_.insert(key_of(error)).second) {
    return false;
  }
  met_.push_back(error);
  problems_.push_back({FindingKind::kDamaged, generation_, error});
  ++number_;
  return true;
}

void Health::collect() {
  keys_.clear();
  problems_.clear();
  ++number_;
  const auto add = [this](const Finding& finding) {
    if (keys_.insert(key_of(finding.error)).second) problems_.push_back(finding);
  };
  if (checked_) {
    problems_ = checked_->report.findings;
    for (const Finding& finding : problems_) keys_.insert(key_of(finding.error));
  }
  for (const Error& error : seen_) add({FindingKind::kDamaged, generation_, error});
  if (lost_) add({FindingKind::kDamaged, generation_, *lost_});
  for (const Error& error : met_) add({FindingKind::kDamaged, generation_, error});
}

bool Health::is_damaged() const {
  return std::ranges::find(problems_, FindingKind::kDamaged, &Finding::kind) != problems_.end();
}

bool Health::is_whole() const {
  if (!checked_ || !problems_.empty() || checked_->is_partial) return false;
  return checked_->level != VerifyLevel::kQuick || checked_->report.checked_bytes >= bytes_in_use_;
}

std::string Health::verdict() const {
  if (is_lost()) return "LOST";
  if (is_damaged()) return "DAMAGED";
  if (!problems_.empty()) return "reduced redundancy";
  if (!checked_) return "not checked yet";
  return is_whole() ? "whole" : "nothing found so far";
}

std::string Health::short_verdict() const {
  if (!problems_.empty()) return model::format_counted(problems_.size(), "problem");
  if (!checked_) return "not checked";
  return is_whole() ? "no problems" : "no problems, " + percent() + " checked";
}

std::string Health::share_text() const {
  if (is_lost()) return "the file was removed, emptied or replaced by something else";
  if (!checked_) return "nothing was checked yet";
  const std::string bytes = model::format_bytes(checked_->report.checked_bytes);
  if (checked_->is_partial) {
    return percent() + " of the bytes in use were checked (" + bytes + "), then it was cancelled";
  }
  switch (checked_->level) {
    case VerifyLevel::kQuick:
      return "superblocks and directories were checked, " + percent() + " of the bytes in use";
    case VerifyLevel::kDeep:
      return "every checksum and every rule was checked, " + bytes;
    case VerifyLevel::kNormal:
      break;
  }
  return "every checksum was checked, " + bytes;
}

std::string Health::percent() const {
  const auto share = static_cast<double>(checked_->report.checked_bytes) /
                     static_cast<double>(std::max<std::uint64_t>(bytes_in_use_, 1));
  return model::format_cell(std::min(share, 1.0), model::Unit::kShare);
}

}  // namespace crawlstore::inspector
