// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/atomic_file.h"

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace crawlstore::inspector {
namespace {

/// Parts that killed processes left count, too.
constexpr int kPartsMax = 1000;

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  begin();
}

AtomicFile::~AtomicFile() {
  if (part_.empty()) return;
  file_.reset();
  std::error_code ignored;  // nobody is left to tell
  std::filesystem::remove(part_, ignored);
}

void AtomicFile::begin() {
  for (int number = 1; number <= kPartsMax; ++number) {
    std::string part = path_ + (number == 1 ? "" : "." + std::to_string(number)) + ".part";
    // x: fails when it exists. That is what makes the name ours alone, in whatever process.
    file_.reset(std::fopen(part.c_str(), "wbx"));
    if (file_ != nullptr) {
      part_ = std::move(part);
      return;
    }
    if (errno != EEXIST) break;
  }
  fail();
}

void AtomicFile::fail() {
  if (!problem_.empty()) return;  // the first one tells most
  problem_ = "cannot write " + path_ + ": " + std::generic_category().message(errno);
}

void AtomicFile::write(std::string_view text) {
  if (file_ == nullptr) return;
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) fail();
}

std::string AtomicFile::finish() {
  if (file_ != nullptr && std::fclose(file_.release()) != 0) fail();
  if (!problem_.empty()) return problem_;
  std::error_code error;
  std::filesystem::rename(part_, path_, error);
  if (error) return "cannot write " + path_ + ": " + error.message();
  part_.clear();
  return {};
}

}  // namespace crawlstore::inspector
