// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The WebDB as two maps would have it, session after session, and random edits for both: the
/// tester of the seed.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <crawlstore/webdb.h>

#include "drum/memory_store.h"
#include "support/random.h"

namespace crawlstore::testing {

enum class WebDbAction { kAdd, kAddWithScore, kAddIfNew, kAddKnownIfNew, kDelete, kAddLink };

struct WebDbEdit {
  WebDbAction action{};
  std::string url;  // of a link: empty
  std::string hash;
  float score = 0;
  std::vector<std::string> links;                             // of a page
  std::optional<std::pair<std::string, std::string>> link{};  // a content and a target
};

inline WebDbEdit random_edit(Random& random, std::size_t padding_bytes) {
  const auto url = [&] {
    return "https://h" + std::to_string(random.below(3)) + ".test/" +
           std::string(padding_bytes, 'p') + std::to_string(random.below(25));
  };
  const auto hash = [&] { return std::string(1 + random.below(3), 'c') + "1"; };
  WebDbEdit edit;
  edit.action = static_cast<WebDbAction>(random.below(6));
  if (edit.action == WebDbAction::kAddLink) {
    edit.link.emplace(random.below(9) == 0 ? "nobody's" : hash(), url());
    return edit;
  }
  edit.url = url();
  if (random.below(8) != 0) edit.hash = hash();
  edit.score = static_cast<float>(1 + random.below(5));
  if (edit.action != WebDbAction::kAddWithScore && random.below(4) == 0) edit.score = 0;
  for (std::size_t left = random.below(4); left > 0; --left) edit.links.push_back(url());
  if (random.below(2) == 0) edit.link.emplace(hash(), url());
  return edit;
}

inline std::vector<WebDbEdit> random_session(Random& random, std::size_t count,
                                             std::size_t padding_bytes) {
  std::vector<WebDbEdit> edits;
  for (; count > 0; --count) edits.push_back(random_edit(random, padding_bytes));
  return edits;
}

inline Result<void> write_edit(WebDbWriter& writer, const WebDbEdit& edit) {
  std::optional<WebDbLink> link;
  if (edit.link) {
    link = {std::as_bytes(std::span(edit.link->first)), std::string_view(edit.link->second)};
  }
  CrawledPage page(edit.url, 1'000'000);
  page.set_content_hash(std::as_bytes(std::span(edit.hash)));
  page.set_score(edit.score);
  for (const std::string& target : edit.links) page.add_link(target);
  switch (edit.action) {
    case WebDbAction::kAdd:
      return writer.add_page(page);
    case WebDbAction::kAddWithScore:
      return writer.add_page_with_score(page);
    case WebDbAction::kAddIfNew:
      return writer.add_page_if_new(page, link);
    case WebDbAction::kAddKnownIfNew:
      return writer.add_page_if_new(edit.url, edit.score, link);
    case WebDbAction::kDelete:
      return writer.delete_page(edit.url);
    case WebDbAction::kAddLink:
      return writer.add_link(*link);
  }
  return {};
}

class WebDbModel {
 public:
  struct Page {
    bool is_there = false;
    bool is_crawled = false;
    std::string hash;
    float score = 0;
    std::set<std::string> links;
    bool operator==(const Page&) const = default;
  };
  using Pages = std::map<std::string, Page>;

  /// A whole session, closed.
  void apply(const std::vector<WebDbEdit>& session) {
    std::vector<std::pair<std::string, std::string>> links;
    std::set<std::string> targets;
    refused_ = 0;
    for (const WebDbEdit& edit : session) {
      const bool is_applied = edit.action == WebDbAction::kAddLink || apply_to_page(edit, targets);
      if (is_applied && edit.link) links.push_back(*edit.link);
    }
    for (const auto& [hash, target] : links) {
      bool is_taken = false;
      for (auto& [url, page] : pages_) {
        if (!page.is_there || page.hash != hash) continue;
        page.links.insert(target);
        is_taken = true;
      }
      if (is_taken) targets.insert(target);
      if (!is_taken) ++refused_;
    }
    for (const std::string& target : targets) {
      const auto [place, is_new] = pages_.try_emplace(target);
      if (is_new) place->second.is_there = true;
    }
  }

  [[nodiscard]] const Pages& pages() const { return pages_; }
  /// Links that the last session was refused.
  [[nodiscard]] std::uint64_t refused() const { return refused_; }

  /// Returns the pages of a reader as a model has them.
  static Pages read(const WebDbReader& reader) {
    Pages pages;
    const PageView& view = reader.view();
    must(view.for_each_page([&](const PageInfo& info) {
      Page& page = pages[info.url];
      page.is_there = info.state != PageState::kGone;
      page.is_crawled = info.crawl_count != 0;
      for (const std::byte byte : info.content_hash) page.hash += static_cast<char>(byte);
      page.score = info.score;
      for (const auto target : must(view.out_links(info.index))) {
        page.links.insert(must(view.url(target)));
      }
      return true;
    }));
    return pages;
  }

 private:
  /// Returns whether a conditional link of the edit counts.
  bool apply_to_page(const WebDbEdit& edit, std::set<std::string>& targets) {
    const auto found = pages_.find(edit.url);
    const bool was_there = found != pages_.end() && found->second.is_there;
    if (edit.action == WebDbAction::kDelete) {
      if (was_there) found->second.is_there = false;
      if (was_there) found->second.links.clear();
      return false;
    }
    const bool is_conditional =
        edit.action == WebDbAction::kAddIfNew || edit.action == WebDbAction::kAddKnownIfNew;
    if (is_conditional && was_there) return false;
    Page& page = pages_[edit.url];
    page.is_there = true;
    if (edit.action == WebDbAction::kAddKnownIfNew) {
      if (!page.is_crawled && edit.score != 0) page.score = edit.score;
      return true;
    }
    const bool keeps_links =
        was_there && edit.links.empty() && !edit.hash.empty() && edit.hash == page.hash;
    if (!keeps_links) page.links = {edit.links.begin(), edit.links.end()};
    const bool keeps_score = edit.action == WebDbAction::kAdd && was_there;
    if (!keeps_score && edit.score != 0) page.score = edit.score;
    page.hash = edit.hash;
    page.is_crawled = true;
    targets.insert(edit.links.begin(), edit.links.end());
    return is_conditional;
  }

  Pages pages_;
  std::uint64_t refused_ = 0;
};

inline void PrintTo(const WebDbModel::Page& page, std::ostream* out) {
  *out << (page.is_there ? "there" : "gone") << (page.is_crawled ? " crawled " : " known ")
       << page.hash << ' ' << page.score;
  for (const std::string& link : page.links) *out << ' ' << link;
}

}  // namespace crawlstore::testing
