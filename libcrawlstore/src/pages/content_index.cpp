// SPDX-License-Identifier: Apache-2.0
#include "pages/content_index.h"

#include <algorithm>
#include <utility>

#include <xxhash.h>

#include "container/tile_writer.h"

namespace crawlstore::pages {
namespace {

/// Keys that are sorted at once.
constexpr std::size_t kSortedKeys = std::size_t{1} << 22;

/// Ascending keys in memory, which outlive this.
class PlainKeys : public drum::KeySource {
 public:
  explicit PlainKeys(std::span<const Key16> keys) : left_(keys) { settle(); }
  Result<void> advance() override {
    left_ = left_.subspan(1);
    settle();
    return {};
  }
  Result<std::uint64_t> count_to(std::uint64_t last_head) override {
    const auto end =
        std::ranges::upper_bound(left_, last_head, {}, [](const Key16& key) { return key.head; });
    return static_cast<std::uint64_t>(end - left_.begin());
  }

 private:
  void settle() {
    edit_.reset();
    if (!left_.empty()) edit_ = drum::KeyEdit{left_.front(), false, {}};
  }

  std::span<const Key16> left_;  // edit_ first
};

void sort_unique(std::vector<Key16>& keys) {
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

/// Takes those out that a run has.
Result<void> drop_known(container::SegmentWriter& writer, const KeyLog& log,
                        std::vector<Key16>& keys) {
  for (const auto& run : log.runs(writer)) {
    if (keys.empty()) return {};
    std::vector<bool> is_known(keys.size());
    CRAWLSTORE_TRY(const auto opened, open_key_run(writer, log, run));
    CRAWLSTORE_TRY(drum::find_sorted(opened, keys, 0, keys.size(),
                                     [&](std::size_t place, auto) -> Result<void> {
                                       is_known[place] = true;
                                       return {};
                                     }));
    std::size_t place = 0;
    std::erase_if(keys, [&](const Key16&) { return is_known[place++]; });
  }
  return {};
}

/// Calls `visit` with the key of each page that has a content.
template <class Visit>
Result<void> for_each_content(container::SegmentWriter& writer, const PagesState& state,
                              container::WorkSteps& steps, const Visit& visit) {
  if (!state.table.records) return {};
  CRAWLSTORE_TRY(const auto tiles, container::TileWriter::open(writer, state.table.records));
  std::vector<std::byte> payload;
  std::vector<format::PageRecord> records;
  for (std::uint64_t tile = 0; tile < tiles.tile_count(); ++tile) {
    CRAWLSTORE_TRY(tiles.read(tile, payload));
    CRAWLSTORE_TRY(decode_records(payload, state.table.records, records));
    std::uint64_t page = tile * format::kTilePagesMax;
    for (const auto& record : records) {
      const std::span hash(record.hash.data(), record.hash_bytes);
      if (!hash.empty()) {
        CRAWLSTORE_TRY(visit(content_key(hash, page, writer.identity().key_seed)));
      }
      ++page;
    }
    CRAWLSTORE_TRY(steps.add(records.size()));
  }
  return {};
}

/// Sorts keys and writes them as runs.
class SortedRuns {
 public:
  SortedRuns(container::SegmentWriter& writer, const KeyLog& log, container::WorkSteps& steps)
      : writer_(writer), log_(log), steps_(steps) {}

  Result<void> add(Key16 key) {
    keys_.push_back(key);
    return keys_.size() < kSortedKeys ? Result<void>{} : write();
  }
  /// One run of all keys, or none.
  Result<std::vector<format::RunRef>> finish() {
    if (!keys_.empty()) CRAWLSTORE_TRY(write());
    if (runs_.size() <= 1) return runs_;
    steps_.expect(key_count_of(runs_));
    std::vector<format::RunRef> joined;
    {
      CRAWLSTORE_TRY(const auto source, merged_runs(writer_, log_, runs_));
      CRAWLSTORE_TRY(joined.emplace_back(), write_key_run(writer_, log_, *source, steps_));
    }
    for (const auto& run : runs_) writer_.release(run.extent());
    return joined;
  }

 private:
  Result<void> write() {
    std::ranges::sort(keys_);
    PlainKeys source(keys_);
    CRAWLSTORE_TRY(auto run, write_key_run(writer_, log_, source, steps_));
    runs_.push_back(run);
    keys_.clear();
    return {};
  }

  container::SegmentWriter& writer_;
  const KeyLog& log_;
  container::WorkSteps& steps_;
  std::vector<Key16> keys_;
  std::vector<format::RunRef> runs_;
};

}  // namespace

Key16 content_key(std::span<const std::byte> content_hash, std::uint64_t page,
                  std::uint64_t key_seed) {
  return {XXH3_64bits_withSeed(content_hash.data(), content_hash.size(), key_seed), page};
}

void NewContents::add(const format::PageRecord& record, std::uint64_t page,
                      std::uint64_t key_seed) {
  const std::span hash(record.hash.data(), record.hash_bytes);
  if (hash.empty()) return;
  (record.crawl_count == 0 ? first : later).push_back(content_key(hash, page, key_seed));
}

KeyLog content_log(PagesState& state) {
  return {state.table.contents, SegmentKind::kPageContents, state.id, kContentKeyShape,
          kContentRunsMax};
}

Result<void> add_contents(container::SegmentWriter& writer, PagesState& state, NewContents contents,
                          container::WorkSteps& steps) {
  const KeyLog log = content_log(state);
  sort_unique(contents.later);
  CRAWLSTORE_TRY(drop_known(writer, log, contents.later));
  std::vector<Key16> keys = std::move(contents.first);
  keys.insert(keys.end(), contents.later.begin(), contents.later.end());
  sort_unique(keys);
  if (keys.empty()) return {};
  return append_keys(writer, log, std::make_unique<PlainKeys>(keys), keys.size(), steps);
}

Result<bool> is_settled(container::SegmentWriter& writer, PagesState& state,
                        container::WorkSteps& steps) {
  const auto runs = content_log(state).runs(writer);
  if (runs.size() > 1) return false;
  steps.expect(state.table.page_count);
  std::uint64_t count = 0;
  CRAWLSTORE_TRY(for_each_content(writer, state, steps, [&count](Key16) -> Result<void> {
    ++count;
    return {};
  }));
  return key_count_of(runs) == count;
}

Result<void> rebuild_contents(container::SegmentWriter& writer, PagesState& state,
                              container::WorkSteps& steps) {
  const KeyLog log = content_log(state);
  steps.expect(2 * state.table.page_count);
  SortedRuns sorted(writer, log, steps);
  CRAWLSTORE_TRY(
      for_each_content(writer, state, steps, [&](Key16 key) { return sorted.add(key); }));
  CRAWLSTORE_TRY(auto runs, sorted.finish());
  log.put(writer, std::move(runs));
  return {};
}

}  // namespace crawlstore::pages
