// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include <crawlstore/tools/page_gaps.h>

#include "base/inside.h"
#include "pages/gap_notes.h"
#include "pages/page_view_impl.h"

namespace crawlstore {
namespace pages {

void GapNotes::add(PagePart part, std::uint64_t first, std::uint64_t end, const Error& error) {
  if (first >= end) return;
  const std::lock_guard lock(mutex_);
  auto& of_part = gaps_[part];
  auto place = of_part.upper_bound(first);
  if (place != of_part.begin() && std::prev(place)->second.end >= first) {
    --place;
  } else {
    place = of_part.emplace_hint(place, first, Gap{end, error});
  }
  place->second.end = std::max(place->second.end, end);
  for (auto next = std::next(place); next != of_part.end() && next->first <= place->second.end;
       next = of_part.erase(next)) {
    place->second.end = std::max(place->second.end, next->second.end);
  }
}

std::vector<PageGap> GapNotes::gaps() const {
  const std::lock_guard lock(mutex_);
  std::vector<PageGap> all;
  for (const auto& [part, of_part] : gaps_) {
    for (const auto& [first, gap] : of_part) all.push_back({part, first, gap.end, gap.error});
  }
  return all;
}

}  // namespace pages

std::string_view name_of(PagePart part) {
  switch (part) {
    case PagePart::kRecord:
      return "records";
    case PagePart::kUrl:
      return "URLs";
    case PagePart::kOutLinks:
      return "out-links";
    case PagePart::kInLinks:
      return "in-links";
    case PagePart::kKey:
      return "keys";
    case PagePart::kEvents:
      return "edits that wait";
  }
  return "parts";
}

Result<PageView> open_past_damage(const Snapshot& snapshot, std::string_view name) {
  return PageView::Impl::open(snapshot, name, std::make_unique<pages::GapNotes>())
      .map([](auto impl) { return Inside::make<PageView>(std::move(impl)); });
}

std::vector<PageGap> gaps_of(const PageView& view) {
  const auto& notes = Inside::of(view).gaps;
  return notes ? notes->gaps() : std::vector<PageGap>();
}

}  // namespace crawlstore
