// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The rules of a frontier's runs, each by itself, and of a frontier as a whole.

#include <span>
#include <vector>

#include "container/kind.h"
#include "container/verify_segments.h"

namespace crawlstore::frontier {

Result<container::RunContentPtr> check_group_run(std::span<const std::byte> payload);
Result<container::RunContentPtr> check_item_run(const container::PayloadSource& payload,
                                                const container::ContentProgress& progress);
Result<container::RunContentPtr> check_step_run(std::span<const std::byte> payload);

/// Whether the steps lead to the state that the table tells: it is made in memory.
Result<bool> verify_frontier(container::SegmentVerifier& segments,
                             const format::SegmentEntry& entry);

/// The rows of frontiers and of their logs: spec/registry.md, Segment kinds.
std::vector<container::Kind> kinds();

}  // namespace crawlstore::frontier
