// SPDX-License-Identifier: Apache-2.0
#include "cli/split_parts.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <crawlstore/queue.h>
#include <crawlstore/values.h>

namespace crawlstore::cli {
namespace {

/// Entries that wait in memory, at most.
constexpr std::size_t kBatch = std::size_t{1} << 16;
/// The least that a queue takes.
constexpr std::uint64_t kSplitQueueMemoryMin = std::uint64_t{32} << 20;

/// Keys of a DRUM on their way to one half.
class DrumBatch {
 public:
  static constexpr std::size_t kBytesMax = std::size_t{1} << 20;

  void add(Key16 key, std::span<const std::byte> value) {
    keys_.push_back(key);
    bytes_.insert(bytes_.end(), value.begin(), value.end());
    ends_.push_back(bytes_.size());
  }
  [[nodiscard]] bool is_full() const {
    return keys_.size() >= kBatch || bytes_.size() >= kBytesMax;
  }
  Result<void> submit_to(DrumCore& core) const {
    std::vector<RawRequest> requests;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      RawRequest request;
      request.operation = DrumOperation::kUpdate;
      request.key = keys_[i].head;
      request.key_tail = keys_[i].tail;
      request.value = std::span(bytes_).subspan(begin, ends_[i] - begin);
      begin = ends_[i];
      requests.push_back(request);
    }
    return core.submit(requests);
  }
  void clear() {
    keys_.clear();
    bytes_.clear();
    ends_.clear();
  }

 private:
  std::vector<Key16> keys_;
  std::vector<std::byte> bytes_;
  std::vector<std::size_t> ends_;
};

Result<std::shared_ptr<DrumCore>> make_drum(const DrumInfo& info, const SplitWork& work,
                                            SplitHalf& half) {
  DrumOptions made;
  made.key_bytes = info.key_bytes;
  made.key_scheme = info.key_scheme;
  made.normalizer = info.normalizer;
  made.expected_keys = info.key_count;
  made.memory_bytes = work.memory_bytes;
  CRAWLSTORE_TRY(auto core, DrumCore::open(half.store, info.name, info.value_bytes, made));
  core->attach({}, [](std::span<const RawAnswer>) {});
  core->count_unparsed(info.unparsed_count);
  return core;
}

/// One pass over the keys for each half, which needs no room for two DRUMs at a time.
Result<void> copy_drum_to(const DrumView& from, const SplitWork& work, SplitHalf& half) {
  CRAWLSTORE_TRY(const auto core, make_drum(from.info(), work, half));
  DrumBatch batch;
  std::uint64_t count = 0;
  Result<void> done;
  const auto submit = [&]() -> Result<void> {
    CRAWLSTORE_TRY(batch.submit_to(*core));
    batch.clear();
    return work.look(count, from.info().key_count);
  };
  CRAWLSTORE_TRY(from.for_each_key([&](Key16 key, std::span<const std::byte> value) {
    batch.add(key, value);
    ++count;
    if (batch.is_full()) done = submit();
    return done.has_value();
  }));
  if (done) done = submit();
  CRAWLSTORE_TRY(done);
  CRAWLSTORE_TRY(core->merge());
  return core->close();
}

}  // namespace

Result<std::uint64_t> copy_values(const Snapshot& snapshot, SplitWork& work) {
  CRAWLSTORE_TRY(const auto values, read_values(snapshot));
  std::uint64_t count = 0;
  for (const auto& [name, bytes] : values) {
    if (name.starts_with('.')) continue;
    for (std::size_t half = 0; half < work.halves.size(); ++half) {
      work.working_on = half;
      CRAWLSTORE_TRY(work.halves[half].store.set(name, bytes));
    }
    ++count;
  }
  return count;
}

Result<void> copy_drum(const Snapshot& snapshot, const DrumInfo& info, SplitWork& work) {
  CRAWLSTORE_TRY(const auto from, DrumView::open(snapshot, info.name));
  for (std::size_t half = 0; half < work.halves.size(); ++half) {
    work.working_on = half;
    CRAWLSTORE_TRY(copy_drum_to(from, work, work.halves[half]));
  }
  return {};
}

Result<SplitEntries> split_queue(const Snapshot& snapshot, const std::string& name,
                                 const SplitIndexes& indexes, SplitWork& work) {
  CRAWLSTORE_TRY(const auto from, QueueView::open(snapshot, name));
  QueueOptions made;
  made.memory_bytes = std::max(work.memory_bytes, kSplitQueueMemoryMin);
  std::vector<Queue> to;
  for (std::size_t half = 0; half < work.halves.size(); ++half) {
    work.working_on = half;
    CRAWLSTORE_TRY(auto queue, Queue::open(work.halves[half].store, name, made));
    to.push_back(std::move(queue));
  }
  SplitEntries counts;
  std::vector<std::vector<QueuedPage>> waiting(to.size());
  const auto insert = [&](std::size_t half) -> Result<void> {
    work.working_on = half;
    CRAWLSTORE_TRY(to[half].insert(waiting[half]));
    waiting[half].clear();
    return work.look(counts.entry_count, from.info().page_count);
  };
  Result<void> done;
  const auto take = [&](const QueuedPage& page) -> Result<void> {
    if (page.page >= indexes.page_count()) {
      return fail(Errc::kInvalidArgument,
                  "a queue holds numbers that are no pages of the database: `--database` names "
                  "another, `--leave queues` goes on without queues");
    }
    CRAWLSTORE_TRY(const auto place, indexes.find(page.page));
    if (!place) {
      ++counts.gone_count;
      return {};
    }
    ++counts.entry_count;
    waiting[place->half].push_back({place->index, page.priority});
    return waiting[place->half].size() < kBatch ? Result<void>() : insert(place->half);
  };
  CRAWLSTORE_TRY(from.for_each_page([&](const QueuedPage& page) {
    done = take(page);
    return done.has_value();
  }));
  CRAWLSTORE_TRY(done);
  for (std::size_t half = 0; half < to.size(); ++half) {
    CRAWLSTORE_TRY(insert(half));
    CRAWLSTORE_TRY(to[half].close());
  }
  return counts;
}

}  // namespace crawlstore::cli
