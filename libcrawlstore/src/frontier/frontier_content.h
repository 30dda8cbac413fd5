// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Kind::check and its siblings of a frontier's runs, each by itself, and of a frontier as a whole.

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

/// Describes the table of a frontier.
void describe_frontier(container::Description& out, const container::RunSource& source);

/// Describes the header of a run of groups, and its keys.
void describe_group_run(container::Description& out, const container::RunSource& source);

/// Describes the footer, the directory, the index and the blocks of a run of items.
void describe_item_run(container::Description& out, const container::RunSource& source);
void describe_item_run_at(container::Description& out, const container::RunSource& source,
                          std::uint64_t place);

/// Describes the header of a run of steps, and the steps.
void describe_step_run(container::Description& out, const container::RunSource& source);

/// The rows of frontiers and of their logs: spec/registry.md, Segment kinds.
std::vector<container::Kind> kinds();

}  // namespace crawlstore::frontier
