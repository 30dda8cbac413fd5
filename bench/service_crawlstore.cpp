// SPDX-License-Identifier: Apache-2.0
#include "service_own.h"
#include "service_run.h"

int main(int argc, char** argv) {
  using namespace crawlstore::bench;
  return service_main(argc, argv, [](const std::string& path) {
    return std::make_unique<OwnService>(path, "crawlstore " CRAWLSTORE_VERSION);
  });
}
