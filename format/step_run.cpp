// SPDX-License-Identifier: Apache-2.0
//
// Each kind of step has one step_fields(), which tells its form. StepPutter writes what it names,
// and StepTaker reads it; both check the same ranges.
#include "step_run.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "base/assert.h"
#include "endian.h"
#include "invalid.h"
#include "leb128.h"
#include "zigzag.h"

namespace crawlstore::format {

namespace {
constexpr std::uint64_t kStepCountMax = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kStepRunIdMax = ~std::uint64_t{0};
constexpr std::uint64_t kStepMinusZero = std::uint64_t{1} << 63U;
/// Bytes of a record without a rest.
constexpr std::size_t kStepBytesMin = 2;

constexpr const char* kStepNumberText =
    "a number of a step is cut short, or not in its shortest form";
constexpr const char* kStepCountText = "a count of a step is out of range";
constexpr const char* kStepIdText = "an id of a step is out of range";
constexpr const char* kStepListText = "a step has too few or too many numbers";
constexpr const char* kStepRunIdText = "a run id of a step is 0";

constexpr std::uint64_t reversed_bytes(std::uint64_t number) {
  return __builtin_bswap64(number);
}

/// The first rule that a step breaks.
class StepChecks {
 public:
  StepChecks(const StepRun& run, StepsBefore& before) : before_(before), run_(run) {}

  void require(bool holds, const char* text) {
    if (!holds && broken_ == nullptr) broken_ = text;
  }
  void require_group(std::uint32_t group) {
    if (!run_.is_piece) return;
    require(group >= run_.first_group && group < run_.end_group,
            "a group of a piece is none of its groups");
    require(group >= before_.last_group, "the groups of the steps of a piece descend");
    before_.last_group = group;
  }
  void require_first_of_piece() {
    require(!run_.is_piece || before_.count == 0, "the clock of a piece is not its first step");
  }
  void require_list(std::size_t count) {
    require(count >= 1 && count <= kStepListMax, kStepListText);
  }
  /// nullptr if there is none.
  [[nodiscard]] const char* broken() const { return broken_; }

 protected:
  StepsBefore& before_;

 private:
  const StepRun& run_;
  const char* broken_ = nullptr;
};

/// Appends the numbers of a step.
class StepPutter : public StepChecks {
 public:
  template <class S>
  using Of = const S;

  StepPutter(const StepRun& run, StepsBefore& before, std::vector<std::byte>& out)
      : StepChecks(run, before), out_(out) {}

  [[nodiscard]] StepBytes tail() const { return tail_; }

  void number(std::uint64_t value, std::uint64_t min, std::uint64_t max, const char* text) {
    require(value >= min && value <= max, text);
    append_leb128(value, out_);
  }
  template <class T>
  void one_more(const std::optional<T>& value, std::uint64_t max, const char* text) {
    require(!value || *value <= max, text);
    append_leb128(value ? std::uint64_t{*value} + 1 : 0, out_);
  }
  void id(std::uint64_t id) {
    require(id <= kItemIdMax, kStepIdText);
    append_leb128(zigzag(id - before_.last_id), out_);
    before_.last_id = id;
  }
  void priority(double priority) {
    require(!std::isnan(priority), "the priority of a step is none");
    append_leb128(reversed_bytes(std::bit_cast<std::uint64_t>(priority + 0.0)), out_);
  }
  void bytes(StepBytes bytes, std::size_t length_max, const char* text) {
    require(bytes.size() <= length_max, text);
    tail_ = bytes;
  }
  void optional_bytes(const std::optional<StepBytes>& bytes, std::size_t length_max,
                      const char* text) {
    out_.push_back(std::byte{bytes.has_value()});
    if (bytes) this->bytes(*bytes, length_max, text);
  }
  void ids(std::span<const std::uint64_t> ids) {
    require_list(ids.size());
    for (const std::uint64_t each : ids) id(each);
  }
  void run_ids(std::span<const std::uint64_t> run_ids) {
    require_list(run_ids.size());
    for (const std::uint64_t each : run_ids) number(each, 1, kStepRunIdMax, kStepRunIdText);
  }
  void run_counts(std::span<const RunCount> runs) {
    require_list(runs.size());
    for (const RunCount& run : runs) {
      number(run.run_id, 1, kStepRunIdMax, kStepRunIdText);
      number(run.count, 1, kStepNumberMax, kStepCountText);
    }
  }

 private:
  std::vector<std::byte>& out_;
  StepBytes tail_;
};

/// Lists of the step that is read.
struct StepLists {
  std::vector<std::uint64_t>& numbers;
  std::vector<RunCount>& run_counts;
};

/// Takes the numbers of a step from hostile bytes. After the first failure they are worthless.
class StepTaker : public StepChecks {
 public:
  template <class S>
  using Of = S;

  StepTaker(const StepRun& run, StepsBefore& before, StepBytes rest, StepLists lists)
      : StepChecks(run, before), rest_(rest), lists_(lists) {}

  void require_end() { require(rest_.empty(), "bytes are left over in a step"); }

  template <class T>
  void number(T& value, std::uint64_t min, std::uint64_t max, const char* text) {
    const std::uint64_t taken = take();
    require(taken >= min && taken <= max, text);
    value = static_cast<T>(taken);
  }
  template <class T>
  void one_more(std::optional<T>& value, std::uint64_t max, const char* text) {
    const std::uint64_t taken = take();
    require(taken <= max + 1, text);
    value = taken == 0 ? std::nullopt : std::optional<T>(static_cast<T>(taken - 1));
  }
  void id(std::uint64_t& id) {
    before_.last_id += unzigzag(take());
    require(before_.last_id <= kItemIdMax, kStepIdText);
    id = before_.last_id;
  }
  void priority(double& priority) {
    const std::uint64_t bits = reversed_bytes(take());
    priority = std::bit_cast<double>(bits);
    require(!std::isnan(priority) && bits != kStepMinusZero, "the priority of a step is none");
  }
  void bytes(StepBytes& bytes, std::size_t length_max, const char* text) {
    require(rest_.size() <= length_max, text);
    bytes = std::exchange(rest_, {});
  }
  void optional_bytes(std::optional<StepBytes>& bytes, std::size_t length_max, const char* text) {
    bool has_bytes = false;
    number(has_bytes, 0, 1, "a step has a flag that is neither 0 nor 1");
    bytes.reset();
    if (has_bytes) this->bytes(bytes.emplace(), length_max, text);
  }
  void ids(std::span<const std::uint64_t>& ids) {
    lists_.numbers.clear();
    while (goes_on(lists_.numbers.size())) id(lists_.numbers.emplace_back());
    require_list(lists_.numbers.size());
    ids = lists_.numbers;
  }
  void run_ids(std::span<const std::uint64_t>& run_ids) {
    lists_.numbers.clear();
    while (goes_on(lists_.numbers.size())) {
      number(lists_.numbers.emplace_back(), 1, kStepRunIdMax, kStepRunIdText);
    }
    require_list(lists_.numbers.size());
    run_ids = lists_.numbers;
  }
  void run_counts(std::span<const RunCount>& runs) {
    lists_.run_counts.clear();
    while (goes_on(lists_.run_counts.size())) {
      RunCount& run = lists_.run_counts.emplace_back();
      number(run.run_id, 1, kStepRunIdMax, kStepRunIdText);
      number(run.count, 1, kStepNumberMax, kStepCountText);
    }
    require_list(lists_.run_counts.size());
    runs = lists_.run_counts;
  }

 private:
  std::uint64_t take() {
    const auto number = take_leb128(rest_);
    require(number.has_value(), kStepNumberText);
    return number.value_or(0);
  }
  /// Whether a list goes on; one that is too long ends with a number too many.
  bool goes_on(std::size_t count) {
    return !rest_.empty() && count <= kStepListMax && broken() == nullptr;
  }

  StepBytes rest_;
  StepLists lists_;
};

template <class Form, class Group>
void step_group(Form& form, Group& group) {
  form.number(group, 0, kGroupMax, "a group of a step is out of range");
  form.require_group(group);
}
template <class Form, class Time>
void step_time(Form& form, Time& time) {
  form.number(time, 0, kItemTimeMax, "a time of a step is out of range");
}
template <class Form, class Flag>
void step_flag(Form& form, Flag& flag) {
  form.number(flag, 0, 1, "a step has a flag that is neither 0 nor 1");
}
template <class Form, class Body>
void step_body(Form& form, Body& body) {
  form.bytes(body, kItemBodyBytesMax, "the body of a step is too long");
}

template <class Form>
void step_fields(Form& form, typename Form::template Of<ClockStep>& step) {
  form.require_first_of_piece();
  step_time(form, step.time);
}
template <class Form>
void step_fields(Form& form, typename Form::template Of<GroupStep>& step) {
  form.bytes(step.key, kGroupKeyBytesMax, "the key of a step is too long");
}
template <class Form>
void step_fields(Form& form, typename Form::template Of<PutStep>& step) {
  step_group(form, step.group);
  form.id(step.id);
  form.priority(step.priority);
  step_time(form, step.time);
  step_body(form, step.body);
}
template <class Form>
void step_fields(Form& form, typename Form::template Of<LeaseStep>& step) {
  step_time(form, step.until);
}
template <class Form>
void step_fields(Form& form, typename Form::template Of<VisitStep>& step) {
  step_group(form, step.group);
  form.number(step.count, 1, kStepCountMax, kStepCountText);
  form.number(step.check, 0, 0xFFFF, "the check of a step is out of range");
}
template <class Form>
void step_fields(Form& form, typename Form::template Of<FinishStep>& step) {
  form.ids(step.ids);
}
template <class Form>
void step_fields(Form& form, typename Form::template Of<BackStep>& step) {
  form.id(step.id);
  step_time(form, step.time);
  step_flag(form, step.is_failure);
}
template <class Form>
void step_fields(Form& form, typename Form::template Of<ExtendStep>& step) {
  form.id(step.id);
  step_time(form, step.until);
}
template <class Form>
void step_fields(Form& form, typename Form::template Of<RemoveStep>& step) {
  step_group(form, step.group);
  form.id(step.id);
}
template <class Form>
void step_fields(Form& form, typename Form::template Of<UpdateStep>& step) {
  step_group(form, step.group);
  form.id(step.id);
  form.priority(step.priority);
  step_time(form, step.time);
  form.optional_bytes(step.body, kItemBodyBytesMax, "the body of a step is too long");
}
template <class Form>
void step_fields(Form& form, typename Form::template Of<RuleStep>& step) {
  constexpr const char* kLimit = "a limit of a step is out of range";
  constexpr const char* kDuration = "a duration of a step is out of range";
  step_group(form, step.group);
  form.number(step.mask, 1, kRuleAll, "the mask of a rule is out of range");
  if ((step.mask & kRuleSoft) != 0) form.one_more(step.soft_ms, kDurationMax, kDuration);
  if ((step.mask & kRuleHard) != 0) form.one_more(step.hard_ms, kDurationMax, kDuration);
  if ((step.mask & kRuleBurst) != 0) form.number(step.burst, 1, kStepCountMax, kLimit);
  if ((step.mask & kRuleInFlight) != 0) form.number(step.in_flight_max, 1, kStepCountMax, kLimit);
  if ((step.mask & kRulePut) != 0) form.one_more(step.put_max, kStepNumberMax, kLimit);
  if ((step.mask & kRuleFinished) != 0) form.one_more(step.finished_max, kStepNumberMax, kLimit);
  if ((step.mask & kRuleBlocked) != 0) step_time(form, step.blocked_until);
  if ((step.mask & kRuleActive) != 0) step_flag(form, step.is_active);
  if ((step.mask & kRuleParent) != 0) {
    form.one_more(step.parent, kGroupMax, "a group of a step is out of range");
  }
}
template <class Form>
void step_fields(Form& form, typename Form::template Of<DropStep>& step) {
  step_group(form, step.group);
}
template <class Form>
void step_fields(Form& form, typename Form::template Of<StoredStep>& step) {
  form.number(step.run_id, 1, kStepRunIdMax, kStepRunIdText);
}
template <class Form>
void step_fields(Form& form, typename Form::template Of<JoinedStep>& step) {
  form.number(step.run_id, 1, kStepRunIdMax, kStepRunIdText);
  form.run_ids(step.others);
  const bool do_ascend =
      std::ranges::adjacent_find(step.others, std::greater_equal<>()) == step.others.end();
  form.require(do_ascend, "the run ids of a step do not ascend");
  form.require(!std::ranges::binary_search(step.others, step.run_id),
               "a run of items is joined with itself");
}
template <class Form>
void step_fields(Form& form, typename Form::template Of<TimesStep>& step) {
  step_group(form, step.group);
  step_time(form, step.soft_time);
  step_time(form, step.hard_time);
  form.number(step.failures, 0, kStepCountMax, kStepCountText);
}
template <class Form>
void step_fields(Form& form, typename Form::template Of<CountsStep>& step) {
  step_group(form, step.group);
  form.number(step.put_count, 0, kStepNumberMax, kStepCountText);
  form.number(step.finished_count, 0, kStepNumberMax, kStepCountText);
}
template <class Form>
void step_fields(Form& form, typename Form::template Of<LeftStep>& step) {
  step_group(form, step.group);
  form.run_counts(step.runs);
  const bool do_ascend = std::ranges::adjacent_find(step.runs, std::greater_equal<>(),
                                                    &RunCount::run_id) == step.runs.end();
  form.require(do_ascend, "the run ids of a step do not ascend");
}
template <class Form>
void step_fields(Form& form, typename Form::template Of<LeasedStep>& step) {
  step_group(form, step.group);
  form.id(step.id);
  form.priority(step.priority);
  step_time(form, step.until);
  form.number(step.attempt, 1, kStepCountMax, kStepCountText);
  step_body(form, step.body);
}
template <class Form>
void step_fields(Form& form, typename Form::template Of<AgainStep>& step) {
  step_group(form, step.group);
  form.id(step.id);
  form.priority(step.priority);
  step_time(form, step.time);
  form.number(step.attempt, 1, kStepCountMax, kStepCountText);
  step_body(form, step.body);
}
template <class Form>
void step_fields(Form& form, typename Form::template Of<GoneStep>& step) {
  step_group(form, step.group);
  form.number(step.run_id, 1, kStepRunIdMax, kStepRunIdText);
  form.number(step.number, 0, kStepNumberMax, kStepCountText);
}

constexpr const char* check_step_place(StepsIn in, const StepRun& run) {
  if (in == StepsIn::kJournal && run.is_piece) return "a step of this kind stands in a piece";
  if (in == StepsIn::kPiece && !run.is_piece) return "a step of this kind stands in a journal";
  return nullptr;
}

/// Reads the rest of a record of `kind` into `step`: nullptr, or the rule that is broken.
template <class... Steps>
const char* take_step(StepKind kind, StepTaker& taker, const StepRun& run,
                      std::variant<Steps...>& step) {
  const char* place = nullptr;
  const auto take = [&]<class S>() {
    place = check_step_place(S::kIn, run);
    step_fields(taker, step.template emplace<S>());
    return true;
  };
  const bool is_known = ((kind == Steps::kKind && take.template operator()<Steps>()) || ...);
  if (!is_known) return "the kind of a step is unknown";
  if (place != nullptr) return place;
  taker.require_end();
  return taker.broken();
}

const char* check_step_header(const StepRunHeader& header, std::uint64_t payload_bytes) {
  if (header.magic != kStepRunMagic) return "the magic number of a step run is wrong";
  if (header.reserved != 0) return "reserved bytes of a step run are not zero";
  if ((header.flags & ~kStepsArePiece) != 0) return "a flag of a step run is unknown";
  const bool is_piece = header.flags == kStepsArePiece;
  if ((header.step_count == 0 && !is_piece) ||
      header.step_count > (payload_bytes - sizeof header) / kStepBytesMin) {
    return "the step count of a step run is out of range";
  }
  const std::uint64_t last_step_max = kStepNumberMax - (is_piece ? 0 : header.step_count - 1);
  if ((header.first_step == 0 && !is_piece) || header.first_step > last_step_max) {
    return "the first step of a step run is out of range";
  }
  if (is_piece ? header.first_group >= header.end_group
               : header.first_group != 0 || header.end_group != 0) {
    return "the groups of a step run are out of range";
  }
  return nullptr;
}

}  // namespace

StepWriter::StepWriter(const StepRun& run) : run_(run), payload_(sizeof(StepRunHeader)) {}

void StepWriter::append(const Step& step) {
  numbers_.clear();
  StepPutter putter(run_, before_, numbers_);
  const StepKind kind = std::visit(
      [&]<class S>(const S& each) {
        step_fields(putter, each);
        const char* place = check_step_place(S::kIn, run_);
        putter.require(place == nullptr, place);
        return S::kKind;
      },
      step);
  CRAWLSTORE_ASSERT(putter.broken() == nullptr);
  payload_.push_back(static_cast<std::byte>(kind));
  append_leb128(numbers_.size() + putter.tail().size(), payload_);
  payload_.insert(payload_.end(), numbers_.begin(), numbers_.end());
  payload_.insert(payload_.end(), putter.tail().begin(), putter.tail().end());
  ++before_.count;
}

std::vector<std::byte> StepWriter::finish() {
  const StepRunHeader header{.magic = kStepRunMagic,
                             .first_step = run_.first_step,
                             .step_count = before_.count,
                             .first_group = run_.first_group,
                             .end_group = run_.end_group,
                             .flags = run_.is_piece ? kStepsArePiece : 0,
                             .reserved = 0};
  CRAWLSTORE_ASSERT(check_step_header(header, payload_.size()) == nullptr);
  store_struct(payload_.data(), header);
  payload_.resize(round_up(payload_.size(), 8));
  return std::move(payload_);
}

StepReader::StepReader(std::span<const std::byte> payload, const StepRun& run,
                       std::uint64_t step_count)
    : rest_(payload.subspan(sizeof(StepRunHeader))),
      payload_bytes_(payload.size()),
      run_(run),
      step_count_(step_count) {}

Result<StepReader> StepReader::open(std::span<const std::byte> payload) {
  if (payload.size() < sizeof(StepRunHeader) || payload.size() % 8 != 0) {
    return invalid("the length of a step run is out of range", 0);
  }
  const auto header = load_struct<StepRunHeader>(payload.data());
  if (const char* broken = check_step_header(header, payload.size())) return invalid(broken, 0);
  const StepRun run{header.first_step, header.first_group, header.end_group,
                    header.flags == kStepsArePiece};
  return StepReader(payload, run, header.step_count);
}

void StepReader::cut(std::size_t whole_bytes) {
  rest_ = rest_.first(whole_bytes - sizeof(StepRunHeader));
  payload_bytes_ = whole_bytes;
  is_cut_ = true;
}

Result<bool> StepReader::next(Step& step) {
  const std::uint64_t place = payload_bytes_ - rest_.size();
  if (is_cut_ && (rest_.empty() || before_.count == step_count_)) return false;
  if (before_.count == step_count_) {
    if (rest_.size() < 8 && is_zero(rest_)) return false;
    return invalid("what is after the steps of a step run is not its padding", place);
  }
  if (rest_.empty()) return invalid("a step run has fewer steps than its header says", 0);
  const auto kind = static_cast<StepKind>(rest_.front());
  StepBytes behind = rest_.subspan(1);
  const auto length = take_leb128(behind);
  if (is_cut_ && (!length || *length > behind.size())) return false;
  if (!length) return invalid(kStepNumberText, place);
  if (*length > behind.size()) return invalid("a step is cut short", place);
  StepTaker taker(run_, before_, behind.first(*length), {numbers_, run_counts_});
  if (const char* broken = take_step(kind, taker, run_, step)) return invalid(broken, place);
  rest_ = behind.subspan(*length);
  ++before_.count;
  return true;
}

}  // namespace crawlstore::format
