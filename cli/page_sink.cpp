// SPDX-License-Identifier: Apache-2.0
#include "cli/page_sink.h"

#include <algorithm>
#include <utility>

#include <crawlstore/page_key.h>
#include <crawlstore/page_view.h>

#include "cli/memory_limit.h"
#include "cli/options.h"

namespace crawlstore::cli {
namespace {

constexpr std::uint64_t kMemoryBytesMin = std::uint64_t{1} << 20;

}  // namespace

PageSink::PageSink(Store store, const Shard& shard, const PageSinkOptions& options)
    : store_(std::move(store)), shard_(shard), name_(options.database) {
  pages_options_.memory_bytes =
      std::max(options.memory_bytes.value_or(default_memory_bytes()), kMemoryBytesMin);
  if (options.raw) pages_options_.normalizer = UrlNormalizer::raw();
  if (options.index_gap) pages_options_.index_gap_max = *options.index_gap;
  pages_options_.progress = options.progress;
  pages_options_.unparsed = options.unparsed;
}

Result<PageSink> PageSink::open(const PageSinkOptions& options) {
  CRAWLSTORE_TRY(auto store, open_or_create_store(options.path, options.lock_wait_seconds));
  std::optional<bool> has_urls;
  {
    CRAWLSTORE_TRY(const auto snapshot, store.snapshot());
    const auto names = PageView::names(snapshot);
    if (std::find(names.begin(), names.end(), options.database) != names.end()) {
      CRAWLSTORE_TRY(const auto view, PageView::open(snapshot, options.database));
      has_urls = view.info().has_urls;
    }
  }
  CRAWLSTORE_TRY(const Shard shard, read_shard(store));
  PageSink sink(std::move(store), shard, options);
  if (has_urls) CRAWLSTORE_TRY(sink.open_database(*has_urls));
  return sink;
}

Result<void> PageSink::open_database(bool has_urls) {
  pages_options_.has_urls = has_urls;
  CRAWLSTORE_TRY(auto pages, PageDb::open(store_, name_, pages_options_));
  pages_.emplace(std::move(pages));
  first_status_ = pages_->status();
  return {};
}

std::optional<model::PageNaming> PageSink::naming() const {
  if (!pages_) return std::nullopt;
  return pages_options_.has_urls ? model::PageNaming::kUrls : model::PageNaming::kIndexes;
}

bool PageSink::takes_index(std::uint64_t index) {
  if (index >= index_end_) {
    index_end_ = pages_ ? pages_->status().index_end : pages_options_.index_gap_max;
  }
  return index < index_end_;
}

Result<void> PageSink::add(const CrawlEvent& event, model::PageNaming naming) {
  if (!pages_) CRAWLSTORE_TRY(open_database(naming == model::PageNaming::kUrls));
  if (naming != this->naming()) {
    return fail(Errc::kTypeMismatch,
                pages_options_.has_urls
                    ? "it names pages by index, but the pages of this database have URLs; "
                      "--database NAME fills another one"
                    : "it names pages by URL, but the pages of this database have indexes only; "
                      "--database NAME fills another one");
  }
  const bool is_near = naming == model::PageNaming::kUrls ||
                       (takes_index(event.index) &&
                        std::all_of(event.links.begin(), event.links.end(),
                                    [this](const auto& link) { return takes_index(link.index); }));
  if (!is_near) return fail(Errc::kInvalidArgument, kIndexTooFar);
  const bool is_here = shard_.is_alone() || naming == model::PageNaming::kIndexes ||
                       event.kind == CrawlEventKind::kKnown || shard_.has(url_host(event.url));
  if (!is_here) {
    ++elsewhere_count_;
    return {};
  }
  return pages_->add(event);
}

Result<std::optional<std::uint64_t>> PageSink::merge() {
  if (!pages_) return std::nullopt;
  CRAWLSTORE_TRY(const auto report, merge_with_opic(*pages_, pages_options_.progress));
  if (!report.opic) return std::nullopt;
  return report.opic->giver_count;
}

PagesStatus PageSink::status() const {
  return pages_ ? pages_->status() : PagesStatus{};
}

Result<void> PageSink::close() {
  if (pages_) CRAWLSTORE_TRY(pages_->close());
  return store_.close();
}

}  // namespace crawlstore::cli
