// SPDX-License-Identifier: Apache-2.0
#include "format/superblock.h"
#include "frontier/frontier_content.h"

namespace crawlstore::frontier {
namespace {

using format::kFrontierFeature;
using enum SegmentKind;
using enum StorageClass;

constexpr const char* kAdvice =
    "what a crawl has still to fetch cannot be trusted: put it again from the pages that were not "
    "crawled; `crawlstore recover FILE NEW` leaves the frontier out";

}  // namespace

std::vector<container::Kind> kinds() {
  return {
      {.rule = {kFrontierGroups, "frontier_groups", kLog, kFrontier, kFrontierFeature},
       .check = container::check_whole<check_group_run>,
       .describe = describe_group_run,
       .advice = kAdvice},
      {.rule = {kFrontierItems, "frontier_items", kLog, kFrontier, kFrontierFeature},
       .check = check_item_run,
       .describe = describe_item_run,
       .describe_at = describe_item_run_at,
       .advice = kAdvice},
      {.rule = {kFrontierSteps, "frontier_steps", kLog, kFrontier, kFrontierFeature},
       .check = container::check_whole<check_step_run>,
       .describe = describe_step_run,
       .advice = kAdvice},
      {.rule = {kFrontier, "frontier", kBlob, {}, kFrontierFeature},
       .describe = describe_frontier,
       .verify = verify_frontier,
       .unnamed = "no frontier names this segment",
       .can_be_dropped = true,
       .advice = kAdvice},
  };
}

}  // namespace crawlstore::frontier
