// SPDX-License-Identifier: Apache-2.0
//
// Steps of frontier_field.h. Each kind of step has a row that names its parts; what is broken is
// shown as far as it goes.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>
#include <utility>

#include "format/endian.h"
#include "format/frontier_field.h"
#include "format/leb128.h"
#include "format/steps.h"
#include "format/zigzag.h"

namespace crawlstore::format {

namespace {

/// Steps after these are not described.
constexpr std::size_t kStepFieldsMax = 100'000;

enum class PartForm : std::uint8_t {
  kNumber,
  kOneMore,  ///< of the value, 0: none
  kId,
  kPriority,
  kBytes,  ///< the rest of the record
  kIds,
  kRunIds,
  kRunCounts,
  kMask,  ///< of a rule, and its values
};
struct StepPart {
  const char* name = nullptr;
  PartForm form = PartForm::kNumber;
};
struct StepForm {
  StepKind kind;
  const char* name;
  std::array<StepPart, 6> parts{};
};

constexpr StepPart kPartGroup{"group"};
constexpr StepPart kPartId{"id", PartForm::kId};
constexpr StepPart kPartPriority{"priority", PartForm::kPriority};
constexpr StepPart kPartTime{"time"};
constexpr StepPart kPartBody{"body", PartForm::kBytes};
constexpr StepPart kPartRun{"run_id"};

constexpr std::array kStepForms{
    StepForm{StepKind::kClock, "clock", {{kPartTime}}},
    StepForm{StepKind::kGroup, "group", {{{"key", PartForm::kBytes}}}},
    StepForm{StepKind::kPut, "put", {{kPartGroup, kPartId, kPartPriority, kPartTime, kPartBody}}},
    StepForm{StepKind::kLease, "lease", {{{"until"}}}},
    StepForm{StepKind::kVisit, "visit", {{kPartGroup, {"count"}, {"check"}}}},
    StepForm{StepKind::kFinish, "finish", {{{"ids", PartForm::kIds}}}},
    StepForm{StepKind::kBack, "back", {{kPartId, kPartTime, {"is_failure"}}}},
    StepForm{StepKind::kExtend, "extend", {{kPartId, {"until"}}}},
    StepForm{StepKind::kRemove, "remove", {{kPartGroup, kPartId}}},
    StepForm{StepKind::kUpdate,
             "update",
             {{kPartGroup, kPartId, kPartPriority, kPartTime, {"has_body"}, kPartBody}}},
    StepForm{StepKind::kRule, "rule", {{kPartGroup, {"mask", PartForm::kMask}}}},
    StepForm{StepKind::kDrop, "drop", {{kPartGroup}}},
    StepForm{StepKind::kStored, "stored", {{kPartRun}}},
    StepForm{StepKind::kJoined, "joined", {{kPartRun, {"others", PartForm::kRunIds}}}},
    StepForm{StepKind::kTimes, "times", {{kPartGroup, {"soft_time"}, {"hard_time"}, {"failures"}}}},
    StepForm{StepKind::kCounts, "counts", {{kPartGroup, {"put_count"}, {"finished_count"}}}},
    StepForm{StepKind::kLeft, "left", {{kPartGroup, {"runs", PartForm::kRunCounts}}}},
    StepForm{StepKind::kLeased,
             "leased",
             {{kPartGroup, kPartId, kPartPriority, {"until"}, {"attempt"}, kPartBody}}},
    StepForm{StepKind::kAgain,
             "again",
             {{kPartGroup, kPartId, kPartPriority, kPartTime, {"attempt"}, kPartBody}}},
    StepForm{StepKind::kGone, "gone", {{kPartGroup, kPartRun, {"number"}}}},
};
static_assert(kStepForms.size() == std::variant_size_v<Step>);

/// Values of a rule, in the order of the bits of its mask.
constexpr std::array<StepPart, 9> kRuleParts{{{"soft_ms", PartForm::kOneMore},
                                              {"hard_ms", PartForm::kOneMore},
                                              {"burst"},
                                              {"in_flight_max"},
                                              {"put_max", PartForm::kOneMore},
                                              {"finished_max", PartForm::kOneMore},
                                              {"blocked_until"},
                                              {"is_active"},
                                              {"parent", PartForm::kOneMore}}};
static_assert(kRuleAll == (1U << kRuleParts.size()) - 1);

std::string priority_text(std::uint64_t number) {
  std::array<char, 32> digits{};
  const double priority = std::bit_cast<double>(__builtin_bswap64(number));
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), priority).ptr};
}

/// Takes the records of a payload apart, one after another.
class StepDescriber {
 public:
  StepDescriber(std::span<const std::byte> payload, std::size_t entries_max)
      : payload_(payload), entries_max_(entries_max) {}

  /// The first `step_count` records after the header, as far as they go.
  ///   first_number  of the first one
  void records(std::uint64_t first_number, std::uint64_t step_count) {
    auto behind = payload_.subspan(sizeof(StepRunHeader));
    const std::uint64_t count = std::min<std::uint64_t>(step_count, entries_max_);
    for (std::uint64_t i = 0; i < count && !behind.empty(); ++i) {
      if (fields_.size() >= kStepFieldsMax) return;
      const auto length = record("steps[" + std::to_string(first_number + i) + "]", behind);
      if (!length) return;
      behind = behind.subspan(*length);
    }
  }

  Fields take() { return std::move(fields_); }

 private:
  /// Describes the record that `bytes` begin with; its length, if it is all there.
  std::optional<std::size_t> record(std::string name, std::span<const std::byte> bytes) {
    const auto kind = static_cast<StepKind>(bytes.front());
    const auto* const form = std::ranges::find(kStepForms, kind, &StepForm::kind);
    const char* const word = form == kStepForms.end() ? "unknown" : form->name;
    const std::size_t mark = fields_.size();
    is_broken_ = false;
    depth_ = 1;
    rest_ = bytes;
    add(std::move(name), "struct", bytes.size(), word);
    depth_ = 2;
    add("kind", "u8", 1, std::to_string(std::to_integer<int>(bytes.front())) + " (" + word + ")");
    rest_ = bytes.subspan(1);
    const auto length = number("length");
    if (!length || *length > rest_.size()) return std::nullopt;
    const std::size_t record_bytes = bytes.size() - rest_.size() + *length;
    fields_[mark].length_bytes = record_bytes;
    rest_ = rest_.first(*length);
    if (form != kStepForms.end()) {
      for (const StepPart& it : form->parts) part(it);
    }
    if (!rest_.empty()) {
      add("rest", "bytes", rest_.size(), {});
      fields_.back().problem =
          is_broken_ ? "not a number in its shortest form" : "bytes are left over";
    }
    return record_bytes;
  }

  void part(const StepPart& it) {
    if (it.name == nullptr || is_broken_) return;
    switch (it.form) {
      case PartForm::kNumber:
        (void)number(it.name);
        return;
      case PartForm::kOneMore:
        one_more(it.name);
        return;
      case PartForm::kId:
        id(it.name);
        return;
      case PartForm::kPriority:
        if (const auto found = number(it.name)) fields_.back().value = priority_text(*found);
        return;
      case PartForm::kBytes:
        bytes(it.name);
        return;
      case PartForm::kIds:
        list(it.name, [this](const std::string& name) { id(name); });
        return;
      case PartForm::kRunIds:
        list(it.name, [this](const std::string& name) { (void)number(name); });
        return;
      case PartForm::kRunCounts:
        list(it.name, [this](const std::string& name) { run_count(name); });
        return;
      case PartForm::kMask:
        rule(it.name);
        return;
    }
  }

  /// The next number of the rest; nothing if there is none.
  std::optional<std::uint64_t> number(std::string name) {
    auto behind = rest_;
    const auto found = take_leb128(behind);
    is_broken_ = !found.has_value();
    if (!found) return std::nullopt;
    add(std::move(name), "leb128", rest_.size() - behind.size(), std::to_string(*found));
    rest_ = behind;
    return found;
  }
  void one_more(const char* name) {
    const auto found = number(name);
    if (found) fields_.back().value = *found == 0 ? "none" : std::to_string(*found - 1);
  }
  void id(std::string name) {
    const auto found = number(std::move(name));
    if (!found) return;
    last_id_ += unzigzag(*found);
    fields_.back().value = std::to_string(last_id_);
  }
  void bytes(const char* name) {
    if (rest_.empty()) return;
    fields_.push_back(text_field(name, place(), rest_));
    fields_.back().depth = depth_;
    rest_ = {};
  }
  void rule(const char* name) {
    const auto mask = number(name);
    for (std::size_t bit = 0; mask && bit < kRuleParts.size(); ++bit) {
      if ((*mask >> bit & 1U) == 0 || is_broken_) continue;
      const StepPart& it = kRuleParts[bit];
      if (it.form == PartForm::kOneMore) {
        one_more(it.name);
      } else {
        (void)number(it.name);
      }
    }
  }
  void run_count(const std::string& name) {
    const std::size_t mark = fields_.size();
    const std::uint64_t begin = place();
    add(name, "struct", rest_.size(), {});
    ++depth_;
    if (number("run_id")) (void)number("count");
    --depth_;
    fields_[mark].length_bytes = place() - begin;
  }

  /// Entries up to the end of the rest. All are counted, and ids depend on those before them; the
  /// lines of those that are too many are taken back.
  template <class Entry>
  void list(const char* name, Entry entry) {
    const std::size_t mark = fields_.size();
    const std::uint64_t begin = place();
    add(name, "list", rest_.size(), {});
    ++depth_;
    std::size_t count = 0;
    for (; !rest_.empty() && !is_broken_; ++count) {
      const std::size_t before = fields_.size();
      const bool is_shown = count < entries_max_;
      entry(is_shown ? std::string(name) + "[" + std::to_string(count) + "]" : std::string());
      if (!is_shown || is_broken_) fields_.resize(before);
    }
    --depth_;
    fields_[mark].length_bytes = place() - begin;
    fields_[mark].value = std::to_string(is_broken_ ? count - 1 : count);
  }

  /// A line of bytes that the rest begins with.
  void add(std::string name, const char* type, std::size_t length_bytes, std::string value) {
    fields_.push_back({std::move(name), type, place(), length_bytes, std::move(value), {}, depth_});
  }
  [[nodiscard]] std::uint64_t place() const {
    return static_cast<std::uint64_t>(rest_.data() - payload_.data());
  }

  std::span<const std::byte> payload_;
  std::size_t entries_max_;
  std::span<const std::byte> rest_;  // of the record
  bool is_broken_ = false;           // the next number is none
  std::uint64_t last_id_ = 0;
  std::uint32_t depth_ = 0;
  Fields fields_;
};

}  // namespace

Fields describe_steps(std::span<const std::byte> payload, std::size_t entries_max) {
  if (payload.size() < sizeof(StepRunHeader)) return {};
  const auto header = load_struct<StepRunHeader>(payload.data());
  const bool is_piece = (header.flags & kStepsArePiece) != 0;
  StepDescriber describer(payload, entries_max);
  describer.records(is_piece ? 0 : header.first_step, header.step_count);
  Fields steps = describer.take();
  const std::uint64_t length = payload.size() - sizeof header;
  steps.insert(steps.begin(),
               {"steps", "list", sizeof header, length, std::to_string(header.step_count), {}, 0});
  return steps;
}

}  // namespace crawlstore::format
