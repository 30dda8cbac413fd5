// SPDX-License-Identifier: Apache-2.0
#include "service/core/crawls.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "service/core/listing.h"

namespace crawlstore::service {

/// Brings the settings of the file and those that are asked for together, before crawls are opened.
Result<void> Crawls::set_up(const CrawlsOptions& options, bool has_crawls) {
  CRAWLSTORE_TRY(settings_, read_settings(*store_));
  const bool is_by_priority = options.is_by_priority.value_or(settings_.is_by_priority);
  if (is_by_priority != settings_.is_by_priority) {
    if (has_crawls) {
      return fail(Errc::kInvalidArgument, is_by_priority
                                              ? "the crawls of the file go by date: --order date"
                                              : "the crawls of the file go by priority: "
                                                "--order priority");
    }
    settings_.is_by_priority = is_by_priority;
    CRAWLSTORE_TRY(set_state(*store_, kByPriority, is_by_priority));
  }
  const Node node = options.node.value_or(settings_.node);
  if (node != settings_.node) {
    if (has_crawls) {
      return fail(Errc::kInvalidArgument,
                  "the crawls of the file are of another place in --nodes, or another count of "
                  "nodes: `crawlstore export --format urlfrontier` all files, and put the lines to "
                  "nodes with new files");
    }
    settings_.node = node;
    const std::string text = encode(node);
    CRAWLSTORE_TRY(store_->set(kNode, std::as_bytes(std::span(text))));
  }
  if (options.has_pages && !settings_.has_pages) {
    settings_.has_pages = true;
    CRAWLSTORE_TRY(set_state(*store_, kPages, true));
  }
  if (settings_.has_pages) {
    PagesOptions pages;
    pages.memory_bytes = options.memory_bytes;
    auto opened = PageDb::open(*store_, PageDb::kDefaultName, pages);
    if (!opened && opened.error().code == Errc::kTypeMismatch) {
      return fail(
          Errc::kInvalidArgument,
          "--pages: the page database of the file has no URLs, or others than crawlstored's");
    }
    CRAWLSTORE_TRY(pages_, std::move(opened));
  }
  return store_->commit().map([](Generation) {});
}

Result<Crawls> Crawls::open(Store& store, const CrawlsOptions& options) {
  Crawls crawls(store, options.memory_bytes);
  CRAWLSTORE_TRY(const auto snapshot, store.snapshot());
  CRAWLSTORE_TRY(const auto found, list_crawls(snapshot));
  CRAWLSTORE_TRY(crawls.set_up(options, !found.empty()));
  for (const FrontierInfo& info : found) CRAWLSTORE_TRY(crawls.make(info.name));
  return crawls;
}

Result<Crawl*> Crawls::find(std::string_view id) const {
  if (const auto found = open_.find(id); found != open_.end()) return found->second.get();
  return fail(Errc::kUnknownName, "there is no crawl of this ID");
}

const Error* Crawls::refusal(std::string_view id) const {
  const auto refused = refused_.find(id);
  return refused == refused_.end() ? nullptr : &refused->second;
}

Result<Crawl*> Crawls::make(std::string_view id) {
  if (const auto found = open_.find(id); found != open_.end()) return found->second.get();
  auto crawl =
      open_.size() < kCrawlsMax
          ? Crawl::open(*store_, id, memory_bytes_)
          : Result<std::unique_ptr<Crawl>>(fail(Errc::kTooLarge, "there are 1,000 crawls"));
  if (crawl) return open_.emplace(id, *std::move(crawl)).first->second.get();
  if (category(crawl.error().code) == ErrorCategory::kCaller) {
    if (refused_.size() >= kCrawlsMax) refused_.clear();
    refused_.emplace(id, crawl.error());
  }
  return tl::unexpected<Error>(crawl.error());
}

std::vector<Crawl*> Crawls::all() const {
  std::vector<Crawl*> all;
  for (const auto& [id, crawl] : open_) all.push_back(crawl.get());
  return all;
}

Result<std::vector<std::string>> Crawls::ids() {
  std::vector<std::string> ids;
  for (const auto& [id, crawl] : open_) {
    CRAWLSTORE_TRY(const QueueStats stats, crawl->stats({}));
    if (stats.queues != 0) ids.push_back(id);
  }
  return ids;
}

Result<std::uint64_t> Crawls::forget(std::string_view id) {
  const auto found = open_.find(id);
  if (found == open_.end()) return std::uint64_t{0};
  CRAWLSTORE_TRY(const QueueStats stats, found->second->stats({}));
  CRAWLSTORE_TRY(found->second->close());
  const std::string name = found->first;
  open_.erase(found);
  refused_.clear();
  const std::array<PartName, 2> parts{PartName{SegmentKind::kFrontier, name},
                                      PartName{SegmentKind::kDrum, KnownUrls::name_of(name)}};
  const auto dropped = store_->drop(parts);
  if (!dropped) {
    CRAWLSTORE_TRY(make(name));
    return tl::unexpected<Error>(dropped.error());
  }
  return stats.active + stats.completed;
}

Result<void> Crawls::add_page(std::string_view url, double score) {
  if (!pages_) return {};
  constexpr double kMost = std::numeric_limits<float>::max();
  const auto finite = static_cast<float>(std::clamp(score, -kMost, kMost));
  return pages_->add(CrawlEvent{.kind = CrawlEventKind::kKnown, .url = url, .score = finite});
}

Result<void> Crawls::set_active(bool is_active) {
  CRAWLSTORE_TRY(set_state(*store_, kInactive, !is_active));
  settings_.is_active = is_active;
  return {};
}

Result<void> Crawls::write_counts() {
  for (const auto& [id, crawl] : open_) CRAWLSTORE_TRY(crawl->write_counts());
  return {};
}

void Crawls::drop_counts() {
  for (const auto& [id, crawl] : open_) crawl->drop_counts();
}

Result<void> Crawls::merge_if_full() {
  for (const auto& [id, crawl] : open_) CRAWLSTORE_TRY(crawl->merge_if_full());
  // All edits come inside of transactions, where no superstep begins.
  if (!pages_ || pages_->status().memory_bytes < memory_bytes_ / 2) return {};
  return pages_->merge().map([](const SuperstepReport&) {});
}

Result<void> Crawls::close() {
  for (const auto& [id, crawl] : open_) CRAWLSTORE_TRY(crawl->close());
  open_.clear();
  if (!pages_) return {};
  CRAWLSTORE_TRY(pages_->merge());
  return pages_->close();
}

}  // namespace crawlstore::service
