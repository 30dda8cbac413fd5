// SPDX-License-Identifier: Apache-2.0
//
// Indexes of two states of one store mean the same pages unless copies of it went on apart, which
// only shows in the URLs: so those of runs that are not in both are compared before anything else.
#include "pages/page_pairs.h"

#include <algorithm>

#include <crawlstore/page_key.h>

#include "pages/superstep.h"

namespace crawlstore::pages {
namespace {

/// Keys that are looked up in order: 48 bytes each.
constexpr std::size_t kWindowPages = std::size_t{1} << 20;

struct WantedKey {
  Key16 key;
  std::uint64_t old_index = 0;
  std::uint32_t witness = 0;
};

/// Pairs pages by their indexes. Returns false if an index names different pages, so that the
/// states do not follow each other.
Result<bool> pair_by_index(const ComparedPages& older, const ComparedPages& newer, DiffWork& work,
                           PagePairs& pairs) {
  auto old_runs = older.origin_runs();
  auto new_runs = newer.origin_runs();
  const std::size_t shared = count_shared(old_runs, new_runs, true);
  old_runs.erase(old_runs.begin(), old_runs.begin() + static_cast<std::ptrdiff_t>(shared));
  new_runs.erase(new_runs.begin(), new_runs.begin() + static_cast<std::ptrdiff_t>(shared));
  OriginWalk a(older, std::move(old_runs));
  OriginWalk b(newer, std::move(new_runs));
  CRAWLSTORE_TRY(work.blame(false, a.start()));
  CRAWLSTORE_TRY(work.blame(true, b.start()));
  bool is_one_history = true;
  while (!a.at_end() || !b.at_end()) {
    if (!a.at_end() && !b.at_end()) {
      const auto old_url = a.origin().url;
      const auto new_url = b.origin().url;
      if (old_url != new_url) {
        is_one_history = is_one_history && (old_url.empty() || new_url.empty());
        (new_url.empty() ? pairs.only_old : pairs.only_new).push_back(a.page());
      }
    }
    CRAWLSTORE_TRY(work.tell((a.at_end() ? 0 : 1) + (b.at_end() ? 0 : 1)));
    if (!a.at_end()) CRAWLSTORE_TRY(work.blame(false, a.advance()));
    if (!b.at_end()) CRAWLSTORE_TRY(work.blame(true, b.advance()));
    if (!is_one_history) return false;
  }
  return true;
}

/// Looks up keys, which ascend, and notes what they lead to.
Result<void> find_keys(const PageKeys& keys, const std::vector<WantedKey>& wanted,
                       PagePairs& pairs) {
  std::vector<Key16> sorted(wanted.size());
  std::transform(wanted.begin(), wanted.end(), sorted.begin(),
                 [](const WantedKey& it) { return it.key; });
  return keys.find_sorted(
      sorted, [&](std::size_t place, std::span<const std::byte> value) -> Result<void> {
        if (witness_in(value) != wanted[place].witness) return {};
        const std::uint64_t index = index_in(value);
        if (index >= pairs.in_old.size()) {
          return fail(Errc::kSegmentInvalid, "the key of a page has an index that no page has");
        }
        pairs.new_of[wanted[place].old_index] = index;
        pairs.in_old[index] = true;
        return {};
      });
}

/// Does what pair_by_index() does with a look-up a page, as walks end at damage.
Result<bool> pair_by_index_past_damage(const ComparedPages& older, const ComparedPages& newer,
                                       DiffWork& work, PagePairs& pairs) {
  const auto runs = older.origin_runs();
  const std::size_t shared = count_shared(runs, newer.origin_runs(), true);
  std::uint64_t page = 0;
  for (std::size_t i = 0; i < shared; ++i) page += runs[i].record_count;
  for (; page < std::min(older.page_count(), newer.page_count()); ++page) {
    CRAWLSTORE_TRY(const auto old_url, work.blame(false, older.known_url(page)));
    CRAWLSTORE_TRY(const auto new_url, work.blame(true, newer.known_url(page)));
    CRAWLSTORE_TRY(work.tell(2));
    if (!old_url || !new_url) {
      pairs.unknown.push_back(page);
    } else if (*old_url != *new_url) {
      if (!old_url->empty() && !new_url->empty()) return false;
      (new_url->empty() ? pairs.only_old : pairs.only_new).push_back(page);
    }
  }
  return true;
}

enum class KeyFound : std::uint8_t { kNo, kYes, kUnknown };

/// Looks for the key of a URL in a state that goes on past damage. `index`: the page, if it is
/// there.
Result<KeyFound> find_key(const ComparedPages& side, std::string_view url, std::uint64_t& index) {
  const PageView::Impl& inside = side.inside();
  if (inside.keys_error) return KeyFound::kUnknown;
  if (!inside.keys) return KeyFound::kNo;
  const PageKey key = page_key(url, inside.snapshot.key_seed());
  const auto value = inside.keys->lookup(key.key);
  if (!value) {
    // The key could be that of any page.
    CRAWLSTORE_TRY(inside.note_gap(PagePart::kKey, 0, side.page_count(), value.error()));
    return KeyFound::kUnknown;
  }
  if (!*value || witness_in(**value) != key.witness) return KeyFound::kNo;
  index = index_in(**value);
  return index < side.page_count() ? KeyFound::kYes : KeyFound::kUnknown;
}

/// Notes the pages of the newer state that may be pages of the older one that damage hides.
Result<void> find_unknown(const ComparedPages& older, const ComparedPages& newer, DiffWork& work,
                          PagePairs& pairs) {
  if (std::ranges::find(pairs.new_of, PagePairs::kUnknown) == pairs.new_of.end()) return {};
  pairs.may_be_old.assign(newer.page_count(), false);
  for (std::uint64_t page = 0; page < newer.page_count(); ++page) {
    CRAWLSTORE_TRY(work.tell(1));
    if (pairs.in_old[page]) continue;
    CRAWLSTORE_TRY(const auto url, work.blame(true, newer.known_url(page)));
    std::uint64_t index = 0;
    auto found = KeyFound::kUnknown;
    if (url && url->empty()) continue;  // forgotten
    if (url) {
      CRAWLSTORE_TRY(found, work.blame(false, find_key(older, *url, index)));
    }
    pairs.may_be_old[page] = found != KeyFound::kNo;
  }
  return {};
}

/// Does what pair_by_url() does with look-ups, as walks end at damage.
Result<void> pair_by_url_past_damage(const ComparedPages& older, const ComparedPages& newer,
                                     DiffWork& work, PagePairs& pairs) {
  pairs.old_of.assign(newer.page_count(), PagePairs::kNoPage);
  for (std::uint64_t page = 0; page < older.page_count(); ++page) {
    CRAWLSTORE_TRY(work.tell(1));
    CRAWLSTORE_TRY(const auto url, work.blame(false, older.known_url(page)));
    pairs.new_of[page] = !url           ? PagePairs::kUnknown
                         : url->empty() ? PagePairs::kForgotten
                                        : PagePairs::kNoPage;
    if (pairs.new_of[page] != PagePairs::kNoPage) continue;
    std::uint64_t index = 0;
    CRAWLSTORE_TRY(const auto found, work.blame(true, find_key(newer, *url, index)));
    if (found == KeyFound::kUnknown) pairs.new_of[page] = PagePairs::kUnknown;
    if (found != KeyFound::kYes) continue;
    pairs.new_of[page] = index;
    pairs.in_old[index] = true;
    pairs.old_of[index] = page;
  }
  return find_unknown(older, newer, work, pairs);
}

Result<void> pair_by_url(const ComparedPages& older, const ComparedPages& newer, DiffWork& work,
                         PagePairs& pairs) {
  pairs = {};
  pairs.by_url = true;
  pairs.new_of.assign(older.page_count(), PagePairs::kNoPage);
  pairs.in_old.assign(newer.page_count(), false);
  if (older.goes_on_past_damage()) return pair_by_url_past_damage(older, newer, work, pairs);
  const std::uint64_t seed = newer.inside().snapshot.key_seed();
  OriginWalk walk(older, older.origin_runs());
  CRAWLSTORE_TRY(work.blame(false, walk.start()));
  std::vector<WantedKey> wanted;
  while (!walk.at_end()) {
    const std::uint64_t index = walk.page();
    if (index >= pairs.new_of.size()) {
      return work.blame(
          false, Result<void>(fail(Errc::kSegmentInvalid, "there are more origins than pages",
                                   Error::kNoOffset, older.inside().table.origins)));
    }
    if (const auto url = walk.origin().url; url.empty()) {
      pairs.new_of[index] = PagePairs::kForgotten;
    } else {
      const PageKey key = page_key(url, seed);
      wanted.push_back({key.key, index, key.witness});
    }
    CRAWLSTORE_TRY(work.tell(1));
    CRAWLSTORE_TRY(work.blame(false, walk.advance()));
    if (wanted.size() < kWindowPages && !walk.at_end()) continue;
    std::sort(wanted.begin(), wanted.end(),
              [](const WantedKey& a, const WantedKey& b) { return a.key < b.key; });
    CRAWLSTORE_TRY(work.blame(true, find_keys(*newer.inside().keys, wanted, pairs)));
    wanted.clear();
  }
  return {};
}

std::uint64_t pages_in(const ComparedPages& side, std::size_t shared) {
  const auto runs = side.origin_runs();
  std::uint64_t count = 0;
  for (std::size_t i = shared; i < runs.size(); ++i) count += runs[i].record_count;
  return count;
}

}  // namespace

Result<void> DiffWork::tell(std::uint64_t steps, bool is_last) {
  done_ += steps;
  untold_ += steps;
  if (untold_ < kStepsPerCall && !is_last) return {};
  untold_ = 0;
  if (!progress_ || progress_(done_, std::max(done_, total_))) return {};
  return fail(Errc::kCancelled, "the comparison was stopped");
}

std::size_t count_shared(const std::vector<format::RunRef>& older,
                         const std::vector<format::RunRef>& newer, bool is_same_store) {
  if (!is_same_store) return 0;
  const auto [a, b] =
      std::mismatch(older.begin(), older.end(), newer.begin(), newer.end(), drum::is_same_run);
  return static_cast<std::size_t>(a - older.begin());
}

Result<PagePairs> pair_pages(const ComparedPages& older, const ComparedPages& newer,
                             bool is_same_store, DiffWork& work) {
  PagePairs pairs;
  const bool both = older.exists() && newer.exists();
  if (!both || !older.has_urls()) return pairs;
  if (is_same_store) {
    const std::size_t shared = count_shared(older.origin_runs(), newer.origin_runs(), true);
    work.expect(pages_in(older, shared) + pages_in(newer, shared));
    const auto pair = older.goes_on_past_damage() ? pair_by_index_past_damage : pair_by_index;
    CRAWLSTORE_TRY(const auto is_one_history, pair(older, newer, work, pairs));
    if (is_one_history) return pairs;
  }
  work.expect(older.page_count());
  CRAWLSTORE_TRY(pair_by_url(older, newer, work, pairs));
  return pairs;
}

}  // namespace crawlstore::pages
