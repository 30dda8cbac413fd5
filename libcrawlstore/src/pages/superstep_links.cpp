// SPDX-License-Identifier: Apache-2.0
//
// Links of a superstep. The rows of pages that edits change are compared with those they had: what
// came and what went goes to the other direction, regrouped by target.
#include <algorithm>
#include <limits>

#include "pages/put_links.h"
#include "pages/superstep.h"

namespace crawlstore::pages {
namespace {

bool changes_links(CrawlEventKind kind) {
  return has_links(kind) || kind == CrawlEventKind::kGone;
}

/// The edit says what all links are.
bool replaces_links(CrawlEventKind kind) {
  return kind == CrawlEventKind::kPage || kind == CrawlEventKind::kGone ||
         kind == CrawlEventKind::kRedirect;
}

}  // namespace

Result<links::LinksWriter> Superstep::start_run(SegmentId segment, std::uint64_t row_count,
                                                std::uint64_t link_count) {
  return links::LinksWriter::start(
      writer_, container::new_run(writer_, segment),
      links::link_run_bytes_max(row_count, link_count, state_.table.page_count));
}

Result<void> Superstep::write_links() {
  const auto& edits = batch_.edits();
  const bool any = std::any_of(edit_order_.begin(), edit_order_.end(), [&](std::uint32_t edit) {
    return changes_links(edits[edit].kind) &&
           (edits[edit].link_count != 0 || state_.table.out_links);
  });
  if (!any) return {};
  const links::LinkSegments segments = make_link_segments(writer_, state_);
  CRAWLSTORE_TRY(write_out_rows(segments));
  CRAWLSTORE_TRY(write_in_rows());
  CRAWLSTORE_TRY(put_gone_links(writer_, {segments.gone, state_.table.page_count}, gone_, steps_));
  report_.added_link_count = added_targets_.size();
  report_.gone_link_count = gone_.size();
  state_.table.link_count += report_.added_link_count;
  CRAWLSTORE_TRY(subtract_gone(state_.table.link_count, report_.gone_link_count));
  CRAWLSTORE_TRY(links::bound_out_runs(writer_, segments, steps_));
  return links::bound_in_runs(writer_, segments, steps_);
}

/// Calls `visit` with the edits of each page that change its links, page after page.
template <class Visit>
Result<void> Superstep::for_each_source(const Visit& visit) {
  const auto& edits = batch_.edits();
  for (auto first = edit_order_.begin(); first != edit_order_.end();) {
    const std::uint64_t page = indexes_[edits[*first].page];
    const auto end = std::find_if(first, edit_order_.end(), [&](std::uint32_t edit) {
      return indexes_[edits[edit].page] != page;
    });
    const std::span<const std::uint32_t> mine(first, end);
    first = end;
    const bool any = std::any_of(mine.begin(), mine.end(), [&](std::uint32_t edit) {
      return changes_links(edits[edit].kind);
    });
    if (any) CRAWLSTORE_TRY(visit(page, mine));
  }
  return {};
}

/// Links that the rows to be written have at most: those that edits name, and those that rows which
/// change only in part keep.
Result<std::uint64_t> Superstep::count_links_max(links::LinkView& view) {
  const auto& edits = batch_.edits();
  std::uint64_t count = 0;
  const auto counted =
      for_each_source([&](std::uint64_t page, std::span<const std::uint32_t> mine) -> Result<void> {
        bool is_whole = page >= first_new_;
        for (const std::uint32_t edit : mine) {
          count += edits[edit].link_count;
          is_whole = is_whole || replaces_links(edits[edit].kind);
        }
        if (is_whole) return {};
        auto read = view.out(page, old_row_);
        count += old_row_.size();
        return read;
      });
  if (!counted) return tl::unexpected<Error>(counted.error());
  return count;
}

Result<void> Superstep::write_out_rows(const links::LinkSegments& segments) {
  CRAWLSTORE_TRY(auto view, links::LinkView::open(writer_, segments));
  CRAWLSTORE_TRY(const auto link_count, count_links_max(view));
  CRAWLSTORE_TRY(auto run, start_run(segments.out, edit_order_.size(), link_count));
  const auto written =
      for_each_source([&](std::uint64_t page, std::span<const std::uint32_t> mine) -> Result<void> {
        old_row_.clear();
        if (page < first_new_) CRAWLSTORE_TRY(view.out(page, old_row_));
        make_row(mine);
        CRAWLSTORE_TRY(steps_.add(1 + new_row_.size()));
        if (new_row_ == old_row_) return {};
        compare_rows(page);
        return run.append(page, new_row_);
      });
  if (!written) return written;
  return put_run(writer_, segments.out, run);
}

/// The row that the edits of a page make of old_row_: in row_ with local ids where there are some.
void Superstep::make_row(std::span<const std::uint32_t> page_edits) {
  const auto by_index = [](const LinkTarget& a, const LinkTarget& b) { return a.index < b.index; };
  const auto& edits = batch_.edits();
  // Edits before the last one that replaces all links do not matter.
  auto last = page_edits.rbegin();
  while (last != page_edits.rend() && !replaces_links(edits[*last].kind)) ++last;
  row_.clear();
  if (last == page_edits.rend()) {
    for (const std::uint64_t index : old_row_) row_.push_back({index, kNoLocal});
  } else {
    page_edits = page_edits.subspan(static_cast<std::size_t>(page_edits.rend() - last) - 1);
  }
  for (const std::uint32_t number : page_edits) {
    const BatchEdit& edit = edits[number];
    if (edit.kind == CrawlEventKind::kLinkRemoved) {
      removed_.clear();
      for (const LocalId target : batch_.links(edit)) removed_.push_back(indexes_[target]);
      std::sort(removed_.begin(), removed_.end());
      std::erase_if(row_, [this](const LinkTarget& target) {
        return std::binary_search(removed_.begin(), removed_.end(), target.index);
      });
    } else if (changes_links(edit.kind)) {
      for (const LocalId target : batch_.links(edit)) {
        if (!is_refused(target)) row_.push_back({indexes_[target], target});
      }
    }
  }
  std::stable_sort(row_.begin(), row_.end(), by_index);
  row_.erase(
      std::unique(row_.begin(), row_.end(),
                  [](const LinkTarget& a, const LinkTarget& b) { return a.index == b.index; }),
      row_.end());
  new_row_.clear();
  for (const LinkTarget& target : row_) new_row_.push_back(target.index);
}

/// Notes what came and what went: row_ against old_row_. Links that came were named by an edit.
void Superstep::compare_rows(std::uint64_t page) {
  auto old = old_row_.begin();
  bool any_added = false;
  for (const LinkTarget& target : row_) {
    for (; old != old_row_.end() && *old < target.index; ++old) gone_.emplace_back(*old, page);
    if (old != old_row_.end() && *old == target.index) {
      ++old;
      continue;
    }
    if (!any_added) sources_.push_back(page);
    any_added = true;
    added_targets_.push_back(target.local);
    added_sources_.push_back(static_cast<std::uint32_t>(sources_.size() - 1));
  }
  for (; old != old_row_.end(); ++old) gone_.emplace_back(*old, page);
}

/// Regroups the links that came by their targets: sources stay in order.
Result<void> Superstep::write_in_rows() {
  if (added_targets_.empty()) return {};
  ByPage<std::uint32_t> ends(batch_.page_count(), 0);
  for (const LocalId target : added_targets_) ++ends[target];
  std::uint32_t end = 0;
  std::size_t row_count = 0;
  for (const LocalId page : page_order_) {
    row_count += ends[page] != 0 ? 1 : 0;
    ends[page] = end += ends[page];
  }
  // Filled from the back, the ends become begins.
  std::vector<std::uint32_t> grouped(added_sources_.size());
  for (std::size_t i = added_targets_.size(); i-- > 0;) {
    grouped[--ends[added_targets_[i]]] = added_sources_[i];
  }
  CRAWLSTORE_TRY(auto run, start_run(state_.table.in_links, row_count, added_targets_.size()));
  std::size_t place = 0;
  for (std::size_t i = 0; i < page_order_.size() && place < grouped.size(); ++i) {
    const std::size_t row_end =
        i + 1 < page_order_.size() ? ends[page_order_[i + 1]] : grouped.size();
    if (row_end == place) continue;
    new_row_.clear();
    for (; place < row_end; ++place) new_row_.push_back(sources_[grouped[place]]);
    CRAWLSTORE_TRY(steps_.add(1 + new_row_.size()));
    CRAWLSTORE_TRY(run.append(indexes_[page_order_[i]], new_row_));
  }
  return put_run(writer_, state_.table.in_links, run);
}

}  // namespace crawlstore::pages
