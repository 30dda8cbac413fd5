// SPDX-License-Identifier: Apache-2.0
#include "queue/stored_run.h"

#include <algorithm>
#include <utility>

namespace crawlstore::queue {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
/// Bytes of an entry at most.
constexpr std::uint64_t kEntryBytesMax = sizeof(Entry);

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

Result<StoredRunPtr> store_run(RunSink& sink, std::vector<Entry>& entries,
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
