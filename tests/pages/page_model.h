// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The required contents of a page database, in a map, edit after edit: the rules of
/// pages.md#pages, said once more and without supersteps.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>

#include "support/random.h"

namespace crawlstore::testing {

/// An event that owns what it says.
struct Edit {
  CrawlEventKind kind = CrawlEventKind::kPage;
  std::string url;
  std::int64_t time_us = 0;
  float score = 0;
  std::string content_hash;
  std::vector<std::pair<std::string, float>> links;
  std::uint16_t http_status = 0;

  /// `visit` with the event, which it must not keep.
  template <class Visit>
  auto as_event(const Visit& visit) const {
    std::vector<EventLink> views;
    for (const auto& [target, link_score] : links) views.push_back({target, 0, link_score});
    CrawlEvent event;
    event.kind = kind;
    event.url = url;
    event.time_us = time_us;
    event.score = score;
    event.content_hash = std::as_bytes(std::span(content_hash));
    event.links = views;
    event.http_status = http_status;
    return visit(event);
  }
};

/// The edit with URLs that are longer by so many bytes: they fill the memory of a batch.
inline Edit padded(Edit edit, std::size_t bytes) {
  edit.url += '/' + std::string(bytes, 'p');
  for (auto& [url, score] : edit.links) url += '/' + std::string(bytes, 'p');
  return edit;
}

class PageModel {
 public:
  struct Page {
    std::string url;
    std::optional<std::uint64_t> linked_from;
    bool by_redirect = false;
    std::uint32_t depth = 0;
    PageState state = PageState::kKnown;
    std::uint32_t crawl_count = 0;
    std::uint32_t change_count = 0;
    std::int64_t first_us = 0;
    std::int64_t last_us = 0;
    float score = 0;
    std::uint16_t http_status = 0;
    std::uint32_t failure_count = 0;
    std::string content_hash;
    std::set<std::uint64_t> out;
    std::set<std::uint64_t> in;
  };

  void apply(const Edit& edit) {
    const std::uint64_t index = intern(edit.url, {});
    auto links = edit.links;
    std::stable_sort(links.begin(), links.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::set<std::uint64_t> targets;
    const bool by_redirect = edit.kind == CrawlEventKind::kRedirect;
    for (const auto& [url, score] : links) {
      targets.insert(intern(url, {index, by_redirect, score}));
    }
    take_effect(edit, index, targets);
  }

  /// Forgotten pages keep their numbers; the pages that they linked to first become seeds.
  template <class IsMeant>
  void forget(const IsMeant& is_meant) {
    for (std::uint64_t index = 0; index < pages_.size(); ++index) {
      Page& page = pages_[index];
      if (page.url.empty() || !is_meant(page.url)) continue;
      set_links(index, {});
      for (const std::uint64_t linker : page.in) pages_[linker].out.erase(index);
      indexes_.erase(page.url);
      page = Page{};
      page.state = PageState::kGone;
    }
    for (Page& page : pages_) {
      if (page.linked_from && pages_[*page.linked_from].url.empty()) {
        page.linked_from.reset();
        page.by_redirect = false;
      }
      page.depth = depth_from(page);
    }
  }

  [[nodiscard]] const std::vector<Page>& pages() const { return pages_; }
  [[nodiscard]] std::uint64_t link_count() const {
    std::uint64_t count = 0;
    for (const Page& page : pages_) count += page.out.size();
    return count;
  }
  [[nodiscard]] std::uint64_t crawled_count() const {
    return static_cast<std::uint64_t>(std::count_if(
        pages_.begin(), pages_.end(), [](const Page& page) { return page.crawl_count != 0; }));
  }

 private:
  struct Linker {
    std::optional<std::uint64_t> index;
    bool by_redirect = false;
    float score = 0;
  };

  void take_effect(const Edit& edit, std::uint64_t index, std::set<std::uint64_t> targets) {
    Page& page = pages_[index];
    if (edit.http_status != 0) page.http_status = edit.http_status;
    const auto set_state = [&page](PageState state) {
      page.state = state;
      page.failure_count = 0;
    };
    switch (edit.kind) {
      case CrawlEventKind::kPage:
        if (page.crawl_count != 0 && page.content_hash != edit.content_hash) ++page.change_count;
        if (edit.score != 0) page.score = edit.score;
        page.content_hash = edit.content_hash;
        set_links(index, targets);
        [[fallthrough]];
      case CrawlEventKind::kUnchanged:
        if (page.crawl_count == 0) page.first_us = page.last_us = edit.time_us;
        ++page.crawl_count;
        page.first_us = std::min(page.first_us, edit.time_us);
        page.last_us = std::max(page.last_us, edit.time_us);
        set_state(PageState::kCrawled);
        break;
      case CrawlEventKind::kKnown:
        if (page.crawl_count == 0 && edit.score != 0) page.score = edit.score;
        if (page.state == PageState::kGone) {
          page.state = page.crawl_count == 0 ? PageState::kKnown : PageState::kCrawled;
        }
        break;
      case CrawlEventKind::kGone:
        set_state(PageState::kGone);
        set_links(index, {});
        break;
      case CrawlEventKind::kFailed:
        page.state = PageState::kFailed;
        ++page.failure_count;
        break;
      case CrawlEventKind::kRedirect:
        set_state(PageState::kRedirect);
        set_links(index, targets);
        break;
      case CrawlEventKind::kDenied:
        set_state(PageState::kDenied);
        break;
      case CrawlEventKind::kDuplicate:
        set_state(PageState::kDuplicate);
        break;
      case CrawlEventKind::kLinkAdded:
        targets.insert(page.out.begin(), page.out.end());
        set_links(index, targets);
        break;
      case CrawlEventKind::kLinkRemoved: {
        auto left = page.out;
        for (const std::uint64_t target : targets) left.erase(target);
        set_links(index, left);
        break;
      }
    }
  }

  [[nodiscard]] std::uint32_t depth_from(const Page& page) const {
    return page.linked_from ? pages_[*page.linked_from].depth + (page.by_redirect ? 0 : 1) : 0;
  }
  std::uint64_t intern(const std::string& url, const Linker& linker) {
    const auto [place, is_new] = indexes_.emplace(url, pages_.size());
    if (is_new) {
      Page page;
      page.url = url;
      page.linked_from = linker.index;
      page.by_redirect = linker.by_redirect;
      page.depth = depth_from(page);
      page.score = linker.score;
      pages_.push_back(std::move(page));
    }
    return place->second;
  }
  void set_links(std::uint64_t index, const std::set<std::uint64_t>& targets) {
    for (const std::uint64_t old : pages_[index].out) pages_[old].in.erase(index);
    pages_[index].out = targets;
    for (const std::uint64_t target : targets) pages_[target].in.insert(index);
  }

  std::map<std::string, std::uint64_t> indexes_;
  std::vector<Page> pages_;
};

inline std::vector<std::uint64_t> as_vector(const std::set<std::uint64_t>& set) {
  return {set.begin(), set.end()};
}

/// Everything that a view tells, against the model: of each page, or of every nth from one on.
inline void expect_same(const PageView& view, const PageModel& model, std::uint64_t first = 0,
                        std::uint64_t step = 1) {
  const PagesInfo& info = view.info();
  ASSERT_EQ(info.page_count, model.pages().size());
  EXPECT_EQ(info.crawled_count, model.crawled_count());
  EXPECT_EQ(info.link_count, model.link_count());
  for (std::uint64_t index = first; index < info.page_count; index += step) {
    const PageModel::Page& expected = model.pages()[index];
    const auto page = view.page(index);
    ASSERT_TRUE(page) << describe(page.error());
    EXPECT_EQ(page->index, index);
    EXPECT_EQ(page->url, expected.url);
    EXPECT_EQ(page->linked_from, expected.linked_from) << index;
    EXPECT_EQ(page->by_redirect, expected.by_redirect) << index;
    EXPECT_EQ(page->depth, expected.depth) << index;
    EXPECT_EQ(page->state, expected.state) << index;
    EXPECT_EQ(page->crawl_count, expected.crawl_count) << index;
    EXPECT_EQ(page->change_count, expected.change_count) << index;
    EXPECT_EQ(page->first_crawl_us, expected.first_us) << index;
    EXPECT_EQ(page->last_crawl_us, expected.last_us) << index;
    EXPECT_EQ(page->score, expected.score) << index;
    EXPECT_EQ(page->http_status, expected.http_status) << index;
    EXPECT_EQ(page->failure_count, expected.failure_count) << index;
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(page->content_hash.data()),
                          page->content_hash.size()),
              expected.content_hash);
    const auto found = view.find_text(expected.url);
    ASSERT_TRUE(found) << describe(found.error());
    EXPECT_EQ(*found, std::optional(index));
    const auto out = view.out_links(index);
    ASSERT_TRUE(out) << describe(out.error());
    EXPECT_EQ(*out, as_vector(expected.out)) << index;
    const auto in = view.in_links(index);
    ASSERT_TRUE(in) << describe(in.error());
    EXPECT_EQ(*in, as_vector(expected.in)) << index;
  }
}

/// A crawl of a small web: pages are crawled again, change, go, come back; links go to new pages,
/// to old ones, to the page itself, twice to one.
class RandomCrawl {
 public:
  explicit RandomCrawl(std::uint64_t seed) : random_(seed) {}

  Edit next() {
    Edit edit;
    edit.url = any_url();
    edit.time_us = static_cast<std::int64_t>(1 + random_.below(1'000'000));
    edit.score = static_cast<float>(random_.below(100)) / 8;
    if (random_.below(3) == 0) edit.http_status = random_status();
    const std::uint64_t dice = random_.below(20);
    if (dice < 12) {
      edit.kind = CrawlEventKind::kPage;
      edit.content_hash.assign(random_.below(3) * 4, static_cast<char>('a' + random_.below(2)));
    } else {
      using enum CrawlEventKind;
      constexpr std::array kOthers{kKnown,     kGone,     kFailed, kLinkAdded, kLinkRemoved,
                                   kUnchanged, kRedirect, kDenied, kDuplicate};
      edit.kind = kOthers[random_.below(kOthers.size())];
      if (edit.kind != CrawlEventKind::kKnown) edit.score = 0;
    }
    if (!has_links(edit.kind)) return edit;
    const bool is_redirect = edit.kind == CrawlEventKind::kRedirect;
    for (std::uint64_t n = is_redirect ? 1 : random_.below(12); n > 0; --n) {
      edit.links.emplace_back(random_.below(10) == 0 ? edit.url : any_url(),
                              static_cast<float>(random_.below(100)) / 8);
    }
    return edit;
  }

 private:
  std::uint16_t random_status() { return static_cast<std::uint16_t>(200 + random_.below(400)); }
  std::string any_url() {
    if (urls_.empty() || random_.below(3) == 0) {
      urls_.push_back("http://host" + std::to_string(random_.below(5)) + ".example/" +
                      std::to_string(urls_.size()));
    }
    return urls_[random_.below(urls_.size())];
  }

  Random random_;
  std::vector<std::string> urls_;
};

}  // namespace crawlstore::testing
