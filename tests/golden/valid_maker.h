// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The shared parts of the makers of valid golden files.

#include <cstdlib>
#include <utility>
#include <vector>

#include <crawlstore/store.h>

#include "container/create.h"
#include "container/store_impl.h"
#include "golden/crafted_file.h"
#include "golden/golden_files.h"

namespace crawlstore::testing {

inline constexpr std::int64_t kTimeUs = 1'600'000'000'000'000;

template <class T>
T must(Result<T> result) {
  if (!result) std::abort();
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

inline std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

/// A store in memory, made anew or from bytes.
struct Scratch {
  std::shared_ptr<MemoryFile> file = make_memory_file({});
  std::optional<Store> store;

  explicit Scratch(std::uint64_t features = 0) {
    format::Identity identity{};
    for (std::size_t i = 0; i < identity.uuid.size(); ++i) identity.uuid[i] = std::byte(i + 1);
    identity.key_seed = 42;
    identity.created_us = kTimeUs;
    const auto storage = open_memory_storage(file, OpenMode::kWrite);
    must(container::write_empty_store(*storage, identity, kTimeUs, features));
    open();
  }
  void open() {
    OpenOptions options;
    options.time_us = kTimeUs;
    store.emplace(must(Store::open(open_memory_storage(file, OpenMode::kWrite), options)));
  }
  std::vector<std::byte> close() {
    must(store->close());
    store.reset();
    auto bytes = contents(*file);
    bytes.resize(
        CraftedFile(bytes).superblock.high_water_bytes);  // what grew in advance says nothing
    return bytes;
  }
};

/// Those of page databases: valid_pages.cpp.
void add_valid_pages(std::vector<GoldenFile>& files);
void add_valid_frontiers(std::vector<GoldenFile>& files);

}  // namespace crawlstore::testing
