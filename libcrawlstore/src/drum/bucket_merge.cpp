// SPDX-License-Identifier: Apache-2.0
//
// Invariants: the walk sees each key of the partition once and each request once, keys ascending
// and arrivals ascending inside a key, so that several operations on one key take effect in the
// order in which they came; `duplicate` and stored values are filed under the arrival index, for
// which repeats do not count.
#include "drum/bucket_merge.h"

#include <algorithm>

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
      parsed->value_bytes != job.shape.value_bytes ||
      parsed->tails.size() != (job.shape.is_wide() ? parsed->keys.size() : 0)) {
    return fail(Errc::kSegmentInvalid,
                parsed ? "a key run does not match its reference" : parsed.error().text,
                ref.offset_bytes, job.key_log);
  }
  batch.run = ref.run_id;
  batch.key_spans = {parsed->keys};
  if (job.shape.is_wide()) batch.tail_spans = {parsed->tails};
  batch.key_count = parsed->keys.size();
  batch.first_sequence = parsed->first_sequence;
  batch.uniform_tag = parsed->uniform_tag;
  batch.tags = parsed->tags;
  batch.sequences = parsed->sequences;
  batch.values = parsed->values;
  fill_value_begins(job.shape.value_bytes, parsed->lengths, batch);
  if (batch.tags.empty() && batch.sequences.empty() && batch.values.empty() &&
      batch.tail_spans.empty()) {
    batch.payload = {};
  }
  return {};
}

RequestBatch take_waiting(const MergeJob& job, const WaitingRequests& waiting) {
  RequestBatch batch;
  batch.waiting = waiting.columns;
  auto view = waiting.columns->view();
  batch.key_spans = std::move(view.keys);
  batch.tail_spans = std::move(view.tails);
  batch.key_count = view.key_count;
  batch.repeats = view.repeats;
  batch.first_sequence = waiting.first_sequence;
  batch.uniform_tag = view.uniform_tag;
  batch.tags = view.tags;
  batch.values = view.values;
  fill_value_begins(job.shape.value_bytes, view.value_lengths, batch);
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
                           job_.old_run, job_.old_key_count, job_.shape);
    CRAWLSTORE_TRY(cursor.start(job_.first_key, job_.last_key));
    if (is_plain_) {
      CRAWLSTORE_TRY(job_.shape.is_wide() ? walk_plain<true>(cursor) : walk_plain<false>(cursor));
    } else {
      CRAWLSTORE_TRY(walk(cursor));
    }
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
    std::vector<std::span<const std::uint64_t>> tails;
    starts_.reserve(out_.batches.size());
    is_plain_ = job_.shape.value_bytes == 0 && job_.filter == nullptr;
    for (const auto& batch : out_.batches) {
      starts_.push_back(key_count_);
      key_count_ += batch.key_count;
      out_.request_count += batch.key_count + repeat_count(batch);
      if (batch.repeats != nullptr) {
        out_.duplicate_count += batch.repeats->duplicate_count(batch.uniform_tag);
      }
      spans.insert(spans.end(), batch.key_spans.begin(), batch.key_spans.end());
      tails.insert(tails.end(), batch.tail_spans.begin(), batch.tail_spans.end());
      is_plain_ = is_plain_ && batch.tags.empty() &&
                  format::operation_of(batch.uniform_tag) == Operation::kCheckUpdate;
    }
    out_.duplicate.assign(key_count_, 0);
    sorted_.sort(spans, tails);
    if (key_count_ == 0) return {};
    if (sorted_.keys().front() < job_.first_key || sorted_.keys().back() > job_.last_key) {
      const auto offset =
          job_.key_runs.empty() ? Error::kNoOffset : job_.key_runs.front().offset_bytes;
      return fail(Errc::kSegmentInvalid, "a request lies in another bucket than its key", offset,
                  job_.key_log);
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
    return {format::operation_of(tag), value_of(batch, index, job_.shape.value_bytes)};
  }

  /// Returns the writer with room for a key. Keys with one head stay in one piece, however many.
  Result<PartitionWriter*> writer(std::uint64_t head) {
    PartitionWriter* writer = &job_.piece_writers[piece_];
    if (writer->key_count() >= job_.piece_keys_max &&
        !(job_.shape.is_wide() && writer->last_head() == head)) {
      CRAWLSTORE_TRY(finish_piece());
      if (++piece_ == job_.piece_writers.size()) {
        return fail(Errc::kSegmentInvalid, "a bucket holds more keys than its DRUM says");
      }
      writer = &job_.piece_writers[piece_];
    }
    return writer;
  }

  Result<void> emit(Key16 key, std::span<const std::byte> value) {
    if (job_.filter != nullptr && job_.filter->covers(key.head)) {
      CRAWLSTORE_TRY(const bool stays, job_.filter->keeps(key, value));
      out_.changed = out_.changed || !stays;
      if (!stays) return {};
    }
    CRAWLSTORE_TRY(const auto writer, this->writer(key.head));
    ++out_.key_count;
    return writer->append(key, value);
  }

  Result<void> finish_piece() {
    PartitionWriter& writer = job_.piece_writers[piece_];
    if (writer.key_count() == 0) return {};
    CRAWLSTORE_TRY(auto piece, writer.finish());
    out_.pieces.push_back(piece);
    return {};
  }

  Result<void> copy_before(PartitionCursor& cursor, Key16 key) {
    while (!cursor.at_end() && cursor.key() < key) {
      CRAWLSTORE_TRY(emit(cursor.key(), cursor.value()));
      CRAWLSTORE_TRY(cursor.advance());
    }
    return {};
  }

  Result<void> copy_rest(PartitionCursor& cursor) {
    if (job_.shape.value_bytes == 0 && job_.filter == nullptr) {
      while (!cursor.at_end()) {
        CRAWLSTORE_TRY(const auto copied, emit_keys(cursor.keys(), cursor.tails()));
        CRAWLSTORE_TRY(cursor.advance(copied));
      }
      return {};
    }
    while (!cursor.at_end()) {
      CRAWLSTORE_TRY(emit(cursor.key(), cursor.value()));
      CRAWLSTORE_TRY(cursor.advance());
    }
    return {};
  }

  /// Returns the room for the next keys, of which `head` is the first; never empty.
  struct Room {
    PartitionWriter* writer = nullptr;
    std::span<std::uint64_t> keys;
    std::span<std::uint64_t> tails;
  };
  Result<Room> room(std::uint64_t head) {
    CRAWLSTORE_TRY(const auto writer, this->writer(head));
    const auto keys_max = std::max(job_.piece_keys_max, writer->key_count() + 1);
    return Room{writer, writer->room(keys_max), writer->tail_room()};
  }

  /// Copies keys without values, as many as the writer takes at a time, and returns their number.
  Result<std::size_t> emit_keys(std::span<const std::uint64_t> keys,
                                std::span<const std::uint64_t> tails) {
    CRAWLSTORE_TRY(const auto room, this->room(keys.front()));
    const std::size_t count = std::min(room.keys.size(), keys.size());
    std::copy_n(keys.begin(), count, room.keys.begin());
    if (job_.shape.is_wide()) std::copy_n(tails.begin(), count, room.tails.begin());
    out_.key_count += count;
    CRAWLSTORE_TRY(room.writer->fill(count));
    return count;
  }

  /// Merges check_updates of keys without values. Only the first arrival of a key matters, and
  /// whether the key was there.
  template <bool kIsWide>
  Result<void> walk_plain(PartitionCursor& cursor) {
    sorted_.keep_first(out_.duplicate);
    const auto keys = sorted_.keys();
    std::size_t next = 0;
    std::size_t present = 0;
    const auto tails_from = [&](std::size_t i) {
      return kIsWide ? sorted_.tails().subspan(i) : std::span<const std::uint64_t>{};
    };
    while (next < keys.size() && !cursor.at_end()) {
      CRAWLSTORE_TRY(const auto room, this->room(std::min(keys[next], cursor.keys().front())));
      const Step step = merge_step<kIsWide>({keys.subspan(next), tails_from(next)},
                                            {cursor.keys(), cursor.tails()},
                                            sorted_.arrivals().data() + next, room);
      next += step.requests;
      present += step.requests + step.stored - step.merged;
      out_.key_count += step.merged;
      CRAWLSTORE_TRY(room.writer->fill(step.merged));
      CRAWLSTORE_TRY(cursor.advance(step.stored));
    }
    while (next < keys.size()) {
      CRAWLSTORE_TRY(const auto copied, emit_keys(keys.subspan(next), tails_from(next)));
      next += copied;
    }
    out_.unique_count = keys.size() - present;
    out_.duplicate_count += key_count_ - out_.unique_count;
    out_.changed = out_.unique_count != 0;
    return {};
  }

  struct Keys {
    std::span<const std::uint64_t> heads;
    std::span<const std::uint64_t> tails;  // of 16-byte keys
  };
  struct Step {
    std::size_t requests = 0;
    std::size_t stored = 0;
    std::size_t merged = 0;
  };
  /// Merges until the shortest of the three could end. It has no branches on keys, as no processor
  /// can predict the next side.
  template <bool kIsWide>
  Step merge_step(const Keys& requests, const Keys& stored, const std::uint32_t* arrivals,
                  const Room& merged) {
    const std::size_t count =
        std::min({requests.heads.size(), stored.heads.size(), merged.keys.size()});
    std::uint8_t* const duplicate = out_.duplicate.data();
    Step step;
    for (; step.merged < count; ++step.merged) {
      const std::uint64_t request = requests.heads[step.requests];
      const std::uint64_t key = stored.heads[step.stored];
      bool takes_request = request <= key;
      bool takes_stored = key <= request;
      if constexpr (kIsWide) {
        const std::uint64_t request_tail = requests.tails[step.requests];
        const std::uint64_t key_tail = stored.tails[step.stored];
        const bool is_tie = request == key;
        takes_request = is_tie ? request_tail <= key_tail : takes_request;
        takes_stored = is_tie ? key_tail <= request_tail : takes_stored;
        merged.tails[step.merged] = takes_request ? request_tail : key_tail;
      }
      duplicate[arrivals[step.requests]] |=
          static_cast<std::uint8_t>(takes_request && takes_stored ? 1 : 0);
      merged.keys[step.merged] = takes_request ? request : key;
      step.requests += takes_request ? 1 : 0;
      step.stored += takes_stored ? 1 : 0;
    }
    return step;
  }

  Result<void> walk(PartitionCursor& cursor) {
    const auto heads = sorted_.keys();
    const auto tails = sorted_.tails();
    const auto key_at = [&](std::size_t i) {
      return Key16{heads[i], tails.empty() ? 0 : tails[i]};
    };
    std::size_t begin = 0;
    while (begin < heads.size()) {
      const Key16 key = key_at(begin);
      CRAWLSTORE_TRY(copy_before(cursor, key));
      const bool was_present = !cursor.at_end() && cursor.key() == key;
      std::size_t end = begin + 1;
      while (end < heads.size() && key_at(end) == key) ++end;
      CRAWLSTORE_TRY(
          answer_group(cursor, key, sorted_.arrivals().subspan(begin, end - begin), was_present));
      begin = end;
    }
    return {};
  }

  /// Merges all requests of one key.
  Result<void> answer_group(PartitionCursor& cursor, Key16 key,
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
        if (present && job_.shape.value_bytes != 0) keep_stored_value(arrival, value);
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
    out_.value_begins.reserve(key_count_ + 1);
    auto next = stored_.begin();
    for (std::size_t arrival = 0; arrival < key_count_; ++arrival) {
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
  std::size_t key_count_ = 0;
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
