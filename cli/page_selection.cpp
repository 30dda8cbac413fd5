// SPDX-License-Identifier: Apache-2.0
#include "cli/page_selection.h"

#include <algorithm>
#include <bit>

#include <re2/re2.h>

#include <crawlstore/page_key.h>
#include <crawlstore/registered_domain.h>
#include <crawlstore/url.h>

namespace crawlstore::cli {
namespace {

/// A page in the order of a selection. Smaller comes first.
struct Place {
  std::uint64_t number = 0;
  std::string text;
  std::uint64_t index = 0;
};

/// Ascending: scores from the best, or with `descending` from the worst, then those without one.
/// Scores have no sign, so that their bits have their order.
Result<std::uint64_t> place_by_score(const PageSelection& selection, std::uint64_t index) {
  CRAWLSTORE_TRY(const auto score, selection.scores->score(index));
  if (!score) return ~std::uint64_t{0};
  const auto bits = std::bit_cast<std::uint64_t>(*score);
  return selection.descending ? bits : ~(bits + 1);
}

/// The places that come first, `limit` at most: a heap whose front is the last of them.
class Places {
 public:
  explicit Places(const PageSelection& selection) : selection_(selection) {}

  Result<void> add(const PageInfo& page) {
    if (selection_.limit == 0U) return {};
    Place place{0, {}, page.index};
    if (selection_.scores) {
      CRAWLSTORE_TRY(place.number, place_by_score(selection_, page.index));
    } else {
      place.number = model::sort_number(page, selection_.column);
      if (selection_.column == model::PageColumn::kUrl) place.text = page.url;
    }
    const bool is_full = selection_.limit && places_.size() >= *selection_.limit;
    if (is_full && !comes_before(place, places_.front())) return {};
    if (is_full) {
      std::pop_heap(places_.begin(), places_.end(), order());
      places_.pop_back();
    }
    places_.push_back(std::move(place));
    if (selection_.limit) std::push_heap(places_.begin(), places_.end(), order());
    return {};
  }

  std::vector<Place> take() {
    std::sort(places_.begin(), places_.end(), order());
    return std::move(places_);
  }

 private:
  [[nodiscard]] bool comes_before(const Place& a, const Place& b) const {
    const bool is_turned = selection_.descending && !selection_.scores;
    if (a.number != b.number) return (a.number < b.number) != is_turned;
    if (const int order = a.text.compare(b.text); order != 0) {
      return (order < 0) != selection_.descending;
    }
    const bool by_index = selection_.column == model::PageColumn::kIndex;
    return by_index && is_turned ? a.index > b.index : a.index < b.index;
  }
  [[nodiscard]] std::function<bool(const Place&, const Place&)> order() const {
    return [this](const Place& a, const Place& b) { return comes_before(a, b); };
  }

  const PageSelection& selection_;
  std::vector<Place> places_;
};

using MatchLook = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Calls `visit` for the pages of all hosts of a domain. Keys stand host by host, so one URL a host
/// is enough to know which hosts these are.
Result<void> for_each_key_of_domain(const PageView& view, const std::string& domain,
                                    const PageView::VisitKey& visit) {
  std::optional<std::uint64_t> head;
  bool is_meant = false;
  Result<void> done;
  const auto walked = view.for_each_key([&](Key16 key, std::uint64_t index) {
    if (head != key.head) {
      head = key.head;
      const auto url = view.url(index);
      if (!url) {
        done = tl::unexpected<Error>(url.error());
        return false;
      }
      is_meant = is_of_domain(*url, domain);
    }
    return !is_meant || visit(key, index);
  });
  return done ? walked : done;
}

/// The pages of the host or domain, ascending: neighbours share a block of URLs.
Result<std::vector<std::uint64_t>> find_pages(const PageView& view, const PageSelection& selection,
                                              const MatchLook& look) {
  std::vector<std::uint64_t> indexes;
  const auto note = [&](Key16 /*key*/, std::uint64_t index) {
    indexes.push_back(index);
    look(indexes.size(), view.info().page_count);
    return true;
  };
  CRAWLSTORE_TRY(selection.host ? view.for_each_key_of(*selection.host, note)
                                : for_each_key_of_domain(view, *selection.domain, note));
  std::sort(indexes.begin(), indexes.end());
  return indexes;
}

/// Calls `visit` for the pages that match, ascending, until it returns false.
Result<void> for_each_match(const PageView& view, const PageSelection& selection,
                            const MatchLook& look,
                            const std::function<bool(const PageInfo&)>& visit) {
  std::uint64_t done = 0;
  std::uint64_t total = view.info().page_count;
  const auto look_at = [&](const PageInfo& page) {
    look(done++, total);
    return (selection.pattern && !selection.pattern->finds(page.url)) || visit(page);
  };
  if (!selection.host && !selection.domain) return view.for_each_page(look_at);
  if (selection.goes_past_damage) {
    return view.for_each_page([&](const PageInfo& page) {
      const bool is_meant = selection.host ? url_host(page.url) == *selection.host
                                           : is_of_domain(page.url, *selection.domain);
      return !is_meant || look_at(page);
    });
  }
  CRAWLSTORE_TRY(const auto indexes, find_pages(view, selection, look));
  total = indexes.size();
  for (const std::uint64_t index : indexes) {
    CRAWLSTORE_TRY(const auto page, view.page(index));
    if (!look_at(page)) break;
  }
  return {};
}

/// The best pages that match, when so many are found far up in the ranking; else nothing. To look
/// at a page by its rank takes a block of URLs, to look at all pages one for 64 of them.
Result<std::optional<std::vector<std::uint64_t>>> walk_down_ranking(
    const PageView& view, const PageSelection& selection) {
  constexpr std::uint64_t kPagesABlock = 64;
  constexpr std::uint64_t kGrowth = 8;
  std::optional<std::vector<std::uint64_t>> found;
  if (!selection.scores || selection.descending || selection.host || selection.domain ||
      selection.goes_past_damage) {
    return found;
  }
  const std::uint64_t limit = selection.limit.value_or(view.info().page_count);
  const std::uint64_t looked_max =
      selection.pattern ? view.info().page_count / kPagesABlock : limit;
  std::size_t looked_count = 0;
  found.emplace();
  for (std::uint64_t count = limit; count <= looked_max;) {
    CRAWLSTORE_TRY(const auto best, selection.scores->top(count));
    for (; looked_count < best.size() && found->size() < limit; ++looked_count) {
      const std::uint64_t index = best[looked_count].index;
      if (selection.pattern) {
        CRAWLSTORE_TRY(const auto url, view.url(index));
        if (!selection.pattern->finds(url)) continue;
      }
      found->push_back(index);
    }
    if (found->size() == limit) return found;
    if (best.size() < count || count == looked_max) break;
    count = std::min(count * kGrowth, looked_max);
  }
  found.reset();
  return found;
}

/// The matches that come first.
Result<std::vector<std::uint64_t>> sort_matches(const PageView& view,
                                                const PageSelection& selection,
                                                const MatchLook& look) {
  Places places(selection);
  Result<void> done;
  const auto walked = for_each_match(view, selection, look, [&](const PageInfo& page) {
    done = places.add(page);
    return done.has_value();
  });
  CRAWLSTORE_TRY(done ? walked : done);
  std::vector<std::uint64_t> indexes;
  for (const Place& place : places.take()) indexes.push_back(place.index);
  return indexes;
}

}  // namespace

std::optional<UrlPattern> UrlPattern::parse(const std::string& text, std::string& problem) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(re2::RE2::Options::EncodingLatin1);
  UrlPattern pattern;
  pattern.expression_ = std::make_shared<const re2::RE2>(text, options);
  if (pattern.expression_->ok()) return pattern;
  problem = pattern.expression_->error();
  return std::nullopt;
}

bool UrlPattern::finds(const std::string& url) const {
  return re2::RE2::PartialMatch(url, *expression_);
}

std::optional<std::string> normalised_host(const std::string& host) {
  UrlNormalizer normalizer;
  const std::string url = "http://" + host + ":1/";
  const NormalizedUrl normalized = normalizer.normalize(url);
  std::string found = url_host(normalized.text);
  // Neither user information, nor another port, nor a path.
  if (!normalized.parsed || normalized.text != "http://" + found + ":1/") return std::nullopt;
  return found;
}

std::optional<std::string> parse_domain(const std::string& text, std::string& problem) {
  auto host = normalised_host(text);
  if (!host) {
    problem = "a domain, without a port: " + text;
    return std::nullopt;
  }
  if (host->size() > 1 && host->ends_with('.')) host->pop_back();
  const std::string domain = registered_domain(*host);
  if (domain == *host) return domain;
  problem = *host + " is a host of the registered domain " + domain;
  return std::nullopt;
}

bool is_of_domain(std::string_view url, const std::string& domain) {
  const std::string host = url_host(url);
  return host.find(domain) != std::string::npos && registered_domain(host) == domain;
}

Result<void> for_each_selected(const PageView& view, const PageSelection& selection,
                               const MatchLook& look,
                               const std::function<Result<void>(const PageInfo&)>& visit) {
  const bool is_in_order =
      !selection.scores && selection.column == model::PageColumn::kIndex && !selection.descending;
  Result<void> done;
  if (is_in_order) {
    std::uint64_t left = selection.limit.value_or(~std::uint64_t{0});
    if (left == 0) return {};
    const auto walked = for_each_match(view, selection, look, [&](const PageInfo& page) {
      done = visit(page);
      return done.has_value() && --left != 0;
    });
    return done ? walked : done;
  }
  CRAWLSTORE_TRY(auto indexes, walk_down_ranking(view, selection));
  if (!indexes) {
    CRAWLSTORE_TRY(indexes, sort_matches(view, selection, look));
  }
  for (const std::uint64_t index : *indexes) {
    CRAWLSTORE_TRY(const auto page, view.page(index));
    CRAWLSTORE_TRY(visit(page));
  }
  return {};
}

}  // namespace crawlstore::cli
