// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Counts what a storage does, for Storage::counters(). Threads: any.

#include <atomic>
#include <cstdint>

#include <crawlstore/storage.h>

namespace crawlstore::io {

class StorageMeter {
 public:
  /// Only what reached the file is counted: call after success, with the bytes that were moved.
  void count_read(std::uint64_t offset, std::uint64_t length_bytes) {
    reads_.count(offset, length_bytes);
  }
  void count_write(std::uint64_t offset, std::uint64_t length_bytes) {
    writes_.count(offset, length_bytes);
  }
  void count_sync() { add(sync_count_, 1); }
  void count_allocate(std::uint64_t length_bytes) { add(allocated_bytes_, length_bytes); }
  void count_truncate() { add(truncate_count_, 1); }
  void count_punch(std::uint64_t length_bytes) { add(punched_bytes_, length_bytes); }

  [[nodiscard]] StorageCounters counters() const {
    return {.bytes_read = get(reads_.bytes),
            .bytes_written = get(writes_.bytes),
            .read_count = get(reads_.operation_count),
            .write_count = get(writes_.operation_count),
            .read_seek_count = get(reads_.seek_count),
            .write_seek_count = get(writes_.seek_count),
            .sync_count = get(sync_count_),
            .allocated_bytes = get(allocated_bytes_),
            .truncate_count = get(truncate_count_),
            .punched_bytes = get(punched_bytes_)};
  }

 private:
  using Counter = std::atomic<std::uint64_t>;

  static void add(Counter& counter, std::uint64_t amount) {
    counter.fetch_add(amount, std::memory_order_relaxed);
  }
  static std::uint64_t get(const Counter& counter) {
    return counter.load(std::memory_order_relaxed);
  }

  /// One direction. The head of an unused storage stands at 0, so that a first operation there is
  /// no seek.
  struct Stream {
    Counter bytes = 0;
    Counter operation_count = 0;
    Counter seek_count = 0;
    Counter last_end = 0;

    void count(std::uint64_t offset, std::uint64_t length_bytes) {
      add(bytes, length_bytes);
      add(operation_count, 1);
      const std::uint64_t head =
          last_end.exchange(offset + length_bytes, std::memory_order_relaxed);
      if (head != offset) add(seek_count, 1);
    }
  };

  Stream reads_;
  Stream writes_;
  Counter sync_count_ = 0;
  Counter allocated_bytes_ = 0;
  Counter truncate_count_ = 0;
  Counter punched_bytes_ = 0;
};

}  // namespace crawlstore::io
