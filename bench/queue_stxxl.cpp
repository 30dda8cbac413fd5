// SPDX-License-Identifier: Apache-2.0
//
// STXXL's priority queue, a sequence heap on disk: sorted runs, merged as pages leave. Its memory
// is part of its type, so there are three: the largest that takes no more than MEMORY, half of it
// for the queue and half for its pools of blocks. Nothing survives, nothing is committed.

#include <cstdlib>
#include <iostream>
#include <limits>

#include <omp.h>
#include <stxxl/priority_queue>

#include "queue_run.h"

namespace crawlstore {

/// Messages that are never printed must compile.
static std::ostream& operator<<(std::ostream& out, const QueuedPage& page) {
  return out << page.page;
}

}  // namespace crawlstore

namespace crawlstore::bench {
namespace {

struct StxxlOrder : LeavesAfter {
  [[nodiscard]] QueuedPage min_value() const {
    return {.page = std::numeric_limits<std::uint64_t>::max(),
            .priority = -std::numeric_limits<double>::infinity()};
  }
};

constexpr std::uint64_t kMostPages = std::uint64_t{1} << 30;

template <std::uint64_t kMemoryBytes>
using StxxlHeap = typename stxxl::PRIORITY_QUEUE_GENERATOR<QueuedPage, StxxlOrder, kMemoryBytes / 2,
                                                           kMostPages / 1024>::result;

template <std::uint64_t kMemoryBytes>
struct PooledHeap : StxxlHeap<kMemoryBytes> {
  PooledHeap() : StxxlHeap<kMemoryBytes>(kMemoryBytes / 4, kMemoryBytes / 4) {}
};

template <std::uint64_t kMemoryBytes>
std::unique_ptr<BenchQueue> make() {
  return std::make_unique<HeapQueue<PooledHeap<kMemoryBytes>>>("STXXL " STXXL_VERSION_STRING);
}

std::unique_ptr<BenchQueue> open(const QueueOptions& options) {
  omp_set_num_threads(1);
  // Its messages go to standard output and into files of the current folder.
  std::cout.rdbuf(std::cerr.rdbuf());
  ::setenv("STXXLLOGFILE", "/dev/null", 1);
  ::setenv("STXXLERRLOGFILE", "/dev/null", 1);
  stxxl::config::get_instance()->add_disk(stxxl::disk_config(options.path, 0, "syscall autogrow"));
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
  const std::uint64_t memory = options.memory_bytes != 0 ? options.memory_bytes : 1024 * kMiB;
  if (memory >= 1024 * kMiB) return make<1024 * kMiB>();
  return memory >= 256 * kMiB ? make<256 * kMiB>() : make<128 * kMiB>();
}

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  return crawlstore::bench::queue_main(argc, argv, crawlstore::bench::open);
}
