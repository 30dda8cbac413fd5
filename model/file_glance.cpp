// SPDX-License-Identifier: Apache-2.0
#include "model/file_glance.h"

#include <algorithm>
#include <filesystem>

#include <crawlstore/tools/generations.h>
#include <crawlstore/tools/inspect.h>

namespace crawlstore::model {

FileGlance glance_at(const std::string& path) {
  FileGlance glance;
  const auto copies = generations(path);
  if (!copies) {
    glance.problem = copies.error();
    return glance;
  }
  std::error_code gone;  // it may vanish meanwhile
  const auto bytes = std::filesystem::file_size(path, gone);
  if (!gone) glance.file_bytes = bytes;
  const auto winner = std::ranges::find(*copies, true, &GenerationInfo::is_winner);
  if (winner != copies->end()) glance.generation = winner->generation;
  glance.has_writer = !writer_processes(path).empty();
  return glance;
}

}  // namespace crawlstore::model
