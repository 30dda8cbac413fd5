// SPDX-License-Identifier: Apache-2.0
#include "queue/group_neighbours.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <utility>

#include "queue/sort_entries.h"

namespace crawlstore::queue {

namespace {

using GroupNumber = std::uint16_t;

constexpr std::size_t kSamplesAGroup = 8;
/// From here on a group is cut.
constexpr std::size_t kGroupMax = 4 * kFragmentEntries;
static_assert(kGroupMax <= format::kQueueFragmentEntriesMax);
/// Distance of prefetches: two cache lines.
constexpr std::size_t kPlacesAhead = 8;

/// Bounds between `group_count` groups of about the same size.
std::vector<Entry> choose_bounds(std::span<const Entry> entries, std::size_t group_count) {
  // Evenly, with a step that no pattern of the input is likely to have.
  const std::size_t sample_count = group_count * kSamplesAGroup;
  std::vector<Entry> samples;
  samples.reserve(sample_count);
  std::uint64_t random = 0x9E37'79B9'7F4A'7C15;
  for (std::size_t i = 0; i < sample_count; ++i) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    const std::size_t stratum = entries.size() / sample_count;
    samples.push_back(entries[i * stratum + (random >> 33U) % stratum]);
  }
  std::ranges::sort(samples);
  std::vector<Entry> bounds;
  for (std::size_t i = kSamplesAGroup; i < sample_count; i += kSamplesAGroup) {
    if (bounds.empty() || bounds.back() < samples[i]) bounds.push_back(samples[i]);
  }
  return bounds;
}

/// Finds groups as Splitters does, of which no bound comes or goes. The numbers from the first
/// bound to the last are divided into equal cells, of which each knows its first group: so a search
/// is among the bounds of one cell.
class GroupFinder {
 public:
  /// `bounds`: at least one
  explicit GroupFinder(std::vector<Entry> bounds)
      : bounds_(std::move(bounds)), lowest_(as_number(bounds_.front())) {
    const std::size_t count = bounds_.size();
    const Number range = as_number(bounds_.back()) - lowest_;
    while (range >> shift_ >= kCellsABound * count) ++shift_;
    last_cell_ = static_cast<std::size_t>(range >> shift_);
    firsts_.reserve(last_cell_ + 1);
    std::size_t crowd = 0;
    for (std::size_t cell = 0, at = 0; cell <= last_cell_; ++cell) {
      const std::size_t first = at;
      while (at < count && cell_of(as_number(bounds_[at])) == cell) ++at;
      firsts_.push_back(static_cast<GroupNumber>(first));
      crowd = std::max(crowd, at - first);
    }
    half_ = std::bit_floor(crowd);
    // Searches look that far behind the last one.
    bounds_.resize(count + 2 * half_, kBehindAll);
  }

  /// Calls visit(group) for each in turn, several searches at a time.
  template <class Visit>
  void find_all(std::span<const Entry> entries, const Visit& visit) const {
    constexpr std::size_t kAtATime = 8;
    for (; entries.size() >= kAtATime; entries = entries.subspan(kAtATime)) {
      find<kAtATime>(entries.data(), visit);
    }
    for (const Entry& entry : entries) find<1>(&entry, visit);
  }

 private:
  static constexpr std::size_t kCellsABound = 16;

  [[nodiscard]] std::size_t cell_of(Number number) const {
    const Number above = number < lowest_ ? 0 : number - lowest_;
    return static_cast<std::size_t>(std::min<Number>(above >> shift_, last_cell_));
  }
  template <std::size_t kCount, class Visit>
  void find(const Entry* entries, const Visit& visit) const {
    std::size_t groups[kCount];
    for (std::size_t i = 0; i < kCount; ++i) groups[i] = firsts_[cell_of(as_number(entries[i]))];
    for (std::size_t half = half_; half > 0; half /= 2) {
      for (std::size_t i = 0; i < kCount; ++i) {
        const bool is_right = as_number(bounds_[groups[i] + half - 1]) <= as_number(entries[i]);
        groups[i] += is_right ? half : 0;
      }
    }
    for (const std::size_t group : groups) visit(group);
  }

  std::vector<Entry> bounds_;
  Number lowest_;
  unsigned shift_ = 0;
  std::size_t last_cell_ = 0;
  std::vector<GroupNumber> firsts_;  // of each cell: how many bounds are in those before
  std::size_t half_ = 0;
};

/// The ends of groups of entries that ascend.
std::vector<std::size_t> cut_evenly(std::size_t entry_count) {
  std::vector<std::size_t> ends;
  ends.reserve(entry_count / kFragmentEntries + 1);
  for (std::size_t end = kFragmentEntries; end < entry_count; end += kFragmentEntries) {
    ends.push_back(end);
  }
  ends.push_back(entry_count);
  return ends;
}

/// Copies entries to `out`, each to the next place of its group.
void scatter(std::span<const Entry> entries, std::span<const GroupNumber> groups,
             std::vector<std::size_t>& places, std::vector<Entry>& out) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::size_t place = places[groups[i]]++;
    // Groups have too many ends for the processor to see that each of them ascends.
    __builtin_prefetch(&out[std::min(place + kPlacesAhead, out.size() - 1)], 1);
    out[place] = entries[i];
  }
}

/// Sorts groups that came out too large, and cuts them.
void cut_large_groups(std::vector<Entry>& entries, std::vector<std::size_t>& ends,
                      std::vector<Entry>& room) {
  std::vector<std::size_t> cut;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    if (end - begin > kGroupMax) {
      sort_entries(std::span(entries).subspan(begin, end - begin), room);
      for (std::size_t at = begin + kFragmentEntries; at < end; at += kFragmentEntries) {
        cut.push_back(at);
      }
    }
    if (end > begin) cut.push_back(end);
    begin = end;
  }
  ends = std::move(cut);
}

}  // namespace

std::vector<std::size_t> group_neighbours(std::vector<Entry>& entries, std::vector<Entry>& room) {
  // If there are more groups now, they were cut.
  constexpr std::size_t kGroupsMax = std::numeric_limits<GroupNumber>::max();
  const std::size_t group_count = std::min(entries.size() / kFragmentEntries, kGroupsMax);
  if (group_count < 2) return {entries.size()};
  if (std::ranges::is_sorted(entries, std::greater<>())) std::ranges::reverse(entries);
  if (std::ranges::is_sorted(entries)) return cut_evenly(entries.size());
  const std::vector<Entry> bounds = choose_bounds(entries, group_count);
  std::vector<std::size_t> ends(bounds.size() + 1);
  std::vector<GroupNumber> groups(entries.size());
  auto next = groups.begin();
  GroupFinder(bounds).find_all(entries, [&](std::size_t group) {
    ++ends[group];
    *next++ = static_cast<GroupNumber>(group);
  });
  std::vector<std::size_t> places;
  places.reserve(ends.size());
  std::size_t sum = 0;
  for (std::size_t& end : ends) {
    places.push_back(sum);
    sum += end;
    end = sum;
  }
  room.resize(entries.size());
  scatter(entries, groups, places, room);
  entries.swap(room);
  cut_large_groups(entries, ends, room);
  return ends;
}

}  // namespace crawlstore::queue
