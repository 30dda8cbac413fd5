// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <set>
#include <vector>

#include "container/directory_state.h"
#include "container/verify_findings.h"
#include "container/verify_segments.h"
#include "format/run_end.h"

namespace crawlstore::container {

/// Carries out crawlstore::verify().
///   settle  of read_superblock_copies()
Result<VerifyReport> verify_storage(Storage& storage, const VerifyOptions& options,
                                    const KindSet& kinds, std::chrono::milliseconds settle = {});

/// Verifies the runs of both generations, and at the deep level their content. Either may be null.
///   errors  kCancelled
Result<void> verify_segments(Verification& verification, const Directory* newest,
                             const Directory* previous);

/// A run to be read, once for both generations that may refer to it.
///   label  what its end has to say
struct RunTask {
  RunKey key;
  format::RunLabel label;
  format::RunRef run;
  FindingKind kind{};  // what a fault in it means
  Generation generation;
};

/// Returns the runs of both generations, each once, by ascending offsets. Either may be null.
std::vector<RunTask> runs_of(const Directory* newest, const Directory* previous);

/// Compares every checksum of the runs. Returns those that are not whole.
///   errors  kCancelled
Result<std::set<RunKey>> verify_runs(Verification& verification, const std::vector<RunTask>& tasks);

/// Notes extents of the previous generation that the newest one takes for free: the next commit
/// would overwrite bytes that a reader or a rollback still needs.
void verify_kept(Verification& verification, const Directory& newest, const Directory& previous);

}  // namespace crawlstore::container
