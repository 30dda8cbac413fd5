// SPDX-License-Identifier: Apache-2.0
#include "model/page_visit.h"

#include "model/format_text.h"
#include "model/frontier_due.h"

namespace crawlstore::model {

Result<std::optional<PageVisit>> page_visit(const FrontierView& frontier, std::string_view group,
                                            std::uint64_t page) {
  std::optional<PageVisit> found;
  std::uint64_t ahead_count = 0;
  const auto visit = [&](const FrontierEntry& entry) {
    if (entry.id == page && entry.group == group) {
      found = PageVisit{entry.priority, entry.attempt, ahead_count, entry.not_before_ms,
                        entry.until_ms};
    }
    ++ahead_count;
    return !found;
  };
  CRAWLSTORE_TRY(frontier.for_each_lease(visit));
  ahead_count = 0;
  if (!found) CRAWLSTORE_TRY(frontier.for_each_waiting(group, visit));
  return found;
}

std::string describe_visit(const PageVisit& visit, std::uint64_t now_ms) {
  const auto from_now = [now_ms](std::uint64_t time_ms) {
    return format_cell(Cell{seconds_from(now_ms, time_ms)}, Unit::kFromNow);
  };
  std::string text;
  if (visit.until_ms) {
    text = *visit.until_ms == 0
               ? "taken, until it is done"
               : "taken, comes back " + from_now(*visit.until_ms) + " unless it is done before";
  } else if (visit.not_before_ms > now_ms) {
    text = "comes due " + from_now(visit.not_before_ms);
  } else if (visit.ahead_count == 0) {
    text = "the next of its group";
  } else {
    text = "behind " + format_count(visit.ahead_count) + " of its group";
  }
  if (visit.attempt > 0) text += ", taken " + format_counted(visit.attempt, "time");
  return text;
}

}  // namespace crawlstore::model
