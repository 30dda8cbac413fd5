// SPDX-License-Identifier: Apache-2.0
//
// Invariants: what is said of a Group holds for each of its buckets; totals hold for all.
// array_requests_ is the sum of waiting() over all buckets; a flight without buckets is none.
#include "model/merge_forecast.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <crawlstore/tools/merge_rules.h>

#include "model/file_forecast.h"
#include "model/format_sizes.h"
#include "model/merge_costs.h"

namespace crawlstore::model {
namespace {

double extent_of(double payload_bytes) {
  return payload_bytes <= 0 ? 0 : static_cast<double>(extent_bytes(whole(payload_bytes)));
}

class Forecast {
 public:
  explicit Forecast(const MergeWorkload& workload)
      : work_(workload),
        request_bytes_(static_cast<double>(workload.request_bytes())),
        buckets_(workload.bucket_count),
        flight_bytes_(static_cast<double>(drum::flight_bytes(workload.memory_bytes))),
        slice_max_(static_cast<double>(
            drum::slice_requests_max(workload.memory_bytes, workload.beside_bytes()))),
        groups_(std::min(workload.groups_max, workload.bucket_count)),
        group_buckets_(buckets_ / static_cast<double>(groups_.size())) {}

  MergeForecast run() {
    commit(0, false);  // reserves sequences
    while (submit_until_full()) relieve();
    merge();
    finish();
    return out_;
  }

 private:
  /// A run of a bucket's key log, and its auxiliaries.
  struct Run {
    double requests = 0;
    double key_bytes = 0;  // payload
    double aux_bytes = 0;
    double unpacked_bytes = 0;  // both, with keys as in memory
    Extent place;               // of all buckets of the group
    [[nodiscard]] double extents() const { return extent_of(key_bytes) + extent_of(aux_bytes); }
  };
  struct Group {
    double emptied_at = 0;  // requests that had come when the arrays were taken last
    double keys = 0;
    PartitionBytes partition;
    Extent place;  // of the partitions of all buckets of the group
    std::vector<Run> runs;
  };
  /// A new copy of a group, until its flight lands.
  struct Replacement {
    std::size_t group = 0;
    Extent place;
    double used_bytes = 0;
  };
  struct Flight {
    std::size_t first = 0;
    std::size_t end = 0;
    double bytes = 0;  // of memory
    double requests = 0;
    double buckets = 0;
    double written = 0;
    double ends_at = 0;  // seconds
    std::vector<Replacement> replacements;
  };

  [[nodiscard]] double waiting(const Group& group) const {
    return (now_ - group.emptied_at) / buckets_;
  }
  [[nodiscard]] double array_bytes() const { return array_requests_ * request_bytes_; }

  [[nodiscard]] bool is_full() const {
    // Half a request is none.
    return drum::fills_memory(whole(array_bytes() + request_bytes_ / 2), whole(flight_.bytes),
                              work_.memory_bytes);
  }

  [[nodiscard]] double hot_requests() const {
    const double memory = static_cast<double>(work_.memory_bytes);
    return std::min(memory / drum::kHotShare / request_bytes_, double{drum::kSortCountMax} / 2);
  }
  /// No array holds more than twice what all hold on average.
  [[nodiscard]] bool can_be_hot() const {
    const double memory = static_cast<double>(work_.memory_bytes);
    return 2.25 * memory / request_bytes_ / buckets_ >= hot_requests();
  }

  /// The group whose arrays hold most, when that is too much.
  [[nodiscard]] std::size_t find_hot() const {
    if (!can_be_hot()) return groups_.size();
    std::size_t fullest = 0;
    for (std::size_t g = 1; g < groups_.size(); ++g) {
      if (groups_[g].emptied_at < groups_[fullest].emptied_at) fullest = g;
    }
    const double requests = waiting(groups_[fullest]) + 0.5;
    const bool hot =
        drum::is_hot(whole(requests * request_bytes_), whole(requests), work_.memory_bytes);
    return hot ? fullest : groups_.size();
  }

  /// Returns false if the last request came before.
  bool submit_until_full() {
    const double memory = static_cast<double>(work_.memory_bytes);
    const double under_way = std::max(flight_.bytes, 2 * flight_bytes_);
    double until = now_ + std::max(0.0, memory - under_way - array_bytes()) / request_bytes_;
    if (can_be_hot()) {
      double oldest = now_;
      for (const Group& group : groups_) oldest = std::min(oldest, group.emptied_at);
      until = std::min(until, std::max(now_, oldest + hot_requests() * buckets_));
    }
    const bool ends = until >= work_.request_count;
    const double to = std::max(now_ + 1, std::min(until, work_.request_count));
    const double count = to - now_;
    array_requests_ += count;
    spend(count * (kSubmitSeconds + payload_seconds()));
    now_ = to;
    return !ends;
  }

  [[nodiscard]] double payload_seconds() const {
    return kPayloadByteSeconds * (request_bytes_ - 8);
  }

  /// CPU of the submitting thread.
  void spend(double seconds) {
    clock_ += seconds;
    out_.submit_seconds += seconds;
  }

  void write(double bytes) {
    out_.bytes_written += bytes;
    disk(bytes / work_.write_bytes_per_second);
  }
  void read(double bytes) {
    out_.bytes_read += bytes;
    disk(bytes / work_.read_bytes_per_second);
  }
  void disk(double seconds) {
    out_.disk_seconds += seconds;
    disk_free_at_ = std::max(disk_free_at_, clock_) + seconds;
  }

  /// Follows drum::Merger::relieve().
  void relieve() {
    std::size_t hot = find_hot();
    bool logged = false;
    while (array_requests_ > 0 && (hot != groups_.size() || is_full())) {
      const bool one_only = hot != groups_.size();
      const std::size_t first = one_only ? hot : sweep_at_;
      if (flight_.first <= first && first < flight_.end) land();
      std::size_t end = first + 1;
      double bytes = memory_of(first);
      while (!one_only && end < groups_.size() && end != flight_.first &&
             bytes + memory_of(end) / 2 < flight_bytes_) {
        bytes += memory_of(end++);
      }
      if (!one_only) {
        if (sweep_at_ == 0) ++out_.pass_count;
        sweep_at_ = end < groups_.size() ? end : 0;
      }
      hot = groups_.size();
      if (should_merge(first, end)) {
        send_off(first, end);
      } else {
        log(first, end);
        logged = true;
      }
    }
    if (logged && std::any_of(groups_.begin(), groups_.end(),
                              [this](const Group& group) { return calls_for_merge(group); })) {
      merge();
    }
  }

  /// The bytes that the arrays of a group's buckets hold together.
  [[nodiscard]] double memory_of(std::size_t group) const {
    return waiting(groups_[group]) * group_buckets_ * request_bytes_;
  }

  [[nodiscard]] bool calls_for_merge(const Group& group) const {
    if (group.runs.empty()) return false;
    double requests = group.runs.back().requests;
    for (const Run& run : group.runs) requests += run.requests;
    return group.runs.size() > drum::kRunsUntilMerge || requests > slice_max_;
  }

  [[nodiscard]] bool should_merge(std::size_t first, std::size_t end) const {
    double partitions = 0;
    double memory = 0;
    double logs = 0;
    for (std::size_t g = first; g < end; ++g) {
      if (calls_for_merge(groups_[g])) return true;
      partitions += groups_[g].partition.payload * group_buckets_;
      memory += memory_of(g);
      for (const Run& run : groups_[g].runs) {
        logs += run.unpacked_bytes * group_buckets_;
      }
    }
    return drum::pays_to_merge(whole(partitions), whole(memory), whole(logs));
  }

  [[nodiscard]] Run run_of(double requests, bool has_sequences) const {
    const RunBytes bytes = run_bytes(work_, requests, has_sequences);
    return {requests, bytes.keys, bytes.auxes, bytes.unpacked, {}};
  }

  void add_run(Group& group, double requests, bool has_sequences = false) {
    const Run run = run_of(requests, has_sequences);
    group.runs.push_back(run);
    write(run.extents() * group_buckets_);
    out_.log_bytes += run.extents() * group_buckets_;
    group.runs.back().place = file_.reserve(run.extents() * group_buckets_);
    ++counts_.runs;
    if (group.runs.size() == 1) ++counts_.logs;
  }

  /// Takes the runs from `first` on out of the group's logs.
  void drop_runs(Group& group, std::size_t first) {
    for (std::size_t i = first; i < group.runs.size(); ++i) file_.retire(group.runs[i].place);
    counts_.runs -= static_cast<double>(group.runs.size() - first);
    if (first == 0 && !group.runs.empty()) --counts_.logs;
    group.runs.resize(first);
  }

  void log(std::size_t first, std::size_t end) {
    if (out_.first_logged_request < 0) out_.first_logged_request = now_;
    for (std::size_t g = first; g < end; ++g) {
      const double requests = take(groups_[g]);
      if (requests <= 0) continue;
      out_.logged_requests += requests * group_buckets_;
      spend(requests * group_buckets_ * (kLogSeconds + payload_seconds()));
      spend(requests * group_buckets_ * kPackByteSeconds * static_cast<double>(work_.aux_bytes));
      add_run(groups_[g], requests);
      if (groups_[g].runs.size() > drum::kJoinRunCount) join(groups_[g]);
    }
  }

  /// Follows drum::BucketLogs::join_runs().
  void join(Group& group) {
    auto& runs = group.runs;
    const double requests_max = std::min(double{drum::kSortCountMax},
                                         std::max(double{drum::kJoinedRequestsMin}, slice_max_));
    const double bytes_max =
        static_cast<double>(std::max(drum::kJoinedBytesMin, work_.memory_bytes));
    std::size_t first = runs.size();
    double behind = 0;
    double bytes = 0;
    while (first > 0) {
      const Run& run = runs[first - 1];
      if (first + 2 <= runs.size() && run.requests > behind) break;
      bytes += run.key_bytes + run.aux_bytes;
      if (behind + run.requests > requests_max || bytes > bytes_max) break;
      behind += run.requests;
      --first;
    }
    if (runs.size() - first < 2) return;
    for (std::size_t i = first; i < runs.size(); ++i) {
      read(runs[i].extents() * group_buckets_);
    }
    drop_runs(group, first);
    add_run(group, behind, true);
  }

  /// Empties the arrays of a group's buckets; returns what one of them held.
  double take(Group& group) {
    const double requests = waiting(group);
    array_requests_ = std::max(0.0, array_requests_ - requests * group_buckets_);
    group.emptied_at = now_;
    if (!is_last_pass_ && requests > 0) {
      taken_requests_ += requests * group_buckets_;
      taken_arrays_ += group_buckets_;
    }
    return requests;
  }

  /// One slice: the partition is read and written.
  void merge_slice(Group& group, double requests, double keys, Flight& flight) {
    const PartitionBytes before = group.partition;
    double seconds = kMergeSeconds + sort_seconds(requests) + kKeySeconds * group.keys;
    seconds += requests * payload_seconds();
    out_.bytes_read += before.extent * group_buckets_;
    double bytes = before.extent;
    if (keys > group.keys) {
      group.partition = partition_bytes(keys, work_);
      group.keys = keys;
      out_.bytes_written += group.partition.extent * group_buckets_;
      flight.written += group.partition.extent * group_buckets_;
      bytes += group.partition.extent;
    }
    seconds += kByteSeconds * bytes;
    out_.disk_seconds += before.extent * group_buckets_ / work_.read_bytes_per_second;
    flight_seconds_ += seconds * group_buckets_;
    flight_read_seconds_ += before.extent * group_buckets_ / work_.read_bytes_per_second;
    out_.bucket_merge_count += group_buckets_;
  }

  /// All that waits for the group's buckets. Returns its bytes in memory and logs.
  double merge(Group& group, Flight& flight) {
    double waiting = take(group);
    if (waiting > slice_max_ + std::floor(slice_max_ / 2)) {
      add_run(group, waiting);
      waiting = 0;
    }
    double all = waiting;
    double log_bytes = 0;
    for (const Run& run : group.runs) {
      all += run.requests;
      log_bytes += run.unpacked_bytes;
      const double extents = run.extents() * group_buckets_;
      out_.bytes_read += extents;
      out_.disk_seconds += extents / work_.read_bytes_per_second;
      flight_read_seconds_ += extents / work_.read_bytes_per_second;
      flight_seconds_ += kByteSeconds * extents;
    }
    if (all <= 0) return 0;
    if (is_last_pass_) {
      out_.last_merge_requests = std::max(out_.last_merge_requests, all);
    } else {
      merged_requests_ += all * group_buckets_;
      merged_arrays_ += group_buckets_;
    }
    const double before = group.keys;
    const double gained = work_.key_count * now_ / work_.request_count / buckets_ - before;
    double done = 0;
    double slice = 0;
    const auto end_slice = [&] {
      done += slice;
      merge_slice(group, slice, before + gained * done / all, flight);
      slice = 0;
    };
    for (const Run& run : group.runs) {
      if (slice > 0 && slice + run.requests > slice_max_) end_slice();
      slice += run.requests;
    }
    if (slice > 0 && waiting > 0 && slice + waiting > slice_max_) end_slice();
    slice += waiting;
    end_slice();
    has_log_changes_ = has_log_changes_ || !group.runs.empty();
    drop_runs(group, 0);
    reserve(group, before + all, before, flight);
    flight.requests += all * group_buckets_;
    flight.buckets += group_buckets_;
    flight.bytes += waiting * group_buckets_ * request_bytes_;
    return (waiting * request_bytes_ + log_bytes) * group_buckets_;
  }

  /// Room for the new partitions of a group, as if all requests had new keys.
  void reserve(Group& group, double keys_max, double keys_before, Flight& flight) {
    if (group.keys <= keys_before) return;
    if (keys_before == 0) ++counts_.partitions;
    const std::uint64_t range = ~std::uint64_t{0} / work_.bucket_count;
    const double values = keys_max * static_cast<double>(work_.value_bytes);
    const double room = extent_of(static_cast<double>(
        drum::partition_bytes_max(whole(keys_max), range, whole(values), work_.key_bytes == 16)));
    const auto index = static_cast<std::size_t>(&group - groups_.data());
    flight.replacements.push_back(
        {index, file_.reserve(room * group_buckets_), group.partition.extent * group_buckets_});
  }

  /// Launches what was prepared in `next`, then lands the flight before.
  void launch(Flight next) {
    clock_ = std::max(clock_, flight_.ends_at);  // one merging thread
    next.ends_at = clock_ + std::max(flight_seconds_, flight_read_seconds_);
    out_.merge_seconds += flight_seconds_;
    flight_seconds_ = flight_read_seconds_ = 0;
    finish_flight(std::exchange(flight_, std::move(next)));
  }

  void send_off(std::size_t first, std::size_t end) {
    Flight next;
    next.first = first;
    next.end = end;
    for (std::size_t g = first; g < end; ++g) (void)merge(groups_[g], next);
    flight_buckets_ += next.buckets;
    ++flight_count_;
    launch(std::move(next));
  }

  void land() {
    clock_ = std::max(clock_, flight_.ends_at);
    finish_flight(std::exchange(flight_, Flight{}));
  }

  /// Dispatches and commits: drum::Merger::finish().
  void finish_flight(Flight landed) {
    if (landed.buckets == 0) return;
    const double synced_at = clock_ + landed.written / work_.write_bytes_per_second;
    out_.disk_seconds += landed.written / work_.write_bytes_per_second;
    spend(landed.requests * (kDispatchSeconds + payload_seconds()));
    clock_ = std::max({clock_, synced_at, disk_free_at_});
    for (Replacement& next : landed.replacements) {
      Extent& place = groups_[next.group].place;
      if (place.length_bytes != 0) file_.retire(place);
      file_.give_back(next.place, next.used_bytes);
      place = next.place;
    }
    commit(landed.buckets, true);
  }

  /// Merges like DrumCore::merge(), or because logs are full.
  void merge() {
    land();
    ++out_.pass_count;
    is_last_pass_ = now_ >= work_.request_count;
    double bytes = 0;
    Flight next;
    for (Group& group : groups_) {
      bytes += merge(group, next);
      if (bytes < flight_bytes_) continue;
      launch(std::move(next));
      next = {};
      bytes = 0;
    }
    if (next.buckets != 0) launch(std::move(next));
    land();
  }

  /// Counts the writes of a commit beside the runs: DRUM table, directory tables, root,
  /// superblocks.
  void commit(double changed_buckets, bool after_merge) {
    const double kinds = work_.aux_bytes != 0 ? 2 : 1;
    const double partitions = counts_.partitions * group_buckets_;
    const double logs = counts_.logs * group_buckets_ * kinds;
    const double runs = counts_.runs * group_buckets_ * kinds;
    const CommitBytes bytes = commit_bytes({buckets_, partitions, logs, runs, changed_buckets,
                                            has_log_changes_ || logs != logs_before_});
    const double all = bytes.extents + bytes.superblocks;
    out_.commit_bytes += all;
    ++out_.commit_count;
    write(all);
    file_.commit(bytes.extents);
    if (after_merge) spend(kCommitSeconds);
    has_log_changes_ = false;
    logs_before_ = logs;
  }

  void finish() {
    for (const Group& group : groups_) {
      out_.partition_bytes += group.partition.extent * group_buckets_;
    }
    out_.file_bytes = static_cast<double>(file_.file_bytes());
    // One disk reads and writes: what this overlaps still takes its time.
    out_.seconds = std::max(clock_, out_.disk_seconds);
    if (merged_arrays_ > 0) out_.merge_requests = merged_requests_ / merged_arrays_;
    if (taken_arrays_ > 0) out_.array_requests = taken_requests_ / taken_arrays_;
    if (flight_count_ > 0) out_.flight_buckets = flight_buckets_ / flight_count_;
  }

  MergeWorkload work_;
  double request_bytes_;
  double buckets_;
  double flight_bytes_;
  double slice_max_;
  std::vector<Group> groups_;
  double group_buckets_;  // of a group
  MergeForecast out_;
  double now_ = 0;  // requests that have come
  double array_requests_ = 0;
  std::size_t sweep_at_ = 0;
  Flight flight_;
  double flight_seconds_ = 0;  // of the one that is prepared
  double flight_read_seconds_ = 0;
  double clock_ = 0;
  double disk_free_at_ = 0;
  FileForecast file_;
  struct {
    double partitions = 0;
    double logs = 0;  // that have runs
    double runs = 0;
  } counts_;  // of groups
  double logs_before_ = 0;
  bool has_log_changes_ = false;
  bool is_last_pass_ = false;
  double taken_requests_ = 0;
  double taken_arrays_ = 0;
  double merged_requests_ = 0;
  double merged_arrays_ = 0;
  double flight_buckets_ = 0;
  double flight_count_ = 0;
};

}  // namespace

MergeForecast forecast_merges(const MergeWorkload& workload) {
  return Forecast(workload).run();
}

}  // namespace crawlstore::model
