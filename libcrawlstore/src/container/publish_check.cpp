// SPDX-License-Identifier: Apache-2.0
#include "container/publish_check.h"

#include <algorithm>
#include <utility>

#include "container/verify.h"

namespace crawlstore::container {
namespace {

/// Databases with more pages or links are not compared with their keys and the other direction,
/// which reads all of them at each commit.
constexpr std::uint64_t kComparedMax = 128;

/// Whether an error says that the file could not be read, not what it holds.
bool is_of_the_system(const Error& error) {
  return category(error.code) == ErrorCategory::kSystem;
}

}  // namespace

PublishCheck::PublishCheck(std::shared_ptr<Storage> storage, const format::Identity& identity,
                           const KindSet& kinds, RunId first_run)
    : storage_(std::move(storage)),
      verification_{.storage = *storage_,
                    .options = options_,
                    .kinds = kinds,
                    .identity = identity,
                    .compared_max = kComparedMax},
      first_run_(first_run),
      segments_(verification_, [first_run](const RunKey& key) { return key.run < first_run; }) {}

Result<void> PublishCheck::check(const format::Superblock& next) {
  verification_.report.findings.clear();
  auto verified = verify(next);
  if (!verified && is_of_the_system(verified.error())) return {};
  if (!verified) return verified;
  for (const Finding& finding : verification_.report.findings) {
    if (!is_of_the_system(finding.error)) return tl::unexpected<Error>(finding.error);
  }
  return {};
}

Result<void> PublishCheck::verify(const format::Superblock& next) {
  CRAWLSTORE_TRY(const auto directory,
                 load_directory(verification_.storage, verification_.identity.uuid, next, {},
                                verification_.kinds));
  auto tasks = runs_of(directory.get(), nullptr);
  std::erase_if(tasks, [&](const RunTask& task) {
    return task.key.run < first_run_ || task.run.born != directory->generation();
  });
  CRAWLSTORE_TRY(verify_runs(verification_, tasks));
  CRAWLSTORE_TRY(segments_.verify(*directory, FindingKind::kDamaged));
  std::erase_if(verification_.report.findings, [&](const Finding& finding) {
    const auto* entry = directory->find(finding.error.segment);
    return entry != nullptr && std::ranges::all_of(entry->runs, [&](const format::RunRef& run) {
             return run.run_id < first_run_;
           });
  });
  return {};
}

}  // namespace crawlstore::container
