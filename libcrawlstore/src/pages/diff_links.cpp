// SPDX-License-Identifier: Apache-2.0
//
// The newest row of a page is its row. So where both states begin with the same runs, only pages
// with a row in another run can have other links.
#include <algorithm>
#include <iterator>

#include "pages/diff_database.h"
#include "pages/diff_rows.h"

namespace crawlstore::pages {
namespace {

std::vector<format::RunRef> refs_of(const std::vector<links::LogRun>& runs) {
  std::vector<format::RunRef> refs;
  refs.reserve(runs.size());
  for (const links::LogRun& run : runs) refs.push_back(run.run.run());
  return refs;
}

/// Takes the first `count` runs off a list.
std::vector<links::LogRun> split(std::vector<links::LogRun>& runs, std::size_t count) {
  const auto end = runs.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<links::LogRun> front(runs.begin(), end);
  runs.erase(runs.begin(), end);
  return front;
}

/// Leaves out links to pages that may be pages of the older state that damage hides.
void drop_unknown(const PagePairs& pairs, std::vector<std::uint64_t>& targets) {
  std::erase_if(targets, [&pairs](std::uint64_t page) { return pairs.is_unknown_new(page); });
}

std::uint64_t links_in(const std::vector<links::LogRun>& runs) {
  std::uint64_t count = 0;
  for (const links::LogRun& run : runs) count += run.run.footer().link_count;
  return count;
}

}  // namespace

Result<void> DatabaseDiff::diff_links_by_index() {
  if (older_.lacks_links() || newer_.lacks_links()) return {};
  auto old_runs = older_.out_runs();
  auto new_runs = newer_.out_runs();
  const std::size_t shared = count_shared(refs_of(old_runs), refs_of(new_runs), is_same_store_);
  RowSeeker base(older_, split(old_runs, shared));
  split(new_runs, shared);
  work_.expect(links_in(old_runs) + links_in(new_runs));
  CRAWLSTORE_TRY(auto a, work_.blame(false, RowWalk::start(older_, old_runs)));
  CRAWLSTORE_TRY(auto b, work_.blame(true, RowWalk::start(newer_, new_runs)));
  while (!a.at_end() || !b.at_end()) {
    const bool takes_old = b.at_end() || (!a.at_end() && a.page() <= b.page());
    const bool takes_new = a.at_end() || (!b.at_end() && b.page() <= a.page());
    const std::uint64_t page = takes_old ? a.page() : b.page();
    std::optional<LinkRow> shared_row = LinkRow{};
    if (!takes_old || !takes_new) {
      CRAWLSTORE_TRY(shared_row, work_.blame(false, base.find(page)));
    }
    const bool is_lost = (takes_old && a.is_lost()) || (takes_new && b.is_lost()) || !shared_row;
    if (!is_lost && !pairs_.is_unknown(page)) {
      const LinkRow old_row = takes_old ? a.row() : *shared_row;
      const LinkRow new_row = takes_new ? b.row() : *shared_row;
      added_.clear();
      gone_.clear();
      std::set_difference(new_row.begin(), new_row.end(), old_row.begin(), old_row.end(),
                          std::back_inserter(added_));
      std::set_difference(old_row.begin(), old_row.end(), new_row.begin(), new_row.end(),
                          std::back_inserter(gone_));
      const auto is_unknown = [this](std::uint64_t target) { return pairs_.is_unknown(target); };
      std::erase_if(added_, is_unknown);
      std::erase_if(gone_, is_unknown);
      tell_links(page < older_.page_count() ? Index{page} : Index{},
                 page < newer_.page_count() ? Index{page} : Index{});
    }
    CRAWLSTORE_TRY(work_.tell((takes_old ? a.row().size() : 0) + (takes_new ? b.row().size() : 0)));
    if (takes_old) CRAWLSTORE_TRY(work_.blame(false, a.advance()));
    if (takes_new) CRAWLSTORE_TRY(work_.blame(true, b.advance()));
  }
  return {};
}

Result<void> DatabaseDiff::diff_links_by_url() {
  if (older_.lacks_links() || newer_.lacks_links()) return {};
  const auto runs = older_.out_runs();
  work_.expect(links_in(runs) + links_in(newer_.out_runs()));
  is_compared_.assign(newer_.page_count(), false);
  new_links_ = newer_.inside().links;
  CRAWLSTORE_TRY(auto rows, work_.blame(false, RowWalk::start(older_, runs)));
  while (!rows.at_end()) {
    if (!rows.is_lost()) {
      CRAWLSTORE_TRY(compare_row(rows.page(), rows.row()));
    } else if (const auto paired = pairs_.new_of[rows.page()]; paired < PagePairs::kUnknown) {
      is_compared_[paired] = true;
    }
    CRAWLSTORE_TRY(work_.tell(rows.row().size()));
    CRAWLSTORE_TRY(work_.blame(false, rows.advance()));
  }
  return tell_new_rows();
}

/// The links of a page of the older state, against those of the same page in the newer one.
Result<void> DatabaseDiff::compare_row(std::uint64_t old_page, LinkRow row) {
  const auto broken = [this]() -> Result<void> {
    return work_.blame(
        false,
        Result<void>(fail(Errc::kSegmentInvalid, "a link leads to a page that does not exist",
                          Error::kNoOffset, older_.inside().table.out_links)));
  };
  if (old_page >= pairs_.new_of.size()) return broken();
  const std::uint64_t paired = pairs_.new_of[old_page];
  if (paired == PagePairs::kUnknown) return {};
  const bool in_new = paired < PagePairs::kUnknown;
  added_.clear();
  gone_.clear();
  targets_.clear();
  new_row_.clear();
  for (const std::uint64_t target : row) {
    if (target >= pairs_.new_of.size()) return broken();
    const std::uint64_t new_target = pairs_.new_of[target];
    if (new_target == PagePairs::kUnknown) continue;
    if (in_new && new_target < PagePairs::kUnknown) {
      targets_.emplace_back(new_target, target);
    } else {
      gone_.push_back(target);
    }
  }
  if (in_new) {
    is_compared_[paired] = true;
    if (new_links_) {
      if (const auto read = new_links_->out(paired, new_row_); !read) {
        return work_.blame(
            true, newer_.inside().note_gap(PagePart::kOutLinks, paired, paired + 1, read.error()));
      }
    }
    drop_unknown(pairs_, new_row_);
  }
  std::sort(targets_.begin(), targets_.end());
  auto target = targets_.begin();
  for (const std::uint64_t link : new_row_) {
    for (; target != targets_.end() && target->first < link; ++target) {
      gone_.push_back(target->second);
    }
    if (target != targets_.end() && target->first == link) {
      ++target;
    } else {
      added_.push_back(link);
    }
  }
  for (; target != targets_.end(); ++target) gone_.push_back(target->second);
  std::sort(gone_.begin(), gone_.end());
  tell_links(old_page, in_new ? Index{paired} : Index{});
  return {};
}

/// Links of pages that have none in the older state, or are not in it.
Result<void> DatabaseDiff::tell_new_rows() {
  CRAWLSTORE_TRY(auto rows, work_.blame(true, RowWalk::start(newer_, newer_.out_runs())));
  for (; !rows.at_end();) {
    const std::uint64_t page = rows.page();
    if (page >= is_compared_.size()) {
      return work_.blame(
          true, Result<void>(fail(Errc::kSegmentInvalid, "a page that does not exist has links",
                                  Error::kNoOffset, newer_.inside().table.out_links)));
    }
    if (!is_compared_[page] && !rows.is_lost() && !pairs_.is_unknown_new(page)) {
      gone_.clear();
      added_.assign(rows.row().begin(), rows.row().end());
      drop_unknown(pairs_, added_);
      Index old_index;
      if (sink_.links && !added_.empty() && pairs_.in_old[page]) {
        if (!pairs_.old_of.empty()) {
          old_index = pairs_.old_of[page];
        } else {
          CRAWLSTORE_TRY(const auto url, work_.blame(true, newer_.view().url(page)));
          CRAWLSTORE_TRY(old_index, work_.blame(false, older_.view().find_text(url)));
        }
      }
      tell_links(old_index, page);
    }
    CRAWLSTORE_TRY(work_.tell(rows.row().size()));
    CRAWLSTORE_TRY(work_.blame(true, rows.advance()));
  }
  return {};
}

/// Counts the links in added_ and gone_, and tells them to the sink.
void DatabaseDiff::tell_links(Index old_index, Index new_index) {
  if (added_.empty() && gone_.empty()) return;
  found_->added_link_count += added_.size();
  found_->gone_link_count += gone_.size();
  if (sink_.links) sink_.links({found_->name, old_index, new_index, added_, gone_});
}

}  // namespace crawlstore::pages
