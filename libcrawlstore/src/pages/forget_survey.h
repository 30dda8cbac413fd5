// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Finds the pages, URLs and links that will be forgotten, before anything is written.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "container/work_steps.h"
#include "container/writer.h"
#include "pages/pages_state.h"

namespace crawlstore::pages {

using IsMeant = std::function<bool(std::string_view url)>;

/// A link from or to a page that is forgotten.
struct GoneLink {
  std::uint64_t target = 0;
  std::uint64_t source = 0;
  auto operator<=>(const GoneLink&) const = default;
};

/// A page that loses links.
struct ChangedRow {
  std::uint64_t page = 0;
  std::uint64_t link_count = 0;  ///< now
};

/// Threads: one at a time.
///   memory  34 bits a page; a URL and 100 bytes a page that is forgotten; 16 bytes a link that
///           goes, and 16 a page that loses links
class ForgetSurvey {
 public:
  /// Reads all URLs and, if pages are meant, all links.
  ///   errors  of damage, kCancelled
  static Result<ForgetSurvey> make(container::Writer& writer, PagesState& state,
                                   const IsMeant& is_meant, container::WorkSteps& steps);

  /// Those that are forgotten, ascending, and their URLs.
  [[nodiscard]] const std::vector<std::uint64_t>& pages() const { return pages_; }
  [[nodiscard]] const std::vector<std::string>& urls() const { return urls_; }
  [[nodiscard]] bool is_forgotten(std::uint64_t page) const {
    return page < is_forgotten_.size() && is_forgotten_[page];
  }
  [[nodiscard]] const std::vector<bool>& forgotten() const { return is_forgotten_; }
  [[nodiscard]] std::uint64_t page_count() const { return is_forgotten_.size(); }
  /// Returns the depth that a page has once all of pages() are forgotten.
  [[nodiscard]] std::uint32_t depth(std::uint64_t page) const {
    return page < depths_.size() ? depths_[page] : 0;
  }
  /// The origins of pages below it stay as they are.
  [[nodiscard]] std::uint64_t first_changed() const { return first_changed_; }
  /// Bytes of all URLs, also of those that go.
  [[nodiscard]] std::uint64_t url_bytes() const { return url_bytes_; }

  /// The links that go when pages are forgotten from the highest one downwards: with the higher one
  /// of their pages that are forgotten, by which they are sorted.
  [[nodiscard]] std::span<const GoneLink> links(std::uint64_t first_page,
                                                std::uint64_t end_page) const;
  /// Ascending pages.
  [[nodiscard]] const std::vector<ChangedRow>& rows() const { return rows_; }

 private:
  Result<void> find_pages(container::Writer& writer, const PagesState& state,
                          const IsMeant& is_meant, container::WorkSteps& steps);
  Result<void> find_links(container::Writer& writer, PagesState& state,
                          container::WorkSteps& steps);
  [[nodiscard]] std::uint64_t page_of(const GoneLink& link) const;

  std::vector<bool> is_forgotten_;
  std::vector<std::uint32_t> depths_;
  std::vector<std::uint64_t> pages_;
  std::vector<std::string> urls_;
  std::uint64_t first_changed_ = ~std::uint64_t{0};
  std::uint64_t url_bytes_ = 0;
  std::vector<GoneLink> links_;
  std::vector<ChangedRow> rows_;
};

}  // namespace crawlstore::pages
