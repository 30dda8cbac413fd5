// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The buckets of a DRUM as a picture: a bar a bucket.

#include <cstdint>
#include <optional>
#include <string>

#include "inspector/ui/ui.h"
#include "model/bucket_bars.h"

namespace crawlstore::inspector {

struct BucketsPicture {
  const model::BucketBars& bars;  ///< in the order in which they are drawn
  std::uint64_t chosen = 0;       ///< the bucket with a frame
  std::string merge_at;           ///< both thresholds, where the file states them
  std::string split_at;
};

/// Draws above an axis how near each bucket is to its merge, and below how near to its split, with
/// lines across at both thresholds. Where all bars are far below a threshold, the largest fills its
/// half instead, and no line is drawn. At the left stands what a bar of full length counts. The bar
/// under the pointer says its numbers.
///   returns  the bucket that was clicked just now
std::optional<std::uint64_t> draw_buckets(Ui& ui, const BucketsPicture& picture, ImVec2 size);

}  // namespace crawlstore::inspector
