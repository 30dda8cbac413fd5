// SPDX-License-Identifier: Apache-2.0
#include "paper_ahead.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace crawlstore::bench {
namespace {

constexpr std::size_t kSmall = 16;   ///< chunks up to that size are selected from, not split
constexpr std::size_t kSamples = 9;  ///< of all queues, for a threshold

}  // namespace

void PaperAheadQueue::insert_many(std::span<const PaperEntry> entries) {
  for (const PaperEntry& entry : entries) {
    std::size_t i = 0;
    while (i + 1 < chunks_.size() && !work_.is_less(chunks_[i + 1].last, entry)) ++i;
    chunks_[i].entries.push_back(entry);
  }
  size_ += entries.size();
}

std::vector<PaperEntry> PaperAheadQueue::extract_top(std::size_t count) {
  const std::uint64_t before = work_.comparisons;
  std::vector<PaperEntry> taken = take(count);
  work_ahead(taken.size(), before);
  return taken;
}

std::vector<PaperEntry> PaperAheadQueue::take(std::size_t count) {
  std::vector<PaperEntry> taken;
  count = std::min(count, size_);
  while (taken.size() < count) {
    const std::size_t left = count - taken.size();
    if (chunks_.back().size() > left) {
      cut_head(left);
      continue;
    }
    const Chunk& head = chunks_.back();
    for (const auto* part : {&head.entries, &head.low, &head.high})
      taken.insert(taken.end(), part->begin(), part->end());
    chunks_.pop_back();
    if (chunks_.empty()) chunks_.emplace_back();
  }
  size_ -= count;
  return taken;
}

/// Makes the head smaller, to `count` entries at last.
void PaperAheadQueue::cut_head(std::size_t count) {
  if (chunks_.back().is_splitting) return finish(chunks_.size() - 1);
  const std::size_t size = chunks_.back().size();
  if (size > 2 * count + kSmall) {
    begin_split(chunks_.back());
    finish(chunks_.size() - 1);
    if (chunks_.back().size() < size) return;  // not so of equal entries
  }
  std::vector<PaperEntry>& entries = chunks_.back().entries;
  select_keys(entries, count - 1, work_, [&](std::uint64_t end) { return random_below(end); });
  const auto middle = entries.begin() + static_cast<std::ptrdiff_t>(count);
  Chunk first;
  first.last = *(middle - 1);
  first.entries.assign(entries.begin(), middle);
  entries.erase(entries.begin(), middle);
  chunks_.push_back(std::move(first));
}

/// By the median of a sample.
void PaperAheadQueue::begin_split(Chunk& chunk) {
  const std::size_t size = chunk.entries.size();
  std::vector<PaperEntry> some(std::min<std::size_t>(size / kSmall | 1, 31));
  for (PaperEntry& entry : some) entry = chunk.entries[random_below(size)];
  std::sort(some.begin(), some.end(),
            [&](const PaperEntry& a, const PaperEntry& b) { return work_.is_less(a, b); });
  chunk.pivot = some[some.size() / 2];
  chunk.is_splitting = true;
}

void PaperAheadQueue::go_on(std::size_t i, std::uint64_t limit) {
  Chunk& chunk = chunks_[i];
  while (!chunk.entries.empty()) {
    if (work_.comparisons >= limit) return;
    const bool is_high = work_.is_less(chunk.pivot, chunk.entries.back());
    (is_high ? chunk.high : chunk.low).push_back(chunk.entries.back());
    chunk.entries.pop_back();
  }
  Chunk low;
  low.last = chunk.pivot;
  low.entries = std::move(chunk.low);
  chunk.entries = std::move(chunk.high);
  chunk.low = chunk.high = {};
  chunk.is_splitting = false;
  if (chunk.entries.empty() && i > 0) {  // all are at most the pivot
    chunk.last = low.last;
    chunk.entries = std::move(low.entries);
  } else {
    chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(i) + 1, std::move(low));
  }
}

void PaperAheadQueue::work_ahead(std::size_t count, std::uint64_t comparisons_before) {
  if (count == 0 || size_ == 0) return;
  const auto r = static_cast<double>(count);
  const double allowed = effort_ * r * std::log2(2 + 2 * static_cast<double>(size_) / r);
  const std::uint64_t limit = comparisons_before + static_cast<std::uint64_t>(allowed);
  for (const std::size_t ratio : {2U, 1U}) {
    std::size_t distance = 0;  // entries before the chunk
    std::size_t refused = 0;   // a split that got nowhere, as for equal entries
    for (std::size_t i = chunks_.size(); i > 0 && work_.comparisons < limit;) {
      Chunk& chunk = chunks_[i - 1];
      const bool is_due = chunk.is_splitting || chunk.size() > ratio * (distance + count);
      if (!is_due || refused == i) {
        distance += chunk.size();
        --i;
        continue;
      }
      const std::size_t chunk_count = chunks_.size();
      if (!chunk.is_splitting) begin_split(chunk);
      go_on(i - 1, limit);
      if (chunks_.size() > chunk_count) {
        ++i;  // the lower half is looked at next
      } else {
        refused = i;
      }
    }
  }
}

std::size_t PaperAheadQueue::split_at(const PaperEntry& key) {
  std::size_t before = 0;
  for (std::size_t i = chunks_.size(); i > 0;) {
    Chunk& chunk = chunks_[i - 1];
    if (i == 1 || !work_.is_less(chunk.last, key)) {
      if (i > 1 && chunk.last == key) return before + chunk.size();
      const std::size_t chunk_count = chunks_.size();
      if (chunk.is_splitting) {
        finish(i - 1);
        i += chunks_.size() - chunk_count;
        continue;
      }
      chunk.pivot = key;
      chunk.is_splitting = true;
      finish(i - 1);
      return before + (chunks_.size() > chunk_count ? chunks_[i].size() : chunks_[i - 1].size());
    }
    before += chunk.size();
    --i;
  }
  return before;
}

PaperEntry PaperAheadQueue::sample(const PaperEntry* low, const PaperEntry& high) {
  std::size_t end = chunks_.size();
  while (low != nullptr && end > 1 && chunks_[end - 1].last <= *low) --end;
  std::size_t total = 0;
  std::size_t begin = end;
  while (begin > 1 && chunks_[begin - 1].last <= high) total += chunks_[--begin].size();
  std::size_t at = random_below(total);
  for (std::size_t i = end;; at -= chunks_[--i].size()) {
    const Chunk& chunk = chunks_[i - 1];
    if (at >= chunk.size()) continue;
    if (at < chunk.entries.size()) return chunk.entries[at];
    at -= chunk.entries.size();
    return at < chunk.low.size() ? chunk.low[at] : chunk.high[at - chunk.low.size()];
  }
}

PaperEntry PaperAheadQueue::bound_of(std::size_t count) {
  constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  count = std::min(count, size_);
  while (true) {
    std::size_t before = 0;
    std::size_t i = chunks_.size();
    while (i > 1 && before + chunks_[i - 1].size() < count) before += chunks_[--i].size();
    Chunk& chunk = chunks_[i - 1];
    if (chunk.size() <= 2 * count + kSmall || before + chunk.size() <= count) {
      if (i > 1) return chunk.last;
      return {.order = kAll, .page = kAll};
    }
    if (!chunk.is_splitting) begin_split(chunk);
    finish(i - 1);
  }
}

std::string PaperAheadQueue::check() const {
  std::size_t found = 0;
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    const Chunk& chunk = chunks_[i];
    found += chunk.size();
    for (const auto* part : {&chunk.entries, &chunk.low, &chunk.high}) {
      for (const PaperEntry& entry : *part) {
        if (i > 0 && chunk.last < entry) return "an entry is greater than its chunk";
        if (i + 1 < chunks_.size() && entry < chunks_[i + 1].last)
          return "an entry is less than the chunk before";
        if (chunk.is_splitting && part != &chunk.entries &&
            (part == &chunk.low) == (chunk.pivot < entry))
          return "an entry is on the wrong side of a split";
      }
    }
  }
  return found == size_ ? "" : "entries are lost";
}

std::vector<std::vector<PaperEntry>> extract_exact(std::span<PaperAheadQueue* const> queues,
                                                   std::size_t count,
                                                   std::uint64_t& serial_comparisons) {
  const std::size_t n = queues.size();
  std::vector<std::uint64_t> before(n);
  std::vector<std::size_t> low_counts(n);
  std::vector<std::size_t> high_counts(n);
  PaperWork serial;
  PaperEntry high;
  for (std::size_t q = 0; q < n; ++q) {
    before[q] = queues[q]->work().comparisons;
    high = std::max(high, queues[q]->bound_of((count + n - 1) / n));
    ++serial.comparisons;
  }
  const auto split_all = [&](const PaperEntry& key, std::vector<std::size_t>& counts) {
    for (std::size_t q = 0; q < n; ++q) counts[q] = queues[q]->split_at(key);
    return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  };
  std::size_t high_count = split_all(high, high_counts);
  std::size_t low_count = 0;
  std::optional<PaperEntry> low;
  std::uint64_t random = count;
  while (high_count != count) {
    // Some of the entries between, of queues by how many they have there.
    PaperEntry some[kSamples];
    for (PaperEntry& entry : some) {
      std::size_t at = mix(random += 0x9E3779B97F4A7C15U) % (high_count - low_count);
      std::size_t q = 0;
      for (; at >= high_counts[q] - low_counts[q]; ++q) at -= high_counts[q] - low_counts[q];
      entry = queues[q]->sample(low ? &*low : nullptr, high);
    }
    std::sort(std::begin(some), std::end(some),
              [&](const PaperEntry& a, const PaperEntry& b) { return serial.is_less(a, b); });
    const PaperEntry key = some[kSamples * (count - low_count) / (high_count - low_count)];
    std::vector<std::size_t> counts(n);
    const std::size_t found = split_all(key, counts);
    if (found < count) {
      low = key;
      low_count = found;
      low_counts = counts;
    } else {
      high = key;
      high_count = found;
      high_counts = counts;
    }
  }
  std::vector<std::vector<PaperEntry>> taken(n);
  for (std::size_t q = 0; q < n; ++q) {
    taken[q] = queues[q]->take(high_counts[q]);
    queues[q]->work_ahead(count / n, before[q]);
  }
  serial_comparisons += serial.comparisons;
  return taken;
}

std::unique_ptr<PaperQueue> make_paper_ahead(const PaperOptions& options) {
  return std::make_unique<PaperAheadQueue>(options.effort, options.seed);
}

}  // namespace crawlstore::bench
