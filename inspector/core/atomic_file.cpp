// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/atomic_file.h"

#include <filesystem>
#include <utility>

namespace crawlstore::inspector {

AtomicFile::AtomicFile(std::string path)
    : path_(std::move(path)), part_(path_ + ".part"), file_(part_, std::ios::binary) {}

AtomicFile::~AtomicFile() {
  if (is_finished_ || !file_.is_open()) return;
  file_.close();
  std::error_code ignored;  // nobody is left to tell
  std::filesystem::remove(part_, ignored);
}

void AtomicFile::write(std::string_view text) {
  file_.write(text.data(), static_cast<std::streamsize>(text.size()));
}

std::string AtomicFile::finish() {
  file_.flush();
  if (!file_) return "cannot write " + part_;
  file_.close();
  std::error_code error;
  std::filesystem::rename(part_, path_, error);
  if (error) return error.message();
  is_finished_ = true;
  return {};
}

}  // namespace crawlstore::inspector
