// SPDX-License-Identifier: Apache-2.0
//
// Invariants: the walk sees each key of the partition once and each request once, keys ascending
// and arrivals ascending inside a key, so that several operations on one key take effect in the
// order in which they came; `duplicate` and stored values are filed under the arrival index.
#include "drum/bucket_merge.h"

#include <algorithm>

#include "base/assert.h"

namespace crawlstore::drum {
namespace {

using format::Operation;

void fill_value_begins(std::int32_t value_bytes, std::span<const std::uint32_t> lengths,
                       RequestBatch& batch) {
  if (value_bytes >= 0) return;
  batch.value_begins.reserve(lengths.size() + 1);
  batch.value_begins.push_back(0);
  for (const auto length : lengths) {
    batch.value_begins.push_back(batch.value_begins.back() + length);
  }
}

/// The requests of a run in memory.
Result<void> take_run(const MergeJob& job, const format::RunRef& ref, RequestBatch& batch) {
  const auto parsed = format::parse_key_run(batch.payload, batch.keys);
  if (!parsed || parsed->keys.size() != ref.record_count ||
      parsed->value_bytes != job.value_bytes) {
    return fail(Errc::kSegmentInvalid,
                parsed ? "a key run does not match its reference" : parsed.error().text,
                ref.offset_bytes, job.key_log.value);
  }
  batch.run = ref.run_id;
  batch.key_spans = {parsed->keys};
  batch.count = parsed->keys.size();
  batch.first_sequence = parsed->first_sequence;
  batch.uniform_tag = parsed->uniform_tag;
  batch.tags = parsed->tags;
  batch.sequences = parsed->sequences;
  batch.values = parsed->values;
  fill_value_begins(job.value_bytes, parsed->lengths, batch);
  if (batch.tags.empty() && batch.sequences.empty() && batch.values.empty()) batch.payload = {};
  return {};
}

RequestBatch take_waiting(const MergeJob& job, const WaitingRequests& waiting) {
  RequestBatch batch;
  batch.waiting = waiting.columns;
  auto view = waiting.columns->view();
  batch.key_spans = std::move(view.keys);
  batch.count = view.count;
  batch.first_sequence = waiting.first_sequence;
  batch.uniform_tag = view.uniform_tag;
  batch.tags = view.tags;
  batch.values = view.values;
  fill_value_begins(job.value_bytes, view.value_lengths, batch);
  return batch;
}

class Walk {
 public:
  Walk(Storage& storage, const format::Identity& identity, SortedRequests& sorted,
       MergeOutcome& outcome)
      : storage_(storage), identity_(identity), sorted_(sorted), out_(outcome), job_(outcome.job) {}

  Result<void> run() {
    CRAWLSTORE_TRY(load());
    CRAWLSTORE_TRY(sort());
    PartitionCursor cursor(storage_,
                           container::run_name(identity_, job_.old_partition, old_run_id()),
                           job_.old_run, job_.old_key_count, job_.value_bytes);
    CRAWLSTORE_TRY(cursor.start(job_.first_key, job_.last_key));
    CRAWLSTORE_TRY(is_plain_ ? walk_plain(cursor) : walk(cursor));
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
      RequestBatch& batch = out_.batches.emplace_back();
      CRAWLSTORE_TRY(container::read_run(
          storage_, container::run_name(identity_, job_.key_log, ref.run_id), ref, batch.payload));
      CRAWLSTORE_TRY(take_run(job_, ref, batch));
    }
    for (const auto& waiting : job_.waiting) out_.batches.push_back(take_waiting(job_, waiting));
    return {};
  }

  Result<void> sort() {
    std::vector<std::span<const std::uint64_t>> spans;
    starts_.reserve(out_.batches.size());
    is_plain_ = job_.value_bytes == 0;
    for (const auto& batch : out_.batches) {
      starts_.push_back(out_.request_count);
      out_.request_count += batch.count;
      spans.insert(spans.end(), batch.key_spans.begin(), batch.key_spans.end());
      is_plain_ = is_plain_ && batch.tags.empty() &&
                  format::operation_of(batch.uniform_tag) == Operation::kCheckUpdate;
    }
    out_.duplicate.assign(out_.request_count, 0);
    sorted_.sort(spans);
    if (sorted_.keys().front() < job_.first_key || sorted_.keys().back() > job_.last_key) {
      const auto offset =
          job_.key_runs.empty() ? Error::kNoOffset : job_.key_runs.front().offset_bytes;
      return fail(Errc::kSegmentInvalid, "a request lies in another bucket than its key", offset,
                  job_.key_log.value);
    }
    return {};
  }

  struct Request {
    Operation operation;
    std::span<const std::byte> value;
  };
  [[nodiscard]] Request request(std::size_t arrival) const {
    const auto after = std::upper_bound(starts_.begin(), starts_.end(), arrival);
    const auto number = static_cast<std::size_t>(after - starts_.begin()) - 1;
    const RequestBatch& batch = out_.batches[number];
    const std::size_t index = arrival - starts_[number];
    const auto tag = batch.tags.empty() ? batch.uniform_tag : batch.tags[index];
    return {format::operation_of(tag), value_of(batch, index, job_.value_bytes)};
  }

  /// The writer with room for a key.
  Result<PartitionWriter*> writer() {
    if (job_.piece_writers[piece_].key_count() == job_.piece_keys_max) {
      CRAWLSTORE_TRY(finish_piece());
      CRAWLSTORE_ASSERT(++piece_ < job_.piece_writers.size());
    }
    return &job_.piece_writers[piece_];
  }

  Result<void> emit(std::uint64_t key, std::span<const std::byte> value) {
    const auto writer = this->writer();
    if (!writer) return tl::unexpected<Error>(writer.error());
    ++out_.key_count;
    return (*writer)->append(key, value);
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
    if (job_.value_bytes == 0) {
      while (!cursor.at_end()) {
        const auto copied = emit_keys(cursor.keys());
        if (!copied) return tl::unexpected<Error>(copied.error());
        CRAWLSTORE_TRY(cursor.advance(*copied));
      }
      return {};
    }
    while (!cursor.at_end()) {
      CRAWLSTORE_TRY(emit(cursor.key(), cursor.value()));
      CRAWLSTORE_TRY(cursor.advance());
    }
    return {};
  }

  /// Keys alone, as many as the writer takes at a time: returns how many.
  Result<std::size_t> emit_keys(std::span<const std::uint64_t> keys) {
    const auto writer = this->writer();
    if (!writer) return tl::unexpected<Error>(writer.error());
    const auto room = (*writer)->room(job_.piece_keys_max);
    const std::size_t count = std::min(room.size(), keys.size());
    std::copy_n(keys.begin(), count, room.begin());
    out_.key_count += count;
    CRAWLSTORE_TRY((*writer)->fill(count));
    return count;
  }

  /// check_update of keys without values: all that matters is which arrival is the first of a key,
  /// and whether the key was there.
  Result<void> walk_plain(PartitionCursor& cursor) {
    sorted_.keep_first(out_.duplicate);
    const auto keys = sorted_.keys();
    std::size_t next = 0;
    std::size_t present = 0;
    while (next < keys.size() && !cursor.at_end()) {
      const auto writer = this->writer();
      if (!writer) return tl::unexpected<Error>(writer.error());
      const auto room = (*writer)->room(job_.piece_keys_max);
      const Step step =
          merge_step(keys.subspan(next), sorted_.arrivals().subspan(next), cursor.keys(), room);
      next += step.requests;
      present += step.requests + step.stored - step.merged;
      out_.key_count += step.merged;
      CRAWLSTORE_TRY((*writer)->fill(step.merged));
      CRAWLSTORE_TRY(cursor.advance(step.stored));
    }
    while (next < keys.size()) {
      const auto copied = emit_keys(keys.subspan(next));
      if (!copied) return tl::unexpected<Error>(copied.error());
      next += *copied;
    }
    out_.unique_count = keys.size() - present;
    out_.duplicate_count = out_.request_count - out_.unique_count;
    out_.changed = out_.unique_count != 0;
    return {};
  }

  struct Step {
    std::size_t requests = 0;
    std::size_t stored = 0;
    std::size_t merged = 0;
  };
  /// Merges until the shortest of the three could end. Without branches: which side is next cannot
  /// be foreseen.
  Step merge_step(std::span<const std::uint64_t> requests, std::span<const std::uint32_t> arrivals,
                  std::span<const std::uint64_t> stored, std::span<std::uint64_t> merged) {
    const std::size_t count = std::min({requests.size(), stored.size(), merged.size()});
    std::uint8_t* const duplicate = out_.duplicate.data();
    Step step;
    for (; step.merged < count; ++step.merged) {
      const std::uint64_t request = requests[step.requests];
      const std::uint64_t key = stored[step.stored];
      const bool takes_request = request <= key;
      const bool takes_stored = key <= request;
      duplicate[arrivals[step.requests]] |= static_cast<std::uint8_t>(request == key ? 1 : 0);
      merged[step.merged] = takes_request ? request : key;
      step.requests += takes_request ? 1 : 0;
      step.stored += takes_stored ? 1 : 0;
    }
    return step;
  }

  Result<void> walk(PartitionCursor& cursor) {
    const auto keys = sorted_.keys();
    std::size_t begin = 0;
    while (begin < keys.size()) {
      const std::uint64_t key = keys[begin];
      CRAWLSTORE_TRY(copy_before(cursor, key));
      const bool was_present = !cursor.at_end() && cursor.key() == key;
      std::size_t end = begin + 1;
      while (end < keys.size() && keys[end] == key) ++end;
      CRAWLSTORE_TRY(
          answer_group(cursor, key, sorted_.arrivals().subspan(begin, end - begin), was_present));
      begin = end;
    }
    return {};
  }

  /// All requests of one key.
  Result<void> answer_group(PartitionCursor& cursor, std::uint64_t key,
                            std::span<const std::uint32_t> arrivals, bool was_present) {
    bool present = was_present;
    std::span<const std::byte> value;
    if (was_present) value = cursor.value();
    for (const std::uint32_t arrival : arrivals) {
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
  SortedRequests& sorted_;
  MergeOutcome& out_;
  MergeJob& job_;
  std::vector<std::size_t> starts_;  // of the batches, by arrival
  std::vector<StoredValue> stored_;
  std::vector<std::byte> stored_bytes_;
  std::size_t piece_ = 0;
  bool is_plain_ = false;  // check_update only, without values
};

}  // namespace

std::span<const std::byte> value_of(const RequestBatch& batch, std::size_t index,
                                    std::int32_t value_bytes) {
  if (value_bytes == 0) return {};
  if (value_bytes > 0) {
    const auto size = static_cast<std::size_t>(value_bytes);
    return batch.values.subspan(index * size, size);
  }
  const auto begin = batch.value_begins[index];
  return batch.values.subspan(begin, batch.value_begins[index + 1] - begin);
}

void MergeOutcome::forget_answers() {
  batches = {};
  duplicate = {};
  value_begins = {};
  values = {};
}

Result<void> merge_bucket(Storage& storage, const format::Identity& identity,
                          SortedRequests& sorted, MergeOutcome& outcome) {
  return Walk(storage, identity, sorted, outcome).run();
}

}  // namespace crawlstore::drum
