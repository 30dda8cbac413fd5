// SPDX-License-Identifier: Apache-2.0
#include "pages/key_runs.h"

#include <algorithm>
#include <utility>

#include "container/choose_join.h"
#include "container/run_io.h"

namespace crawlstore::pages {
namespace {

/// The first of the runs that are joined with a new one of `added` keys.
std::size_t first_to_join(const KeyLog& log, std::span<const format::RunRef> runs,
                          std::uint64_t added) {
  if (runs.size() < log.runs_max) return runs.size();
  std::vector<std::uint64_t> sizes(runs.size());
  std::ranges::transform(runs, sizes.begin(), &format::RunRef::record_count);
  sizes.push_back(added);
  std::size_t first = container::choose_join_to_few(sizes, log.runs_max);
  while (first < runs.size() && key_count_of(runs.subspan(first)) + added > kRunKeysMax) ++first;
  return first;
}

}  // namespace

std::vector<format::RunRef> KeyLog::runs(const container::SegmentWriter& writer) const {
  return segment ? writer.find(segment)->runs : std::vector<format::RunRef>{};
}

void KeyLog::put(container::SegmentWriter& writer, std::vector<format::RunRef> runs) const {
  if (runs.empty()) {
    if (segment) writer.remove(segment);
    segment = {};
    return;
  }
  writer.put({segment, kind, StorageClass::kLog, owner, {}, std::move(runs)});
}

std::uint64_t key_count_of(std::span<const format::RunRef> runs) {
  std::uint64_t count = 0;
  for (const auto& run : runs) count += run.record_count;
  return count;
}

Result<std::unique_ptr<drum::MergedKeys>> merged_runs(container::SegmentWriter& writer,
                                                      const KeyLog& log,
                                                      std::span<const format::RunRef> runs,
                                                      std::unique_ptr<drum::KeySource> added) {
  std::vector<std::unique_ptr<drum::KeySource>> sources;
  for (const auto& run : runs) {
    const auto name = container::run_name(writer.identity(), log.segment, run.run_id);
    CRAWLSTORE_TRY(auto opened, drum::PartitionKeys::open(writer.storage(), name, run, log.shape));
    sources.push_back(std::move(opened));
  }
  if (added) sources.push_back(std::move(added));
  return drum::MergedKeys::open(std::move(sources));
}

Result<std::shared_ptr<const drum::PartitionLookup>> open_key_run(container::SegmentWriter& writer,
                                                                  const KeyLog& log,
                                                                  const format::RunRef& run) {
  // The storage lives as long as the writer.
  const std::shared_ptr<Storage> storage(std::shared_ptr<void>(), &writer.storage());
  const auto name = container::run_name(writer.identity(), log.segment, run.run_id);
  return drum::PartitionLookup::open(
      std::make_shared<const container::RunReader>(storage, name, run), log.shape);
}

Result<format::RunRef> write_key_run(container::SegmentWriter& writer, const KeyLog& log,
                                     drum::KeySource& source, container::WorkSteps& steps) {
  CRAWLSTORE_TRY(const auto count, source.count_to(~std::uint64_t{0}));
  const auto value_bytes = static_cast<std::uint64_t>(log.shape.value_bytes);
  const std::uint64_t bytes =
      drum::partition_bytes_max(count, ~std::uint64_t{0}, count * value_bytes, log.shape.is_wide());
  if (!log.segment) log.segment = writer.new_segment_id();
  const format::RunLabel label{log.segment, log.kind, log.owner, writer.new_run_ids(1)};
  CRAWLSTORE_TRY(auto started, container::RunWriter::start(writer, label, bytes));
  drum::PartitionWriter partition(std::move(started), log.shape);
  while (!source.at_end()) {
    if (!source.edit().removes) {
      CRAWLSTORE_TRY(partition.append(source.key(), source.edit().value));
    }
    CRAWLSTORE_TRY(source.advance());
    CRAWLSTORE_TRY(steps.add(1));
  }
  CRAWLSTORE_TRY(const auto done, partition.finish());
  partition.give_back();
  return done.run;
}

Result<void> append_keys(container::SegmentWriter& writer, const KeyLog& log,
                         std::unique_ptr<drum::KeySource> keys, std::uint64_t count,
                         container::WorkSteps& steps) {
  std::vector<format::RunRef> runs = log.runs(writer);
  const std::size_t first = first_to_join(log, runs, count);
  const auto joined = std::span<const format::RunRef>(runs).subspan(first);
  steps.expect(key_count_of(joined) + count);
  CRAWLSTORE_TRY(const auto source, merged_runs(writer, log, joined, std::move(keys)));
  CRAWLSTORE_TRY(const auto written, write_key_run(writer, log, *source, steps));
  runs.resize(first);
  runs.push_back(written);
  log.put(writer, std::move(runs));
  return {};
}

}  // namespace crawlstore::pages
