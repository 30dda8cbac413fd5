// SPDX-License-Identifier: Apache-2.0
//
// Invariants: left_ and gathered_ ascend and have no key in common; the run run_ holds gathered_,
// and nothing else, as soon as the writer's changes are committed.
#include "pages/forget_keys.h"

#include <algorithm>
#include <iterator>

#include <crawlstore/page_key.h>

#include "pages/fresh_keys.h"
#include "pages/superstep.h"

namespace crawlstore::pages {
namespace {

bool has_lower_key(const PageKeyEntry& a, const PageKeyEntry& b) {
  return a.key < b.key;
}

std::vector<drum::KeyEdit> edits_of(std::span<const PageKeyEntry> entries, bool removes) {
  std::vector<drum::KeyEdit> edits;
  edits.reserve(entries.size());
  for (const auto& entry : entries) {
    edits.push_back({entry.key, removes, {}});
    if (!removes) edits.back().value = entry.value;
  }
  return edits;
}

}  // namespace

std::vector<PageKeyEntry> key_entries(std::span<const std::uint64_t> pages,
                                      std::span<const std::string> urls, std::uint64_t key_seed) {
  std::vector<PageKeyEntry> entries(pages.size());
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const PageKey key = page_key(urls[i], key_seed);
    entries[i] = {key.key, pages[i], make_key_value(pages[i], key.witness)};
  }
  std::sort(entries.begin(), entries.end(), has_lower_key);
  return entries;
}

void GatheredKeys::begin(std::vector<PageKeyEntry> entries, const PagesState& state) {
  left_ = std::move(entries);
  gathered_.clear();
  run_.reset();
  loose_runs_.clear();
  for (const auto& run : other_runs(state)) loose_runs_.push_back(run.run_id);
}

/// The runs of fresh keys but for run_.
std::vector<format::RunRef> GatheredKeys::other_runs(const PagesState& state) const {
  if (!state.table.fresh_keys) return {};
  std::vector<format::RunRef> runs = writer_.find(state.table.fresh_keys)->runs;
  std::erase_if(runs, [this](const auto& run) { return run_ && run.run_id == *run_; });
  return runs;
}

Result<void> GatheredKeys::gather(PagesState& state, std::uint64_t bytes_max,
                                  container::WorkSteps& steps) {
  if (!loose_runs_.empty()) return take_from_run(state, steps);
  CRAWLSTORE_TRY(take_from_buckets(bytes_max, steps));
  return put(state, other_runs(state), steps);
}

/// Gathers what one run of fresh keys has, and writes the run without it.
Result<void> GatheredKeys::take_from_run(PagesState& state, container::WorkSteps& steps) {
  const RunId id = loose_runs_.back();
  loose_runs_.pop_back();
  auto runs = other_runs(state);
  const auto place =
      std::find_if(runs.begin(), runs.end(), [id](const auto& run) { return run.run_id == id; });
  if (place == runs.end()) return {};
  const format::RunRef run = *place;
  std::vector<Key16> keys;
  keys.reserve(left_.size());
  for (const auto& entry : left_) keys.push_back(entry.key);
  std::vector<bool> is_there(left_.size());
  const KeyLog log = fresh_log(state);
  CRAWLSTORE_TRY(
      find_in_run(writer_, log, run, keys, [&is_there](std::size_t i, auto) -> Result<void> {
        is_there[i] = true;
        return {};
      }));
  std::vector<PageKeyEntry> found;
  std::vector<PageKeyEntry> absent;
  for (std::size_t i = 0; i < left_.size(); ++i) {
    (is_there[i] ? found : absent).push_back(left_[i]);
  }
  if (found.empty()) return {};
  const auto removals = edits_of(found, true);
  CRAWLSTORE_TRY(const auto kept, write_key_run_without(writer_, log, run, removals, steps));
  runs.erase(place);
  if (kept) runs.push_back(*kept);
  left_ = std::move(absent);
  std::vector<PageKeyEntry> all;
  std::merge(gathered_.begin(), gathered_.end(), found.begin(), found.end(),
             std::back_inserter(all), has_lower_key);
  gathered_ = std::move(all);
  return put(state, std::move(runs), steps);
}

Result<void> GatheredKeys::take_from_buckets(std::uint64_t bytes_max, container::WorkSteps& steps) {
  const auto edits = edits_of(left_, true);
  const auto chosen = keys_.choose_edits(edits, bytes_max);
  CRAWLSTORE_TRY(keys_.remove(writer_, chosen, steps));
  const auto first = left_.begin() + (chosen.data() - edits.data());
  const auto end = first + static_cast<std::ptrdiff_t>(chosen.size());
  std::vector<PageKeyEntry> all;
  std::merge(gathered_.begin(), gathered_.end(), first, end, std::back_inserter(all),
             has_lower_key);
  gathered_ = std::move(all);
  left_.erase(first, end);
  return {};
}

Result<void> GatheredKeys::remove(PagesState& state, std::uint64_t first_page,
                                  container::WorkSteps& steps) {
  const auto removed = std::erase_if(
      gathered_, [first_page](const auto& entry) { return entry.page >= first_page; });
  return removed == 0 ? Result<void>{} : put(state, other_runs(state), steps);
}

/// Writes the gathered keys as a run behind the others.
Result<void> GatheredKeys::put(PagesState& state, std::vector<format::RunRef> others,
                               container::WorkSteps& steps) {
  const KeyLog log = fresh_log(state);
  std::vector<format::RunRef> runs = std::move(others);
  run_.reset();
  if (!gathered_.empty()) {
    const auto edits = edits_of(gathered_, false);
    drum::EditKeys source(edits);
    CRAWLSTORE_TRY(const auto written, write_key_run(writer_, log, source, steps));
    run_ = written.run_id;
    runs.push_back(written);
  }
  log.put(writer_, std::move(runs));
  return {};
}

}  // namespace crawlstore::pages
