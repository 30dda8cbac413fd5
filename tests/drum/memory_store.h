// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A store in memory that tests open, close, and crash: the vocabulary of the tests of drum/.

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include <crawlstore/drum.h>
#include <crawlstore/drum_view.h>
#include <crawlstore/storage.h>
#include <crawlstore/store.h>

#include "container/create.h"

namespace crawlstore::testing {

inline constexpr std::int64_t kFixedTimeUs = 1'700'000'000'000'000;
inline constexpr std::uint64_t kFixedKeySeed = 0x5EED;

/// The value of a result that has to be one; the test fails otherwise.
template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(describe(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

inline std::shared_ptr<MemoryFile> make_empty_store_file(std::uint64_t capacity_bytes) {
  auto file = make_memory_file({}, capacity_bytes);
  format::Identity identity = must(container::make_identity(kFixedTimeUs));
  identity.uuid = Uuid{};
  identity.uuid[0] = std::byte{1};
  identity.key_seed = kFixedKeySeed;
  must(container::write_empty_store(*open_memory_storage(file, OpenMode::kWrite), identity,
                                    kFixedTimeUs));
  return file;
}

class MemoryStore {
 public:
  /// An empty store with fixed uuid, key seed and time.
  explicit MemoryStore(std::uint64_t capacity_bytes = std::uint64_t{1} << 28)
      : file_(make_empty_store_file(capacity_bytes)) {
    open();
  }
  /// The store that a process finds in `image`, the bytes of a file after a crash.
  explicit MemoryStore(const std::vector<std::byte>& image)
      : file_(make_memory_file(image, std::uint64_t{1} << 28)) {
    open();
  }

  Store& operator*() { return *store_; }
  Store* operator->() { return &*store_; }

  /// Closes and opens again. DRUMs of before are closed.
  void reopen() {
    must(store_->close());
    open();
  }
  /// The bytes that a crash leaves now, if all that was written reached the disk.
  [[nodiscard]] std::vector<std::byte> image() const { return contents(*file_); }
  [[nodiscard]] const std::shared_ptr<MemoryFile>& file() const { return file_; }

 private:
  void open() {
    store_.reset();
    OpenOptions options;
    options.time_us = kFixedTimeUs;
    store_.emplace(must(Store::open(open_memory_storage(file_, OpenMode::kWrite), options)));
  }

  std::shared_ptr<MemoryFile> file_;
  std::optional<Store> store_;
};

/// The facts about a DRUM in the newest generation.
inline DrumInfo drum_info(const Store& store, std::string_view name) {
  for (const DrumInfo& info : must(list_drums(must(store.snapshot())))) {
    if (info.name == name) return info;
  }
  return {};
}

inline DrumView drum_view(const Store& store, std::string_view name) {
  return must(DrumView::open(must(store.snapshot()), name));
}

}  // namespace crawlstore::testing
