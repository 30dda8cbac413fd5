// SPDX-License-Identifier: Apache-2.0
#include "queue/entry_queue.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

namespace crawlstore::queue {

namespace {

/// The horizon lies so many fragments behind the bound, at most a quarter of the near entries: a
/// pass over the tail for each.
constexpr std::size_t kHorizonFragmentsMin = 4;
constexpr std::size_t kHorizonFragmentsMax = 64;

/// Runs of level 0 have fewer than 2^15 entries, those of each further one 8 times as many. So many
/// of a level are joined: levels are to hold 2^40 entries.
constexpr std::array<std::size_t, 10> kFanIn = {8, 8, 96, 64, 16, 8, 8, 8, 8, 8};
/// A log takes 256 runs; the others are of changes.
constexpr std::size_t kRunsMax = format::kRunsPerLogMax - 32;
/// Runs of these levels are joined at once.
constexpr std::size_t kSmallLevels = 2;

std::size_t level_of(const LiveRun& run) {
  const std::uint64_t entry_count = run.stored->count_behind(run.cut);
  return std::min<std::size_t>(
      (static_cast<std::size_t>(std::bit_width(entry_count >> 15U)) + 2) / 3, kFanIn.size() - 1);
}

/// Returns false if a run was damaged. errors  all others
template <class T>
Result<bool> is_whole(const Result<T>& result) {
  if (result) return true;
  const Errc code = result.error().code;
  const bool is_damage =
      code == Errc::kChunkDamaged || code == Errc::kSegmentInvalid || code == Errc::kTruncated;
  if (is_damage) return false;
  return tl::unexpected<Error>(result.error());
}

/// Makes one of them, or none if all has left. Where one is damaged they stay as they are.
Result<void> join_at_once(RunSink& sink, std::vector<LiveRun>& runs) {
  CRAWLSTORE_TRY(auto join, RunJoin::start(sink, runs));
  CRAWLSTORE_TRY(const bool are_whole,
                 is_whole(join.step(std::numeric_limits<std::size_t>::max())));
  if (!are_whole) return {};
  CRAWLSTORE_TRY(auto joined, join.finish());
  runs.clear();
  if (joined.stored != nullptr) runs.push_back(std::move(joined));
  return {};
}

}  // namespace

EntryQueue::EntryQueue(RunSink& sink, std::vector<LiveRun> runs, std::uint64_t count,
                       const QueueLimits& limits)
    : sink_(&sink), limits_(limits), count_(count) {
  for (LiveRun& run : runs) front_.add(std::move(run));
}

/// Near entries, of which the first quarter stays when they are more: fragments that have been
/// loaded do not count.
std::size_t EntryQueue::near_max() const {
  return limits_.entries_max + 2 * kFragmentEntries * front_.runs().size();
}

Result<void> EntryQueue::insert(std::span<const Entry> entries) {
  while (!entries.empty()) {
    const auto piece = entries.first(std::min(entries.size(), piece_max()));
    if (tail_.size() >= limits_.entries_max) CRAWLSTORE_TRY(write_tail());
    if (front_.near_count() >= near_max()) demote();
    if (born_.size() >= front_.near_count() + limits_.entries_max) forget_what_left();
    const std::size_t born_before = born_.size();
    for (const Entry& entry : piece) (entry < horizon_ ? born_ : tail_).push_back(entry);
    front_.insert(std::span(born_).subspan(born_before));
    count_ += piece.size();
    join_some(piece.size());
    entries = entries.subspan(piece.size());
  }
  return {};
}

/// Forgets entries that have left, as extractions that came after them show.
void EntryQueue::forget_what_left() {
  auto next = extractions_.begin();
  std::size_t kept_count = 0;
  for (std::size_t i = 0; i < born_.size(); ++i) {
    while (next != extractions_.end() && next->born_count <= i) ++next;
    if (next == extractions_.end() || next->cut < born_[i]) born_[kept_count++] = born_[i];
  }
  born_.resize(kept_count);
  extractions_.clear();
}

void EntryQueue::note_extraction(const Entry& cut) {
  front_.cut_all(cut);
  if (join_ != nullptr) join_->note_cut(cut);
  // This extraction implies each earlier one with a lower cut.
  while (!extractions_.empty() && extractions_.back().cut <= cut) extractions_.pop_back();
  if (!born_.empty()) extractions_.push_back({born_.size(), cut});
  // Some of several equal entries may have stayed. They are born now, as the cut says that all
  // left.
  born_.insert(born_.end(), front_.count_first(cut), cut);
}

/// Near entries are too many, as most were inserted below the horizon: those that leave last go.
void EntryQueue::demote() {
  const Entry bound = front_.bound_behind(near_max() / 4);
  if (bound == horizon_) return;  // most of them are equal
  forget_what_left();
  const auto behind =
      std::partition(born_.begin(), born_.end(), [&](const Entry& entry) { return entry < bound; });
  tail_.insert(tail_.end(), behind, born_.end());
  born_.erase(behind, born_.end());
  front_.rewind(bound);
  horizon_ = bound;
}

Result<void> EntryQueue::write_tail() {
  CRAWLSTORE_TRY(auto run, store_run(*sink_, tail_, room_));
  front_.add({.stored = std::move(run)});
  tail_.clear();
  std::vector<LiveRun> runs;
  CRAWLSTORE_TRY(join_crowded_levels(runs));
  if (runs.size() != front_.runs().size()) replace_runs(std::move(runs));
  return {};
}

Result<void> EntryQueue::load_more() {
  CRAWLSTORE_TRY(front_.advance());
  if (front_.bound() <= horizon_) return {};
  horizon_ = front_.bound_after(std::clamp(limits_.entries_max / 4 / kFragmentEntries,
                                           kHorizonFragmentsMin, kHorizonFragmentsMax));
  const auto behind = std::partition(tail_.begin(), tail_.end(),
                                     [&](const Entry& entry) { return horizon_ <= entry; });
  const auto born = std::span(tail_).subspan(static_cast<std::size_t>(behind - tail_.begin()));
  front_.insert(born);
  born_.insert(born_.end(), born.begin(), born.end());
  tail_.erase(behind, tail_.end());
  return {};
}

Result<void> EntryQueue::take(std::size_t count, bool is_sorted, std::vector<Entry>& out,
                              const Filter& is_wanted) {
  const std::size_t before = out.size();
  count = std::min<std::uint64_t>(count, count_);
  if (count == 0) return {};
  std::vector<Entry> unwanted;
  if (const auto taken = take_near(count, is_sorted, out, is_wanted, unwanted); !taken) {
    front_.insert(std::span(out).subspan(before));
    front_.insert(unwanted);
    out.resize(before);
    return taken;
  }
  // The wanted entries leave last.
  const auto taken = std::span(out).subspan(before);
  count_ -= taken.size() + unwanted.size();
  note_extraction(is_sorted ? taken.back() : *std::ranges::max_element(taken));
  join_some(taken.size());
  if (count_ == 0) *this = EntryQueue(*sink_, limits_);
  return {};
}

Result<void> EntryQueue::take_near(std::size_t count, bool is_sorted, std::vector<Entry>& out,
                                   const Filter& is_wanted, std::vector<Entry>& unwanted) {
  for (const std::size_t end = out.size() + count; out.size() < end;) {
    const auto taken_count = front_.take(end - out.size(), is_sorted, out);
    if (taken_count > 0) {
      if (is_wanted) set_unwanted_aside(taken_count, is_wanted, out, unwanted);
      continue;
    }
    if (front_.bound() == kBehindAll && tail_.empty()) {
      return fail(Errc::kSegmentInvalid, "a queue has fewer entries than it says");
    }
    CRAWLSTORE_TRY(load_more());
  }
  return {};
}

/// Fragments are loaded from the last one of each run on, until `count` entries are above all that
/// is not loaded.
Result<std::vector<Entry>> EntryQueue::last(std::size_t count, const Filter& is_wanted) {
  CRAWLSTORE_TRY(flush());
  std::vector<std::size_t> ends;  // of each run, the first fragment that is loaded
  for (const LiveRun& run : front_.runs()) ends.push_back(run.stored->fragment_count());
  std::vector<Entry> loaded;
  std::vector<Entry> fragment;
  std::vector<Entry> unwanted;
  for (std::size_t counted = count;;) {
    std::optional<std::size_t> next;
    Entry highest;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const LiveRun& run = front_.runs()[i];
      if (ends[i] == run.stored->fragment_of(run.cut)) continue;
      const Entry above = run.stored->bound_above(ends[i] - 1);
      if (!next || highest < above) {
        next = i;
        highest = above;
      }
    }
    const auto is_above = [&](const Entry& entry) { return highest <= entry; };
    if (!next) break;
    if (loaded.size() >= counted) {
      if (static_cast<std::size_t>(std::ranges::count_if(loaded, is_above)) >= count) break;
      counted = loaded.size() + loaded.size() / 8 + 1;
    }
    const LiveRun& run = front_.runs()[*next];
    fragment.clear();
    CRAWLSTORE_TRY(run.stored->read(--ends[*next], run.cut, kBeforeAll, fragment));
    set_unwanted_aside(fragment.size(), is_wanted, fragment, unwanted);
    unwanted.clear();
    loaded.insert(loaded.end(), fragment.begin(), fragment.end());
  }
  count = std::min(count, loaded.size());
  const auto end = loaded.begin() + static_cast<std::ptrdiff_t>(count);
  std::nth_element(loaded.begin(), end, loaded.end(), std::greater<>());
  loaded.resize(count);
  return loaded;
}

Result<void> EntryQueue::start_rewrite() {
  join_.reset();
  CRAWLSTORE_TRY(flush());
  CRAWLSTORE_TRY(auto join, RunJoin::start(*sink_, front_.runs()));
  join_ = std::make_unique<RunJoin>(std::move(join));
  is_rewriting_ = true;
  return {};
}

Result<bool> EntryQueue::rewrite(std::size_t count, const Filter& is_wanted) {
  const auto is_done = join_->step(count, is_wanted);
  if (is_done && !*is_done) return false;
  const auto finished = is_done ? finish_rewrite() : tl::unexpected<Error>(is_done.error());
  join_.reset();
  is_rewriting_ = false;
  CRAWLSTORE_TRY(finished);
  return true;
}

/// Ends a rewrite: counts the entries of the runs anew, as some of the dropped ones may have left
/// since, and loads those in memory again.
Result<void> EntryQueue::finish_rewrite() {
  CRAWLSTORE_TRY(auto joined, join_->finish());
  std::uint64_t count = count_;
  for (const LiveRun& run : front_.runs()) {
    if (!join_->has(run)) continue;
    CRAWLSTORE_TRY(const auto left, run.stored->count_left(run.cut));
    count -= left;
  }
  if (joined.stored != nullptr) {
    CRAWLSTORE_TRY(const auto left, joined.stored->count_left(joined.cut));
    count += left;
  }
  front_.rewind(kBeforeAll);
  replace_joined(std::move(joined));
  count_ = count;
  return {};
}

/// Goes on with a join, if there is one. Its failures do not concern the caller: a later flush()
/// begins it anew.
void EntryQueue::join_some(std::size_t count) {
  if (join_ == nullptr || is_rewriting_) return;
  const auto is_done = join_->step(limits_.joined_for_one * count);
  if (is_done && !*is_done) return;
  if (is_done) {
    auto joined = join_->finish();
    if (joined) replace_joined(std::move(*joined));
  }
  join_.reset();
}

void EntryQueue::replace_joined(LiveRun joined) {
  std::vector<LiveRun> runs;
  for (const LiveRun& run : front_.runs()) {
    if (!join_->has(run)) runs.push_back(run);
  }
  if (joined.stored != nullptr) runs.push_back(std::move(joined));
  replace_runs(std::move(runs));
}

/// By others with the same entries.
void EntryQueue::replace_runs(std::vector<LiveRun> runs) {
  front_.replace(std::move(runs));
  forget_what_left();
  std::vector<Entry> behind;
  std::ranges::copy_if(born_, std::back_inserter(behind),
                       [this](const Entry& entry) { return front_.bound() <= entry; });
  front_.insert(behind);
}

Result<void> EntryQueue::flush() {
  std::vector<LiveRun> runs;
  CRAWLSTORE_TRY(end_join_when_crowded());
  CRAWLSTORE_TRY(join_crowded_levels(runs));
  const bool are_same = runs.size() == front_.runs().size();
  CRAWLSTORE_TRY(write_all(runs));
  tail_.clear();
  born_.clear();
  if (!are_same) {
    front_.replace(std::move(runs));
  } else if (runs.size() > front_.runs().size()) {
    for (std::size_t i = front_.runs().size(); i < runs.size(); ++i) front_.add(runs[i]);
    front_.rewind(front_.bound());  // what was born behind it is in a run now
  }
  horizon_ = front_.bound();
  return {};
}

/// Appends what is in no run, as one, or as two where it is much.
Result<void> EntryQueue::write_all(std::vector<LiveRun>& runs) {
  forget_what_left();
  if (tail_.size() + born_.size() > limits_.entries_max) {
    CRAWLSTORE_TRY(write_rest(born_, runs));
    return write_rest(tail_, runs);
  }
  tail_.insert(tail_.end(), born_.begin(), born_.end());
  const auto written = write_rest(tail_, runs);
  if (!written) std::erase_if(tail_, [this](const Entry& entry) { return entry < horizon_; });
  return written;
}

Result<void> EntryQueue::write_rest(std::vector<Entry>& entries, std::vector<LiveRun>& runs) {
  if (entries.empty()) return {};
  CRAWLSTORE_TRY(auto run, store_run(*sink_, entries, room_));
  runs.push_back({.stored = std::move(run)});
  return {};
}

/// There is room for the runs of a commit.
Result<void> EntryQueue::end_join_when_crowded() {
  if (front_.runs().size() + 2 < kRunsMax) return {};
  if (is_rewriting_) join_.reset();
  is_rewriting_ = false;
  if (join_ == nullptr) {
    CRAWLSTORE_TRY(auto join, RunJoin::start(*sink_, front_.runs()));
    join_ = std::make_unique<RunJoin>(std::move(join));
  }
  join_some(std::numeric_limits<std::size_t>::max() / limits_.joined_for_one);
  if (front_.runs().size() + 2 < kRunsMax) return {};
  return fail(Errc::kTooLarge, "a queue has too many runs that are damaged and cannot be joined");
}

std::size_t EntryQueue::fan_in(std::size_t level) const {
  return std::min(kFanIn[level], limits_.fan_in_max);
}

/// Joins runs of a size that has too many: small ones at once, large ones from now on, step by
/// step. All others go to `kept`, as do damaged ones, for which no commit fails.
Result<void> EntryQueue::join_crowded_levels(std::vector<LiveRun>& kept) {
  std::array<std::vector<LiveRun>, kFanIn.size()> levels;
  for (const LiveRun& run : front_.runs()) {
    if (join_ != nullptr && join_->has(run)) {
      kept.push_back(run);
    } else {
      levels[level_of(run)].push_back(run);
    }
  }
  for (std::size_t level = 0; level < levels.size(); ++level) {
    std::vector<LiveRun>& runs = levels[level];
    const bool is_crowded = runs.size() >= fan_in(level);
    if (is_crowded && level < kSmallLevels) {
      CRAWLSTORE_TRY(join_at_once(*sink_, runs));
    } else if (is_crowded && join_ == nullptr) {
      // Without room for it now there may be later.
      if (auto join = RunJoin::start(*sink_, runs)) {
        join_ = std::make_unique<RunJoin>(std::move(*join));
      }
    }
    kept.insert(kept.end(), runs.begin(), runs.end());
  }
  return {};
}

}  // namespace crawlstore::queue
