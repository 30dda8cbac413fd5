// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A storage as on a file system that grants locks and shares them with nobody, as some FUSE,
/// network and container mounts do: every lock succeeds, and no pin of another storage is seen.
///
/// Ownership: owns the storage that it wraps. Threads: as Storage.

#include <memory>
#include <utility>

#include <crawlstore/storage.h>

namespace crawlstore::testing {

class LocklessStorage : public Storage {
 public:
  explicit LocklessStorage(std::unique_ptr<Storage> inner) : inner_(std::move(inner)) {}

  Result<void> lock_writer(std::uint32_t /*wait_ms*/) override { return {}; }
  void unlock_writer() override {}
  Result<void> pin(Generation /*generation*/) override { return {}; }
  void unpin(Generation /*generation*/) override {}
  Result<std::vector<Generation>> pinned(Generation /*from*/, Generation /*to*/) override {
    return std::vector<Generation>{};
  }
  std::vector<PinHolder> pin_holders() override { return {}; }

  Result<std::uint64_t> size() override { return inner_->size(); }
  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) override {
    return inner_->read(offset, into);
  }
  Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    return inner_->write(offset, bytes);
  }
  Result<void> sync() override { return inner_->sync(); }
  void prefetch(Extent extent) override { inner_->prefetch(extent); }
  Result<void> allocate(Extent extent) override { return inner_->allocate(extent); }
  Result<void> truncate(std::uint64_t size_bytes) override { return inner_->truncate(size_bytes); }
  Result<void> punch(Extent extent) override { return inner_->punch(extent); }
  Result<const std::byte*> view(Extent extent) override { return inner_->view(extent); }
  /// None, so that looks at the file pass here, too.
  Result<std::shared_ptr<Storage>> reopen() override {
    return fail(Errc::kNoLocks, "there is no other handle on this file");
  }
  Result<void> check_path() override { return inner_->check_path(); }
  Result<void> check_process() override { return inner_->check_process(); }
  std::optional<std::uint64_t> first_fault() override { return inner_->first_fault(); }
  [[nodiscard]] StorageCounters counters() const override { return inner_->counters(); }

 private:
  std::unique_ptr<Storage> inner_;
};

}  // namespace crawlstore::testing
