// SPDX-License-Identifier: Apache-2.0
//
// Invariants: runs are taken for the same only in states of one store, and only when id, length and
// checksum agree: copies of a file that went on apart give the same ids to different things.
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <crawlstore/drum_view.h>
#include <crawlstore/tools/diff.h>

#include "base/inside.h"
#include "drum/diff_side.h"
#include "format/drum_table.h"

namespace crawlstore {
namespace {

using drum::BucketSpan;
using drum::DiffSide;
using format::RunRef;
using format::SegmentEntry;

/// Returns the runs of `a` that `b` does not have.
std::vector<RunId> missing_runs(const std::vector<RunRef>& a, const std::vector<RunRef>& b) {
  std::vector<RunId> missing;
  auto other = b.begin();
  for (const RunRef& run : a) {  // both ascend
    while (other != b.end() && other->run_id < run.run_id) ++other;
    if (other == b.end() || !drum::is_same_run(run, *other)) missing.push_back(run.run_id);
  }
  return missing;
}

std::uint64_t allocated_bytes(const SegmentEntry* entry) {
  std::uint64_t bytes = 0;
  if (entry == nullptr) return bytes;
  for (const RunRef& run : entry->runs) bytes += run.extent().length_bytes;
  return bytes;
}

/// Compares two states of a segment, of which one may be null; `any` is one that is not.
SegmentDiff compare(const SegmentEntry* older, const SegmentEntry* newer, const SegmentEntry& any) {
  const std::vector<RunRef> none;
  const auto& old_runs = older == nullptr ? none : older->runs;
  const auto& new_runs = newer == nullptr ? none : newer->runs;
  SegmentDiff found;
  found.change = older == nullptr   ? Change::kAdded
                 : newer == nullptr ? Change::kGone
                                    : Change::kChanged;
  found.id = any.id;
  found.kind = any.kind;
  found.owner = any.owner;
  found.name = any.name;
  found.added_runs = missing_runs(new_runs, old_runs);
  found.gone_runs = missing_runs(old_runs, new_runs);
  found.old_bytes = allocated_bytes(older);
  found.new_bytes = allocated_bytes(newer);
  return found;
}

std::vector<const SegmentEntry*> segments_of(const Snapshot& snapshot) {
  std::vector<const SegmentEntry*> all;
  Inside::of(snapshot).directory().for_each_segment(
      [&all](const SegmentEntry& entry) { all.push_back(&entry); });
  return all;
}

bool is_damage(const Error& error) {
  return category(error.code) == ErrorCategory::kDamage || error.code == Errc::kIo;
}

/// Opens the DRUM if the state has it; sets the error aside if it is damaged.
Result<std::optional<DrumInfo>> open_past_damage(const Snapshot& snapshot, const std::string& name,
                                                 std::optional<DrumView>& view,
                                                 std::optional<Error>& error) {
  if (Inside::of(snapshot).directory().find_named(SegmentKind::kDrum, name) == nullptr) {
    return std::optional<DrumInfo>{};
  }
  auto opened = DrumView::open(snapshot, name);
  if (opened) {
    view = std::move(*opened);
    return std::optional<DrumInfo>(view->info());
  }
  if (!is_damage(opened.error())) return tl::unexpected<Error>(opened.error());
  error = opened.error();
  return std::optional<DrumInfo>{};
}

/// Whether the DRUM holds keys of pages; of one that cannot be read its name says so.
bool is_of_pages(const Snapshot& snapshot, const std::string& name,
                 const std::optional<DrumInfo>& info) {
  if (info) return info->key_scheme == KeyScheme::kPage;
  return Inside::of(snapshot).directory().find_named(SegmentKind::kPages, name) != nullptr;
}

class SnapshotDiff {
 public:
  SnapshotDiff(const Snapshot& older, const Snapshot& newer, const DiffSink& sink,
               const DiffOptions& options)
      : older_(older), newer_(newer), sink_(&sink), options_(options) {
    report.is_same_store = older.uuid() == newer.uuid();
  }

  Result<void> run() {
    if (report.is_same_store) compare_segments();
    if (options_.past_damage) return run_past_damage();
    CRAWLSTORE_TRY(const auto old_drums, blame(false, drums_of(older_)));
    CRAWLSTORE_TRY(const auto new_drums, blame(true, drums_of(newer_)));
    std::set<std::string> names;
    for (const DrumInfo& info : old_drums) names.insert(info.name);
    for (const DrumInfo& info : new_drums) names.insert(info.name);
    std::vector<Pair> pairs;
    for (const std::string& name : names) {
      CRAWLSTORE_TRY(auto pair, open_both(name, old_drums, new_drums));
      if (is_comparable(pair.found)) CRAWLSTORE_TRY(count_work(pair));
      pairs.push_back(std::move(pair));
    }
    for (Pair& pair : pairs) {
      if (is_comparable(pair.found)) CRAWLSTORE_TRY(compare_drum(pair, pair.found));
      report.drums.push_back(std::move(pair.found));
    }
    return tell(0, true);
  }

  DiffReport report;

 private:
  static constexpr std::uint64_t kStepsPerCall = 65536;

  struct Pair {
    std::optional<DrumView> older;
    std::optional<DrumView> newer;
    DrumDiff found;
    [[nodiscard]] DiffSide old_side() const {
      return DiffSide(older ? &Inside::of(*older) : nullptr);
    }
    [[nodiscard]] DiffSide new_side() const {
      return DiffSide(newer ? &Inside::of(*newer) : nullptr);
    }
  };
  /// The smallest range of keys that begins and ends at buckets of both.
  struct Range {
    BucketSpan older;
    BucketSpan newer;
    std::uint64_t first_key = 0;
    bool same_keys = false;      // their partitions are the same run
    bool same_requests = false;  // their logs are the same runs
  };

  /// Says in which state a call failed, and hands its result on.
  template <class T>
  T blame(bool in_new, T result) const {
    if (!result) failed_in_new_ = in_new;
    if (!result && sink_->failed) sink_->failed(in_new);
    return result;
  }

  void compare_segments() {
    const auto older = segments_of(older_);
    const auto newer = segments_of(newer_);
    auto a = older.begin();
    auto b = newer.begin();
    while (a != older.end() || b != newer.end()) {
      const bool takes_old = b == newer.end() || (a != older.end() && (*a)->id <= (*b)->id);
      const bool takes_new = a == older.end() || (b != newer.end() && (*b)->id <= (*a)->id);
      const SegmentEntry& any = takes_new ? **b : **a;
      const SegmentDiff found =
          compare(takes_old ? *a++ : nullptr, takes_new ? *b++ : nullptr, any);
      const bool is_same =
          takes_old && takes_new && found.added_runs.empty() && found.gone_runs.empty();
      if (is_same) continue;
      ++(found.change == Change::kAdded  ? report.added_segment_count
         : found.change == Change::kGone ? report.gone_segment_count
                                         : report.changed_segment_count);
      if (sink_->segment) sink_->segment(found);
    }
  }

  static bool is_comparable(const DrumDiff& found) {
    return !found.shape_differs && !found.seed_differs;
  }

  /// Does what run() does, DRUM by DRUM, and names those of which something cannot be read.
  Result<void> run_past_damage() {
    std::set<std::string> names;
    for (const Snapshot* state : {&older_, &newer_}) {
      for (const SegmentEntry* entry : segments_of(*state)) {
        if (entry->kind == SegmentKind::kDrum) names.insert(entry->name);
      }
    }
    for (const std::string& name : names) {
      Pair pair;
      pair.found.name = name;
      CRAWLSTORE_TRY(const auto old_info,
                     open_past_damage(older_, name, pair.older, pair.found.old_error));
      CRAWLSTORE_TRY(const auto new_info,
                     open_past_damage(newer_, name, pair.newer, pair.found.new_error));
      if (is_of_pages(older_, name, old_info) || is_of_pages(newer_, name, new_info)) continue;
      describe(pair, old_info ? &*old_info : nullptr, new_info ? &*new_info : nullptr);
      if (!pair.found.old_error && !pair.found.new_error) CRAWLSTORE_TRY(compare_whole(pair));
      report.drums.push_back(std::move(pair.found));
    }
    return tell(0, true);
  }

  /// Compares the DRUM without a word first: sinks believe what they are told.
  Result<void> compare_whole(Pair& pair) {
    if (!is_comparable(pair.found)) return {};
    const DiffSink* const sink = std::exchange(sink_, &silent_);
    DrumDiff trial = pair.found;
    const auto compared = compare_drum(pair, trial);
    sink_ = sink;
    if (compared) return compare_drum(pair, pair.found);
    if (!is_damage(compared.error())) return compared;
    (failed_in_new_ ? pair.found.new_error : pair.found.old_error) = compared.error();
    return {};
  }

  /// All but those of page databases, which hold not all keys of pages: some wait beside them.
  static Result<std::vector<DrumInfo>> drums_of(const Snapshot& snapshot) {
    CRAWLSTORE_TRY(auto drums, list_drums(snapshot));
    std::erase_if(drums, [](const DrumInfo& info) { return info.key_scheme == KeyScheme::kPage; });
    return drums;
  }

  Result<Pair> open_both(const std::string& name, const std::vector<DrumInfo>& old_drums,
                         const std::vector<DrumInfo>& new_drums) {
    const auto find = [&name](const std::vector<DrumInfo>& drums) {
      const auto place = std::find_if(drums.begin(), drums.end(),
                                      [&name](const DrumInfo& info) { return info.name == name; });
      return place == drums.end() ? nullptr : &*place;
    };
    Pair pair;
    pair.found.name = name;
    const DrumInfo* const old_info = find(old_drums);
    const DrumInfo* const new_info = find(new_drums);
    if (old_info != nullptr) {
      CRAWLSTORE_TRY(auto view, blame(false, DrumView::open(older_, name)));
      pair.older = std::move(view);
    }
    if (new_info != nullptr) {
      CRAWLSTORE_TRY(auto view, blame(true, DrumView::open(newer_, name)));
      pair.newer = std::move(view);
    }
    describe(pair, old_info, new_info);
    return pair;
  }

  /// Notes what the tables of a DRUM say, of the states that have it.
  void describe(Pair& pair, const DrumInfo* old_info, const DrumInfo* new_info) const {
    if (old_info != nullptr) {
      pair.found.in_old = true;
      pair.found.old_key_count = old_info->key_count;
      pair.found.old_result_count = old_info->result_count;
    }
    if (new_info != nullptr) {
      pair.found.in_new = true;
      pair.found.new_key_count = new_info->key_count;
      pair.found.new_result_count = new_info->result_count;
    }
    pair.found.shape_differs = old_info != nullptr && new_info != nullptr &&
                               (old_info->key_bytes != new_info->key_bytes ||
                                old_info->value_bytes != new_info->value_bytes);
    const auto is_seeded = [](const DrumInfo* info) {
      return info != nullptr && info->key_scheme == KeyScheme::kUrl;
    };
    pair.found.seed_differs =
        is_seeded(old_info) && is_seeded(new_info) && older_.key_seed() != newer_.key_seed();
  }

  /// Calls visit(range) for all ranges of both, ascending.
  template <class Visit>
  Result<void> for_each_range(const DiffSide& older, const DiffSide& newer, const Visit& visit) {
    Range range;
    while (range.older.end < older.bucket_count() || range.newer.end < newer.bucket_count()) {
      range = {{range.older.end, range.older.end}, {range.newer.end, range.newer.end}};
      const auto first =
          older.exists() ? older.first_key(range.older.first) : newer.first_key(range.newer.first);
      range.first_key = *first;
      if (older.exists()) ++range.older.end;
      if (newer.exists()) ++range.newer.end;
      while (older.exists() && newer.exists()) {
        const auto old_end = older.first_key(range.older.end);
        const auto new_end = newer.first_key(range.newer.end);
        if (old_end == new_end) break;
        const bool takes_old = old_end && (!new_end || *old_end < *new_end);
        ++(takes_old ? range.older.end : range.newer.end);
      }
      CRAWLSTORE_TRY(find_same(older, newer, range));
      CRAWLSTORE_TRY(visit(range));
    }
    return {};
  }

  Result<void> find_same(const DiffSide& older, const DiffSide& newer, Range& range) const {
    if (!report.is_same_store || range.older.count() != 1 || range.newer.count() != 1) return {};
    CRAWLSTORE_TRY(const auto a, blame(false, older.partition_run(range.older.first)));
    CRAWLSTORE_TRY(const auto b, blame(true, newer.partition_run(range.newer.first)));
    range.same_keys = a && b ? drum::is_same_run(*a, *b) : !a && !b;
    CRAWLSTORE_TRY(const auto old_log, blame(false, older.log_runs(range.older)));
    CRAWLSTORE_TRY(const auto new_log, blame(true, newer.log_runs(range.newer)));
    range.same_requests = std::equal(old_log.begin(), old_log.end(), new_log.begin(), new_log.end(),
                                     drum::is_same_run);
    return {};
  }

  Result<void> count_work(const Pair& pair) {
    const DiffSide older = pair.old_side();
    const DiffSide newer = pair.new_side();
    return for_each_range(older, newer, [&](const Range& range) -> Result<void> {
      if (!range.same_keys) {
        total_ += older.key_count(range.older) + newer.key_count(range.newer);
      }
      if (!range.same_requests) {
        total_ += older.pending_count(range.older) + newer.pending_count(range.newer);
      }
      return {};
    });
  }

  Result<void> compare_drum(Pair& pair, DrumDiff& found) {
    DiffSide older = pair.old_side();
    DiffSide newer = pair.new_side();
    is_wide_ = (older.exists() ? older : newer).view().shape().is_wide();
    return for_each_range(older, newer, [&](const Range& range) -> Result<void> {
      if (!range.same_keys) CRAWLSTORE_TRY(compare_keys(older, newer, range, found));
      if (!range.same_requests) CRAWLSTORE_TRY(compare_requests(older, newer, range, found));
      return {};
    });
  }

  Result<void> compare_keys(DiffSide& older, DiffSide& newer, const Range& range, DrumDiff& found) {
    CRAWLSTORE_TRY(blame(false, older.start(range.older)));
    CRAWLSTORE_TRY(blame(true, newer.start(range.newer)));
    while (!older.at_end() || !newer.at_end()) {
      const bool takes_old = newer.at_end() || (!older.at_end() && older.key() <= newer.key());
      const bool takes_new = older.at_end() || (!newer.at_end() && newer.key() <= older.key());
      const auto old_value = takes_old ? older.value() : std::span<const std::byte>{};
      const auto new_value = takes_new ? newer.value() : std::span<const std::byte>{};
      const bool is_same = takes_old && takes_new && std::ranges::equal(old_value, new_value);
      if (!is_same) {
        const Change change = !takes_old   ? Change::kAdded
                              : !takes_new ? Change::kGone
                                           : Change::kChanged;
        ++(change == Change::kAdded  ? found.added_key_count
           : change == Change::kGone ? found.gone_key_count
                                     : found.changed_value_count);
        const Key16 key = takes_old ? older.key() : newer.key();
        if (sink_->key) sink_->key({found.name, change, is_wide_, key, old_value, new_value});
      }
      if (takes_old) CRAWLSTORE_TRY(blame(false, older.advance()));
      if (takes_new) CRAWLSTORE_TRY(blame(true, newer.advance()));
      CRAWLSTORE_TRY(tell((takes_old ? 1 : 0) + (takes_new ? 1 : 0)));
    }
    return {};
  }

  Result<void> compare_requests(const DiffSide& older, const DiffSide& newer, const Range& range,
                                DrumDiff& found) {
    std::vector<RunRef> old_runs;
    std::vector<RunRef> new_runs;
    if (report.is_same_store && older.exists() && newer.exists()) {
      auto runs = blame(false, older.log_runs(range.older));
      if (!runs) return tl::unexpected<Error>(runs.error());
      old_runs = std::move(*runs);
      runs = blame(true, newer.log_runs(range.newer));
      if (!runs) return tl::unexpected<Error>(runs.error());
      new_runs = std::move(*runs);
    }
    CRAWLSTORE_TRY(const auto a, blame(false, older.waiting(range.older, new_runs)));
    CRAWLSTORE_TRY(const auto b, blame(true, newer.waiting(range.newer, old_runs)));
    BucketDiff bucket{found.name, range.first_key};
    bucket.gone_count = tell_requests(Change::kGone, found.name, a, b);
    bucket.added_count = tell_requests(Change::kAdded, found.name, b, a);
    found.added_request_count += bucket.added_count;
    found.gone_request_count += bucket.gone_count;
    if (sink_->bucket && bucket.added_count + bucket.gone_count != 0) sink_->bucket(bucket);
    return tell(older.pending_count(range.older) + newer.pending_count(range.newer));
  }

  /// Counts the requests of `a` that `b` does not have.
  std::uint64_t tell_requests(Change change, std::string_view drum,
                              const std::vector<drum::WaitingRequest>& a,
                              const std::vector<drum::WaitingRequest>& b) const {
    std::vector<drum::WaitingRequest> only;
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(only));
    if (sink_->request) {
      for (const auto& request : only) {
        sink_->request({drum, change, is_wide_, request.sequence, request.key});
      }
    }
    return only.size();
  }

  Result<void> tell(std::uint64_t steps, bool is_last = false) {
    done_ += steps;
    untold_ += steps;
    if (untold_ < kStepsPerCall && !is_last) return {};
    untold_ = 0;
    if (!options_.progress || options_.progress(done_, std::max(done_, total_))) return {};
    return fail(Errc::kCancelled, "the comparison was stopped");
  }

  const Snapshot& older_;
  const Snapshot& newer_;
  const DiffSink* sink_;
  const DiffSink silent_;
  const DiffOptions& options_;
  std::uint64_t done_ = 0;
  std::uint64_t untold_ = 0;
  std::uint64_t total_ = 0;
  mutable bool failed_in_new_ = false;  // the state that blame() named last
  bool is_wide_ = false;                // the keys of the DRUM that is compared
};

}  // namespace

std::string_view name_of(Change change) {
  switch (change) {
    case Change::kAdded:
      return "added";
    case Change::kGone:
      return "gone";
    case Change::kChanged:
      return "changed";
  }
  return "unknown";
}

bool DrumDiff::differs() const {
  if (old_error || new_error) return false;
  return in_old != in_new || shape_differs || seed_differs || added_key_count != 0 ||
         gone_key_count != 0 || changed_value_count != 0 || added_request_count != 0 ||
         gone_request_count != 0 || old_result_count != new_result_count;
}

bool DiffReport::differs() const {
  return added_segment_count + gone_segment_count + changed_segment_count != 0 ||
         std::any_of(drums.begin(), drums.end(), [](const DrumDiff& d) { return d.differs(); });
}

Result<DiffReport> diff(const Snapshot& older, const Snapshot& newer, const DiffSink& sink,
                        const DiffOptions& options) {
  SnapshotDiff states(older, newer, sink, options);
  CRAWLSTORE_TRY(states.run());
  return std::move(states.report);
}

}  // namespace crawlstore
