// SPDX-License-Identifier: Apache-2.0
#include "frontier/rewrite_items.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "frontier/item_run_join.h"

namespace crawlstore::frontier {

/// Gives the entries their orders, and adds them.
Result<void> ItemRewrite::add_neighbours(ItemRunWriter& out) {
  std::vector<Entry*> kept;
  for (Entry& entry : entries_) {
    auto& [time, group, order, id] = entry.item;
    CRAWLSTORE_TRY(const auto after, rewrite_(group, id, order));
    if (!after) {
      gone_.push_back(entry.item);
      continue;
    }
    order = *after;
    kept.push_back(&entry);
  }
  std::ranges::sort(kept, {}, [](const Entry* entry) { return entry->item; });
  for (const Entry* entry : kept) CRAWLSTORE_TRY(out.add(entry->item, entry->body));
  entries_.clear();
  return {};
}

Result<void> ItemRewrite::add_held(std::uint32_t group) {
  for (const Item& item : state_.groups()[group].items.all()) {
    if (item.attempt != 0) continue;
    CRAWLSTORE_TRY(auto body, item.body.text());
    entries_.push_back({{0, group, item.order, item.id}, std::move(body)});
  }
  return {};
}

Result<void> ItemRewrite::add_waiting(ItemRunWriter& out) {
  std::uint32_t group = 0;  // to which the entries belong
  const auto end_groups_below = [&](std::uint32_t end) -> Result<void> {
    for (; group < end; ++group) {
      CRAWLSTORE_TRY(add_held(group));
      CRAWLSTORE_TRY(add_neighbours(out));
    }
    return {};
  };
  const auto visit = [&](const format::Item& item, std::string_view body) -> Result<bool> {
    CRAWLSTORE_TRY(end_groups_below(item.group));
    entries_.push_back({item, std::string(body)});
    return true;
  };
  std::vector<ItemWalk> walks(state_.runs().all().begin(), state_.runs().all().end());
  CRAWLSTORE_TRY(for_each_of_walks(walks, visit));
  return end_groups_below(state_.groups().count());
}

Result<void> ItemRewrite::add_later(ItemRunWriter& out) {
  std::vector<const LaterItem*> held;
  for (const LaterItem& later : state_.later().held()) {
    if (later.item.attempt == 0) held.push_back(&later);
  }
  const auto place = [](const LaterItem* later) { return std::pair(later->time, later->group); };
  std::ranges::sort(held, {}, place);
  const auto add = [&](const format::Item& item, std::string body) -> Result<void> {
    const bool is_other = !entries_.empty() && (entries_.front().item.time != item.time ||
                                                entries_.front().item.group != item.group);
    if (is_other) {
      CRAWLSTORE_TRY(add_neighbours(out));
    }
    entries_.push_back({item, std::move(body)});
    return {};
  };
  auto next = held.begin();
  const auto add_held_before = [&](const format::Item* end) -> Result<void> {
    for (; next != held.end(); ++next) {
      if (end != nullptr && place(*next) > std::pair(end->time, end->group)) return {};
      const LaterItem& later = **next;
      CRAWLSTORE_TRY(auto body, later.item.body.text());
      CRAWLSTORE_TRY(add({later.time, later.group, later.item.order, later.item.id}, body));
    }
    return {};
  };
  const auto visit = [&](const format::Item& item, std::string_view body) -> Result<bool> {
    if (item.group >= state_.groups().count()) {
      return fail(Errc::kSegmentInvalid, "a run of items is of groups that are none");
    }
    CRAWLSTORE_TRY(add_held_before(&item));
    CRAWLSTORE_TRY(add(item, std::string(body)));
    return true;
  };
  std::vector<ItemWalk> walks(state_.later().runs().begin(), state_.later().runs().end());
  CRAWLSTORE_TRY(for_each_of_walks(walks, visit));
  CRAWLSTORE_TRY(add_held_before(nullptr));
  return add_neighbours(out);
}

}  // namespace crawlstore::frontier
