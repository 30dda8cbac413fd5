// SPDX-License-Identifier: Apache-2.0
#include "format/superblock.h"
#include "links/link_content.h"

namespace crawlstore::links {
namespace {

container::Kind link_log(SegmentKind kind, std::string_view name) {
  return {
      .rule = {kind, name, StorageClass::kLog, SegmentKind::kPages, format::kPagesFeature},
      .check = check_link_run,
      .describe = describe_link_run,
      .describe_at = describe_link_run_at,
      .advice =
          "`crawlstore recover FILE NEW` takes these links from the other direction, and names "
          "those that neither has",
  };
}

}  // namespace

std::vector<container::Kind> kinds() {
  return {
      link_log(SegmentKind::kOutLinks, "out_links"),
      link_log(SegmentKind::kInLinks, "in_links"),
      link_log(SegmentKind::kGoneLinks, "gone_links"),
  };
}

}  // namespace crawlstore::links
