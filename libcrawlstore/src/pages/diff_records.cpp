// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "pages/diff_database.h"

namespace crawlstore::pages {
namespace {

PageFields differing_fields(const format::PageRecord& a, const format::PageRecord& b) {
  PageFields fields;
  fields.state = a.state != b.state;
  fields.crawl_count = a.crawl_count != b.crawl_count;
  fields.change_count = a.change_count != b.change_count;
  fields.first_crawl = a.first_crawl_us != b.first_crawl_us;
  fields.last_crawl = a.last_crawl_us != b.last_crawl_us;
  fields.score = a.score != b.score;
  fields.http_status = a.status != b.status;
  fields.failure_count = a.failures != b.failures;
  fields.content_hash = a.hash_bytes != b.hash_bytes || a.hash != b.hash;
  return fields;
}

/// Whether `page` stands at `next` in an ascending list; goes past it.
bool take(const std::vector<std::uint64_t>& list, std::size_t& next, std::uint64_t page) {
  while (next < list.size() && list[next] < page) ++next;
  return next < list.size() && list[next] == page;
}

}  // namespace

Result<void> DatabaseDiff::run(PagesDiff& found) {
  found_ = &found;
  CRAWLSTORE_TRY(auto pairs, pair_pages(older_, newer_, is_same_store_, work_));
  pairs_ = std::move(pairs);
  found.by_url = pairs_.by_url;
  CRAWLSTORE_TRY(pairs_.by_url ? diff_records_by_url() : diff_records_by_index());
  CRAWLSTORE_TRY(pairs_.by_url ? diff_links_by_url() : diff_links_by_index());
  return diff_edits();
}

Result<void> DatabaseDiff::diff_records_by_index() {
  const std::uint64_t page_count = std::max(older_.page_count(), newer_.page_count());
  const auto for_each_tile = [&](const auto& visit) -> Result<void> {
    for (std::uint64_t first = 0; first < page_count; first += format::kTilePagesMax) {
      const std::uint64_t tile = first / format::kTilePagesMax;
      const auto* a = older_.tile_ref(tile);
      const auto* b = newer_.tile_ref(tile);
      const bool is_same =
          is_same_store_ && a != nullptr && b != nullptr && drum::is_same_run(*a, *b);
      const std::uint64_t end = std::min(page_count, first + format::kTilePagesMax);
      if (!is_same) CRAWLSTORE_TRY(visit(first, end));
    }
    return {};
  };
  CRAWLSTORE_TRY(for_each_tile([this](std::uint64_t first, std::uint64_t end) -> Result<void> {
    work_.expect(end - first);
    return {};
  }));
  return for_each_tile([this](std::uint64_t first, std::uint64_t end) -> Result<void> {
    return diff_tile(first, end);
  });
}

Result<void> DatabaseDiff::diff_tile(std::uint64_t first_page, std::uint64_t end_page) {
  const std::uint64_t common = std::min(older_.page_count(), newer_.page_count());
  for (std::uint64_t page = first_page; page < end_page; ++page) {
    Index old_index;
    Index new_index;
    if (page < older_.page_count()) old_index = page;
    if (page < newer_.page_count()) new_index = page;
    if (page < common) {
      if (take(pairs_.only_old, next_only_old_, page)) new_index.reset();
      if (take(pairs_.only_new, next_only_new_, page)) old_index.reset();
    }
    if (!pairs_.is_unknown(page)) CRAWLSTORE_TRY(compare_page(old_index, new_index));
    CRAWLSTORE_TRY(work_.tell(1));
  }
  return {};
}

Result<void> DatabaseDiff::diff_records_by_url() {
  work_.expect(older_.page_count() + newer_.page_count());
  for (std::uint64_t page = 0; page < older_.page_count(); ++page) {
    const std::uint64_t new_page = pairs_.new_of[page];
    CRAWLSTORE_TRY(work_.tell(1));
    if (new_page == PagePairs::kForgotten || new_page == PagePairs::kUnknown) continue;
    CRAWLSTORE_TRY(compare_page(page, new_page == PagePairs::kNoPage ? Index{} : Index{new_page}));
  }
  for (std::uint64_t page = 0; page < newer_.page_count(); ++page) {
    CRAWLSTORE_TRY(work_.tell(1));
    if (pairs_.in_old[page] || pairs_.is_unknown_new(page)) continue;
    CRAWLSTORE_TRY(compare_page(std::nullopt, page));
  }
  return {};
}

/// A page of which one state may have nothing; where one state alone gave the index, the page may
/// have been forgotten since.
Result<void> DatabaseDiff::compare_page(Index old_index, Index new_index) {
  format::PageRecord old_record;
  format::PageRecord new_record;
  if (old_index) {
    const auto record = older_.record(*old_index);
    if (!record) return leave_out(older_, false, record.error(), work_);
    old_record = *record;
  }
  if (new_index) {
    const auto record = newer_.record(*new_index);
    if (!record) return leave_out(newer_, true, record.error(), work_);
    new_record = *record;
  }
  if (!old_index || !new_index) {
    auto& side = old_index ? older_ : newer_;
    const auto& record = old_index ? old_record : new_record;
    CRAWLSTORE_TRY(
        const auto forgotten,
        work_.blame(!old_index, side.is_forgotten(old_index ? *old_index : *new_index, record)));
    if (forgotten) return {};
  }
  const bool is_in_both = old_index && new_index;
  const PageFields fields = is_in_both ? differing_fields(old_record, new_record) : PageFields{};
  if (is_in_both && !fields.any()) return {};
  const bool is_gone = !new_index || (fields.state && new_record.state == PageState::kGone);
  const Change change = is_gone ? Change::kGone : old_index ? Change::kChanged : Change::kAdded;
  CRAWLSTORE_TRY(const bool was_told, tell_page(change, old_index, new_index, fields));
  if (!was_told) return {};
  if (new_record.crawl_count > old_record.crawl_count) ++found_->fetched_page_count;
  if (new_record.failures > old_record.failures) ++found_->failed_page_count;
  return {};
}

Result<bool> DatabaseDiff::tell_page(Change change, Index old_index, Index new_index,
                                     PageFields fields) {
  PageDiff page{found_->name, change, std::nullopt, std::nullopt, fields};
  if (sink_.page && old_index) {
    auto info = older_.view().page(*old_index);
    if (!info) {
      CRAWLSTORE_TRY(leave_out(older_, false, info.error(), work_));
      return false;
    }
    page.older = std::move(*info);
  }
  if (sink_.page && new_index) {
    auto info = newer_.view().page(*new_index);
    if (!info) {
      CRAWLSTORE_TRY(leave_out(newer_, true, info.error(), work_));
      return false;
    }
    page.newer = std::move(*info);
  }
  ++(change == Change::kAdded  ? found_->added_page_count
     : change == Change::kGone ? found_->gone_page_count
                               : found_->changed_page_count);
  if (!new_index) ++found_->forgotten_page_count;
  if (sink_.page) sink_.page(page);
  return true;
}

}  // namespace crawlstore::pages
