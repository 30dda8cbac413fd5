// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <crawlstore/page_key.h>
#include <crawlstore/schedule.h>

namespace crawlstore {
namespace {

/// Pages that are put by one call, which others wait for.
constexpr std::size_t kPutPages = 8192;

Result<void> check_pages(const Frontier& frontier, const PageView& pages) {
  if (frontier.pages() == pages.info().name) return {};
  return fail(Errc::kInvalidArgument, "this frontier is not of these pages");
}

bool can_be_fetched(const PageInfo& page) {
  const std::string_view url = page.url;
  return page.state == PageState::kKnown &&
         (url.starts_with("http://") || url.starts_with("https://"));
}

/// New pages, put some thousand at a time.
class PagePutter {
 public:
  PagePutter(Frontier& frontier, const SchedulePolicy& policy)
      : frontier_(frontier), policy_(policy) {}

  Result<void> add(const PageInfo& page) {
    const auto priority = priority_of(page);
    std::string host = priority ? url_host(page.url) : std::string();
    if (host.empty()) {
      ++done_.left_out_count;
      return {};
    }
    hosts_.push_back(std::move(host));
    items_.push_back({.group = hosts_.back(), .priority = *priority, .id = page.index});
    return items_.size() < kPutPages ? Result<void>() : put();
  }
  Result<void> put() {
    CRAWLSTORE_TRY(const auto done, frontier_.put(items_));
    done_.refused_count += done.refused.size();
    done_.put_count += items_.size() - done.refused.size();
    items_.clear();
    hosts_.clear();
    return {};
  }
  [[nodiscard]] const ScheduledPages& done() const { return done_; }

 private:
  [[nodiscard]] std::optional<double> priority_of(const PageInfo& page) const {
    if (!can_be_fetched(page) || page.depth > policy_.depth_max) return std::nullopt;
    if (policy_.priority_of) return policy_.priority_of(page);
    return -static_cast<double>(page.depth);
  }

  Frontier& frontier_;
  const SchedulePolicy& policy_;
  std::vector<FrontierItem> items_;
  std::deque<std::string> hosts_;  // of them, which stay where they are
  ScheduledPages done_;
};

/// The URL of a page; empty: another outcome than a failure is known of it since it was put, or the
/// index has another page now.
Result<std::string> url_to_fetch(const PageView& pages, const TakenItem& item) {
  CRAWLSTORE_TRY(const PageState state, pages.state(item.id));
  if (state != PageState::kKnown && state != PageState::kFailed) return {};
  CRAWLSTORE_TRY(auto url, pages.url(item.id));
  return url_host(url) == item.group ? std::move(url) : std::string();
}

/// Gives all back. Returns the error, or the one of that.
tl::unexpected<Error> give_back(Frontier& frontier, std::span<const TakenItem> taken,
                                const Error& error, const TakeOptions& options) {
  std::vector<GivenBack> items;
  for (const TakenItem& item : taken) items.push_back({.id = item.id});
  const auto given = frontier.give_back(items, options.now_ms);
  return tl::unexpected<Error>(given ? error : given.error());
}

}  // namespace

Result<ScheduledPages> put_pages(Frontier& frontier, const PageView& pages,
                                 const SchedulePolicy& policy, std::uint64_t first_page) {
  CRAWLSTORE_TRY(check_pages(frontier, pages));
  PagePutter putter(frontier, policy);
  Result<void> put;
  const auto add = [&](const PageInfo& page) {
    put = putter.add(page);
    return put.has_value();
  };
  CRAWLSTORE_TRY(pages.for_each_page(add, std::max(first_page, frontier.next_id())));
  if (put) put = putter.put();
  if (!put) return tl::unexpected<Error>(put.error());
  ScheduledPages done = putter.done();
  done.next_page = std::max(first_page, pages.info().page_count);
  return done;
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
