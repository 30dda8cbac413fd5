// SPDX-License-Identifier: Apache-2.0
#include "drum/delivery.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/this_thread.h"
#include "container/choose_join.h"
#include "container/run_io.h"
#include "drum/merge_answers.h"

namespace crawlstore::drum {
namespace {

constexpr std::uint64_t kJoinedResultsBytesMax = std::uint64_t{256} << 20;

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

void Delivery::set_sink(ConsumerId consumer, RawSink sink) {
  const MutexLock lock(drum_.mutex);
  std::swap(sinks_[consumer], sink);
}

Result<ConsumerId> Delivery::consumer(std::string_view name) {
  auto& consumers = drum_.state.consumers;
  for (const auto& known : consumers) {
    if (known.name == name) return known.id;
  }
  if (consumers.back().id.value >= format::kConsumersMax) {
    return fail(Errc::kTooLarge, "a DRUM has at most 16383 consumers");
  }
  const ConsumerId id{static_cast<std::uint16_t>(consumers.back().id.value + 1)};
  consumers.push_back({id, std::string(name), {}, {}, 0});
  drum_.dirty = true;
  return id;
}

Result<ConsumerId> Delivery::make_nobody() {
  if (nobody_ != ConsumerId{}) return nobody_;
  CRAWLSTORE_TRY(nobody_, consumer(kNobody));
  return nobody_;
}

/// Returns the consumer of inserts, or 0 if there is none.
ConsumerId Delivery::nobody() {
  const MutexLock lock(drum_.mutex);
  if (nobody_ != ConsumerId{}) return nobody_;
  const auto& consumers = drum_.state.consumers;
  const auto found = std::ranges::find(consumers, kNobody, &Consumer::name);
  return nobody_ = found == consumers.end() ? ConsumerId{} : found->id;
}

Result<void> Delivery::call_sink(const RawSink& sink, std::span<const RawAnswer> answers) {
  const DispatchScope scope(drum_.store);
  try {
    sink(answers);
  } catch (...) {
    return fail(Errc::kDispatcherFailed,
                "the dispatcher threw; its transaction was dropped, its requests are kept");
  }
  return {};
}

/// Sends runs of answers of one consumer to its sink, or adds them to `absent`.
Result<void> Delivery::tell_or_add(std::span<const RawAnswer> answers, Absent& absent) {
  while (!answers.empty()) {
    const ConsumerId consumer = answers.front().consumer;
    const auto end = std::find_if(answers.begin(), answers.end(), [consumer](const auto& answer) {
      return answer.consumer != consumer;
    });
    const auto same = answers.first(static_cast<std::size_t>(end - answers.begin()));
    answers = answers.subspan(same.size());
    RawSink sink;
    {
      const MutexLock lock(drum_.mutex);
      if (drum_.state.find_consumer(consumer) == nullptr) {
        return fail(Errc::kSegmentInvalid, "a request names a consumer that its DRUM does not have",
                    Error::kNoOffset, drum_.state.id);
      }
      if (consumer != ConsumerId{} && consumer == nobody_) continue;
      if (const auto known = sinks_.find(consumer); known != sinks_.end()) sink = known->second;
    }
    if (consumer == ConsumerId{} && once_) sink = *once_;
    if (sink) {
      CRAWLSTORE_TRY(call_sink(sink, same));
    } else {
      auto& results = absent[consumer];
      for (const RawAnswer& answer : same) results.append(answer, drum_.shape);
    }
  }
  return {};
}

Result<void> Delivery::tell(const MergeOutcome& outcome, Absent& absent) {
  return visit_answers(drum_.writer(), outcome, nobody(), [&](std::span<const RawAnswer> answers) {
    kStoreTurn.assert_held();
    return tell_or_add(answers, absent);
  });
}

Result<void> Delivery::keep(const Absent& absent) {
  container::Writer& writer = drum_.writer();
  for (const auto& [id, answers] : absent) {
    Consumer& consumer = *drum_.state.find_consumer(id);
    if (!consumer.results) consumer.results = writer.new_segment_id();
    const format::RunLabel label{consumer.results, SegmentKind::kDrumResults, drum_.state.id,
                                 writer.new_run_ids(1)};
    CRAWLSTORE_TRY(auto run, answers.write(writer, label, drum_.shape.value_bytes));
    consumer.runs.push_back(writer.runs->add(consumer.results, run));
    consumer.result_count += answers.count();
    CRAWLSTORE_TRY(join_results(consumer));
  }
  return {};
}

/// Joins the newest runs of a results log that has many. A joined run is read whole, so it holds at
/// most kJoinedResultsBytesMax.
Result<void> Delivery::join_results(Consumer& consumer) {
  auto& runs = consumer.runs;
  if (runs.size() <= format::kRunsPerLogMax / 2) return {};
  std::uint64_t bytes = 0;
  const auto bytes_of = [&](std::size_t i) { return runs[i]->ref().payload_bytes; };
  const auto fits = [&](std::size_t i) {
    if (bytes + bytes_of(i) > kJoinedResultsBytesMax) return false;
    bytes += bytes_of(i);
    return true;
  };
  const std::size_t first = container::choose_join(0, runs.size(), bytes_of, fits);
  if (runs.size() - first < 2) {
    if (runs.size() <= format::kRunsPerLogMax) return {};
    return fail(Errc::kTooLarge, "too many answers wait for a consumer; take its results");
  }
  container::Writer& writer = drum_.writer();
  ResultColumns joined;
  std::vector<std::byte> payload;
  for (std::size_t i = first; i < runs.size(); ++i) {
    const format::RunRef& run = runs[i]->ref();
    const auto name = container::run_name(writer.identity(), consumer.results, run.run_id);
    CRAWLSTORE_TRY(container::read_run(writer.storage(), name, run, payload));
    CRAWLSTORE_TRY(
        for_each_answer(payload, [&](std::span<const RawAnswer> answers) -> Result<void> {
          for (const RawAnswer& answer : answers) joined.append(answer, drum_.shape);
          return {};
        }));
  }
  const format::RunLabel label{consumer.results, SegmentKind::kDrumResults, drum_.state.id,
                               writer.new_run_ids(1), runs[first]->ref().run_id.value};
  CRAWLSTORE_TRY(const auto run, joined.write(writer, label, drum_.shape.value_bytes));
  runs.resize(first);
  runs.push_back(writer.runs->add(consumer.results, run));
  return {};
}

/// Visits the answers that are kept for a consumer.
Result<void> Delivery::tell_kept(const Consumer& kept, const RawSink& sink) {
  container::Writer& writer = drum_.writer();
  std::vector<std::byte> payload;
  for (const auto& run : kept.runs) {
    const auto name = container::run_name(writer.identity(), kept.results, run->ref().run_id);
    CRAWLSTORE_TRY(container::read_run(writer.storage(), name, run->ref(), payload));
    CRAWLSTORE_TRY(for_each_answer(payload, [&](std::span<const RawAnswer> answers) {
      kStoreTurn.assert_held();
      return call_sink(sink, answers);
    }));
  }
  return {};
}

Result<std::uint64_t> Delivery::take_results(ConsumerId consumer, const RawSink& sink) {
  CRAWLSTORE_TRY(drum_.store.commit_all());
  Consumer saved;
  {
    const MutexLock lock(drum_.mutex);
    const auto* const known = drum_.state.find_consumer(consumer);
    if (known == nullptr) return fail(Errc::kUnknownName, "no consumer has this id");
    saved = *known;
  }
  Result<void> done = tell_kept(saved, sink);
  if (done && !saved.runs.empty()) {
    {
      // Look it up again, as the sink may have added consumers.
      const MutexLock lock(drum_.mutex);
      Consumer& known = *drum_.state.find_consumer(consumer);
      known.runs.clear();
      known.result_count = 0;
      drum_.dirty = true;
    }
    if (const auto committed = drum_.store.commit_all(); !committed) {
      const MutexLock lock(drum_.mutex);
      *drum_.state.find_consumer(consumer) = saved;
      done = tl::unexpected<Error>(committed.error());
    }
  }
  if (!done) {
    drum_.store.drop_tentative();
    return tl::unexpected<Error>(done.error());
  }
  return saved.result_count;
}

}  // namespace crawlstore::drum
