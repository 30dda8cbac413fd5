// SPDX-License-Identifier: Apache-2.0
#include "frontier_table.h"

#include <algorithm>

#include "flatbuffer_input.h"
#include "frontier_generated.h"
#include "name.h"
#include "superblock.h"

namespace crawlstore::format {
namespace {

/// nullptr, or the text that names the broken rule.
using Broken = const char*;

Broken check_segments(const FrontierTable& table) {
  if (static_cast<bool>(table.steps) != (table.step_count != 0)) {
    return "a frontier has steps without a log, or the other way round";
  }
  if (static_cast<bool>(table.items) != !table.runs.empty()) {
    return "a frontier has item runs without a log, or the other way round";
  }
  if (!table.steps && (table.groups || table.items || !table.pieces.empty())) {
    return "a frontier without steps has groups, items or pieces";
  }
  const bool is_twice = (table.groups && table.groups == table.items) ||
                        (table.groups && table.groups == table.steps) ||
                        (table.items && table.items == table.steps);
  return is_twice ? "a frontier names a segment twice" : nullptr;
}

Broken check_numbers(const FrontierTable& table) {
  if (table.waiting_count > kItemIdMax || table.leased_count > kItemIdMax) {
    return "a frontier has too many items";
  }
  if (table.waiting_count + table.leased_count != 0 && table.group_count == 0) {
    return "a frontier has items without groups";
  }
  if (table.next_id > kItemIdMax + 1) return "the next id of a frontier is out of range";
  if (table.clock_ms > kItemTimeMax) return "the clock of a frontier is out of range";
  return nullptr;
}

Broken check_rule(const GroupRule& rule) {
  if (rule.soft_ms > kItemTimeMax || rule.hard_ms > rule.soft_ms) {
    return "an interval of a frontier is out of range";
  }
  if (rule.burst == 0 || rule.in_flight_max == 0) {
    return "a rule of a frontier lets nothing be taken";
  }
  return nullptr;
}

Broken check_runs(const FrontierTable& table) {
  RunId before;
  for (const ItemRunSpan& span : table.runs) {
    if (span.run <= before) return "the item runs of a frontier do not ascend";
    before = span.run;
    if (span.first_step == 0 || span.first_step > table.step_count) {
      return "an item run of a frontier begins with a step that is none";
    }
    if (span.last_step != 0 &&
        (span.last_step <= span.first_step || span.last_step > table.step_count)) {
      return "an item run of a frontier ends with a step that is none";
    }
  }
  auto pieces = table.pieces;
  std::sort(pieces.begin(), pieces.end());
  const bool is_odd = std::adjacent_find(pieces.begin(), pieces.end()) != pieces.end() ||
                      (!pieces.empty() && pieces.front() == RunId{});
  return is_odd ? "a piece of a frontier is none, or named twice" : nullptr;
}

Broken check_pages(const FrontierTable& table) {
  if (!is_valid_name(table.pages)) return "a frontier has the name of no page database";
  return table.pages.empty() || table.has_own_ids ? nullptr
                                                  : "a frontier of pages gives ids itself";
}

}  // namespace

std::vector<std::byte> encode_frontier_table(const FrontierTable& table) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<fb::ItemRunSpan> runs;
  runs.reserve(table.runs.size());
  for (const ItemRunSpan& span : table.runs) {
    runs.emplace_back(span.run.value, span.first_step, span.last_step);
  }
  std::vector<std::uint64_t> pieces;
  pieces.reserve(table.pieces.size());
  for (const RunId piece : table.pieces) pieces.push_back(piece.value);
  const GroupRule& rule = table.default_rule;
  builder.Finish(fb::CreateFrontierDirect(
      builder, table.has_own_ids ? kFrontierOwnIds : 0, table.groups.value, table.items.value,
      table.steps.value, table.group_count, table.waiting_count, table.leased_count, table.next_id,
      table.step_count, table.clock_ms, rule.soft_ms, rule.hard_ms, rule.burst, rule.in_flight_max,
      rule.put_max, rule.finished_max, runs.empty() ? nullptr : &runs,
      pieces.empty() ? nullptr : &pieces, table.pages.empty() ? nullptr : table.pages.c_str()));
  return padded_bytes(builder);
}

Result<FrontierTable> parse_frontier_table(std::span<const std::byte> payload) {
  const auto refuse = [](Broken broken) { return fail(Errc::kSegmentInvalid, broken, 0); };
  if (payload.size() > kFrontierTableBytesMax) return refuse("a frontier table is too long");
  const FlatbufferInput<fb::Frontier> input(payload);
  if (input.root() == nullptr || !is_aligned(input.root()->runs()) ||
      !is_aligned(input.root()->pieces())) {
    return refuse("a frontier is not a FlatBuffer of its schema");
  }
  const fb::Frontier& from = *input.root();
  if ((from.flags() & ~kFrontierOwnIds) != 0) return refuse("a flag of a frontier is unknown");
  if (size_of(from.runs()) > kRunsPerLogMax || size_of(from.pieces()) > kRunsPerLogMax) {
    return refuse("a frontier has too many runs");
  }
  FrontierTable table;
  table.has_own_ids = from.flags() == kFrontierOwnIds;
  table.groups = {from.groups()};
  table.items = {from.items()};
  table.steps = {from.steps()};
  table.group_count = from.group_count();
  table.waiting_count = from.waiting_count();
  table.leased_count = from.leased_count();
  table.next_id = from.next_id();
  table.step_count = from.step_count();
  table.clock_ms = from.clock_ms();
  table.default_rule = {from.soft_ms(),       from.hard_ms(), from.burst(),
                        from.in_flight_max(), from.put_max(), from.finished_max()};
  for (std::size_t i = 0; i < size_of(from.runs()); ++i) {
    const auto& span = *from.runs()->Get(static_cast<flatbuffers::uoffset_t>(i));
    table.runs.push_back({{span.run_id()}, span.first_step(), span.last_step()});
  }
  for (std::size_t i = 0; i < size_of(from.pieces()); ++i) {
    table.pieces.push_back({from.pieces()->Get(static_cast<flatbuffers::uoffset_t>(i))});
  }
  table.pages = view_of(from.pages());
  Broken broken = check_segments(table);
  if (broken == nullptr) broken = check_numbers(table);
  if (broken == nullptr) broken = check_rule(table.default_rule);
  if (broken == nullptr) broken = check_runs(table);
  if (broken == nullptr) broken = check_pages(table);
  if (broken != nullptr) return refuse(broken);
  return table;
}

}  // namespace crawlstore::format
