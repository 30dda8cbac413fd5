// SPDX-License-Identifier: Apache-2.0
//
// Invariants: the walk sees each key of the partition once and each request once, keys ascending
// and arrivals ascending inside a key, so that several operations on one key take effect in the
// order in which they came; `duplicate` and stored values are filed under the arrival index.
#include "drum/bucket_merge.h"

#include <algorithm>

#include "base/assert.h"
#include "drum/sort_requests.h"

namespace crawlstore::drum {
namespace {

using format::Operation;
constexpr std::uint64_t kIndexMask = kSortCountMax - 1;

class Walk {
 public:
  Walk(Storage& storage, const format::Identity& identity, MergeOutcome& outcome)
      : storage_(storage), identity_(identity), out_(outcome), job_(outcome.job) {}

  Result<void> run() {
    CRAWLSTORE_TRY(load());
    gather_keys();
    sort_requests(keys_, job_.first_key, job_.last_key, order_, scratch_);
    PartitionCursor cursor(storage_,
                           container::run_name(identity_, job_.old_partition, old_run_id()),
                           job_.old_run, job_.old_key_count, job_.value_bytes);
    CRAWLSTORE_TRY(cursor.start(job_.first_key, job_.last_key));
    CRAWLSTORE_TRY(walk(cursor));
    CRAWLSTORE_TRY(copy_rest(cursor));
    CRAWLSTORE_TRY(cursor.finish());
    CRAWLSTORE_TRY(finish_piece());
    arrange_values();
    return {};
  }

 private:
  [[nodiscard]] RunId old_run_id() const { return job_.old_run ? job_.old_run->run_id : RunId{}; }

  Result<void> load() {
    for (const auto& ref : job_.key_runs) {
      LoadedRun& loaded = out_.runs.emplace_back();
      CRAWLSTORE_TRY(container::read_run(
          storage_, container::run_name(identity_, job_.key_log, ref.run_id), ref, loaded.payload));
      const auto parsed = format::parse_key_run(loaded.payload);
      if (!parsed || parsed->keys.size() != ref.record_count ||
          parsed->value_bytes != job_.value_bytes) {
        return fail(Errc::kSegmentInvalid,
                    parsed ? "a key run does not match its reference" : parsed.error().text,
                    ref.offset_bytes, job_.key_log.value);
      }
      loaded.columns = *parsed;
      if (job_.value_bytes >= 0) continue;
      loaded.value_begins.push_back(0);
      for (const auto length : parsed->lengths) {
        loaded.value_begins.push_back(loaded.value_begins.back() + length);
      }
    }
    return {};
  }

  void gather_keys() {
    std::size_t count = 0;
    for (const auto& run : out_.runs) count += run.columns.keys.size();
    out_.request_count = count;
    out_.duplicate.assign(count, 0);
    run_starts_.reserve(out_.runs.size());
    keys_copy_.reserve(out_.runs.size() > 1 ? count : 0);
    std::size_t start = 0;
    for (const auto& run : out_.runs) {
      run_starts_.push_back(start);
      start += run.columns.keys.size();
      if (out_.runs.size() > 1) {
        keys_copy_.insert(keys_copy_.end(), run.columns.keys.begin(), run.columns.keys.end());
      }
      is_uniform_ = is_uniform_ && run.columns.tags.empty() &&
                    format::operation_of(run.columns.uniform_tag) == Operation::kCheckUpdate;
    }
    keys_ = out_.runs.size() > 1 ? std::span<const std::uint64_t>(keys_copy_)
                                 : out_.runs.front().columns.keys;
  }

  struct Request {
    Operation operation;
    std::span<const std::byte> value;
  };
  [[nodiscard]] Request request(std::size_t arrival) const {
    const auto after = std::upper_bound(run_starts_.begin(), run_starts_.end(), arrival);
    const auto number = static_cast<std::size_t>(after - run_starts_.begin()) - 1;
    const LoadedRun& run = out_.runs[number];
    const std::size_t index = arrival - run_starts_[number];
    const auto tag = run.columns.tags.empty() ? run.columns.uniform_tag : run.columns.tags[index];
    return {format::operation_of(tag), value_of(run, index, job_.value_bytes)};
  }

  Result<void> emit(std::uint64_t key, std::span<const std::byte> value) {
    PartitionWriter* writer = &job_.piece_writers[piece_];
    if (writer->key_count() == job_.piece_keys_max) {
      CRAWLSTORE_TRY(finish_piece());
      CRAWLSTORE_ASSERT(++piece_ < job_.piece_writers.size());
      writer = &job_.piece_writers[piece_];
    }
    ++out_.key_count;
    return writer->append(key, value);
  }

  Result<void> finish_piece() {
    PartitionWriter& writer = job_.piece_writers[piece_];
    if (writer.key_count() == 0) return {};
    auto piece = writer.finish();
    if (!piece) return tl::unexpected<Error>(piece.error());
    out_.pieces.push_back(*piece);
    return {};
  }

  Result<void> copy_before(PartitionCursor& cursor, std::uint64_t key) {
    while (!cursor.at_end() && cursor.key() < key) {
      CRAWLSTORE_TRY(emit(cursor.key(), cursor.value()));
      CRAWLSTORE_TRY(cursor.advance());
    }
    return {};
  }

  Result<void> copy_rest(PartitionCursor& cursor) {
    while (!cursor.at_end()) {
      CRAWLSTORE_TRY(emit(cursor.key(), cursor.value()));
      CRAWLSTORE_TRY(cursor.advance());
    }
    return {};
  }

  Result<void> walk(PartitionCursor& cursor) {
    constexpr std::size_t kPrefetchDistance = 16;
    std::size_t i = 0;
    while (i < order_.size()) {
      const std::uint64_t key = keys_[order_[i] & kIndexMask];
      if (key < job_.first_key || key > job_.last_key) {
        return fail(Errc::kSegmentInvalid, "a request lies in another bucket than its key",
                    job_.key_runs.front().offset_bytes, job_.key_log.value);
      }
      CRAWLSTORE_TRY(copy_before(cursor, key));
      const bool was_present = !cursor.at_end() && cursor.key() == key;
      std::size_t end = i;
      while (end < order_.size() && keys_[order_[end] & kIndexMask] == key) {
        if (end + kPrefetchDistance < order_.size()) {
          __builtin_prefetch(&keys_[order_[end + kPrefetchDistance] & kIndexMask]);
        }
        ++end;
      }
      CRAWLSTORE_TRY(answer_group(cursor, key, i, end, was_present));
      i = end;
    }
    return {};
  }

  /// Requests order_[begin, end) are all of one key.
  Result<void> answer_group(PartitionCursor& cursor, std::uint64_t key, std::size_t begin,
                            std::size_t end, bool was_present) {
    if (is_uniform_ && job_.value_bytes == 0) {
      if (was_present) out_.duplicate[order_[begin] & kIndexMask] = 1;
      for (std::size_t i = begin + 1; i < end; ++i) out_.duplicate[order_[i] & kIndexMask] = 1;
      const std::size_t unique = was_present ? 0 : 1;
      out_.unique_count += unique;
      out_.duplicate_count += end - begin - unique;
      out_.changed = out_.changed || !was_present;
      CRAWLSTORE_TRY(emit(key, {}));
      return was_present ? cursor.advance() : Result<void>{};
    }
    return answer_mixed_group(cursor, key, begin, end, was_present);
  }

  Result<void> answer_mixed_group(PartitionCursor& cursor, std::uint64_t key, std::size_t begin,
                                  std::size_t end, bool was_present) {
    bool present = was_present;
    std::span<const std::byte> value;
    if (was_present) value = cursor.value();
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t arrival = order_[i] & kIndexMask;
      const Request request = this->request(arrival);
      if (request.operation != Operation::kUpdate) {
        out_.duplicate[arrival] = present ? 1 : 0;
        ++(present ? out_.duplicate_count : out_.unique_count);
      }
      if (request.operation == Operation::kCheck) {
        if (present && job_.value_bytes != 0) keep_stored_value(arrival, value);
        continue;
      }
      out_.changed =
          out_.changed || !present ||
          !std::equal(value.begin(), value.end(), request.value.begin(), request.value.end());
      present = true;
      value = request.value;
    }
    if (present) CRAWLSTORE_TRY(emit(key, value));
    return was_present ? cursor.advance() : Result<void>{};
  }

  struct StoredValue {
    std::size_t arrival;
    std::size_t begin;
    std::size_t length;
  };
  void keep_stored_value(std::size_t arrival, std::span<const std::byte> value) {
    stored_.push_back({arrival, stored_bytes_.size(), value.size()});
    stored_bytes_.insert(stored_bytes_.end(), value.begin(), value.end());
  }

  /// Files the stored values under their arrival index.
  void arrange_values() {
    if (stored_.empty()) return;
    std::sort(stored_.begin(), stored_.end(),
              [](const auto& a, const auto& b) { return a.arrival < b.arrival; });
    out_.value_begins.reserve(out_.request_count + 1);
    auto next = stored_.begin();
    for (std::size_t arrival = 0; arrival < out_.request_count; ++arrival) {
      out_.value_begins.push_back(out_.values.size());
      if (next == stored_.end() || next->arrival != arrival) continue;
      const auto bytes = std::span(stored_bytes_).subspan(next->begin, next->length);
      out_.values.insert(out_.values.end(), bytes.begin(), bytes.end());
      ++next;
    }
    out_.value_begins.push_back(out_.values.size());
  }

  Storage& storage_;
  const format::Identity& identity_;
  MergeOutcome& out_;
  MergeJob& job_;
  std::vector<std::uint64_t> keys_copy_;
  std::span<const std::uint64_t> keys_;
  std::vector<std::size_t> run_starts_;
  std::vector<std::uint64_t> order_;
  std::vector<std::uint64_t> scratch_;
  std::vector<StoredValue> stored_;
  std::vector<std::byte> stored_bytes_;
  std::size_t piece_ = 0;
  bool is_uniform_ = true;  // check_update only
};

}  // namespace

std::span<const std::byte> value_of(const LoadedRun& run, std::size_t index,
                                    std::int32_t value_bytes) {
  if (value_bytes == 0) return {};
  if (value_bytes > 0) {
    const auto size = static_cast<std::size_t>(value_bytes);
    return run.columns.values.subspan(index * size, size);
  }
  const auto begin = run.value_begins[index];
  return run.columns.values.subspan(begin, run.value_begins[index + 1] - begin);
}

void MergeOutcome::forget_answers() {
  runs = {};
  duplicate = {};
  value_begins = {};
  values = {};
}

Result<MergeOutcome> merge_bucket(Storage& storage, const format::Identity& identity,
                                  MergeJob job) {
  MergeOutcome outcome;
  outcome.job = std::move(job);
  CRAWLSTORE_TRY(Walk(storage, identity, outcome).run());
  return outcome;
}

}  // namespace crawlstore::drum
