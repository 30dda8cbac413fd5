// SPDX-License-Identifier: Apache-2.0
#include "model/queue_view.h"

#include <map>

#include "model/page_rows.h"

namespace crawlstore::model {

Table queues_table(std::span<const QueueInfo> queues) {
  Table table{"queues",
              {{"name", Unit::kText},
               {"id", Unit::kId},
               {"page_count", Unit::kCount},
               {"stale_count", Unit::kCount},
               {"run_count", Unit::kCount},
               {"allocated_bytes", Unit::kBytes},
               {"bytes_per_page", Unit::kRatio}},
              {}};
  for (const QueueInfo& info : queues) {
    Cell bytes_per_page;
    if (info.page_count != 0) {
      bytes_per_page =
          static_cast<double>(info.allocated_bytes) / static_cast<double>(info.page_count);
    }
    table.rows.push_back({info.name, info.id.value, info.page_count, info.stale_count,
                          std::uint64_t{info.run_count}, info.allocated_bytes, bytes_per_page});
  }
  return table;
}

Result<bool> add_queues_diff(const Snapshot& older, const Snapshot& newer, Document& document) {
  CRAWLSTORE_TRY(const auto before, QueueView::list(older));
  CRAWLSTORE_TRY(const auto after, QueueView::list(newer));
  struct Both {
    const QueueInfo* older = nullptr;
    const QueueInfo* newer = nullptr;
  };
  std::map<std::string, Both> queues;
  for (const QueueInfo& info : before) queues[info.name].older = &info;
  for (const QueueInfo& info : after) queues[info.name].newer = &info;
  Table table{"queues",
              {{"name", Unit::kText},
               {"old_page_count", Unit::kCount},
               {"new_page_count", Unit::kCount},
               {"old_run_count", Unit::kCount},
               {"new_run_count", Unit::kCount}},
              {}};
  const auto cell = [](const QueueInfo* info, auto field) {
    return info == nullptr ? Cell{} : Cell{std::uint64_t{info->*field}};
  };
  bool differs = false;
  for (const auto& [name, both] : queues) {
    const Cell old_count = cell(both.older, &QueueInfo::page_count);
    const Cell new_count = cell(both.newer, &QueueInfo::page_count);
    differs = differs || old_count != new_count;
    table.rows.push_back({name, old_count, new_count, cell(both.older, &QueueInfo::run_count),
                          cell(both.newer, &QueueInfo::run_count)});
  }
  document.tables.push_back(std::move(table));
  if (differs) document.fields.front().value = true;
  return differs;
}

Table waiting_table(std::span<const WaitingPage> pages, bool for_people) {
  Table table{
      "pages", {{"priority", Unit::kScore}, {"index", Unit::kId}, {"url", Unit::kText}}, {}};
  for (const WaitingPage& page : pages) {
    Cell url;
    if (!page.url.empty()) url = for_people ? shown_url(page.url) : page.url;
    table.rows.push_back({page.queued.priority, page.queued.page, std::move(url)});
  }
  return table;
}

}  // namespace crawlstore::model
