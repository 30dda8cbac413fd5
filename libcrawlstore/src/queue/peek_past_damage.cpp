// SPDX-License-Identifier: Apache-2.0
//
// Invariants: an entry is shown when all entries below it that can be read were looked at; pages
// without a change have one entry, and of a page with a change the entry of its order is true,
// once.
#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>

#include <crawlstore/tools/queue_gaps.h>

#include "base/inside.h"
#include "container/reader.h"
#include "queue/file_runs.h"

namespace crawlstore {
namespace {

using queue::Entry;

bool is_queue_damage(const Error& error) {
  return category(error.code) == ErrorCategory::kDamage || error.code == Errc::kIo;
}

/// A fragment that was not read yet.
struct Fragment {
  Entry lowest;
  const queue::LiveRun* run;
  std::size_t number;
};

class Peek {
 public:
  Peek(container::Reader& reader, std::size_t count) : reader_(reader), count_(count) {}

  Result<void> run(const format::SegmentEntry& queue) {
    CRAWLSTORE_TRY(const auto segments, segments_of(queue));
    if (!segments) return {};
    CRAWLSTORE_TRY(const auto knows_changes, read_changes(*segments));
    if (!knows_changes) return {};
    CRAWLSTORE_TRY(open_runs(*segments));
    return show();
  }

  QueuePeek found;

 private:
  /// Notes a run, or the table, that cannot be read.
  Result<void> note(const format::RunRef& run, const Error& error, bool hides_all) {
    if (!is_queue_damage(error)) return tl::unexpected<Error>(error);
    QueueGap gap;
    gap.offset_bytes = run.offset_bytes;
    gap.length_bytes = run.payload_bytes;
    gap.hides_all = hides_all;
    gap.error = error;
    found.gaps.push_back(gap);
    return {};
  }

  /// Notes a fragment that cannot be read, as one gap with a neighbour.
  Result<void> note(const queue::StoredRun& run, std::size_t number, const Error& error) {
    if (!is_queue_damage(error)) return tl::unexpected<Error>(error);
    const auto& fragment = run.index.fragments[number];
    QueueGap gap;
    gap.offset_bytes = queue::ref_of(run).offset_bytes + run.index.offsets[number];
    gap.length_bytes = run.index.offsets[number + 1] - run.index.offsets[number];
    gap.entry_count = fragment.entry_count;
    gap.first_priority = format::queue_priority(fragment.lowest_order);
    gap.last_priority = format::queue_priority(run.bound_above(number).order);
    gap.error = error;
    const auto before = std::ranges::find_if(found.gaps, [&gap](const QueueGap& it) {
      return it.entry_count && it.offset_bytes + it.length_bytes == gap.offset_bytes;
    });
    if (before == found.gaps.end()) {
      found.gaps.push_back(gap);
      return {};
    }
    before->length_bytes += gap.length_bytes;
    *before->entry_count += *gap.entry_count;
    before->last_priority = gap.last_priority;
    return {};
  }

  Result<std::optional<queue::QueueSegments>> segments_of(const format::SegmentEntry& queue) {
    using Found = std::optional<queue::QueueSegments>;
    const format::RunRef& table = queue.runs.front();
    std::vector<std::byte> payload;
    const auto name = container::run_name(reader_.identity(), queue.id, table.run_id);
    const auto read = container::read_run(*reader_.storage(), name, table, payload);
    auto parsed = read ? queue::read_segments(reader_.directory(), queue, payload)
                       : Result<queue::QueueSegments>(tl::unexpected<Error>(read.error()));
    if (parsed) return Found(std::move(*parsed));
    CRAWLSTORE_TRY(note(table, parsed.error(), true));
    return Found{};
  }

  [[nodiscard]] Result<queue::StoredRunPtr> open(const format::SegmentEntry& log,
                                                 const format::RunRef& run) const {
    return queue::open_run(std::make_shared<const container::Run>(reader_.run_reader(log.id, run)));
  }

  /// Returns false if what a run says cannot be read whole: any page may have changed.
  Result<bool> read_changes(const queue::QueueSegments& segments) {
    for (const RunId id : segments.table.changes) {
      const format::RunRef& ref = *segments.entries->find_run(id);
      const auto read = [&]() -> Result<void> {
        CRAWLSTORE_TRY(const auto run, open(*segments.entries, ref));
        std::vector<Entry> entries;
        for (std::size_t i = 0; i < run->fragment_count(); ++i) {
          CRAWLSTORE_TRY(run->read(i, queue::kBeforeAll, queue::kBeforeAll, entries));
        }
        for (const Entry& entry : entries) changes_[entry.page] = entry.order;
        return {};
      }();
      if (read) continue;
      CRAWLSTORE_TRY(note(ref, read.error(), true));
      return false;
    }
    return true;
  }

  Result<void> open_runs(const queue::QueueSegments& segments) {
    for (const format::QueueRunState& run : segments.table.runs) {
      const format::RunRef& ref = *segments.entries->find_run(run.run);
      auto stored = open(*segments.entries, ref);
      if (stored) {
        runs_.push_back({std::move(*stored), run.cut});
      } else {
        CRAWLSTORE_TRY(note(ref, stored.error(), false));
      }
    }
    for (const queue::LiveRun& run : runs_) {
      for (std::size_t i = 0; i < run.stored->fragment_count(); ++i) {
        if (run.stored->bound_above(i) <= run.cut) continue;  // all have left
        fragments_.push_back({format::lowest_of(run.stored->index.fragments[i]), &run, i});
      }
    }
    std::ranges::stable_sort(fragments_, {}, &Fragment::lowest);
    return {};
  }

  Result<void> show() {
    std::vector<Entry> entries;
    for (const Fragment& next : fragments_) {
      if (show_below(next.lowest)) return {};
      entries.clear();
      const auto read =
          next.run->stored->read(next.number, next.run->cut, queue::kBeforeAll, entries);
      if (!read) {
        CRAWLSTORE_TRY(note(*next.run->stored, next.number, read.error()));
        continue;
      }
      for (const Entry& entry : entries) near_.push(entry);
    }
    show_below(queue::kBehindAll);
    return {};
  }

  /// Returns whether as many pages are shown as are wanted.
  bool show_below(const Entry& bound) {
    for (; found.pages.size() < count_ && !near_.empty() && near_.top() < bound; near_.pop()) {
      const Entry entry = near_.top();
      const auto change = changes_.find(entry.page);
      if (change != changes_.end()) {
        if (change->second != entry.order) continue;  // stale
        change->second = format::kQueueGone;
      }
      found.pages.push_back({entry.page, format::queue_priority(entry.order)});
    }
    return found.pages.size() >= count_;
  }

  container::Reader& reader_;
  const std::size_t count_;
  std::unordered_map<std::uint64_t, std::uint64_t> changes_;  // orders, by page
  std::vector<queue::LiveRun> runs_;
  std::vector<Fragment> fragments_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> near_;
};

}  // namespace

Result<QueuePeek> peek_past_damage(const Snapshot& snapshot, std::string_view name,
                                   std::size_t count) {
  container::Reader& reader = Inside::of(snapshot);
  const auto* const queue = reader.directory().find_named(SegmentKind::kQueue, name);
  if (queue == nullptr) {
    return fail(Errc::kUnknownName, "the generation has no queue of this name");
  }
  Peek peek(reader, count);
  CRAWLSTORE_TRY(peek.run(*queue));
  return std::move(peek.found);
}

}  // namespace crawlstore
