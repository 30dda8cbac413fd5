// SPDX-License-Identifier: Apache-2.0
//
// std::priority_queue, a binary heap in a vector: nothing survives, nothing is committed.

#include <queue>

#include "queue_run.h"

int main(int argc, char** argv) {
  using namespace crawlstore;
  using Heap = std::priority_queue<QueuedPage, std::vector<QueuedPage>, bench::LeavesAfter>;
  return bench::queue_main(argc, argv, [](const bench::QueueOptions&) {
    return std::make_unique<bench::HeapQueue<Heap>>("std::priority_queue");
  });
}
