// SPDX-License-Identifier: Apache-2.0
#include "drum/merge_answers.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "container/run_io.h"

namespace crawlstore::drum {
namespace {

constexpr std::size_t kBatchAnswers = 256;  // they stay in the first-level cache

/// Returns an answer to a request with this tag, still without key and verdict.
RawAnswer answer_to(std::uint16_t tag) {
  RawAnswer answer;
  answer.consumer = format::consumer_of(tag);
  answer.operation = static_cast<DrumOperation>(format::operation_of(tag));
  return answer;
}

/// The auxiliaries of a batch, in arrival order.
class Auxes {
 public:
  /// Reads the auxiliaries of a run.
  Result<void> load(container::Writer& writer, const MergeOutcome& outcome,
                    const RequestBatch& batch) {
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

/// Visits the answers to the requests of one batch.
class BatchAnswers {
 public:
  using Visit = std::function<Result<void>(std::span<const RawAnswer>)>;

  BatchAnswers(const MergeOutcome& outcome, const RequestBatch& batch, std::size_t first_arrival,
               const Visit& visit)
      : outcome_(outcome), batch_(batch), first_arrival_(first_arrival), visit_(visit) {}

  Result<void> visit_all(container::Writer& writer);

 private:
  Result<void> visit_plain();
  Result<void> visit_repeats();
  Result<void> visit_mixed(Auxes& auxes);

  const MergeOutcome& outcome_;
  const RequestBatch& batch_;
  const std::size_t first_arrival_;  // of the batch among those of the outcome, without repeats
  const Visit& visit_;
};

/// Visits answers of one operation and consumer to keys without values or auxiliaries.
Result<void> BatchAnswers::visit_plain() {
  std::vector<RawAnswer> answers(kBatchAnswers, answer_to(batch_.uniform_tag));
  const std::uint8_t* duplicate = outcome_.duplicate.data() + first_arrival_;
  std::uint64_t sequence = batch_.first_sequence;
  for (std::size_t span = 0; span < batch_.key_spans.size(); ++span) {
    auto keys = batch_.key_spans[span];
    const auto* tail = batch_.tail_spans.empty() ? nullptr : batch_.tail_spans[span].data();
    while (!keys.empty()) {
      const auto now = keys.first(std::min(keys.size(), kBatchAnswers));
      for (std::size_t i = 0; i < now.size(); ++i) {
        answers[i].key = now[i];
        if (tail != nullptr) answers[i].key_tail = *tail++;
        answers[i].sequence = sequence++;
        answers[i].duplicate = *duplicate++ != 0;
      }
      CRAWLSTORE_TRY(visit_(std::span(answers).first(now.size())));
      keys = keys.subspan(now.size());
    }
  }
  return {};
}

/// Visits such answers of a batch with repeats.
Result<void> BatchAnswers::visit_repeats() {
  std::vector<RawAnswer> answers(kBatchAnswers, answer_to(batch_.uniform_tag));
  const std::uint8_t* duplicate = outcome_.duplicate.data() + first_arrival_;
  const bool tells_duplicates = answers.front().operation != DrumOperation::kUpdate;
  Arrivals arrivals(batch_.key_spans, batch_.tail_spans, batch_.repeats);
  const std::uint64_t count = batch_.key_count + batch_.repeats->count();
  for (std::uint64_t i = 0; i < count; i += kBatchAnswers) {
    const auto now = std::span(answers).first(std::min(count - i, std::uint64_t{kBatchAnswers}));
    std::uint64_t sequence = batch_.first_sequence + i;
    for (RawAnswer& answer : now) {
      const auto arrival = arrivals.next();
      answer.key = arrival.key.head;
      answer.key_tail = arrival.key.tail;
      answer.sequence = sequence++;
      answer.duplicate = arrival.is_repeat ? tells_duplicates : duplicate[arrival.index] != 0;
    }
    CRAWLSTORE_TRY(visit_(now));
  }
  return {};
}

Result<void> BatchAnswers::visit_mixed(Auxes& auxes) {
  const std::int32_t value_bytes = outcome_.job.shape.value_bytes;
  const std::uint64_t repeats = repeat_count(batch_);
  const auto repeat_tags = repeats != 0 ? batch_.repeats->tags() : std::span<const std::uint16_t>{};
  std::vector<RawAnswer> answers;
  answers.reserve(kBatchAnswers);
  Arrivals arrivals(batch_.key_spans, batch_.tail_spans, batch_.repeats);
  const std::uint64_t count = batch_.key_count + repeats;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto [key, index, is_repeat] = arrivals.next();
    const std::size_t arrival = first_arrival_ + index;  // not of a repeat
    const auto tags = is_repeat ? repeat_tags : batch_.tags;
    const auto aux = auxes.next(i);
    if (!aux) {
      return fail(aux.error().code, aux.error().text, Error::kNoOffset, outcome_.job.aux_log);
    }
    RawAnswer& answer =
        answers.emplace_back(answer_to(tags.empty() ? batch_.uniform_tag : tags[index]));
    answer.key = key.head;
    answer.key_tail = key.tail;
    answer.sequence = batch_.first_sequence + (batch_.sequences.empty() ? i : batch_.sequences[i]);
    answer.aux = *aux;
    answer.duplicate =
        is_repeat ? answer.operation != DrumOperation::kUpdate : outcome_.duplicate[arrival] != 0;
    if (answer.operation != DrumOperation::kCheck) {
      answer.value = value_of(batch_, i, value_bytes);
    } else if (!outcome_.value_begins.empty()) {
      const auto begin = outcome_.value_begins[arrival];
      answer.value =
          std::span(outcome_.values).subspan(begin, outcome_.value_begins[arrival + 1] - begin);
    }
    if (answers.size() < kBatchAnswers) continue;
    CRAWLSTORE_TRY(visit_(answers));
    answers.clear();
    auxes.forget();
  }
  return visit_(answers);
}

Result<void> BatchAnswers::visit_all(container::Writer& writer) {
  Auxes auxes;
  CRAWLSTORE_TRY(auxes.load(writer, outcome_, batch_));
  const bool has_repeats = repeat_count(batch_) != 0;
  const bool is_uniform = auxes.empty() && batch_.tags.empty() && batch_.sequences.empty() &&
                          (!has_repeats || batch_.repeats->tags().empty());
  if (!is_uniform || outcome_.job.shape.value_bytes != 0) return visit_mixed(auxes);
  return has_repeats ? visit_repeats() : visit_plain();
}

}  // namespace

Result<void> visit_answers(container::Writer& writer, const MergeOutcome& outcome,
                           ConsumerId nobody,
                           const std::function<Result<void>(std::span<const RawAnswer>)>& visit) {
  std::size_t arrival = 0;
  for (const auto& batch : outcome.batches) {
    const bool is_for_nobody = nobody != ConsumerId{} && repeat_count(batch) == 0 &&
                               batch.tags.empty() &&
                               format::consumer_of(batch.uniform_tag) == nobody;
    if (!is_for_nobody) {
      CRAWLSTORE_TRY(BatchAnswers(outcome, batch, arrival, visit).visit_all(writer));
    }
    arrival += batch.key_count;
  }
  return {};
}

}  // namespace crawlstore::drum
