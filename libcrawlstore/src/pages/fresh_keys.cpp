// SPDX-License-Identifier: Apache-2.0
#include "pages/fresh_keys.h"

#include <utility>

namespace crawlstore::pages {

KeyLog fresh_log(PagesState& state) {
  return {state.table.fresh_keys, SegmentKind::kFreshKeys, state.id, kPageKeyShape,
          kFreshKeyRunsMax};
}

Result<std::optional<format::RunRef>> write_key_run_without(container::SegmentWriter& writer,
                                                            const KeyLog& log,
                                                            const format::RunRef& run,
                                                            std::span<const drum::KeyEdit> removals,
                                                            container::WorkSteps& steps) {
  if (removals.size() >= run.record_count) return std::nullopt;
  steps.expect(run.record_count);
  CRAWLSTORE_TRY(const auto source, merged_runs(writer, log, std::span(&run, 1),
                                                std::make_unique<drum::EditKeys>(removals)));
  CRAWLSTORE_TRY(const auto written, write_key_run(writer, log, *source, steps));
  return std::optional(written);
}

Result<FreshKeys> FreshKeys::open(container::SegmentWriter& writer, PagesState& state) {
  FreshKeys keys;
  const KeyLog log = fresh_log(state);
  for (const auto& run : log.runs(writer)) {
    CRAWLSTORE_TRY(auto opened, open_key_run(writer, log, run));
    keys.runs_.push_back(std::move(opened));
  }
  return keys;
}

Result<void> find_in_run(container::SegmentWriter& writer, const KeyLog& log,
                         const format::RunRef& run, std::span<const Key16> keys,
                         const drum::VisitFound& visit) {
  CRAWLSTORE_TRY(const auto opened, open_key_run(writer, log, run));
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
  const KeyLog log = fresh_log(state);
  const std::uint64_t fresh_count = key_count_of(log.runs(writer)) + edits.size();
  if (2 * fresh_count > keys.key_count() || fresh_count > kRunKeysMax) {
    return settle_keys(writer, state, keys, edits, steps);
  }
  return append_keys(writer, log, std::make_unique<drum::EditKeys>(edits), edits.size(), steps);
}

Result<void> settle_keys(container::SegmentWriter& writer, PagesState& state, drum::KeyTable& keys,
                         std::span<const drum::KeyEdit> edits, container::WorkSteps& steps) {
  const KeyLog log = fresh_log(state);
  const auto runs = log.runs(writer);
  steps.expect(key_count_of(runs) + edits.size() + keys.key_count());
  CRAWLSTORE_TRY(const auto source,
                 merged_runs(writer, log, runs, std::make_unique<drum::EditKeys>(edits)));
  CRAWLSTORE_TRY(keys.apply(writer, *source, steps));
  log.put(writer, {});
  return {};
}

}  // namespace crawlstore::pages
