// SPDX-License-Identifier: Apache-2.0
#include "queue/run_join.h"

#include <algorithm>
#include <utility>

namespace crawlstore::queue {

void set_unwanted_aside(std::size_t count, const Filter& is_wanted, std::vector<Entry>& from,
                        std::vector<Entry>& unwanted) {
  auto wanted = from.end() - static_cast<std::ptrdiff_t>(count);
  for (auto at = wanted; at != from.end(); ++at) {
    if (is_wanted(*at)) {
      *wanted++ = *at;
    } else {
      unwanted.push_back(*at);
    }
  }
  from.erase(wanted, from.end());
}

Result<RunJoin> RunJoin::start(RunSink& sink, std::span<const LiveRun> runs) {
  std::uint64_t count = 0;
  for (const LiveRun& run : runs) count += run.stored->index.entry_count;
  CRAWLSTORE_TRY(auto builder, RunBuilder::start(sink, count));
  RunJoin join(std::move(builder));
  for (const LiveRun& run : runs) join.front_.add(run);
  return join;
}

Result<bool> RunJoin::step(std::size_t count, const Filter& is_wanted) {
  while (front_.near_count() > 0 || front_.bound() != kBehindAll) {
    if (count == 0) return false;
    CRAWLSTORE_TRY(front_.advance());
    while (const auto taken = front_.take(kFragmentEntries - fragment_.size(), false, fragment_)) {
      if (is_wanted) set_unwanted_aside(taken, is_wanted, fragment_, unwanted_);
      unwanted_.clear();
      count -= std::min(count, taken);
      if (fragment_.size() < kFragmentEntries) continue;
      CRAWLSTORE_TRY(builder_.add(fragment_));
      fragment_.clear();
    }
  }
  return true;
}

bool RunJoin::has(const LiveRun& run) const {
  return std::ranges::any_of(front_.runs(),
                             [&run](const LiveRun& joined) { return joined.stored == run.stored; });
}

Result<LiveRun> RunJoin::finish() {
  if (!fragment_.empty()) CRAWLSTORE_TRY(builder_.add(fragment_));
  CRAWLSTORE_TRY(auto stored, builder_.finish());
  return LiveRun{std::move(stored), cut_};
}

}  // namespace crawlstore::queue
