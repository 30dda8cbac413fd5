// SPDX-License-Identifier: Apache-2.0
#include "queue/entry_queue.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

namespace crawlstore::queue {

namespace {

/// Entries that wait to become a run.
constexpr std::size_t kTailMax = std::size_t{1} << 20;
/// The horizon lies so many fragments behind the bound: a pass over the tail for each.
constexpr std::size_t kHorizonFragments = 64;
/// Near entries, of which the first quarter stays when they are more.
constexpr std::size_t kNearMax = std::size_t{1} << 20;

/// Runs of level 0 have fewer than 2^15 entries, those of each further one 8 times as many. So many
/// of a level are joined: levels are to hold 2^40 entries.
constexpr std::array<std::size_t, 10> kFanIn = {8, 8, 96, 64, 16, 8, 8, 8, 8, 8};
/// A log takes 256 runs; the others are of changes.
constexpr std::size_t kRunsMax = format::kRunsPerLogMax - 32;
/// Entries that are joined for each one that comes or leaves: a join of 100 runs has ended before
/// as many new ones are there.
constexpr std::size_t kJoinedForOne = 2;
/// Runs of these levels are joined in memory.
constexpr std::size_t kSmallLevels = 2;

std::size_t level_of(const LiveRun& run) {
  const std::uint64_t entry_count = run.stored->count_behind(run.cut);
  return std::min<std::size_t>(
      (static_cast<std::size_t>(std::bit_width(entry_count >> 15U)) + 2) / 3, kFanIn.size() - 1);
}

/// Appends what has not left.
Result<void> read_run(const LiveRun& run, std::vector<Entry>& out) {
  const StoredRun& stored = *run.stored;
  for (std::size_t i = stored.fragment_of(run.cut); i < stored.fragment_count(); ++i) {
    CRAWLSTORE_TRY(stored.read(i, run.cut, kBeforeAll, out));
  }
  return {};
}

/// Appends what has not left of all, or nothing.
Result<void> read_all(std::span<const LiveRun> runs, std::vector<Entry>& out) {
  const std::size_t before = out.size();
  for (const LiveRun& run : runs) {
    const auto read = read_run(run, out);
    if (read) continue;
    out.resize(before);
    return read;
  }
  return {};
}

/// False: a run was damaged. errors  all others
template <class T>
Result<bool> is_whole(const Result<T>& result) {
  if (result) return true;
  const Errc code = result.error().code;
  const bool is_damage =
      code == Errc::kChunkDamaged || code == Errc::kSegmentInvalid || code == Errc::kTruncated;
  if (is_damage) return false;
  return tl::unexpected<Error>(result.error());
}

}  // namespace

EntryQueue::EntryQueue(RunSink& sink, std::vector<LiveRun> runs, std::uint64_t count)
    : sink_(&sink), count_(count) {
  for (LiveRun& run : runs) front_.add(std::move(run));
}

Result<void> EntryQueue::insert(std::span<const Entry> entries) {
  while (!entries.empty()) {
    const auto piece = entries.first(std::min(entries.size(), kPieceMax));
    if (tail_.size() >= kTailMax) CRAWLSTORE_TRY(write_tail());
    if (front_.near_count() >= kNearMax) demote();
    if (born_.size() >= front_.near_count() + kNearMax) forget_what_left();
    const std::size_t born_before = born_.size();
    for (const Entry& entry : piece) (entry < horizon_ ? born_ : tail_).push_back(entry);
    front_.insert(std::span(born_).subspan(born_before));
    count_ += piece.size();
    join_some(piece.size());
    entries = entries.subspan(piece.size());
  }
  return {};
}

/// Extractions that came after an entry say whether it has left.
std::vector<Entry> EntryQueue::born_and_there() const {
  std::vector<Entry> there;
  there.reserve(born_.size());
  auto next = extractions_.begin();
  for (std::size_t i = 0; i < born_.size(); ++i) {
    while (next != extractions_.end() && next->born_count <= i) ++next;
    if (next == extractions_.end() || next->cut < born_[i]) there.push_back(born_[i]);
  }
  return there;
}

void EntryQueue::note_extraction(const Entry& cut) {
  front_.cut_all(cut);
  if (join_ != nullptr) join_->note_cut(cut);
  // An earlier extraction that went less far says nothing that this one does not say.
  while (!extractions_.empty() && extractions_.back().cut <= cut) extractions_.pop_back();
  if (!born_.empty()) extractions_.push_back({born_.size(), cut});
  // Of equal entries some may have stayed: they are born now, as the cut says that all have left.
  born_.insert(born_.end(), front_.count_first(cut), cut);
}

void EntryQueue::forget_what_left() {
  born_ = born_and_there();
  extractions_.clear();
}

/// Near entries are too many, as most were inserted below the horizon: those that leave last go.
void EntryQueue::demote() {
  const Entry bound = front_.bound_behind(kNearMax / 4);
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
  CRAWLSTORE_TRY(auto run, write_run(*sink_, tail_, room_));
  front_.add({.stored = std::move(run)});
  tail_.clear();
  return {};
}

Result<void> EntryQueue::load_more() {
  CRAWLSTORE_TRY(front_.advance());
  if (front_.bound() <= horizon_) return {};
  horizon_ = front_.bound_after(kHorizonFragments);
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
  // What is wanted leaves last.
  const auto taken = std::span(out).subspan(before);
  count_ -= taken.size() + unwanted.size();
  note_extraction(is_sorted ? taken.back() : *std::ranges::max_element(taken));
  join_some(taken.size());
  if (count_ == 0) *this = EntryQueue(*sink_);
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

/// Of what was dropped some may have left since: what the runs have now is counted. Some may be in
/// memory: it is loaded again.
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

/// Goes on with a join, if there is one. What it fails of does not concern the caller: a later
/// flush() begins it anew.
void EntryQueue::join_some(std::size_t count) {
  if (join_ == nullptr || is_rewriting_) return;
  const auto is_done = join_->step(kJoinedForOne * count);
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
  front_.replace(std::move(runs));
  std::vector<Entry> born = born_and_there();
  std::erase_if(born, [this](const Entry& entry) { return entry < front_.bound(); });
  front_.insert(born);
}

Result<void> EntryQueue::flush() {
  std::vector<Entry> joined;
  std::vector<LiveRun> runs;
  CRAWLSTORE_TRY(end_join_when_crowded());
  CRAWLSTORE_TRY(join_crowded_levels(joined, runs));
  const bool are_same = runs.size() == front_.runs().size();
  CRAWLSTORE_TRY(auto run, write_all(joined));
  if (run != nullptr) runs.push_back({.stored = std::move(run)});
  tail_.clear();
  born_.clear();
  extractions_.clear();
  if (!are_same) {
    front_.replace(std::move(runs));
  } else if (runs.size() > front_.runs().size()) {
    front_.add(std::move(runs.back()));
    front_.rewind(front_.bound());  // what was born behind it is in a run now
  }
  horizon_ = front_.bound();
  return {};
}

/// What is in no run, and `joined`, as one run; nullptr when there is nothing.
Result<StoredRunPtr> EntryQueue::write_all(std::vector<Entry>& joined) {
  const std::vector<Entry> born = born_and_there();
  std::vector<Entry>& all = joined.empty() ? tail_ : joined;
  if (!joined.empty()) all.insert(all.end(), tail_.begin(), tail_.end());
  all.insert(all.end(), born.begin(), born.end());
  if (all.empty()) return nullptr;
  auto run = write_run(*sink_, all, room_);
  if (!run && joined.empty()) {
    std::erase_if(tail_, [this](const Entry& entry) { return entry < horizon_; });
  }
  return run;
}

/// There is room for a run more.
Result<void> EntryQueue::end_join_when_crowded() {
  if (front_.runs().size() + 1 < kRunsMax) return {};
  if (is_rewriting_) join_.reset();
  is_rewriting_ = false;
  if (join_ == nullptr) {
    CRAWLSTORE_TRY(auto join, RunJoin::start(*sink_, front_.runs()));
    join_ = std::make_unique<RunJoin>(std::move(join));
  }
  join_some(std::numeric_limits<std::size_t>::max() / kJoinedForOne);
  if (front_.runs().size() + 1 < kRunsMax) return {};
  return fail(Errc::kTooLarge, "a queue has too many runs that are damaged and cannot be joined");
}

/// Of runs of one size that are too many small ones become `entries`, and large ones are joined
/// from now on, step by step. All others go to `kept`, and those that are damaged: a commit does
/// not fail for them.
Result<void> EntryQueue::join_crowded_levels(std::vector<Entry>& entries,
                                             std::vector<LiveRun>& kept) {
  std::array<std::vector<LiveRun>, kFanIn.size()> levels;
  for (const LiveRun& run : front_.runs()) {
    if (join_ != nullptr && join_->has(run)) {
      kept.push_back(run);
    } else {
      levels[level_of(run)].push_back(run);
    }
  }
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const std::vector<LiveRun>& runs = levels[level];
    const bool is_crowded = runs.size() >= kFanIn[level];
    if (is_crowded && level < kSmallLevels) {
      CRAWLSTORE_TRY(const bool are_joined, is_whole(read_all(runs, entries)));
      if (are_joined) continue;
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
