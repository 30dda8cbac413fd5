// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked:
//   - no payload crashes the parser or makes it read outside it;
//   - an accepted table follows every rule that one payload can show;
//   - it is the same after it was encoded and parsed again.
//
// Input: the payload of a frontier segment.

#include <cstdint>
#include <span>

#include "format/frontier_table.h"
#include "require.h"

namespace {

using namespace crawlstore;
using namespace crawlstore::format;
using crawlstore::fuzz::require;

void check_runs(const FrontierTable& table) {
  require(table.runs.size() <= kRunsPerLogMax && table.pieces.size() <= kRunsPerLogMax);
  RunId before;
  for (const ItemRunSpan& span : table.runs) {
    require(before < span.run && span.first_step >= 1 && span.first_step <= table.step_count);
    require(span.last_step == 0 ||
            (span.first_step < span.last_step && span.last_step <= table.step_count));
    before = span.run;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto table = parse_frontier_table(std::as_bytes(std::span(data, size)));
  if (!table) return 0;
  check_runs(*table);
  require(static_cast<bool>(table->steps) == (table->step_count != 0));
  require(table->default_rule.hard_ms <= table->default_rule.soft_ms);
  require(table->clock_ms <= kItemTimeMax && table->next_id <= kItemIdMax + 1);
  require(table->pages.empty() || table->has_own_ids);
  require(parse_frontier_table(encode_frontier_table(*table)) == table);
  return 0;
}
