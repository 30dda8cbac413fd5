// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <crawlstore/tools/verify.h>

#include "call.h"
#include "handles.h"
#include "texts.h"

namespace crawlstore::c {
namespace {

Result<VerifyOptions> verify_options_of(const crwl_verify_options& given) {
  constexpr std::array kLevels = {VerifyLevel::kNormal, VerifyLevel::kQuick, VerifyLevel::kDeep};
  if (given.level >= kLevels.size()) {
    return fail(Errc::kInvalidArgument, "there is no such level of verification");
  }
  CRAWLSTORE_TRY(need_array(given.capacity, given.findings));
  if (given.capacity != 0 && (given.stride_bytes < sizeof(crwl_finding) ||
                              given.stride_bytes % alignof(crwl_finding) != 0)) {
    return fail(Errc::kInvalidArgument, "the stride is not the size of a finding");
  }
  VerifyOptions options;
  options.level = kLevels[given.level];
  options.progress = progress_of(given.progress, given.context);
  return options;
}

/// Fills the caller's list of findings, whose entries may have fields of a later version.
void give_findings(std::span<const Finding> findings, const crwl_verify_options& options) {
  auto* place = static_cast<std::byte*>(static_cast<void*>(options.findings));
  for (const Finding& finding :
       findings.first(std::min<std::size_t>(findings.size(), options.capacity))) {
    crwl_finding told{};
    told.kind = static_cast<std::uint32_t>(finding.kind);
    told.code = static_cast<std::int32_t>(finding.error.code);
    told.generation = finding.generation.value;
    told.segment = finding.error.segment.value;
    told.offset = finding.error.offset;
    copy_text(describe(finding), told.message);
    std::fill_n(place, options.stride_bytes, std::byte{});
    *static_cast<crwl_finding*>(static_cast<void*>(place)) = told;
    place += options.stride_bytes;
  }
}

}  // namespace

extern "C" {

int crwl_store_compact(crwl_store* store, crwl_progress progress, void* context,
                       crwl_compact_report* report, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(store));
    if (report != nullptr) CRAWLSTORE_TRY(check_size(report));
    CRAWLSTORE_TRY(const auto done, store->store->compact(progress_of(progress, context)));
    if (report == nullptr) return {};
    crwl_compact_report told{};
    told.bytes_before = done.file_bytes_before;
    told.bytes_after = done.file_bytes_after;
    told.moved_bytes = done.moved_bytes;
    told.commit_count = done.commit_count;
    give(report, told);
    return {};
  });
}

int crwl_verify(const char* path, const crwl_verify_options* options, crwl_verify_report* report,
                crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(path));
    CRAWLSTORE_TRY(check_size(report));
    CRAWLSTORE_TRY(const auto given, options_of(options));
    CRAWLSTORE_TRY(const auto wanted, verify_options_of(given));
    CRAWLSTORE_TRY(const auto found, verify(path, wanted));
    give_findings(found.findings, given);
    crwl_verify_report told{};
    told.is_damaged = found.damaged() ? 1 : 0;
    told.finding_count = found.findings.size();
    told.checked_bytes = found.checked_bytes;
    give(report, told);
    return {};
  });
}

}  // extern "C"

}  // namespace crawlstore::c
