// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A text file that is there as a whole, or not at all: cancelled work and failures leave what was
/// there before. Not synced: a power cut may take it back. Threads: one.

#include <fstream>
#include <string>
#include <string_view>

namespace crawlstore::inspector {

class AtomicFile {
 public:
  /// Begins `path` + ".part". That it cannot, finish() tells.
  explicit AtomicFile(std::string path);
  /// Without finish() nothing stays.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view text);
  /// Gives the file its name, once. Returns what went wrong; empty = nothing.
  std::string finish();

 private:
  std::string path_;
  std::string part_;
  std::ofstream file_;
  bool has_part_ = false;
};

}  // namespace crawlstore::inspector
