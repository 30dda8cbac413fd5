// SPDX-License-Identifier: Apache-2.0
#include "model/queue_view.h"

#include "model/page_rows.h"

namespace crawlstore::model {

Table queues_table(std::span<const QueueInfo> queues) {
  Table table{"queues",
              {{"name", Unit::kText},
               {"id", Unit::kId},
               {"page_count", Unit::kCount},
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
    table.rows.push_back({info.name, info.id.value, info.page_count, std::uint64_t{info.run_count},
                          info.allocated_bytes, bytes_per_page});
  }
  return table;
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
