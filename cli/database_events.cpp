// SPDX-License-Identifier: Apache-2.0
#include "cli/database_events.h"

#include <algorithm>

#include <crawlstore/pages.h>

namespace crawlstore::cli {
namespace {

/// An event with more is cut: what is left adds links to the same page.
constexpr std::size_t kLinksMax = std::size_t{1} << 16;
constexpr std::size_t kUrlBytesMax = std::size_t{4} << 20;

/// Calls `visit`, which can fail, for every page.
Result<void> for_each_page(const PageView& view,
                           const std::function<Result<void>(const PageInfo&)>& visit) {
  Result<void> done;
  const auto walked = view.for_each_page([&](const PageInfo& page) {
    done = visit(page);
    return done.has_value();
  });
  return done ? walked : done;
}

/// Another hash than that of the page.
std::vector<std::byte> other_hash(std::vector<std::byte> hash) {
  if (hash.empty()) hash.resize(1);
  hash.front() ^= std::byte{1};
  return hash;
}

/// Forgotten: only its index is left.
bool is_forgotten(const PageInfo& page) {
  return page.url.empty() && page.state == PageState::kGone && page.crawl_count == 0;
}

}  // namespace

DatabaseEvents::DatabaseEvents(const PageViews& views, Visit visit, Look look)
    : view_(views.walk),
      look_up_(views.look),
      visit_(std::move(visit)),
      look_(std::move(look)),
      urls_(views.look) {}

Result<void> DatabaseEvents::run() {
  CRAWLSTORE_TRY(name_pages());
  CRAWLSTORE_TRY(describe_pages());
  Result<void> done;
  const auto walked = view_.for_each_event([&](const CrawlEvent& event) {
    done = visit_(event);
    return done.has_value();
  });
  return done ? walked : done;
}

Result<void> DatabaseEvents::name_pages() {
  const auto named = for_each_page(view_, [this](const PageInfo& page) -> Result<void> {
    CRAWLSTORE_TRY(look_(page.index));
    return name_page(page);
  });
  return named ? finish_group() : named;
}

Result<void> DatabaseEvents::name_page(const PageInfo& page) {
  if (!view_.info().has_urls) {
    // The largest index brings all others; named in steps that an import takes.
    const std::uint64_t end = page.index + 1;
    const bool is_last = end == view_.info().page_count || end % PagesOptions{}.index_gap_max == 0;
    const bool is_scored = page.crawl_count == 0 && page.score != 0;
    return is_last || is_scored ? tell(page, CrawlEventKind::kKnown) : Result<void>{};
  }
  if (is_forgotten(page)) return {};
  const bool is_linked = page.linked_from && *page.linked_from < page.index;
  // The new links of one event get their indexes by URL; a redirect has one.
  const bool belongs = is_linked && !page.by_redirect && !group_.empty() &&
                       !group_.back().by_redirect && linker_->index == *page.linked_from &&
                       group_.back().url < page.url && group_.size() < kLinksMax &&
                       group_bytes_ < kUrlBytesMax;
  if (belongs) {
    group_bytes_ += page.url.size();
    group_.push_back(page);
    return {};
  }
  CRAWLSTORE_TRY(finish_group());
  if (!is_linked) return tell(page, CrawlEventKind::kKnown);
  CRAWLSTORE_TRY(find_linker(*page.linked_from));
  if (is_forgotten(*linker_)) return tell(page, CrawlEventKind::kKnown);
  group_.push_back(page);
  group_bytes_ = page.url.size();
  return {};
}

Result<void> DatabaseEvents::find_linker(std::uint64_t index) {
  if (linker_ && linker_->index == index) return {};
  auto linker = look_up_.page(index);
  if (!linker && !gaps_of(look_up_).empty()) {
    PageInfo unread;  // as one that was forgotten
    unread.index = index;
    unread.state = PageState::kGone;
    linker = std::move(unread);
  }
  if (!linker) return tl::unexpected<Error>(linker.error());
  CRAWLSTORE_TRY(linker_links_, look_up_.out_links(index));
  linker_ = std::move(*linker);
  return {};
}

Result<void> DatabaseEvents::finish_group() {
  if (group_.empty()) return {};
  const bool by_redirect = group_.front().by_redirect;
  CrawlEvent event;
  event.url = linker_->url;
  event.kind = by_redirect ? CrawlEventKind::kRedirect : CrawlEventKind::kLinkAdded;
  links_.clear();
  for (const PageInfo& page : group_) {
    links_.push_back({page.url, 0, page.crawl_count == 0 ? page.score : 0});
  }
  event.links = links_;
  CRAWLSTORE_TRY(visit_(event));
  if (by_redirect && linker_->state == PageState::kKnown) {
    // Nothing else brings the state back.
    CRAWLSTORE_TRY(tell(*linker_, CrawlEventKind::kGone));
    CRAWLSTORE_TRY(tell(*linker_, CrawlEventKind::kKnown));
  }
  event.kind = CrawlEventKind::kLinkRemoved;
  links_.clear();
  for (const PageInfo& page : group_) {
    if (std::binary_search(linker_links_.begin(), linker_links_.end(), page.index)) continue;
    links_.push_back({page.url, 0, 0});
  }
  event.links = links_;
  if (!links_.empty()) CRAWLSTORE_TRY(visit_(event));
  group_.clear();
  return {};
}

Result<void> DatabaseEvents::describe_pages() {
  CRAWLSTORE_TRY(auto stream, view_.links());
  auto more = stream.next();
  return for_each_page(view_, [&](const PageInfo& page) -> Result<void> {
    CRAWLSTORE_TRY(look_(view_.info().page_count + page.index));
    while (more && *more && stream.page() < page.index) more = stream.next();
    if (!more) return tl::unexpected<Error>(more.error());
    const bool has_links = *more && stream.page() == page.index;
    return describe_page(page, has_links ? stream.links() : std::span<const std::uint64_t>());
  });
}

Result<void> DatabaseEvents::describe_page(const PageInfo& page,
                                           std::span<const std::uint64_t> links) {
  if (view_.info().has_urls && is_forgotten(page)) return {};
  // A page that goes loses its links, and so does one that redirects: those that it has come later.
  const bool loses_links = page.state == PageState::kGone || page.state == PageState::kRedirect;
  const bool has_crawls = page.crawl_count != 0;
  const std::span<const std::uint64_t> none;
  if (has_crawls) CRAWLSTORE_TRY(tell_crawls(page, loses_links ? none : links));
  CRAWLSTORE_TRY(tell_state(page));
  return loses_links || !has_crawls ? tell_links(page, links) : Result<void>{};
}

/// Tells the state that a page has after its crawls.
Result<void> DatabaseEvents::tell_state(const PageInfo& page) {
  switch (page.state) {
    case PageState::kCrawled:
    case PageState::kElsewhere:
      return {};
    case PageState::kKnown:
      return page.http_status == 0 ? Result<void>{} : tell(page, CrawlEventKind::kKnown);
    case PageState::kGone:
      return tell(page, CrawlEventKind::kGone);
    case PageState::kFailed:
      for (std::uint32_t left = std::min(page.failure_count, kCrawlsMax); left > 1; --left) {
        CRAWLSTORE_TRY(tell(page, CrawlEventKind::kFailed));
      }
      return tell(page, CrawlEventKind::kFailed);
    case PageState::kRedirect:
      return tell_redirect(page);
    case PageState::kDenied:
      return tell(page, CrawlEventKind::kDenied);
    case PageState::kDuplicate:
      return tell(page, CrawlEventKind::kDuplicate);
  }
  return {};
}

/// A redirect of a page to itself, a link that is taken back at once: its links are told later.
Result<void> DatabaseEvents::tell_redirect(const PageInfo& page) {
  CrawlEvent event;
  event.kind = CrawlEventKind::kRedirect;
  event.url = page.url;
  event.index = view_.info().has_urls ? 0 : page.index;
  event.http_status = page.http_status;
  const EventLink itself{event.url, event.index, 0};
  event.links = std::span(&itself, 1);
  CRAWLSTORE_TRY(visit_(event));
  event.kind = CrawlEventKind::kLinkRemoved;
  event.http_status = 0;
  return visit_(event);
}

Result<void> DatabaseEvents::tell(const PageInfo& page, CrawlEventKind kind) {
  CrawlEvent event;
  event.kind = kind;
  event.url = page.url;
  event.index = view_.info().has_urls ? 0 : page.index;
  event.http_status = page.http_status;
  if (kind == CrawlEventKind::kKnown && page.crawl_count == 0) event.score = page.score;
  return visit_(event);
}

Result<void> DatabaseEvents::tell_crawls(const PageInfo& page,
                                         std::span<const std::uint64_t> links) {
  const std::uint32_t count = std::min(page.crawl_count, kCrawlsMax);
  if (count != page.crawl_count) ++cut_page_count_;
  const std::uint32_t change_count = std::min(page.change_count, count - 1);
  const std::vector<std::byte> other = other_hash(page.content_hash);
  CrawlEvent event;
  event.url = page.url;
  event.index = view_.info().has_urls ? 0 : page.index;
  event.score = page.score;
  event.http_status = page.http_status;
  for (std::uint32_t left = count; left-- > 0;) {
    event.time_us = left + 1 == count ? page.first_crawl_us : page.last_crawl_us;
    // From the last one back the content changes as often as it did.
    event.content_hash =
        std::min(left, change_count) % 2 == 0 ? page.content_hash : std::span(other);
    if (left != 0) CRAWLSTORE_TRY(visit_(event));
  }
  CRAWLSTORE_TRY(const auto rest, fill_links(links));
  event.links = links_;
  CRAWLSTORE_TRY(visit_(event));
  return tell_links(page, rest);
}

Result<void> DatabaseEvents::tell_links(const PageInfo& page,
                                        std::span<const std::uint64_t> links) {
  CrawlEvent event;
  event.kind = CrawlEventKind::kLinkAdded;
  event.url = page.url;
  event.index = view_.info().has_urls ? 0 : page.index;
  while (!links.empty()) {
    CRAWLSTORE_TRY(const auto rest, fill_links(links));
    links = rest;
    event.links = links_;
    CRAWLSTORE_TRY(visit_(event));
  }
  return {};
}

Result<std::span<const std::uint64_t>> DatabaseEvents::fill_links(
    std::span<const std::uint64_t> links) {
  links_.clear();
  url_bytes_.clear();
  url_ends_.clear();
  std::size_t count = 0;
  const bool has_urls = view_.info().has_urls;
  while (count < std::min(links.size(), kLinksMax) && url_bytes_.size() < kUrlBytesMax) {
    if (has_urls) {
      CRAWLSTORE_TRY(const auto url, urls_.url(links[count]));
      url_bytes_ += url;
    }
    url_ends_.push_back(url_bytes_.size());
    ++count;
  }
  std::size_t begin = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto url = std::string_view(url_bytes_).substr(begin, url_ends_[i] - begin);
    begin = url_ends_[i];
    if (has_urls && url.empty()) continue;  // it cannot be read
    links_.push_back({url, has_urls ? 0 : links[i], 0});
  }
  return links.subspan(count);
}

}  // namespace crawlstore::cli
