// SPDX-License-Identifier: Apache-2.0
//
// Invariant: of a queue that is not read `pages` is empty, and `committed` is nothing: the first
// commit after clear() writes a table, and removes or replaces the log.
#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <utility>

#include <crawlstore/queue.h>

#include "base/inside.h"
#include "container/store_call.h"
#include "format/name.h"
#include "format/pages_table.h"
#include "queue/file_runs.h"
#include "queue/removal.h"

namespace crawlstore {
namespace {

using queue::Entry;
using queue::LiveRun;
using queue::PageQueue;
using queue::QueueLimits;
using State = PageQueue::State;

Result<std::vector<Entry>> entries_of(std::span<const QueuedPage> pages) {
  std::vector<Entry> entries;
  entries.reserve(pages.size());
  for (const QueuedPage& page : pages) {
    if (std::isnan(page.priority))
      return fail(Errc::kInvalidArgument, "a priority is not a number");
    if (page.page > format::kPageMax) {
      return fail(Errc::kInvalidArgument, "the pages of a queue are below 2^40");
    }
    entries.push_back({format::queue_order(page.priority), page.page});
  }
  return entries;
}

bool are_equal(const State& a, const State& b) {
  return a.entry_count == b.entry_count && a.page_count == b.page_count && a.changes == b.changes &&
         std::ranges::equal(a.runs, b.runs, [](const LiveRun& x, const LiveRun& y) {
           return x.stored == y.stored && x.cut == y.cut;
         });
}

/// Calls work(run) with all of them.
template <class Work>
void for_each_run(const State& state, const Work& work) {
  for (const LiveRun& run : state.runs) work(queue::ref_of(*run.stored));
  for (const queue::StoredRunPtr& run : state.changes) work(queue::ref_of(*run));
}

}  // namespace

struct Queue::Impl final : Participant, queue::RunSink {
  Impl(std::shared_ptr<StoreImpl> of_store, std::string_view of_name, const QueueOptions& options)
      : Participant(std::move(of_store), SegmentKind::kQueue),
        own_name(of_name),
        limits(QueueLimits::of(options.memory_bytes)) {}

  const std::string own_name;
  const QueueLimits limits;
  SegmentId id;
  SegmentId log;  // of the runs; 0: there is none
  PageQueue pages{*this, limits};
  bool is_touched = false;         // since the last commit, or by it: its state may be another one
  std::optional<State> committed;  // nothing: the file does not have the queue
  std::optional<State> in_commit;  // what the commit under way publishes, or leaves as it is
  std::optional<State> before;     // as it was when the transaction under way touched it first
  bool is_unread = false;          // until clear()
  bool was_unread = false;         // is_unread of `before`
  container::RunPtr table;         // of in_commit

  Result<void> load(const format::SegmentEntry& entry);
  void leave_unread(const format::SegmentEntry& entry);
  enum class Reading : std::uint8_t { kRead, kUnread };
  static Result<Queue> open(Store& store, std::string_view name, const QueueOptions& options,
                            Reading reading);
  template <class Work>
  auto change(const Work& work) -> decltype(work());
  template <class Work>
  auto change_read(const Work& work) -> decltype(work());
  Result<void> check_read() const;
  Result<void> begin_change();
  Result<void> put(const State& next);

  class Output;
  Result<std::unique_ptr<queue::RunOutput>> start(std::uint64_t payload_bytes_max) override;

  Result<void> prepare(CommitScope scope) override;
  void published() override;
  void dropped() override;
  void keep_tentative() override { before.reset(); }
  void drop_tentative() override;
  Result<void> leave() override;
  void close() override;
  [[nodiscard]] bool is_settled() const;
  [[nodiscard]] std::string_view name() const override { return own_name; }
};

/// Writes a run of the queue.
class Queue::Impl::Output final : public queue::RunOutput {
 public:
  Output(Impl& owner, container::RunWriter writer) : owner_(&owner), writer_(std::move(writer)) {}

  Result<void> append(std::span<const std::byte> bytes) override { return writer_.append(bytes); }
  Result<std::unique_ptr<const queue::RunPayload>> finish(std::uint64_t entry_count) override {
    CRAWLSTORE_TRY(const auto run, writer_.finish(entry_count));
    writer_.give_back();
    return std::unique_ptr<const queue::RunPayload>(
        std::make_unique<queue::FileRun>(owner_->store->writer->runs->add(owner_->log, run)));
  }

 private:
  Impl* owner_;
  container::RunWriter writer_;
};

Result<std::unique_ptr<queue::RunOutput>> Queue::Impl::start(std::uint64_t payload_bytes_max) {
  container::Writer& writer = *store->writer;
  if (!log) log = writer.new_segment_id();
  const format::RunLabel label{log, SegmentKind::kQueueEntries, id, writer.new_run_ids(1)};
  CRAWLSTORE_TRY(auto run, container::RunWriter::start(writer, label, payload_bytes_max));
  return std::unique_ptr<queue::RunOutput>(std::make_unique<Output>(*this, std::move(run)));
}

Result<void> Queue::Impl::load(const format::SegmentEntry& entry) {
  container::Writer& writer = *store->writer;
  id = entry.id;
  const format::RunRef& run = entry.runs.front();
  std::vector<std::byte> payload;
  CRAWLSTORE_TRY(container::read_run(
      writer.storage(), container::run_name(writer.identity(), id, run.run_id), run, payload));
  CRAWLSTORE_TRY(const auto found, queue::read_segments(*writer.directory(), entry, payload));
  log = found.table.entries;
  CRAWLSTORE_TRY(committed, queue::open_runs(found, [&](const format::RunRef& of_table) {
                   return writer.runs->add(log, of_table);
                 }));
  pages = PageQueue(*this, *committed, limits);
  return {};
}

/// The table that names the log may be damaged: the log names its queue.
void Queue::Impl::leave_unread(const format::SegmentEntry& entry) {
  id = entry.id;
  store->writer->directory()->for_each_segment([this](const format::SegmentEntry& other) {
    if (other.kind == SegmentKind::kQueueEntries && other.owner == id) log = other.id;
  });
  is_unread = true;
}

Result<void> Queue::Impl::check_read() const {
  if (!is_unread) return {};
  return fail(Errc::kInvalidArgument, "a queue that was opened unread has to be cleared first");
}

/// Calls work() as part of the transaction under way, if there is one. Where it poisons the store
/// it has failed: what it did is in no commit any more.
template <class Work>
auto Queue::Impl::change(const Work& work) -> decltype(work()) {
  CRAWLSTORE_TRY(store->check_outside());
  const std::lock_guard turn(store->turn);
  CRAWLSTORE_TRY(store->check_open());
  const std::lock_guard lock(mutex);
  if (closed) return fail(Errc::kClosed, "the queue has been closed");
  CRAWLSTORE_TRY(store->writer->check_not_poisoned());
  CRAWLSTORE_TRY(store->writer->storage().check_process());
  return store->change([&]() -> decltype(work()) {
    CRAWLSTORE_TRY(begin_change());
    is_touched = true;
    auto done = work();
    if (done) CRAWLSTORE_TRY(store->writer->check_not_poisoned());
    return done;
  });
}

/// change() of all but clear().
template <class Work>
auto Queue::Impl::change_read(const Work& work) -> decltype(work()) {
  return change([&]() -> decltype(work()) {
    CRAWLSTORE_TRY(check_read());
    return work();
  });
}

/// The first time in a transaction: what there is can be had again when it is dropped.
Result<void> Queue::Impl::begin_change() {
  if (!store->in_transaction() || before) return {};
  CRAWLSTORE_TRY(pages.flush());
  before = pages.state();
  was_unread = is_unread;
  return {};
}

Result<void> Queue::Impl::prepare(CommitScope scope) {
  if (scope == CommitScope::kNothing || is_unread) return {};
  if (committed && !is_touched) return {};
  CRAWLSTORE_TRY(pages.flush());
  in_commit = pages.state();
  if (committed && are_equal(*in_commit, *committed)) return {};
  const auto done = put(*in_commit);
  if (!done) dropped();
  return done;
}

Result<void> Queue::Impl::put(const State& next) {
  container::Writer& writer = *store->writer;
  format::SegmentEntry runs{log, SegmentKind::kQueueEntries, StorageClass::kLog, id, {}, {}};
  for_each_run(next, [&](const format::RunRef& ref) { runs.runs.push_back(ref); });
  format::QueueTable to_write{
      runs.runs.empty() ? SegmentId{} : log, next.entry_count, next.page_count, {}, {}};
  for (const LiveRun& run : next.runs) {
    to_write.runs.push_back({queue::ref_of(*run.stored).run_id, run.cut});
  }
  for (const auto& run : next.changes) to_write.changes.push_back(queue::ref_of(*run).run_id);
  std::ranges::sort(runs.runs, {}, &format::RunRef::run_id);
  std::ranges::sort(to_write.runs, {}, &format::QueueRunState::run);
  const auto payload = format::encode_queue_table(to_write);
  CRAWLSTORE_TRY(const auto run,
                 container::write_run(writer, {id, SegmentKind::kQueue, {}, writer.new_run_ids(1)},
                                      payload, 1));
  table = writer.runs->add(id, run);
  writer.put({id, SegmentKind::kQueue, StorageClass::kBlob, {}, own_name, {run}});
  if (!runs.runs.empty()) {
    writer.put(std::move(runs));
  } else if (writer.directory()->find(log) != nullptr) {
    writer.remove(log);
  }
  return {};
}

void Queue::Impl::published() {
  if (!in_commit) return;
  if (in_commit->runs.empty() && in_commit->changes.empty()) log = {};
  committed = std::exchange(in_commit, std::nullopt);
  is_touched = false;
  before.reset();
  table.reset();
}

void Queue::Impl::dropped() {
  table.reset();  // first: its place is free before those of the log
  in_commit.reset();
}

void Queue::Impl::drop_tentative() {
  const std::lock_guard lock(mutex);
  if (!before) return;
  pages = PageQueue(*this, std::move(*before), limits);
  is_unread = was_unread;
  before.reset();
}

/// Whether a commit would leave the queue in the file as it is. Requires the turn.
bool Queue::Impl::is_settled() const {
  container::Writer& writer = *store->writer;
  const bool is_usable = writer.check_not_poisoned() && writer.storage().check_process();
  return is_usable && (committed || is_unread) && !is_touched;
}

/// Closes a queue of which nothing waits without a commit, which asks all parts of the store:
/// thousands of queues close one after another.
Result<void> Queue::Impl::leave() {
  if (store->in_transaction() || !store->check_outside()) return Participant::leave();
  const std::lock_guard lock(store->turn);
  if (closed || !is_settled()) return Participant::leave();
  store->participants.erase(this);
  close();
  return {};
}

void Queue::Impl::close() {
  const std::lock_guard lock(mutex);
  closed = true;
  pages.clear();
  committed.reset();
  before.reset();
}

namespace queue {

struct Removal::Part {
  std::shared_ptr<Queue::Impl> opened;  // nothing: it was open
  Queue::Impl* queue;
  std::optional<State> before;
};

Removal::Removal(StoreImpl& store) : store_(store) {}

Removal::~Removal() {
  for (const Part& part : parts_) {
    if (part.opened == nullptr) continue;
    store_.participants.erase(part.queue);
    part.opened->close();
  }
}

Result<std::uint64_t> Removal::remove(std::string_view name, std::span<const std::uint64_t> pages) {
  if (pages.empty()) return 0;
  auto part = std::ranges::find_if(
      parts_, [name](const Part& known) { return known.queue->own_name == name; });
  if (part == parts_.end()) {
    Part found{{}, static_cast<Queue::Impl*>(store_.find(SegmentKind::kQueue, name)), {}};
    if (found.queue == nullptr) {
      const auto* const entry = store_.writer->directory()->find_named(SegmentKind::kQueue, name);
      if (entry == nullptr) return 0;
      found.opened = std::make_shared<Queue::Impl>(store_.shared_from_this(), name, QueueOptions{});
      CRAWLSTORE_TRY(found.opened->load(*entry));
      found.queue = found.opened.get();
      found.queue->admit();
    }
    part = parts_.insert(parts_.end(), std::move(found));
  }
  const std::lock_guard lock(part->queue->mutex);
  CRAWLSTORE_TRY(part->queue->check_read());
  part->queue->is_touched = true;
  CRAWLSTORE_TRY(part->queue->pages.flush());
  if (!part->before) part->before = part->queue->pages.state();
  return part->queue->pages.remove(pages);
}

void Removal::committed() {
  for (Part& part : parts_) part.before.reset();
}

void Removal::undo() {
  for (Part& part : parts_) {
    if (!part.before) continue;
    const std::lock_guard lock(part.queue->mutex);
    part.queue->pages =
        PageQueue(*part.queue, *std::exchange(part.before, std::nullopt), part.queue->limits);
  }
}

}  // namespace queue

Queue::Queue(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Queue::Queue(Queue&&) noexcept = default;

Queue& Queue::operator=(Queue&& other) noexcept {
  if (this != &other) {
    Queue old(std::move(impl_));
    impl_ = std::move(other.impl_);
  }
  return *this;
}

Queue::~Queue() {
  if (impl_ != nullptr) Participant::let_go(impl_);
}

Result<Queue> Queue::Impl::open(Store& store, std::string_view name, const QueueOptions& options,
                                Reading reading) {
  CRAWLSTORE_TRY(format::check_name(name));
  if (options.memory_bytes < QueueLimits::kMemoryBytesMin) {
    return fail(Errc::kInvalidArgument, "a queue needs 32 MiB of memory");
  }
  const auto inside = Inside::of(store).shared_from_this();
  CRAWLSTORE_TRY(inside->check_outside("a queue cannot be opened inside a transaction"));
  const std::lock_guard lock(inside->turn);
  CRAWLSTORE_TRY(inside->check_ready());
  if (inside->find(SegmentKind::kQueue, name) != nullptr) {
    return fail(Errc::kInvalidArgument, "this queue is open already");
  }
  auto impl = std::make_shared<Impl>(inside, name, options);
  const auto* const entry = inside->writer->directory()->find_named(SegmentKind::kQueue, name);
  if (entry == nullptr) {
    impl->id = inside->writer->new_segment_id();
  } else if (reading == Reading::kRead) {
    CRAWLSTORE_TRY(impl->load(*entry));
  } else {
    impl->leave_unread(*entry);
  }
  impl->admit();
  return Queue(std::move(impl));
}

Result<Queue> Queue::open(Store& store, std::string_view name, const QueueOptions& options) {
  return Impl::open(store, name, options, Impl::Reading::kRead);
}

Result<Queue> Queue::open_unread(Store& store, std::string_view name, const QueueOptions& options) {
  return Impl::open(store, name, options, Impl::Reading::kUnread);
}

Result<QueueInserted> Queue::insert(std::span<const QueuedPage> pages) {
  CRAWLSTORE_TRY(const auto entries, entries_of(pages));
  return impl_->change_read([&]() -> Result<QueueInserted> {
    CRAWLSTORE_TRY(const auto new_count, impl_->pages.insert(entries));
    return QueueInserted{new_count, entries.size() - new_count};
  });
}

Result<std::uint64_t> Queue::update(std::span<const QueuedPage> pages) {
  CRAWLSTORE_TRY(const auto entries, entries_of(pages));
  return impl_->change_read([&] { return impl_->pages.update(entries); });
}

Result<std::uint64_t> Queue::remove(std::span<const std::uint64_t> pages) {
  return impl_->change_read([&] { return impl_->pages.remove(pages); });
}

Result<std::uint64_t> Queue::trim(std::uint64_t page_count) {
  return impl_->change_read([&] { return impl_->pages.trim(page_count); });
}

Result<void> Queue::clear() {
  return impl_->change([&]() -> Result<void> {
    impl_->is_unread = false;
    impl_->pages.clear();
    return {};
  });
}

Result<std::vector<QueuedPage>> Queue::take(std::size_t count, QueueOrder order) {
  return impl_->change_read([&]() -> Result<std::vector<QueuedPage>> {
    std::vector<Entry> taken;
    CRAWLSTORE_TRY(impl_->pages.take(count, order == QueueOrder::kSorted, taken));
    return queue::pages_of(taken);
  });
}

std::uint64_t Queue::count() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->pages.count();
}

Result<void> Queue::close() {
  const StoreCall call(impl_);
  return impl_->leave();
}

}  // namespace crawlstore
