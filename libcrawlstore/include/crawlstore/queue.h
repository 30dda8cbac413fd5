// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Queues of a store: which page comes next. Bytes: spec/format.md#queue-tables and #queue-runs.
///
/// A queue is a multiset of pages with priorities: a page that is inserted twice leaves twice. The
/// highest priority leaves first, and of the same priority the lowest page. Whatever is inserted or
/// taken waits for the next commit of the store: Store::commit(), close(), that of a Transaction or
/// of a merge. A merge's commit may leave what waits in other parts of the store
/// (MergeCommit::kMerged): what belongs together goes into a Transaction. After a crash the queue
/// is as the last commit left it. A queue knows nothing of page databases: PageDb::forget() leaves
/// it as it is.
///
/// Ownership: a Queue shares its store; it must be gone when the store closes. What is passed in is
/// copied. Threads: any number; they take turns with all that changes the store. Errors: as Store;
/// every call may also fail with kClosed, kForked, kPoisoned.
///
///   CRAWLSTORE_TRY(auto queue, Queue::open(store));
///   CRAWLSTORE_TRY(queue.insert(std::vector<QueuedPage>{{.page = 7, .priority = 0.5}}));
///   CRAWLSTORE_TRY(const auto next, queue.take(100));
///   CRAWLSTORE_TRY(store.commit());

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/snapshot.h>
#include <crawlstore/store.h>
#include <crawlstore/types.h>

namespace crawlstore {

struct QueuedPage {
  std::uint64_t page = 0;  ///< an index of a page database, or any number below 2^40
  double priority = 0;     ///< no NaN; -0 is 0
  friend bool operator==(const QueuedPage&, const QueuedPage&) = default;
};

/// In which order pages are wanted of a queue.
enum class QueueOrder : std::uint8_t {
  kSorted,  ///< the first to leave first
  kAny,     ///< the same pages, with less work
};

class Queue {
 public:
  /// Opens the queue `name`, or makes it.
  ///   errors  kInvalidArgument (it is open already, or the name has control characters), kTooLarge
  ///           (name), kReentrant inside a transaction, of damage
  ///   cost    reads an index of 32 bytes for 4,096 pages
  [[nodiscard]] static Result<Queue> open(Store& store, std::string_view name = kDefaultName);
  static constexpr std::string_view kDefaultName = "queue";

  Queue(Queue&&) noexcept;
  Queue& operator=(Queue&&) noexcept;
  ~Queue();  ///< close(), its error ignored

  /// All of them, or after an error some.
  ///   errors  kInvalidArgument, none of them: a priority is no number, a page is 2^40 or higher;
  ///           kNoSpace and the like
  ///   cost    a search among some hundred bounds for each page. A million of them becomes a run in
  ///           the file, of 5 (floats) to 13 bytes a page; a commit joins runs when there are many
  [[nodiscard]] Result<void> insert(std::span<const QueuedPage> pages);

  /// Takes the first `count` pages, or all if there are fewer.
  ///   errors  kNoSpace and the like, of damage: none was taken
  ///   cost    reads what has not been read before, of each run in pieces of 4,096 pages; sorts it
  [[nodiscard]] Result<std::vector<QueuedPage>> take(std::size_t count,
                                                     QueueOrder order = QueueOrder::kSorted);

  /// Pages that wait, also those that no commit has.
  [[nodiscard]] std::uint64_t count() const;

  /// Commits what waits, and closes. Again: no effect. errors  kReentrant inside a transaction
  [[nodiscard]] Result<void> close();

  struct Impl;

 private:
  explicit Queue(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

/// A queue as a whole.
struct QueueInfo {
  SegmentId id;
  std::string name;
  std::uint64_t page_count = 0;  ///< that wait
  std::size_t run_count = 0;
  std::uint64_t allocated_bytes = 0;  ///< checksums and padding included
};

/// A queue of one generation, for reading: any process, beside the writer. Ownership: shares its
/// snapshot. Threads: any number.
class QueueView {
 public:
  /// All queues, by name. errors  of damage
  [[nodiscard]] static Result<std::vector<QueueInfo>> list(const Snapshot& snapshot);
  /// errors  kUnknownName: the generation has no queue of this name; of damage
  [[nodiscard]] static Result<QueueView> open(const Snapshot& snapshot,
                                              std::string_view name = Queue::kDefaultName);

  [[nodiscard]] const QueueInfo& info() const;

  /// The first `count` pages, in the order in which they would leave.
  ///   errors  kSegmentInvalid: there are fewer than the file says; of damage
  ///   cost    as Queue::take(), each time
  [[nodiscard]] Result<std::vector<QueuedPage>> peek(std::size_t count) const;

  struct Impl;

 private:
  explicit QueueView(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

}  // namespace crawlstore
