// SPDX-License-Identifier: Apache-2.0
//
// Invariants: everything that changes the writer happens with StoreImpl::turn held; a closed store
// has no writer and no participants.
#include <algorithm>
#include <utility>

#include <crawlstore/store.h>

#include "container/compact.h"
#include "container/create.h"
#include "container/drop_parts.h"
#include "container/reader.h"
#include "container/rollback.h"
#include "container/store_call.h"
#include "container/work_steps.h"

namespace crawlstore {
namespace {

container::WriterOptions writer_options(const OpenOptions& options) {
  container::WriterOptions writer;
  writer.lock_wait_ms = options.lock_wait_ms;
  writer.fixed_time_us = options.time_us.value_or(0);
  writer.policy.check_published = true;  // release builds have no policy to change
  return writer;
}

Result<void> create_empty(const std::string& path, CreateOptions options) {
  return create_file(
      path,
      [](Storage& storage, void* context) {
        return container::write_new_store(storage, *static_cast<const CreateOptions*>(context));
      },
      &options);
}

/// A store of this writer. Tells what opening it, which `meter` measured, passed over.
std::shared_ptr<StoreImpl> make_impl(std::unique_ptr<container::Writer> writer,
                                     const container::StepMeter& meter,
                                     const OpenOptions& options) {
  auto impl = std::make_shared<StoreImpl>();
  impl->writer = std::move(writer);
  impl->reporter.start(options.report);
  const RecoveryReport recovery = impl->writer->recovery();
  if (recovery.damaged_copy_count != 0 || recovery.lost_generation_count != 0) {
    impl->report({}, meter.cost(), Result<RecoveryReport>(recovery));
  }
  return impl;
}

/// Free space that stays in the file for reuse: at least 64 MiB.
std::uint64_t kept_free_bytes(const container::Directory& directory) {
  std::uint64_t live_bytes = 0;
  for (const Extent& extent : directory.live_extents()) live_bytes += extent.length_bytes;
  return std::max(std::uint64_t{64} << 20, live_bytes / 4);
}

/// Compaction among the parts of a store.
class Turns final : public container::CompactionTurns {
 public:
  explicit Turns(StoreImpl& store) : store_(store) {}

  Result<void> plan(const Work& work) override {
    const std::lock_guard lock(store_.turn);
    CRAWLSTORE_TRY(store_.check_open());
    return store_.change(work);
  }

  Result<void> publish(const Work& work) override {
    const std::lock_guard lock(store_.turn);
    CRAWLSTORE_TRY(store_.check_open());
    CRAWLSTORE_TRY(store_.commit_all(CommitScope::kNothing));
    const auto committed = store_.change([&] {
      return store_.report_commit([&]() -> Result<Generation> {
        const StoreImpl::AllLocked locked(store_);
        CRAWLSTORE_TRY(work());
        return store_.writer->directory()->generation();
      });
    });
    return committed ? Result<void>{} : tl::unexpected<Error>(committed.error());
  }

 private:
  StoreImpl& store_;
};

}  // namespace

Result<void> StoreImpl::check_open() const {
  if (closed) return fail(Errc::kClosed, "the store has been closed");
  return check_outside();
}

Result<void> StoreImpl::check_outside() const {
  if (!CallerFunction::is_inside(*this)) return {};
  return fail(Errc::kReentrant, "the store was used by a function that it calls");
}

Result<void> StoreImpl::check_outside(const char* in_transaction_text) const {
  if (in_transaction()) {
    // In a forked child the transaction is its parent's.
    CRAWLSTORE_TRY(writer->storage().check_process());
    return fail(Errc::kReentrant, in_transaction_text);
  }
  return check_outside();
}

Result<void> StoreImpl::check_ready() {
  CRAWLSTORE_TRY(check_open());
  CRAWLSTORE_TRY(writer->check_not_poisoned());
  return finish_lingering();
}

StoreImpl::AllLocked::AllLocked(const StoreImpl& store)
    : participants_(store.participants.begin(), store.participants.end()) {
  std::stable_partition(participants_.begin(), participants_.end(),
                        [](const Participant* part) { return part->is_locked_first(); });
  for (const Participant* participant : participants_) participant->mutex.lock();
}
StoreImpl::AllLocked::~AllLocked() {
  for (auto it = participants_.rbegin(); it != participants_.rend(); ++it) (*it)->mutex.unlock();
}

Result<Generation> StoreImpl::commit_locked(CommitScope scope, std::span<const SegmentId> removed) {
  CRAWLSTORE_TRY(writer->check_not_poisoned());
  const AllLocked locked(*this);
  std::vector<Participant*> ready;
  Result<Generation> committed{Generation{}};
  for (Participant* participant : participants) {
    if (auto prepared = participant->prepare(scope); !prepared) {
      committed = tl::unexpected<Error>(prepared.error());
      break;
    }
    ready.push_back(participant);
  }
  if (committed) {
    for (const SegmentId id : removed) writer->remove(id);
    committed = writer->commit();
  }
  if (!committed) writer->drop_changes();
  for (Participant* participant : ready) {
    committed ? participant->published() : participant->dropped();
  }
  return committed;
}

Result<void> StoreImpl::keep_tentative() {
  for (Participant* participant : participants)
    CRAWLSTORE_TRY(participant->write_arrays(CommitScope::kTransaction));
  for (Participant* participant : participants) participant->keep_tentative();
  return {};
}

void StoreImpl::drop_tentative() {
  for (Participant* participant : participants) participant->drop_tentative();
}

void StoreImpl::end() {
  for (Participant* participant : participants) participant->close();
  participants.clear();
  without_handle.clear();
  {
    const std::lock_guard lock(lingering_mutex);
    lingering.clear();
  }
  closed = true;
  if (writer != nullptr) last_counters = writer->storage().counters();
  writer.reset();
}

Result<void> StoreImpl::close() {
  if (closed) return {};
  CRAWLSTORE_TRY(writer->storage().check_process());
  if (auto committed = commit_all(); !committed) {
    if (writer->poisoned()) end();
    return tl::unexpected<Error>(committed.error());
  }
  const std::uint64_t keep_bytes = kept_free_bytes(*writer->directory());
  if (writer->free_bytes() > keep_bytes) CRAWLSTORE_TRY(writer->trim(keep_bytes));
  end();
  return {};
}

void StoreImpl::close_anyway() noexcept {
  try {
    (void)close();
  } catch (...) {  // no memory to commit with: it is lost, as after an error
  }
  end();
}

Result<std::shared_ptr<Storage>> StoreImpl::open_for_reading() const {
  return writer->storage().reopen();
}

template <class Compact>
Result<CompactReport> StoreImpl::compact_with(const Compact& work) {
  {
    const std::lock_guard lock(turn);
    CRAWLSTORE_TRY(check_open());
    CRAWLSTORE_TRY(finish_lingering());
    if (compacting) {
      return fail(Errc::kInvalidArgument,
                  "another thread is compacting the store; wait until it ends");
    }
    compacting = true;
  }
  const struct Ending {  // whatever happens
    StoreImpl& store;
    ~Ending() {
      const std::lock_guard lock(store.turn);
      store.compacting = false;
    }
  } ending{*this};
  Turns turns(*this);
  const container::StepMeter meter(writer->storage());
  auto compacted = work(turns);
  const std::lock_guard lock(turn);
  report({}, meter.cost(), compacted);
  return compacted;
}

Result<CompactReport> StoreImpl::compact(const Progress& progress) {
  return compact_with([&](Turns& turns) { return container::compact(*writer, progress, turns); });
}

Result<CompactReport> StoreImpl::close_gaps(const Progress& progress) {
  return compact_with(
      [&](Turns& turns) { return container::close_gaps(*writer, progress, turns); });
}

Store::Store(std::shared_ptr<StoreImpl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;

Store& Store::operator=(Store&& other) noexcept {
  if (this != &other) {
    const Store old(std::move(impl_));
    impl_ = std::move(other.impl_);
  }
  return *this;
}

Store::~Store() {
  if (impl_ == nullptr) return;
  if (!impl_->check_outside("")) {
    impl_->outlive_handle();
    return;
  }
  const StoreCall call(impl_);
  const std::lock_guard lock(impl_->turn);
  impl_->close_anyway();
}

Result<Store> Store::create(const std::string& path, const CreateOptions& options) {
  CRAWLSTORE_TRY(create_empty(path, options));
  OpenOptions open_options;
  open_options.time_us = options.time_us;
  open_options.report = options.report;
  return open(path, open_options);
}

Result<Store> Store::open(const std::string& path, const OpenOptions& options) {
  CRAWLSTORE_TRY(auto storage, open_storage(path, OpenMode::kWrite));
  auto store = open(std::move(storage), options);
  if (store) store->impl_->path = path;
  return store;
}

Result<Store> Store::open_or_create(const std::string& path, const CreateOptions& create_options,
                                    const OpenOptions& open_options) {
  auto opened = open(path, open_options);
  if (opened || opened.error().code != Errc::kNotFound) return opened;
  // Others may make the file at the same time, or write to the new one first: both is waited for.
  const auto created = create_empty(path, create_options);
  if (!created && created.error().code != Errc::kExists) {
    return tl::unexpected<Error>(created.error());
  }
  return open(path, open_options);
}

Result<Store> Store::open(std::unique_ptr<Storage> storage, const OpenOptions& options) {
  const container::StepMeter meter(*storage);  // which the writer keeps
  CRAWLSTORE_TRY(auto writer, container::Writer::open(std::move(storage), writer_options(options)));
  return Store(make_impl(std::move(writer), meter, options));
}

Result<Generation> Store::commit() {
  const auto impl = impl_;  // the Store may go inside a report
  CRAWLSTORE_TRY(impl->check_outside("Store::commit() was called inside a transaction"));
  const StoreCall call(impl);
  const std::lock_guard lock(impl->turn);
  CRAWLSTORE_TRY(impl->check_open());
  CRAWLSTORE_TRY(impl->settle());  // where nothing waits, what is there becomes durable
  return impl->commit_all();
}

Result<Generation> Store::drop(std::span<const PartName> parts) {
  const auto impl = impl_;  // the Store may go inside a report
  CRAWLSTORE_TRY(impl->check_outside("Store::drop() was called inside a transaction"));
  const StoreCall call(impl);
  const std::lock_guard lock(impl->turn);
  CRAWLSTORE_TRY(impl->check_ready());
  CRAWLSTORE_TRY(const auto segments, container::find_segments_to_drop(*impl, parts));
  CRAWLSTORE_TRY(impl->settle());
  return impl->commit_all(CommitScope::kEverything, segments);
}

Result<Generation> Store::rollback(const Progress& progress) {
  const auto impl = impl_;  // the Store may go inside
  CRAWLSTORE_TRY(impl->check_outside("Store::rollback() was called inside a transaction"));
  const StoreCall call(impl);
  const std::lock_guard lock(impl->turn);
  CRAWLSTORE_TRY(impl->check_open());
  CRAWLSTORE_TRY(impl->finish_lingering());
  if (std::ranges::any_of(impl->participants, &Participant::has_handle)) {
    return fail(Errc::kInvalidArgument,
                "rollback needs all DRUMs, page databases and queues of the store closed");
  }
  auto rolled_back = container::in_steps(impl.get(), progress, [&](container::WorkSteps& steps) {
    const Progress asked = [&steps](std::uint64_t done, std::uint64_t total) {
      return steps.look(done, total).has_value();
    };
    return impl->change([&] {
      return impl->report_commit(
          [&] { return container::rollback(*impl->writer, progress ? asked : Progress()); });
    });
  });
  if (rolled_back) {  // parts without a handle have what is no more: they are made anew
    impl->participants.clear();
    impl->without_handle.clear();
  }
  return rolled_back;
}

Result<Generation> Store::rollback(const std::string& path, const OpenOptions& options,
                                   const Progress& progress) {
  auto store = open(path, options);
  if (store) return store->rollback(progress);
  if (category(store.error().code) != ErrorCategory::kDamage) {
    return tl::unexpected<Error>(store.error());
  }
  CRAWLSTORE_TRY(auto storage, open_storage(path, OpenMode::kWrite));
  const container::StepMeter meter(*storage);  // which the writer keeps
  CRAWLSTORE_TRY(auto writer,
                 container::open_past_damage(std::move(storage), writer_options(options)));
  const auto impl = make_impl(std::move(writer), meter, options);
  const std::lock_guard lock(impl->turn);
  return impl->report_commit([&] { return impl->writer->commit(true); });
}

Result<CompactReport> Store::compact(const Progress& progress) {
  CRAWLSTORE_TRY(impl_->check_outside("Store::compact() was called inside a transaction"));
  const auto impl = impl_;  // the Store may go inside
  const StoreCall call(impl);
  return impl->compact(called_by(*impl, progress));
}

Result<Snapshot> Store::snapshot() const {
  CRAWLSTORE_TRY(impl_->check_outside());
  const std::lock_guard lock(impl_->turn);
  CRAWLSTORE_TRY(impl_->check_open());
  CRAWLSTORE_TRY(auto storage, impl_->open_for_reading());
  CRAWLSTORE_TRY(auto snapshot, Snapshot::open(std::move(storage)));
  // A poisoned store does not know which generation the file shows.
  if (!impl_->writer->poisoned()) CRAWLSTORE_TRY(impl_->writer->look_unless_publishing());
  return snapshot;
}

Generation Store::generation() const {
  const std::lock_guard lock(impl_->turn);
  return impl_->closed ? Generation{} : impl_->writer->directory()->generation();
}

Uuid Store::uuid() const {
  return impl_->closed ? Uuid{} : impl_->writer->identity().uuid;
}

std::uint64_t Store::key_seed() const {
  return impl_->closed ? 0 : impl_->writer->identity().key_seed;
}

std::uint64_t Store::file_bytes() const {
  const std::lock_guard lock(impl_->turn);
  if (impl_->closed) return 0;
  return impl_->writer->storage().size().value_or(0);
}

std::uint64_t Store::free_bytes() const {
  const std::lock_guard lock(impl_->turn);
  return impl_->closed ? 0 : impl_->writer->free_bytes();
}

StoreCounters Store::counters() const {
  return impl_->reporter.counters(impl_->closed ? impl_->last_counters
                                                : impl_->writer->storage().counters());
}

Result<void> Store::close() {
  CRAWLSTORE_TRY(impl_->check_outside("Store::close() was called inside a transaction"));
  const StoreCall call(impl_);
  const std::lock_guard lock(impl_->turn);
  return impl_->close();
}

}  // namespace crawlstore
