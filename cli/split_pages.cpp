// SPDX-License-Identifier: Apache-2.0
#include "cli/split_pages.h"

#include <utility>

#include <crawlstore/page_key.h>
#include <crawlstore/pages.h>
#include <crawlstore/url.h>

#include "cli/database_events.h"
#include "cli/page_source.h"

namespace crawlstore::cli {
namespace {

/// Rules that the file names. Its texts are what they made, and which they leave as they are.
UrlNormalizer rules_named(const std::string& name) {
  if (name.empty()) return {};
  if (name == "raw") return UrlNormalizer::raw();
  return {name, [](std::string_view url, std::string& out) {
            out = url;
            return true;
          }};
}

/// Gives each event to the half that has its page.
class PageSplit {
 public:
  PageSplit(SplitWork& work, std::vector<PageDb>& pages) : work_(work), pages_(pages) {}

  Result<void> take(const CrawlEvent& event) {
    const std::size_t owner = work_.owner(url_host(event.url));
    count_failures(event);
    if (owner < 2) CRAWLSTORE_TRY(add(owner, event));
    if (owner == 2 && event.kind == CrawlEventKind::kKnown) CRAWLSTORE_TRY(add(0, event));
    const bool names_links =
        event.kind == CrawlEventKind::kLinkAdded || event.kind == CrawlEventKind::kRedirect;
    return is_naming_ && names_links ? name_links(event, owner) : Result<void>();
  }
  void end_naming() { is_naming_ = false; }
  /// Pages of which as many failures in a row were told as can be, or more.
  [[nodiscard]] std::uint64_t cut_page_count() const { return cut_page_count_; }

 private:
  void count_failures(const CrawlEvent& event) {
    const bool is_failure = event.kind == CrawlEventKind::kFailed;
    failure_count_ = is_failure && event.url == failed_url_ ? failure_count_ + 1 : 1;
    if (is_failure && failure_count_ == 1) failed_url_ = event.url;
    if (is_failure && failure_count_ == DatabaseEvents::kCrawlsMax) ++cut_page_count_;
  }
  Result<void> add(std::size_t half, const CrawlEvent& event) {
    work_.working_on = half;
    return pages_[half].add(event);
  }
  /// The half that has the target of a link does not get the event of the page that links there.
  Result<void> name_links(const CrawlEvent& event, std::size_t owner) {
    for (const EventLink& link : event.links) {
      const std::size_t half = work_.owner(url_host(link.url));
      if (half == 2 || half == owner) continue;
      CrawlEvent known;
      known.kind = CrawlEventKind::kKnown;
      known.url = link.url;
      known.score = link.score;
      CRAWLSTORE_TRY(add(half, known));
    }
    return {};
  }

  SplitWork& work_;
  std::vector<PageDb>& pages_;
  bool is_naming_ = true;  // the first half of the events
  std::string failed_url_;
  std::uint32_t failure_count_ = 0;  // of it, in a row
  std::uint64_t cut_page_count_ = 0;
};

Result<std::vector<PageDb>> make_databases(const PagesInfo& info, SplitWork& work) {
  PagesOptions made;
  made.memory_bytes = work.memory_bytes;
  made.normalizer = rules_named(info.normalizer);
  made.content_index = info.has_content_index;
  made.progress = work.superstep;
  std::vector<PageDb> pages;
  for (std::size_t half = 0; half < work.halves.size(); ++half) {
    work.working_on = half;
    CRAWLSTORE_TRY(auto opened, PageDb::open(work.halves[half].store, info.name, made));
    pages.push_back(std::move(opened));
  }
  return pages;
}

}  // namespace

Result<std::uint64_t> split_pages(const Snapshot& snapshot, const std::string& name,
                                  SplitWork& work) {
  CRAWLSTORE_TRY(auto walk, PageView::open(snapshot, name));
  CRAWLSTORE_TRY(auto look_up, PageView::open(snapshot, name));
  const PageViews views{std::move(walk), std::move(look_up)};
  const std::uint64_t page_count = views.walk.info().page_count;
  CRAWLSTORE_TRY(auto pages, make_databases(views.walk.info(), work));
  PageSplit split(work, pages);
  DatabaseEvents events(
      views, [&split](const CrawlEvent& event) { return split.take(event); },
      [&](std::uint64_t done) {
        if (done >= page_count) split.end_naming();
        return work.look(done, 2 * page_count);
      });
  CRAWLSTORE_TRY(events.run());
  for (std::size_t half = 0; half < pages.size(); ++half) {
    work.working_on = half;
    CRAWLSTORE_TRY(pages[half].merge(work.superstep));
    CRAWLSTORE_TRY(pages[half].close());
  }
  return events.cut_page_count() + split.cut_page_count();
}

Result<SplitIndexes> SplitIndexes::open(const Snapshot& snapshot, const std::string& name,
                                        const SplitWork& work) {
  CRAWLSTORE_TRY(auto from, PageView::open(snapshot, name));
  SplitIndexes indexes(work, std::move(from));
  for (const SplitHalf& half : work.halves) {
    CRAWLSTORE_TRY(const auto made, half.store.snapshot());
    CRAWLSTORE_TRY(auto to, PageView::open(made, name));
    indexes.to_.push_back(std::move(to));
  }
  return indexes;
}

Result<std::optional<SplitIndexes::Place>> SplitIndexes::find(std::uint64_t index) const {
  const std::optional<Place> none;
  if (index >= page_count()) return none;
  CRAWLSTORE_TRY(const auto url, from_.url(index));
  const std::size_t half = work_->owner(url_host(url));
  if (half == 2) return none;
  CRAWLSTORE_TRY(const auto found, to_[half].find_text(url));
  return found ? std::optional(Place{half, *found}) : none;
}

}  // namespace crawlstore::cli
