// SPDX-License-Identifier: Apache-2.0
//
// Answers to dispatchers, and to results logs for consumers that are absent.
//
// Invariants: answers leave in arrival order; StoreImpl::dispatching is set exactly while a sink
// runs, so that what it submits belongs to the transaction.
#include <algorithm>

#include "container/run_io.h"
#include "drum/drum_impl.h"

namespace crawlstore {
namespace {

constexpr std::size_t kBatchAnswers = 1024;

class DispatchScope {
 public:
  explicit DispatchScope(StoreImpl& store) : store_(store) {
    store_.dispatching.store(std::this_thread::get_id(), std::memory_order_relaxed);
  }
  ~DispatchScope() { store_.dispatching.store({}, std::memory_order_relaxed); }
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
                    Error::kNoOffset, state.id.value);
      }
      if (const auto known = sinks.find(consumer); known != sinks.end()) sink = known->second;
    }
    if (sink) {
      CRAWLSTORE_TRY(call_sink(sink, same));
    } else {
      auto& results = group.results[consumer];
      for (const RawAnswer& answer : same) results.append(answer, state.value_bytes);
    }
  }
  return {};
}

Result<void> DrumCore::Impl::dispatch_run(Group& group, const drum::MergeOutcome& outcome,
                                          std::size_t run_index, std::size_t first_arrival) {
  const drum::LoadedRun& run = outcome.runs[run_index];
  const RunId aux_id{outcome.job.key_runs[run_index].run_id.value + 1};
  const auto aux_ref = std::find_if(outcome.job.aux_runs.begin(), outcome.job.aux_runs.end(),
                                    [aux_id](const auto& ref) { return ref.run_id == aux_id; });
  std::vector<std::byte> aux_payload;
  format::AuxRun aux;
  if (aux_ref != outcome.job.aux_runs.end()) {
    container::Writer& writer = *store->writer;
    CRAWLSTORE_TRY(container::read_run(
        writer.storage(), container::run_name(writer.identity(), outcome.job.aux_log, aux_id),
        *aux_ref, aux_payload));
    const auto parsed = format::parse_aux_run(aux_payload);
    if (!parsed || parsed->record_count != run.columns.keys.size()) {
      return fail(
          Errc::kSegmentInvalid,
          parsed ? "an auxiliary run has another count than its key run" : parsed.error().text,
          aux_ref->offset_bytes, outcome.job.aux_log.value);
    }
    aux = *parsed;
  }

  std::vector<RawAnswer> batch;
  batch.reserve(kBatchAnswers);
  std::size_t aux_begin = 0;
  const auto& columns = run.columns;
  for (std::size_t i = 0; i < columns.keys.size(); ++i) {
    const std::size_t arrival = first_arrival + i;
    const auto tag = columns.tags.empty() ? columns.uniform_tag : columns.tags[i];
    const std::size_t aux_length = aux.lengths.empty() ? aux.uniform_length_bytes : aux.lengths[i];
    RawAnswer& answer = batch.emplace_back();
    answer.key = columns.keys[i];
    answer.sequence =
        columns.first_sequence + (columns.sequences.empty() ? i : columns.sequences[i]);
    answer.aux = aux.bytes.subspan(aux_begin, aux_length);
    answer.consumer = format::consumer_of(tag);
    answer.operation = static_cast<DrumOperation>(format::operation_of(tag));
    answer.duplicate = outcome.duplicate[arrival] != 0;
    if (answer.operation != DrumOperation::kCheck) {
      answer.value = drum::value_of(run, i, state.value_bytes);
    } else if (!outcome.value_begins.empty()) {
      const auto begin = outcome.value_begins[arrival];
      answer.value =
          std::span(outcome.values).subspan(begin, outcome.value_begins[arrival + 1] - begin);
    }
    aux_begin += aux_length;
    if (batch.size() < kBatchAnswers && i + 1 < columns.keys.size()) continue;
    CRAWLSTORE_TRY(deliver(group, batch));
    batch.clear();
  }
  return {};
}

Result<void> DrumCore::Impl::dispatch(Group& group, const drum::MergeOutcome& outcome) {
  std::size_t arrival = 0;
  for (std::size_t run = 0; run < outcome.runs.size(); ++run) {
    CRAWLSTORE_TRY(dispatch_run(group, outcome, run, arrival));
    arrival += outcome.runs[run].columns.keys.size();
  }
  return {};
}

Result<std::uint64_t> DrumCore::Impl::take_results(std::uint16_t consumer, const RawSink& sink) {
  if (store->in_dispatcher()) {
    return fail(Errc::kReentrant, "results were asked for from inside a dispatcher");
  }
  const std::lock_guard store_lock(store->mutex);
  return store->change([&] { return take_results_locked(consumer, sink); });
}

Result<std::uint64_t> DrumCore::Impl::take_results_locked(std::uint16_t consumer,
                                                          const RawSink& sink) {
  CRAWLSTORE_TRY(store->check_open());
  CRAWLSTORE_TRY(check_usable());
  if (const auto committed = store->commit_all(); !committed) {
    return tl::unexpected<Error>(committed.error());
  }
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
      CRAWLSTORE_TRY(container::read_run(
          writer.storage(), container::run_name(writer.identity(), saved.results, run.run_id), run,
          payload));
      CRAWLSTORE_TRY(drum::for_each_answer(
          payload, [&](std::span<const RawAnswer> answers) { return call_sink(sink, answers); }));
    }
    return {};
  };
  Result<void> done = deliver_all();
  if (done && !saved.runs.empty()) {
    {
      // Looked up again: the sink may have named consumers.
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
