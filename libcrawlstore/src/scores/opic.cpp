// SPDX-License-Identifier: Apache-2.0
#include "scores/opic.h"

#include <algorithm>

namespace crawlstore::scores {

Result<void> OpicUpdate::give(std::uint64_t page, std::span<const std::uint64_t> links) {
  const auto is_lost = [this](std::uint64_t link) { return link >= cash_.size(); };
  if (page >= cash_.size() || std::ranges::any_of(links, is_lost)) {
    return fail(Errc::kSegmentInvalid, "a link leads to or from a page that does not exist");
  }
  const double given = cash_[page];
  cash_[page] = 0;
  history_[page] += given;
  if (links.empty()) {
    for_homes_ += given;
    return {};
  }
  const double part = given / static_cast<double>(links.size());
  for (const std::uint64_t link : links) cash_[link] += part;
  return {};
}

Result<void> OpicUpdate::finish(ShardSums* shards, std::uint64_t home_count) {
  double rest = for_homes_;
  if (shards != nullptr) {
    CRAWLSTORE_TRY(rest, shards->bring(cash_, for_homes_));
  }
  const double part = rest / static_cast<double>(home_count);
  for (std::uint64_t page = 0; page < cash_.size(); ++page) {
    if (is_home_[page]) cash_[page] += part;
  }
  for_homes_ = 0;
  return {};
}

}  // namespace crawlstore::scores
