// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Kind::check and its siblings of score arrays: spec/scores.md#score-arrays.

#include <vector>

#include "container/kind.h"
#include "container/verify_segments.h"
#include "format/score_array.h"

namespace crawlstore::scores {

struct ScoreContent final : container::RunContent {
  explicit ScoreContent(const format::ScoreArray& from)
      : RunContent(from.entry_count), array(from) {}
  format::ScoreArray array;
};

/// A ScoreContent. memory  a window
Result<container::RunContentPtr> check_score_array(const container::PayloadSource& payload,
                                                   const container::ContentProgress& progress);

/// That the array fits the page database it belongs to. Behind the database.
Result<bool> verify_score_array(container::SegmentVerifier& segments,
                                const format::SegmentEntry& entry);

/// Describes values, first pages, residuals, footer.
void describe_score_array(container::Description& out, const container::RunSource& source);

/// Describes the footer, and the number that lies at `place` of the payload.
void describe_score_array_at(container::Description& out, const container::RunSource& source,
                             std::uint64_t place);

/// The row of score arrays: spec/registry.md, Segment kinds.
std::vector<container::Kind> kinds();

}  // namespace crawlstore::scores
