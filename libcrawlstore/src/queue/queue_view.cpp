// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <crawlstore/queue.h>

#include "base/inside.h"
#include "container/reader.h"
#include "queue/distribution.h"
#include "queue/file_runs.h"

namespace crawlstore {
namespace {

/// Pages that for_each_page() takes at once: few at first, since a visitor may stop soon.
constexpr std::size_t kVisitedAtFirst = 1024;
constexpr std::size_t kVisitedAtOnceMax = 65'536;

Result<queue::QueueSegments> segments_of(const Snapshot& snapshot,
                                         const format::SegmentEntry& entry) {
  container::Reader& reader = Inside::of(snapshot);
  const format::RunRef& run = entry.runs.front();
  std::vector<std::byte> payload;
  CRAWLSTORE_TRY(container::read_run(*reader.storage(),
                                     container::run_name(reader.identity(), entry.id, run.run_id),
                                     run, payload));
  return queue::read_segments(reader.directory(), entry, payload);
}

QueueInfo info_of(const queue::QueueSegments& found) {
  QueueInfo info{.id = found.queue->id,
                 .name = found.queue->name,
                 .page_count = found.table.page_count,
                 .stale_count = found.table.entry_count - found.table.page_count,
                 .run_count = found.table.runs.size() + found.table.changes.size(),
                 .allocated_bytes = found.queue->runs.front().extent().length_bytes};
  if (found.entries == nullptr) return info;
  for (const format::RunRef& run : found.entries->runs) {
    info.allocated_bytes += run.extent().length_bytes;
  }
  return info;
}

QueueRunInfo info_of(const queue::LiveRun& run, bool has_changes) {
  const format::QueueIndex& index = run.stored->index;
  const format::RunRef& ref = queue::ref_of(*run.stored);
  QueueRunInfo info{.run = ref.run_id,
                    .has_changes = has_changes,
                    .entry_count = index.entry_count,
                    .remaining_count = queue::remaining_count(run),
                    .fragment_count = index.fragments.size(),
                    .first_priority = format::queue_priority(index.fragments.front().lowest_order),
                    .last_priority = format::queue_priority(index.highest.order),
                    .cut = std::nullopt,
                    .allocated_bytes = ref.extent().length_bytes};
  if (run.cut != queue::kBeforeAll) {
    info.cut = QueuedPage{run.cut.page, format::queue_priority(run.cut.order)};
  }
  return info;
}

}  // namespace

struct QueueView::Impl {
  Snapshot snapshot;
  QueueInfo info;
  queue::PageQueue::State state;
};

QueueView::QueueView(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Result<std::vector<QueueInfo>> QueueView::list(const Snapshot& snapshot) {
  std::vector<const format::SegmentEntry*> entries;
  Inside::of(snapshot).directory().for_each_segment([&](const format::SegmentEntry& entry) {
    if (entry.kind == SegmentKind::kQueue) entries.push_back(&entry);
  });
  std::ranges::sort(entries, {}, &format::SegmentEntry::name);
  std::vector<QueueInfo> queues;
  for (const auto* const entry : entries) {
    CRAWLSTORE_TRY(const auto found, segments_of(snapshot, *entry));
    queues.push_back(info_of(found));
  }
  return queues;
}

Result<QueueView> QueueView::open(const Snapshot& snapshot, std::string_view name) {
  container::Reader& reader = Inside::of(snapshot);
  const auto* const entry = reader.directory().find_named(SegmentKind::kQueue, name);
  if (entry == nullptr) {
    return fail(Errc::kUnknownName, "the generation has no queue of this name");
  }
  CRAWLSTORE_TRY(const auto found, segments_of(snapshot, *entry));
  auto impl = std::make_shared<Impl>(Impl{snapshot, info_of(found), {}});
  CRAWLSTORE_TRY(
      impl->state, queue::open_runs(found, [&](const format::RunRef& run) {
        return std::make_shared<const container::Run>(reader.run_reader(found.entries->id, run));
      }));
  return QueueView(std::move(impl));
}

const QueueInfo& QueueView::info() const {
  return impl_->info;
}

Result<std::vector<QueuedPage>> QueueView::peek(std::size_t count) const {
  queue::RunSink sink;  // it takes no runs
  queue::PageQueue pages(sink, impl_->state);
  std::vector<queue::Entry> taken;
  CRAWLSTORE_TRY(pages.take(count, true, taken));
  return queue::pages_of(taken);
}

Result<void> QueueView::for_each_page(const VisitPage& visit) const {
  queue::RunSink sink;  // it takes no runs
  queue::PageQueue pages(sink, impl_->state);
  std::vector<queue::Entry> taken;
  for (std::size_t count = kVisitedAtFirst; pages.count() > 0;
       count = std::min(2 * count, kVisitedAtOnceMax)) {
    taken.clear();
    CRAWLSTORE_TRY(pages.take(count, true, taken));
    for (const QueuedPage& page : queue::pages_of(taken)) {
      if (!visit(page)) return {};
    }
  }
  return {};
}

std::vector<QueueRunInfo> QueueView::runs() const {
  std::vector<QueueRunInfo> runs;
  for (const queue::LiveRun& run : impl_->state.runs) runs.push_back(info_of(run, false));
  for (const queue::StoredRunPtr& run : impl_->state.changes) {
    runs.push_back(info_of({.stored = run}, true));
  }
  return runs;
}

std::vector<QueueBin> QueueView::distribution(std::size_t bin_count) const {
  return queue::distribution(impl_->state.runs, bin_count);
}

}  // namespace crawlstore
