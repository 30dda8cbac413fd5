// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The Storage of a regular file. open_storage() and create_file() are the public doors; this is
/// what they share.
///
/// Ownership: owns the data descriptor, the pin descriptor and the mappings.
/// Threads: as Storage.

#include <string>

#include <crawlstore/storage.h>

#include "io/fork_sentinel.h"
#include "io/mapping.h"
#include "io/pins.h"
#include "io/storage_meter.h"

namespace crawlstore::io {

class SystemStorage final : public Storage {
 public:
  /// Takes over an open descriptor of a regular file. An empty `path` stands for a file that has no
  /// name yet: check_path() then has nothing to check.
  SystemStorage(int descriptor, std::string path, OpenMode mode);
  ~SystemStorage() override;

  Result<std::uint64_t> size() override;
  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) override;
  Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes) override;
  std::uint64_t next_data(std::uint64_t offset) override;
  Result<void> sync() override;
  Result<void> allocate(Extent extent) override;
  Result<void> truncate(std::uint64_t size_bytes) override;
  Result<void> punch(Extent extent) override;
  Result<const std::byte*> view(Extent extent) override;
  Result<void> lock_writer(std::uint32_t wait_ms) override;
  void unlock_writer() override;
  Result<void> pin(Generation generation) override;
  void unpin(Generation generation) override;
  Result<std::vector<Generation>> pinned(Generation from, Generation to) override;
  std::vector<PinHolder> pin_holders() override;
  Result<std::shared_ptr<Storage>> reopen() override;
  void prefetch(Extent extent) override;
  Result<void> check_path() override;
  Result<void> check_process() override;
  std::optional<std::uint64_t> first_fault() override;
  [[nodiscard]] StorageCounters counters() const override;

 private:
  /// errors kForked, kReadOnly
  Result<void> check_writable();
  Result<void> reserve(Extent extent, std::uint64_t size_before_bytes);
  Result<void> write_zeros(Extent extent);

  const int descriptor_;
  const std::string path_;
  const OpenMode mode_;
  const ForkSentinel sentinel_;
  Mapping mapping_;
  Pins pins_;
  StorageMeter meter_;
};

}  // namespace crawlstore::io
