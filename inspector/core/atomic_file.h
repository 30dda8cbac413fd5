// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A text file that is there as a whole, or not at all. Threads: one.

#include <fstream>
#include <string>
#include <string_view>

namespace crawlstore::inspector {

class AtomicFile {
 public:
  /// Begins `path` + ".part".
  explicit AtomicFile(std::string path);
  /// Without finish() nothing stays.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view text);
  /// Gives the file its name. Returns what went wrong; empty = nothing.
  std::string finish();

 private:
  std::string path_;
  std::string part_;
  std::ofstream file_;
  bool is_finished_ = false;
};

}  // namespace crawlstore::inspector
