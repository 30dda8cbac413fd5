// SPDX-License-Identifier: Apache-2.0
#include "frontier_heaps.h"
#include "frontier_run.h"

int main(int argc, char** argv) {
  using namespace crawlstore::bench;
  return frontier_main(argc, argv,
                       [](const std::string&) { return std::make_unique<HeapFrontier>(); });
}
