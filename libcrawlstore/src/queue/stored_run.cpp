// SPDX-License-Identifier: Apache-2.0
#include "queue/stored_run.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "queue/sort_entries.h"

namespace crawlstore::queue {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::size_t kSamplesAGroup = 8;
/// From here on a group is cut.
constexpr std::size_t kGroupMax = 4 * kFragmentEntries;
static_assert(kGroupMax <= format::kQueueFragmentEntriesMax);
/// Bytes of an entry at most.
constexpr std::uint64_t kEntryBytesMax = sizeof(Entry);

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

std::size_t StoredRun::fragment_of(const Entry& entry) const {
  // Equal entries may be in two fragments.
  const auto from = std::ranges::lower_bound(index.fragments, entry, {}, format::lowest_of);
  const auto number = static_cast<std::size_t>(from - index.fragments.begin());
  return number == 0 ? 0 : number - 1;
}

std::uint64_t StoredRun::count_behind(const Entry& cut) const {
  const auto behind = std::ranges::upper_bound(index.fragments, cut, {}, format::lowest_of);
  std::uint64_t count = 0;
  for (auto at = behind; at != index.fragments.end(); ++at) count += at->entry_count;
  return count;
}

Result<std::uint64_t> StoredRun::count_left(const Entry& cut) const {
  const auto behind = std::ranges::upper_bound(index.fragments, cut, {}, format::lowest_of);
  std::vector<Entry> entries;
  if (behind != index.fragments.begin()) {
    const auto last = static_cast<std::size_t>(behind - index.fragments.begin()) - 1;
    CRAWLSTORE_TRY(read(last, cut, kBeforeAll, entries));
  }
  return count_behind(cut) + entries.size();
}

Result<void> StoredRun::read(std::size_t fragment, const Entry& cut, const Entry& floor,
                             std::vector<Entry>& out) const {
  const Extent place{index.offsets[fragment],
                     index.offsets[fragment + 1] - index.offsets[fragment]};
  CRAWLSTORE_TRY(const auto view, bytes->view(place));
  if (fragment + 1 < fragment_count()) {
    bytes->prefetch({place.end_bytes(), format::fragment_bytes(index.fragments[fragment + 1])});
  }
  const std::size_t before = out.size();
  out.resize(before + index.fragments[fragment].entry_count);
  const auto entries = std::span(out).subspan(before);
  CRAWLSTORE_TRY(format::decode_queue_fragment(index, fragment, view, entries));
  const auto end = std::remove_if(entries.begin(), entries.end(), [&](const Entry& entry) {
    return entry <= cut || entry < floor;
  });
  out.resize(before + static_cast<std::size_t>(end - entries.begin()));
  return {};
}

Result<RunBuilder> RunBuilder::start(RunSink& sink, std::uint64_t entry_count_max) {
  const std::uint64_t fragments_max = entry_count_max / (kFragmentEntries / 4) + 2;
  const std::uint64_t bytes_max = entry_count_max * kEntryBytesMax + sizeof(std::uint64_t) +
                                  fragments_max * sizeof(format::QueueFragment) +
                                  sizeof(format::QueueRunFooter);
  CRAWLSTORE_TRY(auto output, sink.start(bytes_max));
  return RunBuilder(std::move(output));
}

Result<void> RunBuilder::add(std::span<const Entry> entries) {
  if (index_.offsets.empty()) index_.offsets.push_back(0);
  const std::size_t before = buffer_.size();
  index_.fragments.push_back(format::encode_queue_fragment(entries, buffer_));
  index_.offsets.push_back(index_.offsets.back() + (buffer_.size() - before));
  index_.entry_count += entries.size();
  index_.highest = *std::ranges::max_element(entries);
  if (buffer_.size() < kBufferBytes) return {};
  CRAWLSTORE_TRY(output_->append(buffer_));
  buffer_.clear();
  return {};
}

Result<StoredRunPtr> RunBuilder::finish() {
  if (index_.fragments.empty()) return nullptr;
  format::encode_queue_tail(index_.fragments, index_.highest, buffer_);
  CRAWLSTORE_TRY(output_->append(buffer_));
  auto run = std::make_shared<StoredRun>();
  CRAWLSTORE_TRY(run->bytes, output_->finish(index_.entry_count));
  run->index = std::move(index_);
  return run;
}

std::vector<std::size_t> group_neighbours(std::vector<Entry>& entries, std::vector<Entry>& room) {
  // Where there were more groups they are cut.
  constexpr std::size_t kGroupsMax = std::numeric_limits<std::uint16_t>::max();
  const std::size_t group_count = std::min(entries.size() / kFragmentEntries, kGroupsMax);
  if (group_count < 2) return {entries.size()};
  Splitters splitters;
  splitters.insert(0, choose_bounds(entries, group_count));
  std::vector<std::size_t> ends(splitters.size() + 1);
  std::vector<std::uint16_t> groups;
  groups.reserve(entries.size());
  splitters.find_all(entries, [&](const Entry& /*entry*/, std::size_t group) {
    ++ends[group];
    groups.push_back(static_cast<std::uint16_t>(group));
  });
  std::vector<std::size_t> places;
  std::size_t sum = 0;
  for (std::size_t& end : ends) {
    places.push_back(sum);
    sum += end;
    end = sum;
  }
  room.resize(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) room[places[groups[i]]++] = entries[i];
  entries.swap(room);
  cut_large_groups(entries, ends, room);
  return ends;
}

Result<StoredRunPtr> write_run(RunSink& sink, std::vector<Entry>& entries,
                               std::vector<Entry>& room) {
  CRAWLSTORE_TRY(auto builder, RunBuilder::start(sink, entries.size()));
  std::size_t begin = 0;
  for (const std::size_t end : group_neighbours(entries, room)) {
    CRAWLSTORE_TRY(builder.add(std::span(entries).subspan(begin, end - begin)));
    begin = end;
  }
  return builder.finish();
}

}  // namespace crawlstore::queue
