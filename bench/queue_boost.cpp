// SPDX-License-Identifier: Apache-2.0
//
// Boost's heap of four children a node: fewer levels, so fewer cache misses for each page that
// leaves. Nothing survives, nothing is committed.

#include <boost/heap/d_ary_heap.hpp>

#include "queue_run.h"

int main(int argc, char** argv) {
  using namespace crawlstore;
  using Heap = boost::heap::d_ary_heap<QueuedPage, boost::heap::arity<4>,
                                       boost::heap::compare<bench::LeavesAfter>>;
  return bench::queue_main(argc, argv, [](const bench::QueueOptions&) {
    return std::make_unique<bench::HeapQueue<Heap>>("Boost d_ary_heap<4> " BOOST_LIB_VERSION);
  });
}
