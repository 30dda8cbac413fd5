// SPDX-License-Identifier: Apache-2.0
//
// Invariants:
// - A mutating call and its entry in the log happen under one mutex: the log has their real order.
// - The model has seen exactly the operations of the log.
// - A call that fails by plan does not reach the wrapped storage, but for the part of a write.

#include "support/recording_storage.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "support/disk_model.h"

namespace crawlstore::testing {

struct Recorder::State {
  State(std::shared_ptr<MemoryFile> memory_file, std::vector<std::byte> initial)
      : file(std::move(memory_file)), model(initial) {
    log.initial = std::move(initial);
  }

  /// Counts the call; returns the plan when it shall fail. The caller holds the mutex.
  std::optional<FailurePlan> count(CallKind kind) {
    if (!plan) {
      ++call_count;
      return std::nullopt;
    }
    if ((plan->calls & calls(kind)) == 0) return std::nullopt;
    ++call_count;
    const bool fails = plan->forever ? call_count >= plan->nth : call_count == plan->nth;
    if (!fails) return std::nullopt;
    has_injected = true;
    return plan;
  }

  /// The caller holds the mutex.
  void append(Operation operation) {
    model.apply(operation, log.operations.size());
    log.operations.push_back(std::move(operation));
  }

  /// Makes reads through `storage` show the disk where a failed sync lost pages. The caller holds
  /// the mutex.
  void evict(Storage& storage) {
    const std::set<std::uint64_t> pages = model.lost_pages();
    append({.kind = OperationKind::kEvict, .failed = false, .extent = {}, .bytes = {}, .mark = {}});
    const std::span<const std::byte> cache = model.cache();
    for (const std::uint64_t page : pages) {
      const std::uint64_t from = page * kPageBytes;
      const std::uint64_t length = std::min<std::uint64_t>(kPageBytes, cache.size() - from);
      CRAWLSTORE_ASSERT(storage.write(from, cache.subspan(from, length)).has_value());
    }
  }

  const std::shared_ptr<MemoryFile> file;  // null: only wrap()

  mutable std::mutex mutex;  // guards what follows
  OperationLog log;
  DiskModel model;
  std::optional<FailurePlan> plan;
  std::uint64_t call_count = 0;
  bool has_injected = false;
  Hook hook;
};

namespace {

class RecordingStorage final : public Storage {
 public:
  RecordingStorage(std::unique_ptr<Storage> inner, std::shared_ptr<Recorder::State> state)
      : inner_(std::move(inner)), state_(std::move(state)) {}

  Result<std::uint64_t> size() override {
    CRAWLSTORE_TRY(admit(CallKind::kSize, {}));
    return inner_->size();
  }

  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) override {
    CRAWLSTORE_TRY(admit(CallKind::kRead, {offset, into.size()}));
    return inner_->read(offset, into);
  }

  Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    const Extent extent{offset, bytes.size()};
    call_hook(CallKind::kWrite, extent);
    const std::lock_guard lock(state_->mutex);
    const std::optional<FailurePlan> plan = state_->count(CallKind::kWrite);
    const std::uint64_t length =
        plan ? std::min<std::uint64_t>(plan->short_bytes, bytes.size()) : bytes.size();
    const auto part = bytes.first(static_cast<std::size_t>(length));
    Result<void> written;
    if (!plan || length != 0) written = inner_->write(offset, part);
    const bool arrived = written.has_value();
    if (plan && arrived) written = injected(*plan, offset);
    Operation operation{OperationKind::kWrite, !written, extent, {}, {}};
    if (arrived) operation.bytes.assign(part.begin(), part.end());
    state_->append(std::move(operation));
    return written;
  }

  Result<void> sync() override {
    call_hook(CallKind::kSync, {});
    const std::lock_guard lock(state_->mutex);
    const std::optional<FailurePlan> plan = state_->count(CallKind::kSync);
    const Result<void> synced =
        plan ? Result<void>(injected(*plan, Error::kNoOffset)) : inner_->sync();
    state_->append({OperationKind::kSync, !synced, {}, {}, {}});
    if (plan && plan->evict) state_->evict(*inner_);
    return synced;
  }

  Result<void> allocate(Extent extent) override {
    return record(CallKind::kAllocate, OperationKind::kAllocate, extent,
                  [&] { return inner_->allocate(extent); });
  }

  Result<void> truncate(std::uint64_t size_bytes) override {
    return record(CallKind::kTruncate, OperationKind::kTruncate, {size_bytes, 0},
                  [&] { return inner_->truncate(size_bytes); });
  }

  Result<void> punch(Extent extent) override {
    return record(CallKind::kPunch, OperationKind::kPunch, extent,
                  [&] { return inner_->punch(extent); });
  }

  Result<const std::byte*> view(Extent extent) override {
    CRAWLSTORE_TRY(admit(CallKind::kView, extent));
    return inner_->view(extent);
  }

  Result<void> lock_writer(std::uint32_t wait_ms) override {
    CRAWLSTORE_TRY(admit(CallKind::kLockWriter, {}));
    return inner_->lock_writer(wait_ms);
  }

  void unlock_writer() override { inner_->unlock_writer(); }

  Result<void> pin(Generation generation) override {
    CRAWLSTORE_TRY(admit(CallKind::kPin, {generation.value, 0}));
    return inner_->pin(generation);
  }

  void unpin(Generation generation) override { inner_->unpin(generation); }

  Result<std::vector<Generation>> pinned(Generation from, Generation to) override {
    CRAWLSTORE_TRY(admit(CallKind::kPinned, {from.value, 0}));
    return inner_->pinned(from, to);
  }

  std::vector<PinHolder> pin_holders() override { return inner_->pin_holders(); }

  Result<std::shared_ptr<Storage>> reopen() override { return inner_->reopen(); }

  void prefetch(Extent extent) override {
    call_hook(CallKind::kPrefetch, extent);
    inner_->prefetch(extent);
  }

  Result<void> check_path() override {
    CRAWLSTORE_TRY(admit(CallKind::kCheckPath, {}));
    return inner_->check_path();
  }

  Result<void> check_process() override { return inner_->check_process(); }
  std::optional<std::uint64_t> first_fault() override { return inner_->first_fault(); }
  [[nodiscard]] StorageCounters counters() const override { return inner_->counters(); }

 private:
  static tl::unexpected<Error> injected(const FailurePlan& plan, std::uint64_t offset) {
    return fail_errno(plan.system_errno, "injected failure", offset);
  }

  void call_hook(CallKind kind, Extent extent) {
    Recorder::Hook hook;
    {
      const std::lock_guard lock(state_->mutex);
      hook = state_->hook;
    }
    if (hook) hook(kind, extent);
  }

  /// For calls that change nothing.
  Result<void> admit(CallKind kind, Extent extent) {
    call_hook(kind, extent);
    const std::lock_guard lock(state_->mutex);
    if (const auto plan = state_->count(kind)) return injected(*plan, extent.offset_bytes);
    return {};
  }

  template <class Call>
  Result<void> record(CallKind kind, OperationKind operation_kind, Extent extent, Call call) {
    call_hook(kind, extent);
    const std::lock_guard lock(state_->mutex);
    const std::optional<FailurePlan> plan = state_->count(kind);
    const Result<void> done =
        plan ? Result<void>(injected(*plan, extent.offset_bytes)) : Result<void>(call());
    state_->append({operation_kind, !done, extent, {}, {}});
    return done;
  }

  const std::unique_ptr<Storage> inner_;
  const std::shared_ptr<Recorder::State> state_;
};

}  // namespace

Recorder::Recorder(std::shared_ptr<MemoryFile> file) {
  CRAWLSTORE_ASSERT(file != nullptr);
  std::vector<std::byte> initial = contents(*file);
  state_ = std::make_shared<State>(std::move(file), std::move(initial));
}

Recorder::Recorder(std::vector<std::byte> initial)
    : state_(std::make_shared<State>(nullptr, std::move(initial))) {}

Recorder::~Recorder() = default;

std::unique_ptr<Storage> Recorder::open(OpenMode mode) {
  CRAWLSTORE_ASSERT(state_->file != nullptr);
  return wrap(open_memory_storage(state_->file, mode));
}

std::unique_ptr<Storage> Recorder::wrap(std::unique_ptr<Storage> inner) {
  CRAWLSTORE_ASSERT(inner != nullptr);
  return std::make_unique<RecordingStorage>(std::move(inner), state_);
}

void Recorder::mark(std::string text) {
  const std::lock_guard lock(state_->mutex);
  state_->append({OperationKind::kMark, false, {}, {}, std::move(text)});
}

void Recorder::inject(const FailurePlan& plan) {
  const std::lock_guard lock(state_->mutex);
  state_->plan = plan;
  state_->call_count = 0;
  state_->has_injected = false;
}

void Recorder::stop_injecting() {
  const std::lock_guard lock(state_->mutex);
  state_->plan.reset();
}

bool Recorder::has_injected() const {
  const std::lock_guard lock(state_->mutex);
  return state_->has_injected;
}

std::uint64_t Recorder::call_count() const {
  const std::lock_guard lock(state_->mutex);
  return state_->call_count;
}

void Recorder::evict_lost_pages() {
  CRAWLSTORE_ASSERT(state_->file != nullptr);
  const std::unique_ptr<Storage> system = open_memory_storage(state_->file, OpenMode::kWrite);
  const std::lock_guard lock(state_->mutex);
  state_->evict(*system);
}

void Recorder::set_hook(Hook hook) {
  const std::lock_guard lock(state_->mutex);
  state_->hook = std::move(hook);
}

OperationLog Recorder::log() const {
  const std::lock_guard lock(state_->mutex);
  return state_->log;
}

std::vector<std::byte> Recorder::disk() const {
  const std::lock_guard lock(state_->mutex);
  return state_->model.disk();
}

}  // namespace crawlstore::testing
