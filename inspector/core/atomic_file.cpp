// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/atomic_file.h"

#include <filesystem>
#include <utility>

namespace crawlstore::inspector {

AtomicFile::AtomicFile(std::string path)
    : path_(std::move(path)),
      part_(path_ + ".part"),
      file_(part_, std::ios::binary),
      has_part_(file_.is_open()) {}

AtomicFile::~AtomicFile() {
  if (!has_part_) return;
  file_.close();
  std::error_code ignored;  // nobody is left to tell
  std::filesystem::remove(part_, ignored);
}

void AtomicFile::write(std::string_view text) {
  file_.write(text.data(), static_cast<std::streamsize>(text.size()));
}

std::string AtomicFile::finish() {
  if (file_.is_open()) file_.close();
  if (!file_) return "cannot write " + part_;
  std::error_code error;
  std::filesystem::rename(part_, path_, error);
  if (error) return error.message();
  has_part_ = false;
  return {};
}

}  // namespace crawlstore::inspector
