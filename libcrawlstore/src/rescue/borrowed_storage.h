// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A storage that somebody else owns: a file that has no name yet, for a writer and for readers of
/// this process alone. So there is nobody to lock out, and no path to look at.

#include <memory>
#include <utility>
#include <vector>

#include <crawlstore/storage.h>

namespace crawlstore::rescue {

class BorrowedStorage final : public Storage {
 public:
  explicit BorrowedStorage(Storage& owned) : owned_(owned) {}

  Result<std::uint64_t> size() override { return owned_.size(); }
  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) override {
    return owned_.read(offset, into);
  }
  Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    return owned_.write(offset, bytes);
  }
  std::uint64_t next_data(std::uint64_t offset) override { return owned_.next_data(offset); }
  /// create_file() syncs what it names.
  Result<void> sync() override { return {}; }
  void prefetch(Extent extent) override { owned_.prefetch(extent); }
  Result<void> allocate(Extent extent) override { return owned_.allocate(extent); }
  Result<void> truncate(std::uint64_t size_bytes) override { return owned_.truncate(size_bytes); }
  Result<void> punch(Extent extent) override { return owned_.punch(extent); }
  Result<const std::byte*> view(Extent extent) override { return owned_.view(extent); }
  Result<void> lock_writer(std::uint32_t) override { return {}; }
  void unlock_writer() override {}
  Result<void> pin(Generation) override { return {}; }
  void unpin(Generation) override {}
  Result<std::vector<Generation>> pinned(Generation, Generation) override {
    return std::vector<Generation>();
  }
  std::vector<PinHolder> pin_holders() override { return {}; }
  Result<std::shared_ptr<Storage>> reopen() override {
    return std::shared_ptr<Storage>(std::make_shared<BorrowedStorage>(owned_));
  }
  Result<void> check_path() override { return {}; }
  Result<void> check_process() override { return owned_.check_process(); }
  std::optional<std::uint64_t> first_fault() override { return owned_.first_fault(); }
  [[nodiscard]] StorageCounters counters() const override { return owned_.counters(); }

 private:
  Storage& owned_;
};

}  // namespace crawlstore::rescue
