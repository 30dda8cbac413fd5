// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The rules that the payload of a link run must keep by itself: spec/format.md#link-runs. Part of
/// check_run_content().

#include "container/run_content.h"

namespace crawlstore::container {

/// True of the kinds whose runs are link runs.
constexpr bool is_link_kind(SegmentKind kind) {
  return kind == SegmentKind::kOutLinks || kind == SegmentKind::kInLinks ||
         kind == SegmentKind::kGoneLinks;
}

/// errors and memory as check_run_content()
Result<RunContent> check_link_run(const PayloadSource& payload, const ContentProgress& progress);

}  // namespace crawlstore::container
