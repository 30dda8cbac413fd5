// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <crawlstore/frontier_view.h>
#include <crawlstore/page_key.h>
#include <crawlstore/schedule.h>

#include "scheduler/revisit_times.h"

namespace crawlstore {
namespace {

/// Pages that are put by one call, which others wait for.
constexpr std::size_t kPutPages = 8192;

Result<void> check_pages(const Frontier& frontier, const PageView& pages) {
  if (frontier.pages() == pages.info().name) return {};
  return fail(Errc::kInvalidArgument, "this frontier is not of these pages");
}

bool is_of_http(std::string_view url) {
  return url.starts_with("http://") || url.starts_with("https://");
}

/// The body of an item for another visit to a page; of one for the first visit it is empty.
std::string body_of(const PageInfo& page) {
  return std::to_string(static_cast<unsigned>(page.state)) + '.' + std::to_string(page.crawl_count);
}

/// Pages, put some thousand at a time.
class PagePutter {
 public:
  /// times  nullptr: nothing is visited again
  PagePutter(Frontier& frontier, const SchedulePolicy& policy,
             const scheduler::RevisitTimes* times = nullptr)
      : frontier_(frontier), policy_(policy), times_(times), now_ms_(frontier.now_ms()) {}

  /// Puts a page, for its next visit if it was fetched.
  Result<void> add(const PageInfo& page) {
    const bool is_new = page.state == PageState::kKnown;
    const std::uint64_t time = is_new ? 0 : next_visit(page);
    const auto priority = time < kTimeEnd ? priority_of(page) : std::nullopt;
    std::string host = priority ? url_host(page.url) : std::string();
    if (host.empty()) {
      ++done_.left_out_count;
      return {};
    }
    texts_.push_back({std::move(host), is_new ? std::string() : body_of(page)});
    items_.push_back({.group = texts_.back().host,
                      .priority = *priority,
                      .body = texts_.back().body,
                      .not_before_ms = time,
                      .id = page.index});
    return items_.size() < kPutPages ? Result<void>() : put();
  }
  Result<void> put() {
    CRAWLSTORE_TRY(const auto done, frontier_.put(items_));
    for (std::size_t i = 0, refused = 0; i < items_.size(); ++i) {
      if (refused < done.refused.size() && done.refused[refused] == i) {
        ++refused;
        ++done_.refused_count;
      } else if (items_[i].body.empty()) {
        ++done_.new_count;
      } else {
        ++done_.revisit_count;
        done_.due_count += items_[i].not_before_ms <= now_ms_ ? 1 : 0;
      }
    }
    items_.clear();
    texts_.clear();
    return {};
  }
  [[nodiscard]] const PagesPutBack& done() const { return done_; }

 private:
  static constexpr std::uint64_t kTimeEnd = std::uint64_t{1} << 48;  // as a frontier takes them
  struct Texts {
    std::string host;
    std::string body;
  };

  [[nodiscard]] std::uint64_t next_visit(const PageInfo& page) const {
    const bool is_here = page.state != PageState::kGone && page.state != PageState::kElsewhere;
    if (times_ == nullptr || !is_here) return RevisitRule::kNever;
    return times_->next_visit(page, now_ms_);
  }
  [[nodiscard]] std::optional<double> priority_of(const PageInfo& page) const {
    if (!is_of_http(page.url) || page.depth > policy_.depth_max) return std::nullopt;
    if (policy_.priority_of) return policy_.priority_of(page);
    return -static_cast<double>(page.depth);
  }

  Frontier& frontier_;
  const SchedulePolicy& policy_;
  const scheduler::RevisitTimes* times_;
  std::uint64_t now_ms_;
  std::vector<FrontierItem> items_;
  std::deque<Texts> texts_;  // of them, which stay where they are
  PagesPutBack done_;
};

/// The URL of a page; empty: another outcome than a failure is known of it since it was put, or the
/// index has another page now.
Result<std::string> url_to_fetch(const PageView& pages, const TakenItem& item) {
  CRAWLSTORE_TRY(auto page, pages.page(item.id));
  const bool is_open = page.state == PageState::kKnown || page.state == PageState::kFailed;
  if (!is_open && item.body != body_of(page)) return {};
  return url_host(page.url) == item.group ? std::move(page.url) : std::string();
}

/// All that a frontier holds; nothing: no commit has it yet.
Result<std::optional<FrontierView>> held_by(const Frontier& frontier, const Snapshot& snapshot) {
  CRAWLSTORE_TRY(const auto frontiers, FrontierView::list(snapshot));
  if (std::ranges::find(frontiers, frontier.name(), &FrontierInfo::name) == frontiers.end()) {
    return std::optional<FrontierView>();
  }
  CRAWLSTORE_TRY(auto held, FrontierView::open(snapshot, frontier.name()));
  return std::optional(std::move(held));
}

/// Pages that a frontier holds.
Result<std::vector<bool>> held_pages(const Frontier& frontier, const Snapshot& snapshot,
                                     std::uint64_t page_count) {
  std::vector<bool> is_held(page_count);
  CRAWLSTORE_TRY(const auto held, held_by(frontier, snapshot));
  if (!held) return is_held;
  CRAWLSTORE_TRY(held->for_each_key([&is_held](const FrontierKey& item) {
    if (item.id < is_held.size()) is_held[item.id] = true;
  }));
  return is_held;
}

/// Gives all back. Returns the error, or the one of that.
tl::unexpected<Error> give_back(Frontier& frontier, std::span<const TakenItem> taken,
                                const Error& error, const TakeOptions& options) {
  std::vector<GivenBack> items;
  for (const TakenItem& item : taken) items.push_back({.id = item.id});
  const auto given = frontier.give_back(items, options.now_ms);
  return tl::unexpected<Error>(given ? error : given.error());
}

/// Calls of(page) with each from a page on, until it fails.
template <class Of>
Result<void> for_each_page(const PageView& pages, std::uint64_t first, const Of& of) {
  Result<void> done;
  const auto visit = [&](const PageInfo& page) {
    done = of(page);
    return done.has_value();
  };
  CRAWLSTORE_TRY(pages.for_each_page(visit, first));
  return done;
}

}  // namespace

Result<ScheduledPages> put_pages(Frontier& frontier, const PageView& pages,
                                 const SchedulePolicy& policy, std::uint64_t first_page) {
  CRAWLSTORE_TRY(check_pages(frontier, pages));
  PagePutter putter(frontier, policy);
  const auto add = [&putter](const PageInfo& page) { return putter.add(page); };
  CRAWLSTORE_TRY(for_each_page(pages, std::max(first_page, frontier.next_id()), add));
  CRAWLSTORE_TRY(putter.put());
  ScheduledPages done{.put_count = putter.done().new_count,
                      .refused_count = putter.done().refused_count,
                      .left_out_count = putter.done().left_out_count};
  done.next_page = std::max(first_page, pages.info().page_count);
  return done;
}

Result<PagesPutBack> put_back(Frontier& frontier, const Snapshot& snapshot,
                              const SchedulePolicy& policy, const RevisitRule* rule) {
  CRAWLSTORE_TRY(const auto pages, PageView::open(snapshot, frontier.pages()));
  CRAWLSTORE_TRY(const auto is_held, held_pages(frontier, snapshot, pages.info().page_count));
  std::optional<scheduler::RevisitTimes> times;
  if (rule != nullptr) {
    times.emplace(*rule);
    CRAWLSTORE_TRY(times->check());
  }
  if (rule != nullptr && rule->kind == RevisitKind::kGain) {
    CRAWLSTORE_TRY(for_each_page(pages, 0, [&times](const PageInfo& page) -> Result<void> {
      times->add(page);
      return {};
    }));
    times->balance();
  }
  PagePutter putter(frontier, policy, times ? &*times : nullptr);
  std::uint64_t held_count = 0;
  CRAWLSTORE_TRY(for_each_page(pages, 0, [&](const PageInfo& page) -> Result<void> {
    if (!is_held[page.index]) return putter.add(page);
    ++held_count;
    return {};
  }));
  CRAWLSTORE_TRY(putter.put());
  PagesPutBack done = putter.done();
  done.held_count = held_count;
  return done;
}

Result<std::uint64_t> drop_gone(Frontier& frontier, const Snapshot& snapshot) {
  CRAWLSTORE_TRY(const auto pages, PageView::open(snapshot, frontier.pages()));
  CRAWLSTORE_TRY(const auto held, held_by(frontier, snapshot));
  if (!held) return 0;
  std::vector<FrontierKey> gone;
  Result<void> read;
  CRAWLSTORE_TRY(held->for_each_key([&](const FrontierKey& item) {
    if (!read || item.id >= pages.info().page_count) return;
    const auto state = pages.state(item.id);
    if (!state) read = tl::unexpected<Error>(state.error());
    if (state && *state == PageState::kGone) gone.push_back(item);
  }));
  CRAWLSTORE_TRY(read);
  if (gone.empty()) return 0;
  CRAWLSTORE_TRY(const std::uint64_t waited_count, frontier.remove(gone));
  std::vector<std::uint64_t> ids;
  ids.reserve(gone.size());
  for (const FrontierKey& item : gone) ids.push_back(item.id);
  CRAWLSTORE_TRY(const auto leased, frontier.finish(ids));
  return waited_count + leased.done_count + leased.late_count;
}

Result<std::vector<TakenItem>> take_pages(Frontier& frontier, const PageView& pages,
                                          const TakeOptions& options) {
  CRAWLSTORE_TRY(check_pages(frontier, pages));
  for (;;) {
    CRAWLSTORE_TRY(auto taken, frontier.take(options));
    std::vector<std::uint64_t> ended;
    for (TakenItem& item : taken) {
      auto url = url_to_fetch(pages, item);
      if (!url) return give_back(frontier, taken, url.error(), options);
      item.body = std::move(*url);
      if (item.body.empty()) ended.push_back(item.id);
    }
    if (ended.empty()) return taken;
    std::erase_if(taken, [](const TakenItem& item) { return item.body.empty(); });
    const auto finished = frontier.finish(ended, options.now_ms);
    if (!finished) return give_back(frontier, taken, finished.error(), options);
    if (!taken.empty()) return taken;
  }
}

}  // namespace crawlstore
