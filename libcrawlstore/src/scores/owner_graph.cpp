// SPDX-License-Identifier: Apache-2.0
#include "scores/owner_graph.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include <crawlstore/page_key.h>
#include <crawlstore/registered_domain.h>

#include "base/inside.h"
#include "container/work_steps.h"
#include "pages/page_view_impl.h"

namespace crawlstore::scores {
namespace {

/// Pairs that are gathered before those that came twice are taken out.
constexpr std::size_t kPairsMin = std::size_t{1} << 20;

constexpr unsigned kOwnerBits = 32;
constexpr std::uint64_t kOwnerMask = (std::uint64_t{1} << kOwnerBits) - 1;

void sort_out(std::vector<std::uint64_t>& pairs) {
  std::ranges::sort(pairs);
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
}

class OwnerRows final : public Rows {
 public:
  OwnerRows(std::span<const std::uint64_t> row_ends, std::span<const std::uint64_t> targets,
            std::uint64_t first_owner)
      : row_ends_(row_ends), targets_(targets), next_(first_owner) {}

  Result<bool> next() override {
    for (; next_ < row_ends_.size(); ++next_) {
      const std::uint64_t begin = next_ == 0 ? 0 : row_ends_[next_ - 1];
      if (begin == row_ends_[next_]) continue;
      page_ = next_;
      links_ = targets_.subspan(begin, row_ends_[next_] - begin);
      ++next_;
      return true;
    }
    return false;
  }

 private:
  std::span<const std::uint64_t> row_ends_;
  std::span<const std::uint64_t> targets_;
  std::uint64_t next_;
};

}  // namespace

Result<std::unique_ptr<const OwnerGraph>> OwnerGraph::build(const PageView& pages,
                                                            ScoreSubject subject,
                                                            const Progress& progress) {
  if (!pages.info().has_urls) {
    return fail(Errc::kInvalidArgument, "pages without URLs have no hosts to score");
  }
  std::unique_ptr<OwnerGraph> graph(new OwnerGraph());
  CRAWLSTORE_TRY(graph->find_owners(pages, subject));
  CRAWLSTORE_TRY(graph->find_links(pages, progress));
  return graph;
}

Result<void> OwnerGraph::find_owners(const PageView& pages, ScoreSubject subject) {
  CRAWLSTORE_TRY(const auto heads, Inside::of(pages).hosts());
  std::unordered_map<std::uint64_t, std::uint32_t> by_head;
  std::unordered_map<std::string, std::uint32_t> by_domain;
  owners_.assign(heads.size(), kNoOwner);
  for (std::uint64_t page = 0; page < heads.size(); ++page) {
    if (heads[page] == 0) continue;
    const auto [known, is_new_host] = by_head.try_emplace(heads[page], kNoOwner);
    if (is_new_host) {
      CRAWLSTORE_TRY(const auto url, pages.url(page));
      const std::string host = url_host(url);
      if (host.empty()) continue;
      const auto next = static_cast<std::uint32_t>(first_pages_.size());
      if (next == kNoOwner) return fail(Errc::kTooLarge, "there are too many hosts to score");
      bool is_new = true;
      known->second = next;
      if (subject == ScoreSubject::kDomain) {
        const auto [domain, was_added] = by_domain.try_emplace(registered_domain(host), next);
        known->second = domain->second;
        is_new = was_added;
      }
      if (is_new) first_pages_.push_back(page);
    }
    owners_[page] = known->second;
  }
  return {};
}

Result<void> OwnerGraph::find_links(const PageView& pages, const Progress& progress) {
  std::vector<std::uint64_t> pairs;
  const auto owner_of = [this](std::uint64_t page) -> Result<std::uint32_t> {
    if (page < owners_.size()) return owners_[page];
    return fail(Errc::kSegmentInvalid, "a link leads to a page that does not exist");
  };
  const auto read = [&](container::WorkSteps& steps) -> Result<void> {
    steps.expect(pages.info().link_count);
    CRAWLSTORE_TRY(auto rows, Inside::of(pages).links->out_rows(0));
    for (std::size_t limit = kPairsMin;;) {
      CRAWLSTORE_TRY(const bool has_row, rows.next());
      if (!has_row) return {};
      CRAWLSTORE_TRY(const std::uint64_t source, owner_of(rows.page()));
      for (const std::uint64_t link : rows.links()) {
        CRAWLSTORE_TRY(const auto target, owner_of(link));
        if (source == kNoOwner || target == kNoOwner || source == target) continue;
        pairs.push_back(source << kOwnerBits | target);
      }
      CRAWLSTORE_TRY(steps.add(rows.links().size()));
      if (pairs.size() < limit) continue;
      sort_out(pairs);
      limit = std::max(kPairsMin, 2 * pairs.size());
    }
  };
  if (Inside::of(pages).links) CRAWLSTORE_TRY(container::in_steps(nullptr, progress, read));
  sort_out(pairs);
  row_ends_.assign(first_pages_.size(), 0);
  for (const std::uint64_t pair : pairs) ++row_ends_[pair >> kOwnerBits];
  std::uint64_t end = 0;
  for (std::uint64_t& row_end : row_ends_) row_end = end += row_end;
  for (std::uint64_t& pair : pairs) pair &= kOwnerMask;
  targets_ = std::move(pairs);
  return {};
}

std::vector<float> OwnerGraph::sums(std::span<const float> by_page) const {
  std::vector<double> totals(first_pages_.size());
  for (std::size_t page = 0; page < std::min(by_page.size(), owners_.size()); ++page) {
    if (owners_[page] != kNoOwner) totals[owners_[page]] += static_cast<double>(by_page[page]);
  }
  std::vector<float> sums(totals.size());
  std::ranges::transform(totals, sums.begin(), [](double sum) { return static_cast<float>(sum); });
  return sums;
}

Result<std::unique_ptr<Rows>> OwnerGraph::open(std::uint64_t first_owner) const {
  return std::make_unique<OwnerRows>(row_ends_, targets_, first_owner);
}

}  // namespace crawlstore::scores
