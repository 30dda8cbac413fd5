// SPDX-License-Identifier: Apache-2.0
#include "model/queue_view.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include <crawlstore/page_key.h>

#include "model/page_fields.h"
#include "model/page_source.h"

namespace crawlstore::model {
namespace {

/// nullptr: no segment that belongs to the queue has it.
const RunInfo* find_run(const QueueInfo& queue, RunId id, std::span<const SegmentInfo> segments) {
  for (const SegmentInfo& segment : segments) {
    if (segment.owner != queue.id) continue;
    const auto run = std::ranges::find(segment.runs, id, &RunInfo::run_id);
    if (run != segment.runs.end()) return &*run;
  }
  return nullptr;
}

Result<Cell> place_in(const Snapshot& snapshot, const std::string& name, std::uint64_t index) {
  CRAWLSTORE_TRY(const auto queue, QueueView::open(snapshot, name));
  CRAWLSTORE_TRY(const auto first, queue.peek(kPlacesMax));
  const auto found = std::ranges::find(first, index, &QueuedPage::page);
  if (found == first.end()) return Cell();
  return Cell(static_cast<std::uint64_t>(found - first.begin()) + 1);
}

}  // namespace

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

Table waiting_table(std::span<const WaitingPage> pages) {
  Table table{
      "pages", {{"priority", Unit::kScore}, {"index", Unit::kId}, {"url", Unit::kText}}, {}};
  for (const WaitingPage& page : pages) {
    Cell url;
    if (!page.url.empty()) url = page.url;
    table.rows.push_back({page.queued.priority, page.queued.page, std::move(url)});
  }
  return table;
}

Result<std::vector<WaitingPage>> waiting_pages(const QueueView& queue, const PageView* pages,
                                               std::size_t count) {
  CRAWLSTORE_TRY(const auto first, queue.peek(count));
  std::vector<WaitingPage> waiting;
  waiting.reserve(first.size());
  for (const QueuedPage& page : first) {
    WaitingPage& added = waiting.emplace_back(WaitingPage{page, {}});
    if (pages == nullptr || page.page >= pages->info().page_count) continue;
    CRAWLSTORE_TRY(added.url, pages->url(page.page));
  }
  return waiting;
}

Table first_table(std::span<const WaitingPage> pages, std::uint64_t before_count) {
  Table table{"first",
              {{"index", Unit::kId},
               {"place", Unit::kCount},
               {"priority", Unit::kScore},
               {"host", Unit::kText},
               {"url", Unit::kText}},
              {}};
  for (const WaitingPage& page : pages) {
    Cell host;
    Cell url;
    if (!page.url.empty()) {
      host = url_host(page.url);
      url = row_url(page.url);
    }
    table.rows.push_back({page.queued.page, before_count + table.rows.size() + 1,
                          page.queued.priority, std::move(host), std::move(url)});
  }
  return table;
}

Table queue_runs_table(const QueueInfo& queue, std::span<const QueueRunInfo> runs,
                       std::span<const SegmentInfo> segments) {
  Table table{"runs",
              {{"run", Unit::kId},
               {"born", Unit::kId},
               {"has_changes", Unit::kFlag},
               {"entry_count", Unit::kCount},
               {"remaining_count", Unit::kCount},
               {"fragment_count", Unit::kCount},
               {"allocated_bytes", Unit::kBytes},
               {"offset_bytes", Unit::kOffset},
               {"first_priority", Unit::kScore},
               {"last_priority", Unit::kScore},
               {"cut_priority", Unit::kScore}},
              {}};
  for (const QueueRunInfo& run : runs) {
    const RunInfo* const place = find_run(queue, run.run, segments);
    table.rows.push_back(
        {run.run.value, place == nullptr ? Cell() : Cell(place->born.value), run.has_changes,
         run.entry_count, run.remaining_count, std::uint64_t{run.fragment_count},
         run.allocated_bytes, place == nullptr ? Cell() : Cell(place->extent.offset_bytes),
         run.first_priority, run.last_priority, run.cut ? Cell(run.cut->priority) : Cell()});
  }
  return table;
}

ReadableQueues readable_queues(const Snapshot& snapshot) {
  if (auto queues = QueueView::list(snapshot)) return {std::move(*queues), std::nullopt};
  ReadableQueues found;
  for (const SegmentInfo& segment : snapshot.segments()) {
    if (segment.kind != SegmentKind::kQueue) continue;
    const auto queue = QueueView::open(snapshot, segment.name);
    if (queue) {
      found.queues.push_back(queue->info());
    } else {
      found.problem = queue.error();
    }
  }
  std::ranges::sort(found.queues, {}, &QueueInfo::name);
  return found;
}

double place_among(std::span<const QueueBin> bins, double priority) {
  const auto bin = std::ranges::find_if(
      bins, [priority](const QueueBin& other) { return priority > other.last_priority; });
  if (bin == bins.end()) return 1;
  const double width = bin->first_priority - bin->last_priority;
  const double share = std::isfinite(width) ? (bin->first_priority - priority) / width : 0;
  return (static_cast<double>(bin - bins.begin()) + std::clamp(share, 0.0, 1.0)) /
         static_cast<double>(bins.size());
}

double priority_among(std::span<const QueueBin> bins, double place) {
  const double in_bins = std::clamp(place, 0.0, 1.0) * static_cast<double>(bins.size());
  const auto bin = std::min(static_cast<std::size_t>(in_bins), bins.size() - 1);
  const double width = bins[bin].first_priority - bins[bin].last_priority;
  const double share = in_bins - static_cast<double>(bin);
  if (!std::isfinite(width)) {
    return share < 1 ? bins[bin].first_priority : bins[bin].last_priority;
  }
  return bins[bin].first_priority - share * width;
}

std::uint64_t remaining_before(std::span<const QueueBin> bins, std::size_t bin) {
  std::uint64_t count = 0;
  for (const QueueBin& before : bins.first(bin)) count += before.remaining_count;
  return count;
}

std::vector<Field> queue_fields(const Snapshot& snapshot, std::uint64_t index) {
  const auto [queues, problem] = readable_queues(snapshot);
  std::vector<Field> fields;
  if (problem) fields.push_back({"queues", Unit::kText, describe(*problem)});
  for (const QueueInfo& queue : queues) {
    const std::string name = "place:" + queue.name;
    auto place = place_in(snapshot, queue.name, index);
    if (!place) {
      fields.push_back({name, Unit::kText, describe(place.error())});
    } else if (!std::holds_alternative<std::monostate>(*place)) {
      fields.push_back({name, Unit::kCount, std::move(*place)});
    }
  }
  return fields;
}

}  // namespace crawlstore::model
