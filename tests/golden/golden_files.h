// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "golden/patch.h"

namespace crawlstore::testing {

struct GoldenFile {
  std::string name;
  std::vector<std::byte> bytes;
  // For a rejected file:
  std::string error{};  ///< class of spec/format.md#errors
  std::string base{};   ///< the valid file that was changed
  FileParts parts{};
};

std::vector<GoldenFile> valid_files();
/// One for each rule of the spec that the bytes of a file can break, named after it.
std::vector<GoldenFile> rejected_files();

}  // namespace crawlstore::testing
