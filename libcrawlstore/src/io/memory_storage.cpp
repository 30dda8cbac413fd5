// SPDX-License-Identifier: Apache-2.0
//
// A file in memory, and storages on it that behave like processes.
//
// Invariants:
// - base points at capacity_bytes reserved bytes until the MemoryFile ends: pointers never move.
// - Bytes at and past size_bytes are zero, so that growth shows zeros.
// - Locks belong to descriptions. A storage is two of them, data and pins: the writer lock stands
//   on the first, pins on the second, so that a writer's question sees its own pins as well.
// - A storage that ends leaves no lock behind.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <shared_mutex>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#include <crawlstore/storage.h>

#include "base/assert.h"
#include "io/lock_bytes.h"
#include "io/storage_meter.h"

namespace crawlstore {

/// Names an open file description: its address is its identity.
struct MemoryDescription {
  std::int64_t pid = ::getpid();
};

struct MemoryFile {
  MemoryFile(std::span<const std::byte> content, std::uint64_t capacity)
      : capacity_bytes(std::max<std::uint64_t>({capacity, content.size(), 1})) {
    void* mapped = ::mmap(nullptr, capacity_bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    base = static_cast<std::byte*>(mapped);
    std::copy(content.begin(), content.end(), base);
    size_bytes = content.size();
  }
  ~MemoryFile() { ::munmap(base, capacity_bytes); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  /// Makes [from, to) zero, giving whole pages back.
  void clear(std::uint64_t from, std::uint64_t to) {
    if (from >= to) return;
    constexpr std::uint64_t kPageBytes = 4096;
    const std::uint64_t pages_from = (from + kPageBytes - 1) / kPageBytes * kPageBytes;
    const std::uint64_t pages_to = to / kPageBytes * kPageBytes;
    constexpr std::uint64_t kWorthACall = 64 * kPageBytes;
    if (pages_from < pages_to && pages_to - pages_from >= kWorthACall &&
        ::madvise(base + pages_from, pages_to - pages_from, MADV_DONTNEED) == 0) {
      std::memset(base + from, 0, pages_from - from);
      std::memset(base + pages_to, 0, to - pages_to);
      return;
    }
    std::memset(base + from, 0, to - from);
  }

  std::byte* base = nullptr;
  const std::uint64_t capacity_bytes;

  mutable std::shared_mutex bytes_mutex;  // guards size_bytes, and bytes against torn reads
  std::uint64_t size_bytes = 0;

  std::mutex locks_mutex;  // guards what follows
  std::condition_variable writer_left;
  const MemoryDescription* writer = nullptr;
  std::map<std::uint64_t, std::set<const MemoryDescription*>> pins;  // generation -> holders
};

namespace {

class MemoryStorage final : public Storage {
 public:
  MemoryStorage(std::shared_ptr<MemoryFile> file, OpenMode mode)
      : file_(std::move(file)), mode_(mode) {}

  ~MemoryStorage() override {
    MemoryStorage::unlock_writer();
    const std::lock_guard guard(file_->locks_mutex);
    for (const auto& [generation, count] : pin_counts_) drop_pin(generation);
  }

  Result<std::uint64_t> size() override {
    const std::shared_lock guard(file_->bytes_mutex);
    return file_->size_bytes;
  }

  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) override {
    const std::shared_lock guard(file_->bytes_mutex);
    const std::uint64_t available = offset < file_->size_bytes ? file_->size_bytes - offset : 0;
    const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(available, into.size()));
    if (length != 0) std::memcpy(into.data(), file_->base + offset, length);
    meter_.count_read(offset, length);
    return length;
  }

  Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    if (mode_ != OpenMode::kWrite) return read_only();
    const std::unique_lock guard(file_->bytes_mutex);
    CRAWLSTORE_TRY(grow({offset, bytes.size()}));
    if (!bytes.empty()) std::memcpy(file_->base + offset, bytes.data(), bytes.size());
    meter_.count_write(offset, bytes.size());
    return {};
  }

  Result<void> sync() override {
    if (mode_ != OpenMode::kWrite) return read_only();
    meter_.count_sync();
    return {};
  }

  Result<void> allocate(Extent extent) override {
    if (mode_ != OpenMode::kWrite) return read_only();
    const std::unique_lock guard(file_->bytes_mutex);
    CRAWLSTORE_TRY(grow(extent));
    meter_.count_allocate(extent.length_bytes);
    return {};
  }

  Result<void> truncate(std::uint64_t size_bytes) override {
    if (mode_ != OpenMode::kWrite) return read_only();
    const std::unique_lock guard(file_->bytes_mutex);
    if (size_bytes > file_->size_bytes) {
      return fail(Errc::kInvalidArgument, "truncate only shortens", size_bytes);
    }
    file_->clear(size_bytes, file_->size_bytes);
    file_->size_bytes = size_bytes;
    meter_.count_truncate();
    return {};
  }

  Result<void> punch(Extent extent) override {
    if (mode_ != OpenMode::kWrite) return read_only();
    const std::unique_lock guard(file_->bytes_mutex);
    const std::uint64_t from = std::min(extent.offset_bytes, file_->size_bytes);
    const std::uint64_t room = file_->size_bytes - from;
    file_->clear(from, from + std::min(room, extent.length_bytes));
    meter_.count_punch(extent.length_bytes);
    return {};
  }

  Result<const std::byte*> view(Extent extent) override {
    if (extent.offset_bytes > file_->capacity_bytes ||
        extent.length_bytes > file_->capacity_bytes - extent.offset_bytes) {
      return fail(Errc::kInvalidArgument, "extent outside the file", extent.offset_bytes);
    }
    return file_->base + extent.offset_bytes;
  }

  Result<void> lock_writer(std::uint32_t wait_ms) override {
    if (mode_ != OpenMode::kWrite) return read_only();
    std::unique_lock guard(file_->locks_mutex);
    const auto is_free = [&] { return file_->writer == nullptr || file_->writer == &data_; };
    if (!file_->writer_left.wait_for(guard, std::chrono::milliseconds(wait_ms), is_free)) {
      return fail(Errc::kLocked, "the writer lock is held");
    }
    file_->writer = &data_;
    return {};
  }

  void unlock_writer() override {
    const std::lock_guard guard(file_->locks_mutex);
    if (file_->writer != &data_) return;
    file_->writer = nullptr;
    file_->writer_left.notify_one();
  }

  Result<void> pin(Generation generation) override {
    if (mode_ == OpenMode::kReadNoPin) return {};
    if (generation.value >= io::kPinnableGenerationEnd) {
      return fail(Errc::kInvalidArgument, "no lock byte for so high a generation");
    }
    const std::lock_guard guard(file_->locks_mutex);
    ++pin_counts_[generation.value];
    file_->pins[generation.value].insert(&pins_);
    return {};
  }

  void unpin(Generation generation) override {
    if (mode_ == OpenMode::kReadNoPin) return;
    const std::lock_guard guard(file_->locks_mutex);
    const auto count = pin_counts_.find(generation.value);
    if (count == pin_counts_.end() || --count->second != 0) return;
    pin_counts_.erase(count);
    drop_pin(generation.value);
  }

  Result<std::vector<Generation>> pinned(Generation from, Generation to) override {
    const std::lock_guard guard(file_->locks_mutex);
    std::vector<Generation> found;
    for (auto pin = file_->pins.lower_bound(from.value); pin != file_->pins.end(); ++pin) {
      if (pin->first >= to.value) break;
      found.push_back({pin->first});
    }
    return found;
  }

  std::vector<PinHolder> pin_holders() override {
    const std::lock_guard guard(file_->locks_mutex);
    std::vector<PinHolder> holders;
    for (const auto& [generation, descriptions] : file_->pins) {
      for (const MemoryDescription* description : descriptions) {
        holders.push_back({{generation}, description->pid});
      }
    }
    return holders;
  }

  Result<std::shared_ptr<Storage>> reopen() override {
    return std::make_shared<MemoryStorage>(file_, OpenMode::kRead);
  }

  void prefetch(Extent /*extent*/) override {}

  Result<void> check_path() override { return {}; }

  Result<void> check_process() override {
    if (data_.pid != ::getpid()) return fail(Errc::kForked, "opened by the parent process");
    return {};
  }

  std::optional<std::uint64_t> first_fault() override { return std::nullopt; }

  [[nodiscard]] StorageCounters counters() const override { return meter_.counters(); }

 private:
  static tl::unexpected<Error> read_only() {
    return fail(Errc::kReadOnly, "the storage was opened for reading");
  }

  /// Makes the file long enough for the extent. The caller holds bytes_mutex.
  Result<void> grow(Extent extent) {
    if (extent.offset_bytes > file_->capacity_bytes ||
        extent.length_bytes > file_->capacity_bytes - extent.offset_bytes) {
      return fail(Errc::kNoSpace, "the file in memory is full", extent.offset_bytes);
    }
    if (extent.length_bytes != 0) {
      file_->size_bytes = std::max(file_->size_bytes, extent.end_bytes());
    }
    return {};
  }

  /// The caller holds locks_mutex.
  void drop_pin(std::uint64_t generation) {
    const auto pin = file_->pins.find(generation);
    CRAWLSTORE_ASSERT(pin != file_->pins.end());
    pin->second.erase(&pins_);
    if (pin->second.empty()) file_->pins.erase(pin);
  }

  const std::shared_ptr<MemoryFile> file_;
  const OpenMode mode_;
  const MemoryDescription data_;
  const MemoryDescription pins_;
  std::map<std::uint64_t, std::uint64_t> pin_counts_;  // guarded by file_->locks_mutex
  io::StorageMeter meter_;
};

}  // namespace

std::shared_ptr<MemoryFile> make_memory_file(std::span<const std::byte> content,
                                             std::uint64_t capacity_bytes) {
  return std::make_shared<MemoryFile>(content, capacity_bytes);
}

std::unique_ptr<Storage> open_memory_storage(std::shared_ptr<MemoryFile> file, OpenMode mode) {
  if (file == nullptr) file = make_memory_file({}, 0);
  return std::make_unique<MemoryStorage>(std::move(file), mode);
}

std::vector<std::byte> contents(const MemoryFile& file) {
  const std::shared_lock guard(file.bytes_mutex);
  return {file.base, file.base + file.size_bytes};
}

Result<void> reset(MemoryFile& file, std::span<const std::byte> content) {
  const std::unique_lock guard(file.bytes_mutex);
  if (content.size() > file.capacity_bytes) {
    return fail(Errc::kNoSpace, "longer than the file in memory can be");
  }
  std::copy(content.begin(), content.end(), file.base);
  file.clear(content.size(), file.size_bytes);
  file.size_bytes = content.size();
  return {};
}

}  // namespace crawlstore
