// SPDX-License-Identifier: Apache-2.0
#include "model/process_name.h"

#include <fstream>

#include <fmt/format.h>

namespace crawlstore::model {

std::string process_name(std::int64_t pid) {
  std::ifstream file(fmt::format("/proc/{}/comm", pid));
  std::string name;
  std::getline(file, name);
  return name;
}

}  // namespace crawlstore::model
