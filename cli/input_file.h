// SPDX-License-Identifier: Apache-2.0
#pragma once

/// An input of a command: a file, or standard input for "-". Owns what it has opened. Threads: one.

#include <string>

namespace crawlstore::cli {

class InputFile {
 public:
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  /// Negative: it could not be opened, errno says why.
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace crawlstore::cli
