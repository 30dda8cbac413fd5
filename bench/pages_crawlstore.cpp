// SPDX-License-Identifier: Apache-2.0
//
// crawlstore's page database on the made-up crawl, with all that a user gets: normalised URLs,
// links in both directions, checksums, a commit a superstep, crash safety at any point. Beside the
// common options: --buckets N, ranges of keys to begin with; --raw 1, URLs are not normalised.

#include <cstdio>
#include <optional>

#include <fmt/core.h>

#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>
#include <crawlstore/store.h>

#include "pages_run.h"

namespace crawlstore::bench {
namespace {

template <class T>
T must(Result<T> result) {
  if (!result) fail(describe(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

class CrawlstorePages final : public PagesStore {
 public:
  CrawlstorePages(const PagesRunOptions& options, std::uint64_t buckets, bool is_raw)
      : memory_mib_(options.memory_bytes >> 20) {
    std::remove(options.path.c_str());
    store_ = must(Store::create(options.path));
    PagesOptions own;
    own.memory_bytes = options.memory_bytes;
    own.bucket_count = static_cast<std::uint32_t>(buckets);
    if (is_raw) own.normalizer = UrlNormalizer::raw();
    pages_ = must(PageDb::open(*store_, PageDb::kDefaultName, own));
  }

  [[nodiscard]] std::string name() const override { return "crawlstore"; }
  [[nodiscard]] std::string tuning() const override {
    return fmt::format("{} MiB for edits and superstep; checksums, a commit a superstep, in-links",
                       memory_mib_);
  }
  void add(const CrawlEvent& event) override { must(pages_->add(event)); }
  std::uint64_t step_count() override { return pages_->status().superstep_count; }
  void finish() override {
    must(pages_->merge());
    built_ = store_->counters().storage;
    view_ = must(PageView::open(must(store_->snapshot())));
  }

  FoundPage find(std::string_view url) override {
    const auto index = must(view_->find(url));
    if (!index) fail(fmt::format("{} is not there", url));
    PageInfo page = must(view_->page(*index));
    return {*index, page.crawl_count, std::move(page.url)};
  }
  void out_links(std::uint64_t index, std::vector<std::uint64_t>& links) override {
    links = must(view_->out_links(index));
  }
  bool in_links(std::uint64_t index, std::vector<std::uint64_t>& links) override {
    links = must(view_->in_links(index));
    return true;
  }

  nlohmann::ordered_json figures() override {
    const PagesInfo info = view_->info();
    const std::uint64_t kept = info.key_bytes + info.origin_bytes + info.record_bytes +
                               info.out_link_bytes + info.in_link_bytes;
    const auto per = [](std::uint64_t part, std::uint64_t whole) {
      return static_cast<double>(part) / static_cast<double>(whole);
    };
    view_.reset();
    must(pages_->close());
    must(store_->close());
    return {{"in_store_pages", info.page_count},
            {"in_store_links", info.link_count},
            {"key_bytes_per_page", per(info.key_bytes, info.page_count)},
            {"url_bytes_per_page", per(info.origin_bytes, info.page_count)},
            {"record_bytes_per_page", per(info.record_bytes, info.page_count)},
            {"out_bytes_per_link", per(info.out_link_bytes, info.link_count)},
            {"in_bytes_per_link", per(info.in_link_bytes, info.link_count)},
            {"kept_bytes", kept},
            {"storage_written_bytes_per_kept_byte", per(built_.bytes_written, kept)},
            {"storage_read_bytes", built_.bytes_read},
            {"seeks", built_.read_seek_count + built_.write_seek_count},
            {"syncs", built_.sync_count}};
  }

 private:
  std::uint64_t memory_mib_;
  std::optional<Store> store_;
  std::optional<PageDb> pages_;
  std::optional<PageView> view_;
  StorageCounters built_;
};

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  std::uint64_t buckets = 16;
  std::uint64_t raw = 0;
  const crawlstore::bench::OwnOption own[] = {{"--buckets", &buckets}, {"--raw", &raw}};
  return crawlstore::bench::pages_main(
      argc, argv,
      [&](const crawlstore::bench::PagesRunOptions& options) {
        return std::make_unique<crawlstore::bench::CrawlstorePages>(options, buckets, raw != 0);
      },
      own);
}
