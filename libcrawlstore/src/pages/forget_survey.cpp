// SPDX-License-Identifier: Apache-2.0
#include "pages/forget_survey.h"

#include <algorithm>

#include "links/link_view.h"
#include "pages/origins_run.h"
#include "pages/put_links.h"

namespace crawlstore::pages {

Result<ForgetSurvey> ForgetSurvey::make(container::Writer& writer, PagesState& state,
                                        const IsMeant& is_meant, container::WorkSteps& steps) {
  ForgetSurvey survey;
  if (state.table.page_count == 0) return survey;
  CRAWLSTORE_TRY(survey.find_pages(writer, state, is_meant, steps));
  if (!survey.pages_.empty() && state.table.out_links) {
    CRAWLSTORE_TRY(survey.find_links(writer, state, steps));
  }
  return survey;
}

/// Pages that were forgotten before have no URL, and so no key: they are not meant again.
Result<void> ForgetSurvey::find_pages(container::Writer& writer, const PagesState& state,
                                      const IsMeant& is_meant, container::WorkSteps& steps) {
  const std::uint64_t page_count = state.table.page_count;
  const SegmentId segment = state.table.origins;
  is_forgotten_.assign(page_count, false);
  depths_.reserve(page_count);
  const auto take = [&](std::uint64_t page, const format::Origin& origin) -> Result<void> {
    if (page != depths_.size() || page >= page_count) {
      return fail(Errc::kSegmentInvalid, "there are not as many origins as pages", Error::kNoOffset,
                  segment);
    }
    CRAWLSTORE_TRY(const bool goes,
                   steps.call([&] { return !origin.url.empty() && is_meant(origin.url); }));
    bool is_changed = goes;
    std::uint32_t depth = origin.depth;
    if (origin.linked_from && *origin.linked_from < page) {
      const std::uint64_t linker = *origin.linked_from;
      is_changed = is_changed || is_forgotten_[linker];
      depth = is_forgotten_[linker] ? 0 : format::depth_from(depths_[linker], origin.by_redirect);
    }
    if (goes) {
      is_forgotten_[page] = true;
      pages_.push_back(page);
      urls_.emplace_back(origin.url);
    }
    url_bytes_ += origin.url.size();
    if (is_changed || depth != origin.depth) first_changed_ = std::min(first_changed_, page);
    depths_.push_back(depth);
    return {};
  };
  const format::SegmentEntry log = *writer.find(segment);
  for (const auto& run : log.runs) {
    const auto name = container::run_name(writer.identity(), segment, run.run_id);
    CRAWLSTORE_TRY(auto cursor, OriginsCursor::open(writer.storage(), name, run));
    while (!cursor->at_end()) {
      CRAWLSTORE_TRY(steps.add(1));
      CRAWLSTORE_TRY(take(cursor->page(), cursor->origin()));
      CRAWLSTORE_TRY(cursor->advance());
    }
    CRAWLSTORE_TRY(cursor->finish());
  }
  if (depths_.size() == page_count) return {};
  return fail(Errc::kSegmentInvalid, "there are not as many origins as pages", Error::kNoOffset,
              segment);
}

std::uint64_t ForgetSurvey::page_of(const GoneLink& link) const {
  if (!is_forgotten(link.source)) return link.target;
  if (!is_forgotten(link.target)) return link.source;
  return std::max(link.source, link.target);
}

Result<void> ForgetSurvey::find_links(container::Writer& writer, PagesState& state,
                                      container::WorkSteps& steps) {
  const auto segments =
      links::LinkSegments{state.table.out_links, state.table.in_links, state.table.gone_links};
  CRAWLSTORE_TRY(const auto view, links::LinkView::open(writer, segments));
  CRAWLSTORE_TRY(view.check_pages(state.table.page_count));
  CRAWLSTORE_TRY(auto rows, view.out_rows());
  for (;;) {
    CRAWLSTORE_TRY(const auto more, rows.next());
    if (!more) break;
    const std::uint64_t page = rows.page();
    const std::size_t count_before = links_.size();
    CRAWLSTORE_TRY(steps.add(1 + rows.links().size()));
    for (const std::uint64_t link : rows.links()) {
      if (is_forgotten(page) || is_forgotten(link)) links_.push_back({link, page});
    }
    if (links_.size() != count_before) rows_.push_back({page, rows.links().size()});
  }
  std::sort(links_.begin(), links_.end(), [this](const GoneLink& a, const GoneLink& b) {
    const std::uint64_t page_a = page_of(a);
    const std::uint64_t page_b = page_of(b);
    return page_a != page_b ? page_a < page_b : a < b;
  });
  return {};
}

std::span<const GoneLink> ForgetSurvey::links(std::uint64_t first_page,
                                              std::uint64_t end_page) const {
  const auto place_of = [this](std::uint64_t page) {
    return std::lower_bound(
        links_.begin(), links_.end(), page,
        [this](const GoneLink& link, std::uint64_t wanted) { return page_of(link) < wanted; });
  };
  const auto first = place_of(first_page);
  return {first, std::max(first, place_of(end_page))};
}

}  // namespace crawlstore::pages
