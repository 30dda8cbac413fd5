// SPDX-License-Identifier: Apache-2.0
//
// Answers to dispatchers, and to results logs for consumers that are absent.
//
// Invariants: answers leave in arrival order; StoreImpl::transacting is set exactly while a sink
// runs, so that what it submits belongs to the transaction.
#include <algorithm>
#include <optional>

#include "container/run_io.h"
#include "drum/drum_impl.h"

namespace crawlstore {
namespace {

constexpr std::size_t kBatchAnswers = 256;  // they stay in the first-level cache

/// Returns an answer to a request with this tag, still without key and verdict.
RawAnswer answer_to(std::uint16_t tag) {
  RawAnswer answer;
  answer.consumer = format::consumer_of(tag);
  answer.operation = static_cast<DrumOperation>(format::operation_of(tag));
  return answer;
}

class DispatchScope {
 public:
  explicit DispatchScope(StoreImpl& store) : store_(store) {
    store_.transacting.store(this_thread_number(), std::memory_order_relaxed);
  }
  ~DispatchScope() { store_.transacting.store(0, std::memory_order_relaxed); }
  DispatchScope(const DispatchScope&) = delete;
  DispatchScope& operator=(const DispatchScope&) = delete;

 private:
  StoreImpl& store_;
};

}  // namespace

Result<void> DrumCore::Impl::call_sink(const RawSink& sink, std::span<const RawAnswer> answers) {
  const DispatchScope scope(*store);
  try {
    sink(answers);
  } catch (...) {
    return fail(Errc::kDispatcherFailed,
                "the dispatcher threw; its transaction was dropped, its requests are kept");
  }
  return {};
}

std::vector<drum::Consumer>::iterator DrumCore::Impl::find_consumer(std::uint16_t id) {
  const auto found = std::lower_bound(
      state.consumers.begin(), state.consumers.end(), id,
      [](const auto& consumer, std::uint16_t wanted) { return consumer.id < wanted; });
  return found != state.consumers.end() && found->id == id ? found : state.consumers.end();
}

/// Sends runs of answers of one consumer to its sink, or files them.
Result<void> DrumCore::Impl::deliver(Group& group, std::span<const RawAnswer> answers) {
  while (!answers.empty()) {
    const std::uint16_t consumer = answers.front().consumer;
    const auto end = std::find_if(answers.begin(), answers.end(), [consumer](const auto& answer) {
      return answer.consumer != consumer;
    });
    const auto same = answers.first(static_cast<std::size_t>(end - answers.begin()));
    answers = answers.subspan(same.size());
    RawSink sink;
    {
      const std::lock_guard lock(mutex);
      if (find_consumer(consumer) == state.consumers.end()) {
        return fail(Errc::kSegmentInvalid, "a request names a consumer that its DRUM does not have",
                    Error::kNoOffset, state.id);
      }
      if (consumer == nobody && nobody != 0) continue;
      if (const auto known = sinks.find(consumer); known != sinks.end()) sink = known->second;
    }
    if (sink) {
      CRAWLSTORE_TRY(call_sink(sink, same));
    } else {
      auto& results = group.results[consumer];
      for (const RawAnswer& answer : same) results.append(answer, state.shape());
    }
  }
  return {};
}

/// The auxiliaries of a batch, in arrival order.
class DrumCore::Impl::Auxes {
 public:
  /// Reads the auxiliaries of a run.
  Result<void> load(container::Writer& writer, const drum::MergeOutcome& outcome,
                    const drum::RequestBatch& batch) {
    if (batch.waiting != nullptr) {
      const auto view = batch.waiting->view();
      lengths_ = view.aux_lengths;
      uniform_bytes_ = view.uniform_aux_bytes;
      spans_.assign(view.auxes.begin(), view.auxes.end());
      return {};
    }
    const RunId aux_id{batch.run.value + 1};
    const auto ref = std::find_if(outcome.job.aux_runs.begin(), outcome.job.aux_runs.end(),
                                  [aux_id](const auto& run) { return run.run_id == aux_id; });
    if (ref == outcome.job.aux_runs.end()) return {};
    CRAWLSTORE_TRY(container::read_run(
        writer.storage(), container::run_name(writer.identity(), outcome.job.aux_log, aux_id), *ref,
        payload_));
    const auto parsed = format::parse_aux_run(payload_);
    if (!parsed || parsed->record_count != batch.key_count) {
      return fail(
          Errc::kSegmentInvalid,
          parsed ? "an auxiliary run has another count than its key run" : parsed.error().text,
          ref->offset_bytes, outcome.job.aux_log);
    }
    lengths_ = parsed->lengths;
    uniform_bytes_ = parsed->uniform_length_bytes;
    reader_.emplace(parsed->bytes, parsed->blocks);
    return {};
  }
  [[nodiscard]] bool empty() const { return spans_.empty() && !reader_; }

  /// Returns the auxiliary of request `index`, valid until forget(), and goes to the next.
  Result<std::span<const std::byte>> next(std::size_t index) {
    const std::size_t length = lengths_.empty() ? uniform_bytes_ : lengths_[index];
    if (length == 0) return std::span<const std::byte>();
    if (reader_) return reader_->next(length);
    while (begin_ == spans_[span_].size()) {
      ++span_;
      begin_ = 0;
    }
    const auto aux = spans_[span_].subspan(begin_, length);
    begin_ += length;
    return aux;
  }
  void forget() {
    if (reader_) reader_->forget();
  }

 private:
  std::vector<std::byte> payload_;  // of a run
  std::optional<format::AuxReader> reader_;
  std::span<const std::uint32_t> lengths_;
  std::uint32_t uniform_bytes_ = 0;
  std::vector<std::span<const std::byte>> spans_;  // of an array
  std::size_t span_ = 0;
  std::size_t begin_ = 0;
};

/// Dispatches answers of one operation and consumer to keys without values or auxiliaries.
Result<void> DrumCore::Impl::dispatch_plain(Group& group, const drum::MergeOutcome& outcome,
                                            const drum::RequestBatch& batch,
                                            std::size_t first_arrival) {
  std::vector<RawAnswer> answers(kBatchAnswers, answer_to(batch.uniform_tag));
  const std::uint8_t* duplicate = outcome.duplicate.data() + first_arrival;
  std::uint64_t sequence = batch.first_sequence;
  for (std::size_t span = 0; span < batch.key_spans.size(); ++span) {
    auto keys = batch.key_spans[span];
    const auto* tail = batch.tail_spans.empty() ? nullptr : batch.tail_spans[span].data();
    while (!keys.empty()) {
      const auto now = keys.first(std::min(keys.size(), kBatchAnswers));
      for (std::size_t i = 0; i < now.size(); ++i) {
        answers[i].key = now[i];
        if (tail != nullptr) answers[i].key_tail = *tail++;
        answers[i].sequence = sequence++;
        answers[i].duplicate = *duplicate++ != 0;
      }
      CRAWLSTORE_TRY(deliver(group, std::span(answers).first(now.size())));
      keys = keys.subspan(now.size());
    }
  }
  return {};
}

/// Dispatches such answers of a batch with repeats.
Result<void> DrumCore::Impl::dispatch_repeats(Group& group, const drum::MergeOutcome& outcome,
                                              const drum::RequestBatch& batch,
                                              std::size_t first_arrival) {
  std::vector<RawAnswer> answers(kBatchAnswers, answer_to(batch.uniform_tag));
  const std::uint8_t* duplicate = outcome.duplicate.data() + first_arrival;
  const bool tells_duplicates = answers.front().operation != DrumOperation::kUpdate;
  drum::Arrivals arrivals(batch.key_spans, batch.tail_spans, batch.repeats);
  const std::uint64_t count = batch.key_count + batch.repeats->count();
  for (std::uint64_t i = 0; i < count; i += kBatchAnswers) {
    const auto now = std::span(answers).first(std::min(count - i, std::uint64_t{kBatchAnswers}));
    std::uint64_t sequence = batch.first_sequence + i;
    for (RawAnswer& answer : now) {
      const auto arrival = arrivals.next();
      answer.key = arrival.key.head;
      answer.key_tail = arrival.key.tail;
      answer.sequence = sequence++;
      answer.duplicate = arrival.is_repeat ? tells_duplicates : duplicate[arrival.index] != 0;
    }
    CRAWLSTORE_TRY(deliver(group, now));
  }
  return {};
}

Result<void> DrumCore::Impl::dispatch_batch(Group& group, const drum::MergeOutcome& outcome,
                                            const drum::RequestBatch& batch,
                                            std::size_t first_arrival) {
  const std::uint64_t repeats = drum::repeat_count(batch);
  if (repeats == 0 && batch.tags.empty() && is_for_nobody(batch.uniform_tag)) return {};
  Auxes auxes;
  CRAWLSTORE_TRY(auxes.load(*store->writer, outcome, batch));
  const auto repeat_tags = repeats != 0 ? batch.repeats->tags() : std::span<const std::uint16_t>{};
  if (auxes.empty() && batch.tags.empty() && repeat_tags.empty() && batch.sequences.empty() &&
      state.value_bytes == 0) {
    return repeats != 0 ? dispatch_repeats(group, outcome, batch, first_arrival)
                        : dispatch_plain(group, outcome, batch, first_arrival);
  }
  std::vector<RawAnswer> answers;
  answers.reserve(kBatchAnswers);
  drum::Arrivals arrivals(batch.key_spans, batch.tail_spans, batch.repeats);
  const std::uint64_t count = batch.key_count + repeats;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto [key, index, is_repeat] = arrivals.next();
    const std::size_t arrival = first_arrival + index;  // not of a repeat
    const auto tags = is_repeat ? repeat_tags : batch.tags;
    const auto aux = auxes.next(i);
    if (!aux) {
      return fail(aux.error().code, aux.error().text, Error::kNoOffset, outcome.job.aux_log);
    }
    RawAnswer& answer =
        answers.emplace_back(answer_to(tags.empty() ? batch.uniform_tag : tags[index]));
    answer.key = key.head;
    answer.key_tail = key.tail;
    answer.sequence = batch.first_sequence + (batch.sequences.empty() ? i : batch.sequences[i]);
    answer.aux = *aux;
    answer.duplicate =
        is_repeat ? answer.operation != DrumOperation::kUpdate : outcome.duplicate[arrival] != 0;
    if (answer.operation != DrumOperation::kCheck) {
      answer.value = drum::value_of(batch, i, state.value_bytes);
    } else if (!outcome.value_begins.empty()) {
      const auto begin = outcome.value_begins[arrival];
      answer.value =
          std::span(outcome.values).subspan(begin, outcome.value_begins[arrival + 1] - begin);
    }
    if (answers.size() < kBatchAnswers) continue;
    CRAWLSTORE_TRY(deliver(group, answers));
    answers.clear();
    auxes.forget();
  }
  return deliver(group, answers);
}

Result<void> DrumCore::Impl::dispatch(Group& group, const drum::MergeOutcome& outcome) {
  std::size_t arrival = 0;
  for (const auto& batch : outcome.batches) {
    CRAWLSTORE_TRY(dispatch_batch(group, outcome, batch, arrival));
    arrival += batch.key_count;
  }
  return {};
}

Result<std::uint64_t> DrumCore::Impl::take_results(std::uint16_t consumer, const RawSink& sink) {
  CRAWLSTORE_TRY(store->check_outside("results were asked for inside a transaction"));
  const std::lock_guard store_lock(store->turn);
  return store->change([&] { return take_results_locked(consumer, sink); });
}

Result<std::uint64_t> DrumCore::Impl::take_results_locked(std::uint16_t consumer,
                                                          const RawSink& sink) {
  CRAWLSTORE_TRY(store->check_open());
  CRAWLSTORE_TRY(check_usable());
  CRAWLSTORE_TRY(store->commit_all());
  drum::Consumer saved;
  {
    const std::lock_guard lock(mutex);
    const auto known = find_consumer(consumer);
    if (known == state.consumers.end()) return fail(Errc::kUnknownName, "no consumer has this id");
    saved = *known;
  }
  container::Writer& writer = *store->writer;
  const auto deliver_all = [&]() -> Result<void> {
    std::vector<std::byte> payload;
    for (const auto& run : saved.runs) {
      const auto name = container::run_name(writer.identity(), saved.results, run->ref().run_id);
      CRAWLSTORE_TRY(container::read_run(writer.storage(), name, run->ref(), payload));
      CRAWLSTORE_TRY(drum::for_each_answer(
          payload, [&](std::span<const RawAnswer> answers) { return call_sink(sink, answers); }));
    }
    return {};
  };
  Result<void> done = deliver_all();
  if (done && !saved.runs.empty()) {
    {
      // Look it up again, as the sink may have added consumers.
      const std::lock_guard lock(mutex);
      const auto known = find_consumer(consumer);
      known->runs.clear();
      known->result_count = 0;
      dirty = true;
    }
    if (const auto committed = store->commit_all(); !committed) {
      const std::lock_guard lock(mutex);
      *find_consumer(consumer) = saved;
      done = tl::unexpected<Error>(committed.error());
    }
  }
  if (!done) {
    store->drop_tentative();
    return tl::unexpected<Error>(done.error());
  }
  return saved.result_count;
}

}  // namespace crawlstore
