// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include <crawlstore/page_key.h>
#include <crawlstore/registered_domain.h>
#include <crawlstore/shard.h>
#include <crawlstore/tools/supersteps.h>

#include "base/inside.h"
#include "pages/page_view_impl.h"
#include "scheduler/superstep_sample.h"
#include "scores/rank_input.h"
#include "scores/ranked_pages.h"

namespace crawlstore {
namespace {

Result<void> check(const PageView& pages, const SiteOptions& options) {
  if (options.processor_count == 0 || options.processor_count > kProcessorsMax) {
    return fail(Errc::kInvalidArgument, "there may be 1 to 4,096 processors");
  }
  if (options.site > SuperstepSite::kBlock) {
    return fail(Errc::kInvalidArgument, "there are no such sites");
  }
  if (options.site == SuperstepSite::kBlock && options.block_pages == 0) {
    return fail(Errc::kInvalidArgument, "a block has at least one page");
  }
  if (options.site != SuperstepSite::kBlock && !pages.info().has_urls) {
    return fail(Errc::kInvalidArgument, "pages without URLs have no hosts: take blocks as sites");
  }
  return {};
}

SiteProcessors assign_blocks(std::uint64_t page_count, const SiteOptions& options) {
  SiteProcessors sites;
  sites.processors.reserve(page_count);
  for (std::uint64_t page = 0; page < page_count; ++page) {
    const std::uint64_t block = page / options.block_pages;
    sites.processors.push_back(static_cast<std::uint16_t>(block % options.processor_count));
    sites.site_count = block + 1;
  }
  return sites;
}

/// Assigns hosts, or their domains. Pages that were forgotten get processor 0.
Result<SiteProcessors> assign_hosts(const PageView& pages, const SiteOptions& options) {
  CRAWLSTORE_TRY(const auto heads, Inside::of(pages).hosts());
  SiteProcessors sites{.processors = std::vector<std::uint16_t>(heads.size())};
  std::unordered_map<std::uint64_t, std::uint16_t> by_head;
  std::unordered_set<std::string> domains;
  for (std::uint64_t page = 0; page < heads.size(); ++page) {
    if (heads[page] == 0) continue;
    const auto [host, is_new] = by_head.try_emplace(heads[page], std::uint16_t{0});
    if (is_new) {
      CRAWLSTORE_TRY(const auto url, pages.url(page));
      std::string site = url_host(url);
      if (options.site == SuperstepSite::kDomain) site = registered_domain(site);
      host->second = static_cast<std::uint16_t>(shard_of(site, options.processor_count));
      if (options.site == SuperstepSite::kDomain) domains.insert(std::move(site));
    }
    sites.processors[page] = host->second;
  }
  sites.site_count = options.site == SuperstepSite::kDomain ? domains.size() : by_head.size();
  return sites;
}

/// Orders pages by values, the highest first. Pages beyond the values come last, as do NaNs.
template <class Real>
void order_by(std::span<const Real> values, std::vector<std::uint32_t>& order) {
  const auto value = [values](std::uint32_t page) {
    const Real score = page < values.size() ? values[page] : Real{-1};
    return score >= 0 ? score : Real{-1};
  };
  std::ranges::stable_sort(
      order, [&value](std::uint32_t a, std::uint32_t b) { return value(a) > value(b); });
}

}  // namespace

Result<SiteProcessors> assign_processors(const PageView& pages, const SiteOptions& options) {
  CRAWLSTORE_TRY(check(pages, options));
  if (options.site == SuperstepSite::kBlock) return assign_blocks(pages.info().page_count, options);
  return assign_hosts(pages, options);
}

Result<std::vector<std::uint32_t>> extraction_order(const PageView& pages) {
  CRAWLSTORE_TRY(scores::check_alone(pages));
  const std::uint64_t page_count = pages.info().page_count;
  if (page_count > scheduler::kPlacesMax) {
    return fail(Errc::kTooLarge, "there are too many pages to extract again");
  }
  CRAWLSTORE_TRY(const auto living, scores::living_pages(pages));
  std::vector<std::uint32_t> order;
  order.reserve(page_count);
  for (std::uint32_t page = 0; page < page_count; ++page) {
    if (living.empty() || living[page] != 0) order.push_back(page);
  }
  return order;
}

Result<std::vector<std::uint32_t>> extraction_order(const PageView& pages,
                                                    const ScoreView& scores) {
  if (scores.info().subject != ScoreSubject::kPage) {
    return fail(Errc::kTypeMismatch, "the scores are of hosts or domains, not of pages");
  }
  CRAWLSTORE_TRY(auto order, extraction_order(pages));
  if (scores.info().has_doubles) {
    CRAWLSTORE_TRY(const auto values, scores.doubles());
    order_by(values, order);
  } else {
    CRAWLSTORE_TRY(const auto values, scores.floats());
    order_by(values, order);
  }
  return order;
}

Result<std::vector<std::uint32_t>> extraction_order(const PageView& pages,
                                                    const RankedPages& ranked) {
  const RankedPages::Impl& inside = Inside::of(ranked);
  if (inside.owners != nullptr) {
    return fail(Errc::kTypeMismatch, "the scores are of hosts or domains, not of pages");
  }
  CRAWLSTORE_TRY(auto order, extraction_order(pages));
  if (inside.values.empty()) return order;
  std::visit([&order](const auto& values) { order_by(values.span(), order); },
             inside.values.front());
  return order;
}

}  // namespace crawlstore
