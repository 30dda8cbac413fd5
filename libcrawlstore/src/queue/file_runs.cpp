// SPDX-License-Identifier: Apache-2.0
#include "queue/file_runs.h"

#include <algorithm>

#include "container/blocked_run.h"

namespace crawlstore::queue {

std::vector<QueuedPage> pages_of(std::span<const Entry> entries) {
  std::vector<QueuedPage> pages;
  pages.reserve(entries.size());
  for (const Entry& entry : entries) {
    pages.push_back({entry.page, format::queue_priority(entry.order)});
  }
  return pages;
}

const format::RunRef& ref_of(const StoredRun& run) {
  return static_cast<const FileRun&>(*run.bytes).ref();
}

Result<QueueSegments> read_segments(const container::Directory& directory,
                                    const format::SegmentEntry& queue,
                                    std::span<const std::byte> table) {
  const auto broken = [&queue](const char* text) {
    return fail(Errc::kSegmentInvalid, text, queue.runs.front().offset_bytes, queue.id);
  };
  QueueSegments found{&queue, nullptr, {}};
  auto parsed = format::parse_queue_table(table);
  if (!parsed) return broken(parsed.error().text);
  found.table = std::move(*parsed);
  if (!found.table.entries) return found;
  found.entries = directory.find(found.table.entries);
  if (found.entries == nullptr || found.entries->kind != SegmentKind::kQueueEntries ||
      found.entries->owner != queue.id) {
    return broken("a queue names a log that is not its own");
  }
  std::vector<RunId> runs = found.table.changes;
  for (const format::QueueRunState& run : found.table.runs) runs.push_back(run.run);
  std::ranges::sort(runs);
  if (!std::ranges::equal(runs, found.entries->runs, {}, {}, &format::RunRef::run_id)) {
    return broken("a queue does not name the runs of its log");
  }
  return found;
}

Result<StoredRunPtr> open_run(container::RunPtr run) {
  const auto reader = run->reader();
  const std::uint64_t payload_bytes = run->ref().payload_bytes;
  CRAWLSTORE_TRY(const auto footer, container::read_footer(*reader, format::parse_queue_footer));
  const std::uint64_t index_bytes = footer.fragment_count * sizeof(format::QueueFragment);
  CRAWLSTORE_TRY(const auto index_view,
                 reader->bytes(payload_bytes - sizeof footer - index_bytes, index_bytes));
  CRAWLSTORE_TRY(
      auto index,
      container::in_file(format::parse_queue_index(index_view, footer, payload_bytes), *reader));
  auto stored = std::make_shared<StoredRun>();
  stored->index = std::move(index);
  stored->bytes = std::make_unique<FileRun>(std::move(run));
  return stored;
}

}  // namespace crawlstore::queue
