// SPDX-License-Identifier: Apache-2.0
//
// Invariants: a task is four blocks of sources, and one worker's, so no two workers count or place
// the links of one cell. The counts of the first pass bound the writes of the second one, for a
// mapped file can change between them. Then the build fails, and nothing was written elsewhere.
#include "scores/link_cache.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "base/in_parallel.h"

namespace crawlstore::scores {
namespace {

constexpr unsigned kTargetBits = kStripeBitsMax;
constexpr std::uint32_t kTargetMask = (std::uint32_t{1} << kTargetBits) - 1;
constexpr unsigned kBlockBits = 32 - kTargetBits;  // so that no step between sources overflows
constexpr std::uint64_t kBlockPages = std::uint64_t{1} << kBlockBits;
constexpr unsigned kTaskBits = 16;
constexpr std::uint64_t kTaskPages = std::uint64_t{1} << kTaskBits;
// Entries by which links and values are asked for ahead of the additions. On one thread and a
// shuffled graph of 10 million pages, links half as far cost 9 % more time, values half as far 6 %.
constexpr std::uint64_t kEntriesAhead = 512;
constexpr std::uint64_t kValuesAhead = 2048;
constexpr std::uint64_t kNoBlock = std::numeric_limits<std::uint64_t>::max();

std::uint64_t ceiling_shift(std::uint64_t number, unsigned bits) {
  return (number >> bits) + ((number & ((std::uint64_t{1} << bits) - 1)) != 0 ? 1 : 0);
}

tl::unexpected<Error> changed(std::uint64_t page) {
  return fail(Errc::kSegmentInvalid, "links are not what they were when they were counted", page);
}

/// Calls take(page, links) for each row of a task.
template <class Take>
Result<void> for_each_row(const TableSource& source, std::uint64_t page_count, std::uint64_t task,
                          const Take& take) {
  std::uint64_t page_min = task << kTaskBits;
  const std::uint64_t end = page_min + kTaskPages;
  CRAWLSTORE_TRY(const auto rows, source.open(page_min));
  for (;;) {
    CRAWLSTORE_TRY(const bool has_row, rows->next());
    if (!has_row) return {};
    const std::uint64_t page = rows->page();
    if (page < page_min) {
      return fail(Errc::kSegmentInvalid, "rows of links do not ascend", page);
    }
    if (page >= page_count) {
      return fail(Errc::kSegmentInvalid, "links of a page that is none", page);
    }
    if (page >= end) return {};
    CRAWLSTORE_TRY(take(page, rows->links()));
    page_min = page + 1;
  }
}

}  // namespace

class LinkCacheBuilder {
 public:
  LinkCacheBuilder(const TableSource& source, std::uint64_t page_count,
                   const LinkCacheOptions& options)
      : source_(source),
        page_count_(page_count),
        task_count_(ceiling_shift(page_count, kTaskBits)),
        stripe_count_(ceiling_shift(page_count, options.stripe_bits)),
        options_(options) {
    cache_.stripe_bits_ = options.stripe_bits;
  }

  Result<LinkCache> build() {
    // First what needs most where there are many pages: the system refuses before anything grows.
    CRAWLSTORE_TRY(cache_.degrees_,
                   io::AnonymousArray<std::uint32_t>::map(page_count_, options_.folder));
    tasks_.resize(task_count_);
    CRAWLSTORE_TRY(count());
    arrange();
    CRAWLSTORE_TRY(cache_.entries_, io::AnonymousArray<std::uint32_t>::map(
                                        cache_.cells_.back().first_entry, options_.folder));
    CRAWLSTORE_TRY(place());
    return std::move(cache_);
  }

  /// The counts of a cell while the cache is built.
  struct CountedCell {
    std::uint32_t stripe;
    std::uint32_t block;
    std::uint64_t links;  // once arranged, where it stands in LinkCache::cells_
  };
  /// The place for the next link from a block to a stripe.
  struct Place {
    std::uint64_t next = 0;
    std::uint64_t end = 0;
    std::uint64_t source = 0;
  };

 private:
  using Cells = std::vector<CountedCell>;
  using Links = std::span<const std::uint64_t>;

  [[nodiscard]] unsigned workers() const {
    return static_cast<unsigned>(
        std::clamp<std::uint64_t>(options_.threads, 1, std::max<std::uint64_t>(task_count_, 1)));
  }
  template <class Work>
  Result<void> in_tasks(std::uint64_t tasks_before, const Work& work) const;
  Result<void> count();
  Result<void> count_task(std::uint64_t task, std::vector<std::uint64_t>& links_to);
  void arrange();
  Result<void> place();
  Result<void> place_task(std::uint64_t task, std::vector<Place>& places);
  Result<void> place_row(std::uint64_t page, Links links, std::vector<Place>& places);
  Result<void> check(std::uint64_t page, Links links) const;

  const TableSource& source_;
  const std::uint64_t page_count_;
  const std::uint64_t task_count_;
  const std::uint64_t stripe_count_;
  const LinkCacheOptions& options_;
  std::vector<Cells> tasks_;  // by block, then stripe
  LinkCache cache_;
};

template <class Work>
Result<void> LinkCacheBuilder::in_tasks(std::uint64_t tasks_before, const Work& work) const {
  return in_parallel(workers(), task_count_,
                     [&](std::uint64_t task, unsigned worker) -> Result<void> {
                       CRAWLSTORE_TRY(work(task, worker));
                       if (worker != 0 || !options_.progress) return {};
                       if (options_.progress(tasks_before + task, 2 * task_count_)) return {};
                       return fail(Errc::kCancelled, "the work was stopped");
                     });
}

Result<void> LinkCacheBuilder::check(std::uint64_t page, Links links) const {
  if (links.size() > std::numeric_limits<std::uint32_t>::max()) {
    return fail(Errc::kTooLarge, "a page has more links than can be counted", page);
  }
  // Not std::ranges::max: two passes over a row in the first-level cache cost less than a branch.
  std::uint64_t highest = 0;
  for (const std::uint64_t link : links) highest = std::max(highest, link);
  if (!links.empty() && highest >= page_count_) {
    return fail(Errc::kSegmentInvalid, "a link leads to a page that is none", page);
  }
  return {};
}

Result<void> LinkCacheBuilder::count() {
  std::vector<std::vector<std::uint64_t>> links_to(workers());
  return in_tasks(0, [&](std::uint64_t task, unsigned worker) {
    links_to[worker].resize(stripe_count_);
    return count_task(task, links_to[worker]);
  });
}

Result<void> LinkCacheBuilder::count_task(std::uint64_t task,
                                          std::vector<std::uint64_t>& links_to) {
  std::uint64_t block = kNoBlock;
  const auto close_block = [&] {
    if (block == kNoBlock) return;
    for (std::uint64_t stripe = 0; stripe < stripe_count_; ++stripe) {
      const std::uint64_t links = std::exchange(links_to[stripe], 0);
      if (links == 0) continue;
      tasks_[task].push_back(
          {static_cast<std::uint32_t>(stripe), static_cast<std::uint32_t>(block), links});
    }
  };
  const std::span<std::uint32_t> degrees = cache_.degrees_.span();
  const auto take = [&](std::uint64_t page, Links links) -> Result<void> {
    CRAWLSTORE_TRY(check(page, links));
    if (page >> kBlockBits != block) {
      close_block();
      block = page >> kBlockBits;
    }
    degrees[page] = static_cast<std::uint32_t>(links.size());
    for (const std::uint64_t link : links) ++links_to[link >> options_.stripe_bits];
    return {};
  };
  CRAWLSTORE_TRY(for_each_row(source_, page_count_, task, take));
  close_block();
  return {};
}

void LinkCacheBuilder::arrange() {
  std::vector<std::uint64_t>& first_cells = cache_.first_cells_;
  first_cells.assign(stripe_count_ + 1, 0);
  for (const Cells& cells : tasks_) {
    for (const CountedCell& cell : cells) ++first_cells[cell.stripe + 1];
  }
  std::partial_sum(first_cells.begin(), first_cells.end(), first_cells.begin());
  cache_.cells_.resize(first_cells.back() + 1);
  std::vector<std::uint64_t> next_cells(first_cells.begin(), first_cells.end() - 1);
  for (Cells& cells : tasks_) {
    for (CountedCell& cell : cells) {
      const std::uint64_t place = next_cells[cell.stripe]++;
      cache_.cells_[place] = {std::exchange(cell.links, place), cell.block};
    }
  }
  std::uint64_t entries = 0;
  for (LinkCache::Cell& cell : cache_.cells_) {
    const std::uint64_t links = std::exchange(cell.first_entry, entries);
    entries += links;
  }
  const auto links_of = [this](std::uint32_t stripe) {
    return cache_.cells_[cache_.first_cells_[stripe + 1]].first_entry -
           cache_.cells_[cache_.first_cells_[stripe]].first_entry;
  };
  cache_.longest_first_.resize(stripe_count_);
  std::iota(cache_.longest_first_.begin(), cache_.longest_first_.end(), 0);
  std::stable_sort(cache_.longest_first_.begin(), cache_.longest_first_.end(),
                   [&](auto a, auto b) { return links_of(a) > links_of(b); });
}

Result<void> LinkCacheBuilder::place() {
  std::vector<std::vector<Place>> places(workers());
  return in_tasks(task_count_, [&](std::uint64_t task, unsigned worker) {
    places[worker].resize(stripe_count_);
    return place_task(task, places[worker]);
  });
}

Result<void> LinkCacheBuilder::place_task(std::uint64_t task, std::vector<Place>& places) {
  const Cells& cells = tasks_[task];
  std::size_t first = 0;  // cells from here to `end` are those of `block`
  std::size_t end = 0;
  std::uint64_t block = kNoBlock;
  /// All cells before those of `next_block` must be full.
  const auto open_block = [&](std::uint64_t next_block) -> Result<void> {
    for (; first < end; ++first) {
      const Place& place = places[cells[first].stripe];
      if (place.next != place.end) return changed(block << kBlockBits);
    }
    if (end < cells.size() && cells[end].block < next_block) {
      return changed(std::uint64_t{cells[end].block} << kBlockBits);
    }
    block = next_block;
    for (; end < cells.size() && cells[end].block == block; ++end) {
      const LinkCache::Cell* const cell = &cache_.cells_[cells[end].links];
      places[cells[end].stripe] = {cell[0].first_entry, cell[1].first_entry, 0};
    }
    return {};
  };
  const auto take = [&](std::uint64_t page, Links links) -> Result<void> {
    if (page >> kBlockBits != block) CRAWLSTORE_TRY(open_block(page >> kBlockBits));
    return place_row(page, links, places);
  };
  CRAWLSTORE_TRY(for_each_row(source_, page_count_, task, take));
  return open_block(kNoBlock);
}

Result<void> LinkCacheBuilder::place_row(std::uint64_t page, Links links,
                                         std::vector<Place>& places) {
  CRAWLSTORE_TRY(check(page, links));
  if (links.size() != cache_.degrees_.span()[page]) return changed(page);
  const std::span<std::uint32_t> entries = cache_.entries_.span();
  const std::uint64_t source = page & (kBlockPages - 1);
  const std::uint64_t target_mask = cache_.stripe_pages() - 1;
  for (const std::uint64_t link : links) {
    Place& place = places[link >> options_.stripe_bits];
    if (place.next == place.end) return changed(page);
    const std::uint64_t step = source - std::exchange(place.source, source);
    entries[place.next++] = static_cast<std::uint32_t>(step << kTargetBits | (link & target_mask));
  }
  return {};
}

std::uint64_t LinkCache::memory_bytes(std::uint64_t page_count, std::uint64_t link_count,
                                      const LinkCacheOptions& options) {
  // Beyond these the build refuses, and no product below overflows.
  page_count = std::min(page_count, kPageCountMax + 1);
  link_count = std::min(link_count, std::numeric_limits<std::uint64_t>::max() >> 8);
  const unsigned bits = std::clamp(options.stripe_bits, kStripeBitsMin, kStripeBitsMax);
  const std::uint64_t stripes = ceiling_shift(page_count, bits);
  const std::uint64_t tasks = ceiling_shift(page_count, kTaskBits);
  const std::uint64_t blocks = ceiling_shift(page_count, kBlockBits);
  const std::uint64_t cells = std::min(link_count, blocks * stripes);
  const std::uint64_t workers =
      std::clamp<std::uint64_t>(options.threads, 1, std::max<std::uint64_t>(tasks, 1));
  // A vector that grows has an old half beside a new one that is twice as long.
  constexpr std::uint64_t kCellBytes = sizeof(Cell) + 3 * sizeof(LinkCacheBuilder::CountedCell);
  constexpr std::uint64_t kStripeBytes = 3 * sizeof(std::uint64_t);
  return page_count * sizeof(std::uint32_t) + link_count * sizeof(std::uint32_t) +
         cells * kCellBytes + tasks * sizeof(std::vector<Cell>) +
         stripes * (kStripeBytes + workers * sizeof(LinkCacheBuilder::Place));
}

Result<LinkCache> LinkCache::build(const TableSource& source, std::uint64_t page_count,
                                   const LinkCacheOptions& options) {
  if (page_count > kPageCountMax) {
    return fail(Errc::kTooLarge, "more pages than a store can have");
  }
  if (options.stripe_bits < kStripeBitsMin || options.stripe_bits > kStripeBitsMax) {
    return fail(Errc::kInvalidArgument, "a stripe has 2^12 to 2^18 pages");
  }
  return LinkCacheBuilder(source, page_count, options).build();
}

template <class Real>
void LinkCache::add_cells(std::uint32_t stripe, std::span<const Real> values,
                          std::span<double> sums) const {
  const std::span<const std::uint32_t> entries = entries_.span();
  double* const to = sums.data();
  for (std::uint64_t i = first_cells_[stripe]; i < first_cells_[stripe + 1]; ++i) {
    std::uint64_t source = cells_[i].block * kBlockPages;
    const auto add = [&](std::uint32_t entry) {
      source += entry >> kTargetBits;
      to[entry & kTargetMask] += static_cast<double>(values[source]);
    };
    const auto ask_for_values = [&] {
      __builtin_prefetch(&values[std::min(source + kValuesAhead, values.size() - 1)]);
    };
    std::uint64_t next = cells_[i].first_entry;
    const std::uint64_t end = cells_[i + 1].first_entry;
    for (; end - next >= 4; next += 4) {  // a quarter of a line of links, about a line of values
      // Links are read once an iteration: they shall not drive sums out of the caches.
      __builtin_prefetch(&entries[std::min(next + kEntriesAhead, entries.size() - 1)], 0, 0);
      add(entries[next]);
      ask_for_values();
      add(entries[next + 1]);
      add(entries[next + 2]);
      ask_for_values();
      add(entries[next + 3]);
    }
    for (; next < end; ++next) add(entries[next]);
  }
}

void LinkCache::add_up(std::uint32_t stripe, std::span<const float> values,
                       std::span<double> sums) const {
  add_cells(stripe, values, sums);
}

void LinkCache::add_up(std::uint32_t stripe, std::span<const double> values,
                       std::span<double> sums) const {
  add_cells(stripe, values, sums);
}

}  // namespace crawlstore::scores
