// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Small step runs, and what breaks each of their rules.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "format/endian.h"
#include "format/format_samples.h"
#include "format/leb128.h"
#include "format/step_run.h"

namespace crawlstore::testing {

/// A run that the library writes.
inline Bytes step_run(const format::StepRun& run, const std::vector<format::Step>& steps) {
  format::StepWriter writer(run);
  for (const auto& step : steps) writer.append(step);
  return writer.finish();
}

/// A run of these records, whatever they are.
inline Bytes raw_step_run(const format::StepRun& run, std::uint64_t step_count,
                          const Bytes& records) {
  Bytes payload = bytes_of_struct(
      format::StepRunHeader{format::kStepRunMagic, run.first_step, step_count, run.first_group,
                            run.end_group, run.is_piece ? format::kStepsArePiece : 0, 0});
  payload.insert(payload.end(), records.begin(), records.end());
  payload.resize(format::round_up(payload.size(), 8));
  return payload;
}

/// A record of `kind` whose rest are these numbers, then bytes.
inline Bytes raw_step(int kind, const std::vector<std::uint64_t>& numbers, std::size_t length = 0) {
  Bytes rest;
  for (const std::uint64_t number : numbers) format::append_leb128(number, rest);
  rest.resize(rest.size() + length);
  Bytes record{static_cast<std::byte>(kind)};
  format::append_leb128(rest.size(), record);
  record.insert(record.end(), rest.begin(), rest.end());
  return record;
}

inline const format::StepRun kSampleJournal = format::journal_from(7);
inline const format::StepRun kSamplePiece = format::piece_of(2, 6, 7);

/// A run of this record alone.
inline Bytes one_step(const format::StepRun& run, int kind,
                      const std::vector<std::uint64_t>& numbers, std::size_t length = 0) {
  return raw_step_run(run, 1, raw_step(kind, numbers, length));
}
/// A piece of these two records.
inline Bytes piece_of_two(Bytes first, const Bytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return raw_step_run(kSamplePiece, 2, first);
}
/// A journal of these bytes as its only record.
inline Bytes one_record(std::initializer_list<int> bytes) {
  Bytes record;
  for (const int byte : bytes) record.push_back(static_cast<std::byte>(byte));
  return raw_step_run(kSampleJournal, 1, record);
}

/// Each kind of step that a journal may have.
inline Bytes sample_journal() {
  using namespace format;
  const Bytes key = bytes_of("a.test");
  const Bytes body = bytes_of("/page");
  const std::vector<std::uint64_t> ids{900, 901, 3, kItemIdMax, 0};
  const std::vector<std::uint64_t> others{2, 300, ~std::uint64_t{0}};
  return step_run(
      kSampleJournal,
      {ClockStep{1'700'000'000'000}, GroupStep{key}, GroupStep{}, PutStep{0, 900, 0.5, 0, body},
       PutStep{kGroupMax, 901, -std::numeric_limits<double>::infinity(), kItemTimeMax, {}},
       LeaseStep{0}, VisitStep{0, 2, 1801 % 65'536}, FinishStep{ids}, BackStep{5, 77, true},
       ExtendStep{5, kItemTimeMax}, RemoveStep{9, 70}, UpdateStep{9, 71, -0.0, 5, StepBytes(body)},
       UpdateStep{9, 72, 1e-300, 0, {}}, UpdateStep{9, 72, 3, 0, StepBytes{}},
       RuleStep{.group = 3,
                .mask = kRuleAll,
                .soft_ms = kDurationMax,
                .burst = ~0U,
                .in_flight_max = 4,
                .put_max = kStepNumberMax,
                .finished_max = 0,
                .blocked_until = 12,
                .is_active = true,
                .parent = kGroupMax},
       RuleStep{.group = 3, .mask = kRuleParent | kRuleHard, .hard_ms = 0}, DropStep{1},
       StoredStep{17}, JoinedStep{19, others}});
}

/// Each kind of step that a piece may have.
inline Bytes sample_piece() {
  using namespace format;
  const Bytes body = bytes_of("/page");
  const std::vector<RunCount> runs{{1, 1}, {9, kStepNumberMax}, {~std::uint64_t{0}, 300}};
  return step_run(kSamplePiece, {RuleStep{.group = 2, .mask = kRuleSoft | kRuleActive},
                                 TimesStep{2, 1, kItemTimeMax, 3}, CountsStep{3, 0, kStepNumberMax},
                                 LeasedStep{4, 11, -1, 0, 1, body}, AgainStep{4, 10, 0, 9, ~0U, {}},
                                 LeftStep{5, runs}, PutStep{5, 3, 2, 4, body}, GoneStep{5, 7, 2}});
}

/// The smallest journal with another header.
template <class Change>
Bytes with_step_header(Bytes payload, Change change) {
  auto header = format::load_struct<format::StepRunHeader>(payload.data());
  change(header);
  format::store_struct(payload.data(), header);
  return payload;
}

using StepPayloads = std::map<std::string, Bytes>;

/// Payloads by name: what begins with "rule_N_" breaks rule N of frontier.md#step-runs, all others
/// keep all rules. The library and spec/frontier_steps.py are both held to it.
inline StepPayloads sample_step_runs() {
  using Header = format::StepRunHeader;
  const Bytes journal = one_step(kSampleJournal, 1, {5});
  const Bytes piece = raw_step_run(kSamplePiece, 0, {});
  const Bytes full = one_step(kSampleJournal, 1, {1ULL << 40U});  // 8 bytes
  Bytes long_records = raw_step(1, {5});
  long_records.resize(16);
  const auto with_journal = [&](auto change) { return with_step_header(journal, change); };
  const auto with_piece = [&](auto change) { return with_step_header(piece, change); };
  return {
      {"journal", sample_journal()},
      {"piece", sample_piece()},
      {"piece_empty", piece},
      {"piece_clock", piece_of_two(raw_step(1, {5}), raw_step(33, {2, 0, 0}))},
      {"piece_new", with_piece([](Header& h) { h.first_step = 0; })},
      {"full", full},
      {"rule_1_empty", {}},
      {"rule_1_length", Bytes(journal.begin(), journal.end() - 1)},
      {"rule_1_magic", with_journal([](Header& h) { ++h.magic; })},
      {"rule_1_reserved", with_journal([](Header& h) { h.reserved = 1; })},
      {"rule_1_flag", with_piece([](Header& h) { h.flags = 3; })},
      {"rule_2_none", with_journal([](Header& h) { h.step_count = 0; })},
      {"rule_2_many", with_journal([](Header& h) { h.step_count = 5; })},
      {"rule_2_more", with_step_header(full, [](Header& h) { h.step_count = 2; })},
      {"rule_3_first", with_journal([](Header& h) { h.first_step = 0; })},
      {"rule_3_last", with_piece([](Header& h) { h.first_step = 1ULL << 63U; })},
      {"rule_3_group", with_journal([](Header& h) { h.first_group = 1; })},
      {"rule_3_end", with_journal([](Header& h) { h.end_group = 1; })},
      {"rule_3_no_groups", with_piece([](Header& h) { h.end_group = 2; })},
      {"rule_4_padding", with(journal, 47, std::uint8_t{1})},
      {"rule_4_long", raw_step_run(kSampleJournal, 1, long_records)},
  };
}

/// The lowest numbers out of range.
inline constexpr std::uint64_t kTooLate = 1ULL << 48U;
inline constexpr std::uint64_t kNoGroup = 0xFFFF'FFFF;
inline constexpr std::uint64_t kNoId = 1ULL << 63U;

/// Single records, named as those of sample_step_runs().
inline StepPayloads sample_step_forms() {
  constexpr std::uint64_t kNan = 0xF87F;  // the bytes of a NaN in reverse order
  const auto& in = kSampleJournal;
  const auto& of = kSamplePiece;
  StepPayloads payloads{
      {"rule_5_zero", one_record({0, 1, 5})},
      {"rule_5_unknown", one_record({15, 1, 5})},
      {"rule_5_high", one_record({38, 1, 5})},
      {"rule_6_cut", one_record({1, 9, 5})},
      {"rule_6_length", one_record({1, 0x81, 0, 5})},
      {"rule_6_length_cut", one_record({1, 5, 0, 0, 0, 0, 0x80, 0x80})},
      {"rule_6_number", one_record({1, 2, 0x85, 0})},
      {"rule_6_number_cut", one_record({1, 1, 0x85})},
      {"rule_6_none", one_record({1, 0})},
      {"rule_6_left_over", one_step(in, 1, {5, 0})},
      {"rule_6_no_body", one_step(in, 10, {1, 2, 0, 0, 0}, 1)},
      {"rule_7_clock", one_step(in, 1, {kTooLate})},
      {"rule_7_key", one_step(in, 2, {}, 65'536)},
      {"rule_7_group", one_step(in, 3, {kNoGroup, 0, 0, 0})},
      {"rule_7_id", one_step(in, 3, {0, 1, 0, 0})},
      {"rule_7_id_high", one_step(in, 6, {2 * (kNoId - 1), 2})},
      {"rule_7_nan", one_step(in, 3, {0, 0, kNan, 0})},
      {"rule_7_minus_zero", one_step(in, 3, {0, 0, 0x80, 0})},
      {"rule_7_time", one_step(in, 3, {0, 0, 0, kTooLate})},
      {"rule_7_body", one_step(in, 3, {0, 0, 0, 0}, 65'537)},
      {"rule_7_update_body", one_step(in, 10, {0, 0, 0, 0, 1}, 65'537)},
      {"rule_7_until", one_step(in, 4, {kTooLate})},
      {"rule_7_check", one_step(in, 5, {0, 1, 65'536})},
      {"rule_7_failure", one_step(in, 7, {0, 0, 2})},
      {"rule_7_extend", one_step(in, 8, {0, kTooLate})},
      {"rule_7_has_body", one_step(in, 10, {0, 0, 0, 0, 2})},
      {"rule_7_stored", one_step(in, 13, {0})},
      {"rule_7_joined", one_step(in, 14, {0, 1})},
      {"rule_7_joined_other", one_step(in, 14, {1, 0})},
      {"rule_7_soft_time", one_step(of, 32, {2, kTooLate, 0, 0})},
      {"rule_7_hard_time", one_step(of, 32, {2, 0, kTooLate, 0})},
      {"rule_7_left_run", one_step(of, 34, {2, 0, 1})},
      {"rule_7_leased_body", one_step(of, 35, {2, 0, 0, 0, 1}, 65'537)},
      {"rule_7_gone_run", one_step(of, 37, {2, 0, 1})},
  };
  for (const int kind : {2, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14}) {
    payloads["rule_5_piece_" + std::to_string(kind)] = one_step(of, kind, {3, 2, 1});
  }
  for (const int kind : {32, 33, 34, 35, 36}) {
    payloads["rule_5_journal_" + std::to_string(kind)] = one_step(in, kind, {3, 2, 1});
  }
  return payloads;
}

/// Single records with counts, lists, groups and values of rules, named likewise.
inline StepPayloads sample_step_values() {
  const auto& in = kSampleJournal;
  const auto& of = kSamplePiece;
  return {
      {"rule_8_visit", one_step(in, 5, {0, 0, 0})},
      {"rule_8_visit_many", one_step(in, 5, {0, kNoGroup + 1, 0})},
      {"rule_8_failures", one_step(of, 32, {2, 0, 0, kNoGroup + 1})},
      {"rule_8_put", one_step(of, 33, {2, kNoId, 0})},
      {"rule_8_finished", one_step(of, 33, {2, 0, kNoId})},
      {"rule_8_left", one_step(of, 34, {2, 1, 0})},
      {"rule_8_left_many", one_step(of, 34, {2, 1, kNoId})},
      {"rule_8_leased", one_step(of, 35, {2, 0, 0, 0, 0})},
      {"rule_8_again", one_step(of, 36, {2, 0, 0, 0, kNoGroup + 1})},
      {"rule_8_gone", one_step(of, 37, {2, 1, kNoId})},
      {"rule_9_finish", one_step(in, 6, {})},
      {"rule_9_finish_many", one_step(in, 6, std::vector<std::uint64_t>(65'537))},
      {"rule_9_joined", one_step(in, 14, {3})},
      {"rule_9_joined_order", one_step(in, 14, {9, 4, 4})},
      {"rule_9_joined_itself", one_step(in, 14, {4, 3, 4})},
      {"rule_9_left", one_step(of, 34, {2})},
      {"rule_9_left_order", one_step(of, 34, {2, 5, 1, 4, 1})},
      {"rule_10_below", one_step(of, 33, {1, 0, 0})},
      {"rule_10_end", one_step(of, 36, {6, 0, 0, 0, 1})},
      {"rule_10_clock", piece_of_two(raw_step(33, {2, 0, 0}), raw_step(1, {5}))},
      {"rule_10_clock_twice", piece_of_two(raw_step(1, {5}), raw_step(1, {5}))},
      {"rule_10_descend", piece_of_two(raw_step(33, {3, 0, 0}), raw_step(33, {2, 0, 0}))},
      {"rule_11_mask", one_step(in, 11, {0, 0})},
      {"rule_11_bit", one_step(in, 11, {0, 512})},
      {"rule_11_soft", one_step(in, 11, {0, 1, kTooLate + 1})},
      {"rule_11_hard", one_step(in, 11, {0, 2, kTooLate + 1})},
      {"rule_11_burst", one_step(in, 11, {0, 4, 0})},
      {"rule_11_burst_high", one_step(in, 11, {0, 4, kNoGroup + 1})},
      {"rule_11_in_flight", one_step(in, 11, {0, 8, 0})},
      {"rule_11_put", one_step(in, 11, {0, 16, kNoId + 1})},
      {"rule_11_finished", one_step(in, 11, {0, 32, kNoId + 1})},
      {"rule_11_blocked", one_step(in, 11, {0, 64, kTooLate})},
      {"rule_11_active", one_step(in, 11, {0, 128, 2})},
      {"rule_11_parent", one_step(in, 11, {0, 256, kNoGroup + 1})},
      {"rule_11_both", one_step(in, 11, {0, 257, 1, kNoGroup + 1})},
  };
}

/// All of them.
inline StepPayloads sample_step_payloads() {
  StepPayloads payloads = sample_step_runs();
  payloads.merge(sample_step_forms());
  payloads.merge(sample_step_values());
  return payloads;
}

/// Reads a run to its end: its steps written again, or what is wrong with it.
inline Result<Bytes> step_run_again(std::span<const std::byte> payload) {
  CRAWLSTORE_TRY(auto reader, format::StepReader::open(payload));
  format::StepWriter writer(reader.run());
  format::Step step;
  for (;;) {
    CRAWLSTORE_TRY(const bool is_there, reader.next(step));
    if (!is_there) return writer.finish();
    writer.append(step);
  }
}

}  // namespace crawlstore::testing
