// SPDX-License-Identifier: Apache-2.0
#include "format/step_run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/format_samples.h"
#include "format/step_samples.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

std::string told(StepBytes bytes) {
  return '"' + hex_of(bytes) + '"';
}
std::string told(std::span<const std::uint64_t> numbers) {
  std::string text;
  for (const std::uint64_t number : numbers) text += std::to_string(number) + '+';
  return text;
}
std::string told(std::span<const RunCount> runs) {
  std::string text;
  for (const RunCount& run : runs) {
    text += std::to_string(run.run_id) + ':' + std::to_string(run.count) + '+';
  }
  return text;
}
template <class T>
requires std::is_arithmetic_v<T> std::string told(T number) {
  if constexpr (std::is_floating_point_v<T>) return hex_of(std::bit_cast<std::uint64_t>(number));
  return std::to_string(number);
}
template <class T>
std::string told(const std::optional<T>& value) {
  return value ? told(*value) : "none";
}

template <class... Fields>
std::string tell(const Fields&... fields) {
  std::string text;
  ((text += ' ' + told(fields)), ...);
  return text;
}

/// All that a step says.
struct StepTeller {
  std::string operator()(const ClockStep& s) const { return tell(s.time); }
  std::string operator()(const GroupStep& s) const { return tell(s.key); }
  std::string operator()(const PutStep& s) const {
    return tell(s.group, s.id, s.priority, s.time, s.body);
  }
  std::string operator()(const LeaseStep& s) const { return tell(s.until); }
  std::string operator()(const VisitStep& s) const { return tell(s.group, s.count, s.check); }
  std::string operator()(const FinishStep& s) const { return tell(s.ids); }
  std::string operator()(const BackStep& s) const { return tell(s.id, s.time, s.is_failure); }
  std::string operator()(const ExtendStep& s) const { return tell(s.id, s.until); }
  std::string operator()(const RemoveStep& s) const { return tell(s.group, s.id); }
  std::string operator()(const UpdateStep& s) const {
    return tell(s.group, s.id, s.priority, s.time, s.body);
  }
  std::string operator()(const RuleStep& s) const {
    std::string text = tell(s.group, s.mask);
    if ((s.mask & kRuleSoft) != 0) text += " soft" + tell(s.soft_ms);
    if ((s.mask & kRuleHard) != 0) text += " hard" + tell(s.hard_ms);
    if ((s.mask & kRuleBurst) != 0) text += " burst" + tell(s.burst);
    if ((s.mask & kRuleInFlight) != 0) text += " in flight" + tell(s.in_flight_max);
    if ((s.mask & kRulePut) != 0) text += " put" + tell(s.put_max);
    if ((s.mask & kRuleFinished) != 0) text += " finished" + tell(s.finished_max);
    if ((s.mask & kRuleBlocked) != 0) text += " blocked" + tell(s.blocked_until);
    if ((s.mask & kRuleActive) != 0) text += " active" + tell(s.is_active);
    if ((s.mask & kRuleParent) != 0) text += " parent" + tell(s.parent);
    return text;
  }
  std::string operator()(const DropStep& s) const { return tell(s.group); }
  std::string operator()(const StoredStep& s) const { return tell(s.run_id); }
  std::string operator()(const JoinedStep& s) const { return tell(s.run_id, s.others); }
  std::string operator()(const TimesStep& s) const {
    return tell(s.group, s.soft_time, s.hard_time, s.failures);
  }
  std::string operator()(const CountsStep& s) const {
    return tell(s.group, s.put_count, s.finished_count);
  }
  std::string operator()(const LeftStep& s) const { return tell(s.group, s.runs); }
  std::string operator()(const LeasedStep& s) const {
    return tell(s.group, s.id, s.priority, s.until, s.attempt, s.body);
  }
  std::string operator()(const AgainStep& s) const {
    return tell(s.group, s.id, s.priority, s.time, s.attempt, s.body);
  }
  std::string operator()(const GoneStep& s) const { return tell(s.group, s.run_id, s.number); }
};

std::string text_of_step(const Step& step) {
  return std::to_string(step.index()) + std::visit(StepTeller{}, step);
}

/// The steps of a payload as texts, and at last what is wrong with it.
std::vector<std::string> steps_of(std::span<const std::byte> payload) {
  auto reader = StepReader::open(payload);
  if (!reader) return {text_of(reader)};
  std::vector<std::string> texts;
  Step step;
  for (;;) {
    const auto is_there = reader->next(step);
    if (!is_there) texts.push_back(text_of(is_there));
    if (!is_there || !*is_there) return texts;
    texts.push_back(text_of_step(step));
  }
}

/// Random steps; their spans point into it until the next one.
class RandomSteps {
 public:
  explicit RandomSteps(const StepRun& run) : run_(run) {}

  /// Begins another run.
  void begin() { group_ = run_.first_group; }
  Step next() { return run_.is_piece ? of_piece() : of_journal(); }

 private:
  Step of_journal() {
    switch (below(random_, 14)) {
      case 0:
        return ClockStep{upto(kItemTimeMax)};
      case 1:
        return GroupStep{bytes()};
      case 2:
        return PutStep{group(), upto(kItemIdMax), priority(), upto(kItemTimeMax), bytes()};
      case 3:
        return LeaseStep{upto(kItemTimeMax)};
      case 4:
        return VisitStep{group(), 1 + count(), static_cast<std::uint16_t>(random_())};
      case 5:
        return FinishStep{numbers(kItemIdMax)};
      case 6:
        return BackStep{upto(kItemIdMax), upto(kItemTimeMax), random_() % 2 == 0};
      case 7:
        return ExtendStep{upto(kItemIdMax), upto(kItemTimeMax)};
      case 8:
        return RemoveStep{group(), upto(kItemIdMax)};
      case 9:
        return update();
      case 10:
        return rule();
      case 11:
        return DropStep{group()};
      case 12:
        return StoredStep{1 + upto(~std::uint64_t{1})};
      default:
        return JoinedStep{1, ascending()};
    }
  }
  Step of_piece() {
    switch (below(random_, 8)) {
      case 0:
        return PutStep{group(), upto(kItemIdMax), priority(), upto(kItemTimeMax), bytes()};
      case 1:
        return rule();
      case 2:
        return TimesStep{group(), upto(kItemTimeMax), upto(kItemTimeMax), count()};
      case 3:
        return CountsStep{group(), upto(kStepNumberMax), upto(kStepNumberMax)};
      case 4:
        return LeftStep{group(), runs()};
      case 5:
        return LeasedStep{group(),     upto(kItemIdMax), priority(), upto(kItemTimeMax),
                          1 + count(), bytes()};
      case 6:
        return AgainStep{group(),     upto(kItemIdMax), priority(), upto(kItemTimeMax),
                         1 + count(), bytes()};
      default:
        return GoneStep{group(), 1 + upto(kItemIdMax), upto(kItemIdMax)};
    }
  }
  /// A number up to `max`, of any length.
  std::uint64_t upto(std::uint64_t max) {
    const std::uint64_t number = random_() >> below(random_, 64);
    return max == ~std::uint64_t{0} ? number : number % (max + 1);
  }
  std::uint32_t group() {
    if (!run_.is_piece) return static_cast<std::uint32_t>(upto(kGroupMax));
    if (below(random_, 2) == 0) group_ += below(random_, run_.end_group - group_);
    return group_;
  }
  std::uint32_t count() { return static_cast<std::uint32_t>(upto(0xFFFF'FFFE)); }
  double priority() {
    const auto any = std::bit_cast<double>(random_());
    return random_() % 2 == 0 || std::isnan(any) ? below(random_, 9) / 4.0 : any;
  }
  StepBytes bytes() {
    bytes_ = pattern(below(random_, random_() % 8 == 0 ? 2000 : 90));
    return bytes_;
  }
  std::span<const std::uint64_t> numbers(std::uint64_t max) {
    numbers_.resize(1 + below(random_, 9));
    for (std::uint64_t& number : numbers_) number = upto(max);
    return numbers_;
  }
  std::span<const std::uint64_t> ascending() {
    numbers(kItemIdMax);
    for (std::uint64_t& number : numbers_) number += 2;
    std::sort(numbers_.begin(), numbers_.end());
    numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
    return numbers_;
  }
  std::span<const RunCount> runs() {
    runs_.clear();
    for (const std::uint64_t run_id : ascending()) {
      runs_.push_back({run_id, 1 + upto(kStepNumberMax - 1)});
    }
    return runs_;
  }
  Step update() {
    UpdateStep step{group(), upto(kItemIdMax), priority(), upto(kItemTimeMax), {}};
    if (random_() % 2 == 0) step.body = bytes();
    return step;
  }
  template <class T = std::uint64_t>
  std::optional<T> maybe(std::uint64_t max) {
    if (random_() % 4 == 0) return {};
    return static_cast<T>(upto(max));
  }
  Step rule() {
    RuleStep step{.group = group(), .mask = 1 + below(random_, kRuleAll)};
    step.soft_ms = maybe(kDurationMax);
    step.hard_ms = maybe(kDurationMax);
    step.burst = 1 + count();
    step.in_flight_max = 1 + count();
    step.put_max = maybe(kStepNumberMax);
    step.finished_max = maybe(kStepNumberMax);
    step.blocked_until = upto(kItemTimeMax);
    step.is_active = random_() % 2 == 0;
    step.parent = maybe<std::uint32_t>(kGroupMax);
    return step;
  }

  StepRun run_;
  std::uint32_t group_ = run_.first_group;  // of the last step of a piece
  std::mt19937_64 random_{31};
  Bytes bytes_;
  std::vector<std::uint64_t> numbers_;
  std::vector<RunCount> runs_;
};

void expect_random_steps_come_back(const StepRun& run) {
  RandomSteps random(run);
  for (int i = 0; i < 300; ++i) {
    random.begin();
    StepWriter writer(run);
    std::vector<std::string> written;
    for (int k = 0; k < 40; ++k) {
      const Step step = random.next();
      writer.append(step);
      written.push_back(text_of_step(step));
    }
    EXPECT_EQ(writer.step_count(), 40U);
    const std::size_t payload_bytes = writer.payload_bytes();
    const Bytes payload = writer.finish();
    EXPECT_EQ(payload.size(), round_up(payload_bytes, 8));
    ASSERT_EQ(steps_of(payload), written);
  }
}

TEST(StepRun, ReturnsRandomStepsOfJournals) {
  expect_random_steps_come_back(journal_from(1));
}

TEST(StepRun, ReturnsRandomStepsOfPieces) {
  expect_random_steps_come_back(piece_of(0, 1, 0));
  expect_random_steps_come_back(piece_of(1'000, 0xFFFF'FFFF, kStepNumberMax));
}

TEST(StepRun, ReturnsWhatItsHeaderSays) {
  const Bytes journal = sample_journal();
  const auto reader = StepReader::open(journal);
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->run(), kSampleJournal);
  EXPECT_EQ(reader->step_count(), 19U);
  const Bytes piece = sample_piece();
  EXPECT_EQ(StepReader::open(piece)->run(), kSamplePiece);
}

TEST(StepRun, WritesMinusZeroAsZero) {
  EXPECT_EQ(step_run(kSampleJournal, {PutStep{.priority = -0.0}}),
            step_run(kSampleJournal, {PutStep{.priority = 0.0}}));
}

TEST(StepRun, WritesTheBytesOfTheSpec) {
  const Bytes body = bytes_of("ab");
  const std::vector<std::uint64_t> ids{300, 299};
  EXPECT_EQ(hex_of(step_run(journal_from(258), {ClockStep{1000}, PutStep{1, 300, 0.5, 0, body},
                                                VisitStep{1, 2, 599}, FinishStep{ids}})),
            "43 53 54 45 50 52 4e 31 02 01 00 00 00 00 00 00 04 00 00 00 00 00 00 00 "
            "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
            "01 02 e8 07 "
            "03 09 01 d8 04 bf c0 03 00 61 62 "
            "05 04 01 02 d7 04 "
            "06 02 00 01 "
            "00 00 00 00 00 00 00");
  const std::vector<RunCount> runs{{7, 128}};
  EXPECT_EQ(hex_of(step_run(piece_of(2, 3, 9),
                            {RuleStep{.group = 2, .mask = 257, .parent = 0}, LeftStep{2, runs}})),
            "43 53 54 45 50 52 4e 31 09 00 00 00 00 00 00 00 02 00 00 00 00 00 00 00 "
            "02 00 00 00 03 00 00 00 01 00 00 00 00 00 00 00 "
            "0b 05 02 81 02 00 01 "
            "22 04 02 07 80 01 "
            "00 00 00");
}

TEST(StepRun, SaysOfEverySampleWhatItsNameSays) {
  for (const auto& [name, payload] : sample_step_payloads()) {
    const auto again = step_run_again(payload);
    EXPECT_EQ(again.has_value(), !name.starts_with("rule_")) << name << ' ' << text_of(again);
    if (again) {
      EXPECT_EQ(*again, payload) << name;
    } else {
      EXPECT_EQ(code_of(again), Errc::kSegmentInvalid);
    }
  }
}

/// The texts by which samples with this beginning are rejected, each once, with its offset.
std::string verdicts(const std::string& prefix) {
  std::map<std::string, int> texts;
  for (const auto& [name, payload] : sample_step_payloads()) {
    if (!name.starts_with(prefix)) continue;
    const auto again = step_run_again(payload);
    ++texts[again ? name : again.error().text + (" @" + std::to_string(again.error().offset))];
  }
  std::string all;
  for (const auto& [text, count] : texts) all += text + "; ";
  return all;
}

TEST(StepRun, RejectsOtherHeaders) {
  EXPECT_EQ(verdicts("rule_1_"),
            "a flag of a step run is unknown @0; reserved bytes of a step run are not zero @0; "
            "the length of a step run is out of range @0; "
            "the magic number of a step run is wrong @0; ");
  EXPECT_EQ(verdicts("rule_2_"),
            "a step run has fewer steps than its header says @0; "
            "the step count of a step run is out of range @0; ");
  EXPECT_EQ(verdicts("rule_3_"),
            "the first step of a step run is out of range @0; "
            "the groups of a step run are out of range @0; ");
}

TEST(StepRun, RejectsWhatIsAfterItsSteps) {
  EXPECT_EQ(verdicts("rule_4_"), "what is after the steps of a step run is not its padding @43; ");
}

TEST(StepRun, RejectsKindsThatMayNotBeThere) {
  EXPECT_EQ(verdicts("rule_5_piece"), "a step of this kind stands in a piece @40; ");
  EXPECT_EQ(verdicts("rule_5_journal"), "a step of this kind stands in a journal @40; ");
  for (const char* each : {"rule_5_zero", "rule_5_unknown", "rule_5_high"}) {
    EXPECT_EQ(verdicts(each), "the kind of a step is unknown @40; ");
  }
}

TEST(StepRun, RejectsRecordsOfAnotherForm) {
  EXPECT_EQ(verdicts("rule_6_"),
            "a number of a step is cut short, or not in its shortest form @40; "
            "a step is cut short @40; bytes are left over in a step @40; ");
}

TEST(StepRun, RejectsNumbersOutOfRange) {
  EXPECT_EQ(verdicts("rule_7_"),
            "a group of a step is out of range @40; a run id of a step is 0 @40; "
            "a step has a flag that is neither 0 nor 1 @40; a time of a step is out of range @40; "
            "an id of a step is out of range @40; the body of a step is too long @40; "
            "the check of a step is out of range @40; the key of a step is too long @40; "
            "the priority of a step is none @40; ");
  EXPECT_EQ(verdicts("rule_8_"), "a count of a step is out of range @40; ");
}

TEST(StepRun, RejectsListsThatAreNone) {
  EXPECT_EQ(verdicts("rule_9_"),
            "a run of items is joined with itself @40; "
            "a step has too few or too many numbers @40; "
            "the run ids of a step do not ascend @40; ");
}

TEST(StepRun, RejectsOtherGroupsInAPiece) {
  EXPECT_EQ(verdicts("rule_10_"),
            "a group of a piece is none of its groups @40; "
            "the clock of a piece is not its first step @43; "
            "the clock of a piece is not its first step @45; "
            "the groups of the steps of a piece descend @45; ");
}

TEST(StepRun, RejectsValuesOfARuleOutOfRange) {
  EXPECT_EQ(verdicts("rule_11_"),
            "a duration of a step is out of range @40; a group of a step is out of range @40; "
            "a limit of a step is out of range @40; "
            "a step has a flag that is neither 0 nor 1 @40; a time of a step is out of range @40; "
            "the mask of a rule is out of range @40; ");
}

TEST(StepRun, NamesThePlaceOfALaterRecord) {
  Bytes records = raw_step(1, {5});
  const Bytes wrong = raw_step(13, {0});
  records.insert(records.end(), wrong.begin(), wrong.end());
  const auto again = step_run_again(raw_step_run(kSampleJournal, 2, records));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().offset, 43U);
}

TEST(StepRun, ReadsEveryChangedByteOrRejectsIt) {
  for (const Bytes& sample : {sample_journal(), sample_piece()}) {
    for (std::size_t i = 0; i < sample.size(); ++i) {
      for (int value = 0; value < 256; ++value) {
        const Bytes payload = with(sample, i, static_cast<std::uint8_t>(value));
        const auto again = step_run_again(payload);
        if (again) {
          ASSERT_EQ(*again, payload) << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace crawlstore::format
