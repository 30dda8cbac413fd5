// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Checks in test builds, before each commit, that the generation to be published keeps every rule
/// of spec/container.md. A part that prepares half a state thus fails in the test that does it, not
/// in the next program that opens the file.
///
/// Checked are the directory, as it was read back; the checksums of runs that the commit wrote; the
/// content of runs that this writer has written, each once; tables of owners that it has written,
/// against what they name; and that both directions of links and the keys of pages agree, where
/// there are few. It does not check runs that were in the file before.

#include <memory>

#include <crawlstore/tools/verify.h>

#include "container/verify_segments.h"

namespace crawlstore::container {

/// The check of one writer. Ownership: the kinds outlive it. Threads: one at a time.
class PublishCheck {
 public:
  /// `storage`: a handle of its own, so that what it reads is not counted as the writer's.
  /// `first_run`: lower ids are of runs that others have written.
  PublishCheck(std::shared_ptr<Storage> storage, const format::Identity& identity,
               const KindSet& kinds, RunId first_run);

  /// `next` leads to a directory that is written, and is in no slot yet.
  ///   errors  what is wrong first; nothing when the file cannot be read
  ///   cost    O(directory), and reads what the commit wrote
  Result<void> check(const format::Superblock& next);

 private:
  /// Notes what is wrong with segments of which this writer has written a run.
  Result<void> verify(const format::Superblock& next);

  const std::shared_ptr<Storage> storage_;
  const VerifyOptions options_;
  Verification verification_;
  const RunId first_run_;
  SegmentVerifier segments_;
};

}  // namespace crawlstore::container
