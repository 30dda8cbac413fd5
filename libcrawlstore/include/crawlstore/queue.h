// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Queues of a store: which page comes next. Bytes: spec/queue.md#queue-tables and #queue-runs.
///
/// A queue is a set of pages with priorities: a page that is inserted again gets the new priority.
/// The highest priority leaves first, and of the same priority the lowest page. Whatever is changed
/// or taken waits for the next commit of the store: Store::commit(), close(), that of a Transaction
/// or of a merge. A merge's commit may leave what waits in other parts of the store
/// (MergeCommit::kMerged): what belongs together goes into a Transaction. After a crash the queue
/// is as the last commit left it.
///
/// Ownership: as in crawlstore.hpp. Threads: any number; they take turns with all that changes the
/// store. Errors: as Store; every call may also fail with kClosed, kForked, kPoisoned.
///
///   CRAWLSTORE_TRY(auto queue, Queue::open(store));
///   CRAWLSTORE_TRY(queue.insert(std::vector<QueuedPage>{{.page = 7, .priority = 0.5}}));
///   CRAWLSTORE_TRY(const auto next, queue.take(100));
///   CRAWLSTORE_TRY(store.commit());

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/snapshot.h>
#include <crawlstore/store.h>
#include <crawlstore/types.h>

#pragma GCC visibility push(default)
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

/// Counts of pages that insert() took.
struct QueueInserted {
  std::uint64_t new_count = 0;      ///< pages that did not wait
  std::uint64_t updated_count = 0;  ///< pages that did, or came twice
};

struct QueueOptions {
  /// At least 32 MiB, of which as much is taken as is needed; more than 1 GiB does not help. With
  /// less, runs are smaller, and the whole queue is written anew for every memory_bytes / 512
  /// changes, if these are fewer than a quarter of the pages. Not in it: which pages wait (see
  /// insert()), indexes of runs (40 bytes for 4,096 pages), and what calls take and return.
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;
};

class Queue {
 public:
  /// Opens the queue `name`, or makes it.
  ///   errors  kInvalidArgument (it is open already, the name has control characters, or there is
  ///           less memory than that), kTooLarge (name), kReentrant inside a transaction; of
  ///           damage, where open_unread() and clear() help
  ///   cost    reads an index of 32 bytes for 4,096 pages
  [[nodiscard]] static Result<Queue> open(Store& store, std::string_view name = kDefaultName,
                                          const QueueOptions& options = {});
  /// open() of a queue whose pages nobody wants any more, also of one that is damaged: nothing of
  /// it is read. Until clear() its count() is 0, all other calls fail with kInvalidArgument, and
  /// commits leave it as it is. errors as open(), none of damage
  [[nodiscard]] static Result<Queue> open_unread(Store& store, std::string_view name = kDefaultName,
                                                 const QueueOptions& options = {});
  static constexpr std::string_view kDefaultName = "queue";

  Queue(Queue&&) noexcept;
  Queue& operator=(Queue&&) noexcept;
  ~Queue();  ///< close(); after an error the store keeps what waits for its next commit

  /// All of them, or after an error the first ones. Pages that wait get the new priority; of a page
  /// that comes twice the last one counts.
  ///   errors  kInvalidArgument, none of them: a priority is no number, a page is 2^40 or higher;
  ///           kNoSpace and the like; of damage
  ///   cost    a search among some hundred bounds for each page. A million of them becomes a run in
  ///           the file, of 5 (floats) to 13 bytes a page; a commit joins runs when there are many.
  ///           A page that waited: 40 bytes of memory, and its share of a pass over the whole
  ///           queue, which goes on with each call; there is one for a quarter as many changes as
  ///           pages, or 2 million. The first call of insert(), update() and remove() reads the
  ///           whole queue, to find out which pages wait; from then on a bit each, if they are
  ///           indexes of a page database
  [[nodiscard]] Result<QueueInserted> insert(std::span<const QueuedPage> pages);

  /// The same with those that wait. Returns how many did; a page that comes twice counts twice.
  [[nodiscard]] Result<std::uint64_t> update(std::span<const QueuedPage> pages);

  /// The pages wait no more; nothing changes after an error. Returns how many waited.
  ///   errors, cost  as insert() of pages that wait
  [[nodiscard]] Result<std::uint64_t> remove(std::span<const std::uint64_t> pages);

  /// The first `page_count` pages stay, and the others wait no more: a bound for a queue that would
  /// grow and grow. Returns how many wait no more; after an error these are some.
  ///   cost     reads the pages that go, and is remove() of them: rather some thousand at once than
  ///            after each insertion
  [[nodiscard]] Result<std::uint64_t> trim(std::uint64_t page_count);

  /// No page waits any more. Cost: none.
  [[nodiscard]] Result<void> clear();

  /// Takes the first `count` pages, or all if there are fewer; after an error none.
  ///   cost    reads what has not been read before, of each run in pieces of 4,096 pages; sorts it.
  ///           Changed pages are looked up in memory
  [[nodiscard]] Result<std::vector<QueuedPage>> take(std::size_t count,
                                                     QueueOrder order = QueueOrder::kSorted);

  /// Pages that wait, also those that no commit has. Cost: none.
  [[nodiscard]] std::uint64_t count() const;

  /// Commits the store if something of the queue waits, and closes. Again: no effect.
  ///   errors  kReentrant inside a transaction; those of Store::commit(): it stays open with what
  ///           waits, try again
  [[nodiscard]] Result<void> close();

  struct Impl;

 private:
  explicit Queue(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

struct QueueInfo {
  SegmentId id;
  std::string name;
  std::uint64_t page_count = 0;   ///< that wait
  std::uint64_t stale_count = 0;  ///< entries of pages that were changed, which nobody will take
  std::size_t run_count = 0;
  std::uint64_t allocated_bytes = 0;  ///< checksums and padding included
};

/// A run of a queue as it lies in the file. What has left stays there until runs are joined.
struct QueueRunInfo {
  RunId run;
  bool has_changes = false;  ///< its entries say what pages are now that have stale ones elsewhere
  std::uint64_t entry_count = 0;
  std::uint64_t remaining_count = 0;  ///< that have not left: about, to a fragment
  std::size_t fragment_count = 0;     ///< of about 4,096 entries
  double first_priority = 0;          ///< the highest; in changes, what waits no more has 0
  double last_priority = 0;
  std::optional<QueuedPage> cut;  ///< entries up to this one have left; nothing: none has
  std::uint64_t allocated_bytes = 0;
};
/// Entries of neighbouring priorities: up to the first one, and above the last one.
struct QueueBin {
  double first_priority = 0;
  double last_priority = 0;  ///< of the last bin, included
  std::uint64_t entry_count = 0;
  std::uint64_t remaining_count = 0;  ///< as in QueueRunInfo
};

/// A queue of one generation, for reading: any process, beside the writer. Ownership: as in
/// crawlstore.hpp. Threads: any number.
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
  /// Visits pages in the order in which they would leave, until the visitor returns false.
  ///   errors, cost  as peek() of these, but memory for 65,536 pages at once only
  using VisitPage = std::function<bool(const QueuedPage& page)>;
  [[nodiscard]] Result<void> for_each_page(const VisitPage& visit) const;
  /// The runs in the order in which the queue has them, those of changes last. Cost: as below.
  [[nodiscard]] std::vector<QueueRunInfo> runs() const;
  /// Spread of the priorities of all runs but those of changes, the highest first: bins that are
  /// equally wide on a logarithmic axis, or on a linear one where some are below 0. Exact to a
  /// fragment of each run: inside of one, entries count as spread evenly. Stale ones count, too.
  ///   returns  `bin_count`; one when all priorities are the same, none without runs
  ///   cost     a pass over the indexes, which are in memory; reads nothing
  [[nodiscard]] std::vector<QueueBin> distribution(std::size_t bin_count) const;

  struct Impl;

 private:
  explicit QueueView(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

}  // namespace crawlstore
#pragma GCC visibility pop
