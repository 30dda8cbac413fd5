// SPDX-License-Identifier: Apache-2.0
#include "frontier/item_run_join.h"

#include <algorithm>
#include <utility>

#include "container/choose_join.h"

namespace crawlstore::frontier {
namespace {

/// More are joined: a look for the best item of a group asks each run that has it.
constexpr std::size_t kRunsMax = 8;
constexpr std::size_t kKeptMax = kRunsMax / 2;
constexpr std::uint64_t kGoneShare = 8;

}  // namespace

Result<void> for_each_of_walks(std::vector<ItemWalk>& walks, const VisitItem& visit) {
  std::vector<ItemWalk*> left;
  const auto add = [&left](ItemWalk& walk) -> Result<void> {
    CRAWLSTORE_TRY(const bool is_there, walk.next());
    if (is_there) left.push_back(&walk);
    return {};
  };
  for (ItemWalk& walk : walks) CRAWLSTORE_TRY(add(walk));
  while (!left.empty()) {
    const auto first = std::ranges::min_element(
        left, {}, [](const ItemWalk* walk) -> const format::Item& { return walk->item(); });
    ItemWalk& walk = **first;
    CRAWLSTORE_TRY(const bool goes_on, visit(walk.item(), walk.body()));
    if (!goes_on) return {};
    left.erase(first);
    CRAWLSTORE_TRY(add(walk));
  }
  return {};
}

std::vector<std::size_t> choose_item_join(std::span<const RunUse> runs) {
  std::vector<std::size_t> chosen;
  std::vector<std::size_t> dense;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const bool is_sparse = 4 * runs[i].waiting_count < runs[i].item_count ||
                           kGoneShare * runs[i].gone_count > runs[i].waiting_count;
    (is_sparse ? chosen : dense).push_back(i);
  }
  if (dense.size() > kRunsMax) {
    std::ranges::stable_sort(dense, [&](std::size_t a, std::size_t b) {
      return runs[a].waiting_count > runs[b].waiting_count;
    });
    std::vector<std::uint64_t> sizes;
    sizes.reserve(dense.size());
    for (const std::size_t i : dense) sizes.push_back(runs[i].waiting_count);
    const std::size_t first = container::choose_join_to_few(sizes, kKeptMax);
    chosen.insert(chosen.end(), dense.begin() + static_cast<std::ptrdiff_t>(first), dense.end());
  }
  std::uint64_t count = 0;
  std::erase_if(
      chosen, [&](std::size_t i) { return (count += runs[i].waiting_count) > ItemRun::kItemsMax; });
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace crawlstore::frontier
