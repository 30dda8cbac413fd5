// SPDX-License-Identifier: Apache-2.0
//
// The rejected golden files with a broken frontier.
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "format/frontier_table.h"
#include "format/group_samples.h"
#include "format/item_samples.h"
#include "format/step_run.h"
#include "format/step_samples.h"
#include "golden/rejected_maker.h"

namespace crawlstore::testing {
namespace {

using format::FrontierTable;
using format::Step;
using format::StepWriter;

constexpr const char* kBase = "frontiers";
constexpr std::size_t kPiece = 0;  // runs of the log of steps
constexpr std::size_t kFirstJournal = 1;
constexpr std::size_t kLastJournal = 3;
constexpr std::uint32_t kUnknownGroup = 1000;
constexpr std::uint64_t kUnknownItem = 100'000;

/// The frontier that has logs.
format::SegmentEntry& frontier_of(CraftedFile& file) {
  for (auto& table : file.tables) {
    for (auto& entry : table) {
      if (entry.kind == SegmentKind::kFrontier && entry.name == "frontier") return entry;
    }
  }
  return file.segment(SegmentKind::kFrontier);
}

FrontierTable table_of(CraftedFile& file) {
  return format::parse_frontier_table(file.payload(frontier_of(file))).value();
}

void set_table(CraftedFile& file, const FrontierTable& table) {
  file.set_payload(frontier_of(file), format::encode_frontier_table(table));
}

void add_file(Maker& make, const std::string& name,
              const std::function<void(CraftedFile&)>& change) {
  make.directory("frontier_" + name, kBase, change, Errc::kSegmentInvalid);
}

void add_table(Maker& make, const std::string& name,
               const std::function<void(FrontierTable&)>& change) {
  add_file(make, name, [&](CraftedFile& file) {
    FrontierTable table = table_of(file);
    change(table);
    set_table(file, table);
  });
}

/// Another run of a log, with its own count of records.
void set_run(CraftedFile& file, SegmentKind kind, std::size_t run, const Bytes& payload,
             std::uint64_t record_count) {
  auto& log = file.segment(kind);
  file.set_payload(log, payload, run);
  log.runs[run].record_count = record_count;
}

using ChangeStep = std::function<void(Step&, StepWriter&)>;

/// A run of steps written again; `change` writes each step, or not.
std::pair<Bytes, std::uint64_t> steps_again(CraftedFile& file, std::size_t run,
                                            const format::StepRun* header,
                                            const ChangeStep& change) {
  const Bytes payload = file.payload(file.segment(SegmentKind::kFrontierSteps), run);
  auto reader = format::StepReader::open(payload).value();
  StepWriter writer(header != nullptr ? *header : reader.run());
  for (Step step; reader.next(step).value();) change(step, writer);
  const std::uint64_t count = writer.step_count();
  return {writer.finish(), count};
}

void add_steps(Maker& make, const std::string& name, std::size_t run, const ChangeStep& change) {
  add_file(make, name, [&](CraftedFile& file) {
    const auto [payload, count] = steps_again(file, run, nullptr, change);
    set_run(file, SegmentKind::kFrontierSteps, run, payload, count);
  });
}

/// The first step of a kind in a run changed.
template <class Kind, class Change>
void add_step(Maker& make, const std::string& name, std::size_t run, const Change& change) {
  bool is_done = false;
  add_steps(make, name, run, [&](Step& step, StepWriter& writer) {
    auto* const found = std::get_if<Kind>(&step);
    if (found != nullptr && !std::exchange(is_done, true)) change(*found);
    writer.append(step);
  });
}

/// Another step in the place of one of the last journal.
void add_other_step(Maker& make, const std::string& name, const Step& other) {
  add_steps(make, name, kLastJournal, [&](Step& step, StepWriter& writer) {
    writer.append(std::holds_alternative<format::ExtendStep>(step) ? other : step);
  });
}

void add_tables(Maker& make) {
  const auto add_bytes = [&](const std::string& name, const std::function<void(Bytes&)>& change) {
    add_file(make, name, [&](CraftedFile& file) {
      Bytes bytes = file.payload(frontier_of(file));
      change(bytes);
      file.set_payload(frontier_of(file), bytes);
    });
  };
  add_bytes("table_of_odd_length", [](Bytes& bytes) { bytes.resize(bytes.size() - 4); });
  add_table(make, "without_steps", [](FrontierTable& t) { t.steps = {}; });
  add_table(make, "of_items_without_runs", [](FrontierTable& t) { t.runs.clear(); });
  add_table(make, "of_one_log_twice", [](FrontierTable& t) { t.groups = t.steps; });
  add_table(make, "waiting_over_2_63", [](FrontierTable& t) { t.waiting_count = kNoId; });
  add_table(make, "clock_over_2_48", [](FrontierTable& t) { t.clock_ms = kTooLate; });
  add_table(make, "hard_above_soft",
            [](FrontierTable& t) { t.default_rule.hard_ms = t.default_rule.soft_ms + 1; });
  add_table(make, "burst_of_0", [](FrontierTable& t) { t.default_rule.burst = 0; });
  add_table(make, "runs_descend", [](FrontierTable& t) { std::swap(t.runs[0], t.runs[1]); });
  add_table(make, "run_of_a_step_to_come",
            [](FrontierTable& t) { t.runs[0].first_step = t.step_count + 1; });
  add_table(make, "piece_twice", [](FrontierTable& t) { t.pieces.push_back(t.pieces[0]); });
  add_table(make, "piece_of_0", [](FrontierTable& t) { t.pieces[0] = {}; });
}

/// Logs that are not those of the table.
void add_logs(Maker& make) {
  add_table(make, "of_another_log", [](FrontierTable& t) { t.groups.value += 1000; });
  add_table(make, "of_a_run_that_is_none", [](FrontierTable& t) { t.runs.back().run.value += 99; });
  add_table(make, "of_a_run_less", [](FrontierTable& t) { t.runs.pop_back(); });
  add_table(make, "of_a_piece_less", [](FrontierTable& t) { t.pieces.clear(); });
  add_table(make, "of_a_piece_that_is_none", [](FrontierTable& t) { t.pieces[0].value += 1000; });
  add_table(make, "step_count", [](FrontierTable& t) { ++t.step_count; });
  add_file(make, "of_a_journal_as_piece", [](CraftedFile& file) {
    FrontierTable table = table_of(file);
    const auto& log = file.segment(SegmentKind::kFrontierSteps);
    table.pieces[0] = log.runs[kFirstJournal].run_id;
    set_table(file, table);
  });
  add_file(make, "of_a_journal_less", [](CraftedFile& file) {
    auto& runs = file.segment(SegmentKind::kFrontierSteps).runs;
    runs.erase(runs.begin() + kFirstJournal);
  });
  add_file(make, "of_a_log_more", [](CraftedFile& file) {
    const auto run = file.payload(file.segment(SegmentKind::kFrontierSteps), kLastJournal);
    const SegmentId owner = frontier_of(file).id;
    auto& log = file.add_segment(SegmentKind::kFrontierSteps, owner);
    log.storage_class = StorageClass::kLog;
    log.runs.push_back(file.add_run(log.id, run, 4));
  });
}

/// The piece of the file as one of its groups from `first` to below `end`.
std::pair<Bytes, std::uint64_t> part_of_piece(CraftedFile& file, std::uint32_t first,
                                              std::uint32_t end) {
  const auto last_step = table_of(file).runs.back().first_step;
  const format::StepRun header = format::piece_of(first, end, last_step);
  return steps_again(file, kPiece, &header, [&](Step& step, StepWriter& writer) {
    const bool is_here = std::visit(
        [&](const auto& one) {
          if constexpr (requires { one.group; }) {
            return one.group >= first && one.group < end;
          } else {
            return true;
          }
        },
        step);
    if (is_here) writer.append(step);
  });
}

void add_pieces(Maker& make) {
  add_file(make, "piece_from_group_1", [](CraftedFile& file) {
    const auto [payload, count] = part_of_piece(file, 1, table_of(file).group_count);
    set_run(file, SegmentKind::kFrontierSteps, kPiece, payload, count);
  });
  add_file(make, "pieces_with_a_gap", [](CraftedFile& file) {
    FrontierTable table = table_of(file);
    const auto [low, low_count] = part_of_piece(file, 0, 8);
    const auto [high, high_count] = part_of_piece(file, 9, table.group_count);
    set_run(file, SegmentKind::kFrontierSteps, kPiece, low, low_count);
    auto& log = file.segment(SegmentKind::kFrontierSteps);
    log.runs.push_back(file.add_run(log.id, high, high_count));
    table.pieces.push_back(log.runs.back().run_id);
    set_table(file, table);
  });
  add_file(make, "piece_of_groups_that_are_none", [](CraftedFile& file) {
    const auto [payload, count] = part_of_piece(file, 0, kUnknownGroup);
    set_run(file, SegmentKind::kFrontierSteps, kPiece, payload, count);
  });
}

/// Counts of the table that are not those of the state.
void add_counts(Maker& make) {
  add_table(make, "group_count", [](FrontierTable& t) { ++t.group_count; });
  add_table(make, "waiting_count", [](FrontierTable& t) { ++t.waiting_count; });
  add_table(make, "leased_count", [](FrontierTable& t) { --t.leased_count; });
  add_table(make, "clock", [](FrontierTable& t) { ++t.clock_ms; });
  add_table(make, "pages_with_given_ids", [](FrontierTable& t) { t.pages = "pages"; });
  add_table(make, "next_id", [](FrontierTable& t) { --t.next_id; });  // of an item in a run
}

/// The first sample that breaks each rule of a payload.
void add_samples(Maker& make, const std::string& name, SegmentKind kind,
                 const std::map<std::string, Bytes>& samples) {
  std::set<std::string> seen;
  for (const auto& [sample, payload] : samples) {
    const std::string prefix = "rule_";
    if (!sample.starts_with(prefix) || payload.empty()) continue;
    const auto end = sample.find('_', prefix.size());
    if (!seen.insert(sample.substr(0, end)).second) continue;
    add_file(make, name + "_" + sample, [&](CraftedFile& file) {
      auto& log = file.segment(kind);
      file.set_payload(log, payload);
    });
  }
}

void add_runs(Maker& make) {
  add_samples(make, "groups", SegmentKind::kFrontierGroups, sample_group_payloads());
  add_samples(make, "items", SegmentKind::kFrontierItems, sample_item_payloads());
  const auto steps = sample_step_payloads();
  add_samples(make, "steps", SegmentKind::kFrontierSteps, {steps.begin(), steps.end()});
  for (const std::string sample : {"rule_10_clock", "rule_10_descend"}) {
    add_file(make, "piece_" + sample, [&](CraftedFile& file) {
      file.set_payload(file.segment(SegmentKind::kFrontierSteps), steps.at(sample), kPiece);
    });
  }
  const auto add_groups = [&](const std::string& name, std::uint32_t first_group,
                              std::size_t same) {
    add_file(make, name, [&](CraftedFile& file) {
      std::vector<std::string> keys;
      const auto count = file.segment(SegmentKind::kFrontierGroups).runs[0].record_count;
      for (std::size_t i = 0; i < count; ++i) keys.push_back(std::to_string(i == same ? 0 : i));
      set_run(file, SegmentKind::kFrontierGroups, 0, group_run(first_group, keys), count);
    });
  };
  add_groups("groups_with_a_gap", 1, 0);
  add_groups("groups_of_one_key", 0, 5);
  const auto add_items = [&](const std::string& name, std::uint64_t time) {
    add_file(make, name, [&](CraftedFile& file) {
      const SampleItems items{{item_of(kUnknownGroup, 1, 5, time), "a"}};
      set_run(file, SegmentKind::kFrontierItems, 0, encoded_item_run({items}), 1);
    });
  };
  add_items("items_of_no_group", 0);
  add_items("items_by_time_of_no_group", kTooLate - 1);
  make.directory(
      "frontier_record_count", kBase,
      [](CraftedFile& file) { ++file.segment(SegmentKind::kFrontierSteps).runs[0].record_count; },
      Errc::kSegmentInvalid);
}

/// Steps that contradict those before them.
void add_contradictions(Maker& make) {
  using format::VisitStep;
  add_step<VisitStep>(make, "visit_of_other_items", kFirstJournal,
                      [](VisitStep& step) { step.check ^= 1U; });
  add_step<VisitStep>(make, "visit_of_more_than_waits", kFirstJournal,
                      [](VisitStep& step) { step.count += 1000; });
  add_step<VisitStep>(make, "visit_of_no_group", kFirstJournal,
                      [](VisitStep& step) { step.group = kUnknownGroup; });
  add_other_step(make, "clock_back", format::ClockStep{1});
  add_other_step(make, "group_twice",
                 format::GroupStep{std::as_bytes(std::span("host3.test", 10))});
  add_other_step(make, "put_of_no_group", format::PutStep{kUnknownGroup, kUnknownItem, 0, 0, {}});
  const std::array unknown{kUnknownItem};
  add_other_step(make, "finish_of_no_lease", format::FinishStep{unknown});
  add_other_step(make, "back_of_no_lease", format::BackStep{kUnknownItem, 0, false});
  add_other_step(make, "extend_of_no_lease", format::ExtendStep{kUnknownItem, 0});
  add_other_step(make, "remove_of_no_item", format::RemoveStep{0, kUnknownItem});
  add_other_step(make, "update_of_no_item", format::UpdateStep{0, kUnknownItem, 0, 0, {}});
  add_other_step(make, "drop_of_no_group", format::DropStep{kUnknownGroup});
  format::RuleStep rule{0, format::kRuleHard};
  rule.hard_ms = kTooLate - 1;
  add_other_step(make, "rule_of_hard_above_soft", rule);
  rule = {kUnknownGroup, format::kRuleHard};
  add_other_step(make, "rule_of_no_group", rule);
}

void add_contradictions_of_runs(Maker& make) {
  using format::GoneStep;
  using format::LeasedStep;
  std::optional<GoneStep> gone;
  add_steps(make, "gone_twice", kFirstJournal, [&](Step& step, StepWriter& writer) {
    const auto* const found = std::get_if<GoneStep>(&step);
    if (found != nullptr && !gone) gone = *found;
    writer.append(found != nullptr ? Step(*gone) : step);
  });
  add_step<GoneStep>(make, "gone_of_another_group", kFirstJournal,
                     [](GoneStep& step) { step.group ^= 1U; });
  add_step<GoneStep>(make, "gone_of_no_run", kFirstJournal,
                     [](GoneStep& step) { step.run_id += 1000; });
  add_step<GoneStep>(make, "gone_of_an_item_behind_the_run", kPiece,
                     [](GoneStep& step) { step.number += 100'000; });
  std::optional<std::uint64_t> leased;
  add_steps(make, "leased_twice", kPiece, [&](Step& step, StepWriter& writer) {
    auto* const found = std::get_if<LeasedStep>(&step);
    if (found != nullptr && !leased) leased = found->id;
    if (found != nullptr) found->id = *leased;
    writer.append(step);
  });
  std::vector<format::RunCount> counts;
  add_step<format::LeftStep>(make, "left_more_than_a_run_has", kPiece, [&](format::LeftStep& step) {
    counts.assign(step.runs.begin(), step.runs.end());
    counts[0].count += 1000;
    step.runs = counts;
  });
}

}  // namespace

void add_rejected_frontiers(Maker& make) {
  add_tables(make);
  add_logs(make);
  add_pieces(make);
  add_counts(make);
  add_runs(make);
  add_contradictions(make);
  add_contradictions_of_runs(make);
  make.directory("directory_frontier_without_name", kBase,
                 [](CraftedFile& file) { frontier_of(file).name.clear(); });
  make.directory("directory_frontiers_of_one_name", kBase,
                 [](CraftedFile& file) { frontier_of(file).name = "empty"; });
  make.directory("directory_frontier_steps_without_owner", kBase,
                 [](CraftedFile& file) { file.segment(SegmentKind::kFrontierSteps).owner = {}; });
  make.directory("feature_bit_of_frontiers_missing", kBase,
                 [](CraftedFile& file) { file.superblock.features_incompat = 0; });
}

}  // namespace crawlstore::testing
