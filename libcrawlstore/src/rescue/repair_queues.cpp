// SPDX-License-Identifier: Apache-2.0
//
// Invariants: a page keeps the priority that is proved to be its last one. Where a run of changes
// is damaged nobody knows which entries still count, so that the queue is empty afterwards.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include <crawlstore/queue.h>
#include <crawlstore/store.h>

#include "base/inside.h"
#include "queue/file_runs.h"
#include "rescue/borrowed_storage.h"
#include "rescue/patient.h"

namespace crawlstore::rescue {
namespace {

constexpr std::size_t kBatchPages = std::size_t{1} << 20;

/// The entries of a damaged queue that count, read from the copy as it was before it was repaired.
class QueueRescue {
 public:
  QueueRescue(std::shared_ptr<Storage> storage, const container::Reader& reader,
              const format::SegmentEntry& entry)
      : storage_(std::move(storage)), reader_(reader), entry_(entry) {}

  /// Reads the table and all changes. errors  of damage: the queue is lost
  Result<void> open() {
    std::vector<std::byte> payload;
    const auto& run = entry_.runs.front();
    CRAWLSTORE_TRY(container::read_run(
        *storage_, container::run_name(reader_.identity(), entry_.id, run.run_id), run, payload));
    CRAWLSTORE_TRY(found_, queue::read_segments(reader_.directory(), entry_, payload));
    for (const RunId id : found_.table.changes) {
      CRAWLSTORE_TRY(const auto stored, open_run(id));
      std::vector<queue::Entry> entries;
      for (std::size_t i = 0; i < stored->fragment_count(); ++i) {
        CRAWLSTORE_TRY(stored->read(i, {}, {}, entries));
      }
      for (const auto& change : entries) changes_[change.page] = change.order;
    }
    return {};
  }

  /// Visits batches of entries that count, and returns whether these were all.
  template <class Visit>
  Result<bool> for_each_batch(const Visit& visit) {
    bool all = true;
    std::vector<queue::Entry> entries;
    const auto pass_on = [&]() -> Result<void> {
      std::erase_if(entries, [this](const queue::Entry& entry) {
        const auto change = changes_.find(entry.page);
        return change != changes_.end() && change->second != entry.order;
      });
      if (entries.empty()) return {};
      CRAWLSTORE_TRY(visit(queue::pages_of(entries)));
      entries.clear();
      return {};
    };
    for (const auto& run : found_.table.runs) {
      const auto stored = open_run(run.run);
      if (!stored) {
        CRAWLSTORE_TRY(unless_damaged(stored.error(), all));
        continue;
      }
      for (std::size_t i = 0; i < (*stored)->fragment_count(); ++i) {
        const std::size_t before = entries.size();
        const auto read = (*stored)->read(i, run.cut, {}, entries);
        if (!read) {
          entries.resize(before);
          CRAWLSTORE_TRY(unless_damaged(read.error(), all));
        }
        if (entries.size() >= kBatchPages) CRAWLSTORE_TRY(pass_on());
      }
    }
    CRAWLSTORE_TRY(pass_on());
    return all;
  }

  [[nodiscard]] std::uint64_t page_count() const { return found_.table.page_count; }

 private:
  Result<queue::StoredRunPtr> open_run(RunId id) {
    const auto name = container::run_name(reader_.identity(), found_.table.entries, id);
    return queue::open_run(std::make_shared<const container::Run>(
        std::make_shared<container::RunReader>(storage_, name, *found_.entries->find_run(id))));
  }
  static Result<void> unless_damaged(const Error& error, bool& all) {
    all = false;
    if (category(error.code) == ErrorCategory::kDamage) return {};
    return tl::unexpected<Error>(error);
  }

  std::shared_ptr<Storage> storage_;
  const container::Reader& reader_;
  const format::SegmentEntry& entry_;
  queue::QueueSegments found_;
  std::unordered_map<std::uint64_t, std::uint64_t> changes_;  // by page, the youngest order
};

Result<void> refill(Store& store, QueueRescue& rescue, const std::string& name,
                    std::vector<Loss>& losses) {
  CRAWLSTORE_TRY(auto queue, Queue::open_unread(store, name));
  CRAWLSTORE_TRY(queue.clear());
  if (const auto opened = rescue.open(); !opened) {
    if (category(opened.error().code) != ErrorCategory::kDamage) return opened;
    losses.push_back({LostPart::kQueue, name, 0, 0, 0, opened.error()});
    return {};
  }
  const auto insert = [&queue](const std::vector<QueuedPage>& pages) -> Result<void> {
    CRAWLSTORE_TRY(queue.insert(pages));
    return {};
  };
  CRAWLSTORE_TRY(const bool all, rescue.for_each_batch(insert));
  const std::uint64_t kept = queue.count();
  if (!all && rescue.page_count() > kept) {
    losses.push_back(
        {LostPart::kEntries,
         name,
         0,
         0,
         rescue.page_count() - kept,
         {Errc::kChunkDamaged, 0, {}, Error::kNoOffset, "the checksum of a chunk does not match"}});
  }
  return {};
}

}  // namespace

Result<void> repair_queues(Storage& copy, const Patient& known, std::vector<Loss>& losses) {
  const auto storage = std::make_shared<BorrowedStorage>(copy);
  CRAWLSTORE_TRY(const auto reader, container::Reader::open(storage, {}));
  std::vector<format::SegmentEntry> damaged;
  std::vector<std::string> others;
  reader->directory().for_each_segment([&](const format::SegmentEntry& entry) {
    if (entry.kind != SegmentKind::kQueue) return;
    bool is_damaged = false;
    reader->directory().for_each_segment([&](const format::SegmentEntry& part) {
      if (part.id != entry.id && part.owner != entry.id) return;
      for (const auto& run : part.runs) is_damaged = is_damaged || known.is_damaged(run);
    });
    if (is_damaged) damaged.push_back(entry);
    if (!is_damaged) others.push_back(entry.name);
  });
  if (damaged.empty() && known.forgotten.empty() && !known.is_all_forgotten) return {};
  CRAWLSTORE_TRY(auto store, Store::open(std::make_unique<BorrowedStorage>(copy)));
  if (known.is_all_forgotten) {
    for (const auto& entry : damaged) others.push_back(entry.name);
    for (const auto& name : others) {
      CRAWLSTORE_TRY(auto queue, Queue::open_unread(store, name));
      CRAWLSTORE_TRY(queue.clear());
      losses.push_back({LostPart::kQueue,
                        name,
                        0,
                        0,
                        0,
                        {Errc::kSegmentInvalid,
                         0,
                         {},
                         Error::kNoOffset,
                         "the page database is lost, whose pages it had"}});
    }
    CRAWLSTORE_TRY(store.commit());
    return store.close();
  }
  for (const auto& entry : damaged) {
    QueueRescue rescue(storage, *reader, entry);
    CRAWLSTORE_TRY(refill(store, rescue, entry.name, losses));
    others.push_back(entry.name);
  }
  if (!known.forgotten.empty()) {
    for (const auto& name : others) {
      CRAWLSTORE_TRY(auto queue, Queue::open(store, name));
      CRAWLSTORE_TRY(queue.remove(known.forgotten));
    }
  }
  CRAWLSTORE_TRY(store.commit());
  return store.close();
}

}  // namespace crawlstore::rescue
