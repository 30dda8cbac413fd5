// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A storage that never maps its file: views are copies, read on demand. Everything else is done by
/// the storage that it wraps. unmapped() of storage.h makes one.
///
/// Ownership: owns the inner storage and the copies.
/// Threads: as Storage. No lock is held while something is read: two threads that want the same
/// bytes at once both read them, and the first copy is kept.

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <crawlstore/storage.h>

namespace crawlstore::io {

class UnmappedStorage final : public Storage {
 public:
  explicit UnmappedStorage(std::shared_ptr<Storage> inner) : inner_(std::move(inner)) {}

  /// errors kIo at the bytes that cannot be read, kTruncated, kOutOfMemory, kInvalidArgument
  Result<const std::byte*> view(Extent extent) override;
  void forget(Extent extent) override;
  Result<std::shared_ptr<Storage>> reopen() override;
  /// Returns the bytes of the file that are in memory. cost: O of that
  [[nodiscard]] std::uint64_t kept_bytes();

  Result<std::uint64_t> size() override { return inner_->size(); }
  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) override {
    return inner_->read(offset, into);
  }
  std::uint64_t next_data(std::uint64_t offset) override { return inner_->next_data(offset); }
  /// Copies would not follow what is written.
  Result<void> write(std::uint64_t, std::span<const std::byte>) override { return read_only(); }
  Result<void> sync() override { return read_only(); }
  Result<void> allocate(Extent) override { return read_only(); }
  Result<void> truncate(std::uint64_t) override { return read_only(); }
  Result<void> punch(Extent) override { return read_only(); }
  Result<void> lock_writer(std::uint32_t) override { return read_only(); }
  void unlock_writer() override {}
  void prefetch(Extent extent) override { inner_->prefetch(extent); }
  Result<void> pin(Generation generation) override { return inner_->pin(generation); }
  void unpin(Generation generation) override { inner_->unpin(generation); }
  Result<std::vector<Generation>> pinned(Generation from, Generation to) override {
    return inner_->pinned(from, to);
  }
  std::vector<PinHolder> pin_holders() override { return inner_->pin_holders(); }
  Result<void> check_path() override { return inner_->check_path(); }
  Result<void> check_process() override { return inner_->check_process(); }
  std::optional<std::uint64_t> first_fault() override { return inner_->first_fault(); }
  [[nodiscard]] StorageCounters counters() const override { return inner_->counters(); }

 private:
  /// Address space that stands for a piece of the file; memory only where it was filled.
  struct Region {
    Region(std::uint64_t begin, std::byte* reserved, std::uint64_t length)
        : offset_bytes(begin), base(reserved), length_bytes(length) {}
    ~Region();
    Region(const Region&) = delete;
    Region& operator=(const Region&) = delete;

    [[nodiscard]] bool holds(Extent extent) const;
    [[nodiscard]] std::byte* at(std::uint64_t offset) const { return base + offset - offset_bytes; }

    const std::uint64_t offset_bytes;
    std::byte* const base;
    const std::uint64_t length_bytes;
    /// The units that hold the bytes of the file: a bit each, of 16 units a number.
    std::unordered_map<std::uint64_t, std::uint16_t> filled;
  };

  static tl::unexpected<Error> read_only() {
    return fail(Errc::kReadOnly, "opened for reading, without a mapping");
  }
  Result<Region*> region_of(Extent extent);
  Result<void> fill(Region& region, Extent extent);
  Extent next_missing(const Region& region, Extent extent);
  void keep(Region& region, std::uint64_t offset, std::span<const std::byte> bytes);

  const std::shared_ptr<Storage> inner_;
  std::mutex mutex_;  // guards regions_ and what they hold, but for filled bytes, which stay
  std::vector<std::unique_ptr<Region>> regions_;
};

}  // namespace crawlstore::io
