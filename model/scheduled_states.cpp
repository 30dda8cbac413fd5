// SPDX-License-Identifier: Apache-2.0
#include "model/scheduled_states.h"

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace crawlstore::model {
namespace {

enum class PagePlace : std::uint8_t { kAbsent, kWaiting, kLater, kLeased };
constexpr std::size_t kPagePlaceCount = 4;

/// Finds each page in the frontier.
Result<std::vector<PagePlace>> places_of(const FrontierView& frontier, std::uint64_t page_count) {
  std::vector<PagePlace> places(page_count, PagePlace::kAbsent);
  const auto note = [&places](std::uint64_t page, PagePlace place) {
    if (page < places.size()) places[page] = place;
    return true;
  };
  CRAWLSTORE_TRY(frontier.for_each_key(
      [&note](const FrontierKey& item) { note(item.id, PagePlace::kWaiting); }));
  CRAWLSTORE_TRY(frontier.for_each_later(
      [&note](const FrontierEntry& entry) { return note(entry.id, PagePlace::kLater); }));
  CRAWLSTORE_TRY(frontier.for_each_lease(
      [&note](const FrontierEntry& entry) { return note(entry.id, PagePlace::kLeased); }));
  return places;
}

}  // namespace

Result<Table> scheduled_states(const PageView& pages, const FrontierView& frontier) {
  const std::uint64_t page_count = pages.info().page_count;
  CRAWLSTORE_TRY(const auto places, places_of(frontier, page_count));
  std::array<std::array<std::uint64_t, kPagePlaceCount>, kPageStateCount> counts{};
  for (std::uint64_t page = 0; page < page_count; ++page) {
    CRAWLSTORE_TRY(const PageState state, pages.state(page));
    ++counts.at(static_cast<std::size_t>(state)).at(static_cast<std::size_t>(places[page]));
  }
  Table table{"states",
              {{"state", Unit::kText},
               {"page_count", Unit::kCount},
               {"waiting_count", Unit::kCount},
               {"later_count", Unit::kCount},
               {"leased_count", Unit::kCount},
               {"absent_count", Unit::kCount}},
              {}};
  for (std::size_t state = 0; state < kPageStateCount; ++state) {
    const auto& [absent, waiting, later, leased] = counts[state];
    const bool is_of_others = static_cast<PageState>(state) == PageState::kElsewhere;
    if (is_of_others && pages.info().elsewhere_count == 0) continue;
    table.rows.push_back({std::string(name_of(static_cast<PageState>(state))),
                          absent + waiting + later + leased, waiting, later, leased, absent});
  }
  return table;
}

}  // namespace crawlstore::model
