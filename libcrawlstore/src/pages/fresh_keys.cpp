// SPDX-License-Identifier: Apache-2.0
#include "pages/fresh_keys.h"

#include <algorithm>
#include <utility>

#include "container/choose_join.h"

namespace crawlstore::pages {
namespace {

/// More would not fit a partition. They go into the DRUM, which has many.
constexpr std::uint64_t kRunKeysMax = std::uint64_t{1} << 30;

std::vector<format::RunRef> runs_of(const container::SegmentWriter& writer, SegmentId segment) {
  return segment ? writer.find(segment)->runs : std::vector<format::RunRef>{};
}

std::uint64_t key_count_of(std::span<const format::RunRef> runs) {
  std::uint64_t count = 0;
  for (const auto& run : runs) count += run.record_count;
  return count;
}

/// The keys of the runs and the edits as one.
Result<std::unique_ptr<drum::MergedKeys>> merged(container::SegmentWriter& writer,
                                                 SegmentId segment,
                                                 std::span<const format::RunRef> runs,
                                                 std::span<const drum::KeyEdit> edits) {
  std::vector<std::unique_ptr<drum::KeySource>> sources;
  for (const auto& run : runs) {
    CRAWLSTORE_TRY(auto opened, drum::PartitionKeys::open(
                                    writer.storage(),
                                    container::run_name(writer.identity(), segment, run.run_id),
                                    run, kPageKeyShape));
    sources.push_back(std::move(opened));
  }
  sources.push_back(std::make_unique<drum::EditKeys>(edits));
  return drum::MergedKeys::open(std::move(sources));
}

}  // namespace

Result<format::RunRef> write_key_run(container::SegmentWriter& writer,
                                     const format::RunLabel& label, drum::KeySource& source,
                                     container::WorkSteps& steps) {
  CRAWLSTORE_TRY(const auto count, source.count_to(~std::uint64_t{0}));
  const std::uint64_t bytes = drum::partition_bytes_max(
      count, ~std::uint64_t{0}, count * format::kPageValueBytes, kPageKeyShape.is_wide());
  CRAWLSTORE_TRY(auto started, container::RunWriter::start(writer, label, bytes));
  drum::PartitionWriter partition(std::move(started), kPageKeyShape);
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

Result<std::optional<format::RunRef>> write_key_run_without(container::SegmentWriter& writer,
                                                            const format::RunLabel& label,
                                                            const format::RunRef& run,
                                                            std::span<const drum::KeyEdit> removals,
                                                            container::WorkSteps& steps) {
  if (removals.size() >= run.record_count) return std::nullopt;
  steps.expect(run.record_count);
  CRAWLSTORE_TRY(const auto source, merged(writer, label.segment, std::span(&run, 1), removals));
  CRAWLSTORE_TRY(const auto written, write_key_run(writer, label, *source, steps));
  return std::optional(written);
}

Result<FreshKeys> FreshKeys::open(container::SegmentWriter& writer, SegmentId segment) {
  FreshKeys keys;
  // The storage lives as long as the writer.
  const std::shared_ptr<Storage> storage(std::shared_ptr<void>(), &writer.storage());
  for (const auto& run : runs_of(writer, segment)) {
    const auto name = container::run_name(writer.identity(), segment, run.run_id);
    CRAWLSTORE_TRY(
        auto opened,
        drum::PartitionLookup::open(
            std::make_shared<const container::RunReader>(storage, name, run), kPageKeyShape));
    keys.runs_.push_back(std::move(opened));
  }
  return keys;
}

Result<void> find_in_run(container::SegmentWriter& writer, SegmentId segment,
                         const format::RunRef& run, std::span<const Key16> keys,
                         const drum::VisitFound& visit) {
  const std::shared_ptr<Storage> storage(std::shared_ptr<void>(), &writer.storage());
  const auto name = container::run_name(writer.identity(), segment, run.run_id);
  CRAWLSTORE_TRY(
      const auto opened,
      drum::PartitionLookup::open(std::make_shared<const container::RunReader>(storage, name, run),
                                  kPageKeyShape));
  return drum::find_sorted(opened, keys, 0, keys.size(), visit);
}

Result<void> FreshKeys::find_sorted(std::span<const Key16> keys,
                                    const drum::VisitFound& visit) const {
  for (const auto& run : runs_) {
    CRAWLSTORE_TRY(drum::find_sorted(run, keys, 0, keys.size(), visit));
  }
  return {};
}

Result<void> add_keys(container::SegmentWriter& writer, PagesState& state, drum::KeyTable& keys,
                      std::span<const drum::KeyEdit> edits, container::WorkSteps& steps) {
  if (edits.empty()) return {};
  SegmentId& segment = state.table.fresh_keys;
  std::vector<format::RunRef> runs = runs_of(writer, segment);
  const std::uint64_t fresh_count = key_count_of(runs) + edits.size();
  if (2 * fresh_count > keys.key_count() || fresh_count > kRunKeysMax) {
    return settle_keys(writer, state, keys, edits, steps);
  }
  std::size_t first = runs.size();  // of those to be joined
  if (runs.size() >= kFreshKeyRunsMax) {
    std::vector<std::uint64_t> sizes(runs.size());
    std::transform(runs.begin(), runs.end(), sizes.begin(),
                   [](const format::RunRef& run) { return run.record_count; });
    sizes.push_back(edits.size());
    first = container::choose_join_to_few(sizes, kFreshKeyRunsMax);
  }
  if (!segment) segment = writer.new_segment_id();
  const auto joined = std::span<const format::RunRef>(runs).subspan(first);
  steps.expect(key_count_of(joined) + edits.size());
  CRAWLSTORE_TRY(const auto source, merged(writer, segment, joined, edits));
  const format::RunLabel label{segment, SegmentKind::kFreshKeys, state.id, writer.new_run_ids(1)};
  CRAWLSTORE_TRY(const auto written, write_key_run(writer, label, *source, steps));
  runs.resize(first);
  runs.push_back(written);
  writer.put({segment, SegmentKind::kFreshKeys, StorageClass::kLog, state.id, {}, std::move(runs)});
  return {};
}

Result<void> settle_keys(container::SegmentWriter& writer, PagesState& state, drum::KeyTable& keys,
                         std::span<const drum::KeyEdit> edits, container::WorkSteps& steps) {
  SegmentId& segment = state.table.fresh_keys;
  const auto runs = runs_of(writer, segment);
  steps.expect(key_count_of(runs) + edits.size() + keys.key_count());
  CRAWLSTORE_TRY(const auto source, merged(writer, segment, runs, edits));
  CRAWLSTORE_TRY(keys.apply(writer, *source, steps));
  if (segment) writer.remove(segment);
  segment = {};
  return {};
}

}  // namespace crawlstore::pages
