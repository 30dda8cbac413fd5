// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A file that is there as a whole, or not at all: cancelled work and failures leave what was there
/// before. Until then it is called PATH.part, or PATH.2.part and so on when others write that path,
/// too: no two meet in one, and the last to finish wins. Only a process that is killed leaves its
/// part behind. Not synced: a power cut may take it back. Threads: one.

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace crawlstore::inspector {

class AtomicFile {
 public:
  /// Begins the part. That it cannot, finish() tells.
  explicit AtomicFile(std::string path);
  /// Without finish() nothing stays.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view text);
  /// Gives the file its name, once. Returns what went wrong; empty = nothing.
  std::string finish();

 private:
  struct Closer {
    void operator()(std::FILE* file) const { (void)std::fclose(file); }
  };
  void begin();
  void fail();

  std::string path_;
  std::string part_;  // empty = there is none
  std::unique_ptr<std::FILE, Closer> file_;
  std::string problem_;
};

}  // namespace crawlstore::inspector
